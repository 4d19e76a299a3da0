"""One decision: the marks of the table, the verdict and what `tune` reports are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calipers.evaluate.standing import Standing, all_marks, standing
from calipers.evaluate.verdict import decisive, verdict
from calipers.results.comparison import Comparison
from hand_made import comparison_of

Make = dict[str, Any]

VALUES = {"a": 0.90, "b": 0.89, "c": 0.80, "d": 0.40, "e": 0.70}


@pytest.fixture
def comparison(make: Make) -> Comparison:
    """The best, one tied with it, one undecided, one worse and one that was not tested."""
    score, test = make["score"], make["significance"]
    systems = [make["system"](n, {"mauve_star": score(v)}) for n, v in VALUES.items()]
    tests = [
        test("a", "b", "mauve_star", 0.01, 0.6),
        test("a", "c", "mauve_star", 0.10, 0.30) | {"p_value": 0.01},
        test("a", "d", "mauve_star", 0.50, 0.001),
        test("a", "e", "mauve_star", 0.20, None),
    ]
    data = make["comparison"](systems, views=["meaning"]) | {"tests": tests}
    return comparison_of(data)


def test_every_system_stands_somewhere(comparison: Comparison) -> None:
    lead = decisive(comparison)
    assert lead is not None
    found = standing(comparison, lead)
    assert found == Standing((0,), (1,), (2,), (3,), (4,))
    assert not found.is_clear


def test_the_marks_and_the_verdict_agree(comparison: Comparison) -> None:
    (marks,) = all_marks(comparison, comparison.shown)
    assert marks == ("▲", "≈", "?", "", "#")
    said = verdict(comparison)
    assert said.closest == ("a", "b")
    assert said.undecided == ("c",)
    assert said.to_dict()["undecided"] == ["c"]
    assert said.sentences[:2] == (
        "a is closest to human (MAUVE* 0.90); b (0.89) is tied with it; e was not tested against "
        "it.",
        "Undecided: whether c (0.80) is tied with it or worse.",
    )


def test_untested_systems_are_not_worse(comparison: Comparison) -> None:
    lead = decisive(comparison)
    assert lead is not None
    assert standing(replace(comparison, tests=()), lead) == Standing((0,), untested=(1, 2, 3, 4))


def test_a_single_value_has_nothing_to_be_better_than(make: Make) -> None:
    systems = [
        make["system"]("a", {"mauve_star": make["score"](0.9)}),
        make["system"]("b", {"mauve_star": make["score"](None)}),
    ]
    comparison = comparison_of(make["comparison"](systems, views=["meaning"]))
    lead = decisive(comparison)
    assert lead is not None
    assert standing(comparison, lead) == Standing()
