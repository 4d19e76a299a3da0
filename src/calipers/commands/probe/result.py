"""Which known changes of texts each view of an embedder detects: scores, and verdicts by a rule.

Texts and changed texts are scored against other texts of the same kind, over several random halves.
A view *sees* a change if some metric moves by at least `CLEAR` and by more than the noise; it
*hardly* sees it if some metric moves beyond the noise, and none that far; else it is *blind* to it.
The noise is twice the standard deviation of the scores of unchanged texts over the halves, and at
least the sampling error of the texts (:func:`~calipers.uncertainty.ties.tie_width`). Where a change
alters fewer than `ENOUGH` of the texts, there is no verdict.

Scores of neighbours and cells alone would call a view blind to much that it sees: a classifier
separates held-out texts where a small shift along one direction moves hardly a neighbour. So one is
among the default metrics (:data:`calipers.commands.probe.run.METRICS`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calipers._version import __version__
from calipers.results.by_name import ByKey, ByName
from calipers.results.result import Result, with_warnings
from calipers.results.sets import SetSummary
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

CLEAR = 0.1
ENOUGH = 0.5

Word = Literal["sees", "hardly", "blind", "few changed", "no change"]


@dataclass(frozen=True)
class Move(Plain):
    """The change of a metric when texts are changed.

    Attributes
    ----------
    metric
        Its key, without a view.
    better
        Whether ``"higher"`` or ``"lower"`` values are closer to the other texts.
    ceiling
        What unchanged texts score, one value for each random halving.
    values
        What the changed texts score, halving by halving.
    least_noise
        The sampling error of a score.
    """

    metric: str
    better: str
    ceiling: tuple[float, ...]
    values: tuple[float, ...]
    least_noise: float

    @property
    def value(self) -> float:
        """Score of the changed texts: the mean over the halvings."""
        return _mean(self.values)

    @property
    def unchanged(self) -> float:
        """Score of the unchanged texts: the mean over the halvings."""
        return _mean(self.ceiling)

    @property
    def gap(self) -> float:
        """Mean score of the changed texts minus that of the unchanged ones."""
        return _mean([v - c for v, c in zip(self.values, self.ceiling, strict=True)])

    @property
    def noise(self) -> float:
        """Chance variation of the score from one halving to another."""
        finite = [value for value in self.ceiling if math.isfinite(value)]
        spread = float(np.std(finite, ddof=1)) if len(finite) > 1 else 0.0
        return max(self.least_noise, 2 * spread)

    @property
    def beyond(self) -> bool:
        """Whether the gap exceeds the noise."""
        return abs(self.gap) > self.noise + 1e-12

    @property
    def clear(self) -> bool:
        """Whether the gap exceeds the noise and is large."""
        return self.beyond and abs(self.gap) >= CLEAR - 1e-12

    def _outline(self) -> Mapping[str, Any]:
        return {
            "value": self.value,
            "unchanged": self.unchanged,
            "gap": self.gap,
            "noise": self.noise,
            "better": self.better,
            "values": self.values,
            "unchanged_values": self.ceiling,
        }

    def _check(self) -> None:
        if len(self.values) != len(self.ceiling):
            raise ValueError(
                f"{self.metric} has {len(self.values)} values and {len(self.ceiling)} of unchanged "
                "texts"
            )
        if not self.least_noise >= 0:
            raise ValueError(f"noise is {self.least_noise}, not a number of at least 0")

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of the noise only the larger part was written; as the least it is the same again."""
        return {**data, "ceiling": data["unchanged_values"], "least_noise": data["noise"]}


@dataclass(frozen=True)
class ProbedChange(ByKey[Move], Plain):
    """The response of one view to one change.

    Attributes
    ----------
    name, label, does
        Of the change: its key, what tables call it, what it does.
    altered
        Share of the texts that the change alters, in [0, 1].
    moved
        Share of the altered texts whose vector changes, in [0, 1]; NaN where no text is altered.
    moves
        How each metric moves.
    """

    _key = "name"

    name: str
    label: str
    does: str
    altered: float
    moved: float
    moves: tuple[Move, ...]

    @property
    def verdict(self) -> Word:
        """Whether the view detects the change, in one word such as ``"sees"`` or ``"blind"``."""
        return verdict(self.moves, self.altered)

    _noun = "metric"

    @property
    def _parts(self) -> Mapping[str, Move]:
        return {move.metric: move for move in self.moves}

    def _outline(self) -> Mapping[str, Any]:
        return {
            "label": self.label,
            "does": self.does,
            "altered": self.altered,
            "moved": self.moved,
            "verdict": self.verdict,
            "metrics": {move.metric: move for move in self.moves},
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        moves = [{**move, "metric": metric} for metric, move in data["metrics"].items()]
        return {**data, "moves": moves}


@dataclass(frozen=True, eq=False)
class ProbedView(ByName[ProbedChange], Plain):
    """The responses of one view to every change.

    Attributes
    ----------
    name
        Of the view.
    changes
        By the key of the change.
    """

    _key = "name"

    name: str
    changes: Mapping[str, ProbedChange]

    _noun = "change"

    @property
    def _parts(self) -> Mapping[str, ProbedChange]:
        return self.changes

    def _outline(self) -> Mapping[str, Any]:
        return self.changes

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The name of the view comes as one key more."""
        changes = dict(data)
        return {"name": changes.pop("name"), "changes": changes}


@dataclass(frozen=True, eq=False, repr=False)
class Probe(ByName[ProbedView], Result):
    """The known changes that an embedder detects: print it, or look verdicts up.

    Attributes
    ----------
    samples
        The texts.
    views
        By the name of the view, the main one first.
    settings
        The settings of the run, as plain data.
    signatures
        By the key of a score, ``[view.]metric``: every choice behind it, as of the first halving.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "probe"
    _needed = ("seeds", "half", "k", "seed", "embedder", "metrics")

    samples: SetSummary
    views: Mapping[str, ProbedView]
    settings: Mapping[str, Any]
    signatures: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    _noun = "view"

    @property
    def _parts(self) -> Mapping[str, ProbedView]:
        return self.views

    def _rows(self) -> Iterator[Row]:
        """A row for each view, change and metric."""
        for view in self:
            for change in view:
                about = {"view": view.name, "change": change.name, "verdict": change.verdict}
                for move in change.moves:
                    yield {
                        **about,
                        "metric": move.metric,
                        "value": move.value,
                        "unchanged": move.unchanged,
                        "gap": move.gap,
                        "noise": move.noise,
                        "better": move.better,
                        "altered": change.altered,
                        "moved": change.moved,
                    }

    def _wide(self) -> Wide:
        return ("view", "change"), "metric", "gap"

    def __repr__(self) -> str:
        return f"<Probe of {self.settings['embedder']!r} with {self.samples.name!r}>"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "limits": {"clear": CLEAR, "enough": ENOUGH},
            "samples": with_warnings(self.samples),
            "views": {view.name: view for view in self},
            "signatures": self.signatures,
            "warnings": self.warnings,
        }

    def _check(self) -> None:
        super()._check()
        if not self.views or any(not view.changes for view in self):
            raise ValueError("it has no views, or views without changes")
        for view in self:
            for change in view:
                known = {move.metric for move in change.moves}
                for metric in self.settings["metrics"]:
                    if metric not in known:
                        raise ValueError(f"{change.name!r} of {view.name!r} lacks {metric!r:.100}")


def verdict(moves: Sequence[Move], altered: float) -> Word:
    """Return the verdict on a change in one word; `altered` is the share of altered texts."""
    if altered == 0:
        return "no change"
    if altered < ENOUGH:
        return "few changed"
    if any(move.clear for move in moves):
        return "sees"
    return "hardly" if any(move.beyond for move in moves) else "blind"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
