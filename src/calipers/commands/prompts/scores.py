"""Scores of one set of answers over prompts, and the similarity of sets prompt by prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.commands.prompts.options import PromptsOptions
from calipers.commands.prompts.result import Homogeneity
from calipers.metrics.conditional_vendi import vendi_within
from calipers.metrics.vendi import vendi_score
from calipers.metrics.within_prompts import (
    directions,
    distinct_k,
    rows_by_prompt,
    similarity_across,
    similarity_between,
    similarity_classes,
    similarity_within,
)
from calipers.score import Score
from calipers.text.unicode_forms import folded_words
from calipers.uncertainty.over_prompts import between_prompts, mean_over_prompts

Floats = NDArray[np.float64]

OF_STRINGS = ("distinct_texts", "string_similarity")
"""What is read from the texts themselves."""

COSINE = (-1.0, 1.0)
SHARE = (0.0, 1.0)

ONE_SAMPLE = "one sample of a prompt has no variety (k is 1)"
OF_SEVERAL = (
    *("distinct_k", "distinct_texts", "vendi_within", "conditional_vendi", "information_vendi"),
)
"""Scores of k samples of a prompt, which tell nothing of one."""


@dataclass(frozen=True, eq=False)
class PromptSamples:
    """The samples of one set for the prompts that all sets share, sorted by prompt.

    Attributes
    ----------
    name
        Of the set.
    vectors
        Embeddings by the view that scores are of, shape ``(n, d)``.
    texts
        In the same order; None where samples are none.
    prompts
        The place of each sample's prompt, ascending, shape ``(n,)``.
    count
        How many prompts there are, each with at least one sample.
    further
        Embeddings by the other views, of which sets are tested too, in the same order.
    unread
        Why its vectors say nothing, where the embedder knows too few of its words; else None.
    """

    name: str
    vectors: NDArray[Any]
    texts: list[str] | None
    prompts: NDArray[np.int64]
    count: int
    further: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    unread: str | None = None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of samples of each prompt, shape ``(prompts,)``."""
        return np.bincount(self.prompts, minlength=self.count)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Positions at which the samples of each prompt begin, and the end; ``(prompts + 1,)``."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def similarity(self) -> Floats:
        """Mean similarity of the samples of each prompt, shape ``(prompts,)``."""
        return similarity_within(self.vectors, self.prompts)

    def with_prompts(self) -> list[tuple[str, int]]:
        """Every text with the index of its prompt."""
        return list(zip(self.texts or (), self.prompts.tolist(), strict=True))

    def take(self, rows: NDArray[np.intp]) -> PromptSamples:
        """Keep some samples, in the order given."""
        texts = None if self.texts is None else [self.texts[row] for row in rows.tolist()]
        further = {view: vectors[rows] for view, vectors in self.further.items()}
        vectors, prompts = self.vectors[rows], self.prompts[rows]
        return replace(self, vectors=vectors, texts=texts, prompts=prompts, further=further)

    def of_prompts(self, places: NDArray[np.intp]) -> PromptSamples:
        """Keep the samples of some prompts, renumbered in the order given."""
        numbers = np.full(self.count, -1)
        numbers[places] = np.arange(len(places))
        left = self.take(np.flatnonzero(numbers[self.prompts] >= 0))
        return replace(left, prompts=numbers[left.prompts], count=len(places))

    def first(self, k: int, *, seed: int) -> PromptSamples:
        """Keep k random samples of every prompt that has at least k; drop the other prompts."""
        rng = np.random.default_rng(seed)
        rows = [
            np.sort(start + rng.permutation(end - start)[:k])
            for start, end in pairwise(self.starts.tolist())
            if end - start >= k
        ]
        chosen = np.concatenate([np.empty(0, np.intp), *rows]).astype(np.intp)
        vectors, prompts = self.vectors[chosen], self.prompts[chosen]
        return replace(self, vectors=vectors, texts=None, prompts=prompts, further={})


def scores_of(answers: PromptSamples, *, k: int, options: PromptsOptions) -> Mapping[str, Score]:
    """Measure one set of answers.

    Parameters
    ----------
    answers
        Its samples.
    k
        Samples of a prompt for scores that grow with their number.
    options
        Level, threshold and seed.

    Returns
    -------
    dict
        ``distinct_k`` (by embeddings) and ``distinct_texts`` (letter case and white space aside),
        ``similarity``, ``between``, ``contrast``, ``string_similarity``, ``vendi_within``,
        ``conditional_vendi`` and ``information_vendi``; those of texts only where there are texts.
    """
    level, prompts = options.level, answers.prompts
    pins = {"n": len(prompts), "per_prompt": k}
    classes = similarity_classes(answers.vectors, prompts, threshold=options.threshold)
    within = answers.similarity
    between = similarity_between(answers.vectors, prompts)
    counts = (1.0, float(k))

    def pooled(metric: str, values: Floats, bounds: tuple[float, float], **more: object) -> Score:
        about = {"metric": metric, **more, **pins}
        return mean_over_prompts(values, level=level, bounds=bounds, pins=about)

    scores = {
        "distinct_k": pooled(
            "distinct_k", distinct_k(classes, prompts, k=k), counts, threshold=options.threshold
        )
    }
    if answers.texts is not None:
        folded = [" ".join(folded_words(text)) for text in answers.texts]
        scores["distinct_texts"] = pooled(
            "distinct_texts", distinct_k(folded, prompts, k=k), counts
        )
    scores["similarity"] = pooled("similarity", within, COSINE)
    if answers.texts is not None:
        alike = string_similarity(answers)
        scores["string_similarity"] = pooled("string_similarity", alike, SHARE, kernel="ngram:3")
    scores["between"] = between_prompts(
        between, level=level, bounds=COSINE, pins={"metric": "between", **pins}
    )
    scores["contrast"] = between_prompts(
        between, within, level=level, bounds=(-2.0, 2.0), pins={"metric": "contrast", **pins}
    )
    scores |= _vendi(answers.first(k, seed=options.seed), k, options)
    withheld = dict.fromkeys(OF_SEVERAL, ONE_SAMPLE) if k == 1 else {}
    if answers.unread is not None:
        withheld |= dict.fromkeys((key for key in scores if key not in OF_STRINGS), answers.unread)
    return {
        key: score.without_value(withheld[key]) if key in withheld else score
        for key, score in scores.items()
    }


def string_similarity(answers: PromptSamples) -> Floats:
    """Return the mean share of word trigrams that two texts of a prompt share (Jaccard)."""
    from calipers.text.string_kernels import NgramKernel
    from calipers.text.tokens import tokenise

    (corpus,) = tokenise(answers.texts or [])
    alike = NgramKernel(3).distances(corpus, corpus.take(np.arange(1))).similarity
    values = np.full(answers.count, np.nan)
    for place, (start, end) in enumerate(pairwise(answers.starts.tolist())):
        n = end - start
        if n > 1:
            pairs = alike((start, end), (start, end))
            values[place] = (pairs.sum() - n) / (n * (n - 1))
    return values


def _vendi(answers: PromptSamples, k: int, options: PromptsOptions) -> dict[str, Score]:
    """Vendi scores of k samples of each prompt: their mean, and conditional on the prompt."""
    pins = {"kernel": "cosine", "n": len(answers.prompts), "per_prompt": k}
    level, bounds = options.level, (1.0, float(k))
    if not len(answers.prompts):
        none = mean_over_prompts([np.nan], level=level, bounds=bounds)
        return {
            name: replace(none, signature=f"metric:{name}", reason=_too_few(k))
            for name in ("vendi_within", "conditional_vendi", "information_vendi")
        }
    by_prompt = np.full(answers.count, np.nan)
    by_prompt[np.unique(answers.prompts)] = vendi_within(
        answers.vectors, answers.prompts, threads=options.threads
    )
    mean = mean_over_prompts(
        by_prompt, level=level, bounds=bounds, pins={"metric": "vendi", **pins}
    )
    # Blocks of one size: H(X, T) − H(T) is the mean over prompts of their entropies
    logs = mean_over_prompts(np.log(by_prompt), level=level)
    given = float(np.exp(logs.value))
    interval = None if logs.interval is None else tuple(map(float, np.exp(logs.interval)))
    conditional = replace(
        logs,
        value=given,
        interval=None if interval is None else (max(1.0, interval[0]), min(k, interval[1])),
        range=bounds,
        per_sample=by_prompt,
        standard_error=None if logs.standard_error is None else given * logs.standard_error,
        signature=mean.signature.replace("metric:vendi", "metric:conditional_vendi"),
    )
    every = vendi_score(answers.vectors, threads=options.threads).value
    information = replace(
        logs,
        value=every / given,
        interval=None,
        level=None,
        range=(1.0, float(len(answers.prompts))),
        per_sample=None,
        standard_error=None,
        signature=mean.signature.replace("metric:vendi", "metric:information_vendi"),
    )
    return {
        "vendi_within": mean,
        "conditional_vendi": conditional,
        "information_vendi": information,
    }


def _too_few(k: int) -> str:
    return f"no prompt has {k} samples"


def homogeneity_of(sets: Sequence[PromptSamples], *, level: float) -> Homogeneity:
    """Measure the similarity of the answers of every two sets, and within each set."""
    count = len(sets)
    within = [answers.similarity for answers in sets]
    means = [_means(answers) for answers in sets]
    shape = (count, count)
    values, low, high = (np.full(shape, np.nan) for _ in range(3))
    others, apart, apart_low, apart_high = (np.full(shape, np.nan) for _ in range(4))
    for i in range(count):
        for j in range(i, count):
            first, second = sets[i], sets[j]
            if first.unread or second.unread:
                continue
            same = (
                within[i]
                if i == j
                else similarity_across(first.vectors, first.prompts, second.vectors, second.prompts)
            )
            pairs = [(values, low, high, mean_over_prompts(same, level=level, bounds=COSINE))]
            if i != j:
                gap = mean_over_prompts((within[i] + within[j]) / 2 - same, level=level)
                pairs.append((apart, apart_low, apart_high, gap))
            for at, start, end, score in pairs:
                bounds = score.interval or (np.nan, np.nan)
                at[i, j] = at[j, i] = score.value
                start[i, j] = start[j, i] = bounds[0]
                end[i, j] = end[j, i] = bounds[1]
            others[i, j] = others[j, i] = _different(means[i], means[j])
    names = tuple(answers.name for answers in sets)
    return Homogeneity(names, values, low, high, others, apart, apart_low, apart_high)


def _means(answers: PromptSamples) -> Floats:
    """The mean direction of the samples of each prompt, shape ``(prompts, d)``."""
    rows = directions(answers.vectors)
    parts = rows_by_prompt(answers.prompts, len(rows))
    return np.array([rows[part].mean(axis=0) for part in parts])


def _different(first: Floats, second: Floats) -> float:
    """Mean cosine of samples of different prompts, every pair of prompts counting once."""
    count = len(first)
    if count < 2:
        return float("nan")
    total = float(first.sum(axis=0) @ second.sum(axis=0) - np.sum(first * second))
    return total / (count * (count - 1))
