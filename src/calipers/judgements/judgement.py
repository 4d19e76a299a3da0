"""Judgements of raters: on a pair of texts, or on a text or batch of one system.

Both are rows of a table with a column of answers for each question;
:mod:`calipers.judgements.tables` writes and reads such tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RaterKind = Literal["person", "model"]
Side = Literal["a", "b"]

STEPS = ("definitely a", "slightly a", "tie", "slightly b", "definitely b")
"""The five answers to a pair, in the order of their numbers 1 to 5."""

TOO_FAST = "too_fast"
"""Flag of an answer that came faster than the study allows for."""

FAILED_CHECKS = "failed_checks"
"""Flag of all answers of a rater who failed more attention checks than the study allows for."""


@dataclass(frozen=True)
class PairJudgement:
    """One rater's answer on one pair of texts.

    Attributes
    ----------
    item
        Id of the pair of texts (:attr:`calipers.judgements.items.Item.id`).
    a, b
        The two systems.
    answers
        By the name of the question, 1 ("definitely a") to 5 ("definitely b"): of a and b, whichever
        stood first.
    rater
        Name of the person or the model.
    rater_kind
        Which of the two.
    first
        The text that was shown first, or on the left.
    repeat
        How often the rater had answered this item in this order before.
    seconds
        From the item being shown to its answer; None where nobody measured.
    time
        When it was answered, in UTC as ISO 8601; empty where that is not known.
    flags
        What makes it doubtful: ``"too_fast"``, ``"failed_checks"``.
    checks
        Attention checks that the rater passed, and how many were shown, such as ``"3/4"``; empty
        without any.
    """

    item: str
    a: str
    b: str
    answers: Mapping[str, int]
    rater: str
    rater_kind: RaterKind
    first: Side
    repeat: int = 0
    seconds: float | None = None
    time: str = ""
    flags: tuple[str, ...] = ()
    checks: str = ""


@dataclass(frozen=True)
class Rating:
    """One rater's answer on a text, or a batch of texts, of one system.

    Attributes
    ----------
    item
        Id of the text or the batch, made of its content.
    system
        Whose it is.
    answers
        By the name of the question, a whole number of its scale.
    rater, rater_kind, repeat, seconds, time, flags
        As of :class:`PairJudgement`.
    """

    item: str
    system: str
    answers: Mapping[str, int]
    rater: str
    rater_kind: RaterKind
    repeat: int = 0
    seconds: float | None = None
    time: str = ""
    flags: tuple[str, ...] = field(default=())
