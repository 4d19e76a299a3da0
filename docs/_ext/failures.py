"""Faults of generated sets that metrics do not see, built and measured.

A :class:`Fault` is a generated set with a known fault beside an honest one: another draw of what
the reference is drawn from. A metric does not see the fault where it finds the faulty set at least
as good as the honest one; :func:`blind_spots` measures that, and raises where it is not so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calipers
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.likelihoods import LIKELIHOODS
from calipers.catalogue.metric import Metric
from calipers.catalogue.texts import TEXT_METRICS
from calipers.demo.corpora import paragraphs
from calipers.demo.near_copies import near_copies

SIZE, WIDTH, CLUSTERS = 400, 8, 10
"""Vectors a set, their dimensions, and the clusters that they are drawn from."""

TEXTS = 120
"""Texts a set."""

TOLERANCE = 0.05
"""By how much of the honest value the faulty set may be worse and still pass as equal."""


@dataclass(frozen=True)
class Fault:
    """A generated set with a known fault.

    Attributes
    ----------
    title, told
        What is wrong with it, in a few words and in a sentence or two.
    seen_by
        A metric that sees it.
    """

    title: str
    told: str
    seen_by: str = ""


@dataclass(frozen=True)
class BlindSpot:
    """What a metric, and one that sees the fault, say of an honest and a faulty set."""

    fault: Fault
    honest: float
    faulty: float
    reference: float | None = None
    seen: tuple[float, float] | None = None
    examples: tuple[tuple[str, str], ...] = field(default=())


VECTOR_FAULTS = {
    "copies": Fault(
        "Every sample is a copy of a reference sample",
        "A model that has memorised its training set and writes nothing of its own.",
        "near_copies",
    ),
    "jittered": Fault(
        "Every sample is nearly a copy of a reference sample",
        "A model that has memorised its training set and changes a digit here and there.",
        "near_copies",
    ),
    "five": Fault(
        "Five good samples, 80 times each",
        "A model that has collapsed: all it writes is one of five samples of the middle of the "
        "reference.",
        "recall",
    ),
    "scattered": Fault(
        "Good samples under much noise",
        "Each sample has noise of three times a cluster's width added, so that hardly one is good.",
        "precision",
    ),
    "gaussian": Fault(
        "One Gaussian in the place of ten clusters",
        "Drawn from a Gaussian with exactly the mean and the covariance of the reference: most "
        "samples lie "
        "where no real sample is.",
        "precision",
    ),
    "rotated": Fault(
        "The right distance, in a random direction",
        "Each sample is as far from the mean of the reference as a real one, in a direction "
        "drawn at random.",
        "precision",
    ),
    "shrunk": Fault(
        "Everything drawn together at the mean",
        "Honest samples, moved nine tenths of the way to the mean: no cluster is left.",
        "recall",
    ),
    "elsewhere": Fault(
        "Noise far away from everything",
        "Not one sample is anywhere near the reference.",
        "precision",
    ),
    "rare": Fault(
        "A kind of sample that is missing",
        "The smallest tenth of the real variety, one cluster of ten, is never generated.",
        "recall",
    ),
}
TEXT_FAULTS = {
    "dealt": Fault(
        "Sentences dealt out at random",
        "The sentences of all honest texts, dealt out anew: each sentence is good, and no text "
        "makes sense.",
    ),
    "shuffled": Fault(
        "Words in random order",
        "The words of each honest text, shuffled: nothing can be understood.",
        "self_bleu",
    ),
    "salad": Fault(
        "Words drawn at random",
        "Each text is words of the reference drawn at random, as many as an honest text has.",
        "self_bleu",
    ),
    "backwards": Fault(
        "Every text backwards",
        "The words of each honest text, the last one first: no sentence is left, and every "
        "word and every pair "
        "of words stands there as often as before.",
        "corpus_match_bleu",
    ),
    "copies": Fault(
        "Every text is a copy of a reference text",
        "A model that has memorised its training set and writes nothing of its own.",
        "longest_copied_span",
    ),
    "five": Fault(
        "Near copies of five texts",
        "A model that has collapsed: all it writes are five good texts, each time with a word "
        "or two changed.",
        "self_bleu",
    ),
}
PAIRS = (
    (
        "The function returns a list of all keys that are in the table.",
        "You get back every key of the mapping, as a list.",
        "The function returns a list of no keys that are in the table.",
    ),
    (
        "The file must be open before it can be read.",
        "Reading needs an opened file.",
        "The file must not be open before it can be read.",
    ),
    (
        "The doctor saw twelve patients on Monday.",
        "On Monday, a dozen people were treated by the physician.",
        "The doctor saw eleven patients on Monday.",
    ),
    (
        "The bridge was closed because of the storm.",
        "Bad weather led officials to shut the crossing.",
        "The storm was closed because of the bridge.",
    ),
)
"""Reference, faithful paraphrase, and a text that says something else."""
PAIR_FAULT = Fault(
    "The wrong statement in the right words",
    "A word is changed, and each text says the contrary of its reference, or nonsense. The "
    "honest texts say the "
    "same as their references in other words.",
)
LIKELY_FAULT = Fault(
    "Half gibberish, half one sentence over and over",
    "Random words surprise a model, a sentence that is repeated does not; mixed in the right "
    "proportion, "
    "the two are as predictable as human prose.",
)
SHORTEST_FAULT = Fault(
    "The five shortest texts over and over",
    "A generator that has collapsed: of all that it can write it writes five texts, which are so "
    "short that a model of people finds them likely.",
)
GREEDY_FAULT = Fault(
    "A decoder that always takes the likeliest word",
    "It writes one text, and always the same. The honest decoder draws from the likeliest "
    "words that hold nine "
    "tenths of the probability (`top_p=0.9`).",
)
PURE_FAULT = Fault(
    "A decoder that draws from every word",
    "It draws rare words often enough to lose the thread. The honest decoder draws from the "
    "likeliest words that "
    "hold nine tenths of the probability (`top_p=0.9`).",
)
GENERATOR = "ngram:order=2"
"""Whose texts are compared with people by probabilities."""
MIXTURES = range(54, 86, 2)
"""How many texts of random words are tried, beside those of one sentence over and over."""

QUALITY = (
    "precision",
    "density",
    "realism",
    "clipped_density",
    "probabilistic_precision",
    "topp",
    "max_precision",
    "precision_cross_entropy",
)
DIVERSITY = ["recall", "probabilistic_recall", "topr"]
OF_VECTORS = {
    **dict.fromkeys(METRICS, "copies"),
    **dict.fromkeys(QUALITY, "five"),
    **dict.fromkeys(DIVERSITY, "scattered"),
    "frechet_distance": "gaussian",
    "sphere_precision": "rotated",
    "classifier_accuracy": "shrunk",
    "classifier_auc": "shrunk",
    "discriminator_accuracy": "shrunk",
    "authenticity": "elsewhere",
    "near_copies": "elsewhere",
    "recall_cross_entropy": "jittered",
    "recall_entropy": "elsewhere",
    "vendi": "gaussian",
}
"""Metric of vectors to the fault that its page shows."""
SCALED = ("mauve_ot", "mauve_ot_barycentric")
"""Metrics that are meant for vectors of length one."""
OF_TEXTS = {
    **dict.fromkeys(TEXT_METRICS, "dealt"),
    **dict.fromkeys(("mean_length", "median_length", "length_spread"), "shuffled"),
    **dict.fromkeys(
        ("moving_average_ttr", "self_bleu", "vendi", "rke", "rep_n", "self_repetition"), "backwards"
    ),
    "vocabulary_size": "shuffled",
    "zipf_coefficient": "shuffled",
    "novelty": "salad",
    "longest_copied_span": "salad",
    "corpus_match_bleu": "five",
    "string_precision": "five",
    "string_density": "five",
    "string_recall": "copies",
    "string_coverage": "copies",
    "string_mauve": "copies",
}
"""Metric of texts to the fault that its page shows."""

LIKELY = ("predictability", "variety")
"""Families that are measured on texts under one model."""
OF_LIKELIHOODS = {"unigram_entropy": "backwards", "decan": "salad"}
"""Metric of likelihoods to the fault that its page shows; the others: :data:`LIKELY_FAULT`."""


@cache
def vectors() -> dict[str, NDArray[np.float64]]:
    """Build the reference, the honest set and every faulty one, shape (SIZE, WIDTH) each."""
    rng = np.random.default_rng(0)
    centres = 4 * rng.standard_normal((CLUSTERS, WIDTH))

    def draw(clusters: Sequence[int]) -> NDArray[np.float64]:
        return centres[rng.choice(clusters, SIZE)] + rng.standard_normal((SIZE, WIDTH))

    reference, honest = draw(range(CLUSTERS)), draw(range(CLUSTERS))
    mean = reference.mean(axis=0)
    noise = rng.standard_normal((SIZE, WIDTH))
    depth = np.linalg.norm(reference[:, None] - reference[None], axis=2)
    inner = np.argsort(np.sort(depth, axis=1)[:, 10])[:5]  # samples in the densest places
    return {
        "reference": reference,
        "honest": honest,
        "copies": reference[rng.permutation(SIZE)],
        "jittered": reference + 1e-3 * noise,
        "five": np.repeat(reference[inner], SIZE // 5, axis=0) + 1e-3 * noise,
        "scattered": honest + 3 * noise,
        "gaussian": _recoloured(noise, reference),
        "rotated": mean
        + noise
        / np.linalg.norm(noise, axis=1, keepdims=True)
        * np.linalg.norm(reference - mean, axis=1, keepdims=True),
        "shrunk": mean + (honest - mean) / 10,
        "elsewhere": mean + 100 + 10 * noise,
        "rare": draw(range(1, CLUSTERS)),
    }


@cache
def texts() -> dict[str, list[str]]:
    """Build the reference, the honest texts and every faulty set of texts."""
    rng = np.random.default_rng(0)
    prose = paragraphs()
    rows = rng.permutation(len(prose))
    reference = [prose[row] for row in rows[:TEXTS]]
    honest = [prose[row] for row in rows[TEXTS : 2 * TEXTS]]
    sentences = [re.split(r"(?<=[.!?]) ", text) for text in honest]
    deck = [sentence for text in sentences for sentence in text]
    order = iter(rng.permutation(len(deck)))
    words = [word for text in reference for word in text.split()]
    return {
        "reference": reference,
        "honest": honest,
        "dealt": [" ".join(deck[next(order)] for _ in text) for text in sentences],
        "shuffled": [" ".join(rng.permutation(text.split())) for text in honest],
        "backwards": [" ".join(reversed(text.split())) for text in honest],
        "salad": [" ".join(rng.choice(words, len(text.split()))) for text in honest],
        "copies": [reference[row] for row in rng.permutation(TEXTS)],
        "five": near_copies(reference, size=TEXTS, sources=5, seed=0),
    }


def blind_spots() -> dict[tuple[str, str], BlindSpot]:
    """Measure a fault that it does not see for every metric of the catalogue.

    Returns
    -------
    dict
        By kind (``"embeddings"``, ``"texts"`` or ``"likelihoods"``) and name of a metric.

    Raises
    ------
    AssertionError
        If a metric does see the fault that its page says it does not see.
    """
    found = {**_of_vectors(), **_of_texts(), **_of_pairs(), **_of_likelihoods()}
    catalogues = {"embeddings": METRICS, "texts": TEXT_METRICS, "likelihoods": LIKELIHOODS}
    for (kind, name), spot in found.items():
        check(catalogues[kind][name], spot)
    return found


def check(metric: Metric, spot: BlindSpot) -> None:
    """Raise where a metric finds the faulty set worse than the honest one."""
    slack = TOLERANCE * max(abs(spot.honest), 0.2)
    honest, faulty = spot.honest, spot.faulty
    if metric.better == "closest" and spot.reference is not None:
        honest, faulty = (abs(value - spot.reference) for value in (honest, faulty))
        slack = TOLERANCE * abs(spot.reference)
    worse = honest - faulty if metric.better == "higher" else faulty - honest
    if metric.better == "closest" and spot.reference is None:
        worse = abs(faulty - 1) - abs(honest - 1)
    if not (worse <= slack or math.isinf(spot.faulty)):
        raise AssertionError(
            f"{metric.name} sees the fault {spot.fault.title!r}: {spot.honest:.4g} for the "
            f"honest set, "
            f"{spot.faulty:.4g} for the faulty one, {spot.reference} for the reference"
        )


def _recoloured(noise: NDArray[np.float64], like: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give noise exactly the mean and the covariance of another set."""
    centred = noise - noise.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(np.cov(centred.T)), centred.T)
    return (np.linalg.cholesky(np.cov(like.T)) @ white).T + like.mean(axis=0)


def _of_vectors() -> dict[tuple[str, str], BlindSpot]:
    sets = vectors()
    generated = {name: sets[name] for name in ("honest", *sorted({*OF_VECTORS.values()}))}

    def compared(names: Sequence[str], normalise: str | None = None) -> dict[str, Any]:
        keys = sorted({*names, "near_copies", "precision", "recall"})
        more = {} if normalise is None else {"normalise": normalise}
        found = calipers.compare(
            sets["reference"], generated, metrics=keys, level=None, floor=False, **more
        )
        return dict.fromkeys(names, found)

    found = compared([name for name in METRICS if name not in SCALED])
    found |= compared(SCALED, normalise="l2")
    return {
        ("embeddings", name): _spot(VECTOR_FAULTS[fault], found[name], fault, name)
        for name, fault in OF_VECTORS.items()
    }


def _of_texts() -> dict[tuple[str, str], BlindSpot]:
    sets = texts()
    names = [name for name in TEXT_METRICS if TEXT_METRICS[name].side != "aligned"]
    measured = calipers.measure_texts(
        {name: sets[name] for name in ("honest", *sorted({*OF_TEXTS.values()}))},
        reference=sets["reference"],
        metrics=names,
        level=None,
    )
    return {
        ("texts", name): _spot(TEXT_FAULTS[OF_TEXTS[name]], measured, OF_TEXTS[name], name)
        for name in names
    }


def _of_pairs() -> dict[tuple[str, str], BlindSpot]:
    references, same, contrary = (list(side) for side in zip(*PAIRS, strict=True))
    names = [name for name in TEXT_METRICS if TEXT_METRICS[name].side == "aligned"]
    measured = calipers.measure_texts(
        {"honest": same, "contrary": contrary},
        reference=references,
        aligned=True,
        metrics=names,
        level=None,
    )
    examples = (("reference", PAIRS[2][0]), ("honest", PAIRS[2][1]), ("faulty", PAIRS[2][2]))
    return {
        ("texts", name): _spot(PAIR_FAULT, measured, "contrary", name, examples=examples)
        for name in names
    }


def _of_likelihoods() -> dict[tuple[str, str], BlindSpot]:
    sets = texts()
    chosen = {name: sets[name] for name in ("honest", "salad", "backwards")}
    mixed = {f"mixed {count}": _mixed(count) for count in MIXTURES}
    names = [name for name, metric in LIKELIHOODS.items() if metric.family in LIKELY]
    measured = calipers.likelihood(
        {**chosen, **mixed}, reference=sets["reference"], metrics=names, **_model()
    )
    found = {}
    for name in names:
        gaps = {each: measured[each][name].gap for each in mixed}
        faulty = OF_LIKELIHOODS.get(name, min(gaps, key=lambda each: gaps[each]))
        fault = TEXT_FAULTS.get(faulty, LIKELY_FAULT)
        spot = _spot(Fault(fault.title, fault.told), measured, faulty, name)
        found["likelihoods", name] = spot
    return {**found, **_of_decoders(), **_of_models()}


def _of_decoders() -> dict[tuple[str, str], BlindSpot]:
    names = [name for name, metric in LIKELIHOODS.items() if metric.family == "decoder"]

    def measured(decoding: str | None) -> Any:
        sets = {"honest": texts()["honest"]}
        return calipers.likelihood(sets, metrics=names, decoding=decoding, **_model())["honest"]

    good, pure, greedy = measured("top_p=0.9"), measured(None), measured("top_k=1")
    return {
        ("likelihoods", name): BlindSpot(
            GREEDY_FAULT if name == "decoder_divergence" else PURE_FAULT,
            good[name].value,
            (greedy if name == "decoder_divergence" else pure)[name].value,
        )
        for name in names
    }


def _of_models() -> dict[tuple[str, str], BlindSpot]:
    keys = {name: m.keys[0] for name, m in LIKELIHOODS.items() if m.family == "models"}
    written = calipers.generate(
        model=GENERATOR, reference=_fitted_on(), n=TEXTS, decoding="ancestral", seed=0
    )
    honest = [str(row["text"]) for row in written.rows]
    shortest = sorted(honest, key=lambda text: len(text.split()))[:5]
    measured = calipers.likelihood(
        {"honest": honest, "shortest": shortest * (TEXTS // 5)},
        reference=texts()["reference"],
        metrics=list(keys.values()),
        generator=GENERATOR,
        **_model(),
    )
    return {
        ("likelihoods", name): _spot(SHORTEST_FAULT, measured, "shortest", key)
        for name, key in keys.items()
    }


@cache
def _fitted_on() -> list[str]:
    """List the texts that the language model of these pages is fitted on: none of the others."""
    known = {text for name in ("reference", "honest") for text in texts()[name]}
    return [text for text in paragraphs() if text not in known]


def _model() -> dict[str, Any]:
    return {"model": "ngram:order=3", "fit_on": _fitted_on(), "level": None}


def _mixed(count: int) -> list[str]:
    """Write `count` texts of random words, and the others of one sentence over and over."""
    phrase = min(_fitted_on(), key=len).split()
    lengths = [len(text.split()) for text in texts()["honest"]]
    loops = [" ".join((phrase * (length // len(phrase) + 1))[:length]) for length in lengths]
    return texts()["salad"][:count] + loops[count:]


def _spot(
    fault: Fault, result: Any, faulty: str, key: str, *, examples: tuple[tuple[str, str], ...] = ()
) -> BlindSpot:
    honest, bad = result["honest"][key], result[faulty][key]
    seen = None
    if fault.seen_by and fault.seen_by != key:
        seen = (result["honest"][fault.seen_by].value, result[faulty][fault.seen_by].value)
    return BlindSpot(fault, honest.value, bad.value, bad.reference, seen, examples)
