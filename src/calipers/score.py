"""One number that a person reads, with all that is needed to judge it.

Every metric returns a :class:`Score`, or a frozen group of them; there is no second shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from numpy.typing import NDArray

Better = Literal["higher", "lower", "closest"]


@dataclass(frozen=True, eq=False)
class Score:
    """How a generated set fares by one metric, and how to read it.

    Attributes
    ----------
    value
        The estimate. NaN where it is undefined, infinite where the definition says so; `reason`
        then tells why.
    interval
        ``(low, high)`` at confidence `level`, or None where none was computed.
    level
        Confidence level of `interval`, in (0, 1).
    noise_floor
        What two halves of the reference score against each other, or None.
    range
        Smallest and largest value that the metric can take.
    better
        Whether ``"higher"`` or ``"lower"`` values are closer to the reference, or whatever is
        ``"closest"`` to the reference's own value.
    signature
        One line that pins every choice behind the number; scores with the same signature are
        comparable.
    reason
        Why `value` is not finite; None otherwise.
    per_sample
        One value for each sample, where the metric has one, shape ``(m,)`` or ``(n,)``.
    seeds
        The value for each seed file of the system, when it has several; `value` is their mean.
    reference
        The same statistic of the reference, T(P) beside the value T(Q), where the metric is a
        property of one set and a reference was given; None otherwise.
    """

    value: float
    interval: tuple[float, float] | None = None
    level: float | None = None
    noise_floor: float | None = None
    range: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    signature: str = ""
    reason: str | None = None
    per_sample: NDArray[Any] | None = field(default=None, repr=False)
    seeds: tuple[float, ...] = ()
    reference: float | None = None

    @property
    def gap(self) -> float | None:
        """How far the statistic is from the reference's, |T(Q) - T(P)|; None without one.

        Pillutla et al., JMLR 2023, section 6.3.
        """
        return None if self.reference is None else abs(self.value - self.reference)

    def __str__(self) -> str:
        """Write the value, the reference's own beside it where there is one, and the signature."""
        beside = "" if self.reference is None else _beside(self.reference, self.gap)
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.value:.4g}{why}{beside}" + (f"  {self.signature}" if self.signature else "")

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def signed(self, **pins: object) -> Self:
        """Return the same score with more pins at the end of its signature."""
        return replace(self, signature=join_signature(self.signature, signature(pins)))


def signature(pins: Mapping[str, object]) -> str:
    """Write choices as one line, in the given order.

    Examples
    --------
    >>> signature({"metric": "precision", "k": 4, "ties": "closed"})
    'metric:precision|k:4|ties:closed'
    """
    return "|".join(f"{key}:{_pin(value)}" for key, value in pins.items())


def join_signature(*parts: str) -> str:
    """Join signature lines, leaving out empty ones."""
    return "|".join(part for part in parts if part)


def _beside(reference: float, gap: float | None) -> str:
    return f" (reference {reference:.4g}, gap {gap:.4g})"


def _pin(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "_".join(text.replace("|", "/").split())
