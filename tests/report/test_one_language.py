"""Every format shows the same columns, numbers, marks and notes of one comparison."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from calipers.report import latex, markdown
from calipers.report.html import html_page
from calipers.report.render.text import plain
from calipers.report.table import ScoreCell
from calipers.results.comparison import Comparison
from calipers.wording.marks import ALIKE, BEST, EQUAL, FLOOR_MARK, OPEN, SAME, UNTESTED
from hand_made import comparison_of

LATEX = {
    r"\approx": "≈", r"\surd": "✓", r"\triangle": "▲", r"\uparrow": "↑", r"\downarrow": "↓",
    r"\sim": "~", r"\textbar{}": "|", r"\allowbreak{}": "", r"\%": "%", r"\textbf{Bold}": "▲",
}  # fmt: skip
"""How LaTeX spells the signs that plain text has."""


def of_html(text: str) -> str:
    text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r'<span class="mark" aria-hidden="true">[▾▴]</span>', "", text)  # with a colour
    text = re.sub(r'<span class="hidden">.*?</span>', "", text)  # marks, read aloud
    return unescape(re.sub(r"<[^>]+>", "", text))


def of_latex(text: str) -> str:
    text = re.sub(r"\\textbf\{(\d?\.\d+)\}(?:\$\^\{([^}]*)\}\{\})?", r"\1\2▲", text)  # bold: best
    for spelt, sign in LATEX.items():
        text = text.replace(spelt, sign)
    return re.sub(r"[${}^_]|\\texttt", "", text)


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "screen": lambda result: plain(result, width=100),
    "narrow": lambda result: plain(result, width=80),
    "wide": lambda result: plain(result, width=140),
    "details": lambda result: plain(result.document(details=True), width=100),
    "markdown": lambda result: re.sub(r"[\\]|\*\*", "", markdown(result)),
    "latex": lambda result: of_latex(latex(result)),
    "notebook": lambda result: of_html(result._repr_html_()),
    "page": lambda result: of_html(html_page(result)),
}


def squeezed(text: str) -> str:
    return re.sub(r"[\s·:;.,|_]+", "", text)


@pytest.fixture
def result(make: dict[str, Any]) -> Comparison:
    """Four systems with intervals, a floor and tests, by the columns of the default table."""
    data = make["sure"](["model_a", "model_b", "model_c", "model_d"])
    data["settings"] |= {"metrics_shown": None, "k": 5, "strip_prompt": True}
    for test in data["tests"]:
        test["score"] = test["score"].replace("accuracy", "auc")
    for row, system in enumerate(data["systems"]):
        for view in ("", "form."):
            key = f"{view}classifier_auc"
            score = make["score"](0.6 + row / 10, interval=[0.55 + row / 10, 0.65 + row / 10])
            system["scores"][key] = score | {"level": 0.95, "better": "lower"}
    return comparison_of(data)


def cells(result: Comparison) -> set[ScoreCell]:
    tables = [table for table in result.document().tables if table.id.startswith("view-")]
    return {cell for table in tables for c in table.scores for cell in c.cells}  # type: ignore[misc]


@pytest.mark.parametrize("form", FORMATS)
def test_the_columns_are_the_same(result: Comparison, form: str) -> None:
    text = re.sub(r"\s+(?=[↑↓])", "", FORMATS[form](result))
    for head in ("Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑", "AUC↓"):
        assert text.count(head) >= 2, head  # by meaning and by form
    for view in ("meaning", "form"):
        assert view in text


@pytest.mark.parametrize("form", FORMATS)
def test_numbers_and_marks_are_the_same(result: Comparison, form: str) -> None:
    text = squeezed(FORMATS[form](result))
    assert {cell.marks for cell in cells(result)} >= {"✓▲", "✓?", "✓≈", "✓", ""}
    for cell in cells(result):
        intervals = form not in ("narrow",)  # four systems have no room for all of them at 80
        spread = squeezed(cell.interval) if intervals else ""
        ways = {squeezed(cell.value) + spread + cell.marks}
        if form == "latex":  # marks above, the interval below
            ways = {squeezed(cell.value) + cell.marks.replace("▲", "") + "▲" * cell.best + spread}
        if form == "page":  # marks stand before the interval
            ways = {squeezed(cell.value) + cell.marks + spread}
        if form == "narrow":
            ways |= {squeezed(cell.value) + squeezed(cell.interval) + cell.marks}
        assert any(way in text for way in ways), (cell, ways)


@pytest.mark.parametrize("form", FORMATS)
def test_verdict_legend_and_signature_are_the_same(result: Comparison, form: str) -> None:
    text = squeezed(FORMATS[form](result))
    notes = result.document().of_kind("verdict", "sign", "signature")
    assert len(notes) >= 9
    for note in notes:
        assert squeezed(str(note)) in text, note
        assert squeezed(note.sign) in text, note
    assert squeezed("prompts stripped · k 5") in text


def test_no_two_marks_look_alike_and_none_is_in_the_name_of_a_score() -> None:
    from calipers.cli.streams import encodable
    from calipers.wording.names import label

    class Old:
        encoding = "ascii"

    marks = [BEST, ALIKE, EQUAL, OPEN, UNTESTED, SAME, FLOOR_MARK]
    plain_marks = [encodable(mark, Old()) for mark in marks]  # type: ignore[arg-type]
    for shown in (marks, plain_marks):
        assert len(set(shown)) == len(marks)
        assert not set(shown) & set(label("mauve_star"))
