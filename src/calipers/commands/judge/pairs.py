"""One judge's answers to one question on pairs: scores, biases, agreement with people.

Systems are scored by the Bradley-Terry model. Answers about one context are alike, so that
intervals count contexts: both orders of a pair, and all pairs of systems that continue the same
prompt, stand or fall together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from calipers.commands.judge.basis import (
    Basis,
    People,
    answer_variance,
    of_agreement,
    of_share,
)
from calipers.commands.judge.result import JudgedQuestion, JudgedSystem, JudgedValue, WithPeople
from calipers.errors import InputError
from calipers.judgements.items import Item
from calipers.judgements.judgement import PairJudgement
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.clustered import clustered_covariance
from calipers.uncertainty.rated_pairs import RatedPairs, count_rated_pairs
from calipers.uncertainty.rater_agreement import (
    agreement_between,
    check_more_than_sides,
    first_share,
    flip_rate,
    intransitive_share,
    self_agreement,
    share_of,
)
from calipers.uncertainty.rater_effects import fit_rater_effects

SCALE = 100.0
"""Unit of Bradley-Terry scores, as in ``rank``."""


def question_of_pairs(rows: Sequence[PairJudgement], question: str, basis: Basis) -> JudgedQuestion:
    """Analyse one judge's answers to one question on pairs."""
    pairs, level = rated_pairs(rows, question), basis.level
    first = pairs.select(pairs.repeat == 0)
    contexts = _contexts(first, basis)
    systems, reason = _scores(pairs, first, contexts, basis)
    circles = intransitive_share(first, group=contexts, level=level)
    if not circles.total:
        circles = intransitive_share(first, level=level)
    answered = JudgedQuestion(
        question,
        systems,
        agreement=of_share(self_agreement(pairs, level=level)),
        ties=of_share(share_of(first.outcome == 0, [contexts], level=level)),
        flips=of_share(flip_rate(first, level=level).reversed),
        first=of_share(first_share(first, level=level)),
        circles=of_share(circles),
        spread=math.nan,
        reason=reason,
    )
    if basis.people is None:
        return answered
    return replace(answered, people=_with_people(first, answered, basis.people, basis))


def pairs_beside(
    one: Sequence[PairJudgement], other: Sequence[PairJudgement], question: str, basis: Basis
) -> tuple[JudgedValue, JudgedValue]:
    """Return how often two judges prefer the same text of an item, and Cohen's kappa."""
    agreement = agreement_between(
        rated_pairs(one, question), rated_pairs(other, question), level=basis.level, seed=basis.seed
    )
    return of_share(agreement.decided), of_agreement(agreement.kappa)


def rated_pairs(rows: Sequence[PairJudgement], question: str) -> RatedPairs:
    """Arrange the answers to one question as columns."""
    answered = [row for row in rows if question in row.answers]
    return count_rated_pairs(
        [row.a for row in answered],
        [row.b for row in answered],
        [row.answers[question] for row in answered],
        rater=[f"{row.rater_kind} {row.rater}" for row in answered],
        first=[row.a if row.first == "a" else row.b for row in answered],
        item=[row.item for row in answered],
        repeat=[row.repeat for row in answered],
    )


def _contexts(pairs: RatedPairs, basis: Basis) -> NDArray[np.int64]:
    """Number the contexts of judgements; an item without one stands for itself."""
    labels = []
    for place in pairs.item.tolist():
        item = basis.items.get(pairs.items[place])
        context = item.context if isinstance(item, Item) else ""
        labels.append(f"context {context}" if context else f"item {place}")
    return np.unique(np.array(labels, dtype=object), return_inverse=True)[1].ravel()


def _scores(
    pairs: RatedPairs, first: RatedPairs, contexts: NDArray[np.int64], basis: Basis
) -> tuple[dict[str, JudgedSystem], str | None]:
    """Return Bradley-Terry scores, or the reason why there are none."""
    if not len(first):
        return {}, "there are no answers that can be used"
    try:
        check_more_than_sides(first)
        fit = fit_bradley_terry(first.preferences, scale=SCALE, level=basis.level)
    except InputError as error:
        return {}, str(error)
    errors, intervals = fit.standard_errors, fit.intervals
    if len(np.unique(contexts)) > 1:
        clustered = clustered_covariance(fit, first, contexts)
        errors, intervals = clustered.standard_errors, clustered.intervals
    rerun = _rerun_errors(fit, pairs, first)
    items = np.bincount(np.concatenate(_sides_by_item(first)), minlength=len(fit.names))
    return {
        name: JudgedSystem(
            name,
            score=float(fit.scores[place]),
            interval=(float(intervals[place, 0]), float(intervals[place, 1])),
            standard_error=float(errors[place]),
            rerun_error=float(rerun[place]),
            n=int(items[place]),
        )
        for name in basis.systems
        if name in fit.names
        for place in [fit.names.index(name)]
    }, None


def _sides_by_item(pairs: RatedPairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the systems of every item, each item once."""
    rows = np.unique(pairs.item, return_index=True)[1]
    return pairs.i[rows], pairs.j[rows]


def _rerun_errors(fit: BradleyTerry, pairs: RatedPairs, first: RatedPairs) -> NDArray[np.float64]:
    """Standard errors of scores that another run of the judge on the same items brings.

    To first order a score is a sum over answers y of 1, 0 and -1 of a half of the covariance of the
    fit times the place of the pair; the variance of an answer about what the judge answers on
    average is half the mean squared difference of two answers to the same.
    """
    earlier: dict[tuple[int, int], int] = {}
    lower = np.where(pairs.i < pairs.j, 1, -1)
    sides, outcomes = pairs.first * lower, pairs.outcome * lower
    before, after = [], []
    for row in np.argsort(pairs.repeat, kind="stable").tolist():
        key = (int(pairs.item[row]), int(sides[row]))
        if key in earlier:
            before.append(int(outcomes[earlier[key]]))
            after.append(int(outcomes[row]))
        else:
            earlier[key] = row
    variance = answer_variance(np.array(before), np.array(after))
    n = len(fit.names)
    met = np.zeros((n, n))
    np.add.at(met, (first.i, first.j), 1.0)
    met += met.T
    laplacian = np.diag(met.sum(axis=1)) - met
    covariance = fit.covariance / fit.scale
    spread = variance / 4 * (covariance @ laplacian @ covariance)
    return np.asarray(np.sqrt(spread.diagonal().clip(min=0)), dtype=np.float64)


# Beside people -----------------------------------------------------------------------------------


def _with_people(
    judge: RatedPairs, answered: JudgedQuestion, people: People, basis: Basis
) -> WithPeople | None:
    """Put a judge beside people; None where they did not answer the question."""
    question, level = answered.name, basis.level
    rows = [row for row in cast("Sequence[PairJudgement]", people.rows) if question in row.answers]
    if not rows:
        return None
    by_people = rated_pairs(rows, question)
    agreement = agreement_between(judge, by_people, level=level, seed=basis.seed)
    among = agreement_between(by_people, by_people, level=level, seed=basis.seed)
    scores: Mapping[str, float] = {}
    try:
        check_more_than_sides(by_people)
        fit = fit_bradley_terry(by_people.preferences, scale=SCALE, level=level)
        scores = dict(zip(fit.names, fit.scores.tolist(), strict=True))
    except InputError:
        pass
    return WithPeople(
        source=people.source,
        people=len(by_people.raters),
        items=of_share(agreement.decided),
        beyond_chance=of_agreement(agreement.kappa),
        among_people=of_share(among.decided),
        systems=basis.same_order(answered.systems, scores),
        discrimination=_discrimination(judge, by_people, level),
    )


def _discrimination(judge: RatedPairs, people: RatedPairs, level: float) -> JudgedValue:
    """How sharply the judge tells systems apart, relative to people.

    By the answers that prefer one text, from which it can be estimated whoever ties how often;
    fitting the ties too takes long where people never tie and the judge does.
    """
    a, b, answer, first, rater = [], [], [], [], []
    for pairs in (judge, people):
        for row in range(len(pairs)):
            one, other = pairs.names[pairs.i[row]], pairs.names[pairs.j[row]]
            a.append(one)
            b.append(other)
            answer.append(3 - 2 * int(pairs.outcome[row]))
            first.append({1: one, 0: "", -1: other}[int(pairs.first[row])])
            rater.append(pairs.raters[pairs.rater[row]])
    n = len(people.raters)
    try:
        together = count_rated_pairs(a, b, answer, rater=rater, first=first)
        fit = fit_rater_effects(together, ties="drop", level=level)
        value, interval = fit.relative_discrimination(judge.raters[0], people.raters)
    except InputError as error:
        return JudgedValue(math.nan, None, n, str(error))
    if math.isnan(value):
        return JudgedValue(math.nan, None, n, "; ".join(fit.left_out) or None)
    return JudgedValue(value, interval, n)
