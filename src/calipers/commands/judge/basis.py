"""What the analyses of all judges share: the items, the human judgements, the estimates.

Scores rest on the first answer to each question; what was asked a second time shows how far a judge
agrees with itself, and what another run of it would change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

from calipers.commands.judge.result import JudgedSystem, JudgedValue
from calipers.errors import InputError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.rubric import Rubric
from calipers.judgements.tables import Judgements
from calipers.samples.wording import counted
from calipers.uncertainty.correlation import Correlation, spearman
from calipers.uncertainty.rater_agreement import AgreementCoefficient, ObservedShare

Answer = TypeVar("Answer", bound=PairJudgement | Rating)

OF_PAIRS = "asked of pairs alone"
NOT_PAIRS = JudgedValue(math.nan, None, 0, OF_PAIRS)


@dataclass(frozen=True)
class People:
    """Human judgements, and the file that they come from."""

    rows: Judgements
    source: str

    @property
    def count(self) -> int:
        """Number of people."""
        return len({row.rater for row in self.rows})


def people_among(rows: Judgements, source: str) -> People:
    """Select the judgements by people.

    Raises
    ------
    InputError
        If there are none.
    """
    of_people = [row for row in rows if row.rater_kind == "person"]
    if not of_people:
        raise InputError(
            f"{source}: people must have answered; found {counted(len(rows), 'row')} of models"
        )
    return People(cast("Judgements", tuple(of_people)), source)


@dataclass(frozen=True)
class Basis:
    """The data that the analyses of all judges share.

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

    def same_order(
        self, systems: Mapping[str, JudgedSystem], scores: Mapping[str, float]
    ) -> JudgedValue:
        """Correlate the ranks of a judge's scores with those of other scores of the systems."""
        common = [name for name in systems if name in scores]
        return of_correlation(
            spearman(
                [systems[name].score for name in common],
                [scores[name] for name in common],
                level=self.level,
            )
        )


def answer_variance(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Estimate the variance of an answer between repeated requests; NaN for fewer than two."""
    return float(((first - second) ** 2).mean() / 2) if len(first) > 1 else math.nan


def first_answers(rows: Sequence[Answer]) -> list[Answer]:
    """Select the answers that scores rest on: the first of each inquiry."""
    return [row for row in rows if row.repeat == 0]


def of_share(share: ObservedShare) -> JudgedValue:
    """Return a share with its interval."""
    return JudgedValue(share.value, share.interval, round(share.total), share.reason)


def of_agreement(agreement: AgreementCoefficient) -> JudgedValue:
    """Return a coefficient of agreement with its interval."""
    return JudgedValue(agreement.value, agreement.interval, agreement.items, agreement.reason)


def of_correlation(correlation: Correlation) -> JudgedValue:
    """Return a correlation with its interval."""
    return JudgedValue(correlation.value, correlation.interval, correlation.n, correlation.reason)
