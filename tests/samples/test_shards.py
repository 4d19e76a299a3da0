"""Sets of vectors in shards, and columns of vectors in Parquet and Arrow files."""

from __future__ import annotations

import errno
import gzip
import json
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from calipers import compare, memory_limit
from calipers.errors import InputError
from calipers.numeric import scratch as room
from calipers.samples import arrow, as_sample_set, joining, read_samples, read_systems
from calipers.samples.readers.shards import natural
from calipers.samples.source import Source

ROWS = np.arange(33, dtype=np.float32).reshape(11, 3)
PARTS = (ROWS[:4], ROWS[4:5], ROWS[5:])

Save = Callable[[Path, Any], None]


def lists(rows: Any, kind: Any) -> Any:
    return pa.array(list(rows.astype(kind.value_type.to_pandas_dtype())), kind)


def lies_in(array: Any) -> str:
    """The name of the class of what holds the numbers of an array."""
    while (base := getattr(array, "obj", getattr(array, "base", None))) is not None:
        array = base
    return type(array).__name__


def save_list(path: Path, rows: Any, kind: Any = None) -> None:
    """Write vectors as the column of a table."""
    kind = kind or pa.list_(pa.from_numpy_dtype(rows.dtype))
    table = pa.table({"embedding": lists(rows, kind)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2)
        return
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


SAVE: dict[str, Save] = {
    ".npy": np.save,
    ".safetensors": lambda path, rows: save_file({"x": np.ascontiguousarray(rows)}, path),
    ".parquet": save_list,
    ".arrow": save_list,
    ".feather": save_list,
}


@pytest.fixture(params=SAVE)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Three shards whose order by letters is another than by numbers."""
    made = tmp_path / "set"
    made.mkdir()
    for number, part in zip((2, 9, 10), PARTS, strict=True):
        SAVE[request.param](made / f"shard-{number}{request.param}", part)
    return made


def shards(folder: Path) -> list[Path]:
    return natural(list(folder.iterdir()))


def refusal(path: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        as_sample_set(path, **options)
    return str(caught.value)


def test_a_folder_is_one_set_in_the_order_of_numbers(folder: Path) -> None:
    samples = read_samples(folder)
    assert (samples.kind, samples.name, samples.source) == ("vectors", "set", str(folder))
    assert samples.vectors is not None
    assert samples.vectors.dtype == np.float32
    assert not samples.vectors.flags.writeable
    np.testing.assert_array_equal(samples.vectors, ROWS)
    assert samples.content_hash == as_sample_set(ROWS).content_hash
    assert samples.notes == ()


def test_a_pattern_and_a_list_of_paths_are_one_set_too(folder: Path) -> None:
    matched = read_samples(f"{folder}/shard-*")
    assert (matched.name, matched.source) == ("set", f"{folder}/shard-*")
    np.testing.assert_array_equal(matched.vectors, ROWS)
    given_order = [shards(folder)[place] for place in (2, 0)]
    samples = as_sample_set(given_order)
    assert samples.name == "shards"
    np.testing.assert_array_equal(samples.vectors, np.concatenate([PARTS[2], PARTS[0]]))
    np.testing.assert_array_equal(
        as_sample_set(list(map(str, given_order))).vectors, samples.vectors
    )


def test_files_of_a_pattern_are_seeds_unless_they_are_shards(
    tmp_path: Path,
) -> None:
    for name in ("a-00000-of-00002", "a-00001-of-00002", "b-1", "b-2"):
        (tmp_path / name[0]).mkdir(exist_ok=True)
        np.save(tmp_path / name[0] / f"{name}.npy", ROWS)
    (whole,) = read_systems([f"one={tmp_path}/a"])
    assert [len(samples) for samples in whole.sets] == [22]
    (seeds,) = read_systems([f"two={tmp_path}/b/*.npy"])
    assert [len(samples) for samples in seeds.sets] == [11, 11]
    (one_set,) = read_systems([f"one={tmp_path}/a/*.npy"])
    assert [len(samples) for samples in one_set.sets] == [22]
    assert one_set.sets[0].notes == ("2 files read as one set, by their names",)


def test_scores_are_those_of_one_array(folder: Path, rng: Any) -> None:
    generated = rng.standard_normal((12, 3))
    options = {"metrics": "precision,recall,frechet_distance", "k": 2, "level": None}
    one, other = (compare(x, generated, **options) for x in (ROWS, folder))
    assert one.systems[0].scores.keys() == other.systems[0].scores.keys()
    for key, score in one.systems[0].scores.items():
        assert other.systems[0].scores[key].value == score.value, key


@pytest.mark.parametrize("suffix", SAVE)
def test_a_single_shard_keeps_the_name_of_the_folder(tmp_path: Path, suffix: str) -> None:
    SAVE[suffix](tmp_path / f"x-00000-of-00001{suffix}", ROWS)
    (tmp_path / "README.txt").write_text("what this is")
    (tmp_path / "_SUCCESS").touch()
    samples = read_samples(tmp_path)
    assert samples.name == tmp_path.name
    np.testing.assert_array_equal(samples.vectors, ROWS)
    assert samples.notes == ("left out beside the shards: 'README.txt'",)
    if suffix in (".npy", ".safetensors"):  # it lies where it lay
        assert lies_in(samples.vectors) == "mmap"


def test_folders_keep_the_meaning_that_they_had(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    assert list(read_samples(tmp_path)) == ["a.txt", "b.txt"]


def test_shards_of_texts_are_one_table(tmp_path: Path) -> None:
    for number, texts in enumerate((["a", "b"], ["c"])):
        pq.write_table(pa.table({"text": texts}), tmp_path / f"train-{number}-of-2.parquet")
    samples = read_samples(tmp_path)
    assert list(samples) == ["a", "b", "c"]
    pq.write_table(pa.table({"txt": ["c"]}), tmp_path / "train-1-of-2.parquet")
    assert "its files must have the same columns; train-0-of-2.parquet has 'text'" in refusal(
        tmp_path
    )


@given(st.lists(st.integers(0, 10**6), unique=True, min_size=1, max_size=9))
def test_numbers_are_sorted_by_value(numbers: list[int]) -> None:
    paths = [Path(f"x{number}-of-{len(numbers)}.npy") for number in numbers]
    assert natural(paths) == [Path(f"x{n}-of-{len(numbers)}.npy") for n in sorted(numbers)]


# Types -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "made"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i4", "f4"), (">f8", "f8")]
)
def test_shards_of_any_precision(tmp_path: Path, numbers: str, made: str) -> None:
    for place, part in enumerate(PARTS):
        np.save(tmp_path / f"{place}.npy", part.astype(numbers))
    vectors = read_samples(tmp_path).vectors
    assert vectors is not None
    assert vectors.dtype == np.dtype(made)
    np.testing.assert_array_equal(vectors, ROWS)


def test_shards_of_bfloat16(tmp_path: Path) -> None:
    """Its numbers are the upper halves of those of float32, which those of `ROWS` need alone."""
    for place, part in enumerate(PARTS):
        content = (part.view(np.uint32) >> 16).astype("<u2").tobytes()
        entry = {"dtype": "BF16", "shape": part.shape, "data_offsets": [0, len(content)]}
        header = json.dumps({"x": entry}).encode()
        path = tmp_path / f"{place}.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + content)
    np.testing.assert_array_equal(read_samples(tmp_path).vectors, ROWS)


KINDS = [
    kind(number)
    for number in (pa.float16(), pa.float32(), pa.float64())
    for kind in (pa.list_, pa.large_list, lambda each: pa.list_(each, 3))
]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_type_of_list_holds_vectors(tmp_path: Path, suffix: str, kind: Any) -> None:
    save_list(tmp_path / f"x{suffix}", ROWS, kind)
    vectors = read_samples(tmp_path / f"x{suffix}").vectors
    assert vectors is not None
    wide = pa.types.is_float64(kind.value_type)
    assert vectors.dtype == (np.float64 if wide else np.float32)
    np.testing.assert_array_equal(vectors, ROWS)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_slices_and_chunks_give_their_own_rows(kind: Any) -> None:
    """The numbers of a slice begin somewhere in its buffer."""
    whole = lists(ROWS, kind)
    part = whole.slice(3, 5)
    assert part.offset == 3
    np.testing.assert_array_equal(as_sample_set(part).vectors, ROWS[3:8])
    chunks = pa.chunked_array([whole.slice(9), whole.slice(0, 0), part])
    np.testing.assert_array_equal(
        as_sample_set(chunks).vectors, np.concatenate([ROWS[9:], ROWS[3:8]])
    )


def test_places_beyond_the_reach_of_32_bits() -> None:
    """Numbers at places around 2**31 of a buffer, of which only the last pages are ever touched."""
    numbers = np.zeros(2**31 + 6, np.float16)
    numbers[-9:] = np.arange(9)
    buffer = pa.py_buffer(numbers)
    kind, size = pa.float16(), len(numbers)
    values = pa.Array.from_buffers(kind, size, [None, buffer])
    places = pa.array([2**31 - 3, 2**31, 2**31 + 3, 2**31 + 6], pa.int64())
    large = pa.LargeListArray.from_arrays(places, values)
    rows = np.arange(9, dtype=np.float16).reshape(3, 3)
    np.testing.assert_array_equal(arrow.vectors(large, "x"), rows)
    np.testing.assert_array_equal(arrow.vectors(large.slice(2), "x"), rows[2:])
    fixed = pa.FixedSizeListArray.from_arrays(values.slice((2**31 + 6) % 3), 3)
    last = fixed.slice(len(fixed) - 3)
    np.testing.assert_array_equal(arrow.vectors(last, "x"), rows)
    most = values.slice(0, 2**31 - 1)  # as far as 32 bits reach
    places = pa.array([2**31 - 7, 2**31 - 4, 2**31 - 1], pa.int32())
    found = arrow.vectors(pa.ListArray.from_arrays(places, most), "x")
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 1]])


def test_the_field_names_the_column(tmp_path: Path) -> None:
    table = {"id": [1, 2], "text": ["a", "b"], "x": [[1.0], [2.0]], "y": [[3.0], [4.0]]}
    pq.write_table(pa.table(table), tmp_path / "both.parquet")
    assert list(read_samples(tmp_path / "both.parquet")) == ["a", "b"]
    np.testing.assert_array_equal(
        read_samples(tmp_path / "both.parquet", field="y").vectors, [[3], [4]]
    )
    del table["text"]
    pq.write_table(pa.table(table), tmp_path / "two.parquet")
    assert "several fields may be the vectors: 'x' and 'y'; choose one with `field`" in refusal(
        tmp_path / "two.parquet"
    )
    del table["y"]
    pq.write_table(pa.table(table), tmp_path / "one.parquet")
    np.testing.assert_array_equal(read_samples(tmp_path / "one.parquet").vectors, [[1], [2]])


def test_groups_and_clusters_stand_beside_vectors(tmp_path: Path) -> None:
    for number, topic in enumerate(("news", "sport")):
        table = pa.table({"x": [[1.0, number], [2.0, 3.0]], "topic": [topic, "law"]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    samples = read_samples(tmp_path, group="topic", cluster="topic")
    assert samples.groups is not None
    assert samples.groups.tolist() == ["news", "law", "sport", "law"]
    assert samples.clusters is not None
    assert "has no column 'size' of groups; it has 'x' and 'topic'" in refusal(
        tmp_path, group="size"
    )


def test_gzipped_and_streamed_arrow_files(tmp_path: Path) -> None:
    save_list(tmp_path / "x.arrow", ROWS)
    content = (tmp_path / "x.arrow").read_bytes()
    (tmp_path / "z.arrow.gz").write_bytes(gzip.compress(content))
    np.testing.assert_array_equal(read_samples(tmp_path / "z.arrow.gz").vectors, ROWS)
    table = pa.table({"text": ["a", "b"]})
    path = str(tmp_path / "s.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert list(read_samples(tmp_path / "s.arrow")) == ["a", "b"]


# Memory ------------------------------------------------------------------------------------------


def test_large_sets_lie_in_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SMALL", 0)
    monkeypatch.setattr(joining, "BLOCK", 5)  # blocks of a single row
    with memory_limit("900B"):  # an eighth of it is less than the 132 bytes of the rows
        vectors = read_samples(folder).vectors
    assert vectors is not None
    np.testing.assert_array_equal(vectors, ROWS)
    assert lies_in(vectors) == "mmap"


def test_a_full_disk_is_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SMALL", 0)

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(room, "_reserve", full)
    with memory_limit("900B"):
        message = refusal(folder)
    assert "has no room for 0.1 kB of temporary data (No space left on device)" in message


def test_what_stays_in_memory_counts(folder: Path) -> None:
    with memory_limit("100B"):
        message = refusal(folder)
    assert "takes more than 0.1 kB of memory" in message or "may be taken as" in message
    assert lies_in(read_samples(folder).vectors) == "ndarray"


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=5).filter(any), st.randoms())
def test_any_cut_into_shards_gives_the_same_set(
    tmp_path_factory: Any, sizes: Any, draw: Any
) -> None:
    """Empty shards too, as some programs write."""
    folder = tmp_path_factory.mktemp("cut")
    suffix = draw.choice([".npy", ".parquet", ".arrow"])
    rows = np.arange(2 * sum(sizes), dtype=np.float64).reshape(-1, 2)
    ends = np.cumsum(sizes)
    for number, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        part = rows[end - size : end]
        SAVE[suffix](folder / f"{number}-of-{len(sizes)}{suffix}", part)
    np.testing.assert_array_equal(read_samples(folder).vectors, rows)


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "message"),
    [
        ((0, 1, 3), "lacks shard 2 of 4, by the names of its files (x-00000-of-00004.npy, …)"),
        ((1, 2, 4), "lacks shard 3 of 4, by the names of its files (x-00001-of-00004.npy, …)"),
        ((3,), "lacks shards 0, 1 and 2 of 4, by the names of its files (x-00003-of-00004.npy, …)"),
        ((0, 1, 2, 3, 4), "has too many: shard 4 of 4, by the names of its files "),
    ],
)
def test_a_missing_shard_is_named(tmp_path: Path, present: Any, message: str) -> None:
    for number in present:
        np.save(tmp_path / f"x-{number:05d}-of-00004.npy", ROWS)
    assert refusal(tmp_path).startswith(f"{tmp_path}: {message}")
    assert refusal(f"{tmp_path}/x*.npy").startswith(f"{tmp_path}/x*.npy: {message}")


def test_counting_may_begin_at_one(tmp_path: Path) -> None:
    for number, part in enumerate(PARTS, 1):
        np.save(tmp_path / f"x-{number}-of-3.npy", part)
    np.testing.assert_array_equal(read_samples(tmp_path).vectors, ROWS)


def test_shards_of_two_sets_are_not_mixed(tmp_path: Path) -> None:
    for name in ("train-00000-of-00001", "test-00000-of-00001"):
        np.save(tmp_path / f"{name}.npy", ROWS)
    message = refusal(tmp_path)
    assert (
        "holds files of several sets, 'test-…-of-00001.npy' and 'train-…-of-00001.npy';" in message
    )
    (tmp_path / "train-00000-of-00001.npy").rename(tmp_path / "other.npy")
    assert "holds files of several sets, 'test-…-of-00001.npy' and 'other.npy';" in refusal(
        tmp_path
    )


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def other_columns(path: Path) -> None:
    SAVE[path.suffix](path, ROWS[:, :2].copy())


def other_precision(path: Path) -> None:
    SAVE[path.suffix](path, ROWS.astype(np.float64))


def not_finite(path: Path) -> None:
    rows = ROWS.copy()
    rows[6, 2], rows[9, 0] = np.nan, np.inf
    SAVE[path.suffix](path, rows)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, ""),
        (cut_to_nothing, "is empty"),
        (
            other_columns,
            "its vectors have 2 numbers, but those of {first} have 3; all shards of a set must "
            "have as many",
        ),
        (
            other_precision,
            "its vectors are float64, but those of {first} are float32; all shards of a set must "
            "have one precision (half precision and integers count as float32)",
        ),
        (not_finite, "NaN or infinite values in 2 of 11 rows: rows 7 and 10"),
    ],
)
def test_a_bad_shard_is_named(folder: Path, damage: Any, message: str) -> None:
    first, second, _ = shards(folder)
    damage(second)
    said = refusal(folder)
    if damage is other_precision and first.suffix not in (".npy", ".safetensors"):
        assert said.startswith(f"{folder}: its files must have the same columns; {first.name} has")
        return
    assert said.startswith(f"{second}: ")
    assert said == f"{second}: {message.format(first=first)}" or not message
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2], None, [3, 4]], "row 2: the vector is null"),
        (
            [[1.0, 2], [3, 4], [5]],
            "row 3: the vector must have 2 numbers, as the first has; found 1",
        ),
        ([[1.0, 2], [3, None], [5, 6]], "row 2: number 2 of the vector is null"),
        (
            [[1.0, 2], [], [5, 6]],
            "row 2: the vector must have 2 numbers, as the first has; found 0",
        ),
        ([[1.0, 2], [np.inf, 0], [5, 6]], "NaN or infinite values in 1 of 3 rows: row 2"),
        ([None, [1.0, 2]], "row 1: the vector is null"),
        ([[], [1.0, 2]], "row 1: the vector is empty"),
    ],
)
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_bad_row_is_named_with_its_file(
    tmp_path: Path, rows: Any, message: str, suffix: str
) -> None:
    save_list(tmp_path / f"1{suffix}", ROWS[:, :2].astype(np.float64))
    table = pa.table({"embedding": rows})
    if suffix == ".parquet":
        pq.write_table(table, tmp_path / "2.parquet", row_group_size=2)
    else:
        path = str(tmp_path / "2.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    assert refusal(tmp_path) == f"{tmp_path / f'2{suffix}'}: {message}"
    assert refusal(tmp_path / f"2{suffix}") == f"{tmp_path / f'2{suffix}'}: {message}"


def test_mixed_formats_and_other_shapes(tmp_path: Path) -> None:
    np.save(tmp_path / "1.npy", ROWS)
    save_file({"x": ROWS}, tmp_path / "2.safetensors")
    assert refusal(tmp_path) == (
        f"{tmp_path}: must hold shards of one format; found '.npy' and '.safetensors' "
        "(1.npy, 2.safetensors)"
    )
    (tmp_path / "2.safetensors").unlink()
    np.save(tmp_path / "2.npy", ROWS[0])
    assert refusal(tmp_path) == (
        f"{tmp_path / '2.npy'}: a shard must hold vectors, an array of shape (n, d), but this one "
        "has the shape (3,)"
    )


def test_a_pickled_shard_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "1.npy", ROWS)
    np.save(tmp_path / "2.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert refusal(tmp_path).startswith(f"{tmp_path / '2.npy'}: holds pickled Python objects")
    (tmp_path / "2.npy").write_bytes(pickle.dumps([1.0]))
    assert refusal(tmp_path).startswith(
        f"{tmp_path / '2.npy'}: is not a NumPy file of plain numbers"
    )


def test_patterns_and_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert refusal(f"{tmp_path}/*.npy") == f"{tmp_path}/*.npy: there is no such file"
    np.save(tmp_path / "1.npy", ROWS)
    assert refusal([tmp_path / "1.npy", tmp_path / "2.npy"]) == (
        f"{tmp_path / '2.npy'}: there is no such file"
    )
    (tmp_path / "a.csv").write_text("x")
    assert refusal(f"{tmp_path}/*") == (
        f"{tmp_path}/*: must hold shards of one format; found '.csv' and '.npy' (a.csv, 1.npy)"
    )
    (tmp_path / "a.csv").rename(tmp_path / "a.eval")
    assert refusal(f"{tmp_path}/*") == (
        f"{tmp_path}/*: a pattern in the place of one set must match its shards (.npy, "
        ".safetensors, .parquet, .arrow, .feather, .txt, .jsonl, .ndjson, .json, .csv, .tsv) "
        "alone; it matches 'a.eval'"
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_shard_is_named(folder: Path) -> None:
    second = shards(folder)[1]
    second.chmod(0)
    assert refusal(folder).startswith(f"{second}: cannot be read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")
@pytest.mark.parametrize("others", [0, 1])
def test_pipes_and_links_that_lead_nowhere_are_not_opened(tmp_path: Path, others: int) -> None:
    for number in range(others):
        np.save(tmp_path / f"{number}.npy", ROWS)
    os.mkfifo(tmp_path / "9.npy")
    assert "9.npy: must be a regular file or a folder, but it is a pipe" in refusal(tmp_path)
    (tmp_path / "9.npy").unlink()
    (tmp_path / "9.npy").symlink_to(tmp_path / "gone.npy")
    assert refusal(tmp_path) == f"{tmp_path / '9.npy'}: there is no such file"


def test_a_file_that_holds_less_than_it_promises(tmp_path: Path) -> None:
    shard = joining.Shard("x.npy", 5, 3, np.dtype(np.float32), lambda: iter([ROWS[:4]]))
    said = []
    for blocks in ([ROWS[:4]], [ROWS[:4], ROWS[:2]]):
        wrong = replace(shard, blocks=lambda blocks=blocks: iter(blocks))
        with pytest.raises(InputError) as caught:
            joining.joined([wrong], Source("s", "s"))
        said.append(str(caught.value))
    assert said == [
        "x.npy: promises 5 rows, but holds only 4; is it damaged?",
        "x.npy: promises 5 rows, but holds more; is it damaged?",
    ]
