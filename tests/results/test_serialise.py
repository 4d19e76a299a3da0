"""Scores, tests, advice and confounders through JSON and back; damage is told."""

from __future__ import annotations

import copy
import json
import math
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.report.html.tables import checks
from calipers.results import Comparison, SetSummary, SystemResult
from calipers.results.comparison import Advice
from calipers.results.system import check_confounders
from calipers.results.tests import SignificanceTest
from calipers.score import NoiseFloor, Score
from calipers.serialise import plain, read

finite = st.floats(-1e100, 1e100)
FLOOR = NoiseFloor(0.951, 1 / 300, 0.9443, 0.005, 950, 10, margin=0.0123)
SURE = Score(
    0.1 + 0.2,
    interval=(1 / 3, 2 / 3),
    level=0.95,
    standard_error=1 / 7,
    sources={"reference": 0.1, "generated": 1 / 9, "seed": 0.0},
    approximate=True,
    floor=FLOOR,
    seeds=(0.2, 0.4),
)
TEST = SignificanceTest(
    *("a", "b", "recall", 0.1, (-0.1, 1 / 3), 0.04, 0.32, True, 12_345),
    standard_error=1 / 7,
    detectable=0.4,
    equivalence=1 / 30,
)
FIELDS = ("standard_error", "sources", "approximate", "floor")


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def comparison(**more) -> Comparison:
    about = SetSummary("human", "human.jsonl", 1000, 1000, None, "ab" * 32)
    words = {"reference": 31.0, "generated": 24.5, "distance": 0.2, "chance": 0.1}
    found = {"lengths": {"words": words, "characters": None}, "duplicates": None}
    system = SystemResult(replace(about, name="a"), {"recall": SURE}, {}, confounders=found)
    return Comparison(about, (system,), {"views": ["meaning"]}, **more)


def edited(path, edit) -> None:
    """Write the zip again with another index."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(parts["comparison.json"])
    edit(data)
    parts["comparison.json"] = json.dumps(data).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@given(
    st.floats(0, 1),
    st.tuples(finite, finite).map(lambda ends: tuple(sorted(map(abs, ends)))),
    st.floats(0, 1e100),
    st.booleans(),
    st.integers(1, 10**9),
)
def test_a_score_comes_back_to_the_digit(value, interval, error, approximate, size):
    floor = NoiseFloor(value, error, *interval, size, 10)
    more = {"standard_error": error, "sources": {"both": error}, "approximate": approximate}
    score = Score(value, interval=interval, level=0.9, floor=floor, **more)
    back = read(Score, through_json(plain(score)))
    assert back.floor == floor
    assert back.noise_floor == value
    for name in ("value", "interval", "level", *FIELDS):
        assert getattr(back, name) == getattr(score, name), name


def test_open_bounds_come_back_open_and_other_missing_numbers_as_nan():
    floor = replace(FLOOR, spread=math.nan, margin=None)
    score = Score(0.5, (-math.inf, math.inf), 0.95, sources={"seed": math.nan}, floor=floor)
    data = plain(score)
    assert data["interval"] == [None, None]
    assert (data["floor"]["spread"], data["floor"]["margin"]) == (None, None)
    assert data["floor"]["inside"] is False
    back = read(Score, through_json(data))
    assert back.interval == (-math.inf, math.inf)
    assert math.isnan(back.sources["seed"])
    assert math.isnan(back.floor.spread)
    assert back.floor.margin is None
    assert plain(back) == data


@given(finite, st.none() | st.tuples(finite, finite), st.none() | st.integers(2, 10**12))
def test_a_significance_test_comes_back_to_the_digit(difference, interval, size):
    test = replace(TEST, difference=difference, interval=interval, separating_n=size)
    assert SignificanceTest.from_dict(through_json(test.to_dict())) == test


def test_a_test_of_before_has_neither_error_nor_equivalence():
    data = through_json(TEST.to_dict())
    for name in ("standard_error", "detectable", "equivalence"):
        del data[name]
    assert SignificanceTest.from_dict(data) == replace(
        TEST, standard_error=None, detectable=None, equivalence=None
    )
    assert TEST.separating_n == 12_345  # the first fields keep their places


def test_a_test_without_p_keeps_its_reason():
    test = replace(TEST, p_value=math.nan, adjusted_p_value=math.nan, reason="one cell only")
    data = through_json(test.to_dict())
    assert (data["p_value"], data["adjusted_p_value"]) == (None, None)
    back = SignificanceTest.from_dict(data)
    assert math.isnan(back.p_value)
    assert math.isnan(back.adjusted_p_value)
    assert back.reason == "one cell only"


def test_advice_comes_back_to_the_digit():
    advice = Advice("a", "recall", (250, 500), (1 / 3, 0.5), 0.6, -0.1, 1e-3, False)
    assert Advice.from_dict(through_json(advice.to_dict())) == advice
    unsettled = Advice.from_dict(through_json(replace(advice, limit=math.nan).to_dict()))
    assert math.isnan(unsettled.limit)


def test_the_spread_over_seed_files_is_that_of_samples():
    assert plain(SURE)["seeds_sd"] == pytest.approx(math.sqrt(0.02))
    assert plain(replace(SURE, seeds=(0.2, math.nan)))["seeds_sd"] is None
    assert "seeds_sd" not in plain(Score(0.5))


def test_an_archive_keeps_everything_that_says_how_sure(tmp_path):
    advice = Advice("a", "recall", (250, 500), (0.4, 0.5), math.nan, math.nan, 0.01, True)
    saved = comparison(tests=(TEST, replace(TEST, b="reference")), advice=(advice,))
    saved.save(tmp_path / "run.zip")
    loaded = Comparison.load(tmp_path / "run.zip")
    assert loaded.to_dict() == saved.to_dict()
    assert loaded.tests == saved.tests
    assert loaded["a"].confounders == saved["a"].confounders
    assert loaded["a"]["recall"].floor == FLOOR
    assert str(loaded) == str(saved)


def _score(data):
    return data["systems"][0]["scores"]["recall"]


def _tests(data):
    return data["tests"]["between_systems"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda d: _score(d).update(interval=[0.1]), r"interval is \[0.1\], not two bounds"),
        (lambda d: _score(d).update(interval="ab"), "interval is 'ab', not two bounds"),
        (lambda d: _score(d).update(interval=[0.1, "x"]), r"interval\[1\] is 'x', not a number"),
        (lambda d: _score(d).update(standard_error="0.1"), "standard_error is '0.1', not a num"),
        (lambda d: _score(d).update(level=True), "level is True, not a number"),
        (lambda d: _score(d).update(sources=["seed"]), "is damaged"),
        (
            lambda d: _score(d)["sources"].update(seed={}),
            r"scores\.recall\.sources\.seed is {}",
        ),
        (lambda d: _score(d).update(approximate="no"), "approximate is 'no', neither true nor"),
        (lambda d: _score(d)["floor"].pop("value"), "recall.floor lacks 'value'"),
        (lambda d: _score(d)["floor"].update(size=1.5), "floor.size is 1.5, not a whole number"),
        (lambda d: _tests(d).update(p_value=[[]]), r"tests\[0\]\.p_value is \[\], not a number"),
        (lambda d: _tests(d).update(a=None), "a is None, not a text"),
        (lambda d: _tests(d).update(separating_n="many"), "separating_n is 'many'"),
        (lambda d: _tests(d).update(p_value=[0.1, 0.2]), "p_value of the tests holds 2 values for"),
        (lambda d: _tests(d).update(difference=0.1), "column difference of the tests is 0.1"),
        (lambda d: _tests(d).update(a={"values": ["a"], "at": [1]}), "values that are not there"),
        (lambda d: _tests(d).update(a={"at": [0]}), "column a of the tests is None, not a list"),
        (lambda d: d.update(tests=[3]), "is damaged"),
        (lambda d: d.update(tests={"a": 1}), "is damaged"),
        (lambda d: d.update(advice=[{"system": "a"}]), r"advice\[0\] lacks 'score'"),
        (lambda d: d["systems"][0].update(confounders=[1]), r"confounders are \[1\], not an obj"),
    ],
)
def test_a_damaged_field_is_told(tmp_path, damage, told):
    path = tmp_path / "run.zip"
    comparison(tests=(TEST,)).save(path)
    edited(path, damage)
    with pytest.raises(InputError, match=told) as raised:
        Comparison.load(path)
    assert str(raised.value).startswith(
        f"{path}: is not a comparison saved by calipers, or is damaged"
    )


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
    "languages": {"reference": {"Thai": 1.0}, "generated": {"Lao": 1.0}, "n": 9, "m": 9},
    "language": {"generated_foreign": 0.5, "expected": 0.0, "example": "ein Satz"},
    "same": False,
}


@pytest.mark.parametrize("found", [None, {}, {"scripts": None, "language": None}, FOUND])
def test_what_is_right_comes_back_and_can_be_shown(found):
    check_confounders(found)
    about = SetSummary("a", "", 9, 9, None, "")
    system = SystemResult(about, {}, {}, confounders=found)
    assert isinstance(checks(Comparison(about, (system,), {"views": ["meaning"]})), list)


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
        (("languages", "generated"), 3, "languages of the generated set are 3"),
        (("languages", "reference", "Thai"), "all", "Thai of languages of the reference set"),
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
        check_confounders(data[""])


@pytest.mark.parametrize("check", ["copies", "beginnings", "language"])
def test_a_number_that_is_missing_is_named(check):
    with pytest.raises(LookupError, match="generated"):
        check_confounders({check: {"n": 9}})
