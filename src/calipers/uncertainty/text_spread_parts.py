"""Statistics without counts to leave out: measured on disjoint smaller sets, and scaled.

The variance of the values of K parts, over K, is that of the whole where variance falls as one over
the size. Statistics that change with the size are scaled by what they are worth at it: what
the parts tell is by how many per cent the value moves. All of this is approximate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import Measured, labels_of

if TYPE_CHECKING:
    from calipers.catalogue.choosing import TextChoice
    from calipers.text.corpus import Corpus

PARTS = 10

FEW_PARTS = 5
"""Of neighbour scores, which smaller parts would change beyond recognition."""

SMALLEST_PART = 20


def by_parts(found: Measured, choice: TextChoice) -> tuple[Component, ...]:
    """Measure disjoint parts of the texts, with parts of the other set where that was drawn too."""
    smallest = min(map(len, [found.texts, *([found.held.references] if found.drawn else [])]))
    parts = min(FEW_PARTS if found.drawn else PARTS, smallest // SMALLEST_PART)
    if parts < FEW_PARTS:
        return ()
    values = _values(found, choice, parts)
    level = values.mean()
    scaled = values * found.value / level if level > 0 and choice.sized else values
    return (Component.of_mean("both" if found.drawn else found.source, scaled),)


def _values(found: Measured, choice: TextChoice, parts: int) -> Doubles:
    held = found.held
    mine = _parts(held.texts, parts, held.seed)
    theirs = _parts(held.references, parts, held.seed) if found.drawn else [held.against] * parts
    made = (replace(held, texts=a, against=b) for a, b in zip(mine, theirs, strict=True))
    return np.array([choice.metric.score(each, choice.options).value for each in made])


def _parts(texts: Corpus, parts: int, seed: int) -> list[Corpus]:
    labels = labels_of(texts, seed, parts)
    return [texts.take(np.flatnonzero(labels == part)) for part in range(parts)]
