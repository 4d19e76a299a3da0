"""One truth about the systems, and how each metric ranks beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import unknown_name
from calipers.results.plain import plain

Interval = tuple[float, float]

LEAST = 2
ROUNDING = 1e-12


@dataclass(frozen=True)
class Player:
    """How one system fares in the judgements.

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
class Fit:
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

    players: tuple[Player, ...]
    ties: str
    tie_share: float
    tie_parameter: float
    scale: float
    level: float
    covariance: NDArray[np.float64]

    def __getitem__(self, name: str) -> Player:
        for player in self.players:
            if player.name == name:
                return player
        raise unknown_name("system", name, [player.name for player in self.players])

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as plain data."""
        players = [
            {key: plain(value) for key, value in asdict(player).items()} for player in self.players
        ]
        return {
            "ties": self.ties,
            "tie_share": self.tie_share,
            "tie_parameter": plain(self.tie_parameter),
            "scale": self.scale,
            "level": self.level,
            "players": players,
            "covariance": self.covariance.tolist(),
        }


@dataclass(frozen=True)
class Beside:
    """How one metric orders the systems, beside a truth.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations as plain data."""
        return {key: plain(value) for key, value in vars(self).items() if key != "metric"}


@dataclass(frozen=True, eq=False)
class Truth:
    """What people or judges make of the systems, and every metric beside it.

    Attributes
    ----------
    name
        The column that it came from.
    source
        The file.
    made_of
        ``"judgements"`` or ``"scores"``.
    scores
        By the name of the system, higher better.
    metrics
        By the key of the metric.
    fit
        Where it was made of judgements.
    deviations
        Standard errors of finished scores, by the name of the system, where they were given.
    """

    name: str
    source: str
    made_of: Literal["judgements", "scores"]
    scores: Mapping[str, float]
    metrics: Mapping[str, Beside]
    fit: Fit | None = None
    deviations: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str | None:
        """The metric of the highest ρ_min; None for a tie, for one metric, or where it is not sure.

        It is not where its value was searched for, and its bound lies no higher than another's.
        """
        known = [each for each in self.metrics.values() if math.isfinite(each.worst)]
        if len(known) < LEAST:
            return None
        second, first = sorted(known, key=lambda each: each.worst)[-LEAST:]
        return first.metric if first.bound > second.worst + ROUNDING else None

    def __getitem__(self, metric: str) -> Beside:
        if metric not in self.metrics:
            raise unknown_name("metric", metric, self.metrics)
        return self.metrics[metric]

    def __iter__(self) -> Iterator[Beside]:
        return iter(self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the truth as plain data."""
        return {
            "source": self.source,
            "made_of": self.made_of,
            "scores": {name: plain(score) for name, score in self.scores.items()},
            "deviations": dict(self.deviations),
            "fit": None if self.fit is None else self.fit.to_dict(),
            "metrics": {key: each.to_dict() for key, each in self.metrics.items()},
            "best": self.best,
        }
