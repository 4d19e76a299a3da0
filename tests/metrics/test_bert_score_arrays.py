import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.metrics.bert_score import bert_score, best, idf, rescale, with_f1

NINE, SIX = 0.96, 0.6


def test_an_example_worked_by_hand():
    """Cosines of y1, y2 with x1, x2, x3: (1, .6, 0) and (.8, .96, .6)."""
    text = [[2.0, 0.0], [0.8, 0.6]]
    reference = [[1.0, 0.0], [0.6, 0.8], [0.0, 3.0]]
    found = bert_score([text], [reference], reference_weights=[[1.0, 2.0, 1.0]])
    precision, recall = (1 + NINE) / 2, (1 + 2 * NINE + SIX) / 4
    assert found.precision.value == pytest.approx(precision, abs=1e-12)
    assert found.recall.value == pytest.approx(recall, abs=1e-12)
    assert found.f1.value == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)


def test_a_token_that_weighs_nothing_may_still_be_matched():
    found = bert_score(
        [[[1.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0], [0.0, 1.0]]], reference_weights=[[1.0, 0.0]]
    )
    assert found.precision.value == 1.0
    assert found.recall.value == 1.0


def slow(text, reference, weights, others):
    """The definition with loops, in float64."""

    def cosine(a, b):
        return sum(p * q for p, q in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)

    def side(rows, columns, own):
        each = [max(0, *(cosine(row, column) for column in columns)) for row in rows]
        return sum(w * c for w, c in zip(own, each, strict=True)) / sum(own)

    precision, recall = side(text, reference, weights), side(reference, text, others)
    return precision, recall, 2 * precision * recall / (precision + recall)


def test_equals_loops_over_the_definition(rng):
    texts = [rng.normal(0.3, 1, (length, 5)) for length in (1, 4, 9)]
    references = [rng.normal(0.3, 1, (length, 5)) for length in (3, 1, 7)]
    weights = [rng.uniform(0.1, 3, len(rows)) for rows in texts]
    others = [rng.uniform(0.1, 3, len(rows)) for rows in references]
    found = bert_score(texts, references, text_weights=weights, reference_weights=others)
    expected = np.array(
        [slow(*each) for each in zip(texts, references, weights, others, strict=True)]
    )
    for part, column in zip((found.precision, found.recall, found.f1), expected.T, strict=True):
        assert part.per_sample == pytest.approx(column, abs=1e-12)
        assert part.value == pytest.approx(column.mean(), abs=1e-12)


def test_pairs_without_weight_have_no_value_and_are_counted():
    unit = [[1.0, 0.0]]
    found = bert_score([unit, unit], [unit, unit], text_weights=[[0.0], [1.0]])
    assert np.isnan(found.precision.per_sample).tolist() == [True, False]
    assert np.isnan(found.recall.per_sample).tolist() == [False, False]
    assert np.isnan(found.f1.per_sample).tolist() == [True, False]
    assert "undefined:1|n:2" in found.f1.signature
    assert "undefined" not in found.recall.signature
    nothing = bert_score([unit], [unit], text_weights=[[0.0]]).f1
    assert math.isnan(nothing.value)
    assert nothing.reason == "no pair has a token that counts on both sides"


def test_a_token_that_is_like_none_counts_0():
    found = bert_score([[[1.0, 0.0], [-1.0, 0.0]]], [[[1.0, 0.0]]])
    assert (found.precision.value, found.recall.value) == (0.5, 1.0)
    nothing = bert_score([[[1.0]]], [[[-1.0]]])
    assert (nothing.precision.value, nothing.recall.value, nothing.f1.value) == (0, 0, 0)


def test_idf_is_smoothed_by_one():
    references = [np.array(ids, np.int32) for ids in ([0, 1, 1, 2], [0, 2], [0])]
    expected = [math.log(4 / 4), math.log(4 / 2), math.log(4 / 3), math.log(4 / 1)]
    assert idf(references, 4) == pytest.approx(expected, abs=1e-15)


def test_each_part_takes_its_own_best_reference():
    found = np.array([[[0.2, 0.9, 0.33], [0.5, 0.4, 0.44]], [[np.nan] * 3, [0.1, 0.2, 0.13]]])
    assert best(found).tolist() == [[0.5, 0.9, 0.44], [0.1, 0.2, 0.13]]
    assert np.isnan(best(np.full((1, 2, 3), np.nan))).all()


def test_rescaling_puts_the_baseline_at_0_and_leaves_1():
    level = np.array([0.2, 0.5, 0.4])
    assert rescale(np.array([level, [1.0, 1.0, 1.0]]), level).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_f1_of_nothing_is_0():
    assert with_f1(np.zeros((1, 2))).tolist() == [[0, 0, 0]]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_swapping_the_sides_swaps_precision_and_recall(tokens, others, seed):
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=(tokens, 3)), rng.normal(size=(others, 3))
    there, back = bert_score([one], [two]), bert_score([two], [one])
    assert there.precision.value == pytest.approx(back.recall.value, abs=1e-12)
    assert there.recall.value == pytest.approx(back.precision.value, abs=1e-12)
    assert bert_score([one], [one]).f1.value == pytest.approx(1, abs=1e-12)
    assert min(there.precision.value, there.recall.value, there.f1.value) >= 0
    assert max(there.precision.value, there.recall.value, there.f1.value) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "equally many, and at least one.* 0 and 0"),
        (([[[1.0]]], []), "found 1 and 0"),
        (([[1.0]], [[[1.0]]]), "texts: row 1 must have shape"),
        (([[[1.0]]], [[[1.0, 2.0]]]), "row 1: .* as many columns.* 1 and 2"),
    ],
)
def test_arrays_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        bert_score(*arguments)


def test_weights_that_do_not_fit_are_named():
    with pytest.raises(InputError, match=r"weights of texts: row 1 .*1 finite"):
        bert_score([[[1.0]]], [[[1.0]]], text_weights=[[-1.0]])
