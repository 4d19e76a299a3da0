"""``history``: which runs are followed and tested, what is refused, and how often it errs."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers import Comparison, InputError, Score, history
from calipers.commands.history.plot import history_plot
from calipers.commands.history.result import History
from calipers.results.sets import SetSummary
from calipers.results.system import SystemResult
from calipers.uncertainty.spread import Component, Spread, confidence_interval

ERROR = 0.02
BLOCKS = 20


def spread_of(own, shared, error=ERROR):
    """A score whose error comes in equal parts from its own samples and from the reference."""
    parts = (("generated", own), ("reference", shared))
    return Spread(
        tuple(
            Component(source, draws * error / math.sqrt(2) / np.linalg.norm(draws))
            for source, draws in parts
        )
    )


def score(value, spread=None, *, better="higher", reference="aa", name="recall", n=400):
    spread = spread or spread_of(*np.random.default_rng(0).normal(size=(2, BLOCKS)))
    interval = confidence_interval(value, spread, level=0.95, bounds=(0.0, 1.0))
    signature = f"metric:{name}|k:4|n:{n}|m:400|reference:{reference}|calipers:0.1.0"
    error = spread.standard_error
    return Score(value, interval, 0.95, (0.0, 1.0), better, signature, standard_error=error)


def summary(name, n=400):
    return SetSummary(name, f"{name}.npy", n, n, None, f"hash of {name}")


def run(systems, *, settings=None, spreads=None):
    """A saved run: systems by name, each with its scores by key."""
    results = [
        SystemResult(summary(f"{name} {id(scores)}"), scores, {}, spreads=spreads or {})
        for name, scores in systems.items()
    ]
    results = [
        replace(result, summary=replace(result.summary, name=name))
        for name, result in zip(systems, results, strict=True)
    ]
    about = {"views": ["meaning"], "k": 4, "level": 0.95, **(settings or {})}
    return Comparison(summary("human"), tuple(results), about)


def runs_of(*values, key="recall", **made):
    return [run({"m": {key: score(value, **made)}}) for value in values]


def test_the_first_run_that_is_worse_is_named():
    result = history(runs_of(0.8, 0.79, 0.6, 0.8))
    recall = result["recall"]
    assert (recall.first_worse, recall.worse_than) == (2, 1)
    assert result.first_worse == 2
    assert [recall.change(at - 1, at).direction for at in (1, 2, 3)] == ["open", "worse", "better"]
    assert "run 3 is the first run with a worse Recall: 0.600, against 0.790 in run 2" in str(
        result
    )


def test_a_slow_decline_is_found_against_an_earlier_run():
    recall = history(runs_of(0.80, 0.76, 0.72, 0.68, 0.64))["recall"]
    neighbours = [recall.change(at - 1, at).direction for at in range(1, 5)]
    assert set(neighbours) == {"open"}
    assert recall.first_worse is not None
    assert recall.worse_than == 0


def test_noise_alone_names_no_run():
    result = history(runs_of(0.80, 0.79, 0.81, 0.80))
    assert result.first_worse is None
    assert "No run is worse than a run before it beyond the noise." in str(result)


def test_a_score_that_is_better_when_lower_becomes_worse_when_it_rises():
    result = history(runs_of(0.2, 0.5, 0.2, better="lower"))
    assert [change.direction for change in result["recall"].changes] == ["worse", "open", "better"]


def test_holm_is_over_all_changes_of_all_scores():
    one = history(runs_of(0.8, 0.7))["recall"].change(0, 1)
    two = [run({"m": {"recall": score(v), "coverage": score(0.5)}}) for v in (0.8, 0.7)]
    among = history(two)["recall"].change(0, 1)
    assert among.p_value == one.p_value
    assert among.adjusted_p_value == pytest.approx(2 * one.adjusted_p_value)


def test_what_the_reference_brings_to_both_runs_is_set_off():
    own = np.random.default_rng(1).normal(size=(3, BLOCKS))
    shared = [spread_of(own[at], own[2]) for at in (0, 1)]
    paired = [
        run({"m": {"recall": score(value, spread)}}, spreads={"recall": spread})
        for value, spread in zip((0.8, 0.75), shared, strict=True)
    ]
    apart = [
        run({"m": {"recall": score(value, spread)}})
        for value, spread in zip((0.8, 0.75), shared, strict=True)
    ]
    sharper, plain = history(paired), history(apart)
    assert sharper["recall"].change(0, 1).paired
    assert not plain["recall"].change(0, 1).paired
    error = plain["recall"].change(0, 1).standard_error
    assert sharper["recall"].change(0, 1).standard_error < 0.9 * error
    assert any("independent" in warning for warning in plain.warnings)
    assert not any("independent" in warning for warning in sharper.warnings)


def test_systems_are_those_of_every_run_or_the_only_one():
    both = [run({"a": {"recall": score(v)}, "b": {"recall": score(v)}}) for v in (0.8, 0.7)]
    assert [each.system for each in history(both)] == ["a", "b"]
    assert [each.system for each in history(both, system="b")] == ["b"]
    other = [run({"step 1": {"recall": score(0.8)}}), run({"step 2": {"recall": score(0.7)}})]
    assert [each.system for each in history(other)] == ["model"]
    with pytest.raises(InputError, match="no system is in every run"):
        history([both[0], other[0]])
    with pytest.raises(InputError, match="'c'"):
        history(both, system="c")


def test_a_run_is_called_by_its_tag():
    tagged = [
        run({"m": {"recall": score(value)}}, settings={"tag": tag})
        for value, tag in ((0.8, "v1"), (0.7, "v2"), (0.7, "v2"))
    ]
    assert [each.name for each in history(tagged).runs] == ["v1", "v2", "v2 (2)"]


def test_a_tag_is_kept_by_the_run_that_it_names():
    rows = np.random.default_rng(3).normal(size=(2, 60, 3))
    run_of_rows = calipers.compare(rows[0], {"m": rows[1]}, level=None, tag="v1")
    assert run_of_rows.settings["tag"] == "v1"
    assert calipers.measure_texts({"m": ["a b", "c d"]}, tag="v2").settings["tag"] == "v2"
    with pytest.raises(InputError, match=r"tag must be .*' '"):
        calipers.compare(rows[0], {"m": rows[1]}, tag=" ")


@pytest.mark.parametrize(
    ("second", "pin"),
    [({"reference": "bb"}, "reference: aa in run 1, bb in run 2"), ({"n": 300}, "n: 400")],
)
def test_scores_that_were_measured_differently_are_not_followed(second, pin):
    apart = [*runs_of(0.8), *runs_of(0.7, **second)]
    with pytest.raises(InputError, match=pin):
        history(apart)
    with pytest.raises(InputError, match=pin):
        history(apart, metrics="recall")
    for each in apart:
        each.systems[0].scores["coverage"] = score(0.5)
    result = history(apart)
    assert [each.score for each in result] == ["coverage"]
    assert any(warning.startswith("not followed: recall") for warning in result.warnings)


def test_a_score_without_a_better_end_is_refused():
    with pytest.raises(InputError, match="best where it equals that of the reference"):
        history(runs_of(0.8, 0.7, better="closest"), metrics="recall")


def test_what_has_no_interval_is_shown_and_not_tested():
    bare = run({"m": {"recall": replace(score(0.4), interval=None, standard_error=None)}})
    result = history([*runs_of(0.8), bare, *runs_of(0.7)])
    assert result["recall"].change(0, 1) is None
    assert result["recall"].change(0, 2) is not None
    assert any("not tested: recall of m in run 2" in warning for warning in result.warnings)


@pytest.mark.parametrize("given", [[], runs_of(0.8)])
def test_a_history_needs_two_runs(given):
    with pytest.raises(InputError, match=f"at least 2 saved runs.*found {len(given)}"):
        history(given)


def test_what_holds_no_scores_is_refused(tmp_path):
    result = history(runs_of(0.8, 0.7))
    result.save(tmp_path / "history.zip")
    with pytest.raises(InputError, match=r"history\.zip: holds a result of the kind 'history'"):
        history([tmp_path / "history.zip", tmp_path / "history.zip"])


def test_it_is_kept_and_read_again(tmp_path):
    result = history(runs_of(0.8, 0.6))
    result.save(tmp_path / "history.zip")
    (tmp_path / "history.json").write_text(json.dumps(result.to_dict()))
    for name in ("history.zip", "history.json"):
        again = calipers.load(tmp_path / name)
        assert isinstance(again, History)
        assert again.to_dict() == result.to_dict()
        assert str(again) == str(result)
    frame = result.to_frame()
    assert frame["first_worse"].tolist() == [False, True]
    assert result.to_dict()["kind"] == "history"


def test_the_figure_has_a_panel_for_each_score_and_a_ring_on_the_first_worse_run():
    both = [run({"m": {"recall": score(v), "coverage": score(0.5)}}) for v in (0.8, 0.8, 0.5)]
    first, second = history_plot(history(both)).figure().axes
    assert first.get_title(loc="left") == "Recall"
    line, ring = first.get_lines()
    assert line.get_ydata().tolist() == [0.8, 0.8, 0.5]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (2, 0.5)
    assert len(second.get_lines()) == 1


def test_on_the_command_line(calipers, tmp_path):
    for at, each in enumerate(runs_of(0.8, 0.6), 1):
        each.save(tmp_path / f"step-{at}.zip")
    done = calipers(
        "history", "step-1.zip", "step-2.zip", "--json", "h.json", "--html", "h.html", "--plot",
        "h.svg", "--save", "h.zip",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "step-2 is the first run with a worse Recall" in done.stdout
    data = json.loads((tmp_path / "h.json").read_text())
    assert data["kind"] == "history"
    assert [each["name"] for each in data["runs"]] == ["step-1", "step-2"]
    assert "<svg" in (tmp_path / "h.svg").read_text()
    assert "step-2 is the first run" in (tmp_path / "h.html").read_text()
    assert calipers("show", "h.zip").stdout == done.stdout
    refused = calipers("history", "step-1.zip")
    assert refused.exit_code == 2
    assert "at least 2 saved runs" in refused.stderr


@pytest.mark.slow
def test_a_history_without_change_names_a_run_in_at_most_one_of_twenty():
    """Six runs by three scores, drawn from what their spreads say, 400 times."""
    rng = np.random.default_rng(35)
    named = 0
    for _ in range(400):
        runs = [{} for _ in range(6)]
        for key in ("recall", "coverage", "precision"):
            reference = rng.normal(size=BLOCKS)
            common = rng.normal() * ERROR / math.sqrt(2)
            for scores in runs:
                value = 0.7 + common + rng.normal() * ERROR / math.sqrt(2)
                scores[key] = (value, spread_of(rng.normal(size=BLOCKS), reference))
        saved = [
            run(
                {"m": {key: score(*made) for key, made in scores.items()}},
                spreads={key: spread for key, (_, spread) in scores.items()},
            )
            for scores in runs
        ]
        named += history(saved).first_worse is not None
    # 400 draws at 5 %: at most 31 in 99 of 100 simulations
    assert named <= 31


@pytest.mark.slow
def test_a_fall_of_six_standard_errors_is_found():
    rng = np.random.default_rng(36)
    found = 0
    for _ in range(100):
        reference = rng.normal(size=BLOCKS)
        saved = []
        for level in (0.7, 0.7, 0.7, 0.58):
            spread = spread_of(rng.normal(size=BLOCKS), reference)
            value = level + rng.normal() * ERROR / math.sqrt(2)
            saved.append(run({"m": {"recall": score(value, spread)}}, spreads={"recall": spread}))
        found += history(saved).first_worse == 3
    assert found >= 80


def test_runs_of_other_scores_name_what_each_has():
    runs = [run({"a": {name: score(0.5, name=name)}}) for name in ("recall", "self_bleu")]
    with pytest.raises(InputError, match="no score in common: run 1 has recall; run 2 has self_bl"):
        history(runs)


def test_a_reason_that_several_scores_share_is_given_once():
    keys = ("precision", "recall")
    runs = [
        run({"a": {key: score(0.5, name=key, reference=reference) for key in keys}})
        for reference in ("aa", "bb")
    ]
    with pytest.raises(InputError, match="\nprecision, recall: not comparable between") as refused:
        history(runs)
    assert str(refused.value).count("not comparable") == 1
