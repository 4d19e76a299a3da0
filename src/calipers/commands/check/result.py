"""The result of a check: conditions on the scores of a run, decided by confidence bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calipers._version import __version__
from calipers.command import kinds
from calipers.results.result import Result
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

Outcome = Literal["passes", "fails", "inconclusive"]
Side = Literal["below", "above"]
Inconclusive = Literal["report", "pass", "fail"]

PASSED, FAILED, UNDECIDED = 0, 1, 3
"""Exit codes; 2 is that of a usage error."""


@dataclass(frozen=True)
class CheckedScore(Plain):
    """The outcome of one condition for one system.

    Attributes
    ----------
    condition
        As it was written; where it is met, the check fails.
    system, score
        The system whose score was compared with the limit, and the key of the score.
    value
        The score.
    interval, level
        The two-sided interval of the score at this level, as its run shows it; both None where it
        has none.
    lower_bound, upper_bound
        One-sided confidence bounds, which decide: a condition *below the limit* is met where the
        upper bound lies below the limit, and not met where the lower bound does not. Where the
        limit is taken from a baseline, they allow for the errors of both scores.
    side, limit
        On which side of the limit the condition is met, ``"below"`` or ``"above"``, and the limit
        as a number.
    outcome
        ``"fails"`` where the condition is met, ``"passes"`` where it is not, by more than chance;
        ``"inconclusive"`` where the samples do not decide.
    baseline
        The score of the baseline that the limit is taken from; None where it is a number.
    standard_error
        Of the score; of its difference from the baseline, where there is one.
    p_met, adjusted_p_met
        How often chance alone would show as much for the condition being met, by itself and, by
        Holm, among all that were checked.
    p_unmet
        How often chance alone would show as much against it.
    n
        Samples of the system.
    deciding_n
        How many samples of each set would decide in four of five runs, if the score stays as it
        is; None where it is decided, or no number would.
    share
        Whether values of the score lie in [0, 1].
    reason
        Why nothing is decided although there are samples: the embedder knows too few of their
        words. None elsewhere.
    paired
        Whether the error that one reference brings to the scores of both runs was cancelled; they
        are taken as independent otherwise.
    """

    condition: str
    system: str
    score: str
    value: float
    interval: tuple[float, float] | None
    level: float | None
    lower_bound: float
    upper_bound: float
    side: Side
    limit: float
    outcome: Outcome
    baseline: float | None
    standard_error: float
    p_met: float
    adjusted_p_met: float
    p_unmet: float
    n: int
    deciding_n: int | None
    share: bool
    paired: bool = False
    reason: str | None = None

    _optional = ("reason",)

    def _check(self) -> None:
        numbers = ("limit",) if self.reason else ("value", "limit", "standard_error")
        for name in numbers:
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} is null, not a number")


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result):
    """The outcome of a check of one run: print it, look its conditions up, save it.

    Attributes
    ----------
    run, baseline
        The run that was checked, and the run that gives limits; None where all limits are numbers.
    checked
        Every condition on every system, in the order of the conditions.
    settings
        The settings of the check, as plain data.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "check"
    _needed = ("level", "inconclusive")

    run: str
    baseline: str | None
    checked: tuple[CheckedScore, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def outcome(self) -> Outcome:
        """``"fails"`` where any condition is met, ``"passes"`` where none is, by the intervals."""
        outcomes = {row.outcome for row in self.checked}
        if "fails" in outcomes:
            return "fails"
        return "inconclusive" if "inconclusive" in outcomes else "passes"

    @property
    def exit_code(self) -> int:
        """0 for a pass, 1 for a failure, 3 or the code of `inconclusive` for an inconclusive check.

        It is never 0 where the embedder did not read the texts, whatever the setting.
        """
        unread = any(row.reason for row in self.checked)
        if unread and self.outcome == "inconclusive" and self.settings["inconclusive"] == "pass":
            return UNDECIDED
        decided: Mapping[str, int] = {"passes": PASSED, "fails": FAILED}
        undecided: Mapping[str, int] = {"report": UNDECIDED, "pass": PASSED, "fail": FAILED}
        return decided.get(self.outcome, undecided[self.settings["inconclusive"]])

    @property
    def sentence(self) -> str:
        """The verdict, as the first line of what is printed."""
        return str(self.document().of_kind("verdict")[0])

    def of_outcome(self, outcome: Outcome) -> tuple[CheckedScore, ...]:
        """Return the conditions that ended in the given outcome."""
        return tuple(row for row in self.checked if row.outcome == outcome)

    def __iter__(self) -> Iterator[CheckedScore]:
        return iter(self.checked)

    def __len__(self) -> int:
        return len(self.checked)

    def __repr__(self) -> str:
        return f"<Check of {self.run!r}: {self.outcome}>"

    def junit(self) -> str:
        """Return the check as JUnit XML, with a test case for each condition on each system."""
        written: str = kinds()[self.kind].load("junit:junit")(self)
        return written

    def markdown(self) -> str:
        """Return the check as Markdown, for a pull request."""
        from calipers.report.render.markdown import markdown

        return markdown(self.summary())

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "run": self.run,
            "baseline": self.baseline,
            "settings": self.settings,
            "checked": self.checked,
            "warnings": self.warnings,
        }

    def _check(self) -> None:
        super()._check()
        if not self.checked:
            raise ValueError("nothing was checked")
        if self.settings.get("inconclusive") not in ("report", "pass", "fail"):
            raise ValueError(f"inconclusive is {self.settings.get('inconclusive')!r:.100}")
        level = self.settings.get("level")
        if not (isinstance(level, float) and 0.5 < level < 1):
            raise ValueError(f"level is {level!r:.100}, not a number between 0.5 and 1")

    def _rows(self) -> Iterator[Row]:
        """A row for each condition on each system."""
        for row in self.checked:
            low, high = row.interval or (None, None)
            others = {name: value for name, value in vars(row).items() if name != "interval"}
            yield {**others, "low": low, "high": high}

    def _wide(self) -> Wide:
        return ("system",), "condition", "outcome"
