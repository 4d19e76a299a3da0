"""Progress: silent for what is short, on standard error for what is long."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from calipers.cli.progress import RichProgress


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)


def written(console: Console) -> str:
    return console.file.getvalue()


def test_a_short_task_leaves_no_trace_on_a_terminal():
    console = terminal()
    with RichProgress(console).task("short", 3) as advance:
        advance(3)
    assert written(console) == ""


def test_a_long_task_is_shown_and_then_wiped():
    console = terminal()
    with RichProgress(console, patience=0.05).task("embedding [human]", 4) as advance:
        advance(2)
        time.sleep(0.3)
    assert "embedding [human]" in written(console)
    assert "2/4" in written(console)
    assert "\x1b[2K" in written(console)


def test_a_long_task_tells_the_time_left_after_its_first_step():
    console = terminal()
    with RichProgress(console, patience=0.05).task("embedding", 4) as advance:
        time.sleep(0.1)
        advance(1)
        time.sleep(0.3)
    assert "about 0:00:01 left" in written(console)


def test_tasks_may_nest_and_follow_each_other():
    console = terminal()
    progress = RichProgress(console, patience=0.02)
    for name in ("first", "second"):
        with progress.task(name, None) as outer, progress.task(f"inner of {name}", 2) as inner:
            outer(1)
            inner(1)
            time.sleep(0.2)
    for name in ("first", "second", "inner of first", "inner of second"):
        assert name in written(console)
    assert "/?" not in written(console)


def test_the_screen_is_given_back_after_an_error():
    console = terminal()

    def interrupted() -> None:
        with RichProgress(console, patience=0.02).task("long", None):
            time.sleep(0.15)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    wipe_and_show_cursor = "\x1b[2K\x1b[?25h"
    assert wipe_and_show_cursor in written(console)[-20:]


def test_without_a_terminal_a_long_task_is_one_line(capsys):
    progress = RichProgress(Console(file=io.StringIO()), patience=0.01)
    with progress.task("embedding human", 4) as advance:
        advance(4)
        time.sleep(0.02)
    with progress.task("short", 1):
        pass
    assert capsys.readouterr().err == "embedding human: 0.0 s\n"
