"""Precision and recall of n-gram continuations: against other scores, N, k, embedders and draws."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np

import calipers
from calipers import metrics, text
from calipers.uncertainty.correlation import pearson
from reproduction import continued
from reproduction.continued import DECODINGS, FEW, NGRAMS
from reproduction.item import Line, Setting
from reproduction.runs_decoding import SETTING, by_words, values
from reproduction.verdicts import (
    Estimate,
    Row,
    compared,
    correlated,
    correlation,
    fact,
    independent,
    jackknife,
    order,
    shown,
    sign,
    trials,
    unrelated,
)

Rows = np.ndarray


@functools.cache
def _columns() -> dict[str, Rows]:
    reference = continued.reference_rows(size=FEW)
    prds = [metrics.prd(reference, continued.rows(name, size=FEW), runs=3) for name in DECODINGS]
    written = [continued.written(name, size=FEW) for name in DECODINGS]
    return {
        "precision": values("precision"),
        "recall": values("recall"),
        "mauve_star": values("mauve_star"),
        "prd_f1_8": np.array([each.f1_8.value for each in prds]),
        "prd_f8": np.array([each.f8.value for each in prds]),
        "distinct_4": np.array([text.distinct(each, order=4).value for each in written]),
        "self_bleu": np.array([text.self_bleu(each).value for each in written]),
    }


def pr_figure_7a() -> Iterator[Line | Setting]:
    """Correlations over thirteen decodings, as Pearson's r."""
    yield SETTING
    columns = _columns()
    for first, second, said in (
        ("recall", "distinct_4", "positive"),
        ("recall", "self_bleu", "negative: Self-BLEU is lower for varied texts"),
        ("precision", "mauve_star", "positive"),
    ):
        told = f"{first} and {second}"
        yield correlated(told, said, columns[first], columns[second], kind="pearson", digits=2)
    found = correlation(columns["precision"], columns["distinct_4"], kind="pearson")
    yield unrelated("precision and distinct_4", "none", found, digits=2)


def pr_figure_a5() -> Iterator[Line | Setting]:
    """F-scores of PRD beside precision and recall, over thirteen decodings."""
    yield SETTING
    columns = _columns()
    for name in ("prd_f1_8", "prd_f8"):

        def both(kept: Rows, name: str = name) -> list[float]:
            return [
                pearson(columns[name][kept], columns[side][kept]).value
                for side in ("recall", "precision")
            ]

        row = jackknife(both, len(DECODINGS), blocks=len(DECODINGS))
        told = f"{name} with recall, with precision"
        yield order(told, "more with precision than with recall", row, digits=2)
    yield correlated(
        "prd_f1_8 with prd_f8",
        "positive: strong",
        columns["prd_f1_8"],
        columns["prd_f8"],
        kind="pearson",
        digits=2,
    )


def pr_table_b1() -> Iterator[Line | Setting]:
    """Precision and recall by other embeddings, beside MiniLM's by meaning."""
    yield SETTING
    found = by_words(metrics="precision,recall")
    for metric in ("precision", "recall"):
        others = {
            "MiniLM, form": values(metric, view="form"),
            "TF-IDF": np.array([found[name][metric].value for name in DECODINGS]),
        }
        for label, other in others.items():
            yield correlated(
                f"{metric}, {label}",
                "positive, 0.67 to 0.99",
                values(metric),
                other,
                kind="pearson",
                digits=2,
            )


SUBSET_SIZES = (50, 100, 250)
SUBSETS = 20


def pr_figure_6() -> Iterator[Line | Setting]:
    """N from 50 to 250, twenty random subsets each, k = 4."""
    yield Setting((NGRAMS,), "MiniLM, by meaning", f"subsets of {FEW}, {SUBSETS} of each size", 0)
    reference = continued.reference_rows(size=FEW)
    generated = continued.rows("top_p=0.9", size=FEW)
    found = np.zeros((SUBSETS, len(SUBSET_SIZES), 2))
    for subset in range(SUBSETS):
        rng = np.random.default_rng(subset)
        for place, n in enumerate(SUBSET_SIZES):
            mine, theirs = (rng.choice(FEW, n, replace=False) for _ in "pq")
            both = metrics.precision_recall(reference[mine], generated[theirs])
            found[subset, place] = both.precision.value, both.recall.value
    told = ", ".join(map(str, SUBSET_SIZES))
    for side, name in enumerate(("precision", "recall")):
        column = found[:, :, side]
        yield shown(f"{name}, N = {told}", trials(column))
        first, last = (np.abs(np.diff(column, axis=1))[:, at] for at in (0, -1))
        yield sign(
            f"{name}: step from {SUBSET_SIZES[0]} to {SUBSET_SIZES[1]}, less that to the last",
            "positive: levels off",
            Estimate.mean(first - last),
            direction=1,
        )
        spread = independent([_deviation(each) for each in column.T])
        ends = Row(
            (spread.estimates[-1], spread.estimates[0]), {(0, 1): spread.gaps[0, 2].negative()}
        )
        yield order(
            f"log of the sd of {name}, N = {SUBSET_SIZES[-1]}, {SUBSET_SIZES[0]}",
            "shrinks with N",
            ends,
        )


def _deviation(sample: Rows) -> Estimate:
    """The logarithm of a standard deviation, whose error is about √(1 / (2(n − 1)))."""
    value = math.log(float(sample.std(ddof=1)))
    reach = 1.96 * math.sqrt(1 / (2 * (len(sample) - 1)))
    return Estimate(value, (value - reach, value + reach))


def pr_figure_b1() -> Iterator[Line | Setting]:
    """k from 1 to 30: balls hold those of smaller k, so that neither share can fall."""
    yield SETTING
    reference = continued.reference_rows(size=FEW)
    generated = continued.rows("top_p=0.9", size=FEW)
    found = []
    for k in (1, 2, 4, 8, 16, 30):
        both = metrics.precision_recall(reference, generated, k=k)
        found.append((both.precision.value, both.recall.value))
    for name, column in zip(("precision", "recall"), np.transpose(found), strict=True):
        told = ", ".join(f"{value:.3f}" for value in column)
        up = bool((np.diff(column) > 0).all())
        yield fact(f"{name}, k = 1, 2, 4, 8, 16, 30", "rises towards 1", told, up)


DRAWN = 250


def pr_table_b5() -> Iterator[Line | Setting]:
    """Five draws of the reference and of the generated set."""
    yield Setting((NGRAMS,), "MiniLM, by meaning", f"{DRAWN} a side, five draws", 0)
    others = [
        continued.embed(continued.written("top_p=0.9", seed=seed, size=DRAWN)) for seed in range(5)
    ]
    rng = np.random.default_rng(0)
    references = [
        continued.reference_rows(size=FEW)[rng.choice(FEW, DRAWN, replace=False)] for _ in range(5)
    ]
    pairs = {
        "Q": [(references[0], q) for q in others],
        "P": [(p, others[0]) for p in references],
        "both": list(zip(references, others, strict=True)),
    }
    printed = {"Q": "0.005, 0.011", "P": "0.024, 0.006", "both": "0.019, 0.013"}
    for name, sets in pairs.items():
        scores = [metrics.precision_recall(p, q) for p, q in sets]
        found = [
            float(np.std([each.precision.value for each in scores], ddof=1)),
            float(np.std([each.recall.value for each in scores], ddof=1)),
        ]
        told = f"sd of precision and recall, varying {name}; of 4,000 in the paper {printed[name]}"
        yield shown(told, found)


def pr_table_d1() -> Iterator[Line | Setting]:
    """Five texts over and over, and varied poor ones: the demo's systems."""
    from calipers.demo.systems import systems

    human, made = systems(0)
    names = ("near_copies", "markov_chain")
    yield Setting(("the demo's systems",), "MiniLM, by meaning", f"{len(human)} texts", 0)
    found = calipers.compare(
        human, {name: made[name] for name in names}, metrics="precision,recall", floor=False
    )
    told = "near copies, Markov chain"
    yield order(f"recall: {told}", "low for near copies", compared(found, "recall", names))
    told = "Markov chain, near copies"
    row = compared(found, "precision", names[::-1])
    yield order(f"precision: {told}", "low for the varied poor texts", row)
    scores = [Estimate.of(found["markov_chain"][key]) for key in ("precision", "recall")]
    row = independent(scores)
    yield order("precision, recall of the Markov chain", "low precision, high recall", row)
