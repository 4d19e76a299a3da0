"""Laws of the support metrics on small sets full of ties, duplicates and single dimensions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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
    probabilistic_precision_score,
    probabilistic_recall_score,
)
from calipers.metrics.spheres import sphere_precision_score, sphere_recall_score

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
quick = settings(max_examples=40, deadline=None)


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
        assert turned[name].value == pytest.approx(score.value, abs=within(name), nan_ok=True), name


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
