"""Metrics over strings: the kernels between texts, and the distances they give."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.estimate import knn_ratios, neighbourhoods
from calipers.metrics.knn_support import density_score, precision_score
from calipers.text import NgramKernel, SubsequenceKernel, string_scores, tokenise

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
        ({"kernel": "ngramm"}, "kernel 'ngramm'.*'ngram'"),
        ({"k": 0}, "k .*at least 1.* 0"),
        ({"k": 9}, "k = 9 .*10 samples.*the reference set has 8"),
        ({"mauve_k": 1.5}, "mauve_k must be a whole number"),
        ({"order": 0}, "order must be a whole number"),
        ({"kernel": "subsequence", "decay": 2}, "decay .*above 0 and at most 1.* 2"),
        ({"sample": 9}, "sample .*at most .*8.* 9"),
        ({"sample": 0}, "sample must be a whole number"),
        ({"sample": 5, "seed": -1}, "seed .*at least 0"),
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


ROOT2 = np.sqrt(2)


class Letters:
    name = "letters"

    def split(self, texts):
        return [list(text) for text in texts]


def similarities(kernel, texts, threads=None):
    """All against all, the texts being cut into two sets."""
    one, other = tokenise(texts[:1], texts[1:], tokenizer=Letters())
    span = (0, len(texts))
    return kernel.distances(one, other, threads=threads).similarity(span, span)


def features(text, order, decay):
    found = {}
    for places in combinations(range(len(text)), order):
        read = "".join(text[place] for place in places)
        found[read] = found.get(read, 0) + decay ** (places[-1] - places[0] + 1)
    return found


def product(one, other):
    return sum(weight * other.get(read, 0) for read, weight in one.items())


@pytest.mark.parametrize("decay", [0.1, 0.5, 0.9, 1.0])
def test_cat_and_car_by_hand(decay):
    # Lodhi et al., JMLR 2002, section 2: λ⁴ / (2λ⁴ + λ⁶)
    found = similarities(SubsequenceKernel(2, decay), ["cat", "car", "bat"])
    assert found[0, 1] == pytest.approx(1 / (2 + decay**2), rel=1e-14)
    assert found[1, 2] == pytest.approx(0, abs=1e-14)
    assert found[0, 2] == found[2, 0] == pytest.approx(1 / (2 + decay**2), rel=1e-14)


def test_values_that_the_paper_prints():
    # Lodhi et al. give these for λ = ½; their value for order 1, 0.580, is that of order 2
    texts = ["science is organized knowledge", "wisdom is organized life"]
    printed = {2: 0.580, 3: 0.478, 4: 0.439, 5: 0.406, 6: 0.370}
    for order, value in printed.items():
        found = similarities(SubsequenceKernel(order), texts)[0, 1]
        assert found == pytest.approx(value, abs=1.1e-3 if order == 6 else 5e-4)


@settings(max_examples=60)
@given(
    st.lists(st.text("abc", max_size=8), min_size=2, max_size=6),
    st.integers(1, 5),
    st.sampled_from([0.1, 0.5, 0.8, 1.0]),
)
def test_subsequences_equal_a_search_through_all(texts, order, decay):
    found = similarities(SubsequenceKernel(order, decay), texts)
    known = [features(text, order, decay) for text in texts]
    for i, j in np.ndindex(found.shape):
        if texts[i] == texts[j]:
            expected = 1.0
        elif not known[i] or not known[j]:
            expected = 0.0
        else:
            lengths = product(known[i], known[i]) * product(known[j], known[j])
            expected = product(known[i], known[j]) / np.sqrt(lengths)
        assert found[i, j] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60)
@given(st.lists(st.text("abc", max_size=12), min_size=2, max_size=8), st.integers(1, 4))
def test_shared_ngrams_equal_sets(texts, order):
    found = similarities(NgramKernel(order), texts)
    sets = [{t[i : i + order] for i in range(len(t) - order + 1)} for t in texts]
    for i, j in np.ndindex(found.shape):
        either = len(sets[i] | sets[j])
        shared = len(sets[i] & sets[j]) / either if either else 0.0
        assert found[i, j] == (1.0 if texts[i] == texts[j] else shared)


KERNELS = [NgramKernel(2), SubsequenceKernel(3, 0.5), SubsequenceKernel(2, 0.9)]


@settings(max_examples=30)
@given(st.lists(st.text("ab ", max_size=9), min_size=2, max_size=12), st.randoms())
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_laws(kernel, texts, random):
    found = similarities(kernel, texts)
    assert (found == found.T).all()  # bit by bit: ties are told by equality
    assert (np.diag(found) == 1).all()
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.linalg.eigvalsh(found).min() > -1e-9
    order = list(range(len(texts)))
    random.shuffle(order)
    moved = similarities(kernel, [texts[row] for row in order], threads=2)
    assert (moved == found[np.ix_(order, order)]).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_tiles_are_parts_of_the_whole(kernel):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcd"), size)) for size in rng.integers(0, 30, 25)]
    one, other = tokenise(texts[:9], texts[9:], tokenizer=Letters())
    distances = kernel.distances(one, other)
    assert distances.sizes == (9, 16)
    whole = distances.tile((0, 25), (0, 25))
    assert (distances.tile((3, 11), (7, 20)) == whole[3:11, 7:20]).all()
    np.testing.assert_allclose(whole, np.sqrt(2 - 2 * distances.similarity((0, 25), (0, 25))))


def test_texts_without_a_feature_are_like_equal_ones_only():
    for kernel in (NgramKernel(3), SubsequenceKernel(3)):
        found = similarities(kernel, ["", "", "ab", "ab", "ba", "abc"])
        assert found[0].tolist() == [1, 1, 0, 0, 0, 0]
        assert found[2].tolist() == [0, 0, 1, 1, 0, 0]


def test_copies_are_at_distance_zero_and_strangers_at_the_largest():
    one, other = tokenise(["a b c d e f"], ["a b c d e f", "u v w x y z"], tokenizer="whitespace")
    for kernel in (NgramKernel(), SubsequenceKernel()):
        assert kernel.distances(one, other).tile((0, 1), (1, 3)).tolist() == [[0.0, ROOT2]]


@pytest.mark.slow
@pytest.mark.parametrize("decay", [0.01, 0.5, 1.0])
def test_long_texts_neither_overflow_nor_vanish(decay):
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("abcdefgh"), 4000)) for _ in range(2)]
    found = similarities(SubsequenceKernel(20, decay), [*texts, texts[0] + "a"])
    assert np.isfinite(found).all()
    assert found[0, 2] == pytest.approx(1, abs=0.02)


def test_tokens_far_apart_still_count_for_less():
    near, far = "ab" + "x" * 5, "a" + "x" * 5 + "b"
    found = similarities(SubsequenceKernel(2, 0.5), ["ab", near, far])
    assert found[0, 1] > found[0, 2] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NgramKernel(0), "order .*from 1 to 100.* 0"),
        (lambda: SubsequenceKernel(2.5), "order must be a whole number"),
        (lambda: SubsequenceKernel(21), "order must be at most 20; found 21"),
        (lambda: SubsequenceKernel(decay=0), "decay .*above 0 and at most 1.* 0"),
        (lambda: SubsequenceKernel(decay=1.1), "decay must be above 0 and at most 1"),
        (lambda: SubsequenceKernel(decay=np.nan), "decay must be above 0 and at most 1"),
    ],
)
def test_kernel_options_out_of_range(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_text_with_too_many_pairs_of_equal_tokens_is_refused_at_once():
    one, other = tokenise(["the " * 100_000], ["a b c"], tokenizer="whitespace")
    with pytest.raises(InputError, match=r"100,000 tokens .*10,000,000,000"):
        SubsequenceKernel().distances(one, other)


def test_sets_must_be_tokenised_together():
    (one,), (other,) = tokenise(["a b"]), tokenise(["a c"])
    with pytest.raises(InputError, match="tokenised together"):
        NgramKernel().distances(one, other)
