"""How sure the scores are, in the whole table: marks, floor, tests, seeds, advice."""

from __future__ import annotations

import dataclasses
import io
import math
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from calipers.report.comparison import document as compare
from calipers.report.render.text import Screen, plain
from hand_made import comparison_of


def plain_text(data, *, width=100):
    """Write a comparison as plain text."""
    return plain(compare.full(comparison_of(data)), width=width)


def comparison_table(data, *, width=None):
    """Show a comparison on a terminal."""
    return Screen(compare.full(comparison_of(data)), width=width)


def on_terminal(data, width, **options) -> str:
    file = io.StringIO()
    Console(file=file, width=width, **options).print(comparison_table(data))
    return file.getvalue()


def block(text: str, heading: str) -> list[str]:
    """The lines below a heading, up to the blank line before the next block."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(heading))
    return lines[start:]


def row_of(lines: list[str], start: str) -> str:
    return next(line for line in lines if line.startswith(start))


def score_of(data, row: int, key: str):
    return data["systems"][row]["scores"][key]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("name", ["model_", "模型" * 30, "long" * 40, "/a very/long path" * 3])
def test_no_line_is_longer_than_asked(make, width, count, name):
    data = make["sure"]([f"{name}{i}" for i in range(count)])
    for text in (plain_text(data, width=width), on_terminal(data, width)):
        assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("name", ["model_", "long" * 40, "模型" * 30])
def test_even_40_columns_hold_all_blocks(make, name):
    lines = plain_text(make["sure"]([f"{name}{i}" for i in range(4)]), width=40).splitlines()
    tables = [line for line in lines if not line.startswith("note: ")]  # names stay whole there
    assert max(map(cell_len, tables)) <= 40


@settings(max_examples=15)
@given(names=st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=4, unique=True))
def test_any_name_keeps_within_the_width(make, names):
    text = plain_text(make["sure"](names), width=80)
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.parametrize("width", [80, 120])
def test_intervals_stand_beside_and_lopsided_ones_below(four_sure, width):
    lines = on_terminal(four_sure, width).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("model_a"))
    assert ".84✓▲" in lines[row]
    assert lines[row + 1].split()[:2] == ["[.95,.99]", "[.83,.85]"]
    assert lines[row + 2].startswith("model_b")


def test_plain_text_has_bounds_in_the_word_of_the_value(four_sure):
    row = row_of(plain_text(four_sure, width=160).splitlines(), "model_a")
    assert row.split()[3:6] == [".98[.95,.99]✓▲", ".84[.83,.85]✓▲", ".78[.77,.79]~✓▲"]


def test_values_of_a_column_stay_in_line(four_sure):
    lines = plain_text(four_sure, width=160).splitlines()
    rows = [row_of(lines, f"model_{letter}") for letter in "bcd"]
    assert len({tuple(i for i, c in enumerate(row) if c in ".±~") for row in rows}) == 1
    assert row_of(lines, "model_a").index(".98[") == rows[0].index(".86[")
    assert len({len(row.split()) for row in rows}) == 1


def test_marks_tell_the_best_and_what_cannot_be_told_from_it(four_sure):
    rows = [
        row_of(plain_text(four_sure, width=160).splitlines(), f"model_{letter}").split()
        for letter in "abcd"
    ]
    # p = 0.41 in both views: by meaning the intervals have no value in common, by form they have
    assert [row[4] for row in rows[:3]] == [".84[.83,.85]✓▲", ".80[.79,.81]✓?", ".76[.74,.78]"]
    assert [row[8] for row in rows[:3]] == [".84[.82,.86]✓▲", ".80[.77,.83]✓≈", ".76[.73,.79]"]
    text = " ".join(plain_text(four_sure, width=120).split())
    assert (
        "▲ best in its column; ≈ not distinguishable from the best (at 95 %, corrected for 48 "
        "tests); ? undecided: differs from the best when tested alone, but not after correction "
        "for all tests" in text
    )
    assert "not tested" not in text


def test_the_level_of_the_run_decides(four_sure):
    four_sure["settings"]["level"] = 0.99
    text = plain_text(four_sure, width=160)
    assert "(at 99 %, corrected for 48 tests)" in text
    assert ".74[.73,.75]~?" in text  # p = 0.031, apart
    assert "yes: below 0.01" in text


def test_what_was_not_tested_is_not_shown_as_different(four_sure):
    four_sure["tests"] = [t for t in four_sure["tests"] if t["score"] != "recall"]
    text = plain_text(four_sure, width=160)
    assert ".80[.79,.81]✓#" in text
    assert "# not tested against the best" in text


def test_values_alike_as_shown_are_ranked_once_tests_tell_how_sure(make):
    pair = [
        make["system"]("a", {"recall": make["score"](0.90001)}),
        make["system"]("b", {"recall": make["score"](0.90002)}),
    ]
    data = make["comparison"](pair)
    data["tests"] = [make["significance"]("a", "b", "recall", -0.00001, 0.99)]
    text = plain_text(data)
    assert ".900≈" in row_of(text.splitlines(), "a ")
    assert ".900▲" in row_of(text.splitlines(), "b ")
    data["systems"][0]["scores"]["recall"]["value"] = 0.90002
    assert ".900▲" not in plain_text(data)


def test_systems_that_are_best_alike_are_marked_as_alike(make):
    systems = [make["system"](name, {"recall": make["score"](0.9)}) for name in "ab"]
    data = make["comparison"](systems)
    data["tests"] = [make["significance"]("a", "b", "recall", 0.0, 1.0)]
    text = plain_text(data)
    assert ".900▲" not in text
    assert text.count(".900≈") == 2
    assert "p = 1" in text


def test_one_system_has_neither_marks_nor_pairs(make):
    text = plain_text(make["sure"](["only"]), width=120)
    assert "best in its column" not in text
    assert "Differences between systems" not in text
    assert " .84" in text
    assert "▲" not in text


def test_without_tests_only_the_best_is_marked_and_explained_below(four_sure):
    four_sure["tests"] = []
    text = plain_text(four_sure, width=160)
    assert ".80[.79,.81]✓ " in text
    assert "▲ best in its column" in text
    assert "↑ higher is better" in text
    assert "Distinguishable from the reference?" not in text


def test_results_without_any_of_it_say_nothing_of_it(two_systems):
    text = plain_text(two_systems)
    for word in ("±", "interval", "floor", "Told from", "Differences", "seed files", "corrected"):
        assert word not in text, word


def test_the_floor_stands_apart_with_the_systems_at_its_size(four_sure):
    lines = block(plain_text(four_sure, width=160), "Noise floor")
    floor, second = row_of(lines, "floor  "), row_of(lines, "model_b")
    assert floor.split()[:4] == ["floor", "2x950", "0.951±0.004", "0.921±0.004"]
    assert second.split()[:4] == ["model_b", "950", "0.951✓", "0.915✓"]
    assert "Compare within this block only" in " ".join(lines)
    assert "model_a: within the noise floor by all 8 scores" in lines
    assert (
        "model_b: within the noise floor by Precision, Recall (meaning); "
        "Precision, Recall (form)" in lines
    )


def test_systems_as_good_by_the_same_scores_share_a_line(four_sure):
    lines = block(plain_text(four_sure, width=120), "Noise floor")
    told = "within the noise floor by Precision (meaning); Precision (form)"
    assert f"model_c, model_d: {told}" in lines


def test_floors_of_other_sizes_have_rows_of_their_own(four_sure):
    for key in ("precision", "recall", "coverage", "mauve_star"):
        for view in ("", "form."):
            score_of(four_sure, 1, view + key)["floor"] |= {"size": 400, "value": 0.5}
    lines = block(plain_text(four_sure, width=160), "Noise floor")
    names = [line.split()[:2] for line in lines if line.startswith(("floor ", "model_"))][:6]
    assert sorted(names[:2] + names[2:]) == sorted(
        [["floor", "2x400"], ["model_b", "400"], ["floor", "2x950"]]
        + [[f"model_{letter}", "950"] for letter in "acd"]
    )
    assert names[names.index(["floor", "2x400"]) + 1] == ["model_b", "400"]


def test_a_floor_that_some_scores_lack_is_a_dash(four_sure):
    for row in range(4):
        score_of(four_sure, row, "recall")["floor"] = None
    score_of(four_sure, 0, "coverage")["floor"] = None
    lines = block(plain_text(four_sure, width=160), "Noise floor")
    assert "Recall↑" in lines[2]  # that by form
    assert row_of(lines, "model_a").split()[2:4] == ["0.951✓", "–"]


def test_a_margin_of_the_floor_is_worded(four_sure):
    score_of(four_sure, 0, "recall")["floor"]["margin"] = 0.01
    assert "as equal distributions are in 19 of 20 runs" in plain_text(four_sure, width=300)


def test_systems_are_told_from_the_reference_in_words(four_sure):
    lines = block(plain_text(four_sure, width=120), "Distinguishable from the reference?")
    first = row_of(lines, "model_a")
    assert first.split("  ")[1:3] == ["  0.513", "no: p = 0.41"] or "no: p = 0.41" in first
    assert "yes: p < 0.001" in row_of(lines, "model_c")
    assert "corrected for 16 tests; yes: below 0.05" in " ".join(lines)
    assert "p = 0.000" not in "\n".join(lines)


def test_a_test_without_p_says_why(four_sure):
    four_sure["tests"][-1].update(p_value=None, adjusted_p_value=None, reason="one sample only")
    text = plain_text(four_sure, width=120)
    assert "– model_d, MMD (form): one sample only" in text.splitlines()


def test_pairs_show_difference_interval_and_p(four_sure):
    lines = block(plain_text(four_sure, width=120), "Differences between systems")
    row = row_of(lines, "model_a - model_b")
    assert row.split()[3:7] == ["+0.125±0.087", "p", "=", "0.031"]
    narrow = block(plain_text(four_sure, width=80), "Differences between systems")
    place = narrow.index(row_of(narrow, "model_a - model_b"))
    assert narrow[place].split()[3] == "+0.125±0.087"
    assert narrow[place + 1].split()[:3] == ["p", "=", "0.031"]


def test_of_the_closest_systems_is_told_what_size_would_tell_them_apart(make):
    data = make["sure"](list("abc"))
    for test in data["tests"]:
        close = {test["a"], test["b"]} == {"a", "b"}
        test.update(adjusted_p_value=0.5, separating_n=12_000 if close else 3_000)
    text = plain_text(data, width=200)
    assert "closest: a and b; about 12,000 samples in every set would be needed" in text
    assert "3,000" not in text


def test_systems_that_some_score_tells_apart_need_no_more_samples(make):
    data = make["sure"](list("ab"))
    for place, test in enumerate(data["tests"]):
        test.update(adjusted_p_value=0.5 if place else 0.01, separating_n=9_000 if place else None)
    assert "would be needed" not in plain_text(data, width=200)


def test_pairs_are_shown_by_the_details_alone(make):
    data = make["sure"](list("abcde"))
    assert "a - b" in plain(compare.document(comparison_of(data), details=True), width=120)
    assert "a - b" not in plain(compare.document(comparison_of(data)), width=120)


def test_tests_of_scores_that_are_not_shown_are_counted(four_sure):
    four_sure["settings"]["metrics_shown"] = ["density"]
    lines = block(plain_text(four_sure, width=120), "Differences between systems")
    assert lines[1].startswith("6 pairs: 36 of 48 differences are significant at 95 %")


def test_seeds_are_mean_and_standard_deviation(four_sure):
    lines = block(
        plain_text(four_sure, width=160), "Over the seed files: mean ± standard deviation"
    )
    assert row_of(lines, "model_d").split()[:4] == ["model_d", "3", "0.780±0.004", "0.720±0.004"]
    assert ".78[.76,.80]" in row_of(plain_text(four_sure, width=160).splitlines(), "model_d")


def test_seed_files_that_agree_have_a_spread_of_zero(four_sure):
    for score in four_sure["systems"][-1]["scores"].values():
        score["seeds"] = [score["value"]] * 3
    assert "0.720±0.000" in plain_text(four_sure, width=160)


def test_advice_says_where_scores_lead(four_sure):
    lines = block(plain_text(four_sure, width=120), "What more samples would change")
    assert row_of(lines, "model_a  Precision").split()[3:] == (
        ["1000", "0.985", "0.965", "+0.020", "±0.005", "not", "reached"]
    )
    assert row_of(lines, "model_a  Recall").split()[3:] == (
        ["1000", "0.840", "–", "–", "±0.005", "reached"]
    )


def test_long_advice_is_cut_and_said_to_be(four_sure):
    four_sure["advice"] *= 6
    assert "8 more (`.to_dict()`)" in plain_text(four_sure)


def test_nothing_hangs_on_colour(four_sure, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = on_terminal(four_sure, 160, force_terminal=True)
    bare = on_terminal(four_sure, 160)
    assert "\x1b[3" not in terminal
    for word in (".84✓▲", ".80✓?", ".80✓≈", "yes: p < 0.001", "0.951✓"):
        assert word in bare


def with_odd_numbers(part, chance, name=""):
    """The same with every third number missing, or one that nobody expects."""
    if dataclasses.is_dataclass(part):
        fields = {each.name: getattr(part, each.name) for each in dataclasses.fields(part)}
        odd = {key: with_odd_numbers(each, chance, key) for key, each in fields.items()}
        return dataclasses.replace(part, **odd)
    if isinstance(part, tuple) and name != "range":
        return tuple(with_odd_numbers(each, chance, name) for each in part)
    if isinstance(part, Mapping):
        return {key: with_odd_numbers(each, chance, name) for key, each in part.items()}
    if not isinstance(part, float) or name == "range" or chance.random() > 1 / 3:
        return part
    missing = None if name == "level" else math.nan
    return chance.choice([missing, missing, 0.0, -1.5, 1e-9, 123456.7, 1e12])


@pytest.mark.parametrize("seed", range(20))
def test_any_number_may_be_missing_or_odd(make, seed):
    chance, whole = random.Random(seed), comparison_of(make["sure"](["a", "b", "c"]))
    odd = with_odd_numbers(whole.systems, chance)
    comparison = dataclasses.replace(
        whole,
        systems=tuple(
            dataclasses.replace(system, scores=changed.scores)
            for system, changed in zip(whole.systems, odd, strict=True)
        ),
        tests=with_odd_numbers(whole.tests, chance),
        advice=with_odd_numbers(whole.advice, chance),
    )
    text = plain(compare.full(comparison), width=80)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert not {"None", "nan", "inf"} & set(text.split())


@pytest.mark.parametrize("width", [80, 120])
def test_plain_text_has_no_drawing(four_sure, width):
    text = plain_text(four_sure, width=width)
    assert "\x1b" not in text
    assert not any("\u2500" <= character <= "\u259f" for character in text)
