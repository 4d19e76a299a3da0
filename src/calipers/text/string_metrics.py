"""MAUVE, precision and recall from string kernels, without a language model.

Texts are points of a string kernel's feature space (:mod:`calipers.text.string_kernels`). Their
neighbours there give likelihood ratios, and those the divergence frontier (Pillutla et al., JMLR
2023, section 7.5.4, with the estimator of section 4.2); the k-NN balls there give precision,
recall, density and coverage. The paper finds the kernels weak: MAUVE from them follows the size of
models and the length of texts only roughly, and agrees less with people than MAUVE from embeddings.

With the n-gram kernel most pairs of texts share nothing and lie at the same, largest distance. All
samples at the distance of the k-th neighbour count, so where few texts share anything, balls hold
everything and the scores say that the sets are alike: they then measure nothing. ``largest`` tells
the share of samples whose ball reaches that far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from calipers._version import __version__
from calipers.catalogue.estimation import PAIRED_C, EstimationOptions
from calipers.curves.frontier import DivergenceFrontier, divergence_frontier
from calipers.errors import InputError, checks_keywords
from calipers.estimate.knn.from_distances import DistancePasses, pass_over
from calipers.metrics.frontiers import summary_score
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    recall_score,
)
from calipers.numeric.validation import check_choice, check_whole
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.measuring import Memo, cut
from calipers.text.scoring import Chosen, TextPair
from calipers.text.string_kernels import NgramKernel, SubsequenceKernel
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora

Kernel = Literal["ngram", "subsequence"]
KNN = EstimationOptions(estimator="knn")


@dataclass(frozen=True)
class StringScores:
    """Scores of two sets of texts under a string kernel.

    Attributes
    ----------
    mauve
        From the neighbours in both sets together, with the c that the paper pairs with them.
    precision, recall, density, coverage
        From the k-NN balls.
    frontier
        The divergence frontier behind `mauve`.
    largest
        Share of all texts whose k-NN ball reaches to texts with which they share nothing, in
        [0, 1]; where it is large, the other numbers say little.
    """

    mauve: Score
    precision: Score
    recall: Score
    density: Score
    coverage: Score
    frontier: DivergenceFrontier
    largest: float


@checks_keywords
def string_scores(
    texts: Texts,
    references: Texts,
    *,
    kernel: Kernel = "ngram",
    order: int | None = None,
    decay: float = 0.5,
    k: int = 4,
    mauve_k: int = 50,
    tokenizer: AnyTokenizer = "auto",
    sample: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> StringScores:
    """Tell how close texts are to references by the n-grams or subsequences that they share.

    Parameters
    ----------
    texts, references
        Generated texts, and those they are compared with: lists of strings, or two corpora that
        were tokenised together.
    kernel
        ``"ngram"``, in seconds for thousands of texts, or ``"subsequence"``, in time that grows
        with the pairs of equal tokens in every pair of texts.
    order
        Tokens of an n-gram or a subsequence; by default the paper's best, 3 or 5.
    decay
        λ of the subsequence kernel, above 0 and at most 1.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    mauve_k
        Neighbours in both sets together that divide between them, at most a quarter of the smaller
        set: more are cut to that, since with all samples as neighbours any two sets look alike.
    tokenizer
        The tokenizer; the paper takes a model's word pieces.
    sample
        So many texts of each set, drawn by the seed; None for all. The paper takes 800 for n-grams,
        200 for subsequences.
    seed
        Seed of the sample.
    threads
        Number of threads (default: all cores); no effect on the scores.

    Returns
    -------
    StringScores
        Scores in [0, 1], density from 0 on; higher is better. ``per_sample`` of precision and
        density has a value for each text that was looked at, of recall and coverage for each such
        reference.

    Raises
    ------
    InputError
        If a set is too small for k, an option is out of its range, or a text is too long for the
        subsequence kernel.

    Examples
    --------
    >>> references = ["a b c", "a b d", "x y z", "x y w"]
    >>> texts = ["a b c", "a b e", "p q r", "p q s"]
    >>> scores = string_scores(
    ...     texts, references, order=2, k=1, mauve_k=2, tokenizer="whitespace"
    ... )
    >>> scores.precision.value, scores.recall.value
    (0.5, 0.5)
    """
    check_choice("kernel", kernel, get_args(Kernel))
    made = _kernel(kernel, order, decay)
    check_whole("k", k, 1)
    check_whole("mauve_k", mauve_k, 1)
    generated, reference = as_corpora(texts, references, tokenizer)
    if sample is not None:
        generated, reference = _drawn(generated, reference, sample, seed)
    distances = made.distances(reference, generated, threads=threads)
    quarter = max(1, min(len(generated), len(reference)) // 4)
    seen = pass_over(distances, k_max=k, k_union=min(mauve_k, quarter), threads=threads)
    drawn = {} if sample is None else {"sample": sample, "seed": seed}
    pins = {**drawn, "tokenizer": generated.tokenizer, "calipers": __version__}
    return _scores(seen, k, pins)


def _scores(seen: DistancePasses, k: int, pins: Mapping[str, object]) -> StringScores:
    near, ratios = seen.neighbourhoods, seen.ratios
    frontier = divergence_frontier(ratios)
    sizes = {"n": len(ratios.log_reference), "m": len(ratios.log_generated)}
    mauve = summary_score("mauve", KNN, frontier, c=PAIRED_C["knn"], pins={**ratios.pins, **sizes})
    return StringScores(
        mauve.signed(**pins),
        precision_score(near, k).signed(**pins),
        recall_score(near, k).signed(**pins),
        density_score(near, k).signed(**pins),
        coverage_score(near, k).signed(**pins),
        frontier,
        float(np.mean(seen.own.distance[:, k - 1] >= np.sqrt(2))),
    )


def _kernel(name: str, order: int | None, decay: float) -> NgramKernel | SubsequenceKernel:
    if name == "ngram":
        return NgramKernel() if order is None else NgramKernel(order)
    usual = SubsequenceKernel(decay=decay)
    return usual if order is None else SubsequenceKernel(order, decay)


def _drawn(generated: Corpus, reference: Corpus, sample: int, seed: int) -> tuple[Corpus, Corpus]:
    """So many texts of both sets, in their order; the same rows of sets of one size."""
    check_whole("sample", sample, 1)
    check_whole("seed", seed, 0)
    for name, corpus in (("texts", generated), ("references", reference)):
        if sample > len(corpus):
            raise InputError(
                f"sample must be at most the number of {name}, {len(corpus)}; found {sample}"
            )
    return cut(generated, sample, seed=seed), cut(reference, sample, seed=seed)


def read_string_mauve(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).mauve


def read_string_precision(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).precision


def read_string_recall(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).recall


def read_string_density(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).density


def read_string_coverage(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).coverage


def _measured(pair: TextPair, options: Chosen) -> StringScores:
    """All scores of a string kernel, which share the work."""
    kernel = options["kernel"]
    return _KEPT.get(
        pair,
        kernel,
        lambda: string_scores(
            pair.texts, pair.references, kernel=kernel, seed=pair.seed, threads=pair.threads
        ),
    )


_KEPT = Memo()
