"""Small report data of the shape that ``Comparison.report_data`` gives, friendly or hostile.

Scores, intervals, tests and checks come from a real comparison of 60 short texts in each set,
embedded by a few fixed lines of arithmetic; explanations and the map are made up, so that these
tests are about the page alone. Every word that a person may have put in can be replaced.
"""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import calipers
from calipers.embedders import EncodedBatch
from calipers.samples import SampleSet

N = 60
NAMES = ("model_a", "model_b", "model_c")
GROUPS = ("sport", "world")
VIEWS = ("meaning", "form")
TOPICS = {
    "sport": (
        "match",
        "goal",
        "coach",
        "season",
        "league",
        "striker",
        "final",
        "stadium",
        "team",
        "score",
    ),
    "world": (
        "minister",
        "treaty",
        "border",
        "election",
        "embassy",
        "summit",
        "protest",
        "army",
        "council",
        "vote",
    ),
    "science": (
        "quasar",
        "protein",
        "telescope",
        "enzyme",
        "neuron",
        "laser",
        "fossil",
        "orbit",
        "genome",
        "crystal",
    ),
}
MIXTURES = {
    "reference": ("sport", "world"),
    "model_a": ("world",),
    "model_b": ("sport", "world"),
    "model_c": ("world", "science"),
}
COMMAND = "calipers compare -r human.jsonl model_a.jsonl --html report.html"


class Letters:
    """Embeds a text by its words ("meaning") and by its letters ("form"), with no model."""

    name = "letters"
    views = VIEWS
    identity = "letters of the browser tests"
    signature = {"embedder": "letters"}  # noqa: RUF012 - the protocol asks for a plain mapping

    def embed(self, samples: Sequence[str]) -> EncodedBatch:
        rows = [[vector(text.split()), vector(list(text))] for text in samples]
        views = np.asarray(rows, dtype=np.float32).transpose(1, 0, 2)
        return EncodedBatch(
            dict(zip(VIEWS, views, strict=True)), np.zeros(len(samples), dtype=bool)
        )


def vector(parts: Sequence[str]) -> np.ndarray:
    """Count the parts in twelve bins."""
    counts = np.zeros(12)
    for part in parts:
        counts[zlib.crc32(part.encode()) % 12] += 1
    return counts + 1e-3


def plain_text(name: str, row: int) -> str:
    """The text of a row: ten words of its topic, and words that no other row has."""
    topics = MIXTURES.get(name, ("world",))
    rng = np.random.default_rng(zlib.crc32(f"{name} {row}".encode()))
    words = rng.choice(TOPICS[topics[row % len(topics)]], 10)
    return f"{' '.join(words)} {name}-row-{row}"


def compared() -> dict[str, Any]:
    """Compare the sets for real; plain data of the result and of its curves."""
    reference, *systems = (
        SampleSet.from_texts(
            [plain_text(name, row) for row in range(N)],
            name=name,
            groups=[MIXTURES[name][row % len(MIXTURES[name])] for row in range(N)],
        )
        for name in MIXTURES
    )
    result = calipers.compare(
        reference,
        dict(zip(NAMES, systems, strict=True)),
        embedder=Letters(),
        group="topic",
        k=2,  # so that intervals and tests between systems are given for so few
        cache=False,
        threads=1,
    )
    curves = {
        system.name: {
            key: points[:: max(len(points) // 50, 1)].tolist()
            for key, points in system.curves.items()
        }
        for system in result
    }
    return {"comparison": result.to_dict(), "curves": curves}


TextOf = Callable[[str, int], str | None]


def report_data(
    made: dict[str, Any],
    *,
    text: TextOf = plain_text,
    names: Sequence[str] = NAMES,
    groups: Sequence[str] = GROUPS,
    words: Sequence[str] = (),
    warnings: Sequence[str] = (),
    command: str | None = COMMAND,
    redacted: bool = False,
) -> dict[str, Any]:
    """Build the whole report data on what `compared` gave, with these words in it."""
    if redacted:
        text = _no_text
    renamed = dict(zip(NAMES, names, strict=True))
    regrouped = dict(zip(GROUPS, groups, strict=True))
    comparison = _relabelled(made["comparison"], renamed, regrouped)
    comparison["warnings"] = [*comparison["warnings"], *warnings]
    for row in (comparison["reference"], *comparison["systems"]):
        row["warnings"] = [*row["warnings"], *warnings]
    curves = {renamed[name]: curve for name, curve in made["curves"].items()}
    return {
        "comparison": comparison,
        "command": command,
        "curves": curves,
        "curve_errors": {
            name: {key: [[0.02] * len(row) for row in rows] for key, rows in curve.items()}
            for name, curve in curves.items()
        },
        "correlations": {name: {"precision|recall": 0.4} for name in names},
        "explanations": {
            renamed[name]: {view: _explained(name, view, text, words, warnings) for view in VIEWS}
            for name in NAMES
        },
        "map": {view: _map(view, names) for view in VIEWS},
        "excerpts": [
            {"name": shown, "excerpts": None if redacted else _excerpts(name, text)}
            for name, shown in zip(("reference", *NAMES), ("reference", *names), strict=True)
        ],
        "redacted": redacted,
    }


def _no_text(name: str, row: int) -> None:
    return None


def _excerpts(name: str, text: TextOf) -> list[str]:
    return [(text(name, row) or "")[:200] for row in range(N)]


def _relabelled(data: Any, names: dict[str, str], groups: dict[str, str]) -> Any:
    """Put other system names and group labels wherever the old ones stand as words of their own."""
    if isinstance(data, dict):
        return {_label(key, names, groups): _relabelled(data[key], names, groups) for key in data}
    if isinstance(data, list):
        return [_relabelled(each, names, groups) for each in data]
    return _label(data, names, groups) if isinstance(data, str) else copy.copy(data)


def _label(word: str, names: dict[str, str], groups: dict[str, str]) -> str:
    metric, separator, group = word.partition(":group=")
    if separator:
        return f"{metric}{separator}{groups.get(group, group)}"
    return names.get(word, groups.get(word, word))


def _sample(name: str, row: int, text: TextOf) -> dict[str, Any]:
    return {"row": row, "text": text(name, row)}


def _near(row: int, text: TextOf) -> dict[str, Any]:
    return {**_sample("reference", row, text), "distance": 0.25 + row / 1000}


def _explained(
    name: str, view: str, text: TextOf, words: Sequence[str], notes: Sequence[str]
) -> dict[str, Any]:
    topics = [_region(name, place, text, words) for place in range(4)]
    return {
        "view": view,
        "n": N,
        "m": N,
        "k": 2,
        "score": 0.4,
        "topics": topics,
        "cells": topics[:3],
        "outside": [_outlier(name, row, text) for row in range(0, 40, 4)],
        "outside_count": 20,
        "uncovered_count": 15,
        "copies": [
            {**_sample(name, row, text), "distance": 0.01, "source": _sample("reference", 3, text)}
            for row in (1, 5)
        ],
        "copies_count": 2,
        "notes": list(notes),
        "level": 0.95,
    }


def _outlier(name: str, row: int, text: TextOf) -> dict[str, Any]:
    nearest = [_near((row + step) % N, text) for step in (1, 2, 3)]
    realism = round(0.2 + row / 100, 4)
    return {**_sample(name, row, text), "realism": realism, "first_k": 6, "nearest": nearest}


def _region(name: str, place: int, text: TextOf, words: Sequence[str]) -> dict[str, Any]:
    """Sport has too little, science too much; the shares fall, the last is not significant."""
    topic = ("sport", "science", "world", "sport")[place]
    lacking = place % 2 == 0
    rows = range(place * 3, place * 3 + 3)
    return {
        "keywords": [*words, *TOPICS[topic][: 6 - len(words)]],
        "reference": 30 if lacking else 2,
        "generated": 3 if lacking else 28,
        "expected": 0.5 if lacking else 0.05,
        "produced": 0.05 if lacking else 0.45,
        "contribution": 0.2 / (place + 1),
        "share": 0.5 / (place + 1),
        "direction": "under" if lacking else "over",
        "reference_share": 0.5 if lacking else 0.05,
        "generated_share": 0.05 if lacking else 0.45,
        "ratio": 0.1 if lacking else 9.0,
        "interval": [0.04, 0.25] if lacking else [4.0, 21.0],
        "p_value": 0.0001,
        "adjusted_p_value": 0.0004,
        "significant": place < 3,
        "uncovered": 9,
        "outside": 4,
        "cells": [place],
        "reference_medoids": [_sample("reference", row, text) for row in rows],
        "generated_medoids": [_sample(name, row, text) for row in rows],
        "uncovered_samples": [_sample("reference", row + 20, text) for row in rows],
    }


def _map(view: str, names: Sequence[str]) -> dict[str, Any]:
    """Points on a grid, every set on its own lines, so that no two points share a place."""
    rows = np.arange(N)
    sets = [
        {
            "name": name,
            "role": "generated" if place else "reference",
            "rows": rows.tolist(),
            "x": (rows % 10 / 10.0).tolist(),
            "y": (rows // 10 / 10.0 + place / 40 + (view == "form")).tolist(),
            "inside": (rows % 3 > 0).astype(int).tolist() if place else None,
        }
        for place, name in enumerate(("reference", *names))
    ]
    return {"method": "pca", "explained": [0.2, 0.1], "sets": sets}


def as_if_read(data: dict[str, Any]) -> dict[str, Any]:
    """The data as it comes back from a saved file: through JSON."""
    read: dict[str, Any] = json.loads(json.dumps(data))
    return read
