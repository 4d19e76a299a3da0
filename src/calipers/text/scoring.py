"""What a statistic of texts is measured on, and how its score is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.score import Better, Score, signature
from calipers.text.corpus import Corpus

UNIT = (0.0, 1.0)
FROM_ZERO = (0.0, np.inf)

Chosen = Mapping[str, Any]
"""The options of a text metric, by name."""


@dataclass(frozen=True, eq=False)
class TextPair:
    """What a metric of texts is measured on.

    Attributes
    ----------
    texts
        The set that is measured.
    against
        What it is held against: the reference or the training set; None for statistics of one set.
    seed, threads
        As of the run.
    """

    texts: Corpus
    against: Corpus | None = None
    seed: int = 0
    threads: int | None = None

    @property
    def references(self) -> Corpus:
        """What it is held against, which the run has made sure of."""
        assert self.against is not None
        return self.against

    @property
    def sizes(self) -> dict[str, int]:
        """The number of texts, by its name in signatures."""
        return {"n": len(self.texts)}


def text_score(
    metric: str,
    value: float,
    corpus: Corpus,
    *,
    range: tuple[float, float] = UNIT,
    better: Better = "closest",
    reason: str | None = None,
    per_sample: NDArray[Any] | None = None,
    details: tuple[Mapping[str, Any], ...] = (),
    **pins: object,
) -> Score:
    """Make the score of a statistic of one corpus; `pins` are the choices behind it."""
    own = {"tokenizer": corpus.tokenizer, "n": len(corpus), "calipers": __version__}
    return Score(
        value=float(value),
        range=range,
        better=better,
        signature=signature({"metric": metric, **pins, **own}),
        reason=reason,
        per_sample=per_sample,
        details=details,
    )


def mean_score(
    metric: str, values: NDArray[np.float64], corpus: Corpus, *, reason: str, **rest: Any
) -> Score:
    """Average over the texts that have a value; how many have none stands in the signature.

    Parameters
    ----------
    metric
        Its name.
    values
        One for each text, NaN where a text has none, shape (n,).
    corpus
        What was measured.
    reason
        Why the whole is NaN, where no text has a value.
    rest
        As for :func:`text_score`.
    """
    value, why, pins = over_defined(values, reason)
    return text_score(metric, value, corpus, reason=why, per_sample=values, **rest, **pins)


def over_defined(
    values: NDArray[np.float64], reason: str
) -> tuple[float, str | None, dict[str, Any]]:
    """The mean over what has a value, why there is none, and the pin of how many have none."""
    defined = ~np.isnan(values)
    missing = int(np.count_nonzero(~defined))
    pins: dict[str, Any] = {"undefined": missing} if missing else {}
    if missing == len(values):
        return np.nan, reason, pins
    return float(np.mean(values[defined])), None, pins
