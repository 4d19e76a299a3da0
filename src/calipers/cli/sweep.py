"""``calipers sweep``: how much the scores depend on k, and on the number of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import compare_options as shared
from calipers.cli import sweep_options as its
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Json, Quiet, Seed
from calipers.cli.page import examples
from calipers.cli.streams import calm
from calipers.cli.sweep_deliver import SweepOutputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.samples import SampleSet, System

EXAMPLES = examples(
    (
        (
            "Is k = 4 a good choice for these sets? One pass gives all k:",
            "calipers sweep --over k -r human.jsonl model_a.jsonl model_b.jsonl",
        ),
        (
            "Are there enough samples? With a figure for a paper:",
            "calipers sweep --over n -r human.jsonl model.jsonl --plot samples.pdf",
        ),
        (
            "Sizes of your own, ten random orders, two metrics:",
            "calipers sweep --over n -r human.jsonl model.jsonl \\\n"
            "      --values 500,1000,2000,4000 --seeds 10 --metrics precision,recall",
        ),
        (
            "Bands from several files of one system, and all numbers for another program:",
            "calipers sweep --over k -r human.jsonl 'xl=runs/xl-*.jsonl' --json k.json",
        ),
    )
)


def sweep(
    generated: shared.Generated,
    reference: shared.Reference,
    over: its.Over,
    values: its.Values = None,
    metrics: its.Metrics = None,
    k: its.K = None,
    ties: shared.Ties = "closed",
    distance: shared.Distance = "euclidean",
    seeds: its.Seeds = None,
    seed: Seed = "0",
    field: shared.Field = None,
    max_samples: its.MaxSamples = None,
    embedder: shared.Embedder = "minilm",
    device: shared.Device = "auto",
    dtype: shared.Dtype = "float32",
    batch_size: shared.BatchSize = None,
    threads: shared.Threads = None,
    cache_dir: shared.CacheDir = None,
    no_cache: shared.NoCache = False,
    json: Json = None,
    plot: its.Plot = None,
    quiet: Quiet = False,
) -> None:
    """Show how scores move with k or the number of samples.

    Scores depend on the neighbours k that span a ball and on the number of samples. This shows
    by how much, and from which value on they hold, so that you can choose both.
    """
    outputs = SweepOutputs(json=json, plot=plot, quiet=quiet)
    with guarded(STOPPED_UNCACHED if no_cache else STOPPED):
        swept = checks.one_of("--over", over, its.OVER)
        asked = checks.parse_metrics(metrics or ())
        chosen = its.read_values(values)
        neighbours = its.only_over_n("--k", k, swept, default=4)
        orders = its.only_over_n("--seeds", seeds, swept, default=5)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        batch = checks.optional_whole("--batch-size", batch_size, least=1)
        workers = checks.optional_whole("--threads", threads, least=1)
        rim = checks.one_of("--ties", ties, checks.TIES)
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        digits = checks.one_of("--dtype", dtype, checks.DTYPES)
        checks.check_cache(cache_dir, no_cache=no_cache)
        checks.check_specs(reference, generated)
        outputs.check([reference, *generated])
        with calm(quiet=quiet):
            from calipers.road import sweep as run

            sets = _read(reference, generated, field)
            found = run(
                *sets,
                over=swept,
                values=chosen,
                metrics=its.METRICS if asked is None else asked,
                k=neighbours,
                ties=rim,
                distance=measure,
                seeds=orders,
                seed=start,
                max_samples=most,
                embedder=embedder,
                device=device,
                dtype=digits,
                batch_size=batch,
                cache_dir=cache_dir,
                cache=not no_cache,
                threads=workers,
                progress=outputs.progress(),
            )
        outputs.deliver(found)


def _read(
    reference: str, generated: Sequence[str], field: str | None
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read all files first: a misspelt last one should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    return read_samples(reference, field=field), read_systems(generated, field=field)
