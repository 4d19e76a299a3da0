"""Recall by density: bands of the reference, and what is lost of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InputError
from calipers.metrics import precision_recall, recall_by_density


def brute(reference, generated, bands, k):
    """Recall of each band, by all distances."""
    own = np.linalg.norm(reference[:, None] - reference[None], axis=2)
    radii = np.sort(own, axis=1)[:, k]
    theirs = np.linalg.norm(generated[:, None] - generated[None], axis=2)
    reach = np.sort(theirs, axis=1)[:, k]
    across = np.linalg.norm(reference[:, None] - generated[None], axis=2)
    covered = (across <= reach).any(axis=1)
    place = (radii[None] < radii[:, None] - 1e-9).sum(axis=1) * bands // len(radii)
    return [covered[place == band].mean() for band in range(bands)]


@given(seed=st.integers(0, 10_000), bands=st.integers(2, 6), k=st.integers(1, 4))
@settings(max_examples=20)
def test_it_is_recall_of_the_samples_of_each_band(seed, bands, k):
    rng = np.random.default_rng(seed)
    reference, generated = rng.standard_normal((37, 3)), 0.7 * rng.standard_normal((25, 3))
    scores = recall_by_density(reference, generated, bands=bands, k=k)
    assert [score.value for score in scores] == brute(reference, generated, bands, k)
    sizes = [len(score.per_sample) for score in scores]
    assert sum(sizes) == 37
    whole = precision_recall(reference, generated, k=k).recall.value
    weighted = sum(size * score.value for size, score in zip(sizes, scores, strict=True)) / 37
    assert weighted == pytest.approx(whole, abs=1e-12)


def test_samples_of_equal_density_lie_in_one_band():
    reference = np.arange(10.0)[:, None]  # every nearest distance is 1
    scores = recall_by_density(reference, reference, bands=5, k=1)
    assert [len(score.per_sample) for score in scores] == [10, 0, 0, 0, 0]
    assert scores[1].reason == "no reference sample is in band 2 of 5 by density"
    assert np.isnan(scores[1].value)


def test_a_narrow_system_loses_the_periphery():
    rng = np.random.default_rng(0)
    reference, generated = rng.standard_normal((400, 2)), 0.5 * rng.standard_normal((400, 2))
    values = [score.value for score in recall_by_density(reference, generated)]
    assert values[0] > 0.95
    assert values[-1] < 0.3
    assert values == sorted(values, reverse=True)


@pytest.mark.slow
def test_a_comparison_gives_both_ends_with_intervals():
    rng = np.random.default_rng(1)
    reference, generated = rng.standard_normal((400, 2)), 0.5 * rng.standard_normal((400, 2))
    found = calipers.compare(
        reference, {"a": generated}, metrics="core_recall,peripheral_recall", floor=False, k=4
    )["a"].scores
    bands = recall_by_density(reference, generated)
    assert found["core_recall"].value == bands[0].value
    assert found["peripheral_recall"].value == bands[4].value
    low, high = found["peripheral_recall"].interval
    assert 0 <= low < found["peripheral_recall"].value < high < found["core_recall"].value


def test_bands_are_at_least_two():
    with pytest.raises(InputError, match=r"bands .*at least 2.* 1"):
        recall_by_density(np.eye(5), np.eye(5), bands=1)
