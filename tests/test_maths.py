"""Every formula of docs/maths.md, written out in numpy, against the function that computes it."""

from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import sqrtm
from scipy.optimize import linprog, minimize
from scipy.stats import t as student

from calipers import divergence_frontier, f_divergence, precision_recall_curve
from calipers.curves import (
    expected_missing_mass,
    find_divergence,
    missing_mass,
    oracle_bound,
    quantisation_bound,
    recommended_cells,
    smoothness_constants,
    statistical_bound,
)
from calipers.estimate import (
    Histograms,
    LikelihoodRatios,
    classify,
    gaussian_ratios,
    kde_ratios,
    knn_ratios,
    probability_ratios,
    quantise,
)
from calipers.estimate.classifier import assign_folds
from calipers.estimate.quantise import bucket_count
from calipers.metrics import (
    bert_score,
    frechet_distance,
    kid,
    mmd,
    support,
    transport_frontier,
    vendi_score,
)
from calipers.metrics.bert_score import idf
from calipers.metrics.frontiers import integral_bound, midpoint_bound
from calipers.metrics.likelihood import perplexity
from calipers.numeric.blocks import DEFAULT_BLOCKS, HALVINGS
from calipers.text import bleu, distinct
from calipers.uncertainty.limits import LimitEstimate
from calipers.uncertainty.over_prompts import mean_over_prompts
from calipers.uncertainty.spread import Component, Spread, confidence_interval
from calipers.uncertainty.two_sample import TwoSample
from extras import need

X = np.random.default_rng(0).normal(size=(14, 2)).astype(np.float32).astype(float)
Y = np.random.default_rng(1).normal(0.4, 1.3, size=(11, 2)).astype(np.float32).astype(float)
N, M = len(X), len(Y)
COUNTS = np.array([9, 4, 0, 2, 1]), np.array([3, 0, 5, 1, 7])
SMOOTH = Histograms(*COUNTS, smoothing="krichevsky-trofimov")
P, Q = ((counts + 0.5) / (counts + 0.5).sum() for counts in COUNTS)
WEIGHTS = np.linspace(1e-6, 1 - 1e-6, 25)
near = pytest.approx


def distances(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2))


def radii(rows, k):
    return np.sort(distances(rows, rows), axis=1)[:, k]


def kl(t):
    return t * np.log(t) - t + 1


def chi2(t):
    return (t - 1) ** 2


def conjugate(f):
    return lambda t: t * f(1 / t)


def divergence(f, p, q):
    """D_f(p‖q) of histograms that are positive everywhere."""
    return (q * f(p / q)).sum()


def costs(f, p, q, weight):
    """D_f(P‖R) and D_f(Q‖R)."""
    middle = weight * p + (1 - weight) * q
    return divergence(f, p, middle), divergence(f, q, middle)


def area(first, second, c=5.0):
    """Area under the curve of exp(−c·cost), the mean of both trapezoid sums."""
    x, y = (np.exp(-c * np.asarray(each)) for each in (first, second))
    x, y = np.concatenate([[1], x, [0]]), np.concatenate([[0], y, [1]])
    by_x, by_y = np.lexsort((-y, x)), np.lexsort((-x, y))
    return (np.trapezoid(y[by_x], x[by_x]) + np.trapezoid(x[by_y], y[by_y])) / 2


# Supports ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4])
def test_supports(k):
    scores = support(X, Y, k=k)
    inside = distances(Y, X) <= radii(X, k)  # y_j in the ball of x_i
    covered = distances(X, Y) <= radii(Y, k)
    assert scores.precision.value == near(inside.any(axis=1).mean())
    assert scores.recall.value == near(covered.any(axis=1).mean())
    assert scores.density.value == near(inside.sum() / (k * M))
    assert scores.coverage.value == near(inside.any(axis=0).mean())


def test_supports_by_default():
    found = support(X, Y)
    assert found.precision.value == support(X, Y, k=4).precision.value
    assert "k:4" in found.precision.signature


def test_supports_expected_coverage():
    n, m, k, rng = 12, 9, 2, np.random.default_rng(2)
    expected = 1 - np.prod([(n - i) / (n + m - i) for i in range(1, k + 1)])
    drawn = [
        support(rng.normal(size=(n, 2)), rng.normal(size=(m, 2)), k=k, threads=1).coverage.value
        for _ in range(400)
    ]
    assert abs(np.mean(drawn) - expected) < 3 * np.std(drawn) / np.sqrt(len(drawn))
    n, k = 10**7, 4
    assert 1 - np.prod([(n - i) / (2 * n - i) for i in range(1, k + 1)]) == near(1 - 2.0**-k)


# Cells and smoothing -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("smoothing", "added"),
    [
        ("none", {0: 0, 1: 0, 2: 0}),
        ("krichevsky-trofimov", {0: 0.5, 1: 0.5, 2: 0.5}),
        ("laplace", {0: 1, 1: 1, 2: 1}),
        ("braess-sauer", {0: 0.5, 1: 1, 2: 0.75}),
    ],
)
def test_cells_and_smoothing(smoothing, added):
    for counts, found in zip(
        COUNTS, Histograms(*COUNTS, smoothing=smoothing).probabilities, strict=True
    ):
        raised = np.array([count + added[min(count, 2)] for count in counts])
        assert found == near(raised / raised.sum())


def test_cells_and_smoothing_by_good_turing():
    counts = np.array([0, 0, 0, 1, 1, 2, 7])
    times = Counter(counts.tolist())
    raised = [
        n if n > times[n + 1] else (times[n + 1] + 1) * (n + 1) / times[n] for n in counts.tolist()
    ]
    found, _ = Histograms(counts, counts, smoothing="good-turing").probabilities
    assert found == near(np.array(raised) / sum(raised))


def test_cells_and_smoothing_of_both_sets_together():
    cells = quantise(X, Y, buckets=4, seed=0)
    rows, labels = np.concatenate([X, Y]), np.concatenate(cells.labels)
    nearest = distances(rows, cells.centres).argmin(axis=1)  # Voronoi cells of the centres
    assert (nearest == labels).all()
    assert cells.best.reference.tolist() == np.bincount(labels[:N], minlength=4).tolist()
    assert [bucket_count("auto", *sizes) for sizes in ((900, 500), (10**6, 10**6))] == [50, 5000]


# f-divergences -----------------------------------------------------------------------------------


def test_f_divergences():
    assert f_divergence(SMOOTH, "kl") == near((P * np.log(P / Q)).sum())
    assert f_divergence(SMOOTH, "kl") == near(divergence(kl, P, Q))
    assert f_divergence(SMOOTH, "chi2") == near(divergence(chi2, P, Q))
    assert f_divergence(SMOOTH, find_divergence("kl").conjugate()) == near(divergence(kl, Q, P))


def test_f_divergences_where_q_is_0():
    p, q = (counts / counts.sum() for counts in COUNTS)
    both = q > 0
    hellinger = (q[both] * (np.sqrt(p[both] / q[both]) - 1) ** 2).sum()
    hellinger += p[~both].sum()  # f*(0) = 1
    assert f_divergence(Histograms(*COUNTS), "squared_hellinger") == near(hellinger)


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.8])
def test_f_divergences_from_mixtures(weight):
    def interpolated(t, of=weight):
        mixture = of * t + 1 - of
        return mixture * kl(t / mixture)

    to_p, to_q = costs(kl, P, Q, weight)
    assert divergence(interpolated, P, Q) == near(to_p)
    assert divergence(lambda t: interpolated(t, 1 - weight), Q, P) == near(to_q)
    assert f_divergence(SMOOTH, f"interpolated_kl={weight}") == near(to_p)


# Divergence frontiers ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "f"), [("kl", kl), ("chi2", chi2)])
def test_divergence_frontiers(name, f):
    frontier = divergence_frontier(SMOOTH, divergence=name)
    to_p, to_q = np.transpose([costs(f, P, Q, weight) for weight in WEIGHTS])
    assert frontier.weights == near(WEIGHTS)
    assert frontier.reference_cost == near(to_p)
    assert frontier.generated_cost == near(to_q)
    assert frontier.area() == near(area(to_q, to_p))
    assert frontier.area(2.0) == near(area(to_q, to_p, 2.0))

    def cost(weight):
        ours, theirs = costs(f, P, Q, weight)
        return weight * ours + (1 - weight) * theirs

    assert frontier.integral() == near(2 * quad(cost, 0, 1)[0])
    assert frontier.midpoint() == near(cost(0.5))


@pytest.mark.parametrize("name", ["kl", "chi2"])
def test_divergence_frontiers_as_f_divergences(name):
    frontier, times = divergence_frontier(SMOOTH, divergence=name), {"kl": 1, "chi2": 2}[name]

    def generator(t):
        return times * ((t + 1) / 2 - t / (t - 1) * np.log(t))

    assert frontier.integral() == near(divergence(generator, P, Q))
    f = {"kl": kl, "chi2": chi2}[name]

    def middle(t):
        return (t + 1) / 2 * f(t / ((t + 1) / 2))  # f_½

    mean = divergence(lambda t: (middle(t) + conjugate(middle)(t)) / 2, P, Q)
    summary = {"kl": "jensen_shannon", "chi2": "le_cam"}[name]
    assert frontier.midpoint() == near(mean) == near(f_divergence(SMOOTH, summary))


@pytest.mark.parametrize(("name", "f", "most"), [("kl", kl, 1), ("chi2", chi2, 2)])
def test_divergence_frontiers_have_bounds(name, f, most):
    bound = 4 * quad(lambda t: t * conjugate(f)(t), 0, 1)[0] + 2 / 3 * 1  # f(0) = 1 for both
    assert bound == near(most)
    assert integral_bound(find_divergence(name)) == near(bound)
    assert midpoint_bound(find_divergence(name)) == near((1 + f(2)) / 2)
    apart = divergence_frontier(Histograms([1, 0], [0, 1]), divergence=name)
    assert apart.integral() == near(most)
    assert apart.midpoint() == near((1 + f(2)) / 2)


def test_divergence_frontiers_nested_stay_nested_for_every_c():
    worse = Histograms([9, 1], [1, 9], smoothing="laplace")
    better = Histograms([9, 1], [5, 5], smoothing="laplace")
    for c in (0.1, 1.0, 5.0, 20.0):
        first, second = (divergence_frontier(each).area(c) for each in (worse, better))
        assert first < second


# Estimates without cells -------------------------------------------------------------------------


def test_estimates_without_cells():
    at_p, at_q = np.array([1.4, 2.5, 0.8]), np.array([0.5, 1.2])
    ratios = LikelihoodRatios.of(at_p, at_q)
    both = sum((kl(r) / (1 + r)).mean() for r in (at_p, at_q))
    assert f_divergence(ratios, "kl") == near(both)
    assert f_divergence(ratios, "kl", points="other_side") == near(kl(at_q).mean())


def test_estimates_without_cells_by_neighbours():
    k, rows = 5, np.concatenate([X, Y])
    apart = distances(rows, rows)
    np.fill_diagonal(apart, np.inf)
    found = knn_ratios(X, Y, k=k, dimensions=None)
    logs = np.concatenate([found.log_reference, found.log_generated])
    for row, order in enumerate(np.argsort(apart, axis=1)[:, :k]):
        a, b = (order < N).sum(), (order >= N).sum()
        with np.errstate(divide="ignore"):
            ratio = np.log((a + 1) / N) - np.log(b / M) if row < N else np.log(a / N * M / (b + 1))
        assert logs[row] == near(ratio)


def test_estimates_without_cells_by_kernels():
    h = 0.6 * np.sqrt(np.concatenate([X, Y]).var(axis=0, ddof=1).mean())
    found = kde_ratios(X, Y, bandwidth=0.6, dimensions=None)
    for places, logs, own in ((X, found.log_reference, 0), (Y, found.log_generated, 1)):
        densities = []
        for side, rows in enumerate((X, Y)):
            values = np.exp(-(distances(places, rows) ** 2) / (2 * h**2))
            if side == own:
                np.fill_diagonal(values, 0)
            densities.append(values.sum(axis=1) / (len(rows) - (side == own)))
        assert logs == near(np.log(densities[0] / densities[1]), rel=1e-4)


def test_estimates_without_cells_by_a_classifier():
    found = classify(X, Y, calibrate=False)
    rows, labels = np.concatenate([X, Y]), np.arange(N + M) < N
    fold = np.concatenate(assign_folds(X, Y, folds=5, seed=0))
    logs = np.concatenate([found.ratios.log_reference, found.ratios.log_generated])
    for which in range(5):
        train, held = fold != which, fold == which
        mean, scale = rows[train].mean(axis=0), rows[train].std(axis=0)
        known, signs = (rows[train] - mean) / scale, np.where(labels[train], 1, -1)

        def loss(w, known=known, signs=signs):
            margins = signs * (known @ w[:-1] + w[-1])
            return np.logaddexp(0, -margins).sum() + (w[:-1] ** 2).sum() / 2

        w = minimize(loss, np.zeros(3), tol=1e-10).x
        eta = 1 / (1 + np.exp(-((rows[held] - mean) / scale @ w[:-1] + w[-1])))
        ratio = (~labels[train]).sum() / labels[train].sum() * eta / (1 - eta)
        assert logs[held] == near(np.log(ratio), abs=1e-3)


def test_estimates_without_cells_by_gaussians():
    found = gaussian_ratios(X, Y, draws=200_000)
    gap, ours, theirs = Y.mean(axis=0) - X.mean(axis=0), np.cov(X.T), np.cov(Y.T)
    inverse = np.linalg.inv(theirs)
    exact = np.trace(inverse @ ours) + gap @ inverse @ gap - 2  # twice KL(P‖Q) of two Gaussians
    exact = (exact + np.log(np.linalg.det(theirs) / np.linalg.det(ours))) / 2
    spread = found.log_reference.std() / np.sqrt(len(found.log_reference))
    assert abs(found.log_reference.mean() - exact) < 4 * spread
    assert spread < 0.01


def test_estimates_without_cells_by_two_models():
    p = np.array([-3.0, -1.0, -2.0]), np.array([-2.5, -4.0])  # at reference, generated texts
    q = np.array([-2.0, -2.5, -2.6]), np.array([-2.0, -1.5])
    frontier = divergence_frontier(
        probability_ratios((p[0], q[0]), (p[1], q[1])), points="own_side"
    )
    for place, weight in enumerate(WEIGHTS):
        middle = [weight * np.exp(p[i]) + (1 - weight) * np.exp(q[i]) for i in (0, 1)]
        to_p = np.mean(p[0] - np.log(middle[0]))
        to_q = np.mean(q[1] - np.log(middle[1]))
        assert frontier.reference_cost[place] == near(max(0, to_p))
        assert frontier.generated_cost[place] == near(max(0, to_q))


def test_estimates_without_cells_by_two_models_of_texts_that_neither_wrote():
    reference = np.array([-3.0, -1.0, -2.0]), np.array([-2.0, -2.5, -2.6])

    def found(p, q):
        return divergence_frontier(probability_ratios(reference, (p, q)), points="own_side")

    # The second set is three times as unlikely, but both are likelier under P' than under Q
    likely = found(np.array([-2.0, -5.0]), np.array([-2.5, -4.6]))
    random = found(np.array([-20.0, -60.0]), np.array([-20.9, -59.5]))
    for frontier in (likely, random):
        assert frontier.generated_cost.tolist() == [0.0] * 25
        assert frontier.area() == 1.0
    assert likely.midpoint() == random.midpoint() > 0
    assert likely.integral() == random.integral() > 0
    beyond = found(np.array([-2.0, -5.0]), np.array([-2.5, -4.4]))  # likelier under Q
    assert beyond.generated_cost[-1] == near(0.05, abs=1e-5)
    assert beyond.area() < 1.0


# Error bounds ------------------------------------------------------------------------------------

COVERED = ["frontier_integral", "jensen_shannon", "interpolated_kl=0.3", "interpolated_chi2=0.3"]


@pytest.mark.parametrize("name", COVERED)
def test_error_bounds(name):
    n, k, c = 50, len(P), smoothness_constants(name)

    def alpha(p):
        return np.sqrt(p / n).sum()

    def beta(p):
        return ((1 - p) ** n * p * np.maximum(1, np.log(1 / p))).sum()

    rest = max(c.conjugate_at_zero, c.curvature)
    other = max(c.at_zero, c.conjugate_curvature)
    oracle = (c.slope * np.log(n) + rest) * alpha(P) + (c.slope + rest) * beta(P)
    oracle += (c.conjugate_slope * np.log(n) + other) * alpha(Q)
    oracle += (c.conjugate_slope + other) * beta(Q)
    assert oracle_bound(name, P, Q, n=n).value == near(oracle)
    c1, c2 = c.slope + c.conjugate_slope, rest + other
    free = (c1 * np.log(n) + c2) * (np.sqrt(k / n) + k / n)
    assert statistical_bound(name, n=n, k=k).value == near(free)
    b = 0.5
    smoothed = (c1 * np.log(n / b + k) + c2) * (np.sqrt(k * n) + 2 * b * (k - 1)) / (n + k * b)
    assert statistical_bound(name, n=n, k=k, smoothing=b).value == near(smoothed)


def test_error_bounds_of_cells():
    hellinger = quantisation_bound("squared_hellinger", k=2 * 7)
    assert hellinger == near((1 + 1) / 7)  # f(0) = f*(0) = 1
    assert recommended_cells(27_000) == 30  # n^(1/3)
    n = 9
    missed = ((1 - P) ** n * P).sum()
    assert expected_missing_mass(P, n=n) == near(missed)
    assert missed <= len(P) / n
    alone = missing_mass(Histograms(*COUNTS))
    assert alone.reference == near((COUNTS[0] == 1).sum() / COUNTS[0].sum())


# Precision–recall curves of distributions --------------------------------------------------------


def test_precision_recall_curves_of_distributions():
    curve = precision_recall_curve(Histograms(*COUNTS))
    p, q = (counts / counts.sum() for counts in COUNTS)
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    alpha = np.array([np.minimum(slope * p, q).sum() for slope in slopes])
    beta = np.array([np.minimum(p, q / slope).sum() for slope in slopes])
    assert curve.precision == near(alpha)
    assert curve.recall == near(beta)
    assert beta == near(alpha / slopes)
    assert curve.max_precision == near(q[p > 0].sum())
    assert curve.max_recall == near(p[q > 0].sum())
    assert curve.total_variation == near(np.abs(p - q).sum() / 2)
    for b in (8, 1 / 8):
        scores = (1 + b**2) * alpha * beta / (b**2 * alpha + beta)
        assert curve.f_beta(b) == near(scores.max())


def test_precision_recall_curves_of_distributions_from_ratios():
    at_p, at_q = np.array([1.4, 2.5, 0.8]), np.array([0.5, 1.2])
    ratios = LikelihoodRatios.of(at_p, at_q)
    curve = precision_recall_curve(ratios, angles=5, points="own_side")
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 5))[:, None]
    assert curve.precision == near(np.minimum(1, slopes * at_q).mean(axis=1))
    assert curve.recall == near(np.minimum(1, 1 / (slopes * at_p)).mean(axis=1))
    both, r = precision_recall_curve(ratios, angles=5), np.concatenate([at_p, at_q])
    shares = np.array([1 / 3] * 3 + [1 / 2] * 2)
    of_q, of_p = shares / (1 + r), shares * r / (1 + r)
    assert both.precision == near((np.minimum(1, slopes * r) * of_q).sum(axis=1) / of_q.sum())
    assert both.recall == near((np.minimum(1, 1 / (slopes * r)) * of_p).sum(axis=1) / of_p.sum())


# Transport ---------------------------------------------------------------------------------------


FEASIBLE = 1e-6  # HiGHS lets a plan's sums be off by 1e-7 each


def moved(p, q, prices):
    """OT(p, q) as a linear program over plans."""
    k = len(p)
    rows, columns = np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))
    return linprog(prices.ravel(), A_eq=np.vstack([rows, columns]), b_eq=[*p, *q]).fun


def barycentred(p, q, prices, weight):
    """The least λ·OT(P, R) + (1 − λ)·OT(Q, R), by two plans with equal column sums."""
    k = len(p)
    rows, columns = np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))
    none = np.zeros_like(rows)
    equal = np.block([[rows, none], [none, rows], [columns, -columns]])
    price = np.concatenate([weight * prices.ravel(), (1 - weight) * prices.ravel()])
    return linprog(price, A_eq=equal, b_eq=[*p, *q, *np.zeros(k)]).fun


@pytest.mark.slow  # POT takes two seconds to be imported
def test_transport():
    need("ot")
    means = np.random.default_rng(3).normal(size=(len(P), 2))
    prices = distances(means, means) ** 2
    linear = transport_frontier(P, Q, prices, grid=5)
    weights = np.linspace(1e-6, 1 - 1e-6, 5)
    to_p, to_q = (
        [moved(side, weight * P + (1 - weight) * Q, prices) for weight in weights]
        for side in (P, Q)
    )
    assert linear.reference_cost == near(np.array(to_p), abs=FEASIBLE)
    assert linear.generated_cost == near(np.array(to_q), abs=FEASIBLE)
    assert linear.area() == near(area(to_q, to_p), abs=10 * FEASIBLE)
    middles = transport_frontier(P, Q, prices, grid=5, interpolation="barycentric")
    least = weights * middles.reference_cost + (1 - weights) * middles.generated_cost
    expected = [barycentred(P, Q, prices, weight) for weight in weights]
    assert least == near(np.array(expected), abs=FEASIBLE)


# Moments and kernels -----------------------------------------------------------------------------


def test_moments_and_kernels_frechet_distance():
    gap, ours, theirs = X.mean(axis=0) - Y.mean(axis=0), np.cov(X.T), np.cov(Y.T)
    expected = gap @ gap + np.trace(ours + theirs - 2 * np.real(sqrtm(ours @ theirs)))
    assert frechet_distance(X, Y).value == near(expected)


def squared_mmd(kernel):
    own, other = kernel(X, X), kernel(Y, Y)
    within = (own.sum() - np.trace(own)) / (N * (N - 1))
    within += (other.sum() - np.trace(other)) / (M * (M - 1))
    return within - 2 * kernel(X, Y).sum() / (N * M)


def test_moments_and_kernels_mean_discrepancy():
    rows = np.concatenate([X, Y])
    h = np.median(distances(rows, rows)[np.triu_indices(N + M, 1)])
    gaussian = squared_mmd(lambda a, b: np.exp(-(distances(a, b) ** 2) / (2 * h**2)))
    assert mmd(X, Y).value == near(gaussian, rel=1e-6)
    assert kid(X, Y).value == near(squared_mmd(lambda a, b: (a @ b.T / 2 + 1) ** 3))


def test_moments_and_kernels_vendi_score():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    shares = np.linalg.eigvalsh(unit @ unit.T / N)
    shares = shares[shares > 1e-12]
    assert vendi_score(X).value == near(np.exp(-(shares * np.log(shares)).sum()))


# Texts -------------------------------------------------------------------------------------------


def grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def test_texts_perplexity():
    p = np.array([0.5, 0.1, 0.9])
    assert perplexity(np.log(p)) == near(np.exp(-np.log(p).mean()))
    assert perplexity(np.log(p), units=20) == near(np.exp(-np.log(p).sum() / 20))


@pytest.mark.parametrize("n", [1, 2])
def test_texts_distinct(n):
    texts = ["a b a b c", "b c", "c a b"]
    each = [grams(text.split(), n) for text in texts]
    whole = sum(each, Counter())
    found = distinct(texts, order=n, tokenizer="whitespace").value
    assert found == near(len(whole) / whole.total())
    found = distinct(texts, order=n, per="sample", tokenizer="whitespace").value
    assert found == near(np.mean([len(one) / one.total() for one in each]))


def test_texts_bleu():
    need("sacrebleu")
    texts = ["the cat sat on the mat today", "a dog ran in the park"]
    references = [
        ["the cat sat on a mat", "today the cat sat on the mat and slept"],
        ["a dog ran in a big park", "one dog ran in the park with it"],
    ]
    rows = [text.split() for text in texts]
    sides = [[each.split() for each in row] for row in references]
    precisions = []
    for n in (1, 2, 3, 4):
        matched = total = 0
        for row, side in zip(rows, sides, strict=True):
            for gram, count in grams(row, n).items():
                matched += min(count, max(grams(one, n)[gram] for one in side))
                total += count
        precisions.append(matched / total)
    c = sum(map(len, rows))
    r = sum(
        min((abs(len(one) - len(row)), len(one)) for one in side)[1]
        for row, side in zip(rows, sides, strict=True)
    )
    expected = np.exp(min(0, 1 - r / c)) * np.prod(precisions) ** (1 / 4)
    assert bleu(texts, references, tokenizer="none").value == near(100 * expected)
    # A corpus that is shorter than its references pays a penalty
    c, r = 5, 6
    short = bleu(["the cat sat on a"], ["the cat sat on a mat"], tokenizer="none").value
    assert short == near(100 * np.exp(1 - r / c))


def test_texts_bertscore():
    ours, theirs = (np.random.default_rng(seed).normal(size=(4, 3)) for seed in (4, 5))
    documents = [np.array([0, 1, 2]), np.array([0, 3]), np.array([0, 2, 4])]
    weights = idf(documents, 6)
    held = np.array([sum(token in each for each in documents) for token in range(6)])
    assert weights == near(np.log((3 + 1) / (held + 1)))
    w, v = weights[[1, 5, 2, 3]], weights[[4, 2, 1, 0]]
    found = bert_score([ours], [theirs], text_weights=[w], reference_weights=[v])
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (ours, theirs)]
    cosines = np.maximum(unit[0] @ unit[1].T, 0)
    precision = (w * cosines.max(axis=1)).sum() / w.sum()
    recall = (v * cosines.max(axis=0)).sum() / v.sum()
    assert found.precision.value == near(precision, rel=1e-6)
    assert found.recall.value == near(recall, rel=1e-6)
    harmonic = 2 * precision * recall / (precision + recall)
    assert found.f1.value == near(harmonic, rel=1e-6)


# Intervals and tests -----------------------------------------------------------------------------


def test_intervals_and_tests_standard_error():
    rng, b, h = np.random.default_rng(6), 20, 31
    sides, starts = rng.normal(0.8, 0.01, size=(2, b)), rng.normal(0.8, 0.001, size=5)
    jackknife = sum((b - 1) / b * ((side - side.mean()) ** 2).sum() for side in sides)
    jackknife += starts.var(ddof=1)  # the score is that of one of the starts
    parts = (
        Component.jackknife("reference", sides[0]),
        Component.jackknife("generated", sides[1]),
        Component.of_one("seed", starts),
    )
    assert Spread(parts).standard_error ** 2 == near(jackknife)
    assert (b, h) == (DEFAULT_BLOCKS, HALVINGS)
    for width in (0.001, 0.5):  # the smaller of the two counts
        one, other = rng.normal(0.8, width, size=(2, h))
        halves = 3 / 2 * ((one - other) ** 2 / 4).mean()
        found = Spread(parts, halves=(one - other) / 2 / np.sqrt(h)).variance
        assert found == near(min(jackknife, halves))


def test_intervals_and_tests_interval():
    rng = np.random.default_rng(7)
    sides = rng.normal(0.8, 0.005, size=(2, 20))
    spread = Spread(tuple(Component.jackknife("reference", side) for side in sides))
    variances = np.array([19 / 20 * ((side - side.mean()) ** 2).sum() for side in sides])
    freedom = variances.sum() ** 2 / (variances**2 / 19).sum()
    reach = student.ppf(0.975, freedom) * np.sqrt(variances.sum())
    found = confidence_interval(3.0, spread, bounds=(0, np.inf))
    assert found == near((3 - reach, 3 + reach))
    odds = np.log(0.8 / 0.2) + np.array([-1, 1]) * reach / (0.8 * 0.2)
    assert confidence_interval(0.8, spread) == near(tuple(1 / (1 + np.exp(-odds))))
    # Beyond a distance of 1 on the logits a straight line
    value, slope = 0.99, 0.99 * 0.01
    assert reach / slope > 1
    bent = 1 / (1 + np.exp(-(np.log(value / (1 - value)) - 1)))
    assert confidence_interval(value, spread)[0] == near(bent - (reach - slope))


def test_intervals_and_tests_over_prompts():
    values = np.array([0.2, 0.5, 0.3, 0.9])
    reach = student.ppf(0.975, 3) * values.std(ddof=1) / np.sqrt(4)
    mean = values.mean()
    assert mean_over_prompts(values).interval == near((mean - reach, mean + reach))


def test_intervals_and_tests_limits():
    free = LimitEstimate(3.0, 0.5, 19)
    assert free.p_value(3.7, "below") == near(student.sf((3.7 - 3.0) / 0.5, 19))
    assert free.p_value(3.7, "above") == near(student.cdf((3.7 - 3.0) / 0.5, 19))
    share = LimitEstimate(0.6, 0.05, 19, bounds=(0.0, 1.0))
    apart = (np.log(0.7 / 0.3) - np.log(0.6 / 0.4)) * 0.6 * 0.4
    assert share.p_value(0.7, "below") == near(student.sf(apart / 0.05, 19))


def test_intervals_and_tests_permutations():
    null = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.4, 0.6])
    found = TwoSample.of("mmd", 0.5, null, level=0.95, pins={})
    assert found.p_value == near((1 + (null >= 0.5).sum()) / (1 + len(null)))
