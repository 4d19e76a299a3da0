"""One metric under several embedders: how alike they order the systems, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.shown import UNRANKED
from calipers.results.agreement_words import Column, PairOrder, merit, winner
from calipers.results.plain import score_data, values
from calipers.score import Score

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MetricAgreement:
    """One metric under every embedder.

    Attributes
    ----------
    metric
        Its key, without a view.
    columns
        The views of the embedders, in the order of the embedders.
    systems
        Names of the systems, in the order given.
    scores
        ``scores[column][system]``.
    spearman, kendall
        Rank correlations (Spearman's, Kendall's tau-b) of every two columns over the systems, shape
        ``(columns, columns)``, in [-1, 1]; NaN where `reasons` tells why.
    chance
        How often unrelated columns reach that Spearman correlation, in [0, 1].
    reasons
        Why a correlation is undefined; None where it is not.
    tie
        Scores that differ by no more than this are a tie.
    """

    metric: str
    columns: tuple[Column, ...]
    systems: tuple[str, ...]
    scores: tuple[tuple[Score, ...], ...] = field(repr=False)
    spearman: Matrix
    kendall: Matrix
    chance: Matrix = field(repr=False)
    reasons: tuple[tuple[str | None, ...], ...] = field(repr=False)
    tie: float

    @property
    def values(self) -> Matrix:
        """The scores as numbers, shape ``(columns, systems)``."""
        return np.array([[score.value for score in column] for column in self.scores])

    @property
    def ranked(self) -> bool:
        """Whether the better of two scores can be told."""
        return self.metric.partition(":")[0] not in UNRANKED

    @property
    def pairs(self) -> tuple[PairOrder, ...]:
        """What the columns say of every two systems; empty where the metric has no better end."""
        if not self.ranked:
            return ()
        return tuple(
            PairOrder(
                self.systems[i],
                self.systems[j],
                self.columns,
                tuple(winner(column[i], column[j], self.tie) for column in self.scores),
            )
            for i, j in combinations(range(len(self.systems)), 2)
        )

    @property
    def split(self) -> tuple[PairOrder, ...]:
        """The pairs of systems that columns put the one and the other way round."""
        return tuple(pair for pair in self.pairs if pair.split)

    @property
    def lowest(self) -> tuple[Column, Column] | None:
        """The two columns that agree least by Spearman; None where no correlation is defined."""
        pairs = [pair for pair in combinations(range(len(self.columns)), 2) if self._known(pair)]
        if not pairs:
            return None
        i, j = min(pairs, key=lambda pair: float(self.spearman[pair]))
        return self.columns[i], self.columns[j]

    @property
    def sentence(self) -> str:
        """Whether the columns agree, in words."""
        pairs, split = self.pairs, self.split
        if not pairs:
            return "has no better end, so no system is above another"
        if len(pairs) == 1:
            return ("columns disagree: " if split else "") + pairs[0].sentence
        if split:
            return f"columns disagree about {len(split)} of {len(pairs)} pairs of systems"
        order = self._common_order()
        rest = f"; all put {' above '.join(order)}" if order else ""
        return f"no two columns disagree about any of {len(pairs)} pairs of systems{rest}"

    def to_dict(self) -> dict[str, Any]:
        """Return scores, correlations and what they say as plain data."""
        lowest = self.lowest
        return {
            "scores": [
                {name: score_data(score, False) for name, score in self._by_system(column)}
                for column in self.scores
            ],
            "spearman": _rows(self.spearman),
            "kendall": _rows(self.kendall),
            "chance": _rows(self.chance),
            "reasons": [list(row) for row in self.reasons],
            "lowest": None if lowest is None else [column.label for column in lowest],
            "split": len(self.split),
            "sentence": self.sentence,
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def _by_system(self, column: tuple[Score, ...]) -> Iterator[tuple[str, Score]]:
        return zip(self.systems, column, strict=True)

    def _known(self, pair: tuple[int, int]) -> bool:
        return bool(np.isfinite(self.spearman[pair]))

    def _common_order(self) -> list[str] | None:
        """Systems from best to worst, where every column puts each clearly above the next."""
        first = [merit(score) for score in self.scores[0]]
        order = sorted(range(len(first)), key=lambda row: -first[row])
        strict = all(
            winner(column[i], column[j], self.tie) == "a"
            for column in self.scores
            for i, j in pairwise(order)
        )
        return [self.systems[row] for row in order] if strict else None


def _rows(matrix: Matrix) -> list[list[float | None]]:
    return [values(row) for row in matrix]
