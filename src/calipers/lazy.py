"""Lazy names of packages, cached properties, and regular expressions compiled on first use.

:func:`lazy_names` imports the names of a package when they are first used, so that it loads nothing
heavy. :func:`pattern` compiles a regular expression then. :class:`lazily` is
:func:`functools.cached_property` without the lock that Python 3.11 holds for all objects of a class
at once: pairs that are scored on several threads would wait for each other.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import functools
    import re

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


def pattern(text: str, flags: int = 0, *, package: str = "re") -> re.Pattern[str]:
    """Make a regular expression that is compiled when it is first used.

    Large classes of characters take milliseconds to compile, and most texts need few of them.

    Parameters
    ----------
    text, flags
        As of :func:`re.compile`.
    package
        What compiles it: ``"re"`` or ``"regex"``, imported then.

    Examples
    --------
    >>> pattern("a+").findall("aa b a")
    ['aa', 'a']
    """
    return cast("re.Pattern[str]", _Pattern(text, flags, package))


class _Pattern:
    """What becomes a pattern, method by method, as they are asked for."""

    def __init__(self, text: str, flags: int, package: str) -> None:
        self._compiled = lru_cache(lambda: importlib.import_module(package).compile(text, flags))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._compiled(), name)
        setattr(self, name, value)  # found without a question from now on
        return value


def lazy_names(
    package: str,
    homes: Mapping[str, Iterable[str]],
    *,
    modules: Iterable[str] = (),
    others: Iterable[str] = (),
    further: Callable[[], Mapping[str, str]] = dict,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package; the former also resolves ``__all__``.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        The names by the module that each comes from. Type checkers do not see these: the package
        imports the same names under ``TYPE_CHECKING``.
    modules
        Its own modules that are public names themselves.
    others
        Public names that the package itself has.
    further
        Gives more names, each with its module; called when a name is asked for that is not in
        `homes`.

    Examples
    --------
    >>> get, listed = lazy_names("calipers", {"math": ["sqrt", "exp"]}, modules=["score"])
    >>> get("__all__"), get("score").__name__
    (['exp', 'score', 'sqrt'], 'calipers.score')
    """
    where = {name: module for module, names in homes.items() for name in names}
    public_modules = set(modules)

    def listed() -> list[str]:
        return sorted({*where, *public_modules, *others, *further()})

    def get(name: str) -> Any:
        if name == "__all__":
            return listed()
        if name in public_modules:
            return importlib.import_module(f"{package}.{name}")
        module = where.get(name) or (None if name.startswith("__") else further().get(name))
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)  # found without a question from now on
        return value

    return get, listed
