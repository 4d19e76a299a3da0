"""Caution on different Unicode forms of the two sides, and on invisible characters.

Copies, duplicates and tokens are found in texts as they are seen
(:mod:`calipers.text.unicode_forms`), so that such characters hide nothing from them. What reads the
characters as they stand sees other words: ROUGE, BLEU, chrF and TER as their packages compute them,
compression, byte counts, and embedders whose tokenizer does not normalise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.cautions.texts import TextFacts, beyond_chance, percent
from calipers.results.caution import Caution, brief_share
from calipers.text.unicode_forms import altered

MORE_TEXTS = 0.01
"""One text in a hundred."""


@dataclass(frozen=True)
class Forms:
    """The share of texts that are decomposed or contain invisible characters, 0 to 1.

    Attributes
    ----------
    reference, generated
        Of the texts on the two sides.
    n, m
        Texts on the two sides.
    """

    reference: float
    generated: float
    n: int
    m: int

    def caution(self, other: str = "reference") -> Caution | None:
        """Describe on which side such texts are far more frequent.

        `other` names the side that the generated texts are held against.
        """
        sides = ((self.generated, self.m), (self.reference, self.n))
        (more, count), (less, rest) = max(sides), min(sides)
        if not beyond_chance(more, less, count, rest, least=MORE_TEXTS):
            return None
        text = (
            f"{percent(self.generated)} of its texts and {percent(self.reference)} of the "
            f"{other}'s are in decomposed Unicode form or hold invisible characters, such as "
            "zero-width spaces; copies and tokens are found regardless, but ROUGE, BLEU, chrF, TER "
            "and most embedders see different words: normalise both sides to NFC"
        )
        whose = "" if self.generated > self.reference else f"{other}: "
        return Caution("forms", f"{whose}{brief_share(more)} in a different Unicode form", text)


def measure_forms(reference: TextFacts, generated: Sequence[TextFacts]) -> Forms | None:
    """Count the texts of both sides with decomposed or invisible characters."""
    if reference.characters is None:
        return None
    return _forms(reference.altered, np.concatenate([facts.altered for facts in generated]))


def forms_of(reference: Iterable[str], generated: Iterable[str]) -> Forms:
    """Count such texts among texts that were not read for other checks."""
    sides = (
        np.array([altered(text) for text in side], np.bool_) for side in (reference, generated)
    )
    return _forms(*sides)


def _forms(reference: NDArray[np.bool_], generated: NDArray[np.bool_]) -> Forms:
    shares = float(reference.mean()), float(generated.mean())
    return Forms(*shares, len(reference), len(generated))
