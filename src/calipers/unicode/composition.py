"""Normalisation of texts to Unicode's composed form (NFC), in linear time.

Python's own :func:`unicodedata.normalize` sorts the marks behind a letter by insertion: a run of a
million of them would take hours. Long runs are sorted here first, as the standard defines the
canonical order (stable, by combining class), which the composed form does not depend on.
"""

from __future__ import annotations

import re
from unicodedata import combining, is_normalized, normalize

_LONG = 30
"""Marks in a row from which on they are sorted here; no language writes as many."""
_FEW = 1000
"""Marks of a whole text that are sorted by insertion in no time."""
_ENDS_IN_MARKS = "\u0f73\u0f75\u0f81"
"""Marks of class 0 that are taken apart into others."""


def composed(text: str) -> str:
    r"""Return a text in composed form (NFC), like `unicodedata.normalize`.

    Examples
    --------
    >>> composed("cafe\u0301") == "caf\xe9"
    True
    """
    if text.isascii() or is_normalized("NFC", text):
        return text
    marks = [sign for sign in set(text) if combining(sign) or sign in _ENDS_IN_MARKS]
    if sum(map(text.count, marks)) > _FEW:
        long_runs = re.compile(f"[{''.join(sorted(marks))}]{{{_LONG},}}")
        text = long_runs.sub(_sorted_marks, text)
    return normalize("NFC", text)


def _sorted_marks(run: re.Match[str]) -> str:
    apart = "".join([normalize("NFD", mark) for mark in run[0]])
    return "".join(sorted(apart, key=combining))
