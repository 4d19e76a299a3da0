"""Groups of rows that keep one label when labels are permuted within prompts.

A permutation of sums over groups of rows costs the square of the number of groups. Where the rows
are too many for each to be a group, prompts with equally many answers are bundled: the first
answers of all prompts of a bundle have one label, and so have the second ones. Where that is not
enough, since few prompts have equally many, some answers of a prompt have one label too. Either is
a part of all permutations within prompts, and as exact. Answers that fill no group keep their
label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.prompt_strata import PromptStrata
from calipers.estimate.row_groups import MOST_GROUPS, PermutationGroups
from calipers.numeric.arrays import Indices


@dataclass(frozen=True, eq=False)
class PromptGroups:
    """The rows of a test, in groups that keep one label.

    Attributes
    ----------
    rows
        The rows that take part, counted through both sets, group by group.
    labels
        The group of each, ascending; the last two are of reference and generated rows that stay.
    prompts
        The prompt of each, numbered from 0.
    strata
        For each stratum in turn, how many groups are of the reference and of the generated set:
        groups stand stratum by stratum, those of the reference first.
    """

    rows: Indices
    labels: NDArray[np.int64]
    prompts: NDArray[np.int64]
    strata: list[tuple[int, int]]

    @property
    def count(self) -> int:
        """Number of groups, and the two of rows that stay."""
        return sum(map(sum, self.strata)) + 2

    def pairs(self, n: int) -> tuple[int, int, int]:
        """Count the pairs of rows of different prompts: of the reference, of the other, across.

        `n` rows are of the reference, in all.
        """
        of_reference = self.rows < n
        one, other = (
            np.bincount(self.prompts[side], minlength=self.prompts.max(initial=-1) + 1)
            for side in (of_reference, ~of_reference)
        )
        totals = int(one.sum()), int(other.sum())
        return (
            totals[0] ** 2 - int((one**2).sum()),
            totals[1] ** 2 - int((other**2).sum()),
            totals[0] * totals[1] - int((one * other).sum()),
        )

    @classmethod
    def of(cls, strata: PromptStrata, *, seed: int) -> PromptGroups:
        """Group the rows, those of shared prompts into about :data:`MOST_GROUPS` groups.

        The others are grouped prompt by prompt, to as many again.
        """
        sizes = np.array(strata.sizes, np.int64).reshape(-1, 2)
        rng = np.random.default_rng([seed, len(sizes), 4])
        shared, layout = _of_shared(sizes, rng)
        others, moved = _of_others(strata, rng)
        made = sum(map(sum, layout))
        groups = np.concatenate([shared, np.where(others < 0, -1, others + made)])
        counts = [sizes.sum(axis=1), np.full(sum(strata.prompts), strata.answers)]
        numbers = np.repeat(np.arange(sum(map(len, counts))), np.concatenate(counts))
        sides = [np.tile([0, 1], len(sizes)), np.repeat([0, 1], strata.prompts)]
        rows_of = [sizes.ravel(), counts[1]]
        side = np.concatenate([np.repeat(*pair) for pair in zip(sides, rows_of, strict=True)])
        labels = np.where(groups < 0, made + sum(map(sum, moved)) + side, groups)
        order = np.argsort(labels, kind="stable")
        rows = np.concatenate([strata.shared, strata.alone])
        return cls(rows[order], labels[order], numbers[order], [*layout, *moved])


Layout = list[tuple[int, int]]


def _of_shared(
    sizes: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], Layout]:
    """The group of every row of the shared prompts, -1 where it stays, and those of each bundle."""
    bundle, unit = _fineness(sizes)
    groups = np.full(int(sizes.sum()), -1, np.int64)
    starts = np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1)
    layout: Layout = []
    made = 0
    for (n, m, rows), places in _classes(sizes, unit):
        for prompts in np.array_split(rng.permutation(places), -(-len(places) // bundle)):
            for prompt in prompts.tolist():
                a, b = sizes[prompt]
                one, other = rng.permutation(a), a + rng.permutation(b)
                groups[starts[prompt] + one[: n * rows]] = made + np.repeat(np.arange(n), rows)
                groups[starts[prompt] + other[: m * rows]] = (
                    made + n + np.repeat(np.arange(m), rows)
                )
            layout.append((n, m))
            made += n + m
    return groups, layout


def _of_others(strata: PromptStrata, rng: np.random.Generator) -> tuple[NDArray[np.int64], Layout]:
    """The group of every row of the other prompts, -1 where it stays, and how many there are."""
    if not len(strata.alone):
        return np.empty(0, np.int64), []
    n, m = strata.prompts
    dealt = PermutationGroups.of(n, m)
    labels = dealt.labels(n, m)
    groups = np.empty(n + m, np.int64)
    order = np.concatenate([rng.permutation(n), n + rng.permutation(m)])
    groups[order] = np.where(labels < sum(dealt.moved), labels, -1)
    return np.repeat(groups, strata.answers), [dealt.moved]


def _classes(
    sizes: NDArray[np.int64], unit: int
) -> list[tuple[tuple[int, int, int], NDArray[np.intp]]]:
    """Put prompts together that have equally many groups of equally many answers."""
    rows = np.minimum(unit, sizes.min(axis=1, initial=unit))
    keys = np.column_stack([sizes // rows[:, None], rows])
    classes, inverse = np.unique(keys, axis=0, return_inverse=True)
    return [
        ((int(n), int(m), int(answers)), np.flatnonzero(inverse.ravel() == place))
        for place, (n, m, answers) in enumerate(classes)
    ]


def _fineness(sizes: NDArray[np.int64]) -> tuple[int, int]:
    """Choose how many prompts to bundle, and how many answers of a prompt to put together."""
    bundle, unit = 1, 1
    while len(sizes) and _count(sizes, bundle, unit) > MOST_GROUPS and unit <= sizes.max():
        if _count(sizes, 2 * bundle, unit) < 0.9 * _count(sizes, bundle, unit):
            bundle *= 2
        else:
            unit *= 2
    return bundle, unit


def _count(sizes: NDArray[np.int64], bundle: int, unit: int) -> int:
    """How many groups that gives."""
    classes = _classes(sizes, unit)
    return sum((n + m) * -(-len(places) // bundle) for (n, m, _), places in classes)
