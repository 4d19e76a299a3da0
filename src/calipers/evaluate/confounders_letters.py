"""The letters of texts, script by script."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WIDTHS = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL", "MODIFIER", "COMBINING")
"""Words before the script in the names of letters."""


def letters(texts: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Count the letters of each script in each text: script to counts of shape (n,)."""
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    known = np.flatnonzero(np.bincount(points)).tolist()
    names = [script_of(chr(point)) for point in known]
    scripts = sorted(set(names) - {""})
    columns = np.zeros(max(known, default=0) + 1, np.int64)
    columns[known] = [scripts.index(name) if name else len(scripts) for name in names]
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    shape = (len(texts), len(scripts) + 1)
    cells = np.bincount(rows * shape[1] + columns[points], minlength=shape[0] * shape[1])
    return dict(zip(scripts, cells.reshape(shape).T, strict=False))


@lru_cache(maxsize=4096)
def script_of(sign: str) -> str:
    """Name the script of a letter; the empty string for signs, digits and marks.

    Examples
    --------
    >>> script_of("ж"), script_of("é"), script_of("7")
    ('Cyrillic', 'Latin', '')
    """
    if not sign.isalpha():
        return ""
    words = unicodedata.name(sign, "other").split()
    script = next((word for word in words if word not in WIDTHS), "other")
    return "Han" if script == "CJK" else script.capitalize()
