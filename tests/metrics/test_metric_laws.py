"""One registry of metrics drives the laws that all of them keep."""

import numpy as np
import pytest

from calipers import metrics

SCORES = {
    "precision": lambda p, q: metrics.precision_recall(p, q).precision,
    "recall": lambda p, q: metrics.precision_recall(p, q).recall,
    "density": lambda p, q: metrics.density_coverage(p, q).density,
    "coverage": lambda p, q: metrics.density_coverage(p, q).coverage,
    "realism": metrics.realism,
    "clipped_density": lambda p, q: metrics.clipped_density_coverage(p, q).density,
    "clipped_coverage": lambda p, q: metrics.clipped_density_coverage(p, q).coverage,
    "probabilistic_precision": lambda p, q: metrics.probabilistic_precision_recall(p, q).precision,
    "probabilistic_recall": lambda p, q: metrics.probabilistic_precision_recall(p, q).recall,
    "cover_precision": lambda p, q: metrics.precision_recall_cover(p, q).precision,
    "cover_recall": lambda p, q: metrics.precision_recall_cover(p, q).recall,
    "sphere_precision": lambda p, q: metrics.sphere_precision_recall(p, q).precision,
    "sphere_recall": lambda p, q: metrics.sphere_precision_recall(p, q).recall,
    "topp": lambda p, q: metrics.topological_precision_recall(p, q).precision,
    "topr": lambda p, q: metrics.topological_precision_recall(p, q).recall,
    "authenticity": metrics.authenticity,
    "near_copies": metrics.near_copies,
    "mauve": lambda p, q: metrics.mauve(p, q).mauve,
    "mauve_star": lambda p, q: metrics.mauve(p, q).mauve_star,
    "frontier_integral": lambda p, q: metrics.mauve(p, q).frontier_integral,
    "frontier_integral_star": lambda p, q: metrics.mauve(p, q).frontier_integral_star,
    "prd_f8": lambda p, q: metrics.prd(p, q).f8,
    "prd_f1_8": lambda p, q: metrics.prd(p, q).f1_8,
    "frechet_distance": metrics.frechet_distance,
}
COPYING = {"authenticity", "near_copies"}
LOWER = {"frechet_distance", "frontier_integral", "frontier_integral_star", "near_copies"}
KMEANS = {name for name in SCORES if name.startswith(("mauve", "frontier", "prd"))}
every = pytest.mark.parametrize("name", SCORES)


@pytest.fixture
def pair(rng):
    reference = rng.standard_normal((160, 10))
    return reference, rng.standard_normal((120, 10)) * 0.8 + 0.3


@every
def test_equal_sets(name, pair):
    expected = {"density": 5 / 4, "realism": np.inf} | dict.fromkeys(
        ["frechet_distance", "frontier_integral", "frontier_integral_star", "authenticity"], 0.0
    )
    score = SCORES[name](pair[0], pair[0])
    assert score.value == pytest.approx(expected.get(name, 1.0), abs=1e-9)


@every
def test_a_score_lies_in_its_range_and_says_how_it_was_made(name, pair):
    score = SCORES[name](*pair)
    assert score.range[0] <= score.value <= score.range[1]
    assert score.signature.startswith(f"metric:{name}|")
    assert "n:160" in score.signature
    assert "m:120" in score.signature
    assert score.better == ("lower" if name in LOWER else "higher")
    assert float(score) == score.value


@every
def test_worse_samples_score_worse(name, pair):
    if name in COPYING:
        pytest.skip("samples that lie far from everything are no copies")
    near, far = SCORES[name](*pair), SCORES[name](pair[0], pair[1] + 3)
    assert near.value < far.value if near.better == "lower" else near.value > far.value


@every
def test_row_order(name, rng, pair):
    if name in ("topp", "topr"):
        pytest.skip("resamples are drawn by row")
    if name in KMEANS:
        pytest.skip("k-means starts from random rows, so its scores depend on their order")
    reference, generated = pair
    moved = SCORES[name](rng.permutation(reference), generated[::-1])
    within = 1e-6 if name.startswith("probabilistic") else 1e-9
    assert moved.value == pytest.approx(SCORES[name](*pair).value, abs=within)


@every
def test_rotation(name, rng, pair):
    rotation, _ = np.linalg.qr(rng.standard_normal((10, 10)))
    turned = SCORES[name](pair[0] @ rotation, pair[1] @ rotation)
    assert turned.value == pytest.approx(SCORES[name](*pair).value, abs=1e-6)


@every
@pytest.mark.parametrize("factor", [0.125, 64.0])
def test_scale(name, pair, factor):
    expected = SCORES[name](*pair).value * (factor**2 if name == "frechet_distance" else 1)
    scaled = SCORES[name](pair[0] * factor, pair[1] * factor)
    assert scaled.value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", sorted(COPYING))
def test_copies_score_worse(name, rng, pair):
    reference, generated = pair
    known = reference[:60] + rng.standard_normal((60, 10)) * 0.01
    copied = SCORES[name](reference, np.concatenate([generated[:60], known]))
    half = SCORES[name](reference, generated[:60])
    fresh = SCORES[name](reference, generated)
    assert copied.value == pytest.approx(half.value / 2 + (name == "near_copies") / 2)
    assert copied.value < fresh.value if fresh.better == "higher" else copied.value > fresh.value


def test_swapping_the_sides(pair):
    for measure in (
        metrics.precision_recall,
        metrics.probabilistic_precision_recall,
        metrics.precision_recall_cover,
        metrics.topological_precision_recall,
    ):
        one, two = measure(*pair), measure(*pair[::-1])
        within = 1e-6 if measure is metrics.probabilistic_precision_recall else 0
        assert one.precision.value == pytest.approx(two.recall.value, abs=within, rel=0)
        assert one.recall.value == pytest.approx(two.precision.value, abs=within, rel=0)
    assert metrics.frechet_distance(*pair).value == pytest.approx(
        metrics.frechet_distance(*pair[::-1]).value, abs=1e-9
    )


def test_values_per_sample_make_the_score(pair):
    support = metrics.precision_recall(*pair)
    assert support.precision.per_sample.shape == (120,)
    assert support.recall.per_sample.shape == (160,)
    assert support.precision.per_sample.mean() == support.precision.value
    assert support.recall.per_sample.mean() == support.recall.value
    spread = metrics.density_coverage(*pair)
    assert spread.density.per_sample.mean() == pytest.approx(spread.density.value, abs=1e-12)
    assert spread.coverage.per_sample.mean() == spread.coverage.value
