"""Support metrics on any rows: equal to their brute force, and the laws that hold."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers import metrics
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics.copying import authenticity_score, near_copies_score
from calipers.metrics.knn_support import (
    coverage_score,
    precision_score,
    realism_score,
    recall_score,
)
from calipers.metrics.robust import (
    clipped_coverage_score,
    clipped_density_score,
    cover_precision_score,
    cover_recall_score,
    good_share,
    probabilistic_precision_score,
    probabilistic_recall_score,
)
from calipers.metrics.spheres import sphere_precision_score, sphere_recall_score

# Laws of the support metrics on small sets full of ties, duplicates and single dimensions.


SUPPORTS = Supports(capped=2, smaller=2, spread=(4, 1.2))


def scores(reference, generated, ties="closed"):
    """Every metric, from one pass."""
    near = neighbourhoods(reference, generated, k=4, ties=ties, supports=SUPPORTS, threads=1)
    found = (
        realism_score(near, 2),
        clipped_density_score(near, 2),
        clipped_coverage_score(near, 2),
        probabilistic_precision_score(near),
        probabilistic_recall_score(near),
        cover_precision_score(near, 2, 2),
        cover_recall_score(near, 2, 2),
        sphere_precision_score(near, reference, generated),
        sphere_recall_score(near, reference, generated),
        authenticity_score(near),
        near_copies_score(near),
    )
    return {score.signature.split("|")[0].removeprefix("metric:"): score for score in found}


@st.composite
def lattices(draw, count=2):
    d = draw(st.integers(1, 3))
    whole = st.integers(-3, 3).map(float)
    return [draw(arrays(np.float64, (draw(st.integers(5, 14)), d), elements=whole))
            for _ in range(count)]  # fmt: skip


def within(name):
    """Products of distances are taken in float32; all else is exact but for a few last bits."""
    return 1e-5 if name.startswith("probabilistic") else 1e-9


ties = st.sampled_from(["closed", "open"])
quick = settings(max_examples=40)


@quick
@given(lattices(), ties)
def test_ranges_and_signatures(sets, rims):
    for name, score in scores(*sets, ties=rims).items():
        if np.isnan(score.value):
            assert (name, rims) == ("clipped_density", "open")
        else:
            assert score.range[0] <= score.value <= score.range[1]
        assert np.isfinite(score.value) == (score.reason is None), name
        pins = score.signature.split("|")
        assert pins[-2:] == [f"n:{len(sets[0])}", f"m:{len(sets[1])}"]
        assert "distance:euclidean" in pins
        side = sets[1] if name.endswith(("precision", "density")) else sets[0]
        side = sets[1] if name in ("realism", "authenticity", "near_copies") else side
        assert score.per_sample.shape == (len(side),)


@quick
@given(lattices(count=1))
def test_a_set_against_itself(sets):
    ones = dict.fromkeys(scores(sets[0], sets[0]), 1.0)
    expected = ones | {"authenticity": 0.0, "realism": np.inf}
    for name, score in scores(sets[0], sets[0]).items():
        assert score.value == pytest.approx(expected[name], abs=1e-12), name


def test_a_set_against_itself_with_open_balls(rng):
    rows = rng.standard_normal((40, 3))
    for name, score in scores(rows, rows, ties="open").items():
        expected = {"authenticity": 0.0, "realism": np.inf}.get(name, 1.0)
        assert score.value == pytest.approx(expected, abs=1e-12), name


@quick
@given(lattices(), ties, st.sampled_from([0.25, 8.0, 2.0**-300, 2.0**300]))
def test_scale_and_reflection_change_nothing(sets, rims, factor):
    turned = scores(*[-factor * side[:, ::-1] for side in sets], ties=rims)
    for name, score in scores(*sets, ties=rims).items():
        if np.isnan(score.value):
            assert (name, rims) == ("clipped_density", "open")
            assert np.isnan(turned[name].value)
            assert turned[name].reason == score.reason is not None
        else:
            assert turned[name].value == pytest.approx(score.value, abs=within(name)), name


@quick
@given(lattices(), st.randoms(use_true_random=False))
def test_row_order(sets, random):
    order = [random.sample(range(len(side)), len(side)) for side in sets]
    moved = scores(*(side[rows] for side, rows in zip(sets, order, strict=True)))
    for name, score in scores(*sets).items():
        if name in ("sphere_recall", "authenticity"):
            continue  # of equally near samples the first one counts
        assert moved[name].value == pytest.approx(score.value, abs=within(name)), name


@quick
@given(lattices(count=3))
def test_one_more_generated_sample_changes_no_other(sets):
    reference, generated, more = sets
    more = more[:, : reference.shape[1]][:1]
    longer = np.concatenate([generated, more])
    before, after = scores(reference, generated), scores(reference, longer)
    for name in ("realism", "clipped_density", "probabilistic_precision", "authenticity",
                 "near_copies", "sphere_precision"):  # fmt: skip
        np.testing.assert_allclose(
            after[name].per_sample[:-1], before[name].per_sample, atol=within(name), err_msg=name
        )


@quick
@given(lattices())
def test_closed_balls_hold_at_least_as_much_as_open_ones(sets):
    closed, opened = scores(*sets), scores(*sets, ties="open")
    for name in ("clipped_coverage", "cover_precision", "cover_recall"):
        assert closed[name].value >= opened[name].value


def test_coverage_falls_where_the_generated_set_alone_shrinks_and_small_sets_flatter():
    # What calipers metrics and the warning on small sets say, where the sets differ: the same
    # two distributions score higher from fewer samples on both sides, the wider balls are why
    n, few = 1600, 160
    rng = np.random.default_rng(0)
    reference, generated = rng.standard_normal((n, 32)), rng.standard_normal((n, 32)) + 0.5

    def measured(left, right):
        near = neighbourhoods(left, right, k=4, threads=1)
        return [read(near, 4).value for read in (precision_score, recall_score, coverage_score)]

    whole = measured(reference, generated)
    blocks = [slice(start, start + few) for start in range(0, n, few)]
    both = np.mean([measured(reference[block], generated[block]) for block in blocks], axis=0)
    alone = np.mean([measured(reference, generated[block]) for block in blocks], axis=0)
    assert (both > np.add(whole, 0.03)).all()
    assert alone[2] < 0.5 * whole[2]
    assert abs(alone[0] - whole[0]) < 0.03  # by the reference's balls, which stay


# Every support metric equals its brute force, whatever the sizes, ties and duplicates.


_spec = importlib.util.spec_from_file_location(
    "brute_support", Path(__file__).with_name("brute_support.py")
)
brute = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brute)


def gaussians(rng):
    return rng.standard_normal((60, 6)), rng.standard_normal((60, 6)) * 0.8 + 0.3


def fewer_generated(rng):
    return rng.standard_normal((90, 4)), rng.standard_normal((25, 4)) + 0.5


def more_generated(rng):
    return rng.standard_normal((25, 4)), rng.standard_normal((90, 4)) + 0.5


def one_dimension(rng):
    return rng.standard_normal((40, 1)), rng.standard_normal((30, 1)) * 2


def lattice(rng):
    """Many rims, many duplicates, copies across the sets."""
    return rng.integers(1, 4, (70, 3)).astype(float), rng.integers(0, 4, (50, 3)).astype(float)


def single_precision(rng):
    return tuple(side.astype(np.float32) for side in gaussians(rng))


@pytest.fixture(
    params=[
        gaussians,
        fewer_generated,
        more_generated,
        one_dimension,
        lattice,
        single_precision,
    ],
    ids=lambda make: make.__name__,
)
def sets(request, rng):
    return request.param(rng)


both_ties = pytest.mark.parametrize("ties", ["closed", "open"])
EXACT = 1e-12


def test_realism(sets):
    found = metrics.realism(*sets, k=3)
    np.testing.assert_allclose(found.per_sample, brute.realism(*sets, k=3), rtol=1e-9)
    assert found.value == pytest.approx(np.median(found.per_sample), rel=1e-12)


@both_ties
def test_clipped(sets, ties, request):
    name = request.node.callspec.params["sets"].__name__
    for k in (2, 5):
        found = metrics.clipped_density_coverage(*sets, k=k, ties=ties)
        expected = brute.clipped_density(*sets, k=k, ties=ties)
        if np.isnan(expected):
            assert (name, ties) == ("lattice", "open")
            assert np.isnan(found.density.value)
            assert found.density.reason
        else:
            assert found.density.value == pytest.approx(expected, abs=EXACT)
        measured = brute.clipped_share(*sets, k=k, ties=ties)
        assert found.coverage.per_sample.mean() == pytest.approx(measured, abs=EXACT)
        sizes = len(sets[0]), len(sets[1])
        assert found.coverage.value == pytest.approx(good_share(measured, *sizes, k), abs=1e-9)


def test_probabilistic(sets):
    found = metrics.probabilistic_precision_recall(*sets)
    expected = brute.probabilistic_precision(*sets)
    assert found.precision.value == pytest.approx(expected, abs=1e-6)
    assert found.recall.value == pytest.approx(brute.probabilistic_precision(*sets[::-1]), abs=1e-6)
    wide = metrics.probabilistic_precision_recall(*sets, k=2, factor=2.0)
    assert wide.precision.value == pytest.approx(
        brute.probabilistic_precision(*sets, k=2, factor=2.0), abs=1e-6
    )


@both_ties
def test_cover(sets, ties):
    for k, factor in ((3, 3), (2, 4), (1, 1)):
        found = metrics.precision_recall_cover(*sets, k=k, factor=factor, ties=ties)
        assert found.precision.value == brute.cover_precision(*sets, k, factor, ties)
        assert found.recall.value == brute.cover_precision(*sets[::-1], k, factor, ties)


@both_ties
def test_spheres(sets, ties):
    sets = [side.astype(np.float64) for side in sets]
    found = metrics.sphere_precision_recall(*sets, ties=ties)
    assert found.precision.value == pytest.approx(brute.sphere_precision(*sets), abs=1e-9)
    assert found.recall.value == pytest.approx(brute.sphere_recall(*sets, ties), abs=1e-9)


def test_copying(sets):
    assert metrics.authenticity(*sets).value == brute.authenticity(*sets)
    assert metrics.near_copies(*sets).value == brute.near_copies(*sets)


def test_cosine(rng):
    sets = rng.standard_normal((50, 5)) + 0.5, rng.standard_normal((40, 5)) * 3 + 0.4
    cosine = {"distance": "cosine"}
    np.testing.assert_allclose(
        metrics.realism(*sets, **cosine).per_sample,
        brute.realism(*sets, metric="cosine"),
        rtol=1e-9,
    )
    clipped = metrics.clipped_density_coverage(*sets, **cosine)
    assert clipped.density.value == pytest.approx(brute.clipped_density(*sets, metric="cosine"))
    assert clipped.coverage.per_sample.mean() == pytest.approx(
        brute.clipped_share(*sets, metric="cosine")
    )
    probable = metrics.probabilistic_precision_recall(*sets, **cosine)
    assert probable.precision.value == pytest.approx(
        brute.probabilistic_precision(*sets, metric="cosine")
    )
    cover = metrics.precision_recall_cover(*sets, **cosine)
    assert cover.precision.value == brute.cover_precision(*sets, metric="cosine")
    assert metrics.authenticity(*sets, **cosine).value == brute.authenticity(*sets, metric="cosine")
    assert metrics.near_copies(*sets, **cosine).value == brute.near_copies(*sets, metric="cosine")
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sets]
    spheres = metrics.sphere_precision_recall(*sets, **cosine)
    assert spheres.precision.value == pytest.approx(brute.sphere_precision(*units), abs=1e-9)
    assert spheres.recall.value == pytest.approx(brute.sphere_recall(*units), abs=1e-9)
    assert "distance:cosine" in spheres.recall.signature.split("|")


def test_cosine_of_precision_and_recall_is_euclidean_on_the_unit_sphere(rng):
    sets = rng.standard_normal((50, 5)) + 0.5, rng.standard_normal((40, 5)) * 3 + 0.4
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sets]
    for measure in (metrics.precision_recall, metrics.density_coverage):
        turned, plain = measure(*sets, distance="cosine"), measure(*units)
        for name in vars(plain):
            np.testing.assert_array_equal(
                getattr(turned, name).per_sample, getattr(plain, name).per_sample
            )
