"""The generated side of the command line: files, and several files of one name."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calipers.errors import InputError
from calipers.samples.reading import STANDARD_INPUT, default_name, read_samples
from calipers.samples.sample_set import SampleSet


@dataclass(frozen=True)
class System:
    """One generated system: its samples, or those of each of its seeds.

    Attributes
    ----------
    name
        What tables call it.
    sets
        One sample set, or one for each seed, in the order of their paths.
    """

    name: str
    sets: tuple[SampleSet, ...]


def read_systems(
    specs: Sequence[str], *, field: str | None = None, group: str | None = None
) -> tuple[System, ...]:
    """Read the generated systems that a command line names.

    Parameters
    ----------
    specs
        Each is ``FILE``, named after the file, or ``NAME=PATTERN``, where several files that
        match the pattern are the system's seeds, in sorted order. What exists as a path is a file
        even if it has an equals sign in it.
    field
        Where the text is in the rows of the files.
    group
        Where the group is, in those files that have it.

    Raises
    ------
    InputError
        If a pattern matches nothing, two systems have the same name, or a file cannot be read.
    """
    found = [_parse(spec) for spec in specs]
    _check_names(specs, [name for name, _ in found])
    return tuple(System(name, _read(name, paths, field, group)) for name, paths in found)


def _parse(spec: str) -> tuple[str, list[str]]:
    """Split a specification into the system's name and its paths, without reading them."""
    if spec == STANDARD_INPUT:
        return "stdin", [spec]
    name, equals, pattern = spec.partition("=")
    if os.path.exists(spec) or not equals:
        if glob.has_magic(spec) and not os.path.exists(spec):
            raise InputError(f"{spec}: there is no such file; a pattern needs a name: NAME={spec}")
        return default_name(Path(spec)), [spec]
    if not name or not pattern:
        raise InputError(f"{spec!r}: must be FILE or NAME=PATTERN, with nothing left out")
    return name, _matches(pattern, spec)


def _matches(pattern: str, spec: str) -> list[str]:
    pattern = str(Path(pattern).expanduser())
    if pattern == STANDARD_INPUT or os.path.exists(pattern):
        return [pattern]
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise InputError(f"{spec}: no file matches {pattern!r}")
    return paths


def _read(
    name: str, paths: Sequence[str], field: str | None, group: str | None
) -> tuple[SampleSet, ...]:
    names = [name] if len(paths) == 1 else [None] * len(paths)
    return tuple(
        read_samples(path, name=own, field=field, group=group, group_needed=False)
        for path, own in zip(paths, names, strict=True)
    )


def _check_names(specs: Sequence[str], names: Sequence[str]) -> None:
    for second, name in enumerate(names):
        first = names.index(name)
        if first != second:
            raise InputError(
                f"two generated systems have the name {name!r}: {specs[first]} and "
                f"{specs[second]}; name them with NAME=FILE"
            )
