"""Names shortened to a width, without becoming equal.

Every place that shortens names of systems does so here: terminal, Markdown, LaTeX, page and plots.
A name loses its middle, and ``…`` stands for what it lost. A short form is only taken where it fits
no other of the names, whatever ``…`` is read as: so no two names share one, and the part that tells
a name from the others stays, wherever it is. ``xwinlm-7b-v0.3`` and ``xwinlm-70b-v0.3`` become
``xw…-7b-v0.3`` and ``xw…70b-v0.3``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count, islice
from types import MappingProxyType

from calipers.wording.cells import cell_len, clusters, fits, head_of, tail_of
from calipers.wording.names import WIDEST_NAME, clean, shorten

CUT = "…"
LEAST = 3
"""Cells that the beginning and the end of a name keep, where that is enough to know it by."""
LITTLE = 2
"""The same beside a part of its middle."""
PARTS = re.compile(r"[^\W_]+(?:\.\d+)*")
PARAMETER = re.compile(r"(?:^|(?<=,))([^=,]+)(?==)")
"""The name of a parameter, as in ``top_p=0.9,top_k=40``."""

Pieces = tuple[str, ...]
"""What a short form keeps of a name, from left to right."""


@dataclass(frozen=True)
class Peers:
    """The names in one document.

    Attributes
    ----------
    names
        All of them in full.
    whole
        Each short form that was written, and the name that it stands for.
    """

    names: tuple[str, ...] = ()
    whole: dict[str, str] = field(default_factory=dict)


_peers: ContextVar[Peers | None] = ContextVar("peers", default=None)


@contextmanager
def among(names: Iterable[object]) -> Iterator[Peers]:
    """Make :func:`short` distinguish a name from these, which are in the same document."""
    outer = peers()
    full = (outer.whole.get(name, name) for name in map(clean, names))  # no short form is a name
    both = Peers(tuple(dict.fromkeys((*outer.names, *full))), outer.whole)
    token = _peers.set(both)
    try:
        yield both
    finally:
        _peers.reset(token)


def peers() -> Peers:
    """Return the names in this document."""
    return _peers.get() or Peers()


def short(name: object, width: int = WIDEST_NAME) -> str:
    """Write the name of a set on one line, shortened but distinct from its peers.

    Examples
    --------
    >>> with among(["runs/2024-06/model_a.jsonl", "runs/2024-07/model_a.jsonl"]):
    ...     short("runs/2024-07/model_a.jsonl", 16)
    'runs/2…07….jsonl'
    """
    whole, known = clean(name), peers()
    whole = known.whole.get(whole, whole)  # of what was shortened before
    if fits(whole, width):
        return whole
    form = short_forms((*known.names, whole), width)[whole]
    known.whole[form] = whole
    return form


def shorten_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten names to one width, keeping different names different.

    Examples
    --------
    >>> shorten_names(["temperature=0.5,top_p=0.8", "temperature=1,top_p=0.8"], 16)
    ['tem=0.5,top=0.8', 'tem=1,top=0.8']
    >>> shorten_names(["Infinity-3M-0613-Mistral-7B", "Infinity-3M-0625-Mistral-7B"], 16)
    ['Infin…0613…al-7B', 'Infin…0625…al-7B']
    """
    forms = short_forms(tuple(names), width)
    return [forms[name] for name in names]


def short_forms(names: Iterable[str], width: int) -> Mapping[str, str]:
    """Return the form of every name within a width, all of them different.

    A name that is no wider stays as it is. Where a width has too few letters to tell names apart,
    they end in a number, and where it has no room for that either, they are wider.

    Parameters
    ----------
    names
        Those that a reader must be able to tell apart.
    width
        Cells of a terminal.
    """
    return _short_forms(tuple(dict.fromkeys(names)), max(1, width))


@lru_cache(maxsize=256)
def _short_forms(names: tuple[str, ...], width: int) -> Mapping[str, str]:
    forms = {name: name for name in names if fits(name, width)}
    long = [name for name in names if name not in forms]
    # The values of parameters are worth more than their names
    parameters = [n for n in names if PARAMETER.match(n) and fits(_brief(n, 1), width)]
    if any(name not in forms for name in parameters):
        brief = _with_brief_parameters(parameters, width)
        if brief is not None and not {*brief.values()} & ({*names} - {*parameters}):
            forms |= brief
            long = [name for name in names if name not in forms]
    if not all(_is_of_one(_halves(name, width), names) for name in long):
        brief = _with_brief_parameters(names, width)
        if brief is not None:
            return MappingProxyType(brief)
    taken = set(forms.values())
    uses = Counter(part for name in names for part in {name[a:b] for a, b in _parts(name)})
    for name in long:
        forms[name] = next(f for f in _candidates(name, names, uses, width) if f not in taken)
        taken.add(forms[name])
    return MappingProxyType(forms)


def _candidates(
    name: str, names: Sequence[str], uses: Mapping[str, int], width: int
) -> Iterator[str]:
    """Return short forms of a name that no other fits, the most readable first."""
    if _is_of_one(_halves(name, width), names):
        yield shorten(name, width)
    for pieces in _forms(name, uses, width):
        if _is_of_one(pieces, names):
            yield CUT.join(pieces)
    number = f"~{names.index(name) + 1}"
    if width > len(number):
        yield f"{head_of(name, width - len(number) - 1)}{CUT}{number}"
    for wider in count(width + 1):
        if fits(name, wider):
            yield name
        elif _is_of_one(_halves(name, wider), names):
            yield shorten(name, wider)


def _forms(name: str, uses: Mapping[str, int], width: int) -> Iterator[Pieces]:
    """Return what may be kept of a name within a width, the most readable first.

    Where its end begins with a whole part, then a part of the middle that few other names have,
    then what cuts through parts.
    """
    tails = sorted(range(width), key=lambda tail: abs(2 * tail - width + 1))
    ends = [_ends(name, width - 1, tail) for tail in tails]
    parts = sorted(_parts(name), key=lambda part: (uses[name[slice(*part)]], part[1] - part[0]))
    starts = {start for start, _ in parts}
    whole = [
        pair
        for pair in ends
        if min(map(cell_len, pair)) >= LEAST and len(name) - len(pair[1]) in starts
    ]
    yield from whole
    for start, end in parts:
        yield from _around(name, start, end, width)
    yield from (pair for pair in ends if pair not in whole)
    bounds = [0, *accumulate(map(len, clusters(name)))]
    for size in range(width - 2 - 2 * LITTLE, 0, -1):
        for start, end in zip(bounds[1:], bounds[1 + size : -1], strict=False):
            yield from _around(name, start, end, width)


def _parts(name: str) -> list[tuple[int, int]]:
    """Where the parts of a name begin and end; marks belong to the letter before them."""
    if name.isascii():
        return [part.span() for part in PARTS.finditer(name)]
    letters = ("x" if _is_joined(character) else character for character in name)
    return [part.span() for part in PARTS.finditer("".join(letters))]


def _is_joined(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")


def _around(name: str, start: int, end: int, width: int) -> Iterator[Pieces]:
    """Keep a part of the middle, and of both ends what there is room for."""
    room = width - 2 - cell_len(name[start:end])
    if room < 2 * LITTLE:
        return
    first, last = _ends(name, room, room // 2)
    if len(first) < start and end < len(name) - len(last):
        yield first, name[start:end], last


def _ends(name: str, room: int, tail: int) -> Pieces:
    return head_of(name, room - tail), tail_of(name, tail)


def _halves(name: str, width: int) -> Pieces:
    """What :func:`shorten` keeps."""
    return _ends(name, width - 1, (width - 1) // 2)


def _is_of_one(pieces: Pieces, names: Iterable[str]) -> bool:
    """Whether no more than one name has these pieces, from its first letter to its last."""
    fitting = (name for name in names if _has(name, pieces))
    next(fitting, None)
    return next(fitting, None) is None


def _has(name: str, pieces: Pieces) -> bool:
    first, *middle, last = pieces
    if not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        place = name.find(piece, at, max(at, end))
        if place < 0:
            return False
        at = place + len(piece)
    return at <= end


def _with_brief_parameters(names: Sequence[str], width: int) -> dict[str, str] | None:
    """Cut the names of parameters in all names; None where that does not tell them apart."""
    if not any(PARAMETER.search(name) for name in names):
        return None
    for letters in range(width, 0, -1):
        brief = {name: _brief(name, letters) for name in names}
        if all(fits(text, width) for text in brief.values()):
            return brief if len(set(brief.values())) == len(names) else None
    return None


def _brief(name: str, letters: int) -> str:
    return PARAMETER.sub(lambda key: "".join(islice(clusters(key[1]), letters)), name)
