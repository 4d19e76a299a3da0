"""Names by which the field of the text is found."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from calipers.samples import as_sample_set
from calipers.samples.fields import MANY, RARER, USUAL


def field_of(**row):
    return as_sample_set([row, row]).field


@pytest.mark.parametrize("name", [*USUAL, *RARER])
def test_every_usual_name_is_found_beside_other_columns(name):
    assert field_of(id="1", **{name: "a text"}, model="m") == name


@pytest.mark.parametrize("name", MANY)
def test_every_name_of_lists_is_found(name):
    assert list(as_sample_set([{"id": "1", name: ["a", "b"], "model": "m"}])) == ["a", "b"]


@pytest.mark.parametrize(
    "name",
    ["Model_Output", "model output", "modelOutput", "model-output", "Generated Text", "TEXT"],
)
def test_case_and_separators_do_not_matter(name):
    assert field_of(id="1", **{name: "a text"}) == name


def test_several_are_asked_for():
    with pytest.raises(InputError, match="several fields may be the text: 'answer' and 'model_o"):
        field_of(question="q", answer="gold", model_output="a text")
    with pytest.raises(InputError, match=r"'pred' and 'hypothesis'; choose one .*FILE@FIELD"):
        field_of(pred="a", hypothesis="b")


def test_a_rarer_name_beside_a_usual_one_is_something_else():
    assert field_of(article="long", summary="short") == "article"
    assert field_of(source="x", summary="short") == "summary"
    assert field_of(summary="short", input_ids=[1, 2, 3]) == "input_ids"
