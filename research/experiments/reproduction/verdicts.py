"""Whether a line comes out as the paper says, decided by 95 % intervals.

What has no noise is compared outright: an equation (:func:`equal`), a number that follows from
printed ones (:func:`exact`), a statement that is true or false of them (:func:`fact`).

What was estimated is judged by its interval, never by a sign or a threshold of our choosing:

- beside a published number (:func:`beside`, :func:`correlated`): *reproduced* where the interval
  holds the number, as printed, and not the value that says nothing (0 for a correlation);
- an order of systems (:func:`order`), a trend (:func:`rises`, :func:`falls`), a best one
  (:func:`best`): by the differences of all pairs with their intervals, p-values by Holm over the
  pairs of the line. A pair is beyond noise where its adjusted p-value is below 0.05;
- values that the paper calls alike (:func:`alike`): by whether the interval of the difference lies
  within a margin that follows from the paper's own numbers.

A claim in words is *reproduced* by the paper's own experiment (``own=True``), and *same direction
beyond noise* on other models or data.

Differences come from `calipers compare` (:func:`compared`), from repeated trials of a simulation,
trial by trial (:func:`trials`), from leaving out blocks of samples (:func:`jackknife`), or from
intervals of sets that have nothing in common (:func:`independent`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.results import Comparison
from calipers.score import Score
from calipers.uncertainty.correlation import CorrelationKind, pearson, spearman
from calipers.uncertainty.holm import holm
from calipers.uncertainty.spread import quantile, tails
from reproduction.item import NO_INTERVAL, Interval, Line, Verdict, number, numbers, worst

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes
    ----------
    value
        The estimate.
    interval
        None where it is not known, or where nothing moves.
    p_value
        Of the hypothesis that it is 0, for differences; NaN where it is not known.
    """

    value: float
    interval: Interval | None = None
    p_value: float = math.nan

    @classmethod
    def of(cls, score: Score) -> Estimate:
        """Take a score of Calipers with its interval."""
        return cls(float(score.value), score.interval)

    @classmethod
    def mean(cls, values: ArrayLike) -> Estimate:
        """Estimate a mean from independent trials, by Student's t."""
        array = np.asarray(values, float)
        error = float(array.std(ddof=1)) / math.sqrt(len(array))
        return _student(float(array.mean()), error, len(array) - 1)

    def negative(self) -> Estimate:
        """The same with the other sign."""
        interval = None if self.interval is None else (-self.interval[1], -self.interval[0])
        return Estimate(-self.value, interval, self.p_value)

    def told(self, digits: int = 3) -> str:
        """Print the value, and its interval where there is one."""
        if self.interval is None:
            return number(self.value, digits)
        low, high = self.interval
        return f"{number(self.value, digits)} [{number(low, digits)}, {number(high, digits)}]"


@dataclass(frozen=True)
class Row:
    """Several systems by one score, in the order of the claim, and the differences of all pairs.

    Attributes
    ----------
    estimates
        One for each system.
    gaps
        For places i < j the estimate of the later less the earlier.
    """

    estimates: tuple[Estimate, ...]
    gaps: Mapping[tuple[int, int], Estimate]

    def adjusted(self) -> dict[tuple[int, int], float]:
        """The p-values of all pairs by Holm; 1 where a pair has none but is equal."""
        places = list(self.gaps)
        return dict(
            zip(places, holm([self.gaps[pair].p_value for pair in places]).tolist(), strict=True)
        )

    def directions(self) -> dict[tuple[int, int], int]:
        """For every pair 1 where the later is higher beyond noise, -1 where lower, else 0."""
        return {
            pair: (1 if self.gaps[pair].value > 0 else -1) if p < 1 - LEVEL else 0
            for pair, p in self.adjusted().items()
        }

    def part(self, places: Sequence[int]) -> Row:
        """Some of the systems, in the same order, with the differences between them."""
        gaps = {
            (i, j): self.gaps[places[i], places[j]] for i, j in combinations(range(len(places)), 2)
        }
        return Row(tuple(self.estimates[place] for place in places), gaps)

    def told(self, digits: int = 3) -> str:
        """Print all estimates with their intervals."""
        return ", ".join(each.told(digits) for each in self.estimates)


def compared(comparison: Comparison, score: str, systems: Sequence[str]) -> Row:
    """Read systems and the tests between them from what `calipers compare` found.

    Parameters
    ----------
    comparison
        Made with a confidence level; every system of the line must be in it.
    score
        Its key, such as ``mauve_star`` or ``form.mauve_star``; it must be one of those that the
        table shows, which are tested.
    systems
        Names in the order of the claim.
    """
    tests = comparison.indexed.by_score[score]
    gaps = {}
    for i, j in combinations(range(len(systems)), 2):
        forward = (systems[j], systems[i])
        test = tests.get(forward) or tests[forward[::-1]]
        gap = Estimate(test.difference, test.interval, test.p_value)
        gaps[i, j] = gap if (test.a, test.b) == forward else gap.negative()
    return Row(tuple(Estimate.of(comparison[name][score]) for name in systems), gaps)


def trials(values: ArrayLike) -> Row:
    """Compare columns of repeated trials, trial by trial.

    Parameters
    ----------
    values
        Shape ``(trials, systems)``; what a trial draws is shared by its row.
    """
    table = np.asarray(values, float)
    gaps = {
        (i, j): Estimate.mean(table[:, j] - table[:, i])
        for i, j in combinations(range(table.shape[1]), 2)
    }
    return Row(tuple(Estimate.mean(column) for column in table.T), gaps)


def jackknife(
    statistic: Callable[[NDArray[np.intp]], Sequence[float]],
    n: int,
    *,
    blocks: int = 20,
    seed: int = 0,
) -> Row:
    """Compare statistics of the same samples, by leaving out one block of samples in turn.

    Parameters
    ----------
    statistic
        Gives a value for each system from the samples that are kept, by their places.
    n, blocks
        Samples, and how many parts they are cut into at random.
    seed
        Of the cut.
    """
    whole = np.asarray(statistic(np.arange(n)), float)
    parts = np.array_split(np.random.default_rng(seed).permutation(n), blocks)
    without = np.array([statistic(np.setdiff1d(np.arange(n), part)) for part in parts], float)
    gaps = {
        (i, j): _left_out(whole[j] - whole[i], without[:, j] - without[:, i])
        for i, j in combinations(range(len(whole)), 2)
    }
    return Row(tuple(_left_out(*each) for each in zip(whole, without.T, strict=True)), gaps)


def _left_out(value: float, without: NDArray[np.float64]) -> Estimate:
    """The estimate of a statistic from its values without each block."""
    blocks = len(without)
    error = math.sqrt((blocks - 1) / blocks * float(((without - without.mean()) ** 2).sum()))
    return _student(float(value), error, blocks - 1)


def _student(value: float, error: float, freedom: float) -> Estimate:
    if error == 0:
        return Estimate(value, (value, value), 1.0 if value == 0 else 0.0)
    reach = quantile(freedom, LEVEL) * error
    return Estimate(value, (value - reach, value + reach), tails(freedom, value / error))


def independent(estimates: Sequence[Estimate]) -> Row:
    """Compare estimates from samples that have nothing in common.

    Each standard error is half the length of the interval over 1.96.
    """
    gaps = {}
    for i, j in combinations(range(len(estimates)), 2):
        one, other = estimates[i], estimates[j]
        if one.interval is None or other.interval is None:
            gaps[i, j] = Estimate(other.value - one.value)
            continue
        lengths = [each[1] - each[0] for each in (one.interval, other.interval)]
        error = math.hypot(*lengths) / 2 / quantile(math.inf, LEVEL)
        gaps[i, j] = _student(other.value - one.value, error, math.inf)
    return Row(tuple(estimates), gaps)


def equal(what: str, by_hand: float, value: float, *, digits: int = 6) -> Line:
    """A value beside what the equation gives by hand, equal but for rounding."""
    return close(what, by_hand, value, within=1e-9, digits=digits)


def close(what: str, by_hand: float, value: float, *, within: float, digits: int = 6) -> Line:
    """A value beside an exact one, equal but for a numerical error that is at most `within`."""
    told = number(by_hand, digits) + (f" ± {within:g}" if within > 1e-9 else "")
    return _exactly(what, told, number(value, digits), abs(by_hand - value) <= within, (value,))


def exact(what: str, paper: str, value: float) -> Line:
    """A number that has no noise beside the paper's, equal when rounded to its digits."""
    digits = len(paper.partition(".")[2])
    near = abs(value - float(paper)) <= 0.5 * 10**-digits + 1e-9
    return _exactly(what, paper, number(value, digits), near, (value,))


def fact(what: str, paper: str, ours: str, holds: bool) -> Line:
    """A statement that is true or false, without noise: of printed numbers, or of an equation."""
    return _exactly(what, paper, ours, bool(holds), ())


def _exactly(what: str, paper: str, ours: str, same: bool, values: tuple[float, ...]) -> Line:
    return Line(what, paper, ours, "reproduced" if same else "not reproduced", values)


def shown(what: str, ours: Row | Estimate | Sequence[float] | str, *, digits: int = 3) -> Line:
    """What was measured beside nothing: the paper does not say."""
    if isinstance(ours, str):
        return Line(what, "", ours)
    if isinstance(ours, Row):
        return _line(what, "", ours, None, "", digits)
    if isinstance(ours, Estimate):
        return Line(what, "", ours.told(digits), None, (ours.value,), (ours.interval,))
    row = tuple(float(value) for value in ours)
    return Line(what, "", numbers(row, digits), None, row)


def beside(
    what: str,
    paper: str,
    ours: Estimate,
    *,
    null: float = 0.0,
    deviation: float = 0.0,
    digits: int = 3,
) -> Line:
    """An estimate beside a published number.

    Parameters
    ----------
    what, paper
        The line; the number as printed, which may be followed by words.
    ours
        Our estimate.
    null
        The value that would say nothing, such as 0 for a correlation; on which side of it the
        paper's number lies is its direction.
    deviation
        What the paper prints behind ±, if it does: the published number is then an interval too.
    """
    printed = paper.split()[0].rstrip(",;")
    published = float(printed.replace(",", ""))
    rounding = 0.5 * 10 ** -len(printed.partition(".")[2]) + deviation
    verdict, side = _judged(ours, null, 1 if published > null else -1)
    if verdict == "same direction beyond noise" and ours.interval is not None:
        low, high = ours.interval
        if low - rounding <= published <= high + rounding:
            verdict = "reproduced"
    return Line(
        what,
        paper,
        ours.told(digits),
        verdict,
        (ours.value,),
        (ours.interval,),
        f"against {null:g}: {side}",
    )


def sign(
    what: str,
    paper: str,
    ours: Estimate,
    *,
    direction: int,
    null: float = 0.0,
    own: bool = False,
    digits: int = 3,
) -> Line:
    """An estimate of which the paper says that it is above or below a value, such as 0.

    `direction` is 1 for above and -1 for below.
    """
    verdict, side = _judged(ours, null, direction)
    basis = f"against {null:g}: {side}"
    return Line(
        what,
        paper,
        ours.told(digits),
        _owned(verdict, own),
        (ours.value,),
        (ours.interval,),
        basis,
    )


def _judged(ours: Estimate, null: float, direction: int) -> tuple[Verdict, str]:
    """On which side of the null the whole interval lies."""
    if ours.interval is None:
        return "not distinguishable", NO_INTERVAL
    low, high = ours.interval
    if low > null:
        return ("same direction beyond noise" if direction > 0 else "opposite"), "above"
    if high < null:
        return ("same direction beyond noise" if direction < 0 else "opposite"), "below"
    return "not distinguishable", "the interval holds it"


def correlation(a: ArrayLike, b: ArrayLike, *, kind: CorrelationKind = "spearman") -> Estimate:
    """A correlation over systems with its interval for systems drawn from many alike.

    Where all ranks agree Fisher's interval has no length; that of the next lower rank correlation
    that so many systems can have tells how low it could be.
    """
    found = (spearman if kind == "spearman" else pearson)(a, b, level=LEVEL)
    if found.interval is not None or abs(found.value) < 1 or found.n < 4:
        return Estimate(found.value, found.interval)
    order = np.arange(found.n, dtype=float)
    swapped = order.copy()
    swapped[:2] = swapped[1::-1]
    below = spearman(order, swapped, level=LEVEL).interval
    low = -1.0 if below is None else below[0]
    return Estimate(found.value, (low, 1.0) if found.value > 0 else (-1.0, -low))


def correlated(
    what: str,
    paper: str,
    a: ArrayLike,
    b: ArrayLike,
    *,
    kind: CorrelationKind = "spearman",
    own: bool = False,
    digits: int = 3,
) -> Line:
    """The correlation of two scores over systems, beside a published one or *positive*/*negative*.

    The interval is that of systems drawn from many alike, as a claim beyond these systems needs.
    """
    ours = correlation(a, b, kind=kind)
    if paper.startswith(("positive", "negative")):
        direction = 1 if paper.startswith("positive") else -1
        return sign(what, paper, ours, direction=direction, own=own, digits=digits)
    return beside(what, paper, ours, digits=digits)


def at_least(
    what: str, paper: str, ours: Estimate, claim: float, *, null: float = 0.0, digits: int = 3
) -> Line:
    """An estimate of which the paper says that it is at least so large.

    *Reproduced* where the whole interval is; *not distinguishable* where it holds the claim;
    below it *same direction beyond noise* where the whole of it is above the value that says
    nothing, else as :func:`sign` has it.
    """
    basis = f"at least {claim:g}"
    verdict, _ = _judged(ours, null, 1)
    if ours.interval is not None and ours.interval[1] >= claim:
        verdict = "reproduced" if ours.interval[0] >= claim else "not distinguishable"
    elif verdict == "same direction beyond noise":
        basis = f"below {claim:g}, above {null:g}"
    told = ours.told(digits)
    return Line(what, paper, told, verdict, (ours.value,), (ours.interval,), basis)


def order(what: str, paper: str, row: Row, *, own: bool = False, digits: int = 3) -> Line:
    """Systems of which each is higher than the one before it.

    *Same direction beyond noise* where every neighbouring pair is; *opposite* where any pair is
    reversed beyond noise.
    """
    steps = list(pairwise(range(len(row.estimates))))
    return _ordered(what, paper, row, steps, own=own, digits=digits)


def rises(what: str, paper: str, row: Row, *, own: bool = False, digits: int = 3) -> Line:
    """A trend: the last is above the first beyond noise, and no pair is reversed beyond it."""
    return _ordered(what, paper, row, [(0, len(row.estimates) - 1)], own=own, digits=digits)


def falls(what: str, paper: str, row: Row, *, own: bool = False, digits: int = 3) -> Line:
    """A trend downwards: see :func:`rises`."""
    ends = [(0, len(row.estimates) - 1)]
    return _ordered(what, paper, row, ends, up=False, own=own, digits=digits)


def below(what: str, paper: str, row: Row, *, own: bool = False, digits: int = 3) -> Line:
    """The first is lower than each of the others beyond noise."""
    return _against(what, paper, row, 0, up=True, own=own, digits=digits)


def above(what: str, paper: str, row: Row, *, own: bool = False, digits: int = 3) -> Line:
    """The first is higher than each of the others beyond noise."""
    return _against(what, paper, row, 0, up=False, own=own, digits=digits)


def best(
    what: str,
    paper: str,
    row: Row,
    place: int,
    *,
    higher: bool = True,
    own: bool = False,
    digits: int = 3,
) -> Line:
    """The system at a place is better than each of the others beyond noise.

    *Opposite* where any other is better than it beyond noise.
    """
    return _against(what, paper, row, place, up=not higher, own=own, digits=digits)


def _against(
    what: str, paper: str, row: Row, place: int, *, up: bool, own: bool, digits: int
) -> Line:
    """All others above the one at a place, or below it."""
    directions = row.directions()
    asked = []
    for (i, j), direction in directions.items():
        if place in (i, j):
            asked.append(direction if i == place else -direction)
    forward = [direction == (1 if up else -1) for direction in asked]
    reverse = [direction == (-1 if up else 1) for direction in asked]
    return _counted(what, paper, row, forward, reverse, own=own, digits=digits)


def _ordered(
    what: str,
    paper: str,
    row: Row,
    asked: Sequence[tuple[int, int]],
    *,
    up: bool = True,
    own: bool,
    digits: int,
) -> Line:
    """The pairs that are asked for in one direction, and none of all pairs in the other."""
    forward, reverse = (1, -1) if up else (-1, 1)
    directions = row.directions()
    verdict: Verdict
    if any(direction == reverse for direction in directions.values()):
        verdict = "opposite"
    elif all(directions[pair] == forward for pair in asked):
        verdict = "same direction beyond noise"
    else:
        verdict = "not distinguishable"
    counted = _count(
        [direction == forward for direction in directions.values()],
        [direction == reverse for direction in directions.values()],
    )
    return _line(what, paper, row, _owned(verdict, own), counted, digits)


def _counted(
    what: str,
    paper: str,
    row: Row,
    forward: Sequence[bool],
    reverse: Sequence[bool],
    *,
    own: bool,
    digits: int,
) -> Line:
    verdict: Verdict = "not distinguishable"
    if any(reverse):
        verdict = "opposite"
    elif all(forward):
        verdict = "same direction beyond noise"
    return _line(what, paper, row, _owned(verdict, own), _count(forward, reverse), digits)


def _count(forward: Sequence[bool], reverse: Sequence[bool]) -> str:
    against = f", {sum(reverse)} against it" if any(reverse) else ""
    return f"{sum(forward)} of {len(forward)} pairs beyond noise{against}"


def unrelated(what: str, paper: str, ours: Estimate, *, digits: int = 3) -> Line:
    """A correlation of which the paper says that there is none.

    No interval shows that there is none: *opposite* where it does not hold 0.
    """
    zero = ours.interval is None or ours.interval[0] <= 0 <= ours.interval[1]
    verdict: Verdict = "not distinguishable" if zero else "opposite"
    told = ours.told(digits)
    return Line(what, paper, told, verdict, (ours.value,), (ours.interval,), "against 0")


def alike(
    what: str, paper: str, row: Row, *, margin: float, own: bool = False, digits: int = 3
) -> Line:
    """Two systems of which the paper says that they are alike.

    *Same direction beyond noise* where the whole interval of their difference lies within the
    margin, which follows from the paper's numbers; *opposite* where the whole of it lies beyond.
    """
    (gap,) = row.gaps.values()
    verdict: Verdict = "not distinguishable"
    if gap.interval is not None:
        low, high = gap.interval
        if -margin <= low and high <= margin:
            verdict = "same direction beyond noise"
        elif low > margin or high < -margin:
            verdict = "opposite"
    basis = f"difference {gap.told(digits)}, margin {number(margin, digits)}"
    return _line(what, paper, row, _owned(verdict, own), basis, digits)


def together(what: str, paper: str, verdicts: Sequence[Verdict], ours: str, basis: str) -> Line:
    """A claim that needs several: as good as the worst of them."""
    return Line(what, paper, ours, worst(verdicts), (), (), basis)


def _owned(verdict: Verdict, own: bool) -> Verdict:
    return "reproduced" if own and verdict == "same direction beyond noise" else verdict


def _line(
    what: str, paper: str, row: Row, verdict: Verdict | None, basis: str, digits: int
) -> Line:
    return Line(
        what,
        paper,
        row.told(digits),
        verdict,
        tuple(each.value for each in row.estimates),
        tuple(each.interval for each in row.estimates),
        basis,
    )
