"""Texts that several sets share, verbatim or nearly so, with their rows.

Two texts are the same where their words are, letter case, white space and invisible characters
aside. They are nearly the same where they share most of their n-grams of words,

    J(A, B) = |A ∩ B| / |A ∪ B| ≥ threshold

for the sets A and B of their n-grams (Broder, SEQUENCES 1997), as of
:func:`calipers.text.near_duplicates`. Texts of fewer words than `order` have no n-gram, and are
compared as a whole alone.

Every pair of that similarity is seen, without chance. Of two sets with J ≥ t, one n-gram at least
is among the first |A| − ⌈t |A|⌉ + 1 of both, whatever the order of all n-grams (Chaudhuri et al.,
ICDE 2006; Bayardo et al., WWW 2007). With the rarest first, hardly any two texts share one there
unless they are near, and those that do are compared in full.

Each text is matched once, with the most similar text that is left, of equals with that of its own
row first: the matches of two sets are as many as the texts that both hold, also where one repeats
a text that the other has once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import checks_keywords
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.validation import check_inner_share
from calipers.text.corpus import as_strings
from calipers.text.ngrams import TextCounts, check_order
from calipers.text.tokens import tokenise
from calipers.text.unicode_forms import folded_words

ROUNDING = 1e-12
"""What a similarity that equals the threshold may be below it in floating point."""

RUN = 2_000
"""Texts that hold one n-gram, from which on their pairs are listed text by text."""

COMPARED = 20_000
"""Pairs of texts that are compared at once."""

Rows = dict[int, list[int]]
"""Rows of a text, by the set that holds them."""


@dataclass(frozen=True, slots=True)
class SharedText:
    """A text of one set that is the same, or nearly so, as a text of another.

    Attributes
    ----------
    row, other
        Their rows in the two sets, counted from 0.
    similarity
        Share of their n-grams that both hold (Jaccard), 1 for the same text.
    verbatim
        Whether their words are the same, letter case and white space aside.
    words
        Words of the shorter one.
    """

    row: int
    other: int
    similarity: float
    verbatim: bool
    words: int


@checks_keywords
def shared_texts(
    sets: Sequence[Iterable[str]], *, order: int = 5, threshold: float = 0.8
) -> dict[tuple[int, int], list[SharedText]]:
    """Find, for every two sets, the texts of one that are the same, or nearly so, in the other.

    Parameters
    ----------
    sets
        Lists of texts. Empty texts are shared with nobody.
    order
        Words of an n-gram, 1 to 100.
    threshold
        Jaccard similarity of their n-grams from which on two texts are nearly the same, in (0, 1).

    Returns
    -------
    dict
        By the places of two sets, the first before the second: their matches by row of the first.
        Pairs of sets that share nothing are left out.

    Raises
    ------
    InputError
        If an option is out of range, or a set holds no strings.

    Examples
    --------
    >>> first = ["the cat sat on the mat", "a dog barked"]
    >>> second = ["A dog  barked", "so the cat sat on the mat"]
    >>> shared = shared_texts([first, second], order=2, threshold=0.6)
    >>> [(match.row, match.other, round(match.similarity, 2)) for match in shared[0, 1]]
    [(0, 1, 0.83), (1, 0, 1.0)]
    """
    order = check_order(order)
    check_inner_share("threshold", threshold)
    groups, holders = _grouped([as_strings(texts) for texts in sets])
    matches: dict[tuple[int, int], _Matches] = defaultdict(_Matches)
    for group, rows in zip(groups, holders, strict=True):
        for first, second in combinations(sorted(rows), 2):
            matches[first, second].add(rows[first], rows[second], 1.0, True, len(group.split()))
    for one, other, similarity in _near_groups(groups, holders, order, threshold):
        words = min(len(groups[one].split()), len(groups[other].split()))
        for first, second in product(holders[one], holders[other]):
            if first == second:
                continue
            sides = sorted([(first, holders[one][first]), (second, holders[other][second])])
            (low, ours), (high, theirs) = sides
            matches[low, high].add(ours, theirs, similarity, False, words)
    return {
        pair: sorted(found.matches, key=lambda match: match.row)
        for pair, found in sorted(matches.items())
        if found.matches
    }


class _Matches:
    """The matches of two sets; every row is in one of them at most."""

    def __init__(self) -> None:
        self.matches: list[SharedText] = []
        self._rows: set[int] = set()
        self._others: set[int] = set()

    def add(
        self,
        rows: Sequence[int],
        others: Sequence[int],
        similarity: float,
        verbatim: bool,
        words: int,
    ) -> None:
        """Match the rows of one text with those of another, as far as both are left."""
        left = [row for row in rows if row not in self._rows]
        right = [row for row in others if row not in self._others]
        both = set(left) & set(right)
        pairs = [(row, row) for row in left if row in both]
        pairs += zip(
            (row for row in left if row not in both),
            (row for row in right if row not in both),
            strict=False,
        )
        for row, other in pairs:
            self._rows.add(row)
            self._others.add(other)
            self.matches.append(SharedText(row, other, similarity, verbatim, words))


def _grouped(sets: Sequence[Sequence[str]]) -> tuple[list[str], list[Rows]]:
    """List the different texts that are not empty, and of each the rows of every set."""
    groups: dict[str, Rows] = {}
    for place, texts in enumerate(sets):
        for row, text in enumerate(texts):
            folded = " ".join(folded_words(text))
            if folded:
                groups.setdefault(folded, {}).setdefault(place, []).append(row)
    return list(groups), list(groups.values())


def _near_groups(
    groups: Sequence[str], holders: Sequence[Rows], order: int, threshold: float
) -> list[tuple[int, int, float]]:
    """Pairs of different texts of different sets that are near, the most similar first."""
    if len(groups) < 2:
        return []
    # Groups are folded words already, with one space between them
    (corpus,) = tokenise(groups, tokenizer="whitespace")
    within = corpus.ngrams(order).within
    # Texts of one set alone are not compared with others of that set
    only = np.array([next(iter(rows)) if len(rows) == 1 else -1 for rows in holders])
    first, second = _candidates(within, only, threshold)
    similarity = _similarities(within, first, second)
    near = similarity >= threshold - ROUNDING
    found = zip(first[near].tolist(), second[near].tolist(), similarity[near].tolist(), strict=True)
    return sorted(found, key=lambda pair: (-pair[2], *_least_rows(holders, *pair[:2])))


def _least_rows(holders: Sequence[Rows], one: int, other: int) -> tuple[Any, ...]:
    """What decides between pairs of one similarity: equal rows first, then the first rows."""
    rows, others = (sorted({r for rows in holders[g].values() for r in rows}) for g in (one, other))
    return not set(rows) & set(others), min(rows[0], others[0]), max(rows[0], others[0])


def _candidates(within: TextCounts, only: Longs, threshold: float) -> tuple[Longs, Longs]:
    """Pairs of texts that share an n-gram among the rarest of both, the first before the second."""
    ids, sizes = within.ids, within.different
    counts = np.bincount(ids)
    texts = np.repeat(np.arange(len(sizes)), sizes)
    rarest = np.lexsort((ids, counts[ids], texts))
    place = np.arange(len(ids)) - np.repeat(within.starts[:-1], sizes)
    first = sizes - np.ceil(threshold * sizes - ROUNDING).astype(np.int64) + 1
    taken = rarest[(place < first[texts]) & (counts[ids[rarest]] > 1)]
    taken = taken[np.lexsort((texts[taken], ids[taken]))]
    runs = np.flatnonzero(np.diff(ids[taken], prepend=-1))
    lengths = np.diff(np.append(runs, len(taken)))
    keys = [np.empty(0, np.int64)]
    for a, b in _pairs_of_runs(texts[taken], runs, lengths):
        small, large = np.minimum(sizes[a], sizes[b]), np.maximum(sizes[a], sizes[b])
        possible = (small >= threshold * large - ROUNDING) & ((only[a] != only[b]) | (only[a] < 0))
        keys.append(np.unique(a[possible] * len(sizes) + b[possible]))
    first_of, second_of = np.divmod(np.unique(np.concatenate(keys)), max(1, len(sizes)))
    return first_of, second_of


def _pairs_of_runs(
    texts: Longs, runs: Longs, lengths: NDArray[np.intp]
) -> Iterator[tuple[Longs, Longs]]:
    """All pairs of texts of one run, for many runs of one length at once."""
    for length in np.unique(lengths[lengths > 1]).tolist():
        starts = runs[lengths == length]
        if length > RUN:
            for start, step in product(starts.tolist(), range(length - 1)):
                others = texts[start + step + 1 : start + length]
                yield np.full(len(others), texts[start + step]), others
            continue
        left, right = np.triu_indices(length, 1)
        several = max(1, RUN * RUN // len(left))
        for part in range(0, len(starts), several):
            begin = starts[part : part + several, None]
            yield texts[begin + left].ravel(), texts[begin + right].ravel()


def _similarities(within: TextCounts, first: Longs, second: Longs) -> Floats:
    """Share of n-grams that both texts of each pair hold."""
    from scipy.sparse import csr_matrix

    size = int(within.ids.max(initial=-1)) + 1
    shape = (len(within.different), max(1, size))
    held = csr_matrix((np.ones(len(within.ids), np.int32), within.ids, within.starts), shape=shape)
    shared = np.empty(len(first))
    for start in range(0, len(first), COMPARED):
        part = slice(start, start + COMPARED)
        both = held[first[part]].multiply(held[second[part]])
        shared[part] = np.asarray(both.sum(axis=1)).ravel()
    union = within.different[first] + within.different[second] - shared
    return np.asarray(shared / np.maximum(union, 1), dtype=np.float64)


def least_samples(share: float, *, level: float = 0.95) -> int:
    """Return the number of texts that show at least one copy with a given probability.

    Of n texts none is a copy with the chance (1 − share)ⁿ.

    Examples
    --------
    >>> least_samples(0.01), least_samples(0.2)
    (299, 14)
    """
    return math.ceil(math.log(1 - level) / math.log1p(-share))


def largest_unseen(n: int, *, level: float = 0.95) -> float:
    """Return the largest share of copies that n texts may miss with a probability of 1 − `level`.

    Examples
    --------
    >>> round(largest_unseen(250), 4)
    0.0119
    """
    return float(-math.expm1(math.log(1 - level) / n))
