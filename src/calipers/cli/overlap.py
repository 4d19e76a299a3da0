"""``calipers overlap``: systems against each other, without a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import compare_options as shared
from calipers.cli import overlap_options as its
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.embedder_options import Embedding
from calipers.cli.guard import STOPPED, STOPPED_UNCACHED, guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.streams import calm
from calipers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.samples import System

EXAMPLES = examples(
    (
        (
            "Three models that answered the same prompts:",
            "calipers overlap model_a.jsonl model_b.jsonl model_c.jsonl",
        ),
        (
            "Several files as the seeds of one system, for a spread and a ceiling:",
            "calipers overlap 'small=runs/small-*.jsonl' 'large=runs/large-*.jsonl'",
        ),
        (
            "The matrices for another program:",
            "calipers overlap a.jsonl b.jsonl --json overlap.json",
        ),
    )
)


@with_outputs("json")
def overlap(
    systems: its.Systems,
    *,
    field: shared.Field = None,
    max_samples: its.MaxSamples = None,
    keep_sizes: its.KeepSizes = False,
    k: its.K = "4",
    ties: shared.Ties = "closed",
    distance: shared.Distance = "euclidean",
    projection: shared.Projection = "none",
    seed: Seed = "0",
    skip_bad: shared.SkipBad = False,
    embedding: Embedding,
    outputs: Outputs,
) -> None:
    """Hold systems against each other, without a reference.

    Shows for every pair how much of each system lies inside the support of the other, as
    precision and recall with one of them as the reference, and says in words what that means:
    one lies within the other, they cover each other, overlap in part, or are disjoint.
    """
    with guarded(STOPPED if embedding.cached else STOPPED_UNCACHED):
        neighbours = checks.whole("--k", k, least=1)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=2)
        rim = checks.one_of("--ties", ties, checks.TIES)
        measure = checks.one_of("--distance", distance, checks.DISTANCES)
        space = checks.one_of("--projection", projection, checks.PROJECTIONS)
        how = embedding.options()
        _check_specs(systems)
        outputs.check(systems)
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.overlap_run import overlap as run

            found = run(
                _read(systems, field, skip_bad=skip_bad),
                k=neighbours,
                ties=rim,
                distance=measure,
                projection=space,
                seed=start,
                max_samples=most,
                keep_sizes=keep_sizes,
                progress=outputs.progress(),
                **how,
            )
        deliver_data(found.to_dict(), outputs, _look())


def _check_specs(specs: Sequence[str]) -> None:
    if specs.count(checks.STDIO) > 1:
        raise InputError("standard input (-) can be read once only; it is given more than once")
    if len(specs) < 2:
        raise InputError(
            f"overlap holds systems against each other and needs at least two; found {specs[0]}. "
            "Several files that match one NAME=GLOB are the seeds of one system"
        )


def _read(specs: Sequence[str], field: str | None, *, skip_bad: bool) -> tuple[System, ...]:
    from calipers.samples import read_systems

    return read_systems(specs, field=field, skip_bad=skip_bad)


def _look() -> Look:
    from calipers.report.documents import overlap

    return Look(overlap.document, "±–…·─")
