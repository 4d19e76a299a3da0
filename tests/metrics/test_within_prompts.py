"""Several samples for each prompt: counts of different ones, cosines, and conditional Vendi."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.metrics import (
    conditional_vendi,
    cosine_kernel,
    distinct_k,
    information_vendi,
    same_prompt_kernel,
    similarity_across,
    similarity_between,
    similarity_classes,
    similarity_within,
    vendi_score,
    vendi_within,
)

SEEDS = st.integers(0, 10_000)


def drawn(seed: int, sizes: list[int], d: int = 4):
    """Rows of prompts in random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.standard_normal((len(labels), d)) + 0.5, labels


@given(classes=st.lists(st.integers(0, 3), min_size=1, max_size=7), k=st.integers(1, 7))
@settings(max_examples=60)
def test_distinct_k_is_the_mean_over_all_subsets(classes, k):
    (value,) = distinct_k(classes, [0] * len(classes), k=k)
    if k > len(classes):
        assert np.isnan(value)
        return
    subsets = [len(set(subset)) for subset in itertools.combinations(classes, k)]
    assert value == pytest.approx(np.mean(subsets), abs=1e-12)


def test_distinct_k_by_hand():
    # Of a, a, b two are drawn: aa once, ab twice; prompt 1 has two of one kind
    values = distinct_k(["a", "a", "b", "x", "x"], [0, 0, 0, 1, 1], k=2)
    assert values.tolist() == pytest.approx([5 / 3, 1.0])


def test_equal_classes_of_different_prompts_have_nothing_to_do_with_each_other():
    assert distinct_k([1, 2, 1, 2], ["p", "p", "q", "q"], k=2).tolist() == [2.0, 2.0]


def test_similar_samples_are_one_class_through_a_chain():
    angles = np.radians([0, 30, 60, 180])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = similarity_classes(rows, [0, 0, 0, 0], threshold=0.8)  # cos 30 = 0.87, cos 60 = 0.5
    assert len(set(found[:3])) == 1
    assert found[3] not in found[:3]
    assert len(set(similarity_classes(rows, [0, 0, 0, 0], threshold=0.9))) == 4


@given(seed=SEEDS)
@settings(max_examples=30)
def test_similarities_are_the_means_over_all_pairs(seed):
    rows, labels = drawn(seed, [1, 2, 4])
    other, theirs = drawn(seed + 1, [3, 1, 2])
    unit, others = (r / np.linalg.norm(r, axis=1)[:, None] for r in (rows, other))
    within, between = similarity_within(rows, labels), similarity_between(rows, labels)
    across = similarity_across(rows, labels, other, theirs)
    for p in range(3):
        own = unit[labels == p]
        pairs = [a @ b for a, b in itertools.permutations(own, 2)]
        if pairs:
            assert within[p] == pytest.approx(np.mean(pairs), abs=1e-12)
        else:
            assert np.isnan(within[p])
        assert across[p] == pytest.approx(np.mean(own @ others[theirs == p].T), abs=1e-12)
        rest = [np.mean(own @ unit[labels == q].T) for q in range(3) if q != p]
        assert between[p] == pytest.approx(np.mean(rest), abs=1e-12)


@given(seed=SEEDS)
@settings(max_examples=20)
def test_the_order_of_the_rows_moves_nothing(seed):
    rows, labels = drawn(seed, [3, 4, 2])
    order = np.random.default_rng(seed).permutation(len(rows))
    for measure in (
        similarity_within,
        similarity_between,
        vendi_within,
        lambda r, p: distinct_k(similarity_classes(r, p, threshold=0.6), p, k=2),
    ):
        assert measure(rows[order], labels[order]) == pytest.approx(measure(rows, labels), abs=1e-9)


def test_conditional_vendi_by_hand():
    # Two prompts, orthogonal: one has two orthogonal samples, the other the same sample twice
    samples = cosine_kernel([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    prompts = same_prompt_kernel(["p", "p", "q", "q"])
    # K_X ∘ K_T has the eigenvalues 1/4, 1/4, 1/2: H = 1.5 log 2; H(K_T) = log 2
    assert conditional_vendi(samples, prompts).value == pytest.approx(2**0.5)
    # K_X itself has the same: information = exp(1.5 + 1 - 1.5 log 2)
    assert information_vendi(samples, prompts).value == pytest.approx(2.0)


@given(seed=SEEDS)
@settings(max_examples=25)
def test_both_vendi_scores_multiply_to_that_of_all_samples(seed):
    rows, labels = drawn(seed, [3, 2, 4])
    places = np.random.default_rng(seed).standard_normal((3, 5))[labels]
    samples = cosine_kernel(rows)
    for prompts in (same_prompt_kernel(labels), cosine_kernel(places)):
        given_prompt = conditional_vendi(samples, prompts).value
        called_forth = information_vendi(samples, prompts).value
        whole = vendi_score(rows).value
        assert given_prompt * called_forth == pytest.approx(whole, rel=1e-6)
        assert given_prompt >= 1
        assert called_forth >= 1 - 1e-9


@given(seed=SEEDS)
@settings(max_examples=15)
def test_by_identity_it_is_the_geometric_mean_over_prompts(seed):
    rows, labels = drawn(seed, [3, 3, 3])
    value = conditional_vendi(cosine_kernel(rows), same_prompt_kernel(labels)).value
    assert value == pytest.approx(np.exp(np.mean(np.log(vendi_within(rows, labels)))), rel=1e-6)


def test_one_answer_for_each_prompt_is_one_and_orthogonal_ones_are_all():
    labels = np.repeat(np.arange(3), 4)
    same = cosine_kernel(np.eye(3)[labels])
    assert conditional_vendi(same, same_prompt_kernel(labels)).value == pytest.approx(1.0)
    different = conditional_vendi(np.eye(12), same_prompt_kernel(labels))
    assert different.value == pytest.approx(4.0)
    assert different.range == (1.0, 12.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: distinct_k(["a"], [0, 1], k=1),
            "prompts must be one label for each of 1 rows; found the shape (2,)",
        ),
        (lambda: distinct_k(["a"], [0], k=0), "k must be a whole number of at least 1; found 0"),
        (
            lambda: similarity_within([[0.0, 0.0], [1.0, 0.0]], [0, 0]),
            "vectors must have no rows that are all zero, which have no direction; the first is "
            "row 1 (counted from 1)",
        ),
        (
            lambda: similarity_classes([[1.0]], [0], threshold=1.5),
            "threshold must be above 0 and at most 1; found 1.5",
        ),
        (
            lambda: similarity_across([[1.0]], [0], [[1.0]], [1]),
            "both sets must have samples of the same prompts",
        ),
        (
            lambda: conditional_vendi(np.eye(2), np.eye(3)),
            "the kernels of samples and prompts must be of one shape; found (2, 2) and (3, 3)",
        ),
        (
            lambda: conditional_vendi(2 * np.eye(2), np.eye(2)),
            "samples must be a kernel matrix with ones on its diagonal",
        ),
        (
            lambda: information_vendi(np.eye(2), [[1.0, 0.5], [0.0, 1.0]]),
            "prompts must be a symmetric kernel matrix",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message
