"""Telling words: what a region of the space is about, by class-based TF-IDF.

A word w of region c weighs tf(w, c)·log(1 + A / f(w)): its share of the region's words, the average
number A of words in a region, and how often f it is used anywhere (Grootendorst, "BERTopic",
2022, section 3.3). The share is counted in the texts of one side: in the reference's where they
are missed, in the generated ones where they are too many, so that the words tell what is missing or
invented and not what both have.

Words that are as common elsewhere tell nothing. Without a list of stop words, and so in any
language, two rules leave them out: a word must be used twice as often in the region as outside it,
and it must not make up a thousandth of the words of most topics. A third spares single persons: a
word must stand in five texts of the region, in two to four where both sets together have fewer than
200, so that a report without texts does not carry a name that only one text had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.explain.words import Words

Labels = NDArray[np.integer]
Counts = NDArray[np.float64]

SHOWN = 10
LIFT = 2.0
COMMON = 1e-3
FEWEST_TEXTS = 5


class TellingWords:
    """Names regions by the words of their texts.

    Parameters
    ----------
    reference, generated
        The counted words of both sets.
    topics
        The topic of every reference and of every generated text: words that are common in most
        topics name nothing.
    """

    def __init__(self, reference: Words, generated: Words, topics: tuple[Labels, Labels]) -> None:
        self._vocabulary, *self._counts = reference.aligned(generated)
        self._present = [_present(counts) for counts in self._counts]
        first, second = (_row(counts.sum(axis=0)) for counts in self._counts)
        self._used = first + second
        self._total = float(self._used.sum())
        # A word of fewer texts may be the name of a single person
        texts = len(reference) + len(generated)
        self._fewest = min(FEWEST_TEXTS, max(2, texts // 40))
        self._common = self._in_most(topics)

    def of(
        self, labels: tuple[Labels, Labels], regions: int, sides: Mapping[int, int]
    ) -> list[tuple[str, ...]]:
        """Give the telling words of some regions, the most telling first.

        Parameters
        ----------
        labels
            The region of every reference and of every generated text.
        regions
            How many there are.
        sides
            For the regions in question whose texts to read: 0 the reference's, 1 the generated.
        """
        members = [_members(own, regions) for own in labels]
        used = [part @ each for part, each in zip(members, self._counts, strict=True)]
        texts = [part @ each for part, each in zip(members, self._present, strict=True)]
        both, spread = (sum(pair).tocsr() for pair in (used, texts))
        return [
            self._name(used[side][place], both[place], spread[place], self._total / regions)
            for place, side in sides.items()
        ]

    def _name(self, own: Any, both: Any, texts: Any, average: float) -> tuple[str, ...]:
        words, counts = own.indices, own.data.astype(np.float64)
        if not len(words):
            return ()
        share, used = counts / counts.sum(), self._used[words]
        inside, spread = _row(both[:, words].todense()), _row(texts[:, words].todense())
        elsewhere = (used - inside) / max(self._total - float(both.sum()), 1.0)
        telling = (spread >= self._fewest) & (share >= LIFT * elsewhere) & ~self._common[words]
        weights = np.where(telling, share * np.log1p(average / used), 0.0)
        order = np.lexsort((words, -weights))[:SHOWN]
        return tuple(self._vocabulary[words[i]] for i in order if weights[i] > 0)

    def _in_most(self, topics: tuple[Labels, Labels]) -> NDArray[np.bool_]:
        """Which words make up a thousandth of the words of at least half of the topics."""
        count = max(int(own.max()) for own in topics) + 1
        parts = [
            _members(own, count) @ counts for own, counts in zip(topics, self._counts, strict=True)
        ]
        used = sum(parts).tocsr()
        sizes = np.maximum(_row(used.sum(axis=1)), 1.0)
        used.data = used.data >= COMMON * np.repeat(sizes, np.diff(used.indptr))
        found: NDArray[np.bool_] = _row(used.sum(axis=0)) > count / 2
        return found


def _members(labels: Labels, regions: int) -> Any:
    """One row for each region, with a 1 for each of its texts."""
    from scipy import sparse

    places = labels, np.arange(len(labels))
    ones = np.ones(len(labels), np.int32)
    return sparse.csr_matrix((ones, places), shape=(regions, len(labels)))


def _present(counts: Any) -> Any:
    present = counts.copy()
    present.data = np.ones_like(present.data)
    return present


def _row(matrix: Any) -> Counts:
    return np.asarray(matrix, np.float64).ravel()
