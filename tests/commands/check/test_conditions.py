"""Conditions as a person writes them: what they mean, and what is said of wrong ones."""

import contextlib
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.check.conditions import LARGEST, LONGEST, parse_condition, read_conditions
from calipers.errors import InputError

CONDITIONS = {
    "recall < 0.8": ("recall", "<", 0.0, 0.8),
    " form.recall>=.5 ": ("form.recall", ">=", 0.0, 0.5),
    "mauve_star:chi2 <= -1e-3": ("mauve_star:chi2", "<=", 0.0, -0.001),
    "energy_distance > +2.": ("energy_distance", ">", 0.0, 2.0),
    "recall < baseline": ("recall", "<", 1.0, 0.0),
    "mauve_star < baseline - 0.02": ("mauve_star", "<", 1.0, -0.02),
    "frechet_distance > baseline*1.1+3": ("frechet_distance", ">", 1.1, 3.0),
    "frechet_distance > 1.1 * baseline - 3e0": ("frechet_distance", ">", 1.1, -3.0),
    "precision:group=a<b > 0.1": ("precision:group=a<b", ">", 0.0, 0.1),
    "a model, the 2nd: recall < 1": ("a model, the 2nd: recall", "<", 0.0, 1.0),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_are_read(text):
    found = parse_condition(text)
    assert (found.left, found.operator, found.factor, found.offset) == CONDITIONS[text]
    assert found.text == text.strip()
    assert found.needs_baseline == ("baseline" in text)
    assert found.side == ("below" if "< " in text or "<=" in text else "above")
    assert found.inclusive == ("=" in found.operator)


WRONG = {
    "recall": "condition 'recall': expected <, <=, > or >= after the name of a score at character "
    "7; found nothing",
    "recall = 0.8": "expected <, <=, > or >= after the name of a score at character 13; found noth",
    "< 0.8": "condition '< 0.8': expected the name of a score, such as recall at character 1; "
    "found '<'",
    "recall <": "condition 'recall <': expected a number or baseline at character 9; found nothing",
    "recall < much": "expected a number or baseline at character 10; found 'much'",
    "  recall < much": "condition 'recall < much': expected a number or baseline at character 10",
    "recall < 0.8 0.9": "expected the end at character 14; found '0.9'",
    "recall < 0.8x": "expected the end at character 13; found 'x'",
    "recall < 0.8 - 0.1": "expected the end at character 14; found '-'",
    "recall < baseline 0.1": "expected *, +, - or the end at character 19; found '0.1'",
    "recall < baseline - - 0.1": "expected a number at character 21; found '-'",
    "recall < baseline * -2": "expected a number at character 21; found '-2'",
    "recall < baseline * 0": "expected a number above 0 to multiply the baseline by at character "
    "21; found '0'",
    "recall < -2 * baseline": "expected a number above 0 to multiply the baseline by at character "
    "10; found '-2'",
    "recall < 2 * recall": "expected baseline at character 14; found 'recall'",
    "recall < 1e999": "expected a finite number at character 10; found '1e999'",
    "recall < nan": "expected a number or baseline at character 10; found 'nan'",
    "recall < \N{ARABIC-INDIC DIGIT FIVE}": "expected a number or baseline at character 10; found",
    "recall < __import__('os').getpid()": "expected a number or baseline at character 10; found "
    "\"__import__('os').getpid()\"",
    "": "a condition must be a text, such as 'recall < 0.8'; found ''",
    "x" * (LONGEST + 1): f"a condition has at most {LONGEST} characters; found {LONGEST + 1}",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_no_condition_says_where_and_what_was_expected(text):
    with pytest.raises(InputError) as refused:
        parse_condition(text)
    assert WRONG[text] in str(refused.value)


def test_the_system_is_told_by_which_there_are():
    systems = {"a": ["recall", "mauve:chi2"], "a:b": ["recall"], "mauve": ["recall"]}
    places = {
        "recall < 1": (None, "recall"),
        "a: recall < 1": ("a", "recall"),
        "a:b:recall < 1": ("a:b", "recall"),
        "mauve:chi2 < 1": (None, "mauve:chi2"),
        "mauve:recall < 1": ("mauve", "recall"),
        "c:recall < 1": (None, "c:recall"),
    }
    for text, expected in places.items():
        assert parse_condition(text).split(systems) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gate.toml", "fail_if = ['recall < 0.8', 'mauve < baseline']\n"),
        ("gate.json", '{"fail_if": ["recall < 0.8", "mauve < baseline"]}'),
    ],
)
def test_conditions_are_read_from_a_file(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_conditions(tmp_path / name) == ["recall < 0.8", "mauve < baseline"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gate.toml", "fail_if = ", r"gate\.toml: is not valid TOML: "),
        ("gate.json", "[", r"gate\.json: is not valid JSON: "),
        ("gate.toml", "level = 0.9\nfail_if = ['a < 1']", "the list fail_if and nothing"),
        (
            "gate.toml",
            "fail_if = 'a < 1'",
            "the list fail_if and nothing else, such as f",
        ),
        ("gate.toml", "fail_if = []", "the list fail_if and nothing else"),
        ("gate.toml", "#" * (LARGEST + 1), "at most 1,000,000 bytes"),
        ("gate.toml", None, r"gate\.toml: .*No such file"),
    ],
)
def test_files_that_hold_no_conditions_are_refused(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_conditions(tmp_path / name)


NUMBERS = st.floats(-1e6, 1e6).map(lambda each: float(f"{each:.6g}"))
SPACES = st.sampled_from(["", " ", "  "])


@given(NUMBERS, st.floats(0.001, 1e3), NUMBERS, SPACES, st.sampled_from(["<", "<=", ">", ">="]))
def test_every_way_to_write_a_limit_means_the_same(offset, factor, number, space, operator):
    sign = "-" if math.copysign(1, offset) < 0 else "+"
    tail = f"{space}{sign}{space}{abs(offset)!r}"
    ways = (
        f"k{space}{operator}{space}baseline{space}*{space}{factor!r}{tail}",
        f"k{space}{operator}{space}{factor!r}{space}*{space}baseline{tail}",
    )
    for way in ways:
        found = parse_condition(way)
        assert (found.operator, found.factor, found.offset) == (operator, factor, offset)
    assert parse_condition(f"k{operator}{number!r}").offset == number


NOISE = st.one_of(st.just(""), st.just(" "), st.text(max_size=4))
PIECES = st.sampled_from(
    ["recall", "<", ">=", "0.8", "2", "-1e3", "baseline", "*", "+", "-", "nan"]
)


@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=8).map(" ".join)))
def test_no_text_breaks_the_grammar(text):
    with contextlib.suppress(InputError):
        parse_condition(text)


@given(st.tuples(NOISE, NOISE, NOISE, NOISE), st.sampled_from([*CONDITIONS]))
def test_what_is_read_of_a_text_can_be_checked(noise, text):
    name, operator, rest = re.split("(<=?|>=?)", text, maxsplit=1)
    before, between, after, end = noise
    try:
        found = parse_condition(f"{before}{name}{between}{operator}{after}{rest}{end}")
    except InputError:
        return
    assert math.isfinite(found.offset)
    assert found.factor >= 0
    assert found.left
