"""Tests of whether a score lies beyond a limit: beyond, within, or undecided.

A condition such as *recall below 0.8* is tested from both sides. The one test asks whether the
score lies beyond the limit by more than chance, the other whether it lies on the near side of it by
more than chance; both are one-sided, on the scale of the interval of the score (logits for shares).
At most one of them rejects, and where neither does, the samples do not decide. The error of a
distance grows with the distance, so that a value that is low by chance comes with an interval that
is too short: upwards, the intervals of scores from 0 to infinity reach as far as on the logarithmic
scale, downwards as far as on the straight one (docs/check.md has what either does).

Several conditions are one gate, and the two errors of a gate add up in different ways. It fails
where *any* condition is met, so each of them is a chance to fail by mistake: their p-values are
adjusted by Holm, and the chance that any condition is found to be met that is not stays below
1 - level. It passes where *all* conditions are found not to be met; whichever of them is met in
truth, that one had to be missed, which has a chance of at most 1 - level in itself. So passes need
no adjustment (an intersection-union test: Berger, Technometrics 1982).

What is tested is what the interval of a score is about: the mean of the estimator at these sample
sizes and settings. A limit that is taken from a baseline has an error of its own. What the blocks
of one reference bring to both scores is set off, where both runs kept it, as between the systems of
one run (:mod:`calipers.uncertainty.differences`). Otherwise the scores are taken as independent,
which is too careful: their errors go together, and the difference moves less than that says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.score import Score
from calipers.uncertainty.differences import difference_spread
from calipers.uncertainty.holm import holm
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.spread import (
    ALLOWANCE,
    UNIT,
    Source,
    Spread,
    ends,
    freedom_behind,
    quantile,
    reach_to,
    sizes_of,
    tails,
)

Outcome = Literal["passes", "fails", "inconclusive"]
Side = Literal["below", "above"]

SHARED: tuple[Source, ...] = ("reference", "both")
"""The sources of variation that two runs of one reference have in common."""

POSITIVE = (0.0, np.inf)
MOST = 300.0
"""Logarithm of the most that an interval reaches upwards, in units of the value."""

STILL = 2.0
"""Standard error, in shares of one block, of a share of which no block moves.

A score of 0 in all B blocks has, at a confidence of 1 - a, an upper bound of 1 - a^(1/B). A
standard error of two blocks gives a bound that is at least as high, for every a up to 0.2.
"""


@dataclass(frozen=True)
class LimitEstimate:
    """A score that is compared with a limit.

    Attributes
    ----------
    value, standard_error
        The score, and how much it moves; 0 where it is exact.
    freedom
        Degrees of freedom of the standard error.
    bounds
        Smallest and largest value, which decide the scale.
    still
        Whether the standard error is a bound that more samples do not lower.
    """

    value: float
    standard_error: float
    freedom: float = np.inf
    bounds: tuple[float, float] = (-np.inf, np.inf)
    still: bool = False

    @classmethod
    def of(cls, score: Score, *, blocks: int = DEFAULT_BLOCKS) -> LimitEstimate | None:
        """Take the estimate from a score with an interval; None without one.

        A share of 0 or 1 of which no block of rows moves has none, and yet it is known well: it
        has the standard error of :data:`STILL`.

        Parameters
        ----------
        score
            As a comparison gives it.
        blocks
            Of how many blocks the standard error is.
        """
        still = score.standard_error is None and score.interval is None
        if still and tuple(score.range) == UNIT and score.value in UNIT:
            return cls(score.value, STILL / blocks, blocks - 1, still=True)
        if score.standard_error is None or score.interval is None or score.level is None:
            return None
        freedom = freedom_behind(
            score.value,
            score.interval,
            score.standard_error,
            level=score.level,
            bounds=score.range,
        )
        freedom = blocks - 1 if freedom is None else freedom
        return cls(score.value, score.standard_error, freedom, score.range)

    def less(
        self, other: LimitEstimate, factor: float = 1.0, *, same: bool = False
    ) -> LimitEstimate:
        """Subtract another estimate times a factor, accounting for both errors.

        Parameters
        ----------
        other, factor
            What is subtracted, and how many times.
        same
            Whether both are of the same samples, so that they err alike; otherwise they are taken
            as independent.
        """
        ours, theirs = self.standard_error, factor * other.standard_error
        if same:
            return LimitEstimate(
                self.value - factor * other.value, abs(ours - theirs), self.freedom
            )
        squares = ours**2, theirs**2
        total = sum(squares)
        parts = zip(squares, (self.freedom, other.freedom), strict=True)
        inverse = sum((square / total) ** 2 / freedom for square, freedom in parts) if total else 0
        freedom = 1 / inverse if inverse else np.inf
        value, still = self.value - factor * other.value, self.still or other.still
        return LimitEstimate(value, float(np.sqrt(total)), freedom, still=still)

    @classmethod
    def of_difference(cls, value: float, first: Spread, second: Spread) -> LimitEstimate | None:
        """Take the difference of two scores of one reference, less their shared error.

        None where nothing moves it, or the blocks of both cannot be matched.
        """
        sizes = [sizes_of(spread.of(source)) for spread in (first, second) for source in SHARED]
        if sizes[: len(SHARED)] != sizes[len(SHARED) :]:
            return None
        # A gate promises a rate: it takes the allowance of single scores, the larger one
        spread = replace(difference_spread(first, second), allowance=ALLOWANCE)
        if not (spread.finite and spread.variance > 0):
            return None
        return cls(value, spread.standard_error, spread.freedom)

    def statistic(self, limit: float) -> float:
        """Return the distance of the limit above the value, in standard errors."""
        sign = float(np.sign(limit - self.value))
        low, high = self.bounds
        if self.standard_error == 0 or ((limit <= low or limit >= high) and sign):
            return sign * np.inf if sign else 0.0
        if self._grows and limit > self.value:
            return self.value * float(np.log(limit / self.value)) / self.standard_error
        return sign * reach_to(self.value, limit, bounds=self.bounds) / self.standard_error

    def p_value(self, limit: float, side: Side) -> float:
        """Return the one-sided p-value of a score whose true value is the limit.

        Parameters
        ----------
        limit
            Where it would lie.
        side
            ``"below"`` where low scores speak against that, ``"above"`` where high ones do.
        """
        statistic = self.statistic(limit) * (1 if side == "below" else -1)
        if self.standard_error == 0 and statistic == 0:
            return 1.0
        tail = tails(self.freedom, statistic) / 2
        return tail if statistic >= 0 else 1 - tail

    def one_sided(self, below: float, above: float) -> tuple[float, float]:
        """Return one-sided confidence bounds at the given error probabilities."""
        low = ends(self.value, self._reach(below), bounds=self.bounds)[0]
        reach = self._reach(above)
        if self._grows:
            return low, self.value * float(np.exp(min(reach / self.value, MOST)))
        return low, ends(self.value, reach, bounds=self.bounds)[1]

    @property
    def _grows(self) -> bool:
        """Whether the error of the score grows with it."""
        return tuple(self.bounds) == POSITIVE and self.value > 0

    def _reach(self, alpha: float) -> float:
        error = self.standard_error
        return quantile(self.freedom, 1 - 2 * alpha) * error if error > 0 else 0.0


@dataclass(frozen=True)
class LimitTest:
    """One condition: an estimate, the limit, and the side on which it is met."""

    estimate: LimitEstimate
    limit: float
    side: Side
    inclusive: bool = False

    @property
    def p_met(self) -> float:
        """The p-value of the evidence that the condition is met."""
        if self.estimate.standard_error == 0:
            return 0.0 if self._holds else 1.0
        return self.estimate.p_value(self.limit, self.side)

    @property
    def p_unmet(self) -> float:
        """The p-value of the evidence that the condition is not met."""
        if self.estimate.standard_error == 0:
            return 1.0 if self._holds else 0.0
        return self.estimate.p_value(self.limit, "above" if self.side == "below" else "below")

    @property
    def _holds(self) -> bool:
        gap = self.limit - self.estimate.value
        gap = gap if self.side == "below" else -gap
        return gap > 0 or (self.inclusive and gap == 0)


@dataclass(frozen=True)
class Decision:
    """The decision on one condition.

    Attributes
    ----------
    outcome
        ``"fails"`` where it is met, ``"passes"`` where it is not, else ``"inconclusive"``.
    bounds
        The lower and the upper one-sided confidence bound, each at the level of its side: the
        condition is met where both lie beyond the limit, and not met where both lie on the near
        side.
    p_met, adjusted_p_met
        How often chance alone would show as much for the condition being met, alone and among
        all conditions.
    p_unmet
        The same against it.
    factor
        How many times as many samples would decide, if the score stays as it is, in four of five
        runs; None where it is decided, or no number would do.
    """

    outcome: Outcome
    bounds: tuple[float, float]
    p_met: float
    adjusted_p_met: float
    p_unmet: float
    factor: float | None = None


SIZE = 10**6
"""The number of samples that factors are found for."""


def decide(tests: Sequence[LimitTest], *, level: float = 0.95) -> list[Decision]:
    """Decide all conditions of a check together.

    Parameters
    ----------
    tests
        The conditions.
    level
        1 less the chance of a false failure of the whole gate, and 1 less that of a false pass; in
        (0.5, 1).

    Examples
    --------
    >>> far, near = LimitEstimate(0.6, 0.02, 19), LimitEstimate(0.79, 0.02, 19)
    >>> tests = [LimitTest(far, 0.8, "below"), LimitTest(near, 0.8, "below")]
    >>> [decision.outcome for decision in decide(tests)]
    ['fails', 'inconclusive']
    """
    alpha = 1 - level
    met = [test.p_met for test in tests]
    adjusted = holm(met)
    remaining = int((adjusted > alpha).sum())
    decisions = []
    for test, p_met, p_adjusted in zip(tests, met, adjusted.tolist(), strict=True):
        # Where the steps of Holm's end, all tests that remain are held to one share of alpha
        smaller = sum(p < p_met for p in met)
        test_alpha = alpha / (len(tests) - smaller if p_adjusted <= alpha else remaining)
        p_unmet = test.p_unmet
        fails, passes = p_adjusted <= alpha, p_unmet <= alpha
        outcome: Outcome = "fails" if fails else "passes" if passes else "inconclusive"
        shares = (alpha, test_alpha) if test.side == "below" else (test_alpha, alpha)
        factor = _factor(test, alpha, test_alpha) if outcome == "inconclusive" else None
        bounds = test.estimate.one_sided(*shares)
        decisions.append(Decision(outcome, bounds, p_met, p_adjusted, p_unmet, factor))
    return decisions


def _factor(test: LimitTest, alpha: float, test_alpha: float) -> float | None:
    """How many times as many samples would decide, on the side where the score lies."""
    if test.estimate.still:
        return None
    level = 1 - 2 * (test_alpha if test.p_met < test.p_unmet else alpha)
    # Few degrees of freedom ask for more than the normal quantiles of a sample size
    few = quantile(test.estimate.freedom, level) / quantile(np.inf, level)
    n = separating_n(test.estimate.statistic(test.limit), few, SIZE, level=level)
    return None if n is None else n / SIZE
