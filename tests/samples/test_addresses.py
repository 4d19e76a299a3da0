"""Files behind an address with ``://``: what is read, what is fetched, what is refused."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.samples import as_sample_set, read_samples
from calipers.samples.reading import read_systems
from extras import need

fsspec = need("fsspec")
pa = need("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

LOG = Path(__file__).parent.parent / "data" / "inspect" / "stories.eval"


@pytest.fixture
def memory() -> Iterator[Any]:
    """Object storage in memory, which is a class of its own in fsspec and shared by all."""
    storage = fsspec.filesystem("memory")
    storage.store.clear()
    yield storage
    storage.store.clear()
    storage.pseudo_dirs[:] = [""]


def put(storage: Any, path: str, content: bytes | list[dict[str, Any]], **options: Any) -> None:
    storage.makedirs(path.rpartition("/")[0], exist_ok=True)
    with storage.open(path, "wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            pq.write_table(pa.Table.from_pylist(content), file, **options)


ROWS = [{"text": f"text {n}", "topic": "ab"[n % 2], "n": n} for n in range(5)]
TEXTS = [row["text"] for row in ROWS]


def test_parquet_with_its_labels(memory: Any) -> None:
    put(memory, "/bucket/ref.parquet", ROWS)
    for group in (None, "topic"):
        samples = read_samples("memory://bucket/ref.parquet", group=group)
        assert (samples.name, samples.source) == ("ref", "memory://bucket/ref.parquet")
        assert list(samples) == TEXTS
    assert samples.groups is not None
    assert samples.groups.tolist() == list("ababa")
    assert list(as_sample_set("memory://bucket/ref.parquet", name="x")) == TEXTS


def test_a_folder_and_a_pattern_are_the_shards_of_one_set(memory: Any) -> None:
    for number in range(11):
        put(memory, f"/bucket/part-{number}.parquet", [{"text": f"text {number}", "n": 1}])
    put(memory, "/bucket/README.md", b"about it")
    for address in ("memory://bucket", "memory://bucket/part-*.parquet"):
        samples = read_samples(address)
        assert samples.name == "bucket"
        assert list(samples) == [f"text {number}" for number in range(11)]


def test_shards_must_be_complete_and_alike(memory: Any) -> None:
    put(memory, "/bucket/x-00000-of-00002.parquet", ROWS)
    with pytest.raises(InputError, match=r"^memory://bucket: .*shard 1 of 2"):
        read_samples("memory://bucket")
    put(memory, "/bucket/x-00001-of-00002.parquet", [{"other": "a", "n": 1}])
    with pytest.raises(InputError, match=r"x-00000-of-00002.parquet .*'text', 'topic' and 'n'"):
        read_samples("memory://bucket")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"text": "text 0"}\n{"text": "text 1"}\n'),
        ("a.jsonl.gz", gzip.compress(b'{"text": "text 0"}\n{"text": "text 1"}\n', mtime=0)),
        ("a.json", b'["text 0", "text 1"]'),
        ("a.csv", b"text,n\ntext 0,1\ntext 1,2\n"),
        ("a.tsv", b"text\tn\ntext 0\t1\ntext 1\t2\n"),
        ("a.txt", b"text 0\ntext 1\n"),
    ],
)
def test_files_of_lines(memory: Any, name: str, content: bytes) -> None:
    put(memory, f"/bucket/{name}", content)
    samples = read_samples(f"memory://bucket/{name}")
    assert (samples.name, list(samples)) == ("a", ["text 0", "text 1"])


def test_logs_of_inspect(memory: Any) -> None:
    put(memory, "/bucket/stories.eval", LOG.read_bytes())
    put(memory, "/bucket/stories.eval.gz", gzip.compress(LOG.read_bytes()))
    for name in ("stories.eval", "stories.eval.gz"):
        assert list(read_samples(f"memory://bucket/{name}")) == list(read_samples(LOG))


def test_generated_systems_and_their_seeds(memory: Any) -> None:
    for seed in (1, 2):
        put(memory, f"/bucket/a=b/seed{seed}.parquet", ROWS[seed:])
    systems = read_systems(["memory://bucket/a=b/seed1.parquet", "m=memory://bucket/a=b/*.parquet"])
    assert [system.name for system in systems] == ["seed1", "m"]
    assert [list(samples) for samples in systems[1].sets] == [TEXTS[1:], TEXTS[2:]]
    put(memory, "/bucket/x-0-of-2.parquet", ROWS)
    put(memory, "/bucket/x-1-of-2.parquet", ROWS)
    (whole,) = read_systems(["m=memory://bucket/*-of-2.parquet"])
    assert [len(samples) for samples in whole.sets] == [2 * len(ROWS)]


def test_shards_of_texts(memory: Any) -> None:
    for number, texts in enumerate((["a", "b"], ["c"])):
        content = "".join(f'{{"text": "{text}"}}\n' for text in texts).encode()
        put(memory, f"/bucket/set/part-{number}.jsonl.gz", gzip.compress(content))
    put(memory, "/bucket/set/_SUCCESS", b"")
    for address in ("memory://bucket/set", "memory://bucket/set/*.gz"):
        assert list(read_samples(address)) == ["a", "b", "c"]


def test_only_the_columns_that_are_needed_are_fetched(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [{"text": str(n), "long": f"{n}" * 500_000} for n in range(20)]
    put(memory, "/bucket/a.parquet", long, use_dictionary=False, compression="none")
    fetched = []
    kind = type(memory.open("/bucket/a.parquet", "rb"))
    read = kind.read

    def counted(self: Any, *sizes: int) -> bytes:
        found: bytes = read(self, *sizes)
        fetched.append(len(found))
        return found

    monkeypatch.setattr(kind, "read", counted)
    assert len(read_samples("memory://bucket/a.parquet")) == 20
    assert 0 < sum(fetched) < 200_000 < memory.size("/bucket/a.parquet")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("memory://bucket/nothing.parquet", "there is no such file"),
        ("memory://bucket/*.parquet", "no file matches it"),
        ("memory://bucket", "is a folder without .parquet files"),
        ("memory://bucket/empty.jsonl", "is empty"),
        ("memory://bucket/a.npy", "a file with suffix '.npy' cannot be read from there; possible"),
        ("memory://bucket/plain", "a file with no suffix cannot be read from there; possible are"),
        ("memory://bucket/*.[tn]*", "several files behind an address must be shards of one set"),
        ("memory://bucket/no.csv.gz", "damaged gzip data: "),
        ("nowhere://bucket/a.parquet", "Protocol not known: nowhere"),
    ],
)
def test_what_cannot_be_read(memory: Any, address: str, message: str) -> None:
    contents = {"empty.jsonl": b"", "a.npy": b"x", "plain": b"x", "b.txt": b"x", "no.csv.gz": b"x"}
    for name, content in contents.items():
        put(memory, f"/bucket/{name}", content)
    with pytest.raises(InputError) as raised:
        read_samples(address)
    start = "memory:///bucket/a.npy" if "[tn]" in address else address
    assert str(raised.value).startswith(f"{start}: {message}")


def test_no_parquet_behind_an_address(memory: Any) -> None:
    put(memory, "/bucket/a.parquet", b"nothing of the kind")
    with pytest.raises(InputError, match=r"^memory://bucket/a.parquet: .*parquet"):
        read_samples("memory://bucket/a.parquet")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingExtraError, match=r"^s3://bucket/a.parquet: .*Install s"):
        read_samples("s3://bucket/a.parquet")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"^s3://bucket/a.parquet .*'fsspe"):
        read_samples("s3://bucket/a.parquet")
