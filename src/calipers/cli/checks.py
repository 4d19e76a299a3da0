"""What can be told from the arguments alone, before anything is read or computed."""

from __future__ import annotations

import glob
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from calipers.errors import InputError, unknown_name

STDIO = "-"
TIES: Sequence[Literal["closed", "open"]] = ("closed", "open")
DISTANCES: Sequence[Literal["euclidean", "cosine"]] = ("euclidean", "cosine")
CELLS: Sequence[Literal["auto", "cube-root"]] = ("auto", "cube-root")
DTYPES: Sequence[Literal["float32", "auto"]] = ("float32", "auto")

Word = TypeVar("Word", bound=str)


def whole(option: str, text: str, *, least: int) -> int:
    """Read a whole number that must not be below `least`."""
    rule = f"{option} must be a whole number of at least {least}; found {text!r}"
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
        raise InputError(rule)
    return int(text)


def optional_whole(option: str, text: str | None, *, least: int) -> int | None:
    """Read a whole number, where one was given."""
    return None if text is None else whole(option, text, least=least)


def one_of(option: str, text: str, known: Sequence[Word]) -> Word:
    """Read a word that must be among the known ones."""
    for word in known:
        if word == text:
            return word
    raise InputError(f"{option} must be {' or '.join(known)}; found {text!r}")


def parse_buckets(text: str) -> int | Literal["auto", "cube-root"]:
    """Read ``--buckets``: a number of cells, ``auto`` or ``cube-root``."""
    for word in CELLS:
        if text == word:
            return word
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 2:
        raise InputError(
            f"--buckets must be auto, cube-root or a whole number of at least 2; found {text!r}"
        )
    return int(text)


def parse_scaling(text: str | None) -> float | None:
    """Read ``--c``: a number above 0."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"--c must be a number above 0; found {text!r}")
    return value


def parse_level(text: str) -> float:
    """Read ``--level``: a number between 0 and 1."""
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not 0 < level < 1:
        raise InputError(f"--level must lie between 0 and 1, such as 0.95; found {text!r}")
    return level


def parse_estimator(text: str) -> str:
    """Read ``--estimator``."""
    from calipers.report.names import ESTIMATORS

    known = ("quantisation", *ESTIMATORS)
    if text not in known:
        raise unknown_name("--estimator", text, known)
    return text


def parse_metrics(options: Sequence[str]) -> tuple[str, ...] | None:
    """Read ``--metrics``, given once or often, each time one key or a list of them."""
    if not options:
        return None
    keys = [key for option in options for key in re.split(r"[,\s]+", option) if key]
    if not keys:
        raise InputError(f"--metrics must name at least one metric; found {options[0]!r}")
    return tuple(dict.fromkeys(keys))


def check_group(group: str | None) -> None:
    """Refuse an empty name of a field."""
    if group is not None and not group.strip():
        raise InputError(f"--group must name a field; found {group!r}")


def check_cache(folder: Path | None, *, no_cache: bool) -> None:
    """Refuse a cache folder that cannot be one, or that is not wanted."""
    if folder is not None and no_cache:
        raise InputError("--cache-dir and --no-cache exclude each other; give one of them")
    if folder is not None and os.path.lexists(folder) and not folder.is_dir():
        raise InputError(f"--cache-dir must name a folder; {folder} is a file")


def check_specs(reference: str, generated: Sequence[str], train: str | None = None) -> None:
    """Refuse what cannot be meant: standard input twice, or a metric in the place of a file."""
    from calipers.report.names import FAMILIES, LABELS

    if [reference, train, *generated].count(STDIO) > 1:
        raise InputError("standard input (-) can be read once only; it is given more than once")
    for spec in generated:
        if spec.partition(":")[0] in (*LABELS, *FAMILIES) and not os.path.exists(spec):
            raise InputError(
                f"{spec}: there is no such file. Several metrics are written "
                f"as one list: --metrics precision,{spec}"
            )


def check_outputs(outputs: Iterable[tuple[str, str]], specs: Sequence[str] = ()) -> None:
    """Refuse output files that could not be written, or would overwrite an input.

    Parameters
    ----------
    outputs
        Pairs of an option and the path that it was given.
    specs
        The inputs as they were given: a path, or ``NAME=GLOB``.
    """
    checked: list[tuple[str, Path]] = []
    for option, given in outputs:
        path = Path(given)
        for other_option, other in checked:
            if _same(path, other):
                raise InputError(f"{option} and {other_option} name the same file: {given}")
        if any(_same(path, source) for source in _sources(specs)):
            raise InputError(f"{option} would overwrite an input: {given}")
        _check_writable(option, path)
        checked.append((option, path))


def _check_writable(option: str, path: Path) -> None:
    """Try out, before the long work, what the writing at the end will need."""
    try:
        if path.is_dir():
            raise InputError(f"{option} must name a file; {path} is a folder")
        if not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {str(path.parent)!r}")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{option} {path}: the file is there and read-only")
        if path.is_file() or not path.exists():
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written: {error.strerror}") from error


def _sources(specs: Sequence[str]) -> Iterator[Path]:
    for spec in specs:
        yield Path(spec)
        pattern = spec.partition("=")[2]
        yield from map(Path, glob.glob(pattern, recursive=True) if pattern else ())


def _same(left: Path, right: Path) -> bool:
    try:
        return os.path.samefile(left, right)
    except (OSError, ValueError):
        return os.path.realpath(left) == os.path.realpath(right)
