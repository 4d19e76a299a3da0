"""``history``: order the saved runs of one reference, and test every change of a score.

A score is worse in a later run where it differs from that of *some* run before it by more than
chance, so that a slow decline is found as well as a sudden one. All pairs of runs by all scores
are one family, adjusted by Holm: the chance of a single false change in the whole history stays
below 1 - level. What the blocks of one reference bring to both scores of a pair is set off, where
the runs kept it (:mod:`calipers.uncertainty.limits`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from calipers.commands.history.options import HistoryOptions
from calipers.commands.history.result import (
    History,
    HistoryPoint,
    HistoryRun,
    ScoreChange,
    ScoreHistory,
)
from calipers.errors import InputError, unknown_name
from calipers.evaluate.run_pairs import (
    Run,
    System,
    difference,
    differing_pins,
    read_scores,
    run_of,
    score_estimate,
    withheld_reason,
)
from calipers.options.keywords import keywords_of
from calipers.samples.wording import first_names
from calipers.score import Score
from calipers.uncertainty.holm import holm
from calipers.uncertainty.limits import LimitEstimate
from calipers.uncertainty.spread import UNIT

FEWEST_RUNS = 2

MOST_NAMED = 3
"""Scores that a warning names."""


@dataclass(frozen=True)
class NamedRun:
    """A saved run, and its name in the history."""

    name: str
    file: str
    run: Run

    def systems(self) -> dict[str, System]:
        """The systems of the run by name."""
        return {system.name: system for system in self.run.systems}


@keywords_of(HistoryOptions)
def history(runs: Any, options: HistoryOptions) -> History:
    """Tell how scores changed from run to run, and which run is worse than an earlier one.

    Parameters
    ----------
    runs
        Two saved runs or more of one reference, the first one first: comparisons, or paths of what
        ``--save`` or ``--json`` of ``calipers compare`` (or ``calipers text``) wrote.

    Returns
    -------
    History
        ``history["recall"].points`` has a value and an interval for each run,
        ``history.first_worse`` the place of the first run that is worse beyond the noise.

    Raises
    ------
    InputError
        If there are fewer than two runs, they have no system or no score in common, or their
        scores were measured in different ways, so that they are not comparable.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, good = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> runs = [
    ...     calipers.compare(real, {"model": rows}, metrics="precision", floor=False)
    ...     for rows in (good, good + 5)
    ... ]
    >>> calipers.history(runs).first_worse
    1
    """
    saved = list(_named(runs))
    if len(saved) < FEWEST_RUNS:
        raise InputError(
            f"a history needs at least {FEWEST_RUNS} saved runs, the first one first; found "
            f"{len(saved)}"
        )
    lines: list[Line] = []
    left_out: dict[str, str] = {}
    for name, systems in _followed(saved, options):
        for key in _keys(saved, systems, options):
            why = _why_not(saved, systems, key)
            if why is None:
                lines.append(_points(saved, name, systems, key))
            elif options.metrics is not None:
                raise InputError(f"{key}: {why}")
            else:
                left_out[key] = why
    if not lines:
        reasons = "".join(f"\n{line}" for line in _why(left_out))
        raise InputError(f"the runs have no score in common that can be followed{reasons}")
    tests = [list(_tests(saved, line)) for line in lines]
    adjusted = iter(holm([test.p_value for of_line in tests for test in of_line]).tolist())
    scores = tuple(
        _decided(
            line, [replace(test, adjusted_p_value=next(adjusted)) for test in of_line], options
        )
        for line, of_line in zip(lines, tests, strict=True)
    )
    return History(
        runs=tuple(
            HistoryRun(saved_run.name, saved_run.file, saved_run.run.version) for saved_run in saved
        ),
        scores=scores,
        settings={**options.settings(), "tests": sum(map(len, tests))},
        warnings=tuple(_warnings(saved, scores, left_out)),
    )


@dataclass(frozen=True)
class Line:
    """One score of one system in every run, before the tests."""

    system: str
    key: str
    systems: tuple[System, ...]
    scores: tuple[Score, ...]
    estimates: tuple[LimitEstimate | None, ...]
    points: tuple[HistoryPoint, ...]


def _named(runs: Any) -> Iterator[NamedRun]:
    """Read the runs, and give each a name of its own: its tag, else its file without the ending."""
    if isinstance(runs, str | Path):
        runs = [runs]
    used: dict[str, int] = {}
    for place, given in enumerate(runs, 1):
        if isinstance(given, str | Path):
            path = Path(given)
            run, file, name = (
                run_of(read_scores(path), str(given)),
                path.name,
                path.stem,
            )
        else:
            run, file, name = run_of(given, f"run {place}"), "", f"run {place}"
        name = str(run.settings.get("tag") or name)
        used[name] = used.get(name, 0) + 1
        yield NamedRun(name if used[name] == 1 else f"{name} ({used[name]})", file, run)


def _followed(
    saved: Sequence[NamedRun], options: HistoryOptions
) -> list[tuple[str, tuple[System, ...]]]:
    """Choose the systems: those named, else all in every run, else the only one of each run."""
    systems = [run.systems() for run in saved]
    common = [name for name in systems[0] if all(name in of_run for of_run in systems)]
    asked = _words(options.system)
    for name in asked:
        for run, known in zip(saved, systems, strict=True):
            if name not in known:
                raise unknown_name(f"system of {run.name}", name, known)
    if asked or common:
        return [(name, tuple(of_run[name] for of_run in systems)) for name in asked or common]
    if all(len(of_run) == 1 for of_run in systems):
        alone = tuple(next(iter(of_run.values())) for of_run in systems)
        return [("model", alone)]
    names = "; ".join(f"{run.name}: {', '.join(run.systems())}" for run in saved[:3])
    raise InputError(
        f"no system is in every run ({names}); give every run one system, or the systems the same "
        "names (NAME=FILE)"
    )


def _words(given: Any) -> list[str]:
    words = re.split(r"[,\s]+", given) if isinstance(given, str) else list(given or ())
    return [word for word in dict.fromkeys(words) if word]


def _keys(
    saved: Sequence[NamedRun], systems: Sequence[System], options: HistoryOptions
) -> list[str]:
    """Choose the scores: those that were asked for, else those that have an interval."""
    asked = _words(options.metrics)
    for key in asked:
        for run, system in zip(saved, systems, strict=True):
            if key not in system.scores:
                raise unknown_name(f"score of {system.name} in {run.name}", key, system.scores)
    if asked:
        return asked
    common = [key for key in systems[-1].scores if all(key in system.scores for system in systems)]
    if not common:
        lists = (
            f"{run.name} has {first_names(list(system.scores), MOST_NAMED)}"
            for run, system in zip(saved, systems, strict=True)
        )
        raise InputError(f"the runs have no score in common: {'; '.join(lists)}")
    moving = {
        key for key in common for system in systems if system.scores[key].interval is not None
    }
    return [key for key in common if key in moving] or common


def _why_not(saved: Sequence[NamedRun], systems: Sequence[System], key: str) -> str | None:
    """Say why a score cannot be followed over the runs; None if it can."""
    first, *others = (system.scores[key] for system in systems)
    if first.better == "closest":
        return "best where it equals that of the reference, not where it is higher or lower"
    for run, score in zip(saved[1:], others, strict=True):
        pins = differing_pins(first, score)
        if pins:
            words = "; ".join(
                f"{pin}: {ours} in {saved[0].name}, {theirs} in {run.name}"
                for pin, ours, theirs in pins
            )
            return (
                f"not comparable between {saved[0].name} and {run.name} ({words}); run both with "
                "the same reference, sizes and settings"
            )
    return None


def _why(left_out: Mapping[str, str]) -> Iterator[str]:
    """The reasons why scores cannot be followed, each once, with the scores that it is for."""
    keys: dict[str, list[str]] = {}
    for key, reason in left_out.items():
        keys.setdefault(reason, []).append(key)
    for reason, names in keys.items():
        yield f"{', '.join(names)}: {reason}"


def _points(saved: Sequence[NamedRun], name: str, systems: tuple[System, ...], key: str) -> Line:
    """Gather one score of one system over the runs."""
    scores = tuple(system.scores[key] for system in systems)
    estimates, points = [], []
    for run, system, score in zip(saved, systems, scores, strict=True):
        estimate, reason = None, withheld_reason(key, system) or score.reason
        if math.isfinite(score.value):
            estimate, why = score_estimate(score, system, run.run)
            reason = why or None
        estimates.append(estimate)
        points.append(HistoryPoint(float(score.value), score.interval, system.summary.n, reason))
    return Line(name, key, systems, scores, tuple(estimates), tuple(points))


def _tests(saved: Sequence[NamedRun], line: Line) -> Iterator[ScoreChange]:
    """Test every pair of runs that have an estimate, the later one less the earlier one."""
    for before, after in combinations(range(len(saved)), 2):
        first, second = line.estimates[before], line.estimates[after]
        if first is None or second is None:
            continue
        estimate, paired = difference(
            line.key,
            (line.scores[after], line.scores[before]),
            (line.systems[after], line.systems[before]),
            (second, first),
        )
        p = min(1.0, 2 * min(estimate.p_value(0.0, "below"), estimate.p_value(0.0, "above")))
        error = float(estimate.standard_error)
        yield ScoreChange(before, after, float(estimate.value), error, p, p, "open", paired)


def _decided(line: Line, changes: Iterable[ScoreChange], options: HistoryOptions) -> ScoreHistory:
    """Say of every change whether it is beyond the noise, and which run is the first worse one."""
    better, share = line.scores[-1].better, tuple(line.scores[-1].range) == UNIT
    decided = tuple(_directed(change, better, 1 - options.level) for change in changes)
    worse = [change for change in decided if change.direction == "worse"]
    first = min((change.after for change in worse), default=None)
    than = max((change.before for change in worse if change.after == first), default=None)
    return ScoreHistory(line.system, line.key, better, share, line.points, decided, first, than)


def _directed(change: ScoreChange, better: str, alpha: float) -> ScoreChange:
    if not change.adjusted_p_value <= alpha:
        return change
    risen = change.difference > 0
    direction: Literal["worse", "better"] = "better" if risen == (better == "higher") else "worse"
    return replace(change, direction=direction)


def _warnings(
    saved: Sequence[NamedRun], scores: Sequence[ScoreHistory], left_out: Mapping[str, str]
) -> Iterator[str]:
    """Say what was not tested, and what makes the tests careful."""
    reasons: dict[str, dict[str, None]] = {}
    for history in scores:
        for run, point in zip(saved, history.points, strict=True):
            if point.reason is not None:
                about = f"{history.score} of {history.system} in {run.name}"
                reasons.setdefault(point.reason, {})[about] = None
    for reason, where in reasons.items():
        yield f"not tested: {first_names(list(where), MOST_NAMED)}: {reason}"
    yield from (f"not followed: {line}" for line in _why(left_out))
    if not all(change.paired for history in scores for change in history.changes):
        yield (
            "the errors of some runs are treated as independent, which is conservative: what "
            "they share through the reference is in the zips of `.save(path)`, not in their JSON"
        )
    versions = dict.fromkeys(run.run.version for run in saved)
    if len(versions) > 1:
        yield f"the runs were measured by several versions of Calipers: {', '.join(versions)}"
