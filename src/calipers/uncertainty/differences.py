"""Do systems differ, by any score? All pairs and all scores are tested together.

The null hypothesis of each test is that two systems score the same, not that they are the same.
Its statistic is the difference over its standard error, which sets off what both share: the
reference, and the prompts where both answer the same ones. p-values follow Student's t, with the
degrees of freedom of Welch and Satterthwaite, and are adjusted over the family by the step-down
max-T procedure: what the blocks of rows contribute to every score of every system is known, so the
same random weights on those blocks (normal, as in a wild bootstrap) tell how the statistics of all
tests move together where no hypothesis is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calipers.uncertainty.intervals import quantile, tails
from calipers.uncertainty.spread import Doubles, Source, Spread
from calipers.uncertainty.step_down import step_down

DRAWS = 9_999
CHUNK = 2**21
"""Numbers of a chunk of draws, at most."""
POWER = 0.8
"""Share of runs in which the smallest detectable difference would be found."""

Stream = tuple[Source, int, int, int]
"""What a component is made of: source, whose (0 for all), which of several, how many blocks."""


@dataclass(frozen=True)
class Difference:
    """How far two scores are apart, and whether by more than chance.

    Attributes
    ----------
    first, second
        Places of the two systems.
    score
        The key of the score.
    value
        The first score less the second.
    standard_error
        Of the difference.
    interval
        Confidence interval of this difference by itself.
    p_value
        How often chance alone would show as much, for this test by itself; NaN where neither
        score moves, though they differ.
    adjusted_p_value
        How often chance alone would show as much in any test of the family that is not settled
        before it.
    detectable
        The smallest true difference that this test would have found in four of five runs, adjusted
        as it is over the family; NaN where nothing moves.
    paired
        Whether prompts that both systems answer were made use of.
    """

    first: int
    second: int
    score: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    adjusted_p_value: float
    detectable: float
    paired: bool = False

    def equivalence(self, margin: float, freedom: float = np.inf) -> float:
        """Tell how often chance alone would bring scores this close that are a margin apart.

        Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 1987): the larger p-value of
        both. Below 1 less the level, the true difference is less than the margin.
        """
        if not self.standard_error > 0:
            return 0.0 if abs(self.value) < margin else 1.0
        return one_sided(freedom, (margin - abs(self.value)) / self.standard_error)


def one_sided(freedom: float, statistic: float) -> float:
    """How often Student's t lies above a statistic."""
    half = tails(freedom, statistic) / 2
    return half if statistic >= 0 else 1 - half


def differences(
    values: Sequence[Mapping[str, float]],
    spreads: Sequence[Mapping[str, Spread]],
    *,
    prompts: Sequence[int] | None = None,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> list[Difference]:
    """Test every pair of systems by every score that both have, all of them together.

    Parameters
    ----------
    values, spreads
        The scores of each system by key, and how much each moves. Keys without a spread in both
        systems of a pair are not tested for it.
    prompts
        For every system a number; systems of one number answer the same prompts row by row, so
        that block b of each holds answers to the same prompts. By default all differ.
    level
        Confidence level of the intervals, and 1 less the chance of any false finding.
    seed, draws
        Of the random weights.
    """
    answered = list(range(len(values))) if prompts is None else list(prompts)
    moved = [
        {key: _streams(spread, place) for key, spread in each.items()}
        for each, place in zip(spreads, answered, strict=True)
    ]
    found = [
        _alone(first, second, key, values, moved, level)
        for first, second in combinations(range(len(values)), 2)
        for key in spreads[first]
        if key in spreads[second]
    ]
    normal = np.array([_normal(each.p_value) for each, _ in found])
    null = _null([each for each, _ in found], moved, seed=seed, draws=draws)
    adjusted, largest = step_down(normal, null)
    critical = float(np.quantile(largest, level)) if normal.size else 0.0
    return [
        _settled(each, freedom, float(p), _two_sided(critical))
        for (each, freedom), p in zip(found, adjusted, strict=True)
    ]


def _streams(spread: Spread, place: int) -> dict[Stream, Doubles]:
    """The contributions of a score by what they are made of; what systems share has one name."""
    named: dict[Stream, Doubles] = {}
    count: dict[Source, int] = {}
    for part in spread.components:
        which = count.get(part.source, 0)
        count[part.source] = which + 1
        whose = 0 if part.source in ("reference", "both") else 1 + place
        named[part.source, whose, which, len(part.deviations)] = part.deviations
    return named


def _alone(
    first: int,
    second: int,
    key: str,
    values: Sequence[Mapping[str, float]],
    moved: Sequence[Mapping[str, Mapping[Stream, Doubles]]],
    level: float,
) -> tuple[Difference, float]:
    """One test by itself, and its degrees of freedom."""
    ours, theirs = moved[first][key], moved[second][key]
    parts = [
        (ours.get(stream, 0.0) - theirs.get(stream, 0.0), stream[3])
        for stream in dict.fromkeys((*ours, *theirs))
    ]
    variances = [float(gap @ gap) for gap, _ in parts]
    variance, gap = sum(variances), float(values[first][key] - values[second][key])
    own = [stream for stream in ours if stream[0] == "generated"]
    paired = bool(own) and all(stream in theirs for stream in own)
    error = float(np.sqrt(variance))
    if error == 0:
        p = 1.0 if gap == 0 else np.nan
        same = Difference(first, second, key, gap, 0.0, (gap, gap), p, np.nan, np.nan, paired)
        return same, np.inf
    freedom = 1 / sum(
        (each / variance) ** 2 / (count - 1)
        for each, (_, count) in zip(variances, parts, strict=True)
    )
    reach = quantile(freedom, level) * error
    made = Difference(
        first,
        second,
        key,
        gap,
        error,
        (gap - reach, gap + reach),
        tails(freedom, gap / error),
        np.nan,
        np.nan,
        paired,
    )
    return made, freedom


def _null(
    tests: Sequence[Difference],
    moved: Sequence[Mapping[str, Mapping[Stream, Doubles]]],
    *,
    seed: int,
    draws: int,
) -> Iterator[Doubles]:
    """All statistics under random weights of the blocks, normal and of variance 1 each."""
    places = {
        name: place
        for place, name in enumerate(
            dict.fromkeys((s, t.score) for t in tests for s in (t.first, t.second))
        )
    }
    streams = list(
        dict.fromkeys(stream for s, key in places for stream in moved[s][key])
    )
    tables = []
    for stream in streams:
        table = np.zeros((stream[3], len(places)))
        for (s, key), place in places.items():
            table[:, place] = moved[s][key].get(stream, 0.0)
        tables.append(table)
    ours = [places[t.first, t.score] for t in tests]
    theirs = [places[t.second, t.score] for t in tests]
    errors = np.array([t.standard_error or np.inf for t in tests])
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK // max(1, len(tests)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        scores = np.zeros((size, len(places)))
        for table in tables:
            scores += rng.standard_normal((size, len(table))) @ table
        yield (scores[:, ours] - scores[:, theirs]) / errors


def _settled(test: Difference, freedom: float, adjusted: float, alpha: float) -> Difference:
    """Put in what only the family tells."""
    from dataclasses import replace

    reach = quantile(freedom, 1 - alpha) + quantile(freedom, 2 * POWER - 1)
    detectable = reach * test.standard_error if test.standard_error > 0 else np.nan
    return replace(test, adjusted_p_value=adjusted, detectable=detectable)


def _normal(p: float) -> float:
    """The size of a normal statistic with this p-value."""
    from scipy.special import ndtri

    return -float(ndtri(p / 2))


def _two_sided(size: float) -> float:
    return tails(np.inf, size)
