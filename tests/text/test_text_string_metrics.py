import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate import knn_ratios, neighbourhoods
from calipers.metrics.knn_support import density_score, precision_score
from calipers.text import string_scores, tokenise

SCORES = ("mauve", "precision", "recall", "density", "coverage")


def sentences(count, seed, words="abcdefgh", length=12):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list(words), length)) for _ in range(count)]


@pytest.mark.parametrize("kernel", ["ngram", "subsequence"])
def test_a_set_against_itself(kernel):
    texts = sentences(60, 0)
    found = string_scores(texts, texts, kernel=kernel)
    values = [getattr(found, name).value for name in SCORES]
    assert values[:3] + values[4:] == [1, 1, 1, 1]
    assert values[3] >= 1.25  # (k + 1) / k, and more where distances are tied
    assert found.frontier.area(10.0) == pytest.approx(found.mauve.value)


@pytest.mark.parametrize("kernel", ["ngram", "subsequence"])
def test_another_vocabulary_shares_nothing(kernel):
    found = string_scores(
        sentences(60, 0, "abcd"), sentences(60, 1, "stuv"), kernel=kernel, order=2, threads=1
    )
    assert found.mauve.value < 0.05
    assert [getattr(found, name).value for name in SCORES[1:]] == [0, 0, 0, 0]
    assert found.largest == 0


def test_where_no_two_texts_share_anything_the_scores_say_so():
    texts = [f"a{i} b{i} c{i} d{i}" for i in range(20)]
    found = string_scores(texts[:10], texts[10:])
    assert found.largest == 1
    assert found.precision.value == found.recall.value == 1


def test_equals_the_metrics_of_vectors_with_the_same_neighbours():
    # One token a text and order 1: κ is 1 for equal texts, else 0, as for orthogonal axes
    rng = np.random.default_rng(2)
    generated, reference = rng.integers(0, 9, 50), rng.integers(0, 7, 40)
    found = string_scores(
        [f"w{each}" for each in generated], [f"w{each}" for each in reference], order=1, k=3
    )
    axes = np.eye(9)
    near = neighbourhoods(axes[reference], axes[generated], k=3)
    np.testing.assert_array_equal(found.precision.per_sample, precision_score(near, 3).per_sample)
    np.testing.assert_array_equal(found.density.per_sample, density_score(near, 3).per_sample)
    ratios = knn_ratios(axes[reference], axes[generated], k=10, dimensions=None)
    np.testing.assert_array_equal(found.frontier.ratios.log_reference, ratios.log_reference)
    np.testing.assert_array_equal(found.frontier.ratios.log_generated, ratios.log_generated)


def test_neighbours_are_at_most_a_quarter_of_the_smaller_set():
    texts, references = sentences(41, 0), sentences(90, 1)
    assert "|k:10|" in string_scores(texts, references).mauve.signature
    assert "|k:7|" in string_scores(texts, references, mauve_k=7).mauve.signature


def test_signatures_pin_what_moves_a_number():
    texts, references = sentences(30, 0), sentences(30, 1)
    found = string_scores(
        texts, references, kernel="subsequence", decay=0.25, sample=20, seed=3, tokenizer=str.split
    )
    for name in SCORES:
        line = getattr(found, name).signature
        assert "distance:subsequence(order=5,decay=0.25)" in line
        assert "|n:20|m:20|sample:20|seed:3|tokenizer:" in line
    assert found.mauve.signature.startswith("metric:mauve:knn|divergence:kl|c:10|")
    assert len(found.precision.per_sample) == len(found.recall.per_sample) == 20


def test_a_sample_depends_on_the_seed_alone():
    texts, references = sentences(60, 0), sentences(60, 1)
    values = [
        string_scores(texts, references, order=2, sample=30, seed=seed).density.value
        for seed in (0, 0, 1, 2)
    ]
    assert values[0] == values[1]
    assert len(set(values)) > 1
    every = string_scores(texts, references, order=2, sample=60)
    assert every.density.value == string_scores(texts, references, order=2).density.value


def test_takes_corpora_that_were_tokenised_together():
    texts, references = sentences(30, 0), sentences(30, 1)
    known = string_scores(texts, references, tokenizer="whitespace")
    corpora = tokenise(texts, references, tokenizer="whitespace")
    assert string_scores(*corpora).mauve.value == known.mauve.value


def test_the_order_of_the_texts_plays_no_part():
    texts, references = sentences(50, 0), sentences(40, 1)
    for kernel in ("ngram", "subsequence"):
        one = string_scores(texts, references, kernel=kernel, threads=1)
        two = string_scores(texts[::-1], references[::-1], kernel=kernel, threads=3)
        assert [getattr(one, name).value for name in SCORES[1:]] == [
            getattr(two, name).value for name in SCORES[1:]
        ]
        assert two.mauve.value == pytest.approx(one.mauve.value, rel=1e-12)


def test_empty_and_foreign_texts_are_kept_in_place():
    texts = ["", "", "你好 世界", "🙂 🙂 🙂 🙂", "\ud800 x y z", *sentences(5, 0)]
    found = string_scores(texts, sentences(10, 1), order=1)
    assert len(found.precision.per_sample) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "ngramm"}, "unknown value for kernel 'ngramm'; did you mean 'ngram'"),
        ({"k": 0}, "k must be a whole number of at least 1; found 0"),
        ({"k": 9}, "k = 9 needs at least 10 samples in each set; the reference set has 8"),
        ({"mauve_k": 1.5}, "mauve_k must be a whole number"),
        ({"order": 0}, "order must be a whole number"),
        ({"kernel": "subsequence", "decay": 2}, "decay must be above 0 and at most 1; found 2"),
        ({"sample": 9}, "sample must be at most the number of references, 8; found 9"),
        ({"sample": 0}, "sample must be a whole number"),
        ({"sample": 5, "seed": -1}, "seed must be a whole number of at least 0"),
        ({"tokenizer": "nltkk"}, "did you mean 'nltk'"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        string_scores(sentences(12, 0), sentences(8, 1), **options)


@pytest.mark.parametrize("texts", [[], ["one"], [1, 2, 3]])
def test_too_few_texts_or_none(texts):
    with pytest.raises(InputError):
        string_scores(texts, sentences(8, 1))
