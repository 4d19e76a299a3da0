"""How much the scores of one pair of sets move: intervals, and whether its sets differ at all.

What is asked for is a :class:`Certainty`. :func:`with_certainty` adds to what was scored of a pair
the spreads of its scores and the tests of its two sets, :func:`with_intervals` makes intervals of
spreads, :func:`correlations` tells how errors go together, and :func:`interval_warnings` why there
are no intervals. Tests between systems are in :mod:`calipers.evaluate.inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from calipers.catalogue.choosing import Choice
from calipers.errors import InputError
from calipers.evaluate.clusters import cluster_warnings
from calipers.evaluate.groups import Labels
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.scored import Scored
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.threads import available_threads, limit_threads
from calipers.samples.wording import first_names
from calipers.score import Score, join_signature
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

TESTS = {"classifier_auc": classifier_test, "mmd": mmd_test}
"""The tests of whether two sets can be told apart, by the statistic."""

DRAWN_TOGETHER = (
    ("precision", "recall"),
    ("density", "coverage"),
    ("clipped_density", "clipped_coverage"),
    ("max_precision", "max_recall"),
    ("prd_f8", "prd_f1_8"),
    ("frontier_f8", "frontier_f1_8"),
)
"""Scores that are drawn against each other, the one of quality first where there is one."""


@dataclass(frozen=True)
class Certainty:
    """What a run is asked to tell of how sure it is.

    Attributes
    ----------
    level
        Confidence level of the intervals, in (0, 1).
    paired
        Whether row i of every generated set answers the same prompt; None to find out.
    margin
        How far apart scores between 0 and 1 may be to count as equal; None to leave such tests out.
    permutations
        How often labels are permuted in each test against the reference.
    """

    level: float = 0.95
    paired: bool | None = None
    margin: float | None = None
    permutations: int = FEWEST_PERMUTATIONS


def permutations_for(tests: int, level: float, *, rows: int) -> int:
    """How many permutations let the smallest p-value stay small once it is corrected.

    A permutation test knows no p-value below one over their number, and Holm multiplies it by up to
    the number of tests. Half of what the level allows is enough to be found; where `rows` of the
    largest pair are few, and permutations cheap, it is a twentieth.
    """
    share = 2 if rows > MANY_ROWS else 20
    needed = round(share * tests / (1 - level))
    return min(max(needed - 1, FEWEST_PERMUTATIONS), MOST_PERMUTATIONS)


def check_certainty(
    level: float | None, paired: bool | None, margin: float | None, inputs: ComparisonInputs
) -> None:
    """Refuse a margin without a level, and pairs where there cannot be any.

    Raises
    ------
    InputError
        If tests of equivalence are asked for without a level, or sets of different size are to be
        paired.
    """
    if margin is not None and level is None:
        raise InputError("margin asks for tests of equivalence, which need a level; found None")
    sizes = {len(file.samples) for entry in inputs.systems for file in entry.files}
    if paired and len(sizes) > 1:
        raise InputError(
            "paired rows need generated sets of one size, row i of each answering prompt i; "
            f"found {min(sizes)} to {max(sizes)} samples"
        )


def with_certainty(
    scored: Scored, pair: Pair, choices: Sequence[Choice], labels: Labels | None, asked: Certainty
) -> Scored:
    """Add how much the scores move, and whether both sets can be told apart at all."""
    kept = [choice for choice in choices if is_kept(choice)]
    rest = [choice for choice in choices if not is_kept(choice)]
    left_out = None if pair.blocks is None else delete_blocks(pair)
    of_kept = spreads(pair, kept, further=_by_group(pair, labels), left_out=left_out)
    curves = {} if left_out is None else curve_variances(left_out)
    of_rest, tests = _side_by_side(
        lambda: spreads(pair, rest), lambda: _tests(pair, asked), threads=pair.settings.threads
    )
    return replace(scored, spreads=of_kept | of_rest, tests=tests, curve_variances=curves)


def _tests(pair: Pair, asked: Certainty) -> dict[str, TwoSample]:
    """Whether both sets can be told apart at all.

    What labels are permuted over must be exchangeable: rows of one cluster are not, one random row
    of every cluster is.
    """
    sides, signature = pair.projected, ""
    if pair.clusters is not None:
        seed = pair.settings.seed
        rows = [clusters.one_each(seed) for clusters in pair.clusters]
        sides, signature = (sides[0][rows[0]], sides[1][rows[1]]), "rows:one_of_each_cluster"
    results = {}
    for name, test in TESTS.items():
        result = test(
            *sides,
            permutations=asked.permutations,
            seed=pair.settings.seed,
            level=asked.level,
            threads=pair.settings.threads,
        )
        results[name] = replace(result, signature=join_signature(result.signature, signature))
    return results


def _side_by_side(
    first: Callable[[], First], second: Callable[[], Second], *, threads: int | None
) -> tuple[First, Second]:
    """Do both at once: neither keeps all threads busy by itself.

    BLAS is held to one thread around both, since each of them does so for itself and would give
    back what the other had set.
    """
    if available_threads(threads) == 1:
        return first(), second()
    with limit_threads(1), ThreadPoolExecutor(1) as pool:
        later = pool.submit(second)
        return first(), later.result()


def _by_group(pair: Pair, labels: Labels | None) -> Further | None:
    """What reads the scores of groups off a pair without a block."""
    if labels is None:
        return None
    nearest = labels.reference[pair.neighbourhoods.reference.nearest]

    def read(part: DeleteBlock) -> dict[str, float]:
        keep = part.kept
        ours, theirs = labels.reference, labels.generated
        close = nearest
        if part.side == "reference":
            ours = ours[keep]
        else:
            theirs = None if theirs is None else theirs[keep]
            close = nearest[keep]
        near, k = part.neighbourhoods, part.settings.k
        scores = group_scores(near, k, ours, theirs, nearest=close)
        return {name: score.value for name, score in scores.items()}

    return read


def with_intervals(scores: Mapping[str, Score], spreads: Spreads, level: float) -> dict[str, Score]:
    """Put standard errors and intervals on the scores whose spread is known."""
    return {
        name: _certain(score, spreads[name], level) if name in spreads else score
        for name, score in scores.items()
    }


def _certain(score: Score, spread: Spread, level: float) -> Score:
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
    """Give for pairs of scores that are drawn together the correlation of their errors.

    By both keys with a bar between them: ``form.precision|form.recall``.
    """
    together = {}
    for key, spread in spreads.items():
        view, dot, name = key.rpartition(".")
        for first, second in DRAWN_TOGETHER:
            other = spreads.get(f"{view}{dot}{second}") if name == first else None
            value = None if other is None else correlation(spread, other)
            if value is not None:
                together[f"{key}|{view}{dot}{second}"] = value
    return together


def interval_warnings(
    inputs: ComparisonInputs, choices: Sequence[Choice], k: int
) -> tuple[str, ...]:
    """Say which sets are too small for intervals, or have too few clusters for them.

    Parameters
    ----------
    intake
        Both sides, as they are compared.
    choices
        What is measured.
    k
        Neighbours that span a ball: without a block, every set must still have them.
    """
    if not choices:
        return ()
    return (*_too_small(inputs, choices, k), *_without_interval(choices), *cluster_warnings(inputs))


def _without_interval(choices: Sequence[Choice]) -> Iterator[str]:
    """Name the scores whose intervals would be wrong at any size."""
    names = list(dict.fromkeys(choice.name for choice in choices if has_no_interval(choice)))
    if names:
        yield (
            f"no intervals for {first_names(names, NAMED)}: neither blocks left out nor "
            "smaller sets tell how much these scores move"
        )


def _too_small(inputs: ComparisonInputs, choices: Sequence[Choice], k: int) -> Iterator[str]:
    """Name the sets that are too small for some interval; what the reference lacks, all lack."""
    by_part = list(dict.fromkeys(choice.name for choice in choices if needs_parts(choice)))
    n = len(inputs.reference.samples)
    if lacking := _shortage(n, by_part, k):
        yield lacking
    if n < _least(k):
        return
    for entry in inputs.systems:
        size = min(len(file.samples) for file in entry.files)
        if lacking := _shortage(size, by_part if n >= ENOUGH_FOR_PARTS else [], k):
            yield f"{entry.name}: {lacking}"


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
