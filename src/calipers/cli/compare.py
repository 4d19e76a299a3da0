"""``calipers compare``: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import compare_options as its
from calipers.cli.command_line import with_command
from calipers.cli.deliver import deliver_comparison
from calipers.cli.embedder_options import Embedding
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Details, Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.reading import read_sides
from calipers.cli.streams import calm

if TYPE_CHECKING:
    from calipers.samples import SampleSet

EXAMPLES = examples(
    (
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
            "A quick first look at large files:",
            "calipers compare -r human.parquet model.parquet --max-samples 1000",
        ),
    )
)


@with_outputs("html", "json", "save", "markdown", "latex", "csv")
def compare(
    generated: its.Generated,
    reference: its.Reference,
    *,
    field: its.Field = None,
    group: its.Group = None,
    cluster: its.Cluster = None,
    train: its.Train = None,
    max_samples: its.MaxSamples = None,
    keep_sizes: its.KeepSizes = False,
    match_length: its.MatchLength = None,
    skip_bad: its.SkipBad = False,
    metrics: its.Metrics = None,
    k: its.K = "4",
    ties: its.Ties = "closed",
    distance: its.Distance = "euclidean",
    projection: its.Projection = "none",
    buckets: its.Buckets = "auto",
    estimator: its.Estimator = "quantisation",
    c: its.Scaling = None,
    shared: its.Shared = False,
    level: its.Level = "0.95",
    no_intervals: its.NoIntervals = False,
    floor: its.Floor = None,
    advice: its.AdviceFlag = False,
    paired: its.Paired = None,
    margin: its.Margin = None,
    seed: Seed = "0",
    embedding: Embedding,
    outputs: Outputs,
    per_sample: its.PerSample = False,
    details: Details = False,
) -> None:
    """Compare generated sets with a reference set.

    Shows for each generated set how good its samples are (precision), how much of the
    reference's variety they reach (recall, coverage) and how close the two sets are as a
    whole (MAUVE*), once by meaning and once by form; how sure each number is, which systems
    differ by more than chance, and what two halves of the reference score (the noise floor).
    """
    with guarded(STOPPED if embedding.cached else STOPPED_UNCACHED):
        asked = checks.parse_metrics(metrics or ())
        cells = checks.parse_buckets(buckets)
        source = checks.parse_estimator(estimator)
        scaling = checks.parse_scaling(c)
        neighbours = checks.whole("--k", k, least=1)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        rim = checks.one_of("--ties", ties, checks.TIES)
        words = checks.optional_whole("--match-length", match_length, least=1)
        sure = None if no_intervals else checks.parse_level(level)
        apart = checks.parse_margin(margin)
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        space = checks.one_of("--projection", projection, checks.PROJECTIONS)
        how = embedding.options()
        checks.check_label("--group", group)
        checks.check_label("--cluster", cluster)
        checks.check_specs(reference, generated, train)
        checks.check_per_sample(outputs.paths, per_sample=per_sample)
        outputs.check([reference, *generated, *([] if train is None else [train])])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate import compare as run

            sides = read_sides(
                reference,
                generated,
                field=field,
                group=group,
                cluster=cluster,
                skip_bad=skip_bad,
            )
            comparison = run(
                *sides,
                train=_read_train(train, field, skip_bad=skip_bad),
                group=group,
                cluster=cluster,
                metrics=asked,
                k=neighbours,
                ties=rim,
                distance=measure,
                projection=space,
                buckets=cells,
                estimator=source,
                c=scaling,
                shared=shared,
                seed=start,
                max_samples=most,
                keep_sizes=keep_sizes,
                level=sure,
                floor=floor,
                advice=advice,
                paired=paired,
                margin=apart,
                match_length=words,
                progress=outputs.progress(),
                **how,
            )
        kept = with_command(comparison)
        deliver_comparison(kept, outputs, per_sample=per_sample, details=details)


def _read_train(train: str | None, field: str | None, *, skip_bad: bool) -> SampleSet | None:
    from calipers.samples import read_samples

    return None if train is None else read_samples(train, field=field, skip_bad=skip_bad)
