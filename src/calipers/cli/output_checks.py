"""Whether the files of a command could be written in the end, told before it begins."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from calipers.errors import InputError


def check_outputs(
    outputs: Iterable[tuple[str, str]], specs: Sequence[str] = (), *, force: bool = False
) -> None:
    """Refuse output files that could not be written, are there, or would overwrite an input.

    Pipes and devices, such as ``/dev/null``, are written to and never replaced; they may be there.

    Parameters
    ----------
    outputs
        Pairs of an option and the path that it was given.
    specs
        The inputs as they were given: a path, or ``NAME=GLOB``.
    force
        Whether a file that is there may be replaced; an input never is.

    Raises
    ------
    InputError
        Names the option and the file.
    """
    checked: list[tuple[str, Path]] = []
    for option, given in outputs:
        path = Path(given)
        for other_option, other in checked:
            if _same(path, other) and not _special(path):
                raise InputError(f"{option} and {other_option} name the same file: {given}")
        if any(_same(path, source) for source in _sources(specs)):
            raise InputError(f"{option} would overwrite an input: {given}")
        _check(option, path, force)
        checked.append((option, path))


def _check(option: str, path: Path, force: bool) -> None:
    """Try out, before the long work, what the writing at the end will need."""
    try:
        if path.is_dir():
            raise InputError(f"{option} must name a file; {path} is a folder")
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {str(path.parent)!r}")
        if path.is_file():
            _check_there(option, path, force)
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{option} {path}: the file is there and read-only")
        if not _special(path):
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written: {error.strerror}") from error


def _check_there(option: str, path: Path, force: bool) -> None:
    if _is_stdout(path):
        raise InputError(
            f"{option} {path}: standard output goes there already; {option} - writes there alone"
        )
    if not force:
        raise InputError(f"{option} {path}: the file is already there; --force replaces it")


def _is_stdout(path: Path) -> bool:
    """Tell whether standard output was redirected to this file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def _special(path: Path) -> bool:
    """Tell whether it is a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


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
