"""What both sets do together, which leaving blocks out of either counts once for each.

A score moves with the reference, with the generated samples, and with how the two happen to lie to
each other. The last belongs to neither, yet the jackknife over reference blocks has all of it, and
that over generated blocks again. Leaving a block out of both sets at once tells it apart:
H_bc = S − S_b − S_c + S_bc, centred over b and c, as in an analysis of variance of two ways
(Efron and Stein, Ann. Statist. 1981); centred, all but S_bc falls out. For two systems against one
reference it would otherwise hide behind what the reference alone is thought to do to their
difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.metrics.catalogue import Choice
from calipers.metrics.pair import Pair
from calipers.uncertainty.spread import Doubles
from calipers.uncertainty.without import Without, labels_of

CROSSED = 6
"""Blocks of each side that are crossed: enough to know the size of what is subtracted."""


def crossed_variance(pair: Pair, choices: Sequence[Choice]) -> dict[str, float]:
    """Tell how much of the variance of each score both sources count.

    Parameters
    ----------
    pair
        A pair with blocks.
    choices
        Metrics that can be read with blocks left out.

    Returns
    -------
    dict
        By name of the choice, at least 0.
    """
    if not choices:
        return {}
    ours = [Without.of(pair, "reference", block) for block in range(CROSSED)]
    both = [[Without.of(each, "generated", block) for block in range(CROSSED)] for each in ours]
    blocks = labels_of(pair, "reference").count
    return {choice.name: _variance(_table(choice, both), blocks) for choice in choices}


def _table(choice: Choice, pairs: Sequence[Sequence[Pair]]) -> Doubles:
    return np.array([[choice.score(each).value for each in row] for row in pairs])


def _variance(table: Doubles, blocks: int) -> float:
    """From a part of the crossed blocks to all of them, each brought back to its share."""
    with np.errstate(invalid="ignore"):  # a score may be infinite without a block
        centred = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
    size = len(table)
    square = float((centred**2).sum()) * (size / (size - 1)) ** 2
    return square * (blocks / size) ** 2 * (1 - 1 / blocks) ** 4
