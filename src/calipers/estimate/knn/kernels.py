"""The compiled kernels of the neighbour engine, ``native/knn.c``, with typed arguments.

The nearest rows, the balls, and who lies in them. Distances come from the float32 products of
panels first; pairs that these bounds leave open are settled in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.numeric import native
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.distances import FLOOR, Sides

LARGE = 3e38  # just below what float32 holds
LEAST = 1e-37  # just above where float32 loses digits
SMALL = 1e-30  # a ratio below shuts nothing out, since float32 cannot tell it well
LESS = 1 - 2.0**-20  # keeps a ratio that is not exact from shutting out its equal
CLOSE = np.float32(0.1)  # share of the squared lengths below which a distance is computed again
TINY = np.float32(FLOOR)  # a half squared distance that may have lost all to underflow

native.record("candidates", "bound f4[n, kept] out", "which i8[n, kept] out")
native.record(
    "radii",
    "squared f8[n, k_max]",
    "without f8[n, blocks]",
    "largest f8[n]",
    "capped f8[n]",
    "smaller f8[n]",
    "labels i8[n]",
    "halves f8[n, halvings]",
    "codes u8[n]",
)
native.record(
    "tile_balls",
    "radii radii",
    "marks f8[n, kept]",
    "median float",
    "limit f4[filled]",
    "start int",
)
native.record(
    "ball_counts",
    "held i4[owners, k_max] out",
    "inside i4[guests, k_max] out",
    "held_without i4[owners, blocks] out",
    "held_from i4[owners, blocks] out",
    "inside_without i4[guests, blocks] out",
    "held_halves i4[owners, halvings] out",
    "inside_halves i4[guests, halvings] out",
    "capped i4[guests] out",
    "bound f4[guests, kept] out",
    "which i8[guests, kept] out",
    "ratio f8[guests] out",
    "deepest i8[guests] out",
    "missed f8[guests] out",
)
native.record(
    "common_balls",
    "active bool",
    "half_rows f4[n]",
    "half_columns f4[m]",
    "scale float",
    "inverse_rows single",
    "inverse_columns single",
    "squared_rows float",
    "squared_columns float",
    "missed_rows f8[n] out",
    "missed_columns f8[m] out",
)

PANELS = (
    "row_panels f4[row_count, d, 48]",
    "column_panels f4[column_count, d, 48]",
    "rounded_rows rounded",
    "rounded_columns rounded",
)
LIMITS = "rows thresholds", "columns thresholds"
ENTERED = "of_rows ball_counts", "of_columns ball_counts"
LISTED = "left reals[n, d]", "right reals[m, d]", "rows i8[count]", "columns i8[count]"
BALLS = "owners radii", "others radii"

scan_nearest = native.kernel(
    "scan_nearest",
    *PANELS,
    "points reals[n, d]",
    "others reals[m, d]",
    "pairs i8[count, 2]",
    *LIMITS,
    "half_scale float",
    "row0 int",
    "column0 int",
    "same_set bool",
    "left candidates",
    "right candidates",
)
merge_candidates = native.kernel(
    "merge_candidates",
    "bounds f4[n, kept] out",
    "index i8[n, kept] out",
    "part_bounds f4[n, part_kept]",
    "part_index i8[n, part_kept]",
)
settle_candidates = native.kernel(
    "settle_candidates",
    "points reals[n, d]",
    "others reals[m, d]",
    "half_scale float",
    "bounds f4[rows, kept]",
    "which i8[rows, kept]",
    "squared f8[rows, k] out",
    "index i8[rows, k] out",
    "start int",
    "still_open b1[rows] out",
)
search_open = native.kernel(
    "search_open",
    *PANELS,
    "points reals[n, d]",
    "others reals[m, d]",
    *LIMITS,
    "squared f8[span, k] out",
    "index i8[span, k] out",
    "row0 int",
    "same_set bool",
)
radii_without_blocks = native.kernel(
    "radii_without_blocks",
    "squared f8[n, known]",
    "index i8[n, known]",
    "labels i8[others]",
    "own i8[n] optional",
    "k int",
    "without f8[n, blocks] out",
    returns="int",
)
radii_of_halves = native.kernel(
    "radii_of_halves",
    "squared f8[n, known]",
    "index i8[n, known]",
    "codes u8[n]",
    "k int",
    "halves f8[n, halvings] out",
    returns="int",
)
count_own = native.kernel(
    "count_own",
    "squared f8[n, known]",
    "index i8[n, known]",
    "capped f8[n]",
    "points reals[n, d]",
    "closed bool",
    "counts i4[n] out",
)
scan_pairs = native.kernel(
    "scan_pairs",
    *PANELS,
    "left reals[n, d]",
    "right reals[m, d]",
    "pairs i8[count, 2]",
    *LIMITS,
    "owners tile_balls",
    "others tile_balls",
    *ENTERED,
    "half_scale float",
    "gap float",
    "k int",
    "closed bool",
    "common common_balls",
)
enter_listed = native.kernel("count_listed", *LISTED, *BALLS, *ENTERED, "k int", "closed bool")
enter_close_pairs = native.kernel("enter_close", *LISTED, *BALLS, "spreads f8[2]", *ENTERED)
settle_listed = native.kernel(
    "settle_listed",
    "points reals[n, d]",
    "rows i8[count]",
    "others reals[m, d]",
    "which i8[count, places]",
    "squared f8[count, k] out",
    "index i8[count, k] out",
)
exact_ratios = native.kernel(
    "exact_ratios",
    "owners reals[n, d]",
    "guests reals[m, d]",
    "smaller f8[n]",
    "deepest i8[m]",
    "ratio f8[m] out",
)
take_neighbours = native.kernel(
    "take_neighbours",
    "tile f8[rows, columns]",
    "row0 int",
    "column0 int",
    "distance f8[n, k] out",
    "index i8[n, k] out",
    "beyond i8[n, 2] out",
    "first int",
)
count_members = native.kernel(
    "count_members",
    "tile f8[rows, columns]",
    "row0 int",
    "column0 int",
    "levels f8[n, k_max]",
    "closed bool",
    "members i4[n, k_max] out",
    "inside i4[n, k_max] out",
)


def count_listed(
    points: Sides, rows: Longs, columns: Longs, balls: Any, counts: Any, k: int, closed: bool
) -> None:
    """Count listed pairs of rows exactly.

    Each pair is to be listed once; it counts for the balls of both.
    """
    rows, columns = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
    enter_listed(*points, rows, columns, *balls, *counts, k, closed)


def enter_close(
    points: Sides, rows: Longs, columns: Longs, balls: Any, spreads: Floats, counts: Any
) -> None:
    """Count listed pairs whose products cancel, from exact distances."""
    rows, columns = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
    enter_close_pairs(*points, rows, columns, *balls, spreads, *counts)
