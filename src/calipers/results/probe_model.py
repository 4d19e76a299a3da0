"""What an embedder sees: how its scores move when texts are changed in known ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.probe_words import CLEAR, ENOUGH, Move, Word, verdict
from calipers.results.system import SetSummary


@dataclass(frozen=True)
class ProbedChange:
    """What one view makes of one change.

    Attributes
    ----------
    name, label, does
        Of the change: its key, what tables call it, what it does.
    altered
        Share of the texts that came out other than they went in, in [0, 1].
    moved
        Share of the altered texts whose vector is another one, in [0, 1]; NaN where no text is
        altered.
    moves
        How each metric moves.
    """

    name: str
    label: str
    does: str
    altered: float
    moved: float
    moves: tuple[Move, ...]

    @property
    def verdict(self) -> Word:
        """Whether the view sees the change: ``"sees"``, ``"hardly"``, ``"blind"``, or that too few
        texts were altered to tell.
        """
        return verdict(self.moves, self.altered)

    def __getitem__(self, metric: str) -> Move:
        for move in self.moves:
            if move.metric == metric:
                return move
        raise unknown_name("metric", metric, [move.metric for move in self.moves])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "label": self.label,
            "does": self.does,
            "altered": self.altered,
            "moved": self.moved if self.moved == self.moved else None,
            "verdict": self.verdict,
            "metrics": {move.metric: move.to_dict() for move in self.moves},
        }


@dataclass(frozen=True, eq=False)
class ProbedView:
    """What one view makes of every change.

    Attributes
    ----------
    name
        Of the view.
    changes
        By the key of the change.
    """

    name: str
    changes: Mapping[str, ProbedChange]

    def __getitem__(self, change: str) -> ProbedChange:
        if change not in self.changes:
            raise unknown_name("change", change, self.changes)
        return self.changes[change]

    def __iter__(self) -> Iterator[ProbedChange]:
        return iter(self.changes.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: change.to_dict() for name, change in self.changes.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Probe:
    """What an embedder sees of known changes: print it, or look verdicts up.

    Attributes
    ----------
    samples
        The texts.
    views
        By the name of the view, the main one first.
    settings
        The choices of the run, as plain data.
    signatures
        By the key of a score, ``[view.]metric``: every choice behind it, as of the first halving.
    warnings
        What is to be known of the whole.
    version
        Of Calipers, that made it.
    """

    samples: SetSummary
    views: Mapping[str, ProbedView]
    settings: Mapping[str, Any]
    signatures: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    def __getitem__(self, view: str) -> ProbedView:
        if view not in self.views:
            raise unknown_name("view", view, self.views)
        return self.views[view]

    def __iter__(self) -> Iterator[ProbedView]:
        return iter(self.views.values())

    def __len__(self) -> int:
        return len(self.views)

    def __repr__(self) -> str:
        return f"<Probe of {self.settings['embedder']!r} with {self.samples.name!r}>"

    def __str__(self) -> str:
        from calipers.report.documents import probe
        from calipers.report.render.text import plain

        return plain(probe.document(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON."""
        warnings = list(self.samples.warnings)
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "limits": {"clear": CLEAR, "enough": ENOUGH},
            "samples": self.samples.to_dict() | {"warnings": warnings},
            "views": {view.name: view.to_dict() for view in self},
            "signatures": dict(self.signatures),
            "warnings": list(self.warnings),
        }
