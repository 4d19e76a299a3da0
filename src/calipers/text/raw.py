"""Texts as they are, for the statistics that need no tokens; their signatures name no tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.score import Score, signature
from calipers.text.corpus import Corpus, as_strings
from calipers.text.scoring import UNIT, over_defined
from calipers.text.tokens import Texts


def raw_texts(texts: Texts) -> Sequence[str]:
    """Return the texts of a corpus, or whatever holds strings as a list.

    Raises
    ------
    InputError
        If there is no text, or something is no string.
    """
    return texts.texts if isinstance(texts, Corpus) else as_strings(texts)


def raw_score(
    metric: str,
    value: float,
    texts: Sequence[str],
    *,
    range: tuple[float, float] = UNIT,
    reason: str | None = None,
    per_sample: NDArray[Any] | None = None,
    **pins: object,
) -> Score:
    """Make the score of a statistic of texts as they are; `pins` are the choices behind it."""
    return Score(
        value=float(value),
        range=range,
        better="closest",
        signature=signature({"metric": metric, **pins, "n": len(texts), "calipers": __version__}),
        reason=reason,
        per_sample=per_sample,
    )


def raw_mean(
    metric: str, values: NDArray[np.float64], texts: Sequence[str], *, reason: str, **rest: Any
) -> Score:
    """Average over the texts that have a value; how many have none stands in the signature."""
    value, why, pins = over_defined(values, reason)
    return raw_score(metric, value, texts, reason=why, per_sample=values, **rest, **pins)
