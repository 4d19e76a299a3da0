"""The MMD permutation test: do the sets differ in anything that a Gaussian kernel sees?

The statistic is the unbiased MMD² of :func:`calipers.metrics.mmd.mmd` (Gretton et al., JMLR 2012,
lemma 6), with the Gaussian kernel of median width. All pairs enter it. What is permuted are groups
of a few rows that stay together, dealt at random within each set: up to 1,024 groups, so that with
as many rows in all every row is a group of its own, and with 8,000 eight rows are. The sums of the
kernel over the pairs of groups are taken once; a permutation is then a sum over groups. Moving
groups costs next to no power (a share of some 4/1024 of the gap; docs/two_sample.md) and no
validity: groups are exchangeable where rows are. Rows that fill no group keep their label.

What it does not see: gaps much finer than the typical distance of rows, such as copies or a few
modes lost among many. In many dimensions distances are alike, and what remains visible is mostly
the means; a difference along one direction is seen better by
:func:`calipers.uncertainty.two_sample_classifier.classifier_test`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.estimate.measures import (
    ExactTiles,
    Floats,
    Gaussian,
    Rows,
    SwiftTiles,
    Tiles,
    centred,
)
from calipers.estimate.pairwise import TILE, PairSums, group_sums, median_distance
from calipers.metrics.mmd import ALIKE, MEDIAN_ROWS, TOO_FEW
from calipers.numeric.threads import Workers, workers
from calipers.numeric.validation import check_pair
from calipers.uncertainty.two_sample import Chosen, TwoSample, check_options, permuted

MOST_GROUPS = 1024
FEWEST_GROUPS = 64  # of the smaller set, where it has as many rows
EXACT_ROWS = 2_048  # up to here float64 costs next to nothing
ACROSS = 256  # groups whose sums with all groups before them are taken together
TINY = 1e-140  # of smaller widths the square is lost
FAR = 8.0  # widths from the centre, within which float32 is off by some millionths at most


def mmd_test(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    permutations: int = 999,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
) -> TwoSample:
    """Tell whether the sets can be told apart by a Gaussian kernel, with a p-value.

    Takes memory for n + m rows and 1,024² sums, not for all pairs of rows.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    permutations
        How often labels are permuted, from 1: no p-value is below 1/(1 + permutations).
    seed
        Of the groups, of the permutations, and of the rows that the median distance is taken of.
    level
        Confidence level of the threshold, in (0, 1).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    TwoSample
        With MMD² as the statistic. NaN with a reason where a set has a single row, or where the
        median distance is 0.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    """
    check_options(permutations, seed, level)
    left, right = check_pair(reference, generated)
    groups = Groups.of(len(left), len(right))
    sides, sizes = centred(left, right), (len(left), len(right))
    pins = {
        "test": "mmd",
        "kernel": "gaussian",
        "bandwidth": "median",
        "median_rows": MEDIAN_ROWS,
        "rows_per_group": groups.rows,
        "permutations": permutations,
        "seed": seed,
        "n": sizes[0],
        "m": sizes[1],
        "d": left.shape[1],
    }
    with workers(threads) as pool:
        width = median_distance(sides, pool, seed=seed, most=MEDIAN_ROWS)
        if min(sizes) < 2 or width == 0:
            reason = TOO_FEW if min(sizes) < 2 else ALIKE
            return TwoSample.undefined(
                "mmd", reason, permutations=permutations, level=level, pins=pins
            )
        sums = _sums(sides, groups, width, seed, pool)
        statistic, null = permuted(
            lambda chosen: _unbiased(chosen, sums, sizes),
            [groups.moved],
            permutations,
            pool,
            seed=seed,
        )
    return TwoSample.of("mmd", statistic, null, level=level, pins=pins)


@dataclass(frozen=True)
class Groups:
    """How rows are put together for a permutation.

    Attributes
    ----------
    rows
        Rows of a group.
    moved
        Groups of the reference and of the generated set; the rows beyond them stay.
    """

    rows: int
    moved: tuple[int, int]

    @classmethod
    def of(cls, n: int, m: int) -> Groups:
        """As many groups as are allowed, with enough of the smaller set among them.

        Examples
        --------
        >>> Groups.of(500, 400), Groups.of(4000, 4000)
        (Groups(rows=1, moved=(500, 400)), Groups(rows=8, moved=(500, 500)))
        >>> Groups.of(100, 100_000)
        Groups(rows=1, moved=(100, 924))
        """
        smaller = min(n, m)
        rows = min(-(-(n + m) // MOST_GROUPS), max(1, smaller // FEWEST_GROUPS))
        few = smaller // rows
        many = min(max(n, m) // rows, MOST_GROUPS - few)
        return cls(rows, (few, many) if n <= m else (many, few))

    def labels(self, n: int, m: int) -> NDArray[np.int64]:
        """The group of every row: those of the reference, of the generated set, then what stays."""
        one, other = self.moved
        own = np.arange(n) // self.rows, np.arange(m) // self.rows
        return np.concatenate(
            [
                np.where(own[0] < one, own[0], one + other),
                np.where(own[1] < other, own[1] + one, one + other + 1),
            ]
        )


def _sums(
    sides: tuple[Rows, Rows], groups: Groups, width: float, seed: int, pool: Workers
) -> Floats:
    """Sums of the kernel over the pairs of groups; the last two are of rows that stay."""
    sizes = [len(side.squares) for side in sides]
    labels = groups.labels(*sizes)
    # Files are often sorted: groups must be of rows that are exchangeable
    rng = np.random.default_rng([seed, *sizes])
    dealt = np.concatenate([rng.permutation(sizes[0]), sizes[0] + rng.permutation(sizes[1])])
    order = dealt[np.argsort(labels, kind="stable")]
    rows = Rows.joined(sides, order)
    near = rows.squares.max() <= (FAR * width) ** 2 and width > TINY
    size = max(1, TILE // groups.rows) * groups.rows  # whole groups
    swift = near and len(order) > EXACT_ROWS
    kernel = Gaussian(width)
    tiles: Tiles = SwiftTiles(rows, kernel) if swift else ExactTiles(rows, kernel)
    return group_sums(tiles, np.sort(labels), sum(groups.moved) + 2, pool, size=size)


def _unbiased(chosen: Chosen, sums: Floats, sizes: tuple[int, int]) -> Floats:
    """MMD² with the chosen groups in the place of the reference, shape ``(c,)``."""
    labels = np.empty((len(chosen), len(sums)))
    labels[:, :-2] = chosen
    labels[:, -1] = 0
    labels[:, -2] = 1
    within: Any = _within(labels, sums)
    touched = labels @ sums.sum(axis=1)
    values = PairSums(within, sums.sum() - 2 * touched + within, touched - within, *sizes)
    return np.asarray(values.unbiased())


def _within(labels: Floats, sums: Floats) -> Floats:
    """Sum over the pairs of chosen groups, shape ``(c,)``; the sums are symmetric."""
    total = np.zeros(len(labels))
    for start in range(0, len(sums), ACROSS):
        own, block = labels[:, start : start + ACROSS], sums[:, start : start + ACROSS]
        total += np.einsum("cg,cg->c", own @ block[start : start + ACROSS], own)
        total += 2 * np.einsum("cg,cg->c", labels[:, :start] @ block[:start], own)
    return total
