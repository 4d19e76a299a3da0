"""What a person calls each metric, and what it tells."""

from __future__ import annotations

from rich.cells import cell_len

HEADLINE = ("precision", "recall", "coverage", "mauve_star")
"""The metrics that a table shows unless others were asked for."""

LABELS = {
    "precision": "Precision",
    "recall": "Recall",
    "density": "Density",
    "coverage": "Coverage",
    "mauve": "MAUVE",
    "mauve_star": "MAUVE*",
    "frontier_integral": "FI",
    "frontier_integral_star": "FI*",
    "prd_f8": "PRD F8",
    "prd_f1_8": "PRD F1/8",
    "frechet_distance": "Fréchet",
}
"""Key of a metric to the name at the head of its column."""

MEANINGS = {
    "precision": "share of generated samples inside the reference's support (quality)",
    "recall": "share of reference samples inside the generated support (diversity)",
    "density": "how densely the reference surrounds the generated samples; may pass 1 (quality)",
    "coverage": "share of reference samples with a generated one close by (diversity)",
    "mauve": "how close the two distributions are, unsmoothed; 1 is no gap",
    "mauve_star": "how close the two distributions are; 1 is no gap",
    "frontier_integral": "frontier integral, the gap between the distributions; 0 is none",
    "frontier_integral_star": "the frontier integral, smoothed as MAUVE* is",
    "prd_f8": "precision and recall of distributions in one number, recall first",
    "prd_f1_8": "precision and recall of distributions in one number, precision first",
    "frechet_distance": "distance of the Gaussians fitted to the two sets; 0 is no gap",
}
"""Key of a metric to one line that says what it tells."""

WIDEST_NAME = 40
"""Cells that the name of a set may take; longer ones lose their middle."""

VIEWS = {
    "meaning": "topics and content",
    "form": "style, fluency, word order",
}
"""Name of a view to what it sees."""


def label(metric: str) -> str:
    """Name a metric for a column; an unknown key is its own name."""
    return LABELS.get(metric, clean(metric))


def shorten(text: str, width: int) -> str:
    """Take the middle out of a text that is wider than `width`.

    Examples
    --------
    >>> shorten("runs/2024/model_a.jsonl", 12)
    'runs/2…jsonl'
    """
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{_head(text, width - 1 - tail)}…{_head(text[::-1], tail)[::-1]}"


def clean(text: object) -> str:
    """Make a text safe for one line of a terminal: no control characters, no line breaks.

    Examples
    --------
    >>> clean("a\\tb")
    'a b'
    """
    return "".join(_visible(character) for character in str(text))


def _head(text: str, width: int) -> str:
    """Take as many characters from the start as fit into `width` cells."""
    taken = 0
    for index, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:index]
    return text


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
