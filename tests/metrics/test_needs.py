"""One pass serves all metrics that were asked for, and measures nothing for the others."""

import numpy as np
import pytest

from calipers.catalogue.choosing import needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.needs import EVERYTHING, Needs
from calipers.errors import InputError
from calipers.estimate.knn.balls import Supports
from calipers.metrics.pair import Pair, Settings

NEIGHBOURLY = [m for m in METRICS.values() if m.family in ("support", "copying")]


def near_of(sets, *names, k=4):
    needs = needs_of(METRICS[name] for name in names)
    return Pair(*sets, Settings(k=k, threads=1), needs).neighbourhoods


@pytest.fixture
def sets(rng):
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


def test_no_more_is_measured_than_was_asked_for(sets):
    plain = near_of(sets, "precision", "authenticity", "near_copies", "sphere_recall", "mauve")
    assert (plain.k_max, plain.supports) == (4, Supports())
    coverage = near_of(sets, "clipped_coverage", k=2)
    assert (coverage.k_max, coverage.supports) == (5, Supports())
    density = near_of(sets, "clipped_density", "realism", k=2)
    assert (density.k_max, density.supports) == (5, Supports(capped=5, smaller=2))
    cover = near_of(sets, "cover_recall", "probabilistic_precision", k=12)
    assert (cover.k_max, cover.supports) == (12, Supports(spread=(4, 1.2)))


def test_by_default_everything_is_measured_at_once(sets):
    pair = Pair(*sets, Settings(k=3, threads=1))
    near = pair.neighbourhoods
    assert (near.k_max, near.supports) == (9, Supports(5, 3, (4, 1.2), True))
    for metric in NEIGHBOURLY:
        metric.score(pair)
    assert pair.neighbourhoods is near


def test_less_measured_gives_the_same_scores(sets):
    whole = Pair(*sets, Settings(threads=1))
    for metric in NEIGHBOURLY:
        if not metric.name.startswith("top"):
            alone = Pair(*sets, Settings(threads=1), metric.needs)
            found, expected = metric.score(alone), metric.score(whole)
            assert found.value == pytest.approx(expected.value, abs=1e-9), metric.name
            assert found.signature == expected.signature


def test_what_was_not_measured_is_refused(sets):
    pair = Pair(*sets, Settings(threads=1), Needs())
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
def test_sets_too_small_for_the_k_of_a_metric_leave_the_others_alone(sets, n, m, undefined):
    pair = Pair(sets[0][:n], sets[1][:m], Settings(k=2, threads=1))
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


def test_sets_too_small_for_the_shared_k_are_refused(sets):
    with pytest.raises(InputError, match="k = 6 needs at least 7 samples"):
        _ = Pair(sets[0][:6], sets[1], Settings(k=6, threads=1)).neighbourhoods


def test_cosine_reaches_every_neighbour_metric(sets):
    left, right = (side + 0.5 for side in sets)
    turned = Pair(left, right, Settings(distance="cosine", threads=1))
    stretched = Pair(left * 3, right * 7, Settings(distance="cosine", threads=1))
    for metric in NEIGHBOURLY:
        if metric.name.startswith("top"):
            continue
        score = metric.score(turned)
        assert "distance:cosine" in score.signature.split("|"), metric.name
        assert metric.score(stretched).value == pytest.approx(score.value, abs=1e-6), metric.name
