"""Scores from preferences: answers counted, the fit, and the laws."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.preferences import Preferences, count_preferences, split_ties

# Scores from preferences: worked by hand, against a general optimiser, and the laws.
#
# Where no scores fit best, the error names who is to blame: never compared, or always won.


def preferences(wins, ties=None):
    wins = np.array(wins, dtype=float)
    ties = np.zeros_like(wins) if ties is None else ties
    return Preferences(tuple("pqrstuvw"[: len(wins)]), wins, ties)


def drawn(rng, n, games, spread=1.0):
    """Wins of n systems in so many games of each pair, and the true log odds."""
    truth = rng.standard_normal(n) * spread
    truth -= truth.mean()
    upper = np.triu(np.full((n, n), games), 1)
    won = rng.binomial(upper, 1 / (1 + np.exp(np.subtract.outer(-truth, -truth))))
    return np.where(upper > 0, won, 0) + (upper - won).T, truth


def test_two_systems_by_hand():
    # 3 wins of 4: odds 3, so the scores are 100·log 3 apart, half of it on either side of 0.
    # Information of the log odds 4·(3/4)·(1/4) = 3/4, so its standard error is 100·√(4/3).
    found = fit_bradley_terry(preferences([[0, 3], [1, 0]]))
    assert found.scores == pytest.approx([50 * np.log(3), -50 * np.log(3)])
    apart = found.difference("p", "q")
    assert apart.value == pytest.approx(100 * np.log(3))
    assert apart.standard_error == pytest.approx(100 * np.sqrt(4 / 3))
    reach = 1.959963984540054 * apart.standard_error
    assert apart.interval == pytest.approx((apart.value - reach, apart.value + reach))
    assert found.standard_errors == pytest.approx([apart.standard_error / 2] * 2)
    assert found.log_likelihood == pytest.approx(3 * np.log(3 / 4) + np.log(1 / 4))
    assert found.comparisons == 4
    own = reach / 2
    assert found.intervals == pytest.approx(np.array([[s - own, s + own] for s in found.scores]))


def davidson_counts(truth, tie_parameter, games):
    """Wins and ties as Davidson's model expects them, of log odds."""
    half = np.subtract.outer(truth, truth) / 2
    total = np.exp(half) + np.exp(-half) + tie_parameter
    off = 1 - np.eye(len(truth))
    return games * off * np.exp(half) / total, games * off * tie_parameter / total


def test_two_systems_that_tie_by_hand():
    # 4 wins, 1 loss, 4 ties: three outcomes of two systems fit exactly. d = log(4/1), so that the
    # ratio is 2 : ν : 1/2 with ν = 4/√(4·1) = 2, and the chances are 4/9, 4/9 and 1/9. The variance
    # of a log ratio of two multinomial counts is 1/4 + 1/1.
    found = fit_bradley_terry(preferences([[0, 4], [1, 0]], [[0, 4], [4, 0]]))
    assert found.scores == pytest.approx([50 * np.log(4), -50 * np.log(4)])
    assert found.tie_parameter == pytest.approx(2)
    assert found.difference(0, 1).standard_error == pytest.approx(100 * np.sqrt(1.25))
    assert found.log_likelihood == pytest.approx(8 * np.log(4 / 9) + np.log(1 / 9))
    assert (found.comparisons, found.tie_share, found.ties) == (9, pytest.approx(4 / 9), "davidson")


def test_ties_do_not_draw_the_scores_together():
    # Counts as expected where 30 % tie: the model behind them gives the scores back
    truth = np.array([1.2, 0.4, -0.4, -1.2])
    wins, ties = davidson_counts(truth, 1.0, 100)
    given = preferences(wins, ties)
    found = fit_bradley_terry(given)
    assert 0.28 < found.tie_share < 0.32
    assert found.scores == pytest.approx(100 * truth, abs=1e-6)
    assert found.tie_parameter == pytest.approx(1.0)
    assert fit_bradley_terry(given, ties="half").scores[-1] == pytest.approx(-78, abs=3)
    assert fit_bradley_terry(given, ties="drop").scores == pytest.approx(100 * truth, abs=1e-6)
    dropped = fit_bradley_terry(given, ties="drop")
    assert dropped.tie_share == found.tie_share
    assert np.isnan(dropped.tie_parameter)


def test_without_ties_it_is_the_plain_model(rng):
    wins, _ = drawn(rng, 5, 12)
    found, plain = (fit_bradley_terry(preferences(wins), ties=how) for how in ("davidson", "half"))
    assert (found.scores == plain.scores).all()
    assert (found.covariance == plain.covariance).all()
    assert found.log_likelihood == plain.log_likelihood
    assert (found.tie_parameter, found.tie_share) == (0, 0)
    few = (1 - np.eye(5)) * 1e-7  # and nearly so with next to none
    near = fit_bradley_terry(preferences(wins, few))
    assert near.scores == pytest.approx(plain.scores, abs=1e-4)
    assert near.standard_errors == pytest.approx(plain.standard_errors, rel=1e-5)


def test_ties_equal_a_general_optimiser(rng):
    upper = np.triu(rng.integers(1, 9, (6, 6)), 1)
    ties = (upper + upper.T).astype(float)
    wins = np.where(np.eye(6), 0, rng.integers(0, 12, (6, 6))).astype(float)

    def loss(point):
        half = np.subtract.outer(point[:6], point[:6]) / 2
        total = np.log(np.exp(half) + np.exp(-half) + np.exp(point[6]))
        likelihood = (wins * (half - total)).sum() + (ties * (point[6] - total)).sum() / 2
        return -likelihood + point[:6].mean() ** 2

    best = minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-6})
    found = fit_bradley_terry(preferences(wins, ties), scale=1)
    assert found.scores == pytest.approx(best.x[:6] - best.x[:6].mean(), abs=1e-5)
    assert found.tie_parameter == pytest.approx(np.exp(best.x[6]), rel=1e-5)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
    # The information is minus the second derivative, here by differences
    step, corner = 1e-3, np.eye(7) * 1e-3
    second = [
        [
            (loss(best.x + p + q) - loss(best.x + p - q) - loss(best.x - p + q))
            + loss(best.x - p - q)
            for q in corner
        ]
        for p in corner
    ]
    covariance = np.linalg.inv(np.array(second) / (4 * step**2))[:6, :6]
    centred = np.eye(6) - 1 / 6
    assert found.covariance == pytest.approx(centred @ covariance @ centred, abs=1e-4)


@pytest.mark.slow
def test_intervals_cover_where_judgements_tie(rng):
    truth = np.array([1.2, 0.5, 0.0, -0.5, -1.2])
    wins, ties = davidson_counts(truth, 1.0, 1)
    hits = []
    for _ in range(300):
        won, tied = np.zeros((5, 5)), np.zeros((5, 5))
        for i, j in zip(*np.triu_indices(5, 1), strict=True):
            chances = [wins[i, j], ties[i, j], wins[j, i]]
            won[i, j], tied[i, j], won[j, i] = rng.multinomial(40, chances)
        found = fit_bradley_terry(preferences(won, tied + tied.T), scale=1)
        hits.append((found.intervals[:, 0] <= truth) & (truth <= found.intervals[:, 1]))
    assert 0.93 <= np.mean(hits) <= 0.975


def test_ties_count_half_a_win_or_nothing():
    tied = preferences([[0, 2], [0, 0]], [[0, 2], [2, 0]])
    assert fit_bradley_terry(tied, ties="half").scores == pytest.approx(
        [50 * np.log(3), -50 * np.log(3)]
    )
    with pytest.raises(InputError, match="ties were dropped"):
        fit_bradley_terry(tied, ties="drop")


def test_ties_at_random_depend_on_the_seed_alone():
    tied = preferences([[0, 20], [9, 0]], [[0, 40], [40, 0]])
    found = [fit_bradley_terry(tied, ties="random", seed=seed).scores[0] for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_equals_a_general_optimiser(rng):
    wins, _ = drawn(rng, 7, 20)

    def loss(w):
        return (wins * np.logaddexp(0, -np.subtract.outer(w, w) / 100)).sum() + w.mean() ** 2

    best = minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-7})
    best = minimize(loss, best.x, method="Powell", options={"xtol": 1e-10, "ftol": 1e-15})
    found = fit_bradley_terry(preferences(wins))
    assert found.scores == pytest.approx(best.x - best.x.mean(), abs=1e-3)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-9)


def test_solves_the_equations_of_the_maximum(rng):
    # At the top, each system wins as often as its chances say (Zermelo's algorithm stands still)
    wins, _ = drawn(rng, 6, 15, spread=2)
    found = fit_bradley_terry(preferences(wins))
    chances = 1 / (1 + np.exp(-np.subtract.outer(found.scores, found.scores) / 100))
    assert wins.sum(1) == pytest.approx(((wins + wins.T) * chances).sum(1), abs=1e-8)
    assert found.scores.mean() == pytest.approx(0, abs=1e-10)


def test_standard_errors_are_those_of_a_fit_with_one_score_held(rng):
    wins, _ = drawn(rng, 5, 12)
    found = fit_bradley_terry(preferences(wins))
    chances = 1 / (1 + np.exp(-np.subtract.outer(found.scores, found.scores) / 100))
    weights = (wins + wins.T) * chances * chances.T / 100**2
    information = np.diag(weights.sum(1)) - weights
    held = np.linalg.inv(information[1:, 1:])  # variances of w_i - w_0
    for i in range(1, 5):
        error = found.difference(i, 0).standard_error
        assert error == pytest.approx(np.sqrt(held[i - 1, i - 1]))
    assert found.difference("r", "r").standard_error == 0
    assert found.covariance.sum(axis=1) == pytest.approx(np.zeros(5), abs=1e-6)


@pytest.mark.slow
def test_intervals_cover(rng):
    hits, apart = [], []
    for _ in range(300):
        wins, truth = drawn(rng, 5, 40, spread=0.7)
        found = fit_bradley_terry(preferences(wins), scale=1)
        hits.append((found.intervals[:, 0] <= truth) & (truth <= found.intervals[:, 1]))
        low, high = found.difference(0, 1).interval
        apart.append(low <= truth[0] - truth[1] <= high)
    assert 0.93 <= np.mean(hits) <= 0.975
    assert 0.91 <= np.mean(apart) <= 0.985


def test_many_lopsided_comparisons_still_settle():
    found = fit_bradley_terry(preferences([[0, 1e6, 1e6], [1, 0, 10], [1, 10, 0]]))
    assert found.scores[0] - found.scores[1] == pytest.approx(100 * np.log(1e6), rel=1e-6)


def test_settles_where_whole_newton_steps_run_away():
    wins = [
        [0, 0, 5, 0, 6, 1],
        [3088, 0, 0, 16120, 0, 0],
        [0, 0, 0, 0, 1081, 26],
        [0, 0, 577, 0, 98, 1],
        [20, 0, 0, 1, 0, 2],
        [2, 1, 0, 237, 0, 0],
    ]
    found = fit_bradley_terry(preferences(wins))
    assert found.iterations < 30
    wins = np.array(wins)
    chances = 1 / (1 + np.exp(-np.subtract.outer(found.scores, found.scores) / 100))
    assert wins.sum(1) == pytest.approx(((wins + wins.T) * chances).sum(1), abs=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(0.5, 300))
def test_laws(seed, n, scale):
    rng = np.random.default_rng(seed)
    wins = np.where(np.eye(n), 0, rng.integers(1, 9, (n, n)))
    found, order = fit_bradley_terry(preferences(wins), scale=scale), rng.permutation(n)
    moved = fit_bradley_terry(preferences(wins[np.ix_(order, order)]), scale=scale)
    assert moved.scores == pytest.approx(found.scores[order], abs=1e-7 * scale)
    assert moved.standard_errors == pytest.approx(found.standard_errors[order])
    turned = fit_bradley_terry(preferences(wins.T), scale=scale)  # losers become winners
    assert turned.scores == pytest.approx(-found.scores, abs=1e-7 * scale)
    again = fit_bradley_terry(preferences(wins * 4), scale=2 * scale)  # more of the same
    assert again.scores == pytest.approx(2 * found.scores, abs=1e-7 * scale)
    assert again.standard_errors == pytest.approx(found.standard_errors)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_laws_where_judgements_tie(seed, n):
    rng = np.random.default_rng(seed)
    wins = np.where(np.eye(n), 0, rng.integers(1, 9, (n, n))).astype(float)
    upper = np.triu(rng.integers(0, 9, (n, n)), 1)
    ties = (upper + upper.T).astype(float)
    found, order = fit_bradley_terry(preferences(wins, ties)), rng.permutation(n)
    both = np.ix_(order, order)
    moved = fit_bradley_terry(preferences(wins[both], ties[both]))
    assert moved.scores == pytest.approx(found.scores[order], abs=1e-5)
    assert moved.covariance == pytest.approx(found.covariance[both], rel=1e-6, abs=1e-5)
    turned = fit_bradley_terry(preferences(wins.T, ties))  # losers become winners
    assert turned.scores == pytest.approx(-found.scores, abs=1e-5)
    assert turned.tie_parameter == pytest.approx(found.tie_parameter)
    twice = fit_bradley_terry(preferences(2 * wins, 2 * ties))  # more of the same
    assert twice.scores == pytest.approx(found.scores, abs=1e-5)
    assert twice.standard_errors == pytest.approx(found.standard_errors / np.sqrt(2))
    # At the top, systems win and tie as often as their chances say
    won, tied = davidson_counts(found.scores / 100, found.tie_parameter, wins + wins.T + ties)
    assert (won + tied / 2).sum(1) == pytest.approx((wins + ties / 2).sum(1), abs=1e-7)
    assert tied.sum() == pytest.approx(ties.sum(), abs=1e-7)


def test_bad_options():
    good = preferences([[0, 3], [1, 0]])
    for level in (0, 1, float("nan")):
        with pytest.raises(InputError, match=r"level .*0 and 1"):
            fit_bradley_terry(good, level=level)
    for scale in (0, -1, float("inf"), float("nan")):
        with pytest.raises(InputError, match=r"scale .*above 0"):
            fit_bradley_terry(good, scale=scale)
    with pytest.raises(InputError, match="unknown way to split ties 'hlf'"):
        fit_bradley_terry(good, ties="hlf")
    with pytest.raises(InputError, match="at least two systems, found 1"):
        fit_bradley_terry(preferences([[0]]))
    found = fit_bradley_terry(good)
    with pytest.raises(InputError, match="unknown system 'x'"):
        found.difference("x", "p")
    with pytest.raises(InputError, match="counted from 0 to 1, found -1"):
        found.difference(0, -1)


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


# Rows of (a, b, answer) become wins and ties, and nothing is read two ways.


def counted(rows, **options):
    return count_preferences(*zip(*rows, strict=True), **options)


def test_by_hand():
    rows = [
        ("x", "y", "x"),
        ("y", "x", "x"),
        ("x", "z", "b"),
        ("z", "y", "Definitely A"),
        ("z", "y", "slightly  b"),
        ("y", "z", 1),
        ("y", "z", "2"),
        ("y", "z", 3.0),
        ("z", "y", "TIE"),
        ("y", "x", 4),
        ("y", "x", "5.0"),
    ]
    found = counted(rows)
    assert found.names == ("x", "y", "z")
    assert found.wins.tolist() == [[0, 4, 0], [0, 0, 3], [1, 1, 0]]
    assert found.ties.tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]
    assert found.comparisons == len(rows)


def test_a_given_order_of_names_is_kept_and_may_hold_systems_that_no_row_has():
    found = counted([("x", "y", "x")], names=["idle", "y", "x"])
    assert found.names == ("idle", "y", "x")
    assert found.wins.tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_a_name_goes_before_a_letter():
    rows = [("b", "a", "a"), ("b", "a", "b"), ("1", "2", "1"), ("1", "2", 2)]
    assert counted(rows[:2], names=["a", "b"]).wins.tolist() == [[0, 1], [1, 0]]
    assert counted(rows[2:]).wins.tolist() == [[0, 1], [1, 0]]
    assert counted([("a", "b", "definitely b")]).wins.tolist() == [[0, 0], [1, 0]]


def test_a_number_means_a_column_whatever_the_systems_are_called():
    rows = [("b", "a", "5"), ("b", "a", 2.0), ("a", "b", "1"), ("b", "a", 3)]
    answered = counted(rows, names=["a", "b"])
    assert answered.wins.tolist() == [[0, 2], [1, 0]]
    assert answered.ties.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("x", "y", "z"), "row 3: .*'z' .*'x', 'y', 'a', 'b', 'definitely a'"),
        (("x", "y", ""), "row 3: the answer is missing"),
        (("x", "y", None), "row 3: the answer is missing"),
        (("x", "y", float("nan")), "row 3: the answer is missing"),
        (("x", "y", 0), "row 3: the answer '0' is not one"),
        (("x", "y", 2.5), "row 3: the answer '2.5' is not one"),
        (("x", "y", True), "row 3: the answer True is not a name"),
        (("x", "x", "a"), "row 3: 'x' is compared with itself"),
        (("x", None, "a"), "row 3: .*'b' is missing"),
        ((" ", "y", "a"), "row 3: .*'a' is missing"),
        (("x", "y", "other"), "row 3: .*'other', .*'x' with 'y'"),
    ],
)
def test_a_bad_row_is_named(row, words):
    with pytest.raises(InputError, match=words):
        counted([("x", "y", "x"), ("x", "other", "tie"), row])


def test_what_could_be_read_two_ways_is_an_error():
    with pytest.raises(InputError, match="called 'Tie'"):
        counted([("x", "Tie", "x")])
    with pytest.raises(InputError, match="row 1: the answer 'slightly a'"):
        counted([("x", "a", "slightly a")])
    with pytest.raises(InputError, match="row 1: the answer 'a'"):
        counted([("x", "A", "a")])
    with pytest.raises(InputError, match="row 2: the answer 3"):
        counted([("1", "2", 1), ("1", "2", 3)])


def test_columns_and_names_must_fit():
    with pytest.raises(InputError, match="found 1, 2 and 1"):
        count_preferences(["x"], ["y", "z"], ["a"])
    with pytest.raises(InputError, match=r"row 1: .*'gtp2'.*'gpt2'"):
        counted([("gtp2", "x", "a")], names=["gpt2", "x"])
    with pytest.raises(InputError, match="'x' occurs twice"):
        counted([("x", "y", "a")], names=["x", "y", "x"])


@pytest.mark.parametrize(
    ("wins", "ties", "words"),
    [
        ([[0, 1]], [[0, 0], [0, 0]], "wins .*row and a column for each of the 2 names"),
        ([[0, -1], [0, 0]], [[0, 0], [0, 0]], "wins .*finite and not negative"),
        ([[0, np.nan], [0, 0]], [[0, 0], [0, 0]], "wins .*finite and not negative"),
        ([[1, 1], [0, 0]], [[0, 0], [0, 0]], "wins must be 0 on the diagonal"),
        ([[0, 1], [0, 0]], [[0, 1], [0, 0]], "ties must be symmetric"),
        ([["much", 1], [0, 0]], [[0, 0], [0, 0]], "wins must be a table of numbers"),
    ],
)
def test_tables_that_count_nothing(wins, ties, words):
    with pytest.raises(InputError, match=words):
        Preferences(("x", "y"), wins, ties)


TIED = Preferences(("x", "y", "z"), np.zeros((3, 3)), [[0, 101, 0], [101, 0, 6], [0, 6, 0]])


def test_ties_in_halves_and_dropped():
    assert (split_ties(TIED).wins == TIED.ties / 2).all()
    assert not split_ties(TIED, "drop").wins.any()
    assert not split_ties(TIED).ties.any()


def test_ties_at_random_are_whole_wins_that_the_seed_fixes():
    first, again = split_ties(TIED, "random", seed=7), split_ties(TIED, "random", seed=7)
    assert (first.wins == again.wins).all()
    assert (first.wins + first.wins.T == TIED.ties).all()
    assert (first.wins % 1 == 0).all()
    shares = [split_ties(TIED, "random", seed=seed).wins[0, 1] / 101 for seed in range(400)]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.01)  # four standard errors
    assert np.std(shares) == pytest.approx(0.5 / np.sqrt(101), rel=0.15)


def test_ties_that_cannot_be_split():
    half = Preferences(("x", "y"), np.zeros((2, 2)), [[0, 0.5], [0.5, 0]])
    with pytest.raises(InputError, match="only where they are whole numbers"):
        split_ties(half, "random")
    with pytest.raises(InputError, match=r"split ties 'halves'.*'half'"):
        split_ties(half, "halves")
