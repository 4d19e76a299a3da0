"""The rate of a task and an estimate of its remaining time.

The pace is that of the latter half of the time so far: what came at once in the beginning, from a
cache, is soon forgotten, and steps that take minutes each still give an estimate.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from datetime import timedelta
from math import ceil

_FINE = 0.1
"""Seconds within which steps count as one."""


class Pace:
    """Estimates the rate and the remaining time of a task.

    Parameters
    ----------
    total
        Its steps; None where nobody knows.
    clock
        Gives the time in seconds.
    """

    def __init__(self, total: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._times, self._done = [clock()], [0]

    def advance(self, steps: int) -> None:
        """Add completed steps."""
        now, done = self._clock(), self._done[-1] + steps
        if len(self._times) > 1 and now - self._times[-2] < _FINE:
            self._times[-1], self._done[-1] = now, done
            return
        self._times.append(now)
        self._done.append(done)

    @property
    def done(self) -> int:
        """The number of completed steps."""
        return self._done[-1]

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._times[0]

    @property
    def rate(self) -> float | None:
        """Steps per second; None while they cannot be estimated."""
        pace = self._pace()
        return 1 / pace if pace else None

    @property
    def left(self) -> float | None:
        """Remaining seconds; None while they cannot be estimated."""
        pace = self._pace()
        if self._total is None or pace is None:
            return None
        return max(0, self._total - self._done[-1]) * pace

    def _pace(self) -> float | None:
        """Seconds that a step takes; None before the first one."""
        if self._done[-1] == 0:
            return None
        half = (self._times[0] + self._clock()) / 2
        base = min(bisect_right(self._times, half), len(self._times) - 1) - 1
        steps = self._done[-1] - self._done[base]
        return (self._times[-1] - self._times[base]) / steps if steps else 0.0

    @property
    def words(self) -> str:
        """The remaining time in words; empty while it cannot be estimated."""
        left = self.left
        return "" if left is None else f"about {timedelta(seconds=ceil(left))} left"
