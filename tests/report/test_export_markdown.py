"""Markdown tables, parsed back by markdown-it: the numbers of the data, and the words below."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from calipers.comparison import SetSummary
from calipers.comparison.text_model import TextComparison, TextResult
from calipers.errors import InputError
from calipers.report.export_markdown import markdown_table
from calipers.report.export_markdown_escape import escape
from calipers.score import Score

METRICS = ("precision", "recall", "coverage", "mauve_star")


class Tables(HTMLParser):
    """Read the cells of all tables: text, and whether it is bold."""

    def __init__(self):
        super().__init__()
        self.tables, self.bold, self.cell = [], 0, None

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ["", False]
        elif tag == "strong" and self.cell is not None:
            self.cell[1] = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(tuple(self.cell))
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[0] += data


def html(text):
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def tables(data):
    reader = Tables()
    reader.feed(html(markdown_table(data)))
    return reader.tables


def texts(row):
    return [text for text, _ in row]


def made_text(*names, gaps=True):
    """Text statistics: the length beside the reference's, and a share that has no reference."""
    scores = [
        {
            "mean_length": Score(100.25 + row, range=(0, float("inf")), better="closest",
                                 interval=(99.0 + row, 101.5 + row), level=0.95,
                                 reference=100.0 if gaps else None),
            "self_bleu": Score(float("nan"), reason="a single text has no others",
                               better="closest", reference=0.25 if gaps else None),
        }
        for row in range(len(names))
    ]  # fmt: skip
    results = [
        TextResult(
            SetSummary(name, f"{name}.txt", 500, 500, {"mean": 9.0, "median": 9.0}, name, ()), own
        )
        for name, own in zip(names, scores, strict=True)
    ]
    settings = {"tokenizer": "nltk", "seed": 0, "metrics": ["mean_length", "self_bleu"]}
    human = SetSummary("human", "h.txt", 500, 500, {"mean": 9.0, "median": 9.0}, "h", ())
    own = {"mean_length": Score(100.0, range=(0, float("inf"))), "self_bleu": Score(0.25)}
    side = {"reference": human, "reference_scores": own} if gaps else {}
    return TextComparison(tuple(results), {**settings, "aligned": False}, **side).to_dict()


def test_every_number_of_the_table_is_that_of_the_data(four_sure):
    found = tables(four_sure)
    assert len(found) == 2  # too wide for one
    for view, (heads, *rows) in zip(("", "form."), found, strict=True):
        assert texts(heads) == ["system", "Precision ↑", "Recall ↑", "Coverage ↑", "MAUVE* ↑"]
        for row, system in zip(rows[:4], four_sure["systems"], strict=True):
            assert row[0][0] == system["name"]
            for (text, _), metric in zip(row[1:], METRICS, strict=True):
                score = system["scores"][view + metric]
                low, high = score["interval"]
                digits = [float(number) for number in re.findall(r"[\d.]+", text)]
                assert digits[0] == pytest.approx(score["value"], abs=5.1e-4)
                if "±" in text:
                    assert digits[1] == pytest.approx((high - low) / 2, abs=5.1e-4)
                else:
                    assert digits[1:] == pytest.approx([low, high], abs=5.1e-4)


def test_best_is_bold_and_what_is_not_told_from_it_has_a_dagger(four_sure):
    _, first, second, third, *_ = tables(four_sure)[0]
    assert first[1] == ("0.985 [0.955, 0.995]", True)
    assert second[2] == ("0.800 ±0.013‡", False)  # p = 0.41 against the best, but far from it
    assert tables(four_sure)[1][2][2] == ("0.800 ±0.026†", False)  # p = 0.41, and near
    assert third[1] == ("0.820 ±0.015", False)
    text = markdown_table(four_sure)
    assert "**bold** best of its column" in text
    assert "† not distinguishable from the best (at 95 %, corrected for 48 tests)" in text
    assert "‡ undecided: differs from the best when tested alone" in text
    assert r"± 95 % interval, \[low,high\] where lopsided" in text
    assert r"\~ approximate" in text


def test_noise_floor_has_a_row_with_its_size(four_sure):
    floor = tables(four_sure)[0][-1]
    assert texts(floor) == [
        "noise floor 2×950", "0.951 ±0.004", "0.921 ±0.004", "0.891 ±0.004", "0.861 ±0.004",
    ]  # fmt: skip
    assert "noise floor: one half of the reference against the other" in markdown_table(four_sure)


def test_caption_says_what_was_measured(two_systems):
    first = markdown_table(two_systems).split("\n")[0]
    assert first == (
        "Reference: human, n = 500 · embedder minilm · seed 7 · n = 500 for each system · "
        "Calipers 0.1.0"
    )


def test_without_intervals_one_table_names_the_view_of_each_column(two_systems):
    ((heads, *rows),) = tables(two_systems)
    assert texts(heads)[1] == "Precision ↑ (meaning)"
    assert texts(heads)[5] == "Precision ↑ (form)"
    assert rows[0] == [
        ("model_a", False), ("0.910", True), ("0.800", True), ("0.750", False), ("0.970", True),
        ("0.610", False), ("0.320", False), ("0.130", False), ("0.240", False),
    ]  # fmt: skip
    assert [bold for _, bold in rows[1][5:]] == [True] * 4
    assert "±" not in markdown_table(two_systems)
    assert "†" not in markdown_table(two_systems)


def test_one_system_is_best_of_nothing(make):
    data = make["comparison"]([make["system"]("a", make["both_views"](*[0.5] * 8))])
    ((_, row),) = tables(data)
    assert row == [("a", False), *[("0.500", False)] * 8]
    assert "bold" not in markdown_table(data)


def test_undefined_value_is_a_dash_and_its_reason_stands_below(make):
    scores = {"precision": make["score"](None, reason="all rows | are the same")}
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"])
    ((_, row),) = tables(data)
    assert texts(row) == ["a", "–"]
    below = html(markdown_table(data))
    assert "<li>Note: a, Precision by meaning: all rows | are the same</li>" in below


def test_sizes_stand_in_the_table_where_they_differ(make):
    systems = [make["system"]("a", {"recall": make["score"](0.5)}, n=400, n_given=400)]
    systems += [make["system"]("b", {"recall": make["score"](0.25)}, n=500)]
    data = make["comparison"](systems, views=["meaning"], sizes="keep")
    ((heads, *rows),) = tables(data)
    assert texts(heads) == ["system", "n", "Recall ↑"]
    assert [texts(row) for row in rows] == [["a", "400", "0.500"], ["b", "500", "0.250"]]


def test_reference_has_a_row_where_it_has_values_of_its_own(make):
    vendi = make["score"](3.5, range=[1.0, None], better="closest", reference=4.0, gap=0.5)
    data = make["comparison"]([make["system"]("a", {"vendi": vendi})], views=["meaning"])
    ((_, reference, row),) = tables(data)
    assert texts(reference) == ["reference", "4.000"]
    assert texts(row) == ["a", "3.500"]


def test_groups_have_a_table_below(make):
    scores = {"recall": make["score"](0.5)}
    scores |= {f"recall:group={name}": make["score"](v) for name, v in (("x|y", 0.25), ("z", 0.75))}
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"], group="topic")
    data["reference"]["groups"] = {"x|y": 200, "z": 300}
    main, groups = tables(data)
    assert texts(main[0]) == ["system", "Recall ↑"]
    assert [texts(row) for row in groups[1:]] == [["x|y", "200", "0.250!"], ["z", "300", "0.750"]]
    assert "**By group (topic)**" in markdown_table(data)


def test_warnings_stand_below(two_systems):
    two_systems["systems"][0]["warnings"] = ["texts are <b>shorter</b>"]
    assert "<li>Warning: model_a: texts are &lt;b&gt;shorter&lt;/b&gt;</li>" in html(
        markdown_table(two_systems)
    )


def test_text_statistics_have_a_row_each_under_their_family():
    ((heads, *rows),) = tables(made_text("near", "far"))
    assert texts(heads) == [
        "metric", "reference", "value (near)", "gap (near)", "value (far)", "gap (far)",
    ]  # fmt: skip
    assert rows[0][0] == ("lengths and words", True)
    assert rows[1] == [
        ("Length", False), ("100.0", False), ("100.2 ±1.2", False), ("0.2", True),
        ("101.2 ±1.2", False), ("1.2", False),
    ]  # fmt: skip
    assert texts(rows[3]) == ["Self-BLEU-4", "0.250", "–", "–", "–", "–"]
    text = markdown_table(made_text("near", "far"))
    assert "gap: distance to the reference's own value" in text
    assert "near, far, Self-BLEU-4: a single text has no others" in text
    assert "More:" not in text


def test_text_statistics_without_a_reference_have_a_column_for_each_system():
    ((heads, *_),) = tables(made_text("near", "far", gaps=False))
    assert texts(heads) == ["metric", "near", "far"]


def test_raw_text_is_aligned_and_ends_with_one_line_break(two_systems):
    text = markdown_table(two_systems)
    lines = [line for line in text.split("\n") if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert text == markdown_table(two_systems)


def test_data_of_something_else_are_refused():
    with pytest.raises(InputError, match=r"to_dict.. of a comparison.*found the keys curves"):
        markdown_table({"curves": {}})
    with pytest.raises(InputError, match="found list"):
        markdown_table([])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("model_a", "model_a"),
        ("_a_", r"\_a\_"),
        ("a__b", r"a\_\_b"),
        ("&#124;", r"&#38;\#124;"),
        ("@me", "&#64;\N{WORD JOINER}me"),
        ("a@b", "a&#64;b"),
        ("==x==", r"\==x\=="),
    ],
)
def test_escapes_only_what_would_act(text, written):
    assert escape(text) == written
