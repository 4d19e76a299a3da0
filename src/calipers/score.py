"""Scores: values with the information that is needed to judge them.

Every metric returns a :class:`Score`, or a frozen group of them; there is no second shape.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from numpy.typing import NDArray

Better = Literal["higher", "lower", "closest"]

WIDTH = 2.0
"""Standard deviations that the spread of a noise floor reaches to either side."""


@dataclass(frozen=True)
class NoiseFloor:
    """Scores of two halves of the reference against each other, and of a system at that size.

    Only these two numbers are comparable with each other: both are of equally many samples.

    Attributes
    ----------
    value, spread
        Mean and standard deviation, over the splits, of the score of one half against the other.
    beside, beside_spread
        The same of the score of as many samples of the system against the first half.
    size
        Samples on each side.
    splits
        How often the reference was split.
    margin
        How far apart `beside` and `value` may lie, by chance, in 19 of 20 runs at least; None for
        two of `spread`.
    """

    value: float
    spread: float
    beside: float
    beside_spread: float
    size: int
    splits: int
    margin: float | None = None

    @property
    def inside(self) -> bool:
        """Whether the system's score is within the chance variation of the floor."""
        margin = WIDTH * self.spread if self.margin is None else self.margin
        return abs(self.beside - self.value) <= margin


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """A score of a generated set by one metric, with its interval, range and signature.

    A score compares as its `value` does, with numbers and with other scores: ``score >= 0.8``,
    ``score == 0.8``, ``max(scores)``. Equal scores may be of different metrics; NaN is equal to
    nothing, itself included. ``float(score)``, ``round(score, 2)`` and ``f"{score:.3f}"`` work too.

    Attributes
    ----------
    value
        The estimate. NaN where it is undefined, infinite where the definition makes it so; `reason`
        then explains why.
    interval
        ``(low, high)`` at confidence `level`, or None where none was computed. It covers the
        mean of the estimator at these sizes and settings; it does not include the distance of that
        mean from the value at infinitely many samples (the bias).
    level
        Confidence level of `interval`, in (0, 1).
    range
        Smallest and largest value that the metric can take.
    better
        Whether ``"higher"`` or ``"lower"`` values are closer to the reference, or whatever is
        ``"closest"`` to the reference's own value.
    signature
        One line that states every setting behind the number; scores with the same signature are
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
    standard_error
        Standard deviation of `value` over repeated draws of the samples, or None.
    sources
        The standard error from each source alone: ``"reference"`` and ``"generated"`` (which
        samples were drawn), ``"seed"`` (where k-means starts), ``"both"`` where the first two
        cannot be distinguished.
    approximate
        Whether the interval is approximate: its standard error was found on smaller sets and
        scaled, or the score is a share within a few samples of 0 or 1.
    floor
        Scores of two halves of the reference, and of the system at their size, or None.
    details
        The main contributions to the value, where they are informative: rows of one kind, the
        largest first, such as phrases with their counts.
    note
        A remark on the value, such as how much of the texts the metric did not read, or that its
        smoothing replaces what they lack; else None.

    Examples
    --------
    >>> from calipers.metrics import energy_distance
    >>> score = energy_distance([[0.0], [2.0]], [[1.0], [3.0]])
    >>> score.value, score.better, score.range
    (1.0, 'lower', (0.0, inf))
    """

    value: float
    interval: tuple[float, float] | None = None
    level: float | None = None
    range: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    signature: str = ""
    reason: str | None = None
    per_sample: NDArray[Any] | None = field(default=None, repr=False)
    seeds: tuple[float, ...] = ()
    reference: float | None = None
    standard_error: float | None = None
    sources: Mapping[str, float] = field(default_factory=dict)
    approximate: bool = False
    floor: NoiseFloor | None = None
    details: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    note: str | None = None

    @property
    def seeds_sd(self) -> float | None:
        """Sample standard deviation over the files of a system; None for fewer than two values."""
        finite = [value for value in self.seeds if math.isfinite(value)]
        return statistics.stdev(finite) if len(finite) > 1 else None

    @property
    def noise_floor(self) -> float | None:
        """The mean score of two halves of the reference; None where not measured."""
        return None if self.floor is None else self.floor.value

    def without_value(self, reason: str) -> Score:
        """Return the score without value and interval, with the reason."""
        description = {name: getattr(self, name) for name in ("range", "better", "signature")}
        return Score(float("nan"), reason=reason, **description)

    @property
    def gap(self) -> float | None:
        """Distance of the statistic from the reference's, |T(Q) - T(P)|; None without one.

        Pillutla et al., JMLR 2023, section 6.3.
        """
        return None if self.reference is None else abs(self.value - self.reference)

    def __str__(self) -> str:
        """Write the value, the reference's own beside it where there is one, and the signature."""
        beside = "" if self.reference is None else _beside(self.reference, self.gap)
        why = f" ({self.reason})" if self.reason else ""
        why += f" ({self.note})" if self.note else ""
        return f"{self.value:.4g}{why}{beside}" + (f"  {self.signature}" if self.signature else "")

    def __repr__(self) -> str:
        value = f"{self.value:.3f}"
        if self.interval is not None:
            value += f" [{self.interval[0]:.3f}, {self.interval[1]:.3f}]"
        fields = signature_pins(self.signature)
        view = fields.get("view", "").partition("(")[0]  # without how it was pooled
        about = [self.reason, fields.get("metric"), view]
        return f"Score({', '.join([value, *filter(None, about)])})"

    def __float__(self) -> float:
        return float(self.value)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self.value), digits)

    def __eq__(self, other: object) -> bool:
        return self._holds(other, lambda value, number: value == number)

    def __lt__(self, other: object) -> bool:
        return self._holds(other, lambda value, number: value < number)

    def __le__(self, other: object) -> bool:
        return self._holds(other, lambda value, number: value <= number)

    def __gt__(self, other: object) -> bool:
        return self._holds(other, lambda value, number: value > number)

    def __ge__(self, other: object) -> bool:
        return self._holds(other, lambda value, number: value >= number)

    def __hash__(self) -> int:
        return hash(self.value)  # that of an equal number

    def _holds(self, other: object, relation: Callable[[Any, Any], bool]) -> bool:
        """Compare the value with that of another score, or with a number."""
        number = other.value if isinstance(other, Score) else other
        return bool(relation(self.value, number)) if isinstance(number, Real) else NotImplemented

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def signed(self, **pins: object) -> Self:
        """Return the same score with further settings at the end of its signature."""
        return replace(self, signature=join_signature(self.signature, signature(pins)))


def signature(pins: Mapping[str, object]) -> str:
    """Write settings as one line, in the given order.

    Examples
    --------
    >>> signature({"metric": "precision", "k": 4, "ties": "closed"})
    'metric:precision|k:4|ties:closed'
    """
    return "|".join(f"{key}:{_pin(value)}" for key, value in pins.items())


def signature_pins(line: str) -> dict[str, str]:
    """Parse the settings in a signature, by name and in order.

    Examples
    --------
    >>> signature_pins("metric:precision|k:4|ties:closed")
    {'metric': 'precision', 'k': '4', 'ties': 'closed'}
    """
    return dict(part.partition(":")[::2] for part in line.split("|") if part)


def join_signature(*parts: str) -> str:
    """Join signature lines, leaving out empty ones."""
    return "|".join(part for part in parts if part)


def _beside(reference: float, gap: float | None) -> str:
    return f" (reference {reference:.4g}, gap {gap:.4g})"


def _pin(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "_".join(text.replace("|", "/").split())
