"""Words are counted as said, and regions are named by what is their own: by hand."""

from __future__ import annotations

from itertools import count, product
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.explain import Words
from calipers.explain.pair import direction
from calipers.explain.words import TellingWords


def counts(words):
    table = words.counts.toarray()
    return [
        {word: int(row[i]) for i, word in enumerate(words.vocabulary) if row[i]} for row in table
    ]


def test_words_are_runs_of_letters():
    found = Words.of(["Rock'n'roll, ROCK—and-Rock 2nd", "", "Ärger ärger ÄRGER"])
    assert counts(found) == [{"rock": 3, "roll": 1, "and": 1, "nd": 1}, {}, {"ärger": 3}]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t won't DIDN'T", []),
        ("Bush's it’s you're", ["bush", "it", "you"]),
        ("l'homme d'Artagnan", ["homme", "artagnan"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("东 京", ["东", "京"]),
        ("a I x", []),
        ("na\u00adive \u202eabc\u200bdef", ["naive", "abc", "def"]),
        ("x\x00yz \ud800ab\ud801", ["yz", "ab"]),
        ("b" * 41 + " " + "c" * 40, ["c" * 40]),
        ("</script><img onerror=alert(1)>", ["script", "img", "onerror", "alert"]),
        ("_under_score_ $tex 50%", ["under", "score", "tex"]),
    ],
)
def test_what_a_word_is(text, words):
    assert sorted(Words.of([text]).vocabulary) == sorted(words)


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_can_be_counted(texts):
    found = Words.of(texts)
    assert found.counts.shape == (len(texts), len(found.vocabulary))
    assert all(
        row == counts(Words.of([text]))[0] for row, text in zip(counts(found), texts, strict=True)
    )


def test_a_megabyte_in_one_line():
    found = Words.of(["x" * 1_000_000, "word " * 200_000])
    assert counts(found) == [{}, {"word": 200_000}]


def test_two_sets_share_a_vocabulary():
    words, one, two = Words.of(["bb aa aa"]).aligned(Words.of(["cc aa", "bb bb"]))
    assert words == ("bb", "aa", "cc")
    assert one.toarray().tolist() == [[1, 2, 0]]
    assert two.toarray().tolist() == [[0, 1, 1], [2, 0, 0]]


def test_an_item_that_is_no_text_is_named():
    with pytest.raises(InputError, match="row 2 is int"):
        Words.of(["a", 3])


def names(reference, generated, topics, sides):
    labels = tuple(np.array(each) for each in topics)
    telling = TellingWords(Words.of(reference), Words.of(generated), labels)
    return telling.of(labels, int(max(map(max, topics))) + 1, sides)


def test_weights_are_those_of_class_based_tfidf():
    # 20 words, 10 a region: apple 4 of 10, log(1 + 10/4); pear 2 of 10, log(1 + 10/2)
    reference = ["apple apple pear plum fig", "apple apple pear plum fig"]
    generated = ["stone stone sand clay loam", "stone stone sand clay loam"]
    found = names(reference, generated, ([0, 0], [1, 1]), {0: 0, 1: 1})
    assert 0.4 * np.log(1 + 10 / 4) > 0.2 * np.log(1 + 10 / 2)
    assert found == [("apple", "pear", "plum", "fig"), ("stone", "sand", "clay", "loam")]


def test_words_are_those_of_the_side_that_is_asked_for():
    reference, generated = ["tide quay"] * 9, ["tide raft"] * 9
    rest = ["other words here"] * 9
    topics = ([0] * 9 + [1] * 9, [0] * 9 + [2] * 9)
    texts = reference + rest, generated + ["third kind"] * 9
    assert set(names(*texts, topics, {0: 0})[0]) == {"tide", "quay"}
    assert set(names(*texts, topics, {0: 1})[0]) == {"tide", "raft"}


def test_words_of_single_texts_are_left_out():
    reference = ["harvest barn"] * 90 + ["barn smith"] * 5 + ["robinson " * 9] * 4
    found = names(reference, ["motor"] * 101, ([0] * 99, [1] * 101), {0: 0})[0]
    assert set(found) == {"harvest", "barn", "smith"}


def test_tiny_sets_keep_words_of_two_texts():
    found = names(["barn smith"] * 2 + ["robinson"], ["motor"] * 3, ([0] * 3, [1] * 3), {0: 0})[0]
    assert set(found) == {"barn", "smith"}


def test_words_that_most_topics_use_are_left_out():
    texts = [f"the said {word}" for word in ("alpha", "beta", "gamma", "delta") for _ in range(6)]
    topics = np.repeat(range(4), 6)
    found = names(texts, texts, (topics, topics), dict.fromkeys(range(4), 0))
    assert found == [("alpha",), ("beta",), ("gamma",), ("delta",)]


def test_words_that_are_as_common_elsewhere_are_left_out():
    texts = ["north wind"] * 8 + ["south wind sea"] * 8 + ["west calm"] * 8 + ["east calm"] * 8
    topics = np.repeat(range(4), 8)
    found = names(texts, texts, (topics, topics), {0: 0})[0]
    assert found[0] == "north"
    assert names(["same words"] * 9, ["same words"] * 9, ([0] * 9, [1] * 9), {0: 0, 1: 1}) == [
        (),
        (),
    ]


def test_texts_without_words_have_no_names():
    assert names(["", "1 2 3"], ["…"], ([0, 1], [1]), {0: 0, 1: 1}) == [(), ()]


def fillers():
    """Words that stand in one place each."""
    return ("zz" + "".join(letters) for letters in product(ascii_lowercase, repeat=3))


def named(texts, labels, regions):
    """The words of region 0 by the reference's texts; the generated set says nothing."""
    own, theirs = np.array(labels), np.zeros(1, int)
    telling = TellingWords(Words.of(texts), Words.of([""]), (own, theirs))
    return telling.of((own, theirs), regions, {0: 0})[0]


def test_a_rarer_word_outweighs_a_commoner_one_by_the_average_region():
    # Of 100 words here 50 are harbour (100 of all), 30 lantern (all there are); 6,000 words in all
    words = fillers()
    texts = [" ".join(["harbour"] * 5 + ["lantern"] * 3 + [next(words)] * 2) for _ in range(10)]
    texts.append(" ".join(["harbour"] * 50 + [next(words) for _ in range(1425)]))
    texts += [" ".join(next(words) for _ in range(1475)) for _ in range(3)]
    labels = [0] * 10 + [1, 2, 3, 4]
    # 300 regions of 20 words: 0.5·log(1 + 20/100) < 0.3·log(1 + 20/30)
    assert named(texts, labels, 300) == ("lantern", "harbour")
    # 5 regions of 1,200 words: 0.5·log(1 + 12) > 0.3·log(1 + 40)
    assert named(texts, labels, 5) == ("harbour", "lantern")


@pytest.mark.parametrize(("elsewhere", "told"), [(1, ("harbour",)), (3, ())])
def test_a_word_must_be_twice_as_common_as_elsewhere(elsewhere, told):
    # One word of two here; of ten elsewhere one, or three
    words, fresh = fillers(), count()
    texts = [f"harbour {next(words)}" for _ in range(10)]
    texts += [
        " ".join(["harbour"] * elsewhere + [next(words) for _ in range(10 - elsewhere)])
        for _ in range(40)
    ]
    texts += [" ".join(next(words) for _ in range(2)) for _ in range(4)]
    labels = [0] * 10 + [1] * 40 + [2 + next(fresh) for _ in range(4)]
    assert named(texts, labels, 6) == told


@pytest.mark.parametrize(("topics", "told"), [(3, ()), (4, ("harbour",))])
def test_a_word_that_is_common_in_most_topics_names_none(topics, told):
    # In two topics of three, or of four: half is not most
    words = fillers()
    texts = [f"harbour {next(words)}" for _ in range(10)]
    texts += ["harbour " + " ".join(next(words) for _ in range(99)) for _ in range(10)]
    texts += [" ".join(next(words) for _ in range(50)) for _ in range(topics - 2)]
    labels = [0] * 10 + [1] * 10 + list(range(2, topics))
    assert named(texts, labels, topics) == told


def test_more_or_less_is_told_by_shares_and_not_by_counts():
    reference, generated = np.array([10, 10, 20]), np.array([3, 1, 4])
    # 10 and 10 of 40 against 3 and 1 of 8, 20 of 40 against 4 of 8
    found = [direction(reference, generated, place) for place in range(3)]
    assert found == ["over", "under", "even"]
