"""Public names of a package that are imported when first used, so that it loads nothing heavy."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


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
