import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError, MissingExtraError
from calipers.text import (
    NearDuplicate,
    exact_duplicates,
    near_duplicate_pairs,
    near_duplicates,
)
from calipers.text.near_texts import MISSED, bands, hash_ngrams, minhashes
from calipers.text.tokens import tokenise

WORDS = " ".join(f"w{number}" for number in range(60)).split()


def variants(count, seed=0):
    """Texts of 60 words that differ from a common one in 0 to 6 places, or in all."""
    rng = np.random.default_rng(seed)
    texts = []
    for row in range(count):
        words = WORDS.copy() if row % 3 else [f"x{row}_{place}" for place in range(60)]
        for place in rng.choice(60, rng.integers(0, 7), replace=False):
            words[place] = f"new{row}"
        texts.append(" ".join(words))
    return texts


def grams(text, order):
    words = text.split()
    return {tuple(words[start : start + order]) for start in range(len(words) - order + 1)}


def jaccard(one, two, order):
    one, two = grams(one, order), grams(two, order)
    return len(one & two) / len(one | two) if one and two else 0.0


def near(texts, references=None, **options):
    return near_duplicates(texts, references, tokenizer="whitespace", **options)


def pairs(texts, references=None, **options):
    return near_duplicate_pairs(texts, references, tokenizer="whitespace", **options)


class TestExact:
    def test_by_hand(self):
        score = exact_duplicates(["a", "b", "a", "", "", "A"])
        assert score.value == 2 / 6
        assert score.per_sample.tolist() == [False, False, True, False, True, False]
        assert score.better == "closest"
        assert score.signature.startswith("metric:exact_duplicates|fold:False|n:6|")

    def test_folding_ignores_case_and_white_space(self):
        texts = ["Straße  1", "STRASSE 1\n", " strasse 1", "strasse1"]
        assert exact_duplicates(texts).value == 0
        assert exact_duplicates(texts, fold=True).value == 0.5

    def test_surrogates_and_emoji(self):
        assert exact_duplicates(["\ud800", "\ud800", "👩‍👩‍👧"], fold=True).value == 1 / 3

    def test_of_a_corpus_as_of_its_texts(self):
        texts = ["a b", "a  b", "a b"]
        corpus = tokenise(texts, tokenizer="whitespace")[0]
        assert exact_duplicates(corpus).value == exact_duplicates(texts).value == 1 / 3

    @given(st.lists(st.text("ab", max_size=2), min_size=1, max_size=20), st.randoms())
    def test_counts_distinct_texts_in_any_order(self, texts, random):
        shuffled = random.sample(texts, len(texts))
        expected = 1 - len(set(texts)) / len(texts)
        assert exact_duplicates(texts).value == pytest.approx(expected, abs=1e-15)
        assert exact_duplicates(texts).value == exact_duplicates(shuffled).value

    def test_bad_input(self):
        with pytest.raises(InputError, match="at least one text"):
            exact_duplicates([])
        with pytest.raises(InputError, match="row 2 is None"):
            exact_duplicates(["a", None])


class TestNear:
    def test_by_hand(self):
        # 5 of the 6 bigrams of the second text are those of the first
        texts = ["the cat sat on the mat", "so the cat sat on the mat", "a dog barked", "one"]
        score = near(texts, order=2)
        np.testing.assert_array_equal(score.per_sample, [1, 1, 0, np.nan])
        assert score.value == 2 / 3
        assert "undefined:1" in score.signature
        assert pairs(texts, order=2) == [NearDuplicate(1, 0, 5 / 6)]
        assert near(texts, order=2, threshold=0.84).value == 0

    def test_sets_at_the_very_threshold_are_near(self):
        texts = ["a b c d", "a b c d e"]
        assert pairs(texts, order=1, threshold=0.8) == [NearDuplicate(1, 0, 0.8)]
        texts = [" ".join(WORDS[:11]), " ".join(WORDS[:20])]
        assert near(texts, order=1, threshold=0.55).value == 1  # 0.55 * 20 > 11 in floats

    @pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
    def test_equals_all_pairs(self, threshold):
        texts = variants(60)
        score = near(texts, order=3, threshold=threshold, permutations=256)
        similar = np.zeros((60, 60))
        for one, two in itertools.permutations(range(60), 2):
            similar[one, two] = jaccard(texts[one], texts[two], 3)
        expected = (similar >= threshold).any(axis=1)
        np.testing.assert_array_equal(score.per_sample, expected)
        assert 0 < score.value < 1
        found = pairs(texts, order=3, threshold=threshold, permutations=256)
        earlier = np.tril(similar) >= threshold
        assert [each.row for each in found] == np.flatnonzero(earlier.any(axis=1)).tolist()
        for each in found:
            assert each.source < each.row
            assert each.similarity == similar[each.row, each.source] >= threshold

    def test_what_is_left_without_the_pairs_has_no_near_duplicates(self):
        texts = variants(80, seed=3)
        taken = {each.row for each in pairs(texts)}
        left = [text for row, text in enumerate(texts) if row not in taken]
        assert 0 < len(taken) < 80
        assert near(left).value == 0

    def test_order_of_texts_does_not_matter(self, rng):
        texts = variants(60, seed=1)
        turned = rng.permutation(60)
        first = near(texts, permutations=32)
        second = near([texts[row] for row in turned], permutations=32)
        np.testing.assert_array_equal(first.per_sample[turned], second.per_sample)

    def test_other_texts_do_not_matter_to_a_signature(self):
        alone = tokenise(["c a b a"], tokenizer="whitespace")[0]
        beside = tokenise(["b z y", "c a b a"], tokenizer="whitespace")[0]
        one, two = alone.ngrams(2), beside.ngrams(2)
        found = hash_ngrams(beside, two)[two.ids[two.starts[1] :]]
        np.testing.assert_array_equal(hash_ngrams(alone, one)[one.ids], found)

    def test_against_references(self):
        texts = variants(40, seed=5)
        own, references = texts[:20], texts[20:]
        score = near(own, references, order=3, threshold=0.5)
        similar = np.array([[jaccard(one, two, 3) for two in references] for one in own])
        np.testing.assert_array_equal(score.per_sample, (similar >= 0.5).any(axis=1))
        assert score.better == "lower"
        assert "references:20" in score.signature
        for each in pairs(own, references, order=3, threshold=0.5):
            assert each.similarity == similar[each.row, each.source] >= 0.5

    def test_an_equal_reference_is_named_before_one_that_is_near(self):
        references = [" ".join(WORDS[1:]), "a b c d e f", " ".join(WORDS)]
        assert pairs([" ".join(WORDS)], references) == [NearDuplicate(0, 2, 1.0)]

    def test_copies_among_the_texts_alone_do_not_count_against_references(self):
        text = " ".join(WORDS)
        assert near([text, text], ["a b c d e f"]).value == 0

    def test_many_equal_and_many_alike_texts_are_quick(self):
        text = " ".join(WORDS)
        alike = [f"{text} {row}" for row in range(2_000)]
        assert near([text] * 20_000).value == 1
        found = pairs(alike)
        assert [each.source for each in found] == [0] * 1_999

    def test_one_text_has_no_other(self):
        assert near(["a b c d e f"]).value == 0

    def test_texts_too_short(self):
        score = near(["a b", ""])
        assert math.isnan(score.value)
        assert score.reason == "no text has 5 tokens"
        assert pairs(["a b", "a b"]) == []
        assert near(["a b c d e"], [""]).value == 0

    @settings(max_examples=30)
    @given(
        st.lists(st.text("ab ", max_size=12), min_size=1, max_size=8),
        st.floats(0.3, 1),
        st.integers(1, 3),
    )
    def test_nothing_is_called_near_that_is_not(self, texts, threshold, order):
        for each in pairs(texts, order=order, threshold=threshold):
            found = jaccard(texts[each.row], texts[each.source], order)
            assert each.similarity == found >= threshold

    def test_surrogates_and_other_scripts(self):
        text = "\ud800 這是 一個 👩‍👩‍👧 مرحبا नमस्ते"
        assert near([text, text + " x"], order=1).value == 1


class TestBands:
    @pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.9, 0.99, 1.0])
    def test_few_are_missed_and_more_rows_would_miss_more(self, threshold):
        count, rows = bands(threshold, 128)
        assert count * rows <= 128
        assert (1 - threshold**rows) ** count <= MISSED
        if rows < 128:
            assert (1 - threshold ** (rows + 1)) ** (128 // (rows + 1)) > MISSED

    def test_usual(self):
        assert bands(0.8, 128) == (21, 6)
        missed = [(1 - similarity**6) ** 21 for similarity in (0.8, 0.9)]
        assert missed == pytest.approx([0.0017, 1.2e-7], rel=0.05)

    def test_signatures_estimate_similarity(self):
        hashes = np.random.default_rng(0).integers(0, 2**32, 300, np.uint32)
        sets = [np.arange(200, dtype=np.int32), np.arange(100, 300, dtype=np.int32)]
        one, two = minhashes(sets, hashes, 4096, 1)
        assert np.mean(one == two) == pytest.approx(1 / 3, abs=0.03)  # 4 standard errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order .*from 1 to 100.* 0"),
        ({"order": 101}, "order .*from 1 to 100.* 101"),
        ({"threshold": 0}, "threshold .*above 0 and at most 1.* 0"),
        ({"threshold": 1.5}, "found 1.5"),
        ({"threshold": math.nan}, "found nan"),
        ({"threshold": "high"}, "found 'high'"),
        ({"threshold": 0.01}, "128 permutations .*28% .*0.01"),
        ({"permutations": 0}, "permutations must be a whole number"),
        ({"permutations": 10_000}, "permutations .*at most 4,096.* 10,000"),
        ({"seed": -1}, "seed .*at least 0"),
        ({"seed": 2**32}, "seed must be at most 4,294,967,295"),
    ],
)
def test_options_out_of_range(options, words):
    with pytest.raises(InputError, match=words):
        near_duplicates(["a b"], **options)


def test_corpora_must_be_tokenised_together():
    corpus = tokenise(["a b"], tokenizer="whitespace")[0]
    with pytest.raises(InputError, match="tokenised together"):
        near_duplicates(corpus, ["a b"])


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasketch", None)
    with pytest.raises(MissingExtraError, match=r"calipers\[duplicates\]"):
        near(["a b c d e f"])
