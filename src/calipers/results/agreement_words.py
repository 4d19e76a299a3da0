"""Which of two systems is better, column by column, and in words whether the columns disagree.

A column is one view of one embedder. Two scores that differ by no more than :func:`tie_width` are
a tie: on a range from 0 to 1 as they are, else as a share of the larger one. A tie contradicts
nobody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from calipers.score import Score

NARROWEST_TIE = 0.01
"""What MAUVE moves by with the seed of k-means alone."""

Winner = Literal["a", "b", "tie", "unknown"]


@dataclass(frozen=True)
class Column:
    """One view of one embedder, by which every system has a score."""

    embedder: str
    view: str

    @property
    def label(self) -> str:
        """What a person calls it."""
        return f"{self.embedder} {self.view}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"embedder": self.embedder, "view": self.view, "label": self.label}


def tie_width(n: int) -> float:
    """Tell how far two scores of n samples may differ and still be a tie.

    The largest standard error that a share of n samples can have, 1/(2√n), and at least 0.01.

    Examples
    --------
    >>> tie_width(100), tie_width(1_000_000)
    (0.05, 0.01)
    """
    return max(NARROWEST_TIE, 0.5 / math.sqrt(n))


def merit(score: Score) -> float:
    """Give a number that is higher for the better score; NaN where there is no value."""
    if score.better == "closest":
        return math.nan if score.gap is None else -score.gap
    return score.value if score.better == "higher" else -score.value


def winner(a: Score, b: Score, tie: float) -> Winner:
    """Tell which of two systems is better by one column; `tie` is as of :func:`tie_width`."""
    x, y = merit(a), merit(b)
    if math.isnan(x) or math.isnan(y):
        return "unknown"
    if x == y or abs(x - y) <= _tolerance(a, b, tie) + 1e-12:
        return "tie"
    return "a" if x > y else "b"


def _tolerance(a: Score, b: Score, tie: float) -> float:
    if a.range == (0.0, 1.0) and a.better != "closest":
        return tie
    sizes = [abs(x) for x in (a.value, b.value, a.reference or 0.0) if math.isfinite(x)]
    return tie * max(sizes, default=0.0)


@dataclass(frozen=True)
class PairOrder:
    """What every column says of two systems by one metric.

    Attributes
    ----------
    a, b
        Names of the systems, in the order given.
    columns
        Those that were asked, in their order.
    winners
        For each column ``"a"``, ``"b"``, ``"tie"`` or ``"unknown"`` where a score has no value.
    """

    a: str
    b: str
    columns: tuple[Column, ...]
    winners: tuple[Winner, ...]

    @property
    def split(self) -> bool:
        """Whether one column puts the one system first, and another the other."""
        return {"a", "b"} <= set(self.winners)

    @property
    def agreed(self) -> str | None:
        """Name of the system that every column puts first; None where they do not."""
        names = {"a": self.a, "b": self.b}
        said = set(self.winners)
        return names.get(said.pop()) if len(said) == 1 else None

    @property
    def sentence(self) -> str:
        """The pair in words."""
        decided = self._count("a") + self._count("b") > 0
        ties = [f"a tie by {self._by('tie')}"] if decided and self._count("tie") else []
        known = self._count("unknown") < len(self.winners)
        rest = [f"no value by {self._by('unknown')}"] if known and self._count("unknown") else []
        return "; ".join([self._order, *ties, *rest])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "a": self.a,
            "b": self.b,
            "winners": list(self.winners),
            "split": self.split,
            "agreed": self.agreed,
            "sentence": self.sentence,
        }

    @property
    def _order(self) -> str:
        """Who is above whom, or that nobody is."""
        first, second = self._sides
        top, low = (self.a, self.b) if first == "a" else (self.b, self.a)
        if self.split:
            return f"{top} above {low} by {self._by(first)}; the reverse by {self._by(second)}"
        if self._count(first):
            verb = "puts" if self._count(first) == 1 else "put"
            return f"{self._who(first)} {verb} {top} above {low}"
        if self._count("tie"):
            verb = "sees" if self._count("tie") == 1 else "see"
            return f"{self._who('tie')} {verb} a tie of {self.a} and {self.b}"
        return f"no column has a value for {self.a} and {self.b}"

    @property
    def _sides(self) -> tuple[Winner, Winner]:
        """The side that more columns put first, and the other; the first column breaks a draw."""
        said: list[Winner] = [each for each in self.winners if each in ("a", "b")]
        more = self._count("a") - self._count("b") or (said == [] or said[0] == "a") - 0.5
        return ("a", "b") if more > 0 else ("b", "a")

    def _who(self, what: Winner) -> str:
        count, total = self._count(what), len(self.winners)
        return every(total) if count == total else f"{count} of {total} columns"

    def _count(self, what: Winner) -> int:
        return self.winners.count(what)

    def _by(self, what: Winner) -> str:
        said = zip(self.columns, self.winners, strict=True)
        return spoken([column for column, found in said if found == what])


def every(columns: int) -> str:
    """Name all columns in a sentence: "both columns", "all 3 columns"."""
    return "both columns" if columns == 2 else f"all {columns} columns"


def spoken(columns: Sequence[Column]) -> str:
    """Name columns in a sentence, the views of one embedder together.

    Examples
    --------
    >>> spoken([Column("minilm", "meaning"), Column("minilm", "form"), Column("tfidf", "wording")])
    'minilm meaning and form, tfidf wording'
    """
    runs = [(name, list(run)) for name, run in groupby(columns, key=lambda each: each.embedder)]
    return ", ".join(f"{name} {' and '.join(each.view for each in run)}" for name, run in runs)
