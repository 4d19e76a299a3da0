"""One registry of metrics drives the laws that all of them keep."""

import numpy as np
import pytest

from calipers import metrics

SCORES = {
    "precision": lambda p, q: metrics.precision_recall(p, q).precision,
    "recall": lambda p, q: metrics.precision_recall(p, q).recall,
    "density": lambda p, q: metrics.density_coverage(p, q).density,
    "coverage": lambda p, q: metrics.density_coverage(p, q).coverage,
    "mauve": lambda p, q: metrics.mauve(p, q).mauve,
    "mauve_star": lambda p, q: metrics.mauve(p, q).mauve_star,
    "frontier_integral": lambda p, q: metrics.mauve(p, q).frontier_integral,
    "frontier_integral_star": lambda p, q: metrics.mauve(p, q).frontier_integral_star,
    "prd_f8": lambda p, q: metrics.prd(p, q).f8,
    "prd_f1_8": lambda p, q: metrics.prd(p, q).f1_8,
    "frechet_distance": metrics.frechet_distance,
}
KMEANS = {name for name in SCORES if name.startswith(("mauve", "frontier", "prd"))}
every = pytest.mark.parametrize("name", SCORES)


@pytest.fixture
def pair(rng):
    reference = rng.standard_normal((160, 10))
    return reference, rng.standard_normal((120, 10)) * 0.8 + 0.3


@every
def test_equal_sets(name, pair):
    expected = {"density": 5 / 4, "frechet_distance": 0.0} | dict.fromkeys(
        ["frontier_integral", "frontier_integral_star"], 0.0
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
    assert score.better == ("lower" if "distance" in name or "integral" in name else "higher")
    assert float(score) == score.value


@every
def test_worse_samples_score_worse(name, pair):
    near, far = SCORES[name](*pair), SCORES[name](pair[0], pair[1] + 3)
    assert near.value < far.value if near.better == "lower" else near.value > far.value


@every
def test_row_order(name, rng, pair):
    if name in KMEANS:
        pytest.skip("k-means starts from random rows, so its scores depend on their order")
    reference, generated = pair
    moved = SCORES[name](rng.permutation(reference), generated[::-1])
    assert moved.value == pytest.approx(SCORES[name](*pair).value, abs=1e-9)


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


def test_swapping_the_sides(pair):
    one = metrics.precision_recall(*pair)
    two = metrics.precision_recall(*pair[::-1])
    assert one.precision.value == two.recall.value
    assert one.recall.value == two.precision.value
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
