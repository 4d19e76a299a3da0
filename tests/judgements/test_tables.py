"""Tables of judgements: what is written is what is read, and no cell is a formula."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.tables import as_record, read_judgements, write_judgements

PAIR = PairJudgement(
    item="0f" * 8,
    a="gpt2 xl",
    b="human",
    answers={"interesting": 1, "sensible": 3},
    rater="Ann",
    rater_kind="person",
    first="b",
    repeat=1,
    seconds=31.5,
    time="2026-01-02T03:04:05+00:00",
    flags=("too_fast", "failed_checks"),
    checks="3/4",
)
RATING = Rating("1e" * 8, "gpt2 xl", {"coherence": 4}, "gpt-x", "model", seconds=None)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("judgement", [PAIR, RATING])
def test_what_is_written_is_read(
    tmp_path: Path, suffix: str, judgement: PairJudgement | Rating
) -> None:
    path = tmp_path / f"judged{suffix}"
    write_judgements(path, [judgement, judgement])  # type: ignore[arg-type]
    assert read_judgements(path) == (judgement, judgement)


def test_the_columns_of_pairs(tmp_path: Path) -> None:
    write_judgements(tmp_path / "judged.csv", [PAIR])
    assert (tmp_path / "judged.csv").read_text() == (
        "item,a,b,first,interesting,sensible,rater,rater_kind,repeat,seconds,time,flags,checks\n"
        f"{'0f' * 8},gpt2 xl,human,b,definitely a,tie,Ann,person,1,31.5,"
        "2026-01-02T03:04:05+00:00,too_fast failed_checks,3/4\n"
    )


def test_json_lines_hold_the_texts(tmp_path: Path) -> None:
    item = Item("gpt2 xl", "human", "text of \u2028 a", "b\ud800", "context")
    path = tmp_path / "judged.jsonl"
    write_judgements(path, [PAIR], shown={PAIR.item: item})
    row = json.loads(path.read_text())
    assert row["text_a"] == item.text_a
    assert row["text_b"] == "b\ud800"
    assert row["context"] == "context"
    assert row["flags"] == ["too_fast", "failed_checks"]
    assert path.read_text().count("\n") == 1

    write_judgements(path, [RATING], shown={RATING.item: RatedTexts("gpt2 xl", ("one", "two"))})
    assert json.loads(path.read_text())["texts"] == ["one", "two"]


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    write_judgements(tmp_path / "none.csv", [], questions=["sensible"])
    assert (tmp_path / "none.csv").read_text().startswith("item,a,b,first,sensible,rater,")
    write_judgements(tmp_path / "none.csv", [], questions=["coherence"], pairs=False)
    assert (tmp_path / "none.csv").read_text().startswith("item,system,coherence,rater,")


@pytest.mark.parametrize(
    "name",
    ["=1+1", "+49", "-2", "@x", "'=1", "''-", '=cmd|"/c calc"!A1', "a\nb", "a\rb", 'q"u,o', "'s"],
)
def test_no_cell_is_a_formula(tmp_path: Path, name: str) -> None:
    judged = PairJudgement("ab", name, "human", {"sensible": 5}, f"{name}r", "person", "a")
    path = tmp_path / "judged.csv"
    write_judgements(path, [judged])
    with path.open(newline="") as file:
        row = next(iter(csv.DictReader(file)))
    assert row["a"][0] not in "=+-@\t\r"
    assert row["rater"][0] not in "=+-@\t\r"
    assert read_judgements(path) == (judged,)


@settings(max_examples=60)
@given(
    rater=st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).filter(
        lambda text: text == text.strip() and text.strip() and "\0" not in text
    ),
    kind=st.sampled_from([".csv", ".jsonl"]),
)
def test_any_name_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rater: str, kind: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"names{kind}"
    judged = Rating("ab", "x", {"q": 1}, rater, "person")
    write_judgements(path, [judged])
    assert read_judgements(path) == (judged,)


def test_what_a_person_holds_is_taken_as_it_is() -> None:
    assert read_judgements([PAIR]) == (PAIR,)
    assert read_judgements([as_record(PAIR)]) == (PAIR,)
    assert read_judgements([as_record(RATING)]) == (RATING,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": "left"}, "row 1: first .*'a' or 'b'.* the string 'left'"),
        ({"sensible": "yes"}, "row 1: sensible .*one of 'definitely a', .* the string"),
        ({"rater_kind": "robot"}, "rater_kind .*'person' or 'model'.* the string"),
        ({"rater": ""}, "rater must be a name; found blank"),
        ({"repeat": -1}, "repeat .*at least 0.* -1"),
        ({"seconds": -1}, "seconds must not be below 0.* -1"),
        ({"b": "gpt2 xl"}, "'gpt2 xl' is compared with itself"),
    ],
)
def test_a_row_that_breaks_a_rule_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_judgements([{**as_record(PAIR), **change}])


def test_bad_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no judgements"):
        read_judgements([{"x": 1}])
    with pytest.raises(InputError, match=r"coherence .*whole number.* 2\.5"):
        read_judgements([{**as_record(RATING), "coherence": 2.5}])
    with pytest.raises(InputError, match=r"has no column 'rater'"):
        read_judgements([{"item": "x", "a": "a", "b": "b", "first": "a", "q": 1}])
    with pytest.raises(InputError, match="file ending in"):
        write_judgements(tmp_path / "judged.xlsx", [PAIR])
    with pytest.raises(InputError, match="a question cannot be called 'rater'"):
        write_judgements(tmp_path / "judged.csv", [], questions=["rater"])
    with pytest.raises(InputError, match="in tables of their own"):
        write_judgements(tmp_path / "judged.csv", [PAIR, RATING])  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_question_may_be_left_out(tmp_path: Path, suffix: str) -> None:
    partly = replace(PAIR, answers={"sensible": 5})
    path = tmp_path / f"judged{suffix}"
    write_judgements(path, [PAIR, partly])
    assert read_judgements(path) == (PAIR, partly)
    with pytest.raises(InputError, match=r"row 1: .*no answer"):
        read_judgements([{**as_record(PAIR), "interesting": "", "sensible": None}])
