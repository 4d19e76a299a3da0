"""CSV read back by the csv module and by pandas: every score, to the last digit."""

from __future__ import annotations

import csv
import io

import pytest

from calipers.comparison import SetSummary
from calipers.comparison.text_model import TextComparison, TextResult
from calipers.errors import InputError
from calipers.report.export_csv import COLUMNS, LONGEST, cell, csv_table
from calipers.score import Score


def rows(data):
    return list(csv.DictReader(io.StringIO(csv_table(data), newline=""), strict=True))


def test_one_row_for_each_system_and_score(four_sure):
    found = rows(four_sure)
    wanted = [(s["name"], key) for s in four_sure["systems"] for key in s["scores"]]
    assert [(row["system"], row["key"]) for row in found] == wanted


def test_numbers_come_back_equal(four_sure):
    found = {(row["system"], row["key"]): row for row in rows(four_sure)}
    for system in four_sure["systems"]:
        for key, score in system["scores"].items():
            row = found[system["name"], key]
            low, high = score["interval"]
            assert float(row["value"]) == score["value"]
            assert (float(row["low"]), float(row["high"])) == (low, high)
            assert float(row["standard_error"]) == score["standard_error"]
            assert float(row["noise_floor_sd"]) == score["floor"]["spread"]
            assert float(row["level"]) == 0.95
            assert row["n"] == "500"
            assert row["approximate"] == ("true" if score["approximate"] else "false")
            assert row["signature"] == score["signature"]
            assert row["better"] == "higher"


def test_keys_are_taken_apart(make):
    keys = ("precision", "form.recall", "mauve_star:chi2:knn", "form.recall:group=a.b:c")
    system = make["system"]("x", {key: make["score"](0.5) for key in keys})
    found = rows(make["comparison"]([system]))
    assert [(row["view"], row["metric"], row["options"]) for row in found] == [
        ("meaning", "precision", ""),
        ("form", "recall", ""),
        ("meaning", "mauve_star", "chi2:knn"),
        ("form", "recall", "group=a.b:c"),
    ]


def test_undefined_value_is_empty_and_says_why(make):
    scores = {"precision": make["score"](None, reason='a "quoted", reason')}
    (row,) = rows(make["comparison"]([make["system"]("x", scores)]))
    assert (row["value"], row["low"], row["high"]) == ("", "", "")
    assert row["reason"] == 'a "quoted", reason'


def test_reference_is_told_from_a_system_of_that_name(make):
    data = make["comparison"]([make["system"]("human", {"near_copies:train": make["score"](0.5)})])
    data["reference"]["scores"] = {"near_copies:train": make["score"](0.25)}
    found = [(row["system"], row["role"], row["value"]) for row in rows(data)]
    assert found == [("human", "reference", "0.25"), ("human", "generated", "0.5")]


def test_text_statistics_with_the_values_of_the_reference():
    human, near = (SetSummary(n, n, 5, 5, {"mean": 9.0, "median": 9.0}, n, ()) for n in "hx")
    scores = {"distinct:n=2": Score(0.1 + 0.2, better="closest", reference=0.25)}
    settings = {"tokenizer": "nltk", "metrics": ["distinct:n=2"], "aligned": False}
    found = TextComparison(
        (TextResult(near, scores),), settings, human, {"distinct:n=2": Score(0.25)}
    )
    first, second = rows(found.to_dict())
    assert (first["role"], first["value"], first["gap"]) == ("reference", "0.25", "")
    assert (second["view"], second["metric"], second["options"]) == ("text", "distinct", "n=2")
    assert float(second["value"]) == 0.1 + 0.2
    assert float(second["reference"]) == 0.25
    assert float(second["gap"]) == found["x"]["distinct:n=2"].gap


def test_pandas_reads_it(four_sure):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(io.StringIO(csv_table(four_sure), newline=""))
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 32
    values = frame.set_index(["system", "key"])["value"]
    for system in four_sure["systems"]:
        for key, score in system["scores"].items():
            assert values[system["name"], key] == score["value"]
    assert frame["approximate"].dtype == bool


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-0.5, "-0.5"),
        (1e-300, "1e-300"),
        (0, "0"),
        (None, ""),
        ("-0.5", "'-0.5"),
        ("=cmd()", "'=cmd()"),
        ("+1", "'+1"),
        ("@x", "'@x"),
        ("\t=1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ("\0\ud800", "\ufffd\ufffd"),
    ],
)
def test_texts_are_no_formulas_and_numbers_stay_numbers(value, written):
    assert cell(value) == written


def test_long_text_is_cut_to_a_cell():
    assert len(cell("x" * 1_000_000)) < LONGEST
    assert cell("x" * 1_000_000).endswith("x…")
    assert len(cell("=" * LONGEST)) == LONGEST + 1


def test_lines_end_as_the_standard_says(two_systems):
    lines = csv_table(two_systems).split("\r\n")
    assert lines[0].split(",")[:4] == ["system", "role", "view", "metric"]
    assert lines[-1] == ""
    assert len(lines) == 18


def test_data_of_something_else_are_refused():
    with pytest.raises(InputError, match="found NoneType"):
        csv_table(None)
