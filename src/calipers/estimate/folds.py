"""Folds for a classifier between two sets: stratified, seeded, with copies kept together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points

Folds = NDArray[np.int64]


def assign_folds(
    reference: Points, generated: Points, *, folds: int, seed: int
) -> tuple[Folds, Folds]:
    """Deal the rows of both sets to folds, as evenly as they go.

    A row and its copy in the other set come into one fold: apart, a classifier that has seen the
    one would be certain, and wrong, about the other. The first copy is matched with the first, the
    second with the second; copies within a set alone are dealt like other rows. Folds depend on the
    rows and not on their order, and swapping the sets swaps them.

    Returns
    -------
    tuple of ndarrays
        Fold of every reference and of every generated row, shapes ``(n,)`` and ``(m,)``, int64. In
        either set the sizes of two folds differ by 1 at most.
    """
    n = len(reference)
    rank = _ranks(np.concatenate([reference, generated]))
    copies = [_count_before(rank[:n]), _count_before(rank[n:])]
    keys = [_pair_key(part, copy) for part, copy in zip((rank[:n], rank[n:]), copies, strict=True)]
    dealt = []
    for own, other in (keys, keys[::-1]):
        copied = np.isin(own, other)
        fold = np.empty(len(own), np.int64)
        # Both sets are shuffled alike, so that nothing hangs on which of them comes first
        fold[copied] = _deal(own[copied], folds, seed, start=0)
        fold[~copied] = _deal(own[~copied], folds, seed, start=int(copied.sum()))
        dealt.append(fold)
    return dealt[0], dealt[1]


def _ranks(rows: Points) -> Folds:
    """A number for every row, the same for equal rows and no other, whatever their order."""
    plain = np.ascontiguousarray(rows + 0.0)  # no negative zeros
    raw = plain.view(np.dtype((np.void, plain.itemsize * plain.shape[1]))).ravel()
    return np.unique(raw, return_inverse=True)[1].astype(np.int64).ravel()


def _count_before(rank: Folds) -> Folds:
    """How many equal rows stand before every row."""
    order = np.argsort(rank, kind="stable")
    ordered = rank[order]
    first = np.searchsorted(ordered, ordered)
    count = np.empty_like(rank)
    count[order] = np.arange(len(rank)) - first
    return count


def _pair_key(rank: Folds, copy: Folds) -> Folds:
    """One number for a row and which of its copies it is."""
    return rank * (1 << 31) + copy


def _deal(keys: Folds, folds: int, seed: int, *, start: int) -> Folds:
    """Shuffle the keys, which are all different, and deal them round, after `start` others."""
    dealt = (np.random.default_rng(seed).permutation(len(keys)) + start) % folds
    fold = np.empty(len(keys), np.int64)
    fold[np.argsort(keys)] = dealt
    return fold
