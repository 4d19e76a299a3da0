"""p-values that hold over a whole family of tests, by how the tests depend on each other.

Holm's correction must allow for tests that have nothing to do with each other. Precision by meaning
and precision by form, or A against B and A against C, share samples, and what they share is known.
The distribution of the largest statistic, if no hypothesis were false, says how often chance shows
as much *anywhere*; what is rejected leaves the family, and the rest is held against the largest of
what remains (step-down max-T: Westfall and Young, 1993; Romano and Wolf, J. Am. Stat. Assoc. 2005).
The chance of a single false finding among all stays at the level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.uncertainty.spread import Doubles


def step_down(
    statistics: ArrayLike, null: Iterable[Doubles], families: Sequence[Sequence[int]] | None = None
) -> Doubles:
    """Adjust a family of tests by the joint distribution of their statistics.

    Parameters
    ----------
    statistics
        One for each test, shape ``(tests,)``, all on one scale, of which the size counts and not
        the sign; a test whose statistic is NaN does not count.
    null
        Draws of statistics as they would be if no hypothesis were false, in chunks of shape
        ``(draws, columns)``.
    families
        For every test the columns of `null` that are out of the question once it is rejected. By
        default each test has its own column, and nothing else.

    Returns
    -------
    numpy.ndarray
        p-values in the order of the tests, shape ``(tests,)``; NaN where the statistic is.

    Examples
    --------
    Two tests that go together entirely count as one; Holm would double the smaller p-value.

    >>> draws = np.repeat(np.linspace(0, 3, 99)[:, None], 2, axis=1)
    >>> step_down([2.6, 2.4], [draws]).round(2).tolist()
    [0.15, 0.21]
    """
    sizes = np.abs(np.asarray(statistics, float))
    own = [[test] for test in range(len(sizes))] if families is None else families
    order = [int(test) for test in np.argsort(-sizes, kind="stable") if not np.isnan(sizes[test])]
    # From the last test to the first, so that a running maximum is that of all that remain
    columns = np.array([column for test in order[::-1] for column in own[test]], np.intp)
    ends = np.cumsum([len(own[test]) for test in order[::-1]], dtype=np.intp)[::-1] - 1
    reached, drawn = np.zeros(len(order)), 0
    for draws in null:
        largest = np.maximum.accumulate(np.abs(draws[:, columns]), axis=1)
        reached += (largest[:, ends] >= sizes[order] * (1 - 1e-12)).sum(axis=0)
        drawn += len(draws)
    adjusted = np.full(len(sizes), np.nan)
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + drawn))
    return adjusted


def critical_value(null: Iterable[Doubles], level: float) -> float:
    """The size that the largest of all statistics stays below in a share `level` of the draws."""
    largest = [np.abs(draws).max(axis=1, initial=0.0) for draws in null]
    return float(np.quantile(np.concatenate(largest), level))
