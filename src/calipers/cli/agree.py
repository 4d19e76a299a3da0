"""``calipers agree``: does the verdict hang on the embedder?"""

from __future__ import annotations

from calipers.cli import agree_options as its
from calipers.cli import checks
from calipers.cli import compare_options as shared
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.embedder_options import Embedding
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.overlap_options import MaxSamples
from calipers.cli.page import examples
from calipers.cli.reading import read_sides
from calipers.cli.streams import calm

EXAMPLES = examples(
    (
        (
            "Do a sentence model, bags of words and GPT-2 name the same winner?",
            "calipers agree -r human.jsonl model_a.jsonl model_b.jsonl model_c.jsonl \\\n"
            "      --embedders minilm,tfidf,./gpt2",
        ),
        (
            "Several layers of one model, by MAUVE* alone:",
            "calipers agree -r human.jsonl a.jsonl b.jsonl c.jsonl --metrics mauve_star \\\n"
            "      --embedders ./gpt2,./gpt2:layer=6,./gpt2:layer=6:pooling=mean",
        ),
        (
            "Images; every matrix for another program:",
            "calipers agree -r real/ model_a/ model_b/ --embedders pixels,./dinov2 \\\n"
            "      --json agreement.json",
        ),
    )
)


@with_outputs("json")
def agree(
    generated: shared.Generated,
    reference: shared.Reference,
    *,
    field: shared.Field = None,
    max_samples: MaxSamples = None,
    keep_sizes: shared.KeepSizes = False,
    skip_bad: shared.SkipBad = False,
    metrics: its.Metrics = None,
    k: shared.K = "4",
    ties: shared.Ties = "closed",
    distance: shared.Distance = "euclidean",
    projection: shared.Projection = "none",
    buckets: shared.Buckets = "auto",
    estimator: shared.Estimator = "quantisation",
    c: shared.Scaling = None,
    one_space: shared.Shared = False,
    seed: Seed = "0",
    embedders: its.Embedders,
    embedding: Embedding,
    outputs: Outputs,
) -> None:
    """See whether the verdict hangs on the embedder.

    Takes every metric under several embedders, correlates the orders in which they put the
    systems, and says in words where one embedder names another winner.
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
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        space = checks.one_of("--projection", projection, checks.PROJECTIONS)
        where = embedding.where()
        choices = embedding.choices(its.read_embedders(embedders))
        checks.check_specs(reference, generated)
        outputs.check([reference, *generated])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.agree_run import agree as run

            found = run(
                *read_sides(reference, generated, field=field, skip_bad=skip_bad),
                embedders=choices,
                metrics=asked,
                k=neighbours,
                ties=rim,
                distance=measure,
                projection=space,
                buckets=cells,
                estimator=source,
                c=scaling,
                shared=one_space,
                seed=start,
                max_samples=most,
                keep_sizes=keep_sizes,
                progress=outputs.progress(),
                **where,
            )
        deliver_data(found.to_dict(), outputs, _look())


def _look() -> Look:
    from calipers.report.documents import agree

    return Look(agree.document, "↑↓≈–…·─")
