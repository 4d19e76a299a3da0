"""``check``: which scores are held against which limits, and what is refused."""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import calipers
from calipers import Check, Comparison, InputError, Score, check
from calipers.results.sets import SetSummary
from calipers.results.system import SystemResult
from calipers.results.texts import TextComparison, TextResult
from calipers.uncertainty.spread import Component, Spread, confidence_interval

PINS = "k:4|n:400|m:400|reference:{reference}|calipers:0.1.0"
NAMES = ("recall", "frechet_distance", "form.recall")
DISTANCE = (0.0, math.inf)


def score(value, error=0.02, bounds=(0.0, 1.0), *, reference="aa", level=0.95, name="recall"):
    deviations = np.resize([1.0, -1.0], 20)
    part = Component("generated", deviations * error / np.linalg.norm(deviations))
    interval = confidence_interval(value, Spread((part,)), level=level, bounds=bounds)
    signature = f"metric:{name}|{PINS.format(reference=reference)}"
    return Score(
        value,
        interval,
        level,
        bounds,
        "higher",
        signature,
        standard_error=error if interval else None,
    )


def summary(name, n=400, digest=""):
    return SetSummary(name, f"{name}.npy", n, n, None, digest or f"hash of {name}")


def comparison(systems, *, n=400, settings=None, **made):
    """A run of systems by their scores: recall, Fréchet distance and recall by form."""
    results = []
    for name, values in systems.items():
        recall, distance, form = (*values, 3.0, 0.6)[:3]
        scores = {
            "recall": score(recall, **made),
            "frechet_distance": score(distance, 0.3, DISTANCE, **made, name="frechet_distance"),
            "form.recall": score(form, **made),
        }
        results.append(SystemResult(summary(name, n), scores, {}))
    about = {"views": ["meaning", "form"], "k": 4, "level": 0.95, **(settings or {})}
    return Comparison(summary("human", n), tuple(results), about)


ONE = {"a": (0.7,)}
TWO = {"a": (0.7,), "b": (0.9,)}


# ------------------------------------------------------------------ outcomes


@pytest.mark.parametrize(
    ("fail_if", "outcome", "code"),
    [
        ("recall < 0.8", "fails", 1),
        ("recall < 0.6", "passes", 0),
        ("recall < 0.71", "inconclusive", 3),
        ("recall > 0.6", "fails", 1),
        ("form.recall <= 0.5", "passes", 0),
        ("meaning.recall < 0.8", "fails", 1),
        ("frechet_distance > 2", "fails", 1),
        (["recall < 0.6", "frechet_distance > 9"], "passes", 0),
        (["recall < 0.6", "frechet_distance > 3.1"], "inconclusive", 3),
        (["recall < 0.8", "frechet_distance > 3.1"], "fails", 1),
    ],
)
def test_a_run_against_numbers(fail_if, outcome, code):
    found = check(comparison(ONE), fail_if=fail_if)
    assert (found.outcome, found.exit_code) == (outcome, code)


@pytest.mark.parametrize(("inconclusive", "code"), [("report", 3), ("pass", 0), ("fail", 1)])
def test_what_an_inconclusive_check_ends_as(inconclusive, code):
    found = check(comparison(ONE), fail_if="recall < 0.71", inconclusive=inconclusive)
    assert (found.outcome, found.exit_code) == ("inconclusive", code)
    failed = check(comparison(ONE), fail_if="recall < 0.8", inconclusive=inconclusive)
    assert failed.exit_code == 1


def test_the_point_decides_nothing():
    """0.79 and 0.81 are on either side of the limit; with errors of 0.02 neither is decided."""
    for value in (0.79, 0.81):
        assert check(comparison({"a": (value,)}), fail_if="recall < 0.8").outcome == "inconclusive"


def test_how_many_samples_would_decide():
    (row,) = check(comparison(ONE), fail_if="recall < 0.72").checked
    # Half a point on the logit scale: (t + 0.84)² / statistic², with t of 19 degrees of freedom
    statistic = 0.7 * 0.3 * (math.log(0.72 / 0.28) - math.log(0.7 / 0.3)) / 0.02
    assert row.deciding_n == pytest.approx(
        400 * ((1.644854 + 0.841621) * 1.729133 / 1.644854 / statistic) ** 2, rel=1e-3
    )


def test_every_system_is_checked_unless_one_is_named():
    run = comparison(TWO)
    found = check(run, fail_if=["recall < 0.8", "b: recall < 0.8", "b:recall<0.95"])
    assert [(row.system, row.outcome) for row in found] == [
        ("a", "fails"),
        ("b", "passes"),
        ("b", "passes"),
        ("b", "fails"),
    ]
    assert [row.condition for row in found.of_outcome("fails")] == ["recall < 0.8", "b:recall<0.95"]


def test_systems_meet_those_of_the_baseline_by_name_or_its_only_one():
    run = comparison(TWO)
    before = comparison({"b": (0.9,), "a": (0.8,)})
    found = check(run, baseline=before, fail_if="recall < baseline")
    assert [(row.system, row.baseline) for row in found] == [("a", 0.8), ("b", 0.9)]
    single = check(run, baseline=comparison({"old": (0.8,)}), fail_if="recall < baseline")
    assert [row.baseline for row in single] == [0.8, 0.8]
    with pytest.raises(InputError, match="baseline 'a'"):
        check(run, baseline=comparison({"x": (0.8,), "y": (0.8,)}), fail_if="recall < baseline")


def test_a_baseline_adds_its_error():
    (row,) = check(
        comparison(ONE), baseline=comparison({"old": (0.75,)}), fail_if="recall < baseline - 0.01"
    ).checked
    assert row.limit == pytest.approx(0.74)
    assert row.standard_error == pytest.approx(math.hypot(0.02, 0.02))
    # Both have 19 degrees of freedom: 38 together; t(0.95, 38) = 1.686
    reach = 1.685954 * math.hypot(0.02, 0.02)
    bounds = row.lower_bound, row.upper_bound
    assert bounds == pytest.approx((0.7 - reach, 0.7 + reach), abs=1e-6)
    assert row.outcome == "inconclusive"


def test_a_factor_scales_the_baseline_and_its_error():
    (row,) = check(
        comparison(ONE),
        baseline=comparison({"old": (0.7, 2.0)}),
        fail_if="frechet_distance > 1.2 * baseline + 0.1",
    ).checked
    assert row.limit == pytest.approx(2.5)
    assert row.standard_error == pytest.approx(math.hypot(0.3, 1.2 * 0.3))


def test_runs_of_one_reference_share_its_error(tmp_path):
    """The zips hold what each block of the reference brings to a score; their JSON does not."""

    def run(name, value, share, own):
        blocks = 0.02 * np.resize([1.0, -1.0], 20) / math.sqrt(20)
        parts = (
            Component("reference", share * blocks),
            Component("generated", own * blocks),
        )
        made = comparison({name: (value,)})
        system = replace(made.systems[0], spreads={"recall": Spread(parts)})
        return replace(made, systems=(system,))

    ours, theirs = run("a", 0.70, 0.9, 0.1), run("old", 0.75, 0.8, 0.2)
    ours.save(tmp_path / "run.zip")
    theirs.save(tmp_path / "old.zip")
    condition = "recall < baseline - 0.02"
    for pair in ((ours, theirs), (tmp_path / "run.zip", tmp_path / "old.zip")):
        (row,) = check(pair[0], baseline=pair[1], fail_if=condition).checked
        assert row.standard_error == pytest.approx(0.02 * math.sqrt(0.1**2 + 0.1**2 + 0.2**2))
        assert (row.outcome, row.paired) == ("fails", True)
    bare = Comparison.from_dict(ours.to_dict())
    (row,) = check(bare, baseline=theirs, fail_if=condition).checked
    assert row.standard_error == pytest.approx(math.hypot(0.02, 0.02))
    assert (row.outcome, row.paired) == ("inconclusive", False)
    (row,) = check(ours, baseline=theirs, fail_if="recall < 0.5 * baseline").checked
    assert row.standard_error == pytest.approx(0.02 * math.sqrt(0.5**2 + 0.1**2 + 0.1**2))


def test_a_run_is_no_worse_than_itself():
    run = comparison(ONE)
    found = check(run, baseline=run, fail_if=["recall < baseline - 0.001", "recall < baseline"])
    assert [row.outcome for row in found] == ["passes", "passes"]
    assert check(run, baseline=run, fail_if="recall <= baseline").outcome == "fails"


def test_a_system_that_lost_everything_fails():
    run = comparison({"a": (0.7,)})
    scores = {**run.systems[0].scores, "recall": score(0.0, 0.0)}
    run = replace(run, systems=(replace(run.systems[0], scores=scores),))
    assert run["a"]["recall"].interval is None
    found = check(run, fail_if="recall < 0.8")
    assert found.outcome == "fails"
    assert check(run, baseline=comparison(ONE), fail_if="recall < baseline").outcome == "fails"
    (row,) = check(run, fail_if="recall < 0.1").checked
    assert (row.outcome, row.deciding_n) == ("inconclusive", None)  # more samples are no help
    # 2 of 20 blocks as the standard error, and t(0.95, 19)
    assert (row.lower_bound, row.upper_bound) == pytest.approx((0.0, 0.1 * 1.729133), abs=1e-6)
    assert (row.interval, row.level) == (None, None)


def test_the_order_of_options_in_a_key_is_free():
    run = comparison(ONE)
    scores = {**run.systems[0].scores, "mauve:chi2:knn": score(0.5)}
    run = replace(run, systems=(replace(run.systems[0], scores=scores),))
    (row,) = check(run, fail_if="mauve:knn:chi2 < 0.9").checked
    assert row.score == "mauve:chi2:knn"


def test_statistics_of_texts_are_checked_too():
    scores = {"distinct:n=2": score(0.7)}
    run = TextComparison((TextResult(summary("a"), scores),), {"level": 0.95}, None)
    assert check(run, fail_if="distinct:n=2 < 0.8").outcome == "fails"


def test_runs_are_read_from_files(tmp_path):
    comparison(ONE).save(tmp_path / "run.zip")
    before = comparison({"old": (0.9,)})
    (tmp_path / "base.json").write_text(json.dumps(before.to_dict()))
    found = check(
        tmp_path / "run.zip", baseline=str(tmp_path / "base.json"), fail_if="recall < baseline"
    )
    assert (found.run, found.baseline, found.outcome) == ("run.zip", "base.json", "fails")


def test_samples_stay_in_the_file(tmp_path):
    """A zip whose samples are damaged still tells its scores."""
    comparison(ONE).save(tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "a") as archive:
        archive.writestr("reference/vectors/meaning.npy", b"damaged")
    with pytest.raises(InputError):
        Comparison.load(tmp_path / "run.zip")
    assert check(tmp_path / "run.zip", fail_if="recall < 0.8").outcome == "fails"


@pytest.mark.parametrize("name", ["missing.zip", "damaged.zip", "damaged.json"])
def test_files_that_hold_no_run_are_named(tmp_path, name):
    if "damaged" in name:
        (tmp_path / name).write_bytes(b"no run")
    with pytest.raises(InputError, match=name):
        check(tmp_path / name, fail_if="recall < 0.8")


# ------------------------------------------------------------------ what is refused


REFUSED = {
    "recal < 0.8": "condition 'recal < 0.8': unknown metric 'recal'; did you mean 'recall'",
    "mauve < 0.8": "condition 'mauve < 0.8': the run has no score 'mauve'; it has recall, frechet_"
    "distance, form.recall. Add it to `metrics` of the run",
    "image.recall < 0.8": "condition 'image.recall < 0.8': unknown view of the run 'image'; known",
    "c: recall < 0.8": "condition 'c: recall < 0.8': unknown system of the run 'c'; known: a, b",
    "recall < 1.2": "condition 'recall < 1.2': recall lies between 0 and 1, so that the limit 1.2 "
    "decides nothing",
    "recall < 0": "so that the limit 0 decides nothing",
    "frechet_distance < -1": "lies between 0 and inf, so that the limit -1 decides nothing",
    "recall < baseline": "condition 'recall < baseline' takes its limit from a baseline, and there "
    "is none; give one by `baseline`",
}


@pytest.mark.parametrize("text", REFUSED)
def test_conditions_that_cannot_be_checked_say_why(text):
    with pytest.raises(InputError) as refused:
        check(comparison(TWO), fail_if=text)
    assert REFUSED[text] in str(refused.value)


@pytest.mark.parametrize("given", [None, [], ""])
def test_a_check_needs_a_condition(given):
    with pytest.raises(InputError, match=r"such as"):
        check(comparison(ONE), fail_if=given)


@pytest.mark.parametrize("level", [0.5, 1.0, 0.3, "high"])
def test_the_level_lies_above_a_half(level):
    with pytest.raises(InputError, match=r"^level .*0\.5 and 1"):
        check(comparison(ONE), fail_if="recall < 0.8", level=level)


def test_scores_without_intervals_say_how_to_get_them():
    plain = comparison(ONE, settings={"level": None})
    bare = {key: replace(each, interval=None, level=None, standard_error=None) for key, each in
            plain.systems[0].scores.items()}  # fmt: skip

    def run(settings, n=400):
        made = comparison(ONE, settings=settings, n=n)
        return replace(made, systems=(replace(made.systems[0], scores=bare),))

    start = r"condition 'recall < 0.8': recall of a in the run has no interval, without which nothi"
    with pytest.raises(InputError, match=f"{start}.*`level=None`"):
        check(run({"level": None}), fail_if="recall < 0.8")
    with pytest.raises(InputError, match=f"{start}.*60 samples .*at least 100"):
        check(run({}, n=60), fail_if="recall < 0.8")
    with pytest.raises(InputError, match=f"{start}.*metric has none"):
        check(run({}), fail_if="recall < 0.8")


def test_scores_without_a_value_are_no_pass():
    run = comparison(ONE)
    scores = {**run.systems[0].scores, "recall": Score(math.nan, reason="too few samples")}
    run = replace(run, systems=(replace(run.systems[0], scores=scores),))
    with pytest.raises(InputError, match=r"recall of a .*finite"):
        check(run, fail_if="recall < 0.8")


def test_baselines_of_another_reference_or_k_are_refused():
    with pytest.raises(InputError) as refused:
        check(
            comparison(ONE),
            baseline=comparison(ONE, reference="bb"),
            fail_if="recall < baseline",
        )
    assert str(refused.value) == (
        "recall of the run and of the baseline are not comparable (reference: aa in the run, bb in "
        "the baseline); recreate the baseline with the settings of the run"
    )


def test_every_field_that_differs_is_named(tmp_path):
    run, before = comparison(ONE), comparison(ONE)
    old = before.systems[0]["recall"]
    changed = replace(old, signature=old.signature.replace("k:4", "k:5") + "|files:3")
    scores = {**before.systems[0].scores, "recall": changed}
    before = replace(before, systems=(replace(before.systems[0], scores=scores),))
    for name, each in (("run.zip", run), ("base.zip", before)):
        each.save(tmp_path / name)
    with pytest.raises(InputError) as refused:
        check(tmp_path / "run.zip", baseline=tmp_path / "base.zip", fail_if="recall < baseline")
    assert "(k: 4 in run.zip, 5 in base.zip; files: none in run.zip, 3 in base.zip)" in str(
        refused.value
    )
    # Another score of the same runs may still be compared
    check(tmp_path / "run.zip", baseline=tmp_path / "base.zip", fail_if="form.recall < baseline")


def test_a_baseline_of_another_version_is_told_of():
    def run(version):
        made = comparison(ONE)
        pins = PINS.format(reference="aa").replace("0.1.0", version)
        scores = {
            key: replace(score, signature=pins) for key, score in made.systems[0].scores.items()
        }
        systems = (replace(made.systems[0], scores=scores),)
        return replace(made, systems=systems, version=version)

    found = check(run("0.2.0"), baseline=run("0.1.0"), fail_if="recall < baseline - 0.1")
    assert found.warnings == (
        "the run was measured by Calipers 0.2.0 and the baseline by 0.1.0; their "
        "signatures are otherwise equal",
    )
    same = check(run("0.1.0"), baseline=run("0.1.0"), fail_if="recall < baseline - 0.1")
    assert same.warnings == ()


@pytest.mark.parametrize(
    ("ours", "theirs", "comparable"),
    [
        ("m:e|pca:0.9|d:17", "m:e|pca:0.9|d:18", True),  # axes follow the samples
        ("m:e|pca:none|d:17", "m:e|pca:none|d:18", False),
        ("m:e|undefined:3", "m:e", True),
    ],
)
def test_what_samples_bring_is_no_choice(ours, theirs, comparable):
    def run(signature):
        made = comparison(ONE)
        signed = replace(made.systems[0]["recall"], signature=signature)
        scores = {**made.systems[0].scores, "recall": signed}
        return replace(made, systems=(replace(made.systems[0], scores=scores),))

    if comparable:
        check(run(ours), baseline=run(theirs), fail_if="recall < baseline")
    else:
        with pytest.raises(InputError, match="not comparable"):
            check(run(ours), baseline=run(theirs), fail_if="recall < baseline")


def test_other_results_are_refused(tmp_path):
    found = check(comparison(ONE), fail_if="recall < 0.8")
    found.save(tmp_path / "check.zip")
    with pytest.raises(InputError, match=r"check\.zip: .*'check'"):
        check(tmp_path / "check.zip", fail_if="recall < 0.8")
    with pytest.raises(InputError, match=r"run .*comparison.*dict"):
        check({}, fail_if="recall < 0.8")


# ------------------------------------------------------------------ what it says


def test_the_first_sentence_says_how_it_ended():
    assert check(comparison(ONE), fail_if="recall < 0.8").sentence == (
        "Fails: recall of a is 0.700 (at most 0.733), below 0.8."
    )
    assert check(comparison(ONE), fail_if="recall < 0.6").sentence == (
        "Passes: recall of a is 0.700 (at least 0.664), not below 0.6."
    )
    assert check(comparison(ONE), fail_if="recall < 0.72").sentence == (
        "Inconclusive: recall of a is 0.700 (at least 0.664, at most 0.733): 400 samples do not "
        "decide whether it is below 0.72; about 2,600 in each set would, if the score stays as it "
        "is."
    )


def test_junit_has_a_case_for_each_check():
    run = comparison({"a<b": (0.7,), "b": (0.9,)})
    found = check(run, fail_if=["recall < 0.8", "recall < 0.71"])
    root = ElementTree.fromstring(found.junit())
    counts = {"tests": "4", "failures": "1", "errors": "0", "skipped": "1"}
    assert {name: root.get(name) for name in counts} == counts
    cases = {(c.get("classname"), c.get("name")): [x.tag for x in c] for c in root.iter("testcase")}
    assert cases == {
        ("a<b", "recall < 0.8"): ["failure"],
        ("b", "recall < 0.8"): ["system-out"],
        ("a<b", "recall < 0.71"): ["skipped"],
        ("b", "recall < 0.71"): ["system-out"],
    }
    strict = check(run, fail_if="recall < 0.71", inconclusive="fail")
    assert [x.tag for x in ElementTree.fromstring(strict.junit()).iter("failure")] == ["failure"]


def test_it_comes_back_from_a_file(tmp_path):
    found = check(comparison(TWO), baseline=comparison(ONE), fail_if="recall < baseline")
    found.save(tmp_path / "check.zip")
    back = Check.load(tmp_path / "check.zip")
    assert back.to_dict() == found.to_dict()
    assert str(back) == str(found)
    assert back.exit_code == found.exit_code


def test_it_has_a_public_name():
    assert calipers.check is check
    assert "check" in calipers.__all__


def test_the_interval_is_that_of_the_run_and_the_bounds_say_which_side_they_are():
    run = comparison(ONE)
    for level in (0.9, 0.95, 0.99):
        (row,) = check(run, fail_if="recall < 0.8", level=level).checked
        assert (row.interval, row.level) == (run["a"]["recall"].interval, 0.95)
    (row,) = check(run, fail_if="recall < 0.8").checked
    # One condition: one-sided bounds at 95 % lie within the two-sided interval at 95 %
    low, high = row.interval
    assert low < row.lower_bound < row.value < row.upper_bound < high
    text = str(check(run, fail_if="recall < 0.8"))
    assert "two-sided 95 % interval that the run itself shows" in " ".join(text.split())
