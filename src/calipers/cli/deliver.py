"""What a command found ──► the screen, and the texts of the files that were asked for."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import encodable, line_width, told_of_output, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from calipers.report.table import Document
    from calipers.results import Comparison

Data = dict[str, Any]


@dataclass(frozen=True)
class Look:
    """How the results of a command look.

    Attributes
    ----------
    document
        Makes of the data what is shown.
    signs
        What a terminal must be able to show of it.
    """

    document: Callable[[Data], Document]
    signs: str


def deliver_data(
    data: Data, outputs: Outputs, look: Look, *, plot: Callable[[str], None] | None = None
) -> None:
    """Write the files of a command that gives a table; `plot` draws its figure into a file."""
    outputs.deliver(
        Results(
            show=lambda: show_data(data, look),
            warnings=lambda: look.document(data).warnings,
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

    The page and the zip hold explanations and maps: what was not kept of them is made before either
    is written.

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
    look = _look(details=details)

    @cache
    def explained() -> Comparison:
        return comparison.explained(map_method=outputs.layout, progress=outputs.progress())

    def show() -> None:
        show_data(data, look)
        if after:
            write("\n" + _wrapped(after))

    outputs.deliver(
        Results(
            show=show if screen else lambda: None,
            warnings=lambda: look.document(data).warnings,
            texts=texts_of(data) | {"html": lambda: _page(explained(), outputs)},
            files={"save": lambda path: explained().save(path)},
            before={"html": explained, "save": explained},
        )
    )


def texts_of(data: Data) -> dict[str, Callable[[], str]]:
    """Give what makes the texts of a table, by the name of the output."""

    def json() -> str:
        from calipers.report import json_text

        return json_text(data)

    def markdown() -> str:
        from calipers.report.documents import summary
        from calipers.report.render.markdown import markdown

        return markdown(summary(data))

    def latex() -> str:
        from calipers.report.documents import summary
        from calipers.report.render.latex import latex

        return latex(summary(data))

    def csv() -> str:
        from calipers.report.render.csv import scores_csv

        return scores_csv(data)

    return {"json": json, "markdown": markdown, "latex": latex, "csv": csv}


def show_data(data: Data, look: Look) -> None:
    """Show a table: with weight and shade on a terminal, as plain text anywhere else."""
    from rich.console import Console

    from calipers.report.render.text import Screen, plain

    console, document = Console(), look.document(data)
    if console.is_terminal and encodable(look.signs, sys.stdout) == look.signs:
        with told_of_output():
            console.print(Screen(document))
    else:
        write(plain(document, width=line_width()))


def _look(*, details: bool) -> Look:
    from calipers.report.documents import compare

    return Look(lambda data: compare.document(data, details=details), "↑↓–…·─éχ²")


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


def _wrapped(text: str) -> str:
    """Fill each paragraph to the width of the screen; indented lines stay as they are."""
    width = min(line_width(), 100)
    lines = text.split("\n")
    return "\n".join(line if line.startswith(" ") else textwrap.fill(line, width) for line in lines)
