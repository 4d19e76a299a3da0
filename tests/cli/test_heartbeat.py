"""Progress in a log: a line a minute, what it says, and when there is none, by a made-up clock."""

from __future__ import annotations

import threading

import pytest
from typer.testing import CliRunner

from calipers.cli import heartbeat
from calipers.cli.app import app
from calipers.cli.heartbeat import Heartbeat, rate_words


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Log:
    """A heartbeat whose clock stands until it is moved, and which has no thread of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Heartbeat, "_run", lambda self, stop: None)
        self.clock, self.lines = Clock(), list[str]()
        self.beats = Heartbeat(clock=self.clock, write=self.lines.append)

    def pass_by(self, seconds: int) -> None:
        """Have a beat every second, as often as any waiting thread would."""
        for _ in range(seconds):
            self.clock.now += 1
            self.beats.beat()

    def steps(self, advance, seconds: int, count: int) -> None:
        """Make steps in equal distances of time."""
        for _ in range(count):
            self.pass_by(seconds // count)
            advance(1)


@pytest.fixture
def log(monkeypatch):
    return Log(monkeypatch)


def test_a_line_a_minute_says_done_total_rate_and_what_is_left(log):
    with log.beats.task("Scoring human", 1500) as advance:
        log.pass_by(1)
        for _ in range(179):
            advance(5)
            log.pass_by(1)
    assert log.lines == [
        "Scoring human: 295 of 1,500 after 0:01:00, 5 a second, about 0:04:01 left",
        "Scoring human: 595 of 1,500 after 0:02:00, 5 a second, about 0:03:01 left",
        "Scoring human: 895 of 1,500 after 0:03:00, 5 a second, about 0:02:01 left",
    ]


def test_a_task_that_ends_within_the_minute_leaves_no_line(log):
    with log.beats.task("Scoring", 10) as advance:
        log.steps(advance, 50, 10)
    log.pass_by(100)
    assert log.lines == []


def test_nothing_done_yet_is_said_as_it_is(log):
    with log.beats.task("Writing top_p=0.9", 500):
        log.pass_by(60)
    assert log.lines == ["Writing top_p=0.9: 0 of 500 after 0:01:00"]


def test_without_a_total_there_is_no_time_left(log):
    with log.beats.task("cells: rounds of k-means", None) as advance:
        log.pass_by(60)
        advance(1)
        log.steps(advance, 60, 2)
    assert log.lines == [
        "cells: rounds of k-means: running for 0:01:00",
        "cells: rounds of k-means: 2 after 0:02:00, 2 a minute",
    ]


def test_open_tasks_share_a_line_the_outermost_first(log):
    with log.beats.task("Scoring", 4) as outer:
        log.pass_by(20)
        outer(1)
        with log.beats.task("Embedding human", 200) as inner:
            log.steps(inner, 40, 20)
    assert log.lines == [
        "Scoring: 1 of 4 after 0:01:00, 3 a minute, about 0:01:00 left; "
        "Embedding human: 19 of 200 after 0:00:40, 30 a minute, about 0:06:02 left"
    ]


def test_a_command_as_a_whole_has_a_line_only_while_no_task_is_open(log):
    with log.beats.task("calipers tune", None, whole=True):
        log.pass_by(60)
        with log.beats.task("Writing greedy", 3):
            log.pass_by(60)
        log.pass_by(60)
    assert log.lines == [
        "calipers tune: running for 0:01:00",
        "Writing greedy: 0 of 3 after 0:01:00",
        "calipers tune: running for 0:03:00",
    ]


def test_the_minute_counts_from_the_last_line_of_any_kind(log):
    with log.beats.task("calipers tune", None, whole=True):
        log.pass_by(40)
        log.beats.wrote()
        log.pass_by(59)
        assert log.lines == []
        log.pass_by(1)
    assert log.lines == ["calipers tune: running for 0:01:40"]


def test_the_minute_begins_with_the_work(log):
    log.pass_by(500)
    with log.beats.task("first", 2):
        log.pass_by(59)
        assert log.lines == []
    with log.beats.task("second", 2):
        log.pass_by(60)
    assert log.lines == ["second: 0 of 2 after 0:01:00"]


def test_short_tasks_of_a_command_are_not_silent_together(log):
    with log.beats.task("calipers tune", None, whole=True):
        for number in range(30):
            with log.beats.task(f"part {number}", 1):
                log.pass_by(10)
    assert len(log.lines) == 5
    assert log.lines[0] == "part 5: 0 of 1 after 0:00:10"


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (99.5, "100 a second"),
        (9.96, "10 a second"),
        (1.0, "1 a second"),
        (0.99, "59 a minute"),
        (1 / 60, "1 a minute"),
        (1 / 61, "59 an hour"),
        (1 / 36_000, "0.1 an hour"),
    ],
)
def test_a_rate_has_the_unit_in_which_there_are_several(rate, words):
    assert rate_words(rate) == words


def test_a_thread_writes_while_the_work_goes_on_and_ends_with_it():
    written, lines = threading.Event(), list[str]()

    def write(line: str) -> None:
        lines.append(line)
        written.set()

    before = threading.active_count()
    beats = Heartbeat(interval=0.01, write=write)
    with beats.task("Scoring", 2) as advance:
        advance(1)
        assert written.wait(10)
    assert lines[0].startswith("Scoring: 1 of 2 after 0:00:0")
    for thread in threading.enumerate():
        if thread.daemon and thread is not threading.current_thread():
            thread.join(0.5)
    assert threading.active_count() <= before


@pytest.fixture
def impatient(monkeypatch):
    """The heartbeat of the process, with a line as often as anything is open."""
    beats = Heartbeat(interval=0.0)
    monkeypatch.setattr(heartbeat, "LINES", beats)
    entered = Heartbeat._enter

    def enter(self, task):
        entered(self, task)
        self.beat()

    monkeypatch.setattr(Heartbeat, "_enter", enter)


def test_every_command_is_watched_and_quiet_ones_are_not(impatient):
    run = CliRunner().invoke(app, ["metrics", "precision"])
    assert "calipers metrics: running for 0:00:00" in run.stderr
    run = CliRunner().invoke(app, ["metrics", "precision", "--quiet"])
    assert run.stderr == ""
