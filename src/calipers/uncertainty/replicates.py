"""Replicates of all scores of a pair, from kept counts or on smaller sets.

Four ways, the first that a metric allows:

- its estimate keeps what it would be without each block of rows: the metric is read from that.
  Classifiers that judge held-out samples stay as they are, and the block is not judged: what
  another draw would have taught them is left out, and the interval marked as approximate;
- the metric knows a sum of its own for it (:attr:`~calipers.catalogue.metric.Metric.replicates`);
- its estimator is fitted again without each of ten blocks of either set, as classifiers are;
- both sets are cut into five disjoint parts, the score is measured part against part, and its
  variance is divided by their number. That takes variance to fall as one over the size; where
  the score itself depends on the size (near copies, transport costs) it is a rough guide, and the
  interval is marked as approximate, and scores for which it is none have no interval: nor have
  those that an estimator of likelihood ratios gives of sets that are too far apart for it.

Of scores that are read from neighbours or from the cells of MAUVE, halves of both sets are looked
at too (:mod:`calipers.uncertainty.half_samples`), since leaving blocks out says too much of nearly
equal sets. No sample is ever drawn twice: duplicates would collapse the radii of neighbourhoods.

The same replicates tell how much each point of a curve moves. What the starts of k-means move is
left out of that; what both sets do together is counted by both sides. So bands of frontiers are
rather too wide than too narrow. Those of precision-recall curves are a little too narrow, and tell
nothing where precision or recall is within a few thousandths of the most that it can be: there a
few samples decide, and most draws show no movement at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from calipers.catalogue.choosing import Choice, needs_of
from calipers.catalogue.estimation import COUNTING, ESTIMATORS, HELD_OUT, JUDGES
from calipers.catalogue.metric import resolve
from calipers.catalogue.needs import Needs
from calipers.curves import DivergenceFrontier, PrecisionRecallCurve, RenyiFrontier
from calipers.curves.precision_recall import curve_points
from calipers.metrics.pair import Pair
from calipers.numeric.arrays import Floats
from calipers.numeric.blocks import SideName
from calipers.numeric.threads import workers
from calipers.uncertainty.delete_block import SIDES, DeleteBlock, OneRun, labels_of
from calipers.uncertainty.half_samples import half_differences
from calipers.uncertainty.spread import Component, Source, Spread

PARTS = 5
"""More, and smaller, parts show scores that a few rows already change: ten covered less often."""

SMALLEST_PART = 40
ENOUGH_FOR_PARTS = PARTS * SMALLEST_PART
"""Samples that each set must have for replicates on parts of it."""

UNLIKE = ("knn",)
"""Estimators whose neighbours are so many that parts do not show what the whole does."""

REFITTED = ("classifier",)
"""Estimators that are fitted again without each block, which is cheap and covers where parts, of
which a classifier learns less, do not (docs/estimators.md)."""

REFITS = 10
"""Blocks of either side that are left out in turn for that."""

AT_END = 1e-6
"""How near to an end of its range a score counts as being there."""

BY_CELLS = ("frontier", "prd")

Values = Mapping[str, float]
LeftOut = Mapping[SideName, Sequence[DeleteBlock]]
"""A pair without each block of one side, for both sides."""

Further = Callable[[DeleteBlock], Values]


def spreads(
    pair: Pair,
    choices: Sequence[Choice],
    *,
    further: Further | None = None,
    left_out: LeftOut | None = None,
) -> dict[str, Spread]:
    """Estimate the spread of each score of a pair.

    Parameters
    ----------
    pair
        The pair, whose estimates keep counts by block.
    choices
        The metrics that were read from it.
    further
        Reads more scores, by name, off a pair without a block: those of groups.
    left_out
        The pair without each block, where a caller has more to read from it.

    Returns
    -------
    dict
        By name of the choice; a score whose replicates are not known is left out, all of them
        where the sets are too small to be cut into blocks.
    """
    if pair.blocks is None:
        return {}
    counted = [choice for choice in choices if is_kept(choice)]
    summed = [choice for choice in choices if has_own(choice)]
    estimable = [choice for choice in choices if not is_extrapolated(pair, choice)]
    refitted = [choice for choice in estimable if is_refitted(choice)]
    rest = [choice for choice in estimable if needs_parts(choice)]
    moved = _by_counts(left_out or delete_blocks(pair), counted, further)
    moved |= _by_sums(pair, summed)
    moved |= by_refits(pair, refitted)
    moved |= by_parts(pair, rest)
    starts = _starts(pair, list(filter(is_counted, counted)))
    halves = half_differences(pair, list(filter(is_counted, counted)))
    joined = {
        name: replace(
            spread,
            components=(*spread.components, *starts.get(name, ())),
            halves=halves.get(name, spread.halves),
        )
        for name, spread in moved.items()
    }
    return {name: spread for name, spread in joined.items() if spread.finite}


def delete_blocks(pair: Pair) -> LeftOut:
    """Make pairs without each block, in parallel, for a pair with blocks."""
    return {
        side: [DeleteBlock.of(pair, side, block) for block in range(labels_of(pair, side).count)]
        for side in SIDES
    }


def needs_parts(choice: Choice) -> bool:
    """Whether the spread of a score must be measured on smaller sets."""
    known = has_own(choice) or is_kept(choice) or is_refitted(choice)
    return not known and not has_no_interval(choice)


def is_refitted(choice: Choice) -> bool:
    """Whether its estimator is fitted again without each of some blocks."""
    return choice.option("estimator") in REFITTED and not is_kept(choice)


def has_no_interval(choice: Choice) -> bool:
    """Whether a score has no interval, since simulated intervals did not cover it."""
    unlike = choice.option("estimator") in (*UNLIKE, *JUDGES) or choice.metric.replicates == "none"
    return unlike and not is_kept(choice)


def is_extrapolated(pair: Pair, choice: Choice) -> bool:
    """Whether sets are too far apart for the estimator behind a score.

    All parts then say the same, and no replicate tells how far off the assumptions are.
    """
    estimator = choice.option("estimator")
    return estimator in ESTIMATORS and pair.estimates.too_far(estimator) is not None


def by_refits(pair: Pair, choices: Sequence[Choice]) -> dict[str, Spread]:
    """Estimate spreads by a jackknife over a few blocks, recomputing everything without each."""
    if not choices or pair.blocks is None:
        return {}
    count = min(REFITS, pair.blocks[0].count)
    needs, settings = (
        needs_of(choice.metric for choice in choices),
        replace(pair.settings, threads=1),
    )
    ours, theirs = (blocks.labels for blocks in pair.cut(count))
    every = np.ones(len(ours), bool), np.ones(len(theirs), bool)
    tables: dict[Source, dict[str, Floats]] = {}
    for side in SIDES:
        pairs = [
            partial(pair.part, ours != block, every[1], settings, needs)
            if side == "reference"
            else partial(pair.part, every[0], theirs != block, settings, needs)
            for block in range(count)
        ]
        with workers(pair.settings.threads) as pool:
            rows = list(pool.map(partial(_values_of, choices), pairs))
        tables[side] = {
            choice.name: np.array(values)
            for choice, values in zip(choices, zip(*rows, strict=True), strict=True)
        }
    return {
        choice.name: Spread(
            tuple(Component.jackknife(side, tables[side][choice.name]) for side in SIDES)
        )
        for choice in choices
        if not _at_an_end(choice, pair)
    }


def _at_an_end(choice: Choice, pair: Pair) -> bool:
    """Whether a score is at the very end of its range, where replicates say next to nothing.

    A classifier that orders held-out samples no better than chance gives the ratio 1 everywhere.
    """
    value, ends = choice.score(pair).value, choice.metric.range_of(choice.options)
    return bool(min(abs(value - end) for end in ends) < AT_END)


def _values_of(choices: Sequence[Choice], part: Callable[[], Pair]) -> list[float]:
    smaller = part()  # made here, so that no more than one for each thread is there at a time
    return [choice.score(smaller).value for choice in choices]


def by_parts(pair: Pair, choices: Sequence[Choice]) -> dict[str, Spread]:
    """Score disjoint parts of both sets, and scale their variation."""
    if not choices or min(len(pair.reference), len(pair.generated)) < ENOUGH_FOR_PARTS:
        return {}
    cut = _parts(pair, PARTS, needs_of(choice.metric for choice in choices))
    with workers(pair.settings.threads) as pool:
        rows = list(pool.map(partial(_values_of, choices), cut))
    return {
        choice.name: Spread((Component.of_mean("both", values),), approximate=True)
        for choice, values in zip(choices, zip(*rows, strict=True), strict=True)
    }


def is_kept(choice: Choice) -> bool:
    """Whether the estimates behind a score keep their values without each block."""
    return choice.metric.replicates == "counts" and (is_counted(choice) or is_held_out(choice))


def is_counted(choice: Choice) -> bool:
    """Whether a score is computed from counts alone."""
    return bool(choice.option("estimator") == COUNTING)


def is_held_out(choice: Choice) -> bool:
    """Whether a score is computed from held-out samples judged by classifiers."""
    return bool(choice.option("points") == HELD_OUT)


def has_own(choice: Choice) -> bool:
    """Whether the metric has a function of its own for replicates without blocks."""
    return ":" in choice.metric.replicates


def _by_counts(
    left_out: LeftOut, choices: Sequence[Choice], further: Further | None
) -> dict[str, Spread]:
    """The jackknife over blocks of both sets."""
    tables: dict[Source, dict[str, Floats]] = {}
    for side in SIDES:
        pairs = left_out[side]
        tables[side] = _table(pairs, choices)
        if further is not None:
            tables[side] |= _collect([further(pair) for pair in pairs])
    names = [name for name in tables["reference"] if name in tables["generated"]]
    judged = {choice.name for choice in choices if is_held_out(choice)}
    return {
        name: Spread(
            tuple(Component.jackknife(side, tables[side][name]) for side in SIDES),
            approximate=name in judged,
        )
        for name in names
    }


def _by_sums(pair: Pair, choices: Sequence[Choice]) -> dict[str, Spread]:
    """The jackknife by what the metrics know of their own sums."""
    spreads = {}
    for choice in choices:
        spread = resolve(choice.metric.replicates)(pair)
        if not isinstance(spread, Spread):
            sides = zip(SIDES, spread, strict=True)
            spread = Spread(tuple(Component.jackknife(side, values) for side, values in sides))
        spreads[choice.name] = spread
    return spreads


def _starts(pair: Pair, choices: Iterable[Choice]) -> dict[str, tuple[Component, ...]]:
    """What the starts of k-means move: one of them counts, or the mean of all."""
    starts: dict[str, tuple[Component, ...]] = {}
    for choice in choices:
        if choice.metric.family not in BY_CELLS:
            continue
        mean = choice.metric.family == "prd"
        cells = pair.estimates.prd_cells if mean else pair.estimates.cells
        runs = [OneRun.of(pair, run) for run in range(len(cells.runs))]
        if len(runs) == 1:
            continue  # one start tells nothing of the others
        values = [choice.score(run).value for run in runs]
        make = Component.of_mean if mean else Component.of_one
        starts[choice.name] = (make("seed", values),)
    return starts


def _table(pairs: Sequence[Pair], choices: Sequence[Choice]) -> dict[str, Floats]:
    return {
        choice.name: np.array([choice.score(pair).value for pair in pairs]) for choice in choices
    }


def _collect(rows: Sequence[Values]) -> dict[str, Floats]:
    everywhere = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: np.array([row[name] for row in rows]) for name in everywhere}


def _parts(pair: Pair, parts: int, needs: Needs) -> list[Callable[[], Pair]]:
    """What makes part i of the one set with part i of the other, in the spaces of the full pair.

    Each is small enough for one thread; several are measured at once.
    """
    settings = replace(pair.settings, threads=1)
    left, right = (blocks.labels for blocks in pair.cut(parts))
    return [partial(pair.part, left == i, right == i, settings, needs) for i in range(parts)]


def columns(curve: DivergenceFrontier | PrecisionRecallCurve | RenyiFrontier) -> Floats:
    """Return the points of a curve, shape ``(points, columns)``.

    Precision and recall; of a frontier λ, D(Q‖R_λ) and D(P‖R_λ).
    """
    if not isinstance(curve, DivergenceFrontier):
        return np.stack([curve.precision, curve.recall], axis=1)
    return np.stack([curve.weights, curve.generated_cost, curve.reference_cost], axis=1)


def curve_variances(pair: Pair, left_out: LeftOut) -> dict[str, Floats]:
    """Estimate the variance of the points of every curve, by set.

    Parameters
    ----------
    pair
        The pair, after its scores were read: the curves behind them are looked at.
    left_out
        The pair without each block of each side.

    Returns
    -------
    dict
        By key of the curve the variance of each number, for the reference and for the generated
        samples, shape ``(2, points, columns)``; curves that are not read from counts are left out.
    """
    counted = [options for options in pair.curves.frontiers if options.estimator == COUNTING]
    orders = [options for options in pair.curves.renyis if options.estimator == COUNTING]
    judged = [options for options in pair.curves.trade_offs if options.points == HELD_OUT]
    averaged = any(options.estimator == COUNTING for options in pair.curves.trade_offs)

    def read(without: DeleteBlock) -> dict[str, Floats]:
        curves = without.curves
        frontiers = {
            options.starred_key("frontier"): columns(curves.frontier(options))
            for options in counted
        }
        trade_offs = {options.key("prd"): columns(curves.trade_off(options)) for options in judged}
        by_order = {options.key("renyi"): columns(curves.renyi(options)) for options in orders}
        return frontiers | trade_offs | by_order

    sides = [_collect_points([read(without) for without in left_out[side]]) for side in SIDES]
    if averaged:
        runs = pair.estimates.prd_cells.runs
        for side, points in zip(SIDES, sides, strict=True):
            blocks = range(len(left_out[side]))
            traced = [curve_points([run.without(side, block) for block in blocks]) for run in runs]
            points["prd"] = np.mean(traced, axis=0)
    return {name: np.stack([_variance(side[name]) for side in sides]) for name in sorted(sides[0])}


def _collect_points(replicates: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {name: np.stack([curves[name] for curves in replicates]) for name in replicates[0]}


def _variance(points: Floats) -> Floats:
    gaps = points - points.mean(axis=0)
    variance: Floats = (1 - 1 / len(points)) * (gaps**2).sum(axis=0)
    return variance
