"""Agreement of raters with each other, with themselves and with other raters; position bias.

- :func:`krippendorff_alpha` of several raters' answers to the same items (Krippendorff, Content
  Analysis, 2004): 1 − D_o/D_e, the disagreement within items over that of all answers, whichever
  item they are of. 1 is full agreement, 0 that of chance. Answers may be missing.
- :func:`self_agreement`: the same rater, item and order again, and the same answer.
- :func:`flip_rate`: the same rater and item in both orders, and another answer.
- :func:`first_share`: how often the text shown first is preferred.
- :func:`intransitive_share`: how many triples of systems are circles (Kendall and Babington Smith,
  Biometrika 1940).
- :func:`agreement_between`: two groups of raters, such as people and a judge, on the same items;
  :func:`ratings_between`: the same of ratings on a scale.

Intervals of shares are Wilson's (JASA 1927), of as many independent answers as tell as much as the
items, or the raters, that the answers came in (:func:`~calipers.uncertainty.proportions
.effective_counts`); where raters are the clusters, with Student's t. Those of α and κ come from
resampling items (percentiles), since they are no shares.

What they do not see: agreement is not truth; raters who share a habit, such as a liking for long
texts, agree too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Longs, Matrix
from calipers.numeric.validation import check_inner_share, check_whole
from calipers.uncertainty.proportions import effective_counts, share_interval
from calipers.uncertainty.rated_pairs import UNKNOWN, RatedPairs
from calipers.uncertainty.spread import quantile

MeasurementLevel = Literal["nominal", "ordinal", "interval"]

DRAWS = 1000
CHUNK = 100
CIRCLES_BY_CHANCE = 0.25
"""Of two circles and six orders of three systems, all as likely as each other."""


@dataclass(frozen=True)
class ObservedShare:
    """An observed share with its interval.

    Attributes
    ----------
    value
        In [0, 1]; NaN where nothing was counted, `reason` then telling why.
    interval
        Lower and upper end; None where the value is undefined.
    count, total
        How often it happened, of how many.
    reason
        Why the value is undefined; None where it is defined.
    """

    value: float
    interval: tuple[float, float] | None
    count: float
    total: float
    reason: str | None = None


@dataclass(frozen=True)
class AgreementCoefficient:
    """A coefficient of agreement: 1 is full agreement, 0 is agreement by chance.

    Attributes
    ----------
    value
        At most 1; NaN where it is undefined, `reason` then telling why.
    interval
        Lower and upper end, from resampled items; None where there is none.
    items
        Items with answers to compare.
    reason
        Why the value is undefined; None where it is defined.
    """

    value: float
    interval: tuple[float, float] | None
    items: int
    reason: str | None = None


@dataclass(frozen=True)
class Flips:
    """Changes of answers when the two sides are swapped.

    Attributes
    ----------
    changed
        Another answer: another system preferred, or a tie instead.
    reversed
        The other system preferred.
    first, second
        Both times the text shown first, and both times the other: the two ways of `reversed`.
    """

    changed: ObservedShare
    reversed: ObservedShare
    first: ObservedShare
    second: ObservedShare


@dataclass(frozen=True)
class PairedAgreement:
    """Agreement of two groups of raters on the same items.

    Attributes
    ----------
    share
        How often an answer of one is that of the other: the same system, or both a tie.
    decided
        How often both prefer the same system, of the times that both prefer one.
    kappa
        Agreement beyond chance: Cohen's κ of all pairs of answers, one of each group; of ratings
        the κ of squared distances.
    items
        Items that both judged.
    """

    share: ObservedShare
    decided: ObservedShare
    kappa: AgreementCoefficient
    items: int


# ------------------------------------------------------------------ α


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    kind: MeasurementLevel = "nominal",
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> AgreementCoefficient:
    """Compute Krippendorff's alpha: agreement of raters on items beyond chance.

    Parameters
    ----------
    ratings
        A row for each rater and a column for each item, NaN where there is no answer; shape
        ``(raters, items)``.
    kind
        How far two answers differ: "nominal" (the same or not), "ordinal" (by the answers between
        them) or "interval" (by the square of their difference).
    level
        Of the interval.
    draws
        How often items are resampled.
    seed
        Of the draws.

    Raises
    ------
    InputError
        If ratings are no table of numbers, or an option is out of its range.

    Examples
    --------
    Two raters agree on three of four items:

    >>> round(krippendorff_alpha([[1, 1, 2, 2], [1, 1, 2, 1]]).value, 4)
    0.5333
    """
    if kind not in get_args(MeasurementLevel):
        raise unknown_name("kind of ratings", str(kind), get_args(MeasurementLevel))
    check_inner_share("level", level, "must lie between 0 and 1,")
    check_whole("draws", draws, 1)
    table = _table_of_ratings(ratings)
    rated = table[:, np.isfinite(table).sum(axis=0) >= 2]
    items = rated.shape[1]
    if not items:
        return AgreementCoefficient(math.nan, None, 0, "no item has answers of two raters")
    levels, counts = _counts(rated)
    if len(levels) < 2:
        reason = "all answers are the same: there is nothing to disagree about"
        return AgreementCoefficient(math.nan, None, items, reason)
    answered = counts.sum(axis=1)
    # Within an item of m answers each pair weighs 1/(m − 1), so that it weighs m in all
    pair_weights = counts / (answered - 1)[:, None]
    value = float(_alpha(kind, levels, counts, pair_weights, np.ones((1, items)))[0])
    rng, alphas = np.random.default_rng(seed), []
    for start in range(0, draws, CHUNK):
        often = rng.multinomial(items, np.full(items, 1 / items), min(CHUNK, draws - start))
        alphas.append(_alpha(kind, levels, counts, pair_weights, often.astype(np.float64)))
    return AgreementCoefficient(value, _percentiles(np.concatenate(alphas), items, level), items)


def _table_of_ratings(ratings: ArrayLike) -> Matrix:
    try:
        table = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"ratings must be numbers: {error}") from error
    if table.ndim != 2:
        raise InputError(f"ratings must have the shape (raters, items), found {table.shape}")
    if np.isinf(table).any():
        raise InputError("ratings must be finite, or NaN where there is no answer")
    return table


def _counts(table: Matrix) -> tuple[Matrix, Matrix]:
    """Give all answers in rising order, and how often each item got each: ``(items, answers)``."""
    rater, item = np.nonzero(np.isfinite(table))
    levels, place = np.unique(table[rater, item], return_inverse=True)
    counts = np.zeros((table.shape[1], len(levels)))
    np.add.at(counts, (item, place), 1)
    return levels, counts


def _alpha(
    kind: MeasurementLevel, levels: Matrix, counts: Matrix, pair_weights: Matrix, often: Matrix
) -> Matrix:
    """α of items that count so often, ``(draws, items)``; NaN where all answers are the same."""
    totals = often @ counts
    answers = totals.sum(axis=1)
    alphas = np.empty(len(often))
    for draw, (weights, total, n) in enumerate(zip(often, totals, answers, strict=True)):
        apart = _distances(kind, levels, total)
        # Answers that are the same are 0 apart, so that each may be paired with itself
        observed = float((weights @ (pair_weights * (counts @ apart))).sum())
        expected = float(total @ apart @ total) / (n - 1)
        alphas[draw] = 1 - observed / expected if expected > 0 else math.nan
    return alphas


def _distances(kind: MeasurementLevel, levels: Matrix, totals: Matrix) -> Matrix:
    """Squared distances of two answers, ``(answers, answers)``."""
    if kind == "nominal":
        return 1 - np.eye(len(levels))
    # Ordinal: the answers between two, half of both among them; as positions on a line
    positions = levels if kind == "interval" else np.cumsum(totals) - totals / 2
    apart: Matrix = np.subtract.outer(positions, positions) ** 2
    return apart


def _percentiles(alphas: Matrix, items: int, level: float) -> tuple[float, float] | None:
    alphas = alphas[np.isfinite(alphas)]
    if items < 2 or not len(alphas):
        return None
    low, high = np.quantile(alphas, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


# ------------------------------------------------------------------ shares


def share_of(
    inside: NDArray[np.bool_],
    clusters: Sequence[Longs] = (),
    *,
    level: float = 0.95,
    reason: str = "nothing to count",
) -> ObservedShare:
    """Return a share of rows with Wilson's interval, for rows in clusters.

    Parameters
    ----------
    inside
        Which rows count, shape ``(n,)``.
    clusters
        Ways in which rows come in clusters, each of whole numbers, shape ``(n,)``; the one that
        makes the interval widest is taken.
    level
        Of the interval.
    reason
        What to say where there are no rows.
    """
    n = len(inside)
    if not n:
        return ObservedShare(math.nan, None, 0.0, 0.0, reason)
    count = float(inside.sum())
    best = share_interval(count / n, n, quantile(math.inf, level))
    for labels in clusters:
        groups = len(np.unique(labels))
        effective = effective_counts(inside, labels)[1]
        interval = share_interval(count / n, effective, quantile(max(groups - 1, 1), level))
        if groups > 1 and interval[1] - interval[0] > best[1] - best[0]:
            best = interval
    return ObservedShare(count / n, best, count, float(n))


def first_share(pairs: RatedPairs, *, level: float = 0.95) -> ObservedShare:
    """Return how often the text shown first is preferred, without ties.

    It is near a half where sides were drawn at random and nobody follows them. Answers of one
    rater are alike, where there are several; of one item, where there is one rater.
    """
    decided = pairs.select(pairs.prefers_first != 0)
    reason = "no judgement says which text was shown first and prefers one"
    return share_of(decided.prefers_first > 0, _clusters(decided), level=level, reason=reason)


def self_agreement(pairs: RatedPairs, *, level: float = 0.95) -> ObservedShare:
    """Return how often a rater repeats an answer to the same item in the same order.

    Every two answers that a rater gave to one item in one order count once.
    """
    same, item, rater = [], [], []
    for rows in _grouped(pairs, pairs.rater, pairs.item, _side(pairs)):
        for p, q in combinations(rows.tolist(), 2):
            same.append(_of_lower(pairs, p) == _of_lower(pairs, q))
            item.append(pairs.item[p])
            rater.append(pairs.rater[p])
    return share_of(
        np.array(same, dtype=np.bool_),
        [np.array(item, dtype=np.int64), np.array(rater, dtype=np.int64)],
        level=level,
        reason="no rater answered an item twice in the same order",
    )


def flip_rate(pairs: RatedPairs, *, level: float = 0.95) -> Flips:
    """Return how often a rater's answer changes when the two texts change sides.

    Every two answers that a rater gave to one item, one in each order, count once.
    """
    one, other, item, rater = [], [], [], []
    for rows in _grouped(pairs, pairs.rater, pairs.item):
        sides = _side(pairs)[rows]
        for p in rows[sides == 1].tolist():
            for q in rows[sides == -1].tolist():
                one.append(_of_lower(pairs, p))
                other.append(_of_lower(pairs, q))
                item.append(pairs.item[p])
                rater.append(pairs.rater[p])
    # Of the system of the lower place: shown first in one, second in the other
    there, back = np.array(one, dtype=np.int64), np.array(other, dtype=np.int64)
    clusters = [np.array(item, dtype=np.int64), np.array(rater, dtype=np.int64)]
    reason = "no rater answered an item in both orders"

    def share(inside: NDArray[np.bool_]) -> ObservedShare:
        return share_of(inside, clusters, level=level, reason=reason)

    return Flips(
        changed=share(there != back),
        reversed=share(there * back < 0),
        first=share((there == 1) & (back == -1)),
        second=share((there == -1) & (back == 1)),
    )


def check_more_than_sides(pairs: RatedPairs) -> None:
    """Refuse answers that all follow the sides and so say nothing about systems.

    So answers a rater who always prefers the text shown first, and one who draws lots but never
    agrees with itself: whatever was answered of an item in one order is undone in the other. Wins
    and losses are then equal in every item, so that scores would be 0 with errors of 0, which
    would claim certainty where nothing was learnt. Two ties in either order are an answer.

    Raises
    ------
    InputError
        If there are answers, and every rater gave all of them so.
    """
    known = pairs.item != UNKNOWN
    groups = _grouped(pairs, pairs.rater, pairs.item)
    if not len(pairs) or not known.all() or sum(map(len, groups)) < len(pairs):
        return
    outcome = np.where(pairs.i < pairs.j, pairs.outcome, -pairs.outcome)
    side = _side(pairs)
    for rows in groups:
        there, back = (outcome[rows[side[rows] == way]] for way in (1, -1))
        if not len(there) or not len(back) or not (np.outer(there, back) < 0).all():
            return
    sides = pairs.prefers_first
    always = [way for way, sign in (("first", 1), ("second", -1)) if (sides == sign).all()]
    shown = f" (always for the text shown {always[0]})" if always else ""
    where = f"all {len(groups):,} pairs" if len(groups) > 1 else "the only pair"
    raise InputError(
        f"in {where} the answer changes when the sides are swapped{shown}, "
        "so the answers say nothing about the systems"
    )


def _side(pairs: RatedPairs) -> Longs:
    """1 where the system of the lower place was shown first, -1 where the other, 0 unknown."""
    return np.where(pairs.i < pairs.j, pairs.first, -pairs.first)


def _of_lower(pairs: RatedPairs, row: int) -> int:
    """The outcome of the system of the lower place."""
    return int(pairs.outcome[row]) * (1 if pairs.i[row] < pairs.j[row] else -1)


def _grouped(pairs: RatedPairs, *keys: Longs) -> list[Longs]:
    """Return the rows of every group of two or more that are alike in all keys, of known items."""
    rows = np.flatnonzero(pairs.item != UNKNOWN)
    if not len(rows):
        return []
    table = np.column_stack([key[rows] for key in keys])
    label = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(label, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)
    return [group for group in groups if len(group) > 1]


def _clusters(pairs: RatedPairs) -> list[Longs]:
    """Items and raters, where they are known; an unknown item stands for itself."""
    item = np.where(pairs.item == UNKNOWN, -1 - np.arange(len(pairs)), pairs.item)
    return [item, pairs.rater]


# ------------------------------------------------------------------ circles


def intransitive_share(
    pairs: RatedPairs, *, group: ArrayLike | None = None, level: float = 0.95
) -> ObservedShare:
    """Return the share of triples of systems that form cycles: x over y, y over z, z over x.

    Within every group, the system that was preferred more often of two is taken to be before the
    other. Triples of which all three pairs are so decided count. A quarter of them would be circles
    if every pair were decided by a coin, and circles are then so rarely alike that triples count as
    independent (Kendall and Babington Smith, Biometrika 1940).

    Parameters
    ----------
    pairs
        The judgements.
    group
        What judgements are taken together, shape ``(rows,)``: labels such as the rater, or the
        rater and the context. None takes the raters.
    level
        Of the interval; triples of one group are alike.
    """
    labels = pairs.rater if group is None else np.asarray(group)
    if labels.shape != (len(pairs),):
        raise InputError(
            f"group must have one label for each of the {len(pairs)} judgements, "
            f"found the shape {labels.shape}"
        )
    numbers = np.unique(labels, return_inverse=True)[1].ravel()
    circles, of_group = [], []
    for number in range(int(numbers.max()) + 1 if len(numbers) else 0):
        counted = pairs.select(numbers == number).preferences.wins
        before = np.sign(counted - counted.T).astype(np.int64)
        met = np.flatnonzero(np.abs(before).sum(axis=1) >= 2)
        for x, y, z in combinations(met.tolist(), 3):
            turn = before[x, y], before[y, z], before[z, x]
            if 0 not in turn:
                circles.append(abs(sum(turn)) == 3)
                of_group.append(number)
    return share_of(
        np.array(circles, dtype=np.bool_),
        [np.array(of_group, dtype=np.int64)],
        level=level,
        reason="no three systems have a preference between every two of them",
    )


# ------------------------------------------------------------------ two groups


def agreement_between(
    one: RatedPairs,
    other: RatedPairs,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> PairedAgreement:
    """Measure how far two groups of raters agree on the items that both judged.

    Every pair of answers to one item counts, one of each group; an item counts as one, however many
    answered it. What one rater answered in both groups is not compared with itself.

    Parameters
    ----------
    one, other
        Judgements of both, such as those of people and of a judge; items are matched by their ids,
        systems by their names. The same judgements twice tell how far their raters agree with each
        other.
    level, draws, seed
        As of :func:`krippendorff_alpha`.
    """
    check_inner_share("level", level, "must lie between 0 and 1,")
    check_whole("draws", draws, 1)
    left, right = _by_item(one), _by_item(other)
    tables = []
    for item, answers in left.items():
        table = np.zeros((3, 3))
        for rater, outcome in answers:
            for other_rater, other_outcome in right.get(item, ()):
                if rater is None or rater != other_rater:
                    table[outcome + 1, other_outcome + 1] += 1
        if table.any():
            tables.append(table / table.sum())
    items = len(tables)
    reason = "no item has answers of both"
    if not items:
        nothing = ObservedShare(math.nan, None, 0.0, 0.0, reason)
        return PairedAgreement(nothing, nothing, AgreementCoefficient(math.nan, None, 0, reason), 0)
    counted = np.array(tables).reshape(items, 9)
    same = counted[:, [0, 4, 8]].sum(axis=1)
    both = counted[:, [0, 2, 6, 8]].sum(axis=1)
    alike = counted[:, [0, 8]].sum(axis=1)
    kappa = float(_kappa(counted.mean(axis=0)[None, :])[0])
    rng = np.random.default_rng(seed)
    often = rng.multinomial(items, np.full(items, 1 / items), draws) / items
    interval = _percentiles(_kappa(often @ counted), items, level)
    agreed = AgreementCoefficient(kappa, interval, items)
    if math.isnan(kappa):
        constant = "all answers of both are the same: there is nothing to disagree about"
        agreed = AgreementCoefficient(math.nan, None, items, constant)
    return PairedAgreement(
        share=_mean_share(same, np.ones(items), level, reason),
        decided=_mean_share(alike, both, level, "no item has a preference of both"),
        kappa=agreed,
        items=items,
    )


Ratings = Sequence[tuple[str, str, float]]
"""Item, rater and number of every rating."""


def ratings_between(
    one: Ratings,
    other: Ratings,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> PairedAgreement:
    """Measure how far two groups of raters agree on the items that both rated.

    As :func:`agreement_between`, but that κ weighs disagreements by their squared distance (Cohen,
    Psychological Bulletin 1968): 1 − E(x − y)²/E(x − y′)², y′ the ratings of the other group
    whichever item they are of.

    Parameters
    ----------
    one, other
        Ratings of both.
    level, draws, seed
        As of :func:`krippendorff_alpha`.

    Examples
    --------
    >>> people = [("t1", "ann", 1), ("t2", "ann", 3), ("t3", "bob", 5)]
    >>> found = ratings_between(people, [("t1", "m", 1), ("t2", "m", 3), ("t3", "m", 4)])
    >>> found.items, round(found.share.value, 2), round(found.kappa.value, 2)
    (3, 0.67, 0.92)
    """
    check_inner_share("level", level, "must lie between 0 and 1,")
    check_whole("draws", draws, 1)
    theirs: dict[str, list[tuple[str, float]]] = {}
    for item, rater, value in other:
        theirs.setdefault(item, []).append((rater, value))
    met: dict[str, list[tuple[float, float]]] = {}
    for item, rater, value in one:
        both = [(value, their) for name, their in theirs.get(item, ()) if name != rater]
        if both:
            met.setdefault(item, []).extend(both)
    items = len(met)
    reason = "no item has answers of both"
    if not items:
        nothing = ObservedShare(math.nan, None, 0.0, 0.0, reason)
        return PairedAgreement(nothing, nothing, AgreementCoefficient(math.nan, None, 0, reason), 0)
    moments = np.empty((items, 6))
    for row, both in enumerate(met.values()):
        x, y = np.array(both, dtype=np.float64).T
        columns = (x == y, (x - y) ** 2, x, y, x**2, y**2)
        moments[row] = [column.mean() for column in columns]
    same = moments[:, 0]
    kappa = float(_squared_kappa(moments.mean(axis=0)[None, :])[0])
    rng = np.random.default_rng(seed)
    often = rng.multinomial(items, np.full(items, 1 / items), draws) / items
    interval = _percentiles(_squared_kappa(often @ moments), items, level)
    agreed = AgreementCoefficient(kappa, interval, items)
    if math.isnan(kappa):
        constant = "all ratings of both are the same: there is nothing to disagree about"
        agreed = AgreementCoefficient(math.nan, None, items, constant)
    share = _mean_share(same, np.ones(items), level, reason)
    unknown = ObservedShare(math.nan, None, 0.0, 0.0, "ratings prefer nothing")
    return PairedAgreement(share, unknown, agreed, items)


def _squared_kappa(moments: Matrix) -> Matrix:
    """κ of squared distances from the means of (x − y)², x, y, x² and y², in columns 1 to 5."""
    _, apart, x, y, xx, yy = moments.T
    chance = xx + yy - 2 * x * y
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(chance > 1e-12, 1 - apart / chance, math.nan))


def _by_item(pairs: RatedPairs) -> dict[str, list[tuple[str | None, int]]]:
    """Raters and outcomes of every item, the outcome of the system whose name comes first."""
    outcomes: dict[str, list[tuple[str | None, int]]] = {}
    for row in np.flatnonzero(pairs.item != UNKNOWN).tolist():
        turned = pairs.names[pairs.i[row]] > pairs.names[pairs.j[row]]
        outcome = int(pairs.outcome[row]) * (-1 if turned else 1)
        rater = pairs.raters[pairs.rater[row]] if pairs.rater[row] != UNKNOWN else None
        outcomes.setdefault(pairs.items[pairs.item[row]], []).append((rater, outcome))
    return outcomes


def _kappa(tables: Matrix) -> Matrix:
    """Cohen's κ of flat tables of outcomes, ``(tables, 9)``."""
    table = tables.reshape(-1, 3, 3)
    chance = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1)
    same = np.trace(table, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(chance < 1 - 1e-12, (same - chance) / (1 - chance), math.nan))


def _mean_share(part: Matrix, whole: Matrix, level: float, reason: str) -> ObservedShare:
    """The sum of parts over that of wholes, items independent: Wilson's interval of as many rows.

    The variance of the ratio is that of linearisation; rows are no fewer than would have it.
    """
    total = float(whole.sum())
    if total <= 0:
        return ObservedShare(math.nan, None, 0.0, 0.0, reason)
    items, value = len(part), float(part.sum()) / total
    n = total
    if 0 < value < 1 and items > 1:
        spread = items / (items - 1) * float(((part - value * whole) ** 2).sum()) / total**2
        n = value * (1 - value) / spread if spread > 0 else total
    interval = share_interval(value, n, quantile(math.inf, level))
    return ObservedShare(value, interval, float(part.sum()), total)
