"""A store for computations on a reference, used again in later comparisons.

Much of a comparison depends on the reference alone: the nearest neighbours within it, what its
halves score against each other, what its texts are like. Within :func:`keeping`, :func:`kept` makes
such a thing once and gives it again wherever the same is asked for. A key holds all that the thing
depends on, rows by their content (:func:`content`), so that what is given again equals what would
have been made, and a reference that changes is never mistaken for another.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Made = TypeVar("Made")

MOST = 128
"""Things that are kept at a time; that used longest ago gives way."""


class Kept:
    """Stored results by key; safe for several threads, which may compute one twice."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._lock = most, Lock()
        self._made: OrderedDict[Hashable, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._made)

    def known(self, key: Hashable) -> Any:
        """Return the result under a key; None if there is none."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)

    def keep(self, key: Hashable, thing: Any) -> None:
        """Store a result under a key, replacing an earlier one."""
        with self._lock:
            self._made[key] = thing
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)


_store: ContextVar[Kept | None] = ContextVar("what is kept of a reference", default=None)


@contextmanager
def keeping(store: Kept | None) -> Iterator[None]:
    """Store all results computed within a context; None for no store."""
    before = _store.set(store)
    try:
        yield
    finally:
        _store.reset(before)


def chosen_store() -> Kept | None:
    """Return the store that :func:`keeping` set; None if there is none."""
    return _store.get()


def kept(key: Callable[[], Hashable], make: Callable[[], Made]) -> Made:
    """Return the stored result of a key, or compute and store it.

    Parameters
    ----------
    key
        Gives the key, which holds all that the thing depends on; not asked where nothing is kept.
    make
        Makes the thing, never None.
    """
    store = _store.get()
    if store is None:
        return make()
    name = key()
    value: Made | None = store.known(name)
    if value is None:
        value = make()
        store.keep(name, value)
    return value


def content(rows: NDArray[Any]) -> str:
    """Return a digest of an array: its type, shape and values."""
    digest = sha256(f"{rows.dtype.str}{rows.shape}".encode())
    digest.update(np.ascontiguousarray(rows).view(np.uint8).data)
    return digest.hexdigest()
