"""Designs of paired comparisons: all pairs of systems, or a fixed number of opponents each.

With n systems there are n(n-1)/2 pairs, soon too many. In a balanced incomplete design every system
meets equally many others, R, and all are connected. What it costs is read off its Laplacian L
(R on the diagonal, -1 for each pair that meets): where systems are about equally good, the variance
of the difference of two fitted scores is proportional to L⁺ᵢᵢ + L⁺ⱼⱼ - 2L⁺ᵢⱼ, on average over all
pairs of systems to 2·tr(L⁺)/(n-1). Among many regular designs, cyclic ones and circles laid at
random through all systems, the one of the smallest mean variance is taken. Its *efficiency* is the
mean variance with all pairs over its own, from equally many judgements: 1 for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.validation import check_whole

MOST = 300
"""Designs of either kind that are looked at, at most."""

WORK = 10_000_000
"""Bounds their number times n³, so that many systems take about a second too."""

TRIES = 20
"""How often a circle is laid anew that would repeat a pair."""

ALIKE = 1e-9

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Design:
    """The pairs of systems that are compared.

    Attributes
    ----------
    names
        The systems, in the order given.
    pairs
        Names of the two systems of each pair, each pair once.
    opponents
        How many others each system meets.
    efficiency
        In (0, 1]: how many judgements of all pairs tell as much about score differences as one of
        these pairs does, for systems about equally good. 1 where all pairs meet.
    """

    names: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    opponents: int
    efficiency: float

    @property
    def complete(self) -> bool:
        """Whether every system is compared with every other."""
        return self.opponents == len(self.names) - 1

    def __str__(self) -> str:
        """Say what meets, in a sentence."""
        n = len(self.names)
        if self.complete:
            return f"all {len(self.pairs):,} pairs of {n} systems"
        return (
            f"{len(self.pairs):,} of {n * (n - 1) // 2:,} pairs of {n} systems, each system with "
            f"{self.opponents} others; a judgement tells {100 * self.efficiency:.0f} % of what it "
            "would tell if all pairs were compared"
        )


def pair_design(names: Sequence[str], *, opponents: int | None = None) -> Design:
    """Choose which pairs of systems are compared.

    Parameters
    ----------
    names
        The systems.
    opponents
        How many others each system meets; None, or one less than there are systems, for all pairs.
        The same choice comes of the same number of systems always.

    Raises
    ------
    InputError
        If there are fewer than two systems or a name occurs twice; or if no design has so
        many opponents: fewer than two do not connect the systems, and an odd number does not go
        into an odd number of systems.

    Examples
    --------
    >>> pair_design(["a", "b", "c"]).pairs
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    >>> ring = pair_design(["a", "b", "c", "d", "e"], opponents=2)
    >>> len(ring.pairs), round(ring.efficiency, 2)
    (5, 0.8)
    """
    names = tuple(names)
    n = len(names)
    if n < 2:
        raise InputError(f"judgements of pairs need at least two systems, found {n}")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"two systems are called {name!r}; give each a name of its own")
    if opponents is None or opponents == n - 1:
        return Design(names, tuple(combinations(names, 2)), n - 1, 1.0)
    _check_opponents(n, opponents)
    places, variance = _best(n, opponents)
    # All pairs of n systems have the mean variance 2/n, and (n - 1)/opponents times the judgements
    efficiency = (2 / n) * (n - 1) / opponents / variance
    pairs = tuple((names[i], names[j]) for i, j in places)
    return Design(names, pairs, opponents, min(1.0, efficiency))


def _check_opponents(n: int, opponents: int) -> None:
    check_whole("opponents", opponents, 1)
    if opponents >= n:
        raise InputError(
            f"opponents must be at most {n - 1}, as there are {n} systems; found {opponents}"
        )
    if opponents == 1:
        raise InputError(
            f"opponents must be at least 2, since with 1 the {n} systems fall apart into pairs; "
            "found 1"
        )
    if n % 2 and opponents % 2:
        raise InputError(
            f"opponents must be even where the number of systems is odd ({n}); found {opponents}; "
            f"{opponents - 1} or {opponents + 1} will do"
        )


def _best(n: int, opponents: int) -> tuple[Places, float]:
    """Find the design of the smallest mean variance, the first of those that are alike."""
    best: Places = ()
    least = math.inf
    most = min(MOST, max(20, WORK // n**3))
    candidates = (_cyclic(n, opponents), _laid_at_random(n, opponents))
    for places in chain.from_iterable(islice(kind, most) for kind in candidates):
        variance = mean_variance(n, places)
        if variance < least - ALIKE:
            best, least = places, variance
    return best, least


def mean_variance(n: int, pairs: Sequence[tuple[int, int]]) -> float:
    """Return the mean variance of the difference of two systems over all pairs, at unit variance.

    Infinite where the pairs do not connect all systems.

    Examples
    --------
    >>> mean_variance(3, [(0, 1), (0, 2), (1, 2)])
    0.6666666666666666
    """
    laplacian: NDArray[np.float64] = np.zeros((n, n))
    for i, j in pairs:
        laplacian[i, i] += 1
        laplacian[j, j] += 1
        laplacian[i, j] -= 1
        laplacian[j, i] -= 1
    values = np.linalg.eigvalsh(laplacian)[1:]
    if values[0] < ALIKE:
        return math.inf
    return float(2 * (1 / values).sum() / (n - 1))


def _cyclic(n: int, opponents: int) -> Iterator[Places]:
    """Designs in which place i meets i ± s, for a few distances s; with n/2 where R is odd."""
    distances = range(1, (n + 1) // 2)
    halves = [n // 2] if opponents % 2 else []
    for chosen in combinations(distances, opponents // 2):
        pairs = {
            (min(i, j), max(i, j))
            for distance in (*chosen, *halves)
            for i in range(n)
            for j in [(i + distance) % n]
        }
        yield tuple(sorted(pairs))


def _laid_at_random(n: int, opponents: int) -> Iterator[Places]:
    """Designs of circles through all systems, with pairs besides where R is odd."""
    rng = np.random.default_rng(0)
    for _ in range(MOST):
        pairs: set[tuple[int, int]] = set()
        for _ in range(opponents // 2):
            pairs |= _fresh(rng, n, pairs, step=1)
        if opponents % 2:
            pairs |= _fresh(rng, n, pairs, step=2)
        if 2 * len(pairs) == n * opponents:
            yield tuple(sorted(pairs))


def _fresh(
    rng: np.random.Generator, n: int, pairs: set[tuple[int, int]], *, step: int
) -> set[tuple[int, int]]:
    """Lay a circle (step 1) or disjoint pairs (step 2) that repeat no pair; nothing if none fit."""
    for _ in range(TRIES):
        order = rng.permutation(n).tolist()
        laid = {
            (min(one, other), max(one, other))
            for place in range(0, n, step)
            for one, other in [(order[place], order[(place + 1) % n])]
        }
        if not laid & pairs:
            return laid
    return set()
