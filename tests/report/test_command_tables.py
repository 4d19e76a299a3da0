"""The tables and sentences of an overlap: layouts, marks, words below."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.commands.overlap import document as overlap
from calipers.commands.overlap.result import Overlap, OverlapSystem, OverlapView
from calipers.report.render.text import Screen, plain
from calipers.results import SetSummary


def overlap_text(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(overlap.document(Overlap.from_dict(data)), width=width)


def summary(name, **more):
    words = {"mean": 150.0, "median": 150.0}
    return replace(SetSummary(name, f"{name}.jsonl", 500, 500, words, name), **more)


def overlap_of(names, *, seeds=False, value=0.42):
    size = len(names)
    shares = np.full((size, size), value)
    sd = np.full((size, size), 0.01 if seeds else np.nan)
    if not seeds:
        np.fill_diagonal(shares, np.nan)
    pairs = np.full((size, size), 4 if seeds else 1)
    signatures = tuple(("metric:x",) * size for _ in names)
    views = {
        view: OverlapView(view, tuple(names), (500,) * size, shares, sd, pairs, signatures)
        for view in ("meaning", "form")
    }
    files = 2 if seeds else 1
    systems = tuple(OverlapSystem(summary(n), (summary(n),) * files) for n in names)
    return Overlap(systems, views, {"embedder": "minilm", "k": 4, "seed": 7}).to_dict()


def matrix(text, view="meaning"):
    """The lines of one matrix, headers first."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"By {view}"))
    end = next(i for i in range(start, len(lines)) if not lines[i])
    return lines[start + 1 : end]


def test_rows_are_references_and_columns_judged():
    data = overlap_of(["human", "model"])
    data["views"]["meaning"]["precision"] = [[None, 0.25], [0.75, None]]
    data["views"]["meaning"]["recall"] = [[None, 0.75], [0.25, None]]
    rows = [line.split() for line in matrix(overlap_text(data))]
    assert rows == [
        ["reference", "human", "model"],
        ["human", "precision", "–", "0.250"],
        ["recall", "–", "0.750"],
        ["model", "precision", "0.750", "–"],
        ["recall", "0.250", "–"],
    ]


def test_what_stands_above_and_below():
    text = overlap_text(overlap_of(["human", "model"]))
    assert text.startswith("Overlap of 2 systems, n = 500 each · embedder minilm · k 4 · seed 7\n")
    assert "- human and model overlap in part: 42 % of model lies inside human" in text
    assert "within     at least 90 % of one inside the other" in text
    assert "disjoint   at most 10 % in both directions" in text
    assert "No system is taken as the correct one." in text
    assert "note: – on the diagonal: the system has a single file" in text
    assert "\nceiling" not in text
    assert "\nabout" not in text


def test_seed_files_bring_spreads_and_the_diagonal():
    text = overlap_text(overlap_of(["human", "model"], seeds=True))
    assert matrix(text)[1].split() == ["human", "precision", "0.42±0.01", "0.42±0.01"]
    assert "note: diagonal: the overlap of the files of one system" in text
    assert "±          standard deviation" in text
    assert "system  files    n  words" in text


def test_a_system_of_one_file_beside_others_with_seeds():
    data = overlap_of(["human", "model"], seeds=True)
    data["systems"][0]["files"] = data["systems"][0]["files"][:1]
    for kind in ("precision", "recall", "precision_sd", "recall_sd"):
        data["views"]["meaning"][kind][0][0] = None
    text = overlap_text(data)
    assert "note: – on the diagonal: the system has a single file" in text
    assert matrix(text)[1].split() == ["human", "precision", "–", "0.42±0.01"]


SIX = ["llama-2-70b-chat", "llama-2-13b-chat", "llama-2-7b", "mistral-7b-instruct", "vicuna", "x"]


@pytest.mark.parametrize(
    ("width", "header", "kind"), [(140, "1", "precision"), (120, "1", "precision"), (80, "1", "P")]
)
def test_six_systems_with_seeds_stay_in_one_matrix(width, header, kind):
    text = overlap_text(overlap_of(SIX, seeds=True), width=width)
    rows = matrix(text)
    assert len(rows) == 13
    assert rows[0].split()[1] == header
    assert rows[1].split()[2] == kind
    assert max(map(cell_len, text.splitlines())) <= width
    assert "1 llama-2-70b-chat" in text


def test_short_names_stand_above_their_columns():
    rows = matrix(overlap_text(overlap_of(["human", "gpt2-xl", "neox"], seeds=True), width=80))
    assert rows[0].split() == ["reference", "human", "gpt2-xl", "neox"]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("count", [2, 12])
def test_no_line_is_too_wide_whatever_the_names(width, count):
    names = [f"{i}模型/" * 30 + "end" for i in range(count)]
    data = overlap_of(names, seeds=True)
    for shown in (overlap.document, overlap.whole):
        text = plain(shown(Overlap.from_dict(data)), width=width)
        assert max(map(cell_len, text.splitlines())) <= width
    assert text.count("0.42±0.01") == 2 * 2 * count * count


def test_percent_signs_stay_with_their_numbers():
    for width in range(40, 100):
        text = overlap_text(overlap_of(["human", "model"]), width=width)
        assert not any(line.lstrip().startswith("%") for line in text.splitlines())
        assert "\N{NO-BREAK SPACE}" not in text


def test_control_characters_in_names_are_not_shown():
    assert "\x1b" not in overlap_text(overlap_of(["a\x1b[2Jb", "c\nd"]))


def test_warnings_name_their_systems_and_stand_once():
    data = overlap_of(["human", "model"])
    for system in data["systems"]:
        system["warnings"] = ["2 of 500 texts are empty"]
    data["warnings"] = ["few", "few"]
    text = overlap_text(data)
    assert "warning: human, model: 2 of 500 texts are empty\nwarning: few\n" in text
    assert text.count("few") == 1


def test_the_terminal_shows_the_same_lines():
    data = overlap_of(["human", "[red]x[/red]"], seeds=True)
    file = io.StringIO()
    Console(file=file, width=90).print(Screen(overlap.document(Overlap.from_dict(data))))
    shown = [line.rstrip() for line in file.getvalue().splitlines()]
    assert shown == overlap_text(data, width=90).splitlines()
    colour = io.StringIO()
    Console(file=colour, width=90, force_terminal=True, color_system="standard").print(
        Screen(overlap.document(Overlap.from_dict(data)))
    )
    assert "\x1b[2m0.42±0.01\x1b[0m" in colour.getvalue()
