"""What a view of an embedder sees of a change, in a word, by a rule over its scores.

Texts and changed texts are scored against other texts of the same kind, over several random halves.
A view *sees* a change if some metric moves by at least `CLEAR` and by more than the noise; it
*hardly* sees it if some metric moves beyond the noise, and none that far; else it is *blind* to it.
The noise is twice the standard deviation of what unchanged texts score over the halves, and no less
than what the draw of the texts moves (:func:`~calipers.results.agreement_words.tie_width`).
Where a change alters fewer than `ENOUGH` of the texts, nothing is said of the view.

Scores of neighbours and cells alone would call a view blind to much that it sees: a classifier
tells held-out texts apart where a small shift along one direction moves hardly a neighbour. So one
is among the usual metrics (:data:`calipers.evaluate.probe.METRICS`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

CLEAR = 0.1
ENOUGH = 0.5

Word = Literal["sees", "hardly", "blind", "few changed", "no change"]


@dataclass(frozen=True)
class Move:
    """How a metric moves when texts are changed.

    Attributes
    ----------
    metric
        Its key, without a view.
    better
        Whether ``"higher"`` or ``"lower"`` values are closer to the other texts.
    ceiling
        What unchanged texts score, one value for each random halving.
    values
        What the changed texts score, halving by halving.
    least_noise
        What the draw of the texts moves a score by.
    """

    metric: str
    better: str
    ceiling: tuple[float, ...]
    values: tuple[float, ...]
    least_noise: float

    @property
    def value(self) -> float:
        """What changed texts score, the mean over the halvings."""
        return _mean(self.values)

    @property
    def unchanged(self) -> float:
        """What unchanged texts score, the mean over the halvings."""
        return _mean(self.ceiling)

    @property
    def gap(self) -> float:
        """The mean score of changed texts less that of unchanged ones."""
        return _mean([v - c for v, c in zip(self.values, self.ceiling, strict=True)])

    @property
    def noise(self) -> float:
        """How far chance alone moves the score from one halving to another."""
        finite = [value for value in self.ceiling if math.isfinite(value)]
        spread = float(np.std(finite, ddof=1)) if len(finite) > 1 else 0.0
        return max(self.least_noise, 2 * spread)

    @property
    def beyond(self) -> bool:
        """Whether it moves beyond the noise."""
        return abs(self.gap) > self.noise + 1e-12

    @property
    def clear(self) -> bool:
        """Whether it moves far beyond the noise."""
        return self.beyond and abs(self.gap) >= CLEAR - 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "value": _plain(self.value),
            "unchanged": _plain(self.unchanged),
            "gap": _plain(self.gap),
            "noise": self.noise,
            "better": self.better,
            "values": [_plain(value) for value in self.values],
            "unchanged_values": [_plain(value) for value in self.ceiling],
        }


def verdict(moves: Sequence[Move], altered: float) -> Word:
    """Say in a word whether a view sees a change; `altered` is the share of texts it altered."""
    if altered == 0:
        return "no change"
    if altered < ENOUGH:
        return "few changed"
    if any(move.clear for move in moves):
        return "sees"
    return "hardly" if any(move.beyond for move in moves) else "blind"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
