"""How sure a comparison is: intervals on its scores, and tests between its systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.evaluate.confounders_pairing import paired_rows
from calipers.evaluate.intake import Entry, Intake
from calipers.results import Comparison
from calipers.results.comparison import REFERENCE, SignificanceTest
from calipers.score import Score
from calipers.uncertainty.differences import Difference, differences
from calipers.uncertainty.holm import holm
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.spread import (
    Spread,
    check_level,
    confidence_interval,
    is_inner_share,
    is_rough,
)
from calipers.uncertainty.two_sample import TwoSample

Spreads = Mapping[str, Spread]

FEWEST_PERMUTATIONS = 499
MOST_PERMUTATIONS = 19_999
MANY_ROWS = 4_000

MOVELESS = "neither score moves from one draw to another, yet they differ"


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


def check_certainty(level: Any, paired: Any, margin: Any, intake: Intake) -> None:
    """Refuse a level or a margin that is none, and pairs where there cannot be any.

    Raises
    ------
    InputError
        If the level or the margin does not lie in (0, 1), or sets of different size are to be
        paired.
    """
    if margin is not None:
        if not is_inner_share(margin):
            raise InputError(
                f"margin must lie between 0 and 1, such as 0.05, or be None; found {margin!r}"
            )
        if level is None:
            raise InputError("margin asks for tests of equivalence, which need a level; found None")
    if level is not None:
        check_level(level)
    if paired is not None and not isinstance(paired, bool):
        raise InputError(f"paired must be True, False or None; found {paired!r}")
    sizes = {len(cut.samples) for entry in intake.systems for cut in entry.cuts}
    if paired and len(sizes) > 1:
        raise InputError(
            "paired rows need generated sets of one size, row i of each answering prompt i; "
            f"found {min(sizes)} to {max(sizes)} samples"
        )


def with_intervals(scores: Mapping[str, Score], spreads: Spreads, level: float) -> dict[str, Score]:
    """Put standard errors and intervals on the scores whose spread is known."""
    return {
        name: _certain(score, spreads[name], level) if name in spreads else score
        for name, score in scores.items()
    }


def with_tests(
    comparison: Comparison,
    intake: Intake,
    spreads: Sequence[Spreads],
    certainty: Certainty,
    *,
    keys: Sequence[str],
    seed: int,
) -> Comparison:
    """Test every pair of systems by every score of the table, all of them together."""
    tested = [{key: each[key] for key in keys if key in each} for each in spreads]
    values = [
        {key: _ranked(system.scores[key]) for key in each}
        for system, each in zip(comparison.systems, tested, strict=True)
    ]
    found = differences(
        values,
        tested,
        better={
            key: "lower" if score.gap is not None else score.better
            for system in comparison.systems
            for key, score in system.scores.items()
        },
        prompts=prompts_of(intake.systems, certainty.paired),
        level=certainty.level,
        seed=seed,
    )
    near = _equivalences(comparison, found, certainty.margin)
    made = tuple(
        _plain_test(comparison, test, p, certainty.level)
        for test, p in zip(found, near, strict=True)
    )
    return replace(comparison, tests=(*made, *comparison.tests))


def prompts_of(systems: Sequence[Entry], paired: bool | None) -> list[int]:
    """Number the systems so that those which answer the same prompts row by row agree."""
    if paired is not None:
        return [0 if paired else place for place in range(len(systems))]
    numbers: list[int] = []
    for place, entry in enumerate(systems):
        alike = (first for first in range(place) if are_paired(systems[first], entry))
        numbers.append(next((numbers[first] for first in alike), place))
    return numbers


def reference_tests(
    systems: Sequence[tuple[str, Mapping[str, TwoSample]]],
) -> tuple[SignificanceTest, ...]:
    """Say for every system whether it can be told from the reference, over all of these tests."""
    made = [
        SignificanceTest(
            name,
            REFERENCE,
            key,
            test.statistic,
            None,
            test.p_value,
            np.nan,
            reason=test.reason,
        )
        for name, tests in systems
        for key, test in tests.items()
    ]
    return adjusted(made)


def adjusted(tests: Sequence[SignificanceTest]) -> tuple[SignificanceTest, ...]:
    """Correct the p-values of a family of tests."""
    every = holm([test.p_value for test in tests])
    return tuple(
        replace(test, adjusted_p_value=float(p)) for test, p in zip(tests, every, strict=True)
    )


def are_paired(first: Entry, second: Entry) -> bool:
    """Whether all files of two systems answer the same prompts row by row."""
    files = [(cut.samples for cut in entry.cuts) for entry in (first, second)]
    if len(first.cuts) != len(second.cuts):
        return False
    return all(paired_rows(a, b) for a, b in zip(*files, strict=True))


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


def _ranked(score: Score) -> float:
    """What a score is ranked by: its gap to the reference where that is what counts."""
    return score.value if score.gap is None else score.gap


def _equivalences(
    comparison: Comparison, found: Sequence[Difference], margin: float | None
) -> list[float | None]:
    """Adjusted p-values of being at least a margin apart, for scores between 0 and 1."""
    bounded = [
        margin is not None and comparison.systems[test.first].scores[test.score].range == (0.0, 1.0)
        for test in found
    ]
    p_values = [
        test.equivalence(margin) if tested and margin is not None else np.nan
        for test, tested in zip(found, bounded, strict=True)
    ]
    return [None if np.isnan(p) else float(p) for p in holm(p_values)]


def _plain_test(
    comparison: Comparison, test: Difference, equivalence: float | None, level: float
) -> SignificanceTest:
    first, second = (comparison.systems[place] for place in (test.first, test.second))
    size = min(first.summary.n, second.summary.n)
    known, found = np.isfinite(test.p_value), test.adjusted_p_value < 1 - level
    return SignificanceTest(
        first.name,
        second.name,
        test.score,
        test.value,
        test.interval,
        test.p_value,
        test.adjusted_p_value,
        paired=test.paired,
        standard_error=test.standard_error,
        detectable=test.detectable if np.isfinite(test.detectable) else None,
        equivalence=equivalence,
        separating_n=(
            None
            if found
            else separating_n(test.value, test.standard_error, size, level=test.single_level)
        ),
        reason=None if known else MOVELESS,
    )
