"""How a long computation reports how far it is, without knowing who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]


class Progress(Protocol):
    """Anything that can show the progress of a named task."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        """Open a task of `total` steps; the manager gives a function that advances it."""
        ...


class Silent:
    """A progress that shows nothing: the default of the library."""

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Open a task that nobody sees."""
        with noted(description):
            yield lambda steps: None


@contextmanager
def noted(description: str) -> Iterator[None]:
    """Have an error for want of memory say during which task it came; the innermost comes first."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # packages such as torch raise the latter
        error.add_note(description)
        raise
