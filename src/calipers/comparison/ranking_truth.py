"""One truth about the systems, and how each metric ranks beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from calipers.comparison.plain import plain
from calipers.errors import unknown_name

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
        Judgements, before ties were split.
    """

    name: str
    score: float
    standard_error: float
    interval: Interval
    won: float
    lost: float
    tied: float


@dataclass(frozen=True)
class Fit:
    """A Bradley-Terry model fitted to judgements (Pillutla et al., JMLR 2023, appendix E.1).

    Attributes
    ----------
    players
        The systems, the most preferred first.
    ties
        What became of ties: ``"half"``, ``"random"`` or ``"drop"``.
    scale
        A system wins with probability 1/(1 + exp(-difference/scale)).
    level
        Of the intervals.
    """

    players: tuple[Player, ...]
    ties: str
    scale: float
    level: float

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
        return {"ties": self.ties, "scale": self.scale, "level": self.level, "players": players}


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
        The rank correlation in [-1, 1]; NaN where undefined. The interval is None where none can
        be given.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations as plain data."""
        named = {key: plain(value) for key, value in asdict(self).items() if key != "metric"}
        return (
            named
            | {"spearman_interval": plain(self.spearman_interval)}
            | {"pearson_interval": plain(self.pearson_interval)}
        )


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
    """

    name: str
    source: str
    made_of: Literal["judgements", "scores"]
    scores: Mapping[str, float]
    metrics: Mapping[str, Beside]
    fit: Fit | None = None

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
            "fit": None if self.fit is None else self.fit.to_dict(),
            "metrics": {key: each.to_dict() for key, each in self.metrics.items()},
            "best": self.best,
        }
