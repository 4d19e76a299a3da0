"""The neighbour estimates from tiles of distances, for things that are no vectors.

The same two objects as :func:`~calipers.estimate.neighbourhoods` and
:func:`~calipers.estimate.knn_ratios` give for vectors, by the same rules for ties, from a
:class:`~calipers.estimate.distance_provider.DistanceProvider`. Two passes over the tiles, each set
within itself and then one against the other, look at every pair once; memory grows with n + m. Both
estimates can be read from one pair of passes, which matters where a distance is dear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from calipers.errors import InputError
from calipers.estimate.balls import Distance
from calipers.estimate.blocks import Blocks
from calipers.estimate.distance_lists import Held, Nearby
from calipers.estimate.distance_provider import DistanceProvider, Doubles, across, within
from calipers.estimate.knn_ratios import PAPER_K, count_itself, ratios_of_counts
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.estimate.neighbourhoods import NO_SUPPORTS, Balls, Neighbourhoods, Ties
from calipers.estimate.tiles import Span
from calipers.estimate.validate import check_choice, check_whole


def neighbourhoods_from(
    provider: DistanceProvider,
    *,
    k: int = 4,
    k_max: int | None = None,
    ties: Ties = "closed",
    threads: int | None = None,
) -> Neighbourhoods:
    """Find out who lies in whose k-NN balls from distances alone, without an n by n matrix.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k
        Neighbours that span a ball, from 1 to the smaller set less one.
    k_max
        Counts are kept for every k up to this one (default: `k`).
    ties
        Whether the rim of a ball belongs to it: ``"closed"`` (the papers) or ``"open"`` (prdc).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    Neighbourhoods
        Every count equals that of a brute force over the provider's distances. There are no
        replicates and no further supports.

    Raises
    ------
    InputError
        If a set is too small for k, or a tile is not as the provider should give it.
    """
    largest = max(check_whole("k", k, 1), k if k_max is None else check_whole("k_max", k_max, 1))
    return look(provider, k_max=largest, ties=ties, threads=threads).neighbourhoods


def knn_ratios_from(
    provider: DistanceProvider, *, k: int = PAPER_K, threads: int | None = None
) -> LikelihoodRatios:
    """Estimate p/q at every sample from how its nearest others divide, from distances alone.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k
        How many neighbours in the union, from 1 to n + m - 1; all at the distance of the k-th
        count.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        As :func:`~calipers.estimate.knn_ratios` gives them for vectors.

    Raises
    ------
    InputError
        If both sets together are too small for k, or a tile is not as it should be.
    """
    return look(provider, k_union=check_whole("k", k, 1), threads=threads).ratios


@dataclass(frozen=True)
class Seen:
    """What two passes over the distances of two sets found.

    Attributes
    ----------
    name
        Of the distance.
    own, other, union
        The nearest of every row in its own set, in the other one, in both.
    held
        Who lies in whose balls.
    """

    name: str
    own: Nearby
    other: Nearby
    union: Nearby
    held: Held

    @property
    def neighbourhoods(self) -> Neighbourhoods:
        """The k-NN balls of both sets, for all k up to k_max."""
        n = self.own.n
        m = len(self.own.distance) - n
        return Neighbourhoods(
            reference=self._balls(slice(0, n), slice(n, n + m)),
            generated=self._balls(slice(n, n + m), slice(0, n)),
            ties="closed" if self.held.closed else "open",
            distance=cast(Distance, self.name),
            supports=NO_SUPPORTS,
            k_max=self.held.radii.shape[1],
            reference_blocks=Blocks.none(n),
            generated_blocks=Blocks.none(m),
        )

    @property
    def ratios(self) -> LikelihoodRatios:
        """p/q at every row."""
        n, k = self.union.n, self.union.distance.shape[1]
        reference, generated = count_itself(*self.union.by_set, n)
        return ratios_of_counts(reference, generated, n, k=k, distance=self.name)

    def _balls(self, owners: slice, guests: slice) -> Balls:
        return Balls(
            radii=self.held.radii[owners],
            held=np.cumsum(self.held.held[owners], axis=1, dtype=np.int32),
            inside=np.cumsum(self.held.inside[guests], axis=1, dtype=np.int32),
            own_nearest=self.own.index[owners, 0] - owners.start,
            nearest=self.other.index[guests, 0] - owners.start,
            distance=np.ascontiguousarray(self.other.distance[guests, 0]),
        )


def look(
    provider: DistanceProvider,
    *,
    k_max: int = 0,
    k_union: int = 0,
    ties: Ties = "closed",
    threads: int | None = None,
) -> Seen:
    """Make the two passes that both estimates are read from; 0 leaves one of them out.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k_max
        Largest k of the balls.
    k_union
        Neighbours in the union, for the ratios.
    ties
        Whether the rim of a ball belongs to it; the k-th neighbour in the union always counts.
    threads
        Number of threads (default: all cores); no effect on the result.
    """
    n, m = provider.sizes
    check_choice("ties", ties, ("closed", "open"))
    _check_sizes(n, m, k_max, k_union)
    check_whole("threads", 1 if threads is None else threads, 1)
    own, other, union = (Nearby.empty(n + m, k, n) for k in (k_max, min(k_max, 1), k_union))

    def take_own(tile: Doubles, rows: Span, columns: Span) -> None:
        own.take(tile, rows, columns)
        union.take(tile, rows, columns)

    def take_other(tile: Doubles, rows: Span, columns: Span) -> None:
        held.take(tile, rows, columns)
        other.take(tile, rows, columns)
        union.take(tile, rows, columns)

    for span in ((0, n), (n, n + m)):
        within(provider, span, take_own, threads=threads)
    held = Held.empty(own.distance, closed=ties == "closed")
    across(provider, take_other, threads=threads)
    return Seen(provider.name, own, other, union, held)


def _check_sizes(n: int, m: int, k_max: int, k_union: int) -> None:
    for name, rows in (("reference", n), ("generated", m)):
        if rows < k_max + 1:
            raise InputError(
                f"k = {k_max} needs at least {k_max + 1} samples in each set; "
                f"the {name} set has {rows}"
            )
    if k_union > n + m - 1:
        raise InputError(
            f"k must be at most {n + m - 1}, the number of other samples in both sets; "
            f"found {k_union}"
        )
