"""How often bands and ellipses hold the expectation, as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np

from bands_worlds import ANGLES, CASES, LEVEL, PAIRS, WEIGHTS
from calibration_intervals import doubt
from calibration_store import Record, Store
from calipers.report.plots.curves import deviations
from calipers.report.plots.plane import Extent, error_ellipse

PART = "bands"
COSTS = ("D(Q‖R)", "D(P‖R)")
STILL = 1e-9
"""Numbers that spread less are the same in all worlds, but for rounding."""

Sides = dict[str, tuple[list[Record], list[Record]]]


def band_holds(values: np.ndarray, errors: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Whether each point's band holds the mean curve in all columns; arrays end in columns."""
    held: np.ndarray = np.abs(values - mean) <= deviations(LEVEL) * errors
    return held.all(axis=-1)


def in_ellipse(x: float, y: float, extent: Extent) -> bool:
    """Whether a place, as seen from the middle of an ellipse, lies within it."""
    c, s = cos(radians(extent.angle)), sin(radians(extent.angle))
    along, across = c * x + s * y, c * y - s * x
    a, b = extent.width / 2, extent.height / 2
    if a * b == 0:
        return abs(along) <= a and abs(across) <= b
    return (along / a) ** 2 + (across / b) ** 2 <= 1


def share(held: Sequence[bool] | np.ndarray) -> str:
    """A coverage and its standard error."""
    covers = float(np.mean(held))
    return f"{covers:.3f} ± {doubt(covers, len(held)):.3f}"


def sides(store: Store, n: int) -> Sides:
    """Worlds with errors, and those for the expectation, by case; none with too few of either."""
    found = {}
    for case in CASES:
        records = store.of(PART, case, n)
        full = [record for record in records if "errors" in record]
        fresh = [record for record in records if "errors" not in record]
        if min(len(full), len(fresh)) > 1:
            found[case] = full, fresh
    return found


def tables(store: Store, n: int) -> list[str]:
    """Both tables and what stands behind them."""
    found = sides(store, n)
    if not found:
        return [f"no worlds of n = {n:,}: measure some with --processes 1"]
    counts = [
        f"{case}: {len(full):,} worlds, {len(fresh):,} for the expectation"
        for case, (full, fresh) in found.items()
    ]
    title = f"n = {n:,}; {'; '.join(counts)}"
    return [title, "", *curve_table(found), "", *ellipse_table(found)]


def curve_table(found: Sides) -> list[str]:
    """How often bands hold the mean curve, point by point."""
    rows = [("prd", i, f"{0.09 * angle:g}°", (0, 1)) for i, angle in enumerate(ANGLES)]
    for name in ("frontier", "frontier_star"):
        for column, cost in enumerate(COSTS):
            at = [f"λ = {weight / 24:.2f}, {cost}" for weight in WEIGHTS]
            rows += [(name, i, words, (column,)) for i, words in enumerate(at)]
    lines = [
        [name, at, *(point(*found[case], name, i, columns) for case in found)]
        for name, i, at, columns in rows
    ]
    return table(["curve", "at"], ["mean", "SE / sd", "no width", "covers"], found, lines)


def ellipse_table(found: Sides) -> list[str]:
    """How often ellipses hold both means."""
    lines = [
        [", ".join(pair), *(ellipse(*found[case], i) for case in found)]
        for i, pair in enumerate(PAIRS)
    ]
    return table(["ellipse"], ["r", "r of ellipses", "covers"], found, lines)


def table(first: list[str], heads: list[str], found: Sides, lines: list[list[str]]) -> list[str]:
    """Columns of words, then the same columns of numbers for every case."""
    heads = [f"{case}: {head}" for case in found for head in heads]
    rules = ["---"] * len(first) + ["---:"] * len(heads)
    return [f"| {' | '.join(line)} |" for line in ([*first, *heads], rules, *lines)]


def point(
    full: Sequence[Record], fresh: Sequence[Record], name: str, i: int, columns: Sequence[int]
) -> str:
    """Mean, error over spread, bands without width and coverage at a point: cells of a row."""
    own, other = (
        np.array([[each["curves"][name][i][j] for j in columns] for each in part])
        for part in (full, fresh)
    )
    errors = np.array([[each["errors"][name][i][j] for j in columns] for each in full])
    mean, sd = other.mean(axis=0), np.r_[own, other].std(axis=0, ddof=1)
    middle = ", ".join(f"{value:.4f}" for value in mean)
    if sd.max() < STILL:
        return f"{middle} | | | all alike"
    # Precision and recall move together along their ray: the ratio is the same for both
    ratio = np.sqrt(np.mean(errors[:, 0] ** 2)) / sd[0]
    flat = (errors < STILL).all(axis=1).mean()
    return f"{middle} | {ratio:.2f} | {flat:.2f} | {share(band_holds(own, errors, mean))}"


def ellipse(full: Sequence[Record], fresh: Sequence[Record], pair: int) -> str:
    """Correlation between worlds, that of the ellipses, and coverage: cells of a row."""
    at = slice(2 * pair, 2 * pair + 2)
    own, other = (np.array([each["scores"][at] for each in part]) for part in (full, fresh))
    everywhere = np.r_[own, other]
    if everywhere.std(axis=0).min() < STILL:
        return " | | all alike"
    between = np.corrcoef(everywhere.T)[0, 1]
    gaps = other.mean(axis=0) - own
    drawn = [
        (gap, record["correlations"][pair], extent)
        for record, gap in zip(full, gaps, strict=True)
        if (extent := ellipse_of(record, pair)) is not None
    ]
    if not drawn:
        return f"{between:+.2f} | | no ellipse"
    held = [in_ellipse(*gap, extent) for gap, _, extent in drawn]
    told = np.mean([r for _, r, _ in drawn])
    without = f" ({len(full) - len(held)} without)" if len(held) < len(full) else ""
    return f"{between:+.2f} | {told:+.2f} | {share(held)}{without}"


def ellipse_of(record: Record, pair: int) -> Extent | None:
    """The ellipse of two scores as the plane draws it."""
    errors = record["score_errors"][2 * pair : 2 * pair + 2]
    return error_ellipse(*errors, record["correlations"][pair], level=LEVEL)
