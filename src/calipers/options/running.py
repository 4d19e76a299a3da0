"""How a run goes, whatever it measures: threads, progress and the seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    EMBEDDING,
    Group,
    option,
    options_class,
    whole,
)

if TYPE_CHECKING:
    from calipers.progress import Progress


@options_class
class Running(Group):
    """How a run goes, whatever it measures."""

    threads: int | None = option(
        None,
        "Number of processor threads. By default all.",
        whole(1, optional=True),
        panel=EMBEDDING,
        doc="Number of threads (default: all cores); moves no more than the last digits.",
    )
    progress: Progress | None = option(
        None,
        "What shows how far it is.",
        flag=(),
    )


@options_class
class Seeded(Group):
    """Randomness."""

    seed: int = option(
        0,
        "Seed of every random step.",
        whole(0),
        kept=True,
        last=True,
        common=True,
        doc="Of cutting, k-means and block labels.",
    )
