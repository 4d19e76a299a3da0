"""Errors of Bradley-Terry scores from clusters: by hand, by brute force, laws, and coverage."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.clustered import clustered_covariance, sandwich
from calipers.uncertainty.rated_pairs import RatedPairs

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def crowds():
    """The script that draws crowds."""
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import crowds

        yield crowds
    finally:
        sys.path.remove(str(EXPERIMENTS))


def judged(names, i, j, outcome, rater, first=None):
    columns = [np.array(column, dtype=np.int64) for column in (i, j, outcome, rater)]
    raters = tuple(f"r{number}" for number in range(int(columns[3].max()) + 1))
    shown = np.zeros_like(columns[0]) if first is None else np.array(first)
    unknown = np.full_like(columns[0], -1)
    return RatedPairs(names, raters, (), *columns, shown, unknown, np.zeros_like(unknown))


def drawn(rng, n=4, rows=120, raters=8, tie=0.15):
    i = rng.integers(0, n, rows)
    j = (i + rng.integers(1, n, rows)) % n
    theta = np.linspace(0.6, -0.6, n)
    won = rng.random(rows) < 1 / (1 + np.exp(theta[j] - theta[i]))
    outcome = np.where(rng.random(rows) < tie, 0, np.where(won, 1, -1))
    return judged(tuple("pqrstuvw"[:n]), i, j, outcome, rng.integers(0, raters, rows))


def test_two_systems_by_hand():
    # Three raters prefer x 4, 2 and 3 times of 4: the share is p = 3/4, each rater 1, -1 and 0 off
    # it. With equal clusters the variance is that of three means, G/(G − 1)·Σ s²/(M p q)², and the
    # degrees of freedom are 2.
    outcome = [1, 1, 1, 1, 1, 1, -1, -1, 1, 1, 1, -1]
    pairs = judged(("x", "y"), [0] * 12, [1] * 12, outcome, np.repeat([0, 1, 2], 4))
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    apart = found.difference("x", "y")
    error = 100 * math.sqrt(1.5 * 2) / (12 * 3 / 16)
    assert apart.value == pytest.approx(100 * math.log(3))
    assert apart.standard_error == pytest.approx(error)
    reach = 4.302652729749464 * error  # Student's t with 2 degrees of freedom
    assert apart.interval == pytest.approx((apart.value - reach, apart.value + reach))
    assert found.standard_errors == pytest.approx([error / 2] * 2)
    assert found.degrees == pytest.approx([2, 2])
    assert found.clusters == 3
    own = reach / 2
    assert found.intervals == pytest.approx(np.array([[s - own, s + own] for s in fit.scores]))


def test_two_systems_and_raters_of_unequal_zeal_by_hand():
    # 6 of 8 and 1 of 2: p = 7/10, s = ±0.4, leverages 8/10 and 2/10
    outcome = [1] * 6 + [-1] * 2 + [1, -1]
    pairs = judged(("x", "y"), [0] * 10, [1] * 10, outcome, [0] * 8 + [1] * 2)
    found = clustered_covariance(fit_bradley_terry(pairs.preferences), pairs)
    variance = (0.4**2 / 0.2 + 0.4**2 / 0.8) / (10 * 0.21) ** 2
    assert found.difference(0, 1).standard_error == pytest.approx(100 * math.sqrt(variance))
    assert found.degrees == pytest.approx([1, 1])


def test_alike_answers_of_one_rater_widen_the_errors():
    # 20 raters who answer 10 times with one voice know no more than 20 answers
    outcome = np.repeat([1] * 13 + [-1] * 7, 10)
    pairs = judged(("x", "y"), [0] * 200, [1] * 200, outcome, np.repeat(np.arange(20), 10))
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    ratio = found.standard_errors / fit.standard_errors
    assert ratio == pytest.approx([math.sqrt(10 * 20 / 19)] * 2)


@pytest.mark.parametrize("ties", ["davidson", "half", "drop"])
def test_the_sandwich_by_brute_force(ties):
    """Scores and information of every rater by differences of the log-likelihood of its rows."""
    pairs = drawn(np.random.default_rng(3))
    fit = fit_bradley_terry(pairs.preferences, ties=ties)
    n, modelled = 4, ties == "davidson"
    point = np.append(fit.scores / 100, math.log(fit.tie_parameter) if modelled else [])

    def likelihood(at, rows):
        total = 0.0
        for row in rows:
            half = (at[pairs.i[row]] - at[pairs.j[row]]) / 2
            logs = [half, -half, *([at[n]] if modelled else [])]
            whole = math.log(sum(map(math.exp, logs)))
            outcome = int(pairs.outcome[row])
            if outcome:
                total += outcome * half - whole
            elif ties != "drop":
                total += (at[n] if modelled else 0.0) - whole
        return total

    step, size = 1e-3, len(point)
    eye = np.eye(size) * step
    scores, parts = np.zeros((8, size)), np.zeros((8, size, size))
    for rater in range(8):
        rows = np.flatnonzero(pairs.rater == rater)
        for p in range(size):
            up, down = likelihood(point + eye[p], rows), likelihood(point - eye[p], rows)
            scores[rater, p] = (up - down) / (2 * step)
            for q in range(size):
                corners = [
                    s * t * likelihood(point + s * eye[p] + t * eye[q], rows)
                    for s in (1, -1)
                    for t in (1, -1)
                ]
                parts[rater, p, q] = -sum(corners) / (4 * step**2)
    inverse = np.linalg.pinv(parts.sum(axis=0), rcond=1e-6)
    meat = np.zeros((size, size))
    for rater in range(8):
        values, axes = np.linalg.eigh(parts[rater])
        kept = values > 1e-6
        half = axes[:, kept] * np.sqrt(values[kept])
        left = np.eye(kept.sum()) - half.T @ inverse @ half
        w, v = np.linalg.eigh(left)
        middle = (v / np.sqrt(w)) @ v.T
        moved = half @ middle @ (half / values[kept]).T @ scores[rater]
        meat += np.outer(moved, moved)
    expected = (inverse @ meat @ inverse)[:n, :n] * 100**2
    found = clustered_covariance(fit, pairs)
    assert found.covariance == pytest.approx(expected, rel=1e-4, abs=1e-2)


def test_degrees_of_freedom_by_brute_force():
    rng = np.random.default_rng(4)
    roots = rng.standard_normal((6, 3, 9))
    parts = roots @ roots.transpose(0, 2, 1)
    information = parts.sum(axis=0)
    made = sandwich(information, parts, rng.standard_normal((6, 3)))
    contrast = np.array([1.0, -2.0, 0.5])
    inverse = np.linalg.inv(information)
    v = [adjusted.T @ inverse @ contrast for adjusted in made.adjusted]
    covariance = np.array(
        [
            [
                v[g] @ ((parts[g] if g == h else 0) - parts[g] @ inverse @ parts[h]) @ v[h]
                for h in range(6)
            ]
            for g in range(6)
        ]
    )
    expected = np.trace(covariance) ** 2 / np.sum(covariance**2)
    assert made.degrees(contrast) == pytest.approx(expected)
    # The adjustment makes the variance right on average under the model
    assert np.trace(covariance) == pytest.approx(contrast @ inverse @ contrast)


def test_one_cluster_that_alone_tells_of_a_system_counts_as_independent():
    # Only rater 0 judged z: without that floor its error would be 0
    i = [0, 0, 0, 0, 0, 0, 2, 2, 2, 2]
    j = [1, 1, 1, 1, 1, 1, 0, 0, 1, 1]
    outcome = [1, -1, 1, 1, -1, 1, 1, -1, 1, -1]
    pairs = judged(("x", "y", "z"), i, j, outcome, [1, 1, 2, 2, 3, 3, 0, 0, 0, 0])
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    assert found.standard_errors[2] > 0.5 * fit.standard_errors[2]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_laws(seed):
    """Who is called what, which system stands in which column, and the order of rows: no matter."""
    rng = np.random.default_rng(seed)
    pairs = drawn(rng)
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    assert found.covariance.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-6)
    assert (found.degrees <= 7 + 1e-9).all()
    labels = np.array(["ann", "bob", "cy", "dee", "eve", "flo", "gus", "hal"])[pairs.rater]
    assert clustered_covariance(fit, pairs, labels).covariance == pytest.approx(found.covariance)
    turned = RatedPairs(
        pairs.names,
        pairs.raters,
        (),
        pairs.j,
        pairs.i,
        -pairs.outcome,
        pairs.rater,
        pairs.first,
        pairs.item,
        pairs.repeat,
    ).select(rng.permutation(len(pairs)))
    assert clustered_covariance(fit, turned).covariance == pytest.approx(found.covariance)


def test_drawn_ties_add_their_own_variance():
    pairs = drawn(np.random.default_rng(5), tie=0.5)
    half = clustered_covariance(fit_bradley_terry(pairs.preferences, ties="half"), pairs)
    toss = clustered_covariance(fit_bradley_terry(pairs.preferences, ties="random"), pairs)
    assert (toss.standard_errors > half.standard_errors * 0.95).all()
    assert toss.standard_errors.mean() > 1.1 * half.standard_errors.mean()


def test_refusals():
    pairs = drawn(np.random.default_rng(6))
    fit = fit_bradley_terry(pairs.preferences)
    with pytest.raises(InputError, match="at least 2 clusters, found 1"):
        clustered_covariance(fit, pairs, np.zeros(120))
    with pytest.raises(InputError, match="one label for each of the 120 judgements"):
        clustered_covariance(fit, pairs, [1, 2])
    with pytest.raises(InputError, match=r"it has 120, pairs 60"):
        clustered_covariance(fit, pairs.select(np.arange(60)))
    with pytest.raises(InputError, match="of the systems that the fit is of"):
        clustered_covariance(fit, judged(("x", "y"), [0], [1], [1], [0]))
    nobody = RatedPairs(*[getattr(pairs, f) if f != "raters" else () for f in pairs.__dict__][:10])
    with pytest.raises(InputError, match="need the rater of every judgement"):
        clustered_covariance(fit, nobody)
    with pytest.raises(InputError, match="unknown system"):
        clustered_covariance(fit, pairs).difference("p", "nobody")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "all of these", "all, uneven"])
def test_intervals_cover_in_simulated_crowds(crowds, kind):
    (crowd,) = (crowd for crowd in crowds.CROWDS if crowd.name == kind)
    truth = crowds.truth_of(crowd, many=20_000)
    inside, plain = [], []
    for number in range(200):
        rng = np.random.default_rng([31, number])
        pairs = crowds.draw_pairs(rng, crowd, crowds.RATERS, crowds.PAIRS)
        fit = fit_bradley_terry(pairs.preferences)
        for intervals, kept in (
            (clustered_covariance(fit, pairs).intervals, inside),
            (fit.intervals, plain),
        ):
            kept.append((intervals[:, 0] <= truth) & (truth <= intervals[:, 1]))
    assert np.mean(inside) >= 0.93
    if kind == "all, uneven":
        assert np.mean(plain) < 0.87
