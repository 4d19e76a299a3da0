"""Likelihood ratios p/q of two Gaussians fitted to the sets, by Monte Carlo.

Both sets are taken to the leading principal axes of their union. The Gaussians are P ~ N(μ_P, Σ_P)
and Q ~ N(μ_Q, Σ_Q), with unbiased covariances, and the ratios are taken at draws from either
(Pillutla et al., JMLR 2023, appendix C, equations 45 and 46). Both sets are then whitened by the
covariance of their union, on its principal axes but those of a standard deviation of at most a
millionth of the largest; apart from what these would tell, the ratios do not depend on this. There
every covariance gains RIDGE on its diagonal, a millionth of the union's variance: too little to
move a ratio of ordinary sets, and enough for one that is flat where the other is not, such as few
rows in many dimensions.

What it does not detect: a difference on axes beyond the leading ones, however clear, so that
columns in very different units are to be scaled before. Nor anything but mean and covariance. Two
modes at ±μ against one Gaussian of the same mean and variance are alike to it, and the error has no
bound (example 30). It is steep where covariances differ much: the mean over draws then depends on
few of them, the more so in many dimensions; the paper sees it break down at 100.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.axes import check_two_rows, leading_axes, whiten
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.estimate.moments import Moments
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_whole

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
        Seed of the draws. Both sides use the same normal numbers, so that swapping the sets does no
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

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> from calipers import f_divergence
    >>> round(float(f_divergence(gaussian_ratios(reference, reference), "kl")), 6)
    0.0
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
    """Compute the KL divergence of two Gaussians in nats; infinite for a singular covariance.

    In closed form: ½ (tr(Σ₂⁻¹ Σ₁) + (μ₂ − μ₁)ᵀ Σ₂⁻¹ (μ₂ − μ₁) − d + log(|Σ₂| / |Σ₁|)).
    """
    gap = np.asarray(other_mean) - np.asarray(mean)
    (sign, log_size), (other_sign, other_log_size) = map(np.linalg.slogdet, (covariance, other))
    if sign <= 0 or other_sign <= 0:
        return np.inf
    spread = np.trace(np.linalg.solve(other, covariance)) - len(gap)
    return float(0.5 * (spread + gap @ np.linalg.solve(other, gap) + other_log_size - log_size))
