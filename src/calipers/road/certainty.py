"""How sure a comparison is: intervals on its scores, and tests between its systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from calipers.comparison import Comparison, SystemResult
from calipers.comparison.significance import REFERENCE, SignificanceTest
from calipers.errors import InputError
from calipers.road.confounders_pairing import paired_rows
from calipers.road.intake import Entry, Intake
from calipers.score import Score
from calipers.uncertainty.differences import difference
from calipers.uncertainty.holm import holm
from calipers.uncertainty.intervals import check_level, confidence_interval, is_rough
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.shuffles import Shuffles
from calipers.uncertainty.spread import Spread
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
    shown
        Names, without views, of the scores that systems are compared by: those of the table.
    paired
        Whether row i of every generated set answers the same prompt; None to find out.
    permutations
        How often labels are permuted in each test against the reference.
    """

    level: float = 0.95
    shown: frozenset[str] = field(default_factory=frozenset)
    paired: bool | None = None
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


def check_certainty(level: Any, paired: Any, intake: Intake) -> None:
    """Refuse a level that is none, and pairs where there cannot be any.

    Raises
    ------
    InputError
        If the level does not lie in (0, 1), or sets of different size are to be paired.
    """
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
    """Test every pair of systems by every score of the table, and count them all together."""
    pairs = list(combinations(range(len(comparison.systems)), 2))
    shuffles = Shuffles(seed)
    made: list[SignificanceTest] = []
    for first, second in pairs:
        entries = intake.systems[first], intake.systems[second]
        paired = are_paired(*entries) if certainty.paired is None else certainty.paired
        systems = comparison.systems[first], comparison.systems[second]
        both = spreads[first], spreads[second]
        made += _pair_tests(systems, both, keys, certainty.level, shuffles, paired=paired)
    return replace(comparison, tests=(*adjusted(made), *comparison.tests))


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


def _pair_tests(
    systems: tuple[SystemResult, SystemResult],
    spreads: tuple[Spreads, Spreads],
    keys: Sequence[str],
    level: float,
    shuffles: Shuffles,
    *,
    paired: bool,
) -> Iterator[SignificanceTest]:
    first, second = systems
    for key in keys:
        if key not in spreads[0] or key not in spreads[1]:
            continue
        values = _ranked(first.scores[key]), _ranked(second.scores[key])
        found = difference(
            spreads[0][key],
            spreads[1][key],
            values,
            paired=paired,
            level=level,
            shuffles=shuffles,
        )
        size = min(first.summary.n, second.summary.n)
        yield SignificanceTest(
            first.name,
            second.name,
            key,
            found.value,
            found.interval,
            found.p_value,
            np.nan,
            paired=found.paired,
            separating_n=separating_n(found.value, found.standard_error, size, level=level),
            reason=None if np.isfinite(found.p_value) else MOVELESS,
        )
