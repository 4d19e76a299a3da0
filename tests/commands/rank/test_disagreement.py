"""Systems that a truth and the metrics place at opposite ends."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calipers
from calipers.commands.rank.disagreement import disagreement

QUALITY = np.linspace(0, 1, 10)
NAMES = [f"s{place}" for place in range(10)]
TRUTH = dict(zip(NAMES, (100 * QUALITY).tolist(), strict=True))


def scores(*, of=None, metrics=3, sd=0.0, slope=1.0, better="higher"):
    """Scores that follow the truth but for those of some systems."""
    rng = np.random.default_rng(0)
    return [
        {
            "system": name,
            "metric": f"m{number}",
            "mean": (of or {}).get(name, slope * quality + rng.normal(0, 0.05)),
            "sd": sd,
            "better": better,
        }
        for number in range(metrics)
        for name, quality in zip(NAMES, QUALITY, strict=True)
    ]


def test_nobody_is_named_where_metrics_follow_the_truth():
    found = calipers.rank(scores(), truth=TRUTH)
    assert found["truth"].disagreements == ()
    assert "worth a look" not in str(found)


@pytest.mark.parametrize("slope", [1.0, 0.0])
def test_a_system_that_tops_the_truth_and_collapses_by_every_metric_is_named(slope):
    found = calipers.rank(scores(of={"s9": -3.0}, slope=slope), truth=TRUTH)
    (one,) = found["truth"].disagreements
    assert (one.system, one.place, one.n, one.compared) == ("s9", 1, 10, 3)
    assert one.places == {"m0": 10, "m1": 10, "m2": 10}
    line = "worth a look: s9 is 1st of 10 by truth, but last by all 3 metrics, beyond the noise"
    assert line in str(found).replace("\n  ", " ")


def test_a_system_that_is_last_by_the_truth_and_far_ahead_by_metrics_is_named():
    found = calipers.rank(scores(of={"s0": 4.0}, better="higher"), truth=TRUTH)
    (one,) = found["truth"].disagreements
    assert (one.system, one.place, set(one.places.values())) == ("s0", 10, {1.0})
    assert "s0 is last of 10 by truth, but 1st by all 3 metrics" in str(found)


def test_two_do_not_hide_each_other():
    found = calipers.rank(scores(of={"s9": -3.0, "s8": -3.1}), truth=TRUTH)
    assert [one.system for one in found["truth"].disagreements] == ["s8", "s9"]


def test_lower_is_better_is_read_so():
    collapsed = scores(of={"s9": 3.0}, slope=-1.0, better="lower")
    (one,) = calipers.rank(collapsed, truth=TRUTH)["truth"].disagreements
    assert (one.system, one.places["m0"]) == ("s9", 10)


def test_most_metrics_must_agree_on_it():
    mixed = [
        row if row["metric"] == "m0" else other
        for row, other in zip(scores(of={"s9": -3.0}), scores(), strict=True)
    ]
    assert calipers.rank(mixed, truth=TRUTH)["truth"].disagreements == ()
    mixed = [
        row if row["metric"] != "m0" else other
        for row, other in zip(scores(of={"s9": -3.0}), scores(), strict=True)
    ]
    found = calipers.rank(mixed, truth=TRUTH)
    assert "s9 is 1st of 10 by truth, but last by 2 of 3 metrics" in str(found)


def test_noise_of_either_side_may_explain_it():
    collapsed = scores(of={"s9": -3.0}, sd=5.0)
    assert calipers.rank(collapsed, truth=TRUTH)["truth"].disagreements == ()
    noisy = [{"system": name, "t": value, "t_sd": 60.0} for name, value in TRUTH.items()]
    assert calipers.rank(scores(of={"s9": -3.0}), truth=noisy)["t"].disagreements == ()


def test_one_that_is_behind_in_both_is_not_named():
    found = calipers.rank(scores(of={"s0": -9.0}), truth=TRUTH)
    assert found["truth"].disagreements == ()


def test_few_systems_and_constant_columns_say_nothing():
    true, values = np.arange(4.0), np.array([1.0, 2, 3, -9])
    assert not disagreement(values, true, values[None], true[None], level=0.95).any()
    same = np.ones(8)
    true = np.arange(8.0)
    assert not disagreement(same, true, same[None], true[None], level=0.95).any()
    assert not disagreement(true, same, true[None], same[None], level=0.95).any()


def test_chance_names_hardly_anybody():
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(200):
        values, true = rng.normal(size=(2, 12))
        named += bool(disagreement(values, true, values[None], true[None], level=0.95).any())
    assert named <= 10


def test_it_is_kept_in_json(tmp_path):
    found = calipers.rank(scores(of={"s9": -3.0}), truth=TRUTH)
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(found.to_dict()))
    again = calipers.load(path)
    assert again["truth"].disagreements == found["truth"].disagreements
    assert str(again) == str(found)


def test_rankings_of_older_versions_are_read(tmp_path):
    """They lack what was added since: disagreements, and what stands for items in clusters."""
    table = [
        {"a": a, "b": b, "winner": f"definitely {winner}", "item": f"{a}{b}", "rater": rater}
        for rater, winners in (("p", "ab"), ("q", "ba"), ("r", "ab"))
        for (a, b), winner in zip((("s0", "s1"), ("s2", "s1")), winners, strict=True)
    ]
    data = calipers.rank(scores(), judgements=table).to_dict()
    for truth in data["truths"].values():
        del truth["disagreements"]
        del truth["raters"]["texts"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(data))
    (truth,) = calipers.load(path)
    assert truth.disagreements == ()
    assert truth.raters.texts == "item"
