"""The generated side of the command line: files, and several files of one name."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from calipers.errors import InputError
from calipers.files import at_home
from calipers.progress import Progress
from calipers.samples.image_folder import is_image_name, read_image_files
from calipers.samples.reading import STANDARD_INPUT, default_name, read_samples
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import counted, names


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
    specs: Sequence[str],
    *,
    field: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> tuple[System, ...]:
    """Read the generated systems that a command line names.

    Parameters
    ----------
    specs
        Each is ``FILE``, named after the file, or ``NAME=PATTERN``, where several files that
        match the pattern are the system's seeds, in sorted order; but image files that match it
        are one set together. What exists as a path is a file even if it has an equals sign in it.
    field
        Where the text is in the rows of the files.
    group
        Where the group is, in those files that have it.
    cluster
        Where the cluster is, in those files that have it.
    skip_bad
        Whether image files that cannot be read are left out, with a note, instead of refused.
    progress
        What shows how far the first look at image files is.

    Raises
    ------
    InputError
        If a pattern matches nothing, two systems have the same name, or a file cannot be read.
    """
    found = [_parse(spec) for spec in specs]
    _check_names(specs, [each.name for each in found])
    asked = Source(
        "", "", field, group, False, cluster, False, skip_bad=skip_bad, progress=progress
    )
    return tuple(System(each.name, _read(each, asked)) for each in found)


@dataclass(frozen=True)
class _Spec:
    """A system's name and its paths; the pattern that they match, or "" where there is none."""

    name: str
    paths: list[str]
    pattern: str = ""


def _parse(spec: str) -> _Spec:
    """Split a specification into the system's name and its paths, without reading them."""
    if spec == STANDARD_INPUT:
        return _Spec("stdin", [spec])
    name, equals, pattern = spec.partition("=")
    if os.path.exists(spec) or not equals:
        if glob.has_magic(spec) and not os.path.exists(spec):
            raise InputError(f"{spec}: there is no such file; a pattern needs a name: NAME={spec}")
        return _Spec(default_name(Path(spec)), [spec])
    if not name or not pattern:
        raise InputError(f"{spec!r}: must be FILE or NAME=PATTERN, with nothing left out")
    paths = _matches(pattern, spec)
    return _Spec(name, paths, "" if paths == [pattern] else pattern)


def _matches(pattern: str, spec: str) -> list[str]:
    pattern = str(at_home(pattern))
    if pattern == STANDARD_INPUT or os.path.exists(pattern):
        return [pattern]
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise InputError(f"{spec}: no file matches {pattern!r}")
    return paths


def _read(spec: _Spec, asked: Source) -> tuple[SampleSet, ...]:
    if any(map(_is_image, spec.paths)) and spec.pattern:
        return (_read_images(spec, asked),)
    names = [spec.name] if len(spec.paths) == 1 else [None] * len(spec.paths)
    return tuple(
        read_samples(
            path,
            name=own,
            field=asked.field,
            group=asked.group,
            group_needed=False,
            cluster=asked.cluster,
            cluster_needed=False,
            skip_bad=asked.skip_bad,
            progress=asked.progress,
        )
        for path, own in zip(spec.paths, names, strict=True)
    )


def _read_images(spec: _Spec, asked: Source) -> SampleSet:
    """Read the image files that match a pattern as one set, since none of them is one alone."""
    # Two stars match the folders on the way too.
    paths = [path for path in spec.paths if not ("**" in spec.pattern and os.path.isdir(path))]
    if len(paths) == 1:
        raise InputError(f"{spec.name}={spec.pattern}: matches one image, but a set needs many")
    others = [path for path in paths if not _is_image(path)]
    if others:
        raise InputError(
            f"{spec.name}={spec.pattern}: matches "
            f"{counted(len(paths) - len(others), 'image file')} and "
            f"{counted(len(others), 'other path')} ({names(others, limit=3)}); give a pattern that "
            "matches images alone, or the folder that holds them"
        )
    return read_image_files(
        paths, _base(spec.pattern), replace(asked, path=spec.pattern, name=spec.name)
    )


def _is_image(path: str) -> bool:
    return is_image_name(path) and not os.path.isdir(path)


def _base(pattern: str) -> Path:
    """Give the folder from which a pattern goes on: the parts in front of its first star."""
    parts = at_home(pattern).parts
    plain = list(takewhile(lambda part: not glob.has_magic(part), parts))
    return Path(*plain)


def _check_names(specs: Sequence[str], names: Sequence[str]) -> None:
    for second, name in enumerate(names):
        first = names.index(name)
        if first != second:
            raise InputError(
                f"two generated systems have the name {name!r}: {specs[first]} and "
                f"{specs[second]}; name them with NAME=FILE"
            )
