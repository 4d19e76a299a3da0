"""Samples that come one by one: PyTorch's data sets and loaders, streams, lazy frames."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.memory import memory_limit
from calipers.samples import SampleSet, as_sample_set
from extras import need

torch = need("torch")
data = torch.utils.data

TEXTS = [f"text {n}" for n in range(7)]
TOPICS = list("abababa")
ROWS = [{"text": text, "topic": topic} for text, topic in zip(TEXTS, TOPICS, strict=True)]
MATRIX = np.arange(21, dtype=np.float32).reshape(7, 3)
IMAGES = (np.arange(7 * 3 * 4 * 5) % 256).astype(np.uint8).reshape(7, 3, 4, 5)
IDS = [[number, number + 1] for number in range(7)]


class Held(data.Dataset):  # type: ignore[misc]
    """A data set of PyTorch as people write it: by place, without a way through it."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: int) -> Any:
        return self._items[place]


class Streamed(data.IterableDataset):  # type: ignore[misc]
    """One that is gone through, and has no length."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


def loaded(items: list[Any]) -> Any:
    """Batches of three, of which the last is not full."""
    return data.DataLoader(Held(items), batch_size=3)


def streamed_and_loaded(items: list[Any]) -> Any:
    return data.DataLoader(Streamed(items), batch_size=2)


def loaded_one_by_one(items: list[Any]) -> Any:
    return data.DataLoader(Held(items), batch_size=None)


Make = Callable[[list[Any]], Any]
MAKES = [Held, Streamed, loaded, streamed_and_loaded, loaded_one_by_one]
KINDS = pytest.mark.parametrize("make", MAKES)


@KINDS
@pytest.mark.parametrize("paired", [False, True])
def test_texts(make: Make, paired: bool) -> None:
    items = list(zip(TEXTS, range(7), strict=True)) if paired else TEXTS
    samples = as_sample_set(make(items), name="x")
    assert (samples.name, list(samples)) == ("x", TEXTS)
    assert samples.content_hash == SampleSet.from_texts(TEXTS, name="y").content_hash


@KINDS
def test_rows_with_labels(make: Make) -> None:
    samples = as_sample_set(make(ROWS), group="topic")
    assert list(samples) == TEXTS
    assert samples.groups is not None
    assert samples.groups.tolist() == TOPICS
    assert samples.source in ("<Held>", "<Streamed>", "<DataLoader>")


@KINDS
@pytest.mark.parametrize("paired", [False, True])
def test_vectors(make: Make, paired: bool) -> None:
    vectors = list(torch.tensor(MATRIX))
    items = [(each, 0) for each in vectors] if paired else vectors
    samples = as_sample_set(make(items))
    assert samples.kind == "vectors"
    np.testing.assert_array_equal(samples.vectors, MATRIX)


@KINDS
@pytest.mark.parametrize("paired", [False, True])
def test_images_in_the_order_of_channels_that_torch_has(make: Make, paired: bool) -> None:
    pictures = list(torch.tensor(IMAGES))
    items = [(each, 1) for each in pictures] if paired else pictures
    samples = as_sample_set(make(items))
    assert (samples.kind, len(samples)) == ("images", 7)
    whole = as_sample_set(torch.tensor(IMAGES))
    assert samples.content_hash == whole.content_hash


@KINDS
def test_token_ids(make: Make) -> None:
    samples = as_sample_set(make([torch.tensor(ids) for ids in IDS]))
    assert (samples.kind, [ids.tolist() for ids in samples]) == ("tokens", IDS)


@KINDS
def test_rows_with_tensors(make: Make) -> None:
    rows = [
        {"pixel_values": torch.tensor(IMAGES[n]), "label": torch.tensor(n % 2)} for n in range(7)
    ]
    samples = as_sample_set(make(rows), group="label")
    assert (samples.kind, len(samples)) == ("images", 7)
    assert samples.groups is not None
    assert samples.groups.tolist() == ["0", "1", "0", "1", "0", "1", "0"]
    tokens = [{"input_ids": torch.tensor(ids), "attention_mask": torch.ones(2)} for ids in IDS]
    found = as_sample_set(make(tokens))
    assert [ids.tolist() for ids in found] == IDS
    both = [{"text": TEXTS[n], "embedding": torch.tensor(MATRIX[n])} for n in range(7)]
    assert list(as_sample_set(make(both))) == TEXTS
    vectors = as_sample_set(make(both), field="embedding", cluster="text")
    np.testing.assert_array_equal(vectors.vectors, MATRIX)
    assert vectors.clusters is not None
    assert vectors.clusters.tolist() == TEXTS


def test_ragged_token_ids_of_a_loader_with_its_own_way_of_batching() -> None:
    ragged = [torch.arange(1, n + 2) for n in range(5)]
    loader = data.DataLoader(Held(ragged), batch_size=2, collate_fn=list)
    assert [len(ids) for ids in as_sample_set(loader)] == [1, 2, 3, 4, 5]
    sizes = [torch.zeros(3, 4 + n, 5, dtype=torch.uint8) for n in range(5)]
    loader = data.DataLoader(Held(sizes), batch_size=2, collate_fn=list)
    assert len(as_sample_set(loader)) == 5
    pairs = data.DataLoader(data.TensorDataset(torch.tensor(MATRIX), torch.arange(7)), batch_size=4)
    np.testing.assert_array_equal(as_sample_set(pairs).vectors, MATRIX)


def test_a_data_set_without_a_length_is_refused() -> None:
    class Endless(data.Dataset):  # type: ignore[misc]
        def __getitem__(self, place: int) -> str:
            return "a"

    with pytest.raises(InputError, match=r"^x: .*Endless .*length"):
        as_sample_set(Endless(), name="x")


@KINDS
def test_a_list_of_data_sets_is_no_set(make: Make) -> None:
    with pytest.raises(InputError, match=r"^x: .*whole \w+"):
        as_sample_set([make(TEXTS)] * 2, name="x")


@KINDS
def test_a_row_without_the_column_is_named(make: Make) -> None:
    rows = [{"image": torch.tensor(IMAGES[n]), "n": n} for n in range(3)]
    with pytest.raises(InputError, match=r"^x: .*'topic'.*'image' and 'n'"):
        as_sample_set(make(rows), group="topic", name="x")


def test_a_later_row_without_the_column_is_named() -> None:
    rows = [{"image": torch.tensor(IMAGES[0]), "n": 1}, {"other": 1}]
    with pytest.raises(InputError, match=r"^x: row 2: .*'image'.*'other'"):
        as_sample_set(rows, name="x")


def test_generators_of_rows_with_arrays() -> None:
    rows = ({"image": IMAGES[n].transpose(1, 2, 0), "label": n} for n in range(4))
    samples = as_sample_set(rows, group="label")
    assert (samples.kind, samples.groups.tolist()) == ("images", list("0123"))  # type: ignore[union-attr]


def test_streamed_data_sets_of_hugging_face() -> None:
    datasets = need("datasets")
    held = datasets.Dataset.from_list(ROWS)
    streamed = held.to_iterable_dataset()
    for given in (streamed, streamed.with_format("torch"), streamed.with_format("numpy")):
        samples = as_sample_set(given, group="topic")
        assert list(samples) == TEXTS
        assert samples.groups is not None
    vectors = datasets.Dataset.from_dict({"embedding": MATRIX.tolist(), "n": list(range(7))})
    for kind in ("torch", "numpy"):
        found = as_sample_set(vectors.to_iterable_dataset().with_format(kind), cluster="n")
        np.testing.assert_array_equal(found.vectors, MATRIX)
        assert found.clusters is not None
    splits = datasets.IterableDatasetDict({"train": streamed, "test": streamed})
    with pytest.raises(InputError, match="IterableDatasetDict of 'train' and 'test'"):
        as_sample_set(splits, name="reference")
    shuffled = streamed.map(lambda row: {"text": row["text"].upper()}).take(2)
    assert list(as_sample_set(shuffled)) == ["TEXT 0", "TEXT 1"]


def test_only_the_columns_that_are_needed_are_collected(tmp_path: Path) -> None:
    polars = need("polars")
    frame = polars.DataFrame({"id": TOPICS, "text": TEXTS, "n": list(range(7))})
    read = []

    def noticed(column: Any) -> Any:
        read.append(len(column))
        return column

    lazy = frame.lazy().with_columns(polars.col("n").map_batches(noticed, polars.Int64))
    samples = as_sample_set(lazy, name="x")
    assert (list(samples), samples.source) == (TEXTS, "<LazyFrame>")
    assert (samples.field, samples.other_fields) == ("text", ("id",))
    assert len(read) <= 1  # for the first row, by which the column was found
    frame.write_parquet(tmp_path / "a.parquet")
    grouped = as_sample_set(polars.scan_parquet(tmp_path / "a.parquet"), group="id")
    assert grouped.groups is not None
    assert grouped.groups.tolist() == TOPICS
    with pytest.raises(InputError, match=r"^x: holds no samples"):
        as_sample_set(frame.clear().lazy(), name="x")


def test_texts_of_a_stream_count_as_they_come() -> None:
    drawn = []

    class Endless(data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[str]:
            while True:
                drawn.append(1)
                yield "word " * 200

    with memory_limit("8MB"), pytest.raises(InputError, match="memory"):
        as_sample_set(Endless())
    assert len(drawn) < 20_000


@pytest.mark.slow
def test_no_library_is_imported_that_nobody_imported() -> None:
    code = (
        "import sys; from calipers.samples import as_sample_set; "
        "as_sample_set([{'text': 'a'}, {'text': 'b'}]); as_sample_set(iter(['a', 'b'])); "
        "print([name for name in ('torch', 'polars', 'pandas', 'datasets', 'fsspec') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
