"""Conditional means of vectors by ridge regression, each row predicted without itself.

An answer's vector is y = f(x) + e, where x is the vector of its prompt: f(x) is what the prompt
calls forth from anyone, and only the rest tells who answered. With the rows of both centred, and a
singular value decomposition X = U S Vᵀ, the fit to the rows is ŷ = ȳ + H (y − ȳ) with

    H = U S² (S² + λ)⁻¹ Uᵀ,   and without row i   ŷ₋ᵢ = yᵢ − (yᵢ − ŷᵢ)/(1 − 1/n − Hᵢᵢ),

exactly, so that no folds are drawn. λ is the one with the least Σᵢ ‖yᵢ − ŷ₋ᵢ‖² among
:data:`STRENGTHS`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Floats

STRENGTHS = tuple(2.0**power for power in range(-6, 11))
"""λ, in units of the mean squared length of the centred rows of X."""


@dataclass(frozen=True, eq=False)
class ConditionalMean:
    """A ridge regression of rows on rows.

    Attributes
    ----------
    left_out
        For every row that it was fitted to what the others predict of it, shape ``(n, d)``.
    strength
        λ, in units of the mean squared length of the centred rows.
    explained
        Share of the variance that these predictions explain; below 0 where they are worse than the
        mean of the others.
    """

    left_out: Floats
    strength: float
    explained: float
    centre: Floats
    mean: Floats
    weights: Floats

    @classmethod
    def of(cls, given: NDArray[np.floating], rows: NDArray[np.floating]) -> ConditionalMean:
        """Fit `rows`, shape ``(n, d)``, on `given`, shape ``(n, e)``; n is at least 3."""
        x, y = np.asarray(given, np.float64), np.asarray(rows, np.float64)
        n = len(x)
        centre, mean = x.mean(axis=0), y.mean(axis=0)
        u, s, v = np.linalg.svd(x - centre, full_matrices=False)
        seen = u.T @ (y - mean)
        unit = float(np.square(s).sum()) / n
        best: tuple[float, float, Floats, Floats] | None = None
        for strength in STRENGTHS:
            shrunk = np.divide(s * s, s * s + strength * unit, out=np.zeros_like(s), where=s > 0)
            leverage = np.square(u) @ shrunk + 1 / n
            error = (y - mean - u @ (shrunk[:, None] * seen)) / (1 - leverage)[:, None]
            total = float(np.square(error).sum())
            if best is None or total < best[0]:
                best = total, strength, error, shrunk
        assert best is not None
        total, strength, error, shrunk = best
        alone = float(np.square((y - mean) * n / (n - 1)).sum())
        scale = np.divide(shrunk, s, out=np.zeros_like(s), where=s > 0)
        return cls(
            left_out=y - error,
            strength=strength,
            explained=1 - total / alone if alone > 0 else 0.0,
            centre=centre,
            mean=mean,
            weights=v.T @ (scale[:, None] * seen),
        )

    def of_others(self, given: NDArray[np.floating]) -> Floats:
        """Predict rows outside the fit, shape ``(m, d)``, from `given`, ``(m, e)``."""
        predicted: Floats = self.mean + (np.asarray(given, np.float64) - self.centre) @ self.weights
        return predicted
