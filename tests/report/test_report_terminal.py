"""The table on a terminal: the same lines, with weight and shade."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.report import comparison_table, plain_text


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
    assert "\x1b[1m0.910*\x1b[0m" in text
    assert "\x1b[1m0.900" not in text


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
    assert lines[row + 1].strip() == "[0.870,0.920]"


def test_all_metrics_are_shown_in_pieces_at_60_columns(make):
    from calipers.catalogue.embeddings import METRICS
    from calipers.report.names import UNRANKED, label

    scores = {key: make["score"](0.5) for key in METRICS}
    scores |= {f"form.{key}": make["score"](0.25) for key in METRICS}
    data = make["comparison"]([make["system"]("a", scores)], metrics_shown=list(METRICS))
    text = shown(data, width=60)
    assert max(map(len, plain_text(data, width=60).splitlines())) <= 60
    assert text.count("0.500") == text.count("0.250") == len(METRICS)
    for key in METRICS:
        assert text.count(f"{label(key)}↑") == (0 if key in UNRANKED else 2)
        assert text.count(label(key)) >= 2
    assert "--metrics all" not in text
