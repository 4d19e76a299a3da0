"""Report data ──► PR-curves and divergence frontiers of all systems, thinned for a screen."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from calipers.catalogue.estimation import DIVERGENCE
from calipers.report.html.pictures_parts import Data, number, prefix, systems_of
from calipers.report.names import MADE_BY, clean

NEAREST = 1 / 300
"""Points of a curve that are nearer to the last one than this add nothing that can be seen."""
USUAL_C = 5.0
CURVES = {"prd": "from cells of k-means"}
FRONTIERS = {
    "frontier_star": "smoothed by Krichevsky and Trofimov",
    "frontier": "unsmoothed",
}

Row = Sequence[float | None]
Rows = Sequence[Row]


def curve_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the PR-curves (Sajjadi et al., NeurIPS 2018) by view and estimator, ``prd`` first.

    A line has ``x`` (recall), ``y`` (precision) and their standard errors, lists of one length, or
    None where no error is known.
    """
    return [
        {**about, "lines": _lines(data, key, across=1, up=0)}
        for about, key in _kinds(data, views, CURVES)
    ]


def frontier_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the divergence frontiers (Pillutla et al., JMLR 2023) by view and estimate.

    A line has ``x`` (the cost of the generated set, D(Q‖R)), ``y`` (that of the reference, D(P‖R))
    and their standard errors; ``c`` is the scaling constant that MAUVE used.
    """
    return [
        {**about, "c": _scaling(data, key), "lines": _lines(data, key, across=1, up=2)}
        for about, key in _kinds(data, views, FRONTIERS)
    ]


def _kinds(
    data: Data, views: Sequence[str], bases: dict[str, str]
) -> list[tuple[dict[str, Any], str]]:
    """Find which curves there are: what to call them, and their key."""
    held = dict.fromkeys(key for curves in (data.get("curves") or {}).values() for key in curves)
    found = []
    for place, view in enumerate(views):
        before = prefix(views, view)
        for base, words in bases.items():
            keys = [key for key in held if key.partition(":")[0] == before + base]
            for key in sorted(keys, key=len):
                about = {"view": place, "says": _says(words, key)}
                found.append((about, key))
    return found


def _says(words: str, key: str) -> str:
    """Say how a curve was made."""
    options = [option for option in key.partition(":")[2].split(":") if option]
    told = [_option(option) for option in options]
    estimated = any(option in MADE_BY for option in options)
    return ", ".join(told if estimated else [words, *told])


def _option(option: str) -> str:
    name, _, weight = option.partition("=")
    if name in MADE_BY:
        return MADE_BY[name]
    return clean(f"{DIVERGENCE.labels.get(name, name)} {weight}".strip())


def _lines(data: Data, key: str, *, across: int, up: int) -> list[dict[str, Any]]:
    """Give the curve of every system that has it."""
    made = []
    for row, system in enumerate(systems_of(data)):
        points = (data["curves"].get(system["name"]) or {}).get(key) or []
        errors = ((data.get("curve_errors") or {}).get(system["name"]) or {}).get(key)
        kept = _kept(points, across, up)
        if kept:
            line = {"x": _column(points, kept, across), "y": _column(points, kept, up)}
            made.append({"system": row, **line, **_errors(errors, kept, len(points), across, up)})
    return made


def _errors(errors: Rows | None, kept: list[int], n: int, across: int, up: int) -> dict[str, Any]:
    known = errors is not None and len(errors) == n
    return {
        "x_error": _column(errors, kept, across) if errors and known else None,
        "y_error": _column(errors, kept, up) if errors and known else None,
    }


def _column(rows: Rows, kept: list[int], column: int) -> list[float | None]:
    return [number(rows[place][column], 4) for place in kept]


def _kept(points: Rows, across: int, up: int) -> list[int]:
    """Choose the points to draw: the ends, and those that are not on top of the last one."""
    known = [
        (place, x, y)
        for place, point in enumerate(points)
        if (x := number(point[across])) is not None and (y := number(point[up])) is not None
    ]
    kept = known[:1]
    for each in known[1:]:
        if math.dist(each[1:], kept[-1][1:]) >= NEAREST:
            kept.append(each)
    if known and kept[-1] != known[-1]:
        kept.append(known[-1])
    return [place for place, *_ in kept]


def _scaling(data: Data, key: str) -> float:
    """Read the scaling constant off the score that belongs to a frontier."""
    score = re.sub(r"(^|\.)frontier(_star)?(?=:|$)", r"\1mauve\2", key)
    signatures = [
        (system["scores"].get(score) or {}).get("signature") or "" for system in systems_of(data)
    ]
    found = [match for each in signatures if (match := re.search(r"\|c:([\d.]+)(\||$)", each))]
    chosen = (data["comparison"].get("settings") or {}).get("c")
    return float(found[0][1]) if found else number(chosen) or USUAL_C
