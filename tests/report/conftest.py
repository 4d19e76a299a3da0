"""Comparisons as data, made by hand: what a table shows can be read off here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

Data = dict[str, Any]


def score(value: float | None, **more: Any) -> Data:
    """One score as JSON holds it."""
    plain = {"interval": None, "level": None, "noise_floor": None, "range": [0.0, 1.0]}
    rest = {"better": "higher", "signature": "metric:x", "reason": None, "seeds": []}
    return {"value": value, **plain, **rest, **more}


def system(name: str, scores: Data, **more: Any) -> Data:
    """One system as JSON holds it."""
    about = {"source": f"{name}.jsonl", "n": 500, "n_given": 500, "content_hash": f"{name}0"}
    words = {"words": {"mean": 140.0, "median": 140.0}}
    return {"name": name, **about, **words, "seeds": [], "scores": scores, "warnings": [], **more}


def comparison(systems: list[Data], **settings: Any) -> Data:
    """A whole comparison as JSON holds it."""
    reference = system("human", {}, words={"mean": 151.0, "median": 150.0})
    chosen = {"embedder": "minilm", "views": ["meaning", "form"], "metrics": [], "seed": 7}
    sizes = {"sizes": "equal", "max_samples": None}
    four = any(set(HEADLINE) <= set(row["scores"]) for row in systems)
    asked = {"metrics_shown": list(HEADLINE) if four else None}
    return {
        "calipers": "0.1.0",
        "settings": {**chosen, **sizes, **asked, **settings},
        "reference": reference,
        "systems": systems,
        "warnings": [],
        "shown": [],
        "findings": [],
        "verdict": {"cautions": []},
    }


HEADLINE = ("precision", "recall", "coverage", "mauve_star")
"""What most of these comparisons were asked for: four columns a view."""


def both_views(*values: float) -> Data:
    """Give the headline scores: four by meaning, then four by form."""
    keys = [*HEADLINE, *(f"form.{key}" for key in HEADLINE)]
    return {key: score(value) for key, value in zip(keys, values, strict=True)}


@pytest.fixture
def two_systems() -> Data:
    """model_a is best by meaning, model_b by form; they tie in coverage by meaning."""
    return comparison(
        [
            system("model_a", both_views(0.91, 0.8, 0.75, 0.97, 0.61, 0.32, 0.13, 0.24)),
            system("model_b", both_views(0.9, 0.7, 0.75, 0.6, 0.75, 0.46, 0.57, 0.68)),
        ]
    )


@pytest.fixture(scope="session")
def make() -> dict[str, Callable[..., Data]]:
    """Give the makers, for tests that need data of their own."""
    makers = {"score": score, "system": system, "comparison": comparison, "sure": sure}
    return {**makers, "both_views": both_views, "significance": significance}


def significance(a: str, b: str, key: str, difference: float | None, p: float | None) -> Data:
    """One test as JSON holds it; an interval that agrees with p."""
    half = None if difference is None else abs(difference) * (0.7 if (p or 0) < 0.05 else 1.8)
    interval = None if difference is None else [difference - half, difference + half]
    numbers = {"difference": difference, "interval": interval, "p_value": p, "adjusted_p_value": p}
    size = 11843 if p is not None and p >= 0.05 else None
    rest = {"paired": False, "separating_n": size, "reason": None if p is not None else "too few"}
    return {"a": a, "b": b, "score": key, **numbers, **rest}


def _sure(row: int, place: int, key: str) -> Data:
    """A score with everything; precision close to 1, so that its interval is lopsided."""
    value = 0.985 if key == "precision" and row == 0 else max(0.05, 0.9 - 0.04 * row - 0.06 * place)
    half = (0.011 + 0.002 * row) * (2 if key == "form.recall" else 1)  # there they overlap
    low, high = (0.955, 0.995) if value > 0.97 else (value - half, value + half)
    floor = {"value": 0.951 - 0.03 * place, "spread": 0.004, "size": 950, "splits": 10}
    floor |= {"beside": floor["value"] - 0.006 * row * place, "beside_spread": 0.005}
    floor["inside"] = abs(floor["beside"] - floor["value"]) <= 2 * floor["spread"]
    more = {"standard_error": half / 2, "sources": {"reference": half / 3, "generated": half / 3}}
    approximate = key.endswith("coverage")
    return score(
        value, interval=[low, high], level=0.95, floor=floor, approximate=approximate, **more
    )


def sure(names: list[str], **settings: Any) -> Data:
    """A comparison with intervals, floor, tests, seeds of the last system, and advice."""
    keys = list(both_views(*[0.5] * 8))
    scores = [
        {key: _sure(row, place % 4, key) for place, key in enumerate(keys)}
        for row in range(len(names))
    ]
    data = comparison([system(*pair) for pair in zip(names, scores, strict=True)], **settings)
    data["systems"][-1]["seeds"] = ["s0.jsonl", "s1.jsonl", "s2.jsonl"]
    for each in scores[-1].values():
        each["seeds"] = [each["value"] + part for part in (-0.0042, 0.0, 0.0042)]
    data["tests"] = [*_pairs(names, keys, scores), *_against(names)]
    data["advice"] = [_advised(name, key, scores[0][key]) for name in names for key in keys[:2]]
    return data


def _pairs(names: list[str], keys: list[str], scores: list[Data]) -> list[Data]:
    return [
        significance(
            names[a],
            names[b],
            key,
            scores[a][key]["value"] - scores[b][key]["value"],
            0.41 if b == a + 1 and place % 2 else 0.0312 if b == a + 1 else 0.00001,
        )
        for a in range(len(names))
        for b in range(a + 1, len(names))
        for place, key in enumerate(keys)
    ]


def _against(names: list[str]) -> list[Data]:
    keys = ("classifier_accuracy", "mmd", "form.classifier_accuracy", "form.mmd")
    values = (0.513, 0.0001234, 0.761, 0.02345)
    return [
        significance(name, "reference", key, value, 0.41 if row + place < 2 else 0.00001)
        for row, name in enumerate(names)
        for place, (key, value) in enumerate(zip(keys, values, strict=True))
    ]


def _advised(name: str, key: str, its: Data) -> Data:
    now = its["value"]
    limit = None if key == "recall" else now - 0.02
    path = {"sizes": [250, 500, 1000], "values": [now + 0.06, now + 0.03, now], "limit": limit}
    settled = {"bias": None if limit is None else 0.02, "spread": 0.005, "plateau": limit is None}
    return {"system": name, "score": key, **path, **settled}


@pytest.fixture
def four_sure() -> Data:
    """Four systems with intervals, floors, tests, seeds and advice."""
    return sure(["model_a", "model_b", "model_c", "model_d"])


@pytest.fixture
def report() -> Callable[..., Data]:
    """Give the maker of report data: systems by name, with two groups, topics and a map."""

    def build(*names: str, views: Sequence[str] = ("meaning",)) -> Data:
        systems = [system(name, _drawn_scores(place)) for place, name in enumerate(names)]
        data = comparison(systems, views=list(views), group="topic", k=4)
        data["reference"]["groups"] = {"World": 300, "Sports": 200}
        sets = [_mapped(name, "generated", [1, 0, 1], place) for place, name in enumerate(names)]
        layout = {"method": "pca", "explained": [0.25, 0.125]}
        return {
            "comparison": data,
            "explanations": {name: {views[0]: _explained()} for name in names},
            "map": {views[0]: {**layout, "sets": [_mapped("human", "reference", [1] * 4), *sets]}},
        }

    return build


def _drawn_scores(place: int) -> Data:
    value = 0.8 - 0.0625 * place
    sure = {"interval": [value - 0.125, value + 0.0625], "level": 0.95}
    groups = {"World": value, "Sports": value / 2}
    return {
        **{key: score(value, **sure) for key in ("precision", "recall", "coverage", "mauve_star")},
        "frechet_distance": score(10.0 ** (place - 1), range=[0.0, None], better="lower"),
        "type_token": score(0.5, reference=0.75, gap=0.25, better="closest"),
        **{f"recall:group={g}": score(v, **sure) for g, v in groups.items()},
        **{f"precision:group={g}": score(None if g == "World" else v) for g, v in groups.items()},
    }


def _region(
    words: list[str], expected: float, produced: float, contribution: float, direction: str
) -> Data:
    return {
        "keywords": words,
        "expected": expected,
        "produced": produced,
        "contribution": contribution,
        "share": contribution / 0.1,
        "direction": direction,
        "cells": [7],
        "reference_share": expected,
        "generated_share": produced,
        "ratio": produced / expected,
        "interval": [0.8 * produced / expected, 1.25 * produced / expected],
        "p_value": 0.5 if direction == "even" else 0.001,
        "adjusted_p_value": 1.0 if direction == "even" else 0.003,
        "significant": direction != "even",
    }


def _explained() -> Data:
    topics = [
        _region(["rest"], 0.3, 0.3, 0.01, "even"),
        _region(["sport", "ball"], 0.5, 0.1, 0.06, "under"),
        _region([], 0.2, 0.6, 0.03, "over"),
    ]
    return {"score": 0.1, "topics": topics, "cells": topics[:1], "notes": [], "level": 0.95}


def _mapped(name: str, role: str, inside: list[int], shift: float = 0.0) -> Data:
    size = len(inside)
    coordinates = {"x": [shift + i for i in range(size)], "y": [2.0 * i for i in range(size)]}
    return {"name": name, "role": role, "rows": list(range(size)), **coordinates, "inside": inside}
