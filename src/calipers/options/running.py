"""How a run goes, whatever it measures: threads, progress, the seed, and what it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    EMBEDDING,
    OUTPUT,
    Group,
    Rule,
    option,
    options_class,
    whole,
)

if TYPE_CHECKING:
    from calipers.progress import Progress


def _check_name(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise InputError(f"{name} must be a name that is not blank, or None; found {value!r}")


NAME = Rule("be a name that is not blank", lambda text: text if text.strip() else None, _check_name)


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


@options_class
class Tagged(Group):
    """What a run is called."""

    tag: str | None = option(
        None,
        "Name of this run, such as a checkpoint or a commit. It is kept with the result, and "
        "calipers history calls the run by it.",
        NAME,
        panel=OUTPUT,
        kept=True,
        metavar="NAME",
        last=True,
    )
