"""From what a person hands over to sets of the sizes that will be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.evaluate.clusters import RunClusters, clusters_of
from calipers.evaluate.groups import group_sizes, grouped, lost_groups
from calipers.numeric.blocks import Clusters
from calipers.results import SetSummary
from calipers.samples import SampleSet, System, as_sample_set
from calipers.samples.truncation import check_words
from calipers.samples.truncation import match_length as with_length

LENGTH_RATIO = 1.25
FEW = 100
# Fewer samples than this times k, and a ball spans a good part of its set
WIDE = 10


@dataclass(frozen=True)
class Cut:
    """A set as it will be compared, how many samples there were, and which belong together."""

    samples: SampleSet
    n_given: int
    clusters: Clusters | None = None


@dataclass(frozen=True)
class Entry:
    """One system as it will be compared, a set for each of its files."""

    name: str
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class Intake:
    """Both sides, cut to the sizes of the comparison, and the whole training set.

    `lost` tells which groups of the reference the cut has left without samples.
    """

    reference: Cut
    systems: tuple[Entry, ...]
    train: Cut | None = None
    group: str | None = None
    lost: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def run_clusters(self) -> RunClusters | None:
        """Which rows belong together, of every set; None where nobody asked."""
        if self.reference.clusters is None:
            return None
        systems = [[cut.clusters for cut in entry.cuts if cut.clusters] for entry in self.systems]
        return self.reference.clusters, systems

    @property
    def sets(self) -> tuple[SampleSet, ...]:
        """The reference, then every generated set."""
        generated = (cut.samples for entry in self.systems for cut in entry.cuts)
        return (self.reference.samples, *generated)

    @property
    def one_size(self) -> bool:
        """Whether the reference and every generated set have as many samples."""
        return len({len(samples) for samples in self.sets}) == 1


def take_in(
    reference: Any,
    generated: Any,
    *,
    field: str | None,
    max_samples: int | None,
    keep_sizes: bool,
    seed: int,
    group: str | None = None,
    cluster: str | None = None,
    train: Any = None,
    match_length: int | None = None,
) -> Intake:
    """Read both sides and cut the generated sets to one size.

    Every set is first cut to `max_samples`; then, unless `keep_sizes`, the generated ones to the
    smallest of them, since coverage falls where the generated set alone is smaller. The training
    set stays whole: a copy of a sample that was cut away would not be seen. With `match_length`
    the texts of all three are cut to so many words.
    """
    if match_length is not None:
        check_words(match_length)
    given = _named(reference, "reference", field, group, cluster=cluster)
    judged = as_systems(generated, field=field, group=group, cluster=cluster)
    reference_set, systems = grouped(given, judged, group)
    _refuse_paths("train", train)
    train_set = None if train is None else _named(train, "train", field)
    _check_kinds(reference_set, systems, train_set)
    limit = len(reference_set) if max_samples is None else max_samples
    smallest = min(len(samples) for system in systems for samples in system.sets)
    size = max_samples if keep_sizes else min(smallest, max_samples or smallest)

    def made(samples: SampleSet, most: int | None) -> Cut:
        return _cut(samples, most, seed, words=match_length)

    cut = made(reference_set, limit)
    entries = [Entry(s.name, tuple(made(x, size) for x in s.sets)) for s in systems]
    every = [cut.samples, *(own.samples for entry in entries for own in entry.cuts)]
    first, *others = clusters_of(every, cluster)
    return Intake(
        replace(cut, clusters=first),
        tuple(
            replace(entry, cuts=tuple(replace(own, clusters=others.pop(0)) for own in entry.cuts))
            for entry in entries
        ),
        train=None if train_set is None else made(train_set, None),
        group=group,
        lost=lost_groups(reference_set, cut.samples),
        cluster=cluster,
    )


def as_systems(
    generated: Any,
    *,
    field: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
) -> tuple[System, ...]:
    """Bring whatever holds the generated sets to named systems.

    Parameters
    ----------
    generated
        A mapping from name to samples (a sequence of sample sets stands for its seeds), a
        sequence of systems, or one set: texts, an array, a path, a sample set.
    field, group, cluster
        Where text, group and cluster are in the rows of a file; group and cluster may be absent.

    Raises
    ------
    InputError
        If there is no system, or two have one name.
    """
    if isinstance(generated, Mapping):
        systems = tuple(
            _system(str(name), value, field, group, cluster) for name, value in generated.items()
        )
    elif _all_of(generated, System):
        systems = tuple(generated)
    else:
        single = isinstance(generated, System)
        systems = (generated if single else _single(generated, field, group, cluster),)
    if not systems:
        raise InputError("generated must hold at least one system; found none")
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two systems are named {name!r}; every system needs its own name")
    return systems


def summarise(cuts: Sequence[Cut], *, name: str, notes: tuple[str, ...] = ()) -> SetSummary:
    """Describe a set, or the files of one system, with what embedding them brought up."""
    sets = [cut.samples for cut in cuts]
    hashes = [samples.content_hash for samples in sets]
    return SetSummary(
        name=name,
        source=", ".join(samples.source for samples in sets),
        n=len(sets[0]),
        n_given=cuts[0].n_given,
        words=_words(sets),
        content_hash=hashes[0] if len(hashes) == 1 else "+".join(h[:16] for h in hashes),
        warnings=tuple(note for samples in sets for note in samples.notes) + notes,
        groups=group_sizes(sets),
        clusters=None if cuts[0].clusters is None else len(cuts[0].clusters.sizes),
    )


def length_warnings(reference: SetSummary, generated: SetSummary) -> tuple[str, ...]:
    """Warn where texts of one side are much longer: length alone moves every score."""
    if reference.words is None or generated.words is None:
        return ()
    ours, theirs = generated.words["median"], reference.words["median"]
    if max(ours, theirs) <= LENGTH_RATIO * min(ours, theirs):
        return ()
    return (
        f"its texts have {ours:g} words in the median, those of the reference {theirs:g}; "
        "a difference in length alone moves the scores",
    )


def trust_warnings(reference: SetSummary, generated: SetSummary, k: int) -> tuple[str, ...]:
    """Warn where the scores cannot mean much, whatever they are."""
    found = []
    if generated.content_hash == reference.content_hash:
        found.append("is the reference itself, sample for sample")
    size = min(reference.n, generated.n)
    if size < FEW:
        found.append(f"{size} samples are few: chance alone moves its scores a lot")
    if size < WIDE * k:
        found.append(f"balls of {k} neighbours among {size} samples hold nearly everything")
    return tuple(found)


def size_warnings(intake: Intake, *, keep_sizes: bool) -> tuple[str, ...]:
    """Say that sets of different size stand side by side, where they were kept so."""
    cuts = [cut for entry in intake.systems for cut in entry.cuts]
    sizes = sorted({len(cut.samples) for cut in cuts})
    if keep_sizes and len(sizes) > 1:
        return (
            f"generated sets have {sizes[0]} to {sizes[-1]} samples; fewer samples lower coverage "
            "and raise distances, so their scores are not comparable",
        )
    return ()


def _system(
    name: str, value: Any, field: str | None, group: str | None, cluster: str | None
) -> System:
    if not name:
        raise InputError("a system needs a name; found an empty one")
    if isinstance(value, System):
        return System(name=name, sets=value.sets)
    _refuse_paths(name, value)
    seeds = value if _all_of(value, SampleSet) else (value,)
    sets = (
        as_sample_set(
            seed,
            name=name,
            field=field,
            group=group,
            group_needed=False,
            cluster=cluster,
            cluster_needed=False,
        )
        for seed in seeds
    )
    return System(name=name, sets=tuple(sets))


def _single(value: Any, field: str | None, group: str | None, cluster: str | None) -> System:
    _refuse_paths("generated", value)
    samples = _named(value, "generated", field, group, group_needed=False, cluster=cluster)
    return System(name=samples.name, sets=(samples,))


def _named(
    value: Any,
    default: str,
    field: str | None,
    group: str | None = None,
    *,
    group_needed: bool = True,
    cluster: str | None = None,
) -> SampleSet:
    """Read a set; what has no name of its own gets the default one."""
    has_name = isinstance(value, SampleSet | Path | str)
    name = None if has_name else default
    return as_sample_set(
        value,
        name=name,
        field=field,
        group=group,
        group_needed=group_needed,
        cluster=cluster,
        cluster_needed=False,
    )


def _refuse_paths(name: str, value: Any) -> None:
    """Strings that all name files are files, not texts; scoring their names would mislead."""
    few_texts = _all_of(value, str) and len(value) < FEW
    if _all_of(value, Path) or (few_texts and all(map(_is_file, value))):
        raise InputError(
            f"{name}: this list holds paths of files ({value[0]}, …), not texts; for the seeds of "
            "a system give [calipers.read_samples(path) for path in paths], for several systems "
            "a dict, and as reference or training set one file"
        )


def _is_file(text: str) -> bool:
    return len(text) < 300 and text.isprintable() and bool(text) and Path(text).is_file()


def _all_of(value: Any, kind: type) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(item, kind) for item in value)
    )


def _check_kinds(reference: SampleSet, systems: Sequence[System], train: SampleSet | None) -> None:
    if train is not None and train.kind != reference.kind:
        raise InputError(
            f"the reference holds {reference.kind} and the training set {train.name!r} holds "
            f"{train.kind}; both must be samples of one kind"
        )
    for system in systems:
        for samples in system.sets:
            if samples.kind != reference.kind:
                raise InputError(
                    f"the reference holds {reference.kind} and {system.name!r} holds "
                    f"{samples.kind}; both sides must be samples of one kind"
                )


def _cut(samples: SampleSet, size: int | None, seed: int, *, words: int | None) -> Cut:
    kept = samples if size is None else samples.subsample(size, seed=seed)
    kept = kept if words is None else with_length(kept, words)
    return Cut(kept, len(samples))


def _words(sets: Sequence[SampleSet]) -> dict[str, float] | None:
    counts = [count for samples in sets if (count := samples.word_counts()) is not None]
    if not counts:
        return None
    words = np.concatenate(counts)
    return {"mean": float(words.mean()), "median": float(np.median(words))}
