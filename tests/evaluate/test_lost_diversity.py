"""What the verdict says of diversity, where the answer is known: a topic gone, narrow samples."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import calipers
from calipers.report.render.csv import scores_csv

N, D = 200, 24
pytestmark = pytest.mark.slow


def topics(rng: np.random.Generator, shares: tuple[float, float], width: float = 1.0) -> np.ndarray:
    """Two topics of heavy tails, as embeddings of texts have; on the unit sphere."""
    counts = [round(share * N) for share in shares]
    parts = []
    for sign, count in zip((1.0, -1.0), counts, strict=True):
        tails = rng.standard_gamma(1.5, (count, 1)) ** -0.5
        rows = width * rng.standard_normal((count, D)) * tails
        rows[:, 0] += 3 * sign
        parts.append(rows)
    rows = np.concatenate(parts)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def run() -> calipers.Comparison:
    rng = np.random.default_rng(3)
    systems = {
        "equal": topics(rng, (0.5, 0.5)),
        "one_topic": topics(rng, (1.0, 0.0)),
        "narrow": topics(rng, (0.5, 0.5), width=0.45),
    }
    return calipers.compare(topics(rng, (0.5, 0.5)), systems, seed=1, floor=True, level=None)


def test_recall_and_coverage_are_shown_unasked(run: calipers.Comparison) -> None:
    first = str(run)
    assert "Recall" in first
    assert "Coverage" in first


def test_coverage_sees_the_missing_topic(run: calipers.Comparison) -> None:
    lost, equal = run["one_topic"], run["equal"]
    assert lost["coverage"].value < 0.7 * equal["coverage"].value
    assert not lost["coverage"].floor.inside
    assert equal["coverage"].floor.inside


def test_recall_sees_narrow_samples(run: calipers.Comparison) -> None:
    narrow, equal = run["narrow"], run["equal"]
    assert narrow["recall"].value < 0.7 * equal["recall"].value
    assert narrow["precision"].value >= equal["precision"].value
    assert not narrow["recall"].floor.inside


def test_the_verdict_names_both_and_not_the_equal_one(run: calipers.Comparison) -> None:
    told = {*run.verdict.lost, *run.verdict.collapsed}
    assert told == {"one_topic", "narrow"}
    (sentence,) = [s for s in run.verdict.sentences if "beyond the noise floor" in s]
    score = run["one_topic"]["coverage"]
    assert (
        f"one_topic (coverage {score.floor.beside:.2f}, floor {score.floor.value:.2f})" in sentence
    )


def test_floor_and_systems_are_of_one_size(run: calipers.Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(scores_csv(run))))
    held = [row for row in rows if row["noise_floor"]]
    assert {row["noise_floor_n"] for row in held} == {str(N // 2)}
    for row in held:
        floor = run[row["system"]][row["key"]].floor
        assert float(row["at_noise_floor_n"]) == floor.beside
        assert row["within_noise_floor"] == str(floor.inside).lower()
