import numpy as np
import pytest

from calipers.errors import InputError
from calipers.metrics import rke as rke_of_rows
from calipers.metrics import vendi_score as vendi_of_rows
from calipers.text import rke, tokenise, vendi, vendi_score
from extras import need

ORDERS = [0, 0.5, 1, 1.5, 2, 3, np.inf]


def sentences(count, seed=0, words="abcdefghij", length=9):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list(words), length)) for _ in range(count)]


def matrix(texts, orders):
    """Cosines of n-gram counts, by the definition."""
    found = []
    for order in orders:
        grams = [
            [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]
            for words in map(str.split, texts)
        ]
        every = {gram: place for place, gram in enumerate({g for each in grams for g in each})}
        counts = np.zeros((len(texts), len(every)))
        for row, each in enumerate(grams):
            for gram in each:
                counts[row, every[gram]] += 1
        counts /= np.linalg.norm(counts, axis=1)[:, None]
        found.append(counts @ counts.T)
    return np.mean(found, axis=0)


def entropy(matrix, q):
    shares = np.linalg.eigvalsh(matrix / len(matrix))
    shares = shares[shares > 1e-12]
    if q == 1:
        return np.exp(-np.sum(shares * np.log(shares)))
    return 1 / shares.max() if np.isinf(q) else np.sum(shares**q) ** (1 / (1 - q))


def test_two_of_a_kind_by_hand():
    # Unigrams: half shared, cosine ½; bigrams: none shared; so 0.25, eigenvalues (1 ± 0.25) / 2
    score = vendi_score(["a b", "b c"], tokenizer="whitespace", q=2)
    assert score.value == pytest.approx(1 / (0.625**2 + 0.375**2))
    assert rke(["a b", "b c"], tokenizer="whitespace").value == pytest.approx(score.value)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("orders", [(1, 2), (1,), (3, 1)])
def test_equals_the_definition(q, orders):
    texts = sentences(40)
    found = vendi_score(texts, q=q, orders=orders, tokenizer="whitespace")
    assert found.value == pytest.approx(entropy(matrix(texts, orders), q), rel=1e-9)


def test_equals_the_package_of_the_authors():
    vendi = need("vendi_score.vendi")
    texts = sentences(60, 4)
    for q in (1, 2):
        expected = vendi.score_K(matrix(texts, (1, 2)), q=q)
        assert vendi_score(texts, q=q, tokenizer="whitespace").value == pytest.approx(expected)


def test_more_texts_than_ngrams_take_the_smaller_matrix():
    texts = sentences(200, words="ab", length=4)
    expected = entropy(matrix(texts, (1, 2)), 1)
    assert vendi_score(texts, tokenizer="whitespace").value == pytest.approx(expected, rel=1e-9)
    expected = entropy(matrix(texts, (1, 2)), 2)
    assert rke(texts, tokenizer="whitespace").value == pytest.approx(expected, rel=1e-9)


def test_many_texts_are_scored_without_the_whole_spectrum(monkeypatch):
    texts = sentences(120, words="abcdefghijklmnop", length=30)
    leading = {"q": np.inf}, {"truncate": 5}, {"truncate": 5, "q": 2}, {"truncate": 5, "q": np.inf}
    known = [vendi_score(texts, tokenizer="whitespace", **each).value for each in leading]
    monkeypatch.setattr(vendi, "FEW", 20)
    monkeypatch.setattr(vendi, "MOST_DENSE", 50)
    monkeypatch.setattr(vendi, "MOST_LEADING", 10)
    found = [vendi_score(texts, tokenizer="whitespace", **each).value for each in leading]
    assert found == pytest.approx(known, rel=1e-9)
    with pytest.raises(InputError, match="at most 50 texts; found 120"):
        vendi_score(texts, tokenizer="whitespace")
    with pytest.raises(InputError, match=r"truncate .*at most 10 .*50 texts"):
        vendi_score(texts, tokenizer="whitespace", truncate=11)
    assert vendi_score(["a b c"] * 120, tokenizer="whitespace").value == pytest.approx(1)


@pytest.mark.parametrize("q", ORDERS)
def test_texts_without_ngrams_are_like_equal_ones_only(q):
    assert vendi_score([""], q=q).value == 1
    assert vendi_score(["", "", "a", "a"], q=q).value == pytest.approx(2)
    assert vendi_score(["one two three"] * 4, q=q).value == pytest.approx(1)


def test_grows_with_variety_and_not_with_repeats():
    texts = sentences(30)
    values = [vendi_score(texts[:kept] * 2).value for kept in (5, 15, 30)]
    assert values == sorted(values)
    assert vendi_score(texts * 3).value == pytest.approx(values[-1], rel=1e-9)
    assert vendi_score(texts[::-1], threads=1).value == pytest.approx(
        vendi_score(texts).value, rel=1e-12
    )


def test_embeddings_take_the_place_of_ngrams():
    texts, rows = sentences(9), np.random.default_rng(0).normal(size=(9, 4))
    assert vendi_score(texts, embeddings=rows).value == vendi_of_rows(rows).value
    assert rke(texts, embeddings=rows).value == rke_of_rows(rows).value
    wide = rke(texts, embeddings=rows, bandwidth=2.0)
    assert wide.value == rke_of_rows(rows, bandwidth=2.0).value


def test_what_the_score_says_of_itself():
    score = vendi_score(["a b", "c d"], q=3, orders=(1,), truncate=2, tokenizer="whitespace")
    assert score.better == "closest"
    assert score.range == (1, 2)
    assert score.signature.startswith(
        "metric:vendi|q:3|truncate:2|kernel:ngram_cosine|orders:1|tokenizer:whitespace|n:2|"
    )
    (corpus,) = tokenise(["a b", "c d"], tokenizer="whitespace")
    assert rke(corpus).signature.startswith("metric:rke|kernel:ngram_cosine|orders:1,2|")


def test_foreign_texts_and_broken_ones():
    texts = ["你好 世界", "🙂 🙂", "\ud800", "مرحبا", ""]
    assert vendi_score(texts).value == pytest.approx(5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vendi_score([]), "at least one text; found none"),
        (lambda: vendi_score([1]), "strings only"),
        (lambda: vendi_score(["a"], q=-1), "q .*number from 0 to infinity.* -1"),
        (lambda: vendi_score(["a"], truncate=0), "truncate must be a whole number"),
        (lambda: vendi_score(["a"], orders=()), "orders .*at least one length"),
        (lambda: rke(["a"], orders=(0,)), "every one of orders .*whole number"),
        (lambda: vendi_score(["a"], threads=0), "threads must be a whole number"),
        (lambda: rke(["a"], threads=0), "threads must be a whole number"),
        (lambda: rke(["a"], bandwidth=1.0), "a bandwidth needs embeddings"),
        (lambda: vendi_score(["a"], embeddings=np.eye(2)), r"one row for each text, 1; found"),
        (lambda: vendi_score(["a"], embeddings=3.0), r"one row for each text, 1.* shape \(\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
