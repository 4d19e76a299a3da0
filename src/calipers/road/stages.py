"""The stages of a comparison, one function each, in the order of the road."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calipers.comparison import Comparison, Samples, SetSummary, SystemResult
from calipers.embed import Cache, Embedder, Embeddings, embed_samples
from calipers.errors import InputError
from calipers.estimate.quantise import bucket_count
from calipers.metrics.catalogue import Choice
from calipers.metrics.pair import Settings
from calipers.progress import Progress
from calipers.road.intake import Cut, Entry, Intake, length_warnings, summarise, trust_warnings
from calipers.road.scoring import Scored, average, score_pair


def check_sizes(intake: Intake, settings: Settings) -> None:
    """Say before the long work which set is too small."""
    every = [intake.reference, *(cut for entry in intake.systems for cut in entry.cuts)]
    smallest = min(every, key=lambda cut: (len(cut.samples), cut.n_given))
    size, source = len(smallest.samples), smallest.samples.source
    if size < settings.k + 1:
        where = smallest.samples.name if source.startswith("<") else source
        cut = f", cut to {size}" if size < smallest.n_given else ""
        raise InputError(
            f"{where}: k = {settings.k} needs at least {settings.k + 1} samples in every set; "
            f"it has {smallest.n_given}{cut}"
        )
    sizes = [len(cut.samples) for cut in every]
    bucket_count(settings.buckets, sizes[0], min(sizes[1:]))


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of both sides, laid out as the intake is."""

    reference: Embeddings
    systems: tuple[tuple[Embeddings, ...], ...]

    @property
    def shared_notes(self) -> tuple[str, ...]:
        """What holds for every set alike, such as a cache that cannot be written."""
        every = [self.reference, *(part for parts in self.systems for part in parts)]
        return tuple(
            note for note in self.reference.notes if all(note in part.notes for part in every)
        )

    def own_notes(self, parts: Sequence[Embeddings]) -> tuple[str, ...]:
        """What holds for these sets alone."""
        shared = self.shared_notes
        return tuple(note for part in parts for note in part.notes if note not in shared)


def embed_sides(
    intake: Intake, model: Embedder, cache: Cache | None, progress: Progress
) -> Embedded:
    """Embed the reference and every file of every system."""

    def embed(cut: Cut) -> Embeddings:
        return embed_samples(cut.samples, model, cache=cache, progress=progress)

    reference = embed(intake.reference)
    embedded = Embedded(
        reference, tuple(tuple(embed(cut) for cut in entry.cuts) for entry in intake.systems)
    )
    _check_columns(intake, embedded)
    return embedded


def score_systems(
    intake: Intake,
    embedded: Embedded,
    choices: Sequence[Choice],
    settings: Settings,
    progress: Progress,
) -> Comparison:
    """Score every system against the reference; the settings are left for the caller to fill."""
    cut = intake.reference
    about = summarise([cut], name=cut.samples.name, notes=embedded.own_notes([embedded.reference]))
    systems = []
    with progress.task("Scoring", sum(len(entry.cuts) for entry in intake.systems)) as advance:
        for entry, parts in zip(intake.systems, embedded.systems, strict=True):
            scored = []
            for part in parts:
                scored.append(
                    score_pair(
                        embedded.reference,
                        part,
                        choices,
                        settings,
                        reference_hash=about.content_hash,
                    )
                )
                advance(1)
            notes = embedded.own_notes(parts)
            systems.append(_result(entry, parts, average(scored), about, notes, settings.k))
    return Comparison(
        reference=about,
        systems=tuple(systems),
        settings={},
        warnings=embedded.shared_notes,
        reference_samples=_samples(cut, embedded.reference),
    )


def _result(
    entry: Entry,
    parts: Sequence[Embeddings],
    scored: Scored,
    reference: SetSummary,
    notes: tuple[str, ...],
    k: int,
) -> SystemResult:
    summary = summarise(entry.cuts, name=entry.name, notes=notes)
    several = len(entry.cuts) > 1
    return SystemResult(
        summary=summary,
        scores=scored.scores,
        curves=scored.curves,
        seeds=tuple(cut.samples.source for cut in entry.cuts) if several else (),
        samples=tuple(_samples(c, e) for c, e in zip(entry.cuts, parts, strict=True)),
        warnings=(*length_warnings(reference, summary), *trust_warnings(reference, summary, k)),
    )


def _samples(cut: Cut, embeddings: Embeddings) -> Samples:
    return Samples(cut.samples if cut.samples.kind == "texts" else None, embeddings.views)


def _check_columns(intake: Intake, embedded: Embedded) -> None:
    for view, rows in embedded.reference.views.items():
        for entry, parts in zip(intake.systems, embedded.systems, strict=True):
            for part in parts:
                if part.views[view].shape[1] != rows.shape[1]:
                    raise InputError(
                        f"{entry.name}: embeddings must have as many columns as the reference's "
                        f"{rows.shape[1]}; found {part.views[view].shape[1]}"
                    )
