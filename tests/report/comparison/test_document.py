"""The table as plain text, on a terminal and in a notebook."""

from __future__ import annotations

import copy
import io
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.errors import InputError
from calipers.report.comparison import document as compare
from calipers.report.render.html import html
from calipers.report.render.text import Screen, plain
from calipers.report.scored import summary
from hand_made import comparison_of


def notebook_html(data):
    """Write a comparison as HTML for a notebook."""
    return html(summary(comparison_of(data)))


def plain_text(data, *, width=100):
    """Write a comparison as plain text."""
    return plain(compare.full(comparison_of(data)), width=width)


def comparison_table(data, *, width=None):
    """Show a comparison on a terminal."""
    return Screen(compare.full(comparison_of(data)), width=width)


def rows(text: str, start: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith(start)]


def lines_with(text: str, part: str) -> list[str]:
    return [line for line in text.splitlines() if part in line]


def test_title_names_the_reference_its_size_the_embedder_and_the_seed(two_systems):
    title = plain_text(two_systems).splitlines()[0]
    assert title == "Reference: human, n = 500 · embedder minilm · seed 7"


@pytest.mark.parametrize(("setting", "value"), [("k", 5), ("ties", "open"), ("distance", "cosine")])
def test_title_names_a_choice_that_is_not_the_usual_one(make, setting, value):
    usual = {"k": 4, "ties": "closed", "distance": "euclidean"}
    titles = [
        plain_text(make["comparison"]([], **settings)).splitlines()[0]
        for settings in (usual, {**usual, setting: value})
    ]
    assert titles[1] == f"{titles[0]} · {setting} {value}"


def test_the_legend_gives_the_key_where_the_head_of_a_column_does_not_spell_it(make):
    keys = ("recall", "mauve_star", "near_copies", "clipped_density", "frontier_integral")
    scores = {key: make["score"](0.5) for key in keys}
    data = make["comparison"](
        [make["system"]("a", scores)], views=["meaning"], metrics_shown=list(keys)
    )
    text = plain_text(data)
    assert "Copies   near_copies: share of generated samples that" in text
    assert "Clip D   clipped_density: density" in text
    assert "FI       frontier_integral: the gap" in text
    assert "Recall   share of reference" in text
    assert "MAUVE*   how close" in text


def test_views_stand_side_by_side_where_they_fit(two_systems):
    text = plain_text(two_systems, width=100)
    values = ".910▲ .800▲ .750 .970▲ .610 .320 .130 .240"
    assert rows(text, "model_a") == [["model_a", "500", "140", *values.split()]]
    heading = lines_with(text, "meaning -")[0]
    assert heading.index("meaning") < heading.index("form")


def test_stacked_rows_name_their_view(two_systems):
    text = plain_text(two_systems, width=80)
    assert rows(text, "meaning  model_b") == [
        ["meaning", "model_b", "500", "140", ".900", ".700", ".750", ".600"]
    ]
    assert rows(text, "form     model_b") == [
        ["form", "model_b", "500", "140", ".750▲", ".460▲", ".570▲", ".680▲"]
    ]


def test_reference_has_a_row_with_its_size_and_length(two_systems):
    assert rows(plain_text(two_systems), "reference") == [["reference", "500", "150"]]


def test_columns_keep_aligned(two_systems):
    table = plain_text(two_systems).splitlines()
    (a,) = (line for line in table if line.startswith("model_a"))
    (b,) = (line for line in table if line.startswith("model_b"))
    assert [i for i, c in enumerate(a) if c == "."] == [i for i, c in enumerate(b) if c == "."]


def test_names_of_wide_characters_keep_the_columns_aligned(two_systems):
    two_systems["systems"][0]["name"] = "模型"
    two_systems["systems"][1]["name"] = "abcd"
    table = plain_text(two_systems).splitlines()
    (a,) = (line for line in table if line.startswith("模型"))
    (b,) = (line for line in table if line.startswith("abcd"))
    assert cell_len(a[: a.index("500")]) == b.index("500")


def test_no_ansi_and_no_box_drawing(two_systems):
    for width in (60, 80, 100, 200):
        text = plain_text(two_systems, width=width)
        assert "\x1b" not in text
        assert not any("\u2500" <= character <= "\u259f" for character in text)


@pytest.mark.parametrize("width", [60, 70, 80, 100, 140, 200])
@pytest.mark.parametrize("count", [1, 2, 20])
def test_lines_fit_the_width(make, width, count):
    systems = [
        make["system"](f"{'long' * i}_{i}", make["both_views"](*[i / 20] * 8)) for i in range(count)
    ]
    text = plain_text(make["comparison"](systems), width=width)
    assert max(map(cell_len, text.splitlines())) <= width


def test_one_system_is_not_marked(make):
    systems = [make["system"]("only", make["both_views"](*[0.5] * 8))]
    assert "0.500▲" not in plain_text(make["comparison"](systems))
    assert "best in its column" not in plain_text(make["comparison"](systems))


def test_ties_as_shown_are_not_marked(make):
    pair = [
        make["system"]("a", {"precision": make["score"](0.90001)}),
        make["system"]("b", {"precision": make["score"](0.90002)}),
    ]
    assert "0.900▲" not in plain_text(make["comparison"](pair))


def test_lower_is_best_where_lower_is_better(make):
    def low(value: float) -> dict[str, object]:
        return {"frontier_integral": make["score"](value, better="lower")}

    systems = [make["system"]("a", low(0.2)), make["system"]("b", low(0.4))]
    text = plain_text(make["comparison"](systems))
    assert "FI↓" in text
    assert rows(text, "a ") == [["a", "500", "140", ".200▲"]]
    assert rows(text, "b ") == [["b", "500", "140", ".400"]]


def test_numbers_outside_the_unit_interval_have_four_digits(make):
    scores = {
        "density": make["score"](1.23456, range=[0.0, None]),
        "frechet_distance": make["score"](0.0123456, range=[0.0, None], better="lower"),
    }
    text = plain_text(make["comparison"]([make["system"]("a", scores)]))
    assert rows(text, "a ") == [["a", "500", "140", "1.235", "0.01235"]]


def test_asked_metrics_are_shown_by_every_view_and_no_others(two_systems):
    two_systems["settings"]["metrics_shown"] = ["recall", "form.precision"]
    header = lines_with(plain_text(two_systems), "system")[0]
    assert header.split() == ["system", "n", "words", *["Recall↑", "Precision↑"] * 2]


def test_without_headline_metrics_all_others_are_shown(make):
    scores = {"mauve_star:chi2": make["score"](0.5), "prd_f8": make["score"](0.4)}
    text = plain_text(make["comparison"]([make["system"]("a", scores)]))
    header = lines_with(text, "system")[0].split()
    assert header == ["system", "n", "words", "MAUVE*", "χ²↑", "PRD", "F8↑"]


def test_missing_values_are_dashes_with_their_reason_once(make):
    missing = make["score"](None, reason="fewer than k + 1 samples")
    scores = {"precision": missing, "recall": missing, "form.precision": missing}
    systems = [
        make["system"]("a", scores),
        make["system"]("b", scores),
        make["system"]("c", {"precision": make["score"](0.5)}),
    ]
    text = plain_text(make["comparison"](systems))
    assert rows(text, "a ") == [["a", "500", "140", "–", "–", "–"]]
    reasons = [line for line in text.splitlines() if line.startswith("– ")]
    assert reasons == [
        "– a, b, Precision by meaning, Recall by meaning, Precision by form: "
        "fewer than k + 1 samples",
        "– c, Recall by meaning, Precision by form: not computed",
    ]


def test_cut_sets_are_told_with_the_smallest(two_systems):
    two_systems["systems"][0]["n_given"] = 612
    text = plain_text(two_systems)
    assert rows(text, "model_a")[0][1] == "500/612"
    assert (
        "note: all generated sets cut to 500, the smallest (model_b); `keep_sizes` keeps them whole"
        in text.splitlines()
    )


def test_a_cut_by_max_samples_is_told_as_such(two_systems):
    two_systems["settings"]["max_samples"] = 500
    for row in (two_systems["reference"], *two_systems["systems"]):
        row["n_given"] = 900
    text = plain_text(two_systems)
    assert "note: larger sets cut to 500 (`max_samples`)" in text
    assert "keep_sizes" not in text
    assert "human, n = 500 of 900" in text


def test_uncut_sets_have_no_note(two_systems):
    assert "note:" not in plain_text(two_systems)


def test_warnings_stand_below_the_table_once_with_their_sets(two_systems):
    two_systems["reference"]["warnings"] = ["2 empty texts (rows 3 and 9)"]
    for system in two_systems["systems"]:
        system["warnings"] = ["5 texts were cut at 256 tokens"] * 2
    two_systems["warnings"] = ["signatures differ"]
    text = plain_text(two_systems)
    assert [line for line in text.splitlines() if line.startswith("warning:")] == [
        "warning: human: 2 empty texts (rows 3 and 9)",
        "warning: model_a, model_b: 5 texts were cut at 256 tokens",
        "warning: signatures differ",
    ]
    assert text.index("warning:") > text.index("model_b")


def test_seeds_are_told(two_systems):
    two_systems["systems"][1]["seeds"] = ["b-0.jsonl", "b-1.jsonl", "b-2.jsonl"]
    assert "note: model_b: mean over 3 seed files" in plain_text(two_systems)


def test_intervals_stand_in_the_same_word_as_the_value(two_systems):
    two_systems["systems"][0]["scores"]["precision"].update(interval=[0.87, 0.94], level=0.95)
    text = plain_text(two_systems, width=160)
    assert ".91[.87,.94]▲" in rows(text, "model_a")[0]
    assert "[low,high] 95 % interval for the average score" in text
    two_systems["systems"][0]["scores"]["precision"].update(interval=[0.87, 0.92])
    text = plain_text(two_systems, width=160)
    assert ".91[.87,.92]▲" in rows(text, "model_a")[0]
    assert "[low,high] 95 % interval for the average score" in text


def test_vectors_have_no_column_of_words(two_systems):
    for row in (two_systems["reference"], *two_systems["systems"]):
        row["words"] = None
    text = plain_text(two_systems)
    assert "words" not in text
    assert rows(text, "model_a")[0][:2] == ["model_a", "500"]


def test_legend_says_what_the_shown_columns_tell(two_systems):
    text = plain_text(two_systems)
    for label in ("Precision  ", "Recall  ", "Coverage  ", "MAUVE*  ", "meaning  ", "form  "):
        assert any(line.startswith(label) for line in text.splitlines()), label
    assert "Fréchet" not in text
    assert "`metrics='all'`" in text


def test_control_characters_and_line_breaks_do_not_reach_the_terminal(two_systems):
    two_systems["systems"][0]["name"] = "a\x1b[31m\nb\u202e"
    two_systems["warnings"] = ["bad\x07 \x1b]0;title"]
    text = plain_text(two_systems)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "a\ufffd[31m b\ufffd" in text


def test_data_is_left_as_it_was(two_systems):
    before = copy.deepcopy(two_systems)
    plain_text(two_systems)
    assert two_systems == before


def shown(data, *, width, colour=False, table_width=None) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=colour, color_system="standard")
    if not colour:
        console = Console(file=file, width=width)
    console.print(comparison_table(data, width=table_width))
    return file.getvalue()


def test_markup_in_names_is_shown_as_it_is(two_systems):
    two_systems["systems"][0]["name"] = "[red]x[/red]"
    two_systems["systems"][1]["name"] = "[/]"
    two_systems["warnings"] = ["see [bold]rows[/bold] [3]"]
    text = shown(two_systems, width=140)
    assert "[red]x[/red] " in text
    assert "\n[/] " in text
    assert "see [bold]rows[/bold] [3]" in text


def test_best_values_are_bold_and_marked(two_systems):
    text = shown(two_systems, width=140, colour=True)
    assert "\x1b[1m.910▲\x1b[0m" in text
    assert "\x1b[1m.900" not in text


def test_nothing_hangs_on_colour(two_systems, monkeypatch):
    two_systems["warnings"] = ["look out"]
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(two_systems, width=140, colour=True)
    assert "\x1b[33m" not in text
    assert "warning: look out" in text


@pytest.mark.parametrize(("width", "tables"), [(140, 1), (100, 1), (80, 2)])
def test_views_stack_where_they_do_not_fit(two_systems, width, tables):
    text = shown(two_systems, width=width)
    assert sum(line.startswith("system") for line in text.splitlines()) == tables


def test_width_narrows_a_wide_console(two_systems):
    assert shown(two_systems, width=200, table_width=80) == shown(two_systems, width=80)


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_long_and_wide_names_keep_every_line_within_the_width(make, width):
    names = ["a" * 300 + "end", "模型" * 60, "b", "/very/long/path/" * 9]
    systems = [
        make["system"](name, make["both_views"](*[i / 9] * 8)) for i, name in enumerate(names)
    ]
    text = shown(make["comparison"](systems), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" in text
    assert "aaend" in text


def test_lopsided_intervals_stand_below_their_value(two_systems):
    two_systems["systems"][0]["scores"]["precision"].update(interval=[0.87, 0.92], level=0.95)
    lines = shown(two_systems, width=140).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("model_a"))
    assert lines[row + 1].strip() == "[.87,.92]"


def test_all_metrics_are_shown_in_pieces_at_60_columns(make):
    from calipers.catalogue.embeddings import METRICS
    from calipers.catalogue.shown import UNRANKED
    from calipers.wording.names import label

    scores = {key: make["score"](0.5) for key in METRICS}
    scores |= {f"form.{key}": make["score"](0.25) for key in METRICS}
    data = make["comparison"]([make["system"]("a", scores)], metrics_shown=list(METRICS))
    text = shown(data, width=60)
    assert max(map(len, plain_text(data, width=60).splitlines())) <= 60
    assert text.count(".500") == text.count(".250") == len(METRICS)
    for key in METRICS:
        assert text.count(f"{label(key)}↑") == (0 if key in UNRANKED else 2)
        assert text.count(label(key)) >= 2
    assert "`metrics='all'`" not in text


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
    assert groups == ["", "meaning"]
    assert heads[:5] == ["system", "Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑"]
    assert first[:3] == ["model_a", ".98 [.95, .99]✓▲", ".84 [.83, .85]✓▲"]
    form = page.rows.index(["", "form"])  # too wide to stand beside meaning
    assert (second[2], page.rows[form + 3][2]) == (".80 [.79, .81]✓?", ".80 [.77, .83]✓≈")
    floor = next(row for row in page.rows if row[0] == "floor")
    assert floor[:3] == ["floor", "2x950", "0.951 ±0.004"]
    assert len(heads) == 5 == len(first)


def test_best_is_bold_and_intervals_are_small(four_sure):
    html = notebook_html(four_sure)
    assert "<b>.98</b> <small" in html
    assert "▲ best" in html
    assert "≈ tied with the best" in html


def test_without_intervals_there_are_none(two_systems):
    html = notebook_html(two_systems)
    assert "<small" not in html
    assert "±" not in html
    assert Page(html).rows[2][:3] == ["model_a", ".910▲", ".800▲"]


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
        "details", "summary", "ul", "li", "code",
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
    with pytest.raises(InputError, match=r"a summary is made of a result.*found dict"):
        summary({"systems": [{"name": "a"}]})
