"""Tokenised texts as arrays of integers, shared by all statistics.

What counts as a list of texts is said here once, for every function of :mod:`calipers.text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Ints, Longs
from calipers.numeric.blocks import Clusters
from calipers.text.ngrams import NGrams, check_order, extend, single


def as_strings(texts: Any, name: str = "texts") -> list[str]:
    """Return texts as a list; raise an error for one that is not a string.

    Parameters
    ----------
    texts
        Any iterable of strings: a list, a generator, a one-dimensional NumPy array, a column of
        pandas, Arrow or a dataset, a :class:`~calipers.samples.SampleSet` of texts.
    name
        What messages call it.

    Returns
    -------
    list of str
        A list of its own, in the same order; empty texts are kept.

    Raises
    ------
    InputError
        If it is a single string, has no order or more than one dimension, is empty, or an item is
        no string (rows are counted from 1).
    """
    _check_shape(texts, name)
    listed = _listed(texts)
    if not listed:
        raise InputError(f"{name} must hold at least one text; found none")
    wrong = next((row for row, text in enumerate(listed) if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(
            f"{name} must hold strings only; row {wrong + 1:,} is {_described(listed[wrong])}"
        )
    return listed


def _check_shape(texts: Any, name: str) -> None:
    if isinstance(texts, str | bytes):
        kind = "string" if isinstance(texts, str) else "bytes object"
        raise InputError(
            f"{name} must be a list of strings; found a single {kind}: put it into a list, [text]"
        )
    if isinstance(texts, Mapping | Set):
        raise InputError(
            f"{name} must be a list of strings, in a fixed order; found a {type(texts).__name__}"
        )
    if getattr(texts, "ndim", 1) != 1 or hasattr(texts, "columns"):
        raise InputError(
            f"{name} must have one dimension, a text in each row; found a {type(texts).__name__} "
            f"of shape {getattr(texts, 'shape', 'unknown')}: choose one column"
        )
    if not isinstance(texts, Iterable):
        raise InputError(f"{name} must be a list of strings; found {_described(texts)}")


def _listed(texts: Any) -> list[Any]:
    for method in ("to_pylist", "tolist"):  # Arrow; NumPy and pandas
        if hasattr(texts, method):
            return list(getattr(texts, method)())
    return list(texts)


def _described(value: object) -> str:
    shown = repr(value)
    short = shown if len(shown) <= 40 else shown[:39] + "…"
    return "None" if value is None else f"{short}, of type {type(value).__name__}"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Tokenised texts, concatenated in one array; made by :func:`calipers.text.tokenise`.

    Attributes
    ----------
    texts
        The texts themselves, in their order, empty ones too.
    tokens
        The number of each token's word, int32 of shape (T,).
    starts
        Where each text starts in `tokens`, int64 of shape (n + 1,).
    words
        The word of each number; corpora that were tokenised together share one list.
    tokenizer
        The tokenizer, as named in signatures.
    clusters
        Clusters of the texts; None where all are independent.
    """

    texts: Sequence[str]
    tokens: Ints
    starts: Longs
    words: list[str]
    tokenizer: str
    clusters: Clusters | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Corpus({len(self):,} texts, {len(self.tokens):,} tokens, {self.tokenizer!r})"

    @property
    def lengths(self) -> Longs:
        """Number of tokens of each text, shape (n,)."""
        return np.diff(self.starts)

    def ngrams(self, order: int) -> NGrams:
        """Return the numbered n-grams of one order, kept since many statistics use them.

        Parameters
        ----------
        order
            Tokens of an n-gram, at least 1.

        Returns
        -------
        NGrams
            No n-gram reaches over the end of a text.

        Raises
        ------
        InputError
            If `order` is not a whole number from 1 to 100.
        """
        order = check_order(order)
        for reached in range(len(self._ngrams) + 1, order + 1):
            shorter = self._ngrams[reached - 1] if reached > 1 else None
            made = extend(shorter, self.tokens, self.starts) if shorter else self._single
            self._ngrams[reached] = made
        return self._ngrams[order]

    def take(self, rows: NDArray[np.intp]) -> Corpus:
        """Keep the texts of some rows, in the order given."""
        parts = [self.tokens[self.starts[row] : self.starts[row + 1]] for row in rows]
        return replace(
            self,
            texts=[self.texts[row] for row in rows],
            tokens=np.concatenate([self.tokens[:0], *parts]),
            starts=np.concatenate([[0], np.cumsum(self.lengths[rows])]),
            clusters=None if self.clusters is None else self.clusters.take(rows),
        )

    def check_shares_words(self, other: Corpus) -> None:
        """Refuse a corpus with another numbering of tokens.

        Raises
        ------
        InputError
            If the two were not tokenised together.
        """
        if self.words is not other.words:
            raise InputError(
                "corpora that are compared with each other must be tokenised together, so that "
                "their tokens share numbers: tokenise(first, second)"
            )

    @property
    def _single(self) -> NGrams:
        return single(self.tokens, self.starts, vocabulary=len(self.words))

    @cached_property
    def _ngrams(self) -> dict[int, NGrams]:
        return {}

    @cached_property
    def _joined(self) -> WeakKeyDictionary[Corpus, Corpus]:
        return WeakKeyDictionary()


def join(first: Corpus, second: Corpus) -> Corpus:
    """Concatenate two corpora, so that their n-grams share numbers.

    Kept for as long as both are there, since several statistics hold the same two together.

    Raises
    ------
    InputError
        If they were not tokenised together.
    """
    first.check_shares_words(second)
    if second not in first._joined:
        first._joined[second] = _end_to_end(first, second)
    return first._joined[second]


def _end_to_end(first: Corpus, second: Corpus) -> Corpus:
    return Corpus(
        texts=[*first.texts, *second.texts],
        tokens=np.concatenate([first.tokens, second.tokens]),
        starts=np.concatenate([first.starts, first.starts[-1] + second.starts[1:]]),
        words=first.words,
        tokenizer=first.tokenizer,
    )
