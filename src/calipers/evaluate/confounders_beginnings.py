"""Prompts that stand in the texts: what both sides have in common there is no merit of the model.

Where prompts are known, a text that begins with its own prompt is seen at once. Where they are
not, prompts show as long beginnings that a generated text shares with a reference text: five words
and more, far more often than two reference texts share them. Letter case and white space do not
matter; texts that stand in the reference as a whole are copies and not counted here. Copies of
which a few words were changed look the same from here: which of the two it is, only a person can
tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calipers.evaluate.confounders_chance import beyond_chance, percent
from calipers.evaluate.confounders_texts import BEGINNING, TextFacts, longest_common

SHARED_WORDS = 5
"""Words of a beginning that hardly two people write by chance, unless their texts follow a form."""

MORE_BEGINNINGS = 0.05
"""A twentieth of the texts: fewer prompts in them move no score by more than its interval."""

SHORTEST_PROMPT = 3
"""Words of a prompt; with fewer a text may begin by chance."""

RAISES = "this raises precision, recall, MAUVE and BLEU alike"


@dataclass(frozen=True)
class Prompts:
    """The share of texts that begin with their own prompt, 0 to 1; None where none is known."""

    reference: float | None
    generated: float | None

    def warning(self) -> str | None:
        """Say on which side prompts stand in the texts, and what to do."""
        ours, theirs = self.generated or 0.0, self.reference or 0.0
        if max(ours, theirs) <= MORE_BEGINNINGS:
            return None
        if min(ours, theirs) > MORE_BEGINNINGS:
            effect = RAISES
        else:
            effect = "this alone sets the two sides apart"
        return (
            f"{percent(ours)} of its texts and {percent(theirs)} of the reference's begin with "
            f"their own prompt; {effect}: compare the continuations only, on both sides"
        )


@dataclass(frozen=True)
class Beginnings:
    """Long beginnings that generated texts share with reference texts.

    Attributes
    ----------
    generated
        The share of generated texts whose first five words or more begin a reference text, 0 to 1.
    expected
        The share of reference texts that share as much with another reference text.
    words
        The median length of such a common beginning, at most `BEGINNING`; 0 where there is none.
    n, m
        Texts on the two sides.
    """

    generated: float
    expected: float
    words: float
    n: int
    m: int

    def warning(self) -> str | None:
        """Say how many there are, how long they are, and what to do."""
        more = self.generated - self.expected > MORE_BEGINNINGS
        if not more or not beyond_chance(self.generated, self.expected, self.m, self.n):
            return None
        many = f"{self.words:g}" if self.words < BEGINNING else f"{BEGINNING} and more"
        return (
            f"{percent(self.generated)} of its texts begin as a reference text does, with {many} "
            f"words in common ({percent(self.expected)} of the reference's texts among "
            f"themselves); {RAISES}: if it is a prompt, compare the continuations only, if not, "
            "look for copies"
        )


def measure_prompts(reference: TextFacts, generated: Sequence[TextFacts]) -> Prompts | None:
    """Count the texts that begin with their own prompt; None where no prompts are known."""
    ours, theirs = _prompted(generated), _prompted([reference])
    return None if ours is None and theirs is None else Prompts(theirs, ours)


def measure_beginnings(reference: TextFacts, generated: Sequence[TextFacts]) -> Beginnings | None:
    """Hold what generated texts share with reference texts against what these share."""
    texts = [text for each in generated for text in _uncopied(each, reference)]
    known = reference.different_in_order
    if not texts or len(known) < 2:
        return None
    longest, among = longest_common(texts, known), reference.common_among
    shared = longest >= SHARED_WORDS
    return Beginnings(
        float(shared.mean()),
        float((among >= SHARED_WORDS).mean()),
        float(np.median(longest[shared])) if shared.any() else 0.0,
        len(known),
        len(texts),
    )


def _prompted(sets: Sequence[TextFacts]) -> float | None:
    """The share of texts behind a prompt of some length that begin with it."""
    begun = [
        text.startswith(prompt)
        for each in sets
        for prompt, text in zip(each.prompts or (), each.beginnings, strict=False)
        if prompt.count(" ") + 1 >= SHORTEST_PROMPT
    ]
    return float(np.mean(begun)) if begun else None


def _uncopied(facts: TextFacts, reference: TextFacts) -> list[str]:
    """The beginnings of the texts that are not in the reference as a whole."""
    kept = facts.told & ~np.isin(facts.keys, reference.keys)
    return [facts.beginnings[row] for row in np.flatnonzero(kept).tolist()]
