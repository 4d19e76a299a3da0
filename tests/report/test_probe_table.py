"""The tables of a probe: layouts by width, signs, verdicts, and the words below."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.comparison import SetSummary
from calipers.comparison.probe_model import Probe, ProbedChange, ProbedView
from calipers.comparison.probe_words import Move
from calipers.report.probe_content import _percent, _signed
from calipers.report.probe_table import ProbeTable, probe_text

METRICS = ("mauve_star", "precision", "recall")


def change(name, gap, *, altered=1.0, moved=1.0):
    moves = tuple(
        Move(metric, "higher", (0.9, 0.94), (0.9 + gap, 0.94 + gap), 0.02) for metric in METRICS
    )
    return ProbedChange(name, name.replace("_", " "), f"does {name}", altered, moved, moves)


def made(*changes, views=("meaning",), **more):
    settings = {
        "embedder": "minilm",
        "metrics": list(METRICS),
        "seeds": 2,
        "half": 250,
        "k": 4,
        "seed": 0,
        "max_samples": None,
    }
    return Probe(
        samples=SetSummary("human", "human.jsonl", 500, 500, None, "0"),
        views={view: ProbedView(view, {each.name: each for each in changes}) for view in views},
        settings={**settings, **more},
        signatures={},
    ).to_dict()


def test_gaps_and_verdicts():
    text = probe_text(made(change("word_shuffle", -0.4), change("typos", 0.0)), width=80)
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith(
        "What minilm sees in human · 2 random halvings into 250 + 250 · k 4 · seed 0\n"
    )
    assert lines[2] == ["By", "meaning", "(topics", "and", "content)"]
    assert lines[4] == ["change", "alters", *["score", "gap"] * 3, "verdict"]
    assert lines[5] == ["unchanged", *["0.920", "±0.057"] * 3]
    assert lines[6] == ["word", "shuffle", "100", "%", *["0.520", "-0.400"] * 3, "sees"]
    assert lines[7] == ["typos", "100", "%", *["0.920", "0.000"] * 3, "blind"]


def test_what_moves_no_vector_is_told():
    text = probe_text(made(change("case", 0.0, moved=0.0), change("typos", 0.0)))
    assert "note: by meaning, no vector moves for: case\n" in text


def test_what_changes_nothing_is_not_called_blind():
    data = made(change("case", 0.0, altered=0.0, moved=np.nan), change("typos", 0.0, altered=0.2))
    text = probe_text(data)
    assert [line.split()[-2:] for line in text.splitlines()[6:8]] == [
        ["no", "change"],
        ["few", "changed"],
    ]
    assert "no vector moves" not in text
    assert "\ncase" in text
    assert data["views"]["meaning"]["case"]["moved"] is None


def test_every_view_has_a_table():
    text = probe_text(made(change("typos", 0.0), views=("meaning", "form")))
    assert text.count("\nchange ") == 2
    assert text.count("does typos") == 1


def test_a_cut_and_warnings_are_told():
    data = made(change("typos", 0.0), max_samples=300)
    data["warnings"] = ["halves are few"]
    data["samples"]["warnings"] = ["14 of 500 texts were cut"]
    text = probe_text(data)
    assert "note: 500 texts cut to 300 (--max-samples)" in text
    assert "warning: human: 14 of 500 texts were cut" in text
    assert "warning: halves are few" in text


@pytest.mark.parametrize("width", [40, 60, 79, 80, 120])
def test_lines_fit_the_width(width):
    data = made(change("sentence_shuffle", -0.4), change("typos", 0.01), views=("meaning", "form"))
    text = probe_text(data, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count(" sees") + text.count("\nsees") >= 2


def test_the_terminal_shows_the_same_words():
    data = made(change("typos", -0.2))
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(ProbeTable(data))
    plain = [line.rstrip() for line in console.file.getvalue().replace("─", "-").splitlines()]
    assert plain == probe_text(data, width=80).splitlines()


def test_signs_and_shares():
    assert [_signed(x) for x in (0.1, -0.1, 0.0001, -0.0001, None)] == [
        "+0.100",
        "-0.100",
        "0.000",
        "0.000",
        "–",
    ]
    assert [_percent(x) for x in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
    ]
