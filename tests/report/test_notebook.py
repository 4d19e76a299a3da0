"""The table of a notebook, parsed back."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from calipers.errors import InputError
from calipers.report.notebook import notebook_html

VOID = {"br", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """Read tags, rows and texts, and see that every tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.rows, self.folded = [], [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "li":
            self.folded.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif "li" in self.open:
            self.folded[-1] += data

    def names(self):
        return {tag for tag, _ in self.tags}


def test_rows_hold_the_scores_under_their_views(four_sure):
    page = Page(notebook_html(four_sure))
    groups, heads, first, second = page.rows[:4]
    assert groups == ["", "meaning", "form"]
    assert heads[:5] == ["system", "Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑"]
    assert first[:3] == ["model_a", "0.985 [0.955, 0.995]", "0.840 ±0.011"]
    assert (second[2], second[6]) == ("0.800 ±0.013‡", "0.800 ±0.026†")
    assert page.rows[-1][:2] == ["noise floor 2×950", "0.951 ±0.004"]
    assert len(heads) == 9 == len(first)


def test_best_is_bold_and_intervals_are_small(four_sure):
    html = notebook_html(four_sure)
    assert "<b>0.985</b> <small" in html
    assert "<b>bold</b> best of its column" in html
    assert "† not distinguishable from the best (at 95 %, corrected for 48 tests)" in html


def test_without_intervals_there_are_none(two_systems):
    html = notebook_html(two_systems)
    assert "<small" not in html
    assert "±" not in html
    assert Page(html).rows[2][:3] == ["model_a", "0.910", "0.800"]


def test_warnings_and_reasons_are_folded(make):
    scores = {"precision": make["score"](None, reason="nothing <left>")}
    data = make["comparison"]([make["system"]("a", scores, warnings=["x", "y"])])
    html = notebook_html(data)
    assert "<summary>2 warnings</summary>" in html
    assert "<summary>1 note</summary>" in html
    assert Page(html).folded == ["a, Precision by meaning: nothing <left>", "a: x", "a: y"]


def test_groups_are_folded(make):
    scores = {"recall": make["score"](0.5), "recall:group=x": make["score"](0.25)}
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"], group="topic")
    data["reference"]["groups"] = {"x": 200}
    html = notebook_html(data)
    assert "<details><summary>By group (topic)</summary>" in html
    assert Page(html).rows[-1] == ["x", "200", "0.250"]


def test_nothing_runs_loads_or_styles_the_rest_of_the_page(four_sure):
    page = Page(notebook_html(four_sure))
    assert page.names() <= {
        "div", "table", "thead", "tbody", "tr", "td", "th", "b", "i", "small", "span", "bdi",
        "details", "summary", "ul", "li",
    }  # fmt: skip
    names = {name for _, attrs in page.tags for name in attrs}
    assert names <= {"class", "style", "scope", "colspan", "title"}
    assert "color:" not in notebook_html(four_sure)  # those of the notebook, light or dark


def test_formulas_of_names_are_not_typeset(two_systems):
    two_systems["systems"][0]["name"] = r"$\href{x}{y}$"
    html = notebook_html(two_systems)
    assert "<span>$</span><span>\\</span>href{x}{y}<span>$</span>" in html
    assert Page(html).rows[2][0] == r"$\href{x}{y}$"
    assert 'class="calipers mathjax_ignore tex2jax_ignore"' in html


def test_data_of_something_else_are_refused():
    with pytest.raises(InputError, match="to_dict"):
        notebook_html({"systems": [{"name": "a"}]})
