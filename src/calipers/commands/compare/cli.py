"""``calipers compare``: its arguments, and how its result is delivered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.command_line import with_command
from calipers.cli.deliver import check_shared, deliver, names_of_sets, possible_sort
from calipers.cli.help import CommandPage, metrics_section
from calipers.cli.options import AllSystems, Details, Sort
from calipers.cli.outputs import (
    EXPLAIN,
    FORMATS,
    INSPECT,
    PAGE,
    SHARED,
    Benchmark,
    Outputs,
    check_per_sample,
)
from calipers.cli.sides import Generated, Reference, check_metrics_are_listed, read_sides
from calipers.cli.streams import calm
from calipers.errors import InputError
from calipers.options.comparison import CompareOptions
from calipers.options.option import OUTPUT

if TYPE_CHECKING:
    from calipers.samples import System

PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to --json and --table one value for each sample, for metrics that have them, "
        "and for each sample its nearest neighbour in the other set and the distance to it.",
        rich_help_panel=OUTPUT,
    ),
]
InspectValue = Annotated[
    str | None,
    typer.Option(
        "--inspect-value",
        metavar="NAME",
        help="Let the value of each record of --inspect be one number, such as in_support (1 or 0) "
        "or realism, in place of an object of all: the accuracy that inspect shows of it is its "
        "mean.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Compare two models with human texts:",
        "calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl",
    ),
    (
        "Name the systems; several files of one system are its seeds:",
        "calipers compare -r human.jsonl 'xl=runs/xl-*.jsonl' small=runs/small.jsonl",
    ),
    (
        "Text in a nested field, every metric, scores as JSON:",
        "calipers compare -r human.json out.json --field 'choices[0].text' \\\n"
        "      --metrics all --json scores.json",
    ),
    (
        "Another embedding model, from the hub or a folder, or no model at all:",
        "calipers compare -r human.jsonl model.jsonl --embedder gpt2-large\n"
        "    calipers compare -r human.jsonl model.jsonl --embedder ./my-model --layer 8\n"
        "    calipers compare -r human.jsonl model.jsonl --embedder tfidf",
    ),
    (
        "Folders of images, with a vision model:",
        "calipers compare -r real/ fake/ --embedder facebook/dinov2-base",
    ),
    (
        "Embeddings that exist already:",
        "calipers compare -r real.npy fake.npy --embedder precomputed",
    ),
    (
        "Scores for each topic, if the rows of the reference name their topic:",
        "calipers compare -r human.jsonl model.jsonl --group topic",
    ),
    (
        "Several continuations of each prompt, which are not independent samples:",
        "calipers compare -r human.jsonl model.jsonl --cluster prompt",
    ),
    (
        "Share of the samples that are copied from the training set:",
        "calipers compare -r human.jsonl model.jsonl --train train.jsonl",
    ),
    (
        "How much the scores would change with more samples, and 99 % intervals:",
        "calipers compare -r human.jsonl model.jsonl --advice --level 0.99",
    ),
    (
        "An HTML report, and the table for a paper:",
        "calipers compare -r human.jsonl model_a.jsonl model_b.jsonl \\\n"
        "      --html report.html --latex table.tex",
    ),
    (
        "Topics that are too rare or too common, and the worst samples:",
        "calipers compare -r human.jsonl model.jsonl --explain",
    ),
    (
        "Logs of inspect, and scores of their samples to take back there:",
        "calipers compare -r human.jsonl story=logs/story.eval --inspect scores.json",
    ),
    (
        "A quick first look at large files, by a random subset:",
        "calipers compare -r human.parquet model.parquet --max-samples 1000",
    ),
)


METRICS_NOTE = (
    (
        ("calipers metrics", "lists all of them: what each measures, its range, what it needs"),
        ("calipers metrics mauve", "one of them: its options, source and blind spots"),
    ),
    "Options follow a colon: mauve_star:chi2, frontier_integral:knn, prd:kde. Which one to trust "
    "when: docs/sanity.md.",
)


class ComparePage(CommandPage):
    """The help page of ``calipers compare``, which also lists the families of metrics."""

    def further_sections(self) -> list[str]:
        """List the families of metrics."""
        from calipers.catalogue.embeddings import FAMILIES

        families = [(family.name, family.members) for family in FAMILIES.values()]
        return [metrics_section(families, *METRICS_NOTE)]


@command(
    CompareOptions,
    writes=(*FORMATS, "table", INSPECT, *SHARED, *PAGE, EXPLAIN),
    reads=("reference", "generated"),
    page=ComparePage,
    shown=EXAMPLES,
    common=("details",),
)
def compare(
    generated: Generated,
    reference: Reference,
    *,
    options: CompareOptions,
    outputs: Outputs,
    per_sample: PerSample = False,
    details: Details = False,
    sort: Sort = None,
    all_systems: AllSystems = False,
    inspect_value: InspectValue = None,
    benchmark: Benchmark = None,
) -> None:
    """Compare generated sets with a reference set.

    Shows for each generated set how good its samples are (precision), how much of the variety of
    the reference they cover (recall) and how similar the two sets are as a whole (MAUVE*), by
    meaning and by form, with confidence intervals.
    """
    check_metrics_are_listed(generated)
    check_per_sample(outputs.paths, per_sample=per_sample)
    check_shared(outputs, benchmark)
    _check_sort(sort)
    with calm(quiet=outputs.quiet):
        from calipers.commands.compare.run import compare as run

        sides = read_sides(
            reference,
            generated,
            field=options.field,
            skip_bad=options.skip_bad,
            labels=options,
            quiet=outputs.quiet,
        )
        _check_inspect(sides[1], outputs, inspect_value, [reference, *generated])
        for output in (name for name in SHARED if name in outputs.paths):
            outputs.of_systems([samples.name for samples in sides[1]], output=output)
        comparison = run(*sides, options=options)
    result = with_command(comparison)
    deliver(
        result,
        outputs,
        per_sample=per_sample,
        details=details,
        sort=possible_sort(result, sort, quiet=outputs.quiet),
        all_systems=all_systems,
        inspect_value=inspect_value,
        benchmark=benchmark,
    )


def _check_sort(sort: str | None) -> None:
    if sort is not None:
        from calipers.evaluate.order import check_order

        check_order(sort)


def _check_inspect(
    systems: Sequence[System], outputs: Outputs, value: str | None, inputs: Sequence[str]
) -> None:
    """Refuse records that could not be written, before the work."""
    from calipers.results.inspect_scores import check_value, not_logged

    if INSPECT not in outputs.paths:
        if value is not None:
            raise InputError(f"--inspect-value needs --inspect FILE; found {value!r} without it")
        return
    check_value(value)
    for samples in (samples for system in systems for samples in system.sets):
        if samples.log_ids is None:
            raise not_logged(samples.source)
    sets = [(system.name, file) for system in systems for file in range(len(system.sets))]
    outputs.of_systems(names_of_sets(sets), inputs)
