"""GANs and VAEs trained here on digits, as ``digit_generators.py`` keeps what they draw.

Images are compared as pixels and by the hidden layer of a small classifier, in the place of
Inception. The models and the classifier learn from every second digit of scikit-learn; the
reference is the others. Intervals over models are those of models drawn from many alike, with
random settings.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from itertools import permutations

import numpy as np

import picture_samples
from calipers import metrics
from calipers.errors import InputError
from reproduction.item import Line, Setting
from reproduction.runs_digits import images
from reproduction.verdicts import (
    Estimate,
    alike,
    correlated,
    independent,
    jackknife,
    order,
    shown,
    sign,
)

Rows = np.ndarray
KINDS = ("gan", "vae")
CELLS, REPEATS = 20, 10
"""Clusters and repetitions of PRD, the paper's."""
BLOCKS = 20
"""Of the images that a pair of models is measured on, left out in turn."""
NEAR = 0.05
"""Of their mean, by how much the Fréchet distances of a pair may differ where it is chosen."""
MARGIN = 0.1
"""The same where it is measured: the paper calls 32 and 29 similar."""
FEW = 0.2
"""Models of a lower F8 draw little of what there is."""
HIDDEN = "hidden layer of a classifier"
SPACES = ("pixels", HIDDEN)


@functools.cache
def drawn() -> dict[str, Rows]:
    """What every model has drawn, pixels from 0 to 1, shape (900, 64), by its name."""
    found = {}
    for kind in KINDS:
        for path in sorted(picture_samples.folder().glob(f"digits-{kind}-*.npz")):
            with np.load(path, allow_pickle=False) as kept:
                found[path.stem.removeprefix("digits-")] = kept["images"] / 16
    if not found:
        raise InputError("there are no digits of generators: run digit_generators.py first")
    return found


def seconds() -> float:
    """Processor time of all trainings."""
    total = 0.0
    for path in picture_samples.folder().glob("digits-*.npz"):
        with np.load(path, allow_pickle=False) as kept:
            total += json.loads(str(kept["about"]))["seconds"]
    return total


@functools.cache
def classifier() -> object:
    """A network of one hidden layer of 64, on the digits that the models learned from."""
    from sklearn.neural_network import MLPClassifier

    pixels, labels = images()
    network = MLPClassifier((64,), max_iter=500, random_state=0)
    return network.fit(pixels[1::2], labels[1::2])


def hidden(rows: Rows) -> Rows:
    """The hidden layer at images."""
    network = classifier()
    found: Rows = np.maximum(0, rows @ network.coefs_[0] + network.intercepts_[0])  # type: ignore[attr-defined]
    return found


def chances(rows: Rows) -> Rows:
    """The classifier's probabilities of the ten digits."""
    return classifier().predict_proba(rows)  # type: ignore[attr-defined, no-any-return]


def placed(rows: Rows, space: str) -> Rows:
    """Images as they are compared."""
    return rows if space == "pixels" else hidden(rows)


def measured(reference: Rows, generated: Rows) -> dict[str, float]:
    """Every score of one model."""
    curve = metrics.prd(reference, generated, buckets=CELLS, runs=REPEATS, seed=0)
    support = metrics.precision_recall(reference, generated)
    return {
        "F1/8": float(curve.f1_8),
        "F8": float(curve.f8),
        "precision (k-NN)": float(support.precision),
        "recall (k-NN)": float(support.recall),
        "Fréchet distance": float(metrics.frechet_distance(reference, generated)),
    }


@functools.cache
def scores(space: str) -> dict[str, dict[str, float]]:
    """Every score of every model."""
    real = placed(images()[0][0::2], space)
    return {name: measured(real, placed(rows, space)) for name, rows in drawn().items()}


def by_kind(space: str, score: str) -> list[list[float]]:
    """A score of all GANs, and of all VAEs."""
    return [
        [each[score] for name, each in scores(space).items() if name.startswith(kind)]
        for kind in KINDS
    ]


def _setting(more: str) -> Setting:
    count = len(drawn()) // len(KINDS)
    models = f"{count} GANs and {count} VAEs, fully connected, at random settings, trained on 898 "
    models += f"digits of scikit-learn, {seconds() / 60:.0f} minutes of processor time in all"
    embedder = f"pixels, 8 × 8; {HIDDEN} that learned from the same 898"
    return Setting((models,), embedder, "900 generated, 899 real", 0, more)


def prd_figure_7() -> Iterator[Line | Setting]:
    """F1/8 and F8 of GANs and of VAEs: which kind is higher in which, over models."""
    yield _setting("the intervals are over models")
    for space in SPACES:
        precise, varied = by_kind(space, "F1/8"), by_kind(space, "F8")
        over = [np.subtract(*each) for each in zip(precise, varied, strict=True)]
        yield _kinds(f"F1/8 of VAEs and GANs, {space}", "GANs higher", precise[::-1])
        yield _kinds(f"F8 of GANs and VAEs, {space}", "VAEs higher", varied)
        what = f"F1/8 less F8 of VAEs and GANs, {space}"
        yield _kinds(what, "GANs higher: nearer to precision", over[::-1])
        few = [sum(value < FEW for value in each) for each in varied]
        yield shown(f"GANs and VAEs with an F8 below {FEW:g}, {space}", few, digits=0)
        what = f"F1/8 less F8 of VAEs, {space}"
        yield sign(what, "negative: below the diagonal", Estimate.mean(over[1]), direction=-1)
        for name, paper in (("precision", "GANs higher"), ("recall", "VAEs higher")):
            values = by_kind(space, f"{name} (k-NN)")
            pair = values[::-1] if name == "precision" else values
            kinds = "VAEs and GANs" if name == "precision" else "GANs and VAEs"
            what = f"{name} (k-NN) of {kinds}, {space}"
            yield _kinds(what, f"not in the paper: {paper}", pair)


def _kinds(what: str, paper: str, values: list[list[float]] | list[Rows]) -> Line:
    """Two kinds of models, the second of which should be higher."""
    return order(what, paper, independent([Estimate.mean(each) for each in values]))


def prd_figure_1() -> Iterator[Line | Setting]:
    """Two models with one Fréchet distance, chosen by half of the images, measured on the rest."""
    yield _setting(
        "the pair is chosen by half of the images of both sides, and measured on the "
        "others; the intervals leave out blocks of generated images"
    )
    for space in SPACES:
        real = placed(images()[0][0::2], space)
        rows = {name: placed(each, space) for name, each in drawn().items()}
        left, right = chosen(
            {name: measured(real[0::2], each[0::2]) for name, each in rows.items()}
        )
        other = real[1::2]

        def both(kept: Rows, pair: tuple[Rows, Rows], other: Rows = other) -> list[float]:
            left, right = (measured(other, each[kept]) for each in pair)
            distances = [each["Fréchet distance"] for each in (left, right)]
            return [*distances, right["F1/8"], left["F1/8"], left["F8"], right["F8"]]

        pair = rows[left][1::2], rows[right][1::2]
        found = jackknife(functools.partial(both, pair=pair), len(pair[0]), blocks=BLOCKS)
        named = f"{_named(left)} (left) and {_named(right)} (right), {space}"
        distance = found.part((0, 1))
        margin = MARGIN * float(np.mean([each.value for each in distance.estimates]))
        what = f"Fréchet distance of {named}"
        yield alike(what, "similar: 32 and 29", distance, margin=margin)
        yield order(f"F1/8, right and left, {space}", "left higher", found.part((2, 3)))
        yield order(f"F8, left and right, {space}", "right higher", found.part((4, 5)))


def chosen(found: dict[str, dict[str, float]]) -> tuple[str, str]:
    """The pair of similar Fréchet distance of which one is most precise, the other most varied."""

    def gain(pair: tuple[str, str]) -> float:
        left, right = (found[name] for name in pair)
        return min(left["F1/8"] - right["F1/8"], right["F8"] - left["F8"])

    def near(pair: tuple[str, str]) -> bool:
        left, right = (found[name]["Fréchet distance"] for name in pair)
        return abs(left - right) <= NEAR * (left + right) / 2

    return max(filter(near, permutations(found, 2)), key=gain)


def _named(name: str) -> str:
    kind, number = name.split("-")
    return f"{kind.upper()} {int(number)}"


def prd_figure_10() -> Iterator[Line | Setting]:
    """Entropies of the classifier against precision and recall, over all models."""
    yield _setting("the intervals are over models")
    probabilities = [chances(rows) for rows in drawn().values()]
    unsure = [float(_entropy(each).mean()) for each in probabilities]
    spread = [float(_entropy(each.mean(axis=0))) for each in probabilities]
    for space in SPACES:
        found = scores(space).values()
        precise, varied = ([each[end] for each in found] for end in ("F1/8", "F8"))
        what = "Spearman of {} and the entropy of {}, " + space
        yield correlated(what.format("precision", "p(y|x)"), "-0.83", precise, unsure, digits=2)
        yield correlated(what.format("recall", "p(y)"), "0.89", varied, spread, digits=2)
    for name, values in (("p(y|x)", unsure), ("p(y)", spread)):
        yield shown(f"least and largest entropy of {name}", [min(values), max(values)])


def _entropy(chances: Rows) -> Rows:
    found: Rows = -(chances * np.log(chances + 1e-12)).sum(axis=-1)
    return found
