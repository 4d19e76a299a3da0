"""Holm's correction of p-values over a family of tests.

The chance of a single false finding among all stays at the level, whatever the tests depend on
each other (Holm, Scand. J. Statist. 1979).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values for the number of tests, by Holm's method.

    Parameters
    ----------
    p_values
        Shape ``(tests,)``, each in [0, 1] or NaN; a test without a p-value does not count.

    Returns
    -------
    numpy.ndarray
        Adjusted p-values in the same order, at most 1; NaN stays.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, float)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    raised = given[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(given), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted
