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
    "equal, d = 8": worlds.gaussian(8),
    "equal, d = 32": worlds.gaussian(32),
}
"""Pairs for intervals."""

APART = ("equal", "ten rows")
"""How cases begin that intervals are not made for: equal sets, rows that are not independent."""

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
