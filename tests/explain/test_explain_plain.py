"""Explanations through JSON and back, with and without texts; damage is named."""

import json
from dataclasses import replace

import pytest

from calipers.errors import InputError
from calipers.explain import Explanation, explain_pair, explanation_from


@pytest.fixture(scope="module")
def found(evidence):
    return explain_pair(evidence, view="meaning", topics=4, limit=5)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def texts_of(data):
    if isinstance(data, dict):
        own = [data["text"]] if "text" in data else []
        return own + [text for each in data.values() for text in texts_of(each)]
    return [text for each in data for text in texts_of(each)] if isinstance(data, list) else []


def test_all_comes_back(found):
    assert explanation_from(through_json(found.to_dict())) == found


def test_an_empty_one_comes_back():
    empty = Explanation("form", 3, 4, 2)
    assert explanation_from(through_json(empty.to_dict())) == empty


def test_texts_are_left_out_and_put_back(found, evidence):
    data = through_json(found.to_dict(texts=False))
    held = texts_of(data)
    assert len(held) > 20
    assert set(held) == {None}
    assert data["topics"][0]["words"] == list(found.topics[0].words) != []
    bare = explanation_from(data)
    assert bare == found.with_texts(None, None)
    assert bare.with_texts(evidence.reference_texts, evidence.generated_texts) == found


def test_every_sample_gets_the_text_of_its_own_side(found):
    sides = [f"reference {row}" for row in range(160)], [f"generated {row}" for row in range(120)]
    made = found.with_texts(*sides)
    for region in made.topics + made.cells:
        for sample in region.reference_medoids + region.missed_samples:
            assert sample.text == f"reference {sample.row}"
        for sample in region.generated_medoids:
            assert sample.text == f"generated {sample.row}"
    for each in made.outside:
        assert each.text == f"generated {each.row}"
        assert [one.text for one in each.nearest] == [
            f"reference {one.row}" for one in each.nearest
        ]
    for each in made.copies:
        assert (each.text, each.source.text) == (
            f"generated {each.row}",
            f"reference {each.source.row}",
        )


def test_hostile_texts_stay_as_they_are(found):
    nasty = "</script>\x00\u202e{{ x }} \ud800 " + "y" * 1000
    made = found.with_texts([nasty] * 160, [nasty] * 120)
    assert explanation_from(through_json(made.to_dict())) == made


def test_other_texts_are_refused(found):
    with pytest.raises(InputError, match=r"of 120 generated samples; found 1 texts"):
        found.with_texts(None, ["one"])


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("n",), "many", "n is 'many'"),
        (("m",), True, "m is True"),
        (("view",), None, "view is None"),
        (("score",), "0.1", "score is '0.1'"),
        (("topics",), {}, "topics is {}"),
        (("topics", 0), 3, "topics holds 3"),
        (("topics", 0, "direction"), "up", "direction is 'up'"),
        (("topics", 0, "direction"), [], "direction is "),
        (("topics", 0, "words"), [1], "words is 1"),
        (("cells", 0, "cells"), ["a"], "cells is 'a'"),
        (("cells", 0, "contribution"), [], "contribution is "),
        (("outside", 0, "row"), -1, "row is -1"),
        (("outside", 0, "nearest", 0, "distance"), "far", "distance is 'far'"),
        (("topics", 0, "reference_medoids", 0, "text"), 5, "text is 5"),
        (("outside_count",), 1.5, "outside_count is 1.5"),
        (("notes",), "none", "notes is 'none'"),
    ],
)
def test_damage_is_named(found, path, value, name):
    data = through_json(found.to_dict())
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises((TypeError, ValueError)) as raised:
        explanation_from(data)
    assert name in str(raised.value)


@pytest.mark.parametrize("name", ["view", "topics", "uncovered_count", "notes"])
def test_a_missing_field_is_named(found, name):
    data = found.to_dict()
    del data[name]
    with pytest.raises(LookupError, match=name):
        explanation_from(data)


def test_a_damaged_copy_is_named(found):
    data = replace(found, copies=()).to_dict()
    data["copies"] = [{"row": 1, "text": None, "distance": None, "source": 4}]
    with pytest.raises(TypeError, match="source holds 4, not an object"):
        explanation_from(data)
