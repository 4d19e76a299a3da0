"""The experiments on decodings, model sizes, lengths and embeddings, on n-gram continuations."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import calipers
from calipers import metrics, text
from calipers.catalogue.settings import Settings
from calipers.estimate import preprocess, quantise
from calipers.language_model.model import Passage
from calipers.language_model.ngram import fit_ngram
from calipers.results import Comparison
from calipers.text.string_metrics import Kernel
from calipers.uncertainty.correlation import spearman
from reproduction import continued
from reproduction.continued import DECODINGS, FEW, FEW_CELLS, NGRAMS, ORDERS
from reproduction.item import Line, Setting
from reproduction.over_length import over_length
from reproduction.verdicts import (
    Estimate,
    Row,
    alike,
    below,
    best,
    compared,
    correlated,
    fact,
    falls,
    independent,
    jackknife,
    order,
    rises,
    shown,
)

NUCLEUS = (
    "top_p=0.3",
    "top_p=0.6",
    "top_p=0.8",
    "top_p=0.9",
    "top_p=0.95",
    "top_p=0.99",
    "ancestral",
)
THREE = ("greedy", "ancestral", "top_p=0.9")
TYPICAL = ("typical=0.2", "typical=0.5", "typical=0.9", "typical=0.95")
WRITTEN = (
    *((decoding, 3) for decoding in (*DECODINGS, *TYPICAL, "top_k=1000")),
    *((decoding, size) for size in (1, 2) for decoding in ("ancestral", "top_p=0.9")),
)
"""Every decoding and order that is compared."""
VIEWS = ("meaning", "form")
MEASURED = "mauve,mauve_star,precision,recall,frechet_distance"
COMPARED = "intervals and differences: calipers compare, 95 %, prompts paired"
SETTING = Setting((NGRAMS,), "MiniLM, by meaning", f"{FEW} a side, {FEW_CELLS} cells", 0, COMPARED)


def named(decoding: str, size: int = 3) -> str:
    """What a system is called in the comparison."""
    return f"{decoding}, order {size}"


@functools.cache
def comparison(view: str = "meaning") -> Comparison:
    """All decodings beside people's continuations, with intervals and all tests between them."""
    return calipers.compare(
        continued.reference_rows(view, FEW),
        {named(*each): continued.rows(*each, view, FEW) for each in WRITTEN},
        metrics=MEASURED,
        buckets=FEW_CELLS,
        paired=True,
        floor=False,
        threads=1,
    )


def row(score: str, decodings: Sequence[str], view: str = "meaning") -> Row:
    """Several decodings of the model of order 3 by one score."""
    return compared(comparison(view), score, [named(each) for each in decodings])


def sizes(score: str, decoding: str) -> Row:
    """The three orders by one score."""
    return compared(comparison(), score, [named(decoding, size) for size in ORDERS])


def values(score: str, decodings: Sequence[str] = DECODINGS, view: str = "meaning") -> np.ndarray:
    """The values of a score alone."""
    found = comparison(view)
    return np.array([found[named(each)][score].value for each in decodings])


@functools.cache
def mauve(decoding: str) -> metrics.Mauve:
    """MAUVE with its curves."""
    rows = continued.rows(decoding, size=FEW)
    return metrics.mauve(continued.reference_rows(size=FEW), rows, buckets=FEW_CELLS, threads=1)


def nucleus_and_size() -> Iterator[Line | Setting]:
    """MAUVE* of three orders with nucleus sampling, and of three decodings."""
    yield SETTING
    yield order(
        "MAUVE*, nucleus 0.9, orders 1, 2, 3",
        "larger models are closer",
        sizes("mauve_star", "top_p=0.9"),
    )
    yield order(
        "MAUVE*, order 3: greedy, ancestral, nucleus 0.9",
        "each closer than the one before",
        row("mauve_star", THREE),
    )


@functools.cache
def scorer() -> object:
    """A model that read other texts than the one that wrote: perplexity is not of its own."""
    parts, asked = continued.parts(), set(continued.prompts())
    others = [each for each in parts["reference"] if each not in asked]
    return fit_ngram([*parts["validation"], *others], order=3)


def _likelihoods(texts: list[str]) -> np.ndarray:
    """Negative log-likelihood and number of tokens of every text, shape (texts, 2)."""
    found = []
    for each in texts:
        if not each:
            found.append((0.0, 0))
            continue
        scores = scorer().score([Passage(each)], first="bos")  # type: ignore[attr-defined]
        found.append((-float(scores.log_probability.sum()), len(scores.log_probability)))
    return np.array(found)


def mauve_table_5() -> Iterator[Line | Setting]:
    """Both claims of section 7.2, and what perplexity and Distinct-4 say of the same texts."""
    yield from nucleus_and_size()
    yield order(
        "MAUVE*, ancestral, orders 1, 2, 3",
        "larger models are closer",
        sizes("mauve_star", "ancestral"),
    )
    told = [_likelihoods(continued.written(name, size=FEW)) for name in THREE]
    human = _likelihoods(continued.human()[:FEW])

    def gaps(kept: np.ndarray) -> list[float]:
        """Differences of generation perplexity from people's."""
        all_of = [np.exp(np.divide(*each[kept].sum(axis=0))) for each in (human, *told)]
        return [abs(float(each - all_of[0])) for each in all_of[1:]]

    gap = jackknife(gaps, FEW)
    yield order(
        "difference of perplexity from people's, read by a model of other texts: greedy, ancestral",
        "11.324, 19.284 for GPT-2 xl: greedy is nearer",
        Row(gap.estimates[:2], {(0, 1): gap.gaps[0, 1]}),
        digits=1,
    )
    yield shown("the same of nucleus 0.9", gap.estimates[2], digits=1)

    def distinct(kept: np.ndarray) -> list[float]:
        texts = ([continued.written(name, size=FEW)[i] for i in kept] for name in THREE)
        return [text.distinct(each, order=4).value for each in texts]

    yield below(
        "Distinct-4: greedy, and ancestral, nucleus 0.9",
        "greedy least",
        jackknife(distinct, FEW, blocks=10),
    )


BEAMS = ("greedy", "beam=4", "beam=4,no_repeat_ngram=4", "ancestral", "top_p=0.9")
BEAM_TEXTS = 200


def mauve_table_6() -> Iterator[Line | Setting]:
    """Beam search between greedy decoding and sampling."""
    yield Setting((NGRAMS,), "MiniLM, by meaning", f"{BEAM_TEXTS} a side, 20 cells", 0, COMPARED)
    found = calipers.compare(
        continued.reference_rows(size=BEAM_TEXTS),
        {name: continued.embed(continued.written(name, size=BEAM_TEXTS)) for name in BEAMS},
        metrics="mauve_star",
        buckets=20,
        paired=True,
        floor=False,
        threads=1,
    )
    yield order(
        "MAUVE*: greedy, beam 4, the same without repeats, ancestral, nucleus",
        "0.019, 0.040, 0.438, 0.655, 0.906",
        compared(found, "mauve_star", BEAMS),
    )
    for low, high in (
        ("greedy", "beam=4"),
        ("beam=4", "beam=4,no_repeat_ngram=4"),
        ("beam=4,no_repeat_ngram=4", "ancestral"),
        ("beam=4", "ancestral"),
    ):
        yield order(f"{low} below {high}", "yes", compared(found, "mauve_star", (low, high)))


def mauve_table_7() -> Iterator[Line | Setting]:
    """Locally typical sampling over τ, beside the nucleus."""
    yield SETTING
    found = row("mauve_star", TYPICAL)
    yield best("MAUVE*: τ = 0.2, 0.5, 0.9, 0.95", "best at 0.95", found, 3)
    yield below("τ = 0.2, and the others", "worst at 0.2", found)
    yield alike(
        "nucleus 0.95 and τ = 0.95",
        "0.952 and 0.950: comparable",
        row("mauve_star", ("top_p=0.95", "typical=0.95")),
        margin=0.02,
    )


LENGTHS = (4, 8, 16, 24)


def mauve_figure_8() -> Iterator[Line | Setting]:
    """Both sides cut to a number of words, as `calipers sweep --over length` does."""
    yield SETTING
    found = lengths()
    told = ", ".join(map(str, LENGTHS))
    yield falls(f"MAUVE*, {told} words", "falls with length", found["mauve_star"])
    yield falls("Fréchet distance", "falls with length: a fault", found["frechet_distance"])


@functools.cache
def lengths() -> dict[str, Row]:
    """Scores at every length, and their differences over the same prompts."""
    texts = continued.human()[:FEW], continued.written("top_p=0.9", size=FEW)
    sides = []
    for words in LENGTHS:
        cut = [[" ".join(text.split()[:words]) for text in side] for side in texts]
        sides.append((continued.embed(cut[0]), continued.embed(cut[1])))
    return over_length(sides, Settings(buckets=FEW_CELLS, restarts=1, threads=1))


def mauve_table_8() -> Iterator[Line | Setting]:
    """Empty cells and smoothing over thirteen decodings."""
    yield SETTING

    def empty(kept: np.ndarray) -> list[float]:
        shares = []
        for name in THREE:
            reference = continued.reference_rows(size=FEW)[kept]
            pair = preprocess(reference, continued.rows(name, size=FEW)[kept], threads=1)
            cells = quantise(
                pair.reference, pair.generated, buckets=FEW_CELLS, restarts=1, threads=1
            ).best
            shares.append(float(np.mean(np.r_[cells.reference, cells.generated] == 0)))
        return shares

    told = jackknife(empty, FEW, blocks=10)
    yield best("share of empty cells: greedy, ancestral, nucleus 0.9", "greedy most", told, 0)
    plain, starred = values("mauve"), values("mauve_star")
    yield correlated("Spearman of MAUVE without and with smoothing", "1.00", plain, starred)
    above = bool((starred >= plain).all())
    yield fact("smoothing raises every value", "yes", "yes" if above else "no", above)


SUMMARIES = ("FI, KL", "Mid, KL", "MAUVE, χ²", "Mid, χ²", "total variation", "squared Hellinger")


def mauve_table_9() -> Iterator[Line | Setting]:
    """Rank correlations of the summaries with MAUVE*, over thirteen decodings."""
    yield SETTING
    columns: dict[str, list[float]] = {name: [] for name in SUMMARIES}
    for name in DECODINGS:
        frontier = mauve(name).frontier_star
        squares = calipers.divergence_frontier(frontier.ratios, divergence="chi2")
        columns["FI, KL"].append(-frontier.integral())
        columns["Mid, KL"].append(-frontier.midpoint())
        columns["MAUVE, χ²"].append(squares.area(c=5))
        columns["Mid, χ²"].append(-squares.midpoint())
        for label, divergence in (
            ("total variation", "total_variation"),
            ("squared Hellinger", "squared_hellinger"),
        ):
            columns[label].append(-calipers.f_divergence(frontier.ratios, divergence))
    star = [mauve(name).mauve_star.value for name in DECODINGS]
    for label, column in columns.items():
        paper = "0.99" if label == "FI, KL" else "1.0"
        yield correlated(f"MAUVE* and {label}", paper, star, column)


def mauve_table_10() -> Iterator[Line | Setting]:
    """Optimal transport: plug-in, Fréchet, quantised, and its frontier, over thirteen decodings."""
    yield SETTING
    reference = continued.reference_rows(size=FEW)
    found = []
    for name in DECODINGS:
        rows = continued.rows(name, size=FEW)
        areas = metrics.mauve_ot(reference, rows, buckets=FEW_CELLS, restarts=1)
        found.append(
            (
                -metrics.optimal_transport(reference, rows).value,
                -metrics.frechet_distance(reference, rows).value,
                -metrics.quantised_transport(reference, rows, buckets=FEW_CELLS).value,
                areas.mauve_ot.value,
                areas.mauve_ot_barycentric.value,
            )
        )
    labels = (
        "transport, plug-in",
        "Fréchet",
        "transport, quantised",
        "MAUVE of transport, linear",
        "MAUVE of transport, barycentric",
    )
    papers = ("0.954", "0.997", "0.980", "0.983", "0.980")
    for label, column, paper in zip(labels, np.transpose(found), papers, strict=True):
        yield correlated(f"MAUVE* and {label}", paper, values("mauve_star"), column)


CELLS_TRIED = (10, 25, 50, 125)


def mauve_figure_9() -> Iterator[Line | Setting]:
    """Rank correlation with the default, over thirteen decodings, by the number of cells."""
    yield SETTING
    swept = calipers.sweep(
        continued.reference_rows(size=FEW),
        {name: continued.rows(name, size=FEW) for name in DECODINGS},
        over="buckets",
        values=CELLS_TRIED,
        seeds=1,
        seed=1,
        metrics="mauve_star",
        threads=1,
    )
    curves = np.array([swept[name]["mauve_star"].mean for name in DECODINGS])
    for cells, column in zip(CELLS_TRIED, curves.T, strict=True):
        told = f"k = {cells} cells, other starts of k-means"
        yield correlated(told, "positive: high for every k", values("mauve_star"), column)


def mauve_figure_13() -> Iterator[Line | Setting]:
    """Two views of MiniLM, meaning and form, over thirteen decodings."""
    yield SETTING
    form = values("mauve_star", view="form")
    yield correlated(
        "Spearman of MAUVE* by meaning and by form",
        "0.971 by RoBERTa, 0.962 by Grover",
        values("mauve_star"),
        form,
    )
    for view in VIEWS:
        told = row("mauve_star", THREE, view)
        yield order(f"{view}: greedy, ancestral, nucleus 0.9", "the same order", told)


STRINGS = (
    ("bag of words (TF-IDF for GloVe)", "0.993"),
    ("N-gram kernel", "0.727"),
    ("subsequence kernel", "0.783"),
)
STRING_TEXTS = 150
KERNELS: tuple[Kernel, ...] = ("ngram", "subsequence")


def by_words(**options: Any) -> Comparison:
    """All decodings beside people's continuations, by TF-IDF of their words."""
    written = {name: continued.written(name, size=FEW) for name in DECODINGS}
    human = continued.human()[:FEW]
    return calipers.compare(human, written, embedder="tfidf", level=None, floor=False, **options)


def mauve_table_11() -> Iterator[Line | Setting]:
    """Bags of words and string kernels in place of the embedding, over thirteen decodings."""
    yield SETTING
    found = by_words(metrics="mauve_star", buckets=FEW_CELLS)
    human = continued.human()[:STRING_TEXTS]
    strings = {name: continued.written(name, size=FEW)[:STRING_TEXTS] for name in DECODINGS}
    columns = [
        [found[name]["mauve_star"].value for name in DECODINGS],
        *(
            [
                text.string_scores(each, human, kernel=kernel).mauve.value
                for each in strings.values()
            ]
            for kernel in KERNELS
        ),
    ]
    star = values("mauve_star")
    for (label, paper), column in zip(STRINGS, columns, strict=True):
        yield correlated(f"MAUVE* and {label}", paper, star, column)

    def ranks(kept: np.ndarray) -> list[float]:
        """Rank correlations over the decodings that are kept."""
        return [spearman(star[kept], np.array(column)[kept]).value for column in columns]

    told = jackknife(ranks, len(DECODINGS), blocks=len(DECODINGS))
    for place, (label, _) in list(enumerate(STRINGS))[1:]:
        gap = told.gaps[0, place].negative()
        pair = Row((told.estimates[place], told.estimates[0]), {(0, 1): gap})
        yield order(f"{label}, and words", "words go with the default more", pair)


def mauve_figure_16() -> Iterator[Line | Setting]:
    """The words of every continuation in another order."""
    yield SETTING
    rng = np.random.default_rng(0)
    written = continued.written("top_p=0.9", size=FEW)
    shuffled = [" ".join(rng.permutation(each.split()).tolist()) for each in written]
    names = ("permuted", "as they are")
    for view in VIEWS:
        found = calipers.compare(
            continued.reference_rows(view, FEW),
            {
                "permuted": continued.embed(shuffled, view),
                "as they are": continued.rows("top_p=0.9", 3, view, FEW),
            },
            metrics="mauve_star",
            buckets=FEW_CELLS,
            paired=True,
            floor=False,
            threads=1,
        )
        row = compared(found, "mauve_star", names)
        yield order(f"MiniLM by {view}: permuted, as they are", "falls when permuted", row)
    found = calipers.compare(
        continued.human()[:FEW],
        dict(zip(names, (shuffled, written), strict=True)),
        embedder="tfidf",
        metrics="mauve_star",
        level=None,
        floor=False,
    )
    first, second = (found[name]["mauve_star"].value for name in names)
    told = f"{first:.3f}, {second:.3f}"
    yield fact("TF-IDF, a bag of words", "does not change", told, abs(first - second) < 1e-9)


def mauve_figure_17() -> Iterator[Line | Setting]:
    """Precision and recall over model size, and over the nucleus parameter."""
    yield SETTING
    yield rises(
        "recall, ancestral, orders 1, 2, 3", "rises with the size", sizes("recall", "ancestral")
    )
    yield falls(
        "precision, ancestral, orders 1, 2, 3",
        "falls with the size",
        sizes("precision", "ancestral"),
    )
    names = ("top_p=0.9", "top_p=0.95", "top_p=0.99", "ancestral")
    yield rises("precision, p = 0.9, 0.95, 0.99, 1", "rises with p", row("precision", names))
    yield falls("recall, p = 0.9, 0.95, 0.99, 1", "falls with p", row("recall", names))
    found, told = lengths(), ", ".join(map(str, LENGTHS))
    yield rises(f"precision, {told} words", "rises with length", found["precision"])
    yield falls(f"recall, {told} words", "falls with length", found["recall"])


def mauve_figure_23() -> Iterator[Line | Setting]:
    """MAUVE* over p and over K."""
    yield SETTING
    yield best(
        "MAUVE*, p = 0.3, 0.6, 0.8, 0.9, 0.95, 0.99, 1",
        "best at p = 0.95",
        row("mauve_star", NUCLEUS),
        NUCLEUS.index("top_p=0.95"),
    )
    yield order(
        "MAUVE*, p = 1, 0.95", "below for 1", row("mauve_star", ("ancestral", "top_p=0.95"))
    )
    yield order(
        "MAUVE*, K = 10, 100", "better with 100", row("mauve_star", ("top_k=10", "top_k=100"))
    )
    yield order(
        "MAUVE*, all tokens, K = 1,000",
        "better with 1,000",
        row("mauve_star", ("ancestral", "top_k=1000")),
    )


def mauve_table_15() -> Iterator[Line | Setting]:
    """Scores of people's continuations under the distribution of three decodings."""
    yield Setting((NGRAMS,), "", f"{FEW} texts", 0, "differences text by text")
    keys = ("sparsemax_score", "decoder_divergence", "epsilon_perplexity")
    found: dict[str, list[Estimate]] = {key: [] for key in keys}
    for decoding in THREE:
        measured = calipers.likelihood(
            continued.human()[:FEW],
            model=continued.model(),
            decoding=decoding,
            metrics=",".join(found),
        )
        for key, column in found.items():
            column.append(Estimate.of(measured.systems[0].scores[key]))
    sparsemax, divergence, surprise = (independent(column) for column in found.values())
    told = "greedy, ancestral, nucleus 0.9"
    yield shown(f"sparsemax score: {told}", sparsemax)
    last = independent(found["sparsemax_score"][1:])
    said = "cannot distinguish the last two"
    yield alike(f"sparsemax score: {told[8:]}", said, last, margin=0.01)
    yield best(f"Jensen-Shannon: {told}", "best for greedy", divergence, 0, higher=False)
    yield best(f"ε-perplexity: {told}", "best for ancestral", surprise, 1, higher=False, digits=1)


def mauve_figure_10() -> Iterator[Line | Setting]:
    """MAUVE from the probabilities of two models, the largest one standing for people."""
    yield Setting((NGRAMS,), "", f"{FEW} a side", 0, "differences as of independent sets")
    found: dict[tuple[str, int], Estimate] = {}
    for decoding, size in (
        ("top_p=0.9", 1),
        ("top_p=0.9", 2),
        ("top_p=0.95", 2),
        ("top_p=0.99", 2),
        ("ancestral", 2),
    ):
        measured = calipers.likelihood(
            continued.written(decoding, size, size=FEW),
            reference=continued.human()[:FEW],
            model=continued.model(3),
            generator=continued.model(size),
            decoding=decoding,
            first_token="skip",  # it follows the prompt, which these models are not shown
            metrics="mauve",
        )
        (score,) = measured.systems[0].scores.values()
        found[decoding, size] = Estimate.of(score)
    by_size = independent([found["top_p=0.9", size] for size in (1, 2)])
    yield rises("nucleus 0.9, orders 1, 2", "rises with the size", by_size)
    names = ("top_p=0.9", "top_p=0.95", "top_p=0.99", "ancestral")
    by_p = independent([found[name, 2] for name in names])
    said = "wrongly best for ancestral sampling, p = 1"
    yield best("order 2, p = 0.9, 0.95, 0.99, 1", said, by_p, 3)
