"""CSV, LaTeX and Markdown, read back: every score, the words below, names that strangers chose."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from calipers.errors import InputError
from calipers.report.render.csv import COLUMNS, LONGEST, cell, scores_csv
from calipers.report.render.html import html as html_of
from calipers.report.render.latex import escape as escape_latex
from calipers.report.render.latex import escape as latex
from calipers.report.render.latex import latex as latex_of
from calipers.report.render.markdown import escape
from calipers.report.render.markdown import escape as markdown
from calipers.report.render.markdown import markdown as markdown_of
from calipers.report.scored import summary
from calipers.results import SetSummary
from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score
from calipers.serialise import read
from calipers.wording.names import clean
from calipers.wording.numbers import score_text
from extras import need
from hand_made import comparison_of


def result_of(data):
    """Give the comparison of some data; what is a result already is given back."""
    return comparison_of(data) if isinstance(data, dict) else data


def csv_of(data):
    """Write the scores of a comparison as CSV."""
    return scores_csv(result_of(data))


def markdown_table(data):
    """Write a comparison as Markdown."""
    return markdown_of(summary(result_of(data)))


def latex_table(data):
    """Write a comparison as LaTeX."""
    return latex_of(summary(result_of(data)))


def notebook_html(data):
    """Write a comparison as HTML for a notebook."""
    return html_of(summary(result_of(data)))


def rows(data):
    return list(csv.DictReader(io.StringIO(csv_of(data), newline=""), strict=True))


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
    first, second = rows(found)
    assert (first["role"], first["value"], first["gap"]) == ("reference", "0.25", "")
    assert (second["view"], second["metric"], second["options"]) == ("text", "distinct", "n=2")
    assert float(second["value"]) == 0.1 + 0.2
    assert float(second["reference"]) == 0.25
    assert float(second["gap"]) == found["x"]["distinct:n=2"].gap


def test_pandas_reads_it(four_sure):
    pandas = need("pandas")
    frame = pandas.read_csv(io.StringIO(csv_of(four_sure), newline=""))
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
    lines = csv_of(two_systems).split("\r\n")
    assert lines[0].split(",")[:4] == ["system", "role", "view", "metric"]
    assert lines[-1] == ""
    assert len(lines) == 18


def test_data_of_something_else_are_refused_as_csv():
    with pytest.raises(InputError, match="found NoneType"):
        scores_csv(None)


METRICS = ("precision", "recall", "coverage", "mauve_star")
PREAMBLE = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"


def tabulars(text):
    """The rows below the head of each tabular, as lists of cells."""
    found = re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.DOTALL)
    return [
        [
            [cell.strip() for cell in re.split(r"(?<!\\)&", line.strip().removesuffix(r"\\"))]
            for line in body.splitlines()
            if line.strip().endswith(r"\\")
        ]
        for body in found
    ]


def compiled(text, folder):
    """What pdfLaTeX complains of."""
    (folder / "t.tex").write_text(f"{PREAMBLE}{text}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "t.tex"]
    log = subprocess.run(command, cwd=folder, capture_output=True, timeout=120).stdout
    assert (folder / "t.pdf").exists()
    return [line for line in log.decode(errors="replace").splitlines() if line.startswith("!")]


def test_every_number_is_that_of_the_data(four_sure):
    found = tabulars(latex_table(four_sure))
    assert len(found) == 4
    for view, rows in zip(("", "form."), found[:2], strict=True):
        assert len(rows) == 4
        for row, system in zip(rows, four_sure["systems"], strict=True):
            assert row[0] == system["name"].replace("_", r"\_")
            for shown, metric in zip(row[1:], METRICS, strict=True):
                score = system["scores"][view + metric]
                low, high = score["interval"]
                value, *spread = map(float, re.findall(r"\d*\.\d+", shown))
                assert value == pytest.approx(score["value"], abs=5.1e-3)
                assert spread == pytest.approx([low, high], abs=5.1e-3)


def test_best_alike_and_approximate_are_marked(four_sure):
    first, second, third, _ = tabulars(latex_table(four_sure))[0]
    assert first[1] == r"\textbf{.98}$^{\surd}{}_{[.95, .99]}$"
    assert second[2] == r".80$^{\surd?}{}_{[.79, .81]}$"
    (_, alike, *_) = tabulars(latex_table(four_sure))[1]
    assert alike[2] == r".80$^{\surd\approx}{}_{[.77, .83]}$"
    assert third[3] == r".70$_{[.69, .72]\sim}$"


def test_the_floor_and_the_systems_of_its_size_have_tables_of_their_own(four_sure):
    text = latex_table(four_sure)
    assert "✓" not in text  # no font of pdfLaTeX has it
    floor, first, *_ = tabulars(text)[2]
    assert first[2].endswith(r"$^{\surd}{}$")
    assert floor[:3] == ["floor", "2x950", r"0.951$_{\pm 0.004}$"]
    held = four_sure["systems"][0]["scores"]["precision"]["floor"]
    assert first[1] == str(held["size"]) == "950"
    assert float(first[2].partition("$")[0]) == pytest.approx(held["beside"], abs=5.1e-4)


def test_caption_explains_the_marks(four_sure):
    caption, floor = re.findall(r"\\caption\{(.*)\}", latex_table(four_sure))
    assert "Compare within this block only: scores change with the number of samples" in floor
    assert caption.startswith("Reference: human, n = 500; embedder minilm; seed 7. ")
    assert r"$\uparrow$: higher is better." in caption
    assert r"\textbf{Bold}: best." in caption
    assert r"$\approx$: tied with the best." in caption
    assert r"?: undecided." in caption
    assert r"$\surd$: within the noise floor (at n = 950)." in caption
    assert r"{[}95 \% interval{]}" in caption
    assert r"$\sim$: approximate" in caption
    assert r"signature: \texttt{n:500\textbar{}\allowbreak{}ref:human0\textbar{}" in caption


def test_views_stand_above_their_columns(make):
    data = make["comparison"](
        [make["system"](name, make["both_views"](*[0.5] * 8)) for name in ("a", "b")]
    )
    for system in data["systems"]:
        for key in [key for key in system["scores"] if not key.endswith(("precision", "recall"))]:
            del system["scores"][key]
    text = latex_table(data)
    assert r" & \multicolumn{2}{c}{meaning} & \multicolumn{2}{c}{form} \\" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in text
    assert text.count(r"\begin{tabular}{@{}lllll@{}}") == 1
    assert r"% Made by Calipers 0.1.0. Needs \usepackage{booktabs}." in text


def test_without_intervals_there_is_no_mathematics_in_the_cells(two_systems):
    rows = [row for rows in tabulars(latex_table(two_systems)) for row in rows]
    cells = [cell for row in rows for cell in row[1:]]
    assert sorted(cells)[:2] == [".130", ".240"]
    assert not any("$" in cell for cell in cells)
    assert r"\textbf{.910}" in cells


def test_undefined_value_is_a_dash_and_the_caption_says_why(make):
    scores = {"precision": make["score"](None, reason="50 % are the same")}
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"])
    text = latex_table(data)
    assert tabulars(text) == [[["a", "--"]]]
    assert r"a, Precision by meaning: 50 \% are the same." in text


def test_negative_and_large_numbers(make):
    numbers = {"mmd": -0.0001678, "frechet_distance": 123456.0}
    scores = {
        key: make["score"](v, range=[None, None], better="lower") for key, v in numbers.items()
    }
    data = make["comparison"](
        [make["system"]("a", scores)], views=["meaning"], metrics_shown=list(numbers)
    )
    ((row,),) = tabulars(latex_table(data))
    assert row == ["a", "$-$0.0001678", "1.235e+05"]
    assert score_text(read(Score, scores["mmd"])) == "-0.0001678"


def test_groups_have_a_table_of_their_own(make):
    scores = {"recall": make["score"](0.5), "recall:group=x&y": make["score"](0.25)}
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"], group="topic")
    data["reference"]["groups"] = {"x&y": 200}
    text = latex_table(data)
    assert text.count(r"\begin{table}") == 2
    assert r"\label{tab:calipers-2}" in text
    assert r"\caption{By group (topic)." in text
    assert re.search(r"x\\&y & 200 & 0\.250", text)


def test_warnings_are_comments_on_one_line(two_systems):
    two_systems["systems"][0]["warnings"] = ["short\n\\input{x}"]
    lines = latex_table(two_systems).split("\n")
    assert r"% Warning: model_a: short \input{x}" in lines


def test_many_systems_fill_several_floats(make):
    text = latex_table(make["sure"]([f"a{row}" for row in range(24)]))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 4  # and the floor
    assert text.count(r"\label{tab:calipers}") == 1
    assert r"\caption{(continued)}" in text


def test_letters_beyond_latin_are_named_in_a_comment(two_systems):
    assert "LuaLaTeX" not in latex_table(two_systems)
    two_systems["systems"][0]["name"] = "模型"
    text = latex_table(two_systems)
    assert "模型 &" in text
    assert "% Holds letters beyond Latin: use LuaLaTeX" in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b & 5 % #1 $x$ {y}", r"a\_b \& 5 \% \#1 \$x\$ \{y\}"),
        ("\\input", r"\textbackslash{}input"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("[x]*", "{[}x{]}{*}"),
        ("a--b", "a-{}-b"),
        ("\0\ud800", r"\texttt{U+FFFD}\texttt{U+FFFD}"),
        ("é😀", r"é\texttt{U+1F600}"),
        ("e\u0301", "é"),
        ("χ² ↑≈", r"$\chi$\textsuperscript{2} $\uparrow$$\approx$"),
    ],
)
def test_escapes(text, written):
    assert escape_latex(text) == written


def test_data_of_something_else_are_refused_as_latex():
    with pytest.raises(InputError, match="found dict"):
        latex_of(summary({}))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdfLaTeX")
def test_compiles(four_sure, tmp_path):
    names = ["[a]", "\\end{tabular}", "50 % & $x_1^2$ #{}~", "**é** <b>|\0`\ud800 -- 😀"]
    for system, name in zip(four_sure["systems"], names, strict=True):
        system["name"] = name
    assert compiled(latex_table(four_sure), tmp_path) == []


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
    return TextComparison(tuple(results), {**settings, "aligned": False}, **side)


def test_every_number_of_the_table_is_that_of_the_data(four_sure):
    found = tables(four_sure)
    assert len(found) == 4  # two views of the scores, and of the noise floor
    for view, (heads, *rows) in zip(("", "form."), found[:2], strict=True):
        assert texts(heads) == ["system", "Precision ↑", "Recall ↑", "Coverage ↑", "MAUVE* ↑"]
        for row, system in zip(rows[:4], four_sure["systems"], strict=True):
            assert row[0][0] == system["name"]
            for (text, _), metric in zip(row[1:], METRICS, strict=True):
                score = system["scores"][view + metric]
                low, high = score["interval"]
                digits = [float(number) for number in re.findall(r"[\d.]+", text)]
                assert digits == pytest.approx([score["value"], low, high], abs=5.1e-3)


def test_best_is_bold_and_marked_as_in_every_format(four_sure):
    _, first, second, third, *_ = tables(four_sure)[0]
    assert first[1] == (".98 [.95, .99]✓▲", True)
    assert second[2] == (".80 [.79, .81]✓?", False)  # p = 0.41 against the best, but far from it
    assert tables(four_sure)[1][2][2] == (".80 [.77, .83]✓≈", False)  # p = 0.41, and near
    assert third[1] == (".82 [.81, .84]✓", False)
    text = markdown_table(four_sure)
    assert "▲ best · ≈ tied with the best · ? undecided · ✓ within the noise floor" in text
    assert r"\[95 % interval\]" in text
    assert r"\~ approximate" in text
    assert "signature `n:500|ref:human0|embedder:minilm|seed:7|" in text


def test_noise_floor_has_a_table_with_its_size_and_the_systems_at_it(four_sure):
    heads, floor, first, *_ = tables(four_sure)[2]
    assert texts(heads)[:3] == ["system", "n", "Precision ↑"]
    assert texts(floor) == [
        "floor", "2x950", "0.951 ±0.004", "0.921 ±0.004", "0.891 ±0.004", "0.861 ±0.004",
    ]  # fmt: skip
    assert texts(first)[:2] == ["model_a", "950"]
    assert "floor: one half of the reference against the other" in markdown_table(four_sure)
    assert all("floor" not in row[0][0] for table in tables(four_sure)[:2] for row in table)


def test_caption_says_what_was_measured(two_systems):
    first = markdown_table(two_systems).split("\n")[0]
    assert first == "Reference: human, n = 500 · embedder minilm · seed 7"


def test_without_intervals_one_table_names_the_view_of_each_column(two_systems):
    ((heads, *rows),) = tables(two_systems)
    assert texts(heads)[1] == "Precision ↑ (meaning)"
    assert texts(heads)[5] == "Precision ↑ (form)"
    assert rows[0] == [
        ("model_a", False), (".910▲", True), (".800▲", True), (".750", False), (".970▲", True),
        (".610", False), (".320", False), (".130", False), (".240", False),
    ]  # fmt: skip
    assert [bold for _, bold in rows[1][5:]] == [True] * 4
    assert "±" not in markdown_table(two_systems)
    assert "interval" not in markdown_table(two_systems)


def test_one_system_is_best_of_nothing(make):
    data = make["comparison"]([make["system"]("a", make["both_views"](*[0.5] * 8))])
    ((_, row),) = tables(data)
    assert row == [("a", False), *[(".500", False)] * 8]
    assert "best" not in markdown_table(data).replace("[best", "")


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
    assert [texts(row) for row in rows] == [["a", "400", ".500▲"], ["b", "500", ".250"]]


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
        ("Length", False), ("100.0", False), ("100.2 ±1.2", False), ("+0.2▲", True),
        ("101.2 ±1.2", False), ("+1.2", False),
    ]  # fmt: skip
    assert texts(rows[3]) == ["Self-BLEU-4", "0.250", "–", "–", "–", "–"]
    text = markdown_table(made_text("near", "far"))
    assert "gap: value minus that of the reference" in text
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


def test_data_of_something_else_are_refused_as_markdown():
    with pytest.raises(InputError, match=r"a summary is made of a result.*found dict"):
        markdown_of(summary({"curves": {}}))
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


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7*7 }} {% raw %}",
    "a|b\\|c\\",
    "`x` **b** _i_ ~~s~~",
    "![i](http://e.x/i.png)",
    "[l](javascript:alert(1))",
    "$x$ \\(y\\) $$z$$",
    "nul\0 tab\t line\n return\r",
    "bidi\u202e\u200f end",
    "lone \ud800 \udfff",
    "\\input{/etc/passwd}",
    "\\end{tabular}\\end{table}",
    "50 % & # _ ^ ~ {}",
    "[x] *y* -- ?` <<",
    "| --- |",
    "=1+1",
    "'\"quotes\"'",
    "&lt;b&gt; &#124; &amp;",
    "</table></div>",
    "<!-- c -->",
    "\x1b[31mred",
    "*",
    "\\",
    "_",
]
FORMS = (markdown_table, latex_table, csv_of, notebook_html)


@pytest.fixture
def hostile(make):
    """Hostile names wherever a document shows one."""
    systems = []
    for name in HOSTILE:
        scores = make["both_views"](*[0.5] * 8)
        scores["recall"] = make["score"](None, reason=name)
        scores[f"recall:group={name}"] = make["score"](0.25)
        systems.append(make["system"](name, scores, warnings=[name]))
    data = make["comparison"](systems, embedder=HOSTILE[0], group=HOSTILE[3])
    data["reference"] |= {"name": HOSTILE[1], "groups": dict.fromkeys(HOSTILE, 20)}
    return data | {"warnings": [HOSTILE[4]], "calipers": HOSTILE[8]}


class Cells(HTMLParser):
    """The first cell of every row, and all tags."""

    def __init__(self, html):
        super().__init__()
        self.first, self.tags, self.count = [], set(), -1
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.first.append("")
            self.count = 0
        elif tag in ("td", "th"):
            self.count += 1

    def handle_endtag(self, tag):
        self.count = -1 if tag == "tr" else self.count

    def handle_data(self, data):
        if self.count == 1:
            self.first[-1] += data


def squeezed(names):
    return [" ".join(name.replace("\N{WORD JOINER}", "").split()) for name in names]


@pytest.mark.parametrize("form", FORMS)
def test_is_written_as_utf8_and_the_same_each_time(form, hostile):
    text = form(hostile)
    assert text.encode("utf-8").decode("utf-8") == form(hostile)
    assert "\0" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_markdown_shows_the_names_and_nothing_else(hostile):
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(
        markdown_table(hostile)
    )  # fmt: skip
    cells = Cells(html)
    assert sorted(squeezed(cells.first[1 : 1 + len(HOSTILE)])) == sorted(
        squeezed(map(clean, HOSTILE))
    )
    table = {"table", "thead", "tbody", "tr", "th", "td"}
    assert cells.tags == table | {"p", "strong", "ul", "li", "code"}
    assert not re.search(r"\{\{|\{%", markdown_table(hostile))


def test_notebook_shows_the_names_and_nothing_else(hostile):
    cells = Cells(notebook_html(hostile))
    assert sorted(squeezed(cells.first[2 : 2 + len(HOSTILE)])) == sorted(
        squeezed(map(clean, HOSTILE))
    )
    assert not cells.tags & {"script", "img", "a", "style", "input", "iframe"}


def test_latex_holds_no_command_of_a_stranger(hostile):
    lines = latex_table(hostile).split("\n")
    text = "\n".join(line for line in lines if not line.startswith("%"))
    known = {
        "begin", "end", "centering", "small", "setlength", "tabcolsep", "caption", "label",
        "smallskip", "toprule", "midrule", "bottomrule", "cmidrule", "multicolumn", "par",
        "medskip", "clearpage", "uparrow", "textbackslash", "textasciitilde", "textasciicircum",
        "textless", "textgreater", "textbar", "textasciigrave", "texttt", "textbf", "ldots",
        "allowbreak",
    }  # fmt: skip
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= known
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
    assert all(text[:at].count("{") >= text[:at].count("}") for at in range(0, len(text), 97))


def test_csv_gives_the_names_back(hostile):
    found = csv.DictReader(io.StringIO(csv_of(hostile), newline=""))
    names = list(dict.fromkeys(row["system"] for row in found))
    assert names == [f"'{name}" if name[0] in "=-" else name for name in map(clean, HOSTILE)]


@pytest.mark.slow
@given(st.text(max_size=40))
@settings(max_examples=150)
def test_any_text_comes_back_from_a_cell_of_markdown(text):
    row = f"| a |\n| - |\n| x{markdown(text)}x |\n"
    cells = Cells(MarkdownIt("commonmark", {"html": True}).enable("table").render(row))
    assert squeezed(cells.first[1:]) == squeezed([f"x{clean(text)}x"])


@given(st.text(alphabet=st.sampled_from('\\{}$&%#_^~[]*-<>|`"ab \0é'), max_size=20))
@settings(max_examples=150)
def test_any_text_is_balanced_in_latex(text):
    written = re.sub(r"\\[{}$&%#_]", "", latex(text))
    assert not re.search(r"[$&%#_^~]", re.sub(r"\\[a-zA-Z]+", "", written))
    depth = 0
    for character in written:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


@pytest.mark.slow
def test_a_name_of_a_megabyte_is_cut(make):
    systems = [make["system"]("|<" * 500_000, {"recall": make["score"](0.5)})]
    data = make["comparison"](systems, views=["meaning"])
    assert all(len(form(data)) < 40_000 for form in FORMS)
