"""Precision-recall curves by classifiers as metrics: keys, ends, replicates, bands."""

import numpy as np
import pytest

import calipers
from calipers.catalogue.choosing import find
from calipers.catalogue.settings import Settings
from calipers.curves import precision_recall_curve
from calipers.errors import InputError
from calipers.metrics.pair import Pair
from calipers.report.plots.curves import curves_plot
from calipers.report.plots.panels import Plot
from calipers.uncertainty.replicates import curve_variances, delete_blocks, spreads


@pytest.fixture(scope="module")
def pair():
    x, y = np.random.default_rng(8).standard_normal((2, 200, 4))
    return Pair(x, y + np.eye(4)[0], Settings(k=3, threads=1))


def test_ends_of_the_curve_are_the_other_metrics(pair):
    for end, metric in (
        ("max_precision:support", "precision"),
        ("max_recall:support", "recall"),
        ("max_recall:coverage", "coverage"),
    ):
        score = find(end).score(pair)
        assert score.value == find(metric).score(pair).value
        assert "judged:in_sample" in score.signature.split("|")
        assert "k:3" in score.signature.split("|")


def test_a_replicate_leaves_judged_samples_out_and_keeps_the_classifiers(pair):
    choice = find("total_variation:knn:held_out")
    left_out = delete_blocks(pair)
    odds = pair.estimates.odds(choice.options)
    labels = pair.labels[1].labels
    rates = []
    for block in range(pair.labels[1].count):
        generated = odds.log_generated[labels != block]
        levels = np.concatenate([odds.log_reference, generated])
        gaps = [np.mean(odds.log_reference >= at) - np.mean(generated >= at) for at in levels]
        rates.append(max(0, *gaps))
    found = [choice.score(without).value for without in left_out["generated"]]
    np.testing.assert_allclose(found, rates, atol=1e-12)
    spread = spreads(pair, [choice], left_out=left_out)[choice.name]
    assert spread.approximate
    assert 0.01 < spread.standard_error < 0.1


def test_held_out_curves_have_bands_and_others_none(pair):
    for key in ("prd_f8:knn:held_out", "prd_f8:support"):
        find(key).score(pair)
    variances = curve_variances(pair, delete_blocks(pair))
    assert "prd:support" not in variances
    band = np.sqrt(variances["prd:knn:held_out"].sum(axis=0))
    assert band.shape == (1001, 2)
    assert 0.01 < band[500].max() < 0.1
    assert spreads(pair, [find("prd_f8:support")]) == {}


def test_one_curve_serves_all_scores_that_are_read_from_it(pair):
    for name in ("prd_f8", "prd_f1_8", "prd_area"):
        find(f"{name}:coverage:held_out").score(pair)
    assert "prd:coverage:held_out" in pair.curves.by_key


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("prd_f8:held_out", "takes a classifier of samples, knn, kde, classifier, boosted"),
        ("prd_f8:gaussian:held_out", "ask for 'prd_f8:knn:held_out'"),
        ("prd_f8:support:own_side", "leave it out, or ask for 'prd_f8:support:held_out'"),
        ("mauve:support", "unknown estimator 'support'"),
        ("mauve:knn:held_out", "unknown points 'held_out'"),
    ],
)
def test_what_has_no_curve_is_refused(key, says):
    with pytest.raises(InputError, match=says):
        find(key)


@pytest.mark.slow
def test_intervals_hold_the_expectation():
    rng, values, ends = np.random.default_rng(11), [], []
    choice = find("prd_area:knn:held_out")
    for seed in range(80):
        x, y = rng.standard_normal((2, 300, 6))
        world = Pair(x, y + np.eye(6)[0], Settings(seed=seed, threads=1))
        spread = spreads(world, [choice])[choice.name]
        values.append(choice.score(world).value)
        ends.append(2.0 * spread.standard_error)
    held = np.abs(np.array(values) - np.mean(values)) <= ends
    assert 0.8 <= held.mean() <= 0.99


def test_renyi_frontiers_are_read_from_the_cells_of_mauve(pair):
    infinite = find("renyi_area:order=inf").score(pair)
    curve = precision_recall_curve(pair.estimates.cells.best)
    assert infinite.value == pytest.approx(curve.area(), abs=0.02)
    assert "order:inf" in infinite.signature.split("|")
    assert find("renyi_area:order=1").key == "renyi_area"
    assert find("renyi_f8:inclusive:order=2.0").key == "renyi_f8:order=2:inclusive"
    choice = find("renyi_f8:order=2")
    spread = spreads(pair, [choice])[choice.name]
    assert not spread.approximate
    assert {part.source for part in spread.components} == {"reference", "generated", "seed"}
    with pytest.raises(InputError, match=r"order must be a number of at least 0\.05"):
        find("renyi_f8:order=0")
    with pytest.raises(InputError, match="takes no order"):
        find("mauve:order=2")


def test_a_saved_run_draws_the_curves(tmp_path):
    sets = np.random.default_rng(1).standard_normal((2, 210, 3))
    keys = ["prd_f8:coverage:held_out", "renyi_f8:order=2"]
    found = calipers.compare(sets[0], {"a": sets[1]}, metrics=keys)
    found.save(tmp_path / "run.zip")
    again = calipers.load(tmp_path / "run.zip")
    for curve in ("prd:coverage:held_out", "renyi:order=2"):
        (system,) = again
        assert system.curves[curve].shape == system.curve_errors[curve].shape
        assert isinstance(curves_plot(again, curve=curve), Plot)
