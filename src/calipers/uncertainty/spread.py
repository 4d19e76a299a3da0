"""The sampling variance of a score by source, and its confidence interval.

A source of variation is a vector of deviations whose squares sum to its variance: from replicates
with one block of rows left out (Quenouille's and Tukey's jackknife over blocks), from disjoint
smaller sets, or from the starts of k-means. Kept as vectors, and not as one variance, the
deviations of two systems that share a source can be subtracted before they are squared.

The jackknife counts what j rows do together, and not alone, j times over (Efron and Stein, Ann.
Statist. 1981). For nearly equal sets, where that is most of what moves a score of neighbours or
cells, its variance is two to four times too large; nowhere is it too small on average. Disjoint
halves of both sets at once count everything once: a quarter of the squared difference of their
scores, averaged over balanced halvings, is the variance as far as that falls as one over the size.
It falls more slowly where a few rows decide, as a reference's outliers do for precision. So the
variance of a score is the smaller of the jackknife's and :data:`ALLOWANCE` times that of the
halves, by experiment (docs/calibration.md).

An interval is the estimate ± t · standard error, on the logit scale for shares. What it covers is
the expectation of the estimator at these sizes and settings. How far that is from the value at
infinitely many samples is bias, and no interval knows it. Percentiles of resampled scores are not
used: resampling adds the very bias that plug-in scores suffer from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_inner_share

UNIT = (0.0, 1.0)
FAR = 1.0
"""Half-width on the logit scale beyond which the logit is no longer near a straight line."""


def confidence_interval(
    value: float, spread: Spread, *, level: float = 0.95, bounds: tuple[float, float] = UNIT
) -> tuple[float, float] | None:
    """Return the confidence interval of the mean of a score, at a level.

    Parameters
    ----------
    value
        The score.
    spread
        How much it moves.
    level
        Confidence level, in (0, 1).
    bounds
        Smallest and largest value of the score; on (0, 1) the interval is made on the logit
        scale, elsewhere it is cut at the bounds.

    Returns
    -------
    tuple of float or None
        Both ends; None where the score or a replicate of it has no finite value, or where
        nothing moves although the score can.
    """
    check_level(level)
    if not (np.isfinite(value) and spread.finite) or spread.variance == 0:
        return None
    return ends(value, quantile(spread.freedom, level) * spread.standard_error, bounds=bounds)


def ends(value: float, reach: float, *, bounds: tuple[float, float] = UNIT) -> tuple[float, float]:
    """Return both ends of an interval, value ± t · standard error."""
    if tuple(bounds) == UNIT and 0 < value < 1:
        return _on_logits(value, reach)
    low, high = bounds
    return max(low, value - reach), min(high, value + reach)


def reach_to(value: float, end: float, *, bounds: tuple[float, float] = UNIT) -> float:
    """Return how far an interval extends if one of its ends is given; the inverse of :func:`ends`.

    Examples
    --------
    >>> low, high = ends(0.9, 0.04)
    >>> round(reach_to(0.9, low), 9), round(reach_to(0.9, high), 9)
    (0.04, 0.04)
    """
    if tuple(bounds) != UNIT or not 0 < value < 1:
        return abs(end - value)
    slope = value * (1 - value)
    nearest = _on_logits(value, FAR * slope)[int(end > value)]
    if abs(end - value) > abs(nearest - value):
        return FAR * slope + abs(end - nearest)
    return slope * float(abs(np.log(end / (1 - end) * (1 - value) / value)))


def is_rough(value: float, spread: Spread, *, level: float, bounds: tuple[float, float]) -> bool:
    """Whether a share is so close to 0 or 1 that its interval is approximate, mostly too long."""
    if tuple(bounds) != UNIT or not 0 < value < 1:
        return False
    return quantile(spread.freedom, level) * spread.standard_error > FAR * value * (1 - value)


def quantile(freedom: float, level: float) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import ndtri, stdtrit

    lower = (1 - level) / 2
    return -float(stdtrit(freedom, lower) if np.isfinite(freedom) else ndtri(lower))


def freedom_behind(
    value: float,
    interval: tuple[float, float],
    standard_error: float,
    *,
    level: float,
    bounds: tuple[float, float] = UNIT,
) -> float | None:
    """Infer the degrees of freedom of an interval from its length; None if both ends are cut."""
    from scipy.special import stdtridf

    within = [end for end, bound in zip(interval, bounds, strict=True) if end != bound]
    if not within or not standard_error > 0:
        return None
    factor = reach_to(value, within[0], bounds=bounds) / standard_error
    if factor <= quantile(np.inf, level) * (1 + 1e-9):
        return float(np.inf)
    return float(stdtridf((1 - level) / 2, -factor))


def tails(freedom: float, statistic: float) -> float:
    """Return the two-sided tail probability of a statistic under Student's t."""
    from scipy.special import ndtr, stdtr

    far = -abs(statistic)
    return 2 * float(stdtr(freedom, far) if np.isfinite(freedom) else ndtr(far))


def check_level(level: Any) -> None:
    """Refuse an invalid confidence level.

    Raises
    ------
    InputError
        If it does not lie in (0, 1).
    """
    check_inner_share("level", level, "must lie between 0 and 1, such as 0.95;")


def _on_logits(value: float, reach: float) -> tuple[float, float]:
    """Ends whose logits are equally far from that of the value.

    Further off than the slope at the value means anything (a share within a few samples of 0 or
    1), each end goes on in a straight line, and is cut at 0 and 1.
    """
    slope = value * (1 - value)
    near = min(reach, FAR * slope)
    factor, odds = np.exp(near / slope), value / (1 - value)
    low, high = odds / (odds + factor), odds * factor / (1 + odds * factor)
    return max(0.0, float(low) - (reach - near)), min(1.0, float(high) + (reach - near))


Source = Literal["reference", "generated", "both", "seed"]

ALLOWANCE = 1.5
"""What the variance by halves is multiplied by, for scores that a few rows decide."""


@dataclass(frozen=True, eq=False)
class Component:
    """One source of variation.

    Attributes
    ----------
    source
        What was drawn: the reference sample, the generated sample, both at once, or the starts of
        k-means (``"seed"``).
    deviations
        Shape ``(replicates,)``; the sum of their squares is the variance.
    """

    source: Source
    deviations: Floats

    @classmethod
    def jackknife(cls, source: Source, replicates: ArrayLike) -> Component:
        """Make it from scores with one of B blocks left out: V = (B − 1)/B · Σ (S_b − S̄)²."""
        gaps = _from_mean(replicates)
        return cls(source, np.sqrt(1 - 1 / len(gaps)) * gaps)

    @classmethod
    def of_mean(cls, source: Source, values: ArrayLike) -> Component:
        """Make it from independent values whose mean is the score, or behaves like it."""
        gaps = _from_mean(values)
        return cls(source, gaps / np.sqrt(len(gaps) * (len(gaps) - 1)))

    @classmethod
    def of_one(cls, source: Source, values: ArrayLike) -> Component:
        """Make it from independent values, one of which is the score."""
        gaps = _from_mean(values)
        return cls(source, gaps / np.sqrt(len(gaps) - 1))

    @property
    def variance(self) -> float:
        """The variance of the score from this source."""
        return float(self.deviations @ self.deviations)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of that variance."""
        return len(self.deviations) - 1

    def times(self, factor: float) -> Component:
        """Return the component of the score multiplied by a factor."""
        return Component(self.source, factor * self.deviations)


@dataclass(frozen=True, eq=False)
class Spread:
    """All sources of variation of one score.

    Attributes
    ----------
    components
        The sources, independent of each other.
    approximate
        Whether they were found on smaller sets and scaled.
    halves
        Half the difference between the scores of two disjoint halves of both sets, for each
        halving, over the root of their number, so that the sum of squares is a variance; shape
        ``(halvings,)``, or None where halves were not measured.
    allowance
        What the variance by halves is multiplied by.
    """

    components: tuple[Component, ...]
    approximate: bool = False
    halves: Floats | None = None
    allowance: float = ALLOWANCE

    @property
    def variance(self) -> float:
        """The variance of the score, all sources together."""
        return self.share * self.summed

    @property
    def summed(self) -> float:
        """The sum of the variances of the components."""
        return sum(component.variance for component in self.components)

    @property
    def share(self) -> float:
        """The ratio of the score's variance to the components' sum, in [0, 1]."""
        if self.halves is None or not self.summed > 0:
            return 1.0
        return min(1.0, self.allowance * float(self.halves @ self.halves) / self.summed)

    @property
    def standard_error(self) -> float:
        """The standard deviation of the score over repeated draws of everything."""
        return float(np.sqrt(self.variance))

    @property
    def freedom(self) -> float:
        """Degrees of freedom by Welch and Satterthwaite; infinite without variation."""
        total = self.summed
        if total == 0:
            return np.inf
        return 1 / sum(
            (component.variance / total) ** 2 / component.freedom for component in self.components
        )

    @property
    def by_source(self) -> dict[str, float]:
        """The standard error from each source alone."""
        variances: dict[str, float] = {}
        for component in self.components:
            variances[component.source] = variances.get(component.source, 0.0) + component.variance
        share = self.share
        return {source: float(np.sqrt(share * variance)) for source, variance in variances.items()}

    def times(self, factor: float) -> Spread:
        """Return the spread of the score multiplied by a factor."""
        parts = tuple(component.times(factor) for component in self.components)
        halves = None if self.halves is None else factor * self.halves
        return Spread(parts, self.approximate, halves, self.allowance)

    def of(self, source: Source) -> tuple[Component, ...]:
        """Return the components of one source."""
        return tuple(component for component in self.components if component.source == source)

    @property
    def finite(self) -> bool:
        """Whether every replicate had a value."""
        every = [component.deviations for component in self.components]
        every += [] if self.halves is None else [self.halves]
        return all(np.isfinite(deviations).all() for deviations in every)


def mean_spread(parts: Sequence[Spread], values: Sequence[float]) -> Spread:
    """Return the spread of the mean score of several files of one system.

    The reference is the same for all files, so its deviations are averaged; each file has samples
    and starts of its own. Where the files scatter more than chance within each explains (they
    may come from models trained apart), their scatter takes the place of that.

    Parameters
    ----------
    parts, values
        The spread and the value of the score of each file.
    """
    if len(parts) == 1:
        return parts[0]
    shared = [_averaged(parts, source) for source in ("reference", "both")]
    generated = [part.times(1 / len(parts)) for spread in parts for part in spread.of("generated")]
    starts = [part.times(1 / len(parts)) for spread in parts for part in spread.of("seed")]
    between, approximate = Component.of_mean("generated", values), any(p.approximate for p in parts)
    together = [part for part in shared if part is not None]
    known = [part.halves for part in parts if part.halves is not None]
    halves = np.mean(known, axis=0) if len(known) == len(parts) else None
    allowance = max(part.allowance for part in parts)
    within = Spread((*together, *generated, *starts), approximate, halves, allowance)
    if between.variance <= within.share * sum(part.variance for part in generated):
        return within
    # The scatter between files is known as such, and no half of a file shows it
    shrunk = [part.times(float(np.sqrt(within.share))) for part in (*together, *starts)]
    return Spread((*shrunk, between), approximate)


def correlation(first: Spread, second: Spread) -> float | None:
    """Return the correlation of the errors of two scores of one pair, in [-1, 1].

    None where one of them does not move, or what moves them was not found on the same replicates.
    """
    sources = {component.source for component in first.components}
    both = [component.source for component in second.components if component.source in sources]
    shared = [(first.of(source), second.of(source)) for source in dict.fromkeys(both)]
    if any(sizes_of(ours) != sizes_of(theirs) for ours, theirs in shared):
        return None
    scale = float(np.sqrt(first.summed * second.summed))
    if not shared or not scale > 0 or not np.isfinite(scale):
        return None
    # Of several files each has a component of its own, which goes with that of the same file
    pairs = [pair for ours, theirs in shared for pair in zip(ours, theirs, strict=True)]
    together = sum(float(a.deviations @ b.deviations) for a, b in pairs)
    return float(np.clip(together / scale, -1, 1))


def sizes_of(parts: Iterable[Component]) -> list[int]:
    """Return the number of replicates of each component."""
    return [len(component.deviations) for component in parts]


def _averaged(parts: Sequence[Spread], source: Source) -> Component | None:
    """The mean of what every file has of a source they share.

    Files of different size may have been cut into different numbers of parts, which no longer
    stand beside each other. The mean of their standard errors is then the most it can be.
    """
    components = [component for spread in parts for component in spread.of(source)]
    if not components:
        return None
    if len(set(sizes_of(components))) == 1:
        mean = np.mean([component.deviations for component in components], axis=0)
        return Component(source, mean)
    widest = max(components, key=lambda component: component.variance)
    if widest.variance == 0:
        return widest
    errors = np.sqrt([component.variance for component in components])
    return widest.times(float(errors.mean() / errors.max()))


def _from_mean(values: ArrayLike) -> Floats:
    """How far values lie from their mean; NaN where one is infinite."""
    array: Floats = np.asarray(values, float)
    with np.errstate(invalid="ignore"):
        gaps: Floats = array - array.mean()
    return gaps
