"""What is made when first asked for: public names of a package, and properties of an object.

:func:`lazy_names` imports the names of a package when they are first used, so that it loads nothing
heavy. :class:`lazily` is :func:`functools.cached_property` without the lock that Python 3.11 holds
for all objects of a class at once: pairs that are scored on several threads would wait for each
other.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import functools

    lazily = functools.cached_property
else:

    class lazily:  # noqa: N801
        """A property that is made once; two threads that share the object may both make it."""

        def __init__(self, make: Callable[[Any], Any]) -> None:
            self._make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            if owner is None:
                return self
            made = owner.__dict__[self._name] = self._make(owner)
            return made


def lazy_names(
    package: str, homes: Mapping[str, Iterable[str]], *, modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        The names by the module that each comes from. Type checkers do not see these: the package
        imports the same names under ``TYPE_CHECKING``.
    modules
        Its own modules that are public names themselves.

    Examples
    --------
    >>> get, listed, names = lazy_names("calipers", {"math": ["sqrt", "exp"]}, modules=["score"])
    >>> names, get("score").__name__
    (['exp', 'score', 'sqrt'], 'calipers.score')
    """
    where = {name: module for module, names in homes.items() for name in names}
    own = set(modules)
    names = sorted({*where, *own})

    def get(name: str) -> Any:
        if name in own:
            return importlib.import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(where[name]), name)
        setattr(sys.modules[package], name, value)  # found without a question from now on
        return value

    return get, lambda: sorted(names), names  # a package may add names that are there already
