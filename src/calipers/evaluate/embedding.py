"""The embedding of a run: which embedder reads its samples, and the vectors of every set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from calipers.embed import (
    Cache,
    Embedder,
    EmbedderChoice,
    Embeddings,
    as_embedder,
    check_reads,
    embed_samples,
)
from calipers.embed.processes import in_processes
from calipers.errors import InputError
from calipers.evaluate.inputs import ComparisonInputs, InputSet
from calipers.evaluate.options import Embedding, Model
from calipers.progress import Progress
from calipers.samples import SampleSet

USUAL = {"texts": "minilm", "images": "pixels", "vectors": "precomputed"}
"""Kind of samples to the embedder that reads them where none is named."""

PIXELS = (
    "images are compared pixel by pixel, by brightness and position and not by content; for "
    "their content, name a vision model with --embedder"
)


def open_embedder(
    wanted: Embedding, sets: Sequence[SampleSet], *, fit_on_all: bool = False
) -> Embedder:
    """Load the embedder of a run and see that it reads these samples.

    Parameters
    ----------
    wanted
        Which one, and how.
    sets
        The sample sets of the run, of one kind, the reference first.
    fit_on_all
        Whether an embedder that must be fitted sees all sets; by default the reference alone.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    first = sets[0]
    model = open_unfitted(wanted, first)
    if not model.needs_fitting:
        return model
    together = fit_on_all and first.kind != "images"
    return model.fitted(chain.from_iterable(sets) if together else first)


def open_unfitted(wanted: Embedding, samples: SampleSet) -> Embedder:
    """Load an embedder as :func:`open_embedder` does; one that must be fitted is not, yet.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    model = as_embedder(_loaded(wanted, samples))
    check_reads(samples, model)
    return model


def cache_of(options: Model) -> Cache | None:
    """Give the place where embeddings are kept; None where they are not."""
    folder = options.cache_dir
    return Cache(None if folder is None else Path(folder)) if options.cache else None


def usual_warnings(wanted: Embedding, samples: SampleSet) -> tuple[str, ...]:
    """Warn where nobody chose an embedder and the usual one sees little."""
    return (PIXELS,) if wanted.embedder is None and samples.kind == "images" else ()


def _loaded(wanted: Embedding, samples: SampleSet) -> Embedder:
    embedder = wanted.embedder
    if samples.kind == "vectors":
        return EmbedderChoice("precomputed").load()
    if embedder is None or isinstance(embedder, str):
        embedder = wanted.choice_of(_usual(samples) if embedder is None else embedder)
    if not isinstance(embedder, EmbedderChoice):
        return embedder
    count = wanted.processes
    return embedder.load() if count in (None, 1) else in_processes(embedder, count)


def _usual(samples: SampleSet) -> str:
    if samples.kind not in USUAL:
        raise InputError(
            f"{samples.name}: holds token ids, which need the model that they belong to; name "
            "it with --embedder (embedder= in Python)"
        )
    return USUAL[samples.kind]


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of all sets, laid out as the inputs are."""

    reference: Embeddings
    systems: tuple[tuple[Embeddings, ...], ...]
    train: Embeddings | None = None

    @property
    def shared_notes(self) -> tuple[str, ...]:
        """What holds for every set alike, such as a cache that cannot be written."""
        return notes_of_all(
            [
                self.reference,
                *(file for files in self.systems for file in files),
                *([] if self.train is None else [self.train]),
            ]
        )

    def own_notes(self, files: Sequence[Embeddings]) -> tuple[str, ...]:
        """What holds for these sets alone."""
        shared = self.shared_notes
        return tuple(note for file in files for note in file.notes if note not in shared)


def notes_of_all(sets: Sequence[Embeddings]) -> tuple[str, ...]:
    """What embedding every one of several sets brought up."""
    return tuple(note for note in sets[0].notes if all(note in other.notes for other in sets))


def embed_sides(
    inputs: ComparisonInputs, model: Embedder, cache: Cache | None, progress: Progress
) -> Embedded:
    """Embed the reference, every file of every system and the training set.

    Raises
    ------
    InputError
        If one has another number of columns than the reference.
    """

    def embed(file: InputSet) -> Embeddings:
        return embed_samples(file.samples, model, cache=cache, progress=progress)

    embedded = Embedded(
        embed(inputs.reference),
        tuple(tuple(embed(file) for file in system.files) for system in inputs.systems),
        None if inputs.train is None else embed(inputs.train),
    )
    named = [
        (system.name, files) for system, files in zip(inputs.systems, embedded.systems, strict=True)
    ]
    if inputs.train is not None and embedded.train is not None:
        named.append((inputs.train.samples.name, (embedded.train,)))
    check_columns("the reference's", embedded.reference, named)
    return embedded


def check_columns(
    whose: str, first: Embeddings, others: Sequence[tuple[str, Sequence[Embeddings]]]
) -> None:
    """Refuse sets that lie in spaces of different dimensions.

    Parameters
    ----------
    whose
        Whose columns count, as the message says it.
    first
        The set that has them.
    others
        The embeddings of the files of every other set, by its name.
    """
    for view, rows in first.views.items():
        for name, files in others:
            for file in files:
                if file.views[view].shape[1] != rows.shape[1]:
                    raise InputError(
                        f"{name}: embeddings must have as many columns as {whose} "
                        f"{rows.shape[1]}; found {file.views[view].shape[1]}"
                    )
