"""Progress: silent for what is short, on standard error for what is long; and the time left."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from calipers.cli.pace import Pace
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
    progress = RichProgress(Console(file=io.StringIO()), patience=0.2)
    with progress.task("embedding human", 4) as advance:
        advance(4)
        time.sleep(0.21)
    with progress.task("short", 1):
        pass
    line, end = capsys.readouterr().err.split("\n", 1)
    assert re.fullmatch(r"embedding human: \d\.\d s", line)
    assert end == ""


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def told(clock: Clock, total: int | None, *moves: tuple[float, int]) -> Pace:
    """Make a task whose steps came after so many seconds each."""
    pace = Pace(total, clock=clock)
    for seconds, steps in moves:
        clock.now += seconds
        pace.advance(steps)
    return pace


def test_nothing_is_told_before_the_first_step_or_without_a_total(clock):
    assert told(clock, 10).left is None
    assert told(clock, 10).words == ""
    assert told(clock, None, (1, 5)).left is None


def test_the_first_step_gives_an_estimate_and_an_even_pace_the_right_one(clock):
    assert told(clock, 10, (4, 1)).left == pytest.approx(36)
    assert told(clock, 10, *[(4, 1)] * 5).left == pytest.approx(20)
    assert told(clock, 10, *[(4, 1)] * 5).words == "about 0:00:20 left"
    assert told(clock, 10, *[(4, 1)] * 10).left == 0


def test_steps_that_take_minutes_give_an_estimate_too(clock):
    assert told(clock, 10_000, (90, 1000), (90, 1000)).left == pytest.approx(720)


def test_what_came_from_a_cache_is_not_taken_for_the_pace(clock):
    cached = [(0.002, 1024)] * 50
    found = told(clock, 60_000, *cached, (3, 256), (3, 256))
    assert found.left == pytest.approx((60_000 - 51_712) * 3 / 256, rel=0.05)


def test_a_wait_leaves_the_estimate_as_it_was(clock):
    pace = told(clock, 10, (4, 1), (4, 1))
    clock.now += 500
    assert pace.left == pytest.approx(32)


def test_many_small_steps_take_little_room(clock):
    pace = told(clock, 100_000, *[(0.001, 1)] * 10_000)
    assert len(pace._times) < 400
    assert pace.left == pytest.approx(90, rel=0.05)
