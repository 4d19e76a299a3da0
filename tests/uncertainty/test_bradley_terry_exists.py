"""Where no scores fit best, the fit says who is to blame: never compared, or always won."""

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.preferences import Preferences


def message(wins):
    wins = np.array(wins, dtype=float)
    names = tuple("pqrstuvwxyz"[: len(wins)])
    with pytest.raises(InputError) as caught:
        fit_bradley_terry(Preferences(names, wins, np.zeros_like(wins)))
    return str(caught.value)


def test_nothing_compared():
    assert message([[0, 0], [0, 0]]) == "a ranking needs comparisons, found none"


def test_never_compared():
    told = message([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]])
    assert "no comparison, direct or by way of others, links these groups: 'p', 'q' | 'r', 's'" in (
        told
    )
    assert "won all" not in told


def test_one_that_meets_nobody():
    assert "these groups: 'r' | 'p', 'q'." in message([[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_always_won():
    told = message([[0, 5, 2], [0, 0, 1], [0, 1, 0]])
    assert "'p' won all 7 of its comparisons" in told
    assert "'q', 'r' lost all 7 of their comparisons with 'p'" in told
    assert "links these groups" not in told


def test_never_won():
    told = message([[0, 1, 1], [1, 0, 3], [0, 0, 0]])
    assert "'r' lost all 4 of its comparisons" in told


def test_a_chain_blames_both_ends_and_not_the_middle():
    told = message([[0, 2, 0], [0, 0, 3], [0, 0, 0]])
    assert "'p' won all 2 of its comparisons" in told
    assert "'r' lost all 3 of its comparisons" in told
    assert "'q'" not in told


def test_a_circle_is_enough():
    wins = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)
    found = fit_bradley_terry(Preferences(("p", "q", "r"), wins, np.zeros((3, 3))))
    assert found.scores == pytest.approx([0, 0, 0], abs=1e-10)


def test_long_groups_are_cut_short():
    wins = np.ones((11, 11)) - np.eye(11)
    wins[1:, 0] = 0
    assert "'q', 'r', 's', 't', 'u', 'v', 'w', 'x' and 2 more lost all 10" in message(wins)


def agrees_with_fords_condition(wins):
    """Whether, for every split in two groups, each has won against the other."""
    n = len(wins)
    for mask in range(1, 2**n - 1):
        inside = np.array([mask >> i & 1 for i in range(n)], dtype=bool)
        if not wins[np.ix_(inside, ~inside)].any():
            return False
    return True


@pytest.mark.parametrize("seed", range(40))
def test_equals_fords_condition_over_all_splits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    wins = (rng.random((n, n)) < 0.4).astype(float) * (1 - np.eye(n))
    given = Preferences(tuple("pqrstuvw"[:n]), wins, np.zeros((n, n)))
    if agrees_with_fords_condition(wins):
        assert np.isfinite(fit_bradley_terry(given).scores).all()
    else:
        with pytest.raises(InputError):
            fit_bradley_terry(given)
