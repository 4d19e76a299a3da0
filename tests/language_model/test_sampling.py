"""Seeds that hold, and the inverse of a cumulative distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from calipers.errors import InputError
from calipers.language_model.sampling import invert, stream, uniforms


def test_known_values_of_philox() -> None:
    """The words of Philox 4x64-10 at counter 1, as NumPy has them: the upper 53 bits of each."""
    words = np.array(
        [0x2F4BA6408E4D89B, 0x3DD62B0B9CA8C5B2, 0x1C8667A55D902E79, 0x907D7A052FD5B4DC], np.uint64
    )
    np.testing.assert_array_equal(uniforms(0, 0, 4), (words >> np.uint64(11)) * 2.0**-53)
    assert uniforms(7, 11, 2).tolist() == [0.31363218025791606, 0.1588653822005296]


@given(seed=st.integers(0, 2**63), sample=st.integers(0, 2**63), steps=st.integers(0, 40))
def test_a_longer_sequence_begins_with_a_shorter_one(seed: int, sample: int, steps: int) -> None:
    long = uniforms(seed, sample, 50)
    np.testing.assert_array_equal(uniforms(seed, sample, steps), long[:steps])
    bit_by_bit = stream(seed, sample)
    parts = [bit_by_bit.random(7), bit_by_bit.random(1), bit_by_bit.random(42)]
    np.testing.assert_array_equal(np.concatenate(parts), long)
    assert ((long >= 0) & (long < 1)).all()


def test_seeds_and_samples_have_numbers_of_their_own() -> None:
    first = {uniforms(seed, sample, 1)[0] for seed in range(20) for sample in range(20)}
    assert len(first) == 400


def test_numbers_are_uniform_over_samples_and_steps() -> None:
    drawn = np.stack([uniforms(3, sample, 20) for sample in range(500)])
    for values in (drawn[:, 0], drawn[:, 19], drawn.ravel()):
        counts = np.histogram(values, 10, (0, 1))[0]
        assert chisquare(counts).pvalue > 1e-4


def test_frequencies_of_the_inverse() -> None:
    weights = np.array([3.0, 0, 1, 0, 5, 1])
    u = uniforms(0, 0, 20_000)
    drawn = invert(np.tile(weights, (len(u), 1)), u)
    counts = np.bincount(drawn, minlength=6)
    assert counts[[1, 3]].tolist() == [0, 0]
    there = weights > 0
    assert chisquare(counts[there], len(u) * weights[there] / weights.sum()).pvalue > 1e-4


@given(
    weights=st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.3, 1.0]), min_size=1, max_size=8),
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_nothing_of_weight_zero_is_drawn(weights: list[float], uniform: float) -> None:
    if not any(weights):
        weights = [*weights, 1.0]
    row = np.array([weights])
    token = invert(row, np.array([uniform]))[0]
    assert row[0, token] > 0
    assert row[0, :token].sum() <= uniform * row.sum() * (1 + 1e-12)


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2.0**-53])
def test_rows_are_drawn_by_themselves(uniform: float) -> None:
    weights = np.random.default_rng(0).random((9, 30))
    together = invert(weights, np.full(9, uniform))
    assert together.tolist() == [int(invert(row[None], np.array([uniform]))[0]) for row in weights]


def test_the_precision_of_weights_does_not_lower_that_of_sums() -> None:
    weights = np.full((1, 2**20), 2.0**-20, np.float32)
    assert invert(weights, np.array([0.75])).tolist() == [3 * 2**18]


@pytest.mark.parametrize(("seed", "sample"), [(-1, 0), (0, -1), (2**64, 0)])
def test_seeds_out_of_range(seed: int, sample: int) -> None:
    with pytest.raises(InputError, match=f"from 0 .* {seed} and {sample}"):
        stream(seed, sample)
