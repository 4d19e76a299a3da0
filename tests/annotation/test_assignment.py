"""Who is shown what: balanced for each annotator, fixed by the seed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from calipers.annotation.assignment import (
    Candidate,
    check_places,
    choose,
    choose_first,
    draw,
)

NONE = {"shown": {}, "everyone": {}, "seed": 0, "annotator": 1}


def test_nothing_is_chosen_from_nothing():
    assert choose([], **NONE) is None


def test_the_pair_that_the_annotator_met_least_comes_first():
    items = [Candidate(1, "x"), Candidate(2, "y"), Candidate(3, "z")]
    given = {**NONE, "shown": {"x": 1, "y": 0, "z": 1}}
    assert choose(items, **given) == Candidate(2, "y")


def test_then_the_pair_that_has_fewest_ratings():
    items = [Candidate(1, "x"), Candidate(2, "y"), Candidate(3, "z")]
    given = {**NONE, "everyone": {"x": 0.5, "y": 0.5, "z": 0.25}}
    assert choose(items, **given) == Candidate(3, "z")


@given(st.integers(0, 2**32), st.integers(1, 50), st.permutations(range(12)))
def test_the_order_of_the_items_does_not_matter(seed, annotator, order):
    items = [Candidate(place, "xyz"[place % 3]) for place in range(12)]
    given = {**NONE, "seed": seed, "annotator": annotator}
    assert choose(items, **given) == choose([items[place] for place in order], **given)


def test_annotators_begin_with_items_of_their_own():
    items = [Candidate(place, "x") for place in range(100)]
    chosen = {choose(items, **{**NONE, "annotator": each}).item for each in range(30)}
    assert len(chosen) > 20


def test_the_text_that_was_first_less_often_is_first():
    given = {"seed": 0, "annotator": 1, "item": 1}
    assert choose_first({"a": 2, "b": 1}, **given) == "b"
    assert choose_first({"b": 1}, **given) == "a"


def test_first_sides_are_even_at_par():
    drawn = Counter(choose_first({}, seed=3, annotator=1, item=item) for item in range(2_000))
    assert 900 < drawn["a"] < 1_100


@given(st.integers(0, 20), st.integers(0, 200), st.integers(0, 2**32))
def test_a_check_lies_in_each_part_of_the_work(number, goal, seed):
    places = check_places(number, goal, seed=seed, annotator=1)
    assert len(places) == number
    assert places == sorted(places)
    assert all(1 <= place <= max(goal, 1) for place in places)
    if number and goal >= number:
        assert len({int((place - 0.5) * number / goal) for place in places}) >= number // 2


def test_a_draw_is_fixed_and_in_range():
    assert draw(1, "x") == draw(1, "x") != draw(2, "x")
    assert draw(1, "x", 1) != draw(1, "x", 2)
    values = [draw(5, place) for place in range(1_000)]
    assert 0 <= min(values) < max(values) < 1
    assert 0.45 < sum(values) / 1_000 < 0.55
