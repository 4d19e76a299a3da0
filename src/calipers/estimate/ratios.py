"""Likelihood ratios p/q at the samples: from neighbours, kernel densities, Gaussians or two models.

(Pillutla et al., JMLR 2023, sections 4.2, 7.3.1 and 7.3.3, and appendix C.) All are held as
logarithms, so that no density under- or overflows, and all but the last first take both sets to the
leading principal axes of their union.

**Neighbours.** At a generated sample, of the k nearest other samples of both sets a belong to the
reference and b to the generated set:

    p/q = (a / n) / ((b + 1) / m),    and at a reference sample  q/p = (b / m) / ((a + 1) / n)

(algorithm 2, after Noshad et al., 2017). Two departures from equation 22. There a sample counts
itself, which is seen only by its own side; here it is left out. And 1 is added to the count of the
own side, which would otherwise be 0 now and then. This does more than to keep the ratio finite: for
a binomial count a of k with odds ρ the mean of a / (k - a) does not exist, and that of
a / (k - a + 1) is ρ (1 - (ρ / (1 + ρ))^k), so that the 1 takes nearly all of the bias away. All
samples at the distance of the k-th count, so that ties do not depend on the order of the rows; two
equal sets then have the ratio 1 at every sample. The other side's count may still be 0: the ratio
is then 0 at a generated sample and infinite at a reference sample. A divergence with f*(0) = ∞,
such as KL, is infinite as soon as one reference sample has no generated one among its neighbours.

**Kernel densities**, each without the sample that it is taken at:

    p(u) = mean over the reference samples x other than u of N(u; x, h(u)² I),   and q(u) alike

(section 4.2.3, equations 26 and 27). Both densities at a place have the same kernel, whose constant
cancels. The default bandwidth depends on the place: h(u) = r(u) / (2 Γ(d/2 + 1)^(1/d)), with r(u)
the distance from u to its K-th nearest other sample of both sets. The kernel's effective volume,
(4π h²)^(d/2), is then that of the ball of radius r, and about K samples make each estimate. K is 50
at 5,000 samples in the smaller set, as for the nearest neighbours, and grows as n^(2 / (d + 2)).
One bandwidth for all places does badly here: at a sample in the tail the own side, without the
sample itself, has nothing within reach, q(u) is next to nothing, p/q astronomical, and this one
sample decides the mean. For two Gaussians in 5 dimensions with KL = 0.125 and 4,000 samples,
Scott's rule gives 4.1 ± 3.7; it stays as an option.

**Gaussians** P ~ N(μ_P, Σ_P) and Q ~ N(μ_Q, Σ_Q) that fit the sets, with unbiased covariances, at
draws from either (appendix C, equations 45 and 46). Both sets are first whitened by the covariance
of their union, on its principal axes but those of a standard deviation of at most a millionth of
the largest; apart from what these would tell, the ratios do not depend on this. There every
covariance gains RIDGE on its diagonal, a millionth of the union's variance: too little to move a
ratio of ordinary sets, and enough for one that is flat where the other is not, such as few rows in
many dimensions.

**Model probabilities**, without embeddings: log p'/q = log P'(x) - log Q(x) at the samples of both
sets (section 7.3.3). Q is the model that generated; P' stands in for the unknown distribution of
the reference, in the paper a larger model. The paper averages over the samples of the own side, so
read frontiers with ``points="own_side"`` to reproduce it.

What they do not detect: a difference on axes beyond the leading ones, however clear, so that
columns in very different units are to be scaled before.

- Neighbours: ratios above (k m) / n or below n / (k m) in size, or a difference on a scale finer
  than the k-th neighbour. In many dimensions all distances come to be alike, and the ratios 1:
  differences are under-estimated.
- Kernel densities: a difference on a scale finer than h. Where densities bend within h, as they do
  in 5 dimensions and more, differences are under-estimated; where there is no difference, noise
  reads as some. Equal sets do not score 0: the copy of a sample in the other set counts, and the
  sample itself does not. More than K copies of a sample leave no distance to take; h is then a
  tenth of Scott's.
- Gaussians: anything but mean and covariance. Two modes at ±μ against one Gaussian of the same mean
  and variance are alike to it, and the error has no bound (example 30). It is steep where
  covariances differ much: the mean over draws then depends on few of them, the more so in many
  dimensions; the paper sees it break down at 100.
- Model probabilities: what P' does not know. The paper finds that the scores then favour what P'
  finds likely and rank decoding algorithms wrongly. Probabilities of long texts differ by hundreds
  of nats, so that a few texts decide every mean; and Q must be the distribution as it was sampled
  from, cut and sharpened as the decoding did it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from calipers.errors import InputError
from calipers.estimate.axes import check_two_rows, leading_axes, scale_alike, whiten
from calipers.estimate.knn.nearest import Nearest, nearest_neighbours
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.estimate.moments import Moments
from calipers.numeric.compile import kernel
from calipers.numeric.distances import Points, sieves, squared_distance
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import check_whole, is_positive

Counts = NDArray[np.int64]

PAPER_K, PAPER_N = 50, 5000


def knn_ratios(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int | Literal["auto"] = PAPER_K,
    dimensions: int | None = 10,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate p/q at every sample from how its nearest neighbours divide between the two sets.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    k
        How many neighbours in the union, from 1 to n + m - 1; 50 as in the paper's figure 9. With
        one k for all sizes the bias does not vanish: KL comes out too large by at least about
        (3 + E_Q[r²]) / (2 k), 0.04 at k = 50. ``"auto"`` is 50 at the paper's 5,000 samples in the
        smaller set and grows as n^(2 / (d + 2)), as theorem 17 has it for smooth densities.
    dimensions
        Leading principal axes of the union that are kept; None keeps the rows as they are.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; infinite where the other side has no neighbour.

    Raises
    ------
    InputError
        If the arrays do not fit together, or k is no whole number that both sets together allow.
    """
    left, right = leading_axes(reference, generated, dimensions=dimensions)
    n, m = len(left), len(right)
    count = _neighbours(k, n, m, left.shape[1])
    near, far = neighbour_counts(np.concatenate([left, right]), n, count, threads=threads)
    return ratios_of_counts(near, far, n, k=count, dimensions=left.shape[1])


def ratios_of_counts(
    near: Counts, far: Counts, n: int, *, k: int, **pins: object
) -> LikelihoodRatios:
    """Divide the reference and the generated neighbours of every row, the first n the reference's.

    Parameters
    ----------
    near, far
        As :func:`count_itself` gives them, shape ``(n + m,)``.
    k
        How many neighbours were asked for.
    pins
        What else made them.
    """
    own = {"estimator": "knn", "k": k, "own_count": "+1", "ties": "closed"}
    with np.errstate(divide="ignore"):
        logs = np.log(near * (len(near) - n)) - np.log(far * n)
    return LikelihoodRatios(logs[:n], logs[n:], pins=own | pins)


def count_itself(reference: Counts, generated: Counts, n: int) -> tuple[Counts, Counts]:
    """Add 1 to the count of every row's own side, in place; the first n rows are the reference."""
    reference[:n] += 1
    generated[n:] += 1
    return reference, generated


def balanced_count(count: int, n: int, m: int, d: int) -> int:
    """Let a number of neighbours at the paper's 5,000 samples grow with the smaller set.

    As n^(2 / (d + 2)): the variance, 1 / k, and the bias of smooth densities, (k / n)^(2 / d), then
    fall alike.
    """
    growth = float((min(n, m) / PAPER_N) ** (2 / (d + 2)))
    return max(1, round(count * growth))


def _neighbours(k: Any, n: int, m: int, d: int) -> int:
    """Settle k, or refuse one that the other samples of both sets are too few for."""
    others = n + m - 1
    if k == "auto":
        return min(balanced_count(PAPER_K, n, m, d), others)
    if check_whole("k", k, 1) > others:
        raise InputError(
            f"k must be at most {others}, the number of other samples in both sets; found {k}"
        )
    return int(k)


def neighbour_counts(
    union: Points, n: int, k: int, *, threads: int | None = None
) -> tuple[Counts, Counts]:
    """Count reference and generated neighbours of every row, with 1 added for its own side.

    Parameters
    ----------
    union
        The n rows of the reference, then those of the generated set.
    """
    (points,) = sieves(union, threads=threads)
    more = min(k + 1, len(union) - 1)  # one further tells where the k-th is tied
    nearest = nearest_neighbours(points, k=more, threads=threads)
    reference = (nearest.index[:, :k] < n).sum(axis=1)
    generated = k - reference
    tied = np.flatnonzero(nearest.squared[:, k - 1] == nearest.squared[:, more - 1])
    if more > k and len(tied):
        found = _within(union, n, tied, nearest, k, threads)
        reference[tied], generated[tied] = found[:, 0], found[:, 1]
    return count_itself(reference, generated, n)


def _within(
    union: Points, n: int, tied: Counts, nearest: Nearest, k: int, threads: int | None
) -> Counts:
    """Reference and generated rows in the closed ball of the k-th distance, ``(tied, 2)``."""
    found = np.zeros((len(tied), 2), np.int64)

    def work(span: Span) -> None:
        part = slice(*span)
        _count(union, n, tied[part], nearest.squared[tied[part], k - 1], found[part])

    with workers(threads) as pool:
        for _ in pool.map(work, spans(len(tied), 64)):
            pass
    return found


@kernel
def _count(union: Any, n: int, rows: Any, squared_radius: Any, found: Any) -> None:
    for i in range(rows.shape[0]):
        for other in range(union.shape[0]):
            if other == rows[i]:
                continue
            if squared_distance(union, rows[i], union, other) <= squared_radius[i]:
                found[i, 0 if other < n else 1] += 1


Floats = NDArray[np.float64]
Bandwidth = float | Literal["balloon", "scott"]

LEAST = 0.1
NARROWEST, WIDEST = 1e-100, 1e100  # their squares, and gaps over them, are floats
ROWS, COLUMNS = 64, 512
NEGLIGIBLE = -45.0  # e^-45 of the largest term: a million such change no bit that is kept


def kde_ratios(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    bandwidth: Bandwidth = "balloon",
    dimensions: int | None = 10,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate p/q at every sample from Gaussian kernels on the other samples of each set.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``, at least two each.
    bandwidth
        ``"balloon"`` as above; or one for all places: ``"scott"``, the number of samples in the
        smaller set to the power −1 / (d + 4), or a number above 0, from 1e-100 to 1e100. Both are
        in standard deviations of the union, the root mean square over the axes.
    dimensions
        Leading principal axes of the union that are kept; None keeps the rows as they are.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; finite everywhere.

    Raises
    ------
    InputError
        If the arrays do not fit together, a set has a single row, all rows of both sets are equal,
        or the bandwidth is no number in that range and no known rule.
    """
    _check_bandwidth(bandwidth)
    left, right = leading_axes(reference, generated, dimensions=dimensions)
    check_two_rows(len(left), len(right), "leaving one out of a kernel density")
    sets = scale_alike(left, right)
    widths = _widths(sets, bandwidth, threads)
    logs = [
        log_density(at, sets[0], width, own=at is sets[0], threads=threads)
        - log_density(at, sets[1], width, own=at is sets[1], threads=threads)
        for at, width in zip(sets, widths, strict=True)
    ]
    pins = {"estimator": "kde", "bandwidth": bandwidth, "dimensions": sets[0].shape[1]}
    return LikelihoodRatios(logs[0], logs[1], positive=True, pins=pins)


def log_density(
    places: Floats, points: Floats, width: Floats, *, own: bool, threads: int | None = None
) -> Floats:
    """Logarithm of the mean over the points of exp(−½ |place − point|² / width²), at every place.

    Parameters
    ----------
    places, points
        Shapes ``(n, d)`` and ``(m, d)``.
    width
        Of the kernel at every place, shape ``(n,)``, above 0.
    own
        Whether both are one set; then a row does not count for itself.
    """
    columns, sharpness = np.ascontiguousarray(points.T), 0.5 / width**2

    def work(span: Span) -> Floats:
        sums = np.empty(span[1] - span[0])
        _log_sums(places, columns, sharpness, span[0], own, sums)
        return sums

    with workers(threads) as pool:
        sums = np.concatenate(list(pool.map(work, spans(len(places), ROWS))))
    logs: Floats = sums - np.log(len(points) - own)
    return logs


@kernel
def _log_sums(places: Any, columns: Any, sharpness: Any, first: int, own: bool, sums: Any) -> None:
    exponents = np.empty(COLUMNS)
    for i in range(sums.shape[0]):
        largest, total = -np.inf, 0.0
        for start in range(0, columns.shape[1], COLUMNS):
            count = min(COLUMNS, columns.shape[1] - start)
            exponents[:] = 0.0
            for t in range(columns.shape[0]):
                at = places[first + i, t]
                for j in range(count):
                    gap = columns[t, start + j] - at
                    exponents[j] -= sharpness[first + i] * gap * gap
            if own and start <= first + i < start + count:
                exponents[first + i - start] = -np.inf
            highest = largest
            for j in range(count):
                highest = max(highest, exponents[j])
            if highest > largest:
                total *= np.exp(largest - highest)
                largest = highest
            for j in range(count):
                if exponents[j] - largest > NEGLIGIBLE:
                    total += np.exp(exponents[j] - largest)
        sums[i] = largest + np.log(total)


def _widths(sets: tuple[Floats, Floats], bandwidth: Bandwidth, threads: int | None) -> list[Floats]:
    """The width of the kernel at every row of both sets."""
    (n, d), m = sets[0].shape, len(sets[1])
    scott = float(min(n, m)) ** (-1 / (d + 4))
    if bandwidth != "balloon":
        width = scott if bandwidth == "scott" else float(bandwidth)
        return [np.full(size, width) for size in (n, m)]
    neighbours = min(balanced_count(PAPER_K, n, m, d), n + m - 1)
    (union,) = sieves(np.concatenate(sets), threads=threads)
    squared = nearest_neighbours(union, k=neighbours, threads=threads).squared[:, -1]
    share = 0.5 * np.exp(-gammaln(d / 2 + 1) / d)
    widths = np.maximum(share * np.sqrt(squared), LEAST * scott)
    return [widths[:n], widths[n:]]


def _check_bandwidth(bandwidth: Any) -> None:
    if bandwidth in ("balloon", "scott"):
        return
    if not is_positive(bandwidth) or not NARROWEST <= bandwidth <= WIDEST:
        raise InputError(
            f"bandwidth must be 'balloon', 'scott' or a number above 0, from {NARROWEST:g} to "
            f"{WIDEST:g} standard deviations of the union; found {bandwidth!r}"
        )


RIDGE = 1e-6


@dataclass(frozen=True)
class _Gaussian:
    """A mean, and the lower Cholesky factor of a covariance."""

    mean: Floats
    factor: Floats

    @classmethod
    def fit(cls, rows: Floats) -> _Gaussian:
        moments = Moments.of(rows)
        covariance = moments.covariance + RIDGE * np.eye(rows.shape[1])
        return cls(moments.mean, np.asarray(np.linalg.cholesky(covariance), np.float64))

    def draw(self, normal: Floats) -> Floats:
        """Turn standard normal rows into draws."""
        drawn: Floats = self.mean + normal @ self.factor.T
        return drawn

    def log_density(self, places: Floats) -> Floats:
        """Logarithm of the density, less d/2 log 2π."""
        from scipy.linalg import solve_triangular

        scaled = solve_triangular(self.factor, (places - self.mean).T, lower=True)
        squares: Floats = np.einsum("ij,ij->j", scaled, scaled)
        return -0.5 * squares - float(np.log(np.diag(self.factor)).sum())


def gaussian_ratios(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    draws: int = 100_000,
    dimensions: int | None = 10,
    seed: int = 0,
) -> LikelihoodRatios:
    """Estimate p/q as the ratio of two Gaussians, by Monte Carlo.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``, at least two each.
    draws
        How many samples are drawn from each Gaussian, from 1; the error of what is read from
        them falls with the root of it.
    dimensions
        Leading principal axes of the union that are kept; None keeps the rows as they are.
    seed
        Of the draws. Both sides use the same normal numbers, so that swapping the sets does no
        more than swap the ratios.

    Returns
    -------
    LikelihoodRatios
        At the draws, not at the samples: both sides have `draws` of them. Finite everywhere.

    Raises
    ------
    InputError
        If the arrays do not fit together, a set has a single row, all rows of both sets are equal,
        or an option is out of its range.
    """
    check_whole("draws", draws, 1)
    check_whole("seed", seed, 0)
    left, right = leading_axes(reference, generated, dimensions=dimensions)
    check_two_rows(len(left), len(right), "a Gaussian")
    p, q = (_Gaussian.fit(rows) for rows in whiten(left, right))
    normal = np.random.default_rng(seed).standard_normal((draws, len(p.mean)))
    at_p, at_q = p.draw(normal), q.draw(normal)
    return LikelihoodRatios(
        p.log_density(at_p) - q.log_density(at_p),
        p.log_density(at_q) - q.log_density(at_q),
        positive=True,
        pins={
            "estimator": "gaussian",
            "draws": int(draws),
            "ridge": RIDGE,
            "dimensions": left.shape[1],
            "seed": int(seed),
        },
    )


def gaussian_kl(mean: Floats, covariance: Floats, other_mean: Floats, other: Floats) -> float:
    """KL divergence of one Gaussian from another in nats; infinite where one is flat.

    In closed form: ½ (tr(Σ₂⁻¹ Σ₁) + (μ₂ − μ₁)ᵀ Σ₂⁻¹ (μ₂ − μ₁) − d + log(|Σ₂| / |Σ₁|)).
    """
    gap = np.asarray(other_mean) - np.asarray(mean)
    (sign, log_size), (other_sign, other_log_size) = map(np.linalg.slogdet, (covariance, other))
    if sign <= 0 or other_sign <= 0:
        return np.inf
    spread = np.trace(np.linalg.solve(other, covariance)) - len(gap)
    return float(0.5 * (spread + gap @ np.linalg.solve(other, gap) + other_log_size - log_size))


Pair = tuple[ArrayLike, ArrayLike]

ROUNDING = 1e-5
"""By how much a logarithm may lie above 0: sums of float32 terms do."""


def probability_ratios(reference: Pair, generated: Pair) -> LikelihoodRatios:
    """Compare two models by the probabilities that they give to whole samples.

    Parameters
    ----------
    reference
        Log-probabilities of the reference samples under P' and under Q, natural logarithms, two
        lists of the same length. Under Q they may be −∞, which says that Q cannot write it.
    generated
        The same of the generated samples. Under P' they may be −∞.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; ``positive`` where nothing infinite was found.

    Raises
    ------
    InputError
        If the lists of a side differ in length, are empty, hold NaN or numbers above 0, or a
        sample is impossible under the distribution that it stands for.
    """
    logs = []
    for side, pair, own in (("reference", reference, 0), ("generated", generated, 1)):
        p, q = _check_pair(pair, side)
        _check_own((p, q)[own], side, "P'" if own == 0 else "Q")
        logs.append(p - q)
    positive = all(bool(np.isfinite(side).all()) for side in logs)
    return LikelihoodRatios(logs[0], logs[1], positive=positive, pins={"estimator": "model"})


def _check_pair(pair: Pair, side: str) -> tuple[Floats, Floats]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(
            f"{side} must be a pair of lists: log-probabilities under P' and under Q; "
            f"found a {type(pair).__name__} of {np.size(pair)}"
        )
    p, q = (_check_logs(given, side, model) for given, model in zip(pair, ("P'", "Q"), strict=True))
    if len(p) != len(q):
        raise InputError(
            f"{side} must have as many log-probabilities under P' as under Q; "
            f"found {len(p)} and {len(q)}"
        )
    return p, q


def _check_logs(given: ArrayLike, side: str, model: str) -> Floats:
    name = f"log-probabilities of the {side} samples under {model}"
    try:
        logs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from error
    if logs.ndim != 1 or logs.size == 0:
        raise InputError(f"{name} must be a list, one for each sample; found shape {logs.shape}")
    wrong = np.flatnonzero(~(logs <= ROUNDING))
    if len(wrong):
        raise InputError(
            f"{name} must be natural logarithms of probabilities, at most 0; "
            f"{len(wrong)} row(s) are not, the first is row {wrong[0] + 1} with {logs[wrong[0]]:g}"
        )
    return logs


def _check_own(logs: Floats, side: str, model: str) -> None:
    impossible = np.flatnonzero(np.isneginf(logs))
    if len(impossible):
        raise InputError(
            f"{side} samples must be possible under {model}, the distribution that they stand for; "
            f"{len(impossible)} row(s) have log-probability -inf, the first is row "
            f"{impossible[0] + 1}"
        )
