"""Comparisons made by hand: plain data, with little more than a test is about ──► the result.

The data are as ``Comparison.report_data()`` gives them, or the JSON of the comparison alone. What
they lack is filled with what says nothing; null is an undefined number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calipers.catalogue.settings import Settings
from calipers.evaluate.verdict import decided
from calipers.explain.map import SampleMap
from calipers.explain.model import Explanation
from calipers.results.comparison import Comparison
from calipers.results.sets import Samples
from calipers.results.shared_signatures import with_own_signatures
from calipers.results.system import Against, SystemResult
from calipers.results.tests import SignificanceTest, columns_of, rows_of
from calipers.serialise import read

Data = Mapping[str, Any]

SCORE = {
    "interval": None,
    "level": None,
    "range": [0.0, 1.0],
    "better": "higher",
    "signature": "",
    "reason": None,
}
FLOOR = {"spread": 0.0, "beside_spread": 0.0, "splits": 10}
SET = {"source": "", "n": 0, "words": None, "content_hash": "", "warnings": []}
WORDS = {"mean": 0.0}
TEST = {"interval": None, "paired": False, "separating_n": None, "reason": None}
REGION = {
    "keywords": [],
    "reference": 0,
    "generated": 0,
    "expected": 0.0,
    "produced": 0.0,
    "contribution": 0.0,
    "share": None,
    "direction": "even",
    "uncovered": None,
    "outside": None,
    "cells": [],
    "reference_medoids": [],
    "generated_medoids": [],
    "uncovered_samples": [],
}
TOPIC = {
    "reference_share": 0.0,
    "generated_share": 0.0,
    "ratio": None,
    "interval": [0.0, None],
    "p_value": 1.0,
    "adjusted_p_value": 1.0,
    "significant": False,
}
UNDECIDED: Data = {"shown": [], "findings": [], "verdict": {"cautions": []}}
"""What the data hold before it is decided what is shown."""

EXPLANATION = {
    **dict.fromkeys(("score", "outside_count", "uncovered_count", "copies_count")),
    "view": "meaning",
    "n": 0,
    "m": 0,
    "k": 4,
    "level": 0.95,
    "notes": [],
}


def comparison_of(data: Data) -> Comparison:
    """Make a comparison of report data, or of its JSON."""
    report = data if "comparison" in data else {"comparison": data}
    found = decided(Comparison.from_dict(comparison_data(report["comparison"])))
    settings = dict(found.settings)
    if report.get("command"):
        settings["command"] = report["command"]
    layouts = report.get("map") or {}
    systems = tuple(
        _system(report, system, place, found) for place, system in enumerate(found.systems)
    )
    maps = {view: _map(layout) for view, layout in layouts.items()}
    texts = _texts(report, 0)
    reference = None if texts is None and not layouts else Samples(texts, _vectors(layouts, 0))
    return replace(
        found, systems=systems, settings=settings, maps=maps, reference_samples=reference
    )


def comparison_data(data: Data) -> dict[str, Any]:
    """Give the JSON of a comparison with all that it must have."""
    data = with_own_signatures(data)
    tests = [read(SignificanceTest, _test(test)) for test in listed_tests(data)]
    return {
        "calipers": "0.1.0",
        "kind": "comparison",
        "warnings": [],
        **UNDECIDED,
        **data,
        "settings": {"views": ["meaning"], **data["settings"]},
        "reference": _set({"name": "human", **data.get("reference", {})}),
        "systems": [_set(system) for system in data["systems"]],
        "tests": {"all": columns_of(tests)},
    }


def listed_tests(data: Data) -> list[dict[str, Any]]:
    """Give the tests in the JSON of a comparison, or in data made by hand, one by one."""
    tests = data.get("tests") or ()
    if isinstance(tests, Mapping):
        return [row for columns in tests.values() for row in rows_of(columns)]
    return list(tests)


def score_data(score: Data | float) -> dict[str, Any]:
    """Give a score with all that it must have; a number stands for its value."""
    given = without_nan(dict(score) if isinstance(score, Mapping) else {"value": score})
    made = {**SCORE, **given, "seeds": given.get("seeds") or []}
    if made["interval"] is not None and made["level"] is None:
        made["level"] = 0.95
    if made.get("floor"):
        made["floor"] = {"size": 0, **FLOOR, **made["floor"]}
    return made


def without_nan(data: Any) -> Any:
    """Write numbers that JSON lacks as it does."""
    if isinstance(data, Mapping):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def explanation_of(data: Data) -> Explanation:
    """Make an explanation."""
    data = without_nan(data)
    made: dict[str, Any] = {**EXPLANATION, **data}
    made["topics"] = [{**REGION, **TOPIC, **topic} for topic in data.get("topics") or ()]
    made["cells"] = [{**REGION, **cell} for cell in data.get("cells") or ()]
    for name in ("outside", "copies"):
        made[name] = list(data.get(name) or ())
    return Explanation.from_dict(made)


def _set(data: Data) -> dict[str, Any]:
    words = {"mean": data["words"]["median"], **data["words"]} if data.get("words") else None
    scores = {key: score_data(score) for key, score in (data.get("scores") or {}).items()}
    made = {**SET, "seeds": [], **data, "words": words, "scores": scores}
    return {"n_given": made["n"], **made}


def _test(data: Data) -> dict[str, Any]:
    return {**TEST, **data}


def _system(report: Data, system: SystemResult, place: int, found: Comparison) -> SystemResult:
    name, layouts = system.name, report.get("map") or {}
    texts = _texts(report, place + 1)
    samples = (
        () if texts is None and not layouts else (Samples(texts, _vectors(layouts, place + 1)),)
    )
    k = int(found.settings.get("k") or 4)
    neighbours = {}
    for view, layout in layouts.items():
        inside = layout["sets"][place + 1].get("inside")
        if inside is not None:
            before = "" if view == found.settings["views"][0] else f"{view}."
            first = np.where(np.asarray(inside, bool), 1, k + 1)
            neighbours[f"{before}reference_first_k"] = first
    return replace(
        system,
        curves=_arrays(report, "curves", name),
        curve_errors=_arrays(report, "curve_errors", name),
        correlations=(report.get("correlations") or {}).get(name) or system.correlations,
        explained={
            view: explanation_of({"view": view, **told})
            for view, told in ((report.get("explanations") or {}).get(name) or {}).items()
        },
        samples=samples,
        neighbours=neighbours,
        against=Against(Samples(None, {}), Settings(k=k)) if layouts else None,
    )


def _arrays(report: Data, what: str, name: str) -> dict[str, Any]:
    """Curves that are given as rows; null is NaN."""
    curves = (report.get(what) or {}).get(name) or {}
    return {key: np.array(rows, dtype=float) for key, rows in curves.items() if rows is not None}


def _texts(report: Data, place: int) -> list[str] | None:
    excerpts: Sequence[Any] = report.get("excerpts") or ()
    return excerpts[place]["excerpts"] if place < len(excerpts) else None


def _vectors(layouts: Data, place: int) -> dict[str, Any]:
    sizes = {view: len(layout["sets"][place]["x"]) for view, layout in layouts.items()}
    return {view: np.zeros((size, 2), np.float32) for view, size in sizes.items()}


def _map(layout: Data) -> SampleMap:
    points = tuple(np.array([one["x"], one["y"]], dtype=float).T for one in layout["sets"])
    explained = layout.get("explained")
    return SampleMap(layout["method"], None if explained is None else tuple(explained), points)
