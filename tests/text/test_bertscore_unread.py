"""BERTScore of texts that its model cannot read."""

import numpy as np
import pytest

import calipers
from calipers.score import signature_pins
from calipers.text import bert_score
from extras import need

need("torch")

ONE, OTHER = "ముసలివాడు స్నేహితుడు పటం.", "పిల్లి వైద్యుడు రొట్టె."


def test_unlike_texts_that_are_not_read_do_not_score_as_equal():
    found = bert_score([ONE] * 3, [OTHER] * 3)
    for score in (found.precision, found.recall, found.f1):
        assert np.isnan(score.value)
        assert "minilm knows less than half of the words in 3 of 3 rows" in score.reason
        assert signature_pins(score.signature)["unread"] == "3"
        assert signature_pins(score.signature)["unread_words"] == "1"


def test_rows_that_are_not_read_have_no_value_and_are_counted():
    texts, references = ["a cat sat", ONE, "a dog ran"], ["a cat sat", OTHER, "it rains"]
    found = bert_score(texts, references).f1
    assert np.isnan(found.per_sample).tolist() == [False, True, False]
    assert found.value == pytest.approx(np.nanmean(found.per_sample))
    assert found.per_sample[0] == pytest.approx(1)
    pins = signature_pins(found.signature)
    assert (pins["unread"], pins["undefined"]) == ("1", "1")


def test_a_row_counts_where_one_reference_is_read():
    found = bert_score(["a cat"], [["a cat", OTHER]]).f1
    assert found.value == pytest.approx(1)
    assert "unread" in signature_pins(found.signature)
    assert signature_pins(found.signature)["unread"] == "0"


def test_texts_that_are_read_are_signed_as_ever():
    assert "unread" not in signature_pins(bert_score(["a cat"], ["a dog"]).f1.signature)


def test_text_says_it_first():
    found = calipers.measure_texts(
        ["a cat", ONE, "a dog"],
        reference=["a cat", OTHER, "a fox"],
        aligned=True,
        metrics="bert_score_f1",
        level=None,
    )
    (system,) = found
    first = system.cautions[0]
    assert first.kind == "unread"
    assert "1 of 3 rows have no value for it" in first.text
    assert "the model minilm does not know" in first.text
    assert not any(caution.kind == "undefined" for caution in system.cautions)
    assert "does not know" in str(found)


def test_a_language_that_the_model_was_not_trained_on_is_said():
    japanese = ["猫が好きです。", "今日は天気がとてもいいです。", "これは本です。"]
    note = bert_score(japanese, japanese).f1.note
    assert note.startswith("minilm was trained on English and these texts are Japanese: ")
    assert "use chrf" in note
    assert bert_score(["The cat sat on the mat."], ["It is on the mat."]).f1.note is None
