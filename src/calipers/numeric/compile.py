"""How the kernels are compiled: once per machine where the disk allows it, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a numeric kernel that releases the GIL."""
    return cast(F, _compile(function))


def inlined(function: F) -> F:
    """Compile a small part of a kernel into whatever calls it.

    A call costs more than it seems: the owners of all arrays in the arguments are counted.
    """
    return cast(F, _compile(function, forceinline=True))


def summation(function: F) -> F:
    """Compile a sum whose terms may be added in any one order, so that it runs in vector lanes.

    Compiled once and only called, so all kernels get the same order and the same bits.
    """
    return cast(F, _compile(function, fastmath={"reassoc"}))


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(function, nogil=True, cache=True, **options)
    except RuntimeError:  # no place to write the cache to: an installed package on a read-only disk
        return numba.njit(function, nogil=True, **options)
