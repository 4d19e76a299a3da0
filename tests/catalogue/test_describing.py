"""What a metric does not detect follows the options that it is read by."""

from __future__ import annotations

import pytest

from calipers.catalogue.choosing import find
from calipers.catalogue.describing import describe_all
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import COUNTING, ESTIMATORS, UNSEEN

BEYOND = "where it is infinite, everything beyond that"
WITH_ESTIMATOR = [name for name, metric in METRICS.items() if metric.takes("estimator")]


def blind(key):
    (data,) = describe_all([key])
    return data["blind"]


@pytest.mark.parametrize("name", WITH_ESTIMATOR)
def test_without_cells_nothing_is_said_of_them(name):
    assert "cell" in blind(name)
    assert blind(f"{name}:{COUNTING}") == blind(name) == METRICS[name].blind
    for estimator in set(ESTIMATORS) - {COUNTING}:
        said = blind(f"{name}:{estimator}")
        assert UNSEEN[estimator] in said
        assert "cell" not in said
        assert "buckets" not in said


def test_every_estimator_says_what_it_does_not_see():
    assert {COUNTING, *UNSEEN} == set(ESTIMATORS)
    assert blind("mauve:knn") == (
        "whether quality or variety is lacking; "
        "anything finer than 50 neighbours, or beyond the 10 leading axes"
    )
    assert blind("frontier_f8:classifier").startswith("what no plane separates; it hardly tells")
    assert blind("max_recall:boosted").endswith("how often the generated set makes what it reaches")


@pytest.mark.parametrize(
    ("key", "infinite"),
    [
        ("divergence", True),
        ("divergence:chi2", True),
        ("divergence:knn", True),
        ("divergence:le_cam", False),
        ("divergence:interpolated_kl=0.3", False),
        ("divergence:laplace", False),
        ("divergence:kde", False),
        ("divergence_star", False),
        ("divergence_star:chi2", False),
    ],
)
def test_only_what_may_be_infinite_is_said_to_be(key, infinite):
    assert (BEYOND in blind(key)) == infinite
    assert "KL" not in blind(key)


def test_a_metric_without_options_says_the_same_always():
    kid = find("kid")
    assert kid.metric.blind_of(kid.options) == kid.metric.blind


def test_no_metric_read_from_ratios_speaks_of_cells():
    for metric in METRICS.values():
        if metric.takes("estimator"):
            (found,) = describe_all([f"{metric.name}:knn"])
            assert "cells" not in found["tells"]
            assert not found["tells"].endswith(",")
