"""Metrics read off a pair: as the public functions say, and no more measured than asked for."""

from inspect import signature

import numpy as np
import pytest

from calipers import compare, metrics
from calipers.catalogue.choosing import needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import PAIRED_C
from calipers.catalogue.needs import EVERYTHING, Needs
from calipers.catalogue.settings import Settings
from calipers.curves import divergence_frontier, precision_recall_curve
from calipers.curves.precision_recall import mean_curve
from calipers.errors import InputError
from calipers.estimate.knn.balls import Supports
from calipers.estimate.quantise import quantise
from calipers.metrics.pair import Pair
from calipers.metrics.vendi import vendi_score
from calipers.numeric.blocks import Blocks

# What the catalogue reads off a pair is what the public functions say of the same arrays.


SETTINGS = Settings(k=2, ties="open", buckets=12, restarts=3, c=2.0, seed=5, threads=1)


@pytest.fixture
def sets(rng):
    # Whole numbers, so that points do lie on rims and open balls differ from closed ones
    reference = rng.integers(0, 4, (90, 3)).astype(np.float64)
    return reference, rng.integers(1, 5, (70, 3)).astype(np.float64)


def test_every_metric_by_its_name(sets):
    pair = Pair(*sets, SETTINGS)
    support = metrics.precision_recall(*sets, k=2, ties="open")
    spread = metrics.density_coverage(*sets, k=2, ties="open")
    options = {"buckets": 12, "restarts": 3, "c": 2.0, "seed": 5, "norm": "none", "pca": None}
    closeness = metrics.mauve(*sets, **options)
    cells = metrics.prd(*sets, seed=5)
    clipped = metrics.clipped_density_coverage(*sets, ties="open")
    probable = metrics.probabilistic_precision_recall(*sets)
    cover = metrics.precision_recall_cover(*sets, ties="open")
    spheres = metrics.sphere_precision_recall(*sets, ties="open")
    topology = metrics.topological_precision_recall(*sets, seed=5)
    expected = {
        "precision": support.precision,
        "recall": support.recall,
        "density": spread.density,
        "coverage": spread.coverage,
        "realism": metrics.realism(*sets, k=2),
        "clipped_density": clipped.density,
        "clipped_coverage": clipped.coverage,
        "probabilistic_precision": probable.precision,
        "probabilistic_recall": probable.recall,
        "cover_precision": cover.precision,
        "cover_recall": cover.recall,
        "sphere_precision": spheres.precision,
        "sphere_recall": spheres.recall,
        "topp": topology.precision,
        "topr": topology.recall,
        "authenticity": metrics.authenticity(*sets),
        "near_copies": metrics.near_copies(*sets),
        "mauve": closeness.mauve,
        "mauve_star": closeness.mauve_star,
        "frontier_integral": closeness.frontier_integral,
        "frontier_integral_star": closeness.frontier_integral_star,
        "prd_f8": cells.f8,
        "prd_f1_8": cells.f1_8,
        "frechet_distance": metrics.frechet_distance(*sets),
    }
    assert expected.keys() >= {name for name, metric in METRICS.items() if not metric.on_request}
    assert len({score.value for score in expected.values()}) == len(expected) - 1  # TopP = TopR = 0
    for name in expected:
        found = METRICS[name].score(pair)
        assert found.value == pytest.approx(expected[name].value, abs=1e-12), name
        assert "ties:closed" not in found.signature, name
        assert (found.range, found.better) == (expected[name].range, expected[name].better), name
        assert found.signature.startswith(f"metric:{name}|"), name
        if name.startswith(("mauve", "frontier", "prd", "top")):
            assert "seed:5" in found.signature.split("|"), name
    assert METRICS["prd_f8"].score(pair).signature == cells.f8.signature


def test_all_entrances_share_their_defaults():
    chosen = vars(Settings())
    for function in (
        metrics.precision_recall,
        metrics.density_coverage,
        metrics.realism,
        metrics.scores_by_group,
        metrics.mauve,
        metrics.prd,
        compare,
    ):
        for name, option in signature(function).parameters.items():
            # Whether compare scales rows follows from whether they are texts or vectors
            own = (metrics.prd, "buckets"), (metrics.mauve, "c"), (compare, "normalise")
            if (function, name) not in own:
                assert option.default == chosen.get(name, option.default), (function, name)
    assert signature(metrics.mauve).parameters["c"].default == PAIRED_C["quantisation"]


def test_options_of_mauve_reach_the_steps(sets):
    plain = quantise(*sets, buckets=12, restarts=3, seed=5)
    found = metrics.mauve(*sets, buckets=12, restarts=3, seed=5, c=2.0, norm="none", pca=None)
    frontier = divergence_frontier(plain.best)
    assert found.mauve.value == frontier.area(2.0) != frontier.area(5.0)
    star = divergence_frontier(plain.best.smoothed("krichevsky-trofimov"))
    assert found.mauve_star.value == star.area(2.0)
    assert found.frontier_integral_star.value == star.integral() != frontier.integral()
    np.testing.assert_array_equal(found.frontier_star.weights, star.weights)
    np.testing.assert_array_equal(found.frontier_star.reference_cost, star.reference_cost)
    pins = found.mauve_star.signature.split("|")
    for pin in ("c:2", "grid:25", "buckets:12", "restarts:3", "n:90", "m:70", "seed:5"):
        assert pin in pins
    assert "smoothing:krichevsky-trofimov" in pins
    assert "norm:none" in pins
    assert "pca:none" in pins
    assert "smoothing:none" in found.mauve.signature.split("|")
    turned = metrics.mauve(*sets, buckets=12, restarts=3, seed=5, c=2.0, norm="l2", pca=0.5)
    rows = metrics.preprocess(*sets, norm="l2", pca=0.5)
    cells = quantise(rows.reference, rows.generated, buckets=12, restarts=3, seed=5)
    assert turned.mauve.value == divergence_frontier(cells.best).area(2.0)


def test_prd_averages_all_its_runs(sets):
    cells = quantise(*sets, buckets=8, restarts=4, seed=3)
    found = metrics.prd(*sets, buckets=8, runs=4, seed=3)
    curves = [precision_recall_curve(run) for run in cells.runs]
    assert len({curve.f_beta(8) for curve in curves}) > 1
    np.testing.assert_allclose(
        found.curve.precision, np.mean([curve.precision for curve in curves], axis=0)
    )
    assert found.f8.value == pytest.approx(mean_curve(curves).f_beta(8))
    assert found.f1_8.value == pytest.approx(mean_curve(curves).f_beta(1 / 8))
    for pin in ("beta:8", "buckets:8", "runs:4", "n:90", "m:70", "seed:3"):
        assert pin in found.f8.signature.split("|")
    assert "beta:0.125" in found.f1_8.signature.split("|")


def test_prd_takes_no_more_cells_than_samples():
    few = np.arange(12.0).reshape(6, 2)
    pair = Pair(few, few + 0.5, Settings(k=2, threads=1))
    assert "buckets:12" in METRICS["prd_f8"].score(pair).signature.split("|")


def test_prd_tells_quality_from_diversity(rng):
    # Half of the reference is never reached: diversity suffers, quality does not
    reference = np.repeat([[0.0], [100.0]], 50, axis=0) + rng.standard_normal((100, 1))
    lacking = metrics.prd(reference, reference[:50], buckets=2, runs=3)
    assert lacking.f1_8.value > 0.95
    assert lacking.f8.value < 0.6


def test_replicates_share_the_labels_of_seed_and_size(rng):
    reference, generated = rng.standard_normal((120, 3)), rng.standard_normal((100, 3))
    pair = Pair(reference, generated, Settings(k=4, seed=7, threads=1))
    for found, size in zip(pair.blocks, (120, 100), strict=True):
        np.testing.assert_array_equal(found.labels, Blocks.balanced(size, seed=7).labels)
        assert found.count == 20
    assert pair.neighbourhoods.reference_blocks is pair.blocks[0]
    assert pair.neighbourhoods.generated.replicates.held_from.shape == (100, 20)


def test_the_cells_are_counted_by_the_same_blocks(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "calipers.metrics.estimates.quantise",
        lambda *sets, **options: asked.append(options["blocks"]) or quantise(*sets, **options),
    )
    pair = Pair(*rng.standard_normal((2, 120, 3)), Settings(buckets=4, restarts=1, threads=1))
    _ = pair.estimates.cells, pair.estimates.prd_cells
    assert len(asked) == 2
    assert all(blocks is pair.blocks for blocks in asked)


def test_small_sets_have_no_replicates(rng):
    reference, generated = rng.standard_normal((120, 3)), rng.standard_normal((99, 3))
    pair = Pair(reference, generated, Settings(k=4, threads=1))
    assert pair.blocks is None
    assert pair.neighbourhoods.reference.replicates is None


def test_values_per_sample_of_density_are_over_k(rng):
    reference, generated = rng.standard_normal((2, 60, 3))
    for k in (1, 2, 7):
        density = metrics.density_coverage(reference, generated, k=k).density
        assert density.per_sample.mean() == pytest.approx(density.value, abs=1e-12)
        assert f"k:{k}" in density.signature.split("|")


# One pass serves all metrics that were asked for, and measures nothing for the others.


NEIGHBOURLY = [m for m in METRICS.values() if m.family in ("support", "copying")]


def near_of(continuous, *names, k=4):
    needs = needs_of(METRICS[name] for name in names)
    return Pair(*continuous, Settings(k=k, threads=1), needs).neighbourhoods


@pytest.fixture
def continuous(rng):
    return rng.standard_normal((60, 3)), rng.standard_normal((50, 3))


def test_everything_is_what_all_metrics_need():
    assert needs_of(METRICS.values()) == EVERYTHING == Needs(9, True, True, True, True)
    assert needs_of([]) == Needs()


def test_what_a_metric_alone_needs():
    assert needs_of([METRICS["clipped_density"]]) == Needs(5, capped=True)
    assert needs_of([METRICS["clipped_coverage"]]) == Needs(5)
    assert needs_of([METRICS["cover_precision"]]) == Needs(9)
    assert needs_of([METRICS["probabilistic_recall"]]) == Needs(4, spread=True)
    assert needs_of([METRICS["realism"]]) == Needs(0, smaller=True)


def test_no_more_is_measured_than_was_asked_for(continuous):
    plain = near_of(
        continuous, "precision", "authenticity", "near_copies", "sphere_recall", "mauve"
    )
    assert (plain.k_max, plain.supports) == (4, Supports())
    coverage = near_of(continuous, "clipped_coverage", k=2)
    assert (coverage.k_max, coverage.supports) == (5, Supports())
    density = near_of(continuous, "clipped_density", "realism", k=2)
    assert (density.k_max, density.supports) == (5, Supports(capped=5, smaller=2))
    cover = near_of(continuous, "cover_recall", "probabilistic_precision", k=12)
    assert (cover.k_max, cover.supports) == (12, Supports(spread=(4, 1.2)))


def test_by_default_everything_is_measured_at_once(continuous):
    pair = Pair(*continuous, Settings(k=3, threads=1))
    near = pair.neighbourhoods
    assert (near.k_max, near.supports) == (9, Supports(5, 3, (4, 1.2), True))
    for metric in NEIGHBOURLY:
        metric.score(pair)
    assert pair.neighbourhoods is near


def test_less_measured_gives_the_same_scores(continuous):
    whole = Pair(*continuous, Settings(threads=1))
    for metric in NEIGHBOURLY:
        if not metric.name.startswith("top"):
            alone = Pair(*continuous, Settings(threads=1), metric.needs)
            found, expected = metric.score(alone), metric.score(whole)
            assert found.value == pytest.approx(expected.value, abs=1e-9), metric.name
            assert found.signature == expected.signature


def test_what_was_not_measured_is_refused(continuous):
    pair = Pair(*continuous, Settings(threads=1), Needs())
    for name in ("clipped_density", "realism", "probabilistic_recall", "cover_precision"):
        with pytest.raises(InputError, match="do not hold what this metric needs for k = "):
            METRICS[name].score(pair)


@pytest.mark.parametrize(
    ("n", "m", "undefined"),
    [
        (9, 40, {"cover": 9}),
        (40, 9, {"cover": 9}),
        (5, 6, {"cover": 9, "clipped": 5}),
        (3, 4, {"cover": 9, "clipped": 5, "probabilistic": 4}),
    ],
)
def test_sets_too_small_for_the_k_of_a_metric_leave_the_others_alone(continuous, n, m, undefined):
    pair = Pair(continuous[0][:n], continuous[1][:m], Settings(k=2, threads=1))
    usual = {name: metric for name, metric in METRICS.items() if not metric.on_request}
    for name, metric in usual.items():
        score, k = metric.score(pair), undefined.get(name.split("_")[0])
        if k is None:
            assert np.isfinite(score.value), name
            continue
        assert np.isnan(score.value), name
        assert score.reason == f"k = {k} needs at least {k + 1} samples in each set; " + (
            f"found {n} and {m}"
        )
        assert score.per_sample is None
        assert f"n:{n}" in score.signature


def test_sets_too_small_for_the_shared_k_are_refused(continuous):
    with pytest.raises(InputError, match="k = 6 needs at least 7 samples"):
        _ = Pair(continuous[0][:6], continuous[1], Settings(k=6, threads=1)).neighbourhoods


def test_cosine_reaches_every_neighbour_metric(continuous):
    left, right = (side + 0.5 for side in continuous)
    turned = Pair(left, right, Settings(distance="cosine", threads=1))
    stretched = Pair(left * 3, right * 7, Settings(distance="cosine", threads=1))
    for metric in NEIGHBOURLY:
        if metric.name.startswith("top"):
            continue
        score = metric.score(turned)
        assert "distance:cosine" in score.signature.split("|"), metric.name
        assert metric.score(stretched).value == pytest.approx(score.value, abs=1e-6), metric.name


# Vendi and RKE of both sets, at one size.


@pytest.mark.parametrize(("name", "q"), [("vendi", 1.0), ("rke", 2.0)])
def test_both_sets_count_at_the_size_of_the_smaller(name, q):
    rng = np.random.default_rng(0)
    reference, generated = rng.normal(size=(80, 5)), rng.normal(size=(30, 5))
    found = METRICS[name].score(Pair(reference, generated, Settings(seed=3)))
    kept = np.sort(np.random.default_rng(3).permutation(80)[:30])
    assert found.value == pytest.approx(vendi_score(generated, q=q).value)
    assert found.reference == pytest.approx(vendi_score(reference[kept], q=q).value)
