"""The agreement ceiling: how far raters agree about systems, which bounds any metric.

The raters are halved at random, many times; each half gives every system a score, by the
Bradley-Terry model of its judgements or as its mean rating; and the scores of both halves are
correlated over the systems. A whole crowd is twice as large as a half, so that by the formula of
Spearman and Brown (both in British Journal of Psychology, 1910) two such crowds would correlate by
2r/(1 + r), r the mean of the halves. That is the value. A metric which knew the scores that an
endless crowd would give correlates with this crowd by √value, on average: `attainable`.

Raters are halved rather than judgements, since answers of one person are alike; they are matched by
how many answers they gave, so that the halves are about as large. Below four raters judgements are
halved, which overlooks what the raters share: the ceiling is then too high.

In each half ties count as half a win to each, and every system ties once with one of mean strength,
which keeps the scores finite where a half has few judgements. The formula is exact for Pearson's
correlation and halves alike, and an approximation for ranks.

The interval tells how far the value would move with other raters, the systems being these. It comes
from weighting raters at random, with the spread of what raters drawn anew would give; it is moved
to the measured value on Fisher's scale, and made longer as Student's t asks where raters are few,
or few of them gave most answers.

Both correlations are of the same halves, so :func:`ceilings` draws and fits these once, beginning
at the scores of the whole crowd.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Longs, Matrix
from calipers.numeric.validation import check_inner_share, check_whole
from calipers.uncertainty.bradley_terry_fits import BradleyTerryFits
from calipers.uncertainty.clustered import student
from calipers.uncertainty.correlation import LEAST, CorrelationKind, correlate_rows
from calipers.uncertainty.rated_pairs import RatedPairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array


LEAST_RATERS = 4
"""Raters below which judgements are halved."""

SPLITS = 100
DRAWS = 200
SPLITS_OF_DRAW = 20
TOGETHER = 2_000_000
"""Weights of units that are in memory at once."""

BOTH: tuple[CorrelationKind, ...] = ("spearman", "pearson")

VARIANCE = 0.25
"""Of the random weights: small, so that a weighted crowd is hardly smaller than the crowd."""

Scores = Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class Ceiling:
    """Agreement of a crowd of raters with itself about systems.

    Attributes
    ----------
    value
        Correlation that two crowds of this size would have; NaN where it is undefined, `reason`
        then telling why.
    interval
        Lower and upper end; None where there is none.
    attainable
        Correlation with this crowd that a metric without any error would have: √value, 0 where the
        value is below 0.
    half
        Mean correlation of the halves.
    correlation
        "spearman" or "pearson".
    unit
        What was halved: "raters", or "judgements" where there are too few raters.
    units
        How many of them there are.
    systems
        How many systems are correlated.
    reason
        Why the value is undefined; None where it is defined.
    """

    value: float
    interval: tuple[float, float] | None
    attainable: float
    half: float
    correlation: CorrelationKind
    unit: Literal["raters", "judgements"]
    units: int
    systems: int
    reason: str | None = None


def ceiling(
    pairs: RatedPairs,
    *,
    correlation: CorrelationKind = "spearman",
    systems: Sequence[str] | None = None,
    splits: int = SPLITS,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Ceiling:
    """Estimate how far two such crowds of raters would agree about systems, by preferences.

    Parameters
    ----------
    pairs
        The judgements.
    correlation
        "spearman" or "pearson".
    systems
        Those that are correlated, such as all but the reference; None takes all. Judgements of the
        others help to place these.
    splits
        How often the crowd is halved.
    draws
        How often raters are weighted for the interval.
    level
        Of the interval.
    seed
        Of both.

    Raises
    ------
    InputError
        If a system is unknown, or an option is out of its range.
    """
    both = ceilings(
        pairs,
        correlations=(correlation,),
        systems=systems,
        splits=splits,
        draws=draws,
        level=level,
        seed=seed,
    )
    return both[correlation]


def ceilings(
    pairs: RatedPairs,
    *,
    correlations: Sequence[CorrelationKind] = BOTH,
    systems: Sequence[str] | None = None,
    splits: int = SPLITS,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> dict[CorrelationKind, Ceiling]:
    """Estimate the same for several correlations at once, on the same halves.

    Parameters
    ----------
    correlations
        "spearman", "pearson" or both.
    pairs, systems, splits, draws, level, seed
        As of :func:`ceiling`.

    Raises
    ------
    InputError
        As of :func:`ceiling`.
    """
    _check(correlations, splits, draws, level)
    places = _chosen(pairs.names, systems)
    known = len(np.unique(pairs.rater)) if pairs.raters else 0
    by_rater = known >= LEAST_RATERS
    unit = np.unique(pairs.rater, return_inverse=True)[1] if by_rater else np.arange(len(pairs))
    count = known if by_rater else len(pairs)
    fits = BradleyTerryFits.of(len(pairs.names), pairs.i, pairs.j)
    turned = pairs.i > pairs.j
    won = (1 + np.where(turned, -pairs.signed, pairs.signed)) / 2
    counts = _by_unit(
        np.concatenate([unit, unit]),
        np.concatenate([fits.pair, len(fits) + fits.pair]),
        np.concatenate([won, 1 - won]),
        (count, 2 * len(fits)),
    )
    start = fits.scores(counts.sum(axis=0)[None])

    def scores(wins: Matrix) -> Matrix:
        return fits.scores(wins, start)[:, places]

    why = None
    if not len(pairs):
        why = "there are no judgements"
    return _halved(
        counts,
        np.bincount(unit, minlength=count).astype(np.float64),
        scores,
        _Asked(tuple(correlations), splits, draws, level, seed, len(places), by_rater),
        why,
    )


def ratings_ceilings(
    system: ArrayLike,
    rater: ArrayLike | None,
    rating: ArrayLike,
    *,
    correlations: Sequence[CorrelationKind] = BOTH,
    splits: int = SPLITS,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> dict[CorrelationKind, Ceiling]:
    """Estimate how far two such crowds would agree about systems, by mean ratings.

    Parameters
    ----------
    system, rater
        Labels of the system and the rater of every rating, shape ``(rows,)``; None where nobody
        knows who rated.
    rating
        Numbers, shape ``(rows,)``.
    correlations, splits, draws, level, seed
        As of :func:`ceilings`.

    Raises
    ------
    InputError
        If the columns differ in length, a rating is no finite number, or an option is out of its
        range.
    """
    _check(correlations, splits, draws, level)
    values = np.asarray(rating, dtype=np.float64)
    labels = np.asarray(system)
    if values.ndim != 1 or labels.shape != values.shape:
        raise InputError(
            "system and rating must have one value for each rating, "
            f"found the shapes {labels.shape} and {values.shape}"
        )
    if not np.isfinite(values).all():
        raise InputError("ratings must be finite")
    known, place = np.unique(labels, return_inverse=True)
    n, people = len(known), 0
    if rater is not None:
        given = np.asarray(rater)
        if given.shape != values.shape:
            raise InputError(
                f"rater must have one value for each rating, found the shape {given.shape}"
            )
        names, unit = np.unique(given, return_inverse=True)
        people = len(names)
    by_rater = people >= LEAST_RATERS
    if not by_rater:
        unit = np.arange(len(values))
    count = people if by_rater else len(values)
    sums = _by_unit(
        np.concatenate([unit, unit]),
        np.concatenate([place, n + place]),
        np.concatenate([values, np.ones(len(values))]),
        (count, 2 * n),
    )

    def scores(halves: Matrix) -> Matrix:
        total, count = halves.reshape(-1, 2, n).transpose(1, 0, 2)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / np.where(count > 0, count, math.nan))

    return _halved(
        sums,
        np.bincount(unit, minlength=count).astype(np.float64),
        scores,
        _Asked(tuple(correlations), splits, draws, level, seed, n, by_rater),
        None if len(values) else "there are no ratings",
    )


def _check(correlations: Sequence[str], splits: int, draws: int, level: float) -> None:
    for correlation in correlations:
        if correlation not in get_args(CorrelationKind):
            raise unknown_name("kind of correlation", str(correlation), get_args(CorrelationKind))
    check_whole("splits", splits, 1)
    check_whole("draws", draws, 1)
    check_inner_share("level", level, "must lie between 0 and 1,")


def _chosen(names: tuple[str, ...], systems: Sequence[str] | None) -> list[int]:
    if systems is None:
        return list(range(len(names)))
    for name in systems:
        if name not in names:
            raise unknown_name("system", name, names)
    return [names.index(name) for name in systems]


@dataclass(frozen=True)
class _Asked:
    """The options, how many systems are correlated, and whether raters are halved."""

    correlations: tuple[CorrelationKind, ...]
    splits: int
    draws: int
    level: float
    seed: int
    systems: int
    by_rater: bool


def _by_unit(
    unit: NDArray[np.int64], place: NDArray[np.int64], values: Matrix, shape: tuple[int, int]
) -> csr_array[np.float64]:
    """Add up values by unit and place; sparse, since each unit has few places."""
    from scipy.sparse import csr_array

    some = np.flatnonzero(values)
    return csr_array((values[some], (unit[some], place[some])), shape=shape)


def _halved(
    units: csr_array[np.float64], sizes: Matrix, scores: Scores, asked: _Asked, why: str | None
) -> dict[CorrelationKind, Ceiling]:
    """Correlate the scores of halves, each the sum of its units; shape ``(units, numbers)``."""
    rng = np.random.default_rng(asked.seed)
    if why is None and asked.systems < LEAST:
        why = f"at least {LEAST} systems are needed"
    if why is None and len(sizes) < 2:
        why = "a single judgement cannot be halved"
    if why is not None:
        return {kind: _undefined(kind, units.shape[0], asked, why) for kind in asked.correlations}
    ones = np.ones((1, len(sizes)))
    halves = _correlated(units, _sides(rng, sizes, asked.splits)[None], ones, scores, asked)
    drawn = {kind: np.full(asked.draws, math.nan) for kind in asked.correlations}
    defined = [kind for kind, half in halves.items() if np.isfinite(half).any()]
    together = max(1, min(asked.draws, TOGETHER // (SPLITS_OF_DRAW * len(sizes))))
    for start in range(0, asked.draws, together) if defined else ():
        stop = min(start + together, asked.draws)
        weights = np.empty((stop - start, len(sizes)))
        sides = np.empty((stop - start, SPLITS_OF_DRAW, len(sizes)))
        for place in range(stop - start):
            weights[place] = rng.gamma(1 / VARIANCE, VARIANCE, len(sizes))
            sides[place] = _sides(rng, sizes, SPLITS_OF_DRAW)
        for kind, rows in _correlated(units, sides, weights, scores, asked).items():
            drawn[kind][start:stop] = [_mean(row) for row in rows]
    effective = float(sizes.sum() ** 2 / (sizes**2).sum())
    return {
        kind: _ceiling(kind, _mean(halves[kind][0]), drawn[kind], units.shape[0], asked, effective)
        for kind in asked.correlations
    }


def _undefined(kind: CorrelationKind, units: int, asked: _Asked, why: str) -> Ceiling:
    return Ceiling(
        value=math.nan,
        interval=None,
        attainable=math.nan,
        half=math.nan,
        correlation=kind,
        unit="raters" if asked.by_rater else "judgements",
        units=units,
        systems=asked.systems,
        reason=why,
    )


def _ceiling(
    kind: CorrelationKind, half: float, drawn: Matrix, units: int, asked: _Asked, effective: float
) -> Ceiling:
    """Make a ceiling of the mean correlation of the halves, and of those of weighted raters."""
    if math.isnan(half):
        why = "no half gives all systems scores that differ"
        return _undefined(kind, units, asked, why)
    value = float(_stepped_up(np.asarray(half)))
    return replace(
        _undefined(kind, units, asked, ""),
        value=value,
        interval=_interval(value, _stepped_up(drawn), asked.level, effective),
        attainable=math.sqrt(max(value, 0.0)),
        half=half,
        reason=None,
    )


def _sides(rng: np.random.Generator, sizes: Matrix, splits: int) -> Matrix:
    """1 for the units of the first half, 0 for those of the other, shape ``(splits, units)``.

    Units of about the same size are matched, and one of each two goes to each half.
    """
    count = len(sizes)
    mixed = rng.random((splits, count))
    alike = bool((sizes == sizes[0]).all())
    toss = rng.integers(0, 2, (splits, (count + 1) // 2))
    sides = np.empty((splits, count))
    for keys, first, row in zip(mixed, toss, sides, strict=True):
        order = _order(keys) if alike else np.lexsort((keys, -sizes))
        row[order[::2]] = first
        row[order[1::2]] = 1 - first[: count // 2]
    return sides


def _order(keys: Matrix) -> Longs:
    """Sort numbers from [0, 1): by their first 32 bits, then what these leave alike.

    Numbers of 16 bits are sorted in linear time.
    """
    bits = (keys * 2.0**32).astype(np.uint32)
    order = np.argsort(bits.astype(np.uint16), kind="stable")
    order = order[np.argsort((bits >> 16).astype(np.uint16)[order], kind="stable")]
    while True:
        ordered = keys[order]
        wrong = np.flatnonzero(ordered[1:] < ordered[:-1])
        if not wrong.size:
            return np.asarray(order)
        wrong = wrong[np.diff(wrong, prepend=-2) > 1]
        order[wrong], order[wrong + 1] = order[wrong + 1], order[wrong]


def _correlated(
    units: csr_array[np.float64], sides: Matrix, weights: Matrix, scores: Scores, asked: _Asked
) -> dict[CorrelationKind, Matrix]:
    """Correlation of both halves of every split; NaN where it is undefined.

    Parameters
    ----------
    sides
        Which units are in the first half, shape ``(weighted, splits, units)``.
    weights
        What each unit counts, shape ``(weighted, units)``.
    """
    numbers = units.T
    of_first = np.ascontiguousarray(
        (numbers @ (sides * weights[:, None]).reshape(-1, units.shape[0]).T).T
    )
    of_both = np.repeat(np.asarray(numbers @ weights.T).T, sides.shape[1], axis=0)
    # What is left of no unit at all is 0 but for rounding
    a, b = scores(of_first), scores(np.maximum(of_both - of_first, 0.0))
    defined = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
    found = {}
    for kind in asked.correlations:
        correlations = np.full(len(a), math.nan)
        if defined.any():
            correlations[defined] = correlate_rows(kind, a[defined], b[defined])
        found[kind] = correlations.reshape(sides.shape[:2])
    return found


def _mean(correlations: Matrix) -> float:
    correlations = correlations[np.isfinite(correlations)]
    return float(correlations.mean()) if len(correlations) else math.nan


def _stepped_up(half: Matrix) -> Matrix:
    """The formula of Spearman and Brown: the correlation of crowds twice as large."""
    return np.asarray(np.clip(2 * half / (1 + np.maximum(half, -0.9)), -1.0, 1.0))


def _interval(
    value: float, drawn: Matrix, level: float, units: float
) -> tuple[float, float] | None:
    """Return the spread of draws, of weights of a smaller variance than 1, around the value.

    It is longer as Student's t reaches farther than the normal distribution, with so many units:
    few where a few of them hold most of the judgements.
    """
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < 2:
        return None
    edge = 1 - 1e-9
    moved = np.arctanh(np.clip(drawn, -edge, edge))
    normal = float(student(level, 1e9))
    longer = float(student(level, max(units - 1, 1.0))) / normal
    moved = (moved - moved.mean()) * longer / math.sqrt(VARIANCE)
    low, high = np.quantile(moved, [(1 - level) / 2, (1 + level) / 2])
    middle = math.atanh(max(-edge, min(edge, value)))
    return math.tanh(middle + float(low)), math.tanh(middle + float(high))
