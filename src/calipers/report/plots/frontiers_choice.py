"""Which frontiers to draw, by which constant, and what the legend says of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from calipers.errors import unknown_name
from calipers.report.plots.curves import band_entry, missing_from
from calipers.report.plots.curves_content import (
    Data,
    check_family,
    chosen_views,
    no_curve,
    views_with_curve,
)
from calipers.report.plots.curves_panels import Entry, curve_entries, panel_names
from calipers.report.plots.frontiers_content import (
    area_key,
    area_title,
    areas,
    check_scaling,
    scaling,
    usual_frontier,
)

Scale = Literal["transformed", "raw"]


@dataclass(frozen=True)
class Choice:
    """What to draw: which frontier, its constant (None for raw costs), with bands or without."""

    curve: str
    c: float | None
    bands: bool
    told: bool  # whether the areas of the run are those of these curves


def choose(data: Data, curve: str | None, scale: str, c: float | None, bands: bool) -> Choice:
    """Say what to draw, once options are checked."""
    curve = usual_frontier(data) if curve is None else curve
    if scale not in get_args(Scale):
        raise unknown_name("scale", scale, get_args(Scale))
    usual = scaling(data, curve)
    power = usual if c is None else check_scaling(c)
    if scale == "raw":
        return Choice(curve, None, bands, told=False)
    return Choice(curve, power, bands, told=power == usual)


def frontier_views(data: Data, view: str | None, curve: str) -> list[str]:
    """Give the views to draw."""
    check_family(curve, ("frontier", "frontier_star"), "divergence frontier")
    missing = no_curve(data, "divergence frontier", curve, view, f"the metric {area_key(curve)}")
    return chosen_views(data, view, views_with_curve(data, curve), missing)


def frontier_title(data: Data, views: list[str], chosen: Choice) -> str | None:
    """Say what the numbers of the legend are; None where it has none."""
    return area_title(panel_names(data, views), chosen.curve) if chosen.told else None


def frontier_entries(data: Data, views: list[str], chosen: Choice) -> list[Entry]:
    """Name the systems with the areas under their curves, view by view."""
    missing = [missing_from(data, view, chosen.curve) for view in views]
    entries = curve_entries(data, missing, panel_names(data, views))
    if chosen.told:
        told = zip(*(areas(data, view, chosen.curve) for view in views), strict=True)
        entries = [
            replace(entry, name=f"{entry.name}  {' / '.join(values)}")
            if any(i not in each for each in missing)
            else entry
            for i, (entry, values) in enumerate(zip(entries, told, strict=True))
        ]
    return [*entries, *(band_entry(data, views, chosen.curve) if chosen.bands else [])]
