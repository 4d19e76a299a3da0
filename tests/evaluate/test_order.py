"""In which order systems are shown, which of many come first, and which are alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calipers.errors import InputError
from calipers.evaluate.alike import alike
from calipers.evaluate.order import (
    ENDS,
    MANY,
    alike_by_closeness,
    arranged,
    check_order,
    first_shown,
    order,
)
from calipers.results.comparison import Comparison, SignificanceTest
from calipers.results.shown import ShownScore
from calipers.results.verdict import BriefCaution
from calipers.wording.words import said
from hand_made import SET, comparison_of

LOWER = ("classifier_auc",)
LEAD = ShownScore("meaning", "mauve_star", "mauve_star")


def comparison(values: dict[str, float | None], **others: dict[str, float]) -> Comparison:
    """Systems with a closeness, and scores of other keys by system."""
    systems = []
    for name, value in values.items():
        scores = {"mauve_star": {"value": value, "reason": "none"}}
        scores |= {
            key: {"value": of[name], "better": "lower" if key in LOWER else "higher"}
            for key, of in others.items()
        }
        systems.append({**SET, "name": name, "scores": scores})
    settings = {"views": ["meaning"], "embedder": "minilm"}
    data = {"reference": {**SET, "name": "human"}, "settings": settings, "systems": systems}
    return comparison_of(data)


def with_tests(given: Comparison, *apart: str, of: str = "mauve_star") -> Comparison:
    """Test every pair; those that are named as ``a-b`` are distinguishable."""
    names = [system.name for system in given]
    tests = [
        SignificanceTest(a, b, of, 0.1, None, p, p)
        for place, a in enumerate(names)
        for b in names[place + 1 :]
        for p in [0.001 if {f"{a}-{b}", f"{b}-{a}"} & set(apart) else 0.7]
    ]
    return replace(given, tests=tuple(tests))


def names_of(given: Comparison, rows: list[int]) -> list[str]:
    return [given.systems[row].name for row in rows]


def test_the_closest_comes_first_and_what_has_no_value_last() -> None:
    given = comparison({"a": 0.3, "b": None, "c": 0.9, "d": 0.3})
    assert names_of(given, order(given)) == ["c", "a", "d", "b"]
    assert [system.name for system in arranged(given)] == ["c", "a", "d", "b"]


def test_other_orders_are_asked_for() -> None:
    given = comparison(
        {"m-13b": 0.3, "M-7b": 0.9, "a": 0.5},
        classifier_auc={"m-13b": 0.7, "M-7b": 0.9, "a": 0.6},
    )
    assert names_of(given, order(given, "given")) == ["m-13b", "M-7b", "a"]
    assert names_of(given, order(given, "name")) == ["a", "M-7b", "m-13b"]
    assert names_of(given, order(given, "classifier_auc")) == ["a", "m-13b", "M-7b"]
    with pytest.raises(InputError, match="did you mean 'mauve_star'"):
        order(given, "mauve_stra")


def test_what_can_be_no_order_is_refused_before_anything_is_measured() -> None:
    for sort in (None, "closeness", "name", "given", "recall", "form.mauve_star:chi2"):
        check_order(sort)
    with pytest.raises(InputError, match="unknown order of the systems 'recal'"):
        check_order("recal")


def test_of_few_systems_all_are_shown() -> None:
    given = comparison({f"s{place}": place / 100 for place in range(MANY)})
    assert first_shown(given) == list(range(MANY))


def test_of_many_both_ends_and_those_in_question_are_shown() -> None:
    given = arranged(comparison({f"s{place:02}": 1 - place / 100 for place in range(60)}))
    ends = [*range(ENDS), *range(60 - ENDS, 60)]
    assert first_shown(given) == ends
    caution = BriefCaution("s30", "lengths", "much shorter")
    warned = replace(given, verdict=replace(given.verdict, cautions=(caution,)))
    assert first_shown(warned) == sorted([*ends, 30])
    # A single one that would be left out is shown as well
    near = replace(caution, system="s11")
    warned = replace(given, verdict=replace(given.verdict, cautions=(near,)))
    assert first_shown(warned) == sorted([*ends, 10, 11])


def test_groups_hold_no_two_that_are_distinguishable() -> None:
    names = "abcdefghij"
    values = {name: 1 - place / 100 for place, name in enumerate(names)}
    given = with_tests(comparison(values), "a-d", "b-d", "e-j")
    assert alike(given, LEAD) == ((0, 1, 2), (3, 4, 5, 6, 7, 8), (9,))
    found = alike_by_closeness(given)
    assert found is not None
    assert found[1][0] == (0, 1, 2)


def test_pairs_that_were_not_tested_are_not_said_to_be_alike() -> None:
    values = {name: 1 - place / 100 for place, name in enumerate("abcdefghij")}
    given = with_tests(comparison(values))
    lost = tuple(test for test in given.tests if {test.a, test.b} != {"c", "d"})
    assert alike(replace(given, tests=lost), LEAD) == ((0, 1, 2), tuple(range(3, 10)))
    assert alike(replace(given, tests=()), LEAD) == ()
    assert alike(with_tests(comparison(values), of="recall"), LEAD) == ()


def test_few_systems_have_no_groups() -> None:
    given = with_tests(comparison(dict.fromkeys("abcd", 0.5)))
    assert alike(given, LEAD) == ()


def test_the_verdict_names_groups_by_their_first() -> None:
    from calipers.evaluate.verdict import decided

    values = {f"s{place:02}": 1 - place / 100 for place in range(30)}
    apart = [f"s{a:02}-s{b:02}" for a in range(12) for b in range(12, 30)]
    verdict = decided(with_tests(comparison(values), *apart)).verdict
    (groups,) = [finding for finding in verdict.findings if finding.kind == "groups"]
    assert said(groups.words) == (
        "By MAUVE*, the systems fall into 2 groups within which no two can be distinguished: 12 "
        "from 1.00 to 0.89 (s00, s01, s02 and 9 more); 18 from 0.88 to 0.71 (s12, s13, s14 and 15 "
        "more)."
    )
    assert len(groups.systems) == 30


@pytest.mark.parametrize(("count", "named"), [(3, 3), (12, 3)])
def test_of_many_that_have_collapsed_the_worst_are_named(count: int, named: int) -> None:
    values: dict[str, Any] = {f"s{place:02}": 0.5 for place in range(count)}
    recalls = {name: 0.2 - place / 100 for place, name in enumerate(values)}
    precisions = dict.fromkeys(values, 0.9)
    given = comparison(values, precision=precisions, recall=recalls)
    (found,) = [finding for finding in given.verdict.findings if finding.kind == "collapsed"]
    assert str(found).count("recall") == named
    assert len(found.systems) == count
    if count > named:
        assert str(found).startswith("12 systems have collapsed, most of all s11 (recall 0.09)")
