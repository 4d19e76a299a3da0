"""One judge's ratings of single texts or batches: means, reliability, agreement with people."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from calipers.commands.judge.basis import (
    NOT_PAIRS,
    Basis,
    People,
    answer_variance,
    first_answers,
    of_agreement,
    of_correlation,
    of_share,
)
from calipers.commands.judge.result import JudgedQuestion, JudgedSystem, JudgedValue, WithPeople
from calipers.judgements.judgement import Rating
from calipers.judgements.rubric import Question
from calipers.uncertainty.clustered import student
from calipers.uncertainty.correlation import pearson
from calipers.uncertainty.rater_agreement import krippendorff_alpha, share_of


def question_of_ratings(rows: Sequence[Rating], question: Question, basis: Basis) -> JudgedQuestion:
    """Analyse one judge's ratings on one question."""
    name = question.name
    answered = [row for row in rows if name in row.answers]
    repeats = _repeats(answered, name)
    variance = answer_variance(
        np.array([before for before, _ in repeats]), np.array([after for _, after in repeats])
    )
    same = np.array([before == after for before, after in repeats], dtype=np.bool_)
    first = first_answers(answered)
    values = np.array([row.answers[name] for row in first], dtype=np.float64)
    systems = {
        system: _rated(
            system,
            np.array([row.answers[name] for row in first if row.system == system], float),
            question,
            variance,
            basis.level,
        )
        for system in basis.systems
    }
    again = share_of(same, level=basis.level, reason="nothing was asked a second time")
    of_judge = JudgedQuestion(
        name,
        systems,
        agreement=of_share(again),
        ties=NOT_PAIRS,
        flips=NOT_PAIRS,
        first=NOT_PAIRS,
        circles=NOT_PAIRS,
        spread=float(values.std(ddof=1)) if len(values) > 1 else math.nan,
        reason=None if len(values) else "there are no answers",
    )
    if basis.people is None:
        return of_judge
    return replace(of_judge, people=_with_people(first, of_judge, basis.people, basis))


def ratings_beside(
    one: Sequence[Rating], other: Sequence[Rating], question: str, basis: Basis
) -> tuple[JudgedValue, JudgedValue]:
    """Return the correlation of two judges' ratings of the same items, and Krippendorff's alpha."""
    return _values_beside(_by_item(one, question), _by_item(other, question), basis)


def _by_item(rows: Sequence[Rating], question: str) -> dict[str, float]:
    return {row.item: float(row.answers[question]) for row in rows}


def _values_beside(
    one: Mapping[str, float], other: Mapping[str, float], basis: Basis
) -> tuple[JudgedValue, JudgedValue]:
    """Correlate values of the same items, and give alpha between them."""
    common = [item for item in one if item in other]
    pairs = np.array([[one[item], other[item]] for item in common], float).reshape(-1, 2)
    if not common:
        undefined = JudgedValue(math.nan, None, 0, "no item has answers of both")
        return undefined, undefined
    alpha = krippendorff_alpha(pairs.T, kind="interval", level=basis.level, seed=basis.seed)
    return (
        of_correlation(pearson(pairs[:, 0], pairs[:, 1], level=basis.level)),
        of_agreement(alpha),
    )


def _repeats(rows: Sequence[Rating], question: str) -> list[tuple[int, int]]:
    """The first and the second answer to every item that was asked of twice."""
    earlier: dict[str, int] = {}
    repeats = []
    for row in sorted(rows, key=lambda row: row.repeat):
        value = row.answers[question]
        if row.item in earlier:
            repeats.append((earlier[row.item], value))
        else:
            earlier[row.item] = value
    return repeats


def _rated(
    name: str, values: NDArray[np.float64], question: Question, variance: float, level: float
) -> JudgedSystem:
    """Return the mean rating of a system: of yes or no Wilson's interval, else Student's."""
    n = len(values)
    if not n:
        return JudgedSystem(name, math.nan, None, math.nan, math.nan, 0)
    score = float(values.mean())
    deviation = float(values.std(ddof=1)) if n > 1 else math.nan
    error = deviation / math.sqrt(n)
    interval = None
    if (question.least, question.most) == (0, 1):
        interval = share_of(values == 1, level=level).interval
    elif error > 0:
        reach = float(student(level, n - 1)) * error
        interval = (max(score - reach, question.least), min(score + reach, question.most))
    return JudgedSystem(name, score, interval, error, math.sqrt(variance / n), n)


# Beside people -----------------------------------------------------------------------------------


def _with_people(
    judge: Sequence[Rating], of_judge: JudgedQuestion, people: People, basis: Basis
) -> WithPeople | None:
    """Put a judge beside people; None where they did not answer the question."""
    question = of_judge.name
    rows = [row for row in cast("Sequence[Rating]", people.rows) if question in row.answers]
    if not rows:
        return None
    by_item: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    by_system: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_item[row.item][row.rater].append(row.answers[question])
        by_system[row.system].append(row.answers[question])
    means = {
        item: float(np.mean([np.mean(answers) for answers in raters.values()]))
        for item, raters in by_item.items()
    }
    items, beyond_chance = _values_beside(_by_item(judge, question), means, basis)
    among = krippendorff_alpha(_table(by_item), kind="ordinal", level=basis.level, seed=basis.seed)
    return WithPeople(
        source=people.source,
        people=len({row.rater for row in rows}),
        items=items,
        beyond_chance=beyond_chance,
        among_people=of_agreement(among),
        systems=basis.same_order(
            of_judge.systems, {name: float(np.mean(values)) for name, values in by_system.items()}
        ),
        discrimination=NOT_PAIRS,
    )


def _table(answers: Mapping[str, Mapping[str, Sequence[int]]]) -> NDArray[np.float64]:
    """A row for each rater and a column for each item, NaN where there is no answer."""
    raters = sorted({rater for item in answers.values() for rater in item})
    table = np.full((len(raters), len(answers)), math.nan)
    for column, item in enumerate(answers.values()):
        for rater, values in item.items():
            table[raters.index(rater), column] = values[0]
    return table
