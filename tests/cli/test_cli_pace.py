"""How long a task will still take."""

from __future__ import annotations

import pytest

from calipers.cli.pace import Pace


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
