"""How far confounders move scores: a table of points, read by interpolation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from calipers.embedders import Embeddings
from calipers.evaluate.cautions.confounders import confounders
from calipers.evaluate.cautions.copies import Beginnings, Copies, Duplicates, Prompts
from calipers.evaluate.cautions.lengths import Truncation, length_shift
from calipers.evaluate.cautions.movements import POINTS, Scale, by_ratio, by_size, movement
from calipers.results.caution import worst_first
from calipers.samples import SampleSet

SCALES = st.sampled_from(sorted(POINTS))
LENGTHS = st.lists(st.integers(1, 5000), min_size=1, max_size=30)


def test_every_scale_rises_from_nothing():
    assert set(POINTS) == set(get_args(Scale))
    for scale, points in POINTS.items():
        strengths, movements = np.transpose(points)
        assert points[0] == (0.0, 0.0), scale
        assert (np.diff(strengths) > 0).all(), scale
        assert (np.diff(movements) >= 0).all(), scale
        assert 0 < movements[-1] <= 1, scale


@given(SCALES, st.floats(-1, 10), st.floats(-1, 10))
def test_a_stronger_confounder_never_moves_less(scale, one, other):
    low, high = sorted((one, other))
    assert 0 <= movement(scale, low) <= movement(scale, high) <= 1


@given(SCALES)
def test_it_is_the_measured_value_at_the_points_and_between_them_the_line(scale):
    points = POINTS[scale]
    for strength, moved in points:
        assert movement(scale, strength) == pytest.approx(moved)
    for (a, low), (b, high) in pairwise(points):
        assert movement(scale, (a + b) / 2) == pytest.approx((low + high) / 2)
    assert movement(scale, points[-1][0] * 10) == points[-1][1]


def test_ratios_count_alike_either_way():
    assert by_ratio("lengths", 100, 50) == by_ratio("lengths", 50, 100) == movement("lengths", 1)
    assert by_ratio("lengths", 0, 4) == movement("lengths", 2)
    assert by_ratio("sizes", 80, 80) == 0
    assert by_size(25) == movement("few_samples", 0.2)
    assert by_size(0) == movement("few_samples", 1.0)


def test_the_shift_of_lengths_by_hand():
    lengths = np.array([10, 20, 40, 80])
    assert length_shift(lengths, lengths) == 0
    assert length_shift(2 * lengths, lengths) == pytest.approx(1)
    assert length_shift(lengths, 8 * lengths) == pytest.approx(3)
    # One text in four is four times as long: two doublings of a quarter
    assert length_shift(np.array([10, 20, 40, 320]), lengths) == pytest.approx(0.5)
    assert length_shift(np.array([1, 1]), np.array([4, 4])) == pytest.approx(2)
    assert length_shift(np.array([]), lengths) == 0


@given(LENGTHS, LENGTHS)
def test_the_shift_of_lengths_is_the_wasserstein_distance_of_their_logarithms(ours, theirs):
    logs = [np.log2(side) for side in (ours, theirs)]
    found = length_shift(np.array(ours), np.array(theirs))
    assert found == pytest.approx(wasserstein_distance(*logs), abs=1e-9)
    assert found == pytest.approx(length_shift(np.array(theirs), np.array(ours)), abs=1e-12)


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (Duplicates(0.05, 0.0, 500), Duplicates(0.6, 0.0, 500)),
        (Copies(0.05, 0.0, 500, 500), Copies(0.8, 0.0, 500, 500)),
        (Truncation(0.0, 0.3, 500, 500, 150), Truncation(0.0, 1.0, 500, 500, 150)),
        (Prompts(1.0, 1.0, part=0.05), Prompts(1.0, 1.0, part=0.6)),
        (Prompts(0.0, 1.0, part=0.05), Prompts(0.0, 1.0, part=0.6)),
        (
            Beginnings(0.2, 0.0, 6, 500, 500, part=0.05),
            Beginnings(1.0, 0.0, 25, 500, 500, part=0.5),
        ),
    ],
)
def test_the_weight_of_a_caution_follows_its_strength(few, many):
    weak, strong = few.caution(), many.caution()
    assert weak.kind == strong.kind
    assert weak.movement < strong.movement
    assert weak.weight == round(100 * weak.movement) < strong.weight
    assert worst_first([weak, strong]) == (strong, weak)


def test_much_longer_texts_and_cut_ones_come_before_a_few_words_that_are_shared(rng):
    """One side twice as long and cut by the embedder; a fifth of its texts restate six words."""
    words = [f"w{i}" for i in range(400)]

    def text(size, opening=""):
        return f"{opening} {' '.join(rng.choice(words, size))}".strip()

    openings = [" ".join(rng.choice(words, 6)) for _ in range(200)]
    reference = [text(150, opening) for opening in openings]
    generated = [text(300, opening if i % 5 == 0 else "") for i, opening in enumerate(openings)]
    sets = [SampleSet.from_texts(texts, name="x") for texts in (reference, generated)]
    cut = [np.zeros(200, bool), np.ones(200, bool)]
    rows = [Embeddings({"meaning": np.zeros((200, 2))}, {}, truncated=marks) for marks in cut]
    found = worst_first(confounders(sets[0], [sets[1]], (rows[0], rows[1:])).cautions)
    assert [caution.kind for caution in found][-1] == "openings"
    assert {caution.kind for caution in found[:2]} == {"lengths", "truncation"}
    assert math.isclose(found[-1].movement, movement("openings", 0.2 * 6 / 306), abs_tol=1e-3)
