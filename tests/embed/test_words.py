"""Words of a text, and TF-IDF of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from calipers.embed import embed_samples, load_embedder
from calipers.embed.words import tfidf as fitting
from calipers.embed.words.tfidf import SIZE, Bags, FittedTfidf, Tfidf, common_axes, fit_axes, weigh
from calipers.embed.embedder import check_texts
from calipers.embed.words.words import parts, split_chunk, split_words
from calipers.errors import InputError
from calipers.samples import SampleSet


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \n\t ", []),
        ("one", ["one"]),
        ("Hello, world!", ["Hello", ",", "world", "!"]),
        ("Wait... what?!", ["Wait", "...", "what", "?", "!"]),
        ("it's a mother-in-law", ["it's", "a", "mother-in-law"]),
        ("$10,000.50 (3.5%)", ["$", "10,000.50", "(", "3.5", "%", ")"]),
        ("The U.S. and e.g. I.", ["The", "U.S.", "and", "e.g.", "I", "."]),
        ("end.Start", ["end", ".", "Start"]),
        ("l’été naïve", ["l’été", "nai\u0308ve"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("今天 hello天", ["今天", "hello", "天"]),
        ("🎉👩‍🚀", ["🎉", "👩\u200d", "🚀"]),
        ("\ufeffThe", ["The"]),
        ("-- 'quoted'", ["--", "'", "quoted", "'"]),
        ("snake_case", ["snake_case"]),
    ],
)
def test_words_of_texts_worked_by_hand(text, words):
    text = text.replace("naïve", "nai\u0308ve")
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("word", ["word"]),
        ("don't", ["do", "n't"]),
        ("DON’T", ["DO", "N'T"]),
        ("can't", ["ca", "n't"]),
        ("sister-in-law's", ["sister", "in", "law", "'s"]),
        ("we're", ["we", "'re"]),
        ("rock'n'roll", ["rock", "n", "roll"]),
        ("...", ["..."]),
        ("10,000", ["10,000"]),
        ("今天", ["今", "天"]),
    ],
)
def test_parts_of_compounds(word, found):
    assert parts(word) == found


@given(st.text())
def test_no_visible_character_is_lost_or_made(text):
    words = split_words(text)
    assert all(words)
    assert not any(word.isspace() for word in words)
    rest = "".join(text.split())
    for word in words:
        before, found, rest = rest.partition(word)
        assert found == word
        assert not any(character.isalnum() for character in before)


@given(st.lists(st.text(), max_size=5))
def test_no_rule_looks_past_white_space(texts):
    assert split_words(" ".join(texts)) == [word for text in texts for word in split_words(text)]


@given(st.text())
def test_parts_of_any_word_are_not_empty(text):
    for word in split_chunk(text):
        assert all(parts(word))
        assert parts(word)


def test_what_is_no_text_is_refused_by_its_row():
    with pytest.raises(InputError, match=r"text 2 must be a string; found bytes"):
        check_texts(["a", b"b"], unicode=False)


TOPICS = {
    "sea": "ship wave harbour sailor fish storm anchor salt deck tide gull rope mast island port",
    "law": "court judge jury trial lawyer verdict appeal statute crime prison clerk oath bail plea",
    "food": "bread butter soup oven flour pepper knife onion plate recipe honey garlic lemon rice",
}
COMMON = [*"aefhilmnorstuvwy", "the", "and", "was"]


def make_texts(n, seed=0, topics=tuple(TOPICS)):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        own = TOPICS[topics[rng.integers(len(topics))]].split()
        chosen = [*rng.choice(own, 12), *rng.choice(COMMON, 12)]
        texts.append(" ".join(rng.permutation(chosen).tolist()).capitalize() + ".")
    return texts


@pytest.fixture(scope="module")
def texts():
    return make_texts(300)


@pytest.fixture(scope="module")
def embedder(texts):
    return Tfidf(size=20).fitted(texts)


def words_of(text):
    return [part for word in split_words(text.lower()) for part in parts(word)]


def vectors(embedder, texts):
    return embedder.embed(texts).views["wording"]


def halves_of(found, texts):
    draws = [bag.draw for bag in Bags(lambda word: 0).of(texts)]
    return np.array([draw >= found.border for draw in draws])


def test_weights_worked_by_hand():
    numbers = {}
    bags = list(Bags(lambda word: numbers.setdefault(word, len(numbers))).of(["b a b", "a"]))
    assert numbers == {"b": 0, "a": 1}
    found = fit_axes(bags, 2, components=1)
    rare, usual = math.log(3 / 2) + 1, 1.0  # b stands in one text of two, a in both
    assert found.idf == pytest.approx([rare, usual])
    weight = (1 + math.log(2)) * rare
    length = math.hypot(weight, usual)
    expected = [[weight / length, usual / length], [0, 1]]
    assert weigh(bags, found.idf).toarray() == pytest.approx(np.array(expected))


def test_each_half_is_what_scikit_learn_gives(texts):
    found = fitting.fit(texts, components=10)
    upper = halves_of(found, texts)
    axes = common_axes(found.halves)
    for half, own in enumerate((~upper, upper)):
        fitted_on = [text for text, here in zip(texts, own, strict=True) if here]
        read = [text for text, here in zip(texts, own, strict=True) if not here]
        peer = TfidfVectorizer(analyzer=words_of, sublinear_tf=True, min_df=2)
        svd = TruncatedSVD(10, algorithm="arpack", random_state=0)
        svd.fit(peer.fit_transform(fitted_on))
        expected = svd.transform(peer.transform(read))
        bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of(read))
        ours = weigh(bags, found.halves[half].idf) @ found.halves[half].axes.T
        # The gaps behind the topics are small, so single axes turn, but not what they span
        assert ours[:, :3] == pytest.approx(expected[:, :3] * signs(ours, expected), abs=1e-4)
        energy = np.linalg.norm(ours), np.linalg.norm(expected)
        assert energy[0] == pytest.approx(energy[1], rel=1e-2)
        assert weigh(bags, found.halves[half].idf) @ axes[half] @ (
            weigh(bags, found.halves[half].idf) @ axes[half]
        ).T == pytest.approx(ours @ ours.T, abs=1e-5)


def signs(ours, expected):
    return np.sign((ours[:, :3] * expected[:, :3]).sum(axis=0))


def test_with_all_axes_it_is_exactly_scikit_learns(texts):
    some = texts[:24]
    found = fitting.fit(some, components=500)
    upper = halves_of(found, some)
    peer = TfidfVectorizer(analyzer=words_of, sublinear_tf=True, min_df=2)
    weights = peer.fit_transform([text for text, here in zip(some, upper, strict=True) if here])
    components = len(found.halves[1].axes)
    assert components == min(weights.shape) - 1
    svd = TruncatedSVD(components, algorithm="arpack", random_state=0).fit(weights)
    new = make_texts(10, seed=5)
    expected = svd.transform(peer.transform(new))
    bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of(new))
    ours = weigh(bags, found.halves[1].idf) @ found.halves[1].axes.T
    assert np.abs(ours) == pytest.approx(np.abs(expected), abs=1e-8)


def test_a_text_is_read_by_the_half_that_it_is_not_in(texts):
    found = fitting.fit(texts, components=10)
    upper = halves_of(found, texts)
    assert abs(upper.sum() - len(texts) / 2) <= 1
    text = texts[int(np.flatnonzero(upper)[0])]
    bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of([text]))
    expected = weigh(bags, found.halves[0].idf) @ common_axes(found.halves)[0]
    assert vectors(FittedTfidf(found), [text]) == pytest.approx(expected, abs=1e-6)


def test_other_texts_of_the_same_source_lie_as_far_out_as_the_reference():
    # Readers fitted on a text itself would see it far longer than one that they do not know
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(3000)]
    chance = 1 / np.arange(1, 3001)
    draw = lambda: " ".join(rng.choice(words, 60, p=chance / chance.sum()))  # noqa: E731
    reference, others = [draw() for _ in range(150)], [draw() for _ in range(150)]
    embedder = Tfidf(size=32).fitted(reference)
    own, other = (np.linalg.norm(vectors(embedder, each), axis=1) for each in (reference, others))
    assert own.mean() == pytest.approx(other.mean(), rel=0.05)
    peer = TfidfVectorizer(analyzer=str.split, sublinear_tf=True, min_df=2)
    svd = TruncatedSVD(32, random_state=0)
    inside = np.linalg.norm(svd.fit_transform(peer.fit_transform(reference)), axis=1)
    outside = np.linalg.norm(svd.transform(peer.transform(others)), axis=1)
    assert inside.mean() > 1.3 * outside.mean()


def test_texts_of_one_topic_are_alike(embedder):
    sea, law = (vectors(embedder, make_texts(20, 3, (topic,))) for topic in ("sea", "law"))
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (sea, law)]
    assert (unit[0] @ unit[0].T).mean() > (unit[0] @ unit[1].T).mean() + 0.2


def test_vectors_do_not_depend_on_company_or_order(embedder, texts):
    whole = vectors(embedder, texts)
    order = np.random.default_rng(1).permutation(len(texts))
    assert np.array_equal(vectors(embedder, [texts[row] for row in order]), whole[order])
    alone = np.concatenate([vectors(embedder, [text]) for text in texts[:20]])
    assert np.array_equal(alone, whole[:20])


def test_shuffled_words_and_case_change_nothing(embedder, texts):
    rng = np.random.default_rng(2)
    shuffled = [" ".join(rng.permutation(text.split())) for text in texts[:50]]
    assert np.array_equal(vectors(embedder, shuffled), vectors(embedder, texts[:50]))
    upper = [text.upper() for text in texts[:50]]
    assert np.array_equal(vectors(embedder, upper), vectors(embedder, texts[:50]))


def test_the_order_of_the_reference_and_the_threads_do_not_matter(texts):
    new = make_texts(50, seed=9)
    embedder = Tfidf(size=20).fitted(texts)
    assert np.array_equal(vectors(Tfidf(size=20).fitted(iter(texts)), new), vectors(embedder, new))
    with threadpool_limits(1):
        one = vectors(Tfidf(size=20).fitted(texts), new)
    assert np.array_equal(one, vectors(embedder, new))
    turned = vectors(Tfidf(size=20).fitted(texts[::-1]), new)
    assert turned @ turned.T == pytest.approx(
        vectors(embedder, new) @ vectors(embedder, new).T, abs=1e-5
    )


def test_unknown_words_are_told_and_empty_texts_are_zero(embedder):
    batch = embedder.embed(["", "   ", "xyzzy plugh", "the ship xyzzy sailor"])
    assert not batch.views["wording"][:3].any()
    assert batch.views["wording"][3].any()
    assert batch.unknown == pytest.approx([0, 0, 1, 0.25])
    assert not batch.truncated.any()
    assert batch.views["wording"].dtype == np.float32


def test_token_ids_are_words_like_any_other(texts):
    numbers = {}
    ids = [
        np.array([numbers.setdefault(word, len(numbers)) for word in words_of(text)], np.int32)
        for text in texts
    ]
    as_tokens = Tfidf(size=20).fitted(ids).embed(ids)
    written = [" ".join(map(str, each.tolist())) for each in ids]
    as_texts = Tfidf(size=20).fitted(written).embed(written)
    assert np.array_equal(as_tokens.views["wording"], as_texts.views["wording"])
    assert as_tokens.unknown.max() < 0.2


def test_size_is_bounded_by_the_reference(texts):
    small = Tfidf().fitted(texts[:20])
    width = vectors(small, texts[:1]).shape[1]
    assert width <= 18
    assert small.view_signature == {"wording": f"svd_{width}_halves"}
    assert Tfidf(size=20).fitted(texts).view_signature == {"wording": "svd_20_halves"}
    assert SIZE % 2 == 0


def test_identity_holds_reference_and_choices(texts, embedder):
    assert Tfidf(size=20).fitted(texts).identity == embedder.identity
    assert Tfidf(size=22).fitted(texts).identity != embedder.identity
    assert Tfidf(size=20).fitted([*texts, "more"]).identity != embedder.identity
    assert Tfidf(size=20).fitted(texts[::-1]).signature != embedder.signature
    assert embedder.signature["embedder"] == "tfidf"
    assert not embedder.needs_fitting


def test_a_large_reference_is_fitted_on_a_choice_that_no_order_biases(texts, monkeypatch):
    monkeypatch.setattr(fitting, "MOST_TEXTS", 100)
    monkeypatch.setattr(fitting, "_AT_ONCE", 32)
    one = fitting.fit(texts, components=5)
    two = fitting.fit(texts[::-1], components=5)
    assert one.border == two.border
    assert one.vocabulary == two.vocabulary
    assert one.halves[0].idf == pytest.approx(two.halves[0].idf)
    drawn = sorted(bag.draw for bag in Bags(lambda word: 0).of(texts))
    assert drawn[0] < one.border < drawn[100]


def test_the_vocabulary_is_capped_at_the_words_of_most_texts(texts, monkeypatch):
    monkeypatch.setattr("calipers.embed.words.tfidf.MOST_WORDS", 10)
    found = fitting.fit(texts, components=5)
    known = {word for word, row in found.vocabulary.items() if found.halves[0].idf[row]}
    assert len(known) == 10
    assert known <= {*COMMON, "."}


def test_the_road_embeds_with_it(texts):
    embedder = load_embedder("tfidf", size=8).fitted(SampleSet.from_texts(texts, name="human"))
    found = embed_samples(SampleSet.from_texts(texts[:40], name="x"), embedder)
    assert found.views["wording"].shape == (40, 8)
    assert np.array_equal(found.views["wording"], vectors(embedder, texts[:40]))


@pytest.mark.parametrize(
    "reference",
    [[], ["one text"], ["", " ", ""], ["same words"] * 9, ["a b", "b a", "c", "d"]],
)
def test_a_reference_that_is_too_small_is_refused(reference):
    with pytest.raises(InputError, match=r"at least 4 texts with different words.*found [0-3]"):
        Tfidf().fitted(reference)


def test_it_must_be_fitted_first():
    with pytest.raises(InputError, match="must be fitted on a reference first"):
        load_embedder("tfidf").embed(["a"])


def test_odd_sizes_and_wrong_samples_are_refused(embedder):
    with pytest.raises(InputError, match=r"size must be even.*found 7"):
        load_embedder("tfidf", size=7)
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder("tfidf", layer=2)
    with pytest.raises(InputError, match="sample 2 must be a text or a list of token ids"):
        embedder.embed(["a", 3.5])
    with pytest.raises(InputError, match="sample 1 must be a text or a list of token ids"):
        Tfidf().fitted([None, "a"])
