"""What all pictures share: systems and views by the words a person sees, and numbers cut short."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from calipers.report.names import VIEWS, WIDEST_NAME, clean, shorten

Data = Mapping[str, Any]

TEXT_VIEW = "text"
DIGITS = 5


def number(value: Any, digits: int = DIGITS) -> float | None:
    """Cut a number to what a picture can show; None for what is no finite number."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return round(float(value), digits)


def shown_name(name: object) -> str:
    """Give a name in one line of bounded width, for buttons, hovers and axes."""
    return shorten(clean(name), WIDEST_NAME)


def systems_of(data: Data) -> list[Data]:
    """Give the systems in the order of the table, which is that of their colours."""
    systems: list[Data] = list(data["comparison"].get("systems") or [])
    return systems


def shown_names(data: Data) -> list[str]:
    """Name the systems; one that is called as the reference says that it is none."""
    names = [shown_name(system["name"]) for system in systems_of(data)]
    taken = {reference_name(data), "reference"}
    told = [f"{name} (generated)" if name in taken else name for name in names]
    return [_counted(name, told[:place].count(name)) for place, name in enumerate(told)]


def _counted(name: str, before: int) -> str:
    """Tell names apart that are alike once they are short."""
    return f"{name} ({before + 1})" if before else name


def reference_name(data: Data) -> str:
    """What the reference is called in the pictures."""
    return shown_name((data["comparison"].get("reference") or {}).get("name") or "reference")


def views_of(data: Data) -> list[str]:
    """Give the views of the run that have a geometry: all but the strings themselves."""
    settings = data["comparison"].get("settings") or {}
    return [view for view in settings.get("views") or [] if view != TEXT_VIEW]


def described(views: Sequence[str]) -> list[dict[str, str]]:
    """Name views, each with what it sees; empty where that is not known."""
    return [{"name": shown_name(view), "sees": VIEWS.get(view, "")} for view in views]


def prefix(views: Sequence[str], view: str) -> str:
    """Give what stands before the keys of a view: nothing for the first."""
    return "" if view == views[0] else f"{view}."
