"""A chain says only what it heard, as often as it heard it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.demo.markov import fit, generate

TEXTS = ["a b c a b d", "b c", "one"]


def test_fit_counts_what_follows_what() -> None:
    chain = fit(TEXTS)
    assert chain.successors == {
        ("a",): ("b", "b"),
        ("b",): ("c", "d", "c"),
        ("c",): ("a",),
    }
    assert chain.openings == (("a",), ("b",))
    assert chain.lengths == (6, 2)


def test_order_two_looks_at_pairs() -> None:
    chain = fit(TEXTS, order=2)
    assert chain.successors[("a", "b")] == ("c", "d")
    assert chain.openings == (("a", "b"),)


def test_words_follow_as_often_as_they_did() -> None:
    chain = fit(["a " + "b a " * 3 + "c a"] * 2)
    words = " ".join(generate(chain, 500, seed=0)).split()
    after_a = Counter(right for left, right in pairwise(words) if left == "a")
    assert after_a["b"] / (after_a["b"] + after_a["c"]) == pytest.approx(0.75, abs=0.03)


def test_lengths_are_those_of_the_fitted_texts() -> None:
    lengths = Counter(len(text.split()) for text in generate(fit(TEXTS), 400, seed=1))
    assert set(lengths) == {2, 6}
    assert lengths[6] / 400 == pytest.approx(0.5, abs=0.1)


def test_a_seed_decides_every_word() -> None:
    chain = fit(TEXTS)
    assert generate(chain, 20, seed=3) == generate(chain, 20, seed=3)
    assert generate(chain, 20, seed=3) != generate(chain, 20, seed=4)
    assert generate(chain, 20, seed=np.random.default_rng(3)) == generate(chain, 20, seed=3)


words = st.lists(st.sampled_from("abcd"), min_size=2, max_size=8).map(" ".join)


@given(texts=st.lists(words, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_every_pair_was_heard_or_opens_anew(texts: list[str], seed: int) -> None:
    chain = fit(texts)
    for text in generate(chain, 3, seed=seed):
        for left, right in pairwise(text.split()):
            heard = chain.successors.get((left,))
            assert (right in heard) if heard is not None else ((right,) in chain.openings)


@pytest.mark.parametrize(("texts", "order"), [([], 1), (["one"], 1), (["two words"], 2)])
def test_texts_too_short_to_learn_from_are_refused(texts: list[str], order: int) -> None:
    with pytest.raises(ValueError, match=f"more than order={order} words"):
        fit(texts, order=order)
