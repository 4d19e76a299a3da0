"""Sharded sets: the files of a folder, a pattern or a list, read as one set.

Shards of vectors are joined (:mod:`calipers.samples.joining`), shards of a table read one after the
other, as are shards of texts (JSON lines, CSV and the like, also compressed). They come in the
order of their names with numbers by value, ``shard-2`` before ``shard-10``. Names such as
``x-00000-of-00008`` tell how many there must be. In a folder files of texts are shards only if
their names say so, since they may be the systems of a comparison as well.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, require
from calipers.files import at_home, check_there
from calipers.samples.joining import Shard, joined
from calipers.samples.kinds import float_type
from calipers.samples.readers.vectors import (
    Made,
    from_bfloat16,
    open_numpy,
    open_tensor,
    read_made,
)
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, split_suffix
from calipers.samples.wording import names, numbered

ARRAYS, TABLES = (".npy", ".safetensors"), (".parquet", ".arrow", ".feather")
TEXTS = (".txt", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
SUFFIXES = (*ARRAYS, *TABLES, *TEXTS)
"""What the names of shards end in; those of texts may also be compressed."""

ROWS = 4096

AnyPath = TypeVar("AnyPath", bound=PurePath)

_OF = re.compile(
    r"(?P<before>.*?)-?(?<!\d)(?P<number>\d++)-of-(?P<total>\d+)(?P<behind>[^/]*)", re.DOTALL
)

_PART = re.compile(r"(?:part|shard|chunk|split)s?[-_.]?\d.*|\d+\.[^/]*", re.IGNORECASE | re.DOTALL)
"""The name of a part of a set that does not tell how many parts there are."""


def shard_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a shard's name; empty for another file."""
    ends = Path(path).suffix.lower(), split_suffix(PurePath(path))[1]
    return ends[0] if ends[0] in SUFFIXES else ends[1] if ends[1] in TEXTS else ""


def is_shard_name(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file may be a shard, by its name."""
    return bool(shard_suffix(path))


def holds_texts(paths: Sequence[PurePath]) -> bool:
    """Tell whether files of one format are shards of texts, by their names."""
    return all(shard_suffix(path) in TEXTS for path in paths)


def _is_text_shard(path: PurePath) -> bool:
    """Tell whether a file among others is a shard of texts; of ``.txt`` each may be a text."""
    suffix = shard_suffix(path)
    if suffix not in TEXTS:
        return False
    return bool(_OF.fullmatch(path.name) or (suffix != ".txt" and _PART.fullmatch(path.name)))


def in_shards(paths: Iterable[AnyPath]) -> list[AnyPath]:
    """Keep the files of a folder that are shards, in order."""
    known = list(paths)
    binary = [path for path in known if path.suffix.lower() in (*ARRAYS, *TABLES)]
    return natural(binary) or text_shards(known)


def text_shards(paths: Iterable[AnyPath]) -> list[AnyPath]:
    """Keep the files of a folder that are shards of texts by name, in order."""
    return natural(filter(_is_text_shard, paths))


def find_shards(folder: Path, source: Source) -> tuple[list[Path], tuple[str, ...]] | None:
    """Find the shards directly in a folder, in order; None where there are none.

    Returns
    -------
    tuple
        The shards, and notes on other files. Hidden files are left out.

    Raises
    ------
    InputError
        If the folder cannot be read, shards are of several formats, or one is missing.
    """
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    except OSError as error:
        raise source.error(f"the folder cannot be read: {error.strerror or error}") from error
    files = [entry for entry in entries if not entry.is_dir()]
    shards = in_shards(files)
    if not shards:
        return None
    check_complete(shards, source)
    others = sorted(entry.name for entry in entries if entry not in set(shards))
    note = f"left out beside the shards: {names(others, limit=3)}"
    return shards, (note,) if others else ()


def holds_shards_of_lines(folder: Path) -> bool:
    """Tell whether the ``.txt`` files of a folder are shards by name, rather than texts."""
    files = (entry for entry in folder.iterdir() if not entry.name.startswith((".", "_")))
    return any(shard_suffix(file) == ".txt" and _is_text_shard(file) for file in files)


def natural(paths: Iterable[AnyPath]) -> list[AnyPath]:
    """Sort paths by name, with numbers by value.

    Examples
    --------
    >>> [path.name for path in natural([Path("s-10.npy"), Path("s-9.npy"), Path("s-010.npy")])]
    ['s-9.npy', 's-010.npy', 's-10.npy']
    """

    def key(path: PurePath) -> tuple[Any, ...]:
        # Numbers stand at every second place, so words and numbers never meet
        parts = re.split(r"(\d+)", str(path))
        return (*((int(p) if at % 2 else p) for at, p in enumerate(parts)), str(path))

    return sorted(paths, key=key)


def check_complete(paths: Sequence[PurePath], source: Source) -> None:
    """Refuse shards of several sets or of an incomplete one, as far as names tell.

    Raises
    ------
    InputError
        Names the shards that are missing.
    """
    matches = [_OF.fullmatch(path.name) for path in paths]
    numbered_ones = [match for match in matches if match is not None]
    if not numbered_ones:
        return
    sets = Counter((m["before"], int(m["total"]), m["behind"]) for m in numbered_ones)
    plain = [path.name for path, match in zip(paths, matches, strict=True) if match is None]
    if len(sets) > 1 or plain:
        kinds = [*(f"{b}-…-of-{total:05d}{e}" for b, total, e in sets), *plain]
        raise source.error(
            f"holds files of several sets, {names(kinds, limit=3)}; give each set a folder of its "
            "own (a reference may also be a pattern in quotes, and in Python a list of paths)"
        )
    ((_, total, _),) = sets
    present = {int(match["number"]) for match in numbered_ones}
    first = 0 if 0 in present or total not in present else 1
    missing = [number for number in range(first, total + first) if number not in present]
    beyond = sorted(present - set(range(first, total + first)))
    if missing or beyond:
        what = "lacks" if missing else "has too many:"
        raise source.error(
            f"{what} {numbered('shard', missing or beyond)} of {total:,}, by the names of its "
            f"files ({paths[0].name}, …)"
        )


def are_shards_of_one_set(paths: Sequence[str]) -> bool:
    """Tell whether files are parts of one set by name: ``x-00000-of-00008``."""
    matches = [_OF.fullmatch(os.path.basename(path)) for path in paths if is_shard_name(path)]
    sets = {(match["before"], match["total"], match["behind"]) for match in matches if match}
    return 1 < len(paths) == sum(match is not None for match in matches) and len(sets) == 1


def are_parts(paths: Sequence[str]) -> bool:
    """Tell whether the files of a pattern are parts of one set by name, not repetitions."""
    if are_shards_of_one_set(paths):
        return True
    return len(paths) > 1 and all(map(_is_text_shard, map(PurePath, paths)))


def shards_of_pattern(pattern: str) -> list[Path]:
    """List the files that match a pattern, in order; none without a pattern.

    Raises
    ------
    InputError
        If one of them is no shard.
    """
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return []
    paths = natural(map(Path, glob.glob(str(at_home(pattern)), recursive=True)))
    others = [path.name for path in paths if not is_shard_name(path) or path.is_dir()]
    if others:
        raise InputError(
            f"{pattern}: a pattern in the place of one set must match its shards "
            f"({', '.join(SUFFIXES)}) alone; it matches {names(others, limit=3)}"
        )
    if paths:
        check_complete(paths, Source(pattern, ""))
    return paths


def shard_paths(value: object) -> list[Path]:
    """Return the paths of shards in a list; none for anything else."""
    if not isinstance(value, list | tuple) or not value:
        return []
    if not all(isinstance(path, str | os.PathLike) for path in value):
        return []
    named = all(is_shard_name(path) for path in value)
    # Strings may be texts, unless they lead somewhere
    there = all(isinstance(path, os.PathLike) or os.path.isfile(path) for path in value)
    return [Path(path) for path in value] if named and there else []


def check_alike(paths: Sequence[Path], source: Source) -> list[str]:
    """Refuse files of several formats, or empty ones; return the format."""
    suffixes = sorted({shard_suffix(path) for path in paths})
    if len(suffixes) > 1:
        raise source.error(
            f"must hold shards of one format; found {names(suffixes)} "
            f"({', '.join(next(p.name for p in paths if shard_suffix(p) == s) for s in suffixes)})"
        )
    for path in paths:
        check_there(path)
        if path.stat().st_size == 0:
            raise InputError(f"{path}: is empty")
    return suffixes


def read_shards(paths: Sequence[Path], source: Source) -> SampleSet:
    """Read files of vectors or tables as one set, in order.

    Raises
    ------
    InputError
        If they are of several formats, do not fit together, or one cannot be read.
    """
    suffixes = check_alike(paths, source)
    if suffixes[0] in TABLES:
        return _read_table(paths, source)
    sources = [replace(source, path=str(path), group=None, cluster=None) for path in paths]
    if suffixes[0] == ".safetensors" and source.field is None:
        made = [
            read_made(path, shard_source) for path, shard_source in zip(paths, sources, strict=True)
        ]
        if (first := made[0]) is not None:
            _check_made(first, made, paths)
            parts = [
                [replace(shard_source, field=view) for shard_source in sources]
                for view in first.views
            ]
            views = [_joined(paths, part, source) for part in parts]
            return first.holding(dict(zip(first.views, views, strict=True)), source)
    return SampleSet.of_checked_vectors(
        _joined(paths, sources, source), name=source.name, source=source.path
    )


def _check_made(first: Made, made: Sequence[Made | None], paths: Sequence[Path]) -> None:
    for path, shard_made in zip(paths, made, strict=True):
        if shard_made != first:
            raise InputError(
                f"{path}: was embedded differently from {paths[0]}; all shards of a set must come "
                "from one run of calipers embed"
            )


def _joined(paths: Sequence[Path], sources: Sequence[Source], source: Source) -> NDArray[Any]:
    return joined(
        [_array_shard(p, shard_source) for p, shard_source in zip(paths, sources, strict=True)],
        source,
    )


def _array_shard(path: Path, source: Source) -> Shard:
    """Look at the header of a file; its rows are read when they are asked for."""
    if path.suffix.lower() == ".npy":

        def opened() -> tuple[NDArray[Any], bool]:
            return open_numpy(path, source)[0], False
    else:

        def opened() -> tuple[NDArray[Any], bool]:
            return open_tensor(path, source)

    array, half = opened()
    if array.ndim != 2:
        raise source.error(
            "a shard must hold vectors, an array of shape (n, d), but this one has the shape "
            f"{array.shape}"
        )

    def blocks() -> Iterator[NDArray[Any]]:
        array, half = opened()
        for start in range(0, len(array), ROWS):
            rows = array[start : start + ROWS]
            yield from_bfloat16(rows) if half else rows

    dtype = np.dtype(np.float32) if half else float_type(array.dtype, source.path)
    rows, columns = array.shape
    return Shard(source.path, rows, columns, dtype, blocks)


def _read_table(paths: Sequence[Path], source: Source) -> SampleSet:
    require("pyarrow", extra="parquet", purpose=f"{source.path}: shards of a table")
    from calipers.samples.readers.tables import open_arrow, open_parquet, read_tables

    opened = open_parquet if paths[0].suffix.lower() == ".parquet" else open_arrow
    return read_tables([opened(path, replace(source, path=str(path))) for path in paths], source)
