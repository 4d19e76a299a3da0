"""Errors of Bradley-Terry scores from clusters: by hand, by brute force, laws, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.uncertainty import clustered
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.clustered import (
    clustered_covariance,
    combined,
    crossed_covariance,
    sandwich,
)
from calipers.uncertainty.davidson import outcomes
from calipers.uncertainty.rated_pairs import RatedPairs


@pytest.fixture(scope="module")
def crowds(experiments):
    """The script that draws crowds."""
    import crowds

    return crowds


def judged(names, i, j, outcome, rater, first=None, item=None):
    columns = [np.array(column, dtype=np.int64) for column in (i, j, outcome, rater)]
    raters = tuple(f"r{number}" for number in range(int(columns[3].max()) + 1))
    shown = np.zeros_like(columns[0]) if first is None else np.array(first)
    unknown = np.full_like(columns[0], -1)
    items = () if item is None else tuple(f"i{number}" for number in range(int(max(item)) + 1))
    seen = unknown if item is None else np.asarray(item)
    return RatedPairs(names, raters, items, *columns, shown, seen, np.zeros_like(unknown))


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
    v = [adjusted.T @ inverse @ contrast for adjusted in made.adjusted[0]]
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


def test_raters_and_items_by_hand():
    # x is preferred in 6 of 8 judgements, 2 raters on 4 items, so p = 3/4 and the derivatives are
    # 1/4 where x wins, −3/4 where it loses. Raters: +1/2 each way off (3 of 4 each: 0) ...
    outcome = [1, 1, 1, 1, 1, 1, -1, -1]
    rater = [0, 1, 0, 1, 0, 1, 0, 1]
    item = [0, 0, 1, 1, 2, 2, 3, 3]
    pairs = judged(("x", "y"), [0] * 8, [1] * 8, outcome, rater, item=item)
    fit = fit_bradley_terry(pairs.preferences)
    found = crossed_covariance(fit, pairs)
    # ... so that V of raters is 0; items have the sums 1/2, 1/2, 1/2 and −3/2, judgements 1/4 six
    # times and −3/4 twice; by equal clusters each sum of squares takes the factor G/(G − 1)
    items, both = 4 / 3 * (3 / 4 + 9 / 4), 8 / 7 * (6 / 16 + 2 * 9 / 16)
    variance = (items - both) / (8 * 3 / 16) ** 2
    apart = found.difference("x", "y")
    assert apart.standard_error == pytest.approx(100 * math.sqrt(variance))
    # Raters have one degree of freedom, items three
    assert found.degrees == pytest.approx([1, 1])
    reach = 12.706204736432095 * apart.standard_error
    assert apart.interval == pytest.approx((apart.value - reach, apart.value + reach))
    assert found.clusters == 2


def test_items_that_contradict_themselves_leave_the_errors_of_raters():
    # Every item has one win of either side: V of items is 0, less than that of judgements, and
    # would claim certainty; each item of two judgements then counts as one
    rater = [0, 1, 0, 2, 1, 2, 1, 0]
    item = [0, 0, 1, 1, 2, 2, 3, 3]
    pairs = judged(("x", "y"), [0] * 8, [1] * 8, [1, -1] * 4, rater, item=item)
    fit = fit_bradley_terry(pairs.preferences)
    by_rater, found = clustered_covariance(fit, pairs), crossed_covariance(fit, pairs)
    by_item = clustered_covariance(fit, pairs, pairs.item)
    assert by_item.covariance == pytest.approx(2 * fit.covariance)
    apart = by_item.difference("x", "y")
    assert apart.standard_error == pytest.approx(100 * math.sqrt(2 * 4 / 8))  # 2 / (M p q)
    assert apart.interval[0] < -100 < 100 < apart.interval[1]
    assert found.covariance == pytest.approx(by_rater.covariance)
    assert found.standard_errors.min() > 1


def test_clusters_that_all_say_the_same_claim_no_certainty():
    # A win and a tie in every item, and of one system with a third a win and a loss in every item
    i, j = [0, 0, 0, 0] * 20, [1, 1, 2, 2] * 20
    outcome = [1, 0, 1, -1] * 20
    pairs = judged(("x", "y", "z"), i, j, outcome, np.arange(80) // 4)
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    assert found.covariance == pytest.approx(4 * fit.covariance)
    assert (found.intervals[:, 1] - found.intervals[:, 0]).min() > 50
    # Where they differ in one way alone, the other is filled and this one is as it was
    outcome[0] = -1
    pairs = judged(("x", "y", "z"), i, j, outcome, np.arange(80) // 4)
    fit = fit_bradley_terry(pairs.preferences)
    found = clustered_covariance(fit, pairs)
    ours, model = found.difference("x", "z").standard_error, fit.difference("x", "z").standard_error
    assert model < ours < 2.01 * model


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_laws_of_raters_and_items(seed):
    rng = np.random.default_rng(seed)
    plain = drawn(rng)
    fit = fit_bradley_terry(plain.preferences)
    by_rater = clustered_covariance(fit, plain)
    columns = plain.names, plain.i, plain.j, plain.outcome, plain.rater, plain.first
    # Items that are all different, not known, or of one rater each: errors by rater alone
    for item in (np.arange(120), None, plain.rater * 3 + rng.integers(0, 3, 120)):
        found = crossed_covariance(fit, judged(*columns, item=item))
        np.testing.assert_array_equal(found.covariance, by_rater.covariance)
        np.testing.assert_array_equal(found.intervals, by_rater.intervals)
    # Either kind may come first, and names do not matter
    item = rng.integers(0, 40, 120)
    found = crossed_covariance(fit, judged(*columns, item=item))
    total = by_rater.covariance + clustered_covariance(fit, plain, item).covariance
    total = total - clustered_covariance(fit, plain, item * 8 + plain.rater).covariance
    assert found.covariance.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-6)
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-6
    if np.linalg.eigvalsh(total).min() > -1e-6:
        assert found.covariance == pytest.approx(total)
        turned = crossed_covariance(fit, plain, 7 - item, [f"p{rater}" for rater in plain.rater])
        assert turned.covariance == pytest.approx(found.covariance)
        assert turned.degrees == pytest.approx(found.degrees)
    assert (found.degrees <= by_rater.degrees + 1e-9).all()


def test_no_variance_below_that_of_the_first_kind_where_a_sum_is_negative():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    first, more = root @ root.T, np.diag([1.0, -50.0, 2.0])
    found = combined(first, more)
    assert np.linalg.eigvalsh(found - first).min() > -1e-12
    assert found == pytest.approx(first + np.diag([1.0, 0.0, 2.0]))
    assert combined(first, np.eye(3)) == pytest.approx(first + np.eye(3))


@settings(max_examples=15)
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
    with pytest.raises(InputError, match="each of the 120 judgements"):
        clustered_covariance(fit, pairs, [1, 2])
    with pytest.raises(InputError, match=r"it has 120, pairs 60"):
        clustered_covariance(fit, pairs.select(np.arange(60)))
    with pytest.raises(InputError, match="of the systems that the fit is of"):
        clustered_covariance(fit, judged(("x", "y"), [0], [1], [1], [0]))
    nobody = RatedPairs(*[getattr(pairs, f) if f != "raters" else () for f in pairs.__dict__][:10])
    with pytest.raises(InputError, match="need the rater of every judgement"):
        clustered_covariance(fit, nobody)
    with pytest.raises(InputError, match="need the rater of every judgement"):
        crossed_covariance(fit, nobody)
    with pytest.raises(InputError, match="at least 2 clusters, found 1"):
        crossed_covariance(fit, pairs, None, np.zeros(120))
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


@pytest.mark.slow
def test_intervals_by_rater_and_item_cover_where_items_differ(crowds):
    crowd = crowds.Crowd("items", item=1.0)
    rows = crowds.measure(crowd, 100, 30, crowds.PAIRS, 5, crowds.ITEM_METHODS)
    held = {row.method: row.scores for row in rows if row.truth == "crowd"}
    assert held["clustered"] < 0.93
    assert 0.93 < held["rater and item"] < 0.98


def dense(pairs, fit, labels, ties):
    """H_g and s_g of every cluster by every parameter, summed judgement by judgement."""
    n, modelled = len(fit.names), ties == "davidson"
    theta = fit.scores / fit.scale
    terms = outcomes(
        theta[pairs.i] - theta[pairs.j],
        math.log(fit.tie_parameter) if modelled else -math.inf,
        pairs.signed,
    )
    p, count = n + modelled, int(labels.max()) + 1
    parts, scores = np.zeros((count, p, p)), np.zeros((count, p))
    for row, cluster in enumerate(labels):
        about = np.zeros(p)
        about[pairs.i[row]], about[pairs.j[row]] = 1, -1
        parts[cluster] += terms.odds_odds[row] * np.outer(about, about)
        scores[cluster] += terms.by_odds[row] * about
        if modelled:
            parts[cluster, :, n] += terms.odds_tie[row] * about
            parts[cluster, n, :] += terms.odds_tie[row] * about
            parts[cluster, n, n] += terms.tie_tie[row]
            scores[cluster, n] += terms.by_tie[row]
    information = parts.sum(axis=0)
    information[:n, :n] += 1 / n
    return sandwich(information, parts, scores)


@pytest.mark.parametrize("ties", ["davidson", "half", "drop"])
@pytest.mark.parametrize("clusters", [5, 90])
def test_clusters_that_tell_of_few_systems_give_the_numbers_of_whole_matrices(ties, clusters):
    rng = np.random.default_rng(11)
    pairs = drawn(rng, n=8, rows=400)
    labels = rng.integers(0, clusters, 400)
    fit = fit_bradley_terry(pairs.preferences, ties=ties)
    judged_rows = pairs.outcome != 0 if ties == "drop" else np.ones(400, bool)
    kept, whole = pairs.select(judged_rows), labels[judged_rows]
    whole = np.unique(whole, return_inverse=True)[1]
    expected = dense(kept, fit, whole, ties)
    made = clustered._made(fit, kept, whole, kept.outcome == 0)
    assert made.clusters == expected.clusters == len(np.unique(whole))
    scale = np.abs(expected.covariance).max()
    assert np.abs(made.covariance - expected.covariance).max() <= 1e-12 * scale
    for contrast in (*np.eye(len(made.inverse)), rng.standard_normal(len(made.inverse))):
        assert made.degrees(contrast) == pytest.approx(expected.degrees(contrast), rel=1e-10)


def test_items_of_two_systems_are_kept_as_two():
    rng = np.random.default_rng(12)
    pairs = drawn(rng, n=8, rows=300, tie=0)
    made = clustered._made(
        fit_bradley_terry(pairs.preferences, ties="half"), pairs, np.arange(300), pairs.outcome == 0
    )
    assert [group.parts.shape for group in made.groups] == [(300, 2, 2)]


def test_blocks_change_nothing(monkeypatch):
    pairs = drawn(np.random.default_rng(13), n=6, rows=300, raters=40)
    fit = fit_bradley_terry(pairs.preferences)
    whole = clustered_covariance(fit, pairs)
    monkeypatch.setattr(clustered, "ROOM", 100)
    parts = clustered_covariance(fit, pairs)
    assert parts.covariance == pytest.approx(whole.covariance, rel=1e-12)
    assert parts.degrees == pytest.approx(whole.degrees, rel=1e-10)
