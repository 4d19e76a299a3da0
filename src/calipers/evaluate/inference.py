"""Inference over a whole comparison: tests between systems, noise floors, advice on sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.shown import shown_keys
from calipers.evaluate.advice import advise, size_warnings_for, with_standard_errors
from calipers.evaluate.confounders_texts import fold
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inputs import ComparisonInputs, InputSystem
from calipers.evaluate.intervals import Certainty, Spreads, interval_warnings
from calipers.evaluate.noise_floor import add_floors, measure_floors
from calipers.metrics.pair import Settings
from calipers.progress import Progress
from calipers.results import Comparison
from calipers.results.comparison import REFERENCE, SignificanceTest
from calipers.samples import SampleSet
from calipers.score import Score
from calipers.uncertainty.differences import Difference, differences
from calipers.uncertainty.holm import holm
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.two_sample import TwoSample

CHEAP = 5_000
"""Reference samples below which the noise floor is measured unless it is refused."""

MOVELESS = "neither score moves from one draw to another, yet they differ"

NEARLY_ALL = 0.99
"""A row that was sampled again with another prompt should not forbid pairing all others."""

WHOLE = 10_000
"""Words of a prompt that are compared; there are hardly longer ones."""


@dataclass(frozen=True, eq=False)
class Sureness:
    """The sets of a run and its choices, from which all of it is made.

    Attributes
    ----------
    intake, embedded
        Both sides, as they are compared.
    choices, settings
        What is measured, and how.
    progress
        What shows how far it is.
    """

    inputs: ComparisonInputs
    embedded: Embedded
    choices: Sequence[Choice]
    settings: Settings
    progress: Progress

    def add(
        self,
        comparison: Comparison,
        spreads: Sequence[Spreads],
        certainty: Certainty | None,
        *,
        floor: bool | None,
        advice: bool,
    ) -> Comparison:
        """Add what was asked for to a comparison that has its scores and settings."""
        keys = [shown.key for shown in shown_keys(comparison.to_dict())]
        if certainty is not None:
            comparison = with_tests(
                comparison, self.inputs, spreads, certainty, keys=keys, seed=self.settings.seed
            )
            few = interval_warnings(self.inputs, self.choices, self.settings.k)
            comparison = replace(comparison, warnings=(*comparison.warnings, *few))
        run = (self.inputs, self.embedded, self.choices, self.settings, self.progress)
        cheap = len(self.inputs.reference.samples) < CHEAP
        if floor or (floor is None and certainty is not None and cheap):
            floors = measure_floors(*run, shown=None if floor else keys)
            comparison = add_floors(comparison, floors)
        advised = advise(*run, shown=keys) if advice and keys else ()
        return replace(
            comparison,
            advice=with_standard_errors(advised, comparison),
            warnings=(*comparison.warnings, *size_warnings_for(self.inputs, advised)),
        )


def with_tests(
    comparison: Comparison,
    inputs: ComparisonInputs,
    spreads: Sequence[Spreads],
    certainty: Certainty,
    *,
    keys: Sequence[str],
    seed: int,
) -> Comparison:
    """Test every pair of systems by every score of the table, all of them together."""
    tested = [{key: moves[key] for key in keys if key in moves} for moves in spreads]
    values = [
        {key: _ranked(system.scores[key]) for key in moves}
        for system, moves in zip(comparison.systems, tested, strict=True)
    ]
    tests = differences(
        values,
        tested,
        better={
            key: "lower" if score.gap is not None else score.better
            for system in comparison.systems
            for key, score in system.scores.items()
        },
        prompts=prompts_of(inputs.systems, certainty.paired),
        level=certainty.level,
        seed=seed,
    )
    equivalences = _equivalences(comparison, tests, certainty.margin)
    between = (
        _significance_test(comparison, test, p, certainty.level)
        for test, p in zip(tests, equivalences, strict=True)
    )
    return replace(comparison, tests=(*between, *comparison.tests))


def prompts_of(systems: Sequence[InputSystem], paired: bool | None) -> list[int]:
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
    """Say for every system whether it differs from the reference, over all of these tests."""
    return adjusted(
        [
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
    )


def adjusted(tests: Sequence[SignificanceTest]) -> tuple[SignificanceTest, ...]:
    """Correct the p-values of a family of tests."""
    p_values = holm([test.p_value for test in tests])
    return tuple(
        replace(test, adjusted_p_value=float(p)) for test, p in zip(tests, p_values, strict=True)
    )


def are_paired(first: InputSystem, second: InputSystem) -> bool:
    """Whether all files of two systems answer the same prompts row by row."""
    files = [(file.samples for file in entry.files) for entry in (first, second)]
    if len(first.files) != len(second.files):
        return False
    return all(paired_rows(a, b) for a, b in zip(*files, strict=True))


def paired_rows(a: SampleSet, b: SampleSet) -> bool:
    """Tell whether row i of both sets answers the same prompt.

    So it is where both have as many rows, both know their prompts, 99 % of the rows have the same
    prompt in both (letter case and white space aside; an empty one is none), and there are at least
    two different ones: rows that all answer one prompt are no pairs.
    """
    if len(a) != len(b) or a.prompts is None or b.prompts is None:
        return False
    columns = (a.prompts.to_pylist(), b.prompts.to_pylist())
    pairs = zip(*([fold(prompt, WHOLE) for prompt in column] for column in columns), strict=True)
    same = [first for first, second in pairs if first == second != ""]
    return len(set(same)) > 1 and len(same) / len(a) >= NEARLY_ALL


def _ranked(score: Score) -> float:
    """What a score is ranked by: its gap to the reference where that is what counts."""
    return score.value if score.gap is None else score.gap


def _equivalences(
    comparison: Comparison, tests: Sequence[Difference], margin: float | None
) -> list[float | None]:
    """Adjusted p-values of being at least a margin apart, for scores between 0 and 1."""
    bounded = [
        margin is not None and comparison.systems[test.first].scores[test.score].range == (0.0, 1.0)
        for test in tests
    ]
    p_values = [
        test.equivalence(margin) if tested and margin is not None else np.nan
        for test, tested in zip(tests, bounded, strict=True)
    ]
    return [None if np.isnan(p) else float(p) for p in holm(p_values)]


def _significance_test(
    comparison: Comparison, test: Difference, equivalence: float | None, level: float
) -> SignificanceTest:
    first, second = (comparison.systems[place] for place in (test.first, test.second))
    size = min(first.summary.n, second.summary.n)
    defined, significant = np.isfinite(test.p_value), test.adjusted_p_value < 1 - level
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
            if significant
            else separating_n(test.value, test.standard_error, size, level=test.single_level)
        ),
        reason=None if defined else MOVELESS,
    )
