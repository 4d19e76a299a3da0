"""A study as a whole: people, flags, status, tables that are read again, Label Studio."""

import json
import re

import pytest
from annotation_helpers import answers, make_items

from calipers.annotation.exchange import import_annotations, write_tasks
from calipers.annotation.pages import seconds_in_words
from calipers.annotation.study import MOST_ANNOTATORS, annotator_names
from calipers.errors import InputError
from calipers.judgements.items import RatedTexts
from calipers.judgements.rubric import DIVERSITY, QUALITY, Question, Rubric
from calipers.judgements.tables import read_judgements


def answer(made, name, value=2, count=1, check=None):
    """Let one annotator answer some items, attention checks for the side given."""
    annotator = next(each for each in made.annotators if each.name == name)
    for _ in range(count):
        place = made.turns.next(annotator)
        turn = made.turns.turn(annotator, place)
        told = value
        if getattr(turn.item, "check", ""):
            told = (1 if turn.first == check else 5) if check else 3
        made.turns.answer(annotator, place, answers(told))


def test_annotators_are_numbered_or_named(study):
    made = study(annotators=2)
    assert [each.name for each in made.annotators] == ["annotator-01", "annotator-02"]
    assert [each.name for each in made.add_annotators(2)] == ["annotator-03", "annotator-04"]
    assert [each.name for each in made.add_annotators(["Zoë", "名前"])] == ["Zoë", "名前"]
    tokens = {each.token for each in made.annotators}
    assert len(tokens) == 6
    assert all(re.fullmatch(r"[\w-]{22}", token) for token in tokens)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (0, "annotators .*1 to 2,000.* 0"),
        (MOST_ANNOTATORS + 1, "found 2001"),
        ([], "annotators .* none"),
        (["ada", "ada"], "two annotators are named 'ada'"),
        ([""], "must have 1 to 80 characters; found ''"),
        (["x" * 81], "must have 1 to 80 characters"),
        (["a\nb"], r"no control characters; found 'a\\nb'"),
        (["a\u202eb"], "no control characters"),
        (["\ud800"], "must be valid Unicode"),
        ([3], "annotators must be a number or names; found 3"),
    ],
)
def test_names_that_cannot_be_are_refused(given, says):
    with pytest.raises(InputError, match=says):
        annotator_names(given)


def test_a_name_that_is_taken_is_refused(study):
    with pytest.raises(InputError, match="there is an annotator 'ada' already"):
        study().add_annotators(["ada"])


def test_a_study_needs_items_and_enough_people(study):
    with pytest.raises(InputError, match="at least one item"):
        study(items=(), number=0)
    with pytest.raises(InputError, match=r"ratings_per_item is 3, .*2 annotators"):
        study(ratings_per_item=3)


def test_a_question_that_is_called_as_a_column_is_refused_at_once(study):
    rubric = Rubric("own", "pairs", "Read.", (Question("rater", "Which?"),))
    with pytest.raises(InputError, match="a question cannot be called 'rater'"):
        study(rubric=rubric)


def test_only_whole_tokens_are_known(study):
    made = study()
    ada = made.annotators[0]
    assert made.annotator(ada.token) == ada
    for token in ("", ada.token[:-1], ada.token + "x", "é", "\0", "\ud800", made.settings.overview):
        assert made.annotator(token) is None
    assert made.is_overview(made.settings.overview)
    assert not made.is_overview(ada.token)
    assert made.links["ada"] == f"http://127.0.0.1:8765/a/{ada.token}"
    assert made.overview_link == f"http://127.0.0.1:8765/o/{made.settings.overview}"


def test_fast_answers_and_failed_checks_are_flagged_and_kept(study, clock):
    made = study(12, annotators=["ada", "grace"], checks=3, least_seconds=25)
    answer(made, "ada", count=9, check="a")
    answer(made, "grace", count=9, check="b")
    rows = made.judgements()
    assert len(rows) == 12
    assert {each.flags for each in rows if each.rater == "ada"} == {("too_fast",)}
    assert {each.flags for each in rows if each.rater == "grace"} == {("too_fast", "failed_checks")}
    assert {each.checks for each in rows} == {"3/3", "0/3"}
    status = made.status()
    assert [each.flagged for each in status.annotators] == [False, True]
    assert "12 answers came too fast; 1 annotator failed too many attention checks" in str(status)


def test_one_failed_check_of_three_is_allowed(study):
    made = study(12, annotators=["ada"], checks=3, least_seconds=0)
    answer(made, "ada", count=6, check="a")
    seen = {each.item.check for each in made.answered()}
    assert seen == {"", "a"}
    answer(made, "ada", count=9, check=None)
    checks = {each.checks for each in made.judgements()}
    assert len(checks) == 1
    passed, shown = map(int, checks.pop().split("/"))
    assert shown == 3
    flagged = {each.flags for each in made.judgements()}
    assert flagged == ({()} if passed >= 2 else {("failed_checks",)})


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_is_exported_is_read_again(study, tmp_path, clock, ending):
    made = study(12, annotators=["ada", "=cmd()", "Zoë ✓"], ratings_per_item=2, checks=2)
    clock.now += 5
    for name in ("ada", "=cmd()", "Zoë ✓"):
        answer(made, name, count=4, check="a")
    path = tmp_path / f"judgements.{ending}"
    made.export(path)
    assert read_judgements(path) == tuple(made.judgements())
    if ending == "jsonl":
        row = json.loads(path.read_text().splitlines()[0])
        assert row["text_a"].startswith("text")
        assert row["context"].startswith("The beginning")
    else:
        head = path.read_text().splitlines()[0]
        assert head == (
            "item,a,b,first,interesting,sensible,human_like,rater,rater_kind,repeat,seconds,time,"
            "flags,checks"
        )


def test_ratings_are_exported_too(study, tmp_path):
    for rubric, batch in ((QUALITY, 1), (DIVERSITY, 3)):
        items = [RatedTexts("alpha", tuple(f"t{n} {k}" for k in range(batch))) for n in range(4)]
        made = study(items=items, rubric=rubric, annotators=["ada"], name=f"{rubric.name}.sqlite")
        (ada,) = made.annotators
        told = {each.name: each.least for each in rubric.questions}
        for _ in items:
            made.turns.answer(ada, made.turns.next(ada), told)
        path = tmp_path / f"{rubric.name}.csv"
        made.export(path)
        assert read_judgements(path) == tuple(made.judgements())
        assert [each.system for each in made.judgements()] == ["alpha"] * 4


def test_an_export_under_another_name_is_refused(study, tmp_path):
    with pytest.raises(InputError, match=r"file ending in \.csv or"):
        study().export(tmp_path / "judgements.xlsx")
    made = study(name="empty.sqlite")
    made.export(tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text().startswith("item,a,b,first,interesting")


def test_the_status_counts_and_measures_agreement(study, clock):
    made = study(12, annotators=["ada", "grace", "mary"], ratings_per_item=2, least_seconds=0)
    ada, grace, _ = made.annotators
    for _ in range(12):
        for each in (ada, grace):
            place = made.turns.next(each)
            if place is None:
                continue
            turn = made.turns.turn(each, place)
            clock.now += 30
            prefers_a = int(turn.item.text_a.split()[1]) % 2
            told = made.turns.turned(answers(1 if prefers_a else 5), turn.first)
            made.turns.answer(each, place, told)
    status = made.status()
    assert status.complete == status.items == 12
    assert [each.answered for each in status.annotators] == [12, 12, 0]
    assert status.annotators[0].median_seconds == 30.0
    assert {each.alpha for each in status.agreement} == {1.0}
    assert "sensible: 1.00 [1.00, 1.00] on 12 items" in str(status)
    assert "12 of 12 items have all their ratings; 24 of 24 ratings by 2 of 3 annotators" in str(
        status
    )
    assert json.loads(json.dumps(status.to_dict()))["strata"][0]["systems"] == ["alpha", "beta"]
    assert made.status(agreement=False).agreement == ()


def test_names_cannot_steer_the_terminal(study):
    made = study(annotators=["ada"], notes=["a note\x1b[2J"])
    assert "\x1b" not in str(made.status())


def test_label_studio_there_and_back(study, tmp_path):
    made = study(6, annotators=["ada"], checks=1)
    tasks = tmp_path / "tasks.json"
    config = write_tasks(made, tasks)
    assert config.read_text().count("<Choices") == 3
    given = json.loads(tasks.read_text())
    assert len(given) == 7
    exported = [
        {
            "data": task["data"],
            "annotations": [
                {
                    "completed_by": {"email": name},
                    "lead_time": 31.5,
                    "result": [
                        {
                            "from_name": question,
                            "type": "choices",
                            "value": {"choices": ["Slightly A"]},
                        }
                        for question in answers()
                    ],
                }
                for name in ("ada", "x@example.org")
            ],
        }
        for task in given
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    answer(made, "ada")
    taken, notes = import_annotations(made, path)
    assert taken == 13
    assert notes == (
        "1 answer left out, of items that the annotator has answered in the study already",
    )
    assert import_annotations(made, path)[0] == 0
    rows = [each for each in made.judgements() if each.rater == "x@example.org"]
    assert len(rows) == 6
    sides = {task["data"]["item"]: task["data"]["first"] for task in given}
    assert all(each.answers["sensible"] == (2 if each.first == "a" else 4) for each in rows)
    assert all(each.first == sides[each.item] for each in rows)
    assert {(each.seconds, each.checks) for each in rows} == {(31.5, rows[0].checks)}
    assert rows[0].checks in ("0/1", "1/1")
    assert made.turns.next(made.annotators[0]) is None


def test_label_studio_of_another_study_is_refused(study, tmp_path):
    made = study(3, annotators=["ada"])
    path = tmp_path / "export.json"
    data = {"item": "x", "first": "a", "left_system": "alpha", "right_system": "beta"}
    result = [{"from_name": "better", "type": "choices", "value": {"choices": ["Tie"]}}]
    path.write_text(json.dumps([{"data": data, "annotations": [{"result": result}]}]))
    with pytest.raises(InputError, match=r"'better'.*'human_like'"):
        import_annotations(made, path)
    result[:] = [{**result[0], "from_name": name} for name in answers()]
    path.write_text(json.dumps([{"data": data, "annotations": [{"result": result}]}]))
    with pytest.raises(InputError, match=r"item x .*study\.sqlite"):
        import_annotations(made, path)
    assert [each.name for each in made.annotators] == ["ada"]
    quality = study(items=[RatedTexts("a", ("t",))], rubric=QUALITY, name="q.sqlite", annotators=1)
    with pytest.raises(InputError, match="are judgements of pairs"):
        import_annotations(quality, path)


def test_equal_items_are_judged_once(study):
    items = make_items(3)
    assert len(study(items=[*items, *items]).items()) == 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "0.5 s"), (25, "25 s"), (60, "1 min"), (95, "1 min 35 s"), (7_260, "2 h 1 min")],
)
def test_times_in_words(seconds, words):
    assert seconds_in_words(seconds) == words
