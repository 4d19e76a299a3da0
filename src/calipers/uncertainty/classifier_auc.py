"""The sampling variation of the area under the classifier's ROC curve.

Two things move it: which rows the plane was trained on, and which rows it then judges. With the
planes held fixed, as DeLong's variance has it, only the second counts, and 95 % intervals cover 81
to 90 %. A jackknife that trains anew without each block counts the first several times over, up to
four times the variance where the sets are nearly equal. Half the difference between two disjoint
halves of both sets, each trained on alone, counts both once. So the variance is the smaller of
the jackknife's and that by halves; simulated intervals then cover 94 to 99 % (docs/certainty.md).
They cover what such a classifier reaches on average at these sizes: one that is trained on more
samples reaches more.

Where sets share prompts, blocks and halves are of whole prompts, with the answers of both sides:
another draw is one of prompts and answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.discriminant import FOLDS, mean_area, parts_of
from calipers.estimate.prompt_strata import Prompts, PromptStrata
from calipers.metrics.exchangeable import Exchangeable, exchangeable
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import (
    DEFAULT_BLOCKS,
    FEWER_BLOCKS,
    FEWEST_CLUSTERS,
    HALVINGS,
    Blocks,
)
from calipers.numeric.threads import workers
from calipers.uncertainty.spread import Component, Source, Spread

Kept = NDArray[np.bool_]


def classifier_auc_spread(pair: Pair) -> Spread:
    """Estimate the spread of the metric ``classifier_auc`` of a pair.

    Parameters
    ----------
    pair
        A pair that has blocks.

    Returns
    -------
    Spread
        Not finite where there are too few rows or prompts to tell.
    """
    tested, settings = exchangeable(pair), pair.settings
    shared = None if tested.prompts is None else PromptStrata.of(*tested.prompts, settings.seed)
    with workers(settings.threads) as pool:
        parts = parts_of(*tested.sides, pool, folds=FOLDS, seed=settings.seed, strata=shared)
    cut = _rows_cut(pair, tested) if tested.prompts is None else _prompts_cut(pair, tested.prompts)
    if not parts or cut is None:
        return Spread((Component("both", np.full(2, np.nan)),))

    def area(chosen: Kept) -> float:
        return mean_area(parts, [chosen[part.index] for part in parts])

    components = tuple(
        Component.jackknife(source, [area(labels != block) for block in range(cut.count)])
        for source, labels in cut.blocks.items()
    )
    gaps = [(area(half) - area(~half)) / 2 for half in map(cut.half, range(HALVINGS))]
    return Spread(components, halves=np.array(gaps) / np.sqrt(HALVINGS), allowance=1.0)


@dataclass(frozen=True, eq=False)
class HalvedRows:
    """The blocks and halves of all rows, numbered through both sets.

    Attributes
    ----------
    blocks
        For each source of variation the block of every row, from 0; -1 where it is never left out.
    count
        How many blocks there are.
    codes
        In which half every row lies, a bit for each halving.
    """

    blocks: Mapping[Source, NDArray[np.int64]]
    count: int
    codes: NDArray[np.uint64]

    def half(self, halving: int) -> Kept:
        """Return which rows are in the first half."""
        first: Kept = (self.codes >> np.uint64(halving)) & np.uint64(1) == 0
        return first


def _rows_cut(pair: Pair, tested: Exchangeable) -> HalvedRows | None:
    """Rows of either set, as all scores of the pair have them."""
    one, other = (
        blocks.labels[rows] for blocks, rows in zip(pair.labels, tested.rows, strict=True)
    )
    codes = [
        blocks.halves[rows]
        for blocks, rows in zip(pair.labels, tested.rows, strict=True)
        if blocks.halves is not None
    ]
    if len(codes) < 2:
        return None
    sides: dict[Source, NDArray[np.int64]] = {
        "reference": np.concatenate([one, np.full(len(other), -1)]),
        "generated": np.concatenate([np.full(len(one), -1), other]),
    }
    return HalvedRows(sides, pair.labels[0].count, np.concatenate(codes))


def _prompts_cut(pair: Pair, prompts: Prompts) -> HalvedRows | None:
    """Prompts, with all their answers on both sides."""
    numbers = np.unique(np.concatenate(prompts), return_inverse=True)[1].ravel()
    size = int(numbers.max()) + 1
    if size < FEWEST_CLUSTERS * FEWER_BLOCKS:
        return None
    count = DEFAULT_BLOCKS if size >= FEWEST_CLUSTERS * DEFAULT_BLOCKS else FEWER_BLOCKS
    blocks = Blocks.balanced(size, seed=pair.settings.seed, count=count)
    if blocks.halves is None:
        return None
    return HalvedRows({"both": blocks.labels[numbers]}, count, blocks.halves[numbers])
