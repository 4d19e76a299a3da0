"""Entropic optimal transport between histograms: the cost of a blurred plan, and its debiased form.

π minimises ⟨π, C⟩ + ε·KL(π‖P ⊗ Q) (Cuturi, NeurIPS 2013), by default with ε the median of all
pairwise costs (Pillutla et al., JMLR 2023, section 7.4.2).

- ``entropic`` is ⟨π, C⟩. The plan is spread out, so equal sets do not score 0: at the median cost
  it is close to the mean cost of all pairs, and says more about the spread of the sets than about
  their gap.
- ``debiased`` is the Sinkhorn divergence OT_ε(P, Q) − ½OT_ε(P, P) − ½OT_ε(Q, Q) of the regularised
  values (Feydy et al., AISTATS 2019): for squared distances never negative, and 0 for equal
  histograms alone. Of ⟨π, C⟩ neither would hold. It runs from OT at ε = 0 to the squared distance
  of the means at ε = ∞; at the median cost it is near that end.

Neither sees differences within a cell. Both are in the unit of squared distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.distances import Points
from calipers.estimate.quantise import Buckets, Quantisation, quantise
from calipers.estimate.sinkhorn import entropic
from calipers.estimate.transport_plan import NoPlanError
from calipers.estimate.validate import check_pair, is_positive
from calipers.metrics.transport_cells import Cells, cells_of, too_many
from calipers.score import Score, join_signature, signature

Regularisation = float | Literal["median"]
MOST_CELLS = 5_000


@dataclass(frozen=True)
class EntropicTransport:
    """The cost of the entropic plan, and the Sinkhorn divergence."""

    entropic: Score
    debiased: Score


def entropic_transport(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    regularisation: Regularisation = "median",
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    threads: int | None = None,
) -> EntropicTransport:
    """Tell what a blurred plan costs that moves one histogram onto the other.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    regularisation
        ε, above 0, in the unit of squared distances, or ``"median"``: the median cost between two
        different cells.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Of k-means.
    threads
        Number of threads of k-means (default: all cores).

    Returns
    -------
    EntropicTransport
        ``entropic`` and ``debiased``, at least 0, lower is better; NaN with a reason for more than
        5,000 cells, or where Sinkhorn's iteration does not converge.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    """
    check_regularisation(regularisation)
    left, right = check_pair(reference, generated)
    cells = quantise(left, right, buckets=buckets, restarts=restarts, seed=seed, threads=threads)
    pins = signature({"seed": seed})
    return entropic_transport_scores(left, right, cells, regularisation=regularisation, pins=pins)


def entropic_transport_scores(
    reference: Points,
    generated: Points,
    cells: Quantisation,
    *,
    regularisation: Regularisation = "median",
    pins: str = "",
) -> EntropicTransport:
    """Move one histogram of a quantisation onto the other; see :func:`entropic_transport`."""
    check_regularisation(regularisation)
    own = cells_of(reference, generated, cells)
    values, reason = (np.nan, np.nan), too_many(own, MOST_CELLS)
    if reason is None:
        try:
            values = _values(own, epsilon_of(own.costs, regularisation))
        except NoPlanError as failure:
            reason = str(failure)

    def score(metric: str, value: float) -> Score:
        line = signature({"metric": metric, "regularisation": regularisation} | own.pins)
        return Score(
            value=value,
            range=(0.0, np.inf),
            better="lower",
            signature=join_signature(line, pins),
            reason=reason,
        )

    return EntropicTransport(score("ot_entropic", values[0]), score("ot_debiased", values[1]))


def check_regularisation(regularisation: object) -> None:
    """Refuse what is neither "median" nor a number above 0."""
    if regularisation != "median" and not is_positive(regularisation):
        raise InputError(
            f"regularisation must be 'median' or a number above 0; found {regularisation!r}"
        )


def epsilon_of(costs: NDArray[np.float64], regularisation: Regularisation) -> float:
    """The regularisation as a number: by default the median cost between different cells.

    0 where there are no two different cells, or where all lie in one place.
    """
    if not isinstance(regularisation, str):
        return float(regularisation)
    between = costs[np.triu_indices(len(costs), 1)]
    return float(np.median(between)) if len(between) else 0.0


def _values(cells: Cells, epsilon: float) -> tuple[float, float]:
    if not cells.costs.any():
        return 0.0, 0.0
    if epsilon == 0:
        raise NoPlanError("the median cost is 0: at least half of the cells lie in one place")
    p, q = cells.reference, cells.generated
    across, *within = (
        entropic(a, b, cells.costs, regularisation=epsilon) for a, b in ((p, q), (p, p), (q, q))
    )
    return across.transport, max(0.0, across.value - sum(own.value for own in within) / 2)
