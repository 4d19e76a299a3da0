"""Comparisons as data, made by hand: what a table shows can be read off here."""

from __future__ import annotations

from collections.abc import Callable
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
    about = {"source": f"{name}.jsonl", "n": 500, "n_given": 500, "content_hash": "0"}
    words = {"words": {"mean": 140.0, "median": 140.0}}
    return {"name": name, **about, **words, "seeds": [], "scores": scores, "warnings": [], **more}


def comparison(systems: list[Data], **settings: Any) -> Data:
    """A whole comparison as JSON holds it."""
    reference = system("human", {}, words={"mean": 151.0, "median": 150.0})
    chosen = {"embedder": "minilm", "views": ["meaning", "form"], "metrics": [], "seed": 7}
    sizes = {"sizes": "equal", "max_samples": None}
    return {
        "calipers": "0.1.0",
        "settings": {**chosen, **sizes, **settings},
        "reference": reference,
        "systems": systems,
        "warnings": [],
    }


HEADLINE = ("precision", "recall", "coverage", "mauve_star")


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


@pytest.fixture
def make() -> dict[str, Callable[..., Data]]:
    """Give the makers, for tests that need data of their own."""
    return {"score": score, "system": system, "comparison": comparison, "both_views": both_views}
