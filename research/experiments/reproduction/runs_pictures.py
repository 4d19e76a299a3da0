"""The experiments on images, on CIFAR-10's photographs as EfficientNet-Lite0 sees them.

Of each of the ten classes there are 120 photographs; every trial divides them anew into two halves,
one for the reference and one for the generated sets. Vectors have length one and are laid on the
128 principal axes of all 1,200, so that no axis depends on a trial.

Generators are those of ``picture_generators.py``: pictures that their checkpoints have drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageFilter

import cifar
import picture_samples
from calipers import metrics
from calipers.errors import InputError
from calipers.estimate import quantise
from reproduction.item import Line, Setting
from reproduction.runs_digits import best_precision, dropped_and_invented
from reproduction.verdicts import (
    Estimate,
    Row,
    alike,
    best,
    correlated,
    falls,
    jackknife,
    order,
    rises,
    shown,
    sign,
    trials,
)

Rows = np.ndarray
AXES, HALF, TRIALS = 128, 60, 10
CELLS, REPEATS = 20, 10
"""Clusters and repetitions of PRD, the paper's."""
EMBEDDER = f"efficientnet, view meaning, {AXES} principal axes"
MADE = Setting(
    (),
    EMBEDDER,
    f"{HALF} pictures of each class and side",
    0,
    f"{TRIALS} divisions of the same 1,200 pictures; the intervals are over divisions",
)


@functools.cache
def space() -> tuple[Rows, Rows, float]:
    """The mean of all vectors, their first axes, and the share of the variance that these hold."""
    rows = cifar.features().reshape(-1, cifar.features().shape[-1])
    mean = rows.mean(axis=0)
    _, values, axes = np.linalg.svd(rows - mean, full_matrices=False)
    held = float((values[:AXES] ** 2).sum() / (values**2).sum())
    return mean, axes[:AXES], held


def placed(rows: Rows) -> Rows:
    """Lay vectors on the axes."""
    mean, axes, _ = space()
    return (rows - mean) @ axes.T


@functools.cache
def halves(trial: int) -> tuple[Rows, Rows]:
    """Divide the pictures of each class, two arrays of shape (10, 60, 128)."""
    rng = np.random.default_rng([5, trial])
    rows = placed(cifar.features())
    shuffled = np.stack([rng.permutation(rows.shape[1]) for _ in range(len(rows))])
    mixed = np.take_along_axis(rows, shuffled[:, :, None], axis=1)
    return mixed[:, :HALF], mixed[:, HALF:]


def of_classes(half: Rows, classes: Sequence[int]) -> Rows:
    """The pictures of some classes."""
    return half[list(classes)].reshape(-1, half.shape[-1])


def prd_ends(reference: Rows, generated: Rows, seed: int) -> tuple[float, float]:
    """F1/8 and F8 of the PRD curve."""
    found = metrics.prd(reference, generated, buckets=CELLS, runs=REPEATS, seed=seed)
    return float(found.f1_8), float(found.f8)


@functools.cache
def added() -> dict[str, Rows]:
    """Scores of Q1 to Q10 against the first five classes, shape (trials, 10) each."""
    found: dict[str, list[list[float]]] = {}
    for trial in range(TRIALS):
        real, other = halves(trial)
        reference = of_classes(real, range(5))
        row: dict[str, list[float]] = {}
        for count in range(1, 11):
            generated = of_classes(other, range(count))
            ends = prd_ends(reference, generated, trial)
            support = metrics.precision_recall(reference, generated)
            values = {
                "frechet_distance": float(metrics.frechet_distance(reference, generated)),
                "f1_8": ends[0],
                "f8": ends[1],
                "precision": float(support.precision),
                "recall": float(support.recall),
                "coverage": float(metrics.density_coverage(reference, generated).coverage),
                "inception_score": float(metrics.inception_score(chances(trial, generated))),
            }
            for name, value in values.items():
                row.setdefault(name, []).append(value)
        for name, line in row.items():
            found.setdefault(name, []).append(line)
    return {name: np.array(lines) for name, lines in found.items()}


@functools.cache
def classifier(trial: int) -> object:
    """A logistic regression of the ten classes, on the reference's half of the pictures."""
    from sklearn.linear_model import LogisticRegression

    real, _ = halves(trial)
    labels = np.repeat(np.arange(len(real)), real.shape[1])
    return LogisticRegression(C=10, max_iter=500).fit(of_classes(real, range(len(real))), labels)


def chances(trial: int, rows: Rows) -> Rows:
    """The classifier's probabilities of the ten classes."""
    return classifier(trial).predict_proba(rows)  # type: ignore[attr-defined, no-any-return]


def prd_figure_3() -> Iterator[Line | Setting]:
    """The shapes of figure 3, with classes for modes: which end of the curve is the higher one."""
    yield MADE
    cases = {
        "(a) Q has one of P's two classes": ((0, 6), (0,)),
        "(b) Q has both, P one": ((0,), (0, 6)),
        "(c) the same two classes": ((0, 6), (0, 6)),
        "(d) other classes": ((0, 6), (1, 7)),
    }
    ends = {
        name: np.array(
            [
                prd_ends(of_classes(halves(t)[0], p), of_classes(halves(t)[1], q), t)
                for t in range(TRIALS)
            ]
        )
        for name, (p, q) in cases.items()
    }
    a, b, c, d = ends.values()
    for (name, pair), paper in zip(
        ends.items(),
        ("precision 1, recall 0.5", "precision 0.5, recall 1", "both 1", "both 0"),
        strict=True,
    ):
        yield shown(f"{name}: F1/8 and F8 (paper: {paper})", trials(pair))
    yield sign("(a) F1/8 less F8", "positive", Estimate.mean(a[:, 0] - a[:, 1]), direction=1)
    yield sign("(b) F1/8 less F8", "negative", Estimate.mean(b[:, 0] - b[:, 1]), direction=-1)
    lowest = np.column_stack([d.max(axis=1), a[:, 1], c.min(axis=1)])
    yield order("the larger of (d), F8 of (a), the smaller of (c)", "0, 0.5 and 1", trials(lowest))
    held = np.column_stack([a[:, 1], np.full(TRIALS, 0.5)])
    yield shown("(a) F8 less one half", Estimate.mean(held[:, 0] - held[:, 1]))


def prd_figure_5() -> Iterator[Line | Setting]:
    """Classes dropped and invented, on the paper's own photographs."""
    yield MADE
    found = added()
    yield shown("share of the variance on the axes", [space()[2]])
    distances, recall, precision = (found[name] for name in ("frechet_distance", "f8", "f1_8"))
    yield best(
        "Fréchet distance of Q1 to Q10, by EfficientNet",
        "least for Q5",
        trials(distances),
        4,
        higher=False,
    )
    yield rises(
        "inception score of Q1 to Q10, by a classifier of the ten classes",
        "rises, also with invented classes",
        trials(found["inception_score"]),
    )
    yield from dropped_and_invented(recall, precision, distances, "class")
    for name in ("recall", "coverage"):
        few = trials(found[name][:, :5])
        yield rises(f"{name} (k-NN) of Q1 to Q5", "not in the paper: rises", few)
    many = trials(found["precision"][:, 4:])
    yield falls("precision (k-NN) of Q5 to Q10", "not in the paper: falls", many)


@functools.cache
def class_by_class() -> tuple[Rows, Rows]:
    """F8 lost where a class is dropped, F1/8 lost where it is invented, shape (trials, 10) each.

    Lost beside a set of the same size that lacks a tenth of every class.
    """
    dropped, invented = [], []
    every, less = range(len(cifar.CLASSES)), HALF - HALF // len(cifar.CLASSES)
    for trial in range(TRIALS):
        real, other = halves(trial)
        recall = prd_ends(of_classes(real, every), of_classes(other[:, :less], every), trial)[1]
        precision = prd_ends(of_classes(real[:, :less], every), of_classes(other, every), trial)[0]
        left, more = [], []
        for one in every:
            others = [each for each in every if each != one]
            few = prd_ends(of_classes(real, every), of_classes(other, others), trial)
            new = prd_ends(of_classes(real, others), of_classes(other, every), trial)
            left.append(recall - few[1])
            more.append(precision - new[0])
        dropped.append(left)
        invented.append(more)
    return np.array(dropped), np.array(invented)


def prd_classes() -> Iterator[Line | Setting]:
    """One class of ten dropped, or invented: does PRD see each of them."""
    yield MADE
    kinds = ("dropped", "F8"), ("invented", "F1/8")
    for lost, (what, end) in zip(class_by_class(), kinds, strict=True):
        for name, values in zip(cifar.CLASSES, lost.T, strict=True):
            yield sign(
                f"{end} lost where {name} is {what}",
                "positive",
                Estimate.mean(values),
                direction=1,
            )


def prd_figure_9() -> Iterator[Line | Setting]:
    """Clusters of k-means hold pictures of one class, and more so than clusters of pixels."""
    yield MADE
    labels = np.repeat(np.arange(len(cifar.CLASSES)), HALF)
    pixels, _ = cifar.pictures(cifar.POOL)
    flat = pixels.reshape(len(cifar.CLASSES), -1, 3072) / 255.0
    values = []
    for trial in range(TRIALS):
        rng = np.random.default_rng([5, trial])
        shuffled = np.stack([rng.permutation(flat.shape[1]) for _ in range(len(flat))])
        mixed = np.take_along_axis(flat, shuffled[:, :, None], axis=1)
        sides = [of_classes(half, range(10)) for half in halves(trial)]
        raw = [of_classes(half, range(10)) for half in (mixed[:, :HALF], mixed[:, HALF:])]
        values.append([pure(*raw, labels, trial), pure(*sides, labels, trial)])
    what = "share of pictures in a cell of their class, by pixels and by EfficientNet"
    yield order(what, "clusters are meaningful", trials(values))


def pure(first: Rows, second: Rows, labels: Rows, seed: int) -> float:
    """The share of pictures whose cell is one of their class, the most frequent one in it."""
    cells = quantise(first, second, buckets=CELLS, seed=seed)
    rows, classes = np.concatenate([first, second]), np.concatenate([labels, labels])
    far = ((rows**2).sum(axis=1)[:, None] - 2 * rows @ cells.centres.T) + (cells.centres**2).sum(
        axis=1
    )
    assigned = far.argmin(axis=1)
    return float(
        sum(np.bincount(classes[assigned == cell]).max() for cell in set(assigned.tolist()))
        / len(rows)
    )


# ------------------------------------------------------------------ blurred photographs

BLURS = (0.0, 0.4, 0.6, 0.8, 1.0, 1.25)
"""Standard deviations, in pixels, of the Gaussians that photographs are blurred by."""
FEW, DRAWN = 3, 120
"""Classes of the set of few, and photographs of each set; every stand-in has as many."""


@functools.cache
def blurred(radius: float) -> Rows:
    """All 1,200 photographs blurred, on the axes of those that are not, shape (10, 120, 128)."""
    rows, _ = cifar.pictures(cifar.POOL)
    changed = [
        np.asarray(Image.fromarray(row).filter(ImageFilter.GaussianBlur(radius))) for row in rows
    ]
    found = placed(cifar.embed(np.stack(changed)) if radius else cifar.features().reshape(1200, -1))
    return found.reshape(len(cifar.CLASSES), -1, AXES)


def stand_in(trial: int, radius: float, classes: Sequence[int]) -> Rows:
    """Photographs of some classes as a generative model would draw them, none in the reference."""
    rng = np.random.default_rng([5, trial])
    shuffled = [rng.permutation(len(rows)) for rows in blurred(radius)]
    each = DRAWN // len(classes)
    return np.concatenate(
        [blurred(radius)[one][shuffled[one][HALF : HALF + each]] for one in classes]
    )


def _classes(trial: int, number: int) -> list[int]:
    rng = np.random.default_rng([6, trial, number])
    return rng.permutation(len(cifar.CLASSES))[:number].tolist()


def prd_figure_1() -> Iterator[Line | Setting]:
    """Sharp photographs of few classes, blurred ones of all, at one Fréchet distance."""
    yield MADE
    yield shown("photographs of each generated set", [DRAWN], digits=0)
    every, rows, names = range(len(cifar.CLASSES)), [], []
    for trial in range(TRIALS):
        reference = of_classes(halves(trial)[0], every)
        left = stand_in(trial, 0.0, _classes(trial, FEW))
        target = float(metrics.frechet_distance(reference, left))
        sets = {radius: stand_in(trial, radius, every) for radius in BLURS[1:]}
        distances = {
            radius: float(metrics.frechet_distance(reference, each))
            for radius, each in sets.items()
        }
        radius = min(distances, key=lambda radius: abs(distances[radius] - target))
        pair = left, sets[radius]
        curves = [
            metrics.prd(reference, each, buckets=CELLS, runs=REPEATS, seed=trial) for each in pair
        ]
        supports = [metrics.precision_recall(reference, each) for each in pair]
        rows.append(
            [
                *(target, distances[radius]),
                *(float(each.f1_8) for each in curves[::-1]),
                *(float(each.f8) for each in curves),
                *(float(each.precision) for each in supports[::-1]),
                *(float(each.recall) for each in supports),
                *(best_precision(each.curve, 0.3) for each in curves[::-1]),
                *(best_precision(each.curve, 0.8) for each in curves),
            ]
        )
        names.append(radius)
    found = trials(rows)
    yield shown("blur of the right set in each trial, in pixels", names, digits=2)
    margin = 0.1 * float(np.mean([each.value for each in found.estimates[:2]]))
    yield alike(
        "Fréchet distance, left (three classes) and right (all, blurred), by EfficientNet",
        "similar: 32 and 29, 65 and 62",
        found.part((0, 1)),
        margin=margin,
    )
    yield order("F1/8 of right and left", "left more precise", found.part((2, 3)))
    yield order("F8 of left and right", "right more varied", found.part((4, 5)))
    yield order("best precision at recall 0.3, right and left", "left higher", found.part((10, 11)))
    yield order(
        "best precision at recall 0.8, left and right", "right higher", found.part((12, 13))
    )
    yield order(
        "precision (k-NN) of right and left", "not in the paper: left higher", found.part((6, 7))
    )
    yield order(
        "recall (k-NN) of left and right", "not in the paper: right higher", found.part((8, 9))
    )


NUMBERS = (2, 3, 4, 6, 10)
"""Of classes, of the stand-ins of figure 10."""


def prd_figure_10() -> Iterator[Line | Setting]:
    """Entropies of the classifier against precision and recall, over 30 stand-ins for models."""
    yield MADE
    trial, scores = 0, []
    reference = of_classes(halves(trial)[0], range(len(cifar.CLASSES)))
    for number in NUMBERS:
        for radius in BLURS:
            rows = stand_in(trial, radius, _classes(trial, number))
            probabilities = chances(trial, rows)
            mean = probabilities.mean(axis=0)
            unsure = float(-(probabilities * np.log(probabilities + 1e-12)).sum(axis=1).mean())
            spread = float(-(mean * np.log(mean + 1e-12)).sum())
            scores.append((*prd_ends(reference, rows, trial), unsure, spread))
    precise, varied, unsure, spread = np.array(scores).T
    yield correlated(
        "Spearman of precision and the entropy of p(y|x)", "-0.83", precise, unsure, digits=2
    )
    yield correlated("Spearman of recall and the entropy of p(y)", "0.89", varied, spread, digits=2)


# ------------------------------------------------------------------ generators


def prd_figure_7() -> Iterator[Line | Setting]:
    """A VAE and a GAN beside photographs that neither has seen, over training."""
    rows = {name: placed(cifar.embed(images)) for name, images in picture_samples.drawn().items()}
    if not rows:
        raise InputError("there are no pictures of generators: run picture_generators.py first")
    reference = placed(cifar.features()).reshape(-1, AXES)
    real = reference[:: len(reference) // picture_samples.SIZE][: picture_samples.SIZE]
    rest = np.delete(
        reference, np.arange(0, len(reference), len(reference) // picture_samples.SIZE), axis=0
    )
    yield Setting(
        (picture_samples.ABOUT,),
        EMBEDDER,
        f"{picture_samples.SIZE} generated, {len(rest)} real",
        0,
        "one training run each; the intervals leave out blocks of generated pictures",
    )
    names = list(rows)

    def measured(kept: Rows) -> list[float]:
        sets = [real[kept], *(rows[name][kept] for name in names)]
        ends = [prd_ends(rest, each, 0) for each in sets]
        return [pair[which] for which in (0, 1) for pair in ends]

    both, size = jackknife(measured, picture_samples.SIZE, blocks=BLOCKS), len(names) + 1
    for which, end, means in ((0, "F1/8", "precision"), (1, "F8", "recall")):
        found = _of(both, range(which * size, (which + 1) * size))
        for place, name in enumerate(["photographs that no generator has seen", *names]):
            yield shown(f"{end} ({means}) of {name}", found.estimates[place])
        last = {
            kind: max(place for place, name in enumerate(names, 1) if name.startswith(kind))
            for kind in ("GAN", "VAE")
        }
        pair = (last["GAN"], last["VAE"])
        gap = found.gaps[min(pair), max(pair)]
        gap = gap if pair[0] > pair[1] else gap.negative()
        paper = "GANs higher" if which == 0 else "VAEs higher"
        yield sign(
            f"{end} at the last checkpoint: GAN less VAE", paper, gap, direction=1 - 2 * which
        )
        for kind in ("GAN", "VAE"):
            places = [place for place, name in enumerate(names, 1) if name.startswith(kind)]
            yield rises(
                f"{end} of the {kind} over training",
                "not in the paper: rises",
                _of(found, places),
            )


BLOCKS = 10
"""Of generated pictures, left out in turn."""


def _of(row: Row, places: Sequence[int]) -> Row:
    """Some of the systems of a row."""
    gaps = {
        (i, j): row.gaps[places[i], places[j]]
        for i in range(len(places))
        for j in range(i + 1, len(places))
    }
    return Row(tuple(row.estimates[place] for place in places), gaps)
