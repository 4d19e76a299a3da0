"""``calipers overlap``: systems against each other, without a reference."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command, name_fields
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.errors import InputError
from calipers.evaluate.option import INPUT
from calipers.evaluate.options import OverlapOptions

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM",
        help="Two or more systems: FILE, or NAME=GLOB, where several files of one name are the "
        "seeds of one system. Kinds of files: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    (
        "Three models that answered the same prompts:",
        "calipers overlap model_a.jsonl model_b.jsonl model_c.jsonl",
    ),
    (
        "Several files as the seeds of one system, for a spread and a ceiling:",
        "calipers overlap 'small=runs/small-*.jsonl' 'large=runs/large-*.jsonl'",
    ),
    (
        "The matrices for another program:",
        "calipers overlap a.jsonl b.jsonl --json overlap.json",
    ),
)


@command(OverlapOptions, writes=FORMATS, reads=("systems",), shown=EXAMPLES)
def overlap(systems: Systems, *, options: OverlapOptions, outputs: Outputs) -> None:
    """Hold systems against each other, without a reference.

    Shows for every pair how much of each system lies inside the support of the other, as
    precision and recall with one of them as the reference, and says in words what that means:
    one lies within the other, they cover each other, overlap in part, or are disjoint.
    """
    if len(systems) < 2:
        raise InputError(
            "overlap holds systems against each other and needs at least two; found "
            f"{systems[0]}. Several files that match one NAME=GLOB are the seeds of one system"
        )
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.overlap import overlap as run
        from calipers.samples import read_systems

        read = read_systems(systems, field=options.field, skip_bad=options.skip_bad)
        name_fields(read, options)
        found = run(read, **options.keywords())
    deliver(found, outputs)
