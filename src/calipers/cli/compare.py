"""``calipers compare``: the main job."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import check_metrics_are_listed, command, read_sides
from calipers.cli.command_line import with_command
from calipers.cli.deliver import deliver
from calipers.cli.options import Details
from calipers.cli.outputs import EXPLAIN, FORMATS, PAGE, Outputs, check_per_sample
from calipers.cli.page import CompareCommand
from calipers.cli.streams import calm
from calipers.evaluate.option import INPUT, OUTPUT
from calipers.evaluate.options import CompareOptions

Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="GENERATED",
        help="One or more generated sets: FILE, or NAME=GLOB, where several files of one name "
        "are the seeds of one system.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="The set to compare with: .txt (a sample a line), .jsonl, .json, .csv, .tsv, "
        ".parquet, each also as .gz, a folder of Hugging Face datasets, of images or of .txt "
        "files, or embeddings as .npy, .npz, .safetensors; - is standard input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to the JSON one value per sample, where a metric has them, and where each "
        "sample lies: its nearest one of the other side, how far, in which ball first.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Two models against human texts:",
        "calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl",
    ),
    (
        "Names of your own, and several files as the seeds of one system:",
        "calipers compare -r human.jsonl 'xl=runs/xl-*.jsonl' small=runs/small.jsonl",
    ),
    (
        "A field inside each row, every metric, all scores for another program:",
        "calipers compare -r human.json out.json --field 'choices[0].text' \\\n"
        "      --metrics all --json scores.json",
    ),
    (
        "By another model, from the hub or a folder; or with no model at all:",
        "calipers compare -r human.jsonl model.jsonl --embedder gpt2-large\n"
        "    calipers compare -r human.jsonl model.jsonl --embedder ./my-model --layer 8\n"
        "    calipers compare -r human.jsonl model.jsonl --embedder tfidf",
    ),
    (
        "Folders of images, by a vision model:",
        "calipers compare -r real/ fake/ --embedder facebook/dinov2-base",
    ),
    (
        "Embeddings that you have already:",
        "calipers compare -r real.npy fake.npy --embedder precomputed",
    ),
    (
        "Which topics a model forgets, where the reference's rows name theirs:",
        "calipers compare -r human.jsonl model.jsonl --group topic",
    ),
    (
        "Several continuations of one prompt, which are not independent samples:",
        "calipers compare -r human.jsonl model.jsonl --cluster prompt",
    ),
    (
        "What share of the samples is copied from the training set:",
        "calipers compare -r human.jsonl model.jsonl --train train.jsonl",
    ),
    (
        "How much more samples would change, and 99 % intervals:",
        "calipers compare -r human.jsonl model.jsonl --advice --level 0.99",
    ),
    (
        "A report with pictures for the browser, and the table for a paper:",
        "calipers compare -r human.jsonl model_a.jsonl model_b.jsonl \\\n"
        "      --html report.html --latex table.tex",
    ),
    (
        "Which topics are too rare or too common, and the worst samples:",
        "calipers compare -r human.jsonl model.jsonl --explain",
    ),
    (
        "A quick first look at large files:",
        "calipers compare -r human.parquet model.parquet --max-samples 1000",
    ),
)


@command(
    CompareOptions,
    writes=(*FORMATS, "table", *PAGE, EXPLAIN),
    reads=("reference", "generated"),
    page=CompareCommand,
    shown=EXAMPLES,
)
def compare(
    generated: Generated,
    reference: Reference,
    *,
    options: CompareOptions,
    outputs: Outputs,
    per_sample: PerSample = False,
    details: Details = False,
) -> None:
    """Compare generated sets with a reference set.

    Shows for each generated set how good its samples are (precision), how much of the
    reference's variety they reach (recall, coverage) and how close the two sets are as a
    whole (MAUVE*), once by meaning and once by form; how sure each number is, which systems
    differ by more than chance, and what two halves of the reference score (the noise floor).
    """
    check_metrics_are_listed(generated)
    check_per_sample(outputs.paths, per_sample=per_sample)
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.compare import compare as run

        comparison = run(*read_sides(reference, generated, options), **options.keywords())
    kept = with_command(comparison)
    deliver(kept, outputs, per_sample=per_sample, details=details)
