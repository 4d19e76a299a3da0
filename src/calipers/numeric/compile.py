"""How kernels are compiled: once per machine where the disk allows it, without the GIL.

Numba keeps machine code until the file of the function changes, but a kernel also holds the code of
whatever it calls. Kernels that call each other therefore stand in one file, and what kernels of
many files call in :data:`BUILDING_BLOCKS`: when one of these changes, every kernel is compiled
anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from time import monotonic
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])

BUILDING_BLOCKS = tuple(Path(__file__).with_name(name) for name in ("distances.py", "simd.py"))
"""The files whose functions kernels of other files may call."""


def kernel(function: F) -> F:
    """Compile a numeric kernel that releases the GIL."""
    return cast(F, _compile(function))


def inlined(function: F) -> F:
    """Compile a small part of a kernel into whatever calls it.

    A call costs more than it seems: the owners of all arrays in the arguments are counted. Python
    cannot call it, and it is not kept by itself: to prepare that takes a fifth of all compiling.
    """
    return cast(F, _part(function))


def fused(function: F) -> F:
    """Do the same, and let products and the sums behind them be one instruction, rounded once."""
    return cast(F, _part(function, fastmath={"contract"}))


def summation(function: F) -> F:
    """Compile a sum whose terms may be added in any one order, so that it runs in vector registers.

    Compiled once and only called, so all kernels get the same order and the same bits.
    """
    return cast(F, _compile(function, fastmath={"reassoc"}))


class Compilation(event.Listener):  # type: ignore[misc]
    """How long kernels have been compiled in this process, so that a person can be told.

    What the cache holds is loaded, not compiled. Numba compiles one function at a time; those that
    a function calls are compiled within its time.

    Attributes
    ----------
    running
        How many functions are being compiled, each for the one before.
    seconds
        What all of them took.
    """

    def __init__(self) -> None:
        self.running, self.seconds, self._begun = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        """Begin with a function."""
        if self.running == 0:
            self._begun = monotonic()
        self.running += 1

    def on_end(self, event: Any) -> None:
        """Be done with it."""
        self.running -= 1
        if self.running == 0:
            self.seconds += monotonic() - self._begun


COMPILATION = Compilation()
event.register("numba:compile", COMPILATION)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, which also expires when a building block changes.

    An index that cannot be read, since it names a type that has since been renamed or moved, counts
    as expired: Numba reads it before it looks at the stamp.

    Raises
    ------
    AttributeError
        Where this Numba keeps its stamp elsewhere: it has no public name.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        own = self._cache_file._source_stamp
        self._cache_file._source_stamp = own, _stamps(BUILDING_BLOCKS)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError, EOFError, UnpicklingError):
            with suppress(OSError):
                self.flush()
            return None


@cache
def _stamps(files: tuple[Path, ...]) -> tuple[tuple[float, int], ...]:
    """When each file was changed, and its size."""
    return tuple((found.st_mtime, found.st_size) for found in (file.stat() for file in files))


def _jitted(function: Callable[..., Any], **options: Any) -> Any:
    return numba.njit(function, nogil=True, no_cfunc_wrapper=True, **options)


def _part(function: Callable[..., Any], **options: Any) -> Any:
    return _jitted(function, forceinline=True, no_cpython_wrapper=True, **options)


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    compiled = _jitted(function, **options)
    with suppress(RuntimeError):  # no place to write to: an installed package on a read-only disk
        try:
            compiled._cache = KernelCache(function)
        except AttributeError:  # another Numba: its own cache, which watches the file alone
            compiled.enable_caching()
    return compiled
