"""``calipers overlap``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.sides import name_fields
from calipers.cli.streams import calm
from calipers.commands.overlap.options import OverlapOptions
from calipers.errors import InputError
from calipers.options.option import INPUT

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM",
        help="Two or more systems: FILE, or NAME=GLOB to name a system. Several files of one name "
        "are the seeds of one system; FILE@FIELD names the field of the texts of one file. File "
        "formats: see calipers compare --help.",
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
        "Several files of one system, which also shows how far its seeds overlap:",
        "calipers overlap 'small=runs/small-*.jsonl' 'large=runs/large-*.jsonl'",
    ),
    (
        "The matrices as JSON:",
        "calipers overlap a.jsonl b.jsonl --json overlap.json",
    ),
)


@command(OverlapOptions, writes=FORMATS, reads=("systems",), shown=EXAMPLES)
def overlap(systems: Systems, *, options: OverlapOptions, outputs: Outputs) -> None:
    """Compare systems with each other, without a reference.

    Shows for every pair the share of each system that lies inside the support of the other, which
    is precision and recall with one of the two as the reference, and describes the result: one
    contains the other, they cover each other, they overlap in part, or they are disjoint. Texts
    that two systems share, verbatim or nearly so, are listed with their rows.
    """
    if len(systems) < 2:
        raise InputError(
            "overlap compares systems with each other and needs at least two; found only "
            f"{systems[0]}. Several files that match one NAME=GLOB are the seeds of one system"
        )
    with calm(quiet=outputs.quiet):
        from calipers.commands.overlap.run import overlap as run
        from calipers.samples import read_systems

        read = read_systems(systems, field=options.field, skip_bad=options.skip_bad)
        name_fields(read, quiet=outputs.quiet)
        result = run(read, options=options)
    deliver(result, outputs)
