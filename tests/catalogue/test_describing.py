"""What is said of metrics: in words that follow their options, and in the tables of the docs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from calipers.catalogue.choosing import find
from calipers.catalogue.describing import describe_all
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import COUNTING, CURVE_ESTIMATOR, ESTIMATORS, UNSEEN

# What a metric does not detect follows the options that it is read by.


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
    assert {COUNTING, *UNSEEN} == set(CURVE_ESTIMATOR.words)
    assert blind("mauve:knn") == (
        "whether quality or variety is lacking; "
        "anything finer than 50 neighbours, or beyond the 10 leading axes"
    )
    assert blind("mauve:kde:other_side").endswith("which it may rank wrongly")
    assert "come out negative" in blind("midpoint:gaussian:own_side")
    assert blind("frontier_f8:classifier").startswith(
        "what no plane separates, or beyond the 10 leading axes; it hardly separates"
    )
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
    read = [metric for metric in METRICS.values() if metric.takes("estimator")]
    assert len(read) > 5
    for metric in read:
        (found,) = describe_all([f"{metric.name}:knn"])
        assert "cells" not in found["tells"]
        assert not found["tells"].endswith(",")


# The tables of metrics in the documentation are those of the catalogue.


SCRIPT = Path(__file__).parents[2] / "docs" / "tables.py"
SPEC = importlib.util.spec_from_file_location("tables", SCRIPT)
tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_a_page_is_as_the_catalogue_has_it(page):
    assert tables.written(page) == page.read_text("utf-8"), "run make tables"


def test_every_metric_stands_in_the_page_of_all():
    text = (SCRIPT.parent / "metrics.md").read_text("utf-8")
    for name in [*tables.METRICS, *tables.TEXT_METRICS]:
        assert f"\n| `{name}`" in text
