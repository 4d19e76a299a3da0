"""Progress in a log: one line per minute on what is running, where there is no terminal.

A line says of every open task, the outermost first, how much is done, for how long, at what rate
and how long the rest will take. Whoever reads the log sees that a run goes on, and whether it will
end in time. A task that has ended has its line already (:mod:`calipers.cli.progress`); the minute
counts from the last line of any kind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from calipers.cli.pace import Pace
from calipers.cli.streams import write_error
from calipers.progress import Advance

INTERVAL = 60.0
"""Seconds between two lines."""


@dataclass(eq=False)
class OpenTask:
    """A running task.

    Attributes
    ----------
    description
        What it does; a command as a whole is shown only while nothing else is.
    total
        Its steps; None where nobody knows.
    pace
        How far it is.
    """

    description: str
    total: int | None
    pace: Pace
    whole: bool = False

    @property
    def words(self) -> str:
        """Its progress in words: steps done, elapsed time, rate, and remaining time."""
        pace, begun = self.pace, timedelta(seconds=int(self.pace.elapsed))
        if self.total is None and not pace.done:
            return f"{self.description}: running for {begun}"
        of = "" if self.total is None else f" of {self.total:,}"
        parts = [f"{self.description}: {pace.done:,}{of} after {begun}"]
        if pace.rate is not None:
            parts.append(rate_words(pace.rate))
        if pace.words:
            parts.append(pace.words)
        return ", ".join(parts)


def rate_words(rate: float) -> str:
    """Write a rate per second, or per a longer unit of time for slow steps.

    Examples
    --------
    >>> rate_words(1234.5), rate_words(2.5), rate_words(0.5), rate_words(0.001)
    ('1,234 a second', '2.5 a second', '30 a minute', '3.6 an hour')
    """
    units = ((1, "a second"), (60, "a minute"), (3600, "an hour"))
    seconds, unit = next((pair for pair in units if rate * pair[0] >= 1), units[-1])
    number = rate * seconds
    return f"{number:,.0f} {unit}" if number >= 10 else f"{number:.2g} {unit}"


class Heartbeat:
    """Writes one line per minute while any task is running.

    Parameters
    ----------
    interval
        Seconds between two lines.
    clock
        Gives the time in seconds.
    write
        Takes a line.
    """

    def __init__(
        self,
        *,
        interval: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
        write: Callable[[str], None] = write_error,
    ) -> None:
        self._interval, self._clock, self._write = interval, clock, write
        self._lock = threading.Lock()
        self._open: list[OpenTask] = []
        self._last = clock()
        self._stop: threading.Event | None = None

    @contextmanager
    def task(
        self, description: str, total: int | None, *, whole: bool = False
    ) -> Iterator[Advance]:
        """Watch a task while it runs.

        Parameters
        ----------
        description, total
            As :meth:`calipers.progress.Progress.task` has them.
        whole
            Whether it is a command as a whole, which has a line only while nothing else is open.
        """
        task = OpenTask(description, total, Pace(total, clock=self._clock), whole)
        self._enter(task)
        try:
            yield task.pace.advance
        finally:
            self._leave(task)

    def wrote(self) -> None:
        """Note that another line was written, so that the next is due in a minute."""
        self._last = self._clock()

    def wait(self) -> float:
        """Return the seconds until the next line."""
        return max(self._last + self._interval - self._clock(), 0)

    def beat(self) -> None:
        """Write a line if one is due."""
        with self._lock:
            tasks = [task for task in self._open if not task.whole] or self._open
            if tasks and self.wait() <= 0:
                self._write("; ".join(task.words for task in tasks))
                self.wrote()

    def _enter(self, task: OpenTask) -> None:
        with self._lock:
            self._open.append(task)
            if self._stop is None:
                self.wrote()  # the minute begins with the work
                self._stop = threading.Event()
                threading.Thread(target=self._run, args=(self._stop,), daemon=True).start()

    def _leave(self, task: OpenTask) -> None:
        with self._lock:
            self._open.remove(task)
            if not self._open and self._stop is not None:
                self._stop.set()
                self._stop = None

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self.wait()):
            self.beat()


LINES = Heartbeat()
"""The one of this process, as there is one standard error."""
