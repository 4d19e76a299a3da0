"""Tables and sentences with names in many scripts: aligned, whole, and in their own direction."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from calipers.report import json_text, latex, markdown, plain
from calipers.report.comparison import document as compare
from calipers.report.html import html_page
from calipers.report.html.languages import language, language_of
from calipers.report.render.csv import scores_csv
from calipers.report.render.text import Screen
from calipers.wording.cells import ISOLATE, ISOLATED, cell_len, clusters
from hand_made import comparison_of

NAMES = (
    "日本語モデル",
    "文心一言-四点五-超大杯-指令微调-二〇二四年六月版-内部评测",
    "نظام العربية",
    "مدل می\u200cخواهم",
    "דגם עברי 7",
    "ตัวแบบภาษาไทย",
    "हिन्दी क्षिप्र",
    "한국어 모델",
    "👩🏽\u200d💻 🇯🇵🇫🇷",
    "ｆｕｌｌｗｉｄｔｈ",
    "e\u0301te\u0301",
    "llama-7b",
)


@pytest.fixture
def many(make: dict[str, Any]) -> Any:
    """A comparison of systems named in many scripts."""
    keys = ("precision", "recall", "mauve_star")
    systems = [
        make["system"](
            name, {key: make["score"](0.5 + 0.01 * n + 0.1 * k) for k, key in enumerate(keys)}
        )
        for n, name in enumerate(NAMES)
    ]
    return comparison_of(make["comparison"](systems, views=["meaning"]))


def screen(result: Any, width: int) -> str:
    """What a terminal shows."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(Screen(compare.full(result)))
    shown = console.file.getvalue()
    assert isinstance(shown, str)
    return shown


@pytest.mark.parametrize("width", [48, 60, 80, 100, 140])
def test_values_stand_below_each_other_whatever_the_script(many: Any, width: int) -> None:
    for text in (plain(many, width=width), screen(many, width)):
        lines = text.split("\n")
        assert all(cell_len(line) <= width for line in lines)
        values = [re.split(r"(?= \.\d\d\d)", line) for line in lines if " .5" in line]
        assert len(values) >= len(NAMES) - 2
        places = {cell_len(line[0]) for line in values if len(line) == 4}
        assert len(places) <= 1


def test_no_name_is_cut_within_a_cluster(many: Any) -> None:
    whole = {cluster for name in NAMES for cluster in clusters(name)}
    text = plain(many, width=48)
    marks = {c for c in clusters(text) if len(c) > 1}
    assert marks <= whole
    assert "👩🏽\u200d💻" in text


def test_a_terminal_gets_names_in_their_own_direction_and_no_other_reader_does(many: Any) -> None:
    shown = screen(many, 100)
    for name in ("نظام العربية", "مدل می\u200cخواهم", "דגם עברי 7"):
        assert f"{ISOLATE}{name}{ISOLATED}" in shown
        assert f"{ISOLATE}{name}{ISOLATED}" * 2 not in shown.replace(" ", "")
    assert shown.count(ISOLATE) == shown.count(ISOLATED)
    assert f"{ISOLATE}日本" not in shown
    others = (plain(many), markdown(many), json_text(many), scores_csv(many), many._repr_html_())
    assert not any(mark in text for text in others for mark in (ISOLATE, ISOLATED))


def test_files_hold_names_as_they_are(many: Any) -> None:
    systems = [system["name"] for system in json.loads(json_text(many))["systems"]]
    assert systems == list(NAMES)
    rows = list(csv.DictReader(io.StringIO(scores_csv(many))))
    assert {row["system"] for row in rows if row["role"] == "generated"} == set(NAMES)


def test_latex_names_the_scripts_and_keeps_their_letters(many: Any) -> None:
    text = latex(many)
    scripts = "Arabic, Devanagari, full width, Han, Hangul, Hebrew, Katakana, Thai"
    assert f"Scripts: {scripts}." in text
    assert "مدل می\u200cخواهم" in text
    assert "二〇二四" in text
    assert r"\texttt{U+1F469}" in text


def test_a_page_keeps_sentences_in_their_direction_and_names_in_theirs(many: Any) -> None:
    warned = replace(many, warnings=["نظام العربية: 3 % of its texts are short, דגם עברי 7 too"])
    page = html_page(warned)
    told = "<bdi>نظام العربية</bdi>: 3 % of its texts are short, <bdi>דגם עברי 7</bdi> too"
    assert f"<li>{told}</li>" in page
    assert '<th scope="row"' in page
    assert "<bdi>مدل می\u200cخواهم</bdi>" in page
    assert not any(mark in page.partition("<script")[0] for mark in (ISOLATE, ISOLATED))
    assert "<bdi>نظام العربية</bdi>: 3 % of its texts" in warned._repr_html_()


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("これは日本語の文章です。", "ja"),
        ("他們在說甚麼？", "zh"),
        ("한국어와 漢字", "ko"),
        ("ภาษาไทย", "th"),
        ("שלום עולם", "he"),
        ("نظام", ""),  # Arabic, Persian, Urdu and more
        ("Русский", ""),
        ("English with 漢", ""),
        ("", ""),
        ("漢" * 5000, "zh"),
    ],
)
def test_a_script_of_one_language_tells_it(text: str, tag: str) -> None:
    assert language_of(text) == tag
    assert language(text) == (f' lang="{tag}"' if tag else "")
