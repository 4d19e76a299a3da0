"""Precision, recall, PRD curves and frontiers of distributions that are known in closed form."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import calipers
from calipers import metrics
from calipers.estimate import Histograms, preprocess
from reproduction.item import Line
from reproduction.verdicts import Estimate, close, equal, exact, fact, shown

Floats = np.ndarray

EXAMPLES: dict[str, tuple[list[int], list[int], str]] = {
    "(a) Q has one of P's two modes": ([50, 50], [100, 0], "precision 1, recall 0.5"),
    "(b) Q has both modes, P one": ([100, 0], [50, 50], "precision 0.5, recall 1"),
    "(c) Q = P": ([50, 50], [50, 50], "precision 1, recall 1"),
    "(d) disjoint supports": ([100, 0], [0, 100], "precision 0, recall 0"),
}
NOISY = {
    "(e) noisy (a)": ([50, 50], [95, 5], "F1/8 above F8"),
    "(f) noisy (b)": ([95, 5], [50, 50], "F1/8 below F8"),
}


def prd_figure_2() -> Iterator[Line]:
    """Six pairs of distributions over two modes, by what a PRD curve says of them."""
    for name, (p, q, said) in EXAMPLES.items():
        curve = calipers.precision_recall_curve(Histograms(p, q))
        ours = f"precision {curve.max_precision:g}, recall {curve.max_recall:g}"
        yield fact(name, said, ours, ours == said)
    for name, (p, q, said) in NOISY.items():
        curve = calipers.precision_recall_curve(Histograms(p, q))
        low, high = curve.f_beta(1 / 8), curve.f_beta(8)
        ours = f"F1/8 {low:.3f}, F8 {high:.3f}"
        yield fact(name, said, ours, low > high if "above" in said else low < high)


def prd_figure_3() -> Iterator[Line]:
    """The frontiers of the six sets in closed form: α = Σ min(λP, Q), β = α/λ, over all λ."""
    for name, (p, q, _) in (EXAMPLES | NOISY).items():
        curve = calipers.precision_recall_curve(Histograms(p, q))
        worst = _off(np.array(p) / sum(p), np.array(q) / sum(q), curve)
        yield close(f"{name}: largest distance from the closed form", 0.0, worst, within=1e-9)


def _off(p: Floats, q: Floats, curve: calipers.PrecisionRecallCurve) -> float:
    angles = np.linspace(1e-10, math.pi / 2 - 1e-10, len(curve.precision))
    slopes = np.tan(angles)
    alpha = np.minimum(slopes[:, None] * p, q).sum(axis=1)
    beta = np.minimum(p, q / slopes[:, None]).sum(axis=1)
    either = [np.abs(curve.precision - a).max() for a in (alpha, alpha[::-1])]
    other = [np.abs(curve.recall - b).max() for b in (beta, beta[::-1])]
    return float(min(map(max, zip(either, other, strict=True))))


def _pair(seed: int, cells: int = 8, n: int = 400) -> Histograms:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(cells)), rng.dirichlet(np.ones(cells))
    q[0] = p[1] = 0
    return Histograms(rng.multinomial(n, p / p.sum()), rng.multinomial(n, q / q.sum()))


def prd_figure_4() -> Iterator[Line]:
    """A random pair over eight cells, of which each side lacks one."""
    pair = _pair(0)
    p, q = pair.reference / 400, pair.generated / 400
    curve = calipers.precision_recall_curve(pair)
    for slope in (2.0, 1.0, 0.5):
        alpha, beta = np.minimum(slope * p, q).sum(), np.minimum(p, q / slope).sum()
        near = np.hypot(curve.precision - alpha, curve.recall - beta).min()
        told = f"point ({beta:.3f}, {alpha:.3f}) of λ = {slope:g}: distance of the curve"
        yield close(told, 0.0, float(near), within=2e-3)
    difference = float(np.abs(p - q).sum() / 2)
    yield equal("total variation, 1 - α(1)", difference, curve.total_variation)


def prd_theorem_1() -> Iterator[Line]:
    """The six properties, over a hundred random pairs with cells that one side lacks."""
    equalities = disjoint = precision = recall = dual = falling = 0
    for seed in range(100):
        pair = _pair(seed)
        curve = calipers.precision_recall_curve(pair)
        p, q = pair.reference / 400, pair.generated / 400
        swapped = calipers.precision_recall_curve(Histograms(pair.generated, pair.reference))
        same = calipers.precision_recall_curve(Histograms(pair.reference, pair.reference))
        equalities += same.total_variation < 1e-12 < curve.total_variation
        apart = calipers.precision_recall_curve(
            Histograms([*pair.reference, *[0] * 8], [*[0] * 8, *pair.generated])
        )
        disjoint += max(apart.max_precision, apart.max_recall) < 1e-12
        precision += math.isclose(curve.max_precision, float(q[p > 0].sum()))
        recall += math.isclose(curve.max_recall, float(p[q > 0].sum()))
        dual += np.allclose(np.sort(curve.precision), np.sort(swapped.recall), atol=1e-12)
        falling += _monotone(curve.precision) and _monotone(-curve.recall)
    names = ("equality", "disjoint supports", "max precision", "max recall")
    for name, count in zip(names, (equalities, disjoint, precision, recall), strict=True):
        yield fact(f"{name}, pairs that have it", "100 of 100", f"{count} of 100", count == 100)
    yield fact("monotonicity", "100 of 100", f"{falling} of 100", falling == 100)
    yield fact("duality", "100 of 100", f"{dual} of 100", dual == 100)


def _monotone(values: Floats) -> bool:
    """Whether no value is below the one before it, rounding aside."""
    return bool((np.diff(values) >= -1e-12).all())


def pr_figure_4() -> Iterator[Line]:
    """Uniform distributions on boxes, whose supports overlap by known shares; k = 4, N = 4,000."""
    rng = np.random.default_rng(0)
    boxes = {
        "Q in the right half of P, and as much beyond it": (0.5, 1.5, 0.5, 0.5),
        "Q in the left half of P": (0.0, 0.5, 1.0, 0.5),
        "Q twice as wide as P": (0.0, 2.0, 0.5, 1.0),
        "Q beside P": (2.0, 3.0, 0.0, 0.0),
    }
    for name, (low, high, precision, recall) in boxes.items():
        found = []
        for _ in range(BOX_TRIALS):
            reference, generated = rng.uniform(0, 1, (2, 4000, 2))
            generated[:, 0] = rng.uniform(low, high, 4000)
            both = metrics.precision_recall(reference, generated, k=4)
            found.append((both.precision.value, both.recall.value))
        for side, value, each in zip(
            ("precision", "recall"), (precision, recall), np.transpose(found), strict=True
        ):
            yield _share(f"{name}: {side}", value, each)


BOX_TRIALS = 10
EDGE = 0.02
"""What the balls of 4,000 points at the edge of a unit square add to a share, at most.

The radius to the fourth of n neighbours at uniform density is about √(k/(πn)), 0.018 here, by which
supports are estimated too wide on the side where samples of the other set lie.
"""


def _share(what: str, true: float, values: Floats) -> Line:
    """A share of mass, of which the k-NN estimate is known to be too large by the edge alone."""
    ours = Estimate.mean(values)
    within = abs(ours.value - true) <= EDGE
    assert ours.interval is not None
    return Line(
        what,
        f"{true:.3f}",
        ours.told(),
        "reproduced" if within else "not reproduced",
        (ours.value,),
        (ours.interval,),
        f"the balls at the edge may add {EDGE}",
    )


def pr_figure_5() -> Iterator[Line]:
    """The four steps in plain numpy: PCA of the union to 90 %, k-NN balls, shares inside."""
    rng = np.random.default_rng(0)
    scales = np.linspace(2, 0.1, 20)
    reference = rng.standard_normal((300, 20)) * scales
    generated = rng.standard_normal((300, 20)) * scales * 0.9 + 0.2
    union = np.vstack([reference, generated])
    _, values, axes = np.linalg.svd(union - union.mean(axis=0), full_matrices=False)
    kept = int(np.searchsorted(np.cumsum(values**2) / (values**2).sum(), 0.9)) + 1
    x, y = np.split((union - union.mean(axis=0)) @ axes[:kept].T, 2)
    by_hand = [_inside(y, x), _inside(x, y)]
    rows = preprocess(reference, generated, norm="none", pca=0.9)
    found = metrics.precision_recall(rows.reference, rows.generated, k=4)
    axes_kept = rows.reference.shape[1]
    yield fact("axes that keep 90 %", str(kept), str(axes_kept), kept == axes_kept)
    yield equal("precision", by_hand[0], found.precision.value)
    yield equal("recall", by_hand[1], found.recall.value)


def _inside(points: Floats, centres: Floats, k: int = 4) -> float:
    own = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    radii = np.sort(own, axis=1)[:, k]
    across = np.linalg.norm(points[:, None] - centres[None], axis=2)
    return float((across <= radii).any(axis=1).mean())


def pr_figure_a1() -> Iterator[Line]:
    """Both sides as mixtures of a common μ: P = βμ + (1 - β)ν_P and Q = αμ + (1 - α)ν_Q."""
    pair = _pair(3)
    p, q = pair.reference / 400, pair.generated / 400
    for slope in (0.5, 1.0, 3.0):
        common = np.minimum(slope * p, q)
        alpha, beta = common.sum(), common.sum() / slope
        mu = common / common.sum()
        rest_p, rest_q = p - beta * mu, q - alpha * mu
        least = float(min(rest_p.min(), rest_q.min()))
        told = f"λ = {slope:g}: least mass left of both sides, none below 0"
        yield close(told, 0.0, least, within=1e-12)
        curve = calipers.precision_recall_curve(pair)
        beyond = (curve.precision > alpha + 1e-9) & (curve.recall > beta + 1e-9)
        yield fact(
            "points of the curve better in both", "0", str(int(beyond.sum())), not any(beyond)
        )


def pr_equation_f() -> Iterator[Line]:
    """The F-score with a factor of (1 + γ)², as the paper prints it, and of 1 + γ², as defined."""
    same = calipers.precision_recall_curve(Histograms([50, 50], [50, 50]))
    yield exact("F8 of equal distributions", "1.0", same.f_beta(8))
    printed = (1 + 8) ** 2 / (8**2 + 1)
    yield shown("the same with the printed factor", f"{printed:.3f}, above 1")


def pr_time() -> Iterator[Line]:
    """Two sets of 4,000 vectors of 1,280 numbers, as long as those of GPT-2 large."""
    rng = np.random.default_rng(0)
    reference, generated = (rng.standard_normal((4000, 1280), dtype=np.float32) for _ in "pq")
    metrics.precision_recall(reference[:100], generated[:100])
    start = time.process_time()
    metrics.precision_recall(reference, generated)
    seconds = time.process_time() - start
    yield fact(
        "under 5 seconds of processor time", "yes", "yes" if seconds < 5 else "no", seconds < 5
    )


def mauve_figure_1() -> Iterator[Line]:
    """A pair over six cells: the mixtures' costs, and those of 20,000 other distributions."""
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    weights = np.linspace(0.001, 0.999, 999)[:, None]
    mixed = weights * p + (1 - weights) * q
    costs = np.column_stack([_kl(p, mixed), _kl(q, mixed)])
    other = rng.dirichlet(np.ones(6), 20_000)
    points = np.column_stack([_kl(p, other), _kl(q, other)])
    below = 0
    for x, y in points:
        below += bool(((costs[:, 0] > x + 1e-4) & (costs[:, 1] > y + 1e-4)).any())
    yield fact("other R that are better by both costs than a mixture", "0", str(below), below == 0)
    counts = (np.round(p * 10_000).astype(int), np.round(q * 10_000).astype(int))
    frontier = calipers.divergence_frontier(Histograms(*counts), grid=25)
    falling = _monotone(-frontier.reference_cost[np.argsort(frontier.generated_cost)])
    yield fact("one cost falls as the other rises", "yes", "yes" if falling else "no", falling)


def _kl(p: Floats, r: Floats) -> Floats:
    held = p > 0
    return np.sum(p[held] * np.log(p[held] / r[..., held]), axis=-1)


def mauve_figure_3() -> Iterator[Line]:
    """The rectangle of the mid-point lies under the curve, so its area is at most MAUVE's."""
    held, gaps = 0, []
    for seed in range(100):
        frontier = calipers.divergence_frontier(_pair(seed), grid=401)
        area, rectangle = frontier.area(c=1), math.exp(-2 * frontier.midpoint())
        held += rectangle <= area + 1e-9
        gaps.append(area - rectangle)
    told = "pairs with exp(-2 Mid) ≤ MAUVE, c = 1"
    yield fact(told, "100 of 100", f"{held} of 100", held == 100)
    yield shown("least and largest difference", [min(gaps), max(gaps)])
