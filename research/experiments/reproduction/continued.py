"""Continuations of AG News by an n-gram model: what stands for the papers' language models.

A model of order 1, 2 or 3 is fitted on 5,100 items and continues the first ten words of 1,000
others; people's own continuations are the reference, as with the prompts of the papers. Texts and
vectors are made once a run.
"""

from __future__ import annotations

import functools
import math

import numpy as np

import calipers
from ag_news import DATA
from calipers import embedders
from calipers.embedders import Cache, load_embedder
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage
from calipers.language_model.ngram import NGramModel, fit_ngram
from calipers.samples import as_sample_set
from decoding_models import read_parts

SIZE, WORDS, LENGTH, CELLS = 1_000, 10, 40, 100
FEW, FEW_CELLS = 500, 50
"""What the items of decodings compare: all are embedded, and tested against each other."""
ORDERS = (1, 2, 3)
NGRAMS = "n-gram models of orders 1 to 3, fitted on 5,100 items of AG News"
SAMPLED = (
    "ancestral", "top_p=0.3", "top_p=0.6", "top_p=0.8", "top_p=0.9", "top_p=0.95", "top_p=0.99",
    "temperature=0.3", "temperature=0.7", "temperature=1.5", "top_k=10", "top_k=100",
)  # fmt: skip
DECODINGS = ("greedy", *SAMPLED)
"""The systems over which scores are correlated."""


@functools.cache
def parts() -> dict[str, list[str]]:
    """The texts of AG News: for fitting, for the reference, and others that are held out."""
    path = DATA / "ag_news" / "test.csv"
    if not path.is_file():
        raise InputError(f"there is no ag_news/test.csv in {DATA}; set CALIPERS_DATA to its folder")
    return read_parts(path)


@functools.cache
def prompts() -> list[str]:
    """Texts of at least 25 words, whose first ten are the prompts."""
    return [each for each in parts()["reference"] if len(each.split()) >= 25][:SIZE]


@functools.cache
def human() -> list[str]:
    """What people wrote behind the prompts."""
    return [each.split(None, WORDS)[WORDS] for each in prompts()]


@functools.cache
def model(order: int = 3) -> NGramModel:
    """The n-gram model of an order."""
    return fit_ngram(parts()["train"], order=order)


@functools.cache
def written(decoding: str, order: int = 3, seed: int = 0, size: int = SIZE) -> list[str]:
    """Continue the first `size` prompts by one decoding."""
    made = calipers.generate(
        model=model(order),
        reference=prompts()[:size],
        prompts=prompts()[:size],
        prompt_words=WORDS,
        decoding=Decoding.parse(decoding),
        n=size,
        max_tokens=LENGTH,
        seed=seed,
    )
    return list(made)


def embed(texts: list[str], view: str = "meaning", embedder: str = "minilm") -> np.ndarray:
    """Embed texts; what was embedded before is read from the cache."""
    samples = as_sample_set(texts, name="continuations")
    return embedders.embed(samples, load_embedder(embedder), cache=Cache()).views[view]


@functools.cache
def reference_rows(view: str = "meaning", size: int = SIZE) -> np.ndarray:
    """Vectors of what people wrote behind the first prompts."""
    return embed(human()[:size], view)


@functools.cache
def rows(decoding: str, order: int = 3, view: str = "meaning", size: int = SIZE) -> np.ndarray:
    """Vectors of the continuations of the first prompts by one decoding."""
    return embed(written(decoding, order, size=size), view)


def perplexity(texts: list[str], order: int = 3) -> float:
    """Of a corpus under the model: exp of the mean negative log-likelihood over all tokens."""
    scores = model(order).score([Passage(text) for text in texts if text], first="bos")
    return math.exp(-float(np.mean(scores.log_probability)))
