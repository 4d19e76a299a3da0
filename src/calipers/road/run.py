"""The whole road in one call: samples, embeddings, estimates, scores, comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calipers.comparison import Comparison, Samples, SetSummary, SystemResult
from calipers.embed import Cache, Embedder, Embeddings, embed_samples, load_embedder
from calipers.errors import InputError
from calipers.estimate.neighbourhoods import Ties
from calipers.estimate.quantise import Buckets, bucket_count
from calipers.estimate.validate import check_at_least, check_choice
from calipers.metrics.catalogue import Choice, choose
from calipers.metrics.pair import Settings
from calipers.progress import Progress, Silent
from calipers.road.intake import (
    Cut,
    Entry,
    Intake,
    length_warnings,
    size_warnings,
    summarise,
    take_in,
)
from calipers.road.scoring import Scored, average, score_pair


def compare(
    reference: Any,
    generated: Any,
    *,
    field: str | None = None,
    embedder: str | Embedder = "minilm",
    metrics: Iterable[str] | None = None,
    k: int = 4,
    ties: Ties = "closed",
    buckets: Buckets = "auto",
    seed: int = 0,
    max_samples: int | None = None,
    keep_sizes: bool = False,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Tell for each generated set how good, how diverse and how close to the reference it is.

    Parameters
    ----------
    reference
        The real samples: a list of strings, an ``(n, d)`` array of embeddings, a path, or a
        :class:`~calipers.samples.SampleSet`.
    generated
        The samples to judge: any of these, or a dict from system name to any of these. A sequence
        of sample sets under one name stands for the seeds of that system.
    field
        Where the text stands in a row, such as ``"choices[0].text"``; found by itself if None.
    embedder
        Name of a text embedder, or an embedder. Embeddings that are given are taken as they are.
    metrics
        Keys ``[view.]metric``; a plain name means every view. None for all.
    k, ties
        Neighbours that span a ball, and whether its rim belongs to it.
    buckets
        Cells of the quantisation behind MAUVE; ``"auto"`` for a tenth of the smaller set.
    seed
        Of cutting, k-means and block labels.
    max_samples
        Cut every set, the reference too, to this many samples.
    keep_sizes
        Leave the generated sets as large as they are; by default all are cut to the smallest.
    device, dtype, batch_size
        Of the embedder; ``dtype="auto"`` takes bfloat16 where the hardware has it.
    cache_dir, cache
        Where embeddings are kept, and whether.
    threads
        Number of threads of the estimates (default: all cores); no effect on counts.
    progress
        What shows how far it is.

    Returns
    -------
    Comparison
        ``comparison["model_a"].scores["precision"].value``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, or an option is out of its range.
    """
    check_at_least("k", k, 1)
    check_at_least("seed", seed, 0)
    check_at_least("max_samples", 2 if max_samples is None else max_samples, 2)
    check_choice("ties", ties, ("closed", "open"))
    settings = Settings(k=k, ties=ties, buckets=buckets, seed=seed, threads=threads)
    intake = take_in(
        reference,
        generated,
        field=field,
        max_samples=max_samples,
        keep_sizes=keep_sizes,
        seed=seed,
    )
    _check_sizes(intake, settings)
    name = "precomputed" if intake.reference.samples.kind == "vectors" else embedder
    model = (
        load_embedder(name, device=device, dtype=dtype, batch_size=batch_size)
        if isinstance(name, str)
        else name
    )
    choices = choose(metrics, model.views)
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    watch = progress or Silent()
    embedded = _embed(intake, model, store, watch)
    comparison = _score(intake, embedded, choices, settings, watch)
    return replace(
        comparison,
        warnings=size_warnings(intake, keep_sizes=keep_sizes) + comparison.warnings,
        settings={
            "embedder": model.name,
            "views": list(model.views),
            "metrics": [
                c.metric.name if c.view is None else f"{c.view}.{c.metric.name}" for c in choices
            ],
            "metrics_shown": None
            if metrics is None
            else list(dict.fromkeys(c.metric.name for c in choices)),
            "k": k,
            "ties": ties,
            "buckets": buckets,
            "seed": seed,
            "sizes": "kept" if keep_sizes else "equal",
            "max_samples": max_samples,
            "embedding": dict(model.signature),
        },
    )


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Embeddings of both sides, laid out as the intake is."""

    reference: Embeddings
    systems: tuple[tuple[Embeddings, ...], ...]

    @property
    def shared_notes(self) -> tuple[str, ...]:
        """What holds for several sets alike, such as a cache that cannot be written."""
        every = [self.reference, *(part for parts in self.systems for part in parts)]
        counts = Counter(note for part in every for note in part.notes)
        return tuple(note for note, count in counts.items() if count > 1)

    def own_notes(self, parts: Sequence[Embeddings]) -> tuple[str, ...]:
        """What holds for these sets alone."""
        shared = self.shared_notes
        return tuple(note for part in parts for note in part.notes if note not in shared)


def _embed(intake: Intake, model: Embedder, cache: Cache | None, progress: Progress) -> _Embedded:
    def embed(cut: Cut) -> Embeddings:
        return embed_samples(cut.samples, model, cache=cache, progress=progress)

    reference = embed(intake.reference)
    embedded = _Embedded(
        reference, tuple(tuple(embed(cut) for cut in entry.cuts) for entry in intake.systems)
    )
    _check_columns(intake, embedded)
    return embedded


def _score(
    intake: Intake,
    embedded: _Embedded,
    choices: Sequence[Choice],
    settings: Settings,
    progress: Progress,
) -> Comparison:
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
            systems.append(_result(entry, parts, average(scored), about, notes))
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
) -> SystemResult:
    summary = summarise(entry.cuts, name=entry.name, notes=notes)
    several = len(entry.cuts) > 1
    return SystemResult(
        summary=summary,
        scores=scored.scores,
        curves=scored.curves,
        seeds=tuple(cut.samples.source for cut in entry.cuts) if several else (),
        samples=tuple(_samples(c, e) for c, e in zip(entry.cuts, parts, strict=True)),
        warnings=length_warnings(reference, summary),
    )


def _samples(cut: Cut, embeddings: Embeddings) -> Samples:
    return Samples(cut.samples if cut.samples.kind == "texts" else None, embeddings.views)


def _check_sizes(intake: Intake, settings: Settings) -> None:
    """Say before the long work which set is too small."""
    every = [intake.reference, *(cut for entry in intake.systems for cut in entry.cuts)]
    for cut in every:
        if len(cut.samples) < settings.k + 1:
            source, name = cut.samples.source, cut.samples.name
            raise InputError(
                f"{name if source.startswith('<') else source}: k = {settings.k} needs at least "
                f"{settings.k + 1} samples in every set; it has {len(cut.samples)}"
            )
    sizes = [len(cut.samples) for cut in every]
    bucket_count(settings.buckets, sizes[0], min(sizes[1:]))


def _check_columns(intake: Intake, embedded: _Embedded) -> None:
    for view, rows in embedded.reference.views.items():
        for entry, parts in zip(intake.systems, embedded.systems, strict=True):
            for part in parts:
                if part.views[view].shape[1] != rows.shape[1]:
                    raise InputError(
                        f"{entry.name}: embeddings must have as many columns as the reference's "
                        f"{rows.shape[1]}; found {part.views[view].shape[1]}"
                    )
