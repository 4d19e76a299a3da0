"""Which scripts the texts are written in, by the share of their letters.

The script of a letter is the first word of its Unicode name (LATIN, CYRILLIC, HIRAGANA). The
distance of two sides is half the sum of the differences of their shares, so that 0.1 means that a
tenth of the letters would have to be of another script. It is held against the largest distance
between two halves of the reference over a few splits, since a reference of several languages
differs from itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_chance import percent
from calipers.evaluate.confounders_texts import TextFacts

MORE_LETTERS = 0.05
"""A twentieth of the letters: names and quotations in another script are less."""

SPLITS = 20
"""Splits of the reference. Two sets of one kind differ less than halves of one, and so hardly ever
more than 20 pairs of halves do."""

SHOWN = 0.005
"""Scripts with a smaller share on both sides are not told."""


@dataclass(frozen=True)
class Scripts:
    """The share of each script among the letters of both sides.

    Attributes
    ----------
    reference, generated
        Script to share, 0 to 1, the largest first; shares under 0.005 on both sides are left out.
    distance
        Of the two sides, 0 to 1.
    halves
        The largest between halves of the reference.
    """

    reference: Mapping[str, float]
    generated: Mapping[str, float]
    distance: float
    halves: float

    def warning(self) -> str | None:
        """Say which scripts the sides are written in, and what to do."""
        if self.distance <= max(MORE_LETTERS, self.halves):
            return None
        return (
            f"its letters are {_listed(self.generated)}, those of the reference "
            f"{_listed(self.reference)}; a script sets the sides apart whatever the texts are "
            "like: compare texts of one script"
        )


def measure_scripts(
    reference: TextFacts, generated: Sequence[TextFacts], *, seed: int = 0
) -> Scripts | None:
    """Compare the scripts of both sides; None where either has no letters."""
    names = sorted({name for each in (reference, *generated) for name in each.letters})
    theirs, ours = _table([reference], names), _table(generated, names)
    if not theirs.sum() or not ours.sum():
        return None
    shares, own = _shares(theirs), _shares(ours)
    return Scripts(
        *_named(names, shares, own),
        _distance(shares, own),
        _of_halves(theirs, min(len(theirs) // 2, len(ours)), seed),
    )


def _table(sets: Sequence[TextFacts], names: Sequence[str]) -> NDArray[np.int64]:
    """Letters of each script in each text that is looked at, shape (texts, scripts)."""
    rows = [
        [each.letters.get(name, np.zeros(len(each.looked_at), np.int64)) for name in names]
        for each in sets
    ]
    return np.concatenate([np.array(each).T for each in rows]) if names else np.zeros((0, 0), int)


def _shares(table: NDArray[np.int64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = table.sum(axis=0) / max(1, table.sum())
    return shares


def _distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).sum() / 2)


def _of_halves(table: NDArray[np.int64], size: int, seed: int) -> float:
    """The largest distance between two parts of `size` texts; 1 of a single text."""
    rng = np.random.default_rng(seed)
    if table.shape[1] == 1:
        return 0.0
    splits = [rng.permutation(len(table)) for _ in range(SPLITS if size else 0)]
    return max(
        (
            _distance(_shares(table[rows[:size]]), _shares(table[rows[size : 2 * size]]))
            for rows in splits
        ),
        default=1.0,
    )


def _named(
    names: Sequence[str], *sides: NDArray[np.float64]
) -> tuple[dict[str, float], dict[str, float]]:
    told = [place for place in range(len(names)) if max(side[place] for side in sides) >= SHOWN]
    reference, generated = (
        {names[place]: float(side[place]) for place in sorted(told, key=lambda p: -side[p])}
        for side in sides
    )
    return reference, generated


def _listed(shares: Mapping[str, float], most: int = 3) -> str:
    shown = [f"{percent(share)} {name}" for name, share in list(shares.items())[:most] if share]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
