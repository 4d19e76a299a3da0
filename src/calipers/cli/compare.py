"""``calipers compare``: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import compare_options as its
from calipers.cli.deliver import Outputs
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Json, Quiet, Save, Seed
from calipers.cli.page import examples
from calipers.cli.streams import calm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.samples import SampleSet, System

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
            "Embeddings that you have already:",
            "calipers compare -r real.npy fake.npy --embedder precomputed",
        ),
        (
            "Which topics a model forgets, where the reference's rows name theirs:",
            "calipers compare -r human.jsonl model.jsonl --group topic",
        ),
        (
            "What share of the samples is copied from the training set:",
            "calipers compare -r human.jsonl model.jsonl --train train.jsonl",
        ),
        (
            "A quick first look at large files:",
            "calipers compare -r human.parquet model.parquet --max-samples 1000",
        ),
    )
)


def compare(
    generated: its.Generated,
    reference: its.Reference,
    field: its.Field = None,
    group: its.Group = None,
    train: its.Train = None,
    max_samples: its.MaxSamples = None,
    keep_sizes: its.KeepSizes = False,
    metrics: its.Metrics = None,
    k: its.K = "4",
    ties: its.Ties = "closed",
    distance: its.Distance = "euclidean",
    buckets: its.Buckets = "auto",
    estimator: its.Estimator = "quantisation",
    c: its.Scaling = None,
    shared: its.Shared = False,
    seed: Seed = "0",
    embedder: its.Embedder = "minilm",
    device: its.Device = "auto",
    dtype: its.Dtype = "float32",
    batch_size: its.BatchSize = None,
    threads: its.Threads = None,
    cache_dir: its.CacheDir = None,
    no_cache: its.NoCache = False,
    json: Json = None,
    per_sample: its.PerSample = False,
    save: Save = None,
    quiet: Quiet = False,
) -> None:
    """Compare generated sets with a reference set.

    Shows for each generated set how good its samples are (precision), how much of the
    reference's variety they reach (recall, coverage) and how close the two sets are as a
    whole (MAUVE*), once by meaning and once by form.
    """
    outputs = Outputs(json=json, save=save, per_sample=per_sample, quiet=quiet)
    with guarded(STOPPED_UNCACHED if no_cache else STOPPED):
        asked = checks.parse_metrics(metrics or ())
        cells = checks.parse_buckets(buckets)
        source = checks.parse_estimator(estimator)
        scaling = checks.parse_scaling(c)
        neighbours = checks.whole("--k", k, least=1)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        batch = checks.optional_whole("--batch-size", batch_size, least=1)
        workers = checks.optional_whole("--threads", threads, least=1)
        rim = checks.one_of("--ties", ties, checks.TIES)
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        digits = checks.one_of("--dtype", dtype, checks.DTYPES)
        checks.check_cache(cache_dir, no_cache=no_cache)
        checks.check_group(group)
        checks.check_specs(reference, generated, train)
        outputs.check([reference, *generated, *([] if train is None else [train])])
        with calm(quiet=quiet):
            from calipers.road import compare as run

            sets = _read(reference, generated, train, field, group)
            comparison = run(
                sets[0],
                sets[1],
                train=sets[2],
                group=group,
                embedder=embedder,
                metrics=asked,
                k=neighbours,
                ties=rim,
                distance=measure,
                buckets=cells,
                estimator=source,
                c=scaling,
                shared=shared,
                seed=start,
                max_samples=most,
                keep_sizes=keep_sizes,
                device=device,
                dtype=digits,
                batch_size=batch,
                cache_dir=cache_dir,
                cache=not no_cache,
                threads=workers,
                progress=outputs.progress(),
            )
        outputs.deliver(comparison)


def _read(
    reference: str,
    generated: Sequence[str],
    train: str | None,
    field: str | None,
    group: str | None,
) -> tuple[SampleSet, tuple[System, ...], SampleSet | None]:
    """Read all files first: a misspelt last one should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    return (
        read_samples(reference, field=field, group=group),
        read_systems(generated, field=field, group=group),
        None if train is None else read_samples(train, field=field),
    )
