"""Caution on outlying rows of vectors that determine the scores.

Means, covariances and kernels that grow weigh a row by how far it lies from the middle, and a ball
around a row that lies far out is as wide as the gap to the others, and covers half of the other
side. Principal axes and the classifier are fitted without such rows
(:mod:`calipers.estimate.far_rows`); the Fréchet distance, KID and balls are what their definitions
say. Rows that are scaled to length one cannot lie so far out, and are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from calipers.estimate.far_rows import far_rows
from calipers.evaluate.cautions.texts import percent
from calipers.numeric.distances import Points
from calipers.results.caution import Caution, brief_share, fitting


@dataclass(frozen=True)
class Outliers:
    """Outlying rows of both sets that hold much of the variance.

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
        """Name the rows, and the scores that they determine."""
        sides = [("the reference", self.reference), ("the generated set", self.generated)]
        named = " and ".join(f"{_rows(rows)} of {side}" for side, rows in sides if rows)
        many = len(self.reference) + len(self.generated) > 1
        lie, hold, they, rule, them = "lies", "holds", "it", "dominates", "it"
        if many:
            lie, hold, they, rule, them = "lie", "hold", "they", "dominate", "them"
        upto = "up to " if many else ""
        text = (
            f"{named} {lie} {upto}{self.distance:,.0f} times as far from the mean as the median "
            f"row and {hold} {percent(self.share)} of the variance of both sets: {they} {rule} "
            "means and covariances (the Fréchet distance) and KID, and a nearest-neighbour ball "
            f"around {them} covers the other side; principal axes and the classifier are fitted "
            f"without {them}: check {them}, or leave {them} out"
        )
        share = brief_share(self.share)
        brief = fitting(f"{named}: {share} of variance", f"a few rows hold {share} of the variance")
        return Caution("outlier", brief, text)


def _rows(places: tuple[int, ...], most: int = 3) -> str:
    shown = ", ".join(f"{place + 1:,}" for place in places[:most])
    more = f" and {len(places) - most:,} more" if len(places) > most else ""
    return f"{'row' if len(places) == 1 else 'rows'} {shown}{more}"


def measure_outliers(reference: Points, generated: Points) -> Outliers | None:
    """Find outlying rows; None where there are none, or all rows are equal.

    Parameters
    ----------
    reference, generated
        Rows as they are compared, shapes ``(n, d)`` and ``(m, d)``; they are read twice, block by
        block.
    """
    far, n = far_rows((reference, generated)), len(reference)
    if far is None:
        return None
    places = far.places.tolist()
    return Outliers(
        tuple(row for row in places if row < n),
        tuple(row - n for row in places if row >= n),
        far.share,
        far.distance,
    )
