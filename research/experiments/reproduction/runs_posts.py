"""The equations of the two posts, by hand and by Calipers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import calipers
from calipers import metrics, text
from calipers.estimate import Histograms, preprocess, quantise
from calipers.language_model.model import Passage
from calipers.language_model.ngram import NGramModel, fit_ngram
from calipers.metrics.bert_score import idf as idf_of
from reproduction.item import Line, numbers
from reproduction.verdicts import close, equal, fact, shown

FITTED = ("the cat sat on the mat", "a dog sat on a log", "rain falls on the town", "the cat ran")
MEASURED = ("the cat sat on a log", "rain falls on the mat")

CANDIDATES = ("the the the cat", "a cat sat on the mat today")
REFERENCES = (
    ("the cat is on the mat", "there is a cat on the mat"),
    ("the cat sat on the mat", "a cat was sitting on the mat today"),
)
Words = tuple[str, ...]


def perplexity() -> Iterator[Line]:
    """The exponential of the mean over tokens, from the token scores of a fitted model."""
    model = fit_ngram(FITTED, order=2)
    for passage in MEASURED:
        found = calipers.likelihood(
            [passage], model=model, metrics="perplexity", first_token="skip", level=None
        )
        by_hand = math.exp(-_mean(model, [passage]))
        yield equal(f"PPL of “{passage}”", by_hand, found.systems[0].scores["perplexity"].value)


def cross_entropy() -> Iterator[Line]:
    """The same from how often the data have each probability: -Σ p log q over distinct tokens."""
    model = fit_ngram(FITTED, order=2)
    scores = model.score([Passage(each) for each in MEASURED], first="skip").log_probability
    often = Counter(scores.round(12).tolist())
    entropy = -sum(count / len(scores) * value for value, count in often.items())
    found = calipers.likelihood(
        list(MEASURED), model=model, metrics="perplexity", first_token="skip", level=None
    )
    value = found.systems[0].scores["perplexity"].value
    yield equal("exp of the cross-entropy of both texts", math.exp(entropy), value)


def _mean(model: NGramModel, texts: list[str]) -> float:
    scores = model.score([Passage(each) for each in texts], first="skip").log_probability
    return sum(scores.tolist()) / len(scores)


def bleu_precision() -> Iterator[Line]:
    """Clipped counts over counts; a long reference keeps the brevity penalty at 1."""
    found = text.bleu(
        ["the the the the the the the"],
        ["the cat is on the mat"],
        order=1,
        tokenizer="none",
        smoothing="none",
    )
    yield equal("“the” seven times against “the cat is on the mat”", 2 / 7, found.value / 100)
    for order in (1, 2):
        value = float(_precision(CANDIDATES, REFERENCES, order))
        ours = text.bleu(
            list(CANDIDATES), _listed(), order=order, tokenizer="none", smoothing="none"
        )
        others = math.prod(float(_precision(CANDIDATES, REFERENCES, n)) for n in range(1, order))
        found = (ours.value / 100 / _brevity()) ** order / others
        fraction = _precision(CANDIDATES, REFERENCES, order)
        yield equal(f"p{order} of two texts with two references each, {fraction}", value, found)


def bleu_brevity() -> Iterator[Line]:
    """Corpora of 1 to 8 words against references of 4 and 6: what BLEU-1 of exact copies loses."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    references = [[" ".join(words[:4]), " ".join(words[:6])]]
    for length in (2, 3, 4, 5, 6):
        closest = 4 if abs(4 - length) <= abs(6 - length) else 6
        by_hand = 1.0 if length > closest else math.exp(1 - closest / length)
        found = text.bleu(
            [" ".join(words[:length])], references, order=1, tokenizer="none", smoothing="none"
        )
        yield equal(f"c = {length}, r = {closest}", by_hand, found.value / 100)


def bleu() -> Iterator[Line]:
    """All of it together, for orders 1 to 4."""
    candidates = ["the cat sat on the mat today", "rain falls on a small town"]
    references = (
        ("the cat sat on the mat", "a cat sat on the mat this day"),
        ("rain falls on the small town", "rain falls on a town"),
    )
    precisions = [_precision(candidates, references, order) for order in (1, 2, 3, 4)]
    c, r = _lengths(candidates, references)
    brevity = 1.0 if c > r else math.exp(1 - r / c)
    by_hand = brevity * math.exp(sum(0.25 * math.log(p) for p in precisions))
    found = text.bleu(
        candidates, [list(each) for each in references], tokenizer="none", smoothing="none"
    )
    told = ", ".join(map(str, precisions))
    yield equal(f"p1 to p4 = {told}; c = {c}, r = {r}", by_hand, found.value / 100)


def _listed() -> list[list[str]]:
    return [list(each) for each in REFERENCES]


def _brevity() -> float:
    c, r = _lengths(CANDIDATES, REFERENCES)
    return 1.0 if c > r else math.exp(1 - r / c)


def _ngrams(sentence: str, order: int) -> Counter[Words]:
    words = sentence.split()
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _precision(candidates: object, references: object, order: int) -> Fraction:
    matches = total = 0
    for candidate, several in zip(candidates, references, strict=True):  # type: ignore[call-overload]
        counts = _ngrams(candidate, order)
        total += sum(counts.values())
        for phrase, count in counts.items():
            matches += min(count, max(_ngrams(each, order)[phrase] for each in several))
    return Fraction(matches, total)


def _lengths(candidates: object, references: object) -> tuple[int, int]:
    c = r = 0
    for candidate, several in zip(candidates, references, strict=True):  # type: ignore[call-overload]
        length = len(candidate.split())
        c += length
        r += min((len(each.split()) for each in several), key=lambda n: (abs(n - length), n))
    return c, r


REPLIES = ("i do not know", "i do not know what i do", "yes yes yes", "the rain has stopped")


def distinct_sample() -> Iterator[Line]:
    """D1 and D2, text by text; a text without an n-gram of that order is left out."""
    for order in (1, 2):
        shares = [Fraction(len(g := _ngrams(each, order)), sum(g.values())) for each in REPLIES]
        found = text.distinct(list(REPLIES), order=order, per="sample", tokenizer="whitespace")
        told = ", ".join(map(str, shares))
        yield equal(f"D{order}, mean of {told}", float(sum(shares) / len(shares)), found.value)


def distinct_system() -> Iterator[Line]:
    """D1 and D2 over all texts together."""
    for order in (1, 2):
        counts = sum((_ngrams(each, order) for each in REPLIES), Counter())
        share = Fraction(len(counts), sum(counts.values()))
        found = text.distinct(list(REPLIES), order=order, tokenizer="whitespace")
        yield equal(f"D{order}, {len(counts)}/{sum(counts.values())}", float(share), found.value)


def bertscore_cosines() -> Iterator[Line]:
    """The two sentences of the picture, and two that share more words and mean something else."""
    cold, freezing = "the weather is cold today", "it is freezing today"
    found = text.bert_score([freezing, freezing], [cold, "it is monday today"])
    close_by, other = found.f1.per_sample[:2]
    words = text.bleu([freezing], [cold], order=1, tokenizer="none").value / 100
    yield shown("share of matching words (BLEU-1)", [words])
    yield fact("BERTScore F1 is above that", "yes", f"{close_by:.3f}", close_by > words)
    yield shown("F1 with “it is monday today”, which shares more words", [float(other)])


def bertscore() -> Iterator[Line]:
    """Three tokens against two, of known cosines."""
    generated = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    reference = np.array([[0.8, 0.6], [0.0, 1.0]])
    cosines = generated @ reference.T
    recall, precision = cosines.max(axis=0).mean(), cosines.max(axis=1).mean()
    found = metrics.bert_score([generated], [reference])
    yield equal("precision, mean of 0.8, 0.96 and 1", precision, found.precision.value)
    yield equal("recall, mean of 0.96 and 1", recall, found.recall.value)
    by_hand = 2 * precision * recall / (precision + recall)
    yield equal("F1", by_hand, found.f1.value)


def bertscore_idf() -> Iterator[Line]:
    """Weights of four words by hand, and recall with them."""
    sentences = [
        "the weather is cold today",
        "the rain is warm",
        "the sun is out today",
        "the end",
    ]
    holds = {
        word: sum(word in each.split() for each in sentences)
        for word in ("the", "is", "today", "cold")
    }
    idf = {word: math.log((len(sentences) + 1) / (count + 1)) for word, count in holds.items()}
    places = {
        word: place for place, word in enumerate(sorted({w for s in sentences for w in s.split()}))
    }
    ids = [np.array([places[word] for word in each.split()], np.int32) for each in sentences]
    ours = idf_of(ids, len(places))
    for word, value in idf.items():
        yield equal(f"idf of “{word}”", value, float(ours[places[word]]))
    cosines = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]])
    weights = [idf[word] for word in ("the", "is", "today", "cold")]
    best = [1.0, 0.0, 1.0, 0.8]
    by_hand = sum(w * b for w, b in zip(weights, best, strict=True)) / sum(weights)
    generated = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    found = metrics.bert_score([generated], [cosines], reference_weights=[weights])
    yield equal("recall with these weights", by_hand, found.recall.value)
    plain = metrics.bert_score([generated], [cosines]).recall.value
    yield shown("recall without", [plain], digits=6)


P, Q = np.array([0.36, 0.48, 0.16]), np.full(3, 1 / 3)


def kl_example() -> Iterator[Line]:
    """Counts in hundredths and thirds are exact, so the histograms hold both distributions."""
    pair = Histograms(reference=[27, 36, 12], generated=[25, 25, 25])
    forth, back = _kl(P, Q), _kl(Q, P)
    yield equal("KL(P‖Q), nats", forth, calipers.f_divergence(pair, "kl"))
    yield equal("KL(Q‖P), nats", back, calipers.f_divergence(pair, "reverse_kl"))


def _kl(p: np.ndarray, q: np.ndarray) -> float:
    held = p > 0
    return float(np.sum(p[held] * np.log(p[held] / q[held])))


def kl_infinite() -> Iterator[Line]:
    """Half of P lies where Q has nothing."""
    pair = Histograms(reference=[5, 5, 0], generated=[0, 5, 5])
    value = calipers.f_divergence(pair, "kl")
    yield fact("KL(P‖Q), supports differ", "infinite", str(value), math.isinf(value))
    mixed = calipers.f_divergence(pair, "interpolated_kl=0.5")
    by_hand = _kl(np.array([0.5, 0.5, 0]), np.array([0.25, 0.5, 0.25]))
    yield equal("KL(P‖R), R = ½P + ½Q", by_hand, mixed)


def mauve_curve() -> Iterator[Line]:
    """The area by hand over both axes, for 25 mixtures, from the definition."""
    pair = Histograms(reference=[30, 10, 8, 2, 0], generated=[21, 17, 0, 9, 3])
    p, q = pair.reference / 50, pair.generated / 50
    points = [(1.0, 0.0)]
    for weight in np.linspace(1e-6, 1 - 1e-6, 25):
        mixture = weight * p + (1 - weight) * q
        points.append((math.exp(-5 * _kl(q, mixture)), math.exp(-5 * _kl(p, mixture))))
    points.append((0.0, 1.0))
    x, y = np.array(sorted(points)).T
    area = float(np.trapezoid(y, x) + np.trapezoid(x[np.argsort(y)], np.sort(y))) / 2
    found = calipers.divergence_frontier(pair).area(c=5)
    yield close("area under the curve, c = 5", area, found, within=1e-6, digits=6)
    same = Histograms(reference=[30, 10], generated=[30, 10])
    near = calipers.divergence_frontier(Histograms([30, 10], [29, 11])).area(c=5)
    apart = calipers.divergence_frontier(Histograms([30, 10], [10, 30])).area(c=5)
    values = [calipers.divergence_frontier(same).area(c=5), near, apart]
    holds = values == sorted(values, reverse=True)
    yield fact("equal, near and far distributions", "larger is closer", numbers(values), holds)


def mauve_estimate() -> Iterator[Line]:
    """Two Gaussian clouds: cells by joint k-means, then the curve of their counts."""
    rng = np.random.default_rng(0)
    reference, generated = rng.standard_normal((600, 8)), rng.standard_normal((600, 8)) + 0.3
    rows = preprocess(reference, generated)
    cells = quantise(rows.reference, rows.generated, buckets=60)
    area = calipers.divergence_frontier(cells.best).area(c=5)
    found = metrics.mauve(reference, generated)
    yield equal("MAUVE of counts over 60 cells", area, found.mauve.value)
