"""Uncertainty of one pair's scores: intervals, and a test of whether the sets differ.

:func:`measure_uncertainty` gives the spreads of the scores of a pair and tests its two sets,
:func:`with_intervals` makes intervals of spreads, :func:`correlations` tells how errors go
together, and :func:`interval_warnings` why there are no intervals. Tests between systems are in
:mod:`calipers.evaluate.inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.labels import Groups, cluster_warnings
from calipers.metrics.exchangeable import exchangeable
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.threads import available_threads, limit_threads
from calipers.samples.wording import first_names
from calipers.score import Score, join_signature, signature
from calipers.uncertainty.delete_block import DeleteBlock
from calipers.uncertainty.replicates import (
    ENOUGH_FOR_PARTS,
    Further,
    curve_variances,
    delete_blocks,
    has_no_interval,
    is_kept,
    needs_parts,
    spreads,
)
from calipers.uncertainty.spread import (
    Spread,
    confidence_interval,
    correlation,
    is_rough,
)
from calipers.uncertainty.two_sample import TwoSample
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

Spreads = Mapping[str, Spread]

First = TypeVar("First")
Second = TypeVar("Second")

FEWEST_PERMUTATIONS = 499
MOST_PERMUTATIONS = 19_999
MANY_ROWS = 4_000
NAMED = 4

AUC = "classifier_auc"
TESTS = {AUC: classifier_test, "mmd": mmd_test}
"""The tests of whether two sets are distinguishable, by the statistic."""

DRAWN_TOGETHER = (
    ("precision", "recall"),
    ("precision", "coverage"),
    ("density", "coverage"),
    ("clipped_density", "clipped_coverage"),
    ("max_precision", "max_recall"),
    ("prd_f8", "prd_f1_8"),
    ("frontier_f8", "frontier_f1_8"),
)
"""Scores that are drawn against each other, the one of quality first where there is one."""


def permutations_for(tests: int, level: float, *, rows: int) -> int:
    """Return the number of permutations that allows a small p-value after correction.

    A permutation test knows no p-value below one over their number, and Holm multiplies it by up to
    the number of tests. Half of what the level allows is enough to be found; where `rows` of the
    largest pair are few, and permutations cheap, it is a twentieth.
    """
    share = 2 if rows > MANY_ROWS else 20
    needed = round(share * tests / (1 - level))
    return min(max(needed - 1, FEWEST_PERMUTATIONS), MOST_PERMUTATIONS)


def measure_uncertainty(
    pair: Pair,
    choices: Sequence[Choice],
    groups: Groups | None,
    *,
    level: float,
    permutations: int,
    tested: Pair | None = None,
) -> tuple[Spreads, Mapping[str, NDArray[Any]], Mapping[str, TwoSample]]:
    """Measure the spread of a pair's scores and curves, and test whether its sets differ.

    `tested` are the same two sets as they are tested, where they are scored otherwise.

    Returns
    -------
    spreads, curve_variances, tests
        By key; of curves the variance at every point that comes from either set.
    """
    counted = [choice for choice in choices if is_kept(choice)]
    others = [choice for choice in choices if not is_kept(choice)]
    left_out = None if pair.blocks is None else delete_blocks(pair)
    of_counted = spreads(pair, counted, further=_by_group(pair, groups), left_out=left_out)
    curves = {} if left_out is None else curve_variances(pair, left_out)
    of_others, tests = _side_by_side(
        lambda: spreads(pair, others),
        lambda: _tests(tested or pair, level, permutations),
        threads=pair.settings.threads,
    )
    return of_counted | of_others, curves, tests


def _tests(pair: Pair, level: float, permutations: int) -> dict[str, TwoSample]:
    """Whether both sets are distinguishable at all.

    What labels are permuted over must be exchangeable (:mod:`calipers.metrics.exchangeable`).
    """
    tested, settings = exchangeable(pair), pair.settings
    results = {}
    for name, test in TESTS.items():
        result = test(
            *tested.sides,
            prompts=tested.prompts,
            permutations=permutations,
            seed=settings.seed,
            level=level,
            threads=settings.threads,
        )
        signed = join_signature(result.signature, signature(tested.pins))
        results[name] = replace(result, signature=signed)
    return results


def _side_by_side(
    first: Callable[[], First], second: Callable[[], Second], *, threads: int | None
) -> tuple[First, Second]:
    """Do both at once: neither keeps all threads busy alone.

    BLAS is held to one thread around both, since each of them does so for itself and would give
    back what the other had set.
    """
    if available_threads(threads) == 1:
        return first(), second()
    with limit_threads(1), ThreadPoolExecutor(1) as pool:
        later = pool.submit(copy_context().run, second)
        return first(), later.result()


def _by_group(pair: Pair, groups: Groups | None) -> Further | None:
    """What reads the scores of groups off a pair without a block."""
    if groups is None:
        return None
    nearest = groups.reference[pair.neighbourhoods.reference.nearest]

    def read(remaining: DeleteBlock) -> dict[str, float]:
        rows, reference, generated, close = (
            remaining.kept,
            groups.reference,
            groups.generated,
            nearest,
        )
        if remaining.side == "reference":
            reference = reference[rows]
        else:
            generated = None if generated is None else generated[rows]
            close = nearest[rows]
        scores = group_scores(
            remaining.neighbourhoods, remaining.settings.k, reference, generated, nearest=close
        )
        return {name: score.value for name, score in scores.items()}

    return read


def with_intervals(
    scores: Mapping[str, Score], spreads: Spreads, level: float | None
) -> Mapping[str, Score]:
    """Add standard errors and intervals to scores of known spread; none without a level."""
    if level is None:
        return scores
    return {
        name: _with_interval(score, spreads[name], level) if name in spreads else score
        for name, score in scores.items()
    }


def _with_interval(score: Score, spread: Spread, level: float) -> Score:
    interval = confidence_interval(score.value, spread, level=level, bounds=score.range)
    if interval is None:
        return score
    rough = is_rough(score.value, spread, level=level, bounds=score.range)
    return replace(
        score,
        interval=interval,
        level=level,
        standard_error=spread.standard_error,
        sources=spread.by_source,
        approximate=spread.approximate or rough,
    )


def correlations(spreads: Mapping[str, Spread]) -> dict[str, float]:
    """Return the correlation of errors for pairs of scores that are drawn together.

    By both keys with a bar between them: ``form.precision|form.recall``.
    """
    correlated = {}
    for key, spread in spreads.items():
        view, dot, name = key.rpartition(".")
        for first, second in DRAWN_TOGETHER:
            other = spreads.get(f"{view}{dot}{second}") if name == first else None
            value = None if other is None else correlation(spread, other)
            if value is not None:
                correlated[f"{key}|{view}{dot}{second}"] = value
    return correlated


def interval_warnings(
    inputs: ComparisonInputs, choices: Sequence[Choice], k: int
) -> tuple[str, ...]:
    """Report sets that are too small, or have too few clusters, for intervals.

    Parameters
    ----------
    inputs
        Both sides, as they are compared.
    choices
        What is measured.
    k
        Neighbours that span a ball: without a block, every set must still have them.
    """
    if not choices:
        return ()
    warnings = list(_too_small(inputs, choices, k))
    if names := list(dict.fromkeys(choice.name for choice in choices if has_no_interval(choice))):
        warnings.append(
            f"no intervals for {first_names(names, NAMED)}: neither the omission of blocks "
            "nor smaller sets show how much these scores vary"
        )
    return (*warnings, *cluster_warnings(inputs))


def _too_small(inputs: ComparisonInputs, choices: Sequence[Choice], k: int) -> Iterator[str]:
    """Name the sets that are too small for some interval; what the reference lacks, all lack."""
    by_part = list(dict.fromkeys(choice.name for choice in choices if needs_parts(choice)))
    n = len(inputs.reference.samples)
    if lacking := _shortage(n, by_part, k):
        yield lacking
    if n < _least(k):
        return
    for system in inputs.systems:
        if lacking := _shortage(system.n, by_part if n >= ENOUGH_FOR_PARTS else [], k):
            yield f"{system.name}: {lacking}"


def _shortage(size: int, by_part: Sequence[str], k: int) -> str | None:
    """Say what a set is too small for."""
    if size < _least(k):
        return (
            f"too few samples for intervals and for tests between systems: {size} of {_least(k)} "
            f"({DEFAULT_BLOCKS} blocks of k + 1)"
        )
    if by_part and size < ENOUGH_FOR_PARTS:
        return (
            f"too few samples for the intervals of {first_names(by_part, NAMED)}: "
            f"{size} of {ENOUGH_FOR_PARTS}"
        )
    return None


def _least(k: int) -> int:
    return DEFAULT_BLOCKS * (k + 1)
