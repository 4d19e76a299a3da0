"""``calipers probe``: what does an embedder see?"""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.evaluate.option import INPUT
from calipers.evaluate.options import ProbeOptions

Texts = Annotated[
    str,
    typer.Argument(
        metavar="TEXTS",
        help="Texts such as those that you will compare, best the reference. Kinds of files: see "
        "calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    (
        "Does a model see word order, spelling, length?",
        "calipers probe human.jsonl --embedder ./gpt2",
    ),
    (
        "A thousand of the texts, drawn at random; shuffles alone:",
        "calipers probe human.jsonl --max-samples 1000 \\\n"
        "      --changes word_shuffle,sentence_shuffle",
    ),
)


@command(ProbeOptions, writes=FORMATS, reads=("texts",), shown=EXAMPLES)
def probe(texts: Texts, *, options: ProbeOptions, outputs: Outputs) -> None:
    """See what an embedder sees.

    Changes half of the texts in known ways (words shuffled, cut in half, misspelt ...), scores
    them against the other half, and says which changes move the scores. What an embedder does
    not see, none of its scores can tell.
    """
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.probe import probe as run

        found = run(texts, **options.keywords())
    deliver(found, outputs)
