"""Advice on the number of samples: nested parts with the full run's cells, and its warnings."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calipers
from calipers.catalogue.choosing import choose
from calipers.catalogue.settings import Settings
from calipers.evaluate.advice import (
    NestedParts,
    advise,
    tolerance,
    unlevelled,
    with_standard_errors,
)
from calipers.evaluate.embedding import embed_sides, open_embedder
from calipers.evaluate.inputs import comparison_inputs, few_samples
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent
from calipers.results.comparison import Advice
from calipers.samples import as_sample_set
from calipers.uncertainty.plateau import TOLERANCE

SHOWN = ("precision", "recall", "mauve_star", "frechet_distance")
BARE = {"level": None, "floor": False}


def prepared(reference, generated):
    inputs = comparison_inputs(reference, generated, CompareOptions(), keep_sizes=True, seed=0)
    model = open_embedder(CompareOptions(), inputs.sets)
    return inputs, embed_sides(inputs, model, None, Silent()), model.views


def advised(reference, generated, *, shown=SHOWN, orders=1, **options):
    inputs, embedded, views = prepared(reference, generated)
    settings = Settings(**{"threads": 1, "normalise": "none"} | options)
    choices = choose(None, views)
    return advise(inputs, embedded, choices, settings, Silent(), shown=shown, orders=orders)


@pytest.fixture
def reference(rng):
    return rng.standard_normal((160, 4)) + 1


@pytest.fixture
def generated(rng):
    return rng.standard_normal((160, 4)) * 0.7 + 1


@pytest.mark.slow
def test_the_last_value_is_that_of_the_comparison(reference, generated):
    compared = calipers.compare(reference, {"g": generated}, metrics=SHOWN, k=3, seed=5, **BARE)
    found = advised(reference, {"g": generated}, k=3, seed=5)
    assert [each.score for each in found] == list(SHOWN)
    for each in found:
        assert each.system == "g"
        assert each.sizes == (20, 40, 80, 160)
        assert each.values[-1] == pytest.approx(compared["g"][each.score].value, abs=1e-6)


def test_parts_are_compared_with_the_cells_of_all_samples(reference, generated, monkeypatch):
    seen = []
    score = NestedParts._score

    def watched(self, file, rows, others, *rest):
        seen.append((rows, others))
        return score(self, file, rows, others, *rest)

    monkeypatch.setattr(NestedParts, "_score", watched)
    (found,) = advised(reference, {"g": generated}, shown=["mauve_star"])
    assert [len(rows) for rows, _ in seen] == [20] * 8 + [40] * 4 + [80] * 2 + [160]
    for place, (rows, others) in enumerate(seen[8:12]):
        union = np.sort(np.concatenate([seen[2 * place][0], seen[2 * place + 1][0]]))
        assert union.tolist() == rows.tolist() == others.tolist()
    halves = [
        calipers.compare(
            reference[rows], generated[others], metrics="mauve_star", buckets=16, **BARE
        )
        for rows, others in seen[12:14]
    ]
    mean = np.mean([each["generated"]["mauve_star"].value for each in halves])
    assert found.values[-2] == pytest.approx(mean, abs=1e-6)


def test_bias_is_the_way_to_the_limit(reference, generated):
    # Among rows as they are every generated row is good, and precision does not move
    for each in advised(reference, {"g": generated}, projection="union"):
        if each.score == "frechet_distance":
            limit = 2 * each.values[-1] - each.values[-2]
            assert each.limit == pytest.approx(limit)
            assert each.bias == pytest.approx(each.values[-1] - limit)
            assert each.bias > 0  # a distance of few samples is too large
        assert each.spread > 0


def test_equal_distributions_lead_to_mauve_one(rng):
    reference, generated = rng.standard_normal((2, 600, 3))
    (found,) = advised(reference, {"g": generated}, shown=["mauve_star"], orders=2, threads=2)
    assert found.values[-1] < 0.99
    assert found.limit == pytest.approx(1, abs=0.02)
    assert found.bias == pytest.approx(found.values[-1] - found.limit)
    assert not found.plateau


def test_one_advice_for_each_system_and_score_on_show(reference, generated):
    systems = {"a": generated, "b": generated + 1}
    found = advised(reference, systems, shown=["recall", "no_such_score"])
    assert [(each.system, each.score) for each in found] == [("a", "recall"), ("b", "recall")]
    alone = advised(reference, {"b": generated + 1}, shown=["recall"])
    assert found[1] == alone[0]
    assert advised(reference, systems, shown=[]) == ()


def test_both_sides_are_cut_and_sizes_are_those_of_the_smaller(reference, generated):
    found = advised(reference, {"g": generated[:83]}, shown=["recall"])
    assert found[0].sizes == (10, 20, 41, 83)


def test_files_take_the_orders_in_turn(reference, generated):
    sets = [as_sample_set(rows, name="g") for rows in (generated, generated + 2)]
    (found,) = advised(reference, {"g": sets}, shown=["recall"], orders=1)
    compared = calipers.compare(reference, {"g": sets}, metrics=["recall"], **BARE)
    assert found.values[-1] == pytest.approx(compared["g"]["recall"].value)


def test_sets_too_small_for_eighths_get_no_advice(reference, generated):
    assert advised(reference, {"g": generated[:39]}) == ()
    assert len(advised(reference, {"g": generated[:40]})) == 4


def test_cells_beyond_the_smallest_parts_leave_no_limit(reference, generated):
    (found,) = advised(reference, {"g": generated}, shown=["mauve_star"], buckets=60)
    assert math.isnan(found.limit)
    assert math.isnan(found.bias)
    assert found.to_dict()["limit"] is None


def test_the_spread_of_the_scores_themselves_goes_first(reference, generated):
    found = advised(reference, {"g": generated}, shown=["recall", "precision"])
    compared = calipers.compare(reference, {"g": generated}, metrics=["recall"], **BARE)
    object.__setattr__(compared["g"]["recall"], "standard_error", 0.25)
    precision, recall = with_standard_errors(found, compared)
    assert recall.spread == 0.25
    assert precision == found[0]


@pytest.mark.parametrize(
    ("end", "bounds", "allowed"),
    [(0.9, (0, 1), TOLERANCE), (40.0, (0, math.inf), 2.0), (-0.02, (-math.inf, math.inf), 0.001)],
)
def test_the_tolerance_is_that_of_sweeps(end, bounds, allowed):
    assert tolerance(end, bounds) == pytest.approx(allowed)


def test_small_sets_are_named_with_their_sizes(rng):
    rows = rng.standard_normal((1_200, 2))
    inputs, _, _ = prepared(rows, {"a": rows[:999], "b": rows[:1_000]})
    (caution,) = few_samples(inputs)
    warning = caution.text
    assert (caution.kind, caution.brief) == ("few_samples", "fewer than 1,000 samples")
    assert warning.startswith("fewer than 1,000 samples in a (999): ")
    assert "section 8" in warning
    assert "where both sets are small" in warning
    assert "where only the generated set is small, coverage falls" in warning
    assert few_samples(prepared(rows, {"b": rows[:1_000]})[0]) == ()


def test_scores_that_still_move_are_named_with_their_step(rng):
    rows = rng.standard_normal((1_200, 2))
    inputs, _, _ = prepared(rows, {"a": rows, "b": rows})
    sizes = (150, 300, 600, 1_200)

    def advice(system, score, plateau):
        return Advice(system, score, sizes, (0.7, 0.8, 0.85, 0.9), 0.95, -0.05, 0.01, plateau)

    found = (advice("a", "recall", False), advice("a", "precision", True), advice("b", "x", True))
    assert (*few_samples(inputs), *unlevelled(found)) == (
        "a: these scores still changed from 600 to 1,200 samples: recall by +0.05; they would "
        "change further with more samples",
    )
