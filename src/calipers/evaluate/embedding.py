"""The embedding of a run: its embedder, and the vectors of every set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from calipers.catalogue.settings import Norm
from calipers.embedders import (
    Cache,
    Embedder,
    EmbedderChoice,
    Embeddings,
    RunVectors,
    as_embedder,
    check_reads,
    embed,
)
from calipers.embedders.automatic import (
    ELSE,
    Automatic,
    choose_embedder,
    is_automatic,
    listed,
    unread_languages,
    usual_embedder,
)
from calipers.embedders.processes import in_processes
from calipers.embedders.vectors import Precomputed
from calipers.errors import InputError
from calipers.evaluate.given_prompts import GivenPrompts
from calipers.evaluate.inputs import ComparisonInputs, InputSet
from calipers.options.embedding import Embedding, Model
from calipers.progress import Progress
from calipers.results.caution import Caution, brief_share, fitting
from calipers.samples import SampleSet


def open_embedder(
    wanted: Embedding,
    sets: Sequence[SampleSet],
    *,
    opened: Embedder | None = None,
    fit_on_all: bool = False,
) -> Embedder:
    """Load the embedder of a run, and check that it reads these samples.

    Parameters
    ----------
    wanted
        Which one, and how.
    sets
        The sample sets of the run, of one kind, the reference first.
    opened
        The embedder, where it was loaded before, and maybe fitted.
    fit_on_all
        Whether an embedder that must be fitted sees all sets; by default the reference alone.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    first = sets[0]
    check_made_alike(sets)
    model = open_unfitted(wanted, first) if opened is None else opened
    check_reads(first, model)
    if not model.needs_fitting:
        return model
    together = fit_on_all and first.kind != "images"
    return model.fitted(chain.from_iterable(sets) if together else first)


def check_made_alike(sets: Sequence[SampleSet]) -> None:
    """Refuse embeddings made in different ways, and embeddings beside plain vectors."""
    first = _made(sets[0])
    for samples in sets[1:]:
        made = _made(samples)
        if made != first:
            pairs = ((key, first.get(key), made.get(key)) for key in {**first, **made})
            key, left, right = next(pair for pair in pairs if pair[1] != pair[2])
            raise InputError(
                f"{samples.name}: was embedded differently from {sets[0].name}: {key} "
                f"{right or 'unknown'}, not {left or 'unknown'}; both sides must come from the "
                "same embedder"
            )


def _made(samples: SampleSet) -> dict[str, str]:
    """How embeddings were made, where that can change a vector; empty where nobody knows."""
    if samples.embedded is None:
        return {}
    data = samples.embedded
    pins = {key: pin for key, pin in data.signature.items() if key not in ("device", "dtype")}
    return {**pins, "views": ", ".join(data.views)}


def open_unfitted(wanted: Embedding, samples: SampleSet) -> Embedder:
    """Load an embedder as :func:`open_embedder` does, but without fitting.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    model = as_embedder(_loaded(wanted, samples))
    check_reads(samples, model)
    return model


class HasNormalise(Protocol):
    """Options on the scaling of rows."""

    @property
    def normalise(self) -> Norm | None:
        """``"l2"`` for rows of length one, ``"none"`` for rows as given, None for the default."""

    def changed(self, **values: Any) -> Self:
        """Return the options with some values replaced."""


Scaled = TypeVar("Scaled", bound=HasNormalise)


def with_scaling(options: Scaled, samples: SampleSet) -> Scaled:
    """Decide whether rows are scaled to length one by default: given vectors are not.

    Those of an embedder of texts or images are, whether they were made now or beforehand.
    """
    if options.normalise is not None:
        return options
    given = samples.kind == "vectors" and samples.embedded is None
    norm: Norm = "none" if given else "l2"
    return options.changed(normalise=norm)


def cache_of(options: Model) -> Cache | RunVectors:
    """Return where embeddings are kept: on disk, or in memory for this run."""
    folder = options.cache_dir
    return Cache(None if folder is None else Path(folder)) if options.cache else RunVectors()


Chosen = TypeVar("Chosen", bound=Embedding)


def with_embedder(
    options: Chosen, sets: Sequence[SampleSet], *, alone: bool = False
) -> tuple[Chosen, Automatic | None]:
    """Choose the embedder of a run's texts, where none is named.

    Parameters
    ----------
    options
        Those of the run.
    sets
        All sample sets of the run, the reference first.
    alone
        Whether none of them is a reference.

    Returns
    -------
    tuple
        The options with the name, and how it was chosen; as given, and None, where an embedder is
        named or there are no texts to choose by.
    """
    if not is_automatic(options.embedder):
        return options, None
    if sets[0].kind != "texts":
        return options.changed(embedder=None), None
    chosen = choose_embedder(sets, alone=alone)
    return options.changed(embedder=chosen.embedder), chosen


def embedder_cautions(
    options: Embedding,
    model: Embedder,
    sets: Sequence[SampleSet],
    chosen: Automatic | None,
) -> tuple[Caution, ...]:
    """Warn where the embedder of a run reads little of its samples.

    Parameters
    ----------
    options, model
        Those of the run, as :func:`with_embedder` gave them, and its embedder.
    sets
        Its sample sets.
    chosen
        How the embedder was chosen, where it was.
    """
    if sets[0].kind != "texts":
        return ()
    return tuple(_of_texts(model.name, sets, chosen))


def _of_texts(
    embedder: str, sets: Sequence[SampleSet], chosen: Automatic | None
) -> Iterator[Caution]:
    """Warn where meaning is not read, or not that of some sets."""
    if chosen is not None and embedder == ELSE:
        yield Caution(
            "embedder",
            "compared by characters, not by meaning",
            f"{chosen.reason}: texts are compared by their characters, so scores describe how they "
            "are written, not what they say; for that, name a model that reads them with "
            "`embedder`",
            "`embedder`",
        )
    lost = unread_languages(embedder, sets)
    if not lost:
        return
    worst = max(lost, key=lambda name: lost[name][1])
    names, share = listed(lost[worst][0]), brief_share(lost[worst][1])
    others = f" (and of {len(lost) - 1} other sets)" if len(lost) > 1 else ""
    yield Caution(
        "embedder",
        fitting(f"{share} of a set {names}, not read", "a set in unread languages"),
        f"{embedder} does not read {names}, in which {share} of the texts of {worst} are{others}: "
        "scores reflect little of what they say; omit `embedder`, or name one that reads them",
        "`embedder='auto'`",
    )


def chosen_setting(chosen: Automatic | None) -> dict[str, Any]:
    """Return the setting on how an embedder was chosen; none for a named one."""
    return {} if chosen is None else {"chosen": chosen.to_dict()}


def _loaded(wanted: Embedding, samples: SampleSet) -> Embedder:
    embedder: str | Embedder | EmbedderChoice | None = wanted.embedder
    if samples.embedded is not None:
        made = samples.embedded
        return Precomputed.of(tuple(made.views), made.signature, made.view_signature)
    if samples.kind == "vectors":
        return EmbedderChoice("precomputed").load()
    if embedder is None or is_automatic(embedder):
        embedder = usual_embedder(samples)
    if isinstance(embedder, str):
        embedder = wanted.choice_of(embedder)
    if not isinstance(embedder, EmbedderChoice):
        return embedder
    count = wanted.processes
    return embedder.load() if count in (None, 1) else in_processes(embedder, count)


Refit = Callable[[SampleSet, SampleSet], tuple[Embeddings, Embeddings]]
"""Embeds a reference and a generated set by an embedder that is fitted on both."""


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of all sets, in the structure of the inputs.

    `given` are for every file the prompts that it shares with the reference, where it is scored as
    they ask for; None for one that is not, and empty where none is. `refit` embeds two sets as they
    are tested; None where no vector depends on which samples the embedder was fitted on.
    """

    reference: Embeddings
    systems: tuple[tuple[Embeddings, ...], ...]
    train: Embeddings | None = None
    given: tuple[tuple[GivenPrompts | None, ...], ...] = ()
    refit: Refit | None = None

    @property
    def prompts(self) -> tuple[tuple[GivenPrompts | None, ...], ...]:
        """The prompts of every file; None for one that is scored without prompts."""
        return self.given or tuple((None,) * len(files) for files in self.systems)

    @property
    def shared_notes(self) -> tuple[str, ...]:
        """Notes on all sets, such as a cache that cannot be written."""
        return notes_of_all(
            [
                self.reference,
                *(file for files in self.systems for file in files),
                *([] if self.train is None else [self.train]),
            ]
        )

    def own_notes(self, files: Sequence[Embeddings]) -> tuple[str, ...]:
        """Notes on these sets alone."""
        shared = self.shared_notes
        return tuple(note for file in files for note in file.notes if note not in shared)


def notes_of_all(sets: Sequence[Embeddings]) -> tuple[str, ...]:
    """Return the notes that the embedding of several sets has in common."""
    return tuple(note for note in sets[0].notes if all(note in other.notes for other in sets))


def embed_sides(
    inputs: ComparisonInputs,
    model: Embedder,
    cache: Cache | RunVectors | None,
    progress: Progress,
    known: Callable[[SampleSet, Cache | RunVectors | None, Progress], Embeddings] | None = None,
) -> Embedded:
    """Embed the reference, every file of every system and the training set.

    `known` gives the vectors of the reference, where they were made before.

    Raises
    ------
    InputError
        If one has another number of columns than the reference.
    """

    def embed_file(file: InputSet) -> Embeddings:
        return embed(file.samples, model, cache=cache, progress=progress)

    first = inputs.reference
    embedded = Embedded(
        embed_file(first) if known is None else known(first.samples, cache, progress),
        tuple(tuple(embed_file(file) for file in system.files) for system in inputs.systems),
        None if inputs.train is None else embed_file(inputs.train),
        refit=_refit_of(model),
    )
    named = [
        (system.name, files) for system, files in zip(inputs.systems, embedded.systems, strict=True)
    ]
    if inputs.train is not None and embedded.train is not None:
        named.append((inputs.train.samples.name, (embedded.train,)))
    check_columns("the reference's", embedded.reference, named)
    return embedded


def _refit_of(model: Embedder) -> Refit | None:
    """Return what embeds two sets so that nothing tells which of them a sample is from.

    The rows of a reference that an embedder was fitted on depend on each other, as those of other
    sets do not; labels may be permuted over rows that were fitted on together.
    """
    unfitted = model.unfitted
    if unfitted is None:
        return None

    def refit(reference: SampleSet, generated: SampleSet) -> tuple[Embeddings, Embeddings]:
        fitted = unfitted.fitted(chain(reference, generated))
        return embed(reference, fitted), embed(generated, fitted)

    return refit


def check_columns(
    whose: str, first: Embeddings, others: Sequence[tuple[str, Sequence[Embeddings]]]
) -> None:
    """Refuse sets of different dimensions.

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
