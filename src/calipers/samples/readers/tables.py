"""Tables in Arrow format: parquet and Arrow files, and saved datasets, batch by batch.

Several files may be one table. Loaded when such a file is read: pyarrow is the extra ``parquet``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from calipers.errors import first_line
from calipers.files import check_plain
from calipers.memory import ROW, budget
from calipers.samples.arrow import (
    check_unpacked,
    is_id_type,
    is_string,
    is_vector_type,
    joined_strings,
    joined_tokens,
    string_array,
    token_array,
    utf8_array,
    vector_array,
    vector_dtype,
    vector_width,
)
from calipers.samples.columns import RowError, StringColumn
from calipers.samples.fields import (
    TOKENS,
    beside_prompts,
    find_field,
    other_texts,
    prompt_field,
    root,
)
from calipers.samples.joining import Shard, joined
from calipers.samples.readers.rows import naming_messages, read_rows, without_prompts
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import (
    Source,
    Wanted,
    check_decompressed,
    is_compressed,
    open_seekable,
)
from calipers.samples.wording import names, shortened

ROWS = 4096

Opened = AbstractContextManager[BinaryIO]

Batches = Callable[[Sequence[str] | None], Iterator[Any]]
"""Gives the record batches of a table, of some columns or (None) of all."""

_LOGS = (
    {"doc_id", "resps"},
    {"custom_id", "response"},
    {"evaluation_id", "sample_id", "interaction_type", "input"},
)


@dataclass(frozen=True)
class TableFile:
    """A table file, or a part of one.

    Attributes
    ----------
    path
        The file, or its address.
    schema
        Its columns and their types.
    rows
        How many rows it says that it has.
    batches
        Gives its record batches.
    mapped
        Whether they lie on disk, memory-mapped, so that their texts take no memory.
    """

    path: str
    schema: pa.Schema
    rows: int
    batches: Batches
    mapped: bool


def read_parquet(path: Path, source: Source) -> SampleSet:
    """Read a sample from each row of a parquet file."""
    return read_tables([open_parquet(path, source)], source)


def read_arrow(path: Path, source: Source) -> SampleSet:
    """Read a sample from each row of an Arrow file, or a feather file of version 2."""
    return read_tables([open_arrow(path, source)], source)


def open_parquet(
    path: Path, source: Source, *, opened: Callable[[], Opened] | None = None
) -> TableFile:
    """Open a parquet file, whose rows are read on demand, batch by batch.

    Parameters
    ----------
    path
        The file.
    source
        What was asked of it.
    opened
        Opens it, where it is not on this machine and `path` is not looked at.

    Raises
    ------
    InputError
        If it is damaged, or claims more rows than fit in memory.
    """
    opened = opened or partial(open_seekable, path)
    with opened() as stream, _refusing_no_parquet(source):
        metadata = pq.ParquetFile(stream)
        schema, rows = metadata.schema_arrow, metadata.metadata.num_rows
        # Names are decoded when they are first asked for.
        _ = schema.names
    budget().check_claim(f"claims to hold {rows:,} rows", (ROW + 8) * rows, source.error)

    def batches(columns: Sequence[str] | None) -> Iterator[Any]:
        with opened() as stream:
            with _refusing_no_parquet(source):
                file = pq.ParquetFile(stream)
            at_once = _rows_at_once(file.metadata, stream, columns)
            try:
                yield from file.iter_batches(batch_size=at_once, columns=columns)
            except (pa.ArrowException, OSError) as error:
                raise source.error(f"cannot be read: {first_line(error)}") from error

    return TableFile(source.path, schema, rows, batches, mapped=False)


@contextmanager
def _refusing_no_parquet(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise source.error(f"cannot be read as a parquet file: {first_line(error)}") from error


def _rows_at_once(metadata: Any, stream: BinaryIO, columns: Sequence[str] | None) -> int:
    """Choose how many rows of a parquet file are unpacked at a time.

    One long value, kept once, may be in every row; so many rows fit into half of the
    memory that may be taken.
    """
    longest = 1
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for place in range(metadata.num_columns):
            named = metadata.schema.column(place).path.split(".")[0]
            if columns is None or named in columns:
                longest = max(longest, _longest_value(group.column(place), stream))
    return min(ROWS, max(1, budget().left // 2 // longest))


def _longest_value(chunk: Any, stream: BinaryIO) -> int:
    """Return a bound on the longest value of a column that takes fewer bytes than it has."""
    if chunk.physical_type != "BYTE_ARRAY":
        return 0
    if "DELTA_BYTE_ARRAY" in chunk.encodings:
        return int(chunk.total_uncompressed_size)
    stream.seek(min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset))
    # A page begins with its kind (2 for a dictionary) and its size, in Thrift's compact protocol
    header = stream.read(12)
    if header[:3] != b"\x15\x04\x15":
        return 0
    size = 0
    for place, byte in enumerate(header[3:]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return size // 2


def read_tables(tables: Sequence[TableFile], source: Source) -> SampleSet:
    """Read a sample, or several, from each row of a table in one file or in several.

    Raises
    ------
    InputError
        If the files differ in their columns, a row cannot be read, or no column can be chosen.
    """
    source = source.counting("row")
    schema = tables[0].schema
    for table in tables[1:]:
        if table.schema != schema:
            raise source.error(
                f"its files must have the same columns; {os.path.basename(tables[0].path)} has "
                f"{names(schema.names)}, and {os.path.basename(table.path)} has others, or of "
                "other types"
            )
    mapped = all(table.mapped for table in tables)

    def batches(columns: Sequence[str] | None) -> Iterator[Any]:
        for table in tables:
            # Few bytes on disk may be many in memory here too
            size = 0
            for batch in table.batches(columns):
                size += 0 if mapped else batch.nbytes
                check_decompressed(table.path, size)
                yield batch

    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise source.error(f"has the column {names(twice)} twice")
    textual = [field.name for field in schema if is_string(field.type)]
    unknown = [field.name for field in schema if pa.types.is_null(field.type)]
    listed = [field.name for field in schema if is_id_type(field.type)]
    vectors = [
        field.name
        for field in schema
        if is_vector_type(field.type) and field.name.casefold() not in TOKENS
    ]
    field: str | None = source.field
    others: tuple[str, ...] | None = None
    if field is None and not any(log <= set(schema.names) for log in _LOGS):
        possible = textual + unknown
        many = [field.name for field in schema if _lists_strings(field.type)]
        with naming_messages(lambda: next(_plain_rows(batches(None), source), (0, None))[1]):
            field = find_field(
                schema.names, possible, source, listed=listed, vectors=vectors, many=many
            )
        others = other_texts(textual, field)
    prompt = prompt_field(textual, field)
    try:
        if field is not None and field in textual and not source.labels:
            samples = _read_texts(field, prompt, batches, source, mapped=mapped)
        elif field is not None and field in listed and not source.labels:
            samples = _read_tokens(field, prompt, batches, source)
        elif field is not None and field in vectors:
            samples = _read_vectors(field, tables, source)
        else:
            source = _with_labels_there(schema, source)
            rows = _plain_rows(batches(_needed(field, schema, source)), source)
            samples = read_rows(rows, replace(source, field=field))
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"cannot be read: {first_line(error)}") from error
    return replace(samples, field=field, other_fields=others)


def _read_texts(
    field: str, prompt: str | None, batches: Batches, source: Source, *, mapped: bool
) -> SampleSet:
    """Take the texts as they are in Arrow memory, without making Python strings."""
    current = budget()

    def checked(array: Any, first: int, row_error: RowError) -> Any:
        texts = string_array(array, first, row_error)
        on_disk = mapped and not pa.types.is_dictionary(array.type)
        size = 8 * len(texts) if on_disk else texts.nbytes
        current.take(size + ROW * len(texts), source.error)
        return texts

    texts, prompts, notes = _read_column(field, prompt, batches, source, checked)
    return SampleSet.from_texts(
        joined_strings(texts),
        name=source.name,
        source=source.path,
        prompts=prompts,
        notes=notes,
    )


def _read_tokens(field: str, prompt: str | None, batches: Batches, source: Source) -> SampleSet:
    """Take the token ids out of Arrow memory, without making Python numbers."""
    current = budget()

    def checked(array: Any, first: int, row_error: RowError) -> tuple[Any, Any]:
        ids, counts = token_array(array, first, row_error)
        current.take(ids.nbytes + (ROW + 8) * len(counts), source.error)
        return ids, counts

    parts, prompts, notes = _read_column(field, prompt, batches, source, checked)
    return SampleSet.from_tokens(
        joined_tokens(parts),
        name=source.name,
        source=source.path,
        prompts=prompts,
        notes=notes,
    )


def _read_vectors(field: str, tables: Sequence[TableFile], source: Source) -> SampleSet:
    """Take the vectors out of Arrow memory into one array, and their labels beside them."""
    rows = joined([_shard(field, table, source) for table in tables], source)
    samples = SampleSet.of_checked_vectors(rows, name=source.name, source=source.path)
    labels = {wanted.kind: _label_values(wanted, tables, source) for wanted in source.labels}
    if (groups := labels.get("group")) is not None:
        samples = samples.with_groups(groups)
    if (clusters := labels.get("cluster")) is not None:
        samples = samples.with_clusters(clusters)
    return samples


def _shard(field: str, table: TableFile, source: Source) -> Shard:
    """See a file of vectors as a part of a set; messages name the file and count its own rows."""
    file_source = replace(source, path=table.path)
    parts = (batch.column(field) for batch in table.batches([field]) if len(batch))
    first = next(parts, None)
    columns = 0
    if first is not None:
        columns = vector_width(first)
        vector_array(
            first, columns, 1, file_source.row_error
        )  # a bad row there goes before other columns

    def blocks() -> Iterator[NDArray[Any]]:
        row = 1
        for batch in table.batches([field]):
            check_decompressed(table.path, batch.nbytes)
            yield vector_array(batch.column(field), columns, row, file_source.row_error)
            row += len(batch)

    kind = vector_dtype(table.schema.field(field).type)
    return Shard(table.path, table.rows, columns, kind, blocks)


def _label_values(
    wanted: Wanted, tables: Sequence[TableFile], source: Source
) -> list[object] | None:
    if wanted.path not in tables[0].schema.names:
        if wanted.needed:
            columns = names(tables[0].schema.names)
            raise source.error(f"has no column {wanted.path!r} of {wanted.kind}s; it has {columns}")
        return None
    parts = (batch.column(0) for table in tables for batch in table.batches([wanted.path]))
    return [value for part in parts for value in part.to_pylist()]


def _read_column(
    field: str,
    prompt: str | None,
    batches: Batches,
    source: Source,
    check: Callable[[Any, int, RowError], Any],
) -> tuple[list[Any], StringColumn | None, list[str]]:
    """Check a column batch by batch, and the prompts beside it."""
    values, prompts, first = [], [], 1
    for batch in batches([field] if prompt is None else [field, prompt]):
        values.append(check(batch.column(field), first, source.row_error))
        if prompt is not None:
            prompts.append(utf8_array(batch.column(prompt), first, source.row_error))
        first += len(batch)
    return values, *_complete(prompts)


def _complete(prompts: list[Any]) -> tuple[StringColumn | None, list[str]]:
    missing, total = sum(array.null_count for array in prompts), sum(map(len, prompts))
    if not missing:
        return (joined_strings(prompts) if prompts else None), []
    return None, [without_prompts(missing, total)] if missing < total else []


def _plain_rows(batches: Iterator[Any], source: Source) -> Iterator[tuple[int, Any]]:
    number = 0
    for batch in batches:
        for start in range(0, len(batch), ROWS):
            for row in _as_python(batch.slice(start, ROWS), number + 1, source):
                number += 1
                yield number, row


def _as_python(batch: Any, first: int, source: Source) -> list[dict[str, Any]]:
    for column in batch.columns:
        check_unpacked(column, source.error)
    try:
        return cast(list[dict[str, Any]], batch.to_pylist())
    except UnicodeDecodeError as error:
        row = next(i for i in range(len(batch)) if not _decodes(batch.slice(i, 1)))
        raise source.row_error(first + row, "holds text that is not valid UTF-8") from error
    except (OverflowError, ValueError) as error:  # as of a time that lies too far away
        row = next(i for i in range(len(batch)) if not _decodes(batch.slice(i, 1)))
        raise source.row_error(first + row, f"cannot be read: {first_line(error)}") from error


def _decodes(batch: Any) -> bool:
    try:
        batch.to_pylist()
    except (OverflowError, ValueError):
        return False
    return True


def _needed(field: str | None, schema: pa.Schema, source: Source) -> list[str] | None:
    """Name the columns that hold the field, the labels and the prompts; None for all."""
    if field is None:
        return None
    asked = [field, *(wanted.path for wanted in source.labels)]
    wanted = {path if path in schema.names else root(path) for path in asked}
    wanted |= set(beside_prompts(schema.names, field))
    # A path that starts at no column breaks at the first row, where all columns are listed.
    if not all({path, root(path)} & set(schema.names) for path in asked):
        return None
    return [name for name in schema.names if name in wanted]


def _lists_strings(kind: Any) -> bool:
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(listed) and is_string(kind.value_type)


def _with_labels_there(schema: pa.Schema, source: Source) -> Source:
    """Drop labels that are not needed and that no column holds, to read as few as possible."""
    for wanted in source.labels:
        if not (wanted.needed or {wanted.path, root(wanted.path)} & set(schema.names)):
            absent: dict[str, Any] = {wanted.kind: None}
            source = replace(source, **absent)
    return source


def open_arrow(path: Path, source: Source) -> TableFile:
    """Open an Arrow file, or a file with an Arrow stream as written by ``datasets``.

    The data stay on disk, memory-mapped, unless the file is gzipped.

    Raises
    ------
    InputError
        If it is damaged or cut short.
    """
    check_plain(path)
    schema, rows, _ = _opened_arrow(path, source)

    def batches(columns: Sequence[str] | None) -> Iterator[Any]:
        _, _, record_batches = _opened_arrow(path, source)
        with _refusing_no_arrow(path, source):
            for batch in record_batches:
                chosen = batch if columns is None else batch.select(columns)
                _check_whole(chosen, path, source)
                yield chosen

    return TableFile(str(path), schema, rows, batches, mapped=not is_compressed(path))


def _opened_arrow(path: Path, source: Source) -> tuple[pa.Schema, int, Iterator[Any]]:
    """Return the schema of a file, the number of its rows, and what goes through its batches."""
    with _refusing_no_arrow(path, source):
        if is_compressed(path):
            with open_seekable(path) as stream:
                data: Any = pa.BufferReader(stream.read())
        else:
            data = pa.memory_map(str(path))
        if data.read(len(ARROW)) == ARROW:
            data.seek(0)
            file = pa.ipc.open_file(data)
            # Names are decoded when they are first asked for.
            _ = file.schema.names
            batches = map(file.get_batch, range(file.num_record_batches))
            return file.schema, file.count_rows(), batches
        data.seek(0)
        _ = pa.ipc.open_stream(data).schema.names
        data.seek(0)
        rows = sum(len(batch) for batch in pa.ipc.open_stream(data))
        data.seek(0)
        reader = pa.ipc.open_stream(data)
        return reader.schema, rows, iter(reader)


ARROW = b"ARROW1"
"""What an Arrow file begins with, and a stream does not."""


@contextmanager
def _refusing_no_arrow(path: Path, source: Source) -> Iterator[None]:
    named = "" if source.path == str(path) else f"its file {shortened(path.name)}"
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shortened(first_line(error), 200)
        problem = f"cannot read {named}" if named else "cannot be read as an Arrow file"
        raise source.error(f"{problem}: {reason}") from error


def _check_whole(batch: Any, file: Path, source: Source) -> None:
    """Refuse columns whose parts lie outside of the file: Arrow would follow them there."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            plain = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
            if plain and "UTF8" in str(error):  # found again later, with the number of its row
                continue
            raise source.error(
                f"cannot read its file {shortened(file.name)}: the column {name!r} is damaged: "
                f"{first_line(error)}"
            ) from error
