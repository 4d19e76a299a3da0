"""The stages before the scores: sizes that suffice, and embeddings of every set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calipers.embed import Cache, Embedder, Embeddings, embed_samples
from calipers.errors import InputError
from calipers.estimate.quantise import bucket_count
from calipers.evaluate.intake import Cut, Intake
from calipers.evaluate.train import check_train
from calipers.metrics.pair import Settings
from calipers.progress import Progress


def check_sizes(intake: Intake, settings: Settings) -> None:
    """Say before the long work which set is too small."""
    check_train(intake.train)
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
    train: Embeddings | None = None

    @property
    def shared_notes(self) -> tuple[str, ...]:
        """What holds for every set alike, such as a cache that cannot be written."""
        every = [self.reference, *(part for parts in self.systems for part in parts)]
        every += [] if self.train is None else [self.train]
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
    """Embed the reference, every file of every system and the training set."""

    def embed(cut: Cut) -> Embeddings:
        return embed_samples(cut.samples, model, cache=cache, progress=progress)

    embedded = Embedded(
        embed(intake.reference),
        tuple(tuple(embed(cut) for cut in entry.cuts) for entry in intake.systems),
        None if intake.train is None else embed(intake.train),
    )
    _check_columns(intake, embedded)
    return embedded


def _check_columns(intake: Intake, embedded: Embedded) -> None:
    named = [
        (entry.name, parts) for entry, parts in zip(intake.systems, embedded.systems, strict=True)
    ]
    if intake.train is not None and embedded.train is not None:
        named.append((intake.train.samples.name, (embedded.train,)))
    for view, rows in embedded.reference.views.items():
        for name, parts in named:
            for part in parts:
                if part.views[view].shape[1] != rows.shape[1]:
                    raise InputError(
                        f"{name}: embeddings must have as many columns as the reference's "
                        f"{rows.shape[1]}; found {part.views[view].shape[1]}"
                    )
