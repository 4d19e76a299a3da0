"""``calipers generate``: its arguments, and the file of samples that it writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import calm, write
from calipers.commands.generate.options import GenerateOptions
from calipers.options.option import OUTPUT

Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the configuration and the counts as JSON; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Samples of a small model that is fitted on real texts, with no download:",
        "calipers generate --model ngram:order=3 --reference human.jsonl --n 500 \\\n"
        "      --decoding top_p=0.9 --output out.jsonl",
    ),
    (
        "Continue the first ten words of each text with GPT-2:",
        "calipers generate --model gpt2 --prompts human.jsonl --prompt-words 10 \\\n"
        "      --decoding temperature=0.8,top_k=40 --output out.jsonl",
    ),
    (
        "Compare the continuations with those of people:",
        "calipers compare -r human.jsonl out.jsonl --strip-prompt",
    ),
    (
        "Ask a chat model of a server for creative texts, and say what they cost:",
        "calipers generate --model https://api.openai.com/v1#gpt-4o-mini --chat \\\n"
        "      --task creative --n 1000 --price 0.15,0.60 --output creative.jsonl",
    ),
    (
        "Beam search without repeated phrases of four tokens:",
        "calipers generate --model ./gpt2 --prompts human.jsonl --prompt-words 10 \\\n"
        "      --decoding beam=4,no_repeat_ngram=4 --output beam.jsonl",
    ),
)


@command(
    GenerateOptions,
    json=Json,
    checked=False,
    stopped="stopped. What was written is kept; the same command continues from there.",
    shown=EXAMPLES,
)
def generate(*, options: GenerateOptions, outputs: Outputs) -> None:
    """Write samples of a language model.

    Decoding algorithm and seed fix every sample. Each row of the file holds the text, its prompt,
    the model and how it was decoded; a manifest beside it holds the whole configuration. A run
    that was stopped goes on where it was.
    """
    from calipers.language_model.samples_file import check_output

    # The samples themselves are journalled, and go on where they are
    outputs = replace(outputs, paths={k: v for k, v in outputs.paths.items() if k != "output"})
    outputs.check([path for path in (options.reference, options.prompts, options.fit_on) if path])
    check_output(options.output)
    with calm(quiet=outputs.quiet):
        from calipers.commands.generate.run import generate as run

        written = run(options=options.changed(overwrite=outputs.force))

    def show() -> None:
        write(str(written))
        if not outputs.quiet:
            write(
                f"{written.source}: read it with calipers compare --reference FILE {written.source}"
            )

    def json() -> str:
        from calipers.report import json_text

        return json_text({"configuration": written.configuration, **written.counts})

    outputs.deliver(Results(show=show, warnings=lambda: written.notes, texts={"json": json}))
