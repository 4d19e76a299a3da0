"""Judgements of systems by language models, and how reliable these are as judges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers._version import __version__
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.rubric import Task
from calipers.results.by_name import ByKey, Named
from calipers.results.result import Result
from calipers.samples.wording import counted
from calipers.serialise import Plain, read_fields

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

Interval = tuple[float, float]

NOUNS = {
    "pairs": ("pair of texts", "pairs of texts"),
    "quality": ("text", "texts"),
    "diversity": ("batch", "batches"),
}
"""What is judged at a time, by the task: one, and several."""


COUNTS = (
    *("asked", "answered", "refused", "malformed", "asked_again"),
    *("new", "prompt_tokens", "tokens"),
)
"""What is counted of every judge."""


@dataclass(frozen=True)
class JudgedValue(Plain):
    """A number with its interval.

    Attributes
    ----------
    value
        NaN where it is undefined.
    interval
        None where none can be given.
    n
        What it rests on: answers, items, systems or triples.
    reason
        Why it is undefined; None where it is not.
    """

    value: float
    interval: Interval | None
    n: int
    reason: str | None = None

    def _check(self) -> None:
        low, high = self.interval or (0.0, 0.0)
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(f"interval is {self.interval}, not a lower and an upper bound")


@dataclass(frozen=True)
class JudgedSystem(Plain):
    """One system by one judge.

    Attributes
    ----------
    name
        Of the system.
    score
        Of pairs the Bradley-Terry score, the mean over all systems being 0; of quality the mean
        rating; of diversity the share of batches that are diverse, where the answers are 0 and 1.
    interval
        Where the score lies for this judge, were other samples of the system judged. None without
        answers enough.
    standard_error
        What the interval is made of.
    rerun_error
        The standard error that another run of the judge on the same samples brings, by what it
        answered to the same question twice; NaN where nothing was asked twice.
    n
        Items that the score rests on.
    """

    name: str
    score: float
    interval: Interval | None
    standard_error: float
    rerun_error: float
    n: int

    _key = "name"


@dataclass(frozen=True)
class WithPeople(Plain):
    """Agreement of a judge with people who answered the same question.

    Attributes
    ----------
    source
        The file that people's answers come from.
    people
        How many.
    items
        Agreement on the items that both judged: of pairs how often both prefer the same text, where
        both prefer one; of ratings Pearson's correlation with the mean of people.
    beyond_chance
        The same beyond chance: of pairs Cohen's kappa, of ratings Krippendorff's alpha.
    among_people
        Agreement of people with each other: of pairs as `items`, of ratings Krippendorff's alpha.
    systems
        Spearman's correlation of the judge's scores of the systems with people's.
    discrimination
        How clearly the judge tells systems apart where it prefers one, relative to people: 1 is as
        clearly as the average rater.
    """

    source: str
    people: int
    items: JudgedValue
    beyond_chance: JudgedValue
    among_people: JudgedValue
    systems: JudgedValue
    discrimination: JudgedValue


@dataclass(frozen=True)
class JudgedQuestion(ByKey[JudgedSystem], Plain):
    """One judge's answers to one question of the rubric.

    Attributes
    ----------
    name
        Of the question.
    systems
        By name, as they were given.
    agreement
        Share of the same answers when the same is asked again.
    ties
        Share of answers that prefer neither text.
    flips
        Share of pairs of which the judge prefers the other system when the sides are swapped.
    first
        Share of answers that prefer the text shown first, among those that prefer one.
    circles
        Share of intransitive triples of systems, where the judge's majorities are A over B, B over
        C and C over A.
    spread
        Of ratings the standard deviation over items.
    people
        Beside people, where their answers were given.
    reason
        Why there are no scores; None where there are.
    """

    name: str
    systems: Mapping[str, JudgedSystem]
    agreement: JudgedValue
    ties: JudgedValue
    flips: JudgedValue
    first: JudgedValue
    circles: JudgedValue
    spread: float
    people: WithPeople | None = None
    reason: str | None = None

    _key = "name"

    _noun = "system"

    @property
    def _parts(self) -> Mapping[str, JudgedSystem]:
        return self.systems


@dataclass(frozen=True)
class Judge(ByKey[JudgedQuestion], Plain):
    """A language model as a judge: its scores of the systems, and its reliability.

    Attributes
    ----------
    name
        As the column ``rater`` has it.
    configuration
        All that its answers depend on, beside the items.
    counts
        ``asked``, ``answered``, ``refused``, ``malformed``, ``asked_again`` (answers that could not
        be read at first), ``new`` requests of this run, ``prompt_tokens``, ``tokens``, and where a
        price was given ``cost``.
    questions
        By name.
    """

    name: str
    configuration: Mapping[str, Any]
    counts: Mapping[str, Any]
    questions: Mapping[str, JudgedQuestion]

    _key = "name"

    def _check(self) -> None:
        lacking = next((name for name in COUNTS if name not in self.counts), None)
        if lacking is not None:
            raise ValueError(f"counts lack {lacking!r}")
        kinds: dict[str, type] = dict.fromkeys(COUNTS, int)
        if "cost" in self.counts:
            kinds["cost"] = float
            if self.counts["cost"] is None:
                raise ValueError("cost is null, not a number")
        read_fields(kinds, self.counts, "counts")

    _noun = "question"

    @property
    def _parts(self) -> Mapping[str, JudgedQuestion]:
        return self.questions


@dataclass(frozen=True)
class BetweenJudges(Plain):
    """Agreement of two judges on one question.

    Attributes
    ----------
    judges
        Their names.
    question
        The question.
    items, beyond_chance
        Agreement on the items that both judged, as of :class:`WithPeople`.
    systems
        Spearman's correlation of their scores of the systems.
    """

    judges: tuple[str, ...]
    question: str
    items: JudgedValue
    beyond_chance: JudgedValue
    systems: JudgedValue


@dataclass(frozen=True, eq=False, repr=False)
class Judging(Named[Judge], Result):
    """Scores of systems by judges, and the reliability of the judges: print it, look values up.

    Attributes
    ----------
    task
        ``"pairs"``, ``"quality"`` or ``"diversity"``.
    systems
        Names of the systems, including the reference.
    reference
        Name of the reference, if there is one.
    items
        How many items were judged.
    judges
        By name.
    between
        Agreement of every two judges, by question.
    settings
        The settings of the run, as plain data.
    notes
        Data that were left out, and assumptions.
    warnings
        Reasons to doubt the answers.
    judgements
        Every answer, as a row of the table; not saved in files of results.
    version
        Version of Calipers that made it.
    """

    kind = "judging"
    _needed = ("rubric", "decoding", "seed", "level")
    _apart = ("judgements",)

    task: Task
    systems: tuple[str, ...]
    reference: str | None
    items: int
    judges: Mapping[str, Judge]
    between: tuple[BetweenJudges, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judgements: tuple[PairJudgement | Rating, ...] = ()
    version: str = __version__

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.settings["rubric"].get("name"), str):
            raise ValueError("the rubric of the settings lacks its name")

    _noun = "judge"

    @property
    def _parts(self) -> Mapping[str, Judge]:
        return self.judges

    def __repr__(self) -> str:
        return (
            f"<Judging of {counted(len(self.systems), 'system')} by "
            f"{counted(len(self.judges), 'judge')}: {self.task}>"
        )

    def _rows(self) -> Iterator[Row]:
        """A row for each judge, question and system."""
        for judge in self:
            for question in judge.questions.values():
                for system in question.systems.values():
                    low, high = system.interval or (None, None)
                    yield {
                        "judge": judge.name,
                        "question": question.name,
                        "system": system.name,
                        "score": system.score,
                        "low": low,
                        "high": high,
                        "standard_error": system.standard_error,
                        "rerun_error": system.rerun_error,
                        "n": system.n,
                    }

    def _wide(self) -> Wide:
        return ("judge", "system"), "question", "score"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "task": self.task,
            "settings": self.settings,
            "systems": self.systems,
            "reference": self.reference,
            "items": self.items,
            "judges": self.judges,
            "between": self.between,
            "notes": self.notes,
            "warnings": self.warnings,
        }


@dataclass(frozen=True)
class PlannedJudge(Plain):
    """The requests planned for one judge, and their cost.

    Attributes
    ----------
    name
        Of the judge.
    asked
        Requests in all.
    known
        Those of them whose answers are on disk already.
    prompt_tokens, tokens
        Estimated tokens, read and written, of the requests that are left.
    cost
        Of these; None without a price.
    """

    name: str
    asked: int
    known: int
    prompt_tokens: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, repr=False)
class JudgingPlan(Plain):
    """The requests that judging would make and their cost, before anything is sent.

    Attributes
    ----------
    task
        What would be judged.
    systems
        Their names.
    items
        How many items.
    judges
        What each would be asked.
    price
        Of a million tokens read, and written; None where none was given.
    notes
        Data that were left out, and assumptions.
    """

    task: str
    systems: tuple[str, ...]
    items: int
    judges: tuple[PlannedJudge, ...]
    price: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> float | None:
        """Cost of all judges; None without a price."""
        costs = [judge.cost for judge in self.judges if judge.cost is not None]
        return sum(costs) if costs else None

    def __str__(self) -> str:
        one, many = NOUNS[self.task]
        shown = f"{self.items:,} {one if self.items == 1 else many}"
        lines = [f"{shown} of {counted(len(self.systems), 'system')} would be judged."]
        for judge in self.judges:
            left = judge.asked - judge.known
            known = f" ({judge.known:,} of {judge.asked:,} are answered already)"
            requests = (
                f"{judge.name}: {counted(left, 'request')}{known if judge.known else ''}, about "
                f"{judge.prompt_tokens:,} tokens read and {judge.tokens:,} written"
            )
            cost = "" if judge.cost is None else f": about {judge.cost:.4f} at {self.price}"
            lines.append(f"{requests}{cost}.")
        if self.cost is not None and len(self.judges) > 1:
            lines.append(f"In all about {self.cost:.4f}.")
        lines.append(
            "Tokens are estimated, one for 4 bytes of UTF-8. Not counted: repeated requests for "
            "unreadable answers, and what a model thinks before it answers."
        )
        return "\n".join([*lines, *(f"Note: {note}." for note in self.notes)])
