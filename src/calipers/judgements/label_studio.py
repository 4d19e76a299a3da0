"""Label Studio: tasks with the questions of a rubric, and judgements from its exports.

A task holds two texts, left and right, and what both continue; which system is on which side is
drawn for each item and recorded in the task, since Label Studio shows a task to everybody alike.
Tasks are blind by default: they hold the id of the item and no names, which annotators could read
in the list of tasks; the names are found again by the items of the study. With names, or in a
project made elsewhere, the systems are in the fields ``left_system`` and ``right_system``.

What is read is the export called JSON: tasks with their annotations. A question is a group of
choices, or a ``Pairwise`` tag, whose "left" and "right" count as "definitely". Skipped annotations,
predictions of models and annotations without any answer are left out and counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from calipers.errors import InputError
from calipers.files import check_there
from calipers.judgements.items import Item, content_id, passes_check
from calipers.judgements.judgement import PairJudgement, Side
from calipers.judgements.rubric import Rubric
from calipers.judgements.tables import pair_step
from calipers.samples.readers.json_files import json_value
from calipers.samples.row_tables import as_number
from calipers.samples.source import Source, open_stream
from calipers.samples.wording import counted, describe
from calipers.whole_files import write_bytes_atomically, write_text_atomically

CHOICES = ("Definitely A", "Slightly A", "Tie", "Slightly B", "Definitely B")
"""The five choices as annotators see them: A is the text on the left."""

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
"""Characters that XML cannot hold."""


# Out ---------------------------------------------------------------------------------------------


def label_config(rubric: Rubric) -> str:
    """Write the labelling configuration of a project, the interface of annotators, as XML.

    Examples
    --------
    >>> from calipers.judgements.rubric import PAIRS
    >>> label_config(PAIRS).splitlines()[0]
    '<View>'
    """
    lines = [
        "<View>",
        f"  <Header value={_quoted(rubric.instructions)} size={_quoted('5')}/>",
        '  <Text name="context" value="$context"/>',
        '  <View style="display: flex; gap: 2em">',
        *_side("A", "left"),
        *_side("B", "right"),
        "  </View>",
    ]
    for question in rubric.questions:
        lines += [
            f"  <Header value={_quoted(question.text)}/>",
            f'  <Choices name={_quoted(question.name)} toName="left" choice="single-radio" '
            'showInline="true" required="true">',
            *(f"    <Choice value={_quoted(choice)}/>" for choice in CHOICES),
            "  </Choices>",
        ]
    return "\n".join([*lines, "</View>", ""])


def _side(letter: str, name: str) -> Iterator[str]:
    yield '    <View style="flex: 1">'
    yield f"      <Header value={_quoted(letter)}/>"
    yield f'      <Text name="{name}" value="${name}"/>'
    yield "    </View>"


def _quoted(text: str) -> str:
    return quoteattr(FORBIDDEN.sub("\ufffd", text))


def left_side(item: Item, seed: int = 0) -> Side:
    """Draw which text of an item is on the left; the same for the same seed."""
    return "a" if int(content_id(str(seed), "left", item.id), 16) % 2 else "b"


def tasks(items: Iterable[Item], *, seed: int = 0, blind: bool = True) -> list[dict[str, Any]]:
    """Make the tasks of a project, one for each item.

    Parameters
    ----------
    items
        Pairs of texts, attention checks among them.
    seed
        Fixes the sides.
    blind
        Whether the names of the systems are left out.
    """
    return [{"data": _data(item, left_side(item, seed), blind=blind)} for item in items]


def _data(item: Item, left: Side, *, blind: bool) -> dict[str, str]:
    ours, theirs = (item.a, item.text_a), (item.b, item.text_b)
    (left_system, left_text), (right_system, right_text) = (
        (ours, theirs) if left == "a" else (theirs, ours)
    )
    data = {"item": item.id, "first": left, "context": item.context}
    data |= {"left": left_text, "right": right_text}
    return data if blind else {**data, "left_system": left_system, "right_system": right_system}


def write_tasks(
    path: str | Path, items: Iterable[Item], rubric: Rubric, *, seed: int = 0, blind: bool = True
) -> Path:
    """Write the tasks as JSON, and the labelling configuration beside them.

    Returns
    -------
    Path
        Of the configuration: the name of the tasks with .xml in the place of .json.

    Raises
    ------
    InputError
        If the name does not end in .json, the rubric is not of pairs, or a file cannot be written.
    """
    place = Path(path)
    if place.suffix.lower() != ".json":
        raise InputError(f"{path}: the tasks of Label Studio are written to a file ending in .json")
    if rubric.task != "pairs":
        raise InputError(
            f"the rubric {rubric.name!r} is of {rubric.task}; Label Studio's tasks are of pairs"
        )
    text = json.dumps(tasks(items, seed=seed, blind=blind), ensure_ascii=True, indent=1)
    write_bytes_atomically(place, text.encode("ascii"))
    config = place.with_suffix(".xml")
    write_text_atomically(config, label_config(rubric))
    return config


# In ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Imported:
    """The judgements in an export of Label Studio.

    Attributes
    ----------
    judgements
        Of pairs, those of attention checks left out; `checks` says how each rater did in them.
    notes
        What was left out.
    """

    judgements: tuple[PairJudgement, ...]
    notes: tuple[str, ...]


def read_label_studio(
    path: str | Path,
    items: Iterable[Item] = (),
    *,
    rubric: Rubric | None = None,
) -> Imported:
    """Read the judgements in a JSON export of Label Studio.

    Parameters
    ----------
    path
        The exported file.
    items
        Those of the study, attention checks among them, by which blind tasks are resolved.
    rubric
        Names the one question of a ``Pairwise`` tag, where the rubric has one; by default it is
        called as the tag is.

    Raises
    ------
    InputError
        If the file is not such an export, or a task is of an unknown item and names no systems, or
        an answer is not one of the five.
    """
    source = Source(str(path), Path(path).stem, unit="row")
    check_there(path)
    with open_stream(Path(path)) as stream:
        value = json_value(stream, source)
    if not isinstance(value, list) or not all(isinstance(task, dict) for task in value):
        raise source.error(
            f"must hold a list of tasks, as Label Studio exports as JSON, but it is "
            f"{describe(value)}"
        )
    if not any("annotations" in task for task in value):
        raise source.error(
            "no task has annotations; export the project in the format JSON, not JSON-MIN"
        )
    known = {item.id: item for item in items}
    reader = _Reader(source, known, rubric)
    for number, task in enumerate(value, 1):
        reader.take(number, task)
    return reader.imported()


@dataclass(frozen=True)
class _Task:
    """What a task compares."""

    id: str
    left: str
    right: str
    a: str
    b: str
    first: Side
    check: Item | None


class _Reader:
    """Takes tasks in their order and gathers what was answered."""

    def __init__(self, source: Source, items: Mapping[str, Item], rubric: Rubric | None) -> None:
        self._source, self._items, self._rubric = source, items, rubric
        self._judged: list[PairJudgement] = []
        self._turns: Counter[tuple[str, str, str]] = Counter()
        self._passed: Counter[str] = Counter()
        self._shown: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def take(self, number: int, task: Mapping[str, Any]) -> None:
        """Take all annotations of a task."""
        annotations = task.get("annotations") or []
        if task.get("predictions"):
            self._left_out["prediction"] += len(task["predictions"])
        if not isinstance(annotations, list):
            raise self._source.row_error(
                number, f"annotations must be a list, but it is {describe(annotations)}"
            )
        if annotations:
            compared = self._task(number, task.get("data"))
            for annotation in annotations:
                self._annotation(number, compared, annotation)

    def imported(self) -> Imported:
        """Return all judgements, with how their raters did in the attention checks."""
        rows = tuple(
            replace(row, checks=f"{self._passed[row.rater]}/{self._shown[row.rater]}")
            if self._shown[row.rater]
            else row
            for row in self._judged
        )
        words = {
            "prediction": "of a model",
            "skipped annotation": "",
            "annotation": "without an answer",
        }
        notes = tuple(
            f"{self._source.path}: {counted(many, what)} {words[what]}".rstrip() + " left out"
            for what, many in self._left_out.items()
        )
        return Imported(rows, notes)

    def _task(self, number: int, data: Any) -> _Task:
        if not isinstance(data, dict):
            raise self._source.row_error(number, f"has no data; found {describe(data)}")
        item = self._items.get(str(data.get("item", "")))
        first = data.get("first")
        if item is not None:
            if first not in ("a", "b"):
                raise self._source.row_error(
                    number, f"first must be 'a' or 'b'; found {describe(first)}"
                )
            left, right = (item.a, item.b) if first == "a" else (item.b, item.a)
            return _Task(item.id, left, right, item.a, item.b, first, item if item.check else None)
        systems = [data.get("left_system"), data.get("right_system")]
        names = [name.strip() for name in systems if isinstance(name, str) and name.strip()]
        if len(names) != 2:
            raise self._source.row_error(
                number,
                f"the item {describe(data.get('item'))} is not in this study, and the task does "
                "not name its systems (left_system and right_system)",
            )
        if names[0] == names[1]:
            raise self._source.row_error(number, f"{names[0]!r} is compared with itself")
        a, b = sorted(names)
        texts = [str(data.get(key, "")) for key in ("context", "left", "right")]
        if names[0] != a:
            texts[1:] = texts[:0:-1]
        given = data.get("item")
        id = given if isinstance(given, str) and given else content_id(a, b, *texts)
        return _Task(id, names[0], names[1], a, b, "a" if names[0] == a else "b", None)

    def _annotation(self, number: int, task: _Task, annotation: Any) -> None:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result", []), list):
            raise self._source.row_error(
                number,
                f"an annotation must be an object with a list of results; found "
                f"{describe(annotation)}",
            )
        if annotation.get("was_cancelled"):
            self._left_out["skipped annotation"] += 1
            return
        answers = dict(self._answers(number, task, annotation.get("result") or []))
        if not answers:
            self._left_out["annotation"] += 1
            return
        rater = _rater(annotation.get("completed_by"))
        if task.check is not None:
            self._shown[rater] += 1
            self._passed[rater] += passes_check(task.check, answers)
            return
        turn = (rater, task.id, task.first)
        seconds = as_number(annotation.get("lead_time"))
        self._judged.append(
            PairJudgement(
                item=task.id,
                a=task.a,
                b=task.b,
                answers=answers,
                rater=rater,
                rater_kind="person",
                first=task.first,
                repeat=self._turns[turn],
                seconds=seconds if seconds is not None and seconds >= 0 else None,
                time=str(annotation.get("created_at") or ""),
            )
        )
        self._turns[turn] += 1

    def _answers(
        self, number: int, task: _Task, results: Sequence[Any]
    ) -> Iterator[tuple[str, int]]:
        """Read what was answered to each question, of a and b rather than left and right."""
        for result in results:
            value = result.get("value") if isinstance(result, dict) else None
            if not isinstance(value, dict):
                raise self._source.row_error(
                    number, f"a result must be an object with a value; found {describe(result)}"
                )
            name = str(result.get("from_name", ""))
            if result.get("type") == "pairwise":
                step = {"left": 1, "right": 5}.get(str(value.get("selected")))
                answer: Any = value.get("selected")
                if self._rubric is not None and len(self._rubric.questions) == 1:
                    name = self._rubric.questions[0].name
            elif result.get("type") == "choices":
                chosen = value.get("choices")
                answer = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
                step = pair_step(answer)
            else:
                continue
            if step is None:
                raise self._source.row_error(
                    number,
                    f"{name} must be one of {', '.join(map(repr, CHOICES))}; "
                    f"found {describe(answer)}",
                )
            yield name, step if task.left == task.a else 6 - step


def _rater(completed_by: Any) -> str:
    """Name an annotator: by address, by name, else by number."""
    if isinstance(completed_by, dict):
        full = " ".join(
            str(completed_by[key]) for key in ("first_name", "last_name") if completed_by.get(key)
        )
        completed_by = completed_by.get("email") or full or completed_by.get("id")
    text = "" if completed_by is None else str(completed_by).strip()
    return text or "unknown"
