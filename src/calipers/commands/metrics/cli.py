"""``calipers metrics``: its arguments, and the list or page that it prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.options import (
    complete_likelihood_metrics,
    complete_metrics,
    complete_text_metrics,
)
from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import line_width, write
from calipers.options.option import INPUT, OUTPUT


def _completed(incomplete: str) -> list[str]:
    """Offer the names of all catalogues."""
    completers = (complete_metrics, complete_text_metrics, complete_likelihood_metrics)
    offered = [name for complete in completers for name in complete(incomplete)]
    return list(dict.fromkeys(offered))


Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|FAMILY]",
        help="A metric, also with options, or a family: support, copying, frontier, prd, "
        "classifier, ot, mmd; text for all metrics of calipers text, likelihood for those of "
        "calipers likelihood. By default all metrics.",
        rich_help_panel=INPUT,
        autocompletion=_completed,
        show_default=False,
    ),
]

Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the list as JSON; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    ("All metrics, by family:", "calipers metrics"),
    ("One family:", "calipers metrics frontier"),
    ("Metrics of texts, which need no embeddings:", "calipers metrics text"),
    ("How likely language models find texts:", "calipers metrics likelihood"),
    (
        "One metric: its options, source and blind spots:",
        "calipers metrics mauve",
    ),
    ("One metric with options:", "calipers metrics frontier_integral:chi2:knn"),
)


@command(json=Json, limited=False, stopped="stopped.", shown=EXAMPLES)
def metrics(*, names: Names = None, outputs: Outputs) -> None:
    """List the metrics: what each measures, its range, its source.

    With a name, shows one metric in full: its options, its source, what it does not detect, and
    whether it is computed by default.
    """
    from calipers.catalogue.suggest import check_known
    from calipers.commands.metrics.listing import text_of
    from calipers.report import json_text

    asked = [part for name in names or () for part in _parts(name)]
    check_known(asked)
    data = _described(asked)
    outputs.deliver(
        Results(
            show=lambda: write(text_of(asked, line_width())),
            warnings=lambda: (),
            texts={"json": lambda: json_text(data)},
        )
    )


def _described(names: Sequence[str]) -> dict[str, list[Any]]:
    """All catalogues as data; ``text`` and ``likelihood`` where such metrics were asked for."""
    from calipers.catalogue.describing import (
        describe_all,
        describe_likelihood,
        describe_text,
        is_likelihood_name,
        is_text_name,
    )
    from calipers.catalogue.keys import TEXT
    from calipers.catalogue.likelihoods import LIKELIHOOD

    scored = [name for name in names or [LIKELIHOOD] if is_likelihood_name(name)]
    textual = [
        name for name in names or [TEXT] if is_text_name(name) and not is_likelihood_name(name)
    ]
    others = [name for name in names if name not in (*textual, *scored)]
    described = {"metrics": describe_all(others) if others or not names else []}
    described |= {"text": describe_text(textual)} if textual else {}
    return described | ({"likelihood": describe_likelihood(scored)} if scored else {})


def _parts(name: str) -> list[str]:
    """Split a list as ``--metrics`` does; what holds no name stays, to be refused."""
    return name.replace(",", " ").split() or [name]
