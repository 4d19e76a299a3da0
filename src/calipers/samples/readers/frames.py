"""Tables in memory: data frames of pandas and polars, Arrow tables, datasets, streams.

None of these packages is imported: a table is known by its methods. Of its columns only those are
looked at that hold the samples, their prompts and their labels, some thousand rows at a time. Of a
lazy frame of polars only those are collected.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import as_numpy, is_array
from calipers.samples.columns import sample_error
from calipers.samples.fields import beside_prompts, find_field, lists_texts, other_texts, root
from calipers.samples.image_files import is_pillow
from calipers.samples.kinds import as_array
from calipers.samples.readers.every_eval import is_every_eval
from calipers.samples.readers.logs import is_batch_output, is_harness
from calipers.samples.readers.rows import naming_messages, read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import names

ROWS = 4096


@dataclass(frozen=True)
class DataFrameTable:
    """A table of any library.

    Attributes
    ----------
    kind
        What a person calls it: the name of its class.
    columns
        Names of its columns, in their order.
    length
        How many rows it has.
    part
        Gives some rows of a column, by its place, as Python values.
    stream
        Its rows, where they come one by one and once; then `part` gives those of the first alone.
    """

    kind: str
    columns: tuple[str, ...]
    length: int
    part: Callable[[int, int, int], Sequence[Any]]
    stream: Iterable[dict[str, Any]] | None = None

    @classmethod
    def streamed(
        cls, kind: str, first: dict[str, Any], stream: Iterable[dict[str, Any]]
    ) -> DataFrameTable:
        """Take rows that can be iterated only once, the first of which is known."""
        names = tuple(first)
        return cls(kind, names, 1, lambda place, start, stop: [first[names[place]]], stream)

    @classmethod
    def of(cls, value: Any) -> DataFrameTable | None:
        """Take a table of any supported type; None for anything else."""
        kind = type(value).__name__
        if isinstance(value, type):
            return None
        if hasattr(value, "iloc") and hasattr(value, "columns"):  # pandas

            def of_pandas(place: int, start: int, stop: int) -> Sequence[Any]:
                return list(value.iloc[start:stop, place].tolist())

            return cls(kind, tuple(map(str, value.columns)), len(value), of_pandas)
        if hasattr(value, "get_column") and hasattr(value, "columns"):  # polars

            def of_polars(place: int, start: int, stop: int) -> Sequence[Any]:
                column = value.get_column(value.columns[place])
                return list(column.slice(start, stop - start).to_list())

            return cls(kind, tuple(value.columns), len(value), of_polars)
        if hasattr(value, "column_names") and hasattr(value, "to_pylist"):  # Arrow

            def of_arrow(place: int, start: int, stop: int) -> Sequence[Any]:
                return list(value.column(place).slice(start, stop - start).to_pylist())

            return cls(kind, tuple(value.column_names), value.num_rows, of_arrow)
        if hasattr(value, "with_format") and hasattr(value, "__len__"):  # datasets
            plain = value.with_format(None)

            def of_dataset(place: int, start: int, stop: int) -> Sequence[Any]:
                name = plain.column_names[place]
                return list(plain.select_columns([name])[start:stop][name])

            return cls(kind, tuple(plain.column_names), len(plain), of_dataset)
        return None

    def rows(self, wanted: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the rows, numbered from 1, with the requested columns, or all for None."""
        if self.stream is not None:
            for number, cells_of in enumerate(self.stream, 1):
                yield (
                    number,
                    {
                        name: _plain(cell) if wanted is None or name in wanted else cell
                        for name, cell in cells_of.items()
                    },
                )
            return
        places = [
            place for place, name in enumerate(self.columns) if wanted is None or name in wanted
        ]
        for start in range(0, self.length, ROWS):
            stop = min(start + ROWS, self.length)
            parts = [self.part(place, start, stop) for place in places]
            for offset, cells in enumerate(zip(*parts, strict=True), 1):
                row = (self.columns[place] for place in places)
                yield start + offset, dict(zip(row, map(_plain, cells), strict=True))

    def values(self, wanted: Sequence[str], source: Source) -> dict[str, list[Any]]:
        """Return whole columns unchanged."""
        if self.stream is None:
            places = map(self.columns.index, wanted)
            parts = (list(self.part(place, 0, self.length)) for place in places)
            return dict(zip(wanted, parts, strict=True))
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in enumerate(self.stream, 1):
            for name in wanted:
                if name not in row:
                    raise source.row_error(number, f"has no {name!r}; it has {names(row)}")
                columns[name].append(row[name])
        return columns

    def first(self) -> dict[str, Any]:
        """Return the first row unchanged."""
        places = range(len(self.columns))
        return {name: self.part(at, 0, 1)[0] for name, at in zip(self.columns, places, strict=True)}


def is_lazy(value: object) -> bool:
    """Tell whether a value is a lazy frame of polars."""
    polars: Any = sys.modules.get("polars")
    return polars is not None and isinstance(value, polars.LazyFrame)


def collected(frame: Any, source: Source) -> tuple[Any, Source, tuple[str, ...] | None]:
    """Collect the required columns of a lazy frame.

    Returns
    -------
    tuple
        The data frame, the source with the field that was found, and the other fields that may
        hold texts. Frames of numbers alone, which are embeddings, are collected whole.
    """
    head = frame.head(1).collect()
    first = DataFrameTable.of(head)
    if first is None or not first.length:
        return head, source, None
    field, others = source.field, None
    if field is None:
        if all(kind.is_numeric() for kind in head.dtypes):
            return frame.collect(), source, None
        field, others = _field(first.first(), source)
    wanted = _needed(field, first.columns, source)
    chosen = frame if wanted is None else frame.select(wanted)
    return chosen.collect(), replace(source, field=field), others


def read_frame(table: DataFrameTable, source: Source) -> SampleSet:
    """Read a sample, or several, from each row of a table.

    A column of Pillow images holds images, one of vectors embeddings.
    """
    source = source.counting("row")
    twice = sorted({name for name in table.columns if table.columns.count(name) > 1})
    if twice:
        raise source.error(f"has the column {names(twice)} twice")
    if not table.length:
        raise source.error("holds no samples")
    first = table.first()
    field: str | None = source.field
    others: tuple[str, ...] | None = None
    if field is None:
        field, others = _field(first, source)
    samples = None if field is None else _unlike_text(table, field, first.get(field), source)
    if samples is None:
        rows = table.rows(_needed(field, table.columns, source))
        samples = read_rows(rows, replace(source, field=field))
    return replace(samples, source=f"<{table.kind}>", field=field, other_fields=others)


def _field(first: dict[str, Any], source: Source) -> tuple[str | None, tuple[str, ...] | None]:
    """Find the column of the samples, and the others that may hold texts too.

    None for the log of a harness or of a service.
    """
    plain = {name: _plain(cell) for name, cell in first.items()}
    if is_harness(plain) or is_batch_output(plain) or is_every_eval(plain):
        return None, None
    images = [name for name, cell in first.items() if is_pillow(cell) or _is_image(cell)]
    if len(images) == 1:
        return images[0], ()
    textual = [name for name, cell in plain.items() if isinstance(cell, str | None)]
    listed = [name for name, cell in plain.items() if isinstance(cell, list) and is_id_list(cell)]
    many = [name for name, cell in plain.items() if lists_texts(cell)]
    vectors = [name for name, cell in first.items() if is_vector(cell)]
    with naming_messages(lambda: plain):
        field = find_field(list(first), textual, source, listed=listed, vectors=vectors, many=many)
    return field, other_texts(textual, field)


def _unlike_text(table: DataFrameTable, field: str, first: Any, source: Source) -> SampleSet | None:
    """Read a column of images or of vectors; None where it is neither."""
    pictures = is_pillow(first) or _is_image(first)
    if not pictures and not is_vector(first):
        return None
    labels = _labels(table, source)
    columns = table.values(list(dict.fromkeys([field, *labels.values()])), source)
    labelled: dict[str, Any] = {
        kind: [_plain(cell) for cell in columns[name]] for kind, name in labels.items()
    }
    if pictures:
        return SampleSet.from_images(
            columns[field], name=source.name, skip_bad=source.skip_bad, **labelled
        )
    samples = SampleSet.from_vectors(stacked(columns[field], source.path), name=source.name)
    if "groups" in labelled:
        samples = samples.with_groups(labelled["groups"])
    return samples.with_clusters(labelled["clusters"]) if "clusters" in labelled else samples


def _is_image(cell: Any) -> bool:
    """Tell whether a cell is an image as an array, of shape (h, w), (h, w, c) or (c, h, w)."""
    return is_array(cell) and getattr(cell, "ndim", 0) in (2, 3)


def _labels(table: DataFrameTable, source: Source) -> dict[str, str]:
    """Name the columns of the labels that were asked for, by kind."""
    columns = {}
    for wanted in source.labels:
        if wanted.path in table.columns:
            columns[f"{wanted.kind}s"] = wanted.path
        elif wanted.needed:
            raise source.error(f"has no column {wanted.path!r}; it has {names(table.columns)}")
    return columns


def _needed(field: str | None, columns: Sequence[str], source: Source) -> list[str] | None:
    """Name the columns that hold the field, the labels and the prompts; None for all."""
    if field is None:
        return None
    asked = [field, *(wanted.path for wanted in source.labels)]
    # A path that starts at no column breaks at the first row, where all columns are listed
    if not all({path, root(path)} & set(columns) for path in asked):
        return None
    wanted = {path if path in columns else root(path) for path in asked}
    # Beside the prompts stand the columns that tell what they are
    wanted |= set(beside_prompts(columns, field))
    return [name for name in columns if name in wanted]


def is_vector(value: object) -> bool:
    """Tell whether a value is one embedding: a list or an array of floats."""
    if isinstance(value, list | tuple):
        kinds = set(map(type, value))
        return float in kinds and kinds <= {float, int}
    if not is_array(value) or getattr(value, "ndim", None) != 1:
        return False
    return "float" in str(getattr(value, "dtype", ""))


def stacked(vectors: Sequence[Any], where: str) -> Any:
    """Stack embeddings as rows.

    Raises
    ------
    InputError
        If one is longer than the others, or none.
    """
    rows: list[NDArray[Any]] = []
    for number, vector in enumerate(vectors, 1):
        row = as_array(vector, f"{where}: sample {number}")
        if row.shape != (rows[0] if rows else row).shape or row.ndim != 1:
            raise sample_error(
                where,
                number,
                f"must be a vector of {len(rows[0]):,} numbers, as the first; "
                f"its shape is {row.shape}",
            )
        rows.append(row)
    return np.stack(rows)


def _plain(cell: Any) -> Any:
    """Return a cell as JSON would: missing values are null, arrays lists."""
    if isinstance(cell, np.ndarray) or hasattr(cell, "detach"):
        return as_numpy(cell).tolist()
    if isinstance(cell, float) and cell != cell:
        return None
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell
