"""Do the next piece of work in a thread while the present one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def ahead(work: Iterable[Given], make: Callable[[Given], Made]) -> Iterator[tuple[Given, Made]]:
    """Yield each item with what `make` makes of it, in order, one item made in advance.

    What `make` raises for an item is raised when its turn comes, so that all before it is done.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="calipers-ahead") as pool:
        waiting: tuple[Given, Future[Made]] | None = None
        for item in work:
            following = (item, pool.submit(make, item))
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = following
        if waiting is not None:
            yield waiting[0], waiting[1].result()
