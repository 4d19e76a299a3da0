"""Which row of one set to pair with which of another, so that the total cost is smallest.

An auction first: rows bid for columns with a falling minimal raise ε (Bertsekas, 1988), which soon
leads to nearly optimal prices. Subtracted from the costs, they leave almost nothing to do for the
exact method of shortest augmenting paths (Jonker and Volgenant, 1987, as in SciPy), which finds
the optimum whatever the prices are: the auction decides the time, never the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from calipers.estimate.jit import kernel

KEPT = 24  # columns that a row bids among before it looks at all of them again
STEPS = 4
FALL = 20.0
BIDS = 60  # for each row: with far outliers prices climb slowly, and the exact method is faster


def assign(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Pair every row with a column of its own at the least total cost.

    Parameters
    ----------
    costs
        Shape ``(n, n)``, float64, at least 0 and finite. Overwritten, to save memory.

    Returns
    -------
    ndarray
        The column of every row, shape ``(n,)``.
    """
    prices = _prices(costs)
    costs += prices
    costs -= costs.min(axis=1, keepdims=True)
    columns: NDArray[np.intp] = linear_sum_assignment(costs)[1]
    return columns


def _prices(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearly optimal prices of the columns, shape ``(n,)``."""
    n = len(costs)
    prices, kept = np.zeros(n), min(KEPT, n - 1)
    if kept < 2:
        return prices
    near, beyond = np.zeros((n, kept), np.int32), np.full(n, -np.inf)
    raise_by, bids = _spread(costs[:: max(1, n // 64)]), BIDS * n
    for _ in range(STEPS):
        if raise_by > 0 and bids > 0:
            bids -= _auction(costs, prices, raise_by, near, beyond, bids)
        raise_by /= FALL
    return prices


def _spread(costs: NDArray[np.float64]) -> float:
    """Standard deviation, also where a square would overflow; only the time depends on it."""
    largest = float(costs.max())
    return largest * float(np.std(costs / largest)) if largest > 0 else 0.0


@kernel
def _auction(
    costs: Any, prices: Any, raise_by: float, near: Any, beyond: Any, most_bids: int
) -> int:
    """Let every row buy a column; return how many bids that took.

    Prices only rise, so a row's `near` columns decide as long as its second best among them is
    no dearer than `beyond`, the cheapest of all others when it last looked at them.
    """
    n = len(prices)
    owner, waiting, left = np.full(n, -1, np.int32), np.arange(n)[::-1].copy(), n
    room, bids = np.empty(n), 0
    while left > 0 and bids < most_bids:
        left -= 1
        row = waiting[left]
        bids += 1
        best, value, second = _two_best(costs, prices, near, row)
        if second > beyond[row]:
            _look(costs, prices, row, room, near, beyond)
            best, value, second = _two_best(costs, prices, near, row)
        prices[best] += second - value + raise_by
        if owner[best] >= 0:
            waiting[left] = owner[best]
            left += 1
        owner[best] = row
    return bids


@kernel
def _two_best(costs: Any, prices: Any, near: Any, row: int) -> tuple[int, float, float]:
    """The cheapest of a row's near columns, its cost with the price, and that of the next."""
    best, value, second = -1, np.inf, np.inf
    for place in range(near.shape[1]):
        column = near[row, place]
        cost = costs[row, column] + prices[column]
        if cost < value:
            best, value, second = column, cost, value
        elif cost < second:
            second = cost
    return best, value, second


@kernel
def _look(costs: Any, prices: Any, row: int, room: Any, near: Any, beyond: Any) -> None:
    """Find the cheapest columns of a row among all, and the cheapest of those left out."""
    kept, held = near.shape[1], 0
    values, columns = np.empty(kept + 1), np.empty(kept + 1, np.int32)
    for column in range(len(prices)):
        room[column] = costs[row, column] + prices[column]
    for column in range(len(prices)):
        if held > kept and room[column] >= values[kept]:
            continue
        place = min(held, kept)
        while place > 0 and values[place - 1] > room[column]:
            values[place], columns[place] = values[place - 1], columns[place - 1]
            place -= 1
        values[place], columns[place] = room[column], column
        held = min(held + 1, kept + 1)
    near[row, :] = columns[:kept]
    beyond[row] = values[kept]
