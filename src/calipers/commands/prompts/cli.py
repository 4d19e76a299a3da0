"""``calipers prompts``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.sides import name_fields, named_apart
from calipers.cli.streams import calm
from calipers.commands.prompts.options import PromptsOptions
from calipers.options.option import INPUT

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM",
        help="One or more systems with one or several samples for each prompt: FILE, or NAME=GLOB "
        "to name a system; its files are taken together. FILE@FIELD names the field of the texts "
        "of one file. File formats: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="Reference, such as what people answered to the same prompts, once or several times. "
        "Every system is then tested against it; without it systems are tested against each other.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to --json one value for each prompt.",
        rich_help_panel="Output",
    ),
]

EXAMPLES = (
    (
        "Two models that answered the same prompts ten times, beside what people wrote:",
        "calipers prompts model_a.jsonl model_b.jsonl -r human.jsonl",
    ),
    (
        "The prompt of a row is in another field; texts that begin with their prompt lose it:",
        "calipers prompts a.jsonl b.jsonl --by-prompt question_id\n"
        "    calipers prompts a.jsonl b.jsonl --strip-prompt",
    ),
    (
        "One sample for each prompt in each of several files:",
        "calipers prompts 'small=runs/small-*.jsonl' 'large=runs/large-*.jsonl'",
    ),
    (
        "How alike the models answer, as a figure:",
        "calipers prompts a.jsonl b.jsonl c.jsonl --json prompts.json\n"
        "    calipers plot homogeneity prompts.json -o alike.pdf",
    ),
)


@command(PromptsOptions, writes=FORMATS, reads=("systems", "reference"), shown=EXAMPLES)
def prompts(
    systems: Systems,
    *,
    reference: Reference = None,
    options: PromptsOptions,
    outputs: Outputs,
    per_sample: PerSample = False,
) -> None:
    """Compare systems that answered the same prompts, once or several times each.

    Shows for each system how many of its samples of one prompt differ, how alike they are, and how
    alike different systems answer the same prompts. Intervals are over prompts. Tests tell whether
    systems differ given the prompt; one sample for each prompt is enough for a classifier over
    prompts, tests within prompts need several.
    """
    with calm(quiet=outputs.quiet):
        from calipers.commands.prompts.run import prompts as run
        from calipers.samples import read_samples, read_systems

        field, cluster = options.field, options.by_prompt
        first = None
        beside: tuple[str, ...] = ()
        if reference is not None:
            reference = named_apart(reference, systems)
            beside = (reference,)
            first = read_samples(reference, field=field, cluster=cluster, cluster_needed=False)
        read = read_systems(systems, field=field, cluster=cluster, beside=beside)
        name_fields([*([] if first is None else [first]), *read], quiet=outputs.quiet)
        result = run(first, read, options=options)
    deliver(result, outputs, per_sample=per_sample)
