"""What truncations keep: by hand, and as transformers' processors do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.truncation import (
    RULES,
    entropy,
    has_distribution,
    penalised,
    repeating,
    tempered,
    truncated,
)
from extras import need

TOY = np.array([0.4, 0.3, 0.15, 0.1, 0.05])

TOYS = [
    TOY,
    np.array([0.05, 0.1, 0.15, 0.3, 0.4]),
    np.array([0.999, 0.0005, 0.00035, 0.00015]),
    np.array([0.26, 0.25, 0.245, 0.245 - 1e-4, 1e-4]),
    np.array([1.0]),
]


def random_distributions() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    logits = [rng.normal(0, scale, size) for size in (7, 50, 1000) for scale in (0.3, 2, 6)]
    return [np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in logits]


def kept(name: str, probabilities: Any, value: float) -> list[int]:
    return np.flatnonzero(RULES[name](np.asarray(probabilities, float), value)).tolist()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("top_k", 1, [0]),
        ("top_k", 3, [0, 1, 2]),
        ("top_k", 99, [0, 1, 2, 3, 4]),
        ("top_p", 0.01, [0]),
        ("top_p", 0.69, [0, 1]),
        ("top_p", 0.71, [0, 1, 2]),
        ("top_p", 1.0, [0, 1, 2, 3, 4]),
        ("min_p", 0.3, [0, 1, 2]),
        ("min_p", 1.0, [0]),
        ("epsilon", 0.12, [0, 1, 2]),
        ("epsilon", 0.9, [0]),
        # H = 1.3921, distances .476 .188 .505 .910 1.604: in the order 1, 0, 2, 3, 4
        ("typical", 0.2, [1]),
        ("typical", 0.5, [0, 1]),
        ("typical", 0.8, [0, 1, 2]),
        ("typical", 1.0, [0, 1, 2, 3, 4]),
        # exp(−H) = .2485; √.04 · .2485 = .0497 is more than .04
        ("eta", 0.04, [0, 1, 2, 3, 4]),
        # √.25 · .2485 = .1243
        ("eta", 0.25, [0, 1, 2]),
        # −p log p: .3665 .3612 .2846 .2303 .1498, of 1.3924
        ("top_h", 0.5, [0]),
        ("top_h", 0.53, [0, 1]),
        ("top_h", 0.9, [0, 1, 2, 3]),
        ("top_h", 1.0, [0, 1, 2, 3, 4]),
    ],
)
def test_by_hand(name: str, value: float, expected: list[int]) -> None:
    assert kept(name, TOY, value) == expected


def test_ties_at_the_border_go_to_the_lower_token() -> None:
    even = np.full(5, 0.2)
    assert kept("top_k", even, 2) == [0, 1]
    assert kept("top_p", even, 0.5) == [0, 1, 2]
    assert kept("typical", even, 0.5) == [0, 1, 2]
    assert kept("top_h", even, 0.5) == [0, 1]
    assert kept("top_p", [0.1, 0.1, 0.5, 0.1, 0.2], 0.75) == [0, 2, 4]
    for threshold in ("min_p", "epsilon", "eta"):
        assert kept(threshold, even, 0.9) == [0, 1, 2, 3, 4]


def test_a_sum_that_rounding_leaves_short_is_enough() -> None:
    assert kept("top_p", [0.3, 0.3, 0.3, 0.1], 0.9) == [0, 1, 2]


@pytest.mark.parametrize("name", RULES)
@given(
    weights=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 7.0]), min_size=1, max_size=9),
    value=st.floats(0.01, 0.99),
)
def test_laws_of_all_rules(name: str, weights: list[float], value: float) -> None:
    if not any(weights):
        weights = [*weights, 1.0]
    probabilities = np.array(weights) / sum(weights)
    chosen = RULES[name](probabilities, max(1, round(9 * value)) if name == "top_k" else value)
    assert chosen.any()
    assert not chosen[probabilities == 0].any()
    if name != "typical":  # the most probable ones
        assert probabilities[chosen].min() >= probabilities[~chosen].max(initial=0)


@pytest.fixture(scope="module")
def warpers() -> Any:
    need("torch")
    return need("transformers.generation.logits_process")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "warper", "values"),
    [
        ("top_k", "TopKLogitsWarper", [1, 2, 5, 40]),
        ("top_p", "TopPLogitsWarper", [0.05, 0.33, 0.77, 0.9, 0.951]),
        ("min_p", "MinPLogitsWarper", [0.01, 0.1, 0.33, 0.9]),
        ("typical", "TypicalLogitsWarper", [0.05, 0.2, 0.52, 0.9, 0.951]),
        ("epsilon", "EpsilonLogitsWarper", [3e-4, 0.003, 0.02, 0.2, 0.9]),
        ("eta", "EtaLogitsWarper", [3e-4, 0.003, 0.02, 0.2, 0.9]),
        ("top_h", "TopHLogitsWarper", [0.1, 0.4, 0.7, 0.95, 1.0]),
    ],
)
def test_kept_as_transformers_keeps(
    warpers: Any, name: str, warper: str, values: list[float]
) -> None:
    import torch

    for probabilities in [*TOYS, *random_distributions()]:
        scores = torch.log(torch.from_numpy(probabilities))[None]
        for value in values:
            theirs = getattr(warpers, warper)(value)(torch.zeros((1, 0), dtype=torch.long), scores)
            expected = torch.isfinite(theirs[0]).nonzero()[:, 0].tolist()
            if name == "top_h" and value == 1.0:
                # by rounding, their sum of all terms is sometimes above the entropy itself
                assert set(kept(name, probabilities, value)) >= set(expected)
                continue
            assert kept(name, probabilities, value) == expected, (value, len(probabilities))


@pytest.mark.slow
def test_a_chain_of_truncations_as_transformers_applies_it(warpers: Any) -> None:
    import torch

    for probabilities in random_distributions():
        scores = torch.log(torch.from_numpy(probabilities))[None]
        none = torch.zeros((1, 0), dtype=torch.long)
        scores = scores / 0.7
        for warper in (warpers.TopPLogitsWarper(0.8), warpers.TypicalLogitsWarper(0.9)):
            scores = warper(none, scores)
        scores = warpers.TopKLogitsWarper(5)(none, scores)
        ours = truncated(
            probabilities, Decoding.parse("top_p=0.8,typical=0.9,top_k=5,temperature=0.7")
        )
        np.testing.assert_allclose(ours, scores.softmax(-1)[0].numpy(), atol=1e-12)


@pytest.mark.slow
def test_history_as_transformers_reads_it(warpers: Any) -> None:
    import torch

    rng = np.random.default_rng(1)
    for length in (1, 2, 3, 8, 40):
        history = rng.integers(0, 6, length)
        ids = torch.from_numpy(history)[None]
        scores = rng.normal(0, 2, 6)
        theirs = warpers.RepetitionPenaltyLogitsProcessor(1.3)(ids, torch.from_numpy(scores)[None])
        np.testing.assert_array_equal(penalised(scores, history, 1.3), theirs[0].numpy())
        for n in (1, 2, 3):
            theirs = warpers.NoRepeatNGramLogitsProcessor(n)(ids, torch.from_numpy(scores)[None])
            banned = torch.isinf(theirs[0]).nonzero()[:, 0].tolist()
            assert repeating(history, n) == banned


def test_temperature() -> None:
    np.testing.assert_allclose(tempered(np.array([1.0, 2.0, 4.0]), 0.5), np.array([1, 4, 16]) / 21)
    assert tempered(TOY, 1e-320).tolist() == [1, 0, 0, 0, 0]
    np.testing.assert_allclose(tempered(np.array([0.9, 0.1, 0]), 1e9), [0.5, 0.5, 0], atol=1e-6)


def test_rules_apply_in_the_order_in_which_they_are_written() -> None:
    p = np.array([0.5, 0.2, 0.2, 0.1])
    first = truncated(p, Decoding.parse("top_k=2,top_p=0.75"))
    second = truncated(p, Decoding.parse("top_p=0.75,top_k=2"))
    np.testing.assert_allclose(first, np.array([5, 2, 0, 0]) / 7)
    np.testing.assert_allclose(second, np.array([5, 2, 0, 0]) / 7)
    # .5 of .7 is 71 %, so the nucleus of the two is one; of all four it has two
    assert np.count_nonzero(truncated(p, Decoding.parse("top_k=2,top_p=0.7"))) == 1
    assert np.count_nonzero(truncated(p, Decoding.parse("top_p=0.7,top_k=2"))) == 2


def test_greedy_ancestral_and_what_has_no_distribution() -> None:
    assert truncated([0.2, 0.4, 0.4], Decoding.parse("greedy")).tolist() == [0, 1, 0]
    np.testing.assert_array_equal(truncated(TOY, Decoding.parse("ancestral")), TOY / TOY.sum())
    for text in ("beam=4", "adversarial=9", "contrastive=0.6,top_k=4"):
        assert not has_distribution(Decoding.parse(text))
        with pytest.raises(InputError, match="draws no token"):
            truncated(TOY, Decoding.parse(text))


def test_a_penalty_and_a_ban_change_the_distribution() -> None:
    p = np.array([0.5, 0.25, 0.25])
    penalty = truncated(p, Decoding.parse("repetition_penalty=2"), history=[0, 0])
    np.testing.assert_allclose(penalty, np.full(3, 1 / 3))
    ban = Decoding.parse("no_repeat_ngram=1")
    np.testing.assert_allclose(truncated(p, ban, history=[0]), [0, 0.5, 0.5])
    np.testing.assert_allclose(truncated(p, ban, history=[0, 1, 2]), p)


def test_entropy() -> None:
    assert entropy(np.array([0.5, 0.5, 0])) == pytest.approx(np.log(2))
