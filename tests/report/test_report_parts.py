"""The small parts of the table: names, numbers, and the grid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from calipers.report.grid import Cell, Column, render, total_width
from calipers.report.layout import packed
from calipers.report.names import clean, shorten
from calipers.report.numbers import best_of, number, score_text, words_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, True, "0.000"),
        (-0.00001, True, "0.000"),
        (1.0, True, "1.000"),
        (0.9996, True, "1.000"),
        (1.25, False, "1.250"),
        (38.664, False, "38.66"),
        (0.000123456, False, "0.0001235"),
        (12345.6, False, "1.235e+04"),
        (1234.6, False, "1235"),
        (0.0, False, "0.000"),
    ],
)
def test_numbers(value, unit, text):
    assert number(value, unit=unit) == text


def test_a_score_without_a_value_is_a_dash():
    assert score_text(None) == score_text({"value": None, "range": [0, 1]}) == "–"


@pytest.mark.parametrize(("median", "text"), [(3.5, "3.5"), (9.96, "10.0"), (150.0, "150")])
def test_lengths(median, text):
    assert words_text({"words": {"median": median}}) == text


@pytest.mark.parametrize(
    ("values", "direction", "best"),
    [
        ([0.1, 0.3, 0.2], "higher", 1),
        ([0.1, 0.3, 0.2], "lower", 0),
        ([0.3, 0.3, 0.2], "higher", None),
        ([0.2, 0.2, 0.3], "higher", 2),
        ([0.3, None], "higher", None),
        ([None, 0.1, 0.2], "higher", 2),
        ([0.1, 0.3, 0.2], "", None),
        ([0.1, 0.3, 0.2], "closest", None),
        ([], "higher", None),
    ],
)
def test_best(values, direction, best):
    scores = [{"value": value, "range": [0, 1]} for value in values]
    assert best_of(scores, direction) == best


def test_the_best_statistic_is_the_closest_to_that_of_the_reference():
    values = [0.9, 0.35, 0.1]
    scores = [
        {"value": each, "range": [0, 1], "reference": 0.4, "gap": abs(each - 0.4)}
        for each in values
    ]
    assert best_of(scores, "closest") == 1


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_shortened_names_fit_and_keep_their_ends(text, width):
    text = clean(text)
    short = shorten(text, width)
    assert cell_len(short) <= width
    assert short == text or "…" in short


@given(st.text())
def test_clean_text_is_one_printable_line(text):
    assert clean(text).isprintable()


def test_a_group_spans_its_columns_and_no_more():
    cells = (Cell("1"), Cell("22"))
    columns = [Column("name", cells, right=False)]
    columns += [Column(header, cells, group="view") for header in ("one", "three")]
    lines = ["".join(text for text, _ in line) for line in render(columns, gap=1, rule="-")]
    assert lines == [
        "      view ----",
        "name  one three",
        "1       1     1",
        "22     22    22",
    ]
    assert total_width(columns, 1) == len(lines[1])


def test_a_broken_group_shares_no_grid_with_another():
    def run(group: str, count: int) -> tuple[Column, ...]:
        return tuple(Column("123456", (Cell("1"),), group=group) for _ in range(count))

    lead = (Column("name", (Cell("a"),), right=False),)
    grids = packed(lead, [run("small", 1), run("wide", 4), run("last", 1)], width=25)
    groups = [{column.group for column in grid.columns[1:]} for grid in grids]
    assert groups == [{"small"}, {"wide"}, {"wide"}, {"last"}]
    assert [len(grid.columns) - 1 for grid in grids] == [1, 2, 2, 1]
