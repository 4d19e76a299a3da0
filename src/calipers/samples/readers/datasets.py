"""Folders saved by Hugging Face ``datasets``, read without that package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from calipers.errors import InputError, first_line, require
from calipers.samples.readers.shards import is_shard_name, natural
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import describe, names, shortened


def is_dataset(folder: Path) -> bool:
    """Tell whether a folder was saved by Hugging Face ``datasets``."""
    return any((folder / name).is_file() for name in ("state.json", "dataset_dict.json"))


def read_dataset(folder: Path, source: Source) -> SampleSet:
    """Read a folder written by ``Dataset.save_to_disk``, memory-mapped."""
    files = [folder / name for name in _data_files(folder, source)]
    if not files:
        raise source.error("holds no samples")
    require("pyarrow", extra="parquet", purpose=f"{source.path}: a dataset saved to disk")
    from calipers.samples.readers.tables import open_arrow, read_tables

    return read_tables([open_arrow(file, source) for file in files], source)


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
            f"neither images (.png, .jpg, …) nor texts (.txt) lie in it{_files_of_texts(folder)}"
        )
    files = _read_json(state).get("_data_files")
    if not isinstance(files, list) or not all(map(_names_file, files)):
        raise InputError(
            f"{state}: must list the data files under '_data_files', each with its 'filename'; "
            f"found {describe(files)}"
        )
    return [Path(file["filename"]).name for file in files]


def _files_of_texts(folder: Path) -> str:
    """Say how else the files of a folder can be given that are no shards by their names."""
    files = natural(path for path in folder.iterdir() if is_shard_name(path))
    if not files:
        return ""
    place = folder / f"*{''.join(files[0].suffixes)}"
    return (
        f"; give one of its files, such as {files[0]}, or as a reference the pattern '{place}', "
        f"which reads them as one set; NAME='{place}' reads them as the seeds of a system"
    )


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
