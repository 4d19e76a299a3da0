"""Texts whose sets of n-grams are nearly equal: proposed by MinHash, confirmed one by one.

Texts with equal sets are put into one group first, and only groups are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.text.corpus import Corpus, join
from calipers.text.minhash import hash_ngrams, minhashes
from calipers.text.near_texts_kernels import search
from calipers.text.ngrams import TextCounts

Rows = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What near means, and how it is looked for: bands of the signature, and rows of each."""

    order: int
    threshold: float
    permutations: int
    bands: tuple[int, int]
    seed: int


@dataclass(frozen=True, eq=False)
class Near:
    """What was found for each text; all of shape (n,).

    Attributes
    ----------
    defined
        Whether the text has an n-gram at all.
    found
        Whether it is near another text of its set, or near a reference.
    source
        The earlier text of its set, or the reference, that it is near; -1 for none.
    similarity
        The Jaccard similarity to that one.
    """

    defined: NDArray[np.bool_]
    found: NDArray[np.bool_]
    source: Rows
    similarity: Shares


@dataclass(frozen=True, eq=False)
class _Groups:
    """Texts with equal sets: each text's group (-1 for an empty set), each group's first text.

    Groups are numbered by their first texts.
    """

    of: Rows
    first: Rows
    keys: dict[bytes, int]


def near_within(own: Corpus, settings: Settings) -> Near:
    """Hold the texts of one set against each other."""
    groups = _group(own.ngrams(settings.order).within, 0, len(own))
    other, similarity = np.full(len(groups.first), -1), np.zeros(len(groups.first))
    _search(own, groups.first, settings, 0, other, similarity)
    defined = groups.of >= 0
    of, rows = groups.of[defined], np.flatnonzero(defined)
    first, size = groups.first[of], np.bincount(of)[of]
    near = np.where(other[of] >= 0, groups.first[other[of]], -1)
    source = np.where(rows > first, first, np.where(near < rows, near, -1))
    shares = np.where(rows > first, 1.0, similarity[of])
    return _near(defined, (size > 1) | (near >= 0), source, shares)


def near_references(own: Corpus, known: Corpus, settings: Settings) -> Near:
    """Hold the texts of one set against those of another."""
    both = join(own, known)
    within = both.ngrams(settings.order).within
    groups, others = _group(within, 0, len(own)), _group(within, len(own), len(both))
    asked = len(groups.first)
    equal = np.array([others.keys.get(key, -1) for key in groups.keys], np.int64)
    other, similarity = np.where(equal >= 0, asked + equal, -1), (equal >= 0).astype(float)
    rows = np.concatenate([groups.first, others.first])
    _search(both, rows, settings, asked, other, similarity)
    defined = groups.of >= 0
    near = other[groups.of[defined]]
    source = np.where(near >= 0, rows[near] - len(own), -1)
    return _near(defined, near >= 0, source, similarity[groups.of[defined]])


def _near(
    defined: NDArray[np.bool_], found: NDArray[np.bool_], source: Rows, similarity: Shares
) -> Near:
    """Give the texts without n-grams their places back."""
    size = len(defined)
    near = Near(defined, np.zeros(size, bool), np.full(size, -1), np.zeros(size))
    near.found[defined], near.source[defined] = found, source
    near.similarity[defined] = similarity
    return near


def _group(within: TextCounts, start: int, end: int) -> _Groups:
    of = np.full(end - start, -1)
    keys: dict[bytes, int] = {}
    first: list[int] = []
    for row in range(start, end):
        key = within.ids[within.starts[row] : within.starts[row + 1]].tobytes()
        if key:
            group = of[row - start] = keys.setdefault(key, len(keys))
            if group == len(first):
                first.append(row)
    return _Groups(of, np.array(first, np.int64), keys)


def _search(
    corpus: Corpus, rows: Rows, settings: Settings, asked: int, other: Rows, similarity: Shares
) -> None:
    """Find for each of the first groups one that is near: among those behind them, or all."""
    ngrams = corpus.ngrams(settings.order)
    ids, starts = ngrams.within.ids, ngrams.within.starts
    bounds = np.stack([starts[rows], starts[rows + 1]], axis=1)
    sets = [ids[start:end] for start, end in bounds.tolist()]
    hashes = hash_ngrams(corpus, ngrams)
    signed = minhashes(sets, hashes, settings.permutations, settings.seed)
    for order, runs in _runs(signed, settings.bands):
        search(ids, bounds, order, runs, len(other), asked, settings.threshold, other, similarity)


def _runs(signed: NDArray[np.integer], bands: tuple[int, int]) -> Iterator[tuple[Rows, Rows]]:
    """Yield for each band the groups with equals in it, next to each other, and the runs' ends."""
    count, rows = bands
    for band in range(count):
        part = np.ascontiguousarray(signed[:, band * rows : (band + 1) * rows])
        keys = part.view(f"V{part.itemsize * rows}").ravel()
        _, runs, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(runs, kind="stable")
        order = order[sizes[runs[order]] > 1]
        yield order, np.concatenate([[0], np.cumsum(sizes[sizes > 1])])
