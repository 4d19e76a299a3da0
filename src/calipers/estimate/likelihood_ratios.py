"""Likelihood ratios of two distributions at each sample: the second of the two estimates.

Held as natural logarithms of r = p/q at the samples of both sides, each with its weight. Histograms
take the same form, a cell being a sample that weighs its share, so whatever is read from ratios
(divergences, frontiers, precision–recall curves) is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from calipers.brief import Brief
from calipers.errors import InputError
from calipers.lazy import lazily
from calipers.numeric.arrays import Vector
from calipers.numeric.validation import as_array

LARGEST = 690.0  # beyond this, ratios would overflow once multiplied


class Estimate(Protocol):
    """Protocol of the estimates behind divergences, frontiers and precision–recall curves."""

    @property
    def ratios(self) -> LikelihoodRatios:
        """log p/q at the samples of both sides, with their weights."""
        ...

    @property
    def raw(self) -> Estimate:
        """The same estimate without smoothing."""
        ...


@dataclass(frozen=True, eq=False)
class LikelihoodRatios(Brief):
    """Likelihood ratios p/q at every sample of both sets.

    Attributes
    ----------
    log_reference
        log p/q at the reference samples, shape ``(n,)``, above −∞; +∞ where q = 0.
    log_generated
        log p/q at the generated samples, shape ``(m,)``, below +∞; −∞ where p = 0.
    reference_weights, generated_weights
        Share of each sample in its set, summing to 1; None for equal shares.
    positive
        Whether the estimator gives both distributions mass everywhere, for any samples; then
        missing mass cannot be determined.
    pins
        How the estimate was made, for signatures: the estimator and its settings.

    Raises
    ------
    InputError
        If a side has no sample, a logarithm is not a number, or a sample has no likelihood under
        the distribution that it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import f_divergence
    >>> ratios = LikelihoodRatios(np.log([4.0, 1.0]), np.log([0.25, 1.0]))
    >>> round(f_divergence(ratios, "total_variation"), 6)
    0.3
    """

    log_reference: Vector
    log_generated: Vector
    reference_weights: Vector | None = None
    generated_weights: Vector | None = None
    positive: bool = False
    pins: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for side, never in (("reference", -np.inf), ("generated", np.inf)):
            logs = _check_logs(getattr(self, f"log_{side}"), side, never)
            weights = _check_weights(getattr(self, f"{side}_weights"), len(logs), side)
            object.__setattr__(self, f"log_{side}", logs)
            object.__setattr__(self, f"{side}_weights", weights)

    @classmethod
    def of(cls, reference: ArrayLike, generated: ArrayLike, **more: object) -> LikelihoodRatios:
        """Make the estimate from ratios p/q at the samples of both sides; 0 and ∞ are allowed."""
        logs = []
        for side, given in (("reference", reference), ("generated", generated)):
            ratios = _as_vector(given, side)
            if not (ratios >= 0).all():
                raise InputError(f"ratios p/q must not be negative or NaN; the {side} side has one")
            with np.errstate(divide="ignore"):
                logs.append(np.log(ratios))
        return cls(logs[0], logs[1], **more)  # type: ignore[arg-type]

    @classmethod
    def trusted(
        cls,
        log_reference: Vector,
        log_generated: Vector,
        reference_weights: Vector | None,
        generated_weights: Vector | None,
        *,
        positive: bool,
        pins: Mapping[str, object],
    ) -> LikelihoodRatios:
        """Make the estimate from valid values without checks, for thousands of replicates."""
        made = object.__new__(cls)
        made.__dict__.update(
            log_reference=log_reference,
            log_generated=log_generated,
            reference_weights=reference_weights,
            generated_weights=generated_weights,
            positive=positive,
            pins=pins,
        )
        return made

    @property
    def ratios(self) -> LikelihoodRatios:
        """The estimate itself."""
        return self

    @property
    def raw(self) -> LikelihoodRatios:
        """The estimate itself, since it has no smoothing to remove."""
        return self

    @lazily
    def at_generated(self) -> Vector:
        """p/q at the generated samples, 0 where p = 0, at most 1e300."""
        return ratios_from(self.log_generated)

    @lazily
    def swapped(self) -> LikelihoodRatios:
        """The same with the sides exchanged: log q/p."""
        return LikelihoodRatios.trusted(
            -self.log_generated,
            -self.log_reference,
            self.generated_weights,
            self.reference_weights,
            positive=self.positive,
            pins=self.pins,
        )

    def mean_reference(self, values: Vector) -> Any:
        """Weighted means over the reference samples, E_P, of each row of values."""
        return _mean(values, self.reference_weights)

    def mean_generated(self, values: Vector) -> Any:
        """Weighted means over the generated samples, E_Q, of each row of values."""
        return _mean(values, self.generated_weights)

    @property
    def shared(self) -> float:
        """The mass that both distributions have in common, ∫ min(p, q), in [0, 1].

        1 minus their total variation distance, averaged over the samples of both sides.
        """
        at_reference, at_generated = (
            expit(-np.abs(logs)) for logs in (self.log_reference, self.log_generated)
        )
        both = self.mean_reference(at_reference) + self.mean_generated(at_generated)
        return float(min(1.0, both))

    @property
    def outside_generated(self) -> float:
        """P(q = 0): the share of the reference outside the generated distribution's support."""
        return float(self.mean_reference((self.log_reference == np.inf).astype(np.float64)))

    @property
    def outside_reference(self) -> float:
        """Q(p = 0): the share of the generated set outside the reference's support."""
        return float(self.mean_generated((self.log_generated == -np.inf).astype(np.float64)))


def ratios_from(logs: Vector) -> Vector:
    """Return p/q from its logarithm, 0 for −∞, at most 1e300."""
    ratios: Vector = np.exp(np.clip(logs, -LARGEST, LARGEST))
    ratios[logs == -np.inf] = 0.0
    return ratios


def ratios_of(estimate: Estimate, *, raw: bool = False) -> LikelihoodRatios:
    """Return the ratios of an estimate, unsmoothed if `raw`; refuse anything else."""
    if not hasattr(estimate, "ratios"):
        raise InputError(
            f"an estimate must be Histograms or LikelihoodRatios; found {type(estimate).__name__}"
        )
    return (estimate.raw if raw else estimate).ratios


def _mean(values: Vector, weights: Vector | None) -> Any:
    if weights is None:
        return values.mean(axis=-1)
    if not (weights > 0).all():  # an infinite value without weight counts nothing
        values, weights = values[..., weights > 0], weights[weights > 0]
    return values @ weights


def _as_vector(given: ArrayLike, side: str) -> Vector:
    array = as_array(given, f"ratios of the {side} side")
    if array.ndim != 1 or array.size == 0:
        raise InputError(
            f"ratios of the {side} side must be a list, one for each sample; found {array.shape}"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"ratios of the {side} side must be real numbers; found dtype {array.dtype}"
        )
    return array.astype(np.float64)


def _check_logs(given: ArrayLike, side: str, never: float) -> Vector:
    logs = _as_vector(given, side)
    if np.isnan(logs).any():
        row = int(np.flatnonzero(np.isnan(logs))[0]) + 1
        raise InputError(f"log ratios must be numbers; the {side} side has NaN in row {row}")
    if (logs == never).any():
        row = int(np.flatnonzero(logs == never)[0]) + 1
        raise InputError(
            f"a {side} sample must have some likelihood under the {side} distribution; "
            f"row {row} has none (log p/q = {never})"
        )
    return logs


def _check_weights(given: ArrayLike | None, size: int, side: str) -> Vector | None:
    if given is None:
        return None
    weights = _as_vector(given, side)
    if len(weights) != size or not (weights >= 0).all() or abs(weights.sum() - 1) > 1e-9:
        raise InputError(
            f"weights of the {side} side must be {size} shares that sum to 1; "
            f"found {len(weights)} with sum {weights.sum():g}"
        )
    return weights
