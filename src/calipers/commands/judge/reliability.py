"""What the answers of judges say of the systems, and of the judges as instruments.

Scores rest on the first answer to each question; what was asked a second time tells how far a judge
agrees with itself, and what another run of it would change. Answers about one context are alike, so
that intervals count contexts: both orders of a pair, and all pairs of systems that continue the
same prompt, stand or fall together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from calipers.commands.judge.result import (
    BetweenJudges,
    Estimate,
    Judge,
    JudgedQuestion,
    JudgedSystem,
    WithPeople,
)
from calipers.errors import InputError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.rubric import Question, Rubric
from calipers.judgements.tables import Judgements
from calipers.samples.wording import counted
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.clustered import clustered_covariance, student
from calipers.uncertainty.correlation import Correlation, pearson, spearman
from calipers.uncertainty.rated_pairs import RatedPairs, count_rated_pairs
from calipers.uncertainty.rater_agreement import (
    AgreementCoefficient,
    ObservedShare,
    agreement_between,
    check_more_than_sides,
    first_share,
    flip_rate,
    intransitive_share,
    krippendorff_alpha,
    self_agreement,
    share_of,
)
from calipers.uncertainty.rater_effects import fit_rater_effects

SCALE = 100.0
"""Unit of Bradley-Terry scores, as in ``rank``."""

CLEAR_BIAS = 0.05
"""How far from a half the share of the text shown first lies that a warning speaks of."""

OF_PAIRS = "asked of pairs alone"
NOT_PAIRS = Estimate(math.nan, None, 0, OF_PAIRS)

Answered = TypeVar("Answered", PairJudgement, Rating)


@dataclass(frozen=True)
class Report:
    """What is known of all judges, and the warnings that come of it."""

    judges: Mapping[str, Judge]
    between: tuple[BetweenJudges, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class People:
    """What people answered, and where it comes from."""

    rows: Judgements
    source: str

    @property
    def count(self) -> int:
        """How many people."""
        return len({row.rater for row in self.rows})


@dataclass(frozen=True)
class Reporting:
    """What the reports of all judges share.

    Attributes
    ----------
    rubric
        The questions.
    systems
        Names of the systems.
    items
        What was shown, by its id.
    people
        What people answered, if they did.
    level, seed
        Of intervals.
    """

    rubric: Rubric
    systems: tuple[str, ...]
    items: Mapping[str, Item | RatedTexts]
    people: People | None
    level: float
    seed: int

    def report(
        self, judgements: Mapping[str, Sequence[PairJudgement | Rating]], details: Mapping[str, Any]
    ) -> Report:
        """Tell what there is to know.

        Parameters
        ----------
        judgements
            Of each judge, by its name.
        details
            Of each judge, by its name: its configuration, and its counts.
        """
        judges = {
            name: Judge(
                name,
                configuration=details[name][0],
                counts=details[name][1],
                questions={
                    question.name: self._question(rows, question) for question in self._questions
                },
            )
            for name, rows in judgements.items()
        }
        between = tuple(
            self._between(question.name, (one, other), judgements, judges)
            for one, other in combinations(judgements, 2)
            for question in self._questions
        )
        warnings = [*self._strangers()]
        warnings += [warning for each in judges.values() for warning in self._warnings(each)]
        return Report(judges, between, tuple(warnings))

    @property
    def _questions(self) -> tuple[Question, ...]:
        return self.rubric.questions

    def _question(
        self, rows: Sequence[PairJudgement | Rating], question: Question
    ) -> JudgedQuestion:
        if self.rubric.task == "pairs":
            return self._of_pairs(cast("Sequence[PairJudgement]", rows), question.name)
        return self._of_ratings(cast("Sequence[Rating]", rows), question)

    # Pairs -----------------------------------------------------------------------------------

    def _of_pairs(self, rows: Sequence[PairJudgement], question: str) -> JudgedQuestion:
        pairs = rated_pairs(rows, question)
        first = pairs.select(pairs.repeat == 0)
        contexts = self._contexts(first)
        systems, reason = self._scores(pairs, first, contexts)
        level = self.level
        circles = intransitive_share(first, group=contexts, level=level)
        if not circles.total:
            circles = intransitive_share(first, level=level)
        found = JudgedQuestion(
            question,
            systems,
            agreement=_of_share(self_agreement(pairs, level=level)),
            ties=_of_share(share_of(first.outcome == 0, [contexts], level=level)),
            flips=_of_share(flip_rate(first, level=level).reversed),
            first=_of_share(first_share(first, level=level)),
            circles=_of_share(circles),
            spread=math.nan,
            reason=reason,
        )
        if self.people is None:
            return found
        return replace(found, people=self._pairs_with_people(first, found, self.people))

    def _contexts(self, pairs: RatedPairs) -> NDArray[np.int64]:
        """Number the contexts of judgements; an item without one stands for itself."""
        labels = []
        for place in pairs.item.tolist():
            item = self.items.get(pairs.items[place])
            context = item.context if isinstance(item, Item) else ""
            labels.append(f"context {context}" if context else f"item {place}")
        return np.unique(np.array(labels, dtype=object), return_inverse=True)[1].ravel()

    def _scores(
        self, pairs: RatedPairs, first: RatedPairs, contexts: NDArray[np.int64]
    ) -> tuple[dict[str, JudgedSystem], str | None]:
        """Give Bradley-Terry scores, or why there are none."""
        if not len(first):
            return {}, "there are no answers that can be used"
        try:
            check_more_than_sides(first)
            fit = fit_bradley_terry(first.preferences, scale=SCALE, level=self.level)
        except InputError as error:
            return {}, str(error)
        errors, intervals = fit.standard_errors, fit.intervals
        if len(np.unique(contexts)) > 1:
            clustered = clustered_covariance(fit, first, contexts)
            errors, intervals = clustered.standard_errors, clustered.intervals
        rerun = _rerun_errors(fit, pairs, first)
        met = np.bincount(np.concatenate(_sides_by_item(first)), minlength=len(fit.names))
        return {
            name: JudgedSystem(
                name,
                score=float(fit.scores[place]),
                interval=(float(intervals[place, 0]), float(intervals[place, 1])),
                standard_error=float(errors[place]),
                rerun_error=float(rerun[place]),
                n=int(met[place]),
            )
            for name in self.systems
            if name in fit.names
            for place in [fit.names.index(name)]
        }, None

    def _pairs_with_people(
        self, judge: RatedPairs, found: JudgedQuestion, people: People
    ) -> WithPeople | None:
        rows = [
            row for row in cast("Sequence[PairJudgement]", people.rows) if found.name in row.answers
        ]
        if not rows:
            return None
        theirs = rated_pairs(rows, found.name)
        level, seed = self.level, self.seed
        agreed = agreement_between(judge, theirs, level=level, seed=seed)
        among = agreement_between(theirs, theirs, level=level, seed=seed)
        scores: Mapping[str, float] = {}
        try:
            check_more_than_sides(theirs)
            fit = fit_bradley_terry(theirs.preferences, scale=SCALE, level=level)
            scores = dict(zip(fit.names, fit.scores.tolist(), strict=True))
        except InputError:
            pass
        return WithPeople(
            source=people.source,
            people=len(theirs.raters),
            items=_of_share(agreed.decided),
            beyond_chance=_of_agreement(agreed.kappa),
            among_people=_of_share(among.decided),
            systems=self._ordered_alike(found.systems, scores),
            discrimination=self._discrimination(judge, theirs),
        )

    def _discrimination(self, judge: RatedPairs, people: RatedPairs) -> Estimate:
        """How sharply the judge tells systems apart, relative to people.

        By the answers that prefer one, which it is read off whoever ties how often; to fit that too
        takes long where people never tie and the judge does.
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
        try:
            together = count_rated_pairs(a, b, answer, rater=rater, first=first)
            fit = fit_rater_effects(together, ties="drop", level=self.level)
            value, interval = fit.relative_discrimination(judge.raters[0], people.raters)
        except InputError as error:
            return Estimate(math.nan, None, len(people.raters), str(error))
        if math.isnan(value):
            return Estimate(math.nan, None, len(people.raters), "; ".join(fit.left_out) or None)
        return Estimate(value, interval, len(people.raters))

    # Ratings ---------------------------------------------------------------------------------

    def _of_ratings(self, rows: Sequence[Rating], question: Question) -> JudgedQuestion:
        name = question.name
        answered = [row for row in rows if name in row.answers]
        repeats = _repeats(answered, name)
        noise = _noise(np.array([p for p, _ in repeats]), np.array([q for _, q in repeats]))
        same = np.array([p == q for p, q in repeats], dtype=np.bool_)
        first = [row for row in answered if row.repeat == 0]
        values = np.array([row.answers[name] for row in first], dtype=np.float64)
        systems = {
            system: _rated(
                system,
                np.array([row.answers[name] for row in first if row.system == system], float),
                question,
                noise,
                self.level,
            )
            for system in self.systems
        }
        again = share_of(same, level=self.level, reason="nothing was asked a second time")
        found = JudgedQuestion(
            name,
            systems,
            agreement=_of_share(again),
            ties=NOT_PAIRS,
            flips=NOT_PAIRS,
            first=NOT_PAIRS,
            circles=NOT_PAIRS,
            spread=float(values.std(ddof=1)) if len(values) > 1 else math.nan,
            reason=None if len(values) else "there are no answers",
        )
        if self.people is None:
            return found
        return replace(found, people=self._ratings_with_people(first, found, self.people))

    def _ratings_with_people(
        self, judge: Sequence[Rating], found: JudgedQuestion, people: People
    ) -> WithPeople | None:
        rows = [row for row in cast("Sequence[Rating]", people.rows) if found.name in row.answers]
        if not rows:
            return None
        theirs: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        by_system: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            theirs[row.item][row.rater].append(row.answers[found.name])
            by_system[row.system].append(row.answers[found.name])
        means = {
            item: float(np.mean([np.mean(values) for values in raters.values()]))
            for item, raters in theirs.items()
        }
        own = {row.item: float(row.answers[found.name]) for row in judge}
        beside = self._values_beside(own, means)
        among = krippendorff_alpha(_table(theirs), kind="ordinal", level=self.level, seed=self.seed)
        return WithPeople(
            source=people.source,
            people=len({row.rater for row in rows}),
            items=beside[0],
            beyond_chance=beside[1],
            among_people=_of_agreement(among),
            systems=self._ordered_alike(
                found.systems, {name: float(np.mean(each)) for name, each in by_system.items()}
            ),
            discrimination=NOT_PAIRS,
        )

    def _values_beside(
        self, one: Mapping[str, float], other: Mapping[str, float]
    ) -> tuple[Estimate, Estimate]:
        """Correlate values of the same items, and give alpha between them."""
        both = [item for item in one if item in other]
        pairs = np.array([[one[item], other[item]] for item in both], float).reshape(-1, 2)
        if not both:
            nothing = Estimate(math.nan, None, 0, "no item has answers of both")
            return nothing, nothing
        alpha = krippendorff_alpha(pairs.T, kind="interval", level=self.level, seed=self.seed)
        return (
            _of_correlation(pearson(pairs[:, 0], pairs[:, 1], level=self.level)),
            _of_agreement(alpha),
        )

    # Beside each other -----------------------------------------------------------------------

    def _ordered_alike(
        self, systems: Mapping[str, JudgedSystem], scores: Mapping[str, float]
    ) -> Estimate:
        both = [name for name in systems if name in scores]
        return _of_correlation(
            spearman(
                [systems[name].score for name in both],
                [scores[name] for name in both],
                level=self.level,
            )
        )

    def _between(
        self,
        question: str,
        names: tuple[str, str],
        judgements: Mapping[str, Sequence[PairJudgement | Rating]],
        judges: Mapping[str, Judge],
    ) -> BetweenJudges:
        one, other = ([r for r in judgements[name] if r.repeat == 0] for name in names)
        if self.rubric.task == "pairs":
            agreed = agreement_between(
                rated_pairs(cast("Sequence[PairJudgement]", one), question),
                rated_pairs(cast("Sequence[PairJudgement]", other), question),
                level=self.level,
                seed=self.seed,
            )
            items, beyond = _of_share(agreed.decided), _of_agreement(agreed.kappa)
        else:
            values = ({r.item: float(r.answers[question]) for r in rows} for rows in (one, other))
            items, beyond = self._values_beside(*values)
        scores = {name: system.score for name, system in judges[names[1]][question].systems.items()}
        return BetweenJudges(
            names,
            question,
            items=items,
            beyond_chance=beyond,
            systems=self._ordered_alike(judges[names[0]][question].systems, scores),
        )

    def _strangers(self) -> Iterator[str]:
        """Say that people judged other items."""
        if self.people is not None and not any(r.item in self.items for r in self.people.rows):
            yield (
                f"{self.people.source}: people judged none of the {len(self.items):,} items of "
                "this run, so that agreement on items is unknown; the same files, seed and "
                "lengths of texts give the same items"
            )

    def _warnings(self, judge: Judge) -> Iterator[str]:
        """Say what makes the answers of a judge doubtful."""
        for question in judge.questions.values():
            if question.reason is not None:
                yield f"{judge.name}: no scores of {question.name!r}: {question.reason}"
            elif question.spread == 0 or question.ties.value == 1:
                yield (
                    f"{judge.name} gives the same answer to {question.name!r} throughout, so that "
                    "it tells nothing"
                )
        for side in ("first", "second"):
            scored = [each for each in judge.questions.values() if each.reason is None]
            biased = [_biased(question, side) for question in scored]
            told = [words for words in biased if words]
            if told:
                *most, last = told
                shares = f"{', '.join(most)} and {last}" if most else last
                yield (
                    f"{judge.name} prefers the text shown {side} in {shares} that prefer one: its "
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


def rated_pairs(rows: Sequence[PairJudgement], question: str) -> RatedPairs:
    """Read the answers to one question as columns."""
    kept = [row for row in rows if question in row.answers]
    return count_rated_pairs(
        [row.a for row in kept],
        [row.b for row in kept],
        [row.answers[question] for row in kept],
        rater=[f"{row.rater_kind} {row.rater}" for row in kept],
        first=[row.a if row.first == "a" else row.b for row in kept],
        item=[row.item for row in kept],
        repeat=[row.repeat for row in kept],
    )


def people_among(rows: Judgements, source: str) -> People:
    """Keep the judgements of people.

    Raises
    ------
    InputError
        If there are none.
    """
    kept = [row for row in rows if row.rater_kind == "person"]
    if not kept:
        raise InputError(
            f"{source}: people must have answered; found {counted(len(rows), 'row')} of models"
        )
    return People(cast("Judgements", tuple(kept)), source)


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
    own: dict[tuple[int, int], int] = {}
    lower = np.where(pairs.i < pairs.j, 1, -1)
    sides, outcomes = pairs.first * lower, pairs.outcome * lower
    before, after = [], []
    for row in np.argsort(pairs.repeat, kind="stable").tolist():
        key = (int(pairs.item[row]), int(sides[row]))
        if key in own:
            before.append(int(outcomes[own[key]]))
            after.append(int(outcomes[row]))
        else:
            own[key] = row
    noise = _noise(np.array(before), np.array(after))
    n = len(fit.names)
    met = np.zeros((n, n))
    np.add.at(met, (first.i, first.j), 1.0)
    met += met.T
    laplacian = np.diag(met.sum(axis=1)) - met
    covariance = fit.covariance / fit.scale
    spread = noise / 4 * (covariance @ laplacian @ covariance)
    return np.asarray(np.sqrt(spread.diagonal().clip(min=0)), dtype=np.float64)


def _noise(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Variance of an answer from run to run, by two answers to the same; NaN of fewer than two."""
    return float(((one - other) ** 2).mean() / 2) if len(one) > 1 else math.nan


def _repeats(rows: Sequence[Rating], question: str) -> list[tuple[int, int]]:
    """The first and the second answer to every item that was asked of twice."""
    own: dict[str, int] = {}
    found = []
    for row in sorted(rows, key=lambda each: each.repeat):
        value = row.answers[question]
        if row.item in own:
            found.append((own[row.item], value))
        else:
            own[row.item] = value
    return found


def _rated(
    name: str, values: NDArray[np.float64], question: Question, noise: float, level: float
) -> JudgedSystem:
    """Give the mean rating of a system: of yes or no Wilson's interval, else Student's."""
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
    return JudgedSystem(name, score, interval, error, math.sqrt(noise / n), n)


def _table(answers: Mapping[str, Mapping[str, Sequence[int]]]) -> NDArray[np.float64]:
    """A row for each rater and a column for each item, NaN where there is no answer."""
    raters = sorted({rater for each in answers.values() for rater in each})
    table = np.full((len(raters), len(answers)), math.nan)
    for column, each in enumerate(answers.values()):
        for rater, values in each.items():
            table[raters.index(rater), column] = values[0]
    return table


def _of_share(share: ObservedShare) -> Estimate:
    return Estimate(share.value, share.interval, round(share.total), share.reason)


def _of_agreement(agreement: AgreementCoefficient) -> Estimate:
    return Estimate(agreement.value, agreement.interval, agreement.items, agreement.reason)


def _of_correlation(found: Correlation) -> Estimate:
    return Estimate(found.value, found.interval, found.n, found.reason)
