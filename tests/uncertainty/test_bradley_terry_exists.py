"""Where no scores fit best, the fit says who is to blame: never compared, or always won."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.preferences import Preferences


def message(wins, ties=None):
    wins = np.array(wins, dtype=float)
    names = tuple("pqrstuvwxyz"[: len(wins)])
    with pytest.raises(InputError) as caught:
        fit_bradley_terry(Preferences(names, wins, np.zeros_like(wins) if ties is None else ties))
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


def test_ties_alone_tell_no_scores():
    told = message([[0, 0], [0, 0]], [[0, 7], [7, 0]])
    assert told.startswith("all 7 judgements are ties: a model of ties finds no scores in them; ")
    assert "count a tie as half a win to each (ties 'half')" in told


def test_a_system_that_tied_and_never_lost():
    # The more ties and the farther apart, the likelier: 2 wins, 2 ties, chances 1/2 and 1/2
    told = message([[0, 2], [0, 0]], [[0, 2], [2, 0]])
    assert told.startswith("no finite scores fit best by a model of ties: every circle of systems")


def test_ties_connect_and_do_not_excuse_who_always_won():
    told = message([[0, 5, 2], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert "'p' won all 7 of its comparisons" in told


def test_a_circle_of_two_wins_and_a_tie_is_enough():
    wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
    wins[0, 1] = wins[1, 2] = ties[0, 2] = ties[2, 0] = 1
    found = fit_bradley_terry(Preferences(("p", "q", "r"), wins, ties), scale=1)
    assert found.scores[0] == pytest.approx(-found.scores[2])
    assert found.scores[1] == pytest.approx(0, abs=1e-9)
    # p won 1 and tied 1 of its two: as many points as the model expects
    near, far = found.scores[0], 2 * found.scores[0]
    total = [2 * np.cosh(d / 2) + found.tie_parameter for d in (near, far)]
    points = [np.exp(d / 2) + found.tie_parameter / 2 for d in (near, far)]
    assert points[0] / total[0] + points[1] / total[1] == pytest.approx(1.5)


def rises_for_ever(wins, ties):
    """Whether some line leads on without the likelihood falling, by linear programming.

    Unknown are moves u of the scores and s/2 of the log of the tie parameter, within [-1, 1].
    A win of i over j grows no less likely where u_i - u_j >= max(s, 0), a tie where
    |u_i - u_j| <= s. Moves of all scores alike are no line, so the largest difference, or s,
    is asked for.
    """
    n = len(wins)
    rows = []
    for i in range(n):
        for j in range(n):
            apart = np.zeros(n + 1)
            apart[i], apart[j] = -1, 1
            if wins[i, j]:
                rows += [apart, apart + np.eye(n + 1)[n]]
            if ties[i, j]:
                rows.append(-apart - np.eye(n + 1)[n])
    apart = np.subtract(
        *(np.eye(n + 1)[list(k)] for k in zip(*permutations(range(n), 2), strict=True))
    )
    aims = np.vstack([apart, np.eye(n + 1)[n]])
    found = (linprog(-aim, A_ub=rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1)) for aim in aims)
    return any(-each.fun > 1e-7 for each in found)


@pytest.mark.parametrize("seed", range(40))
def test_with_ties_equals_a_search_for_a_line_that_never_falls(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    wins = (rng.random((n, n)) < 0.35).astype(float) * (1 - np.eye(n))
    upper = np.triu(rng.random((n, n)) < 0.35, 1).astype(float)
    ties = upper + upper.T
    if not ties.any():
        ties[0, 1] = ties[1, 0] = 1
    given = Preferences(tuple("pqrstuvw"[:n]), wins, ties)
    if rises_for_ever(wins, ties):
        with pytest.raises(InputError):
            fit_bradley_terry(given)
    else:
        found = fit_bradley_terry(given, scale=1)
        assert np.abs(found.scores).max() < 50
