"""``calipers sweep``: how much the scores depend on k, and on the number of samples."""

from __future__ import annotations

from typing import Any

from calipers.cli import checks
from calipers.cli import compare_options as shared
from calipers.cli import sweep_options as its
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.embedder_options import Embedding
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.reading import read_sides
from calipers.cli.streams import calm

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


@with_outputs("json", plot=its.Plot)
def sweep(
    generated: shared.Generated,
    reference: shared.Reference,
    over: its.Over,
    *,
    values: its.Values = None,
    metrics: its.Metrics = None,
    k: its.K = None,
    ties: shared.Ties = "closed",
    distance: shared.Distance = "euclidean",
    projection: shared.Projection = "none",
    seeds: its.Seeds = None,
    seed: Seed = "0",
    field: shared.Field = None,
    max_samples: its.MaxSamples = None,
    skip_bad: shared.SkipBad = False,
    embedding: Embedding,
    outputs: Outputs,
) -> None:
    """Show how scores move with k or the number of samples.

    Scores depend on the neighbours k that span a ball and on the number of samples. This shows
    by how much, and from which value on they hold, so that you can choose both.
    """
    with guarded(STOPPED if embedding.cached else STOPPED_UNCACHED):
        swept = checks.one_of("--over", over, its.OVER)
        asked = checks.parse_metrics(metrics or ())
        chosen = its.read_values(values)
        neighbours = its.only_over_n("--k", k, swept, default=4)
        orders = its.only_over_n("--seeds", seeds, swept, default=5)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        rim = checks.one_of("--ties", ties, checks.TIES)
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        space = checks.one_of("--projection", projection, checks.PROJECTIONS)
        how = embedding.options()
        checks.check_specs(reference, generated)
        outputs.check([reference, *generated])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate import sweep as run

            found = run(
                *read_sides(reference, generated, field=field, skip_bad=skip_bad),
                over=swept,
                values=chosen,
                metrics=its.METRICS if asked is None else asked,
                k=neighbours,
                ties=rim,
                distance=measure,
                projection=space,
                seeds=orders,
                seed=start,
                max_samples=most,
                progress=outputs.progress(),
                **how,
            )
        data = found.to_dict()
        deliver_data(data, outputs, _look(), plot=lambda path: _draw(data, path))


def _draw(data: dict[str, Any], path: str) -> None:
    from calipers.report.plots import save_figure, sweep_plot

    save_figure(sweep_plot(data).figure(), path)


def _look() -> Look:
    from calipers.report.documents import sweep

    return Look(sweep.document, "↑↓–…·─±")
