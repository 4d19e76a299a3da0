"""Rankings of systems by metrics, and their agreement with people, judges and one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.commands.rank.judged import BesidePeople, RaterCeiling, Raters, Ratings
from calipers.results.by_name import ByKey, ByName
from calipers.results.result import Drawn
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

Interval = tuple[float, float]

LEAST = 2
ROUNDING = 1e-12


@dataclass(frozen=True)
class Player(Plain):
    """One system in the judgements.

    Attributes
    ----------
    name
        Of the system.
    score
        Its Bradley-Terry score; the mean over all systems is 0.
    standard_error, interval
        Of the score.
    won, lost, tied
        Judgements as they were given.
    """

    name: str
    score: float
    standard_error: float
    interval: Interval
    won: float
    lost: float
    tied: float


@dataclass(frozen=True, eq=False)
class Fit(ByKey[Player], Plain):
    """A Bradley-Terry model fitted to judgements (Pillutla et al., JMLR 2023, appendix E.1).

    Where one of two systems is preferred, it is the first with probability
    1/(1 + exp(-difference/scale)).

    Attributes
    ----------
    players
        The systems, the most preferred first.
    ties
        What became of ties: ``"davidson"``, ``"half"``, ``"random"`` or ``"drop"``.
    tie_share
        Share of ties among all judgements.
    tie_parameter
        Davidson's ν: two equal systems tie with probability ν/(2 + ν). NaN with other treatments.
    scale
        Unit of the scores.
    level
        Of the intervals.
    covariance
        Of the scores, in the order of the players.
    """

    _written = (
        *("ties", "tie_share", "tie_parameter", "scale", "level"),
        *("players", "covariance"),
    )

    players: tuple[Player, ...]
    ties: str
    tie_share: float
    tie_parameter: float
    scale: float
    level: float
    covariance: NDArray[np.float64]

    def _check(self) -> None:
        numbers = {name: getattr(self, name) for name in ("tie_share", "scale", "level")}
        if self.ties == "davidson":
            numbers["tie_parameter"] = self.tie_parameter
        for player in self.players:
            of = f"of {player.name!r:.100}"
            numbers |= {f"{name} {of}": getattr(player, name) for name in ("won", "lost", "tied")}
            numbers[f"score {of}"] = player.score
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise ValueError(f"{name} is null, not a number")
        if self.ties not in ("davidson", "half", "random", "drop"):
            raise ValueError(f"ties is {self.ties!r:.100}, not a treatment of ties")
        if not 0 < self.level < 1:
            raise ValueError(f"level is {self.level}, not a number between 0 and 1")

    _noun = "system"

    @property
    def _parts(self) -> Mapping[str, Player]:
        return {player.name: player for player in self.players}


@dataclass(frozen=True)
class Beside(Plain):
    """One metric's order of the systems, beside a truth.

    Attributes
    ----------
    metric
        Its key.
    n
        Systems that have a value on both sides.
    spearman, spearman_interval
        The rank correlation in [-1, 1]; NaN where undefined. The interval takes the systems for a
        draw from many and includes the known errors of both sides; None where none can be given.
    worst
        ρ_min, the least rank correlation when every value may move by one standard deviation up or
        down (Pillutla et al., equation 30).
    exact, bound
        Whether `worst` is proven; else it was searched for, and the truth lies between `bound` and
        it.
    pearson, pearson_interval
        The correlation of the values themselves.
    reason
        Why a correlation is undefined; None where both are not.
    spearman_fixed, pearson_fixed
        Intervals with the systems fixed: where the correlation of these very systems lies, were
        the truth and the metric free of errors. None where those of the truth are not known.
    """

    metric: str
    n: int
    spearman: float
    spearman_interval: Interval | None
    worst: float
    exact: bool
    bound: float
    pearson: float
    pearson_interval: Interval | None
    reason: str | None = None
    spearman_fixed: Interval | None = None
    pearson_fixed: Interval | None = None

    _key = "metric"
    _optional = ("reason", "spearman_fixed", "pearson_fixed")


@dataclass(frozen=True)
class Disagreement(Plain):
    """A system whose ranks by a truth and by most metrics differ by more than their noise.

    Attributes
    ----------
    system
        Its name.
    place, n
        Its place by the truth, 1 the best, and of how many systems.
    places
        Its places by the metrics that disagree with the truth about it.
    compared
        Metrics that value it.
    """

    system: str
    place: float
    n: int
    places: Mapping[str, float]
    compared: int


@dataclass(frozen=True, eq=False)
class Truth(ByName[Beside], Plain):
    """A truth by people or judges about the systems, with every metric beside it.

    Attributes
    ----------
    name
        The column that it came from.
    source
        The file.
    made_of
        ``"judgements"`` of pairs, ``"ratings"`` or finished ``"scores"``.
    scores
        By the name of the system, higher better.
    metrics
        By the key of the metric.
    fit
        Where it was made of judgements of pairs.
    deviations
        Standard errors of finished scores, by the name of the system, where they were given.
    ratings
        Where it was made of ratings of single texts or batches.
    raters
        Who answered, where it was made of judgements or ratings.
    ceiling
        How far they agree among themselves.
    people
        Where a model answered, how it agrees with people who were asked the same.
    disagreements
        Systems that it and most metrics place far from each other.
    """

    _key = "name"
    _written = (
        *("source", "made_of", "scores", "deviations", "fit", "ratings", "raters", "ceiling"),
        *("people", "metrics", "best", "disagreements"),
    )
    _optional = (
        *("fit", "deviations", "ratings", "raters", "ceiling", "people"),
        "disagreements",
    )

    name: str
    source: str
    made_of: Literal["judgements", "ratings", "scores"]
    scores: Mapping[str, float]
    metrics: Mapping[str, Beside]
    fit: Fit | None = None
    deviations: Mapping[str, float] = field(default_factory=dict)
    ratings: Ratings | None = None
    raters: Raters | None = None
    ceiling: RaterCeiling | None = None
    people: BesidePeople | None = None
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def best(self) -> str | None:
        """The metric with the highest ρ_min; None for a tie, a single metric, or an unsure order.

        It is not where its value was searched for, and its bound lies no higher than another's.
        """
        known = [beside for beside in self if math.isfinite(beside.worst)]
        if len(known) < LEAST:
            return None
        second, first = sorted(known, key=lambda beside: beside.worst)[-LEAST:]
        return first.metric if first.bound > second.worst + ROUNDING else None

    _noun = "metric"

    @property
    def _parts(self) -> Mapping[str, Beside]:
        return self.metrics


@dataclass(frozen=True)
class RankedMetric(Plain):
    """One metric over the systems.

    Attributes
    ----------
    key
        Its name.
    better
        ``"higher"``, ``"lower"``, or ``"closest"`` to what the reference itself scores.
    means, deviations
        By the name of the system, as they were given.
    reference
        What the reference itself scores, beside the value of each system; empty without one.
    """

    key: str
    better: str
    means: Mapping[str, float]
    deviations: Mapping[str, float]
    reference: Mapping[str, float]

    _key = "key"


@dataclass(frozen=True, eq=False)
class Matrix(Plain):
    """Correlations of columns over the systems, of values as measured.

    Attributes
    ----------
    kind
        ``"spearman"`` or ``"pearson"``.
    names
        The metrics, then the truths.
    truths
        How many of the names, at the end, are truths.
    values
        Shape ``(c, c)``, in [-1, 1]; NaN where undefined.
    systems
        How many systems stand behind each, shape ``(c, c)``.
    reasons
        Why a value is undefined, row by row; None where it is defined.
    """

    kind: str
    names: tuple[str, ...]
    truths: int
    values: NDArray[np.float64]
    systems: NDArray[np.int64]
    reasons: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(ByName[Truth], Drawn):
    """Metrics compared with judgements and with one another: print it, draw it, look values up.

    Attributes
    ----------
    systems
        The systems that are ranked, without the reference.
    metrics
        The metrics by key.
    truths
        The truths by name; empty where none was given.
    matrix
        Correlations of metrics and truths.
    settings
        The settings of the run, as plain data.
    chance
        By the number of systems, the rank correlation that unrelated orders reach 1 time in 20 or
        less; NaN where even the same order comes more often.
    notes
        Data that were left out, and assumptions.
    warnings
        Reasons to doubt the numbers.
    version
        Version of Calipers that made it.
    """

    kind = "ranking"
    _needed = ("level",)

    systems: tuple[str, ...]
    metrics: Mapping[str, RankedMetric]
    truths: Mapping[str, Truth]
    matrix: Matrix
    settings: Mapping[str, Any]
    chance: Mapping[int, float]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    version: str = __version__

    _noun = "truth"

    @property
    def _parts(self) -> Mapping[str, Truth]:
        return self.truths

    def _rows(self) -> Iterator[Row]:
        """A row for each truth and metric; without a truth, for each two metrics."""
        with_ceiling = any(truth.ceiling is not None for truth in self)
        for truth in self:
            for metric in truth:
                low, high = metric.spearman_interval or (None, None)
                ceiling = {} if not with_ceiling else _ceiling_row(truth.ceiling)
                yield {
                    "truth": truth.name,
                    "metric": metric.metric,
                    "n": metric.n,
                    "spearman": metric.spearman,
                    "low": low,
                    "high": high,
                    "worst": metric.worst,
                    "pearson": metric.pearson,
                    "reason": metric.reason,
                    **ceiling,
                }
        if not self.truths:
            matrix = self.matrix
            for (i, row), (j, column) in product(enumerate(matrix.names), repeat=2):
                yield {
                    "truth": row,
                    "metric": column,
                    "n": int(matrix.systems[i, j]),
                    matrix.kind: float(matrix.values[i, j]),
                    "reason": matrix.reasons[i][j],
                }

    def _wide(self) -> Wide:
        value = "spearman" if self.truths else self.matrix.kind
        return ("truth",), "metric", value

    def __repr__(self) -> str:
        beside = ", ".join(repr(name) for name in self.truths) or "one another"
        return f"<Ranking of {len(self.systems)} systems by {len(self.metrics)} metrics: {beside}>"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "systems": self.systems,
            "metrics": self.metrics,
            "truths": self.truths,
            "matrix": self.matrix,
            "limits": {"rarely_reached": self.chance},
            "notes": self.notes,
            "warnings": self.warnings,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**super()._restored(data), "chance": data["limits"]["rarely_reached"]}

    def _check(self) -> None:
        super()._check()
        size = len(self.matrix.names)
        for name in ("values", "systems"):
            if getattr(self.matrix, name).shape != (size, size):
                raise ValueError(f"the {name} of the matrix are not of {size} columns")
        if [len(row) for row in self.matrix.reasons] != [size] * size:
            raise ValueError(f"the reasons of the matrix are not of {size} columns")
        for truth in self:
            if set(truth.metrics) != set(self.metrics) or not truth.metrics:
                listed = ", ".join(truth.metrics) or "none"
                raise ValueError(
                    f"{truth.name!r} has the metrics {listed:.100}, not those of the ranking"
                )
            players = 0 if truth.fit is None else len(truth.fit.players)
            if truth.fit is not None and truth.fit.covariance.shape != (players, players):
                raise ValueError(f"the covariance of {truth.name!r} is not of {players} systems")


def _ceiling_row(ceiling: RaterCeiling | None) -> Row:
    """Write what raters reach with each other, for the rows of their truth."""
    low, high = (ceiling and ceiling.spearman_interval) or (None, None)
    value = None if ceiling is None else ceiling.spearman
    return {"ceiling": value, "ceiling_low": low, "ceiling_high": high}
