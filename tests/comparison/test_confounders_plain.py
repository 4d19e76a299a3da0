"""What else may have moved a score, read back from JSON: as it was, or refused by name."""

from __future__ import annotations

import copy

import pytest

from calipers.comparison.confounders_plain import confounders_from
from calipers.report.html.checks import checks

SHARES = {"generated": 0.5, "expected": 0.25, "reference": None, "n": 9, "m": 9}
FOUND = {
    "lengths": {
        "words": {"reference": 9.0, "generated": 8, "distance": 0.1, "chance": 0.2, "cut": None},
        "characters": None,
    },
    "truncation": dict(SHARES),
    "duplicates": dict(SHARES),
    "copies": dict(SHARES),
    "prompts": None,
    "beginnings": SHARES | {"words": 5.0},
    "scripts": {"reference": {"Latin": 1.0}, "generated": {"Latin": 0.5, "Han": 0.5}},
    "language": {"generated_foreign": 0.5, "expected": 0.0, "example": "ein Satz"},
    "same": False,
}


@pytest.mark.parametrize("found", [None, {}, {"scripts": None, "language": None}, FOUND])
def test_what_is_right_comes_back_and_can_be_shown(found):
    assert confounders_from(found) == found
    assert isinstance(checks({"systems": [{"confounders": found}]}), list)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((), 7, "confounders are 7, not an object"),
        (("lengths",), 7, "lengths are 7"),
        (("lengths", "words"), [], "lengths in words are"),
        (("lengths", "words", "distance"), None, "distance of lengths in words is None"),
        (("copies", "generated"), "0.5", "generated of copies is '0.5', not a number"),
        (("duplicates", "reference"), True, "reference of duplicates is True"),
        (("beginnings", "words"), "5", "words of beginnings is '5'"),
        (("scripts", "generated"), None, "scripts of the generated set are None"),
        (("scripts", "reference", "Latin"), "all", "Latin of scripts of the reference set"),
        (("language", "example"), 3, "example of another language is 3"),
    ],
)
def test_what_is_wrong_is_named(path, value, message):
    data = {"": copy.deepcopy(FOUND)}
    *above, last = ("", *path)
    place = data
    for step in above:
        place = place[step]
    place[last] = value
    with pytest.raises(TypeError, match=message):
        confounders_from(data[""])


@pytest.mark.parametrize("check", ["copies", "beginnings", "language"])
def test_a_number_that_is_missing_is_named(check):
    with pytest.raises(LookupError, match="generated"):
        confounders_from({check: {"n": 9}})
