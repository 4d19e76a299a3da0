"""The pages of a study and their contents: templates in which every value is escaped.

A sample may hold anything. It is shown as text, never as markup: Jinja escapes it, controls that
HTML may not hold are shown as U+FFFD, and text that is written from right to left stays within its
box.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from calipers.annotation.turns import Turn
from calipers.judgements.items import Item
from calipers.judgements.rubric import Question, Rubric
from calipers.report.html.escaping import escaping_templates

STATIC = {
    "style.css": "text/css; charset=utf-8",
    "keys.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Files that pages refer to, and what they are."""

STEPS = (
    ("Definitely A", "a"),
    ("Slightly A", "a"),
    ("Tie", "tie"),
    ("Slightly B", "b"),
    ("Definitely B", "b"),
)
"""The answers to a pair as the page words them, and whose colour they have."""

MOST_CHOICES = 21
"""Steps of a scale that stand side by side; a number is typed where there are more."""


@dataclass(frozen=True)
class AnswerChoice:
    """One answer to a question: its number, wording, key and colour.

    `hint` is the key again, where the words do not name it.
    """

    value: int
    words: str
    key: str
    hint: str
    side: str


@dataclass(frozen=True)
class AskedQuestion:
    """A question on a page, with the present answer and whether one is missing.

    Without choices the answer is typed, a number from `least` to `most`; `ends` says what they
    stand for.
    """

    name: str
    text: str
    choices: tuple[AnswerChoice, ...]
    least: int
    most: int
    ends: str
    answer: int | None
    missing: bool


@dataclass(frozen=True)
class PageText:
    """One text on a page, with a title for people who do not see its position."""

    letter: str
    title: str
    text: str
    context: str = ""


@dataclass(frozen=True)
class ItemPage:
    """Contents of the page of an item."""

    place: int
    answered: bool
    previous: int | None
    context_title: str
    context: str
    layout: str
    texts: tuple[PageText, ...]
    questions: tuple[AskedQuestion, ...]
    keys: str


def item_page(turn: Turn, rubric: Rubric, given: Mapping[str, int] | None = None) -> ItemPage:
    """Collect the contents of the page of an item.

    Parameters
    ----------
    turn
        The item, as it is shown to this annotator.
    rubric
        What is asked.
    given
        Answers that were sent and are not complete; None where nothing was sent.
    """
    answers = (turn.answers or {}) if given is None else given
    item = turn.item
    texts: tuple[PageText, ...]
    if isinstance(item, Item):
        layout, context, title = "sides", item.context, "How the text begins"
        sides = (item.text_a, item.text_b)
        left, right = sides if turn.first == "a" else sides[::-1]
        texts = (PageText("A", "the first text", left), PageText("B", "the second text", right))
    elif len(item.texts) == 1:
        layout, context, title = "single", "".join(item.contexts), "How the text begins"
        texts = (PageText("", "The text", item.texts[0]),)
    else:
        layout, context, title = "batch", "", ""
        contexts = item.contexts or ("",) * len(item.texts)
        texts = tuple(
            PageText(str(number), "", text, begins)
            for number, (text, begins) in enumerate(zip(item.texts, contexts, strict=True), start=1)
        )
    questions = tuple(
        AskedQuestion(
            name=question.name,
            text=question.text,
            choices=choices_of(question, rubric.task),
            least=question.least,
            most=question.most,
            ends=ends_of(question),
            answer=answers.get(question.name),
            missing=given is not None and question.name not in given,
        )
        for question in rubric.questions
    )
    return ItemPage(
        place=turn.place,
        answered=turn.answers is not None,
        previous=turn.previous,
        context_title=title,
        context=context,
        layout=layout,
        texts=texts,
        questions=questions,
        keys=keys_of(rubric),
    )


def choices_of(question: Question, task: str) -> tuple[AnswerChoice, ...]:
    """Return the answers to a question, in the order of their numbers; none where they are many."""
    if question.most - question.least >= MOST_CHOICES:
        return ()
    if task == "pairs":
        return tuple(
            AnswerChoice(value, words, str(value), str(value), side)
            for value, (words, side) in enumerate(STEPS, start=1)
        )
    ends = {question.least: question.least_means, question.most: question.most_means}
    binary = question.most - question.least == 1
    choices = []
    for value in range(question.least, question.most + 1):
        means = ends.get(value, "")
        words = means if binary and means else f"{value}{' · ' if means else ''}{means}"
        key = str(value) if 0 <= value <= 9 else ""
        named = words.startswith(str(value))
        choices.append(AnswerChoice(value, words, key, "" if named else key, "number"))
    return tuple(choices)


def keys_of(rubric: Rubric) -> str:
    """Name the keys for answers, such as ``"1–5"``."""
    if rubric.task == "pairs":
        return "1–5"
    least = min(question.least for question in rubric.questions)
    most = max(question.most for question in rubric.questions)
    return f"{max(least, 0)}–{min(most, 9)}"


def ends_of(question: Question) -> str:
    """Describe the ends of a scale."""
    if not (question.least_means and question.most_means):
        return ""
    return f"{question.least}: {question.least_means}; {question.most}: {question.most_means}"


def render(template: str, **values: Any) -> str:
    """Render a page; the result can be encoded as UTF-8 whatever the texts contain."""
    page: str = _environment().get_template(template).render(**values)
    return page


def static(name: str) -> bytes:
    """Read a static file."""
    return files("calipers.annotation").joinpath("static", name).read_bytes()


@cache
def static_version() -> str:
    """Return a version of the static files, for their addresses."""
    return hashlib.sha256(b"".join(static(name) for name in STATIC)).hexdigest()[:12]


def seconds_in_words(seconds: float) -> str:
    """Write a duration: ``"25 s"``, ``"1 min 30 s"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(whole, 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


@cache
def _environment() -> Environment:
    environment = escaping_templates("calipers.annotation")
    environment.globals["static_version"] = static_version()
    environment.filters["grouped"] = lambda number: f"{number:,}"
    environment.filters["seconds"] = seconds_in_words
    return environment
