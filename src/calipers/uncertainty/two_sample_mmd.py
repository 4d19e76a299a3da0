"""The MMD permutation test: do the sets differ in anything that a Gaussian kernel sees?

The statistic is the unbiased MMD² of :func:`calipers.metrics.mmd.mmd` (Gretton et al., JMLR 2012,
lemma 6), with the Gaussian kernel of median width. All pairs enter it. What is permuted are groups
of a few rows that stay together, dealt at random within each set: up to 1,024 groups, so that with
as many rows in all every row is a group of its own, and with 8,000 eight rows are. The sums of the
kernel over the pairs of groups are taken once; a permutation is then a sum over groups. Moving
groups costs next to no power (a share of some 4/1024 of the gap; docs/two_sample.md) and no
validity: groups are exchangeable where rows are. Rows that fill no group keep their label.

Where both sets answer the same prompts, labels are permuted among the answers to a shared prompt,
and among whole prompts that one side alone has (:mod:`calipers.estimate.prompt_strata`). MMD² is
then the mean over pairs of rows of *different* prompts: two answers to one prompt are no
independent draws, and would put MMD² below 0 where nothing differs. Shared and other prompts each
have an estimate, and the statistic is the mean of the two by their inverse variances over all
relabellings, which do not depend on which labelling is the true one.

What it does not see: gaps much finer than the typical distance of rows, such as copies or a few
modes lost among many. In many dimensions distances are alike, and what remains visible is mostly
the means; a difference along one direction is seen better by
:func:`calipers.uncertainty.two_sample_classifier.classifier_test`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.estimate.measures import CentredRows, ExactTiles, Gaussian, SwiftTiles, Tiles, centred
from calipers.estimate.pairwise import TILE, group_sums, median_distance
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
    """Tell whether a Gaussian kernel distinguishes the sets, with a p-value.

    Takes memory for n + m rows and 1,024² sums, not for all pairs of rows.

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
        With MMD² as the statistic. NaN with a reason where a set has a single row, all rows answer
        one prompt or no labels can be exchanged, or where the median distance is 0.

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
        "bandwidth": "median",
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
        values = relabelled(
            lambda chosen: _squared(chosen, summed),
            [stratum for part in summed for stratum in part.strata],
            permutations,
            pool,
            seed=seed,
        )
    combined = values @ _weights(values)
    return TwoSample.of("mmd", combined[0], combined[1:], level=level, pins=pins)


@dataclass(frozen=True, eq=False)
class Summed:
    """The kernel summed over the pairs of groups of rows.

    Attributes
    ----------
    sums
        For every two groups, the last two of rows that stay.
    pairs
        How many pairs of rows count within the reference, within the generated set, and across.
    strata
        Among how many groups of either set labels are exchanged, stratum by stratum.
    """

    sums: Floats
    pairs: tuple[int, int, int]
    strata: list[tuple[int, int]]


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


def _squared(chosen: Flags, summed: Sequence[Summed]) -> Floats:
    """MMD² of every part by every relabelling, shape ``(c, parts)``."""
    ends = np.cumsum([sum(map(sum, part.strata)) for part in summed])[:-1]
    cut = np.split(chosen, ends, axis=1)
    return np.stack(
        [
            _unbiased(labels, part.sums, part.pairs)
            for labels, part in zip(cut, summed, strict=True)
        ],
        axis=1,
    )


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
    """Sums of the kernel over the pairs of groups; the last two are of rows that stay."""
    rows = CentredRows.joined(sides, order)
    near = rows.squares.max() <= (FAR * width) ** 2 and width > TINY
    size = max(1, TILE // together) * together  # whole groups
    swift = near and len(order) > EXACT_ROWS
    kernel = Gaussian(width)
    tiles: Tiles = SwiftTiles(rows, kernel) if swift else ExactTiles(rows, kernel)
    return group_sums(tiles, labels, count, pool, size=size)


def _within_prompts(
    sides: tuple[CentredRows, CentredRows], groups: PromptGroups, width: float
) -> Floats:
    """What these sums hold of the pairs of answers to one prompt."""
    order, count = np.argsort(groups.prompts, kind="stable"), groups.count
    rows, labels = CentredRows.joined(sides, groups.rows[order]), groups.labels[order]
    ends = np.cumsum(np.bincount(groups.prompts))
    kernel, total = Gaussian(width), np.zeros(count * count)
    for start, end in zip(
        (ends - np.bincount(groups.prompts)).tolist(), ends.tolist(), strict=True
    ):
        for first in range(start, end, ACROSS):
            span = (first, min(first + ACROSS, end))
            values = kernel(rows.span(span), rows.span((start, end)))
            values[np.arange(len(values)), np.arange(*span) - start] = 0.0
            places = np.add.outer(labels[slice(*span)] * count, labels[start:end])
            np.add.at(total, places, values)
    return total.reshape(count, count)


def _unbiased(chosen: Flags, sums: Floats, pairs: tuple[int, int, int]) -> Floats:
    """MMD² with the chosen groups in the place of the reference, shape ``(c,)``."""
    labels = np.empty((len(chosen), len(sums)))
    labels[:, :-2] = chosen
    labels[:, -1] = 0
    labels[:, -2] = 1
    within: Any = _within(labels, sums)
    touched = labels @ sums.sum(axis=1)
    outside, across = sums.sum() - 2 * touched + within, touched - within
    values: Floats = within / pairs[0] + outside / pairs[1] - 2 * across / pairs[2]
    return values


def _within(labels: Floats, sums: Floats) -> Floats:
    """Sum over the pairs of chosen groups, shape ``(c,)``; the sums are symmetric."""
    total = np.zeros(len(labels))
    for start in range(0, len(sums), ACROSS):
        block_labels, block = labels[:, start : start + ACROSS], sums[:, start : start + ACROSS]
        total += np.einsum("cg,cg->c", block_labels @ block[start : start + ACROSS], block_labels)
        total += 2 * np.einsum("cg,cg->c", labels[:, :start] @ block[:start], block_labels)
    return total
