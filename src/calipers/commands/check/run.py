"""``check``: test conditions on the scores of a run by confidence bounds, not by the estimates.

A check of point estimates fails at random once its limit is near the score of a model. This one has
three outcomes: it fails where a condition is met by more than chance, passes where each of them is
unmet by more than chance, and is otherwise inconclusive, and says how many samples would decide.
What is tested, and what the level of the whole check means, is described in
:mod:`calipers.uncertainty.limits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.catalogue.choosing import find, find_likelihood, find_text
from calipers.commands.check.conditions import Condition, parse_condition, read_conditions
from calipers.commands.check.options import CheckOptions
from calipers.commands.check.result import Check, CheckedScore
from calipers.errors import InputError, first_line, unknown_name
from calipers.evaluate.run_pairs import (
    Run,
    System,
    difference,
    differing_pins,
    read_scores,
    score_estimate,
    withheld_reason,
)
from calipers.options.keywords import keywords_of
from calipers.results.comparison import Comparison
from calipers.results.reading import REMEDY
from calipers.results.texts import TextComparison
from calipers.score import Score
from calipers.uncertainty.limits import Decision, LimitEstimate, LimitTest, decide
from calipers.uncertainty.spread import UNIT


@keywords_of(CheckOptions)
def check(run: Any, options: CheckOptions) -> Check:
    """Tell whether the scores of a run keep to limits, allowing for their statistical error.

    A condition ``[system:]key op limit`` describes a failure, such as ``"recall < 0.8"`` or
    ``"mauve_star < baseline - 0.02"``; `op` is ``<``, ``<=``, ``>`` or ``>=``, and the limit a
    number or ``baseline``, times a factor and plus or minus a number. It holds for every system
    unless it names one. The check *fails* where a condition is met significantly, *passes* where
    all conditions are significantly not met, and is *inconclusive* otherwise.

    Parameters
    ----------
    run
        A comparison, or the path of one: what ``--save`` or ``--json`` of ``calipers compare`` (or
        ``calipers text``) wrote. Its scores must have intervals.

    Returns
    -------
    Check
        ``.outcome`` is ``"passes"``, ``"fails"`` or ``"inconclusive"``; printing it shows a row
        for each condition and system.

    Raises
    ------
    InputError
        If a condition cannot be read, names a score or a system that the run lacks, or is true or
        false for all values; if a score has no interval or no value; if limits are taken from a
        baseline and there is none, or its scores are not comparable.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, model = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> run = calipers.compare(real, {"model": model}, metrics="precision", floor=False)
    >>> calipers.check(run, fail_if="precision < 0.5").outcome
    'passes'
    """
    in_file = [] if options.conditions is None else read_conditions(options.conditions)
    conditions = [parse_condition(text) for text in (*_texts(options.fail_if), *in_file)]
    if not conditions:
        raise InputError(
            "a check needs a condition to fail on, such as `fail_if='recall < 0.8'`, "
            "or a file of them"
        )
    ours = _loaded(run, "run")
    theirs = None if options.baseline is None else _loaded(options.baseline, "baseline")
    asked = [one for condition in conditions for one in _asked(condition, ours, theirs)]
    decisions = decide([one.test for one in asked if one.unread is None], level=options.level)
    return Check(
        run=ours.name,
        baseline=None if theirs is None else theirs.name,
        checked=tuple(_all_checked(asked, decisions)),
        settings=options.settings(),
        warnings=(*_unread(asked), *_warnings(conditions, ours, theirs)),
    )


@dataclass(frozen=True)
class CheckedRun:
    """A run, and its name in messages."""

    name: str
    run: Run

    @property
    def systems(self) -> Mapping[str, System]:
        """The systems of the run by name."""
        return {system.name: system for system in self.run.systems}

    def system(self, name: str) -> System:
        """Return a system by its name, or the only one."""
        systems = self.systems
        if len(systems) == 1:
            return next(iter(systems.values()))
        if name not in systems:
            raise unknown_name(f"system of {self.name}", name, systems)
        return systems[name]


@dataclass(frozen=True)
class Asked:
    """One condition for one system, ready to be tested."""

    condition: Condition
    system: System
    key: str
    limit: float
    test: LimitTest
    baseline: float | None
    paired: bool = False
    unread: str | None = None


def _texts(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _loaded(given: Any, role: str) -> CheckedRun:
    """Read a run, or take one that is there."""
    if isinstance(given, Comparison | TextComparison):
        return CheckedRun(f"the {role}", given)
    if not isinstance(given, str | Path):
        raise InputError(
            f"{role} must be a comparison or the path of one; found {type(given).__name__}"
        )
    result = read_scores(given)
    if not isinstance(result, Comparison | TextComparison):
        raise InputError(
            f"{given}: holds a result of the kind {result.kind!r}; a check needs what "
            "`.save(path)` or `.to_dict()` of `calipers.compare` or `calipers.measure_texts` wrote"
        )
    return CheckedRun(Path(given).name, result)


# From a condition to a test ----------------------------------------------------------------------


def _asked(condition: Condition, ours: CheckedRun, theirs: CheckedRun | None) -> Iterator[Asked]:
    """Return the tests of one condition, one for each system that it is about."""
    if condition.needs_baseline and theirs is None:
        raise InputError(
            f"condition {condition.text!r} takes its limit from a baseline, and there is none; "
            "give one by `baseline`"
        )
    every = ours.systems
    named, written = condition.split({name: system.scores for name, system in every.items()})
    systems = list(every.values()) if named is None else [every[named]]
    key = _key(condition, written, ours)
    for system in systems:
        unread = withheld_reason(key, system)
        if unread is None and theirs is not None and condition.needs_baseline:
            unread = withheld_reason(key, theirs.system(system.name))
        if unread is not None:
            limit = math.nan if condition.needs_baseline else condition.offset
            nothing = LimitEstimate(math.nan, math.nan)
            test = LimitTest(nothing, limit, condition.side, condition.inclusive)
            yield Asked(condition, system, key, limit, test, None, unread=unread)
            continue
        score = _score(condition, key, system, ours)
        estimate = _estimate(condition, key, score, system, ours)
        if theirs is None or not condition.needs_baseline:
            _check_limit(condition, key, score)
            limit, baseline, offset, paired = condition.offset, None, condition.offset, False
        else:
            other = theirs.system(system.name)
            before = _score(condition, key, other, theirs)
            _check_comparable(key, score, before, ours, theirs)
            estimates = (estimate, _estimate(condition, key, before, other, theirs))
            estimate, paired = difference(
                key, (score, before), (system, other), estimates, condition.factor
            )
            baseline, offset = before.value, condition.offset
            limit = condition.factor * before.value + offset
        test = LimitTest(estimate, offset, condition.side, condition.inclusive)
        yield Asked(condition, system, key, limit, test, baseline, paired)


def _key(condition: Condition, written: str, ours: CheckedRun) -> str:
    """Find the key that is meant, whatever the order of its options."""
    known = list(dict.fromkeys(key for system in ours.systems.values() for key in system.scores))
    if written in known:
        return written
    views = ours.run.settings.get("views") or []
    view, name = _view(written, views)
    if view is not None and view not in views:
        raise InputError(
            f"condition {condition.text!r}: {unknown_name(f'view of {ours.name}', view, views)}"
        )
    prefix = "" if view is None or view == views[0] else f"{view}."
    look_up = {"texts": find_text, "likelihoods": find_likelihood}.get(ours.run.kind, find)
    try:
        key = prefix + look_up(name).name
    except InputError as error:
        raise _unknown(condition, written, known, ours, error) from None
    if key not in known:
        raise InputError(
            f"condition {condition.text!r}: {ours.name} has no score {key!r}; it has "
            f"{', '.join(known)}. Add it to `metrics` of the run"
        )
    return key


def _view(written: str, views: Sequence[str]) -> tuple[str | None, str]:
    """Cut the view off a key, None where it names none; options may hold points of their own."""
    view, dot, rest = written.partition(".")
    return (view, rest) if dot and views and ":" not in view else (None, written)


def _unknown(
    condition: Condition, written: str, known: Sequence[str], ours: CheckedRun, error: InputError
) -> InputError:
    """Suggest what an unknown name may have been meant for."""
    name, colon, key = written.partition(":")
    if colon and key.strip() in known:
        error = unknown_name(f"system of {ours.name}", name, ours.systems)
        return InputError(f"condition {condition.text!r}: {error}")
    if "did you mean" in str(error):
        return InputError(f"condition {condition.text!r}: {first_line(error)}")
    return InputError(f"condition {condition.text!r}: {unknown_name('score', written, known)}")


def _score(condition: Condition, key: str, system: System, where: CheckedRun) -> Score:
    """Return the score of a system, with a value."""
    score = system.scores.get(key)
    if score is None:
        raise InputError(
            f"condition {condition.text!r}: {system.name} of {where.name} has no score {key!r}"
        )
    if not math.isfinite(score.value):
        why = f": {score.reason}" if score.reason else ""
        raise InputError(
            f"condition {condition.text!r}: {key} of {system.name} in {where.name} has no finite "
            f"value{why}"
        )
    return score


def _estimate(
    condition: Condition, key: str, score: Score, system: System, where: CheckedRun
) -> LimitEstimate:
    """Take the score with its error; refuse one that has none."""
    estimate, why = score_estimate(score, system, where.run)
    if estimate is None:
        raise InputError(
            f"condition {condition.text!r}: {key} of {system.name} in {where.name} has no "
            f"interval, without which nothing is decided: {why}"
        )
    return estimate


def _check_limit(condition: Condition, key: str, score: Score) -> None:
    """Refuse a limit that no score, or every score, lies beyond."""
    low, high = score.range
    if low <= condition.offset <= high and condition.offset != (
        low if condition.side == "below" else high
    ):
        return
    raise InputError(
        f"condition {condition.text!r}: {key} lies between {low:g} and {high:g}, so that the limit "
        f"{condition.offset:g} decides nothing"
    )


def _check_comparable(
    key: str, ours: Score, theirs: Score, run: CheckedRun, baseline: CheckedRun
) -> None:
    """Refuse a baseline that was measured in another way, and say in which."""
    differing = [
        f"{name}: {here} in {run.name}, {there} in {baseline.name}"
        for name, here, there in differing_pins(ours, theirs)
    ]
    if differing:
        raise InputError(
            f"{key} of {run.name} and of {baseline.name} are not comparable "
            f"({'; '.join(differing)}); recreate the baseline with the settings of the run"
        )


# From a decision to the result -------------------------------------------------------------------


def _all_checked(asked: Sequence[Asked], decisions: Sequence[Decision]) -> Iterator[CheckedScore]:
    """Return every check in order; of what was not read, nothing is decided."""
    remaining = iter(decisions)
    for one in asked:
        yield _checked(one, next(remaining)) if one.unread is None else _undecided(one)


def _undecided(asked: Asked) -> CheckedScore:
    """Return a condition on a score without a value, since too little of the texts was read."""
    score = asked.system.scores[asked.key]
    return CheckedScore(
        condition=asked.condition.text,
        system=asked.system.name,
        score=asked.key,
        value=math.nan,
        interval=None,
        level=None,
        lower_bound=math.nan,
        upper_bound=math.nan,
        side=asked.condition.side,
        limit=float(asked.limit),
        outcome="inconclusive",
        baseline=None,
        standard_error=math.nan,
        p_met=math.nan,
        adjusted_p_met=math.nan,
        p_unmet=math.nan,
        n=asked.system.summary.n,
        deciding_n=None,
        share=tuple(score.range) == UNIT,
        reason=asked.unread,
    )


def _checked(asked: Asked, decision: Decision) -> CheckedScore:
    score = asked.system.scores[asked.key]
    # The bounds of a difference are moved to where the score is, beside the limit
    shift = asked.limit - asked.test.limit
    low, high = (float(end + shift) for end in decision.bounds)
    if asked.baseline is None:  # where no block of a share moves, they are not clipped yet
        low, high = max(low, score.range[0]), min(high, score.range[1])
    n = asked.system.summary.n
    return CheckedScore(
        condition=asked.condition.text,
        system=asked.system.name,
        score=asked.key,
        value=float(score.value),
        interval=score.interval,
        level=score.level if score.interval else None,
        lower_bound=low,
        upper_bound=high,
        side=asked.condition.side,
        limit=float(asked.limit),
        outcome=decision.outcome,
        baseline=asked.baseline,
        standard_error=float(asked.test.estimate.standard_error),
        p_met=decision.p_met,
        adjusted_p_met=decision.adjusted_p_met,
        p_unmet=decision.p_unmet,
        n=n,
        deciding_n=None if decision.factor is None else math.ceil(n * decision.factor),
        share=tuple(score.range) == UNIT,
        paired=asked.paired,
    )


def _unread(asked: Sequence[Asked]) -> tuple[str, ...]:
    """Say of which systems nothing is decided, and what to do."""
    reasons: dict[str, dict[str, None]] = {}
    for one in asked:
        if one.unread is not None:
            reasons.setdefault(one.unread, {})[one.system.name] = None
    return tuple(f"{', '.join(names)}: {why}; {REMEDY}" for why, names in reasons.items())


def _warnings(
    conditions: Sequence[Condition], ours: CheckedRun, theirs: CheckedRun | None
) -> tuple[str, ...]:
    if theirs is None:
        return ()
    if not any(condition.needs_baseline for condition in conditions):
        return ("no condition takes its limit from the baseline, which was not looked at",)
    here, there = ours.run.version, theirs.run.version
    if here == there:
        return ()
    return (
        f"{ours.name} was measured by Calipers {here} and {theirs.name} by {there}; their "
        "signatures are otherwise equal",
    )
