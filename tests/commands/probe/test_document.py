"""The tables of a probe: gaps, verdicts, words below."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.commands.probe.document import document, percent, signed
from calipers.commands.probe.result import Move, Probe, ProbedChange, ProbedView
from calipers.report.render.text import Screen, plain
from calipers.results import SetSummary


def probe_text(result, *, width=100):
    """Write what is shown as plain text."""
    return plain(document(result), width=width)


METRICS = ("mauve_star", "precision", "recall")


def change(name, gap, *, altered=1.0, moved=1.0):
    moves = tuple(
        Move(metric, "higher", (0.9, 0.94), (0.9 + gap, 0.94 + gap), 0.02) for metric in METRICS
    )
    return ProbedChange(name, name.replace("_", " "), f"does {name}", altered, moved, moves)


def probe_of(*changes, views=("meaning",), **more):
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
    )


def test_gaps_and_verdicts():
    text = probe_text(probe_of(change("word_shuffle", -0.4), change("typos", 0.0)), width=80)
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith(
        "What minilm detects in human · 2 random splits into 250 + 250 · k 4 · seed 0\n"
    )
    assert lines[2] == ["By", "meaning", "(topics", "and", "content)"]
    assert lines[4] == ["change", "alters", *["score", "gap"] * 3, "verdict"]
    assert lines[5] == ["unchanged", *["0.920", "±0.057"] * 3]
    assert lines[6] == ["word", "shuffle", "100", "%", *["0.520", "-0.400"] * 3, "sees"]
    assert lines[7] == ["typos", "100", "%", *["0.920", "0.000"] * 3, "blind"]


def test_what_moves_no_vector_is_told():
    text = probe_text(probe_of(change("case", 0.0, moved=0.0), change("typos", 0.0)))
    assert "note: by meaning, no vector changes with: case\n" in text


def test_what_changes_nothing_is_not_called_blind():
    result = probe_of(
        change("case", 0.0, altered=0.0, moved=np.nan), change("typos", 0.0, altered=0.2)
    )
    text = probe_text(result)
    assert [line.split()[-2:] for line in text.splitlines()[6:8]] == [
        ["no", "change"],
        ["few", "changed"],
    ]
    assert "no vector changes" not in text
    assert "\ncase" in text
    assert result.to_dict()["views"]["meaning"]["case"]["moved"] is None


def test_every_view_has_a_table():
    text = probe_text(probe_of(change("typos", 0.0), views=("meaning", "form")))
    assert text.count("\nchange ") == 2
    assert text.count("does typos") == 1


def test_a_cut_and_warnings_are_told():
    result = probe_of(change("typos", 0.0), max_samples=300)
    samples = replace(result.samples, warnings=("14 of 500 texts were cut",))
    text = probe_text(replace(result, samples=samples, warnings=("halves are few",)))
    assert "note: 500 texts cut to 300 (`max_samples`)" in text
    assert "warning: human: 14 of 500 texts were cut" in text
    assert "warning: halves are few" in text


@pytest.mark.parametrize("width", [40, 60, 79, 80, 120])
def test_lines_fit_the_width(width):
    result = probe_of(
        change("sentence_shuffle", -0.4), change("typos", 0.01), views=("meaning", "form")
    )
    text = probe_text(result, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count(" sees") + text.count("\nsees") >= 2


def test_the_terminal_shows_the_same_words():
    result = probe_of(change("typos", -0.2))
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(Screen(document(result)))
    plain = [line.rstrip() for line in console.file.getvalue().replace("─", "-").splitlines()]
    assert plain == probe_text(result, width=80).splitlines()


def test_signs_and_shares():
    assert [signed(x) for x in (0.1, -0.1, 0.0001, -0.0001, math.nan)] == [
        "+0.100",
        "-0.100",
        "0.000",
        "0.000",
        "–",
    ]
    assert [percent(x) for x in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
    ]
