"""Tests between systems and against the reference, score by score.

The number of tests grows with the square of the number of systems, so whoever needs those of a
score or of a pair finds them by it (:class:`IndexedTests`) and goes through none of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

from calipers.serialise import LARGEST, MOST, Plain, plain

REFERENCE = "reference"

AGAINST_REFERENCE = frozenset({"classifier_auc", "mmd"})
"""Scores by which a system is tested against the reference."""

SystemPair = tuple[str, str]
"""The names of two systems, the first of a test before the second."""


@dataclass(frozen=True)
class SignificanceTest(Plain):
    """A test of whether two systems, or a system and the reference, differ by one score.

    Attributes
    ----------
    a, b
        Names of the systems; `b` is ``"reference"`` where the system is compared with that.
    score
        The key of the score, or of the statistic of a test against the reference.
    difference
        Score of `a` less score of `b`, or of their gaps to the reference where those rank them;
        against the reference the gap itself: the area under the ROC curve, or MMD².
    interval
        Confidence interval of the difference, or None.
    p_value
        How often chance alone would show as much.
    adjusted_p_value
        The same over all tests of this family: between systems by step-down max-T, against the
        reference by Holm.
    paired
        Whether row i of both systems answers the same prompt, and the test made use of that.
    separating_n
        Samples in every set with which a difference of this size would be found in four of five
        runs, all tests allowed for; None where there is none, or it is found already.
    reason
        Why there is no p-value; None otherwise.
    standard_error
        Of the difference; None against the reference.
    detectable
        The smallest true difference that this test, adjusted over its family, would have found in
        four of five runs; None against the reference.
    at_limit
        Whether `p_value` is the smallest that so many permutations can give, so that the true one
        is at most this.
    equivalence
        p-value of the hypothesis that the scores are at least a margin apart, adjusted by Holm over
        all pairs and scores; None where no margin was given.
    signature
        Against the reference one line that pins every choice behind the test, such as the prompts
        that labels were permuted within.
    """

    a: str
    b: str
    score: str
    difference: float
    interval: tuple[float, float] | None
    p_value: float
    adjusted_p_value: float
    paired: bool = False
    separating_n: int | None = None
    reason: str | None = None
    standard_error: float | None = None
    detectable: float | None = None
    equivalence: float | None = None
    at_limit: bool = False
    signature: str = ""

    _optional = (
        *("paired", "separating_n", "reason", "standard_error", "detectable", "equivalence"),
        *("at_limit", "signature"),
    )


class IndexedTests:
    """The tests of a comparison, with indices made on first access.

    Parameters
    ----------
    tests
        All of them.
    systems
        The names of the systems; one of them may be called as the reference is.
    """

    def __init__(self, tests: Sequence[SignificanceTest], systems: Sequence[str]) -> None:
        self._tests = tests
        self._names_reference = REFERENCE not in systems

    def is_against_reference(self, test: SignificanceTest) -> bool:
        """Tell a test against the reference from one against a system of the same name."""
        if test.b != REFERENCE:
            return False
        if self._names_reference:
            return True
        score = test.score.partition(":")[0].rpartition(".")[2]
        return score in AGAINST_REFERENCE and test.interval is None

    @cached_property
    def _sides(self) -> tuple[tuple[SignificanceTest, ...], tuple[SignificanceTest, ...]]:
        between: list[SignificanceTest] = []
        against: list[SignificanceTest] = []
        for test in self._tests:
            (against if self.is_against_reference(test) else between).append(test)
        return tuple(between), tuple(against)

    @property
    def between(self) -> tuple[SignificanceTest, ...]:
        """The tests of pairs of systems."""
        return self._sides[0]

    @property
    def against(self) -> tuple[SignificanceTest, ...]:
        """The tests of systems against the reference."""
        return self._sides[1]

    @cached_property
    def by_score(self) -> Mapping[str, Mapping[SystemPair, SignificanceTest]]:
        """The tests of pairs of systems, by score and pair."""
        found: dict[str, dict[SystemPair, SignificanceTest]] = {}
        for test in self.between:
            found.setdefault(test.score, {})[test.a, test.b] = test
        return found

    @cached_property
    def by_pair(self) -> Mapping[SystemPair, Mapping[str, SignificanceTest]]:
        """The tests of pairs of systems, by pair and score, in the order of the tests."""
        found: dict[SystemPair, dict[str, SignificanceTest]] = {}
        for test in self.between:
            found.setdefault((test.a, test.b), {})[test.score] = test
        return found

    @cached_property
    def against_by_score(self) -> Mapping[str, Mapping[str, SignificanceTest]]:
        """The tests against the reference, by score and system, in the order of the tests."""
        found: dict[str, dict[str, SignificanceTest]] = {}
        for test in self.against:
            found.setdefault(test.score, {})[test.a] = test
        return found


# ------------------------------------------------------------------ as columns

LENGTH = "difference"
"""The column that is always a list, by which the number of tests is known."""


NEEDED = frozenset({"a", "b", "score", "difference", "interval", "p_value", "adjusted_p_value"})
"""The columns that every test has."""


def columns_of(tests: Sequence[SignificanceTest]) -> dict[str, Any]:
    """Write tests as plain data in columns, one for each field.

    A column is a list with a value for each test. Texts and flags are written once each, as
    ``values``, with the place ``at`` which each test has its own; what all tests have in common is
    written as it is; and a column without anything but the default is left out.

    Examples
    --------
    >>> test = SignificanceTest("x", "y", "recall", 0.1, (0.0, 0.2), 0.04, 0.04)
    >>> columns_of([test])["difference"], columns_of([test])["a"]
    ([0.1], 'x')
    """
    if not tests:
        return {}
    columns = {}
    for field in fields(SignificanceTest):
        column = [plain(getattr(test, field.name)) for test in tests]
        default = field.default
        if default is MISSING or any(value != default for value in column):
            columns[field.name] = column if field.name == LENGTH else _shortened(column)
    return columns


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert columns to a dict for each test.

    Raises
    ------
    TypeError, ValueError
        If a column has not a value for each test.
    """
    if not columns:
        return []
    size = len(_listed(LENGTH, columns.get(LENGTH)))
    whole = {name: _whole(name, column, size) for name, column in columns.items()}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def read_columns(columns: Mapping[str, Any]) -> Sequence[SignificanceTest | dict[str, Any]]:
    """Convert columns to tests; to a dict where a value needs to be checked.

    Raises
    ------
    TypeError, ValueError
        If a column has not a value for each test.
    """
    rows = rows_of(columns)
    known = {field.name for field in fields(SignificanceTest)}
    if not rows or not NEEDED <= set(columns) <= known:
        return rows
    if not all(_PLAIN[name](row[name]) for row in rows for name in columns):
        return rows
    for row in rows:
        row["interval"] = row["interval"] and tuple(row["interval"])
    return [SignificanceTest(**row) for row in rows]


def _is_number(value: Any) -> bool:
    return type(value) is float and abs(value) <= LARGEST


def _is_bounds(value: Any) -> bool:
    return value is None or (
        type(value) is list and len(value) == 2 and _is_number(value[0]) and _is_number(value[1])
    )


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_flag(value: Any) -> bool:
    return type(value) is bool


_PLAIN: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("a", "b", "score", "signature"), _is_text),
    **dict.fromkeys(("difference", "p_value", "adjusted_p_value"), _is_number),
    **dict.fromkeys(("paired", "at_limit"), _is_flag),
    "interval": _is_bounds,
    "reason": lambda value: value is None or type(value) is str,
    "separating_n": lambda value: value is None or (type(value) is int and 0 <= value < MOST),
    **dict.fromkeys(
        ("standard_error", "detectable", "equivalence"),
        lambda value: value is None or _is_number(value),
    ),
}
"""What holds of a value that is the field as it stands, by field."""


def _shortened(column: list[Any]) -> Any:
    first = column[0]
    if isinstance(first, int | str | None) and all(value == first for value in column):
        return first
    if not all(isinstance(value, bool | str | None) for value in column):
        return column
    values = {value: place for place, value in enumerate(dict.fromkeys(column))}
    return {"values": list(values), "at": [values[value] for value in column]}


def _whole(name: str, column: Any, size: int) -> list[Any]:
    if isinstance(column, Mapping):
        values, places = (_listed(name, column.get(part)) for part in ("values", "at"))
        known = range(len(values))
        if not all(isinstance(place, int) and place in known for place in places):
            raise ValueError(f"the column {name} of the tests names values that are not there")
        column = [values[place] for place in places]
    elif not isinstance(column, list):
        return [column] * size
    if len(column) != size:
        raise ValueError(f"the column {name} of the tests holds {len(column)} values for {size}")
    return list(column)


def _listed(name: str, column: Any) -> list[Any]:
    if not isinstance(column, list):
        raise TypeError(f"the column {name} of the tests is {column!r:.100}, not a list")
    return column
