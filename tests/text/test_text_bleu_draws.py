"""Self-BLEU of drawn texts, and what it says of bad input."""

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.text import corpus_match_bleu, self_bleu
from calipers.text.bleu_sentences import draw
from calipers.text.tokens import tokenise


@pytest.fixture
def texts(rng):
    return [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(40)]


def own(texts, **options):
    return self_bleu(texts, **{"tokenizer": "whitespace", "threads": 1} | options)


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_a_sample_is_held_against_all_others(texts, average):
    whole = own(texts, average=average).per_sample
    found = own(texts, average=average, sample=10, seed=3)
    drawn = ~np.isnan(found.per_sample)
    assert drawn.sum() == 10
    assert found.per_sample[drawn].tolist() == whole[drawn].tolist()
    assert found.value == np.mean(whole[drawn])
    assert "|sample:10|seed:3|" in found.signature


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_others_are_the_rest_of_a_drawn_pool(texts, average):
    found = own(texts, average=average, others=14, seed=5)
    pool = draw(len(texts), sample=None, others=14, seed=5).pool
    assert len(pool) == 15
    alone = own([texts[row] for row in pool], average=average)
    assert found.per_sample[pool].tolist() == alone.per_sample.tolist()
    assert np.isnan(np.delete(found.per_sample, pool)).all()
    assert found.value == alone.value


def test_a_sample_is_drawn_from_the_pool():
    drawn = draw(100, sample=10, others=19, seed=0)
    assert (len(drawn.rows), len(drawn.pool)) == (10, 20)
    assert np.isin(drawn.rows, drawn.pool).all()
    assert drawn.pins == {"others": 19, "sample": 10, "seed": 0}


def test_the_whole_may_be_drawn(texts):
    assert own(texts, sample=40, others=39).value == own(texts).value


def test_the_seed_draws(texts):
    assert own(texts, sample=5, seed=1).value == own(texts, sample=5, seed=1).value
    assert own(texts, sample=5, seed=1).value != own(texts, sample=5, seed=2).value


def test_a_single_text_has_no_value():
    found = own(["a b c d"])
    assert np.isnan(found.value)
    assert np.isnan(found.per_sample).all()
    assert found.reason == "a single text has no others to be held against"


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_texts_without_tokens_have_no_value(average):
    found = own(["", " "], average=average)
    assert np.isnan(found.value)
    assert found.reason == "no text has a token"


def test_a_side_without_tokens_has_no_value():
    for texts, references, side in ((["a"], [""], "reference"), ([""], ["a"], "text")):
        found = corpus_match_bleu(texts, references, tokenizer="whitespace")
        assert np.isnan(found.value)
        assert found.reason == f"no {side} has a token"


def test_no_shared_vocabulary_scores_zero():
    assert own(["a b", "c d"]).value == 0
    assert corpus_match_bleu(["a b"], ["c d"], tokenizer="whitespace").value == 0


def test_scripts_emoji_and_surrogates_are_tokens_like_others():
    texts = ["你好 世界 😀 吗", "\ud800 b c d", "你好 世界 😀 吗", "\ud800 b c d"]
    assert own(texts).per_sample.tolist() == [1, 1, 1, 1]


def test_one_long_text_beside_short_ones():
    long = " ".join(map(str, range(200_000)))
    assert own([long, "1 2 3 4", ""]).per_sample.tolist()[1:] == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order must be a whole number from 1 to 100; found 0"),
        ({"order": 101}, "order must be a whole number from 1 to 100; found 101"),
        ({"order": 2.0}, "found 2.0"),
        ({"threads": 0}, "threads must be a whole number of at least 1; found 0"),
        ({"threads": "a"}, "threads must be a whole number of at least 1; found 'a'"),
        ({"average": "pairs"}, "unknown value for average 'pairs'; did you mean 'pairwise'"),
        ({"sample": 4}, "sample must be at most 3, the texts to draw from; found 4"),
        ({"others": 3}, "others must be at most 2, the texts less one; found 3"),
        ({"others": 1, "sample": 3}, "sample must be at most 2"),
        ({"sample": 0}, "sample must be a whole number of at least 1; found 0"),
        ({"sample": 1, "seed": -1}, "seed must be a whole number of at least 0; found -1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        own(["a", "b", "c"], **options)


@pytest.mark.parametrize("threads", [0, -1, "a", 1.5])
def test_threads_of_corpus_bleu_are_a_whole_number(threads):
    with pytest.raises(InputError, match="threads must be a whole number of at least 1"):
        corpus_match_bleu(["a"], ["a"], tokenizer="whitespace", threads=threads)


def test_corpora_must_belong_together():
    (one,), (two,) = tokenise(["a"], tokenizer="whitespace"), tokenise(["a"])
    with pytest.raises(InputError, match="tokenised together"):
        corpus_match_bleu(one, two)
