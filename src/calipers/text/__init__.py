"""Statistics of texts and reference-based text metrics: exact, fast, with no embedding needed.

Functions take lists of strings, or corpora that :func:`tokenise` made, and return a
:class:`~calipers.score.Score` each.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.text.corpus import Corpus as Corpus
    from calipers.text.tokenise import tokenise as tokenise

# Resolved when first used, so that no statistic loads what only another one needs
_HOMES = {
    "Corpus": "calipers.text.corpus",
    "tokenise": "calipers.text.tokenise",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'calipers.text' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
