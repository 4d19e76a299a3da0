"""A word-level Markov chain: the demo's system of high diversity and low quality.

The next word is drawn from the words that followed the last `order` words in the fitted texts.
With order 1 a text keeps the vocabulary and the word pairs of its source and loses its sentences;
it wanders through all topics, so that the texts sound more alike than human ones. With order 2
six in seven states of the demo's corpus have a single successor: the chain copies whole phrases,
and form tells it apart less clearly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calipers.unicode.words import joined
from calipers.unicode.written_words import split_words

State = tuple[str, ...]


@dataclass(frozen=True)
class MarkovChain:
    """Transition counts of words in some texts.

    Attributes
    ----------
    order
        Number of words that the next word depends on.
    openings
        First `order` words of every fitted text.
    successors
        State to the words that followed it, each as often as it did.
    lengths
        Number of words of every fitted text.
    """

    order: int
    openings: tuple[State, ...]
    successors: dict[State, tuple[str, ...]]
    lengths: tuple[int, ...]


def fit(texts: Sequence[str], *, order: int = 1) -> MarkovChain:
    """Learn which words follow which; texts of at most `order` words are skipped.

    Raises
    ------
    ValueError
        If no text is longer than `order` words.
    """
    documents = [words for text in texts if len(words := split_words(text)) > order]
    if not documents:
        raise ValueError(f"texts must hold one of more than order={order} words")
    followers: dict[State, list[str]] = {}
    for words in documents:
        for start in range(len(words) - order):
            state = tuple(words[start : start + order])
            followers.setdefault(state, []).append(words[start + order])
    return MarkovChain(
        order=order,
        openings=tuple(tuple(words[:order]) for words in documents),
        successors={state: tuple(words) for state, words in followers.items()},
        lengths=tuple(len(words) for words in documents),
    )


def generate(chain: MarkovChain, size: int, *, seed: int | np.random.Generator) -> list[str]:
    """Write `size` texts whose lengths in words are drawn from the fitted texts."""
    rng = np.random.default_rng(seed)
    lengths = rng.choice(chain.lengths, size)
    return [joined(_walk(chain, int(length), rng)) for length in lengths]


def _walk(chain: MarkovChain, length: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield `length` words, opening again where a text ended."""
    words: list[str] = []
    state: State = ()
    while len(words) < length:
        choices = chain.successors.get(state)
        if choices is None:
            state = chain.openings[rng.integers(len(chain.openings))]
            words.extend(state)
        else:
            words.append(choices[rng.integers(len(choices))])
            state = tuple(words[-chain.order :])
    yield from words[:length]
