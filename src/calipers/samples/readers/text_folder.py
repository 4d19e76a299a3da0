"""A folder of ``.txt`` files, each one text, in the order of their names.

Only the files that lie in the folder itself are read; hidden ones are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from calipers.errors import InputError
from calipers.memory import read_whole
from calipers.samples.readers.decoding import decode
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, open_stream, split_suffix
from calipers.samples.wording import counted, names

SUFFIX = ".txt"


def is_text_name(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file should hold a text, by its name, gzipped or not."""
    return split_suffix(Path(path))[1] == SUFFIX


def read_text_folder(folder: Path, source: Source) -> SampleSet | None:
    """Read every text file of a folder as one text; None if there are none.

    Raises
    ------
    InputError
        If there is a single one, or one is not valid UTF-8.
    """
    entries = _entries(folder, source)
    files = _text_files(entries)
    if not files:
        return None
    if len(files) == 1:
        raise source.error(
            f"holds a single text file, and a folder gives one text for each of its {SUFFIX} "
            f"files; for a text for each line of it give {files[0]}"
        )
    # Texts of a folder have no fields
    plain = Source(source.path, source.name).counting("sample")
    samples = read_rows(((n, text) for n, text in enumerate(_texts(files), 1)), plain)
    return samples.noting(*_notes(files, entries))


def has_texts(folder: Path, source: Source, *, least: int) -> bool:
    """Tell whether a folder holds at least so many text files."""
    return len(_text_files(_entries(folder, source))) >= least


def _entries(folder: Path, source: Source) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise source.error(f"the folder cannot be read: {error.strerror or error}") from error


def _text_files(entries: Sequence[Path]) -> list[Path]:
    return [entry for entry in entries if is_text_name(entry) and not entry.is_dir()]


def _texts(files: Sequence[Path]) -> Iterator[str]:
    """Return the text of every file, without the end of its last line."""
    for file in files:
        source = Source(str(file), file.name)
        with open_stream(file) as stream:
            text = decode(read_whole(stream, source.error), source)
        yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _notes(files: Sequence[Path], entries: Sequence[Path]) -> Iterator[str]:
    """Say what was left out."""
    folders = [entry.name for entry in entries if entry.is_dir()]
    others = [entry.name for entry in entries if entry not in set(files) and not entry.is_dir()]
    if folders:
        which = names(folders, limit=3)
        yield f"{counted(len(folders), 'sub-folder')} of the folder left out ({which})"
    if others:
        which = names(others, limit=3)
        yield f"{counted(len(others), 'file')} of other suffixes than {SUFFIX} left out ({which})"


def mixed(source: Source, images: Sequence[str], texts: Sequence[str]) -> InputError:
    """Build the error for a folder with both images and texts."""
    suffix = os.path.splitext(images[0])[1]
    return source.error(
        f"holds {counted(len(images), 'image file')} and {counted(len(texts), 'text file')} "
        f"({names(sorted(map(os.path.basename, texts)), limit=3)}), but a set holds one kind of "
        "samples; give each kind a folder of its own, or the images as a generated system by the "
        f"pattern NAME='{source.path}/*{suffix}'"
    )
