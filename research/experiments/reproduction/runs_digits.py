"""The experiments on images, in shape, on the 1,797 digits that come with scikit-learn."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

import calipers
import digits_modes
from calipers import metrics
from calipers.estimate import quantise
from calipers.uncertainty.rank_agreement import spearman
from reproduction.item import Line, falls, rises, trend

Rows = np.ndarray
SIZE, TRIALS = 400, 5


@functools.cache
def images() -> tuple[Rows, Rows]:
    """Pixels from 0 to 1, shape (1797, 64), and which digit each is."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return pixels / 16, labels


@functools.cache
def modes() -> tuple[dict[str, float], ...]:
    """Scores of Q1 to Q10 of the experiment on dropped and invented modes, means of trials."""
    results = digits_modes.run(size=digits_modes.SIZE, trials=TRIALS, seed=0)
    names = list(results[0]["Q1"].values)
    return tuple(
        {name: float(digits_modes.column(results, name, q).mean()) for name in names}
        for q in digits_modes.SYSTEMS
    )


def _column(name: str) -> list[float]:
    return [row[name] for row in modes()]


def prd_figure_5_left() -> Iterator[Line]:
    """FID and the inception score over Q1 to Q10, the latter by a classifier of digits."""
    distances = _column("frechet_distance")
    best = int(np.argmin(distances)) + 1
    yield trend("Fréchet distance of Q1 to Q10", "least for Q5", distances, best == 5)
    pixels, labels = images()
    scores = []
    for last in range(1, 11):
        rows = np.concatenate([np.flatnonzero(labels == d)[:40] for d in range(last)])
        scores.append(metrics.inception_score(classifier().predict_proba(pixels[rows])).value)
    yield trend(
        "inception score of Q1 to Q10", "rises, also with invented modes", scores, rises(scores)
    )


def prd_figure_5_middle() -> Iterator[Line]:
    """F8 of the PRD curve falls where modes are dropped, F1/8 where they are invented."""
    recall, precision = _column("prd_f8"), _column("prd_f1_8")
    yield trend("F8 of Q1 to Q5", "recall rises with each mode", recall[:5], rises(recall[:5]))
    told = "no loss of recall"
    yield trend(
        "F8 of Q5 to Q10",
        told,
        recall[4:],
        falls(recall[4:], slack=0.03) and recall[4] - recall[9] < 0.05,
    )
    yield trend(
        "F1/8 of Q5 to Q10", "precision falls", precision[4:], falls(precision[4:], slack=0.02)
    )
    distances = _column("frechet_distance")
    apart = abs(distances[3] - distances[6]) / distances[3]
    yield Line(
        "Q4 and Q7: Fréchet distance alike within",
        "alike, for Q4 and Q6",
        f"{apart:.0%}",
        apart < 0.1,
    )
    yield trend("F8 of Q4 and Q7", "far apart", [recall[3], recall[6]], recall[6] > recall[3] + 0.1)
    yield trend(
        "F1/8 of Q4 and Q7",
        "far apart",
        [precision[3], precision[6]],
        precision[3] > precision[6] + 0.1,
    )


@functools.cache
def classifier() -> object:
    """A logistic regression on the pixels of every second image."""
    from sklearn.linear_model import LogisticRegression

    pixels, labels = images()
    return LogisticRegression(max_iter=2000).fit(pixels[::2], labels[::2])


def generator(modes: int, blend: float, rng: np.random.Generator, size: int = SIZE) -> Rows:
    """Sample a stand-in for a generative model: some of the digits, each blended with another."""
    pixels, labels = images()
    half = np.flatnonzero(np.arange(len(labels)) % 2 == 1)
    first, second = (rng.choice(half[labels[half] < modes], size) for _ in range(2))
    return (1 - blend) * pixels[first] + blend * pixels[second]


def reference(rng: np.random.Generator, size: int = SIZE) -> Rows:
    """Images that no stand-in draws from."""
    return images()[0][rng.choice(np.arange(0, 1797, 2), size, replace=False)]


def prd_figure_6() -> Iterator[Line]:
    """Few digits of high quality against all digits of low quality, at one Fréchet distance."""
    rng = np.random.default_rng(0)
    real = reference(rng)
    few = generator(6, 0.0, rng)
    target = metrics.frechet_distance(real, few).value
    blends = np.linspace(0.02, 0.5, 49)
    many = min(
        (generator(10, blend, rng) for blend in blends),
        key=lambda rows: abs(metrics.frechet_distance(real, rows).value - target),
    )
    other = metrics.frechet_distance(real, many).value
    yield trend(
        "Fréchet distance, left and right",
        "49 and 49",
        [target, other],
        abs(target - other) / target < 0.05,
    )
    left, right = metrics.prd(real, few), metrics.prd(real, many)
    low = [_at(left.curve, 0.3), _at(right.curve, 0.3)]
    high = [_at(left.curve, 0.8), _at(right.curve, 0.8)]
    yield trend(
        "best precision at recall 0.3", "left higher, below recall 0.6", low, low[0] > low[1]
    )
    yield trend(
        "best precision at recall 0.8", "right higher, above recall 0.6", high, high[1] > high[0]
    )
    seen = [_digits_seen(rows) for rows in (few, many)]
    yield Line(
        "digits with 3 % of a set or more, by a classifier",
        "a subset, all",
        f"{seen[0]}, {seen[1]}",
        seen[0] < seen[1] == 10,
    )
    sure = [_confidence(rows) for rows in (few, many)]
    yield trend("mean confidence of the classifier", "0.967, 0.886", sure, sure[0] > sure[1])


def _at(curve: calipers.PrecisionRecallCurve, recall: float) -> float:
    reached = curve.recall >= recall
    return float(curve.precision[reached].max()) if reached.any() else 0.0


def _probabilities(rows: Rows) -> Rows:
    return classifier().predict_proba(rows)  # type: ignore[attr-defined, no-any-return]


def _digits_seen(rows: Rows) -> int:
    shares = np.bincount(_probabilities(rows).argmax(axis=1), minlength=10) / len(rows)
    return int((shares >= 0.03).sum())


def _confidence(rows: Rows) -> float:
    return float(_probabilities(rows).max(axis=1).mean())


def prd_figure_7() -> Iterator[Line]:
    """Four corners: precise or not, varied or not."""
    rng = np.random.default_rng(0)
    real = reference(rng)
    corners = {
        "A: 3 digits, clean": (3, 0.0),
        "B: all digits, clean": (10, 0.0),
        "C: 3 digits, blended": (3, 0.4),
        "D: all digits, blended": (10, 0.4),
    }
    found = {name: metrics.prd(real, generator(*how, rng)) for name, how in corners.items()}
    f1_8 = [each.f1_8.value for each in found.values()]
    f8 = [each.f8.value for each in found.values()]
    for name, high, low in zip(found, f1_8, f8, strict=True):
        yield Line(f"{name}: F1/8, F8", "", f"{high:.3f}, {low:.3f}")
    yield Line("A above the diagonal", "yes", _yes(f1_8[0] > f8[0]), f1_8[0] > f8[0])
    yield Line("D below it", "yes", _yes(f8[3] > f1_8[3]), f8[3] > f1_8[3])
    both = min(f1_8[1], f8[1]) > max(f1_8[2], f8[2])
    yield Line("B above C by both", "yes", _yes(both), both)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def prd_figure_8() -> Iterator[Line]:
    """All ten digits alike often, each from ever fewer images: variety that classes do not show."""
    pixels, labels = images()
    rng = np.random.default_rng(0)
    real = reference(rng)
    scores, recalls = [], []
    for kept in (40, 20, 10, 3, 1):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(labels == d)[1::2][:kept], 40) for d in range(10)]
        )
        scores.append(metrics.inception_score(_probabilities(pixels[rows])).value)
        found = metrics.prd(real, pixels[rows], buckets=100)
        recalls.append(found.f8.value)
    yield trend("inception score, 40 to 1 images a digit", "", scores, None)
    yield trend("F8, 40 to 1 images a digit", "falls", recalls, falls(recalls))
    lost = [1 - row[-1] / row[0] for row in (scores, recalls)]
    told = "share lost, inception score and F8"
    yield trend(told, "F8 sees what classes do not show", lost, lost[1] > 3 * lost[0])


def prd_figure_9() -> Iterator[Line]:
    """Clusters of k-means hold images of one digit."""
    pixels, labels = images()
    half = len(pixels) // 2
    cells = quantise(pixels[:half], pixels[half:], buckets=20)
    assigned = np.argmin(((pixels[:, None] - cells.centres[None]) ** 2).sum(axis=2), axis=1)
    pure = sum(np.bincount(labels[assigned == cell]).max() for cell in set(assigned.tolist()))
    share = float(pure / len(labels))
    yield trend(
        "share of images in a cell of their digit, 20 cells", "meaningful", [share], share > 0.8
    )


def prd_figure_10() -> Iterator[Line]:
    """Entropies of a classifier against precision and recall, over 40 stand-ins for models."""
    rng = np.random.default_rng(0)
    real = reference(rng)
    precise, varied, unsure, spread = [], [], [], []
    for modes in (2, 4, 6, 8, 10):
        for blend in (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            rows = generator(modes, blend, rng)
            found = metrics.prd(real, rows, runs=3)
            chances = _probabilities(rows)
            precise.append(found.f1_8.value)
            varied.append(found.f8.value)
            unsure.append(float(-(chances * np.log(chances + 1e-12)).sum(axis=1).mean()))
            mean = chances.mean(axis=0)
            spread.append(float(-(mean * np.log(mean + 1e-12)).sum()))
    first = spearman(np.array(precise), np.array(unsure))
    second = spearman(np.array(varied), np.array(spread))
    yield trend(
        "Spearman of precision and the entropy of p(y|x), below -0.5",
        "-0.83",
        [first],
        first < -0.5,
        digits=2,
    )
    yield trend(
        "Spearman of recall and the entropy of p(y), above 0.5",
        "0.89",
        [second],
        second > 0.5,
        digits=2,
    )


def pr_figure_a2() -> Iterator[Line]:
    """Clean images of three digits, and blends of any two of all: precise, and varied."""
    rng = np.random.default_rng(0)
    real = reference(rng)
    first, second = generator(3, 0.0, rng), generator(10, 0.4, rng)
    curves = [metrics.prd(real, rows).curve for rows in (first, second)]
    supports = [metrics.precision_recall(real, rows) for rows in (first, second)]
    ends = [curve.f_beta(1 / 8) for curve in curves], [curve.f_beta(8) for curve in curves]
    yield trend("F1/8 of Q1 and Q2", "Q1 of high quality", ends[0], ends[0][0] > ends[0][1])
    yield trend("F8 of Q1 and Q2", "Q2 of high diversity", ends[1], ends[1][1] > ends[1][0])
    precision = [each.precision.value for each in supports]
    recall = [each.recall.value for each in supports]
    yield trend(
        "precision (k-NN) of Q1 and Q2",
        "Q1 of high quality",
        precision,
        precision[0] > precision[1],
    )
    yield trend("recall (k-NN) of Q1 and Q2", "Q2 of high diversity", recall, recall[1] > recall[0])


def truncated(psi: float, rng: np.random.Generator, size: int = SIZE) -> Rows:
    """Sample a Gaussian fitted to each digit, its deviations multiplied by ψ."""
    pixels, labels = images()
    drawn = []
    for digit in range(10):
        rows = pixels[1::2][labels[1::2] == digit]
        centred = rows - rows.mean(axis=0)
        _, values, axes = np.linalg.svd(centred / np.sqrt(len(rows)), full_matrices=False)
        latent = rng.standard_normal((size // 10, len(values)))
        drawn.append(rows.mean(axis=0) + psi * (latent * values) @ axes)
    return np.concatenate(drawn)


def mauve_figure_18() -> Iterator[Line]:
    """ψ-sampling of a Gaussian for each digit, which is the whole generator."""
    levels = (0.0, 0.3, 0.7, 1.0, 1.2)
    rng = np.random.default_rng(0)
    real = reference(rng)
    sets = [truncated(psi, rng) for psi in levels]
    mauve = [metrics.mauve(real, rows, buckets=40).mauve_star.value for rows in sets]
    distance = [metrics.frechet_distance(real, rows).value for rows in sets]
    precision = [metrics.precision_recall(real, rows).precision.value for rows in sets]
    recall = [metrics.precision_recall(real, rows).recall.value for rows in sets]
    said = "best at ψ = 1"
    best = levels[int(np.argmax(mauve))]
    yield trend("MAUVE* at ψ = 0, 0.3, 0.7, 1, 1.2", said, mauve, best == 1.0)
    least = levels[int(np.argmin(distance))]
    yield trend("Fréchet distance", said, distance, least == 1.0)
    yield trend("precision", "falls with ψ", precision, falls(precision, slack=0.01))
    yield trend("recall", "rises with ψ", recall, rises(recall, slack=0.01))


def mauve_figure_4() -> Iterator[Line]:
    """Two Gaussians on the plane, cut by k-means: cell shares, and what the cells keep."""
    rng = np.random.default_rng(0)
    p, q = rng.standard_normal((20_000, 2)), rng.normal((1.0, 0.0), 1.0, (20_000, 2))
    kept = []
    for cells in (2, 5, 20, 80):
        found = quantise(p, q, buckets=cells, restarts=1).best
        total = found.reference.sum() / 20_000
        kept.append(calipers.f_divergence(found, "kl"))
    yield trend(
        "KL of the cells, k = 2, 5, 20, 80",
        "grows towards KL = 0.5",
        kept,
        rises(kept) and abs(kept[-1] - 0.5) < 0.03,
    )
    yield Line("cell shares sum to 1", "yes", _yes(total == 1), total == 1)
