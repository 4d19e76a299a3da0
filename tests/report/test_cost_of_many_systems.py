"""Work for a pair of systems, counted: it must not grow with the number of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from calipers.evaluate.standing import all_marks
from calipers.evaluate.verdict import verdict
from calipers.report.comparison import document as compare
from calipers.report.render import layout
from calipers.report.render.text import plain
from calipers.results.comparison import Comparison
from calipers.results.tests import SignificanceTest
from hand_made import comparison_of

Make = dict[str, Callable[..., Any]]
READ: Counter[str] = Counter()


class Watched(SignificanceTest):
    """A test that counts how often its second system is read, once each time it is gone through."""

    def __getattribute__(self, name: str) -> Any:
        if name == "b":
            READ[name] += 1
        return super().__getattribute__(name)


def of(size: int, make: Make) -> Comparison:
    """So many systems, every pair tested by every score of the table."""
    found = comparison_of(make["sure"]([f"model_{place}" for place in range(size)]))
    tests = [
        Watched(**{field.name: getattr(test, field.name) for field in fields(SignificanceTest)})
        for test in found.tests
    ]
    READ.clear()
    return replace(found, tests=tuple(tests))


@pytest.mark.parametrize("show", [compare.full, verdict, lambda c: all_marks(c, c.shown)])
def test_no_test_is_read_for_the_pairs_of_others(
    show: Callable[[Comparison], object], make: Make
) -> None:
    reads = []
    for size in (8, 24):
        comparison = of(size, make)
        show(comparison)
        reads.append(READ["b"] / len(comparison.tests))
    assert 0 < reads[1] < reads[0] + 1


def test_a_line_does_not_measure_the_others(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    measured, counts = [0], []
    width = layout.cell_len

    def counted(text: str) -> int:
        measured[0] += 1
        return width(text)

    monkeypatch.setattr(layout, "cell_len", counted)
    for size in (8, 24):
        document, measured[0] = compare.document(of(size, make), details=True), 0
        lines = plain(document, width=80).count("\n")
        counts.append(measured[0] / lines)
    assert 0 < counts[1] < 2 * counts[0]


def test_indexed_tests_are_those_of_a_search(make: Make) -> None:
    comparison = of(9, make)
    between = [test for test in comparison.tests if test.b != "reference"]
    assert list(comparison.indexed.between) == between
    assert [*comparison.indexed.against] == [t for t in comparison.tests if t.b == "reference"]
    for (a, b), by_score in comparison.indexed.by_pair.items():
        found = [test for test in between if (test.a, test.b) == (a, b)]
        assert list(by_score.items()) == [(test.score, test) for test in found]
        assert all(comparison.indexed.by_score[t.score][a, b] is t for t in found)
    for key, by_system in comparison.indexed.against_by_score.items():
        found = [test for test in comparison.indexed.against if test.score == key]
        assert list(by_system.values()) == found
