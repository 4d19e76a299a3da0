"""Scores of the same systems by several embedders, and whether these order the systems alike.

A column is one view of one embedder. Which of two scores is better, and when they are a tie, is
decided in :mod:`calipers.uncertainty.ties`; a tie contradicts no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.catalogue.shown import UNRANKED
from calipers.results.by_name import ByName
from calipers.results.result import Result, with_warnings
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.serialise import Plain
from calipers.uncertainty.ties import Winner, merit, winner

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class ViewColumn(Plain):
    """One view of one embedder, by which every system has a score."""

    _written = ("embedder", "view", "label")

    embedder: str
    view: str

    @property
    def label(self) -> str:
        """The name of the column in tables."""
        return f"{self.embedder} {self.view}"


@dataclass(frozen=True)
class PairOrder(Plain):
    """The order of two systems by one metric, in every column.

    Attributes
    ----------
    a, b
        Names of the systems, in the order given.
    columns
        Those that were asked, in their order.
    winners
        For each column ``"a"``, ``"b"``, ``"tie"`` or ``"unknown"`` where a score has no value.
    """

    _written = ("a", "b", "winners", "split", "agreed", "sentence")

    a: str
    b: str
    columns: tuple[ViewColumn, ...]
    winners: tuple[Winner, ...]

    @property
    def split(self) -> bool:
        """Whether the columns disagree on which of the two systems is better."""
        return {"a", "b"} <= set(self.winners)

    @property
    def agreed(self) -> str | None:
        """Name of the system that every column puts first; None where the columns differ."""
        names, winners = {"a": self.a, "b": self.b}, set(self.winners)
        return names.get(winners.pop()) if len(winners) == 1 else None

    @property
    def sentence(self) -> str:
        """The order of the pair, in one sentence."""
        decided = self._count("a") + self._count("b") > 0
        ties = [f"a tie by {self._by('tie')}"] if decided and self._count("tie") else []
        known = self._count("unknown") < len(self.winners)
        rest = [f"no value by {self._by('unknown')}"] if known and self._count("unknown") else []
        return "; ".join([self._order, *ties, *rest])

    @property
    def compared(self) -> bool:
        """Whether at least two columns have a value for both systems."""
        return len(self.winners) - self._count("unknown") > 1

    @property
    def _order(self) -> str:
        """Who is above whom, or that nobody is."""
        first, second = self._sides
        top, low = (self.a, self.b) if first == "a" else (self.b, self.a)
        if self.split:
            return f"{top} above {low} by {self._by(first)}; the reverse by {self._by(second)}"
        if self._count(first):
            verb = "puts" if self._count(first) == 1 else "put"
            return f"{self._who(first)} {verb} {top} above {low}"
        if self._count("tie"):
            verb = "sees" if self._count("tie") == 1 else "see"
            return f"{self._who('tie')} {verb} a tie of {self.a} and {self.b}"
        return f"no column has a value for {self.a} and {self.b}"

    @property
    def _sides(self) -> tuple[Winner, Winner]:
        """The side that more columns put first, and the other; the first column breaks a draw."""
        decided = [side for side in self.winners if side in ("a", "b")]
        more = self._count("a") - self._count("b") or (decided[:1] != ["b"]) - 0.5
        return ("a", "b") if more > 0 else ("b", "a")

    def _who(self, outcome: Winner) -> str:
        count, total = self._count(outcome), len(self.winners)
        return every(total) if count == total else f"{count} of {total} columns"

    def _count(self, outcome: Winner) -> int:
        return self.winners.count(outcome)

    def _by(self, outcome: Winner) -> str:
        outcomes = zip(self.columns, self.winners, strict=True)
        return spoken([column for column, of_column in outcomes if of_column == outcome])


@dataclass(frozen=True, eq=False)
class MetricAgreement(Plain):
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

    _key = "metric"

    metric: str
    columns: tuple[ViewColumn, ...]
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
        """Whether the metric says which of two scores is better."""
        return self.metric.partition(":")[0] not in UNRANKED

    @property
    def direction(self) -> str:
        """Which values are better, ``"higher"``, ``"lower"`` or ``"closest"``; empty if none."""
        return self.scores[0][0].better if self.ranked else ""

    @property
    def pairs(self) -> tuple[PairOrder, ...]:
        """The order of every two systems; empty where the metric has no better end."""
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
        """The pairs of systems whose order differs between columns."""
        return tuple(pair for pair in self.pairs if pair.split)

    @property
    def lowest(self) -> tuple[ViewColumn, ViewColumn] | None:
        """The two columns that agree least by Spearman; None where no correlation is defined."""
        pairs = [pair for pair in combinations(range(len(self.columns)), 2) if self._known(pair)]
        if not pairs:
            return None
        i, j = min(pairs, key=lambda pair: float(self.spearman[pair]))
        return self.columns[i], self.columns[j]

    @property
    def sentence(self) -> str:
        """Whether the columns agree, in one sentence."""
        pairs, split = self.pairs, self.split
        if not pairs:
            return "neither direction is better, so it gives no ranking"
        if len(pairs) == 1:
            return ("columns disagree: " if split else "") + pairs[0].sentence
        if not any(pair.compared for pair in pairs):
            return "no two columns have a value for the same pair of systems"
        if split:
            return f"columns disagree on {len(split)} of {len(pairs)} pairs of systems"
        order = self._common_order()
        rest = f"; all rank {' above '.join(order)}" if order else ""
        return f"no two columns disagree on any of {len(pairs)} pairs of systems{rest}"

    def _outline(self) -> Mapping[str, Any]:
        lowest = self.lowest
        return {
            "scores": [dict(zip(self.systems, column, strict=True)) for column in self.scores],
            "spearman": self.spearman,
            "kendall": self.kendall,
            "chance": self.chance,
            "reasons": self.reasons,
            "lowest": None if lowest is None else [column.label for column in lowest],
            "split": len(self.split),
            "sentence": self.sentence,
            "pairs": self.pairs,
        }

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


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(ByName[MetricAgreement], Result):
    """Scores of the same systems by several embedders: print it, or look metrics up.

    Attributes
    ----------
    reference, systems
        The sets that were compared.
    columns
        The views of the embedders.
    metrics
        By the key of the metric, without a view.
    settings
        The settings of the run, as plain data; ``embedders`` describes each of them.
    tie
        Scores this close to each other are a tie.
    rarely_reached
        The correlation that unrelated columns reach 1 time in 20 or less; NaN with under 4 systems.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "agreement"
    _needed = ("embedders",)

    reference: SetSummary
    systems: tuple[SetSummary, ...]
    columns: tuple[ViewColumn, ...]
    metrics: Mapping[str, MetricAgreement]
    settings: Mapping[str, Any]
    tie: float
    rarely_reached: float
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def sets(self) -> tuple[SetSummary, ...]:
        """The reference, followed by the systems."""
        return (self.reference, *self.systems)

    @property
    def split(self) -> tuple[str, ...]:
        """Metrics by which the columns disagree on the order of at least one pair of systems."""
        return tuple(key for key, metric in self.metrics.items() if metric.split)

    @property
    def verdict(self) -> str:
        """Whether the verdict depends on the embedder, in one sentence."""
        if not any(metric.pairs for metric in self):
            return "no metric has a better direction, so there is no verdict"
        if not any(pair.compared for metric in self for pair in metric.pairs):
            return (
                "whether the ranking depends on the embedder is unknown: no two columns have a "
                "value for the same pair of systems"
            )
        if not self.split:
            return (
                "the ranking does not depend on the embedder: for no metric do two columns "
                "rank a pair of systems in opposite order"
            )
        return (
            "the ranking depends on the embedder: columns rank systems in opposite order for "
            f"{len(self.split)} of {len(self.metrics)} metrics"
        )

    _noun = "metric"

    @property
    def _parts(self) -> Mapping[str, MetricAgreement]:
        return self.metrics

    def _rows(self) -> Iterator[Row]:
        """A row for each metric, view of an embedder and system."""
        from calipers.results.rows import of_score

        for metric in self:
            for column, scores in zip(self.columns, metric.scores, strict=True):
                for system, score in zip(self.systems, scores, strict=True):
                    yield {
                        "system": system.name,
                        "embedder": column.embedder,
                        "view": column.view,
                        "metric": metric.metric,
                        **of_score(score),
                        "n": system.n,
                        "reason": score.reason,
                        "signature": score.signature,
                    }

    def _wide(self) -> Wide:
        return ("system", "embedder", "view"), "metric", "value"

    def __repr__(self) -> str:
        names = ", ".join(repr(column.label) for column in self.columns)
        return f"<Agreement of {names} on {len(self.systems)} systems>"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "limits": {"tie": self.tie, "rarely_reached": self.rarely_reached},
            "reference": with_warnings(self.reference),
            "systems": [with_warnings(system) for system in self.systems],
            "columns": self.columns,
            "metrics": self.metrics,
            "verdict": self.verdict,
            "split": self.split,
            "warnings": self.warnings,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Columns, systems and the tie stand in every metric too."""
        limits, names = data["limits"], [system["name"] for system in data["systems"]]
        shared = {"columns": data["columns"], "systems": names, "tie": limits["tie"]}
        metrics = {
            key: {
                **metric,
                **shared,
                "scores": [[column[name] for name in names] for column in metric["scores"]],
            }
            for key, metric in data["metrics"].items()
        }
        return {**super()._restored(data), **limits, "metrics": metrics}

    def _check(self) -> None:
        super()._check()
        if not self.tie >= 0:
            raise ValueError(f"tie is {self.tie}, not a number of at least 0")
        columns = len(self.columns)
        for metric in self:
            for name in ("spearman", "kendall", "chance"):
                if getattr(metric, name).shape != (columns, columns):
                    raise ValueError(f"{name} of {metric.metric!r} is not of {columns} columns")
            if (
                len(metric.scores) != columns
                or [len(row) for row in metric.reasons] != [columns] * columns
            ):
                raise ValueError(f"the scores of {metric.metric!r} are not of {columns} columns")


def every(columns: int) -> str:
    """Name all columns in a phrase: "both columns", "all 3 columns"."""
    return "both columns" if columns == 2 else f"all {columns} columns"


def spoken(columns: Sequence[ViewColumn]) -> str:
    """Name columns in a sentence, grouping the views of one embedder.

    Examples
    --------
    >>> pairs = [("minilm", "meaning"), ("minilm", "form"), ("tfidf", "wording")]
    >>> spoken([ViewColumn(*pair) for pair in pairs])
    'minilm meaning and form, tfidf wording'
    """
    runs = groupby(columns, key=lambda column: column.embedder)
    return ", ".join(f"{name} {' and '.join(column.view for column in run)}" for name, run in runs)
