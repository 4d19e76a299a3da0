"""TopP&R: precision and recall over the supports above a confidence band.

For each set a kernel density p̂ (cosine kernel with compact support, one bandwidth h for the set)
and a band c, the (1 − α) quantile over bootstrap resamples of max |p̂ − p̂*| over the set's own
rows. A row is significant where p̂ of its own set exceeds c; the support of a set is {p̂ > c}. Then

- TopP = of the generated rows y with p̂_gen(y) > c_gen, the share with p̂_ref(y) > c_ref,
- TopR = of the reference rows x with p̂_ref(x) > c_ref, the share with p̂_gen(x) > c_gen

(Kim et al., TopP&R, NeurIPS 2023, arXiv 2306.08013, section 3 and algorithm 1; the choices below
are those of the authors' release). More than 32 dimensions are first projected to 32 by one
random Gaussian matrix. h is the median distance of the rows to their (5 d)-th nearest other row of
the set, d after the projection and at most n − 1 neighbours. The release does so for d > 3 only;
below, it searches the bandwidth by persistent homology and takes the band over a grid. Here one
rule holds for every d.

What it does not detect: how the mass is spread inside a support; anything about rows that are
noise to their own set, since they leave both counts (a model of which half the samples are
scattered junk can still reach TopP = 1); in more than 32 dimensions, differences that the
projection hides. Rare modes are noise to it.

In few dimensions the rule for h is too narrow to tell density from chance, the more so the larger
the set: two uniform draws of 1,000 rows score about 0.0 in 1 dimension, 0.1 in 3, 0.7 in 6, 0.9
in 32; two Gaussian ones 0.6 in 3 and 0.8 or more from 4 on. Do not use it below about 8.

The band is a quantile of few maxima, and the values wander with it. Over 20 seeds, two draws of
one Gaussian with a falling spectrum (1,000 rows each) score 0.91 to 0.96 with a standard deviation
of 0.03 to 0.05 at the release's 10 resamples, in 16 dimensions (where only the resamples are
random) as in 384 (where the projection is random too), and no less so with 5,000 rows; 100
resamples bring it to 0.02 to 0.03, 300 to 0.01 to 0.03. On embeddings of 1,900 news items values
spread over up to 0.27 in 10 seeds at 10 resamples, so the default here is 100. Another order of the
rows acts as another seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.estimate.kernel_density import (
    NEIGHBOURS_PER_DIMENSION,
    ConfidentDensity,
    balloon_bandwidth,
    balloon_neighbour,
    confident_density,
    density_at,
    resample_counts,
)
from calipers.metrics.reading import scored
from calipers.numeric.distances import Points, Sieve, sieves
from calipers.numeric.validation import check_pair, check_whole
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

DIMENSIONS = 32


@dataclass(frozen=True)
class TopologicalPrecisionRecall:
    """TopP and TopR: precision and recall of the significant samples."""

    precision: Score
    recall: Score


@checks_keywords
def topological_precision_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    alpha: float = 0.1,
    repeats: int = 100,
    seed: int = 0,
    threads: int | None = None,
) -> TopologicalPrecisionRecall:
    """Measure quality (TopP) and diversity (TopR), leaving out samples that look like noise.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``, at least two rows each; taken as given.
    alpha
        Share of the resamples that may leave the confidence band, in (0, 1).
    repeats
        Number of bootstrap resamples; the authors' release takes 10, which is faster by a quarter
        and far less steady.
    seed
        Of the resamples, and of the projection where d > 32. The values move with it, by a
        standard deviation of 0.02 to 0.03.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    TopologicalPrecisionRecall
        ``precision`` and ``recall`` in [0, 1], higher is better; NaN with a reason where no row
        is significant, or where a bandwidth is 0 because most rows are copies of each other.
        ``per_sample`` tells for every row of the judged set whether it lies in the support of
        the other: 1 or 0, and NaN for rows that are noise to their own set and do not count.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, have a single row, or an option is out
        of its range.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = topological_precision_recall(reference, generated)
    >>> scores.precision.value, scores.recall.value
    (0.5, 1.0)
    """
    left, right = check_pair(reference, generated)
    return topological_scores(left, right, alpha=alpha, repeats=repeats, seed=seed, threads=threads)


def topological_scores(
    reference: Points,
    generated: Points,
    *,
    alpha: float = 0.1,
    repeats: int = 100,
    seed: int = 0,
    threads: int | None = None,
) -> TopologicalPrecisionRecall:
    """Compute TopP and TopR of checked rows; see :func:`topological_precision_recall`."""
    _check(reference, generated, alpha, repeats, seed)
    sides = sieves(*_projected(reference, generated, seed), threads=threads)
    widths = [balloon_bandwidth(side, threads=threads) for side in sides]
    pins = _pins(reference, generated, alpha, repeats, seed)
    if min(widths) == 0:
        return _undefined(pins, widths, sides)
    densities = [
        confident_density(
            side,
            bandwidth=width,
            # One stream for both sets: equal sets get equal bands and swapped sides equal values
            counts=resample_counts(len(side.points), repeats, np.random.default_rng([seed, 1])),
            alpha=alpha,
            threads=threads,
        )
        for side, width in zip(sides, widths, strict=True)
    ]
    at_generated = density_at(sides[1], sides[0], bandwidth=widths[0], threads=threads)
    at_reference = density_at(sides[0], sides[1], bandwidth=widths[1], threads=threads)
    return TopologicalPrecisionRecall(
        _share("topp", "generated", densities[1], at_generated > densities[0].band, pins),
        _share("topr", "reference", densities[0], at_reference > densities[1].band, pins),
    )


def _check(reference: Points, generated: Points, alpha: float, repeats: int, seed: int) -> None:
    for name, points in (("reference", reference), ("generated", generated)):
        if len(points) < 2:
            raise InputError(
                f"TopP&R needs at least 2 samples in each set; the {name} set has {len(points)}"
            )
    if not (isinstance(alpha, (int, float, np.floating)) and 0 < alpha < 1):
        raise InputError(f"alpha must be a share in (0, 1); found {alpha!r}")
    check_whole("repeats", repeats, 1)
    check_whole("seed", seed, 0)


def _projected(reference: Points, generated: Points, seed: int) -> list[Points]:
    """Both sets through one random Gaussian matrix, where they have more than 32 dimensions."""
    d = reference.shape[1]
    if d <= DIMENSIONS:
        return [reference, generated]
    rng = np.random.default_rng([seed, 0])
    matrix = rng.standard_normal((d, DIMENSIONS)) * np.sqrt(2 / (d + DIMENSIONS))
    return [
        np.concatenate([rows[i : i + 1024] @ matrix for i in range(0, len(rows), 1024)])
        for rows in (reference, generated)
    ]


def _pins(
    reference: Points, generated: Points, alpha: float, repeats: int, seed: int
) -> dict[str, object]:
    d = reference.shape[1]
    return {
        "kernel": "cosine",
        "bandwidth": f"median_{NEIGHBOURS_PER_DIMENSION}d",
        "projection": DIMENSIONS if d > DIMENSIONS else "none",
        "alpha": alpha,
        "repeats": repeats,
        "seed": seed,
        "n": len(reference),
        "m": len(generated),
    }


def _share(
    metric: str,
    judged: str,
    density: ConfidentDensity,
    reached: NDArray[np.bool_],
    pins: dict[str, object],
) -> Score:
    counted = density.significant
    total = int(np.count_nonzero(counted))
    value = int(np.count_nonzero(reached & counted)) / total if total else np.nan
    reason = None if total else f"no {judged} sample is denser than its confidence band"
    rows = np.where(counted, reached.astype(np.float64), np.nan)
    return scored(metric, value, pins, reason=reason, per_sample=rows)


def _undefined(
    pins: dict[str, object], widths: list[float], sides: tuple[Sieve, ...]
) -> TopologicalPrecisionRecall:
    """Both scores need both bandwidths: say which set has none."""
    which = 0 if widths[0] == 0 else 1
    name, k = ("reference", "generated")[which], balloon_neighbour(*sides[which].points.shape)
    copies = "1 exact copy" if k == 1 else f"{k} exact copies"
    reason = f"the {name} bandwidth is 0: at least half of its samples have {copies} or more"
    scores = (scored(metric, np.nan, pins, reason=reason) for metric in ("topp", "topr"))
    return TopologicalPrecisionRecall(*scores)


def read_topp(pair: Pair, _: EstimationOptions) -> Score:
    return _topology(pair).precision


def read_topr(pair: Pair, _: EstimationOptions) -> Score:
    return _topology(pair).recall


def _topology(pair: Pair) -> TopologicalPrecisionRecall:
    sets, settings = (pair.reference, pair.generated), pair.settings
    return pair.once(
        "topology",
        lambda: topological_scores(*sets, seed=settings.seed, threads=settings.threads),
    )
