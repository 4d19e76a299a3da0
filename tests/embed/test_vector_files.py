import numpy as np
import pytest
from safetensors import safe_open

from calipers.embed.vectors import write_vectors
from calipers.errors import InputError
from calipers.samples import read_samples

VIEWS = {"meaning": np.eye(3, 4, dtype=np.float32), "form": np.ones((3, 2), dtype=np.float32)}


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_all_views_come_back(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write_vectors(path, VIEWS, about={"meaning": "pins"})
    for view, rows in VIEWS.items():
        assert np.array_equal(read_samples(path, field=view).vectors, rows)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_one_view_as_npy(tmp_path):
    write_vectors(tmp_path / "x.NPY", {"form": VIEWS["form"]}, about={})
    assert np.array_equal(np.load(tmp_path / "x.NPY"), VIEWS["form"])


def test_safetensors_say_what_they_are(tmp_path):
    write_vectors(tmp_path / "x.safetensors", VIEWS, about={"meaning": "embedder:stub"})
    with safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert file.metadata() == {"meaning": "embedder:stub"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.npy", "holds one array, not 2; name one view"),
        ("x.txt", r"written as \.npy, \.npz, \.safetensors; found the suffix '\.txt'"),
        ("x", "found no suffix"),
        ("no/x.npz", "cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        write_vectors(tmp_path / name, VIEWS, about={})
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    path.write_bytes(b"old")

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_vectors(path, VIEWS, about={})
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1
