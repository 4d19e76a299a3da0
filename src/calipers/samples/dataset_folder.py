"""Folders that Hugging Face ``datasets`` saved, read without that package."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from calipers.errors import InputError
from calipers.files import check_plain
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tables import first_line, read_table
from calipers.samples.wording import describe, names, shortened


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
        held = _read_json(splits).get("splits")
        if not isinstance(held, list) or not all(isinstance(name, str) for name in held):
            raise InputError(
                f"{splits}: must list names of folders under 'splits'; found {describe(held)}"
            )
        raise source.error(
            f"holds a dataset with the splits {names(held)}; give the folder of one of them, "
            f"such as {folder / shortened(next(iter(held), 'train'))}"
        )
    state = folder / "state.json"
    if not state.is_file():
        raise source.error(
            "is a folder, but not one saved by Hugging Face datasets (it has no state.json), and "
            "no images (.png, .jpg, …) lie in it; for the files in it write "
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
