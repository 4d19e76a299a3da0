"""The effect of a confounder on the scores, by its strength, as measured in real texts.

``python research/experiments/cautions.py`` plants each in otherwise equal texts and prints the
points below: a strength, and the mean absolute change of the score that changes most (MAUVE*,
precision, recall or the AUC of the classifier, by meaning or by form), made to rise by isotonic
regression. Between points is interpolated; beyond the last one its movement holds. It is how far
such a confounder can move the scores, and not how far it did: that depends on the texts.
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
        (0.17, 0.06),
        (0.33, 0.25),
        (0.6, 0.39),
        (0.8, 0.48),
        (0.99, 0.65),
        (2.0, 0.95),
        (3.16, 0.95),
    ),
    "truncation": ((0.0, 0.0), (0.05, 0.04), (0.1, 0.06), (0.25, 0.16), (0.5, 0.37), (1.0, 0.85)),
    "truncation_both": ((0.0, 0.0), (0.05, 0.02), (0.1, 0.03), (0.25, 0.07), (0.75, 0.12)),
    "duplicates": (
        (0.0, 0.0),
        (0.05, 0.02),
        (0.1, 0.05),
        (0.25, 0.1),
        (0.5, 0.19),
        (0.75, 0.41),
        (0.9, 0.92),
        (1.0, 0.96),
    ),
    "copies": ((0.0, 0.0), (0.075, 0.08), (0.25, 0.2), (0.5, 0.4), (1.0, 0.49)),
    "openings": (
        (0.0, 0.0),
        (0.02, 0.06),
        (0.04, 0.07),
        (0.07, 0.07),
        (0.102, 0.11),
        (0.15, 0.15),
        (0.223, 0.15),
        (0.29, 0.23),
        (0.473, 0.28),
    ),
    "prompts": (
        (0.0, 0.0),
        (0.04, 0.08),
        (0.07, 0.09),
        (0.08, 0.17),
        (0.14, 0.23),
        (0.15, 0.24),
        (0.16, 0.43),
        (0.285, 0.54),
        (0.56, 0.94),
    ),
    "language": ((0.0, 0.0), (0.05, 0.05), (0.1, 0.1), (0.25, 0.3), (0.5, 0.64), (1.0, 0.96)),
    "scripts": ((0.0, 0.0), (0.05, 0.05), (0.1, 0.1), (0.25, 0.33), (0.5, 0.66), (1.0, 0.96)),
    "empty": ((0.0, 0.0), (0.05, 0.05), (0.1, 0.11), (0.25, 0.36), (0.5, 0.7), (1.0, 0.96)),
    "sizes": ((0.0, 0.0), (0.14, 0.01), (0.45, 0.01), (1.0, 0.02), (2.5, 0.03)),
    "few_samples": (
        (0.0, 0.0),
        (0.04, 0.02),
        (0.07, 0.03),
        (0.1, 0.04),
        (0.14, 0.08),
        (0.22, 0.09),
    ),
    "neighbours": ((0.0, 0.0), (0.03, 0.1), (0.05, 0.24), (0.1, 0.37), (0.25, 0.43)),
}
"""Strength and movement, from none on.

``lengths`` and ``sizes`` go by the binary logarithm of the ratio, ``truncation`` by the difference
of the shares of texts that were cut and ``truncation_both`` by the smaller share, ``openings`` (on
both sides) and ``prompts`` (on one) by the share of texts times the part of a text that they are,
``few_samples`` by 1/√n, ``neighbours`` by k/n, and all others by the share of texts, beyond the
reference's own.
"""


def movement(scale: Scale, strength: float) -> float:
    """Return how far scores may move by a confounder of this strength, 0 to 1.

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
    """Return the same for a strength given as the ratio of two sizes; below 1 it counts as 1."""
    return movement(scale, abs(math.log2(max(1.0, one) / max(1.0, other))))


def by_size(n: int) -> float:
    """Return how far chance moves the scores of sets of `n` samples."""
    return movement("few_samples", 1 / math.sqrt(max(1, n)))
