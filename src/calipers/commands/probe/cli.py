"""``calipers probe``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.commands.probe.options import ProbeOptions
from calipers.options.option import INPUT

Texts = Annotated[
    str,
    typer.Argument(
        metavar="TEXTS",
        help="Texts like those that you want to compare, preferably the reference. File formats: "
        "see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    (
        "Does a model detect changes of word order, spelling, length?",
        "calipers probe human.jsonl --embedder ./gpt2",
    ),
    (
        "With 1,000 of the texts, and only two of the changes:",
        "calipers probe human.jsonl --max-samples 1000 \\\n"
        "      --changes word_shuffle,sentence_shuffle",
    ),
)


@command(ProbeOptions, writes=FORMATS, reads=("texts",), shown=EXAMPLES)
def probe(texts: Texts, *, options: ProbeOptions, outputs: Outputs) -> None:
    """Test which changes to texts an embedder detects.

    Changes half of the texts in known ways (words shuffled, texts truncated, words misspelt ...),
    scores them against the other half, and shows which changes move the scores. No score can
    detect a difference that its embedder ignores.
    """
    with calm(quiet=outputs.quiet):
        from calipers.commands.probe.run import probe as run

        result = run(texts, options=options)
    deliver(result, outputs)
