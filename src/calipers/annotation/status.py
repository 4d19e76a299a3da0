"""The progress of a study: items, annotators with their times and checks, pairs, agreement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from calipers.judgements.judgement import FAILED_CHECKS, TOO_FAST, PairJudgement, Rating
from calipers.samples.wording import counted
from calipers.wording.cells import cell_len, padded
from calipers.wording.names import clean

Judged = Sequence[PairJudgement] | Sequence[Rating]


@dataclass(frozen=True)
class AnnotatorStatus:
    """The progress of one annotator.

    Attributes
    ----------
    name
        Of the annotator.
    answered
        Items answered, without attention checks.
    too_fast
        Answers that came faster than the study allows for.
    checks_passed, checks_shown
        Attention checks.
    flagged
        Whether too many of them were failed.
    median_seconds
        Of an answer; None without any.
    last
        When the last answer came, in UTC; empty without any.
    """

    name: str
    answered: int
    too_fast: int
    checks_passed: int
    checks_shown: int
    flagged: bool
    median_seconds: float | None
    last: str


@dataclass(frozen=True)
class StratumStatus:
    """The progress on the items of a pair of systems, or of one system."""

    systems: tuple[str, ...]
    items: int
    wanted: int
    given: int


@dataclass(frozen=True)
class QuestionAgreement:
    """Krippendorff's α of a question, with its interval over items; None where undefined."""

    question: str
    alpha: float | None
    interval: tuple[float, float] | None
    items: int
    reason: str | None


@dataclass(frozen=True)
class StudyStatus:
    """The progress of a study.

    Attributes
    ----------
    path, name
        Its file.
    task
        ``"pairs"``, ``"quality"`` or ``"diversity"``.
    items
        How many there are, without attention checks.
    complete
        Items that have all their ratings.
    wanted
        Ratings that all items need together.
    given
        Ratings that there are; of one item no more than it needs are counted.
    more
        Ratings beyond what their items need.
    annotators, strata
        By annotator, and by pair of systems or system.
    agreement
        Of annotators on items that several have rated; empty where nobody asked.
    notes
        What is to be known of the items.
    """

    path: str
    name: str
    task: str
    items: int
    complete: int
    wanted: int
    given: int
    more: int
    annotators: tuple[AnnotatorStatus, ...]
    strata: tuple[StratumStatus, ...]
    agreement: tuple[QuestionAgreement, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The progress in one sentence."""
        active = sum(annotator.answered > 0 for annotator in self.annotators)
        flagged = sum(annotator.flagged for annotator in self.annotators)
        fast = sum(annotator.too_fast for annotator in self.annotators)
        parts = [
            f"{self.complete:,} of {counted(self.items, 'item')} "
            f"{'has all its' if self.items == 1 else 'have all their'} ratings",
            f"{self.given:,} of {self.wanted:,} ratings by {active} of "
            f"{counted(len(self.annotators), 'annotator')}",
        ]
        if fast:
            parts.append(f"{counted(fast, 'answer')} came too fast")
        if flagged:
            parts.append(f"{counted(flagged, 'annotator')} failed too many attention checks")
        return "; ".join(parts) + "."

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """Show it as a table."""
        head = ("annotator", "answered", "median time", "too fast", "checks")
        rows = [head, *(_row(annotator) for annotator in self.annotators)]
        widths = [max(cell_len(row[column]) for row in rows) for column in range(len(head))]
        lines = [f"{clean(self.path)}: {self.sentence}", ""]
        lines += [
            "  ".join(
                padded(cell, width, right=column > 0)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        if self.agreement:
            lines += ["", "Agreement (Krippendorff's alpha, ordinal; 95 % interval over items):"]
            lines += [f"  {_agreed(agreement)}" for agreement in self.agreement]
        lines += [f"Note: {clean(note)}." for note in self.notes]
        return "\n".join(lines)


def annotator_statuses(
    names: Iterable[str],
    judged: Judged,
    checks: Mapping[str, tuple[int, int]],
    times: Mapping[str, str],
) -> tuple[AnnotatorStatus, ...]:
    """Count the answers of each annotator.

    Parameters
    ----------
    names
        Of all annotators.
    judged
        All judgements.
    checks
        By annotator, the attention checks passed and answered.
    times
        By annotator, when the last answer came.
    """
    rows: dict[str, list[PairJudgement | Rating]] = {name: [] for name in names}
    for judgement in judged:
        rows[judgement.rater].append(judgement)
    statuses = []
    for name, judgements in rows.items():
        seconds = [judgement.seconds for judgement in judgements if judgement.seconds is not None]
        passed, shown = checks.get(name, (0, 0))
        statuses.append(
            AnnotatorStatus(
                name=name,
                answered=len(judgements),
                too_fast=sum(TOO_FAST in judgement.flags for judgement in judgements),
                checks_passed=passed,
                checks_shown=shown,
                flagged=any(FAILED_CHECKS in judgement.flags for judgement in judgements),
                median_seconds=median(seconds) if seconds else None,
                last=times.get(name, "").replace("T", " ").removesuffix("+00:00"),
            )
        )
    return tuple(statuses)


def agreement_of(judged: Judged, questions: Iterable[str]) -> tuple[QuestionAgreement, ...]:
    """Measure how far annotators agree on items that several have judged."""
    import numpy as np

    from calipers.uncertainty.rater_agreement import krippendorff_alpha

    raters = {
        name: row for row, name in enumerate(dict.fromkeys(judgement.rater for judgement in judged))
    }
    items = {name: column for column, name in enumerate(dict.fromkeys(e.item for e in judged))}
    agreements = []
    for question in questions:
        table = np.full((max(len(raters), 1), max(len(items), 1)), math.nan)
        for judgement in judged:
            table[raters[judgement.rater], items[judgement.item]] = judgement.answers[question]
        alpha = krippendorff_alpha(table, kind="ordinal")
        agreements.append(
            QuestionAgreement(
                question=question,
                alpha=None if math.isnan(alpha.value) else float(alpha.value),
                interval=None if alpha.interval is None else _plain(alpha.interval),
                items=alpha.items,
                reason=alpha.reason,
            )
        )
    return tuple(agreements)


def _plain(interval: tuple[float, float]) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


def _row(annotator: AnnotatorStatus) -> tuple[str, ...]:
    return (
        clean(annotator.name),
        f"{annotator.answered:,}",
        "" if annotator.median_seconds is None else f"{annotator.median_seconds:.0f} s",
        f"{annotator.too_fast:,}" if annotator.answered else "",
        f"{annotator.checks_passed}/{annotator.checks_shown}{' !' if annotator.flagged else ''}"
        if annotator.checks_shown
        else "",
    )


def _agreed(agreement: QuestionAgreement) -> str:
    if agreement.alpha is None:
        return f"{agreement.question}: undefined, since {agreement.reason}"
    ends = (
        ""
        if agreement.interval is None
        else f" [{agreement.interval[0]:.2f}, {agreement.interval[1]:.2f}]"
    )
    return (
        f"{agreement.question}: {agreement.alpha:.2f}{ends} on {counted(agreement.items, 'item')}"
    )
