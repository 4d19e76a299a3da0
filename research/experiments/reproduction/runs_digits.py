"""The experiments on images, in shape, on the 1,797 digits that come with scikit-learn."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

import calipers
import digits_modes
from calipers import metrics
from calipers.estimate import quantise
from reproduction.item import Line, Setting
from reproduction.verdicts import (
    Estimate,
    Row,
    best,
    correlated,
    falls,
    order,
    rises,
    shown,
    sign,
    trials,
)

Rows = np.ndarray
SIZE, TRIALS, MODE_TRIALS = 400, 8, 20
RUNS = 3
"""Runs of k-means behind a curve; trials average over more."""
PIXELS = "pixels of scikit-learn's digits, 8 × 8, as they are"
DRAWN = "the intervals are over trials, which draw their images from the same 1,797"
MADE = Setting((), PIXELS, f"{SIZE} a side, {TRIALS} trials", 0, DRAWN)


@functools.cache
def images() -> tuple[Rows, Rows]:
    """Pixels from 0 to 1, shape (1797, 64), and which digit each is."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return pixels / 16, labels


@functools.cache
def modes() -> dict[str, Rows]:
    """Scores of Q1 to Q10 of the experiment on dropped and invented modes, shape (trials, 10)."""
    results = digits_modes.run(size=digits_modes.SIZE, trials=MODE_TRIALS, seed=0)
    return {
        name: np.column_stack([digits_modes.column(results, name, q) for q in digits_modes.SYSTEMS])
        for name in results[0]["Q1"].values
    }


MODES = Setting((), PIXELS, f"{digits_modes.SIZE} a side, {MODE_TRIALS} divisions", 0, DRAWN)


def prd_figure_5_left() -> Iterator[Line | Setting]:
    """FID and the inception score over Q1 to Q10, the latter by a classifier of digits."""
    yield MODES
    distances = modes()["frechet_distance"]
    yield best("Fréchet distance of Q1 to Q10", "least for Q5", trials(distances), 4, higher=False)
    pixels, labels = images()
    rng = np.random.default_rng(0)
    scores = [
        [
            metrics.inception_score(
                classifier().predict_proba(  # type: ignore[attr-defined]
                    pixels[
                        np.concatenate(
                            [rng.choice(np.flatnonzero(labels == d), 40) for d in range(last)]
                        )
                    ]
                )
            ).value
            for last in range(1, 11)
        ]
        for _ in range(MODE_TRIALS)
    ]
    yield rises("inception score of Q1 to Q10", "rises, also with invented modes", trials(scores))


def prd_figure_5_middle() -> Iterator[Line | Setting]:
    """F8 of the PRD curve falls where modes are dropped, F1/8 where they are invented."""
    yield MODES
    recall, precision = modes()["prd_f8"], modes()["prd_f1_8"]
    yield from dropped_and_invented(recall, precision, modes()["frechet_distance"], "mode")


def dropped_and_invented(
    recall: Rows, precision: Rows, distances: Rows, kind: str
) -> Iterator[Line]:
    """What figure 5 says of Q1 to Q10, which drop one `kind` after the other, and then invent them.

    F8, F1/8 and Fréchet distances, shapes (trials, 10).
    """
    yield rises("F8 of Q1 to Q5", f"recall rises with each {kind}", trials(recall[:, :5]))
    lost, gained = recall[:, 4] - recall[:, 9], recall[:, 4] - recall[:, 3]
    yield sign(
        "F8: gained from Q4 to Q5, less what is lost from Q5 to Q10",
        f"positive: invented {kind}{'es' if kind == 'class' else 's'} lose no recall",
        Estimate.mean(gained - lost),
        direction=1,
    )
    yield shown("F8 of Q5 to Q10", trials(recall[:, 4:]))
    yield falls("F1/8 of Q5 to Q10", "precision falls", trials(precision[:, 4:]))
    apart = np.abs(distances[:, 3] - distances[:, 5])
    yield sign(
        "Fréchet distance: step from Q3 to Q4, less the difference of Q4 and Q6",
        "positive: Q4 and Q6 are alike",
        Estimate.mean(distances[:, 2] - distances[:, 3] - apart),
        direction=1,
    )
    yield order("F8 of Q4 and Q6", "far apart", trials(recall[:, [3, 5]]))
    yield order("F1/8 of Q6 and Q4", "far apart", trials(precision[:, [5, 3]]))


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


def prd_figure_6() -> Iterator[Line | Setting]:
    """Few digits of high quality against all digits of low quality, at one Fréchet distance."""
    yield MADE
    found = np.array([_left_and_right(np.random.default_rng([6, t])) for t in range(TRIALS)])
    distance, low, high, seen, sure = (found[:, place] for place in range(5))
    yield shown("Fréchet distance, left and right, matched by the blend", trials(distance))
    yield order(
        "best precision at recall 0.3, right and left",
        "left higher, below recall 0.6",
        trials(low[:, ::-1]),
    )
    yield order(
        "best precision at recall 0.8, left and right",
        "right higher, above recall 0.6",
        trials(high),
    )
    yield order(
        "digits with 3 % of a set or more, by a classifier, left and right",
        "a subset, all",
        trials(seen),
        digits=1,
    )
    yield order(
        "mean confidence of the classifier, right and left", "0.886, 0.967", trials(sure[:, ::-1])
    )


def _left_and_right(rng: np.random.Generator) -> list[tuple[float, float]]:
    """One trial: what the left and the right set score, the blend matched by Fréchet distance."""
    real = reference(rng)
    few = generator(6, 0.0, rng)
    target = metrics.frechet_distance(real, few).value
    many = min(
        (generator(10, blend, rng) for blend in np.linspace(0.05, 0.45, 17)),
        key=lambda rows: abs(metrics.frechet_distance(real, rows).value - target),
    )
    left, right = metrics.prd(real, few, runs=RUNS).curve, metrics.prd(real, many, runs=RUNS).curve
    return [
        (target, metrics.frechet_distance(real, many).value),
        (best_precision(left, 0.3), best_precision(right, 0.3)),
        (best_precision(left, 0.8), best_precision(right, 0.8)),
        (_digits_seen(few), _digits_seen(many)),
        (_confidence(few), _confidence(many)),
    ]


def best_precision(curve: calipers.PrecisionRecallCurve, recall: float) -> float:
    """The highest precision of a curve where its recall is at least so large."""
    reached = curve.recall >= recall
    return float(curve.precision[reached].max()) if reached.any() else 0.0


def _probabilities(rows: Rows) -> Rows:
    return classifier().predict_proba(rows)  # type: ignore[attr-defined, no-any-return]


def _digits_seen(rows: Rows) -> int:
    shares = np.bincount(_probabilities(rows).argmax(axis=1), minlength=10) / len(rows)
    return int((shares >= 0.03).sum())


def _confidence(rows: Rows) -> float:
    return float(_probabilities(rows).max(axis=1).mean())


CORNERS = {
    "A: 3 digits, clean": (3, 0.0),
    "B: all digits, clean": (10, 0.0),
    "C: 3 digits, blended": (3, 0.4),
    "D: all digits, blended": (10, 0.4),
}


def prd_figure_7() -> Iterator[Line | Setting]:
    """Four corners: precise or not, varied or not."""
    yield MADE
    found = []
    for trial in range(TRIALS):
        rng = np.random.default_rng([7, trial])
        real = reference(rng)
        scores = [metrics.prd(real, generator(*how, rng), runs=RUNS) for how in CORNERS.values()]
        found.append([(each.f1_8.value, each.f8.value) for each in scores])
    values = np.array(found)
    for place, name in enumerate(CORNERS):
        yield shown(f"{name}: F1/8, F8", trials(values[:, place]))
    above = values[:, :, 0] - values[:, :, 1]
    yield sign("F1/8 less F8 of A", "above the diagonal", Estimate.mean(above[:, 0]), direction=1)
    yield sign("F1/8 less F8 of D", "below it", Estimate.mean(above[:, 3]), direction=-1)
    yield order("F1/8 of C and B", "B higher", trials(values[:, [2, 1], 0]))
    yield order("F8 of C and B", "B higher", trials(values[:, [2, 1], 1]))


def prd_figure_8() -> Iterator[Line | Setting]:
    """All ten digits alike often, each from ever fewer images: variety that classes do not show."""
    yield MADE
    pixels, labels = images()
    scores, recalls = [], []
    for trial in range(TRIALS):
        rng = np.random.default_rng([8, trial])
        real = reference(rng)
        rows = [
            np.concatenate(
                [
                    rng.choice(rng.permutation(np.flatnonzero(labels == d)[1::2])[:kept], 40)
                    for d in range(10)
                ]
            )
            for kept in (40, 20, 10, 3, 1)
        ]
        chances = (_probabilities(pixels[each]) for each in rows)
        scores.append([metrics.inception_score(each).value for each in chances])
        recalls.append(
            [metrics.prd(real, pixels[each], buckets=100, runs=RUNS).f8.value for each in rows]
        )
    yield shown("inception score, 40 to 1 images a digit", trials(scores))
    yield falls("F8, 40 to 1 images a digit", "falls", trials(recalls))
    lost = np.column_stack(
        [1 - np.array(each)[:, -1] / np.array(each)[:, 0] for each in (scores, recalls)]
    )
    told = "share lost, inception score and F8"
    yield order(told, "F8 sees what classes do not show", trials(lost))


def prd_figure_9() -> Iterator[Line | Setting]:
    """Clusters of k-means hold images of one digit more than chance would."""
    yield Setting((), PIXELS, f"1,797 images, {TRIALS} starts of k-means", 0)
    pixels, labels = images()
    half = len(pixels) // 2
    shares = []
    for seed in range(TRIALS):
        cells = quantise(pixels[:half], pixels[half:], buckets=20, seed=seed, restarts=1)
        assigned = np.argmin(((pixels[:, None] - cells.centres[None]) ** 2).sum(axis=2), axis=1)
        shuffled = np.random.default_rng(seed).permutation(labels)
        shares.append([_pure(assigned, shuffled), _pure(assigned, labels)])
    yield order(
        "share of images in a cell of their digit, 20 cells: labels permuted, labels",
        "a meaningful clustering",
        trials(shares),
    )


def _pure(assigned: Rows, labels: Rows) -> float:
    pure = sum(np.bincount(labels[assigned == cell]).max() for cell in set(assigned.tolist()))
    return float(pure / len(labels))


def prd_figure_10() -> Iterator[Line | Setting]:
    """Entropies of a classifier against precision and recall, over 40 stand-ins for models."""
    yield Setting((), PIXELS, f"{SIZE} a side, 40 stand-ins", 0)
    rng = np.random.default_rng(0)
    real = reference(rng)
    precise, varied, unsure, spread = [], [], [], []
    for modes in (2, 4, 6, 8, 10):
        for blend in (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            rows = generator(modes, blend, rng)
            found = metrics.prd(real, rows, runs=RUNS)
            chances = _probabilities(rows)
            precise.append(found.f1_8.value)
            varied.append(found.f8.value)
            unsure.append(float(-(chances * np.log(chances + 1e-12)).sum(axis=1).mean()))
            mean = chances.mean(axis=0)
            spread.append(float(-(mean * np.log(mean + 1e-12)).sum()))
    yield correlated(
        "Spearman of precision and the entropy of p(y|x)", "-0.83", precise, unsure, digits=2
    )
    yield correlated("Spearman of recall and the entropy of p(y)", "0.89", varied, spread, digits=2)


def pr_figure_a2() -> Iterator[Line | Setting]:
    """Clean images of three digits, and blends of any two of all: precise, and varied."""
    yield MADE
    found = []
    for trial in range(TRIALS):
        rng = np.random.default_rng([2, trial])
        real = reference(rng)
        row = []
        for rows in (generator(3, 0.0, rng), generator(10, 0.4, rng)):
            curve, support = (
                metrics.prd(real, rows, runs=RUNS).curve,
                metrics.precision_recall(real, rows),
            )
            ends = (curve.f_beta(1 / 8), curve.f_beta(8))
            row.append((*ends, support.precision.value, support.recall.value))
        found.append(row)
    values = np.array(found)
    quality, diversity = "Q1 of high quality", "Q2 of high diversity"
    yield order("F1/8 of Q2 and Q1", quality, trials(values[:, ::-1, 0]))
    yield order("F8 of Q1 and Q2", diversity, trials(values[:, :, 1]))
    yield order("precision (k-NN) of Q2 and Q1", quality, trials(values[:, ::-1, 2]))
    yield order("recall (k-NN) of Q1 and Q2", diversity, trials(values[:, :, 3]))


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


LEVELS = (0.0, 0.3, 0.7, 1.0, 1.2)


def mauve_figure_18() -> Iterator[Line | Setting]:
    """ψ-sampling of a Gaussian for each digit, which is the whole generator."""
    yield MADE
    found = np.array([_truncations(np.random.default_rng([18, t])) for t in range(TRIALS)])
    mauve, distance, precision, recall = (trials(found[:, :, place]) for place in range(4))
    said = "best at ψ = 1"
    at = LEVELS.index(1.0)
    yield best("MAUVE* at ψ = 0, 0.3, 0.7, 1, 1.2", said, mauve, at)
    yield best("Fréchet distance", said, distance, at, higher=False)
    yield falls("precision", "falls with ψ", precision)
    yield rises("recall", "rises with ψ", recall)


def _truncations(rng: np.random.Generator) -> list[tuple[float, ...]]:
    """One trial: four scores at every ψ."""
    real, row = reference(rng), []
    for psi in LEVELS:
        rows = truncated(psi, rng)
        support = metrics.precision_recall(real, rows)
        star = metrics.mauve(real, rows, buckets=40).mauve_star.value
        distance = metrics.frechet_distance(real, rows).value
        row.append((star, distance, support.precision.value, support.recall.value))
    return row


def mauve_figure_4() -> Iterator[Line | Setting]:
    """Two Gaussians on the plane, cut by k-means: what the cells keep of their divergence."""
    yield Setting((), "", "20,000 a side, 5 trials", 0)
    sizes = (2, 5, 20, 80)
    kept, ends = [], []
    for trial in range(5):
        rng = np.random.default_rng([4, trial])
        p, q = rng.standard_normal((20_000, 2)), rng.normal((1.0, 0.0), 1.0, (20_000, 2))
        cells = [quantise(p, q, buckets=k, restarts=1, seed=trial).best for k in sizes]
        kept.append([calipers.f_divergence(each, "kl") for each in cells])
        ends.append(abs(kept[-1][0] - 0.5) - abs(kept[-1][-1] - 0.5))
    row: Row = trials(kept)
    yield rises("KL of the cells, k = 2, 5, 20, 80", "grows with the cells", row, own=True)
    told = "how much nearer to the true KL of 0.5 it is with 80 cells than with 2"
    yield sign(told, "positive", Estimate.mean(ends), direction=1, own=True)
