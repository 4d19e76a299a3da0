"""What keys with options are called: composed from their parts, without the catalogue."""

from __future__ import annotations

import pytest

from calipers.catalogue.choosing import find
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import DIVERGENCE, ESTIMATOR, SMOOTHING
from calipers.report import plain_text
from calipers.report.names import label, meaning


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mauve_star:chi2", "MAUVE* χ²"),
        ("frontier_integral:knn", "FI k-NN"),
        ("mauve:chi2:knn", "MAUVE χ² k-NN"),
        ("mauve:interpolated_kl=0.3", "MAUVE KL 0.3"),
        ("midpoint:laplace", "Mid Laplace"),
        ("prd_f1_8:gaussian", "PRD F1/8 Gauss"),
        ("divergence", "Div KL"),
        ("divergence:knn", "Div KL k-NN"),
        ("divergence_star:le_cam", "Div* Le Cam"),
        ("mauve:unheard", "mauve:unheard"),
        ("unheard:chi2", "unheard:chi2"),
        ("recall:group=a:b", "Recall a:b"),
        ("near_copies:train", "Copies train"),
    ],
)
def test_the_head_of_a_column(key, text):
    assert label(key) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mauve", "how close the two distributions are, unsmoothed; 1 is no gap"),
        ("mauve:chi2", "how close the two distributions are, unsmoothed, by χ²; 1 is no gap"),
        ("mauve:knn", "how close the two distributions are, from nearest neighbours; 1 is no gap"),
        (
            "mauve:laplace",
            "how close the two distributions are, 1 added to each count; 1 is no gap",
        ),
        ("max_recall:kde", ", from kernel densities"),
    ],
)
def test_what_a_key_with_options_tells(key, text):
    assert meaning(key).endswith(text)


def test_every_word_of_every_option_has_a_name():
    for divergence in DIVERGENCE.forms:
        assert label(find(f"divergence_star:{divergence}").name).startswith("Div* ")
    assert set(DIVERGENCE.names) == set(DIVERGENCE.labels)
    for option in (ESTIMATOR, SMOOTHING):
        assert set(option.words) - {option.default} == set(option.labels) == set(option.said)
    assert len({label(name) for name in METRICS}) == len(METRICS)


def test_the_headline_follows_the_estimator(make):
    scores = {"precision": make["score"](0.5), "mauve:knn": make["score"](0.4)}
    scores |= {"frontier_integral:knn": make["score"](0.3)}
    data = make["comparison"]([make["system"]("a", scores)], estimator="knn")
    text = plain_text(data)
    assert "MAUVE k-NN↑" in text
    assert "FI k-NN" not in text
