"""``calipers probe``: what does an embedder see?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.cli import checks
from calipers.cli import probe_options as its
from calipers.cli.compare_options import Field
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

EXAMPLES = examples(
    (
        (
            "Does a model see word order, spelling, length?",
            "calipers probe human.jsonl --embedder ./gpt2",
        ),
        (
            "A thousand of the texts, drawn at random; shuffles alone:",
            "calipers probe human.jsonl --max-samples 1000 \\\n"
            "      --changes word_shuffle,sentence_shuffle",
        ),
    )
)


@with_outputs("json")
def probe(
    texts: its.Texts,
    *,
    field: Field = None,
    max_samples: its.MaxSamples = None,
    changes: its.Changes = None,
    metrics: its.Metrics = None,
    k: its.K = "4",
    seeds: its.Seeds = "3",
    seed: Seed = "0",
    embedding: Embedding,
    outputs: Outputs,
) -> None:
    """See what an embedder sees.

    Changes half of the texts in known ways (words shuffled, cut in half, misspelt ...), scores
    them against the other half, and says which changes move the scores. What an embedder does
    not see, none of its scores can tell.
    """
    with guarded(STOPPED if embedding.cached else STOPPED_UNCACHED):
        asked = checks.parse_metrics(metrics or ())
        wanted = _parse_changes(changes)
        neighbours = checks.whole("--k", k, least=1)
        halvings = checks.whole("--seeds", seeds, least=2)
        start = checks.whole("--seed", seed, least=0)
        most = checks.optional_whole("--max-samples", max_samples, least=4)
        chosen = embedding.options()
        outputs.check([texts])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.probe_run import probe as run
            from calipers.samples import read_samples

            found = run(
                read_samples(texts, field=field),
                changes=wanted,
                metrics=asked,
                k=neighbours,
                seeds=halvings,
                seed=start,
                max_samples=most,
                progress=outputs.progress(),
                **chosen,
            )
        deliver_data(found.to_dict(), outputs, _look())


def _parse_changes(options: Sequence[str] | None) -> list[str] | None:
    """Read ``--changes``, given once or often, each time one or several with commas."""
    if not options:
        return None
    names = [name.strip() for option in options for name in option.split(",")]
    if not all(names):
        raise InputError(f"--changes must name changes; found {', '.join(options)!r}")
    return names


def _look() -> Look:
    from calipers.report.documents import probe

    return Look(probe.document, "–·─±")
