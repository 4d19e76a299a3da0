"""The inputs of a run: sets read, cut to one size, grouped and clustered.

Every command takes its samples through here: a reference and systems (``compare``, ``sweep``),
systems alone (``overlap``), texts with or without a reference (``text``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from calipers.embedders import Embeddings
from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError
from calipers.evaluate.cautions.movements import by_ratio, by_size, movement
from calipers.evaluate.cautions.texts import beyond_chance, brief_lengths
from calipers.evaluate.end_of_text import cut_at_end
from calipers.evaluate.labels import RunClusters, clusters_of, group_sizes, grouped, lost_groups
from calipers.evaluate.prompt_texts import texts_of_prompts
from calipers.evaluate.shared_prompts import SharedPrompts, shared_prompts
from calipers.numeric.blocks import Clusters
from calipers.numeric.subsample import subsample_rows
from calipers.options.inputs import Labels, Sampling, Sizes
from calipers.results import SetSummary
from calipers.results.caution import Caution, brief_share
from calipers.results.reading import SetReading
from calipers.samples import SampleSet, System, as_sample_set
from calipers.samples.readers.csv_files import swallowed
from calipers.samples.truncation import check_filled, check_left
from calipers.samples.truncation import match_length as with_length
from calipers.samples.truncation import skip_words as without_words
from calipers.samples.wording import KINDS, counted, first_names
from calipers.unicode.written_words import BOTH, CHARACTERS, WORDS

LENGTH_RATIO = 1.25
FEW = 100
RECOMMENDED = 1_000
"""Samples that each set should have: Pillutla et al., JMLR 2023, section 8."""
NAMED = 4
# Fewer samples than this times k, and a ball spans a good part of its set
WIDE = 10
LEAST = 2
MANY_EMPTY = 0.01
"""One sample in a hundred."""


@dataclass(frozen=True)
class InputSet:
    """A set as compared, with its original size, groups and clusters.

    `ended` tells which texts were cut at a mark that ends them, behind which nothing else was cut
    off; None where texts are taken as they are. `shared` numbers the prompts of a generated set and
    of the reference that it is compared with; None where they share none. `prompts` are the texts
    of those that are known, by their numbers.
    """

    samples: SampleSet
    n_given: int
    clusters: Clusters | None = None
    ended: NDArray[np.bool_] | None = None
    shared: SharedPrompts | None = None
    prompts: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class InputSystem:
    """One system as compared, with a set for each of its files."""

    name: str
    files: tuple[InputSet, ...]

    @property
    def n(self) -> int:
        """Number of samples; of several files, in the smallest."""
        return min(len(file.samples) for file in self.files)

    @property
    def seeds(self) -> tuple[str, ...]:
        """The sources of its files where there are several, one for each seed."""
        return tuple(file.samples.source for file in self.files) if len(self.files) > 1 else ()


@dataclass(frozen=True)
class Inputs:
    """All sets of a run, cut to the sizes compared, and the whole training set."""

    systems: tuple[InputSystem, ...]
    reference: InputSet | None = None
    train: InputSet | None = None

    @property
    def files(self) -> tuple[InputSet, ...]:
        """The reference, if there is one, then every generated set."""
        reference = () if self.reference is None else (self.reference,)
        return (*reference, *(file for system in self.systems for file in system.files))

    @property
    def named(self) -> tuple[tuple[str, InputSet], ...]:
        """Every generated set, with the name of its system."""
        return tuple((system.name, file) for system in self.systems for file in system.files)

    @property
    def sets(self) -> tuple[SampleSet, ...]:
        """The samples of the same sets."""
        return tuple(file.samples for file in self.files)

    @property
    def every(self) -> tuple[SampleSet, ...]:
        """The samples of the same sets, and of the training set if there is one."""
        return self.sets if self.train is None else (*self.sets, self.train.samples)

    @property
    def one_size(self) -> bool:
        """Whether all these sets have the same size."""
        return len({len(samples) for samples in self.sets}) == 1

    @property
    def smallest(self) -> InputSet:
        """The smallest set; among ties the one that originally had fewest samples."""
        return min(self.files, key=lambda file: (len(file.samples), file.n_given))


@dataclass(frozen=True)
class ComparisonInputs(Inputs):
    """A reference and generated sets, with properties of their rows.

    `lost` tells which groups of the reference the cut has left without samples.
    """

    reference: InputSet
    group: str | None = None
    lost: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def run_clusters(self) -> RunClusters | None:
        """The clusters of every set; None where none were requested."""
        if self.reference.clusters is None:
            return None
        systems = [
            [file.clusters for file in system.files if file.clusters] for system in self.systems
        ]
        return self.reference.clusters, systems


@dataclass(frozen=True)
class Reader:
    """Options for reading: fields of texts and labels, and the treatment of unreadable images."""

    field: str | None = None
    group: str | None = None
    cluster: str | None = None
    skip_bad: bool = False

    def one(self, value: Any, default: str, *, group_needed: bool = True) -> SampleSet:
        """Read one set; an unnamed one gets the default name."""
        samples = getattr(value, "samples", value)  # of a reference that is embedded once
        name = None if _has_name(samples) else default
        return self.read(value, name, group_needed=group_needed)

    def systems(self, generated: Any) -> tuple[System, ...]:
        """Read the generated sets, in any form, as named systems.

        Parameters
        ----------
        generated
            A mapping from name to samples (a sequence of sample sets stands for its seeds), a
            sequence of systems, or one set: texts, an array, a path, a sample set.

        Raises
        ------
        InputError
            If there is no system, or two have one name.
        """
        if isinstance(generated, Mapping):
            systems = tuple(self._system(str(name), value) for name, value in generated.items())
        elif _all_of(generated, System):
            systems = tuple(generated)
        else:
            systems = (generated if isinstance(generated, System) else self._single(generated),)
        if not systems:
            raise InputError("generated must hold at least one system; found none")
        names = [system.name for system in systems]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two systems are named {name!r}; every system needs its own name")
        return systems

    def _system(self, name: str, value: Any) -> System:
        if not name:
            raise InputError("a system needs a name; found an empty one")
        if isinstance(value, System):
            return System(name=name, sets=value.sets)
        _refuse_paths(name, value)
        seeds = value if _all_of(value, SampleSet) else (value,)
        return System(name=name, sets=tuple(self.read(seed, name) for seed in seeds))

    def _single(self, value: Any) -> System:
        _refuse_paths("generated", value)
        samples = self.one(value, "generated", group_needed=False)
        return System(name=samples.name, sets=(samples,))

    def read(self, value: Any, name: str | None = None, *, group_needed: bool = False) -> SampleSet:
        """Read one set, and rename it if a name is given."""
        return as_sample_set(
            value,
            name=name,
            field=self.field,
            group=self.group,
            group_needed=group_needed,
            cluster=self.cluster,
            cluster_needed=False,
            skip_bad=self.skip_bad,
        )


def comparison_inputs(
    reference: Any,
    generated: Any,
    options: Sampling,
    *,
    seed: int,
    skip_bad: bool = False,
    keep_sizes: bool = False,
    labels: Labels | None = None,
    paired: bool = False,
) -> ComparisonInputs:
    """Read a reference and generated sets, and cut the generated ones to one size.

    Every set is first cut to `max_samples`; then, unless `keep_sizes`, the generated ones to the
    smallest of them, since coverage falls where the generated set alone is smaller. The training
    set stays whole: a copy of a sample that was cut away would not be seen. With `match_length`
    the texts of all three are cut to so many words. Which rows answer the same prompts is seen
    before, or said with `paired`: that row i of each answers prompt i.
    """
    about, most = labels or Labels(), options.max_samples
    reading = Reader(options.field, about.group, about.cluster, skip_bad)
    given = reading.one(reference, "reference")
    reference_set, systems = grouped(given, reading.systems(generated), about.group)
    train_set = None
    if about.train is not None:
        _refuse_paths("train", about.train)
        train_set = Reader(options.field, skip_bad=skip_bad).one(about.train, "train")
    _check_kinds(reference_set, systems, train_set)
    shared = [
        [shared_prompts(reference_set, samples, paired=paired) for samples in system.sets]
        for system in systems
    ]
    texts = [
        [
            {} if matching is None else texts_of_prompts(reference_set, samples, matching)
            for samples, matching in zip(system.sets, of_system, strict=True)
        ]
        for system, of_system in zip(systems, shared, strict=True)
    ]
    if options.strip_prompt:
        without, systems, train_set = _without_prompts(reference_set, systems, train_set)
        reference_set = cast(SampleSet, without)
    size = _size(systems, most, keep_sizes=keep_sizes)

    def reduced(samples: SampleSet, limit: int | None) -> InputSet:
        return _cut(samples, _Cutting(limit, options, seed=seed, words=about.match_length))

    def following(matching: SharedPrompts | None) -> SharedPrompts | None:
        if matching is None:
            return None
        sizes = (len(matching.reference), most), (len(matching.generated), size)
        return matching.rows(*(subsample_rows(n, left or n, seed=seed) for n, left in sizes))

    check_filled(reference_set)
    first = reduced(reference_set, most)
    cut = [
        [
            replace(reduced(samples, size), shared=following(matching), prompts=known)
            for samples, matching, known in zip(system.sets, of_system, ours, strict=True)
        ]
        for system, of_system, ours in zip(systems, shared, texts, strict=True)
    ]
    every = [first.samples, *(file.samples for files in cut for file in files)]
    clusters = iter(clusters_of(every, about.cluster))
    first = replace(first, clusters=next(clusters))
    return ComparisonInputs(
        systems=tuple(
            InputSystem(
                system.name, tuple(replace(file, clusters=next(clusters)) for file in files)
            )
            for system, files in zip(systems, cut, strict=True)
        ),
        reference=first,
        train=None if train_set is None else reduced(train_set, None),
        group=about.group,
        lost=lost_groups(reference_set, first.samples),
        cluster=about.cluster,
    )


def read_alone(systems: Any, options: Sizes, *, seed: int, skip_bad: bool = False) -> Inputs:
    """Read systems without a reference, and cut every file to one size.

    Every file is cut to `max_samples`, and unless `keep_sizes` to the smallest of all files: the
    share of a set that lies inside another depends on the size of both.

    Raises
    ------
    InputError
        If there are fewer than two systems, or they are not of one kind.
    """
    read = _several(systems, Reader(options.field, skip_bad=skip_bad))
    first = read[0].sets[0].kind
    for system in read:
        for samples in system.sets:
            if samples.kind != first:
                raise InputError(
                    f"{read[0].name!r} holds {first} and {system.name!r} holds {samples.kind}; "
                    "all systems must be samples of one kind"
                )
    if options.strip_prompt:
        _, read, _ = _without_prompts(None, read)
    size = _size(read, options.max_samples, keep_sizes=options.keep_sizes)
    return Inputs(_cut_all(read, _Cutting(size, options, seed=seed)))


def read_texts(
    generated: Any,
    options: Sizes,
    *,
    reference: Any,
    train: Any = None,
    seed: int,
    aligned: bool = False,
    match_length: int | None = None,
    ends: str = "keep",
    marks: tuple[str, ...] = (),
) -> Inputs:
    """Read sets of texts, and cut the reference and every generated set to one size.

    Every set is cut to `max_samples`, and unless `keep_sizes` to the smallest of all, since most
    statistics move with the number of texts. Sets of one size keep the same rows, so aligned ones
    stay aligned. The training set stays whole: a copy of what was cut away would not be seen.

    Parameters
    ----------
    generated, reference, train
        The sets, in any form that a person may give them; the last two may be None.
    options
        How many samples are read, and what is taken off the beginnings.
    seed
        Of cutting.
    aligned
        Whether text i belongs to row i of the reference.
    match_length
        Words to which texts are cut; None to leave them.
    ends
        What becomes of a mark that ends texts: ``"cut"``, ``"count"`` or ``"keep"``.
    marks
        What ends texts, beside the marks of most models.

    Raises
    ------
    InputError
        If a set holds no texts, or aligned sets differ in size.
    """
    reading = Reader(options.field)
    systems = reading.systems(generated)
    reference = _one_of_texts(reading, "reference", reference)
    train = _one_of_texts(reading, "train", train)
    _check_texts(systems, reference, train)
    if reference is not None:
        check_filled(reference)
    if options.strip_prompt:
        reference, systems, train = _without_prompts(reference, systems, train)
    if aligned:
        _check_rows(systems, reference)
    size = _size(systems, options.max_samples, reference, keep_sizes=options.keep_sizes)
    how = _Cutting(size, options, seed=seed, words=match_length, ends=ends, marks=marks)
    return Inputs(
        _cut_all(systems, how),
        None if reference is None else _cut(reference, how),
        None if train is None else _cut(train, _Cutting(None, options, seed=seed)),
    )


def check_k(inputs: Inputs, k: int) -> None:
    """Report, before the long work, which set is too small for balls of k neighbours."""
    file = inputs.smallest
    size = len(file.samples)
    if size < k + 1:
        shorter = f", cut to {size}" if size < file.n_given else ""
        raise InputError(
            f"{where(file.samples)}: k = {k} needs at least {k + 1} samples in "
            f"every set; it has {file.n_given}{shorter}"
        )


def summarise(
    files: Sequence[InputSet],
    *,
    name: str,
    notes: tuple[str, ...] = (),
    embeddings: Sequence[Embeddings] = (),
) -> SetSummary:
    """Describe a set, or the files of one system, with notes of its embedding."""
    sets = [file.samples for file in files]
    hashes = [samples.content_hash for samples in sets]
    return SetSummary(
        name=name,
        source=", ".join(samples.source for samples in sets),
        n=len(sets[0]),
        n_given=files[0].n_given,
        words=_words(sets),
        content_hash=hashes[0] if len(hashes) == 1 else "+".join(h[:16] for h in hashes),
        warnings=tuple(note for samples in sets for note in samples.notes) + notes,
        groups=group_sizes(sets),
        clusters=None if files[0].clusters is None else len(files[0].clusters.sizes),
        field=sets[0].field if len({samples.field for samples in sets}) == 1 else None,
        reading=read_of(embeddings) if sets[0].kind != "images" else None,
        word_unit=sets[0].word_unit,
    )


def is_unread(embeddings: Embeddings) -> bool:
    """Tell whether too little of a set was read to measure anything."""
    reading = read_of([embeddings])
    return reading is not None and reading.too_little


def read_of(embeddings: Sequence[Embeddings]) -> SetReading | None:
    """Sum up what an embedder read of the files of a set; None where it reports nothing."""
    reading = ReadingCounts.joined([file.reading for file in embeddings])
    cut = [file.truncated for file in embeddings if file.truncated is not None]
    all_counted = len(cut) == len(embeddings)
    if reading is None and not (all_counted and cut):
        return None
    truncated = int(sum(mark.sum() for mark in cut)) if all_counted else None
    return SetReading.of(reading, sum(map(len, embeddings)), truncated)


def length_cautions(reference: SetSummary, generated: SetSummary) -> tuple[Caution, ...]:
    """Warn where texts of one side are much longer, since length alone moves every score."""
    if reference.words is None or generated.words is None:
        return ()
    ours, theirs = generated.words["median"], reference.words["median"]
    units = generated.word_unit, reference.word_unit
    if max(ours, theirs) <= LENGTH_RATIO * min(ours, theirs) or set(units) == {WORDS, CHARACTERS}:
        return ()
    unit = units[0] if units[0] == units[1] else BOTH
    text = (
        f"its texts have a median of {ours:g} {unit}, those of the reference {theirs:g}; "
        "a difference in length alone changes the scores"
    )
    brief, moved = brief_lengths(theirs, ours, unit), by_ratio("lengths", theirs, ours)
    return (Caution("lengths", brief, text, movement=moved),)


def same_samples(reference: SetSummary, generated: SetSummary, *, unit: str) -> Caution:
    """Report a system that holds only samples of the reference, and whether it holds all."""
    whole = generated.content_hash == reference.content_hash
    text = f"has {'exactly' if whole else 'only'} {unit} of the reference"
    brief = "is the reference itself" if whole else "holds only reference samples"
    return Caution("same_file", brief, text)


def trust_cautions(
    reference: SetSummary, generated: SetSummary, k: int, *, same: bool
) -> Iterator[Caution]:
    """Warn where scores cannot mean much for reasons of the data.

    `same` says that the system holds only samples of the reference.
    """
    if same:
        yield same_samples(reference, generated, unit="the samples")
    size = min(reference.n, generated.n)
    if size < FEW:
        text = f"{size} samples are few: its scores vary a lot by chance"
        brief = f"only {counted(size, 'sample')}"
        yield Caution("few_samples", brief, text, movement=by_size(size))
    if size < WIDE * k:
        text = f"neighbourhoods of {k} among {size} samples cover nearly everything"
        brief = f"k = {k} is large for {counted(size, 'sample')}"
        yield Caution("neighbours", brief, text, movement=movement("neighbours", k / size))


def empty_cautions(reference: SampleSet, files: Sequence[InputSet]) -> Iterator[Caution]:
    """Refer to the note on empty samples, where they far outnumber the reference's."""
    expected = _empty_share(reference)
    for file in files:
        share = _empty_share(file.samples)
        if expected is None or share is None:
            return
        if beyond_chance(share, expected, len(file.samples), len(reference), least=MANY_EMPTY):
            note = " ".join(file.samples.data.notes())
            moved = movement("empty", share - expected)
            yield Caution("empty", f"{brief_share(share)} empty", note, movement=moved)
            return


def quotes_cautions(samples: SampleSet, whose: str = "") -> Iterator[Caution]:
    """Refer to the note on a file in which quotation marks may have swallowed rows."""
    for note in swallowed(samples.notes):
        yield Caution("quotes", f"{whose}quotation marks may merge rows", note, "`quotes=False`")
        return


def few_samples(inputs: ComparisonInputs) -> tuple[Caution, ...]:
    """Warn of fewer samples than the paper recommends."""
    sizes = [("the reference", len(inputs.reference.samples))]
    sizes += [(system.name, system.n) for system in inputs.systems]
    small = [f"{name} ({size:,})" for name, size in sizes if size < RECOMMENDED]
    if not small:
        return ()
    text = (
        f"fewer than {RECOMMENDED:,} samples in {first_names(small, NAMED)}: scores of so few "
        "are biased and vary more (Pillutla et al., JMLR 2023, section 8): where both sets are "
        "small, wide nearest-neighbour balls can raise precision, recall and coverage; where only "
        "the generated set is small, coverage falls"
    )
    moved = by_size(min(size for _, size in sizes))
    return (Caution("few_samples", f"fewer than {RECOMMENDED:,} samples", text, movement=moved),)


def size_cautions(inputs: ComparisonInputs, *, keep_sizes: bool) -> tuple[Caution, ...]:
    """Warn of sets of different sizes."""
    sizes = sorted({len(file.samples) for _, file in inputs.named})
    if keep_sizes and len(sizes) > 1:
        text = (
            f"generated sets have {sizes[0]} to {sizes[-1]} samples; fewer samples lower coverage "
            "and raise distances, so their scores are not comparable"
        )
        moved = by_ratio("sizes", sizes[0], sizes[-1])
        return (Caution("sizes", "generated sets differ in size", text, movement=moved),)
    return ()


def _has_name(value: Any) -> bool:
    """Whether a set has a name of its own, and not that of the kind of its samples."""
    if isinstance(value, SampleSet):
        return value.name != value.kind or not value.source.startswith("<")
    return isinstance(value, Path | str)


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
    # Unlike Path.is_file, this says no of a text that is too long for a path
    return len(text) < 300 and text.isprintable() and os.path.isfile(text)


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


def _without_prompts(
    reference: SampleSet | None, systems: Sequence[System], train: SampleSet | None = None
) -> tuple[SampleSet | None, tuple[System, ...], SampleSet | None]:
    """Take the prompts off all texts, before sets are cut and row i of each stands elsewhere."""
    from calipers.evaluate.prompts import strip_prompts

    files = [samples for system in systems for samples in system.sets]
    stripped = strip_prompts(reference, files, train)
    left = iter(stripped.generated)
    return (
        stripped.reference,
        tuple(replace(system, sets=tuple(next(left) for _ in system.sets)) for system in systems),
        stripped.train,
    )


@dataclass(frozen=True, kw_only=True)
class _Cutting:
    """How a set is cut: to how many samples, and what is left of each text."""

    size: int | None = field(kw_only=False)
    options: Sampling = field(kw_only=False)
    seed: int
    words: int | None = None
    ends: str = "keep"
    marks: tuple[str, ...] = ()


def _cut(samples: SampleSet, how: _Cutting) -> InputSet:
    remaining = samples if how.size is None else samples.subsample(how.size, seed=how.seed)
    ended, options, words = None, how.options, how.words
    if how.ends != "keep":
        whole = remaining
        remaining, ended = cut_at_end(remaining, count=how.ends == "count", marks=how.marks)
        check_left(whole, remaining, f"`end_of_text={how.ends!r}`")
        lengths = remaining.word_counts()
        assert lengths is not None
        ended = ended if words is None else ended & (lengths <= words)
    if options.skip_words is not None:
        left = without_words(remaining, options.skip_words)
        check_left(remaining, left, f"`skip_words={options.skip_words}`")
        remaining = left
    remaining = remaining if words is None else with_length(remaining, words)
    return InputSet(remaining, len(samples), ended=ended)


def _cut_all(systems: Sequence[System], how: _Cutting) -> tuple[InputSystem, ...]:
    return tuple(
        InputSystem(system.name, tuple(_cut(samples, how) for samples in system.sets))
        for system in systems
    )


def _size(
    systems: Sequence[System], most: int | None, *more: SampleSet | None, keep_sizes: bool
) -> int | None:
    """Return the size to which sets are cut: that of the smallest, unless they may differ."""
    if keep_sizes:
        return most
    every = [samples for system in systems for samples in system.sets]
    smallest = min(len(samples) for samples in (*every, *more) if samples is not None)
    return min(smallest, most or smallest)


def _several(systems: Any, reading: Reader) -> tuple[System, ...]:
    """Read two systems or more."""
    listed = isinstance(systems, Sequence) and not isinstance(systems, str)
    named = isinstance(systems, Mapping | System) or (
        listed and all(isinstance(system, System) for system in systems)
    )
    if not named:
        raise InputError(
            "systems must be a dict from name to samples, such as {'a': texts_a, 'b': texts_b}; "
            f"found a {type(systems).__name__}"
        )
    read = reading.systems(systems) if isinstance(systems, System) or systems else ()
    if len(read) < LEAST:
        names = ", ".join(repr(system.name) for system in read) or "none"
        raise InputError(f"systems must hold at least {LEAST} systems; found {names}")
    return read


def _one_of_texts(reading: Reader, side: str, value: Any) -> SampleSet | None:
    """Read a side that is one set of texts."""
    if value is None:
        return None
    if isinstance(value, dict | System):
        raise InputError(f"{side} must be one set of texts; found a {type(value).__name__}")
    (system,) = reading.systems(value if _has_name(value) else {side: value})
    return system.sets[0]


def _check_texts(
    systems: Sequence[System], reference: SampleSet | None, train: SampleSet | None
) -> None:
    named = [(system.name, samples) for system in systems for samples in system.sets]
    sides = {"the reference": reference, "the training set": train}
    named += [(name, samples) for name, samples in sides.items() if samples is not None]
    for name, samples in named:
        if samples.kind != "texts":
            raise InputError(
                f"{where(samples, name)}: text metrics need texts, but it holds "
                f"{KINDS[samples.kind]}; use calipers compare"
            )


def _check_rows(systems: Sequence[System], reference: SampleSet | None) -> None:
    """Refuse texts without a reference of their own, or references without a text."""
    if reference is None:
        raise InputError("aligned texts need a reference for each row; found none")
    for system in systems:
        for samples in system.sets:
            if len(samples) != len(reference):
                raise InputError(
                    f"{where(samples, system.name)}: has {counted(len(samples), 'text')} and the "
                    f"reference has {len(reference)}; aligned, text i belongs to reference i, so "
                    f"{_surplus(len(samples), len(reference))}"
                )


def _surplus(texts: int, references: int) -> str:
    few, many = sorted((texts, references))
    rows = f"row {many}" if many == few + 1 else f"rows {few + 1} to {many}"
    longer = "texts" if texts > references else "references"
    return f"{rows} of the {longer} would be without a partner"


def where(samples: SampleSet, name: str | None = None) -> str:
    """Name a set by its file, if it came from one."""
    return name or samples.name if samples.source.startswith("<") else samples.source


def _empty_share(samples: SampleSet) -> float | None:
    """The share of samples without a word or token; None of what has neither."""
    lengths = samples.token_counts() if samples.texts is None else samples.word_counts()
    return None if lengths is None else float((lengths == 0).mean())


def _words(sets: Sequence[SampleSet]) -> dict[str, float] | None:
    counts = [count for samples in sets if (count := samples.word_counts()) is not None]
    if not counts:
        return None
    words = np.concatenate(counts)
    return {"mean": float(words.mean()), "median": float(np.median(words))}
