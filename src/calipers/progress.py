"""Progress of long computations, reported independently of the display."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]


class Progress(Protocol):
    """Protocol of displays of the progress of named tasks."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        """Open a task of `total` steps; the context manager returns a function that advances it."""
        ...


class Silent:
    """A display that shows nothing: the default of the library."""

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Open a task without display."""
        with noted(description):
            yield lambda steps: None


@contextmanager
def noted(description: str) -> Iterator[None]:
    """Add the current task to the message of an error for lack of memory, the innermost first."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # packages such as torch raise the latter
        error.add_note(description)
        raise
