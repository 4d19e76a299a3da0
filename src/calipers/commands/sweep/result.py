"""The result of a sweep: every metric against what was varied, and where it levels off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.results.by_name import ByKey, ByName
from calipers.results.result import Drawn, of_system, system_from, with_warnings
from calipers.results.sets import SetSummary
from calipers.score import Better
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

from calipers.uncertainty.plateau import TOLERANCE, Plateau, plateau

Over = Literal["k", "n", "length", "buckets", "axes"]
"""What is varied: neighbours, samples, words of a text, cells, or leading axes."""


@dataclass(frozen=True, eq=False)
class Curve(Plain):
    """One metric of one system in one view, against what was varied.

    Attributes
    ----------
    values
        What was swept, ascending, shape ``(v,)``, int64.
    replicates
        The score at every value, one row for each seed file, random order or start of k-means,
        shape ``(r, v)``, float64.
    signature
        One line that pins every choice but the swept one.
    range, better
        As of a :class:`~calipers.Score`.
    reason
        Why some scores are NaN; None where none is.
    tolerance
        How far from its end the mean of a score within [0, 1] may lie on a plateau, at least; 5 %
        of the value at the end hold for other scores.
    """

    values: NDArray[np.int64]
    replicates: NDArray[np.float64]
    signature: str
    range: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    reason: str | None = None
    tolerance: float = TOLERANCE

    _optional = ("reason", "tolerance")

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the replicates, shape ``(v,)``."""
        return np.asarray(self.replicates.mean(axis=0))

    @cached_property
    def deviation(self) -> NDArray[np.float64] | None:
        """Standard deviation over the replicates (r - 1 in the denominator); None for one."""
        if len(self.replicates) == 1:
            return None
        with np.errstate(invalid="ignore"):
            return np.asarray(self.replicates.std(axis=0, ddof=1))

    @property
    def low(self) -> NDArray[np.float64] | None:
        """Lower edge of the band: mean minus one standard deviation; None for one replicate."""
        return None if self.deviation is None else self.mean - self.deviation

    @property
    def high(self) -> NDArray[np.float64] | None:
        """Upper edge of the band: mean plus one standard deviation; None for one replicate."""
        return None if self.deviation is None else self.mean + self.deviation

    @cached_property
    def plateau(self) -> Plateau:
        """Where the mean levels off: within the tolerance, or its standard error, of its end."""
        spread = self.deviation
        error = None if spread is None else spread / math.sqrt(len(self.replicates))
        return plateau(self.values, self.mean, error, tolerance=self.tolerance, range=self.range)

    def _outline(self) -> Mapping[str, Any]:
        return {
            "values": self.values,
            "mean": self.mean,
            "deviation": self.deviation,
            "low": self.low,
            "high": self.high,
            "replicates": self.replicates,
            "plateau": self.plateau,
            "range": tuple(map(float, self.range)),
            "better": self.better,
            "signature": self.signature,
            "reason": self.reason,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """A tolerance that is a share of the level is the same for all such scores."""
        plateau = data["plateau"]
        absolute = isinstance(plateau, Mapping) and plateau.get("relative") is None
        return {**data, "tolerance": plateau["tolerance"] if absolute else TOLERANCE}


class PlacedCurve(NamedTuple):
    """A curve with its system, view and metric."""

    system: str
    view: str
    metric: str
    curve: Curve


@dataclass(frozen=True, eq=False)
class SweptSystem(ByKey[Curve], Plain):
    """The curves of one system.

    Attributes
    ----------
    summary
        Its set; with several seed files, sizes are those of one and lengths the mean.
    curves
        By key ``[view.]metric``, the first view without its name.
    seeds
        The sources of its files, when it has several.
    warnings
        Warnings on this system.
    """

    summary: SetSummary
    curves: Mapping[str, Curve]
    seeds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.summary.name

    @property
    def _parts(self) -> Mapping[str, Curve]:
        return self.curves

    @property
    def _what(self) -> str:
        return f"curve of {self.name!r}"

    def _outline(self) -> Mapping[str, Any]:
        return of_system(self.summary, seeds=self.seeds, curves=self.curves, warnings=self.warnings)

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return system_from(data)


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(ByName[SweptSystem], Drawn):
    """Metrics as functions of what was varied: print it, draw it, look curves up.

    Attributes
    ----------
    over
        What was varied: ``"k"``, ``"n"`` for the number of samples, ``"length"`` for the words that
        texts are cut to, ``"buckets"`` for the cells of a quantisation, ``"axes"`` for the leading
        axes of likelihood ratios.
    reference
        The reference set.
    systems
        The curves of each system, in the order given.
    settings
        The settings of the run, as plain data.
    warnings
        Warnings on the sweep as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "sweep"
    _needed = ("values", "views", "metrics", "tolerance")

    over: Over
    reference: SetSummary
    systems: tuple[SweptSystem, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    _noun = "system"

    @property
    def _parts(self) -> Mapping[str, SweptSystem]:
        return {system.name: system for system in self.systems}

    def placed_curves(self) -> Iterator[PlacedCurve]:
        """Return every curve: by view, then by system, then by metric."""
        for place, view in enumerate(self.settings["views"]):
            for system in self.systems:
                for metric in self.settings["metrics"]:
                    key = metric if place == 0 else f"{view}.{metric}"
                    if key in system.curves:
                        yield PlacedCurve(system.name, view, metric, system.curves[key])

    @property
    def views(self) -> tuple[str, ...]:
        """The views that have curves."""
        return tuple(dict.fromkeys(placed.view for placed in self.placed_curves()))

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        return f"<Sweep over {self.over} of {names} with {self.reference.name!r}>"

    def _rows(self) -> Iterator[Row]:
        """A row for each system, score and value that was swept."""
        from calipers.results.rows import of_key

        views = self.settings["views"]
        for system in self.systems:
            for key, curve in system.curves.items():
                about = {"system": system.name, **of_key(key, views)}
                deviations = curve.deviation
                for place, at in enumerate(curve.values.tolist()):
                    yield {
                        **about,
                        self.over: at,
                        "value": float(curve.mean[place]),
                        "deviation": None if deviations is None else float(deviations[place]),
                        "replicates": len(curve.replicates),
                        "better": curve.better,
                        "reason": curve.reason,
                        "signature": curve.signature,
                    }

    def _wide(self) -> Wide:
        return ("system", self.over), "key", "value"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": {"over": self.over, **self.settings},
            "reference": with_warnings(self.reference),
            "systems": self.systems,
            "warnings": self.warnings,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        settings = dict(data["settings"])
        over = settings.pop("over")
        return {**super()._restored(data), "over": over, "settings": settings}

    def _check(self) -> None:
        super()._check()
        for system in self.systems:
            for key, curve in system.curves.items():
                fits = curve.values.ndim == 1 and curve.replicates.ndim == 2
                shape = curve.replicates.shape
                if not fits or not shape[0] or not shape[1] or shape[1:] != curve.values.shape:
                    raise ValueError(
                        f"the curve {key!r} of {system.name!r} has {curve.values.size} values and "
                        f"replicates of shape {shape}"
                    )
