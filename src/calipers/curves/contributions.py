"""The contribution of each cell to the frontier integral, which locates the gap.

The frontier integral is itself an f-divergence, FI_f(P, Q) = Σ q·f̃(p/q) over the cells (Pillutla et
al., JMLR 2023, equation 7 and property 7a), so it can be shared out among them. With the generator
split in halves, f̃ = A + A* (:mod:`calipers.curves.divergences`), the term of a cell is
q·A(p/q) + p·A(q/p). Other summaries cannot be shared out: MAUVE is an area under a curve, and no
sum of terms.
"""

from __future__ import annotations

import numpy as np

from calipers.curves.divergence import Divergence
from calipers.curves.frontier import divergence_frontier, half_of
from calipers.errors import InputError
from calipers.estimate.histograms import Histograms
from calipers.numeric.arrays import Vector


def contributions(histograms: Histograms, divergence: str | Divergence = "kl") -> Vector:
    """Compute the contribution of each cell to the frontier integral of two histograms.

    Parameters
    ----------
    histograms
        Counts of both sets over k cells, with their smoothing.
    divergence
        A name such as ``"kl"`` or ``"chi2"``, or a :class:`~calipers.Divergence`.

    Returns
    -------
    ndarray
        Shape ``(k,)``, float64, nowhere negative, 0 where p = q; the sum is what
        :meth:`~calipers.DivergenceFrontier.integral` gives. Exchanging the two sets changes
        nothing: a term does not tell whether there is too much or too little.

    Raises
    ------
    InputError
        If a name is unknown, or f(0) is infinite and one side has no mass where the other has some.

    Examples
    --------
    >>> from calipers import Histograms
    >>> contributions(Histograms([2, 2, 0], [2, 1, 1])).round(4).tolist()
    [0.0, 0.0284, 0.125]
    """
    if not isinstance(histograms, Histograms):
        raise InputError(
            f"contributions are those of cells, so of Histograms; found {type(histograms).__name__}"
        )
    # A frontier of one point finds the divergence, and refuses one that is infinite here
    half = half_of(divergence_frontier(histograms, divergence=divergence, grid=1).divergence)
    p, q = histograms.probabilities
    return _terms(p, q, half) + _terms(q, p, half)


def _terms(p: Vector, q: Vector, half: Divergence) -> Vector:
    """q·A(p/q), and in the limit p·A*(0) where q = 0."""
    seen = q > 0
    terms = np.where(p > 0, p * half.conjugate_at_zero, 0.0)
    terms[seen] = q[seen] * half(p[seen] / q[seen])
    return np.maximum(terms, 0.0)
