"""How metrics rank systems, and how far that agrees with people, judges and one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.plain import plain, values
from calipers.results.ranking_truth import Beside, Fit, Player, Truth

if TYPE_CHECKING:
    from calipers.report.plots import Figure

__all__ = ["Beside", "Fit", "Matrix", "Player", "RankedMetric", "Ranking", "Truth"]


@dataclass(frozen=True)
class RankedMetric:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the metric as plain data."""
        return {
            "better": self.better,
            "means": dict(self.means),
            "deviations": dict(self.deviations),
            "reference": dict(self.reference),
        }


@dataclass(frozen=True, eq=False)
class Matrix:
    """How columns correlate with one another over the systems, values as measured.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain data."""
        return {
            "kind": self.kind,
            "names": list(self.names),
            "truths": self.truths,
            "values": [values(row) for row in self.values],
            "systems": self.systems.tolist(),
            "reasons": [list(row) for row in self.reasons],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Metrics beside judgements and beside one another: print it, draw it, look values up.

    Attributes
    ----------
    systems
        The systems that are ranked, without the reference.
    metrics
        By their key.
    truths
        By their name; empty where none was given.
    matrix
        How metrics and truths correlate.
    settings
        The choices of the run, as plain data.
    chance
        By the number of systems, the rank correlation that unrelated orders reach 1 time in 20 or
        less; NaN where even the same order comes more often.
    notes
        What was left out or taken for granted.
    warnings
        What makes the numbers doubtful.
    version
        Of Calipers, that made it.
    """

    systems: tuple[str, ...]
    metrics: Mapping[str, RankedMetric]
    truths: Mapping[str, Truth]
    matrix: Matrix
    settings: Mapping[str, Any]
    chance: Mapping[int, float]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    version: str = __version__

    def __getitem__(self, truth: str) -> Truth:
        if truth not in self.truths:
            raise unknown_name("truth", truth, self.truths)
        return self.truths[truth]

    def __iter__(self) -> Iterator[Truth]:
        return iter(self.truths.values())

    def __len__(self) -> int:
        return len(self.truths)

    def __repr__(self) -> str:
        beside = ", ".join(repr(name) for name in self.truths) or "one another"
        return f"<Ranking of {len(self.systems)} systems by {len(self.metrics)} metrics: {beside}>"

    def __str__(self) -> str:
        from calipers.report.documents import rank
        from calipers.report.render.text import plain

        return plain(rank.document(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON."""
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "systems": list(self.systems),
            "metrics": {key: metric.to_dict() for key, metric in self.metrics.items()},
            "truths": {name: truth.to_dict() for name, truth in self.truths.items()},
            "matrix": self.matrix.to_dict(),
            "limits": {"rarely_reached": {str(n): plain(r) for n, r in self.chance.items()}},
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the correlations as a heat map; keep it as .png, .pdf or .svg if asked."""
        from calipers.report.plots import save_figure
        from calipers.report.plots.heat_map import heat_map_plot

        figure = heat_map_plot(self.to_dict()).figure()
        if path is not None:
            save_figure(figure, path)
        return figure
