"""The scores of every halving, gathered ──► what each view makes of each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import key
from calipers.evaluate.probe_changes import Change
from calipers.evaluate.probe_vectors import Sides, moved_share
from calipers.results.agreement import tie_width
from calipers.results.probe import Move, ProbedChange, ProbedView
from calipers.score import Score

UNCHANGED = "unchanged"


class Found:
    """Gathers what the halvings bring.

    Parameters
    ----------
    views
        Of the embedder, the main one first.
    metrics
        Keys without a view.
    half
        How many texts are judged.
    """

    def __init__(self, views: tuple[str, ...], metrics: tuple[str, ...], half: int) -> None:
        self.views = views
        self.metrics = metrics
        self._least = tie_width(half)
        self.notes: tuple[str, ...] = ()
        self._scores: dict[str, list[Mapping[str, Score]]] = {}
        self._moved: dict[tuple[str, str], list[float]] = {}

    def add(self, version: str, scores: Mapping[str, Score]) -> None:
        """Take in the scores of one version in one halving."""
        self._scores.setdefault(version, []).append(scores)

    def add_moved(self, sides: Sides, altered: Mapping[str, NDArray[np.intp]]) -> None:
        """Take in how many vectors each change moves; `altered` are the rows that it alters."""
        unchanged = sides.versions[UNCHANGED]
        self.notes = unchanged.notes
        for name, rows in altered.items():
            for view in self.views:
                share = moved_share(unchanged, sides.versions[name], view, rows)
                self._moved.setdefault((name, view), []).append(share)

    def view(self, view: str, changes: Sequence[Change], shares: Mapping[str, float]) -> ProbedView:
        """Bring together what one view makes of every change.

        Parameters
        ----------
        view, changes
            Whose, and of what.
        shares
            For each change the share of texts that it altered.
        """
        return ProbedView(view, {each.name: self._change(view, each, shares) for each in changes})

    @property
    def signatures(self) -> dict[str, str]:
        """How each score of the first halving was made."""
        return {name: score.signature for name, score in self._scores[UNCHANGED][0].items()}

    def _change(self, view: str, change: Change, shares: Mapping[str, float]) -> ProbedChange:
        moved = [share for share in self._moved[change.name, view] if not np.isnan(share)]
        return ProbedChange(
            name=change.name,
            label=change.label,
            does=change.does,
            altered=shares[change.name],
            moved=float(np.mean(moved)) if moved else float("nan"),
            moves=tuple(self._move(view, metric, change.name) for metric in self.metrics),
        )

    def _move(self, view: str, metric: str, version: str) -> Move:
        name = key(view, metric, self.views)
        ceiling, values = (
            tuple(scores[name].value for scores in self._scores[each])
            for each in (UNCHANGED, version)
        )
        return Move(metric, self._scores[version][0][name].better, ceiling, values, self._least)
