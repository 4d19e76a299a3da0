"""``calipers huse``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.sides import Reference, read_sides
from calipers.cli.streams import calm
from calipers.commands.huse.options import HuseOptions
from calipers.options.option import INPUT

Generated = Annotated[
    str,
    typer.Argument(
        metavar="GENERATED",
        help="The texts of one model: FILE, or NAME=FILE to name it as the judgements do; "
        "FILE@FIELD names the field of the texts.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    (
        "People rated texts; the likelihoods are those of the model that wrote them:",
        "calipers likelihood model.jsonl -r human.jsonl --model ./gpt2 --keep-sizes \\\n"
        "      --per-sample --json likelihoods.json\n"
        "    calipers huse model.jsonl -r human.jsonl --judgements people.csv \\\n"
        "      --question typical --likelihoods likelihoods.json",
    ),
    (
        "The same in one step:",
        "calipers huse model.jsonl -r human.jsonl --judgements people.csv \\\n"
        "      --question typical --model ./gpt2",
    ),
)


@command(HuseOptions, writes=FORMATS, reads=("reference", "generated"), shown=EXAMPLES)
def huse(
    generated: Generated, reference: Reference, *, options: HuseOptions, outputs: Outputs
) -> None:
    """Judge quality and diversity together, from judgements and likelihoods.

    HUSE is twice the error of telling texts of people from a model's by how people judged each and
    how likely the model finds it: 1 where they cannot be told apart, 0 where each can. HUSE-Q is
    the same by judgements alone, HUSE-D what likelihoods add.
    """
    with calm(quiet=outputs.quiet):
        from calipers.commands.huse.run import huse as run

        sides = read_sides(
            reference, [generated], field=options.field, skip_bad=False, quiet=outputs.quiet
        )
        result = run(*sides, options=options)
    deliver(result, outputs)
