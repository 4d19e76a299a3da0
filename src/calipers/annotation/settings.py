"""Settings and items of a study, as objects and as the JSON in its file.

A file may have been written by anyone, so that everything read from it is checked.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from calipers.annotation.store import DamagedError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.rubric import Question, Rubric, Task

HOST = "127.0.0.1"
PORT = 8765
"""Where a study is served unless a person says otherwise: on this machine alone."""


@dataclass(frozen=True)
class StudySettings:
    """The settings that are fixed when a study is made.

    Attributes
    ----------
    rubric
        What annotators are asked.
    systems
        Whose texts are judged.
    ratings_per_item
        How many annotators rate each item.
    least_seconds
        Answers that came faster are flagged.
    checks
        Attention checks that each annotator is shown.
    per_annotator
        Most items of one annotator, besides checks; None without a limit.
    seed
        Of the items, their order and their sides.
    made
        When, in UTC as ISO 8601.
    calipers
        Version that made it.
    notes
        What is to be known of its items.
    name
        Tells studies apart, in the names of cookies.
    key
        Secret that forms are signed with.
    overview
        Token of the person who runs the study.
    """

    rubric: Rubric
    systems: tuple[str, ...]
    ratings_per_item: int
    least_seconds: float
    checks: int
    per_annotator: int | None
    seed: int
    made: str
    calipers: str
    notes: tuple[str, ...]
    name: str
    key: str
    overview: str

    def write(self, db: sqlite3.Connection) -> None:
        """Write the settings to the file of a study."""
        values = dataclasses.asdict(self)
        db.executemany(
            "INSERT INTO study VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )

    @classmethod
    def read(cls, db: sqlite3.Connection) -> StudySettings:
        """Read the settings.

        Raises
        ------
        DamagedError
            If they are not as `write` leaves them.
        """
        settings = {row["name"]: _json(row["value"]) for row in db.execute("SELECT * FROM study")}
        kinds: dict[str, Any] = {
            "systems": list,
            "ratings_per_item": int,
            "least_seconds": (int, float),
            "checks": int,
            "per_annotator": (int, type(None)),
            "seed": int,
            "made": str,
            "calipers": str,
            "notes": list,
            "name": str,
            "key": str,
            "overview": str,
        }
        values = {name: _of_kind(settings.get(name), kind, name) for name, kind in kinds.items()}
        for name in ("systems", "notes"):
            values[name] = tuple(_of_kind(value, str, name) for value in values[name])
        if len(values["key"]) < 32 or len(values["overview"]) < 16 or not values["name"].isalnum():
            raise DamagedError("its secrets are missing")
        return cls(rubric=_rubric(settings.get("rubric")), **values)


def item_to_json(item: Item | RatedTexts) -> str:
    """Write an item as JSON; characters that UTF-8 cannot hold are escaped."""
    return json.dumps(dataclasses.asdict(item))


def item_from_json(text: str) -> Item | RatedTexts:
    """Read an item from JSON.

    Raises
    ------
    DamagedError
        If it is not one.
    """
    fields = _of_kind(_json(text), dict, "item")
    if "system" in fields:
        lists = {name: _of_kind(fields.get(name), list, name) for name in ("texts", "contexts")}
        texts = {
            name: tuple(_of_kind(value, str, name) for value in some)
            for name, some in lists.items()
        }
        return RatedTexts(_of_kind(fields["system"], str, "system"), **texts)
    names = ("a", "b", "text_a", "text_b", "context", "check")
    values = {name: _of_kind(fields.get(name), str, name) for name in names}
    if values["check"] not in ("", "a", "b"):
        raise DamagedError(f"check is {values['check']!r}")
    return Item(**values)


def stratum_of(item: Item | RatedTexts) -> str:
    """Name the stratum of an item: a pair of systems, or one system."""
    return json.dumps([item.a, item.b] if isinstance(item, Item) else [item.system])


def systems_of(stratum: str) -> tuple[str, ...]:
    """Read the systems from the name of a stratum.

    Raises
    ------
    DamagedError
        If it is not one.
    """
    names = _of_kind(_json(stratum), list, "stratum")
    return tuple(_of_kind(name, str, "stratum") for name in names)


def _rubric(stored: Any) -> Rubric:
    data = _of_kind(stored, dict, "rubric")
    questions = []
    for entry in _of_kind(data.get("questions"), list, "questions"):
        values = {
            field.name: _of_kind(
                _of_kind(entry, dict, "question").get(field.name),
                int if field.name in ("least", "most") else str,
                field.name,
            )
            for field in dataclasses.fields(Question)
        }
        questions.append(Question(**values))
    task: Task = data.get("task")
    if task not in get_args(Task) or not questions:
        raise DamagedError(f"task is {task!r}")
    if any(question.least >= question.most for question in questions):
        raise DamagedError("a scale has no steps")
    return Rubric(
        name=_of_kind(data.get("name"), str, "name"),
        task=task,
        instructions=_of_kind(data.get("instructions"), str, "instructions"),
        questions=tuple(questions),
        batch=_of_kind(data.get("batch"), int, "batch"),
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedError(str(error)) from None


def _of_kind(value: Any, kind: Any, name: str) -> Any:
    """Refuse a value of another kind."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DamagedError(f"{name} is {value!r:.80}")
    return value


def answers_from_json(text: str, rubric: Rubric) -> Mapping[str, int]:
    """Read answers by the names of their questions.

    Raises
    ------
    DamagedError
        If one is missing or beyond its scale.
    """
    answers = _of_kind(_json(text), dict, "answers")
    for question in rubric.questions:
        value = _of_kind(answers.get(question.name), int, question.name)
        if not question.least <= value <= question.most:
            raise DamagedError(f"{question.name} is {value}")
    return {question.name: answers[question.name] for question in rubric.questions}
