"""Scores of saved runs in order, with intervals and a test of every change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calipers._version import __version__
from calipers.results.by_name import ByName
from calipers.results.result import Drawn
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide


@dataclass(frozen=True)
class HistoryRun(Plain):
    """One saved run.

    Attributes
    ----------
    name
        What it is called: the tag that it was given, else its file without the ending.
    file
        The file, without its folders.
    version
        Of Calipers, that measured it.
    """

    name: str
    file: str
    version: str


@dataclass(frozen=True)
class HistoryPoint(Plain):
    """One score in one run.

    Attributes
    ----------
    value
        The score; NaN where it has none.
    interval
        Its confidence interval at the level of its run, or None.
    n
        Samples of the system.
    reason
        Why there is no value, or no test of it; None otherwise.
    """

    value: float
    interval: tuple[float, float] | None
    n: int
    reason: str | None = None

    _optional = ("reason",)


@dataclass(frozen=True)
class ScoreChange(Plain):
    """The change of a score from one run to a later one.

    Attributes
    ----------
    before, after
        Places of the two runs, from 0.
    difference
        The later score less the earlier one.
    standard_error
        Of the difference.
    p_value
        How often chance alone would show as much, in either direction; NaN where it was not
        tested.
    adjusted_p_value
        The same over all changes of all scores of the history, by Holm.
    direction
        ``"worse"`` or ``"better"`` where the change is beyond the noise, else ``"open"``.
    paired
        Whether what one reference brings to both runs was set off.
    """

    before: int
    after: int
    difference: float
    standard_error: float
    p_value: float
    adjusted_p_value: float
    direction: Literal["worse", "better", "open"]
    paired: bool


@dataclass(frozen=True)
class ScoreHistory(Plain):
    """One score of one system over all runs.

    Attributes
    ----------
    system, score
        Whose score, and its key.
    better
        Where it is better: ``"higher"``, ``"lower"`` or ``"closest"``.
    share
        Whether values lie in [0, 1].
    points
        One for each run, in their order.
    changes
        Every pair of runs, the earlier one first; pairs that could not be tested are left out.
    first_worse
        The place of the first run that is worse than some run before it, beyond the noise; None
        where there is none.
    worse_than
        The place of the run that it is worse than: of several the last.
    """

    system: str
    score: str
    better: str
    share: bool
    points: tuple[HistoryPoint, ...]
    changes: tuple[ScoreChange, ...]
    first_worse: int | None = None
    worse_than: int | None = None

    def change(self, before: int, after: int) -> ScoreChange | None:
        """Return the change between two runs; None if it was not tested."""
        pairs = {(change.before, change.after): change for change in self.changes}
        return pairs.get((before, after))


@dataclass(frozen=True, eq=False, repr=False)
class History(ByName[ScoreHistory], Drawn):
    """Scores of a model over its checkpoints or versions: print it, draw it, look changes up.

    Attributes
    ----------
    runs
        The saved runs, the first one first.
    scores
        One history for each system and score.
    settings
        The settings, as plain data.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "history"
    _needed = ("level", "tests")

    runs: tuple[HistoryRun, ...]
    scores: tuple[ScoreHistory, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    _noun = "score"

    @property
    def _parts(self) -> Mapping[str, ScoreHistory]:
        """The history of each score by its key, behind ``SYSTEM:`` where there are several."""
        if len({history.system for history in self.scores}) == 1:
            return {history.score: history for history in self.scores}
        return {f"{history.system}:{history.score}": history for history in self.scores}

    def __getitem__(self, score: str) -> ScoreHistory:
        """Give the history of a score; ``SYSTEM:`` may stand before it even where there is one."""
        for history in self.scores:
            if score == f"{history.system}:{history.score}":
                return history
        return super().__getitem__(score)

    def __iter__(self) -> Iterator[ScoreHistory]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<History of {len(self.scores)} scores over {len(self.runs)} runs>"

    @property
    def first_worse(self) -> int | None:
        """Index of the first run that is worse than an earlier one by any score, or None."""
        places = [score.first_worse for score in self.scores if score.first_worse is not None]
        return min(places, default=None)

    def _rows(self) -> Iterator[Row]:
        """A row for each score in each run, with the test against the run before."""
        for history in self.scores:
            for place, (run, point) in enumerate(zip(self.runs, history.points, strict=True)):
                change = history.change(place - 1, place)
                low, high = point.interval or (None, None)
                yield {
                    "run": run.name,
                    "system": history.system,
                    "score": history.score,
                    "value": point.value,
                    "low": low,
                    "high": high,
                    "n": point.n,
                    "difference": None if change is None else change.difference,
                    "p_value": None if change is None else change.p_value,
                    "adjusted_p_value": None if change is None else change.adjusted_p_value,
                    "direction": None if change is None else change.direction,
                    "first_worse": history.first_worse == place,
                    "reason": point.reason,
                }

    def _wide(self) -> Wide:
        return ("run", "system"), "score", "value"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "runs": self.runs,
            "scores": self.scores,
            "warnings": self.warnings,
        }

    def _check(self) -> None:
        super()._check()
        for history in self.scores:
            if len(history.points) != len(self.runs):
                raise ValueError(
                    f"{history.score!r} has {len(history.points)} points for {len(self.runs)} runs"
                )
