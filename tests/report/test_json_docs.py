"""docs/json.md names the keys that are there, all of them, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from calipers.comparison import Comparison, SetSummary, SystemResult
from calipers.comparison.significance import Advice, SignificanceTest
from calipers.score import NoiseFloor, Score

PAGE = Path(__file__).parents[2] / "docs" / "json.md"


def documented(heading: str) -> set[str]:
    """The keys in the first columns of the tables of one section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.S | re.M)
    assert section, heading
    cells = [line.split("|")[1] for line in section[1].splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


@pytest.fixture(scope="module")
def data():
    """Everything that a comparison can hold, as a program reads it."""
    score = Score(
        0.5,
        interval=(0.4, 0.6),
        level=0.95,
        seeds=(0.4, 0.6),
        reference=0.7,
        per_sample=np.array([True, False]),
        floor=NoiseFloor(0.9, 0.01, 0.8, 0.02, 1, 10),
    )
    about = SetSummary("human", "human.jsonl", 2, 2, {"mean": 3.0, "median": 3.0}, "ab" * 32)
    neighbours = {"nearest_reference": np.array([0, 1])}
    system = SystemResult(about, {"recall": score}, {}, ("s0", "s1"), neighbours=neighbours)
    test = SignificanceTest("human", "reference", "mmd", 0.1, None, 0.04, 0.04)
    advice = Advice("human", "recall", (1, 2), (0.4, 0.5), 0.6, -0.1, 0.01, True)
    whole = Comparison(about, (system,), {}, train=about, tests=(test,), advice=(advice,))
    return json.loads(json.dumps(whole.to_dict(per_sample=True), allow_nan=False))


def test_every_key_of_a_comparison_is_documented_and_none_else(data):
    score = data["systems"][0]["scores"]["recall"]
    assert documented("Comparison") == set(data)
    assert documented("Sets") == set(data["systems"][0])
    assert set(data["reference"]) < documented("Sets")
    assert set(data["train"]) < documented("Sets")
    assert documented("Scores") == set(score)
    assert documented("Noise floor") == set(score["floor"])
    assert documented("Tests") == set(data["tests"][0])
    assert documented("Advice") == set(data["advice"][0])
