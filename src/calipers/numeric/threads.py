"""Threads: their number, a pool of workers, and the limit on BLAS and OpenMP within it.

Numeric work is cut into pieces that compiled kernels take without the GIL, one thread a core. BLAS
and OpenMP keep to one thread in each, since pools within pools only stand in each other's way.
Results come in the order of the pieces, so no value depends on the number of threads.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


def available_threads(threads: int | None = None) -> int:
    """Return the number of threads: as requested, else one for each available core."""
    if threads is not None:
        return max(1, threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def allowed_threads() -> int:
    """Return the number of threads that :func:`limit_threads` allows in this context.

    Without a limit what ``OMP_NUM_THREADS`` says, else one for each core.
    """
    limit = _limit.get()
    if limit is None:
        named = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
        limit = int(named) if named.isdecimal() else None
    return available_threads(limit)


_limit: ContextVar[int | None] = ContextVar("limit of threads", default=None)

POOLED = ("scipy.linalg", "sklearn", "torch", "faiss")
"""Packages that bring thread pools of their own."""


class Workers:
    """Threads that share pieces of work and return the results in the order of the pieces."""

    def __init__(self, threads: int, pool: ThreadPoolExecutor | None) -> None:
        self.threads = threads
        self._pool = pool

    @classmethod
    def alone(cls) -> Workers:
        """Return workers that use the calling thread alone."""
        return cls(1, None)

    def map(self, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[R]:
        """Yield ``work(piece)`` in order, with a few pieces running ahead.

        `work` should release the GIL for most of its time. It sees the context variables of the
        caller, such as where neighbours are searched.
        """
        if self._pool is None:
            yield from map(work, pieces)
            return
        pending: deque[Future[R]] = deque()
        try:
            for piece in pieces:
                pending.append(self._pool.submit(copy_context().run, work, piece))
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
    return _controller_for(frozenset(name for name in POOLED if name in sys.modules))


@lru_cache(maxsize=4)
def _controller_for(loaded: frozenset[str]) -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Limit BLAS and OpenMP, including torch's, to a number of threads; None for no limit."""
    if threads is None:
        yield
        return
    before = _limit.set(threads)
    try:
        with _controller().limit(limits=threads):
            yield
    finally:
        _limit.reset(before)


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
