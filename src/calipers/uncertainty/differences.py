"""Differences between systems, tested for all pairs and all scores together.

The null hypothesis of each test is that two systems score the same, not that they are the same.
Its statistic is the difference over its standard error, which sets off what both share: the
reference, and the prompts where both answer the same ones. p-values follow Student's t, with the
degrees of freedom of Welch and Satterthwaite.

They are adjusted over the family by how the tests depend on each other. Holm's correction must
allow for tests that have nothing to do with each other; but precision by meaning and precision by
form, or A against B and A against C, share samples, and what the blocks of rows contribute to every
score of every system is known. So the same random weights on those blocks (normal, as in a wild
bootstrap) tell how the statistics of all tests move together where no hypothesis is false, and the
distribution of the largest of them how often chance shows as much *anywhere*. What is rejected
leaves the family, and the rest is compared with the largest of what remains (step-down max-T:
Westfall and Young, 1993; Romano and Wolf, J. Am. Stat. Assoc. 2005). The chance of a single false
finding among all stays at the level.

What a table marks comes first: by each score every system against the best. A system that is found
to be worse leaves its column with all its pairs, so that the others are compared with the pairs of
those that may still be equal, the chance selection of the best among them included. All other
pairs are adjusted over all pairs and scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from calipers.numeric.arrays import Floats
from calipers.score import Better
from calipers.uncertainty.spread import Component, Source, Spread, quantile, tails


def step_down(
    statistics: ArrayLike, null: Iterable[Floats], families: Sequence[Sequence[int]] | None = None
) -> Floats:
    """Adjust a family of tests by the joint distribution of their statistics.

    Parameters
    ----------
    statistics
        One for each test, shape ``(tests,)``, all on one scale, of which the size counts and not
        the sign; a test whose statistic is NaN does not count.
    null
        Draws of statistics as they would be if no hypothesis were false, in chunks of shape
        ``(draws, columns)``.
    families
        For every test the columns of `null` that are out of the question once it is rejected. By
        default each test has its own column, and nothing else.

    Returns
    -------
    numpy.ndarray
        p-values in the order of the tests, shape ``(tests,)``; NaN where the statistic is.

    Examples
    --------
    Two tests that go together entirely count as one; Holm would double the smaller p-value.

    >>> draws = np.repeat(np.linspace(0, 3, 99)[:, None], 2, axis=1)
    >>> step_down([2.6, 2.4], [draws]).round(2).tolist()
    [0.15, 0.21]
    """
    sizes = np.abs(np.asarray(statistics, float))
    columns_of = [[test] for test in range(len(sizes))] if families is None else families
    order = [int(test) for test in np.argsort(-sizes, kind="stable") if not np.isnan(sizes[test])]
    # From the last test to the first, so that a running maximum is that of all that remain
    columns = np.array([column for test in order[::-1] for column in columns_of[test]], np.intp)
    ends = np.cumsum([len(columns_of[test]) for test in order[::-1]], dtype=np.intp)[::-1] - 1
    reached, drawn = np.zeros(len(order)), 0
    for draws in null:
        largest = np.maximum.accumulate(np.abs(draws[:, columns]), axis=1)
        reached += (largest[:, ends] >= sizes[order] * (1 - 1e-12)).sum(axis=0)
        drawn += len(draws)
    adjusted = np.full(len(sizes), np.nan)
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + drawn))
    return adjusted


def critical_value(null: Iterable[Floats], level: float) -> float:
    """Return the quantile of the largest statistic at `level` over the draws."""
    largest = [np.abs(draws).max(axis=1, initial=0.0) for draws in null]
    return float(np.quantile(np.concatenate(largest), level))


DRAWS = 9_999
CHUNK = 2**21
"""Numbers of a chunk of draws, at most."""
ALLOWANCE = 1.2
"""What the variance by halves is multiplied by; less than for single scores.

What a few rows of the reference decide is alike for two systems, and falls out of their difference.
"""
POWER = 0.8
"""Share of runs in which the smallest detectable difference would be found."""

Stream = tuple[Source, int, int, int]
"""What a component is made of: source, whose (0 for all), which of several, how many blocks."""


@dataclass(frozen=True)
class Difference:
    """The difference of two scores, and whether it is significant.

    Attributes
    ----------
    first, second
        Places of the two systems.
    score
        The key of the score.
    value
        The first score less the second.
    standard_error, freedom
        Of the difference, and its degrees of freedom, infinite where nothing moves.
    interval
        Confidence interval of this difference alone.
    p_value
        How often chance alone would show as much, for this test alone; NaN where neither
        score moves, though they differ.
    adjusted_p_value
        How often chance alone would show as much in any test that is not settled before it: of a
        pair with the best system of the score among the comparisons with the best, of other pairs
        among all.
    detectable
        The smallest true difference that this test would have found in four of five runs, adjusted
        as it is over the family; NaN where nothing moves.
    single_level
        Level of a single test that keeps the level of the family.
    paired
        Whether prompts that both systems answer were made use of.
    """

    first: int
    second: int
    score: str
    value: float
    standard_error: float
    freedom: float
    interval: tuple[float, float]
    p_value: float
    adjusted_p_value: float = np.nan
    detectable: float = np.nan
    single_level: float = np.nan
    paired: bool = False

    def equivalence(self, margin: float) -> float:
        """Return the p-value against a difference of at least a margin.

        Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 1987): the larger p-value of
        both. Where it is small, the true difference is less than the margin.
        """
        if not self.standard_error > 0:
            return 0.0 if abs(self.value) < margin else 1.0
        statistic = (margin - abs(self.value)) / self.standard_error
        tail = tails(self.freedom, statistic) / 2
        return tail if statistic >= 0 else 1 - tail


def differences(
    values: Sequence[Mapping[str, float]],
    spreads: Sequence[Mapping[str, Spread]],
    *,
    better: Mapping[str, Better] | None = None,
    prompts: Sequence[int] | None = None,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> list[Difference]:
    """Test every pair of systems by every score that both have, jointly.

    Parameters
    ----------
    values, spreads
        The scores of each system by key, and how much each moves. Keys without a spread in both
        systems of a pair are not tested for it.
    better
        Which end of a score is the better one, by key, higher where nothing is said; ``"closest"``
        stands for gaps, of which the smallest is best.
    prompts
        For every system a number; systems of one number answer the same prompts row by row, so
        that block b of each holds answers to the same prompts. By default all differ.
    level
        Confidence level of the intervals, and 1 less the chance of any false finding: of any among
        the pairs with the best, and again of any among the other pairs.
    seed, draws
        Of the random weights.
    """
    answered = list(range(len(values))) if prompts is None else list(prompts)
    moved = [
        {key: _streams(spread, place) for key, spread in system.items()}
        for system, place in zip(spreads, answered, strict=True)
    ]
    tests: list[Difference] = []
    summed: list[float] = []
    for first, second in combinations(range(len(values)), 2):
        for key in (key for key in spreads[first] if key in spreads[second]):
            gap = float(values[first][key] - values[second][key])
            ours, theirs = moved[first][key], moved[second][key]
            spread = _apart(ours, theirs, spreads[first][key], spreads[second][key])
            streams = [stream for stream in ours if stream[0] == "generated"]
            paired = bool(streams) and all(stream in theirs for stream in streams)
            tests.append(_alone((first, second), key, gap, spread, level=level, paired=paired))
            summed.append(spread.summed)
    if not tests:
        return []
    normal = np.array([_normal(test.p_value) for test in tests])
    null = Null(tests, moved, np.sqrt(summed), seed, draws)
    adjusted = step_down(normal, null)
    marked = _against_best(tests, values, better or {})
    if marked:
        adjusted[list(marked)] = step_down(normal[list(marked)], null, list(marked.values()))
    alpha = min(1 - level, tails(np.inf, critical_value(null, level)))  # one test is the least
    return [
        replace(
            test,
            adjusted_p_value=float(p),
            detectable=_detectable(test, alpha),
            single_level=1 - alpha,
        )
        for test, p in zip(tests, adjusted, strict=True)
    ]


def difference_spread(first: Spread, second: Spread) -> Spread:
    """Estimate the spread of the difference of two scores with the same reference.

    What the blocks of the reference bring to both is subtracted first. Blocks depend on the number
    of rows and the seed alone, so that both may be of different runs.
    """
    return _apart(_streams(first, 0), _streams(second, 1), first, second)


def _against_best(
    tests: Sequence[Difference],
    values: Sequence[Mapping[str, float]],
    better: Mapping[str, Better],
) -> dict[int, list[int]]:
    """The tests against the best of each score, and the pairs that go with each.

    With a system go its pairs with all systems of the score that are nearer to the best, and with
    the best itself; systems are ordered by their statistics, as the steps will be.
    """
    places = {(t.first, t.second, t.score): place for place, t in enumerate(tests)}
    families: dict[int, list[int]] = {}
    for key in dict.fromkeys(test.score for test in tests):
        of_score = [test for test in tests if test.score == key]
        systems = list(dict.fromkeys(s for test in of_score for s in (test.first, test.second)))
        sign = 1 if better.get(key, "higher") == "higher" else -1
        best = max(systems, key=lambda system: sign * values[system][key])
        pairs = {s: (min(s, best), max(s, best), key) for s in systems if s != best}
        against = {system: places[pair] for system, pair in pairs.items() if pair in places}
        # Last those of which no test can be made: their pairs go with the other system of each
        alone = {s: float(np.nan_to_num(tests[p].p_value, nan=2)) for s, p in against.items()}
        ranked = sorted(alone, key=alone.__getitem__)
        for rank, system in enumerate(ranked):
            with_nearer = [
                (min(system, other), max(system, other), key)
                for other in (*ranked[rank + 1 :], best)
            ]
            families[against[system]] = [places[pair] for pair in with_nearer if pair in places]
    return families


def _streams(spread: Spread, place: int) -> dict[Stream, Floats]:
    """The contributions of a score by what they are made of; what systems share has one name."""
    named: dict[Stream, Floats] = {}
    for component in spread.components:
        which = sum(source == component.source for source, *_ in named)
        whose = 0 if component.source in ("reference", "both") else 1 + place
        named[component.source, whose, which, len(component.deviations)] = component.deviations
    return named


def _apart(
    ours: Mapping[Stream, Floats], theirs: Mapping[Stream, Floats], first: Spread, second: Spread
) -> Spread:
    """How much the difference of two scores moves: what both share is subtracted first."""
    parts = tuple(
        Component(stream[0], ours.get(stream, 0.0) - theirs.get(stream, np.zeros(stream[3])))
        for stream in dict.fromkeys((*ours, *theirs))
    )
    if first.halves is None or second.halves is None:
        return Spread(parts)
    return Spread(parts, halves=first.halves - second.halves, allowance=ALLOWANCE)


def _alone(
    systems: tuple[int, int], key: str, gap: float, spread: Spread, *, level: float, paired: bool
) -> Difference:
    """One test alone."""
    error, freedom = spread.standard_error, spread.freedom
    if error == 0:
        p = 1.0 if gap == 0 else np.nan
        return Difference(*systems, key, gap, 0.0, freedom, (gap, gap), p, paired=paired)
    reach = quantile(freedom, level) * error
    ends, p = (gap - reach, gap + reach), tails(freedom, gap / error)
    return Difference(*systems, key, gap, error, freedom, ends, p, paired=paired)


@dataclass(frozen=True, eq=False)
class Null:
    """All statistics under random normal weights of the blocks, each of variance 1.

    The same draws each time that they are gone through, in chunks.
    """

    tests: Sequence[Difference]
    moved: Sequence[Mapping[str, Mapping[Stream, Floats]]]
    errors: Floats
    seed: int
    draws: int

    def __iter__(self) -> Iterator[Floats]:
        """Go through the draws, shapes ``(draws, tests)``."""
        tests = self.tests
        scores = dict.fromkeys((s, test.score) for test in tests for s in (test.first, test.second))
        places = {score: place for place, score in enumerate(scores)}
        streams = dict.fromkeys(stream for s, key in places for stream in self.moved[s][key])
        tables = [
            np.stack(
                [self.moved[s][key].get(stream, np.zeros(stream[3])) for s, key in places], axis=1
            )
            for stream in streams
        ]
        ours = [places[test.first, test.score] for test in tests]
        theirs = [places[test.second, test.score] for test in tests]
        scale = np.where(self.errors > 0, self.errors, np.inf)
        rng = np.random.default_rng(self.seed)
        step = max(1, CHUNK // max(1, len(tests)))
        for start in range(0, self.draws, step):
            size = min(step, self.draws - start)
            drawn = np.zeros((size, len(places)))
            for table in tables:
                drawn += rng.standard_normal((size, len(table))) @ table
            yield (drawn[:, ours] - drawn[:, theirs]) / scale


def _detectable(test: Difference, alpha: float) -> float:
    """The difference that a test at level `alpha` finds with a chance of :data:`POWER`."""
    if not test.standard_error > 0:
        return float("nan")
    reach = quantile(test.freedom, 1 - alpha) + quantile(test.freedom, 2 * POWER - 1)
    return reach * test.standard_error


def _normal(p: float) -> float:
    """The size of a normal statistic with this p-value."""
    from scipy.special import ndtri

    return -float(ndtri(p / 2))
