"""Naive samplers: texts without meaning made from the reference alone, as negative controls.

Generation perplexity says how predictable texts are, and the entropy of tokens within a text
whether it repeats itself. Texts without any sense can be good by both ("Hacking Generative
Perplexity", arXiv 2606.08417; "Generative Frontiers", arXiv 2604.02718), so each of these stands in
the plane of the two beside the systems, and beside precision, recall and MAUVE*:

- **unigrams**: words drawn one by one by how frequent they are: high entropy, unpredictable;
- **repeated phrase**: a frequent phrase over and over, as a greedy decoder ends: predictable, low
  entropy;
- **spliced phrases**: phrases of the reference drawn one by one: predictable within a phrase, of
  high entropy, without sense;
- **low temperature**: an n-gram model of the reference at a low temperature: predictable, dull.

Every text is as long, in words (of scripts without spaces in characters), as one of the reference.
None of them is a copy of the naive samplers of these papers; they fill the same corners of the
plane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import LanguageModel, Request
from calipers.unicode.words import joined
from calipers.unicode.written_words import split_words

PHRASE = 4
"""Words of a phrase."""

PHRASES = 100
"""Frequent phrases that are repeated, in turn."""

TURNS = 50
"""How often the n-gram model goes on at most where its texts are short."""

LOW = "temperature=0.3"
"""How tokens are chosen from the n-gram model."""

PREFIX = "control: "
"""What the names of these systems begin with."""

Fit = Callable[[Sequence[str]], LanguageModel]


def naive_samples(texts: Sequence[str], *, seed: int, fit: Fit) -> dict[str, list[str]]:
    """Write as many texts as the reference has, by each naive sampler.

    Parameters
    ----------
    texts
        The reference.
    seed
        Of all draws.
    fit
        Fits an n-gram model on texts.

    Returns
    -------
    dict of list of str
        By the name of the system.

    Raises
    ------
    InputError
        If the reference has no phrase of four words.
    """
    words = list(map(split_words, texts))
    lengths = [len(sequence) for sequence in words]
    rng = np.random.default_rng(seed)
    phrases = Counter(
        tuple(sequence[start : start + PHRASE])
        for sequence in words
        for start in range(len(sequence) - PHRASE + 1)
    )
    if not phrases:
        raise InputError(
            f"the suite generative-perplexity needs reference texts of {PHRASE} words; "
            f"the longest has {max(lengths)}"
        )
    made: Mapping[str, list[str]] = {
        "unigrams": _unigrams(words, lengths, rng),
        "repeated phrase": _repeated(phrases, lengths),
        "spliced phrases": _spliced(list(phrases.elements()), lengths, rng),
        "low temperature": _low(fit(texts), lengths, seed),
    }
    return {f"{PREFIX}{name}": sampled for name, sampled in made.items()}


def _unigrams(
    words: Sequence[Sequence[str]], lengths: Sequence[int], rng: np.random.Generator
) -> list[str]:
    pool = [word for sequence in words for word in sequence]
    return [joined(pool[i] for i in rng.integers(len(pool), size=n)) for n in lengths]


def _repeated(phrases: Counter[tuple[str, ...]], lengths: Sequence[int]) -> list[str]:
    frequent = [phrase for phrase, _ in phrases.most_common(PHRASES)]
    turns = (frequent[i % len(frequent)] for i in range(len(lengths)))
    return [_cut(phrase * (n // PHRASE + 1), n) for phrase, n in zip(turns, lengths, strict=True)]


def _spliced(
    phrases: Sequence[tuple[str, ...]], lengths: Sequence[int], rng: np.random.Generator
) -> list[str]:
    drawn = (rng.integers(len(phrases), size=n // PHRASE + 1) for n in lengths)
    return [
        _cut([word for place in places for word in phrases[place]], n)
        for places, n in zip(drawn, lengths, strict=True)
    ]


def _low(model: LanguageModel, lengths: Sequence[int], seed: int) -> list[str]:
    """Write on, one short text behind the other, until every text is as long as it should be."""
    decoding, longest = Decoding.parse(LOW), 2 * max(lengths)
    words: list[list[str]] = [[] for _ in lengths]
    for turn in range(TURNS):
        short = [i for i, n in enumerate(lengths) if len(words[i]) < n]
        if not short:
            break
        requests = [Request(turn * len(lengths) + i) for i in short]
        for completion in model.generate(requests, decoding, max_tokens=longest, seed=seed):
            words[completion.id % len(lengths)] += split_words(completion.text)
    return [_cut(sequence, n) for sequence, n in zip(words, lengths, strict=True)]


def _cut(words: Sequence[str], n: int) -> str:
    return joined(words[:n])
