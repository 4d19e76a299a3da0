"""``calipers text``: statistics of texts, alone or beside those of a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import compare_options as shared
from calipers.cli import text_options as its
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.guard import guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.streams import calm
from calipers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.samples import SampleSet, System

EXAMPLES = examples(
    (
        (
            "Is a model's text as varied as human text?",
            "calipers text model.jsonl --reference human.jsonl",
        ),
        (
            "Without a reference, and with nothing to install:",
            "calipers text model.jsonl --tokenizer whitespace",
        ),
        (
            "How much was taken from the training set:",
            "calipers text model.jsonl -r human.jsonl --train train.jsonl \\\n"
            "      --metrics copies",
        ),
        (
            "Translations or summaries, row by row with their references:",
            "calipers text output.txt --reference expected.txt --aligned \\\n"
            "      --metrics bleu,chrf,rouge:rougeL",
        ),
        (
            "Every value of every text, for another program:",
            "calipers text a.jsonl b.jsonl --metrics all --per-sample --json -",
        ),
    )
)


@with_outputs("json", "markdown", "latex", "csv")
def text(
    generated: its.Generated,
    *,
    reference: its.Reference = None,
    aligned: its.Aligned = False,
    train: its.Train = None,
    field: shared.Field = None,
    max_samples: its.MaxSamples = None,
    keep_sizes: its.KeepSizes = False,
    metrics: its.Metrics = None,
    tokenizer: its.Tokenizer = "nltk",
    level: its.Level = "0.95",
    no_intervals: its.NoIntervals = False,
    seed: Seed = "0",
    threads: its.Threads = None,
    outputs: Outputs,
    per_sample: its.PerSample = False,
) -> None:
    """Measure texts: how varied, how repetitive, how new.

    Shows lengths, vocabulary, diversity, repetition and copies of each set. With a reference, the
    same of the reference and the gap between the two; without one a number says little. Needs no
    embedder and no model.
    """
    with guarded():
        asked = checks.parse_metrics(metrics or ())
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        workers = checks.optional_whole("--threads", threads, least=1)
        sure = None if no_intervals else checks.parse_level(level)
        _check_specs(generated, reference, train, aligned=aligned)
        checks.check_per_sample(outputs.paths, per_sample=per_sample)
        outputs.check([*generated, *filter(None, (reference, train))])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.text_run import measure_texts

            systems, human, known = _read(generated, reference, train, field)
            found = measure_texts(
                systems,
                reference=human,
                train=known,
                aligned=aligned,
                metrics=asked,
                tokenizer=tokenizer,
                max_samples=most,
                keep_sizes=keep_sizes,
                seed=start,
                level=sure,
                threads=workers,
                progress=outputs.progress(),
            )
        deliver_data(found.to_dict(per_sample=per_sample), outputs, _look())


def _check_specs(
    specs: Sequence[str], reference: str | None, train: str | None, *, aligned: bool
) -> None:
    if [*specs, reference, train].count(checks.STDIO) > 1:
        raise InputError("standard input (-) can be read once only; it is given more than once")
    if aligned and reference is None:
        raise InputError("--aligned holds text i against row i of --reference FILE; give one")


def _read(
    specs: Sequence[str], reference: str | None, train: str | None, field: str | None
) -> tuple[tuple[System, ...], SampleSet | None, SampleSet | None]:
    """Read all files first: a misspelt last one should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    return (
        read_systems(specs, field=field),
        None if reference is None else read_samples(reference, field=field),
        None if train is None else read_samples(train, field=field),
    )


def _look() -> Look:
    from calipers.report.documents import texts

    return Look(texts.document, "–…·─")
