"""Sentences that say why scores have no intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calipers.catalogue.choosing import Choice
from calipers.evaluate.clusters import cluster_warnings
from calipers.evaluate.inputs import Intake
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.uncertainty.replicates import ENOUGH_FOR_PARTS, has_no_interval, needs_parts

NAMED = 4


def interval_warnings(intake: Intake, choices: Sequence[Choice], k: int) -> tuple[str, ...]:
    """Say which sets are too small for intervals, or have too few clusters for them.

    Parameters
    ----------
    intake
        Both sides, as they are compared.
    choices
        What is measured.
    k
        Neighbours that span a ball: without a block, every set must still have them.
    """
    if not choices:
        return ()
    return (*_sizes(intake, choices, k), *_none(choices), *cluster_warnings(intake))


def _none(choices: Sequence[Choice]) -> Iterable[str]:
    """Name the scores whose intervals would be wrong at any size."""
    names = list(dict.fromkeys(choice.name for choice in choices if has_no_interval(choice)))
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield (
            f"no intervals for {', '.join(names[:NAMED])}{more}: neither blocks left out nor "
            "smaller sets tell how much these scores move"
        )


def _sizes(intake: Intake, choices: Sequence[Choice], k: int) -> tuple[str, ...]:
    whole = len(intake.reference.samples)
    if whole < _least(k):
        return (_few(whole, k),)
    by_part = list(dict.fromkeys(choice.name for choice in choices if needs_parts(choice)))
    if by_part and whole < ENOUGH_FOR_PARTS:
        return (_few_for_parts(whole, by_part), *_of_systems(intake, k, []))
    return tuple(_of_systems(intake, k, by_part))


def _of_systems(intake: Intake, k: int, by_part: Sequence[str]) -> Iterable[str]:
    for entry in intake.systems:
        size = min(len(cut.samples) for cut in entry.cuts)
        if size < _least(k):
            yield f"{entry.name}: {_few(size, k)}"
        elif by_part and size < ENOUGH_FOR_PARTS:
            yield f"{entry.name}: {_few_for_parts(size, by_part)}"


def _least(k: int) -> int:
    return DEFAULT_BLOCKS * (k + 1)


def _few(size: int, k: int) -> str:
    return (
        f"too few samples for intervals and for tests between systems: {size} of {_least(k)} "
        f"({DEFAULT_BLOCKS} blocks of k + 1)"
    )


def _few_for_parts(size: int, names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (
        f"too few samples for the intervals of {', '.join(names[:NAMED])}{more}: "
        f"{size} of {ENOUGH_FOR_PARTS}"
    )
