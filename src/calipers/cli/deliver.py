"""A finished comparison ──► the screen and the files that were asked for."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.cli.checks import STDIO, check_outputs
from calipers.cli.streams import (
    encodable,
    line_width,
    show_table,
    write,
    write_bytes_of,
    write_error,
)
from calipers.errors import CalipersError, InputError
from calipers.progress import Progress, Silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from calipers.comparison import Comparison
    from calipers.report.laid_out import LaidOut


def progress_of(*, quiet: bool) -> Progress:
    """Give what shows progress on standard error, unless quiet was asked for."""
    from calipers.cli.progress import RichProgress

    return Silent() if quiet else RichProgress()


@dataclass(frozen=True)
class Outputs:
    """Where the results go.

    Attributes
    ----------
    json
        A path, ``-`` for standard output (which then holds nothing else), or None.
    save
        The zip file that keeps everything, or None.
    per_sample
        Whether the JSON holds one value for each sample too.
    quiet
        Whether standard error stays empty, short of errors.
    details
        Whether the differences of all pairs of systems are shown.
    """

    json: str | None = None
    save: str | None = None
    per_sample: bool = False
    quiet: bool = False
    details: bool = False

    def check(self, specs: Sequence[str] = ()) -> None:
        """Refuse early what could not be written late; `specs` are the inputs."""
        if self.per_sample and self.json is None:
            raise InputError("--per-sample adds values to the JSON; give --json FILE with it")
        if self.save == STDIO:
            raise InputError("--save writes a zip file; it cannot go to standard output")
        named = [("--json", self.json), ("--save", self.save)]
        check_outputs(
            [(option, path) for option, path in named if path not in (None, STDIO)], specs
        )

    def progress(self) -> Progress:
        """Give what shows progress on standard error, unless quiet was asked for."""
        return progress_of(quiet=self.quiet)

    def deliver(self, comparison: Comparison, *, after: str = "") -> None:
        """Write the files, then show the table and the words that come after it.

        Every output is tried before the first failure is raised: an hour of work is not lost to
        one full disk.
        """
        data = comparison.to_dict(per_sample=self.per_sample)
        failures = [*self._save(comparison), *self._write_json(data)]
        if self.json == STDIO:
            self._print_json(data)
        else:
            show_table(data, details=self.details)
            if after:
                write("\n" + _wrapped(after))
        for failure in failures:
            raise failure

    def _save(self, comparison: Comparison) -> list[CalipersError]:
        try:
            if self.save is not None:
                comparison.save(self.save)
        except CalipersError as error:
            return [error]
        except OSError as error:
            return [InputError(f"--save {self.save}: cannot be written: {error.strerror or error}")]
        return []

    def _write_json(self, data: dict[str, Any]) -> list[CalipersError]:
        from calipers.report import json_text, write_text_atomically

        try:
            if self.json not in (None, STDIO):
                write_text_atomically(self.json, json_text(data))
        except CalipersError as error:
            return [error]
        return []

    def _print_json(self, data: dict[str, Any]) -> None:
        from calipers.report import json_text, notes

        write_bytes_of(json_text(data))
        for warning in notes.warnings(data) if not self.quiet else ():
            write_error(f"warning: {warning}")


@dataclass(frozen=True)
class Look:
    """How the results of a command look.

    Attributes
    ----------
    table
        Makes of the data what rich shows on a terminal, with weight and shade.
    text
        Writes the same as plain text.
    warnings
        What is to be told on standard error where the JSON fills standard output.
    signs
        What a terminal must be able to show of it.
    """

    table: Callable[[dict[str, Any]], LaidOut]
    text: Callable[..., str]
    warnings: Callable[[dict[str, Any]], Iterable[str]]
    signs: str


def deliver_data(data: dict[str, Any], json: str | None, look: Look, *, quiet: bool) -> None:
    """Write the JSON, show the table; a file that cannot be written does not cost the table."""
    from calipers.report import json_text, write_text_atomically

    failure: CalipersError | None = None
    if json == STDIO:
        write_bytes_of(json_text(data))
        for warning in look.warnings(data) if not quiet else ():
            write_error(f"warning: {warning}")
        return
    if json is not None:
        try:
            write_text_atomically(json, json_text(data))
        except CalipersError as error:
            failure = error
    show_data(data, look)
    if failure is not None:
        raise failure


def show_data(data: dict[str, Any], look: Look) -> None:
    """Show a table: with weight and shade on a terminal, as plain text anywhere else."""
    from rich.console import Console

    console = Console()
    if console.is_terminal and encodable(look.signs, sys.stdout) == look.signs:
        console.print(look.table(data))
    else:
        write(look.text(data, width=line_width()))


def _wrapped(text: str) -> str:
    """Fill each paragraph to the width of the screen; indented lines stay as they are."""
    width = min(line_width(), 100)
    lines = text.split("\n")
    return "\n".join(line if line.startswith(" ") else textwrap.fill(line, width) for line in lines)
