"""Whether a few rows of vectors lie so far out that the scores follow them and nothing else.

Principal axes, covariances, kernels with one width and linear classifiers weigh a row by how far it
lies from the middle. One row of 300 at a hundred times the distance of the others (an overflow, a
placeholder such as -999, a value in another unit) turned an AUC of 0.999 into 0.86, at a thousand
times into 0.28; and its ball, as wide as the gap to the others, covers half of the other side. Rows
that are scaled to length one cannot lie so far out, and are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calipers.evaluate.confounders_texts import percent
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets
from calipers.results.caution import Caution, brief_share, fitting

FAR = 10.0
"""Times the median distance from the mean; a Gaussian row hardly lies at 6 times, and that in one
dimension only."""

MUCH = 0.25
"""Share of the variance that a few far rows may hold without a word."""

FEW = 0.05
"""More of the rows than these are a mode, and not outliers."""


@dataclass(frozen=True)
class FarRows:
    """Rows of both sets that lie far from the middle and hold much of the variance.

    Attributes
    ----------
    reference, generated
        Their places in the two sets, counted from 0, the farthest first.
    share
        Of the variance of both sets together, 0 to 1.
    distance
        Of the farthest from the mean of all rows, over the median distance.
    """

    reference: tuple[int, ...]
    generated: tuple[int, ...]
    share: float
    distance: float

    def caution(self) -> Caution:
        """Name them, and say what follows them."""
        sides = [("the reference", self.reference), ("the generated set", self.generated)]
        named = " and ".join(f"{_rows(rows)} of {side}" for side, rows in sides if rows)
        many = len(self.reference) + len(self.generated) > 1
        lie, hold, them = ("lie", "hold", "them") if many else ("lies", "holds", "it")
        upto = "up to " if many else ""
        text = (
            f"{named} {lie} {upto}{self.distance:,.0f} times as far from the mean as the median "
            f"row and {hold} {percent(self.share)} of the variance of both sets: principal axes "
            "(MAUVE and its family), the classifier, the Fréchet distance, MMD and KID follow "
            f"{them}, and a ball of neighbours around {them} covers the other side: check {them}, "
            f"or leave {them} out"
        )
        share = brief_share(self.share)
        brief = fitting(f"{named}: {share} of variance", f"few rows hold {share} of the variance")
        return Caution("outlier", brief, text)


def _rows(places: tuple[int, ...], most: int = 3) -> str:
    shown = ", ".join(f"{place + 1:,}" for place in places[:most])
    more = f" and {len(places) - most:,} more" if len(places) > most else ""
    return f"{'row' if len(places) == 1 else 'rows'} {shown}{more}"


def measure_far_rows(reference: Points, generated: Points) -> FarRows | None:
    """Find such rows; None where there are none, or where all rows are one.

    Parameters
    ----------
    reference, generated
        Rows as they are compared, shapes ``(n, d)`` and ``(m, d)``; they are read twice, block by
        block.
    """
    rows, n = RowSets((reference, generated)), len(reference)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum([part.sum(axis=0, dtype=np.float64) for _, part in rows.blocks()], axis=0)
        mean, squares = total / len(rows), np.empty(len(rows))
        for place, part in rows.blocks():
            moved = part.astype(np.float64) - mean
            squares[place] = np.einsum("ij,ij->i", moved, moved)
        middle, whole = float(np.median(squares)), float(squares.sum())
    if not np.isfinite(whole) or middle <= 0:
        return None
    far = np.flatnonzero(squares > FAR**2 * middle)
    share = float(squares[far].sum() / whole)
    if not len(far) or share < MUCH or len(far) > max(1, FEW * len(rows)):
        return None
    far = far[np.argsort(-squares[far], kind="stable")]
    return FarRows(
        tuple(int(row) for row in far if row < n),
        tuple(int(row) - n for row in far if row >= n),
        share,
        float(np.sqrt(squares[far[0]] / middle)),
    )
