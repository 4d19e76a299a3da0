"""What people and models are shown: how the built-in questions are worded."""

from __future__ import annotations

import pytest

import calipers
from calipers.evaluate.judged_samples import rubric_for
from calipers.judgements.items import Item, Items, RatedTexts
from calipers.judgements.rubric import PAIRS, PAIRS_ALONE, QUALITY, Question, Rubric

WITH, WITHOUT = Item("x", "y", "one", "two", "It was"), Item("x", "y", "one", "two")


@pytest.mark.parametrize(
    ("items", "rubric"),
    [((WITHOUT,), PAIRS_ALONE), ((WITH,), PAIRS), ((WITHOUT, WITH), PAIRS)],
)
def test_texts_that_continue_nothing_are_not_said_to_do_so(items, rubric):
    assert rubric_for(Items(items), PAIRS) is rubric


def test_other_questions_stay_as_they_are():
    own = Rubric("own", "pairs", "Read both.", (Question("better", "Which is better?"),))
    assert rubric_for(Items((WITHOUT,)), own) is own
    assert rubric_for(Items((RatedTexts("x", ("one",)),)), QUALITY) is QUALITY


def test_both_wordings_answer_the_same_questions():
    assert [each.name for each in PAIRS_ALONE.questions] == [each.name for each in PAIRS.questions]
    assert not any("beginning" in each.text for each in PAIRS_ALONE.questions)


@pytest.mark.parametrize(("prompt", "told"), [(None, "two texts, A and B"), ("It was", "go on")])
def test_a_study_asks_what_fits_its_texts(tmp_path, prompt, told):
    sets = {
        name: [{"text": f"{name} {n}", **({"prompt": prompt} if prompt else {})} for n in range(3)]
        for name in ("x", "y")
    }
    with calipers.annotate(tmp_path / "study.sqlite", generated=sets, per_pair=2) as study:
        assert told in study.settings.rubric.instructions
