"""Label Studio: tasks for it, and judgements from its export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from calipers.errors import InputError
from calipers.judgements.items import Item, make_checks, make_items
from calipers.judgements.label_studio import (
    CHOICES,
    label_config,
    read_label_studio,
    tasks,
    write_tasks,
)
from calipers.judgements.rubric import PAIRS, QUALITY, Question, Rubric
from calipers.samples import SampleSet

QUESTIONS = [question.name for question in PAIRS.questions]


@pytest.fixture(scope="module")
def items() -> list[Item]:
    prompts = [f"On day {row}" for row in range(8)]
    sets = [
        SampleSet.from_texts(
            [f" {name} saw {row} of the big red cars go by" for row in range(8)],
            name=name,
            prompts=prompts,
        )
        for name in ("x", "human")
    ]
    made = make_items(sets, per_pair=8)
    return [*made, *make_checks(made, count=2)]


def answered(
    task: dict[str, Any], choice: str, *, by: object = 7, **more: object
) -> dict[str, Any]:
    """Give a task as Label Studio exports it: the same choice to every question."""
    result = [
        {
            "id": "r",
            "type": "choices",
            "from_name": question,
            "to_name": "left",
            "value": {"choices": [choice]},
        }
        for question in QUESTIONS
    ]
    annotation = {
        "id": 1,
        "completed_by": by,
        "result": result,
        "was_cancelled": False,
        "lead_time": 31.25,
        "created_at": "2026-01-02T03:04:05Z",
        **more,
    }
    return {"id": 3, **task, "annotations": [annotation], "predictions": [], "project": 1}


def exported(tmp_path: Path, done: object) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(done))
    return path


def test_the_configuration_asks_the_questions() -> None:
    root = ElementTree.fromstring(label_config(PAIRS))
    asked = root.findall("Choices")
    assert [one.get("name") for one in asked] == QUESTIONS
    for one in asked:
        assert [choice.get("value") for choice in one] == list(CHOICES)
        assert one.get("required") == "true"
    shown = {text.get("name"): text.get("value") for text in root.iter("Text")}
    assert shown == {"context": "$context", "left": "$left", "right": "$right"}


def test_a_hostile_rubric_is_still_xml() -> None:
    rubric = Rubric("x", "pairs", '"/><script>\x00', (Question("q", "a & b < c 'd' \"e\""),))
    root = ElementTree.fromstring(label_config(rubric))
    assert root[0].get("value") == '"/><script>\ufffd'
    assert [header.get("value") for header in root.findall("Header")][-1] == "a & b < c 'd' \"e\""


def test_tasks_are_blind_and_their_sides_drawn(tmp_path: Path, items: list[Item]) -> None:
    config = write_tasks(tmp_path / "tasks.json", items, PAIRS, seed=1)
    assert config.read_text() == label_config(PAIRS)
    written = json.loads((tmp_path / "tasks.json").read_text())
    assert written == tasks(items, seed=1)
    assert {task["data"]["first"] for task in written} == {"a", "b"}
    for task, item in zip(written, items, strict=True):
        data = task["data"]
        texts = (item.text_a, item.text_b)
        assert (data["left"], data["right"]) == (texts if data["first"] == "a" else texts[::-1])
        assert data["context"] == item.context
        assert set(data) == {"item", "first", "context", "left", "right"}


@pytest.mark.parametrize("blind", [True, False])
def test_a_round_trip(tmp_path: Path, items: list[Item], blind: bool) -> None:
    done = [
        answered(task, CHOICES[place % 5], by={"id": 7, "email": f"{place % 2}@example.org"})
        for place, task in enumerate(tasks(items[:8], blind=blind))
    ]
    found = read_label_studio(exported(tmp_path, done), items if blind else [])
    assert found.notes == ()
    assert len(found.judgements) == 8
    for place, (judged, item) in enumerate(zip(found.judgements, items, strict=False)):
        step = place % 5 + 1
        assert (judged.item, judged.a, judged.b) == (item.id, "human", "x")
        assert judged.answers == dict.fromkeys(QUESTIONS, step if judged.first == "a" else 6 - step)
        assert judged.rater == f"{place % 2}@example.org"
        assert (judged.seconds, judged.time) == (31.25, "2026-01-02T03:04:05Z")
        assert judged.rater_kind == "person"


def test_checks_are_counted_for_each_rater(tmp_path: Path, items: list[Item]) -> None:
    done = []
    for task, item in zip(tasks(items), items, strict=True):
        right = CHOICES[0] if task["data"]["first"] == "a" else CHOICES[4]
        done.append(answered(task, right if item.check else "Tie", by=1))
        done.append(answered(task, "Tie", by=2))
    found = read_label_studio(exported(tmp_path, done), items)
    assert len(found.judgements) == 16
    assert {(judged.rater, judged.checks) for judged in found.judgements} == {
        ("1", "2/2"),
        ("2", "0/2"),
    }


def test_a_project_made_elsewhere(tmp_path: Path) -> None:
    """Its Pairwise tag, tasks with texts and the systems, no item of ours."""
    data = {"left_system": "x", "right_system": "human", "left": "L", "right": "R"}
    result = [{"type": "pairwise", "from_name": "pw", "value": {"selected": "left"}}]
    done = [
        {
            "data": data,
            "annotations": [
                {"completed_by": 1, "result": result},
                {"completed_by": 1, "result": result},
                {"completed_by": 2, "result": [], "lead_time": 2},
                {"completed_by": 2, "result": [], "was_cancelled": True},
            ],
            "predictions": [{"model_version": "m", "result": result}],
        }
    ]
    path = exported(tmp_path, done)
    found = read_label_studio(path)
    one, again = found.judgements
    assert (one.a, one.b, one.first, one.answers) == ("human", "x", "b", {"pw": 5})
    assert (one.item, one.repeat, again.item, again.repeat) == (again.item, 0, one.item, 1)
    assert found.notes == (
        f"{path}: 1 prediction of a model left out",
        f"{path}: 1 annotation without an answer left out",
        f"{path}: 1 skipped annotation left out",
    )
    rubric = Rubric("r", "pairs", "", (Question("better", "Which?"),))
    assert read_label_studio(path, rubric=rubric).judgements[0].answers == {"better": 5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": {"item": "nope"}}, "row 1: .*'nope' "),
        ({"data": None}, "row 1: has no data; found null"),
        ({"annotations": {}}, "no task has annotations"),
        ({"annotations": [3]}, "row 1: .*list of results"),
        (
            {"data": {"left_system": "x", "right_system": "x"}},
            "row 1: 'x' is compared with itself",
        ),
    ],
)
def test_bad_exports(
    tmp_path: Path, items: list[Item], change: dict[str, object], message: str
) -> None:
    done = {**answered(tasks(items)[0], "Tie"), **change}
    if change == {"annotations": {}}:
        del done["annotations"]
    with pytest.raises(InputError, match=message):
        read_label_studio(exported(tmp_path, [done]), items)


def test_bad_files(tmp_path: Path, items: list[Item]) -> None:
    with pytest.raises(InputError, match=r"list of tasks.*Label Studio"):
        read_label_studio(exported(tmp_path, {"x": 1}))
    bad = answered(tasks(items)[0], "Tie")
    bad["annotations"][0]["result"][1]["value"] = {"choices": ["Maybe"]}
    path = exported(tmp_path, [bad])
    with pytest.raises(InputError, match=r"row 1: sensible .*'Definitely A'"):
        read_label_studio(path, items)
    with pytest.raises(InputError, match="there is no such file"):
        read_label_studio(tmp_path / "nothing.json")
    with pytest.raises(InputError, match=r"written to a file ending in \.json"):
        write_tasks(tmp_path / "tasks.csv", items, PAIRS)
    with pytest.raises(InputError, match="the rubric 'quality' is of quality"):
        write_tasks(tmp_path / "tasks.json", items, QUALITY)
