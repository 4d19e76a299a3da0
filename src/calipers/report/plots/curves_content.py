"""Report data ──► what the plots of curves and of scores share: views, names, who has what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from calipers.errors import InputError
from calipers.report.plots.choosing import (
    chosen_view,
    compared,
    drawable,
    prefix,
    system_names,
    views_of,
)

Data = Mapping[str, Any]
Row = list[float]

NAN = float("nan")
LONGEST = 24
LEVEL = 0.95
BLANK = "(blank name)"


@dataclass(frozen=True)
class Drawn:
    """One system's curve.

    Attributes
    ----------
    index
        Its place among all systems of the run: which colour, dashes and marker it has.
    name
        What it is called, fit for one line.
    points, errors
        Rows as the report data hold them, NaN for null; no rows of errors where none are known.
    """

    index: int
    name: str
    points: list[Row]
    errors: list[Row]


def shown_names(data: Data) -> list[str]:
    """Give the names of the systems as legends show them."""
    names = [drawable(system["name"], LONGEST) for system in compared(data)["systems"]]
    return [name if name.strip() else BLANK for name in names]


def level_of(data: Data) -> float:
    """Give the confidence level of bands and ellipses."""
    found = compared(data)["settings"].get("level")
    return LEVEL if found is None else float(found)


def deviations(level: float) -> float:
    """How many standard errors reach to each side of an interval at a level."""
    return NormalDist().inv_cdf((1 + level) / 2)


def drawn_curves(data: Data, view: str, key: str) -> list[Drawn]:
    """Give the curves of all systems in a view; without points where a system has none."""
    full, shown = prefix(data, view) + key, shown_names(data)
    return [
        Drawn(i, shown[i], *(_rows(data, what, name, full) for what in ("curves", "curve_errors")))
        for i, name in enumerate(system_names(data))
    ]


def has_points(drawn: Drawn) -> bool:
    """Whether any point of a curve is known."""
    return any(all(value == value for value in row) for row in drawn.points)


def views_with_curve(data: Data, key: str) -> list[str]:
    """Give the views in which any system has the curve."""
    return [view for view in views_of(data) if any(map(has_points, drawn_curves(data, view, key)))]


def curve_keys(data: Data) -> list[str]:
    """Give the keys of all curves that any system has, without their views."""
    views = views_of(data)[1:]
    keys = [key for curves in (data.get("curves") or {}).values() for key in curves]
    return list(dict.fromkeys(_bare(key, views) for key in keys))


def chosen_views(
    data: Data, view: str | None, having: Sequence[str], missing: InputError
) -> list[str]:
    """Give the views to draw: the one asked for, or all that have something to show."""
    if not having or (view is not None and chosen_view(data, view) not in having):
        raise missing
    return list(having) if view is None else [view]


def check_family(key: str, families: Sequence[str], kind: str) -> None:
    """Refuse the key of another kind of curve, whose points have other columns."""
    if key.partition(":")[0] not in families:
        known = " or ".join(map(repr, families))
        raise InputError(f"{key!r} names no {kind}: such keys begin with {known}")


def no_curve(data: Data, kind: str, key: str, view: str | None, ask: str) -> InputError:
    """Say that no system has a curve, what brings it, and which there are."""
    where = "" if view is None else f" by {view}"
    if not data.get("curves"):
        return InputError(
            f"no system has a {kind}: there are no curves here. The JSON of a comparison has none, "
            f"the zip of --save has those of the metrics that were asked for ({ask})"
        )
    found = ", ".join(curve_keys(data))
    return InputError(
        f"no system has the {kind} {key!r}{where}: ask for {ask}; curves found: {found}"
    )


def floats(values: Sequence[Any]) -> Row:
    """Read numbers, NaN for null."""
    return [NAN if value is None else float(value) for value in values]


def _rows(data: Data, what: str, system: str, key: str) -> list[Row]:
    rows = ((data.get(what) or {}).get(system) or {}).get(key) or []
    return [floats(row) for row in rows]


def _bare(key: str, views: Sequence[str]) -> str:
    """Take the name of a view from a key."""
    return next((key[len(view) + 1 :] for view in views if key.startswith(f"{view}.")), key)
