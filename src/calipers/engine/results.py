"""Results of tasks as files of a folder: first the existing ones, then others as they are made.

Whoever makes them may die, come late, or write to a network disk that shows files late or damaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from calipers.engine.tiles import Arrays
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError

LATEST = 60.0
"""Seconds after which a file that a worker wrote must be seen here."""

ROUNDS = 3
"""How often tasks are given out whose files come damaged."""


class FileTask(Protocol):
    """A task whose result is a file."""

    @property
    def result(self) -> str:
        """Name of the file within its folder."""
        ...


AnyTask = TypeVar("AnyTask", bound=FileTask)


def results(
    folder: WorkFolder,
    name: str,
    tasks: Sequence[AnyTask],
    make: Callable[[Sequence[AnyTask]], Iterator[int]],
) -> Iterator[tuple[AnyTask, Arrays]]:
    """Return every task with the contents of its file, in any order.

    Parameters
    ----------
    folder
        Where the files lie, or will lie.
    name
        The folder in it in which all of them are.
    tasks
        What is asked for.
    make
        Makes the files of those tasks whose files are not there, and yields the place of every task
        once its file is.

    Raises
    ------
    InputError
        If a file that was made is not seen here, or is damaged time and again.
    """
    missing, there = list[AnyTask](), folder.names(name)
    for task in tasks:
        known = task.result.rpartition("/")[2] in there
        arrays = folder.read_arrays(task.result) if known else None
        if arrays is None:
            missing.append(task)
        else:
            yield task, arrays
    if not missing:
        return
    folder.make_folder(name)
    for _ in range(ROUNDS):
        damaged = list[AnyTask]()
        for task in map(missing.__getitem__, make(missing)):
            arrays = _arrived(folder, task.result)
            if arrays is None:
                damaged.append(task)
            else:
                yield task, arrays
        if not damaged:
            return
        missing = damaged
    raise InputError(
        f"{folder.place}: {missing[0].result} was damaged {ROUNDS} times on the way from a worker; "
        "what was finished is kept there. Name another folder with `work_dir`"
    )


def _arrived(folder: WorkFolder, result: str) -> Arrays | None:
    """Read what a worker wrote, None where it is damaged; network disks may show it late."""
    name, _, file = result.rpartition("/")
    wait, until = 0.01, time.monotonic() + LATEST
    while (arrays := folder.read_arrays(result)) is None:
        if file in folder.names(name):  # listing a folder has a network disk look again
            return folder.read_arrays(result)
        if time.monotonic() > until:
            raise InputError(
                f"{folder.place}: {result} was written by a worker but is not there; the work "
                "folder must be one that all machines share: name it with `work_dir`"
            )
        time.sleep(wait)
        wait = min(2 * wait, 1.0)
    return arrays
