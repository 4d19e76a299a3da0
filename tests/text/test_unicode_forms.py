"""Texts that are the same to the eye have the same words, in whatever form they are written."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.evaluate.prompts import behind_prompt
from calipers.text import exact_duplicates, longest_copied_span, novelty, tokenise
from calipers.text.unicode_forms import altered, as_seen, folded_words

PLAIN = ["le café est déjà fermé ce soir à Orléans", "où sont passées les clés du château"]
DECOMPOSED = [unicodedata.normalize("NFD", text) for text in PLAIN]
HIDDEN = ["​".join(text[i : i + 3] for i in range(0, len(text), 3)) for text in PLAIN]


@pytest.mark.parametrize("other", [DECOMPOSED, HIDDEN])
def test_copies_are_found_in_other_forms(other):
    assert all(map(altered, other))
    assert not any(map(altered, PLAIN))
    assert novelty(other, PLAIN, order=2).value == 0
    assert longest_copied_span(other, PLAIN).per_sample.tolist() == [9, 7]
    assert exact_duplicates([PLAIN[0], other[0]], fold=True).value == 0.5


@pytest.mark.parametrize("other", [DECOMPOSED, HIDDEN])
def test_a_corpus_has_the_tokens_of_what_is_seen_and_keeps_the_texts(other):
    first, second = tokenise(PLAIN, other)
    assert first.tokens.tolist() == second.tokens.tolist()
    assert list(second.texts) == other


def test_joiners_stay_where_they_change_what_is_seen():
    persian, family = "می‌خواهم", "\U0001f468‍\U0001f469"
    assert as_seen(persian) == persian
    assert as_seen(family) == family
    assert as_seen("wa‍ter‌mark") == "watermark"


def test_what_looks_different_stays_different():
    assert as_seen("ﬁn") != "fin"  # a ligature
    assert as_seen("ＡＢ") != "AB"
    assert as_seen("рост") != "poct"  # Cyrillic


def test_a_prompt_in_another_form_is_taken_off():
    text = unicodedata.normalize("NFD", "Où est la clé\u200b ? Elle est là.")
    rest = unicodedata.normalize("NFD", "? Elle est là.")
    assert text[behind_prompt(text, "où est la clé") :] == rest


@given(st.text())
def test_laws(text):
    seen = as_seen(text)
    assert as_seen(seen) == seen
    assert not altered(seen)
    assert altered(text) == (seen != text)
    assert as_seen(unicodedata.normalize("NFD", text)) == seen
    assert folded_words(text) == folded_words(seen)
