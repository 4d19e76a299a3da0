"""Labels of samples: groups with scores of their own, and clusters.

**Groups** are topics, authors, languages (``--group FIELD``): recall, coverage and precision are
given for each of them too.

**Clusters** are rows that were drawn together. Ten continuations of one prompt, or all sentences of
one document, are not as many independent samples. With ``--cluster FIELD`` whatever needs
independent draws takes clusters in their place: blocks and halves behind intervals and tests
between systems, the halves of the noise floor, the parts behind advice. Tests against the reference
take one row of each. Scores do not change.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.blocks import (
    DEFAULT_BLOCKS,
    FEWER_BLOCKS,
    FEWEST_CLUSTERS,
    Clusters,
    cluster_sets,
)
from calipers.results.caution import Caution
from calipers.samples import SampleSet, System
from calipers.samples.wording import first_names

if TYPE_CHECKING:
    from calipers.evaluate.inputs import ComparisonInputs, InputSet
    from calipers.samples.columns import StringColumn

NAMED = 5

FEW_IN_GROUP = 10

PairClusters = tuple[Clusters, Clusters]
"""Which rows belong together, in the reference and in a generated set."""

RunClusters = tuple[Clusters, Sequence[Sequence[Clusters]]]
"""Which rows belong together, in the reference and in every file of every system."""

PROMPT = "prompt"
"""The field that samples are known to continue, whether or not a cluster was asked for."""

REPEATED = 0.05
"""Share of rows with the prompt of another from which on intervals are called too short."""

FEWEST = FEWEST_CLUSTERS * FEWER_BLOCKS


# Groups ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a pair of sets: one label for each sample, shapes ``(n,)`` and ``(m,)``.

    `signature` names the field and the reference's labels.
    """

    reference: NDArray[np.str_]
    generated: NDArray[np.str_] | None
    signature: str


def grouped(
    reference: SampleSet, systems: Sequence[System], group: str | None
) -> tuple[SampleSet, tuple[System, ...]]:
    """Return both sides with the requested groups, and no others.

    Raises
    ------
    InputError
        If the reference carries no groups, or only some files of a system do.
    """
    if group is None:
        bare = [System(s.name, tuple(map(_without_groups, s.sets))) for s in systems]
        return _without_groups(reference), tuple(bare)
    if reference.groups is None:
        raise InputError(
            f"{reference.name}: its samples have no groups; read them with "
            f"read_samples(path, group={group!r}), or label them with SampleSet.with_groups"
        )
    for system in systems:
        lack = [samples.source for samples in system.sets if samples.groups is None]
        if 0 < len(lack) < len(system.sets):
            raise InputError(
                f"{system.name}: {len(lack)} of its {len(system.sets)} sets lack the group "
                f"{group!r}, the first one is {lack[0]}; all must have it, or none"
            )
    return reference, tuple(systems)


def pair_groups(reference: SampleSet, generated: SampleSet, group: str | None) -> Groups | None:
    """Return the groups of a pair; None where none were requested."""
    labels = _group_labels(reference)
    if labels is None:
        return None
    content = hashlib.sha256("\0".join(labels.tolist()).encode()).hexdigest()
    return Groups(labels, _group_labels(generated), f"{group}({content[:8]})")


def group_sizes(sets: Iterable[SampleSet]) -> dict[str, int] | None:
    """Count the samples of every group, in the order of the labels; None without groups."""
    counts: Counter[str] = Counter()
    for samples in sets:
        if samples.groups is None:
            return None
        counts.update(samples.groups)
    return {label: counts[label] for label in sorted(counts, key=_order)}


def small_groups(sizes: Mapping[str, int] | None) -> tuple[str, ...]:
    """Warn of groups that are too small to score reliably."""
    few = {label: size for label, size in (sizes or {}).items() if size < FEW_IN_GROUP}
    if not few:
        return ()
    listed = first_names([f"{label!r} ({size})" for label, size in few.items()], NAMED)
    return (f"groups of fewer than {FEW_IN_GROUP} samples, whose scores are unreliable: {listed}",)


def lost_groups(before: SampleSet, after: SampleSet) -> tuple[str, ...]:
    """Warn of groups that vanished when the set was cut."""
    if before.groups is None or len(before) == len(after):
        return ()
    remaining = group_sizes([after]) or {}
    lost = [repr(label) for label in group_sizes([before]) or {} if label not in remaining]
    if not lost:
        return ()
    return (
        f"after the cut to {len(after)} samples it has none of the groups "
        f"{first_names(lost, NAMED)}",
    )


def foreign_groups(
    reference: Mapping[str, int] | None, generated: Mapping[str, int] | None
) -> tuple[str, ...]:
    """Warn of groups that only the generated set has, often due to spelling."""
    foreign = [repr(label) for label in generated or {} if label not in (reference or {})]
    if not foreign:
        return ()
    return (
        f"has groups that the reference does not have: {first_names(foreign, NAMED)}; are "
        "they spelled the same?",
    )


def group_cautions(
    reference: Mapping[str, int] | None, generated: Mapping[str, int] | None
) -> Iterator[Caution]:
    """Warn of groups of a system that cannot be compared, or only poorly."""
    for text in foreign_groups(reference, generated):
        yield Caution("groups", "has groups that the reference lacks", text)
    for text in small_groups(generated):
        yield Caution("groups", f"groups of fewer than {FEW_IN_GROUP} samples", text)


def _group_labels(samples: SampleSet) -> NDArray[np.str_] | None:
    return None if samples.groups is None else np.array(samples.groups.tolist(), dtype=np.str_)


def _without_groups(samples: SampleSet) -> SampleSet:
    return samples if samples.groups is None else replace(samples, groups=None)


def _order(label: str) -> tuple[bool, float, str]:
    """Numbers by their value, before words by their letters."""
    try:
        value = float(label)
    except ValueError:
        return True, 0.0, label
    return (False, value, label) if math.isfinite(value) else (True, 0.0, label)


# Clusters ----------------------------------------------------------------------------------------


def clusters_of(sets: Sequence[SampleSet], cluster: str | None) -> tuple[Clusters | None, ...]:
    """Number the clusters of all sets of a run, the reference first; None where none are requested.

    Raises
    ------
    InputError
        If no set has any.
    """
    if cluster is None:
        return tuple(None for _ in sets)
    columns = [_cluster_labels(samples, cluster) for samples in sets]
    if all(column is None for column in columns):
        raise InputError(
            f"cluster {cluster!r}: no set has this field in its rows; name the field that is "
            "equal in rows that belong together, or label them in Python: "
            "SampleSet.with_clusters"
        )
    return cluster_sets(
        [
            len(samples) if column is None else column.tolist()
            for samples, column in zip(sets, columns, strict=True)
        ]
    )


def pair_clusters(reference: InputSet, generated: InputSet) -> PairClusters | None:
    """Return the clusters of the rows of a pair; None where none were requested."""
    if reference.clusters is None or generated.clusters is None:
        return None
    return reference.clusters, generated.clusters


def cluster_warnings(inputs: ComparisonInputs) -> Iterator[str]:
    """Describe what intervals and tests treat as independent, and where that is doubtful."""
    if inputs.cluster is None:
        yield from _not_given(inputs)
        return
    clustered = _clustered(inputs)
    lacking = [
        name for name, file, _ in clustered if _cluster_labels(file.samples, inputs.cluster) is None
    ]
    if lacking:
        yield (
            f"no field {inputs.cluster!r} in {first_names(lacking, NAMED)}: every sample counts as "
            "independent there"
        )
    for name, _, clusters in clustered:
        if clusters.blocks == 0:
            count = len(clusters.sizes)
            worth = f" of unequal sizes, equivalent to {clusters.worth} equal ones" * (
                count >= FEWEST
            )
            yield (
                f"{name}: too few clusters by {inputs.cluster!r} for intervals and for tests "
                f"between systems: {count}{worth}, of {FEWEST} ({FEWER_BLOCKS} blocks of "
                f"{FEWEST_CLUSTERS})"
            )


def few_for_texts(inputs: ComparisonInputs) -> tuple[str, ...]:
    """State that statistics of texts have no intervals where clusters are too few."""
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
    for name, file in _sets(inputs):
        labels, n = _cluster_labels(file.samples, PROMPT), len(file.samples)
        prompts = 0 if labels is None else len(set(labels))
        if 1 < prompts < (1 - REPEATED) * n:
            repeated.append(f"{n:,} samples of {prompts:,} in {name}")
    if repeated:
        yield (
            f"several samples answer one prompt ({first_names(repeated, NAMED)}) and are not "
            "independent, so intervals are too narrow and p-values too small: use "
            "`cluster='prompt'`"
        )


def _cluster_labels(samples: SampleSet, cluster: str) -> StringColumn | None:
    """The cluster of every sample, by default its prompt; None where a prompt is empty."""
    if samples.clusters is not None or cluster != PROMPT or samples.prompts is None:
        return samples.clusters
    blank = len(samples.prompts.blank_rows()) > 0
    return None if blank else samples.prompts


def _clustered(inputs: ComparisonInputs) -> list[tuple[str, InputSet, Clusters]]:
    """Every set with its clusters, where they were asked for."""
    return [
        (name, file, file.clusters) for name, file in _sets(inputs) if file.clusters is not None
    ]


def _sets(inputs: ComparisonInputs) -> Iterator[tuple[str, InputSet]]:
    """Every set, by a name for sentences."""
    yield "the reference", inputs.reference
    for system in inputs.systems:
        for file in system.files:
            yield system.name if len(system.files) == 1 else file.samples.source, file
