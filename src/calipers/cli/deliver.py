"""What a command found ──► the screen, and the texts of the files that were asked for."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import encodable, line_width, show_table, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from calipers.report.laid_out import LaidOut
    from calipers.results import Comparison

Data = dict[str, Any]


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
        What is to be told on standard error where a file fills standard output.
    signs
        What a terminal must be able to show of it.
    """

    table: Callable[[Data], LaidOut]
    text: Callable[..., str]
    warnings: Callable[[Data], Iterable[str]]
    signs: str


def deliver_data(
    data: Data, outputs: Outputs, look: Look, *, plot: Callable[[str], None] | None = None
) -> None:
    """Write the files of a command that gives a table; `plot` draws its figure into a file."""
    outputs.deliver(
        Results(
            show=lambda: show_data(data, look),
            warnings=lambda: look.warnings(data),
            texts=texts_of(data),
            files={} if plot is None else {"plot": plot},
        )
    )


def deliver_comparison(
    comparison: Comparison,
    outputs: Outputs,
    *,
    per_sample: bool = False,
    details: bool = False,
    after: str = "",
    screen: bool = True,
) -> None:
    """Write the files of a comparison, and show its table.

    Parameters
    ----------
    comparison
        What was found.
    outputs
        Where it goes.
    per_sample
        Whether the JSON holds one value for each sample too.
    details
        Whether the differences of all pairs of systems are shown.
    after
        Words that come after the table.
    screen
        Whether the table is shown at all.
    """
    data = _data(comparison, outputs, per_sample=per_sample)

    def show() -> None:
        show_table(data, details=details)
        if after:
            write("\n" + _wrapped(after))

    outputs.deliver(
        Results(
            show=show if screen else lambda: None,
            warnings=lambda: _warnings(data),
            texts=texts_of(data) | {"html": lambda: _page(comparison, outputs)},
            files={"save": comparison.save},
        )
    )


def texts_of(data: Data) -> dict[str, Callable[[], str]]:
    """Give what makes the texts of a table, by the name of the output."""

    def json() -> str:
        from calipers.report import json_text

        return json_text(data)

    def markdown() -> str:
        from calipers.report.export_markdown import markdown_table

        return markdown_table(data)

    def latex() -> str:
        from calipers.report.export_latex import latex_table

        return latex_table(data)

    def csv() -> str:
        from calipers.report.export_csv import csv_table

        return csv_table(data)

    return {"json": json, "markdown": markdown, "latex": latex, "csv": csv}


def show_data(data: Data, look: Look) -> None:
    """Show a table: with weight and shade on a terminal, as plain text anywhere else."""
    from rich.console import Console

    console = Console()
    if console.is_terminal and encodable(look.signs, sys.stdout) == look.signs:
        console.print(look.table(data))
    else:
        write(look.text(data, width=line_width()))


def _data(comparison: Comparison, outputs: Outputs, *, per_sample: bool) -> Data:
    data = comparison.to_dict(per_sample=per_sample)
    if not outputs.redact:
        return data
    from calipers.report.redacted import without_texts

    redacted: Data = without_texts({"comparison": data})["comparison"]
    return redacted


def _page(comparison: Comparison, outputs: Outputs) -> str:
    from calipers.report.html import html_page

    return html_page(comparison.report_data(redact=outputs.redact, map_method=outputs.layout))


def _warnings(data: Data) -> Iterable[str]:
    from calipers.report import notes

    return notes.warnings(data)


def _wrapped(text: str) -> str:
    """Fill each paragraph to the width of the screen; indented lines stay as they are."""
    width = min(line_width(), 100)
    lines = text.split("\n")
    return "\n".join(line if line.startswith(" ") else textwrap.fill(line, width) for line in lines)
