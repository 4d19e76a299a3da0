"""The noise floor: scores of two halves of the reference, beside those of a system.

A score of n samples is not 1 or 0 for a perfect system: sampling alone keeps it away. So the
reference is split into halves A and B, and score(A, B) says what perfection scores at that size.
Beside it stands score(A, C) for as many samples C of the system; only these two are compared.

Splits of one set share its rows, so the spread of their scores is no standard error of their mean.
But a half, drawn without replacement, moves a mean by as much as a whole set drawn anew does, and
A drops out of the difference. So that spread, with Student's t, bounds the difference in 19 of 20
runs where both distributions are equal and the score is linear in the rows, the hardest case.
Where it is not, much of the spread averages out over the splits, and the bound holds in more of
them (docs/noise_floor.md). Rows that were drawn together go to one half together, so that clusters
take the place of rows in all of this.

It does not see what both halves share: a reference that is not what it should be, or a score that
is blind to a fault, puts a poor system inside the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.blocks import Clusters
from calipers.score import NoiseFloor

SPLITS = 10
LEVEL = 0.95
# So that splits share no stream with whatever else is drawn from the same seed
STREAM = 0x5B117


@dataclass(frozen=True)
class Split:
    """The rows of one split, each of shape ``(size,)``, ascending.

    Attributes
    ----------
    first, second
        Two halves of the reference, without a row in common.
    generated
        As many rows of the system.
    seed
        Of what the scores themselves draw, such as the starts of k-means.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    generated: NDArray[np.intp]
    seed: int


def floor_size(n: int, m: int, reference: Clusters | None = None) -> int:
    """Return the samples on each side of a floor: half of the reference, or all of the system.

    Halves of whole clusters may need as many rows less as the largest cluster has beyond one.
    """
    largest = 1 if reference is None else int(reference.sizes.max())
    return min((n - largest + 1) // 2, m)


def split_rows(
    n: int,
    m: int,
    *,
    size: int,
    seed: int,
    split: int,
    clusters: tuple[Clusters, Clusters] | None = None,
) -> Split:
    """Draw two halves of the reference and equally many rows of a system, without replacement.

    Where both sets have one size, the system's rows are those of the second half: systems that
    continue the reference's prompts row by row then share no prompt with the first half, as the
    second half does not. Without prompts this is as random as any other draw.

    Of clusters, whole ones are taken in random order until there are rows enough, the last of them
    in part, whose other rows no half has. The system's rows are then of clusters that the first
    half has nothing of, as far as there are any.

    Parameters
    ----------
    n, m
        Samples of the reference and of the system.
    size
        Rows on each side, at most :func:`floor_size`.
    seed, split
        What to draw from, and which of the splits.
    clusters
        Which rows of the reference and of the system belong together; None for none.
    """
    rng = np.random.default_rng([seed, STREAM, split])
    rows = rng.permutation(n) if clusters is None else clusters[0].shuffled(rng)
    draw, start = int(rng.integers(2**31)), size
    if clusters is not None:  # beyond the rest of the first half's last cluster
        numbers = clusters[0].numbers[rows]
        start += int(np.argmax(np.append(numbers[size:], -1) != numbers[size - 1]))
    halves = np.sort(rows[:size]), np.sort(rows[start : start + size])
    if n == m and (clusters is None or clusters[0].alike(clusters[1])):
        return Split(*halves, halves[1], draw)
    if clusters is None:
        return Split(*halves, np.sort(rng.permutation(m)[:size]), draw)
    drawn, reference = clusters[1].shuffled(rng), clusters[0].numbers[halves[0]]
    shared = np.isin(clusters[1].numbers[drawn], reference)
    return Split(*halves, np.sort(drawn[np.argsort(shared, kind="stable")][:size]), draw)


def noise_floor(
    halves: NDArray[np.float64],
    beside: NDArray[np.float64],
    *,
    n: int,
    m: int,
    size: int,
    one_set: bool = False,
) -> NoiseFloor | None:
    """Combine the scores of all splits; None where one of them is not finite.

    Parameters
    ----------
    halves, beside
        Score of the second half, and of the system, against the first half of each split, both of
        shape ``(splits,)``, at least two.
    n, m
        Samples that were split: of the reference, and of the system over all its files.
    size
        Samples on each side.
    one_set
        Whether the score is a statistic of the second set alone, which the first does not move.
    """
    if not np.isfinite([halves, beside]).all():
        return None
    spreads = halves.std(ddof=1), beside.std(ddof=1)
    return NoiseFloor(
        value=float(halves.mean()),
        spread=float(spreads[0]),
        beside=float(beside.mean()),
        beside_spread=float(spreads[1]),
        size=size,
        splits=len(halves),
        margin=_margin(spreads, len(halves), widening(n, m, size=size, one_set=one_set)),
    )


def _margin(spreads: tuple[float, float], splits: int, ratio: float) -> float:
    """How far the mean difference may stray: both spreads show the same, under equality."""
    from scipy.special import stdtrit

    halves, beside = np.square(spreads)
    if halves + beside == 0:
        return 0.0
    # Welch and Satterthwaite: a side that cannot vary brings no degrees of freedom
    freedom = (splits - 1) * (halves + beside) ** 2 / (halves**2 + beside**2)
    quantile = float(stdtrit(freedom, (1 + LEVEL) / 2))
    return quantile * math.sqrt((halves + beside) / 2 * (ratio + 1 / splits))


def widening(n: int, m: int, *, size: int, one_set: bool = False) -> float:
    """Return the variance of the difference between runs relative to that over splits, at least 1.

    A mean of `size` rows out of n varies over splits by ``1/size - 1/n`` in units of the variance
    of a row, and from one set of n rows to the next by ``1/n``. The ratio is 1 for halves of sets
    of one size; 2 where all of the system's samples are in every split, or where the first half
    moves nothing.

    Examples
    --------
    >>> widening(1_000, 1_000, size=500)
    1.0
    >>> widening(1_000, 500, size=500)
    2.0
    """
    of_reference, of_system = 1 / size - 1 / n, 1 / size - 1 / m
    seen = (of_reference * (1 if one_set else 3) + of_system) / 2
    return max(1.0, (1 / n + 1 / m) / seen)
