"""Columns of strings: what they hold, however it is divided into parts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.memory import memory_limit
from calipers.samples.columns import AT_ONCE, StringBuilder, StringColumn, sample_error
from calipers.unicode.written_words import split_words

SPACES = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"

strings = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        st.text(st.sampled_from(f"{SPACES}aé漢🙂\u200b"), max_size=6),
    ),
    max_size=30,
)


def divided(values: list[str], cuts: list[int]) -> StringColumn:
    """A column of many parts, some of which begin within an array."""
    parts = []
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        before = ["…"] if start % 2 else []
        pieces = [text.encode() for text in [*before, *values[start:stop]]]
        ends = np.cumsum([0, *map(len, pieces)])[len(before) :]
        parts.append((np.frombuffer(b"".join(pieces), np.uint8), ends))
    return StringColumn(parts)


@st.composite
def columns(draw: st.DrawFn) -> tuple[StringColumn, list[str]]:
    values = draw(strings)
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=4)))
    return divided(values, cuts), values


@given(columns(), st.data())
def test_it_is_a_sequence_of_strings(made, data):
    column, values = made
    assert len(column) == len(values)
    assert column.tolist() == list(column) == values
    assert [column[row] for row in range(-len(values), len(values))] == values * 2
    assert list(reversed(column)) == values[::-1]
    cut = data.draw(st.slices(len(values)))
    assert column[cut].tolist() == values[cut]
    rows = data.draw(st.lists(st.integers(0, max(0, len(values) - 1)), max_size=40))
    rows = rows if values else []
    assert column.take(np.array(rows, np.intp)).tolist() == [values[row] for row in rows]


@given(columns())
def test_bytes_and_ends_do_not_depend_on_the_parts(made):
    column, values = made
    assert b"".join(column.utf8()) == "".join(values).encode()
    assert column.ends.tolist() == np.cumsum([0, *(len(t.encode()) for t in values)]).tolist()
    assert column == StringColumn.of(values)
    assert pickle.loads(pickle.dumps(column)) == column  # noqa: S301
    assert column != StringColumn.of([*values, ""])
    if any(values):
        assert column != StringColumn.of([text + "!" * bool(text) for text in values])
    assert column != values


@given(columns())
def test_words_are_those_of_the_script_and_blanks_those_of_python(made):
    column, values = made
    assert column.word_counts().tolist() == [len(split_words(text)) for text in values]
    blank = [row for row, text in enumerate(values) if not text.strip()]
    assert column.blank_rows().tolist() == blank


@pytest.mark.parametrize("space", SPACES)
def test_every_white_space_may_make_a_text_blank(space):
    column = StringColumn.of(["a", space, f"{space}a", ""])
    assert column.blank_rows().tolist() == [1, 3]


def test_all_white_space_of_python_is_tried():
    spaces = {chr(code) for code in range(0x110000) if chr(code).isspace()}
    assert {space.encode()[0] for space in spaces} == {space.encode()[0] for space in SPACES}


def test_many_strings_go_through_in_blocks():
    values = [f"{row} é" if row % 700 == 0 else f"{row}" for row in range(3 * AT_ONCE + 5)]
    column = StringColumn.of(iter(values))
    assert column.tolist() == values
    assert column[AT_ONCE - 1 : AT_ONCE + 1].tolist() == values[AT_ONCE - 1 : AT_ONCE + 1]
    assert column.take(np.arange(len(values))[::-1]).tolist() == values[::-1]


def test_a_slice_shares_its_bytes_and_what_is_taken_does_not():
    column = StringColumn.of(["one", "two", "three"])
    whole, part = (next(each.utf8()).obj for each in (column, column[1:]))
    assert np.shares_memory(whole, part)
    assert not np.shares_memory(whole, next(column.take(np.array([0])).utf8()).obj)


@pytest.mark.parametrize("row", [3, -4])
def test_rows_that_are_not_there(row):
    with pytest.raises(IndexError):
        StringColumn.of(["a", "b", "c"])[row]


@settings(max_examples=20)
@given(columns())
def test_a_builder_makes_the_same(made):
    column, values = made
    builder = StringBuilder(lambda number, problem: sample_error("a", number, problem))
    for number, value in enumerate(values, 1):
        builder.append(number, value)
    assert builder.length == len(values)
    assert builder.finish() == column


def test_half_a_surrogate_pair_is_named_by_its_row():
    builder = StringBuilder(lambda number, problem: sample_error("a", number, problem))
    for number, value in enumerate(["x", "a\ud800"], 5):
        builder.append(number, value)
    with pytest.raises(InputError, match=r"a: sample 6: .*surrogate"):
        builder.finish()


def test_what_is_built_counts_as_memory():
    with memory_limit("10kB"):
        builder = StringBuilder(lambda number, problem: sample_error("a", number, problem))
        builder.append(1, "x" * 11_000)
        with pytest.raises(InputError, match=r"takes more than 10\.0 kB"):
            builder.finish()
