"""Which values are swept: by default, and as a person gives them."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.road.intake import take_in
from calipers.road.sweep_values import check_values, choose_values


def sets(reference, *generated):
    arrays = {f"s{i}": np.ones((size, 2)) for i, size in enumerate(generated)}
    return take_in(
        np.ones((reference, 2)), arrays, field=None, max_samples=None, keep_sizes=False, seed=0
    )


def test_k_goes_to_30_by_default():
    assert choose_values("k", None, sets(40, 50), k=4) == (tuple(range(1, 31)), ())


def test_k_goes_as_far_as_the_smallest_set_allows_and_says_so():
    values, notes = choose_values("k", None, sets(40, 50, 20), k=4)
    assert values == tuple(range(1, 20))
    assert notes == ("k ends at 19, since s1 has 20 samples",)


def test_sizes_double_in_two_steps_and_end_with_all_samples():
    values, _ = choose_values("n", None, sets(900, 811), k=4)
    assert values == (100, 140, 200, 280, 400, 570, 811)


@pytest.mark.parametrize(("size", "first"), [(400, 100), (200, 50), (60, 15), (9, 5), (5, 5)])
def test_small_sets_start_at_a_quarter_and_never_below_k_plus_one(size, first):
    values, _ = choose_values("n", None, sets(size, size), k=4)
    assert values[0] == first
    assert values[-1] == size
    assert list(values) == sorted(set(values))


def test_the_largest_paper_size_needs_few_values():
    values, _ = choose_values("n", None, sets(10_000, 10_000), k=4)
    assert len(values) == 14
    assert max(np.diff(np.log2(values))) < 0.6


@pytest.mark.parametrize(
    ("over", "values", "message"),
    [
        ("k", (1, 20), "k = 20 needs at least 21 samples in every set; s0 has 20 samples"),
        ("n", (10, 21), "n = 21 needs as many samples in every set; s0 has 20 samples"),
        ("n", (4, 20), r"n must be at least k \+ 1 = 5; found 4"),
    ],
)
def test_values_that_a_set_is_too_small_for(over, values, message):
    with pytest.raises(InputError, match=message):
        choose_values(over, values, sets(30, 20), k=4)


def test_the_smallest_set_is_named_even_if_it_is_the_reference():
    with pytest.raises(InputError, match=r"k = 5 needs at least 6 samples .* reference has 3"):
        choose_values("n", None, sets(3, 20), k=5)
    with pytest.raises(InputError, match=r"s0 has 1 sample$"):
        choose_values("k", None, sets(3, 1), k=5)


def test_values_are_brought_into_order():
    assert check_values("k", [5, 1, 3, 5]) == (1, 3, 5)
    assert check_values("n", np.array([200, 100])) == (100, 200)
    assert check_values("k", range(1, 4)) == (1, 2, 3)


@pytest.mark.parametrize("values", ["1-3", 4, [4], [0, 2], [1.5, 2], [True, 2], [1, "2"]])
def test_values_that_mean_nothing(values):
    with pytest.raises(InputError, match="values"):
        check_values("k", values)
