"""What a person holds: data frames, datasets, lists of dicts, tensors. All give the same set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set
from extras import need

TEXTS = ["One text.", "Two texts.", "Three."]
TOPICS = ["a", "b", "a"]
PROMPTS = ["p", "q", "r"]
COLUMNS = {"text": TEXTS, "topic": TOPICS, "prompt": PROMPTS, "n": [1, 2, 3]}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)

Make = Callable[[dict[str, Any]], Any]


def _pandas(columns: dict[str, Any]) -> Any:
    return need("pandas").DataFrame(columns)


def _polars(columns: dict[str, Any]) -> Any:
    return need("polars").DataFrame(columns)


def _arrow(columns: dict[str, Any]) -> Any:
    return need("pyarrow").table(columns)


def _dataset(columns: dict[str, Any]) -> Any:
    return need("datasets").Dataset.from_dict(columns)


def _dicts(columns: dict[str, Any]) -> Any:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class Polars:
    """The methods of a data frame of polars, for runs without that package."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def get_column(self, name: str) -> Any:
        values = self._columns[name]

        class Column:
            def slice(self, start: int, length: int) -> Any:
                class Part:
                    def to_list(self) -> list[Any]:
                        return list(values[start : start + length])

                return Part()

        return Column()


def _lazy(columns: dict[str, Any]) -> Any:
    return _polars(columns).lazy()


MAKES = [_pandas, _polars, _lazy, Polars, _arrow, _dataset, _dicts]


@pytest.mark.parametrize("make", MAKES)
def test_every_table_gives_the_texts_of_its_usual_column(make: Make) -> None:
    samples = as_sample_set(make(COLUMNS), name="reference")
    assert (samples.name, list(samples)) == ("reference", TEXTS)
    assert samples.content_hash == SampleSet.from_texts(TEXTS, name="x").content_hash
    assert samples.prompts is not None
    assert samples.prompts.tolist() == PROMPTS
    assert samples.source.startswith("<")


@pytest.mark.parametrize("make", MAKES)
def test_a_column_and_labels_may_be_named(make: Make) -> None:
    renamed = {"foo": TEXTS, "bar": ["x"] * 3, "topic": TOPICS, "n": [1, 2, 3]}
    samples = as_sample_set(make(renamed), field="foo", group="topic", cluster="n")
    assert list(samples) == TEXTS
    assert samples.groups is not None
    assert samples.groups.tolist() == TOPICS
    assert samples.clusters is not None
    assert samples.clusters.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("make", MAKES)
def test_a_table_without_the_column_is_refused_with_its_columns(make: Make) -> None:
    with pytest.raises(InputError, match=r"^reference: row 1: .*'foo'.*'text', 't"):
        as_sample_set(make(COLUMNS), name="reference", field="foo")
    with pytest.raises(
        InputError,
        match=r"^samples: .*'foo' and 'bar'",
    ):
        as_sample_set(make({"foo": TEXTS, "bar": TEXTS}))
    with pytest.raises(InputError, match=r"^reference: .*'foo' \(row 1: "):
        as_sample_set(make(COLUMNS), name="reference", group="foo")


@pytest.mark.parametrize("make", MAKES)
def test_the_column_that_was_found_is_known_with_what_else_it_could_be(make: Make) -> None:
    columns = {"id": ["1", "2", "3"], "n": [1, 2, 3], "Output": TEXTS, "prompt": PROMPTS}
    found = as_sample_set(make(columns))
    assert (found.field, found.other_fields) == ("Output", ("id",))
    assert found.take(np.array([0])).other_fields == ("id",)
    named = as_sample_set(make(columns), field="id")
    assert (named.field, named.other_fields) == ("id", None)


@pytest.mark.parametrize("make", [_pandas, _polars, _lazy, _arrow, _dataset, _dicts])
def test_a_missing_text_is_refused_with_its_row(make: Make) -> None:
    with pytest.raises(InputError, match=r"^samples: row 2: .*'text' .*string"):
        as_sample_set(make({"text": ["a", None, "b"], "n": [1, 2, 3]}))


@pytest.mark.parametrize("make", [_pandas, _polars, _lazy, _arrow, _dataset, _dicts])
def test_nested_fields_and_token_ids_of_tables(make: Make) -> None:
    nested = make({"a": [{"b": ["x", "y"]}, {"b": ["z"]}], "n": [1, 2]})
    assert list(as_sample_set(nested, field="a.b[*]")) == ["x", "y", "z"]
    ids = as_sample_set(make({"input_ids": [[1, 2], [3]], "n": [1, 2]}))
    assert (ids.kind, [part.tolist() for part in ids]) == ("tokens", [[1, 2], [3]])


@pytest.mark.parametrize("make", [_pandas, _polars, _lazy, _arrow, _dataset])
def test_a_column_of_vectors_holds_embeddings(make: Make) -> None:
    table = make({"text": ["a"] * 4, "embedding": MATRIX.tolist(), "topic": list("abab")})
    samples = as_sample_set(table, field="embedding", group="topic", group_needed=True)
    np.testing.assert_array_equal(samples.vectors, MATRIX)
    assert samples.groups is not None
    assert samples.groups.tolist() == list("abab")
    with pytest.raises(InputError, match=r"'foo'.*'text', 'embedding' and 't"):
        as_sample_set(table, field="embedding", cluster="foo")


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_lists_of_numbers_with_points_are_vectors_and_whole_numbers_are_tokens(make: Any) -> None:
    samples = as_sample_set(make(MATRIX.tolist()))
    assert samples.kind == "vectors"
    np.testing.assert_array_equal(samples.vectors, MATRIX)
    assert as_sample_set(make([[0, 1], [2, 3]])).kind == "tokens"


def test_a_list_of_sets_is_no_set() -> None:
    with pytest.raises(InputError, match=r"first item is a list of 2 texts; for several systems"):
        as_sample_set([["a", "b"], ["c", "d"]])


@pytest.mark.parametrize("make", [_pandas, _polars, _lazy])
def test_a_frame_of_numbers_holds_embeddings(make: Make) -> None:
    frame = make({str(place): MATRIX[:, place] for place in range(3)})
    samples = as_sample_set(frame)
    assert (samples.kind, samples.vectors.dtype) == ("vectors", np.float32)  # type: ignore[union-attr]
    np.testing.assert_array_equal(samples.vectors, MATRIX)


def test_numbers_that_may_be_missing_in_pandas() -> None:
    frame = _pandas({"a": [1.0, 2.0], "b": [3.0, 4.0]}).astype("Float64")
    np.testing.assert_array_equal(as_sample_set(frame).vectors, [[1, 3], [2, 4]])


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_columns_of_pandas_hold_texts(kind: str) -> None:
    column = _pandas(COLUMNS)["text"].astype(kind)
    assert list(as_sample_set(column)) == TEXTS
    assert list(as_sample_set(column[1:])) == TEXTS[1:]


def test_columns_of_polars_and_of_datasets() -> None:
    assert list(as_sample_set(_dataset(COLUMNS)["text"])) == TEXTS
    polars = need("polars")
    assert list(as_sample_set(polars.Series(TEXTS))) == TEXTS
    assert as_sample_set(polars.Series([[1, 2], [3]])).kind == "tokens"


def test_a_frame_of_an_unknown_kind_that_holds_no_rows_yet() -> None:
    class Relation:
        def collect(self) -> None: ...

    with pytest.raises(InputError, match=r"^x: .*Relation.*\.collect\(\)$"):
        as_sample_set(Relation(), name="x")


def test_datasets_of_any_format_streamed_or_with_images() -> None:
    data = _dataset({"text": TEXTS, "embedding": [[0.5, 1.0]] * 3})
    assert list(as_sample_set(data.with_format("numpy"))) == TEXTS
    assert as_sample_set(data.with_format("numpy"), field="embedding").kind == "vectors"
    assert list(as_sample_set(data.to_iterable_dataset())) == TEXTS
    datasets, pillow = need("datasets"), need("PIL.Image")
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=["cat", "dog"])}
    )
    pictures = {"image": [pillow.new("RGB", (4, 4))] * 3, "label": [0, 1, 0]}
    images = as_sample_set(datasets.Dataset.from_dict(pictures, features=features), group="label")
    assert (images.kind, len(images)) == ("images", 3)
    assert images.groups is not None
    assert images.groups.tolist() == ["0", "1", "0"]


def test_a_dict_is_no_set_and_the_splits_are_named() -> None:
    datasets = need("datasets")
    splits = datasets.DatasetDict({"train": _dataset(COLUMNS), "test": _dataset(COLUMNS)})
    with pytest.raises(
        InputError,
        match=r"^reference: .*DatasetDict of 'train' and 'test'.*\['train'\]$",
    ):
        as_sample_set(splits, name="reference")
    with pytest.raises(InputError, match="found an empty dict"):
        as_sample_set({})


@pytest.mark.parametrize("make", [_pandas, Polars, _dataset])
def test_a_list_of_tables_is_no_set(make: Make) -> None:
    with pytest.raises(InputError, match=r"^x: .*whole \w+"):
        as_sample_set([make(COLUMNS)] * 2, name="x")


def test_generators_are_read() -> None:
    assert list(as_sample_set(text for text in TEXTS)) == TEXTS
    assert list(as_sample_set(dict(row) for row in ROWS)) == TEXTS
    with pytest.raises(InputError, match=r"^x: row 2: .*'text'.*'f'"):
        as_sample_set([{"text": "a"}, {"f": "b"}], name="x")


def test_a_table_of_an_unknown_kind() -> None:
    class Relation:
        def __arrow_c_stream__(self) -> None: ...

    with pytest.raises(InputError, match=r"kind .*Relation\)"):
        as_sample_set(Relation())


def test_tensors_with_gradients_and_of_half_precision() -> None:
    torch = need("torch")
    tensor = torch.tensor(MATRIX, requires_grad=True)
    for given in (tensor, tensor.to(torch.bfloat16), tensor.half(), list(tensor)):
        samples = as_sample_set(given)
        assert samples.vectors is not None
        assert samples.vectors.dtype == np.float32
        np.testing.assert_array_equal(samples.vectors, MATRIX)


class Jax:
    """What NumPy sees of an array of JAX, which lies on any device."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.ndim, self.shape, self.dtype = array.ndim, array.shape, array.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Any:
        return map(Jax, self._array)


class Exchanged:
    """An array that is exchanged by DLPack alone."""

    ndim = 2

    def __init__(self, array: np.ndarray[Any, Any], device: int = 1) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        if self._device != 1:
            raise BufferError("the array lies on a device that NumPy does not know")
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


class Cupy:
    """An array on a GPU, which NumPy may not read by itself."""

    ndim = 2
    __cuda_array_interface__ = None

    def __array__(self) -> None:
        raise TypeError("implicit conversion")

    def get(self) -> np.ndarray[Any, Any]:
        return MATRIX


@pytest.mark.parametrize("array", [Jax(MATRIX), Exchanged(MATRIX.copy()), Cupy()], ids=type)
def test_arrays_of_other_libraries(array: Any) -> None:
    np.testing.assert_array_equal(as_sample_set(array).vectors, MATRIX)


def test_vectors_one_by_one_must_be_of_one_length() -> None:
    np.testing.assert_array_equal(as_sample_set([*Jax(MATRIX)]).vectors, MATRIX)
    with pytest.raises(InputError, match=r"^vectors: sample 2: .*3 numbers"):
        as_sample_set([np.ones(3), np.ones(4)])


def test_an_array_that_cannot_leave_its_device() -> None:
    with pytest.raises(InputError, match=r"^vectors: .*array"):
        as_sample_set(Exchanged(MATRIX, device=2))
