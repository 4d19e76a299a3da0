"""Which samples lie in which k-NN balls: the basis of all support metrics.

Three passes over the distances, each set within itself for the radii and one across for the counts,
give exact counts for every k up to `k_max` in memory O(n + m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.catalogue.settings import Distance, Ties
from calipers.errors import InputError, checks_keywords
from calipers.estimate.axes import unit_rows
from calipers.estimate.knn.balls import (
    BallSide,
    Supports,
    as_distance,
    capped_own,
    check_supports,
    common_radius,
    median_radius,
    radii_of,
)
from calipers.estimate.knn.nearest import Nearest
from calipers.estimate.knn.passes import EXACT, LocalPasses, Passes, SettledCounts, chosen_passes
from calipers.estimate.knn.strata import (
    Strata,
    capped_without_mates,
    largest_stratum,
    nearest_others,
    of_others,
    without_mates,
)
from calipers.numeric.arrays import Ints
from calipers.numeric.blocks import Blocks, SideName
from calipers.numeric.distances import Points, Sieve, sieves
from calipers.numeric.kept import chosen_store, content
from calipers.numeric.validation import check_choice, check_pair, check_whole

# Neighbours kept beyond k, at least, so that the radii without one block of rows are known too
SPARE = 8
# Where labels are so uneven that more would be needed, such a radius is the last known one
MOST_KEPT = 1024
SMALL_PART = 5_000
"""Rows up to which the neighbours of a part of a reference are kept, as those of all of it are."""
HALVED = 12
"""Neighbours kept beyond what halves need nearly always."""


@dataclass(frozen=True)
class Work:
    """The options of one call, and the three passes that follow from them."""

    k: int
    k_max: int
    closed: bool
    distance: Distance
    supports: Supports
    passes: Passes
    strata: Strata | None = None

    def side(
        self,
        points: Sieve,
        blocks: Blocks,
        *,
        keep: bool = False,
        labels: NDArray[np.int64] | None = None,
    ) -> BallSide:
        """Find the balls of one set; with `keep` its neighbours are stored if there is a store.

        `labels` are the strata of its rows, where those of one stratum are not neighbours.
        """
        keep = keep and (blocks.count > 0 or len(points.points) <= SMALL_PART)
        # One neighbour more tells whether ties go on beyond the rim of a capped ball
        mates = 0 if labels is None else largest_stratum(labels) - 1
        others = len(points.points) - 1 - mates
        spare = int(self.supports.capped is not None)
        if blocks.count:
            spare = spare_for_blocks(self.k, blocks.count)
        if blocks.halvings:  # enough that k of them lie in the same half, by every halving
            spare = max(spare, math.ceil(self.k + 6 * math.sqrt(2 * self.k)) + HALVED)
        while True:
            neighbours = min(self.k_max + spare, others)
            nearest = self._nearest_within(points, neighbours + mates, keep=keep)
            if labels is not None:
                nearest = of_others(nearest, labels, neighbours)
            radii, short = radii_of(
                nearest, k=self.k, k_max=self.k_max, blocks=blocks, supports=self.supports
            )
            if short == 0 or neighbours == others or neighbours > MOST_KEPT:
                spread = common_radius(nearest, self.supports, self.distance)
                median = median_radius(nearest.squared, self.supports.capped)
                return BallSide(points, nearest, radii, self.k, median, spread)
            spare = 2 * spare + self.k  # one block holds most neighbours of some row: keep more

    def _nearest_within(self, points: Sieve, k: int, *, keep: bool) -> Nearest:
        """Find the k nearest neighbours within a set; where more are kept, the first k of those.

        They are the same however they were found, exact and in one order, so long as none is
        missed.
        """
        store = chosen_store() if keep and self.passes.search == EXACT else None
        if store is None:
            return self.passes.nearest(points, k)
        key = ("nearest", content(points.points))
        known: Nearest | None = store.known(key)
        if known is None or known.index.shape[1] < k:
            known = self.passes.nearest(points, k)
            store.keep(key, known)
        return Nearest(
            np.ascontiguousarray(known.squared[:, :k]), np.ascontiguousarray(known.index[:, :k])
        )

    def count_across(
        self, reference: BallSide, generated: BallSide
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process every pair of the two sets once."""
        n, m = len(reference.points.points), len(generated.points.points)
        blocks = reference.radii.sizes[1]
        neighbours = self._nearest_across(n, blocks), self._nearest_across(m, blocks)
        if self.strata is None:
            return self.passes.count(
                reference, generated, closed=self.closed, neighbours=neighbours
            )
        if self.supports.across:  # so that as many of other strata are among them
            more = self.strata.largest
            neighbours = min(n, neighbours[0] + more[0]), min(m, neighbours[1] + more[1])
        settled = self.passes.count(reference, generated, closed=self.closed, neighbours=neighbours)
        return without_mates(self.strata, (reference, generated), settled, closed=self.closed)

    def _nearest_across(self, owners: int, blocks: int) -> int:
        """How many nearest owners of every guest to keep."""
        if not self.supports.across:
            return 1
        return min(owners, self.k + (spare_for_blocks(self.k, blocks) if blocks else 0))


def spare_for_blocks(k: int, blocks: int) -> int:
    """Return the number of neighbours to keep beyond k, for blocks that may hold some of them."""
    share = k / blocks
    return max(SPARE, math.ceil(share + 6 * math.sqrt(share)))


def _largest_k(
    k: int, k_max: int, reference: Points, generated: Points, strata: Strata | None
) -> int:
    """Return the largest k that is asked for, or say which set is too small for it."""
    largest = max(k, check_whole("k_max", k_max, 1))
    if strata is not None:
        sides = zip(("reference", "generated"), (reference, generated), strata.largest, strict=True)
        for name, points, mates in sides:
            if len(points) - mates < largest:
                raise InputError(
                    f"k = {largest} needs at least {largest} samples of other strata for every "
                    f"sample; of {len(points)} in the {name} set, {mates} are of one stratum"
                )
    for name, points in (("reference", reference), ("generated", generated)):
        if len(points) < largest + 1:
            raise InputError(
                f"k = {largest} needs at least {largest + 1} samples in each set; "
                f"the {name} set has {len(points)}"
            )
    return largest


def check_blocks(blocks: tuple[Blocks, Blocks], n: int, m: int) -> None:
    """Refuse labels with which kernels would write outside their arrays."""
    if blocks[0].count != blocks[1].count:
        raise InputError(
            "both sets must have equally many blocks; "
            f"found {blocks[0].count} and {blocks[1].count}"
        )
    if blocks[0].halvings != blocks[1].halvings:
        raise InputError("either both sets or none must be halved; found one that is")
    for name, side, rows in (("reference", blocks[0], n), ("generated", blocks[1], m)):
        labels = side.labels
        if labels.shape != (rows,):
            raise InputError(f"{name} blocks must label {rows} rows; found shape {labels.shape}")
        if side.count and not 0 <= labels.min() <= labels.max() < side.count:
            raise InputError(f"{name} block labels must lie in 0..{side.count - 1}")
        codes = side.halves
        if codes is not None and (codes.shape != (rows,) or codes.dtype != np.uint64):
            raise InputError(
                f"{name} halves must be codes of {rows} rows, uint64; "
                f"found shape {codes.shape}, dtype {codes.dtype}"
            )


def directions(reference: Points, generated: Points) -> tuple[Points, Points]:
    """Normalise rows to length one, where the squared distance is twice the cosine distance."""
    for name, points in (("reference", reference), ("generated", generated)):
        zero = np.flatnonzero(~points.any(axis=1))
        if len(zero):
            raise InputError(
                f"{name}: distance cosine needs rows that are not all zero; "
                f"{len(zero)} row(s) are, the first is row {zero[0] + 1}"
            )
    return unit_rows(reference.astype(np.float64)), unit_rows(generated.astype(np.float64))


NO_SUPPORTS = Supports()


@dataclass(frozen=True)
class NeighbourReplicates:
    """Counts with one block of rows left out, for the chosen k.

    Attributes
    ----------
    held_without
        Guests in the ball of each owner once block b of the owners is deleted, ``(n, blocks)``.
    held_from
        Guests in the ball of each owner that belong to block b of theirs, ``(n, blocks)``.
    inside_without
        Owners that hold each guest once block b of the owners is deleted, ``(m, blocks)``.
    radii_without
        Radius of each ball once block b of the owners is deleted, shape ``(n, blocks)``.
    across_without
        Distance of each guest to its k-th nearest owner once block b of the owners is deleted,
        shape ``(m, blocks)``, or None.
    radii_halves
        Radius of each ball among the owners of its own half, shape ``(n, halvings)``.
    held_halves
        Guests of the same half in that ball, shape ``(n, halvings)``.
    inside_halves
        Owners of the same half whose such balls hold each guest, shape ``(m, halvings)``.
    """

    held_without: Ints
    held_from: Ints
    inside_without: Ints
    radii_without: NDArray[np.float64]
    across_without: NDArray[np.float64] | None
    radii_halves: NDArray[np.float64]
    held_halves: Ints
    inside_halves: Ints


@dataclass(frozen=True)
class Balls(Brief):
    """The k-NN balls of one set (the owners), and which rows of the other (the guests) they hold.

    Attributes
    ----------
    radii
        Distance of every owner to its k-th nearest own neighbour, for k from 1 to k_max, shape
        ``(n, k_max)``, float64.
    held
        How many guests lie in the ball of every owner, for each k, ``(n, k_max)``, int32.
    inside
        In how many of the balls every guest lies, for each k, shape ``(m, k_max)``, int32.
    own_nearest
        The nearest own neighbour of every owner, the first of equal ones, shape ``(n,)``, int64.
    nearest
        The owner nearest to every guest, the first of equal ones, shape ``(m,)``, int64.
    distance
        The distance to it, shape ``(m,)``, float64.
    capped
        How many balls of capped radius hold every guest, shape ``(m,)``, int32, or None.
    capped_own
        How many balls of capped radius hold every owner, its own left out, ``(n,)``, or None.
    realism
        Largest ratio of the radius of a smaller ball to the distance from its centre, for every
        guest, shape ``(m,)``, float64, infinite at distance 0, or None.
    missed
        Product of distance over the common radius R over the owners within R of every guest,
        shape ``(m,)``, float64, or None.
    across
        Distance of every guest to its k-th nearest owner, shape ``(m,)``, float64, or None.
    replicates
        The counts with one block of rows left out, or None where no blocks were given.
    """

    radii: NDArray[np.float64]
    held: Ints
    inside: Ints
    own_nearest: NDArray[np.int64]
    nearest: NDArray[np.int64]
    distance: NDArray[np.float64]
    capped: Ints | None = None
    capped_own: Ints | None = None
    realism: NDArray[np.float64] | None = None
    missed: NDArray[np.float64] | None = None
    across: NDArray[np.float64] | None = None
    replicates: NeighbourReplicates | None = None

    @property
    def first(self) -> NDArray[np.int64]:
        """The smallest k whose ball holds the guest; k_max + 1 where none does, shape ``(m,)``."""
        reached = self.inside > 0
        first: NDArray[np.int64] = reached.shape[1] + 1 - reached.sum(axis=1)
        return first


@dataclass(frozen=True)
class Neighbourhoods(Brief):
    """The samples in every k-NN ball of two sets, for all k up to k_max, from one pass.

    Attributes
    ----------
    reference
        The balls of the reference rows; their guests are the generated rows.
    generated
        The balls of the generated rows; their guests are the reference rows.
    ties
        ``"closed"`` counts a point on the rim of a ball as inside, ``"open"`` as outside.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle.
    supports
        The further supports that were measured; an approximate search measures
        neither smaller balls nor those of one radius.
    k_max
        The largest k for which the counts are known.
    reference_blocks, generated_blocks
        The block of every row, for replicates.
    search
        How neighbours were found: ``"exact"``, or the name of an approximate search.
    strata
        The stratum of every row, where rows of one are not neighbours of each other. The nearest
        row of the other set may still be one of them.
    """

    reference: Balls
    generated: Balls
    ties: Ties
    distance: Distance
    supports: Supports
    k_max: int
    reference_blocks: Blocks
    generated_blocks: Blocks
    search: str = EXACT
    strata: Strata | None = None

    def without(self, side: SideName, block: int, *, k: int) -> Neighbourhoods:
        """Return the counts with one block of rows of one of the sets left out.

        Only what the counts of blocks tell is known: for the chosen k (columns of smaller k repeat
        it) how many rows each ball holds and in how many balls each row lies.

        Raises
        ------
        InputError
            If no counts of blocks were kept.
        """
        ours, theirs = self.reference_blocks, self.generated_blocks
        balls, other = self.reference, self.generated
        if side == "generated":
            ours, theirs, balls, other = theirs, ours, other, balls
        if not ours.count:
            raise InputError(f"the counts of the {side} set were not kept by block")
        keep = ours.labels != block
        balls, other = (
            _owners_without(balls, keep, block, k),
            _guests_without(other, keep, block, k),
        )
        ours = Blocks(ours.labels[keep], ours.count)
        if side == "generated":
            ours, theirs, balls, other = theirs, ours, other, balls
        return replace(
            self,
            reference=balls,
            generated=other,
            k_max=k,
            reference_blocks=ours,
            generated_blocks=theirs,
        )

    def half(self, halving: int, which: int, *, k: int) -> Neighbourhoods:
        """Return the counts of halves of both sets, from neighbours that were kept.

        Only radii, how many rows each ball holds and in how many balls each row lies are known, for
        the chosen k (columns of smaller k repeat it).

        Raises
        ------
        InputError
            If no counts of halves were kept.
        """
        ours = self.reference_blocks.half(halving, which)
        theirs = self.generated_blocks.half(halving, which)
        return replace(
            self,
            reference=_half(self.reference, ours, theirs, halving, k),
            generated=_half(self.generated, theirs, ours, halving, k),
            k_max=k,
            reference_blocks=Blocks.none(int(ours.sum())),
            generated_blocks=Blocks.none(int(theirs.sum())),
        )


@checks_keywords
def neighbourhoods(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    k_max: int | None = None,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    supports: Supports = NO_SUPPORTS,
    blocks: tuple[Blocks, Blocks] | None = None,
    strata: tuple[ArrayLike, ArrayLike] | None = None,
    threads: int | None = None,
    block_size: int | None = None,
) -> Neighbourhoods:
    """Find exactly which samples lie in which k-NN balls, without an n by n matrix.

    Parameters
    ----------
    reference, generated
        Rows to compare, shapes ``(n, d)`` and ``(m, d)``; float32 or float64 are taken as given,
        anything else is converted once.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    k_max
        Counts are kept for every k up to this one (default: `k`).
    ties
        Whether the boundary of a ball is inside: ``"closed"`` (the papers) or ``"open"`` (prdc).
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for which rows are first
        scaled to length one in float64.
    supports
        Further supports to measure in the same pass.
    blocks
        Block labels of both sets; with them, counts of delete-one-block replicates are kept.
    strata
        A whole number for every row of either set: rows of one number are not neighbours of each
        other, so that none spans or lies in the other's ball. Smaller balls and those of one radius
        are then not measured.
    threads, block_size
        Where and in what pieces the work is done. Neither changes a count.

    Returns
    -------
    Neighbourhoods
        Every count equals that of a float64 brute force over all pairs.

    Raises
    ------
    InputError
        If the arrays do not fit together, hold NaN or infinity, or have too few rows for k.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> neighbourhoods(reference, generated, k=1).reference.inside[:, 0].tolist()
    [2, 2, 0, 0]
    """
    return measure_neighbourhoods(
        *check_pair(reference, generated),
        k=k,
        k_max=k_max,
        ties=ties,
        distance=distance,
        supports=supports,
        blocks=blocks,
        strata=strata,
        threads=threads,
        block_size=block_size,
    )


def measure_neighbourhoods(
    left: Points,
    right: Points,
    *,
    k: int,
    k_max: int | None = None,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    supports: Supports = NO_SUPPORTS,
    blocks: tuple[Blocks, Blocks] | None = None,
    strata: tuple[ArrayLike, ArrayLike] | None = None,
    threads: int | None = None,
    block_size: int | None = None,
) -> Neighbourhoods:
    """Compute :func:`neighbourhoods` for rows that :func:`check_pair` has checked."""
    check_whole("k", k, 1)
    check_supports(supports)
    check_whole("threads", 1 if threads is None else threads, 1)
    apart = None if strata is None else Strata.of(strata, len(left), len(right))
    k_max = _largest_k(k, max(k_max or k, supports.k_max), left, right, apart)
    check_choice("ties", ties, ("closed", "open"))
    check_choice("distance", distance, ("euclidean", "cosine"))
    check_whole("block_size", 1 if block_size is None else block_size, 1)
    blocks = blocks or (Blocks.none(len(left)), Blocks.none(len(right)))
    check_blocks(blocks, len(left), len(right))
    if distance == "cosine":
        left, right = directions(left, right)
    points = sieves(left, right, threads=threads)
    passes = (chosen_passes() or LocalPasses(threads, block_size)).prepared(*points)
    if passes.search != EXACT or apart is not None:  # balls that far pairs count for too
        supports = replace(supports, smaller=None, spread=None)
    work = Work(k, k_max, ties == "closed", distance, supports, passes, apart)
    labels = (None, None) if apart is None else (apart.reference, apart.generated)
    sides = [
        work.side(points[0], blocks[0], keep=True, labels=labels[0]),
        work.side(points[1], blocks[1], labels=labels[1]),
    ]
    settled = work.count_across(sides[0], sides[1])
    return Neighbourhoods(
        reference=_balls(work, sides[0], settled[0], labels),
        generated=_balls(work, sides[1], settled[1], labels[::-1]),
        ties=ties,
        distance=distance,
        supports=supports,
        k_max=k_max,
        reference_blocks=blocks[0],
        generated_blocks=blocks[1],
        search=passes.search,
        strata=apart,
    )


def _owners_without(balls: Balls, keep: NDArray[np.bool_], block: int, k: int) -> Balls:
    """The balls of a set without a block of it: they widen to their next neighbours."""
    known = _replicates(balls)
    return replace(
        balls,
        radii=np.broadcast_to(known.radii_without[keep, block, None], (int(keep.sum()), k)),
        held=_columns(known.held_without[keep, block], k),
        inside=_columns(known.inside_without[:, block], k),
        own_nearest=balls.own_nearest[keep],
        capped=None,
        capped_own=None,
        realism=None,
        missed=None,
        across=None if known.across_without is None else known.across_without[:, block],
        replicates=replace(
            known,
            held_without=known.held_without[keep],
            held_from=known.held_from[keep],
            radii_without=known.radii_without[keep],
        ),
    )


def _half(
    balls: Balls, owners: NDArray[np.bool_], guests: NDArray[np.bool_], halving: int, k: int
) -> Balls:
    """The balls of half of a set, and what they hold of the same half of the other."""
    known = _replicates(balls)
    return replace(
        balls,
        radii=np.broadcast_to(known.radii_halves[owners, halving, None], (owners.sum(), k)),
        held=_columns(known.held_halves[owners, halving], k),
        inside=_columns(known.inside_halves[guests, halving], k),
        own_nearest=balls.own_nearest[owners],
        nearest=balls.nearest[guests],
        distance=balls.distance[guests],
        capped=None,
        capped_own=None,
        realism=None,
        missed=None,
        across=None,
        replicates=None,
    )


def _guests_without(balls: Balls, keep: NDArray[np.bool_], block: int, k: int) -> Balls:
    """The balls of the other set, which lose the guests of a block."""
    known = _replicates(balls)
    return replace(
        balls,
        held=_columns(balls.held[:, k - 1] - known.held_from[:, block], k),
        inside=balls.inside[keep, :k],
        nearest=balls.nearest[keep],
        distance=balls.distance[keep],
        capped=None,
        capped_own=None,
        realism=None,
        missed=None,
        across=None if balls.across is None else balls.across[keep],
        replicates=replace(
            known,
            inside_without=known.inside_without[keep],
            across_without=None if known.across_without is None else known.across_without[keep],
        ),
    )


def _replicates(balls: Balls) -> NeighbourReplicates:
    if balls.replicates is None:
        raise InputError("the neighbourhoods were measured without blocks of rows")
    return balls.replicates


def _columns(counts: Ints, k: int) -> Ints:
    return np.broadcast_to(counts[:, None], (len(counts), k))


def _balls(
    work: Work,
    side: BallSide,
    settled: SettledCounts,
    labels: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None],
) -> Balls:
    """Bring what the passes found to what the metrics read.

    `labels` are the strata of the owners and of the guests, where these count.
    """
    asked, euclidean = work.supports, work.distance == "euclidean"
    root = np.sqrt if euclidean else np.positive
    counts, (owner_labels, guests) = settled.counts, labels
    beyond = beyond_without = capped = None
    if asked.across:
        others = settled
        if owner_labels is not None and guests is not None:
            others = nearest_others(settled, (owner_labels, guests))
        beyond, beyond_without = (
            as_distance(squared, work.distance) for squared in others.across(side)
        )
    if asked.capped is not None:
        capped = capped_own(side, closed=work.closed)
        if owner_labels is not None:
            capped = capped_without_mates(capped, side, owner_labels, closed=work.closed)
    replicates = NeighbourReplicates(
        counts.held_without,
        counts.held_from,
        counts.inside_without,
        as_distance(side.radii.without, work.distance),
        beyond_without,
        as_distance(side.radii.halves, work.distance),
        counts.held_halves,
        counts.inside_halves,
    )
    return Balls(
        radii=as_distance(side.radii.squared, work.distance),
        held=np.cumsum(counts.held, axis=1, dtype=np.int32),
        inside=np.cumsum(counts.inside, axis=1, dtype=np.int32),
        own_nearest=np.ascontiguousarray(side.nearest.index[:, 0]),
        nearest=settled.nearest.index[:, 0],
        distance=as_distance(settled.nearest.squared[:, 0], work.distance),
        capped=None if asked.capped is None else counts.capped,
        capped_own=capped,
        realism=None if asked.smaller is None else root(settled.ratio),
        missed=None if asked.spread is None else root(counts.missed),
        across=beyond,
        replicates=replicates if side.radii.without.shape[1] else None,
    )
