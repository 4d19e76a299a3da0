"""What a sweep found: every metric against k or against the number of samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.sweep_curve import Curve
from calipers.results.system import SetSummary

if TYPE_CHECKING:
    from calipers.report.plots import Figure

Over = Literal["k", "n"]


@dataclass(frozen=True, eq=False)
class SweptSystem:
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
        What is to be known of this system.
    """

    summary: SetSummary
    curves: Mapping[str, Curve]
    seeds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.summary.name

    def __getitem__(self, key: str) -> Curve:
        if key not in self.curves:
            raise unknown_name(f"curve of {self.name!r}", key, self.curves)
        return self.curves[key]

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain data."""
        curves = {key: curve.to_dict() for key, curve in self.curves.items()}
        about = self.summary.to_dict() | {"seeds": list(self.seeds)}
        return about | {"curves": curves, "warnings": [*self.summary.warnings, *self.warnings]}


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """Metrics against k or the number of samples: print it, draw it, look curves up.

    Attributes
    ----------
    over
        What was swept: ``"k"``, or ``"n"`` for the number of samples.
    reference
        The reference set.
    systems
        The curves of each system, in the order given.
    settings
        The choices of the run, as plain data.
    warnings
        What is to be known of the sweep as a whole.
    version
        Of Calipers, that made it.
    """

    over: Over
    reference: SetSummary
    systems: tuple[SweptSystem, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    def __getitem__(self, name: str) -> SweptSystem:
        for system in self.systems:
            if system.name == name:
                return system
        raise unknown_name("system", name, [system.name for system in self.systems])

    def __iter__(self) -> Iterator[SweptSystem]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        return f"<Sweep over {self.over} of {names} with {self.reference.name!r}>"

    def __str__(self) -> str:
        from calipers.report.documents import sweep
        from calipers.report.render.text import plain

        return plain(sweep.document(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, fit for strict JSON."""
        warnings = {"warnings": list(self.reference.warnings)}
        return {
            "calipers": self.version,
            "settings": {"over": self.over, **self.settings},
            "reference": self.reference.to_dict() | warnings,
            "systems": [system.to_dict() for system in self.systems],
            "warnings": list(self.warnings),
        }

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the curves, one panel for each view; keep them as .png, .pdf or .svg if asked."""
        from calipers.report.plots import save_figure, sweep_plot

        figure = sweep_plot(self.to_dict()).figure()
        if path is not None:
            save_figure(figure, path)
        return figure
