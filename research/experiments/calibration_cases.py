"""The cases that are simulated: pairs for intervals, systems against one reference for tests."""

from __future__ import annotations

from dataclasses import dataclass

import calibration_worlds as worlds
from calibration_worlds import Draw, Systems


@dataclass(frozen=True)
class Kind:
    """Systems against one reference, and whether their rows answer the same prompts."""

    draw: Systems
    paired: bool = False
    two_views: bool = False
    groups: tuple[int, ...] = ()
    """Systems of one number have equal scores; all of them, where nothing stands here."""


SPREAD: dict[str, Draw] = {
    "shift 1, d = 8": worlds.gaussian(8, shift=1.0),
    "shift 2.5, d = 8": worlds.gaussian(8, shift=2.5),
    "shift 1, d = 32": worlds.gaussian(32, shift=1.0),
    "narrow × 0.7, d = 16": worlds.gaussian(16, scale=0.7),
    "3 of 8 modes lost, d = 16": worlds.modes(16, 8, lost=(5, 6, 7)),
    "Student t(5), shift 1, d = 8": worlds.heavy(8, 5.0, 1.0),
    "spectrum 1/i, shift 2, d = 64": worlds.spectrum(64, 2.0),
    "shift 2.5, d = 32": worlds.gaussian(32, shift=2.5),
    "shared prompts, shift 1, d = 8": worlds.prompted(8, 1.0, 0.5),
    "ten rows of one prompt, shift 1, d = 8": worlds.repeated(8, 1.0, 0.5, 10),
    "by clusters of ten rows, shift 1, d = 8": worlds.repeated(8, 1.0, 0.5, 10),
    "equal, d = 8": worlds.gaussian(8),
    "equal, d = 32": worlds.gaussian(32),
    "shift 1, d = 8, m = n/2": worlds.unequal(worlds.gaussian(8, shift=1.0), 0.5),
    "shift 1, d = 8, m = 2n": worlds.unequal(worlds.gaussian(8, shift=1.0), 2.0),
    "equal, d = 8, m = n/4": worlds.unequal(worlds.gaussian(8), 0.25),
    "AG News held out, meaning": worlds.news("meaning"),
    "AG News held out, form": worlds.news("form"),
    "AG News, 30 % foreign, meaning": worlds.news("meaning", foreign=0.3),
}
"""Pairs for intervals."""

TOGETHER = {"by clusters of ten rows, shift 1, d = 8": 10}
"""How many rows in turn intervals take together, in the cases that tell them so."""

APART = ("ten rows",)
"""How cases begin that intervals are not made for: rows that are not independent."""

NEWS = "AG News"
"""How cases begin that need the texts."""

EQUAL: dict[str, Kind] = {
    "one distribution, shift 1, d = 8": Kind(worlds.alike(worlds.gaussian(8, shift=1.0))),
    "one distribution, 3 of 8 modes lost": Kind(worlds.alike(worlds.modes(16, 8, lost=(5, 6, 7)))),
    "shift 1 along own axes, d = 8": Kind(worlds.along_axes(8, 1.0)),
    "2 own of 8 modes lost, d = 16": Kind(worlds.without_modes(16, 8, 2)),
    "paired, shift 1, d = 8": Kind(worlds.to_prompts(8, 1.0, 0.8), paired=True),
    "paired, reference too, shift 1, d = 8": Kind(
        worlds.to_prompts(8, 1.0, 0.5, reference=True), paired=True
    ),
    "no shift: equal to the reference, d = 8": Kind(worlds.alike(worlds.gaussian(8))),
}
"""Four systems whose scores are equal in expectation."""

UNLIKE: dict[str, Kind] = {
    "shift 1 and 1.15, d = 8": Kind(worlds.two_shifts(8, 1.0, 0.15)),
    "shift 1 and 1.3, d = 8": Kind(worlds.two_shifts(8, 1.0, 0.3)),
}
"""Two systems, the second farther from the reference."""

_ALIKE = worlds.gaussian(8, shift=1.0)
MANY: dict[str, Kind] = {
    "6 systems, equal": Kind(worlds.alike(_ALIKE, 6), two_views=True),
    "10 systems, equal": Kind(worlds.alike(_ALIKE, 10), two_views=True),
    "6 systems, 3 equal, 3 worse": Kind(
        worlds.several(8, (1.0, 1.0, 1.0, 1.4, 1.8, 2.2)),
        two_views=True,
        groups=(0, 0, 0, 1, 2, 3),
    ),
    "10 systems, 4 equal, 6 worse": Kind(
        worlds.several(8, (1.0, 1.0, 1.0, 1.0, 1.4, 1.4, 1.8, 1.8, 2.2, 2.2)),
        two_views=True,
        groups=(0, 0, 0, 0, 1, 1, 2, 2, 3, 3),
    ),
}
"""Many systems by two views: are equal ones called different, and is what differs found?"""
