"""``calipers metrics``: what can be measured, and what each number means."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.checks import STDIO, check_outputs
from calipers.cli.guard import guarded
from calipers.cli.options import INPUT, OUTPUT, complete_metrics
from calipers.cli.page import examples
from calipers.cli.streams import line_width, write, write_bytes_of

EXAMPLES = examples(
    (
        ("Everything that can be measured, by family:", "calipers metrics"),
        ("One family:", "calipers metrics frontier"),
        (
            "One metric: its options, its source, what it does not detect:",
            "calipers metrics mauve",
        ),
        ("The same with options:", "calipers metrics frontier_integral:chi2:knn"),
    )
)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|FAMILY]",
        help="A metric, with options where it takes them, or a family: support, copying, "
        "frontier, prd, classifier, ot, mmd. All metrics by default.",
        rich_help_panel=INPUT,
        autocompletion=complete_metrics,
        show_default=False,
    ),
]

Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write it as JSON; - writes it to standard output, and nothing else there.",
        rich_help_panel=OUTPUT,
    ),
]


def metrics(names: Names = None, json: Json = None) -> None:
    """List the metrics: what each tells, its range, and where it is better.

    With a name, one metric in full: its options, the paper that it is from, what it does not
    detect, and whether it is measured by default.
    """
    with guarded("stopped."):
        check_outputs([("--json", json)] if json not in (None, STDIO) else [])
        from calipers.cli.metrics_text import text_of
        from calipers.metrics.described import describe_all
        from calipers.report import json_text, write_text_atomically

        asked = [part for name in names or () for part in _parts(name)]
        data = describe_all(asked)
        if json is not None:
            text = json_text({"metrics": data})
            if json == STDIO:
                write_bytes_of(text)
                return
            write_text_atomically(json, text)
        write(text_of(asked, line_width()))


def _parts(name: str) -> list[str]:
    """Split a list as ``--metrics`` does; what holds no name stays, to be refused."""
    return name.replace(",", " ").split() or [name]
