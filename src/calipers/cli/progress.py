"""Progress bars on standard error for tasks that take longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from calipers.cli.heartbeat import LINES, Heartbeat
from calipers.cli.pace import Pace
from calipers.cli.streams import write_error
from calipers.progress import Advance, noted
from calipers.wording.cells import runs_isolated
from calipers.wording.names import clean, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

PATIENCE = 1.0
LEAST = 20
"""Cells that a description may take on a terminal of any width, beside its bar and its time."""


class RichProgress:
    """Shows a bar for each task that takes over a second, and removes it at the end.

    Where standard error is not a terminal, each such task leaves one plain line when it is done,
    and a line a minute says how far those are that are running.
    """

    def __init__(
        self,
        console: Console | None = None,
        *,
        patience: float = PATIENCE,
        lines: Heartbeat = LINES,
    ) -> None:
        from rich.console import Console

        # FORCE_COLOR and its kin ask for colours, which makes no terminal of a log
        forced = None if sys.stderr.isatty() else False
        self._console = console or Console(stderr=True, force_terminal=forced)
        self._patience, self._lines = patience, lines
        self._lock = threading.Lock()
        self._bars: Bars | None = None
        self._open = 0

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Open a task of `total` steps, or of an unknown number of steps."""
        shown = self._bar(description, total) if self._console.is_terminal else None
        with noted(description), shown or self._line(description, total) as advance:
            yield advance

    @contextmanager
    def _bar(self, description: str, total: int | None) -> Iterator[Advance]:
        bars, pace = self._enter(), Pace(total)
        shown = runs_isolated(shorten(clean(description), max(LEAST, self._console.width // 2)))
        task = bars.add_task(shown, total=total, visible=False, pace=pace)
        timer = threading.Timer(self._patience, lambda: self._reveal(bars, task))
        timer.daemon = True
        timer.start()

        def advance(steps: int) -> None:
            pace.advance(steps)
            bars.advance(task, steps)

        try:
            yield advance
        finally:
            timer.cancel()
            self._leave(bars, task)

    @contextmanager
    def _line(self, description: str, total: int | None) -> Iterator[Advance]:
        begun = time.monotonic()
        with self._lines.task(description, total) as advance:
            yield advance
        seconds = time.monotonic() - begun
        if seconds >= self._patience:
            write_error(f"{description}: {seconds:.1f} s")
            self._lines.wrote()

    def _enter(self) -> Bars:
        with self._lock:
            self._bars = self._bars or _bars(self._console)
            self._open += 1
            return self._bars

    def _reveal(self, bars: Bars, task: TaskID) -> None:
        """Show a task that turned out to be long, unless it has just ended."""
        with self._lock:
            if task in bars.task_ids:
                bars.update(task, visible=True)
                bars.start()

    def _leave(self, bars: Bars, task: TaskID) -> None:
        with self._lock:
            bars.remove_task(task)
            self._open -= 1
            if self._open == 0:
                bars.stop()
                self._bars = None


def _bars(console: Console) -> Bars:
    """Make the bars; only standard error is theirs, standard output stays as it is."""
    from rich import progress
    from rich.text import Text

    class Steps(progress.MofNCompleteColumn):
        """How many steps are done, where it is known how many there are."""

        def render(self, task: progress.Task) -> Text:
            return super().render(task) if task.total is not None else Text()

    class Left(progress.ProgressColumn):
        """An estimate of the time that is left, where the number of steps is known."""

        def render(self, task: progress.Task) -> Text:
            return Text(task.fields["pace"].words, style="progress.remaining")

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        Steps(),
        progress.TimeElapsedColumn(),
        Left(),
        console=console,
        transient=True,
        redirect_stdout=False,
    )
