"""Beam search against all texts, and against its steps; adversarial perplexity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.sampling import uniforms
from calipers.language_model.search import (
    adversarial_search,
    beam_search,
    closest_to_perplexity,
    random_tokens,
)

END = 0
Model = Callable[[Sequence[Sequence[int]]], np.ndarray]


def toy(seed: int, size: int = 4) -> Model:
    """A model whose next token depends on the last two."""
    logits = np.random.default_rng(seed).normal(0, 2, (size + 1, size + 1, size))
    table = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))

    def following(histories: Sequence[Sequence[int]]) -> np.ndarray:
        padded = [[size, size, *history][-2:] for history in histories]
        return np.stack([table[first, second] for first, second in padded])

    return following


def log_probability(model: Model, prompt: Sequence[int], tokens: Sequence[int]) -> float:
    return sum(
        float(model([[*prompt, *tokens[:place]]])[0, token]) for place, token in enumerate(tokens)
    )


def all_texts(size: int, length: int) -> list[tuple[int, ...]]:
    """Those that end, and those of full length that do not."""
    middle = range(1, size)
    ended = [(*text, END) for n in range(length) for text in product(middle, repeat=n)]
    return ended + list(product(middle, repeat=length))


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_beam_wide_enough_finds_the_best_of_all_texts(seed: int, length_penalty: float) -> None:
    model, prompt = toy(seed), [1]
    found = beam_search(
        model, prompt, beams=400, max_tokens=4, end=END, length_penalty=length_penalty
    )
    scores = {
        text: log_probability(model, prompt, text) / len(text) ** length_penalty
        for text in all_texts(4, 4)
    }
    best = max(scores, key=lambda text: scores[text])
    assert found.tokens == best
    assert found.score == pytest.approx(scores[best])
    assert found.log_probability == pytest.approx(log_probability(model, prompt, best))
    assert found.ended == (best[-1] == END)


@pytest.mark.parametrize("seed", range(4))
def test_no_text_repeats_an_ngram(seed: int) -> None:
    model = toy(seed, 3)
    found = beam_search(model, [1], beams=99, max_tokens=6, end=END, no_repeat_ngram=2)

    def repeats(text: Sequence[int]) -> bool:
        pairs = list(zip([1, *text], text, strict=False))
        return len(set(pairs)) < len(pairs)

    scores = {
        text: log_probability(model, [1], text) / len(text)
        for text in all_texts(3, 6)
        if not repeats(text)
    }
    assert found.tokens == max(scores, key=lambda text: scores[text])


def by_steps(model: Model, beams: int, length: int, alpha: float) -> tuple[int, ...]:
    """The same search, written down plainly."""
    alive: dict[tuple[int, ...], float] = {(): 0.0}
    done: dict[tuple[int, ...], float] = {}
    for step in range(1, length + 1):
        extended = {
            (*text, token): total + float(value)
            for text, total in alive.items()
            for token, value in enumerate(model([text])[0])
        }
        ranked = sorted(extended, key=lambda text: -extended[text])
        done |= {t: extended[t] / step**alpha for t in ranked[:beams] if t[-1] == END}
        done = {t: done[t] for t in sorted(done, key=lambda text: -done[text])[:beams]}
        going = [text for text in ranked if text[-1] != END][:beams]
        alive = {text: extended[text] for text in going}
        if len(done) == beams and extended[going[0]] / step**alpha <= min(done.values()):
            return max(done, key=lambda text: done[text])
    last = done | {text: total / length**alpha for text, total in alive.items()}
    return max(last, key=lambda text: last[text])


@given(
    seed=st.integers(0, 10_000),
    beams=st.integers(2, 5),
    length=st.integers(1, 7),
    alpha=st.sampled_from([0.0, 0.7, 1.0, 1.5]),
)
def test_a_narrow_beam_follows_its_steps(seed: int, beams: int, length: int, alpha: float) -> None:
    model = toy(seed, 5)
    found = beam_search(model, [], beams=beams, max_tokens=length, end=END, length_penalty=alpha)
    assert found.tokens == by_steps(model, beams, length, alpha)


def test_one_beam_without_an_end_is_greedy() -> None:
    model = toy(3)
    tokens: list[int] = []
    for _ in range(8):
        tokens.append(int(model([tokens])[0].argmax()))
    assert beam_search(model, [], beams=1, max_tokens=8, end=None).tokens == tuple(tokens)


def test_a_penalty_on_repetition_changes_the_text() -> None:
    def constant(histories: Sequence[Sequence[int]]) -> np.ndarray:
        return np.log(np.tile([0.5, 0.3, 0.2], (len(histories), 1)))

    plain = beam_search(constant, [], beams=2, max_tokens=3, end=None)
    assert plain.tokens == (0, 0, 0)
    other = beam_search(constant, [], beams=9, max_tokens=3, end=None, repetition_penalty=9.0)
    assert sorted(other.tokens) == [0, 1, 2]


def test_where_everything_is_banned_the_text_is_empty() -> None:
    found = beam_search(toy(0, 2), [0, 1], beams=2, max_tokens=3, end=None, no_repeat_ngram=1)
    assert found.tokens == ()


def test_the_closest_perplexity_by_hand() -> None:
    p = np.array([[0.5, 0.25, 0.2, 0.05]])
    zero = np.zeros(1)
    for target, token in ((1.5, 0), (2.9, 0), (3.1, 1), (4.6, 2), (12.4, 2), (12.6, 3), (999, 3)):
        assert closest_to_perplexity(np.log(p), zero, 0, target).tolist() == [token]
    # √(8 · 1/p) after one token of 1/8: 4, 5.66, 6.32, 12.65
    before = np.log(np.full(1, 1 / 8))
    assert closest_to_perplexity(np.log(p), before, 1, 6.1).tolist() == [2]
    assert closest_to_perplexity(np.log(p), before, 1, 4.5).tolist() == [0]


def test_the_closest_perplexity_of_rows_ties_and_the_impossible() -> None:
    with np.errstate(divide="ignore"):
        p = np.log(np.array([[0.0, 0.5, 0.5], [0.9, 0.1, 0.0]]))
    assert closest_to_perplexity(p, np.zeros(2), 0, 1.0).tolist() == [1, 0]
    assert closest_to_perplexity(p, np.zeros(2), 0, 1e9).tolist() == [1, 1]
    assert closest_to_perplexity(p, np.full(2, -1e6), 3, 5.0).tolist() == [1, 0]


def test_how_many_tokens_are_random() -> None:
    assert [random_tokens(length) for length in (1, 20, 100, 256)] == [1, 3, 15, 39]
    assert random_tokens(50, 0.0) == 0


@pytest.mark.parametrize("target", [7.0, 20.0])
def test_an_adversarial_text_comes_to_its_target(target: float) -> None:
    model, size = toy(1, 12), 12
    decoding = Decoding.parse(f"adversarial={target}")
    choices = np.arange(1, size)
    tokens = adversarial_search(model, [], decoding, uniforms(0, 0, 200), choices=choices)
    assert len(tokens) == 200
    assert END not in tokens
    total = log_probability(model, [], tokens)
    assert math.exp(-total / 200) == pytest.approx(target, rel=0.02)
    first = random_tokens(200)
    for place in (first, first + 7, 199):
        before = log_probability(model, [], tokens[:place])
        steps = model([tokens[:place]])
        perplexities = np.exp(-(before + steps[0, 1:]) / (place + 1))
        assert tokens[place] == 1 + int(np.abs(perplexities - target).argmin())


def test_the_random_beginning_is_uniform() -> None:
    decoding = Decoding.parse("adversarial=3,random_share=0.99")
    choices = np.arange(1, 5)
    tokens = adversarial_search(toy(1, 5), [], decoding, uniforms(0, 1, 1000), choices=choices)
    counts = np.bincount(tokens[:990], minlength=5)
    assert counts[0] == 0
    assert ((counts[1:] > 200) & (counts[1:] < 300)).all()


def test_a_target_is_needed() -> None:
    with pytest.raises(InputError, match="needs the perplexity"):
        adversarial_search(
            toy(0), [], Decoding.parse("adversarial"), uniforms(0, 0, 3), choices=np.arange(4)
        )
