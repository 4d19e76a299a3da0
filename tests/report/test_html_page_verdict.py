"""The two sentences, case by case, against sentences written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from calipers.report.html.verdict import verdict
from calipers.report.table import Name
from calipers.report.table import said as in_full

Data = dict[str, Any]
Make = dict[str, Callable[..., Data]]


def said(data: Data) -> tuple[str, str]:
    found = verdict(data)
    return in_full(found.nearness), in_full(found.balance)


def build(make: Make, scores: dict[str, Data], tests: list[Data] | None = None) -> Data:
    """A comparison by one view, of systems with these scores."""
    data = make["comparison"]([make["system"](n, s) for n, s in scores.items()], views=["meaning"])
    return data | {"tests": tests or []}


def sure(make: Make, value: float, half: float = 0.02, **more: Any) -> Data:
    return make["score"](value, interval=[value - half, value + half], level=0.95, **more)


def floor(value: float, beside: float, *, inside: bool, size: int = 250) -> Data:
    spread = {"spread": 0.01, "beside_spread": 0.01, "splits": 10, "margin": 0.02}
    return {"value": value, "beside": beside, "inside": inside, "size": size, **spread}


def test_the_others_are_told_from_the_best(make: Make) -> None:
    test = make["significance"]
    data = build(
        make,
        {
            "a": {"mauve_star": sure(make, 0.7)},
            "b": {"mauve_star": sure(make, 0.9)},
            "c": {"mauve_star": sure(make, 0.89)},
            "d": {"mauve_star": sure(make, 0.5)},
        },
        [
            test("a", "b", "mauve_star", -0.2, 0.001),
            test("b", "c", "mauve_star", 0.01, 0.6),
            test("b", "d", "mauve_star", 0.4, None),
        ],
    )
    assert said(data)[0] == (
        "b comes closest to the reference (MAUVE* 0.900±0.020); a (0.700±0.020) is further away by "
        "more than chance; c (0.890±0.020) cannot be told from it with these samples; d "
        "(0.500±0.020) was not tested against it."
    )


def test_without_tests_the_order_is_left_open(make: Make) -> None:
    data = build(
        make, {"a": {"mauve_star": make["score"](0.7)}, "b": {"mauve_star": sure(make, 0.9)}}
    )
    assert said(data)[0] == (
        "b comes closest to the reference (MAUVE* 0.900±0.020) before a (0.700), untested: chance "
        "may have made this order."
    )


def test_one_system_stands_beside_the_floor(make: Make) -> None:
    below = sure(make, 0.7, floor=floor(0.95, 0.66, inside=False))
    near = sure(make, 0.94, floor=floor(0.95, 0.945, inside=True))
    bare = sure(make, 0.7)
    assert said(build(make, {"a": {"mauve_star": below}}))[0] == (
        "a scores 0.700±0.020 by MAUVE*; at 250 samples it has 0.660 where two halves of the "
        "reference have 0.950, a difference beyond the noise floor."
    )
    assert said(build(make, {"a": {"mauve_star": near}}))[0].endswith(
        "0.945 where two halves of the reference have 0.950, as near as this score can tell."
    )
    assert said(build(make, {"a": {"mauve_star": bare}}))[0] == (
        "a scores 0.700±0.020 by MAUVE*; without a noise floor, nothing here tells what equal "
        "distributions would score."
    )


def test_undefined_scores_are_left_out(make: Make) -> None:
    none = make["score"](None, reason="fewer than 5 samples")
    one = {"a": {"mauve_star": none}, "b": {"mauve_star": make["score"](0.9)}}
    assert said(build(make, one))[0].startswith("Only b has 0.900 by MAUVE*;")
    both = {"a": {"mauve_star": none}, "b": {"mauve_star": none}}
    assert said(build(make, both))[0] == "No score that could rank the systems has a value."
    assert said(build(make, {"a": {}}))[0] == "No score that could rank the systems has a value."


def test_equal_scores_share_the_first_place(make: Make) -> None:
    data = build(make, {n: {"mauve_star": make["score"](0.9)} for n in ("a", "b")})
    assert said(data)[0] == "a and b share the best MAUVE* (0.900)."


def test_other_metrics_speak_where_there_is_no_gap_score(make: Make) -> None:
    higher = {n: {"precision": make["score"](v)} for n, v in (("a", 0.5), ("b", 0.7))}
    assert said(build(make, higher))[0].startswith("b has the best Precision (0.700) before a")
    lower = {
        n: {"frechet_distance": make["score"](v, better="lower", range=[0.0, None])}
        for n, v in (("a", 3.0), ("b", 2.0))
    }
    assert said(build(make, lower))[0].startswith(
        "b comes closest to the reference (Fréchet 2.000)"
    )
    closest = {
        n: {
            "vendi": make["score"](v, better="closest", range=[1.0, None], reference=9.0, gap=9 - v)
        }
        for n, v in (("a", 3.0), ("b", 8.0))
    }
    assert said(build(make, closest))[0].startswith(
        "b is nearest to the reference's own Vendi (8.000) before a (3.000)"
    )


def test_losses_beyond_the_floor_are_named_by_the_largest(make: Make) -> None:
    lost = {
        "a": {
            "precision": sure(make, 0.9, floor=floor(0.9, 0.89, inside=True)),
            "recall": sure(make, 0.6, floor=floor(0.9, 0.6, inside=False)),
            "coverage": sure(make, 0.5, floor=floor(0.9, 0.4, inside=False)),
        },
        "b": {
            "precision": sure(make, 0.99, floor=floor(0.9, 0.99, inside=False)),
            "recall": sure(make, 0.8, floor=floor(0.9, 0.8, inside=False)),
            "coverage": sure(make, 0.9, floor=floor(0.9, 0.9, inside=True)),
        },
    }
    assert said(build(make, lost))[1] == (
        "Against the noise floor at 250 samples, a loses diversity (Coverage 0.400, floor 0.900), "
        "and no system loses quality beyond noise; whether a system can be told from the reference "
        "was not tested."
    )


def test_diversity_is_read_from_coverage_and_not_from_a_recall_that_rises(make: Make) -> None:
    spread = {
        "recall": sure(make, 0.97, floor=floor(0.9, 0.97, inside=False)),
        "coverage": sure(make, 0.6, floor=floor(0.9, 0.6, inside=False)),
    }
    narrow = {
        "recall": sure(make, 0.4, floor=floor(0.9, 0.4, inside=False)),
        "coverage": sure(make, 0.7, floor=floor(0.9, 0.7, inside=False)),
    }
    assert (
        "spread loses most diversity (Coverage 0.600, floor 0.900; narrow loses some too)"
        in (said(build(make, {"spread": spread, "narrow": narrow}))[1])
    )
    bare = {
        name: {k: make["score"](s["value"]) for k, s in scores.items()}
        for name, scores in (("spread", spread), ("narrow", narrow))
    }
    assert "spread has the lowest Coverage (0.600)" in said(build(make, bare))[1]
    alone = {"spread": {"recall": spread["recall"]}, "narrow": {"recall": narrow["recall"]}}
    assert "narrow loses diversity (Recall 0.400" in said(build(make, alone))[1]


def test_nothing_lost_is_said_as_such(make: Make) -> None:
    fine = {
        key: sure(make, 0.9, floor=floor(0.9, 0.9, inside=True)) for key in ("precision", "recall")
    }
    assert said(build(make, {"a": fine}))[1] == (
        "Against the noise floor at 250 samples, a does not lose quality or diversity beyond "
        "noise; whether it can be told from the reference was not tested."
    )


def test_without_a_floor_noise_is_left_open(make: Make) -> None:
    scores = {
        "a": {"precision": sure(make, 0.9), "recall": make["score"](0.6)},
        "b": {"precision": sure(make, 0.8), "recall": make["score"](0.7)},
    }
    assert said(build(make, scores))[1].startswith(
        "b has the lowest Precision (0.800±0.020), and a has the lowest Recall (0.600); how much "
        "of that is noise was not measured"
    )
    one = {"a": {"precision": sure(make, 0.9)}}
    assert said(build(make, one))[1].startswith("Precision is 0.900±0.020; how much of that is")
    neither = {"a": {"mauve_star": sure(make, 0.9)}}
    assert said(build(make, neither))[1].startswith("Quality and diversity were not measured apart")


@pytest.mark.parametrize(
    ("p_of_a", "p_of_b", "clause"),
    [
        (0.4, 0.001, "a cannot be told from the reference by any test made, b can"),
        (0.001, 0.001, "every system can be told from the reference"),
        (0.4, 0.6, "a and b cannot be told from the reference by any test made"),
        (None, 0.001, "b can be told from the reference"),
        (None, None, "whether a system can be told from the reference was not tested"),
    ],
)
def test_what_the_tests_against_the_reference_tell(
    make: Make, p_of_a: float | None, p_of_b: float | None, clause: str
) -> None:
    scores = {n: {"precision": sure(make, 0.9)} for n in ("a", "b")}
    test = make["significance"]
    tests = [
        test("a", "reference", "mmd", 0.01, p_of_a),
        test("b", "reference", "mmd", 0.1, p_of_b),
    ]
    assert said(build(make, scores, tests))[1].endswith(f"; {clause}.")


def test_the_level_of_the_run_decides(make: Make) -> None:
    scores = {n: {"precision": sure(make, 0.9)} for n in ("a", "b")}
    test = make["significance"]
    data = build(make, scores, [test("a", "reference", "mmd", 0.01, 0.07)])
    assert "a cannot be told" in said(data)[1]
    data["settings"]["level"] = 0.9
    assert "a can be told from the reference" in said(data)[1]


def test_views_are_named_where_there_are_several(four_sure: Data) -> None:
    first, second = said(four_sure)
    assert first.startswith("model_a comes closest to the reference by meaning (MAUVE* ")
    assert " by meaning" in second or " by form" in second
    assert first.count(". ") == 0
    assert second.count(". ") == 0


def test_a_score_by_another_view_does_not_come_first(make: Make) -> None:
    scores = {
        "a": {"form.mauve_star": make["score"](0.9), "mauve_star": make["score"](0.1)},
        "b": {"form.mauve_star": make["score"](0.1), "mauve_star": make["score"](0.9)},
    }
    data = build(make, scores)
    data["settings"]["views"] = ["meaning", "form"]
    assert said(data)[0].startswith("b comes closest to the reference by meaning (MAUVE* 0.900)")


def test_text_statistics_do_not_stand_for_quality(make: Make) -> None:
    scores = {n: {"text.recall": make["score"](v)} for n, v in (("a", 0.4), ("b", 0.5))}
    data = build(make, scores)
    data["settings"]["views"] = ["meaning", "text"]
    assert said(data)[1].startswith("Quality and diversity were not measured apart")


def test_names_are_set_apart_and_shortened(make: Make) -> None:
    name = "\u202e" + "x" * 90
    found = verdict(build(make, {name: {"mauve_star": make["score"](0.9)}}))
    (shown,) = (part for part in found.nearness if isinstance(part, Name))
    assert len(str(shown)) == 40
    assert "\u202e" not in in_full(found.nearness)


def test_many_systems_are_counted(make: Make) -> None:
    scores = {f"m{n}": {"mauve_star": make["score"](n / 20)} for n in range(12)}
    assert (
        " before m10 (0.500), m9 (0.450), m8 (0.400), m7 (0.350) and 7 more"
        in said(build(make, scores))[0]
    )


def test_one_system_that_loses_both_is_named_once(make: Make) -> None:
    lost = {
        "precision": sure(make, 0.6, floor=floor(0.9, 0.6, inside=False)),
        "coverage": sure(make, 0.5, floor=floor(0.9, 0.4, inside=False)),
    }
    assert said(build(make, {"a": lost}))[1].startswith(
        "Against the noise floor at 250 samples, a loses quality (Precision 0.600, floor 0.900), "
        "and diversity (Coverage 0.400, floor 0.900); whether it can"
    )


def test_who_loses_most_is_left_open_where_a_test_leaves_it(make: Make) -> None:
    scores = {
        name: {"precision": sure(make, value, floor=floor(0.9, value, inside=False))}
        for name, value in (("a", 0.5), ("b", 0.52), ("c", 0.7))
    }
    test = make["significance"]
    pairs = [test("b", "a", "precision", 0.02, 0.6), test("a", "c", "precision", -0.2, 0.001)]
    assert said(build(make, scores, pairs))[1].startswith(
        "Against the noise floor at 250 samples, a loses most quality (Precision 0.500, floor "
        "0.900; b cannot be told from it; c loses some too);"
    )


def test_systems_that_share_the_lowest_score_are_both_named(make: Make) -> None:
    scores = {n: {"precision": make["score"](v)} for n, v in (("a", 0.5), ("b", 0.5), ("c", 0.7))}
    assert said(build(make, scores))[1].startswith(
        "a and b have the lowest Precision (0.500); how much of that is noise"
    )


def test_systems_that_lose_the_same_are_not_told_apart(make: Make) -> None:
    scores = {
        name: {"precision": sure(make, 0.5, floor=floor(0.9, 0.5, inside=False))}
        for name in ("a", "b")
    }
    assert said(build(make, scores))[1].startswith(
        "Against the noise floor at 250 samples, a loses most quality (Precision 0.500, floor "
        "0.900; b cannot be told from it);"
    )


def test_large_floors_are_written_alike_in_both_sentences(make: Make) -> None:
    score = sure(make, 0.9, floor=floor(0.95, 0.9, inside=True, size=2500))
    nearness, balance = said(build(make, {"a": {"mauve_star": score, "precision": score}}))
    assert "at 2,500 samples it has" in nearness
    assert "at 2,500 samples" in balance


def test_a_system_called_reference_is_not_the_reference(make: Make) -> None:
    scores = {n: {"mauve_star": sure(make, v)} for n, v in (("a", 0.9), ("reference", 0.7))}
    test = make["significance"]
    pairs = [test("a", "reference", "mauve_star", 0.2, 0.001)]
    alike = [test(n, "reference", "mmd", 0.01, 0.6) | {"interval": None} for n in scores]
    nearness, balance = said(build(make, scores, [*pairs, *alike]))
    assert nearness.endswith("reference (0.700±0.020) is further away by more than chance.")
    assert balance.endswith("a and reference cannot be told from the reference by any test made.")
