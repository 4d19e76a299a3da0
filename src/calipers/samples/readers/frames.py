"""Tables that a person holds: data frames of pandas and polars, Arrow tables, datasets.

None of these packages is imported: a table is known by its methods. Of its columns only those are
looked at that hold the samples, their prompts and their labels, some thousand rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import is_array
from calipers.samples.columns import sample_error
from calipers.samples.fields import beside_prompts, find_field, lists_texts, other_texts, root
from calipers.samples.image_files import is_pillow
from calipers.samples.kinds import as_array
from calipers.samples.readers.every_eval import is_every_eval
from calipers.samples.readers.logs import is_batch_output, is_harness
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import names

ROWS = 4096


@dataclass(frozen=True)
class Table:
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
    """

    kind: str
    columns: tuple[str, ...]
    length: int
    part: Callable[[int, int, int], Sequence[Any]]

    @classmethod
    def of(cls, value: Any) -> Table | None:
        """Take a table as what it is; None where it is none."""
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
        """Give the rows, numbered from 1, with the wanted columns or (None) all."""
        places = [
            place for place, name in enumerate(self.columns) if wanted is None or name in wanted
        ]
        for start in range(0, self.length, ROWS):
            stop = min(start + ROWS, self.length)
            parts = [self.part(place, start, stop) for place in places]
            for offset, cells in enumerate(zip(*parts, strict=True), 1):
                row = (self.columns[place] for place in places)
                yield start + offset, dict(zip(row, map(_plain, cells), strict=True))

    def values(self, name: str) -> list[Any]:
        """Give a whole column, as it is."""
        return list(self.part(self.columns.index(name), 0, self.length))

    def first(self) -> dict[str, Any]:
        """Give the first row, as it is."""
        places = range(len(self.columns))
        return {name: self.part(at, 0, 1)[0] for name, at in zip(self.columns, places, strict=True)}


def read_frame(table: Table, source: Source) -> SampleSet:
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
    images = [name for name, cell in first.items() if is_pillow(cell)]
    if len(images) == 1:
        return images[0], ()
    textual = [name for name, cell in plain.items() if isinstance(cell, str | None)]
    listed = [name for name, cell in plain.items() if isinstance(cell, list) and is_id_list(cell)]
    many = [name for name, cell in plain.items() if lists_texts(cell)]
    field = find_field(list(first), textual, source, listed=listed, many=many)
    return field, other_texts(textual, field)


def _unlike_text(table: Table, field: str, first: Any, source: Source) -> SampleSet | None:
    """Read a column of images or of vectors; None where it is neither."""
    if is_pillow(first):
        labels = _labels(table, source)
        return SampleSet.from_images(
            table.values(field), name=source.name, skip_bad=source.skip_bad, **labels
        )
    if not is_vector(first):
        return None
    samples = SampleSet.from_vectors(stacked(table.values(field), source.path), name=source.name)
    labels = _labels(table, source)
    if "groups" in labels:
        samples = samples.with_groups(labels["groups"])
    return samples.with_clusters(labels["clusters"]) if "clusters" in labels else samples


def _labels(table: Table, source: Source) -> dict[str, Any]:
    found = {}
    for wanted in source.labels:
        if wanted.path in table.columns:
            found[f"{wanted.kind}s"] = table.values(wanted.path)
        elif wanted.needed:
            raise source.error(f"has no column {wanted.path!r}; it has {names(table.columns)}")
    return found


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
    """Put embeddings one below the other.

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
    """Give a cell as JSON would: missing values are null, arrays lists."""
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if isinstance(cell, float) and cell != cell:
        return None
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell
