"""From what a person hands over to systems of one size, all on the same footing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.errors import InputError
from calipers.evaluate.intake import FEW, LENGTH_RATIO, WIDE, Cut, Entry, as_systems
from calipers.samples import System

LEAST = 2


def take_in_systems(
    systems: Any, *, field: str | None, max_samples: int | None, keep_sizes: bool, seed: int
) -> tuple[Entry, ...]:
    """Read all systems and cut every file to one size.

    Every file is cut to `max_samples`, and unless `keep_sizes` to the smallest of all files: the
    share of a set that lies inside another depends on the size of both.

    Raises
    ------
    InputError
        If there are fewer than two systems, or they are not of one kind.
    """
    read = _read(systems, field)
    _check_kinds(read)
    smallest = min(len(samples) for system in read for samples in system.sets)
    size = max_samples if keep_sizes else min(smallest, max_samples or smallest)
    return tuple(
        Entry(
            system.name,
            tuple(
                Cut(x if size is None else x.subsample(size, seed=seed), len(x))
                for x in system.sets
            ),
        )
        for system in read
    )


def check_sizes(entries: Sequence[Entry], k: int) -> None:
    """Say before the long work which file is too small for k."""
    name, cut = min(_cuts(entries), key=lambda item: (len(item[1].samples), item[1].n_given))
    if len(cut.samples) < k + 1:
        source = cut.samples.source
        shorter = f", cut to {len(cut.samples)}" if len(cut.samples) < cut.n_given else ""
        raise InputError(
            f"{name if source.startswith('<') else source}: k = {k} needs at least {k + 1} samples "
            f"in every set; it has {cut.n_given}{shorter}"
        )


def size_warnings(entries: Sequence[Entry], k: int) -> Iterator[str]:
    """Say where sizes differ, or are too small to mean much."""
    sizes = sorted({len(cut.samples) for _, cut in _cuts(entries)})
    if len(sizes) > 1:
        yield (
            f"sets have {sizes[0]} to {sizes[-1]} samples; how much of one lies inside another "
            "depends on both sizes, so the shares of different pairs are not comparable"
        )
    if sizes[0] < FEW:
        yield f"{sizes[0]} samples are few: chance alone moves the shares a lot"
    if sizes[0] < WIDE * k:
        yield f"balls of {k} neighbours among {sizes[0]} samples hold nearly everything"


def length_warnings(medians: Mapping[str, float]) -> Iterator[str]:
    """Warn where the texts of one system are much longer: length alone moves every share."""
    if not medians:
        return
    short, long = (
        min(medians, key=lambda name: medians[name]),
        max(medians, key=medians.__getitem__),
    )
    if medians[long] > LENGTH_RATIO * medians[short]:
        yield (
            f"lengths differ: the texts of {long} have {medians[long]:g} words in the median, "
            f"those of {short} {medians[short]:g}; a difference in length alone moves the shares"
        )


def copy_warnings(entries: Sequence[Entry]) -> Iterator[str]:
    """Say which sets are the same, sample for sample."""
    holders: dict[str, list[tuple[str, str]]] = {}
    for name, cut in _cuts(entries):
        holders.setdefault(cut.samples.content_hash, []).append((name, cut.samples.source))
    for same in holders.values():
        names = list(dict.fromkeys(name for name, _ in same))
        if len(names) > 1:
            yield f"{' and '.join(names)} hold the same samples, one for one"
        elif len(same) > 1:
            sources = ", ".join(source for _, source in same)
            yield f"{names[0]}: these files hold the same samples, one for one: {sources}"


def _read(systems: Any, field: str | None) -> tuple[System, ...]:
    listed = isinstance(systems, Sequence) and not isinstance(systems, str)
    named = isinstance(systems, Mapping | System) or (
        listed and all(isinstance(system, System) for system in systems)
    )
    if not named:
        raise InputError(
            "systems must be a dict from name to samples, such as {'a': texts_a, 'b': texts_b}; "
            f"found a {type(systems).__name__}"
        )
    found = as_systems(systems, field=field) if isinstance(systems, System) or systems else ()
    if len(found) < LEAST:
        names = ", ".join(repr(system.name) for system in found) or "none"
        raise InputError(f"systems must hold at least {LEAST} systems; found {names}")
    return found


def _check_kinds(systems: Sequence[System]) -> None:
    first = systems[0].sets[0].kind
    for system in systems:
        for samples in system.sets:
            if samples.kind != first:
                raise InputError(
                    f"{systems[0].name!r} holds {first} and {system.name!r} holds {samples.kind}; "
                    "all systems must be samples of one kind"
                )


def _cuts(entries: Sequence[Entry]) -> Iterator[tuple[str, Cut]]:
    return ((entry.name, cut) for entry in entries for cut in entry.cuts)
