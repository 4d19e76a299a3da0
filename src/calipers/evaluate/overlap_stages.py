"""The stages of an overlap, one function each, in the order of the road."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calipers.embed import Cache, Embedder, embed_samples
from calipers.errors import InputError
from calipers.evaluate.intake import Entry, summarise
from calipers.evaluate.overlap_pairs import File, Member, measure_view, pair_count
from calipers.metrics.pair import Settings
from calipers.progress import Progress
from calipers.results.overlap import LEAST_CEILING, OverlapSystem, OverlapView


def embed_systems(
    entries: Sequence[Entry], model: Embedder, cache: Cache | None, progress: Progress
) -> tuple[Member, ...]:
    """Embed every file of every system."""
    members = tuple(
        Member(
            entry.name,
            tuple(
                File(c.samples, embed_samples(c.samples, model, cache=cache, progress=progress))
                for c in entry.cuts
            ),
        )
        for entry in entries
    )
    _check_columns(members)
    return members


def _check_columns(members: Sequence[Member]) -> None:
    first = members[0]
    for view, rows in first.files[0].embeddings.views.items():
        for member in members:
            for file in member.files:
                found = file.embeddings.views[view].shape[1]
                if found != rows.shape[1]:
                    raise InputError(
                        f"{member.name}: embeddings must have as many columns as those of "
                        f"{first.name}, {rows.shape[1]}; found {found}"
                    )


def measure(
    members: Sequence[Member], views: Sequence[str], settings: Settings, progress: Progress
) -> dict[str, OverlapView]:
    """Measure every pair of files in every view."""
    with progress.task("Comparing pairs", pair_count(members) * len(views)) as advance:
        return {view: measure_view(members, view, settings, advance) for view in views}


def shared_notes(members: Sequence[Member]) -> tuple[str, ...]:
    """What holds for every file alike, such as a cache that cannot be written."""
    notes = [file.embeddings.notes for member in members for file in member.files]
    return tuple(note for note in notes[0] if all(note in other for other in notes))


def describe(
    entries: Sequence[Entry], members: Sequence[Member], shared: Sequence[str]
) -> tuple[OverlapSystem, ...]:
    """Describe every system, with what embedding its files brought up."""
    return tuple(
        OverlapSystem(
            summarise(
                entry.cuts,
                name=entry.name,
                notes=tuple(
                    note for f in member.files for note in f.embeddings.notes if note not in shared
                ),
            ),
            tuple(summarise([cut], name=cut.samples.name) for cut in entry.cuts),
        )
        for entry, member in zip(entries, members, strict=True)
    )


def medians(systems: Sequence[OverlapSystem]) -> dict[str, float]:
    """Give the median length of each system's texts, where they are texts."""
    return {s.name: s.summary.words["median"] for s in systems if s.summary.words is not None}


def ceiling_warnings(views: Mapping[str, OverlapView]) -> tuple[str, ...]:
    """Say whose own files overlap too little to be a measure for others."""
    return tuple(
        f"{name}: only {100 * view.precision[i, i]:.0f} % of its files lie inside one another"
        f"{f' by {view.name}' if len(views) > 1 else ''}, too few for a ceiling"
        for view in views.values()
        for i, name in enumerate(view.names)
        if view.precision[i, i] < LEAST_CEILING
    )
