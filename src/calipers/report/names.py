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
    "realism": "Realism",
    "clipped_density": "Clip D",
    "clipped_coverage": "Clip C",
    "probabilistic_precision": "Prob P",
    "probabilistic_recall": "Prob R",
    "cover_precision": "Cover P",
    "cover_recall": "Cover R",
    "sphere_precision": "Sphere P",
    "sphere_recall": "Sphere R",
    "topp": "TopP",
    "topr": "TopR",
    "authenticity": "Authentic",
    "near_copies": "Copies",
    "mauve": "MAUVE",
    "mauve_star": "MAUVE*",
    "frontier_integral": "FI",
    "frontier_integral_star": "FI*",
    "prd_f8": "PRD F8",
    "prd_f1_8": "PRD F1/8",
    "frechet_distance": "Fréchet",
}
"""Key of a metric to the name at the head of its column."""

UNRANKED = {"authenticity"}
"""The metrics whose good values lie in the middle, so that none is the best of its column."""

MEANINGS = {
    "precision": "share of generated samples inside the reference's support (quality)",
    "recall": "share of reference samples inside the generated support (diversity)",
    "density": "how densely the reference surrounds the generated samples; may pass 1 (quality)",
    "coverage": "share of reference samples with a generated one close by (diversity)",
    "realism": "depth of the median generated sample in the support; 1 is the edge (quality)",
    "clipped_density": "density as the share of good samples, safe from outliers (quality)",
    "clipped_coverage": "coverage as the share of good samples, safe from outliers (diversity)",
    "probabilistic_precision": "chance that a generated sample is in the reference's support",
    "probabilistic_recall": "chance that a reference sample is in the generated support",
    "cover_precision": "share of generated samples with enough of the reference around (quality)",
    "cover_recall": "share of reference samples with enough generated ones around (diversity)",
    "sphere_precision": "whether both sets spread alike around the reference's mean (quality)",
    "sphere_recall": "whether both sets spread alike around the generated mean; 0.5 is usual",
    "topp": "precision without samples that are noise to their own set (quality)",
    "topr": "recall without samples that are noise to their own set (diversity)",
    "authenticity": "share of generated samples not too close to a known one; 0.3 to 0.8 is usual",
    "near_copies": "share of generated samples that nearly repeat a known one; 0.01 is usual",
    "mauve": "how close the two distributions are, unsmoothed; 1 is no gap",
    "mauve_star": "how close the two distributions are; 1 is no gap",
    "frontier_integral": "the gap between the distributions; 0 is none",
    "frontier_integral_star": "the same, smoothed as MAUVE* is",
    "prd_f8": "precision and recall of distributions in one number, recall first",
    "prd_f1_8": "precision and recall of distributions in one number, precision first",
    "frechet_distance": "distance of the Gaussians fitted to the two sets; 0 is no gap",
}
"""Key of a metric to one line that says what it tells."""

OPTIONS = ("train", "group=", "own=")
"""What may follow a metric's key and still be named by its label."""

WIDEST_NAME = 40
"""Cells that the name of a set may take; longer ones lose their middle."""

VIEWS = {
    "meaning": "topics and content",
    "form": "style, fluency, word order",
}
"""Name of a view to what it sees."""


def label(metric: str) -> str:
    """Name a metric for a column; an unknown key is its own name.

    Examples
    --------
    >>> label("near_copies:train")
    'Copies train'
    >>> label("recall:group=Sports")
    'Recall Sports'
    """
    name, _, option = metric.partition(":")
    if name not in LABELS or (option and not option.startswith(OPTIONS)):
        return clean(metric)
    return f"{LABELS[name]} {clean(option.removeprefix('group='))}".rstrip()


def meaning(metric: str) -> str:
    """Say what a metric tells, after its key where the head of its column does not spell it.

    Examples
    --------
    >>> meaning("near_copies")
    'near_copies: share of generated samples that nearly repeat a known one; 0.01 is usual'
    >>> meaning("mauve_star")
    'how close the two distributions are; 1 is no gap'
    """
    spelt = LABELS[metric].casefold().replace("*", "_star")
    return MEANINGS[metric] if spelt == metric else f"{metric}: {MEANINGS[metric]}"


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
