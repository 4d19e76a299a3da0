"""The MMD permutation test: do the sets differ in anything that Gaussian kernels see?

The estimate is the unbiased MMD² of :func:`calipers.metrics.mmd.mmd` (Gretton et al., JMLR 2012,
lemma 6), with the Gaussian kernel of median width. What is tested is the larger of two such MMD²,
of the median width and of a third of it, each less its mean over all labellings and divided by its
standard deviation over them:

    T = max over w of (MMD²_w − mean MMD²_w) / sd MMD²_w,  w = median, median/3.

The wide kernel sees moved means, the narrow one other spreads, lost modes and repeated texts.
Mean and standard deviation are taken over the labels as they are and all relabellings, so they do
not depend on which labelling is the true one, and the test is exact. (Schrab et al., "MMD
aggregated two-sample test", JMLR 2023, bring many widths together by their permutation
distributions.) The narrow kernel is the ninth power of the wide one.

All pairs enter. What is permuted are groups of a few rows that stay together, dealt at random
within each set: up to 1,024 groups, so that with as many rows in all every row is a group of its
own, and with 8,000 eight rows are. The sums of the kernels over the pairs of groups are taken
once; a permutation is then a sum over groups. Moving groups costs next to no power (a share of
some 4/1024 of the gap; docs/two_sample.md) and no validity: groups are exchangeable where rows
are. Rows that fill no group keep their label. For permutations these sums are rounded to a grid on
which float32 adds without error (:class:`Quadratic`).

Where both sets answer the same prompts, labels are permuted among the answers to a shared prompt,
and among whole prompts that one side alone has (:mod:`calipers.estimate.prompt_strata`). MMD² is
then the mean over pairs of rows of *different* prompts: two answers to one prompt are no
independent draws, and would put MMD² below 0 where nothing differs. Shared and other prompts each
have an estimate, and MMD² is the mean of the two by their inverse variances over all
relabellings, which do not depend on which labelling is the true one.

What it does not see: gaps much finer than a third of the typical distance of rows. In many
dimensions distances are alike, and what remains visible is mostly the means; a difference along
one direction is seen better by
:func:`calipers.uncertainty.two_sample_classifier.classifier_test`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.estimate.measures import CentredRows, ExactTiles, Gaussian, SwiftTiles, Tiles, centred
from calipers.estimate.pairwise import TILE, median_distance, power_of, power_sums
from calipers.estimate.prompt_groups import PromptGroups
from calipers.estimate.prompt_strata import PromptStrata, check_prompts
from calipers.estimate.row_groups import PermutationGroups
from calipers.metrics.mmd import ALIKE, MEDIAN_ROWS, TOO_FEW
from calipers.numeric.arrays import Flags, Floats
from calipers.numeric.threads import Workers, workers
from calipers.numeric.validation import check_pair
from calipers.uncertainty.two_sample import Prompts, TwoSample, check_options, relabelled

EXACT_ROWS = 2_048  # up to here float64 costs next to nothing
ACROSS = 256  # groups whose sums with all groups before them are taken together
AT_ONCE = 64  # rows of these sums that are rounded together, in the cache of a core
POWERS = (1, 9)  # of the kernel of median width: a third of the width is its ninth power
WIDTHS = "median,median/3"
EXACT = 2.0**23  # whole numbers of which sums up to this are exact in float32
STILL = 1e-12  # MMD² that differ by less are one number
ONE_PROMPT = "there are no two prompts whose answers can be compared and exchanged"

TINY = 1e-140  # of smaller widths the square is lost
FAR = 8.0  # widths from the centre, within which float32 is off by some millionths at most


def mmd_test(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    prompts: Prompts | None = None,
    permutations: int = 999,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
) -> TwoSample:
    """Tell whether Gaussian kernels of two widths distinguish the sets, with a p-value.

    Takes memory for n + m rows and two times 1,024² sums, not for all pairs of rows.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    prompts
        The number of the prompt that each row answers, shapes ``(n,)`` and ``(m,)``; rows of one
        number answer one prompt, whichever side they are on. None where no prompts are shared.
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
        With MMD² by the kernel of median width as the estimate; the statistic is the larger of two
        standardised MMD², of that width and a third of it. NaN with a reason where a set has a
        single row, all rows answer one prompt or no labels can be exchanged, or where the median
        distance is 0.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    """
    check_options(permutations, seed, level)
    left, right = check_pair(reference, generated)
    sides, sizes = centred(left, right), (len(left), len(right))
    strata = None if prompts is None else PromptStrata.of(*check_prompts(prompts, *sizes), seed)
    if strata is None:
        about: dict[str, object] = {"rows_per_group": PermutationGroups.of(*sizes).rows}
    else:
        about = {"pairs": "of_different_prompts", "prompts": strata.signature}
    pins = {
        "test": "mmd",
        "kernel": "gaussian",
        "bandwidth": WIDTHS,
        "statistic": "largest_standardised",
        "median_rows": MEDIAN_ROWS,
        **about,
        "permutations": permutations,
        "seed": seed,
        "n": sizes[0],
        "m": sizes[1],
        "d": left.shape[1],
    }
    with workers(threads) as pool:
        width = median_distance(sides, pool, seed=seed, most=MEDIAN_ROWS)
        summed = None
        if min(sizes) < 2 or width == 0:
            reason = TOO_FEW if min(sizes) < 2 else ALIKE
        elif strata is None:
            summed = [_of_rows(sides, width, seed, pool)]
        else:
            reason = ONE_PROMPT
            groups = [PromptGroups.of(part, seed=seed) for part in strata.parts]
            summed = [
                _of_prompts(sides, group, width, pool)
                for group in groups
                if min(group.pairs(sizes[0])) > 0
            ]
        if not summed:
            return TwoSample.undefined(
                "mmd", reason, permutations=permutations, level=level, pins=pins
            )
        forms = [[Quadratic.of(sums, part.pairs) for sums in part.sums] for part in summed]
        values = relabelled(
            lambda chosen: _squared(chosen, summed, forms),
            [stratum for part in summed for stratum in part.strata],
            permutations,
            pool,
            seed=seed,
        )
    weights = [_weights(values[:, i]) for i in range(len(POWERS))]
    combined = np.stack([values[:, i] @ weights[i] for i in range(len(POWERS))], axis=1)
    statistics = _standardised(combined).max(axis=1)
    test = TwoSample.of("mmd", statistics[0], statistics[1:], level=level, pins=pins)
    estimates = np.array([part.squared for part in summed])
    return replace(test, estimate=float(estimates @ weights[0]))


@dataclass(frozen=True, eq=False)
class Summed:
    """The kernels summed over the pairs of groups of rows.

    Attributes
    ----------
    sums
        For each width, and every two groups, the last two of rows that stay.
    pairs
        How many pairs of rows count within the reference, within the generated set, and across.
    strata
        Among how many groups of either set labels are exchanged, stratum by stratum.
    """

    sums: Floats
    pairs: tuple[int, int, int]
    strata: list[tuple[int, int]]

    @property
    def squared(self) -> float:
        """MMD² of the sets as they are, by the kernel of median width."""
        ours = np.concatenate(
            [*(np.repeat([1.0, 0.0], sizes) for sizes in self.strata), [1.0, 0.0]]
        )
        of_ours, of_all = ours @ self.sums[0], self.sums[0].sum(axis=0)
        return float(_unbiased(of_ours @ ours, of_all @ ours, of_all.sum(), self.pairs))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """MMD² as a function of the labels of groups, from sums on a grid.

    Sums are rounded to multiples of a unit such that those of a column add up to fewer than 2²³
    units: then float32 adds any of them without error, in any order, in half the time of float64.
    A permutation test is as exact with the rounded kernel, and MMD² moves by some 1e-7.

    Attributes
    ----------
    grid
        For every two groups whose labels are exchanged, their sum in units, shape ``(G, G)``.
    unit
        What one unit is.
    beside
        For each such group its sum with the reference rows that stay, and its sum with all,
        shape ``(G, 2)``.
    staying
        Sum of the reference rows that stay, their sum with all, and the sum of all.
    pairs
        How many pairs of rows count within the reference, within the generated set, and across.
    """

    grid: NDArray[np.float32]
    unit: float
    beside: Floats
    staying: tuple[float, float, float]
    pairs: tuple[int, int, int]

    @classmethod
    def of(cls, sums: Floats, pairs: tuple[int, int, int]) -> Quadratic:
        """Round the sums over pairs of groups, the last two of rows that stay."""
        moved, stay = sums[:-2, :-2], sums[:, -2:]
        most = float(moved.sum(axis=0).max())
        unit = 2.0 ** np.ceil(np.log2(most / EXACT)) if most > 0 else 1.0
        grid, of_all = np.empty(moved.shape, np.float32), stay[:-2].sum(axis=1)
        for start in range(0, len(moved), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            units = moved[some] * (1 / unit)
            grid[some] = np.rint(units, out=units)
            of_all[some] += unit * units.sum(axis=1)
        alone = stay.sum(axis=0)  # of either set's rows that stay, with all
        return cls(
            grid,
            unit,
            np.column_stack([stay[:-2, 0], of_all]),
            (float(stay[-2, 0]), float(alone[0]), float(of_all.sum() + alone.sum())),
            pairs,
        )

    def __call__(self, chosen: Flags) -> Floats:
        """MMD² with the chosen groups in the place of the reference, shape ``(c,)``."""
        beside = chosen.astype(np.float64) @ self.beside
        within = self.unit * _within(chosen.astype(np.float32), self.grid)
        staying, touched, total = self.staying
        within += 2 * beside[:, 0] + staying
        values: Floats = _unbiased(within, beside[:, 1] + touched, total, self.pairs)
        return values


def _of_rows(
    sides: tuple[CentredRows, CentredRows], width: float, seed: int, pool: Workers
) -> Summed:
    """All rows, in groups that are exchanged with each other."""
    n, m = (len(side.squares) for side in sides)
    groups = PermutationGroups.of(n, m)
    labels, rows = _dealt(groups, (n, m), seed)
    count = sum(groups.moved) + 2
    sums = _sums(sides, rows, labels, width, pool, count=count, together=groups.rows)
    return Summed(sums, (n * (n - 1), m * (m - 1), n * m), [groups.moved])


def _of_prompts(
    sides: tuple[CentredRows, CentredRows], groups: PromptGroups, width: float, pool: Workers
) -> Summed:
    """Rows in groups that are exchanged within prompts, or with those of other prompts."""
    sums = _sums(sides, groups.rows, groups.labels, width, pool, count=groups.count)
    sums -= _within_prompts(sides, groups, width)
    return Summed(sums, groups.pairs(len(sides[0].squares)), groups.strata)


def _squared(
    chosen: Flags, summed: Sequence[Summed], forms: Sequence[Sequence[Quadratic]]
) -> Floats:
    """MMD² of every width and part by every relabelling, shape ``(c, widths, parts)``."""
    ends = np.cumsum([sum(map(sum, part.strata)) for part in summed])[:-1]
    cut = np.split(chosen, ends, axis=1)
    return np.stack(
        [
            np.stack([form(labels) for form in widths], axis=1)
            for labels, widths in zip(cut, forms, strict=True)
        ],
        axis=2,
    )


def _standardised(values: Floats) -> Floats:
    """Columns less their mean, over their standard deviation; 0 where all values are one."""
    spread = np.where(np.ptp(values, axis=0) > STILL, values.std(axis=0), np.inf)
    # Rounding must not tell apart what is the same
    standardised: Floats = np.round((values - values.mean(axis=0)) / spread, 9)
    return standardised


def _weights(values: Floats) -> Floats:
    """The inverse variance of each part; the same whichever of the labellings is the true one."""
    variances = values.var(axis=0)
    weights = np.where(variances > 0, 1 / np.where(variances > 0, variances, 1), 0)
    count = values.shape[1]
    return weights / weights.sum() if weights.sum() > 0 else np.full(count, 1 / count)


def _dealt(
    groups: PermutationGroups, sizes: tuple[int, int], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The groups, ascending, and the rows that belong to them, counted through both sets."""
    labels = groups.labels(*sizes)
    # Files are often sorted: groups must be of rows that are exchangeable
    rng = np.random.default_rng([seed, *sizes])
    dealt = np.concatenate([rng.permutation(sizes[0]), sizes[0] + rng.permutation(sizes[1])])
    return np.sort(labels), dealt[np.argsort(labels, kind="stable")]


def _sums(
    sides: tuple[CentredRows, CentredRows],
    order: NDArray[np.intp],
    labels: NDArray[np.int64],
    width: float,
    pool: Workers,
    *,
    count: int,
    together: int = 1,
) -> Floats:
    """Sums of the kernels over the pairs of groups; the last two are of rows that stay."""
    rows = CentredRows.joined(sides, order)
    near = rows.squares.max() <= (FAR * width) ** 2 and width > TINY
    size = max(1, TILE // together) * together  # whole groups
    swift = near and len(order) > EXACT_ROWS
    kernel = Gaussian(width)
    tiles: Tiles = SwiftTiles(rows, kernel) if swift else ExactTiles(rows, kernel)
    return power_sums(tiles, labels, count, pool, POWERS, size=size)


def _within_prompts(
    sides: tuple[CentredRows, CentredRows], groups: PromptGroups, width: float
) -> Floats:
    """What these sums hold of the pairs of answers to one prompt."""
    order, count = np.argsort(groups.prompts, kind="stable"), groups.count
    rows, labels = CentredRows.joined(sides, groups.rows[order]), groups.labels[order]
    ends = np.cumsum(np.bincount(groups.prompts))
    kernel, total = Gaussian(width), np.zeros((len(POWERS), count * count))
    for start, end in zip(
        (ends - np.bincount(groups.prompts)).tolist(), ends.tolist(), strict=True
    ):
        for first in range(start, end, ACROSS):
            span = (first, min(first + ACROSS, end))
            values = kernel(rows.span(span), rows.span((start, end)))
            values[np.arange(len(values)), np.arange(*span) - start] = 0.0
            places = np.add.outer(labels[slice(*span)] * count, labels[start:end])
            for sums, power in zip(total, POWERS, strict=True):
                np.add.at(sums, places, power_of(values, power))
    return total.reshape(-1, count, count)


def _unbiased(within: Any, touched: Any, total: float, pairs: tuple[int, int, int]) -> Any:
    """MMD² from the sum within the reference, its sum with all rows, and the sum of all pairs."""
    outside, across = total - 2 * touched + within, touched - within
    return within / pairs[0] + outside / pairs[1] - 2 * across / pairs[2]


def _within(labels: NDArray[np.float32], grid: NDArray[np.float32]) -> Floats:
    """Sum over the pairs of chosen groups in units, shape ``(c,)``; the grid is symmetric."""
    total = np.zeros(len(labels))
    for start in range(0, len(grid), ACROSS):
        block_labels, block = labels[:, start : start + ACROSS], grid[:, start : start + ACROSS]
        among = block_labels @ block[start : start + ACROSS]
        before = labels[:, :start] @ block[:start]
        for products, times in ((among, 1), (before, 2)):
            total += times * np.einsum("cg,cg->c", products, block_labels, dtype=np.float64)
    return total
