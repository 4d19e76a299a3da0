"""Diversity among precise samples, which separates a loss of variety from a gain in quality.

A system that stops writing nonsense has fewer different samples, though it lost nothing that
people write. So only the precise samples are compared here, the generated ones that lie in the
reference's support (a k-NN ball of a reference sample, as for precision):

- precise recall: the share of reference samples inside the balls that the precise samples span
  among themselves. Wide balls of samples far off, which can raise recall, are gone;
- precise diversity: the mean squared distance of two precise samples over that of two reference
  samples. 1 is as varied as the reference, 0 the same sample over and over.

Karouzos et al., "Where does output diversity collapse in post-training?", 2026 (arXiv 2604.16027),
split a loss of diversity in this way, into incorrect outputs that are gone and a narrowing among
correct ones; there a verifier says what is correct, here the reference's support, so it says so for
texts without one answer too. Where recall falls and precise recall does not, quality was gained.

What they do not detect: which samples are precise depends on the embedding and on k; a system of
few precise samples has few of them to span balls with, which lowers precise recall even if they are
varied; precise diversity does not see holes within the support, only how far it is spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import checks_keywords
from calipers.estimate.axes import unit_rows
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, measure_neighbourhoods
from calipers.estimate.knn.strata import largest_stratum
from calipers.metrics.reading import read_off
from calipers.numeric.arrays import Flags, Floats
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points, Sides
from calipers.numeric.validation import check_pair
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

Rows = tuple[slice | Flags, Flags]
EVERY = slice(None)


@checks_keywords
def precise_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how much of the reference the realistic part of the generated samples covers.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given, nothing is normalised.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    ties
        Whether a point on the boundary is inside: ``"closed"`` (the papers) or ``"open"`` (prdc).
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], higher is better; NaN where k or fewer samples are precise. ``per_sample`` tells
        for every reference row whether it is covered.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    The samples at 20 and 40 span wide balls, in which all of the reference lies but 0.

    >>> reference, generated = [[0.0], [1.0], [2.0], [6.0]], [[0.0], [1.0], [20.0], [40.0]]
    >>> precise_recall(reference, generated, k=1).value
    0.75
    """
    left, right = check_pair(reference, generated)
    near = measure_neighbourhoods(left, right, k=k, ties=ties, distance=distance, threads=threads)
    return precise_recall_score(near, left, right, k, threads=threads)


@checks_keywords
def precise_diversity(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how varied the realistic part of the generated samples is, relative to the reference.

    Parameters
    ----------
    reference, generated, k, ties, distance, threads
        As for :func:`precise_recall`.

    Returns
    -------
    Score
        At least 0, 1 for as varied as the reference, which is best; NaN where fewer than two
        samples are precise or all reference samples are equal. For rows of length one it is the
        ratio of the mean cosine distances of two samples.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> precise_diversity([[0.0], [1.0], [2.0], [3.0]], [[1.0], [2.0], [90.0]], k=1).value
    0.3
    """
    left, right = check_pair(reference, generated)
    near = measure_neighbourhoods(left, right, k=k, ties=ties, distance=distance, threads=threads)
    return precise_diversity_score(near, left, right, k)


def precise_recall_score(
    near: Neighbourhoods,
    reference: Points,
    generated: Points,
    k: int,
    *,
    threads: int | None = None,
) -> Score:
    """Share of reference rows in the balls that the precise generated rows span."""
    precise = _precise(near, k)
    covered = _covered(near, (reference, generated), (EVERY, precise), k, threads)
    if covered is None:
        return read_off(near, "precise_recall", np.nan, k, reason=_too_few(precise, k + 1))
    return read_off(near, "precise_recall", float(covered.mean()), k, per_sample=covered)


def precise_diversity_score(
    near: Neighbourhoods, reference: Points, generated: Points, k: int
) -> Score:
    """Mean squared distance of two precise generated rows, over that of two reference rows."""
    precise = _precise(near, k)
    reference, generated = _compared(near, reference), _compared(near, generated)
    ours, theirs = _spread(generated[precise]), _spread(reference)
    reason = None if precise.sum() > 1 else _too_few(precise, 2)
    if theirs == 0:
        reason = "all reference samples are equal"
    value = np.nan if reason else ours / theirs
    return read_off(near, "precise_diversity", value, k, reason=reason, reference=1.0)


def precise_recall_replicates(pair: Pair) -> tuple[Floats, Floats]:
    """Compute precise recall without each block of the reference and of the generated rows.

    Returns
    -------
    tuple of arrays
        Shapes ``(blocks,)``; NaN where too few precise rows are left.
    """
    near, k, threads = pair.neighbourhoods, pair.settings.k, pair.settings.threads
    left, right = pair.labels
    precise = _precise(near, k)
    blocks = Blocks(left.labels, left.count), Blocks(right.labels[precise], right.count)
    sides = pair.reference, pair.generated
    if not _span(near, precise, k):
        return np.full(left.count, np.nan), np.full(right.count, np.nan)
    spanned = _spanned(near, sides, (EVERY, precise), k, threads, blocks)
    ours = [spanned.without("generated", block, k=k) for block in range(right.count)]
    theirs = [
        _covered(near, sides, (remaining, still), k, threads)
        for remaining, still in _without_reference(near, left, k)
    ]
    return (
        np.array([np.nan if covered is None else covered.mean() for covered in theirs]),
        np.array([np.mean(near_without.generated.inside[:, k - 1] > 0) for near_without in ours]),
    )


def precise_diversity_replicates(pair: Pair) -> tuple[Floats, Floats]:
    """Compute precise diversity without each block of either set.

    Returns
    -------
    tuple of arrays
        Shapes ``(blocks,)``; NaN where too few precise rows are left.
    """
    near, k = pair.neighbourhoods, pair.settings.k
    left, right = pair.labels
    precise = _precise(near, k)
    reference, generated = _compared(near, pair.reference), _compared(near, pair.generated)
    whole = _spread(reference)

    def ratio(rows: Flags, spread: float) -> float:
        return _spread(generated[rows]) / spread if spread > 0 else np.nan

    return (
        np.array(
            [
                ratio(still, _spread(reference[remaining]))
                for remaining, still in _without_reference(near, left, k)
            ]
        ),
        np.array([ratio(precise & (right.labels != b), whole) for b in range(right.count)]),
    )


def read_precise_recall(pair: Pair, _: EstimationOptions) -> Score:
    """Read the score from a pair, for the catalogue."""
    rows, settings = (pair.reference, pair.generated), pair.settings
    near = pair.neighbourhoods
    return precise_recall_score(near, *rows, settings.k, threads=settings.threads)


def read_precise_diversity(pair: Pair, _: EstimationOptions) -> Score:
    """Read the score from a pair, for the catalogue."""
    rows = pair.reference, pair.generated
    return precise_diversity_score(pair.neighbourhoods, *rows, pair.settings.k)


def _precise(near: Neighbourhoods, k: int) -> Flags:
    """Which generated rows lie in a ball of the reference."""
    precise: Flags = near.reference.inside[:, k - 1] > 0
    return precise


def _without_reference(
    near: Neighbourhoods, blocks: Blocks, k: int
) -> Iterator[tuple[Flags, Flags]]:
    """Without each block of the reference: its rows that are kept, and which rows are precise."""
    for block in range(blocks.count):
        yield blocks.labels != block, _precise(near.without("reference", block, k=k), k)


def _covered(
    near: Neighbourhoods, sides: Sides, rows: Rows, k: int, threads: int | None
) -> Flags | None:
    """Which reference rows lie in a ball of the precise rows; None where these are too few."""
    if not _span(near, rows[1], k):
        return None
    spanned = _spanned(near, sides, rows, k, threads)
    covered: Flags = spanned.generated.inside[:, k - 1] > 0
    return covered


def _span(near: Neighbourhoods, precise: Flags, k: int) -> bool:
    """Whether the precise rows are enough to span balls."""
    mates = 1
    if near.strata is not None and precise.any():
        mates = largest_stratum(near.strata.generated[precise])
    return int(precise.sum()) - mates >= k


def _spanned(
    near: Neighbourhoods,
    sides: Sides,
    rows: Rows,
    k: int,
    threads: int | None,
    blocks: tuple[Blocks, Blocks] | None = None,
) -> Neighbourhoods:
    """The balls that the precise rows span among themselves, and the reference's."""
    strata = None
    if near.strata is not None:
        strata = near.strata.reference[rows[0]], near.strata.generated[rows[1]]
    return measure_neighbourhoods(
        sides[0][rows[0]],
        sides[1][rows[1]],
        k=k,
        strata=strata,
        ties=near.ties,
        distance=near.distance,
        blocks=blocks,
        threads=threads,
    )


def _compared(near: Neighbourhoods, rows: Points) -> Points:
    """The rows as their distances are taken: by cosine, scaled to length one."""
    return unit_rows(rows.astype(np.float64)) if near.distance == "cosine" else rows


def _spread(rows: Points) -> float:
    """The mean squared distance of two different rows; NaN for fewer than two."""
    if len(rows) < 2:
        return float("nan")
    deviations = rows - rows.mean(axis=0, dtype=np.float64)
    return float(2 * np.einsum("ij,ij", deviations, deviations) / (len(rows) - 1))


def _too_few(precise: Flags, least: int) -> str:
    count = int(precise.sum())
    return f"needs at least {least} samples inside the reference's support; found {count}"
