"""Repeats, copies, prompts and common beginnings."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.road.confounders import confounders
from calipers.road.confounders_copies import repeats
from calipers.road.confounders_pairing import paired_rows
from calipers.road.confounders_texts import common_words, longest_among, longest_common
from calipers.samples import SampleSet

VOCABULARY = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("an", "el", "is", "or", "um")]


def story(rng, words=30):
    return " ".join(rng.choice(VOCABULARY, words))


def stories(rng, n=200):
    return [story(rng) for _ in range(n)]


def check(reference, generated, prompts=(None, None)):
    sets = [
        SampleSet.from_texts(texts, name="x", prompts=known)
        for texts, known in zip((reference, generated), prompts, strict=True)
    ]
    return confounders(sets[0], [sets[1]])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.data())
def test_expected_repeats_are_those_of_all_subsets(values, data):
    size = data.draw(st.integers(1, len(values)))
    counts = np.array(list(Counter(values).values()))
    all_subsets = [1 - len(set(each)) / size for each in combinations(values, size)]
    assert repeats(counts, size) == pytest.approx(np.mean(all_subsets), abs=1e-9)


def test_repeats_are_told_beside_the_reference_at_the_same_size(rng):
    reference, generated = stories(rng, 400), stories(rng, 100)
    reference[200:] = reference[:200]
    generated[60:] = [f"{text.upper()}\n" for text in generated[:40]]
    found = check(reference, generated)
    assert found.duplicates.size == 100
    assert found.duplicates.generated == pytest.approx(0.4)
    # 200 pairs, of which 100 texts are drawn: the chance of the other half is 99 of 399
    assert found.duplicates.reference == pytest.approx(99 / 399 / 2, abs=1e-9)
    (warning,) = found.warnings
    assert warning.startswith("40 % of its texts repeat an earlier one of the set, 12 % of as many")


def test_what_people_repeat_as_often_is_no_warning(rng):
    answers = ["yes", "no", "maybe", "never"]
    reference, generated = rng.choice(answers, (2, 300)).tolist()
    found = check(reference, generated)
    assert found.duplicates.generated > 0.9
    assert found.copies.generated == found.copies.expected == 1
    assert found.warnings == ()


def test_empty_texts_are_no_repeats_and_no_copies(rng):
    reference, generated = stories(rng), stories(rng)
    reference[:50] = generated[:50] = [""] * 50
    found = check(reference, generated)
    assert (found.duplicates.generated, found.copies.generated) == (0, 0)
    assert found.duplicates.size == 150


def test_copies_of_the_reference_are_found_whatever_their_case_and_spacing(rng):
    reference, generated = stories(rng), stories(rng)
    generated[:30] = [text.title().replace(" ", "\n  ") for text in reference[10:40]]
    found = check(reference, generated)
    assert (found.copies.generated, found.copies.expected) == (0.15, 0)
    (warning,) = found.warnings
    assert warning.startswith("15 % of its texts stand in the reference word for word (0 % of")


def test_the_reference_itself_is_said_elsewhere(rng):
    texts = stories(rng)
    found = check(texts, texts)
    assert found.same
    assert found.copies.generated == 1
    assert found.warnings == ()


def test_prompts_on_both_sides_are_told_once(rng):
    prompts = [story(rng, 12) for _ in range(200)]
    sides = [[f"{prompt}\n{story(rng)}" for prompt in prompts] for _ in range(2)]
    known = check(*sides, prompts=(prompts, prompts))
    assert (known.prompts.reference, known.prompts.generated) == (1, 1)
    (warning,) = known.warnings
    assert warning.startswith(
        "100 % of its texts and 100 % of the reference's begin with their own"
    )
    assert "raises" in warning
    unknown = check(*sides)
    assert unknown.prompts is None
    assert (unknown.beginnings.generated, unknown.beginnings.words) == (1, 12)
    (warning,) = unknown.warnings
    assert warning.startswith("100 % of its texts begin as a reference text does, with 12 words in")
    assert "compare the continuations only" in warning


def test_a_prompt_on_one_side_sets_the_sides_apart(rng):
    prompts = [story(rng, 4) for _ in range(200)]
    reference = stories(rng)
    generated = [f"{prompt.upper()} {story(rng, 26)}" for prompt in prompts]
    found = check(reference, generated, prompts=(prompts, prompts))
    assert (found.prompts.reference, found.prompts.generated) == (0, 1)
    (warning,) = found.warnings
    assert "this alone sets the two sides apart" in warning


def test_a_form_that_people_share_is_no_prompt(rng):
    sides = [[f"Once upon a time there was {story(rng)}" for _ in range(200)] for _ in range(2)]
    found = check(*sides)
    assert found.beginnings.generated == found.beginnings.expected == 1
    assert found.warnings == ()


def test_prompts_of_two_words_begin_a_text_by_chance(rng):
    reference, generated = stories(rng), stories(rng)
    prompts = [" ".join(text.split()[:2]) for text in generated]
    found = check(reference, generated, prompts=(None, prompts))
    assert found.prompts is None


def test_copies_are_not_counted_as_beginnings(rng):
    reference, generated = stories(rng), stories(rng)
    generated[:100] = reference[:100]
    found = check(reference, generated)
    assert (found.beginnings.generated, found.beginnings.m) == (0, 100)
    assert len(found.warnings) == 1


short = st.lists(st.sampled_from(["a", "b", "ab", "a!"]), max_size=5).map(" ".join)


def slow_common(one, other):
    pairs = zip(one.split(), other.split(), strict=False)
    return next(
        (n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, map(str.split, (one, other))))
    )


@given(short, st.lists(short, min_size=1, max_size=8))
def test_common_beginnings_are_those_of_all_pairs(text, others):
    assert all(common_words(text, each) == slow_common(text, each) for each in others)
    longest = max(slow_common(text, each) for each in others)
    assert longest_common([text], sorted(others)).tolist() == [longest]
    in_order = sorted(others)
    expected = [
        max((slow_common(a, b) for j, b in enumerate(in_order) if j != i), default=0)
        for i, a in enumerate(in_order)
    ]
    assert longest_among(in_order).tolist() == expected


def prompted(prompts, texts=None):
    return SampleSet.from_texts(texts or ["t"] * len(prompts), name="x", prompts=prompts)


def test_rows_are_pairs_where_they_answer_the_same_prompts():
    prompts = [f"prompt {row}" for row in range(200)]
    rows = prompted(prompts)
    assert paired_rows(rows, prompted([f" {each.upper()}\n" for each in prompts]))
    assert paired_rows(rows, prompted(["other", *prompts[1:]]))
    assert not paired_rows(rows, prompted(["other"] * 3 + prompts[3:]))
    assert not paired_rows(rows, prompted(prompts[::-1]))
    assert not paired_rows(rows, prompted(prompts[:-1]))
    assert not paired_rows(rows, SampleSet.from_texts(["t"] * 200, name="x"))
    cut = [each.subsample(50, seed=3) for each in (rows, prompted(prompts, ["u"] * 200))]
    assert paired_rows(*cut)


def test_one_prompt_or_none_makes_no_pairs():
    for same in ("write a story", ""):
        assert not paired_rows(prompted([same] * 50), prompted([same] * 50))
