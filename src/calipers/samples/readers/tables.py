"""Tables in Arrow memory: parquet files, and folders that Hugging Face ``datasets`` saved.

Both are read a batch at a time, the folders without that package.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from calipers.errors import InputError
from calipers.files import check_plain
from calipers.memory import ROW, budget
from calipers.samples.columns import RowError, check_unpacked, is_string, string_array, utf8_array
from calipers.samples.fields import find_field, other_texts, root
from calipers.samples.readers.rows import read_rows, without_prompts
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, check_decompressed
from calipers.samples.tokens import is_id_type, joined_tokens, token_array
from calipers.samples.wording import describe, names, shortened

ROWS = 4096

Batches = Callable[[Sequence[str] | None], Iterator[Any]]
"""Gives the record batches of a table, of some columns or (None) of all."""

_LOGS = ({"doc_id", "resps"}, {"custom_id", "response"})


def read_parquet(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each row of a parquet file."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(stream)
        schema = file.schema_arrow
        # Names are decoded when they are first asked for.
        _ = schema.names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise source.error(f"is no readable parquet file: {first_line(error)}") from error

    rows = file.metadata.num_rows
    budget().check_claim(f"claims to hold {rows:,} rows", (ROW + 8) * rows, source.error)

    def batches(columns: Sequence[str] | None) -> Iterator[Any]:
        # Few bytes on disk may be many in memory here too.
        size = 0
        at_once = _rows_at_once(file.metadata, stream, columns)
        for batch in file.iter_batches(batch_size=at_once, columns=columns):
            size += batch.nbytes
            check_decompressed(source.path, size)
            yield batch

    return read_table(schema, batches, source)


def _rows_at_once(metadata: Any, stream: BinaryIO, columns: Sequence[str] | None) -> int:
    """Choose how many rows of a parquet file are unpacked at a time.

    One long value, kept once, may stand in every row; so many rows fit into half of the
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
    """Give a bound on the longest value of a column that takes fewer bytes than it has."""
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


def read_table(
    schema: pa.Schema, batches: Batches, source: Source, *, mapped: bool = False
) -> SampleSet:
    """Read a sample, or several, from each row of a table that comes in record batches.

    `mapped` says whether the batches lie on disk, memory-mapped, so that their texts take no
    memory.
    """
    source = source.counting("row")
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise source.error(f"has the column {names(twice)} twice")
    textual = [field.name for field in schema if is_string(field.type)]
    unknown = [field.name for field in schema if pa.types.is_null(field.type)]
    listed = [field.name for field in schema if is_id_type(field.type)]
    field: str | None = source.field
    others: tuple[str, ...] | None = None
    if field is None and not any(log <= set(schema.names) for log in _LOGS):
        field = find_field(schema.names, textual + unknown, source, listed=listed)
        others = other_texts(textual, field)
    prompt = "prompt" if "prompt" in textual else None
    try:
        if field is not None and field in textual and not source.labels:
            samples = _read_texts(field, prompt, batches, source, mapped=mapped)
        elif field is not None and field in listed and not source.labels:
            samples = _read_tokens(field, prompt, batches, source)
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
        pa.chunked_array(texts, type=pa.large_string()),
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


def _read_column(
    field: str,
    prompt: str | None,
    batches: Batches,
    source: Source,
    check: Callable[[Any, int, RowError], Any],
) -> tuple[list[Any], pa.ChunkedArray | None, list[str]]:
    """Check a column batch by batch, and the prompts beside it."""
    prompt = None if prompt == field else prompt
    values, prompts, first = [], [], 1
    for batch in batches([field] if prompt is None else [field, prompt]):
        values.append(check(batch.column(field), first, source.row_error))
        if prompt is not None:
            prompts.append(utf8_array(batch.column(prompt), first, source.row_error))
        first += len(batch)
    return values, *_complete(prompts)


def _complete(prompts: list[Any]) -> tuple[pa.ChunkedArray | None, list[str]]:
    column = pa.chunked_array(prompts, type=pa.large_string())
    if not column.null_count:
        return (column if prompts else None), []
    if column.null_count == len(column):
        return None, []
    return None, [without_prompts(column.null_count, len(column))]


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
    paths = [*asked, "prompt"]
    wanted = {path if path in schema.names else root(path) for path in paths}
    # A path that starts at no column breaks at the first row, where all columns are listed.
    if not all({path, root(path)} & set(schema.names) for path in asked):
        return None
    return [name for name in schema.names if name in wanted]


def _with_labels_there(schema: pa.Schema, source: Source) -> Source:
    """Drop labels that are not needed and that no column holds, to read as few as possible."""
    for wanted in source.labels:
        if not (wanted.needed or {wanted.path, root(wanted.path)} & set(schema.names)):
            absent: dict[str, Any] = {wanted.kind: None}
            source = replace(source, **absent)
    return source


def first_line(error: Exception) -> str:
    """Keep what a person needs of an error from the file libraries."""
    return str(error).partition("\n")[0]


def is_dataset(folder: Path) -> bool:
    """Tell whether Hugging Face ``datasets`` saved a folder."""
    return any((folder / name).is_file() for name in ("state.json", "dataset_dict.json"))


def read_dataset(folder: Path, source: Source) -> SampleSet:
    """Read a folder written by ``Dataset.save_to_disk``; the data stay on disk, memory-mapped."""
    files = [folder / name for name in _data_files(folder, source)]
    if not files:
        raise source.error("holds no samples")

    def batches(columns: Sequence[str] | None) -> Iterator[Any]:
        for file in files:
            reader = _open_arrow(file, source)
            if reader.schema != schema:
                raise source.error(
                    f"its files must have the same columns; {files[0].name} has "
                    f"{names(schema.names)}, and {file.name} has others, or of other types"
                )
            for batch in reader:
                chosen = batch if columns is None else batch.select(columns)
                _check_whole(chosen, file, source)
                yield chosen

    schema = _open_arrow(files[0], source).schema
    return read_table(schema, batches, source, mapped=True)


def _data_files(folder: Path, source: Source) -> list[str]:
    splits = folder / "dataset_dict.json"
    if splits.is_file():
        listed = _read_json(splits).get("splits")
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise InputError(
                f"{splits}: must list names of folders under 'splits'; found {describe(listed)}"
            )
        raise source.error(
            f"holds a dataset with the splits {names(listed)}; give the folder of one of them, "
            f"such as {folder / shortened(next(iter(listed), 'train'))}"
        )
    state = folder / "state.json"
    if not state.is_file():
        raise source.error(
            "is a folder, but not one saved by Hugging Face datasets (it has no state.json), and "
            "neither images (.png, .jpg, …) nor texts (.txt) lie in it; for the files in it write "
            f"NAME='{folder}/*.jsonl'"
        )
    files = _read_json(state).get("_data_files")
    if not isinstance(files, list) or not all(map(_names_file, files)):
        raise InputError(
            f"{state}: must list the data files under '_data_files', each with its 'filename'; "
            f"found {describe(files)}"
        )
    return [Path(file["filename"]).name for file in files]


def _names_file(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("filename"), str)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except RecursionError as error:
        raise InputError(f"{path}: cannot be read: JSON is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {first_line(error)}") from error
    return value if isinstance(value, dict) else {}


def _open_arrow(file: Path, source: Source) -> Any:
    check_plain(file)
    try:
        reader = pa.ipc.open_stream(pa.memory_map(str(file)))
        # Names are decoded when they are first asked for.
        _ = reader.schema.names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise source.error(
            f"cannot read its file {shortened(file.name)}: {shortened(first_line(error), 200)}"
        ) from error
    return reader


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
