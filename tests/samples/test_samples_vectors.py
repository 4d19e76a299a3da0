from __future__ import annotations

import gzip
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples, source
from calipers.samples.sample_set import CHUNK
from extras import need

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def vectors_of(array: object) -> Any:
    return SampleSet.from_vectors(array, name="v").vectors


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i8", "f4"), ("u1", "f4"), (">f8", "f8")],
)
def test_dtypes(given_dtype: str, kept: str) -> None:
    vectors = vectors_of(MATRIX.astype(given_dtype))
    assert vectors.dtype == np.dtype(kept)
    np.testing.assert_array_equal(vectors, MATRIX)


def test_is_an_unchangeable_view_of_what_was_given() -> None:
    vectors = vectors_of(MATRIX)
    assert np.shares_memory(vectors, MATRIX)
    with pytest.raises(ValueError, match="read-only"):
        vectors[0, 0] = 1
    assert MATRIX.flags.writeable


def test_behaves_as_a_set_without_texts() -> None:
    samples = as_sample_set(MATRIX)
    assert (samples.kind, samples.name, samples.source) == ("vectors", "vectors", "<array>")
    assert len(samples) == 4
    assert len(samples.row_hashes()) == 0
    assert samples.word_counts() is None
    assert samples.notes == ()
    np.testing.assert_array_equal(samples[1], MATRIX[1])
    np.testing.assert_array_equal(list(samples), MATRIX)
    np.testing.assert_array_equal(samples.take(np.array([3, 0])).vectors, MATRIX[[3, 0]])
    assert len(samples.subsample(2, seed=0)) == 2


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), r"two-dimensional array, .* but this one has the shape \(3,\)"),
        (np.ones((2, 2, 2, 2, 2)), r"has the shape \(2, 2, 2, 2, 2\)"),
        (np.ones((0, 3)), r"shape \(0, 3\) hold no values"),
        (np.ones((2, 2), bool), "but this array is bool"),
        (np.ones((2, 2), complex), "but this array is complex128"),
        (np.ones((2, 2), object), r"Python objects \(dtype object\) is refused"),
        (np.ones((2, 2), "M8[s]"), "but this array is datetime64"),
        (np.array([["a"]]), "but this array is <U1"),
    ],
)
def test_refuses_what_is_no_embedding(array: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_sample_set(array)


def test_names_the_rows_that_are_not_finite() -> None:
    array = np.zeros((9000, 700), np.float32)
    array[[0, 5000, 8999], [3, 0, 699]] = np.nan, np.inf, -np.inf
    with pytest.raises(InputError, match="3 of 9,000 rows: rows 1, 5001"):
        vectors_of(array)
    array[:, 0] = np.nan
    with pytest.raises(InputError, match=r"rows 1, 2, 3, 4, 5 and 8,995 more$"):
        vectors_of(array)


def test_tensors_are_arrays() -> None:
    torch = need("torch")
    np.testing.assert_array_equal(as_sample_set(torch.tensor(MATRIX)).vectors, MATRIX)
    halves = as_sample_set(torch.tensor(MATRIX, dtype=torch.bfloat16))
    assert halves.vectors is not None
    np.testing.assert_array_equal(halves.vectors, MATRIX)


def test_hash_sees_dtype_shape_and_values() -> None:
    arrays = [
        MATRIX,
        MATRIX.astype(np.float64),
        MATRIX.reshape(3, 4),
        MATRIX.reshape(2, 6),
        MATRIX[::-1],
        MATRIX + 1,
    ]
    hashes = {SampleSet.from_vectors(array, name="v").content_hash for array in arrays}
    assert len(hashes) == len(arrays)


@given(hnp.arrays(np.float32, (5, 3), elements=st.floats(-9, 9, width=32)))
def test_hash_ignores_storage(array: Any) -> None:
    stored = [array, np.asfortranarray(array), array.astype(">f4"), array.repeat(2, axis=0)[::2]]
    assert len({SampleSet.from_vectors(a, name="v").content_hash for a in stored}) == 1


def test_hash_covers_all_chunks() -> None:
    array = np.zeros((CHUNK + 2, 2))
    changed = array.copy()
    changed[-1, -1] = 1
    assert as_sample_set(array).content_hash != as_sample_set(changed).content_hash


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    samples = read_samples(tmp_path / "a.npy")
    assert (samples.name, samples.source) == ("a", str(tmp_path / "a.npy"))
    np.testing.assert_array_equal(samples.vectors, MATRIX)
    (tmp_path / "b.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    np.testing.assert_array_equal(read_samples(tmp_path / "b.npy.gz").vectors, MATRIX)


def test_npz_takes_the_only_array_or_the_named_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", a=MATRIX)
    np.savez_compressed(tmp_path / "two.npz", a=MATRIX, b=MATRIX + 1)
    np.testing.assert_array_equal(read_samples(tmp_path / "one.npz").vectors, MATRIX)
    np.testing.assert_array_equal(read_samples(tmp_path / "two.npz", field="b").vectors, MATRIX + 1)
    with pytest.raises(InputError, match=r"'a' and 'b'.*`field`"):
        read_samples(tmp_path / "two.npz")
    with pytest.raises(InputError, match=r"'c'.*'a' and 'b'"):
        read_samples(tmp_path / "two.npz", field="c")


class Trap:
    """Says so when it is unpickled."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a file was unpickled",))


def test_never_unpickles(tmp_path: Path) -> None:
    trap = np.array([Trap()], object)
    np.save(tmp_path / "a.npy", trap, allow_pickle=True)
    np.savez(tmp_path / "a.npz", a=trap)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "c.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    for name in ("a.npy", "a.npz", "b.npy", "c.npy.gz"):
        with pytest.raises(InputError, match=f"{name}: .*pickled .* refused"):
            read_samples(tmp_path / name)


@pytest.mark.parametrize("keep", [3, 9, 60, 130])
@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.safetensors"])
def test_damaged_files(tmp_path: Path, name: str, keep: int) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    np.savez(tmp_path / "a.npz", a=MATRIX)
    (tmp_path / "a.safetensors").write_bytes(tensors({"a": ("F32", MATRIX)})[:-1])
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:keep])
    with pytest.raises(InputError, match=str(tmp_path / name)):
        read_samples(tmp_path / name)


def test_claims_of_a_huge_array(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    data = (
        (tmp_path / "a.npy")
        .read_bytes()
        .replace(b"(4, 3), }            ", b"(4, 3000000000000), }")
    )
    assert b"3000000000000" in data
    (tmp_path / "a.npy").write_bytes(data)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(data))
    for name in ("a.npy", "a.npy.gz"):
        with pytest.raises(InputError, match="cannot be read as a NumPy file"):
            read_samples(tmp_path / name)


def test_npz_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_DECOMPRESSED", 1000)
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros((100, 10)))
    with pytest.raises(InputError, match="1,000 bytes"):
        read_samples(tmp_path / "a.npz")


def tensors(held: dict[str, tuple[str, Any]]) -> bytes:
    header, data = {"__metadata__": {"made": "by hand"}}, b""
    for name, (kind, array) in held.items():
        ends = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": ends}  # type: ignore[dict-item]
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"a": MATRIX, "b": MATRIX.astype(np.float64) + 0.1}, tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors.gz").write_bytes(
        gzip.compress((tmp_path / "a.safetensors").read_bytes())
    )
    for name in ("a.safetensors", "b.safetensors.gz"):
        np.testing.assert_array_equal(read_samples(tmp_path / name, field="a").vectors, MATRIX)
        doubles = read_samples(tmp_path / name, field="b").vectors
        np.testing.assert_array_equal(doubles, MATRIX.astype(np.float64) + 0.1)
    with pytest.raises(InputError, match="several arrays, 'a' and 'b'"):
        read_samples(tmp_path / "a.safetensors")


def test_bfloat16_becomes_float32(tmp_path: Path) -> None:
    torch = need("torch")
    from safetensors.torch import save_file

    given_tensor = torch.randn(5, 4).to(torch.bfloat16)
    save_file({"a": given_tensor}, tmp_path / "a.safetensors")
    vectors = read_samples(tmp_path / "a.safetensors").vectors
    assert vectors is not None
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, given_tensor.float().numpy())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 99]}, "does not fit"),
        ({"dtype": "F32", "shape": [2, 3], "data_offsets": [24, 0]}, "does not fit"),
        ({"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]}, "from 0 to below .*-2"),
        ({"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}, "holds no values"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [0, 24]}, "two-dimensional"),
        ({"dtype": "BOOL", "shape": [4, 6], "data_offsets": [0, 24]}, "has the type BOOL"),
        ({"dtype": "F32", "shape": [2, 3]}, "describes the tensor 'a' wrongly"),
        (3, "describes the tensor 'a' wrongly"),
    ],
)
def test_wrong_safetensors_headers(tmp_path: Path, entry: object, message: str) -> None:
    text = json.dumps({"a": entry}).encode()
    data = struct.pack("<Q", len(text)) + text + bytes(24)
    (tmp_path / "a.safetensors").write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_samples(tmp_path / "a.safetensors")
