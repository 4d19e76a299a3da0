"""Families of systems that answer the same prompts alike, by hierarchical clustering.

Sets are joined by average linkage: the two groups whose members answer most alike on average come
together first. The leaves of that tree are ordered so that neighbours are as alike as they can be
(optimal leaf ordering, Bar-Joseph et al., Bioinformatics 2001), which is the order of every matrix.
A family is a group that came together above a threshold: within it, systems are more alike, on
average, than 95 % of all pairs, or than those below a clear gap where more than 5 % lie above one
(as where half of the systems are copies of one). So there is a family even among systems that are
about equally alike; the likeness beside it says how much more alike its members are. Few sets have
no families: their pairs are seen at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.serialise import Plain

ALIKE = 0.95
"""The share of pairs that a family is more alike than."""

CLEAR = 1 / 3
"""The part of the way from the median pair to the most alike one that a clear gap takes."""

FEWEST = 8
"""Sets from which on there are families."""


@dataclass(frozen=True)
class Merge(Plain):
    """Two groups of sets that are joined.

    Attributes
    ----------
    first, second
        Their places: of a set in `Families.order`, or behind these of the merge that made the
        group.
    likeness
        How alike their members are, the mean over pairs.
    """

    first: int
    second: int
    likeness: float


@dataclass(frozen=True)
class Families(Plain):
    """A hierarchical clustering of sets by similarity, and the order of its leaves.

    Attributes
    ----------
    order
        The names of the sets, so that neighbours are alike; those whose likeness to others is not
        known come last.
    merges
        The tree: which groups come together, the most alike first.
    threshold
        How alike the members of a family are at least, on average; NaN where there are too few
        sets for families.
    groups
        The families, the most alike first, each in the order of the matrix.
    """

    order: tuple[str, ...]
    merges: tuple[Merge, ...]
    threshold: float
    groups: tuple[tuple[str, ...], ...]


def families_of(names: Sequence[str], likeness: NDArray[np.float64]) -> Families:
    """Cluster sets by similarity, and order them so that similar ones are adjacent.

    Parameters
    ----------
    names
        Of the sets.
    likeness
        How alike every two of them are, shape ``(s, s)``; NaN where that is not known. The diagonal
        does not count.

    Examples
    --------
    >>> likeness = np.array([[1, 0.1, 0.8], [0.1, 1, 0.3], [0.8, 0.3, 1]])
    >>> families_of(["a", "b", "c"], likeness).order
    ('a', 'c', 'b')
    """
    apart = ~np.eye(len(names), dtype=bool)
    known = np.flatnonzero((np.isfinite(likeness) & apart).any(axis=1))
    unknown = [name for place, name in enumerate(names) if place not in known]
    if len(known) < 2:
        return Families(tuple(names), (), float("nan"), ())
    values = likeness[np.ix_(known, known)]
    tree = _tree(values)
    leaves = _leaves(tree, len(known))
    rank = np.empty(len(known), np.int64)
    rank[leaves] = np.arange(len(known))
    places = np.concatenate([rank, np.arange(len(known), 2 * len(known))])
    merges = tuple(
        Merge(int(places[int(first)]), int(places[int(second)]), 1 - distance)
        for first, second, distance, _ in tree.tolist()
    )
    pairs = values[np.triu_indices(len(known), 1)]
    threshold = _threshold(pairs) if len(known) >= FEWEST else float("nan")
    order = tuple(names[known[leaf]] for leaf in leaves)
    groups = _groups(merges, order, threshold)
    rows = {name: row for row, name in enumerate(names)}

    def mean(group: tuple[str, ...]) -> float:
        members = [rows[name] for name in group]
        return float(likeness[np.ix_(members, members)][np.triu_indices(len(members), 1)].mean())

    groups = tuple(sorted(groups, key=mean, reverse=True))
    return Families((*order, *unknown), merges, threshold, groups)


def _threshold(pairs: NDArray[np.float64]) -> float:
    """How alike the members of a family are at least."""
    upper = np.sort(pairs)[len(pairs) // 2 :]
    gaps = np.diff(upper)
    place = int(gaps.argmax())
    quantile = float(np.quantile(pairs, ALIKE))
    if gaps[place] < CLEAR * (upper[-1] - upper[0]):
        return quantile
    return min(quantile, float(upper[place] + upper[place + 1]) / 2)


def _tree(likeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average linkage, the leaves in the optimal order."""
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering

    distances = 1 - likeness[np.triu_indices(len(likeness), 1)]
    lowest = min(0.0, float(distances.min()))  # similarity may exceed 1 by rounding
    tree = linkage(distances - lowest, "average")
    ordered: NDArray[np.float64] = optimal_leaf_ordering(tree, distances - lowest)
    ordered[:, 2] += lowest
    return ordered


def _leaves(tree: NDArray[np.float64], count: int) -> list[int]:
    """The leaves from one end to the other; of both directions that which keeps more of theirs."""
    groups: list[list[int]] = [[place] for place in range(count)]
    for first, second in tree[:, :2].astype(int).tolist():
        groups.append(groups[first] + groups[second])
    leaves = groups[-1]
    return leaves if leaves[0] < leaves[-1] else leaves[::-1]


def _groups(
    merges: Sequence[Merge], order: Sequence[str], threshold: float
) -> tuple[tuple[str, ...], ...]:
    """The largest groups that came together above a likeness."""
    members = [[place] for place in range(len(order))]
    largest: set[int] = set()
    for place, merge in enumerate(merges, len(order)):
        members.append(sorted(members[merge.first] + members[merge.second]))
        if merge.likeness > threshold:
            largest = largest - {merge.first, merge.second} | {place}
    return tuple(tuple(order[leaf] for leaf in members[group]) for group in sorted(largest))
