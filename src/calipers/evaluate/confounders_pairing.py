"""Whether the rows of two sets answer the same prompts, so that a test may take them in pairs."""

from __future__ import annotations

import numpy as np

from calipers.evaluate.confounders_texts import fold
from calipers.samples import SampleSet

NEARLY_ALL = 0.99
"""A row that was sampled again with another prompt should not forbid pairing all others."""

WHOLE = 10_000
"""Words of a prompt that are compared; there are hardly longer ones."""


def paired_rows(a: SampleSet, b: SampleSet) -> bool:
    """Tell whether row i of both sets answers the same prompt.

    So it is where both have as many rows, both know their prompts, 99 % of the rows have the same
    prompt in both (letter case and white space aside; an empty one is none), and there are at least
    two different ones: rows that all answer one prompt are no pairs.
    """
    if len(a) != len(b) or a.prompts is None or b.prompts is None:
        return False
    columns = (a.prompts.to_pylist(), b.prompts.to_pylist())
    ours, theirs = ([fold(prompt, WHOLE) for prompt in column] for column in columns)
    same = np.array([one == other != "" for one, other in zip(ours, theirs, strict=True)])
    different = {prompt for prompt, equal in zip(ours, same.tolist(), strict=True) if equal}
    return bool(same.mean() >= NEARLY_ALL) and len(different) > 1
