"""The experiments on decodings, model sizes, lengths and embeddings, on n-gram continuations."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from calipers import metrics, text
from calipers.uncertainty.correlation import spearman
from reproduction import continued
from reproduction.continued import CELLS, DECODINGS, ORDERS
from reproduction.item import Line, falls, rises, trend

NUCLEUS = (
    "top_p=0.3",
    "top_p=0.6",
    "top_p=0.8",
    "top_p=0.9",
    "top_p=0.95",
    "top_p=0.99",
    "ancestral",
)
LENGTHS = (4, 8, 16, 24)


@functools.cache
def mauve(decoding: str, order: int = 3, view: str = "meaning") -> metrics.Mauve:
    """MAUVE of the continuations by one decoding."""
    rows = continued.rows(decoding, order, view)
    return metrics.mauve(continued.reference_rows(view), rows, buckets=CELLS)


@functools.cache
def support(decoding: str, order: int = 3) -> tuple[float, float]:
    """Precision and recall of the continuations by one decoding, k = 4."""
    rows = continued.rows(decoding, order)
    found = metrics.precision_recall(continued.reference_rows(), rows)
    return found.precision.value, found.recall.value


def stars(names: Sequence[str], order: int = 3, view: str = "meaning") -> list[float]:
    """MAUVE* of several decodings."""
    return [mauve(name, order, view).mauve_star.value for name in names]


def nucleus_and_size() -> Iterator[Line]:
    """MAUVE* of three orders with nucleus sampling, and of four decodings."""
    sizes = [mauve("top_p=0.9", order).mauve_star.value for order in ORDERS]
    yield trend(
        "MAUVE*, nucleus 0.9, orders 1, 2, 3", "larger models are closer", sizes, rises(sizes)
    )
    values = stars(("greedy", "ancestral", "top_p=0.9"))
    yield trend(
        "MAUVE*, order 3: greedy, ancestral, nucleus 0.9",
        "each closer than the one before",
        values,
        rises(values),
    )


def mauve_table_5() -> Iterator[Line]:
    """Both claims of section 7.2, and what perplexity says of the same texts."""
    yield from nucleus_and_size()
    ancestral = stars(("ancestral",), 1) + stars(("ancestral",), 2) + stars(("ancestral",), 3)
    yield trend(
        "MAUVE*, ancestral, orders 1, 2, 3", "larger models are closer", ancestral, rises(ancestral)
    )
    human = continued.perplexity(continued.human())
    names = ("greedy", "ancestral", "top_p=0.9")
    gaps = [abs(continued.perplexity(continued.written(name)) - human) for name in names]
    yield trend(
        "difference of generation perplexity from people's: greedy, ancestral, nucleus",
        "perplexity may rank ancestral first",
        gaps,
        gaps[1] < gaps[2],
        digits=1,
    )
    distinct = [text.distinct(continued.written(name), order=4).value for name in names]
    yield trend(
        "Distinct-4: greedy, ancestral, nucleus",
        "greedy least",
        distinct,
        distinct[0] == min(distinct),
    )


BEAMS = ("greedy", "beam=4", "beam=4,no_repeat_ngram=4", "ancestral", "top_p=0.9")


def mauve_table_6() -> Iterator[Line]:
    """Beam search between greedy decoding and sampling, 400 texts and 40 cells."""
    values = []
    for decoding in BEAMS:
        rows = continued.embed(continued.written(decoding, size=400))
        found = metrics.mauve(continued.reference_rows()[:400], rows, buckets=40)
        values.append(found.mauve_star.value)
    yield trend(
        "MAUVE*: greedy, beam 4, the same without repeats, ancestral, nucleus",
        "0.019, 0.040, 0.438, 0.655, 0.906",
        values,
        None,
    )
    yield Line(
        "beam 4 is below ancestral sampling",
        "yes",
        _yes(values[1] < values[3]),
        values[1] < values[3],
    )
    yield Line("beam 4 is above greedy", "yes", _yes(values[1] > values[0]), values[1] > values[0])
    yield Line(
        "without repeats it is above beam 4",
        "yes",
        _yes(values[2] > values[1]),
        values[2] > values[1],
    )
    yield Line(
        "and below ancestral sampling", "yes", _yes(values[2] < values[3]), values[2] < values[3]
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


TYPICAL = (
    "typical=0.2",
    "typical=0.5",
    "typical=0.7",
    "typical=0.9",
    "typical=0.95",
    "typical=0.99",
)


def mauve_table_7() -> Iterator[Line]:
    """Locally typical sampling over τ, beside the nucleus."""
    values = stars((*TYPICAL, "top_p=0.95"))
    yield trend(
        "MAUVE*: τ = 0.2, 0.5, 0.7, 0.9, 0.95, 0.99; nucleus 0.95",
        "0.862, 0.896, 0.88, 0.939, 0.950, 0.914; 0.952",
        values,
        None,
    )
    best = TYPICAL[int(np.argmax(values[:6]))]
    yield Line(
        "best τ",
        "0.95, or 0.9 within its deviation",
        best.partition("=")[2],
        best in ("typical=0.9", "typical=0.95"),
    )
    yield Line(
        "τ = 0.2 is the worst", "yes", _yes(values[0] == min(values)), values[0] == min(values)
    )


def mauve_figure_8() -> Iterator[Line]:
    """Both sides cut to a number of words."""
    found: dict[str, list[float]] = {"MAUVE*": [], "Fréchet distance": [], "recall": []}
    for words in LENGTHS:
        both = [
            continued.embed([" ".join(each.split()[:words]) for each in texts])
            for texts in (continued.human(), continued.written("top_p=0.9"))
        ]
        found["MAUVE*"].append(metrics.mauve(*both, buckets=CELLS).mauve_star.value)
        found["Fréchet distance"].append(metrics.frechet_distance(*both).value)
        found["recall"].append(metrics.precision_recall(*both).recall.value)
    told = ", ".join(map(str, LENGTHS))
    yield trend(
        f"MAUVE*, {told} words", "falls with length", found["MAUVE*"], falls(found["MAUVE*"])
    )
    distances = found["Fréchet distance"]
    yield trend("Fréchet distance", "does not rise throughout", distances, not rises(distances))
    yield trend("recall", "", found["recall"], None)


def mauve_table_8() -> Iterator[Line]:
    """Empty cells and smoothing over thirteen decodings."""
    from calipers.estimate import preprocess, quantise

    empty = []
    for name in DECODINGS:
        pair = preprocess(continued.reference_rows(), continued.rows(name))
        best = quantise(pair.reference, pair.generated, buckets=CELLS).best
        empty.append(float(np.mean(np.r_[best.reference, best.generated] == 0)))
    plain = [mauve(name).mauve.value for name in DECODINGS]
    starred = stars(DECODINGS)
    held = dict(zip(DECODINGS, empty, strict=True))
    told = [held["greedy"], held["ancestral"], held["top_p=0.9"]]
    yield trend(
        "share of empty cells: greedy, ancestral, nucleus 0.9",
        "greedy most",
        told,
        told[0] == max(told),
    )
    same = spearman(np.array(plain), np.array(starred)).value
    yield trend(
        "Spearman of MAUVE without and with smoothing", "1.00", [same], same > 0.97, digits=2
    )
    above = all(s >= p for s, p in zip(starred, plain, strict=True))
    yield Line("smoothing raises every value", "yes", _yes(above), above)


def mauve_table_9() -> Iterator[Line]:
    """Rank correlations of the summaries with MAUVE*, over thirteen decodings."""
    columns: dict[str, list[float]] = {
        name: []
        for name in (
            "FI, KL",
            "Mid, KL",
            "MAUVE, χ²",
            "Mid, χ²",
            "total variation",
            "squared Hellinger",
        )
    }
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
    for label, values in columns.items():
        paper = "0.99" if label == "FI, KL" else "1.0"
        found = spearman(np.array(stars(DECODINGS)), np.array(values)).value
        yield trend(f"MAUVE* and {label}, above 0.95", paper, [found], found > 0.95, digits=2)


def mauve_table_10() -> Iterator[Line]:
    """Optimal transport: plug-in, Fréchet, quantised, and its frontier, over thirteen decodings."""
    reference = continued.reference_rows()
    columns: dict[str, list[float]] = {
        name: []
        for name in (
            "transport, plug-in",
            "Fréchet",
            "transport, quantised",
            "MAUVE of transport, linear",
            "MAUVE of transport, barycentric",
        )
    }
    for name in DECODINGS:
        rows = continued.rows(name)
        columns["transport, plug-in"].append(-metrics.optimal_transport(reference, rows).value)
        columns["Fréchet"].append(-metrics.frechet_distance(reference, rows).value)
        quantised = metrics.quantised_transport(reference, rows, buckets=CELLS)
        columns["transport, quantised"].append(-quantised.value)
        areas = metrics.mauve_ot(reference, rows, buckets=CELLS, restarts=1)
        columns["MAUVE of transport, linear"].append(areas.mauve_ot.value)
        columns["MAUVE of transport, barycentric"].append(areas.mauve_ot_barycentric.value)
    papers = ("0.954", "0.997", "0.980", "0.983", "0.980")
    for (label, values), paper in zip(columns.items(), papers, strict=True):
        found = spearman(np.array(stars(DECODINGS)), np.array(values)).value
        yield trend(f"MAUVE* and {label}, above 0.7", paper, [found], found > 0.7)


def mauve_figure_9() -> Iterator[Line]:
    """Rank correlation with the default, over thirteen decodings, by the number of cells."""
    default = np.array(stars(DECODINGS))
    found = []
    for cells in (10, 30, 100, 300):
        values = [
            metrics.mauve(
                continued.reference_rows(), continued.rows(name), buckets=cells, restarts=1
            ).mauve_star.value
            for name in DECODINGS
        ]
        found.append(spearman(default, np.array(values)).value)
    yield trend(
        "k = 10, 30, 100, 300 cells, all above 0.8", "high for every k", found, min(found) > 0.8
    )


def mauve_figure_13() -> Iterator[Line]:
    """Two views of MiniLM, meaning and form, over thirteen decodings."""
    meaning, form = stars(DECODINGS), stars(DECODINGS, 3, "form")
    found = spearman(np.array(meaning), np.array(form)).value
    yield trend(
        "Spearman of MAUVE* by two embeddings, above 0.8", "0.971 and 0.962", [found], found > 0.8
    )
    for label, values in (("meaning", meaning), ("form", form)):
        held = dict(zip(DECODINGS, values, strict=True))
        three = [held["greedy"], held["ancestral"], held["top_p=0.9"]]
        yield trend(
            f"{label}: greedy, ancestral, nucleus 0.9", "the same order", three, rises(three)
        )


STRINGS = ("greedy", "top_p=0.3", "top_p=0.6", "top_p=0.9", "ancestral", "temperature=1.5")


def mauve_table_11() -> Iterator[Line]:
    """Bags of words and string kernels in place of the embedding, over six decodings."""
    default = np.array(stars(STRINGS))
    words, ngrams, sequences = [], [], []
    for name in STRINGS:
        written = continued.written(name)
        compared = calipers.compare(
            continued.human(),
            written,
            embedder="tfidf",
            metrics="mauve_star",
            level=None,
            floor=False,
        )
        words.append(compared.systems[0]["mauve_star"].value)
        few = continued.human()[:400], written[:400]
        ngrams.append(text.string_scores(*reversed(few), kernel="ngram").mauve.value)
        sequences.append(text.string_scores(*reversed(few), kernel="subsequence").mauve.value)
    told = {
        "bag of words (TF-IDF for GloVe)": (words, "0.993"),
        "N-gram kernel": (ngrams, "0.727"),
        "subsequence kernel": (sequences, "0.783"),
    }
    alike = [spearman(default, np.array(values)).value for values, _ in told.values()]
    said = "words at least as much as strings"
    yield trend("which goes with the default", said, alike, alike[0] >= max(alike[1:]))
    for label, (values, paper) in told.items():
        found = spearman(default, np.array(values)).value
        yield trend(f"MAUVE* and {label}", paper, [found], None)
        yield trend(f"{label}: greedy, p = 0.3, 0.6, 0.9, 1, T = 1.5", "", values, None)


def mauve_figure_16() -> Iterator[Line]:
    """The words of every continuation in another order."""
    rng = np.random.default_rng(0)
    written = continued.written("top_p=0.9")
    shuffled = [" ".join(rng.permutation(each.split()).tolist()) for each in written]
    found = {}
    for embedder in ("minilm", "tfidf"):
        compared = calipers.compare(
            continued.human(),
            {"as they are": written, "permuted": shuffled},
            embedder=embedder,
            metrics="mauve_star",
            level=None,
            floor=False,
        )
        found[embedder] = [
            compared[name]["mauve_star"].value for name in ("as they are", "permuted")
        ]
        if embedder == "minilm":
            found["form"] = [
                compared[name]["form.mauve_star"].value for name in ("as they are", "permuted")
            ]
    yield trend(
        "MiniLM, meaning, as they are and permuted",
        "falls",
        found["minilm"],
        found["minilm"][1] < found["minilm"][0],
    )
    yield trend("MiniLM, form", "falls", found["form"], found["form"][1] < found["form"][0])
    same = abs(found["tfidf"][0] - found["tfidf"][1]) < 1e-9
    yield trend("TF-IDF, a bag of words", "does not change", found["tfidf"], same)


def mauve_figure_17() -> Iterator[Line]:
    """Precision and recall over model size, and over the nucleus parameter."""
    precision, recall = zip(*(support("ancestral", order) for order in ORDERS), strict=True)
    yield trend("recall, ancestral, orders 1, 2, 3", "rises with the size", recall, rises(recall))
    yield trend(
        "precision, ancestral, orders 1, 2, 3", "falls with the size", precision, falls(precision)
    )
    names = ("top_p=0.9", "top_p=0.95", "top_p=0.99", "ancestral")
    precision, recall = zip(*(support(name) for name in names), strict=True)
    yield trend("precision, p = 0.9, 0.95, 0.99, 1", "rises with p", precision, rises(precision))
    yield trend("recall, p = 0.9, 0.95, 0.99, 1", "falls with p", recall, falls(recall))


def mauve_figure_23() -> Iterator[Line]:
    """MAUVE* over p and over K."""
    values = stars(NUCLEUS)
    best = NUCLEUS[int(np.argmax(values))]
    yield trend(
        "MAUVE*, p = 0.3, 0.6, 0.8, 0.9, 0.95, 0.99, 1",
        "best at p = 0.95, below for 1",
        values,
        best not in ("ancestral", "top_p=0.3"),
    )
    yield Line("best p", "0.95", best.partition("=")[2])
    values = stars(("top_k=10", "top_k=100", "top_k=1000", "ancestral"))
    yield trend(
        "MAUVE*, K = 10, 100, 1,000 and all",
        "best for K from 100 to 1,000",
        values,
        max(values) in values[1:3],
    )


def mauve_table_15() -> Iterator[Line]:
    """Scores of people's continuations under the distribution of three decodings."""
    found: dict[str, list[float]] = {
        "sparsemax_score": [],
        "decoder_divergence": [],
        "epsilon_perplexity": [],
    }
    for decoding in ("greedy", "ancestral", "top_p=0.9"):
        measured = calipers.likelihood(
            continued.human(),
            model=continued.model(),
            decoding=decoding,
            metrics=",".join(found),
            level=None,
        )
        for key, values in found.items():
            values.append(measured.systems[0].scores[key].value)
    sparsemax, divergence, surprise = found.values()
    told = "greedy, ancestral, nucleus 0.9"
    near = abs(sparsemax[1] - sparsemax[2]) < 0.01 * sparsemax[1]
    yield trend(f"sparsemax score: {told}", "cannot distinguish the last two", sparsemax, near)
    yield trend(
        f"Jensen-Shannon: {told}", "best for greedy", divergence, divergence[0] == min(divergence)
    )
    yield trend(
        f"ε-perplexity: {told}",
        "best for ancestral",
        surprise,
        surprise[1] == min(surprise),
        digits=1,
    )


def mauve_figure_10() -> Iterator[Line]:
    """MAUVE from the probabilities of two models, the largest one standing for people."""
    found: dict[tuple[str, int], float] = {}
    for decoding, order in (
        ("top_p=0.9", 1),
        ("top_p=0.9", 2),
        ("top_p=0.95", 2),
        ("top_p=0.99", 2),
        ("ancestral", 2),
    ):
        measured = calipers.likelihood(
            continued.written(decoding, order),
            reference=continued.human(),
            model=continued.model(3),
            generator=continued.model(order),
            decoding=decoding,
            metrics="mauve",
            level=None,
        )
        (score,) = measured.systems[0].scores.values()
        found[decoding, order] = score.value
    sizes = [found["top_p=0.9", order] for order in (1, 2)]
    yield trend("nucleus 0.9, orders 1, 2", "rises with the size", sizes, rises(sizes))
    by_p = [found[name, 2] for name in ("top_p=0.9", "top_p=0.95", "top_p=0.99", "ancestral")]
    said = "wrongly best for ancestral sampling, p = 1"
    yield trend("order 2, p = 0.9, 0.95, 0.99, 1", said, by_p, by_p[-1] == max(by_p))
