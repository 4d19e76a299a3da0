"""Inference for a whole comparison: tests between systems, noise floors, advice on sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.settings import Settings
from calipers.errors import InputError
from calipers.evaluate.advice import advise, unlevelled, with_standard_errors
from calipers.evaluate.cautions.texts import fold
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inputs import ComparisonInputs, InputSystem, few_samples
from calipers.evaluate.intervals import TESTS, Spreads, interval_warnings
from calipers.evaluate.noise_floor import add_floors, measure_floors
from calipers.evaluate.scoring import choices_for
from calipers.options.comparison import CompareOptions
from calipers.options.measuring import Inference
from calipers.progress import Silent
from calipers.results import Comparison
from calipers.results.caution import Caution, Kind
from calipers.results.comparison import with_cautions
from calipers.results.tests import REFERENCE, SignificanceTest
from calipers.samples import SampleSet
from calipers.score import Score
from calipers.uncertainty.differences import Difference, differences
from calipers.uncertainty.holm import holm
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.two_sample import TwoSample

INTERVALS: tuple[Kind, str] = ("intervals", "some intervals missing or too narrow")

UNSETTLED: tuple[Kind, str] = ("unsettled", "scores still move with more samples")

CHEAP = 5_000
"""Reference samples below which the noise floor is measured unless it is refused."""

MOVELESS = "neither score varies between resamples, yet they differ"

NEARLY_ALL = 0.99
"""A row that was sampled again with another prompt should not forbid pairing all others."""

WHOLE = 10_000
"""Words of a prompt that are compared; there are hardly longer ones."""

DIGITS = 5
"""Significant digits of the numbers of a test between systems; a difference has two more."""

ROUNDING = 1e-9
"""What a p-value times the number it was divided by may be off by."""


def check_inference(options: Inference, inputs: ComparisonInputs) -> None:
    """Refuse a margin without a level, and paired tests where rows cannot be paired.

    Raises
    ------
    InputError
        If tests of equivalence are asked for without a level, or sets of different size are to be
        paired.
    """
    if options.margin is not None and options.level is None:
        raise InputError(
            "margin needs a confidence level for its tests of equivalence; found level None"
        )
    sizes = {len(file.samples) for _, file in inputs.named}
    if options.paired and len(sizes) > 1:
        raise InputError(
            "paired rows need generated sets of one size, row i of each answering prompt i; "
            f"found {min(sizes)} to {max(sizes)} samples"
        )


def with_inference(
    comparison: Comparison,
    inputs: ComparisonInputs,
    embedded: Embedded,
    choices: Sequence[Choice],
    spreads: Sequence[Spreads],
    options: CompareOptions,
) -> Comparison:
    """Add the tests, noise floors and advice that the options request.

    Parameters
    ----------
    comparison
        With all its scores, and those of them that its table shows: they are tested.
    inputs, embedded
        Both sides, as they are compared.
    choices
        What is measured on embeddings.
    spreads
        For every system how much what ranks it moves, by key.
    """
    systems, small = inputs.systems, few_samples(inputs)
    inputs, embedded = _readable(comparison, inputs, embedded)
    keys = [score.key for score in comparison.shown]
    # Halves and parts of sets do not answer the same prompts, and are held against nothing here
    shared = any(file.shared for _, file in inputs.named)
    measured = [choice for choice in choices if not (shared and choice.name in TESTS)]
    run = inputs, embedded, measured, Settings.of(vars(options)), options.progress or Silent()
    if options.level is not None:
        listed = choices_for(keys, choices, tuple(embedded.reference.views))
        tests = _tests(comparison, systems, spreads, keys, options.level, options)
        comparison = replace(comparison, tests=(*tests, *comparison.tests))
        missing = interval_warnings(inputs, listed, options.k)
        comparison = with_cautions(comparison, (Caution(*INTERVALS, text) for text in missing))
    cheap = len(inputs.reference.samples) < CHEAP
    if not inputs.systems:
        return with_cautions(comparison, small)
    if options.floor or (options.floor is None and options.level is not None and cheap):
        floors = measure_floors(*run, shown=None if options.floor else keys)
        comparison = add_floors(comparison, floors)
    comparison = with_cautions(comparison, small)
    if options.advice and keys:
        advice = with_standard_errors(advise(*run, shown=keys), comparison)
        moving = (Caution(*UNSETTLED, text) for text in unlevelled(advice))
        return with_cautions(replace(comparison, advice=advice), moving)
    return comparison


def _readable(
    comparison: Comparison, inputs: ComparisonInputs, embedded: Embedded
) -> tuple[ComparisonInputs, Embedded]:
    """Leave out the systems that are not measured, since too little of them was read."""
    rows = [row for row, system in enumerate(comparison.systems) if system.withheld is None]
    if len(rows) == len(comparison.systems):
        return inputs, embedded
    return (
        replace(inputs, systems=tuple(inputs.systems[row] for row in rows)),
        replace(
            embedded,
            systems=tuple(embedded.systems[row] for row in rows),
            given=tuple(embedded.given[row] for row in rows) if embedded.given else (),
        ),
    )


def _tests(
    comparison: Comparison,
    systems: Sequence[InputSystem],
    spreads: Sequence[Spreads],
    keys: Sequence[str],
    level: float,
    options: CompareOptions,
) -> list[SignificanceTest]:
    """Test every pair of systems by every score of the table, all of them together."""
    tested = [
        {} if system.is_reference else {key: of_system[key] for key in keys if key in of_system}
        for system, of_system in zip(comparison.systems, spreads, strict=True)
    ]
    values = [
        {key: _ranked(system.scores[key]) for key in of_system}
        for system, of_system in zip(comparison.systems, tested, strict=True)
    ]
    tests = differences(
        values,
        tested,
        better={
            key: "lower" if score.gap is not None else score.better
            for system in comparison.systems
            for key, score in system.scores.items()
        },
        prompts=prompts_of(systems, options.paired),
        level=level,
        seed=options.seed,
    )
    equivalences = _equivalences(comparison, tests, options.margin)
    return [
        _significance_test(comparison, test, p, level)
        for test, p in zip(tests, equivalences, strict=True)
    ]


def prompts_of(systems: Sequence[InputSystem], paired: bool | None) -> list[int]:
    """Number the systems so that those answering the same prompts row by row agree."""
    if paired is not None:
        return [0 if paired else place for place in range(len(systems))]
    numbers: list[int] = []
    for place, system in enumerate(systems):
        alike = (first for first in range(place) if are_paired(systems[first], system))
        numbers.append(next((numbers[first] for first in alike), place))
    return numbers


def reference_tests(
    systems: Mapping[str, Mapping[str, TwoSample]],
) -> tuple[SignificanceTest, ...]:
    """Test whether each system differs from the reference, corrected over all these tests."""
    return adjusted(
        [
            SignificanceTest(
                name,
                REFERENCE,
                key,
                test.estimate,
                None,
                test.p_value,
                np.nan,
                reason=test.reason,
                at_limit=test.p_value * (1 + test.permutations) < 1 + ROUNDING,
                signature=test.signature,
            )
            for name, tests in systems.items()
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
    files = [(file.samples for file in system.files) for system in (first, second)]
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
    columns = (a.prompts, b.prompts)
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
    p_values = [
        test.equivalence(margin)
        if margin is not None
        and comparison.systems[test.first].scores[test.score].range == (0.0, 1.0)
        else np.nan
        for test in tests
    ]
    return [None if np.isnan(p) else float(p) for p in holm(p_values)]


def _significance_test(
    comparison: Comparison, test: Difference, equivalence: float | None, level: float
) -> SignificanceTest:
    first, second = (comparison.systems[place] for place in (test.first, test.second))
    size = min(first.summary.n, second.summary.n)
    defined, significant = np.isfinite(test.p_value), test.adjusted_p_value < 1 - level
    low, high = (_rounded(end, 2 * (not test.standard_error)) for end in test.interval)
    return SignificanceTest(
        first.name,
        second.name,
        test.score,
        _rounded(test.value, 2),
        (low, high),
        _rounded(test.p_value),
        _rounded(test.adjusted_p_value),
        paired=test.paired,
        standard_error=_rounded(test.standard_error),
        detectable=_rounded(test.detectable) if np.isfinite(test.detectable) else None,
        equivalence=None if equivalence is None else _rounded(equivalence),
        separating_n=(
            None
            if significant
            else separating_n(test.value, test.standard_error, size, level=test.single_level)
        ),
        reason=None if defined else MOVELESS,
    )


def _rounded(value: float, more: int = 0) -> float:
    """Keep some significant digits: thousands of tests are written, and none is better known."""
    return float(f"{value:.{DIGITS + more}g}")
