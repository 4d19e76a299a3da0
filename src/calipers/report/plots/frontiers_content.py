"""Report data ──► what the plot of divergence frontiers says: costs, c, areas, names of axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, inf

from calipers.catalogue.estimation import DIVERGENCE
from calipers.errors import InputError
from calipers.report.names import clean, label
from calipers.report.numbers import score_text
from calipers.report.plots.bands import Point
from calipers.report.plots.choosing import compared, prefix, scores_of, system_names, views_of
from calipers.report.plots.curves_content import Data, curve_keys

USUAL_C = 5.0
USUAL = ("frontier_star", "frontier")
READ_WITH_C = ("mauve", "frontier_f8", "frontier_f1_8")


def usual_frontier(data: Data) -> str:
    """Give the key of the frontier to draw: the smoothed one where there is one."""
    found = [key for key in curve_keys(data) if key.startswith("frontier")]
    return next((key for key in (*USUAL, *found) if key in found), USUAL[0])


def area_key(curve: str) -> str:
    """Give the key of the score that is the area under a frontier.

    Examples
    --------
    >>> area_key("frontier_star"), area_key("frontier:chi2:knn")
    ('mauve_star', 'mauve:chi2:knn')
    """
    return _read_from(curve, "mauve")


def areas(data: Data, view: str, curve: str) -> list[str]:
    """Give the areas of all systems as a person reads them; a dash where there is none."""
    key = prefix(data, view) + area_key(curve)
    return [score_text(scores_of(data, name).get(key)) for name in system_names(data)]


def scaling(data: Data, curve: str) -> float:
    """Give the constant c that the scores of a frontier were made with, from their signatures."""
    keys = [
        prefix(data, view) + _read_from(curve, m) for view in views_of(data) for m in READ_WITH_C
    ]
    scores = [scores_of(data, name).get(key) for name in system_names(data) for key in keys]
    lines = [str((score or {}).get("signature")) for score in scores]
    found = [float(c) for line in lines for c in re.findall(r"\|c:([0-9.e+-]+)(?:\||$)", line)]
    given = compared(data)["settings"].get("c")
    return found[0] if found else USUAL_C if given is None else float(given)


def check_scaling(c: float) -> float:
    """Return a scaling constant that leaves a curve."""
    if not 0 < c < inf:
        raise InputError(f"c must be above 0 and finite; found {c}")
    return float(c)


def transformed(points: Sequence[Point], c: float) -> list[Point]:
    """Bring costs into the unit square by x → exp(-c·x); Pillutla et al., JMLR 2023, equation 5."""
    return [(exp(-c * x), exp(-c * y)) for x, y in points]


def divergence_name(curve: str) -> str:
    """Name the divergence of a frontier.

    Examples
    --------
    >>> divergence_name("frontier_star"), divergence_name("frontier:interpolated_chi2=0.3:knn")
    ('KL', 'χ² 0.3')
    """
    for option in curve.split(":")[1:]:
        name, _, weight = option.partition("=")
        if name in DIVERGENCE.labels:
            return f"{DIVERGENCE.labels[name]} {clean(weight)}".strip()
    return DIVERGENCE.labels["kl"]


def area_title(views: Sequence[str], curve: str) -> str:
    """Say what the numbers of the legend are, view by view."""
    where = f" {' / '.join(views)}" if len(views) > 1 else ""
    return f"{label(area_key(curve))}{where}"


def _read_from(curve: str, metric: str) -> str:
    name, colon, options = curve.partition(":")
    return f"{metric}{name.removeprefix('frontier')}{colon}{options}"
