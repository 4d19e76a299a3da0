"""Over-used phrases against Fisher's test by SciPy, by hand, and on sets without a difference."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from calipers.errors import InputError
from calipers.text import tokenise
from calipers.text.overused import LISTED, overuse, overused_phrases

WORDS = ["a", "b", "c", "d", "e", "f"]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=12
)


def holders(texts, order, where):
    """How many texts hold each phrase, by sets of tuples."""
    counts = Counter()
    for text in texts:
        tokens = text.split()
        grams = [tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1)]
        counts.update(set(grams[:1] if where == "opening" else grams))
    return counts


@given(TEXTS, TEXTS, st.integers(1, 3), st.sampled_from(["anywhere", "opening"]))
@settings(max_examples=60)
def test_counts_and_tests_are_those_of_sets_of_tuples(generated, human, order, where):
    level = 0.6
    ours, theirs = holders(generated, order, where), holders(human, order, where)
    m, n = len(generated), len(human)
    phrases = sorted({*ours, *theirs})
    table = {
        phrase: [[ours[phrase], m - ours[phrase]], [theirs[phrase], n - theirs[phrase]]]
        for phrase in phrases
    }
    plain = {p: fisher_exact(table[p], alternative="greater").pvalue for p in phrases}
    best = {
        p: fisher_exact(
            [
                [min(t := ours[p] + theirs[p], m), m - min(t, m)],
                [t - min(t, m), n - (t - min(t, m))],
            ],
            alternative="greater",
        ).pvalue
        for p in phrases
    }
    tests = 1
    while sum(value <= level / tests * (1 + 1e-12) for value in best.values()) > tests:
        tests += 1
    listed = {p for p in phrases if tests * plain[p] <= level * (1 - 1e-9)}
    score = overused_phrases(
        generated, human, order=order, where=where, level=level, tokenizer="whitespace"
    )
    found = {tuple(row["phrase"].split()): row for row in score.details}
    border = {p for p in phrases if abs(tests * plain[p] - level) < 1e-9}
    assert listed <= set(found) <= listed | border
    for phrase, row in found.items():
        assert (row["texts"], row["references"]) == (ours[phrase], theirs[phrase])
        assert row["p_value"] == pytest.approx(min(1, tests * plain[phrase]), rel=1e-9)
        share = theirs[phrase] / n
        assert row["ratio"] == (pytest.approx(ours[phrase] / m / share) if share else np.inf)
    for text, holds in zip(generated, score.per_sample, strict=True):
        own = set(holders([text], order, where))
        assert np.isnan(holds) if not own else holds == bool(own & set(found))


def test_a_worked_example():
    generated = ["sure thing : one", "sure thing : two", "sure thing : three", "no"]
    human = ["one thing", "two things", "three", "sure"]
    score = overused_phrases(generated, human, order=2, level=0.1, tokenizer="whitespace")
    # "sure thing" and "thing :" stand in 3 of 4 and 0 of 4: p = C(4,3)/C(8,3) = 1/14 each; of all
    # phrases these two alone can get so low, so K = 2 and none is sure at 0.1
    assert score.details == ()
    assert score.value == 0
    found = overuse(np.array([3, 3, 1]), np.array([0, 0, 0]), 4, 4, level=0.1)
    assert found.tolist() == pytest.approx([2 / 14, 2 / 14, 1.0])
    score = overused_phrases(generated, human, order=2, level=0.15, tokenizer="whitespace")
    assert [row["phrase"] for row in score.details] == ["sure thing", "thing :"]
    assert score.value == 1.0
    assert np.array_equal(score.per_sample, [1, 1, 1, np.nan], equal_nan=True)


def test_openings_are_first_words_alone():
    generated = ["b a x"] * 9
    human = ["x a b"] * 9
    anywhere = overused_phrases(generated, human, order=1, tokenizer="whitespace")
    opening = overused_phrases(generated, human, order=1, where="opening", tokenizer="whitespace")
    assert anywhere.details == ()
    assert [row["phrase"] for row in opening.details] == ["b"]


def test_a_text_counts_once_however_often_it_repeats_itself():
    human = ["x y"] * 10
    once = overused_phrases(["a a a a a"] * 2 + ["x y"] * 8, human, order=1, tokenizer="whitespace")
    assert once.details == ()


def test_equal_sets_have_no_overused_phrase():
    texts = [f"{a} {b} {c}" for a in WORDS for b in WORDS for c in WORDS]
    assert overused_phrases(texts, texts, order=2, tokenizer="whitespace").value == 0


def test_no_more_phrases_are_listed_than_a_person_reads():
    generated = [" ".join(f"w{i}" for i in range(300))] * 20
    score = overused_phrases(generated, ["x"] * 20, order=1, tokenizer="whitespace")
    assert len(score.details) == LISTED
    assert score.value == 1


def test_texts_too_short_have_no_value_and_a_reason():
    score = overused_phrases(["a", ""], ["b"], order=2, tokenizer="whitespace")
    assert np.isnan(score.value)
    assert score.reason == "no text has 2 tokens"
    assert np.isnan(score.per_sample).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level .*0 and 1.* 0"),
        ({"level": 1.5}, "level .*0 and 1.* 1.5"),
        ({"level": None}, "level .*0 and 1.* None"),
        ({"level": "a"}, "level .*0 and 1.* .a."),
        ({"where": "ending"}, "unknown value for where 'ending'"),
        ({"order": 0}, "order must be"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        overused_phrases(["a"], ["b"], **options)


def test_corpora_must_share_words():
    (own,), (known,) = tokenise(["a b"]), tokenise(["a b"])
    with pytest.raises(InputError, match="tokenised together"):
        overused_phrases(own, known)


@pytest.mark.slow
def test_without_a_difference_something_is_listed_no_more_often_than_the_level(rng):
    """Draws out of one Zipf-like population: the family-wise level holds."""
    weights = 1 / np.arange(1, 41)
    weights /= weights.sum()
    listed = 0
    for _ in range(300):
        texts = [" ".join(map(str, rng.choice(40, 6, p=weights))) for _ in range(120)]
        score = overused_phrases(texts[:60], texts[60:], order=1, level=0.2, tokenizer="whitespace")
        listed += bool(score.details)
    assert listed / 300 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 300)
    assert listed > 0
