"""Whether columns agree on two systems or on all, and the sentences that say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.agree.result import MetricAgreement, PairOrder, ViewColumn
from calipers.score import Score

COLUMNS = (
    ViewColumn("minilm", "meaning"),
    ViewColumn("minilm", "form"),
    ViewColumn("tfidf", "words"),
)
WINNERS = st.lists(st.sampled_from(["a", "b", "tie", "unknown"]), min_size=3, max_size=3)


def pair(*winners):
    return PairOrder("x", "y", COLUMNS, winners)


@pytest.mark.parametrize(
    ("winners", "sentence"),
    [
        ("aaa", "all 3 columns put x above y"),
        ("bbb", "all 3 columns put y above x"),
        (("tie",) * 3, "all 3 columns see a tie of x and y"),
        (("a", "tie", "a"), "2 of 3 columns put x above y; a tie by minilm form"),
        (("b", "a", "b"), "y above x by minilm meaning, tfidf words; the reverse by minilm form"),
        (("a", "tie", "b"), "x above y by minilm meaning; the reverse by tfidf words; a tie by"),
        (("a", "a", "unknown"), "2 of 3 columns put x above y; no value by tfidf words"),
        (
            ("tie", "b", "tie"),
            "1 of 3 columns puts y above x; a tie by minilm meaning, tfidf words",
        ),
        (("tie", "tie", "unknown"), "2 of 3 columns see a tie of x and y; no value by tfidf words"),
        (("unknown",) * 3, "no column has a value for x and y"),
    ],
)
def test_sentences(winners, sentence):
    assert pair(*winners).sentence.startswith(sentence)


def test_two_columns_are_both():
    assert PairOrder("x", "y", COLUMNS[:2], ("a", "a")).sentence == "both columns put x above y"


def test_split_and_agreed():
    assert pair("a", "b", "a").split
    assert not pair("a", "tie", "unknown").split
    assert pair("a", "a", "a").agreed == "x"
    assert pair("b", "b", "b").agreed == "y"
    assert pair("a", "tie", "a").agreed is None
    assert pair("tie", "tie", "tie").agreed is None


@given(WINNERS)
def test_swapping_the_systems_swaps_the_words(winners):
    swapped = {"a": "b", "b": "a"}
    there = pair(*winners)
    back = PairOrder("y", "x", COLUMNS, tuple(swapped.get(w, w) for w in winners))
    assert there.split == back.split
    assert there.agreed == back.agreed
    if "a" in winners or "b" in winners:
        assert there.sentence == back.sentence


def metric(values, name="precision", tie=0.02):
    values = np.array(values)
    nothing = np.full((len(values),) * 2, np.nan)
    return MetricAgreement(
        metric=name,
        columns=COLUMNS[: len(values)],
        systems=tuple("wxyz"[: values.shape[1]]),
        scores=tuple(tuple(Score(value) for value in row) for row in values),
        spearman=nothing,
        kendall=nothing,
        chance=nothing,
        reasons=((None,) * len(values),) * len(values),
        tie=tie,
    )


def test_a_common_order_is_told():
    found = metric([[0.2, 0.9, 0.5], [0.1, 0.7, 0.4]])
    assert found.sentence.endswith("of 3 pairs of systems; all rank x above y above w")
    assert found.split == ()


def test_ties_leave_no_common_order_and_no_disagreement():
    found = metric([[0.2, 0.9, 0.5], [0.41, 0.7, 0.4]])
    assert found.sentence == "no two columns disagree on any of 3 pairs of systems"


def test_the_pairs_of_a_split():
    found = metric([[0.2, 0.9, 0.5], [0.5, 0.9, 0.2], [0.5, 0.9, 0.2]])
    assert found.sentence == "columns disagree on 1 of 3 pairs of systems"
    assert [(each.a, each.b) for each in found.split] == [("w", "y")]
    assert found.lowest is None


def test_a_metric_without_a_better_end_names_no_winner():
    found = metric([[0.2, 0.9], [0.9, 0.2]], name="authenticity")
    assert found.pairs == ()
    assert "neither direction is better" in found.sentence
