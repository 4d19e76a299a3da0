"""Clusters of samples: which rows were drawn together, and what a person should know of them.

Ten continuations of one prompt, or all sentences of one document, are not as many independent
samples. With ``--cluster FIELD`` whatever needs independent draws takes clusters in their place:
blocks and halves behind intervals and tests between systems, the halves of the noise floor, the
parts behind advice. Tests against the reference take one row of each. Scores do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.numeric.blocks import (
    DEFAULT_BLOCKS,
    FEWER_BLOCKS,
    FEWEST_CLUSTERS,
    Clusters,
    cluster_sets,
)
from calipers.samples import SampleSet
from calipers.samples.wording import first_names

if TYPE_CHECKING:
    import pyarrow as pa

    from calipers.evaluate.inputs import ComparisonInputs

Both = tuple[Clusters, Clusters]
"""Which rows belong together, in the reference and in a generated set."""

RunClusters = tuple[Clusters, Sequence[Sequence[Clusters]]]
"""Which rows belong together, in the reference and in every file of every system."""

PROMPT = "prompt"
"""The field that samples are known to continue, whether or not a cluster was asked for."""

REPEATED = 0.05
"""Share of rows with the prompt of another from which on intervals are called too short."""

NAMED = 5
FEWEST = FEWEST_CLUSTERS * FEWER_BLOCKS


def check_cluster(cluster: Any) -> None:
    """Refuse what cannot name a field."""
    if cluster is not None and not isinstance(cluster, str):
        raise InputError(
            "cluster must be the name of a field, or None; "
            f"found a {type(cluster).__name__}. Labels go to the samples: SampleSet.with_clusters"
        )
    if cluster is not None and not cluster.strip():
        raise InputError(f"cluster must be the name of a field, or None; found {cluster!r}")


def clusters_of(sets: Sequence[SampleSet], cluster: str | None) -> tuple[Clusters | None, ...]:
    """Number the clusters of all sets of a run, the reference first; None where nobody asked.

    Raises
    ------
    InputError
        If no set has any.
    """
    if cluster is None:
        return tuple(None for _ in sets)
    columns = [_labels(samples, cluster) for samples in sets]
    if all(column is None for column in columns):
        raise InputError(
            f"cluster {cluster!r}: no set has such a field in its rows; name the field that rows "
            "drawn together have in common, or label them in Python: SampleSet.with_clusters"
        )
    return cluster_sets(
        [
            len(samples) if column is None else column.to_pylist()
            for samples, column in zip(sets, columns, strict=True)
        ]
    )


def cluster_warnings(inputs: ComparisonInputs) -> Iterator[str]:
    """Say what intervals and tests take for independent, and where that falls short."""
    if inputs.cluster is None:
        yield from _not_given(inputs)
        return
    clustered = list(_clustered(inputs))
    lacking = [name for name, samples, _ in clustered if _labels(samples, inputs.cluster) is None]
    if lacking:
        yield (
            f"no field {inputs.cluster!r} in {first_names(lacking, NAMED)}: every sample there "
            "counts as independent of the others"
        )
    for name, _, clusters in clustered:
        if clusters.blocks == 0:
            count = len(clusters.sizes)
            worth = f" of unequal size, worth {clusters.worth} equal ones" * (count >= FEWEST)
            yield (
                f"{name}: too few clusters by {inputs.cluster!r} for intervals and for tests "
                f"between systems: {count}{worth}, of {FEWEST} ({FEWER_BLOCKS} blocks of "
                f"{FEWEST_CLUSTERS})"
            )


def few_for_texts(inputs: ComparisonInputs) -> tuple[str, ...]:
    """Say that statistics of texts have no intervals where clusters are too few for them."""
    few = [name for name, _, clusters in _clustered(inputs) if clusters.blocks < DEFAULT_BLOCKS]
    if not few:
        return ()
    return (
        f"no intervals for statistics of the texts in {first_names(few, NAMED)}: they need "
        f"{FEWEST_CLUSTERS * DEFAULT_BLOCKS} clusters of equal size in every set",
    )


def _not_given(inputs: ComparisonInputs) -> Iterator[str]:
    """Warn of rows that belong together, where nobody said so."""
    repeated = []
    for name, samples in _sets(inputs):
        labels = _labels(samples, PROMPT)
        several = 0 if labels is None else len(labels.unique())
        if 1 < several < (1 - REPEATED) * len(samples):
            repeated.append(f"{len(samples):,} samples of {several:,} in {name}")
    if repeated:
        yield (
            f"several samples answer one prompt ({first_names(repeated, NAMED)}) and are not "
            "independent: intervals are too short, and tests find too much; --cluster prompt "
            '(cluster="prompt") takes them together'
        )


def _labels(samples: SampleSet, cluster: str) -> pa.ChunkedArray | None:
    """The cluster of every sample; prompts are known by themselves, and an empty one is none."""
    if samples.clusters is not None or cluster != PROMPT or samples.prompts is None:
        return samples.clusters
    blank = any(not prompt.strip() for prompt in samples.prompts.unique().to_pylist())
    return None if blank else samples.prompts


def _clustered(inputs: ComparisonInputs) -> Iterable[tuple[str, SampleSet, Clusters]]:
    """Every set with its clusters, where they were asked for."""
    files = [inputs.reference, *(file for entry in inputs.systems for file in entry.files)]
    for (name, samples), file in zip(_sets(inputs), files, strict=True):
        if file.clusters is not None:
            yield name, samples, file.clusters


def _sets(inputs: ComparisonInputs) -> Iterable[tuple[str, SampleSet]]:
    """Every set, by a name for sentences."""
    yield "the reference", inputs.reference.samples
    for entry in inputs.systems:
        for file in entry.files:
            yield entry.name if len(entry.files) == 1 else file.samples.source, file.samples
