"""Options on how a run proceeds: threads, progress, the seed, and its tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import EMBEDDING, OUTPUT, Group, option, options_class
from calipers.options.rules import NAME, whole

if TYPE_CHECKING:
    from calipers.progress import Progress


@options_class
class Running(Group):
    """Options on how a run proceeds."""

    threads: int | None = option(
        None,
        "Number of processor threads. By default that of the environment variable "
        "CALIPERS_THREADS, else all. It changes no more than the last digits of a score.",
        whole(1),
        panel=EMBEDDING,
        variable="CALIPERS_THREADS",
    )
    progress: Progress | None = option(
        None,
        "What shows how far the run is.",
        flag=(),
    )


@options_class
class Seeded(Group):
    """The seed of random steps."""

    seed: int = option(
        0,
        "Seed of every random step. In a comparison these are the choice of samples, k-means and "
        "the labels of blocks.",
        whole(0),
        setting=True,
        last=True,
        common=True,
    )


@options_class
class Tagged(Group):
    """The tag of a run."""

    tag: str | None = option(
        None,
        "Name of this run, such as a checkpoint or a commit. It is kept with the result, and "
        "calipers history calls the run by it.",
        NAME,
        panel=OUTPUT,
        setting=True,
        last=True,
    )
