"""Which words name a region, and whether there is too much or too little of it: by hand."""

from __future__ import annotations

from itertools import count, product
from string import ascii_lowercase

import numpy as np
import pytest

from calipers.explain import Words
from calipers.explain.regions import direction
from calipers.explain.telling import TellingWords


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
