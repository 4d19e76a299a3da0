"""All pairs of a few rows and a whole set within given distances, without an index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.distances import Sieve, squared_of_pairs
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans


def close_pairs(
    rows: Sieve, chosen: Longs, others: Sieve, limits: tuple[Floats, Floats], pool: Workers
) -> Iterator[tuple[Longs, Longs, Floats]]:
    """Return all pairs of chosen rows and others that may lie within a limit of either.

    Parameters
    ----------
    rows, others
        Two sets, or one twice, with one centre and one scale.
    chosen
        Which of the rows, shape ``(c,)``.
    limits
        Squared distances, for each chosen row ``(c,)`` and for each other ``(n,)``; -inf for none.
        A pair within either is among those that are given, and few that are not.

    Yields
    ------
    tuple of arrays
        For consecutive parts of the others: the places among the chosen rows, the others, and the
        exact squared distances.
    """
    low, lines = rows.low[chosen, None], rows.take(chosen)
    near_row, near_other = rows.threshold(limits[0])[:, None], others.threshold(limits[1])

    def look(span: Span) -> tuple[Longs, Longs, Floats]:
        columns = np.arange(*span)
        bounds = low + others.low[columns] - lines @ others.take(columns).T
        place, column = np.nonzero((bounds < near_row) | (bounds < near_other[columns]))
        column += span[0]
        return place, column, squared_of_pairs(rows.points, chosen[place], others.points, column)

    yield from pool.map(look, panel_spans(len(others.points)))
