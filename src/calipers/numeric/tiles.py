"""Where the tiles of a distance matrix are worked: a few threads, each with BLAS on one thread.

A tile is a block of rows of one set against a block of rows of another. What a tile gives is a
pure function of its rows, and merging two results does not depend on their order, so an engine
that runs elsewhere only has to map the same function over the same tiles.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from calipers.numeric.simd import PANEL

BLOCK = 1024
LARGEST = 3072

Span = tuple[int, int]
T = TypeVar("T")
R = TypeVar("R")


def available_threads(threads: int | None = None) -> int:
    """Return the number of threads to use: as asked, else one for each core we may run on."""
    if threads is not None:
        return max(1, threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spans(n: int, size: int = BLOCK) -> list[Span]:
    """Cut ``range(n)`` into consecutive spans of at most `size` rows."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def block_of(n: int, m: int, threads: int | None = None) -> int:
    """Rows of a tile that gives every thread some 24 of n x m pairs, within sensible bounds.

    Small tiles cost time between them, large ones leave threads idle at the end.
    """
    return int(np.clip(np.sqrt(n * m / (24 * available_threads(threads))), BLOCK, LARGEST))


def panel_spans(n: int, size: int = BLOCK) -> list[Span]:
    """Cut ``range(n)`` into spans of about `size` rows that start at whole panels."""
    return spans(n, max(1, round(size / PANEL)) * PANEL)


def rectangle(rows: list[Span], columns: list[Span]) -> list[tuple[Span, Span]]:
    """All tiles of a matrix of one set against another."""
    return [(row, column) for row in rows for column in columns]


def triangle(rows: list[Span]) -> list[tuple[Span, Span]]:
    """The tiles on and above the diagonal of a set against itself, diagonal ones first.

    The diagonal comes first because it gives every row a finite radius early, which lets the
    sieve drop most of the pairs of the later tiles.
    """
    count = len(rows)
    return [(rows[i], rows[i + offset]) for offset in range(count) for i in range(count - offset)]


POOLED = ("scipy.linalg", "sklearn", "torch", "faiss")
"""Packages that bring thread pools of their own."""


class Workers:
    """Threads that share pieces of work and give the results in the order of the pieces."""

    def __init__(self, threads: int, pool: ThreadPoolExecutor | None) -> None:
        self.threads = threads
        self._pool = pool

    @classmethod
    def alone(cls) -> Workers:
        """The calling thread alone."""
        return cls(1, None)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[R]:
        """Yield ``work(piece)`` in order, with a few pieces running ahead.

        `work` should release the GIL for most of its time.
        """
        if self._pool is None:
            yield from map(work, pieces)
            return
        pending: deque[Future[R]] = deque()
        try:
            for piece in pieces:
                pending.append(self._pool.submit(work, piece))
                if len(pending) > 4 * self.threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _controller() -> ThreadpoolController:
    """The thread pools of this process; to look for them takes milliseconds, so it is done once.

    What brings a pool of its own is looked for again when it has been loaded.
    """
    return _found(frozenset(name for name in POOLED if name in sys.modules))


@lru_cache(maxsize=4)
def _found(loaded: frozenset[str]) -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Hold BLAS and OpenMP, torch's too, to so many threads; None leaves them as they are."""
    if threads is None:
        yield
        return
    with _controller().limit(limits=threads):
        yield


@contextmanager
def workers(threads: int | None = None) -> Iterator[Workers]:
    """Open worker threads, one for each core by default, with BLAS on one thread in each."""
    count = available_threads(threads)
    with _controller().limit(limits=1):
        if count == 1:
            yield Workers.alone()
            return
        with ThreadPoolExecutor(count) as pool:
            yield Workers(count, pool)
