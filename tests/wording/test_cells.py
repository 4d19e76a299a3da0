"""Cells and clusters: worked examples of many scripts, and laws of cutting, padding and filling."""

from __future__ import annotations

import textwrap
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.report.render.layout import Grid, Strip, Written, as_text, in_full, rows, wrapped
from calipers.wording.cells import (
    CLOSING,
    ISOLATE,
    ISOLATED,
    OPENING,
    cell_len,
    clusters,
    cut,
    filled,
    fits,
    has_rtl,
    head_of,
    isolated,
    padded,
    runs_isolated,
    tail_of,
)
from calipers.wording.names import clean, shorten
from calipers.wording.short_names import short_forms

FAMILY, KISS = "👨\u200d👩\u200d👧", "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏽"
PIECES = (
    *(
        "model",
        "-",
        "_",
        "7b",
        " ",
        "v0.1",
        "システム",
        "モデル",
        "文心一言",
        "대규모",
        "한국어",
        "、",
        "。",
    ),
    *("نظام", "مدل", "می\u200cخواهم", "שלום", "ภาษาไทย", "ที่", "हिन्दी", "क्षि", "ශ්\u200dරී", "မြန်မာ"),
    *("🇯🇵", "🇫🇷", FAMILY, KISS, "👍🏽", "e\u0301", "각", "❤\ufe0f", "１２", "（", "）"),
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.text(max_size=40)
).map(clean)
NAMES = st.lists(TEXTS, min_size=1, max_size=8, unique=True)
WIDTHS = st.integers(1, 60)


@pytest.mark.parametrize(
    ("text", "cells", "count"),
    [
        ("", 0, 0),
        ("model", 5, 5),
        ("模型", 4, 2),
        ("ﾓﾃﾞﾙ", 4, 3),  # halfwidth kana: the voicing mark has a cell and belongs to its letter
        ("한국어", 6, 3),
        ("각", 2, 1),  # the same syllable in three letters
        ("é", 1, 1),
        ("e\u0301", 1, 1),
        ("نظام", 4, 4),
        ("می\u200cخواهم", 7, 7),
        ("שָׁלוֹם", 4, 4),
        ("ที่", 1, 1),
        ("क्षि", 2, 1),
        ("မြန်မာ", 5, 3),
        ("🇯🇵", 2, 1),
        ("🇯🇵🇫🇷", 4, 2),
        (FAMILY, 2, 1),
        (KISS, 2, 1),
        ("👍🏽", 2, 1),
        ("❤\ufe0f", 2, 1),
        ("1\ufe0f\u20e3", 2, 1),
        ("a" + "\u0301" * 1000, 1, 1),
        (f"{ISOLATE}نظام{ISOLATED}", 4, 7),
    ],
)
def test_cells_and_clusters(text: str, cells: int, count: int) -> None:
    assert cell_len(text) == cells
    assert len(list(clusters(text))) == count


@pytest.mark.parametrize(
    ("text", "width", "head", "tail"),
    [
        ("模型一号", 5, "模型", "一号"),
        ("🇯🇵🇫🇷🇩🇪", 5, "🇯🇵🇫🇷", "🇫🇷🇩🇪"),
        (f"ab{FAMILY}", 3, "ab", f"b{FAMILY}"),
        ("e\u0301e\u0300", 1, "e\u0301", "e\u0300"),
        ("หนังสือที่", 3, "หนั" + "ง", "สือ" + "ที่"),
        ("क्षिप्र", 2, "क्षि", "प्र"),
        (KISS, 1, "", ""),
        (KISS, 2, KISS, KISS),
    ],
)
def test_no_cut_goes_through_a_cluster(text: str, width: int, head: str, tail: str) -> None:
    assert head_of(text, width) == head
    assert tail_of(text, width) == tail


@given(TEXTS, WIDTHS)
def test_heads_and_tails_are_whole_clusters_that_fit(text: str, width: int) -> None:
    whole = list(clusters(text))
    assert "".join(whole) == text
    assert sum(map(cell_len, whole)) == cell_len(text)
    head, tail = head_of(text, width), tail_of(text, width)
    assert cell_len(head) <= width
    assert cell_len(tail) <= width
    assert text.startswith(head)
    assert text.endswith(tail)
    if max(map(len, whole), default=0) <= 8:  # without piles of marks
        assert list(clusters(head)) == whole[: len(list(clusters(head)))]
        assert fits(text, width) == (head == text)
    assert cell_len(shorten(text, width)) <= width


@given(TEXTS, st.integers(0, 60))
def test_a_cut_keeps_whole_clusters(text: str, most: int) -> None:
    start = cut(text, most)
    assert text.startswith(start)
    assert len(start) <= most
    whole = list(clusters(text))
    kept = list(clusters(start))
    assert kept == whole[: len(kept)] or max(map(len, whole)) > 32
    if len(kept) < len(whole):
        assert len(start) + len(whole[len(kept)]) > most


def test_a_million_marks_are_cut_at_once() -> None:
    pile = "a" + "\u0301" * 1_000_000
    assert len(head_of(pile, 10)) == len(cut(pile, 40)) == 40
    assert len(shorten(pile, 12)) <= 48


@given(NAMES, WIDTHS)
def test_short_forms_cut_no_cluster(names: list[str], width: int) -> None:
    for name, form in short_forms(names, width).items():
        if form == name or "~" in form or "=" in "".join(names):
            continue
        whole = {*clusters(name)}
        pieces = [piece for piece in form.split("…") if piece]
        if "…" not in name and max(map(len, whole)) <= 8:
            assert all(set(clusters(piece)) <= whole for piece in pieces)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6), st.integers(1, 2))
def test_all_rows_of_a_grid_place_their_columns_alike(
    cells: list[tuple[str, str, str]], gap: int
) -> None:
    """Behind the last column a sign stands in the same cell in every row, whatever the script."""
    columns = [*zip(*cells, strict=True), ("|",) * len(cells)]
    strips = tuple(
        Strip(f"h{place}", tuple(map(Written, column)), right=place == 1)
        for place, column in enumerate(columns)
    )
    lines = as_text(rows(Grid(strips, gap), rule="-")).split("\n")
    assert {cell_len(line) for line in lines[1:]} == {cell_len(lines[1])}


@given(TEXTS, WIDTHS, st.sampled_from(["", "- ", "・"]))
def test_filled_lines_fit_and_lose_nothing_but_spaces(text: str, width: int, first: str) -> None:
    rest = " " * cell_len(first)
    lines = filled(text, width, first=first, rest=rest)
    bodies = [line[len(rest if place else first) :] for place, line in enumerate(lines)]
    assert "".join("".join(bodies).split()) == "".join(text.split())
    for place, body in enumerate(bodies):
        if cell_len(body) + cell_len(first) > width:
            assert " " not in body.strip()  # one word that has no other place to break
        if place and len(body.strip()) > 1:
            assert (
                body[0] not in CLOSING
                or unicodedata.east_asian_width(body[0]) not in "WF"
                or (bodies[place - 1][-1:] == " " or text.find(" " + body[0]) >= 0)
            )


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P", "Zs"])), WIDTHS)
def test_latin_lines_are_filled_as_the_standard_library_does(text: str, width: int) -> None:
    plainly = {"break_long_words": False, "break_on_hyphens": False}
    expected = textwrap.wrap(text, width, subsequent_indent="  ", **plainly)
    assert filled(text, width, rest="  ") == expected


def test_lines_of_scripts_without_spaces() -> None:
    japanese = "二つの分布は区別できない。「再現率」が低い。"
    assert filled(japanese, 12) == ["二つの分布は", "区別できな", "い。「再現", "率」が低い。"]
    assert all(cell_len(line) <= 10 for line in filled("ภาษาไทยไม่มีช่องว่างระหว่างคำ", 10))
    assert filled("한국어는 띄어 쓴다", 10) == ["한국어는", "띄어 쓴다"]
    assert filled("Пример и_очень_длинное_слово", 8) == ["Пример", "и_очень_длинное_слово"]
    assert not any(line[0] in CLOSING for line in filled("あ、い。" * 20, 7))
    assert not any(line[-1] in OPENING for line in filled("あ「い」" * 20, 7))


def test_a_name_wider_than_the_rest_of_a_line_is_written_in_full() -> None:
    lines = as_text(in_full([("模…", "模型" * 9)], 14)).split("\n")
    assert "".join(line[5 if place else 4 :] for place, line in enumerate(lines)) == "模型" * 9
    assert all(cell_len(line) <= 14 for line in lines)
    assert as_text(in_full([("abcdefgh", FAMILY)], 10)).endswith(FAMILY)  # no room: it ends yet


def test_padding_counts_cells() -> None:
    assert padded("模型", 6) == "模型  "
    assert padded("e\u0301", 3, right=True) == "  e\u0301"
    assert (
        as_text(wrapped("これは長い文です", 8, "", first="・ "))
        == "・ これ\n   は長\n   い文\n   です"
    )


def test_what_runs_from_right_to_left_is_set_apart() -> None:
    def marked(text: str) -> str:
        return text.replace(ISOLATE, "<").replace(ISOLATED, ">")

    assert not has_rtl("model 模型 é")
    assert has_rtl("a ש")
    assert has_rtl("ޝ")
    assert marked(isolated("نظام 5")) == "<نظام 5>"
    assert isolated("模型") == "模型"
    assert marked(runs_isolated("1 نظام, مدل: 0.5")) == "1 <نظام, مدل>: 0.5"
    assert marked(runs_isolated("“كتاب” and שָׁ 3")) == "“<كتاب>” and <שָׁ> 3"
    assert cell_len(isolated("نظام")) == 4
    assert runs_isolated(isolated("نظام")).count(ISOLATE) == 2  # both are ended where they began


@given(TEXTS)
def test_isolated_runs_change_nothing_else(text: str) -> None:
    marked = runs_isolated(text)
    assert marked.replace(ISOLATE, "").replace(ISOLATED, "") == text
    assert marked.count(ISOLATE) == marked.count(ISOLATED)
    assert cell_len(marked) == cell_len(text)
