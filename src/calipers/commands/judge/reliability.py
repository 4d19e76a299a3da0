"""Analyses of all judges: the scores of the systems, and how reliable the judges are.

Each question of each judge is analysed by its task (:mod:`~calipers.commands.judge.pairs`,
:mod:`~calipers.commands.judge.ratings`), every two judges are put beside each other, and what makes
answers doubtful becomes a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

from calipers.commands.judge.basis import Basis, first_answers
from calipers.commands.judge.pairs import pairs_beside, question_of_pairs
from calipers.commands.judge.ratings import question_of_ratings, ratings_beside
from calipers.commands.judge.result import BetweenJudges, Judge, JudgedQuestion
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.rubric import Question

Judged = Sequence[PairJudgement | Rating]

CLEAR_BIAS = 0.05
"""How far from a half the share of the text shown first lies for a warning to speak of it."""


@dataclass(frozen=True)
class Reliability:
    """The analyses of all judges, and the warnings that follow from them."""

    judges: Mapping[str, Judge]
    between: tuple[BetweenJudges, ...]
    warnings: tuple[str, ...]


def analyse(
    judgements: Mapping[str, Judged],
    details: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
    basis: Basis,
) -> Reliability:
    """Analyse the answers of all judges.

    Parameters
    ----------
    judgements
        Of each judge, by its name.
    details
        Of each judge, by its name: its configuration, and its counts.
    basis
        What the analyses share.
    """
    questions = basis.rubric.questions
    judges = {}
    for name, rows in judgements.items():
        configuration, counts = details[name]
        answered = {question.name: _question(rows, question, basis) for question in questions}
        judges[name] = Judge(name, configuration, counts, answered)
    between = tuple(
        _between(question.name, (one, other), judgements, judges, basis)
        for one, other in combinations(judgements, 2)
        for question in questions
    )
    warnings = [*_other_items(basis)]
    warnings += [warning for judge in judges.values() for warning in _warnings(judge)]
    return Reliability(judges, between, tuple(warnings))


def _question(rows: Judged, question: Question, basis: Basis) -> JudgedQuestion:
    if basis.rubric.task == "pairs":
        return question_of_pairs(cast("Sequence[PairJudgement]", rows), question.name, basis)
    return question_of_ratings(cast("Sequence[Rating]", rows), question, basis)


def _between(
    question: str,
    names: tuple[str, str],
    judgements: Mapping[str, Judged],
    judges: Mapping[str, Judge],
    basis: Basis,
) -> BetweenJudges:
    """Put two judges beside each other on one question."""
    one, other = (first_answers(judgements[name]) for name in names)
    if basis.rubric.task == "pairs":
        items, beyond_chance = pairs_beside(
            cast("Sequence[PairJudgement]", one),
            cast("Sequence[PairJudgement]", other),
            question,
            basis,
        )
    else:
        items, beyond_chance = ratings_beside(
            cast("Sequence[Rating]", one), cast("Sequence[Rating]", other), question, basis
        )
    first, second = (judges[name][question].systems for name in names)
    scores = {name: system.score for name, system in second.items()}
    return BetweenJudges(
        names,
        question,
        items=items,
        beyond_chance=beyond_chance,
        systems=basis.same_order(first, scores),
    )


# Warnings ----------------------------------------------------------------------------------------


def _other_items(basis: Basis) -> Iterator[str]:
    """Warn that people judged other items."""
    people, items = basis.people, basis.items
    if people is not None and not any(row.item in items for row in people.rows):
        yield (
            f"{people.source}: people judged none of the {len(items):,} items of "
            "this run, so that agreement on items is unknown; the same files, seed and "
            "lengths of texts give the same items"
        )


def _warnings(judge: Judge) -> Iterator[str]:
    """Say what makes the answers of a judge doubtful."""
    for question in judge.questions.values():
        if question.reason is not None:
            yield f"{judge.name}: no scores of {question.name!r}: {question.reason}"
        elif question.spread == 0 or question.ties.value == 1:
            yield (
                f"{judge.name} gives the same answer to {question.name!r} throughout, so it "
                "carries no information"
            )
    scored = [question for question in judge.questions.values() if question.reason is None]
    for side in ("first", "second"):
        shares = [words for question in scored if (words := _biased(question, side))]
        if shares:
            *most, last = shares
            listed = f"{', '.join(most)} and {last}" if most else last
            yield (
                f"{judge.name} prefers the text shown {side} in {listed} that prefer one: its "
                "answers to pairs cannot be trusted without both orders, on which the scores "
                "here rest"
            )


def _biased(question: JudgedQuestion, side: str) -> str:
    """Say how often the answers to a question follow a side, if they clearly do; else nothing."""
    share, bounds = question.first.value, question.first.interval
    if bounds is None:
        return ""
    low, high = bounds
    if side == "second":
        share, low, high = 1 - share, 1 - high, 1 - low
    if low <= 0.5 or share < 0.5 + CLEAR_BIAS:
        return ""
    words = f"{share:.0%} ({low:.0%} to {high:.0%})".replace("%", " %")
    return f"{words} of its answers to {question.name!r}"
