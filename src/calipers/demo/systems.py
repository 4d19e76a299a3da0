"""The three systems of the demo: one without a fault, two with a known one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.demo.corpora import paragraphs
from calipers.demo.markov import fit, generate
from calipers.demo.near_copies import near_copies

SOURCES = 5
"""Number of paragraphs that `near_copies` repeats."""


def systems(
    seed: int, human: Sequence[str] | None = None
) -> tuple[list[str], dict[str, list[str]]]:
    """Build the human reference and the three systems, all of one size, from a seed.

    Parameters
    ----------
    seed
        Of the split and of the texts that are made.
    human
        Human texts (default: all paragraphs of this Python).

    Returns
    -------
    reference
        A random half of the human texts.
    generated
        ``held_out``, the other half; ``markov_chain``, fitted on the reference;
        ``near_copies`` of five reference paragraphs.
    """
    split, chain, copies = np.random.default_rng(seed).spawn(3)
    texts = list(paragraphs() if human is None else human)
    half = len(texts) // 2
    rows = split.permutation(len(texts))
    reference = [texts[row] for row in rows[:half]]
    return reference, {
        "held_out": [texts[row] for row in rows[half : 2 * half]],
        "markov_chain": generate(fit(reference), half, seed=chain),
        "near_copies": near_copies(reference, size=half, sources=SOURCES, seed=copies),
    }
