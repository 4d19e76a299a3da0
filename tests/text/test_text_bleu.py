"""Self-BLEU and corpus BLEU: worked by hand, equal to NLTK, the laws, and draws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from calipers.errors import InputError
from calipers.text import corpus_match_bleu, self_bleu
from calipers.text.bleu_sentences import draw
from calipers.text.tokens import tokenise

# Self-BLEU and corpus BLEU: worked by hand, equal to NLTK, and the laws they obey.


METHOD1 = SmoothingFunction().method1

text = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
some = st.lists(text, min_size=2, max_size=9)
orders = st.integers(1, 6)


def nltk_bleu(references, text, order):
    """What NLTK says of one text against many."""
    split = [reference.split() for reference in references]
    return float(sentence_bleu(split, text.split(), (1 / order,) * order, METHOD1))


def left_out(texts, row):
    return texts[:row] + texts[row + 1 :]


def match(texts, references, **options):
    return corpus_match_bleu(texts, references, tokenizer="whitespace", threads=1, **options)


def test_a_case_worked_by_hand():
    # Of "a b a b": a and b at most once each in any other text, so 2 of 4; "a b" 1 of 3; no more
    found = own(["a b a b", "a b c", "d"], order=3).per_sample
    by_hand = (2 / 4 * 1 / 3 * 0.1 / 2) ** (1 / 3)
    assert found[0] == pytest.approx(by_hand, abs=1e-15)
    # "a b c" has 2 of 3, 1 of 2, and 0.1 of 1; the closest of lengths 4 and 1 is 4
    assert found[1] == pytest.approx(math.exp(1 - 4 / 3) * (2 / 3 * 1 / 2 * 0.1) ** (1 / 3))
    assert found[2] == 0


def test_of_two_lengths_equally_close_the_shorter_counts():
    # Length 2 against 1 and 3: r = 1 means no penalty, r = 3 would cost exp(-1/2)
    assert own(["a a", "a", "a b b"], order=1).per_sample[0] == pytest.approx(1 / 2)


def test_a_text_is_left_out_but_not_its_copies():
    texts = ["a b c d", "a b c d", "e f g h"]
    assert own(texts).per_sample.tolist() == [1, 1, 0]


def test_a_count_held_by_the_text_itself_gives_way_to_the_next_largest():
    assert own(["a a a", "a a", "a"], order=1).per_sample[0] == pytest.approx(2 / 3)


@settings(max_examples=60)
@given(some, orders)
def test_self_bleu_equals_nltk(texts, order):
    expected = [nltk_bleu(left_out(texts, row), one, order) for row, one in enumerate(texts)]
    np.testing.assert_allclose(own(texts, order=order).per_sample, expected, rtol=0, atol=1e-15)


@settings(max_examples=60)
@given(some, some, orders)
def test_corpus_match_bleu_equals_nltk(texts, references, order):
    expected = [nltk_bleu(references, one, order) for one in texts]
    found = match(texts, references, order=order).per_sample
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@settings(max_examples=40)
@given(some, orders)
def test_the_pairwise_mean_equals_nltk(texts, order):
    expected = [
        np.mean([nltk_bleu([other], one, order) for other in left_out(texts, row)])
        for row, one in enumerate(texts)
    ]
    found = own(texts, order=order, average="pairwise").per_sample
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_it_equals_nltk_on_real_texts(data_folder):
    lines = (data_folder / "ag_news" / "test.csv").read_text(encoding="utf-8").splitlines()[:300]
    (corpus,) = tokenise(lines)
    split = [
        [corpus.words[number] for number in corpus.tokens[start:end]]
        for start, end in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
    ]
    found = self_bleu(corpus).per_sample[:20]
    weights = (0.25,) * 4
    expected = [
        sentence_bleu(left_out(split, row), split[row], weights, METHOD1) for row in range(20)
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@settings(max_examples=40)
@given(some, orders, st.sampled_from(["all", "pairwise"]), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_permutes_the_values(texts, order, average, random):
    moved = random.sample(range(len(texts)), len(texts))
    found = own(texts, order=order, average=average).per_sample
    again = own([texts[row] for row in moved], order=order, average=average).per_sample
    np.testing.assert_allclose(again, found[moved], rtol=0, atol=1e-15)


@settings(max_examples=40)
@given(st.lists(text.filter(lambda one: len(one.split()) >= 4), min_size=1, max_size=6))
def test_duplicated_texts_score_one(texts):
    assert own(texts + texts).per_sample.tolist() == [1] * (2 * len(texts))


@settings(max_examples=40)
@given(some, some, orders)
def test_values_are_shares_and_a_contained_text_scores_one(texts, references, order):
    for found in (own(texts, order=order), match(texts, references, order=order)):
        assert ((found.per_sample >= 0) & (found.per_sample <= 1)).all()
    long = [one for one in texts if len(one.split()) >= order]
    if long:
        assert match(long, [*references, *texts], order=order).per_sample.tolist() == [1] * len(
            long
        )


@settings(max_examples=30)
@given(some, orders)
def test_self_bleu_is_the_match_with_the_others(texts, order):
    alone = [
        match([one], left_out(texts, row), order=order).per_sample[0]
        for row, one in enumerate(texts)
    ]
    assert own(texts, order=order).per_sample.tolist() == alone


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_threads_and_blocks_change_nothing(monkeypatch, rng, average):
    texts = [" ".join(rng.choice(list("abcdef"), size)) for size in rng.integers(0, 20, 60)]
    whole = own(texts, average=average)
    monkeypatch.setattr("calipers.text.bleu_sentences.BLOCK", 7)
    monkeypatch.setattr("calipers.text.bleu_sentences.ROOM", 1000)
    cut = self_bleu(texts, tokenizer="whitespace", average=average, threads=3)
    assert cut.per_sample.tolist() == whole.per_sample.tolist()
    assert cut.value == whole.value


def test_what_the_score_says():
    found = own(["a b c d", "a b c d e"])
    assert found.value == found.per_sample.mean()
    assert (found.better, found.range) == ("closest", (0, 1))
    pins = "metric:self_bleu|order:4|smoothing:method1|average:all|tokenizer:whitespace|n:2"
    assert found.signature.startswith(pins)
    found = match(["a b"], ["a b c", "d"])
    assert found.better == "higher"
    assert "metric:corpus_match_bleu|order:4|smoothing:method1|references:2" in found.signature


# Self-BLEU of drawn texts, and what it says of bad input.


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
    assert found.reason == "a single text has no others to be compared with"


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_texts_without_tokens_have_no_value(average):
    found = own(["", " "], average=average)
    assert np.isnan(found.value)
    assert found.reason == "no text has a token"


@pytest.mark.parametrize("average", ["all", "pairwise"])
def test_texts_shorter_than_the_order_have_no_value_whatever_they_say(average):
    for texts in (["yes"] * 6, ["a b", "c d", "e f"]):
        found = own(texts, average=average)
        assert np.isnan(found.value)
        assert found.reason == "no text has 4 tokens"
        assert own(texts, order=1, average=average).reason is None
    assert match(["a b"], ["a b c d"]).reason == "no text has 4 tokens"


def test_short_texts_among_others_are_counted():
    found = own(["a b c d"] * 3 + ["a b"])
    assert found.value == pytest.approx(np.mean(found.per_sample))  # as NLTK says
    assert found.note.startswith("1 of 4 texts have fewer than 4 tokens: smoothing alone sets")
    assert own(["a b c d"] * 3).note is None
    assert match(["a b", "a b c d"], ["a b c d"]).note.startswith("1 of 2 texts")


def test_a_side_without_tokens_has_no_value():
    for texts, references, side in ((["a"], [""], "reference"), ([""], ["a"], "text")):
        found = corpus_match_bleu(texts, references, tokenizer="whitespace")
        assert np.isnan(found.value)
        assert found.reason == f"no {side} has a token"


def test_no_shared_vocabulary_scores_zero():
    assert own(["a b", "c d"], order=2).value == 0
    assert match(["a b"], ["c d"], order=2).value == 0


def test_scripts_emoji_and_surrogates_are_tokens_like_others():
    texts = ["你好 世界 😀 吗", "\ud800 b c d", "你好 世界 😀 吗", "\ud800 b c d"]
    assert own(texts).per_sample.tolist() == [1, 1, 1, 1]


def test_one_long_text_beside_short_ones():
    long = " ".join(map(str, range(200_000)))
    assert own([long, "1 2 3 4", ""]).per_sample.tolist()[1:] == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order .*from 1 to 100.* 0"),
        ({"order": 101}, "order .*from 1 to 100.* 101"),
        ({"order": 2.0}, "found 2.0"),
        ({"threads": 0}, "threads .*at least 1.* 0"),
        ({"threads": "a"}, "threads .*at least 1.* 'a'"),
        ({"average": "pairs"}, "average 'pairs'.*'pairwise'"),
        ({"sample": 4}, "sample .*at most 3.* 4"),
        ({"others": 3}, "others .*at most 2.* 3"),
        ({"others": 1, "sample": 3}, "sample must be at most 2"),
        ({"sample": 0}, "sample .*at least 1.* 0"),
        ({"sample": 1, "seed": -1}, "seed .*at least 0.* -1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        own(["a", "b", "c"], **options)


@pytest.mark.parametrize("threads", [0, -1, "a", 1.5])
def test_threads_of_corpus_bleu_are_a_whole_number(threads):
    with pytest.raises(InputError, match=r"threads .*at least 1"):
        corpus_match_bleu(["a"], ["a"], tokenizer="whitespace", threads=threads)


def test_corpora_must_belong_together():
    (one,), (two,) = tokenise(["a"], tokenizer="whitespace"), tokenise(["a"])
    with pytest.raises(InputError, match="tokenised together"):
        corpus_match_bleu(one, two)
