"""How much a score moves from one draw to another, source by source.

A source of variation is a vector of deviations whose squares sum to its variance: from replicates
with one block of rows left out (Quenouille's and Tukey's jackknife over blocks), from disjoint
smaller sets, or from the starts of k-means. Kept as vectors, and not as one variance, the
deviations of two systems that share a source can be subtracted before they are squared.

The jackknife counts twice what two rows do together and not alone (Efron and Stein, Ann. Statist.
1981), so its standard errors are rather too large, above all for nearly equal sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Doubles = NDArray[np.float64]
Source = Literal["reference", "generated", "both", "seed"]


@dataclass(frozen=True, eq=False)
class Component:
    """One source of variation.

    Attributes
    ----------
    source
        What was drawn: the reference sample, the generated sample, both at once, or the starts of
        k-means (``"seed"``).
    deviations
        Shape ``(replicates,)``, summing to 0; the sum of their squares is the variance.
    """

    source: Source
    deviations: Doubles

    @classmethod
    def jackknife(cls, source: Source, replicates: ArrayLike) -> Component:
        """From the scores with one of B blocks left out: V = (B − 1)/B · Σ (S_b − S̄)²."""
        gaps = _from_mean(replicates)
        return cls(source, np.sqrt(1 - 1 / len(gaps)) * gaps)

    @classmethod
    def of_mean(cls, source: Source, values: ArrayLike) -> Component:
        """From independent values of which the score is, or behaves like, the mean."""
        gaps = _from_mean(values)
        return cls(source, gaps / np.sqrt(len(gaps) * (len(gaps) - 1)))

    @classmethod
    def of_one(cls, source: Source, values: ArrayLike) -> Component:
        """From independent values of which the score is one."""
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
        """The same source where the score is multiplied."""
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
    crossed
        The variance that both the reference and the generated samples count as theirs, where it
        is known; see :mod:`calipers.uncertainty.interactions`.
    """

    components: tuple[Component, ...]
    approximate: bool = False
    crossed: float = 0.0

    @property
    def variance(self) -> float:
        """The variance of the score, all sources together."""
        return sum(part.variance for part in self.components)

    @property
    def standard_error(self) -> float:
        """How much the score moves from one draw of everything to another."""
        return float(np.sqrt(self.variance))

    @property
    def freedom(self) -> float:
        """Degrees of freedom by Welch and Satterthwaite; infinite where nothing moves."""
        total = self.variance
        if total == 0:
            return np.inf
        return 1 / sum((part.variance / total) ** 2 / part.freedom for part in self.components)

    @property
    def by_source(self) -> dict[str, float]:
        """The standard error that each source alone would leave."""
        found: dict[str, float] = {}
        for part in self.components:
            found[part.source] = found.get(part.source, 0.0) + part.variance
        return {source: float(np.sqrt(variance)) for source, variance in found.items()}

    def times(self, factor: float) -> Spread:
        """The spread of the score multiplied by a factor."""
        parts = tuple(part.times(factor) for part in self.components)
        return Spread(parts, self.approximate, factor**2 * self.crossed)

    def of(self, source: Source) -> tuple[Component, ...]:
        """The components of one source."""
        return tuple(part for part in self.components if part.source == source)

    @property
    def finite(self) -> bool:
        """Whether every replicate had a value."""
        return all(np.isfinite(part.deviations).all() for part in self.components)


def mean_spread(parts: Sequence[Spread], values: Sequence[float]) -> Spread:
    """The spread of the mean score of several files of one system.

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
    own = [part.times(1 / len(parts)) for spread in parts for part in spread.of("generated")]
    starts = [part.times(1 / len(parts)) for spread in parts for part in spread.of("seed")]
    between = Component.of_mean("generated", values)
    if between.variance > sum(part.variance for part in own):
        own = [between]
    together = [part for part in shared if part is not None]
    return Spread(
        (*together, *own, *starts),
        any(part.approximate for part in parts),
        sum(part.crossed for part in parts) / len(parts) ** 2,
    )


def correlation(first: Spread, second: Spread) -> float | None:
    """Tell how the errors of two scores of one pair go together, in [-1, 1].

    None where one of them does not move, or what moves them was not found on the same replicates.
    """
    sources = {part.source for part in first.components}
    both = [part.source for part in second.components if part.source in sources]
    shared = [(first.of(source), second.of(source)) for source in dict.fromkeys(both)]
    if any(sizes_of(ours) != sizes_of(theirs) for ours, theirs in shared):
        return None
    scale = first.standard_error * second.standard_error
    if not shared or not scale > 0 or not np.isfinite(scale):
        return None
    # Of several files each has a component of its own, which goes with that of the same file
    pairs = [pair for ours, theirs in shared for pair in zip(ours, theirs, strict=True)]
    together = sum(float(a.deviations @ b.deviations) for a, b in pairs)
    return float(np.clip(together / scale, -1, 1))


def sizes_of(parts: Iterable[Component]) -> list[int]:
    """How many replicates each of some components has."""
    return [len(part.deviations) for part in parts]


def joined(components: Iterable[Component], source: Source) -> Component:
    """Several components of one source end to end, as one."""
    return Component(source, np.concatenate([part.deviations for part in components]))


def _averaged(parts: Sequence[Spread], source: Source) -> Component | None:
    """The mean of what every file has of a source they share.

    Files of different size may have been cut into different numbers of parts, which no longer
    stand beside each other. The mean of their standard errors is then the most it can be.
    """
    each = [part for spread in parts for part in spread.of(source)]
    if not each:
        return None
    if len({len(part.deviations) for part in each}) == 1:
        return Component(source, np.mean([part.deviations for part in each], axis=0))
    widest = max(each, key=lambda part: part.variance)
    if widest.variance == 0:
        return widest
    errors = np.sqrt([part.variance for part in each])
    return widest.times(float(errors.mean() / errors.max()))


def _from_mean(values: ArrayLike) -> Doubles:
    """How far values lie from their mean; NaN where one is infinite."""
    each: Doubles = np.asarray(values, float)
    with np.errstate(invalid="ignore"):
        gaps: Doubles = each - each.mean()
    return gaps
