"""Precision and recall of n-gram continuations: against other scores, N, k, embedders and draws."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

import calipers
from calipers import metrics, text
from calipers.uncertainty.correlation import pearson
from reproduction import continued
from reproduction.continued import DECODINGS
from reproduction.item import Line, rises, trend
from reproduction.runs_decoding import stars, support


@functools.cache
def _columns() -> dict[str, np.ndarray]:
    precision, recall = zip(*(support(name) for name in DECODINGS), strict=True)
    prds = [metrics.prd(continued.reference_rows(), continued.rows(name)) for name in DECODINGS]
    written = [continued.written(name) for name in DECODINGS]
    return {
        "precision": np.array(precision),
        "recall": np.array(recall),
        "mauve_star": np.array(stars(DECODINGS)),
        "prd_f1_8": np.array([each.f1_8.value for each in prds]),
        "prd_f8": np.array([each.f8.value for each in prds]),
        "distinct_4": np.array([text.distinct(each, order=4).value for each in written]),
        "self_bleu": np.array([text.self_bleu(each).value for each in written]),
    }


def pr_figure_7a() -> Iterator[Line]:
    """Correlations over thirteen decodings, as Pearson's r."""
    columns = _columns()
    for first, second, said in (
        ("recall", "distinct_4", "positive"),
        ("recall", "self_bleu", "negative: Self-BLEU is lower for varied texts"),
        ("precision", "mauve_star", "positive"),
    ):
        found = pearson(columns[first], columns[second]).value
        holds = found < 0 if said.startswith("negative") else found > 0
        yield trend(f"{first} and {second}", said, [found], holds, digits=2)
    found = pearson(columns["precision"], columns["distinct_4"]).value
    yield trend("precision and distinct_4", "none", [found], abs(found) < 0.3, digits=2)


def pr_figure_a5() -> Iterator[Line]:
    """F-scores of PRD beside precision and recall, over thirteen decodings."""
    columns = _columns()
    for name in ("prd_f1_8", "prd_f8"):
        either = [pearson(columns[name], columns[side]).value for side in ("precision", "recall")]
        said = "more with precision than with recall"
        yield trend(
            f"{name} with precision, with recall", said, either, either[0] > either[1], digits=2
        )
    both = pearson(columns["prd_f1_8"], columns["prd_f8"]).value
    yield trend("prd_f1_8 with prd_f8", "strong", [both], both > 0.7, digits=2)


def pr_table_b1() -> Iterator[Line]:
    """Precision and recall by three other embeddings, beside MiniLM's by meaning."""
    systems = {name: continued.written(name) for name in DECODINGS}
    found: dict[str, list[np.ndarray]] = {}
    for embedder, key in (("minilm", ""), ("minilm", "form."), ("tfidf", "")):
        compared = calipers.compare(
            continued.human(),
            systems,
            embedder=embedder,
            metrics="precision,recall",
            level=None,
            floor=False,
        )
        label = (
            "MiniLM, form" if key else {"minilm": "MiniLM, meaning", "tfidf": "TF-IDF"}[embedder]
        )
        found[label] = [
            np.array([compared[name][f"{key}{metric}"].value for name in DECODINGS])
            for metric in ("precision", "recall")
        ]
    default = found.pop("MiniLM, meaning")
    for label, values in found.items():
        for metric, mine, other in zip(("precision", "recall"), default, values, strict=True):
            r = pearson(mine, other).value
            yield trend(
                f"{metric}, {label}, above 0", "positive, 0.67 to 0.99", [r], r > 0, digits=2
            )


def pr_figure_6() -> Iterator[Line]:
    """N from 100 to 1,000, twenty random subsets each, k = 4."""
    reference, generated = continued.reference_rows(), continued.rows("top_p=0.9")
    rng = np.random.default_rng(0)
    rows: dict[int, np.ndarray] = {}
    for n in (100, 250, 500, 1000):
        values = []
        for _ in range(20):
            chosen = (rng.choice(1000, n, replace=False) for _ in "pq")
            mine, theirs = (
                side[rows] for side, rows in zip((reference, generated), chosen, strict=True)
            )
            found = metrics.precision_recall(mine, theirs)
            values.append((found.precision.value, found.recall.value))
        rows[n] = np.array(values)
    for place, name in enumerate(("precision", "recall")):
        means = [float(rows[n][:, place].mean()) for n in rows]
        steps = np.abs(np.diff(means))
        yield trend(f"{name}, N = 100, 250, 500, 1,000", "levels off", means, steps[-1] < 0.05)
        spread = [float(rows[n][:, place].std(ddof=1)) for n in (100, 250, 500)]
        yield trend(f"sd of {name}, N = 100, 250, 500", "shrinks", spread, spread[-1] < spread[0])


def pr_figure_b1() -> Iterator[Line]:
    """k from 1 to 30 at N = 1,000."""
    reference, generated = continued.reference_rows(), continued.rows("top_p=0.9")
    precision, recall = [], []
    for k in (1, 2, 4, 8, 16, 30):
        found = metrics.precision_recall(reference, generated, k=k)
        precision.append(found.precision.value)
        recall.append(found.recall.value)
    yield trend(
        "precision, k = 1, 2, 4, 8, 16, 30",
        "rises towards 1",
        precision,
        rises(precision) and precision[-1] > 0.9,
    )
    yield trend(
        "recall, k = 1, 2, 4, 8, 16, 30",
        "rises towards 1",
        recall,
        rises(recall) and recall[-1] > 0.9,
    )


def pr_table_b5() -> Iterator[Line]:
    """Five draws of the reference and of the generated set, 500 each."""
    others = [continued.embed(continued.written("top_p=0.9", seed=seed)[:500]) for seed in range(5)]
    rng = np.random.default_rng(0)
    references = [
        continued.reference_rows()[rng.choice(1000, 500, replace=False)] for _ in range(5)
    ]
    pairs = {
        "Q": [(references[0], q) for q in others],
        "P": [(p, others[0]) for p in references],
        "both": list(zip(references, others, strict=True)),
    }
    printed = {"Q": ("0.005", "0.011"), "P": ("0.024", "0.006"), "both": ("0.019", "0.013")}
    found = {}
    for name, sets in pairs.items():
        scores = [metrics.precision_recall(p, q) for p, q in sets]
        found[name] = [
            float(np.std([each.precision.value for each in scores], ddof=1)),
            float(np.std([each.recall.value for each in scores], ddof=1)),
        ]
        told = f"sd of precision and recall, varying {name}"
        yield trend(told, ", ".join(printed[name]), found[name], max(found[name]) < 0.05)


def pr_table_d1() -> Iterator[Line]:
    """Five texts over and over, and varied poor ones: the demo's systems."""
    from calipers.demo.systems import systems

    human, made = systems(0)
    compared = calipers.compare(
        human,
        {name: made[name] for name in ("near_copies", "markov_chain")},
        metrics="precision,recall",
        level=None,
        floor=False,
    )
    values = {
        name: [compared[name][key].value for key in ("precision", "recall")]
        for name in ("near_copies", "markov_chain")
    }
    yield trend(
        "precision, recall of near copies of five texts",
        "low recall",
        values["near_copies"],
        values["near_copies"][1] < 0.2,
    )
    yield trend(
        "precision, recall of a Markov chain",
        "low precision, high recall",
        values["markov_chain"],
        values["markov_chain"][0] < values["markov_chain"][1],
    )
