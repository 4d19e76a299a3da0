"""Replicates of the scores of a pair: by hand on made-up metrics, and on those of the catalogue.

How much the points of a curve move is held against counting again without each block."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from calipers.catalogue.choosing import Choice, choose, needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import DEFAULTS
from calipers.catalogue.metric import ANY, Metric
from calipers.catalogue.settings import Settings
from calipers.curves import divergence_frontier
from calipers.estimate.histograms import Histograms
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import cluster_sets
from calipers.score import Score
from calipers.uncertainty.delete_block import DeleteBlock, OneRun
from calipers.uncertainty.half_samples import HalfSample
from calipers.uncertainty.replicates import (
    by_parts,
    columns,
    curve_variances,
    delete_blocks,
    spreads,
)
from calipers.uncertainty.spread import Component

MADE_UP = sys.modules["made_up_metrics"] = ModuleType("made_up_metrics")


def named(function):
    """The ``module:function`` by which the catalogue finds a function of a test."""
    name = f"function_{len(vars(MADE_UP))}"
    setattr(MADE_UP, name, function)
    return f"made_up_metrics:{name}"


def made_up(read, *, name="made_up", family="mmd", **fields):
    """A metric that a test can see through."""
    metric = Metric(
        name=name,
        family=family,
        label="",
        meaning="",
        tells="",
        read=named(lambda pair, _: Score(float(read(pair)), range=ANY)),
        source="",
        blind="",
        range=ANY,
        **fields,
    )
    return Choice(metric, None)


def pair_of(n=200, m=160, *, seed=0, d=3, needs=(), **choices):
    rng = np.random.default_rng([20, seed])
    sets = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.2
    asked = {"threads": 1, "seed": seed} | choices
    return Pair(*sets, Settings(**asked), needs_of(each.metric for each in needs))


def rows_of(pair, side):
    """The rows that are left of a set: a pair without a block knows their number alone."""
    if not isinstance(pair, DeleteBlock):
        return getattr(pair, side)
    rows = rows_of(pair.whole, side)
    return rows[pair.kept] if pair.side == side else rows


GAP = made_up(
    lambda pair: rows_of(pair, "reference")[:, 0].mean() - rows_of(pair, "generated")[:, 0].mean(),
    replicates="counts",
)


def block_means(rows, labels):
    return np.array([rows[labels.labels == block].mean() for block in range(labels.count)])


def test_a_difference_of_means_has_the_classical_errors():
    pair = pair_of()
    found = spreads(pair, [GAP])["made_up"]
    for side, rows, labels in zip(
        ("reference", "generated"), (pair.reference, pair.generated), pair.blocks, strict=True
    ):
        means = block_means(rows[:, 0], labels)
        assert found.by_source[side] == pytest.approx(means.std(ddof=1) / np.sqrt(20))
    assert not found.approximate
    assert found.halves is None
    assert {part.freedom for part in found.components} == {19}


def test_every_replicate_is_the_score_of_the_rest():
    asked = choose("precision recall density coverage", ("v",))
    pair = pair_of(needs=asked)
    found = spreads(pair, asked)
    for choice in asked:
        for side in ("reference", "generated"):
            values = [choice.score(DeleteBlock.of(pair, side, b)).value for b in range(20)]
            wanted = Component.jackknife(side, values)
            np.testing.assert_array_equal(
                found[choice.name].of(side)[0].deviations, wanted.deviations
            )
        assert set(found[choice.name].by_source) == {"reference", "generated"}


def test_starts_of_k_means_are_a_source_of_what_rests_on_cells():
    asked = choose("mauve_star prd_f8 precision", ("v",))
    pair = pair_of(needs=asked)
    found = spreads(pair, asked)
    runs = {name: [] for name in ("mauve_star", "prd_f8")}
    for choice in asked:
        for run in range({"mauve_star": 5, "prd_f8": 10}.get(choice.name, 0)):
            runs[choice.name].append(choice.score(OneRun.of(pair, run)).value)
    # One of five counts, the mean of ten counts
    (star,), (f8,) = (found[name].of("seed") for name in ("mauve_star", "prd_f8"))
    assert star.variance == pytest.approx(np.var(runs["mauve_star"], ddof=1))
    assert f8.variance == pytest.approx(np.var(runs["prd_f8"], ddof=1) / 10)
    assert found["prd_f8"].by_source["seed"] == pytest.approx(np.sqrt(f8.variance))
    assert "seed" not in found["precision"].by_source


@pytest.mark.filterwarnings("error")
def test_one_start_tells_nothing_of_the_others_and_takes_nothing_away():
    asked = choose("mauve_star", ("v",))
    found = spreads(pair_of(restarts=1), asked)["mauve_star"]
    assert set(found.by_source) == {"reference", "generated"}


def test_sums_that_a_metric_knows_are_used():
    seen = []

    def without(pair):
        seen.append(pair)
        return np.arange(20.0), np.array([1.0, 2.0, 4.0])

    pair = pair_of()
    found = spreads(pair, [made_up(lambda _: 0.0, replicates=named(without))])["made_up"]
    assert seen == [pair]
    assert found.of("reference")[0].variance == pytest.approx(
        Component.jackknife("reference", np.arange(20.0)).variance
    )
    assert found.of("generated")[0].freedom == 2


def test_the_frechet_distance_by_its_own_sums():
    asked = choose("frechet_distance", ("v",))
    pair = pair_of()
    found = spreads(pair, asked)["frechet_distance"]
    for side in ("reference", "generated"):
        rest = [DeleteBlock.of(pair, side, block) for block in range(20)]
        values = [
            asked[0].score(Pair(rows_of(p, "reference"), rows_of(p, "generated"), p.settings)).value
            for p in rest
        ]
        wanted = Component.jackknife(side, values).variance
        assert found.of(side)[0].variance == pytest.approx(wanted, rel=1e-6)


def test_disjoint_parts_by_hand():
    seen = []

    def read(pair):
        seen.append(pair)
        return pair.reference[:, 0].mean()

    pair = pair_of(430, 330)
    found = by_parts(pair, [made_up(read)])["made_up"]
    assert len(seen) == 5
    assert found.approximate
    values = np.array([part.reference[:, 0].mean() for part in seen])
    assert found.by_source == pytest.approx({"both": values.std(ddof=1) / np.sqrt(5)})
    for name in ("reference", "generated"):
        rows = np.concatenate([getattr(part, name) for part in seen])
        whole = getattr(pair, name)
        assert sorted(map(tuple, rows)) == sorted(map(tuple, whole))


def test_the_scaled_error_of_a_mean_is_that_of_a_mean():
    rows = np.random.default_rng(2).standard_normal((4000, 1))
    pair = Pair(rows, rows, Settings(threads=1))
    mean = made_up(lambda part: part.reference.mean())
    found = [
        by_parts(replace(pair, settings=Settings(seed=seed)), [mean])["made_up"].variance
        for seed in range(60)
    ]
    assert np.mean(found) == pytest.approx(1 / 4000, rel=0.2)


def test_parts_are_cut_from_the_rows_as_embedded_too():
    seen = []
    pair = pair_of(240, 240)
    given = (np.arange(240.0)[:, None], -np.arange(240.0)[:, None])
    by_parts(replace(pair, given=given), [made_up(lambda part: seen.append(part) or 0.0)])
    for part in seen:
        ours, theirs = part.given
        np.testing.assert_array_equal(part.reference, pair.reference[ours[:, 0].astype(int)])
        np.testing.assert_array_equal(part.generated, pair.generated[-theirs[:, 0].astype(int)])


def test_parts_of_rows_as_they_were_given_are_cut_once_and_when_their_turn_comes():
    seen, pair = [], pair_of(240, 240)
    views = pair.reference[:], pair.generated[:]
    single = replace(pair, given=views, settings=replace(pair.settings, threads=1))
    cut = []
    made = type(pair).part

    class Watched(type(pair)):
        def part(self, *given):
            cut.append(len(seen))
            return made(self, *given)

    watched = Watched(**{name: getattr(single, name) for name in single.__dataclass_fields__})
    by_parts(watched, [made_up(lambda part: seen.append(part) or 0.0)])
    assert cut == list(range(len(seen)))
    for part in seen:
        assert part.given[0] is part.reference
        assert part.given[1] is part.generated


@pytest.mark.parametrize(("n", "known"), [(199, False), (200, True)])
def test_sets_too_small_for_five_parts(n, known):
    found = spreads(pair_of(n, 300), [GAP, made_up(lambda _: 1.0, name="parts")])
    assert ("parts" in found) == known
    assert "made_up" in found


@pytest.mark.parametrize(("k", "n", "known"), [(4, 99, False), (4, 100, True), (9, 199, False)])
def test_sets_too_small_for_blocks(k, n, known):
    assert bool(spreads(pair_of(n, 300, k=k), [GAP])) == known


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_a_score_without_a_value_in_one_replicate_is_left_out(odd):
    whole = pair_of()
    rare = made_up(
        lambda pair: odd if len(pair.reference) < 200 else 1.0, name="rare", replicates="counts"
    )
    assert spreads(whole, [GAP, rare]).keys() == {"made_up"}


def test_likelihood_ratios_have_no_counts_and_go_by_parts():
    asked = choose("mauve:gaussian mauve", ("v",))
    found = spreads(pair_of(220, 210, needs=asked), asked)
    assert {name: each.approximate for name, each in found.items()} == {
        "mauve:gaussian": True,
        "mauve": False,
    }


def test_what_parts_cannot_show_has_no_interval():
    asked = choose("mauve:knn prd_f8:knn topp topr precision", ("v",))
    assert set(spreads(pair_of(220, 210, needs=asked), asked)) == {"precision"}


def test_further_scores_are_read_off_the_same_pairs():
    pair = pair_of()

    def further(part):
        values = {"rows": float(len(part.reference)), "block": float(part.block)}
        return values if (part.side, part.block) == ("generated", 3) else values | {"odd": 1.0}

    found = spreads(pair, [GAP], further=further)
    assert found.keys() == {"made_up", "rows", "block"}
    wanted = Component.jackknife("reference", np.arange(20.0)).variance
    assert found["block"].of("reference")[0].variance == pytest.approx(wanted)


def test_scores_of_neighbours_and_of_cells_know_halves_and_others_do_not():
    asked = choose("precision density mauve_star prd_f8 frechet_distance realism", ("v",))
    found = spreads(pair_of(220, 210, needs=asked), asked)
    assert {name for name, spread in found.items() if spread.halves is not None} == {
        "precision",
        "density",
        "mauve_star",
    }
    assert {len(found[name].halves) for name in ("precision", "mauve_star")} == {31}
    assert "seed" in found["mauve_star"].by_source


@pytest.mark.filterwarnings("error")
def test_a_score_without_a_value_in_one_half_has_the_jackknife_alone():
    def read(pair):
        return (
            np.inf if isinstance(pair, HalfSample) and (pair.halving, pair.which) == (7, 1) else 1.0
        )

    rare = made_up(read, name="rare", family="support", replicates="counts")
    usual = made_up(lambda _: 1.0, family="support", replicates="counts")
    found = spreads(pair_of(), [usual, rare])
    assert found["rare"].halves is None
    assert found["rare"].finite


def test_metrics_of_the_catalogue_get_a_spread():
    asked = choose("support copying frontier prd mmd frechet_distance", ("v",))
    asked = [choice for choice in asked if choice.name not in ("topp", "topr")]  # these are slow
    found = spreads(pair_of(210, 205, needs=asked), asked)
    # The Kullback-Leibler divergence of raw counts is infinite where a cell lacks one side
    assert {choice.name for choice in asked} - found.keys() == {"divergence"}
    approximate = {name for name, spread in found.items() if spread.approximate}
    exact = {name for name, metric in METRICS.items() if metric.replicates not in ("parts", "none")}
    assert approximate == found.keys() - exact
    assert {"realism", "clipped_density", "authenticity"} <= approximate


def test_threads_and_a_second_run_change_nothing():
    asked = choose("recall mauve_star prd_f8 clipped_coverage frechet_distance", ("v",))
    runs = [spreads(pair_of(threads=threads, needs=asked), asked) for threads in (1, 3, 1)]
    for name, first in runs[0].items():
        for other in runs[1:]:
            for one, two in zip(first.components, other[name].components, strict=True):
                np.testing.assert_allclose(one.deviations, two.deviations, rtol=1e-6, atol=1e-9)
            if first.halves is not None:
                np.testing.assert_allclose(other[name].halves, first.halves, rtol=1e-6, atol=1e-9)
    assert runs[0]["recall"].halves is not None


def test_smaller_sets_hold_whole_clusters(rng, monkeypatch):
    rows, each = 400, 10
    clusters = cluster_sets([[(side, row // each) for row in range(rows)] for side in (0, 1)])
    sets = rng.standard_normal((2, rows, 8)).astype(np.float32)
    pair, parts, part = Pair(*sets, Settings(threads=1), clusters=clusters), [], Pair.part

    def seen(self, *masks_and_more):
        parts.append(masks_and_more[:2])
        return part(self, *masks_and_more)

    monkeypatch.setattr(Pair, "part", seen)
    assert by_parts(pair, choose(["realism"], ("rows",)))
    assert len(parts) == 5
    for masks in parts:
        for mask in masks:
            held = mask.reshape(-1, each).sum(axis=1)
            assert set(held.tolist()) == {0, each}
            assert np.count_nonzero(held) == rows // each // 5


def read_pair(metrics):
    rng = np.random.default_rng(3)
    sets = rng.standard_normal((220, 3)), rng.standard_normal((180, 3)) + 0.4
    choices = choose(metrics, ("meaning",))
    pair = Pair(*sets, Settings(threads=1), needs_of(each.metric for each in choices))
    for choice in choices:
        choice.score(pair)
    left_out = delete_blocks(pair)
    spreads(pair, choices, left_out=left_out)
    return pair, left_out


def test_frontier_varies_as_when_its_cells_are_counted_again():
    pair, left_out = read_pair("mauve")
    found = curve_variances(pair, left_out)
    cells, blocks = pair.estimates.cells, pair.blocks
    for side, variance in enumerate(found["frontier"]):
        curves = []
        for block in range(blocks[side].count):
            kept = list(cells.labels)
            kept[side] = kept[side][blocks[side].labels != block]
            size = len(cells.best.reference)
            counts = Histograms(*(np.bincount(labels, minlength=size) for labels in kept))
            curves.append(columns(divergence_frontier(counts)))
        gaps = np.array(curves) - np.mean(curves, axis=0)
        expected = (len(curves) - 1) / len(curves) * (gaps**2).sum(axis=0)
        np.testing.assert_allclose(variance, expected, atol=1e-15)


def test_weights_do_not_move_and_costs_do():
    found = curve_variances(*read_pair("mauve_star"))["frontier_star"]
    assert found.shape == (2, 25, 3)
    assert found[:, :, 0].max() < 1e-25  # what summing the replicates rounds
    assert (found[:, 1:-1, 1:] > 0).all()


def test_precision_and_recall_move_together_along_a_ray():
    pair, left_out = read_pair("prd_f8")
    found = np.sqrt(curve_variances(pair, left_out)["prd"].sum(axis=0))
    points = columns(pair.curves.trade_off(DEFAULTS))
    inner = slice(50, -50)
    slopes = points[inner, 0] / points[inner, 1]
    np.testing.assert_allclose(found[inner, 0], slopes * found[inner, 1], rtol=1e-6)


@pytest.mark.parametrize("metrics", ["precision", "mauve:gaussian"])
def test_what_is_not_counted_has_no_variance(metrics):
    assert curve_variances(*read_pair(metrics)) == {}


def test_what_is_extrapolated_has_no_interval(rng):
    """Sets that share nothing: all parts agree on the least that the estimator can say."""
    reference = rng.standard_normal((300, 3))
    keys = ["mauve:gaussian", "frontier_integral:classifier"]
    for gap, given in ((0.5, set(keys)), (30.0, set())):
        pair = Pair(reference, rng.standard_normal((300, 3)) + gap, Settings(threads=1))
        choices = choose(keys, ("rows",))
        values = [choice.score(pair).value for choice in choices]
        assert np.isfinite(values).all()
        assert set(spreads(pair, choices)) == given
        assert bool(pair.estimates.remarks) == (not given)


def test_a_classifier_is_fitted_again_without_each_of_ten_blocks(rng):
    reference, generated = rng.standard_normal((120, 3)), rng.standard_normal((120, 3)) + 0.7
    pair = Pair(reference, generated, Settings(threads=1))
    (choice,) = choose(["frontier_integral:classifier"], ("rows",))
    spread = spreads(pair, [choice])[choice.name]
    components = []
    for side, blocks in enumerate(pair.cut(10)):
        values = []
        for block in range(10):
            rows = [reference, generated]
            rows[side] = rows[side][blocks.labels != block]
            values.append(choice.score(Pair(*rows, Settings(threads=1))).value)
        gaps = np.array(values) - np.mean(values)
        components.append(0.9 * float(gaps @ gaps))  # (B − 1) / B · Σ (S_b − S̄)²
    assert [part.variance for part in spread.components] == pytest.approx(components, rel=1e-6)
    assert not spread.approximate


def test_a_classifier_that_finds_nothing_has_no_interval(rng):
    """Sets that a plane orders no better than chance: the ratio is 1 at every sample."""
    reference = rng.standard_normal((120, 2))
    pair = Pair(reference, reference[::-1].copy(), Settings(threads=1))
    choices = choose(["mauve:classifier", "frontier_integral:classifier"], ("rows",))
    assert [choice.score(pair).value for choice in choices] == pytest.approx([1, 0], abs=1e-6)
    assert not spreads(pair, choices)
