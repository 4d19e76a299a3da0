"""LaTeX tables, their rows taken apart again: the numbers of the data, and the caption."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from calipers.errors import InputError
from calipers.report.export_latex import latex_table
from calipers.report.export_latex_escape import escape
from calipers.report.numbers import score_text

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
    assert len(found) == 2
    for view, rows in zip(("", "form."), found, strict=True):
        assert len(rows) == 5
        for row, system in zip(rows, four_sure["systems"], strict=False):
            assert row[0] == system["name"].replace("_", r"\_")
            for cell, metric in zip(row[1:], METRICS, strict=True):
                score = system["scores"][view + metric]
                low, high = score["interval"]
                value, *spread = map(float, re.findall(r"\d+\.\d+", cell))
                assert value == pytest.approx(score["value"], abs=5.1e-4)
                wanted = [(high - low) / 2] if r"\pm" in cell else [low, high]
                assert spread == pytest.approx(wanted, abs=5.1e-4)


def test_best_alike_and_approximate_are_marked(four_sure):
    first, second, third, _, floor = tabulars(latex_table(four_sure))[0]
    assert first[1] == r"\textbf{0.985}$_{[0.955, 0.995]}$"
    assert second[2] == r"0.800$^{\ddagger}{}_{\pm 0.013}$"
    (_, alike, *_) = tabulars(latex_table(four_sure))[1]
    assert alike[2] == r"0.800$^{\dagger}{}_{\pm 0.026}$"
    assert third[3] == r"0.700$_{\pm 0.015\sim}$"
    assert floor[:2] == [r"noise floor 2$\times$950", r"0.951$_{\pm 0.004}$"]


def test_caption_explains_the_marks(four_sure):
    (caption,) = re.findall(r"\\caption\{(.*)\}", latex_table(four_sure))
    assert caption.startswith("Reference: human, n = 500; embedder minilm; seed 7; ")
    assert r"$\uparrow$: higher is better." in caption
    assert r"\textbf{Bold}: best of its column." in caption
    assert (
        r"$\dagger$: not distinguishable from the best (at 95 \%, corrected for 48 tests)"
        in caption
    )
    assert r"$\ddagger$: undecided: differs from the best when tested alone" in caption
    assert r"$\pm$: 95 \% interval" in caption
    assert r"$\sim$: approximate" in caption


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
    assert sorted(cells)[:2] == ["0.130", "0.240"]
    assert not any("$" in cell for cell in cells)
    assert r"\textbf{0.910}" in cells


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
    assert score_text(scores["mmd"]) == "-0.0001678"


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
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
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
    assert escape(text) == written


def test_data_of_something_else_are_refused():
    with pytest.raises(InputError, match="found dict"):
        latex_table({})


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdfLaTeX")
def test_compiles(four_sure, tmp_path):
    names = ["[a]", "\\end{tabular}", "50 % & $x_1^2$ #{}~", "**é** <b>|\0`\ud800 -- 😀"]
    for system, name in zip(four_sure["systems"], names, strict=True):
        system["name"] = name
    assert compiled(latex_table(four_sure), tmp_path) == []
