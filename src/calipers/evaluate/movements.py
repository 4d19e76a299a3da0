"""How far a confounder of a given strength moves the scores, as measured in real texts.

``python experiments/cautions.py`` plants each in otherwise equal texts and prints the points below:
a strength, and the mean absolute change of the score that changes most (MAUVE*, precision, recall
or the AUC of the classifier, by meaning or by form). Between points is interpolated; beyond the
last one its movement holds. It is how far such a confounder can move the scores, and not how far it
did: that depends on the texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

Scale = Literal[
    "lengths",
    "truncation",
    "truncation_both",
    "duplicates",
    "copies",
    "openings",
    "prompts",
    "language",
    "scripts",
    "empty",
    "sizes",
    "few_samples",
    "neighbours",
]

POINTS: Mapping[Scale, tuple[tuple[float, float], ...]] = {
    "lengths": (
        (0.0, 0.0),
        (0.322, 0.439),
        (0.585, 0.622),
        (1.0, 0.895),
        (2.0, 0.954),
        (3.0, 0.961),
    ),
    "truncation": (
        (0.0, 0.0),
        (0.05, 0.034),
        (0.1, 0.061),
        (0.25, 0.159),
        (0.5, 0.411),
        (1.0, 0.895),
    ),
    "duplicates": (
        (0.0, 0.0),
        (0.05, 0.02),
        (0.1, 0.056),
        (0.25, 0.133),
        (0.5, 0.24),
        (1.0, 0.984),
    ),
    "empty": ((0.0, 0.0), (0.05, 0.069), (0.1, 0.12), (0.25, 0.36), (0.5, 0.693), (1.0, 0.983)),
    "language": (
        (0.0, 0.0),
        (0.05, 0.053),
        (0.1, 0.125),
        (0.25, 0.312),
        (0.5, 0.648),
        (1.0, 0.978),
    ),
    "scripts": ((0.0, 0.0), (0.05, 0.053), (0.1, 0.098), (0.25, 0.335), (0.5, 0.675), (1.0, 0.982)),
    "prompts": (
        (0.0, 0.0),
        (0.04, 0.053),
        (0.074, 0.09),
        (0.081, 0.144),
        (0.139, 0.234),
        (0.147, 0.234),
        (0.161, 0.412),
        (0.278, 0.595),
        (0.294, 0.595),
        (0.556, 0.93),
    ),
    "copies": ((0.0, 0.0), (0.05, 0.047), (0.1, 0.101), (0.25, 0.217), (0.5, 0.423), (1.0, 0.513)),
    "truncation_both": (
        (0.0, 0.0),
        (0.05, 0.04),
        (0.1, 0.055),
        (0.25, 0.084),
        (0.5, 0.159),
        (1.0, 0.159),
    ),
    "neighbours": ((0.0, 0.0), (0.025, 0.094), (0.05, 0.239), (0.1, 0.374), (0.25, 0.45)),
    "openings": (
        (0.0, 0.0),
        (0.04, 0.104),
        (0.074, 0.104),
        (0.081, 0.104),
        (0.139, 0.104),
        (0.147, 0.147),
        (0.161, 0.22),
        (0.278, 0.22),
        (0.294, 0.225),
        (0.556, 0.236),
    ),
    "few_samples": (
        (0.0, 0.0),
        (0.045, 0.019),
        (0.071, 0.03),
        (0.1, 0.054),
        (0.141, 0.085),
        (0.224, 0.112),
    ),
    "sizes": ((0.0, 0.0), (0.322, 0.012), (0.585, 0.019), (1.0, 0.019), (2.0, 0.021), (3.0, 0.034)),
}
"""Strength and movement, from none on.

``lengths`` and ``sizes`` go by the binary logarithm of the ratio, ``openings`` (on both sides) and
``prompts`` (on one) by the share of texts times the part of a text that they are, ``few_samples``
by 1/√n, ``neighbours`` by k/n, and all others by the share of texts, beyond the reference's own.
"""


def movement(scale: Scale, strength: float) -> float:
    """Tell how far scores may move by a confounder of this strength, 0 to 1.

    Examples
    --------
    >>> movement("duplicates", 0.0)
    0.0
    >>> movement("duplicates", 0.5) > movement("duplicates", 0.1) > 0
    True
    """
    strengths, movements = zip(*POINTS[scale], strict=True)
    return float(np.interp(max(0.0, strength), strengths, movements))


def by_ratio(scale: Scale, one: float, other: float) -> float:
    """The same, of a strength that is the ratio of two sizes; those below 1 count as 1."""
    return movement(scale, abs(math.log2(max(1.0, one) / max(1.0, other))))


def by_size(n: int) -> float:
    """How far chance moves the scores of sets of `n` samples."""
    return movement("few_samples", 1 / math.sqrt(max(1, n)))
