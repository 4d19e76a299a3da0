"""The catalogue drives the laws: what it says of a metric holds for the metric's scores."""

import math

import numpy as np
import pytest

from calipers.catalogue.choosing import Choice, check_extras, choose, find
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import DEFAULTS, DIVERGENCE, ESTIMATORS, Options
from calipers.catalogue.needs import Needs
from calipers.metrics.pair import Pair, Settings

SETTINGS = Settings(k=3, buckets=12, restarts=2, threads=1)
# One key for every word of every option, and two together
KEYS = [
    *METRICS,
    *(f"mauve:{word}" for word in DIVERGENCE.forms if word != "kl"),
    *(f"frontier_integral:{word}" for word in (*ESTIMATORS[1:], "laplace", "good-turing")),
    *(f"divergence:{word}" for word in ("total_variation", "chi2:kde", "jensen_shannon:knn")),
    *(f"midpoint:{word}" for word in ("chi2", "le_cam:gaussian", "braess-sauer")),
    *(f"{metric}:kde" for metric in ("prd_f8", "prd_f1_8", "total_variation", "max_recall")),
    "frontier_f8:chi2:classifier",
    "divergence_star:reverse_kl",
]
every = pytest.mark.parametrize("key", KEYS)
SMALL = ["ot_quantised", "mauve_ot"]


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(3)
    near = rng.standard_normal((140, 8))
    return Pair(near, rng.standard_normal((120, 8)) * 0.8 + 0.3, SETTINGS)


@pytest.fixture(scope="module")
def equal():
    rows = np.random.default_rng(4).standard_normal((130, 8))
    return Pair(rows, rows.copy(), SETTINGS)


@pytest.fixture(scope="module")
def apart(equal):
    return Pair(equal.reference, equal.generated[::-1] * 0.9 + 3, SETTINGS)


@every
def test_a_score_is_what_the_catalogue_says(key, pair):
    choice = find(key)
    score, metric = choice.score(pair), choice.metric
    assert choice.key == choice.name == key
    assert score.signature.startswith(f"metric:{key}|")
    assert score.better == metric.better
    assert score.range == metric.range_of(choice.options)
    assert math.isfinite(score.value) == (score.reason is None)
    if not math.isnan(score.value):
        assert score.range[0] <= score.value <= score.range[1]
    for pin in ("n:140", "m:120"):
        assert pin in score.signature.split("|")


@every
def test_only_what_is_known_to_fail_has_no_value(key, pair):
    undefined = {
        "mauve:reverse_kl": "the frontier of reverse_kl is infinite",
        "divergence": "kl is infinite",
        "max_recall:kde": "mass everywhere",
        "frontier_integral:knn": "",
    }
    reason = find(key).score(pair).reason
    if reason is not None:
        assert key in undefined
        assert undefined[key] in reason


@pytest.mark.parametrize("name", [name for name, m in METRICS.items() if m.equal is not None])
def test_a_set_against_itself_scores_what_the_catalogue_says(name, equal):
    score = METRICS[name].score(equal)
    assert score.value == pytest.approx(METRICS[name].equal, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in METRICS if METRICS[name].family != "copying"])
def test_a_gap_is_on_the_worse_side_of_equality(name, equal, apart):
    near, far = METRICS[name].score(equal), METRICS[name].score(apart)
    if METRICS[name].better == "closest":
        assert near.gap == pytest.approx(0, abs=1e-9)
        assert far.gap > 0.01
        return
    near, far = near.value, far.value
    assert far < near if METRICS[name].better == "higher" else far > near


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.needs != Needs()])
def test_a_metric_measures_no_more_than_it_needs(name, pair):
    metric = METRICS[name]
    alone = Pair(pair.reference, pair.generated, SETTINGS, metric.needs)
    assert metric.score(alone).value == pytest.approx(metric.score(pair).value, abs=1e-9)


@pytest.mark.parametrize("name", METRICS)
def test_an_entry_is_complete(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.family in FAMILIES
    for text in (metric.tells, metric.source, metric.blind):
        assert text == text.strip() != ""
        assert not text.endswith(".")
    assert len(metric.tells) <= 90
    assert metric.range[0] < metric.range[1]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_takes_the_words_of_its_options_and_no_others(name):
    metric = METRICS[name]
    for axis in ("divergence", "estimator", "smoothing"):
        word = {"divergence": "chi2", "estimator": "knn", "smoothing": "laplace"}[axis]
        taken = metric.takes(axis)
        try:
            assert (find(f"{name}:{word}").options != DEFAULTS) == taken
        except ValueError:
            assert not taken


def test_families_divide_the_metrics():
    chosen = [choice for family in FAMILIES for choice in choose(family, ("v",))]
    assert sorted(choice.name for choice in chosen) == sorted(METRICS)
    assert {choice.name for choice in choose("all", ("v",))} == set(METRICS)


def test_a_failing_score_leaves_the_reason_and_the_others_alone(pair):
    few = Pair(pair.reference[:4], pair.generated[:4], Settings(k=2, threads=1))
    score = find("classifier_auc").score(few)
    assert math.isnan(score.value)
    assert score.reason
    assert score.better == "lower"
    assert math.isfinite(find("precision").score(few).value)


@pytest.mark.parametrize("key", SMALL)
def test_without_its_package_a_metric_says_which_command_brings_it(key, pair, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    assert METRICS[key].extra == "transport"
    fresh = Pair(pair.reference, pair.generated, SETTINGS)
    score = METRICS[key].score(fresh)
    assert math.isnan(score.value)
    assert "pip install 'calipers[transport]'" in score.reason
    with pytest.raises(ImportError, match=r"pip install 'calipers\[transport\]'"):
        check_extras([Choice(METRICS[key], None)])
    check_extras(choose("ot", ("v",)))


def test_the_plug_in_cost_needs_its_package_for_unequal_sizes_only(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    check_extras(choose("ot:", ("v",)), equal_sizes=True)
    with pytest.raises(ImportError, match="the metric 'ot' needs the package 'ot'"):
        check_extras(choose("ot:", ("v",)), equal_sizes=False)


def test_metrics_that_need_no_package_do_without_it(pair, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    fresh = Pair(pair.reference, pair.generated, SETTINGS)
    for metric in METRICS.values():
        if metric.family == "ot" and metric.extra is None:
            assert math.isfinite(metric.score(fresh).value), metric.name


def test_options_change_the_value(pair):
    chosen = ["kl", "chi2", "le_cam", "interpolated_kl=0.5", "squared_hellinger"]
    values = {METRICS["mauve"].score(pair, Options(divergence=word)).value for word in chosen}
    assert len(values) == len(chosen)
