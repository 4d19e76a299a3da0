"""Several things that are all tried, whatever becomes of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from calipers.cli.streams import write_error
from calipers.errors import CalipersError


class Attempts:
    """Remembers what went wrong, so that one failure does not cost what comes after it."""

    def __init__(self) -> None:
        self._failures: list[Exception] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        """Try something."""
        try:
            yield
        except Exception as failure:
            self._failures.append(failure)

    def settle(self) -> None:
        """Tell what went wrong, and raise the gravest of it: a fault of Calipers keeps its trace.

        Raises
        ------
        Exception
            A fault before what a person can put right, and that before a reader who went away.
        """
        if not self._failures:
            return
        *others, gravest = sorted(self._failures, key=_gravity)
        for each in others:
            if not isinstance(each, BrokenPipeError):
                write_error(f"calipers: {each}")
        raise gravest


def _gravity(failure: Exception) -> int:
    if isinstance(failure, BrokenPipeError):
        return 0
    return 1 if isinstance(failure, CalipersError) else 2
