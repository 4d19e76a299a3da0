"""A finished sweep ──► the screen and the files that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.cli.checks import STDIO, check_outputs
from calipers.cli.deliver import Look, show_data
from calipers.cli.streams import write_bytes_of, write_error
from calipers.cli.sweep_options import check_plot
from calipers.errors import CalipersError
from calipers.progress import Progress, Silent

if TYPE_CHECKING:
    from calipers.comparison import Sweep

SIGNS = "↑↓–…·─±"


@dataclass(frozen=True)
class SweepOutputs:
    """Where a sweep goes.

    Attributes
    ----------
    json
        A path, ``-`` for standard output (which then holds nothing else), or None.
    plot
        The file of the figure, or None.
    quiet
        Whether standard error stays empty, short of errors.
    """

    json: str | None = None
    plot: str | None = None
    quiet: bool = False

    def check(self, specs: Sequence[str]) -> None:
        """Refuse early what could not be written late; `specs` are the inputs."""
        check_plot(self.plot)
        named = [("--json", self.json), ("--plot", self.plot)]
        check_outputs(
            [(option, path) for option, path in named if path not in (None, STDIO)], specs
        )

    def progress(self) -> Progress:
        """Give what shows progress on standard error, unless quiet was asked for."""
        from calipers.cli.progress import RichProgress

        return Silent() if self.quiet else RichProgress()

    def deliver(self, sweep: Sweep) -> None:
        """Write the files, then show the table; all are tried before a failure is raised."""
        from calipers.report import json_text, write_text_atomically

        data, failures = sweep.to_dict(), []
        if self.json not in (None, STDIO):
            json = self.json
            failures += _tried(lambda: write_text_atomically(json, json_text(data)))
        if self.plot is not None:
            plot = self.plot
            failures += _tried(lambda: _draw(data, plot))
        if self.json == STDIO:
            self._print_json(json_text(data), data)
        else:
            show_data(data, _look())
        for failure in failures:
            raise failure

    def _print_json(self, text: str, data: dict[str, Any]) -> None:
        from calipers.report.sweep_words import warnings

        write_bytes_of(text)
        for warning in warnings(data) if not self.quiet else ():
            write_error(f"warning: {warning}")


def _tried(work: Callable[[], None]) -> list[CalipersError]:
    try:
        work()
    except CalipersError as error:
        return [error]
    return []


def _draw(data: dict[str, Any], path: str) -> None:
    from calipers.report.plots import save_figure, sweep_figure

    save_figure(sweep_figure(data), path)


def _look() -> Look:
    from calipers.report.sweep_table import SweepTable, sweep_text
    from calipers.report.sweep_words import warnings

    return Look(SweepTable, sweep_text, warnings, SIGNS)
