"""Which pairs meet: regular, connected, each once, and as good as any we know of."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.judgements.designs import Design, mean_variance, pair_design


def named(n: int) -> list[str]:
    return [f"s{place}" for place in range(n)]


def check(design: Design, n: int, opponents: int) -> None:
    assert len(set(map(frozenset, design.pairs))) == len(design.pairs) == n * opponents // 2
    assert set(Counter(name for pair in design.pairs for name in pair).values()) == {opponents}


def test_all_pairs_by_default() -> None:
    for design in (pair_design(named(9)), pair_design(named(9), opponents=8)):
        assert design.pairs == tuple(combinations(named(9), 2))
        assert design.complete
        assert design.efficiency == 1
    assert str(design) == "all 36 pairs of 9 systems"


@settings(max_examples=25)
@given(n=st.integers(3, 14), opponents=st.integers(2, 13))
def test_every_design_is_regular_and_connected(n: int, opponents: int) -> None:
    if opponents >= n or (n % 2 and opponents % 2):
        return
    design = pair_design(named(n), opponents=opponents)
    check(design, n, opponents)
    places = [(int(a[1:]), int(b[1:])) for a, b in design.pairs]
    assert np.isfinite(mean_variance(n, places))
    assert 0 < design.efficiency <= 1
    assert pair_design(named(n), opponents=opponents) == design


def test_efficiency_by_hand() -> None:
    # A circle of 5: L has 2 - 2 cos(2πk/5), whose inverses add up to (25 - 1)/12 = 2, so the mean
    # variance is 2 · 2/4 = 1 of a circle and 2/5 of all pairs, which take twice the judgements
    places = [(place, (place + 1) % 5) for place in range(5)]
    assert mean_variance(5, places) == pytest.approx(1)
    assert pair_design(named(5), opponents=2).efficiency == pytest.approx(0.8)
    assert mean_variance(4, [(0, 1), (2, 3)]) == np.inf


def test_the_efficiency_is_that_of_fitted_scores() -> None:
    """The Fisher information of equal systems, inverted, gives the same ratio."""

    def variance(n: int, pairs: list[tuple[int, int]], judgements: float) -> float:
        information = np.zeros((n, n))
        for i, j in pairs:
            information[np.ix_([i, j], [i, j])] += (
                judgements / len(pairs) * 0.25 * np.array([[1, -1], [-1, 1]])
            )
        covariance = np.linalg.pinv(information)
        return float(
            np.mean(
                [
                    covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
                    for i, j in combinations(range(n), 2)
                ]
            )
        )

    design = pair_design(named(9), opponents=4)
    chosen = [(int(a[1:]), int(b[1:])) for a, b in design.pairs]
    every = list(combinations(range(9), 2))
    ratio = variance(9, every, 1000) / variance(9, chosen, 1000)
    assert design.efficiency == pytest.approx(ratio)


def test_as_good_as_the_best_that_is_known() -> None:
    """Of 6 systems with 3 others each: the halves that meet crosswise; of 10: Petersen's graph."""
    crosswise = [(i, j) for i in range(3) for j in range(3, 6)]
    petersen = [
        pair for i in range(5) for pair in ((i, (i + 1) % 5), (i, i + 5), (5 + i, 5 + (i + 2) % 5))
    ]
    for n, graph in ((6, crosswise), (10, petersen)):
        best = (2 / n) * (n - 1) / 3 / mean_variance(n, graph)
        assert pair_design(named(n), opponents=3).efficiency >= 0.97 * best


@pytest.mark.parametrize(
    ("n", "opponents", "message"),
    [
        (1, None, "need at least two systems, found 1"),
        (5, 5, "opponents .*at most 4.* 5"),
        (5, 1, "opponents .*at least 2"),
        (5, 3, "opponents .*odd .*2 or 4"),
        (5, 0, "opponents .*at least 1"),
    ],
)
def test_impossible_designs(n: int, opponents: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pair_design(named(n), opponents=opponents)


def test_names_must_differ() -> None:
    with pytest.raises(InputError, match="two systems are called 'a'"):
        pair_design(["a", "b", "a"])
