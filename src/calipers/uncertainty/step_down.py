"""p-values that hold over a whole family of tests, by how the tests depend on each other.

Holm's correction must allow for tests that have nothing to do with each other. Precision by meaning
and precision by form, or A against B and A against C, share samples, and what they share is known.
The distribution of the largest statistic, if no hypothesis were false, says how often chance shows
as much *anywhere*; what is rejected leaves the family, and the rest is held against the largest of
what remains (step-down max-T: Westfall and Young, 1993; Romano and Wolf, J. Am. Stat. Assoc. 2005).
The chance of a single false finding among all stays at the level.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Doubles = NDArray[np.float64]


def step_down(statistics: ArrayLike, null: Iterable[Doubles]) -> tuple[Doubles, Doubles]:
    """Adjust a family of tests by the joint distribution of their statistics.

    Parameters
    ----------
    statistics
        One for each test, shape ``(tests,)``, all on one scale, of which the size counts and not
        the sign; a test whose statistic is NaN does not count.
    null
        Draws of all statistics as they would be if no hypothesis were false, in chunks of shape
        ``(draws, tests)``; columns of tests that do not count are not looked at.

    Returns
    -------
    adjusted
        p-values in the order of the tests, shape ``(tests,)``; NaN where the statistic is.
    largest
        Size of the largest statistic of every draw, over all tests, shape ``(draws,)``.

    Examples
    --------
    Two tests that go together entirely count as one; Holm would double the smaller p-value.

    >>> draws = np.repeat(np.linspace(0, 3, 99)[:, None], 2, axis=1)
    >>> adjusted, _ = step_down([2.6, 2.4], [draws])
    >>> adjusted.round(2).tolist()
    [0.15, 0.21]
    """
    sizes = np.abs(np.asarray(statistics, float))
    known = np.flatnonzero(~np.isnan(sizes))
    order = known[np.argsort(-sizes[known], kind="stable")]
    reached, drawn, largest = np.zeros(len(order)), 0, []
    for draws in null:
        # The largest of each test and all that come after it
        last = np.abs(draws[:, order[::-1]])
        remaining = np.maximum.accumulate(last, axis=1)[:, ::-1]
        reached += (remaining >= sizes[order] * (1 - 1e-12)).sum(axis=0)
        drawn += len(draws)
        largest.append(remaining[:, 0] if len(order) else np.zeros(len(draws)))
    adjusted = np.full(len(sizes), np.nan)
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + drawn))
    return adjusted, np.concatenate(largest) if largest else np.empty(0)
