"""Report data ──► the view and the systems that a plot shows, and names that are safe to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from calipers.errors import InputError, unknown_name
from calipers.report.names import WIDEST_NAME, clean, shorten

Data = Mapping[str, Any]

HAIR_SPACE = "\N{HAIR SPACE}"
HANDLE, SIGN = 0.75, 0.075
"""Inches that a legend's drawn sample takes, and each sign of a name."""


def compared(data: Data) -> Data:
    """Give the comparison within report data; the JSON of a comparison is one itself."""
    found: Data = data.get("comparison", data)
    return found


def views_of(data: Data) -> list[str]:
    """Give the names of the views, the main one first."""
    return list(compared(data)["settings"]["views"])


def chosen_view(data: Data, view: str | None) -> str:
    """Give the view to draw: the main one unless another is named.

    Raises
    ------
    InputError
        If the comparison has no such view.
    """
    known = views_of(data)
    if view is not None and view not in known:
        raise unknown_name("view", view, known)
    return known[0] if view is None else view


def prefix(data: Data, view: str) -> str:
    """Give what stands before the keys of a view's scores: nothing for the main view."""
    return "" if view == views_of(data)[0] else f"{view}."


def system_names(data: Data) -> list[str]:
    """Give the names of the systems, in the order of the comparison."""
    return [str(system["name"]) for system in compared(data)["systems"]]


def chosen_systems(data: Data, system: str | None) -> list[str]:
    """Give the names of the systems to draw: all, or the one that is named.

    Raises
    ------
    InputError
        If the comparison has no such system.
    """
    names = system_names(data)
    if system is not None and system not in names:
        raise unknown_name("system", system, names)
    return names if system is None else [system]


def place_of(data: Data, system: str) -> int:
    """Tell a system's place in its comparison, which decides its colour in every plot."""
    return system_names(data).index(system)


def scores_of(data: Data, system: str) -> Data:
    """Give the scores of one system by their keys."""
    found: Data = compared(data)["systems"][place_of(data, system)]["scores"]
    return found


def drawable(text: object, width: int = WIDEST_NAME) -> str:
    """Make a text safe to draw: one line, no formulas between dollar signs, in every legend.

    Examples
    --------
    >>> drawable("costs $5 or $6")
    'costs \\\\$5 or \\\\$6'
    """
    shown = shorten(clean(text), width).replace("$", r"\$")
    # Legends leave out names that start with an underscore
    return HAIR_SPACE + shown if shown.startswith("_") else shown


def metric_names(metrics: Sequence[str] | str | None) -> list[str] | None:
    """Read metrics given as one name or several."""
    if metrics is None:
        return None
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not names:
        raise InputError("metrics must name at least one metric; found none")
    return names


def legend_width(names: Sequence[str]) -> float:
    """Give the inches that a legend beside the panels needs for its longest name."""
    return HANDLE + SIGN * max((min(cell_len(name), WIDEST_NAME) for name in names), default=0)
