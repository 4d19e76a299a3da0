"""Folders that Hugging Face ``datasets`` saved, read without that package."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from calipers.errors import InputError
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tables import first_line, read_table
from calipers.samples.wording import names


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
            for batch in _open_arrow(file, source):
                yield batch if columns is None else batch.select(columns)

    return read_table(_open_arrow(files[0], source).schema, batches, source, mapped=True)


def _data_files(folder: Path, source: Source) -> list[str]:
    splits = folder / "dataset_dict.json"
    if splits.is_file():
        held = _read_json(splits).get("splits", [])
        raise source.error(
            f"holds a dataset with the splits {names(held)}; give the folder of one of them, "
            f"such as {folder / str(next(iter(held), 'train'))}"
        )
    state = folder / "state.json"
    if not state.is_file():
        raise source.error(
            "is a folder, but not one saved by Hugging Face datasets (it has no state.json), and "
            "no images (.png, .jpg, …) lie in it; for the files in it write "
            f"NAME='{folder}/*.jsonl'"
        )
    files = _read_json(state).get("_data_files")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise InputError(f"{state}: must list the data files under '_data_files'")
    return [Path(str(file.get("filename"))).name for file in files]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {first_line(error)}") from error
    return value if isinstance(value, dict) else {}


def _open_arrow(file: Path, source: Source) -> Any:
    try:
        return pa.ipc.open_stream(pa.memory_map(str(file)))
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"cannot read its file {file.name}: {first_line(error)}") from error
