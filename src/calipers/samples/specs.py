"""Sample sets as typed by a person: ``FILE``, ``NAME=FILE`` and ``FILE@FIELD``.

A set is called by its name where it has one, else by its file. Files of one name in several
folders, as ``results/SYSTEM/model_outputs.json``, are called by the folder that tells them apart.

``@FIELD`` says where the text stands in the rows of one file, and goes before the field of all.
What exists as a path is a file, whatever its name holds: in ``a@b.jsonl@text`` the file may be
``a@b.jsonl``, and where both readings exist, the longer path is meant. An ``@`` at the end closes
the file's name, without a field.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from calipers.errors import InputError
from calipers.files import at_home
from calipers.samples.readers.addresses import Remote, is_address, matches
from calipers.samples.source import split_suffix

STANDARD_INPUT = "-"
MARK = "@"

OF_FOLDERS = ("model_outputs",)
"""Names of files that say nothing of the system, which published folders are named after."""

Readable = Callable[[PurePath], bool]
"""Tells by its name whether a file can be read."""


@dataclass(frozen=True)
class Spec:
    """One set, or the sets of one system, as specified.

    Attributes
    ----------
    name
        What it is called.
    paths
        Its files.
    pattern
        The pattern that they match, or "" where there is none.
    field
        Where the text stands in their rows; None where nothing is said.
    named
        Whether a person gave the name.
    """

    name: str
    paths: tuple[str, ...]
    pattern: str = ""
    field: str | None = None
    named: bool = False


def default_name(path: Path) -> str:
    """Name a set by its file, without ``.gz`` and suffix, or by its folder."""
    if os.path.isdir(path):
        return path.resolve().name
    name = split_suffix(path)[0]
    return path.parent.name if name in OF_FOLDERS and path.parent.name else name


def one_set(text: str, readable: Readable) -> Spec:
    """Parse the specification of one set, such as a reference; the name may be empty.

    Parameters
    ----------
    text
        As typed.
    readable
        Tells by its name whether a file can be read.
    """
    path, field = _split_field(text, readable)
    name, equals, rest = path.partition("=")
    if not equals or is_address(path) or os.path.exists(path):
        return Spec("", (path,), field=field)
    if not name or not rest:
        raise _incomplete(text)
    return Spec(name, (rest,), field=field, named=True)


def system_spec(text: str, readable: Readable) -> Spec:
    """Parse the specification of a system, whose files may match a pattern.

    Raises
    ------
    InputError
        If a part is empty, a pattern has no name, or it matches nothing.
    """
    path, field = _split_field(text, readable)
    if path == STANDARD_INPUT:
        return Spec("stdin", (path,), field=field)
    if is_address(path):
        return Spec(Remote.at(path).name, (path,), field=field)
    name, equals, pattern = path.partition("=")
    if os.path.exists(path) or not equals:
        if glob.has_magic(path) and not os.path.exists(path):
            raise InputError(f"{text}: there is no such file; a pattern needs a name: NAME={text}")
        return Spec(default_name(Path(path)), (path,), field=field)
    if not name or not pattern:
        raise _incomplete(text)
    paths = _matches(pattern, text)
    return Spec(name, paths, "" if paths == (pattern,) else pattern, field, named=True)


def called_apart(specs: Sequence[Spec]) -> list[Spec]:
    """Distinguish files of one name by their folders; given names are kept."""
    alike: dict[str, list[int]] = {}
    for place, spec in enumerate(specs):
        if not spec.named and spec.paths[0] != STANDARD_INPUT and not is_address(spec.paths[0]):
            alike.setdefault(spec.name, []).append(place)
    apart = list(specs)
    for places in alike.values():
        folders = folder_names([Path(specs[place].paths[0]) for place in places])
        for place, name in zip(places, folders, strict=True):
            apart[place] = replace(specs[place], name=name or specs[place].name)
    return apart


def folder_names(paths: Sequence[Path]) -> list[str]:
    """Name paths by the folders in which they differ; empty where no single one does.

    What all have in common at the end is left out, and no more folders are named than are needed.

    Examples
    --------
    >>> folder_names([Path("a/out/x.txt"), Path("b/out/x.txt")])
    ['a', 'b']
    >>> folder_names([Path("a/1/x.txt"), Path("a/2/x.txt"), Path("b/1/x.txt")])
    ['a/1', 'a/2', 'b/1']
    """
    folders = [Path(os.path.abspath(path)).parent.parts for path in paths]
    different = len(set(folders))
    if different < 2:
        return [""] * len(paths)
    least = min(map(len, folders))
    common = 0
    while common < least and len({parts[-1 - common] for parts in folders}) == 1:
        common += 1
    ends = [parts[: len(parts) - common] for parts in folders]
    count = 1
    while len({parts[-count:] for parts in ends}) < different:
        count += 1
    return ["/".join(parts[-count:]) for parts in ends]


def named_beside(text: str, others: Sequence[str], readable: Readable) -> str:
    """Return the specification of a set, named by its folder if its file's name is taken.

    Parameters
    ----------
    text
        The set, as typed.
    others
        The systems that it is shown beside, as typed.
    readable
        Tells by its name whether a file can be read.
    """
    spec = one_set(text, readable)
    path = spec.paths[0]
    if spec.named or path == STANDARD_INPUT or is_address(path) or not os.path.exists(path):
        return text
    alone = replace(spec, name=default_name(Path(path)))
    name = called_apart([alone, *(system_spec(other, readable) for other in others)])[0].name
    return text if name == alone.name or "=" in name else f"{name}={text}"


def check_names(texts: Sequence[str], specs: Sequence[Spec]) -> None:
    """Refuse systems of the same name."""
    names = [spec.name for spec in specs]
    for second, name in enumerate(names):
        first = names.index(name)
        if first != second:
            raise InputError(
                f"two generated systems have the name {name!r}: {texts[first]} and "
                f"{texts[second]}; name them with NAME=FILE"
            )


def _split_field(text: str, readable: Readable) -> tuple[str, str | None]:
    """Split off the field behind the last ``@`` that stands behind a file."""
    if MARK not in text or _is_there(text):
        return text, None
    ends = [place for place, letter in enumerate(text) if letter == MARK]
    for known in (_is_there, lambda path: readable(PurePath(path))):
        for end in reversed(ends):
            path, field = text[:end], text[end + 1 :]
            if path and known(path):
                return path, field or None
    return text, None


def _is_there(text: str) -> bool:
    """Whether a path, or that behind a name, leads to something or matches it."""
    paths = [text, text.partition("=")[2]]
    return any(
        path == STANDARD_INPUT
        or os.path.exists(at_home(path))
        or (glob.has_magic(path) and bool(glob.glob(str(at_home(path)), recursive=True)))
        for path in paths
        if path and not is_address(path)
    )


def _matches(pattern: str, text: str) -> tuple[str, ...]:
    if is_address(pattern):
        return tuple(matches(pattern))
    pattern = str(at_home(pattern))
    if pattern == STANDARD_INPUT or os.path.exists(pattern):
        return (pattern,)
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise InputError(f"{text}: no file matches {pattern!r}")
    return tuple(paths)


def _incomplete(text: str) -> InputError:
    return InputError(
        f"{text!r}: must be FILE or NAME=PATTERN, each also with @FIELD behind it, with no part "
        "empty"
    )
