"""Characters of a text as hashed n-grams, and the embedder that reads them."""

import math
import os
import subprocess
import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from calipers.embedders import embed, load_embedder
from calipers.embedders.words import characters as fitting
from calipers.embedders.words.character_ngrams import LONGEST, as_read, columns_of, count_ngrams
from calipers.embedders.words.characters import Characters, FittedCharacters
from calipers.embedders.words.fitted_axes import HalvesReader, common_axes, weigh
from calipers.errors import InputError
from calipers.numeric import native
from calipers.samples import SampleSet

WORDS = {
    "sea": "ship wave harbour sailor fish storm anchor salt deck tide gull rope mast island port",
    "law": "court judge jury trial lawyer verdict appeal statute crime prison clerk oath bail plea",
}


def make_texts(n, seed=0):
    rng = np.random.default_rng(seed)
    topics = list(WORDS.values())
    texts = []
    for _ in range(n):
        words = rng.choice(topics[rng.integers(2)].split(), 12).tolist()
        texts.append(" ".join([*words, str(rng.integers(100))]).capitalize() + ".")
    return texts


@pytest.fixture(scope="module")
def texts():
    return make_texts(200)


@pytest.fixture(scope="module")
def embedder(texts):
    return Characters(size=20).fitted(texts)


def vectors(embedder, texts):
    return embedder.embed(texts).views["form"]


WRAP = 1 << 64


def hash_of(ngram):
    """The documented hash, step by step."""
    state = 0
    for character in ngram:
        mixed = (state + ord(character) + 0x9E3779B97F4A7C15) % WRAP
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) % WRAP
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) % WRAP
        state = mixed ^ (mixed >> 31)
    return state


def column_of(ngram):
    """The documented column: 28 bits of the hash, whether across, length less one, at most 3."""
    return ((hash_of(ngram) >> 36) * 2 + is_across(ngram)) * 4 + min(len(ngram) - 1, 3)


def is_across(ngram):
    return " " in ngram[1:-1]


def ngrams_of(text, longest=LONGEST):
    return [
        text[start : start + size]
        for size in range(1, longest + 1)
        for start in range(len(text) - size + 1)
    ]


def counted(found, row):
    own = slice(found.ends[row], found.ends[row + 1])
    return dict(zip(found.columns[own].tolist(), found.counts[own].tolist(), strict=True))


def test_ngrams_worked_by_hand():
    expected = {" ": 2, "a": 2, " a": 1, "aa": 1, "a ": 1, " aa": 1, "aa ": 1, " aa ": 1}
    text = as_read("aa")
    assert text == " aa "
    assert Counter(ngrams_of(text)) == expected
    found = count_ngrams([text])
    assert counted(found, 0) == {column_of(ngram): n for ngram, n in expected.items()}
    total = sum(n * hash_of(ngram) for ngram, n in expected.items())
    assert found.sums.tolist() == [total % WRAP]


def test_the_hash_is_the_documented_one():
    # The first number of splitmix64 from the state 0, as published
    assert hash_of("\0") == 0xE220A8397B1DCDAF
    assert count_ngrams(["\0"]).sums.tolist() == [0xE220A8397B1DCDAF]


@settings(max_examples=200)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5), st.integers(1, 6))
def test_counts_are_those_of_plain_python(texts, longest):
    texts = list(map(as_read, texts))
    found = count_ngrams(texts, longest=longest)
    assert len(found.ends) == len(texts) + 1
    for row, text in enumerate(texts):
        columns = [column_of(ngram) for ngram in ngrams_of(text, longest)]
        assert counted(found, row) == Counter(columns)
        own = found.columns[found.ends[row] : found.ends[row + 1]]
        assert (np.diff(own) > 0).all()
        total = sum(map(hash_of, ngrams_of(text, longest)))
        assert int(found.sums[row]) == total % WRAP


def test_columns_of_single_characters_are_those_of_the_kernel():
    characters = "aé界\U0001f600\U0010ffff\x00"
    for character in characters:
        found = count_ngrams([character])
        code = np.array([ord(character)], np.uint32)
        assert columns_of(code).tolist() == found.columns.tolist() == [column_of(character)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", ""),
        (" \n\t\u3000 ", ""),
        ("a", " a "),
        ("  two\n\n words\u00a0here ", " two words here "),
        ("cafe\u0301", " caf\u00e9 "),
        ("\uff21\ufb01\u00b2", " \uff21\ufb01\u00b2 "),  # full width, ligature, superscript stay
        ("\u1112\u1161\u11ab", " \ud55c "),
    ],
)
def test_texts_as_they_are_read(text, read):
    assert as_read(text) == read


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_forms_that_look_alike_are_one(text):
    assert as_read(unicodedata.normalize("NFD", text)) == as_read(text)


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bits():
    code = (
        "from calipers.embedders.words.character_ngrams import *;"
        "import hashlib;"
        "t = ['', 'a', ' the ship ' * 50, '界' * 997, ''.join(map(chr, range(32, 4000)))];"
        "f = count_ngrams(t);"
        "b = b''.join(a.tobytes() for a in (f.columns, f.counts, f.ends, f.sums));"
        "print(hashlib.sha256(b).hexdigest())"
    )
    found = set()
    for name in native.available_sets():
        environment = {**os.environ, "CALIPERS_ISA": name}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


def peers(found_on, components):
    peer = TfidfVectorizer(
        analyzer="char", ngram_range=(1, LONGEST), lowercase=False, sublinear_tf=True, min_df=2
    )
    weights = peer.fit_transform(list(map(as_read, found_on)))
    svd = TruncatedSVD(components, algorithm="arpack", random_state=0).fit(weights)
    return peer, svd, weights


def halves_of(found, texts):
    draws = count_ngrams(list(map(as_read, texts))).sums
    return draws >= np.uint64(found.halves.border)


def bags_of(found, texts):
    bags = fitting._bags(count_ngrams(list(map(as_read, texts))))
    return [fitting._numbered(bag, found.columns) for bag in bags]


def test_each_half_is_what_scikit_learn_gives(texts):
    some = [*texts[:40], "Größe, 你好 \U0001f600 и мир", "Größe, 你好 \U0001f600 и сон"]
    found = fitting.fit(some, components=500)
    upper = halves_of(found, some)
    assert abs(int(upper.sum()) - len(some) / 2) <= 1
    new = make_texts(10, seed=5)
    for half, own in enumerate((~upper, upper)):
        fitted_on = [text for text, here in zip(some, own, strict=True) if here]
        components = len(found.halves.axes[half].axes)
        peer, svd, weights = peers(fitted_on, components)
        assert components == min(weights.shape) - 1
        idf = found.halves.axes[half].idf
        assert np.sort(idf[idf > 0]) == pytest.approx(np.sort(peer.idf_), abs=1e-12)
        ours = weigh(bags_of(found, new), idf) @ found.halves.axes[half].axes.T
        expected = svd.transform(peer.transform(list(map(as_read, new))))
        assert ours @ ours.T == pytest.approx(expected @ expected.T, abs=1e-8)


def test_a_text_is_read_by_the_half_that_it_is_not_in(texts):
    found = fitting.fit(texts, components=10)
    upper = halves_of(found, texts)
    text = texts[int(np.flatnonzero(upper)[0])]
    bags = bags_of(found, [text])
    assert HalvesReader(found.halves).read_by(bags).tolist() == [0]
    expected = weigh(bags, found.halves.axes[0].idf) @ common_axes(found.halves.axes)[0]
    row = vectors(FittedCharacters(found), [text])[:, :-7]
    scale = np.linalg.norm(row) / np.linalg.norm(expected)
    assert row == pytest.approx(scale * expected, abs=1e-6)


def dense_row(found, text):
    """The documented row of a text, by plain Python over all its n-grams."""
    ngrams = Counter(ngrams_of(as_read(text)))
    total = sum(count * hash_of(ngram) for ngram, count in ngrams.items()) % WRAP
    half = 0 if total >= found.halves.border else 1
    numbers = {column: number for number, column in enumerate(found.columns.tolist())}
    idf, axes = found.halves.axes[half].idf, found.halves.axes[half].axes
    known, unknown = np.zeros(len(idf)), [0.0] * 6
    for ngram, count in ngrams.items():
        frequency, number = 1 + math.log(count), numbers.get(column_of(ngram))
        if number is None or not idf[number]:
            weight = frequency * (math.log(1 + found.texts[half]) + 1)
            unknown[len(ngram) - 1 + 2 * is_across(ngram)] += weight**2
        else:
            known[number] += frequency * idf[number]
    length = math.sqrt(known @ known + sum(unknown))
    inside = axes @ known
    rest = math.sqrt(max(known @ known - inside @ inside, 0))
    return axes.T @ inside / length, np.array([rest, *map(math.sqrt, unknown)]) / length


def test_rows_are_those_of_plain_python(texts):
    found = fitting.fit(texts, components=10)
    embedder = FittedCharacters(found)
    some = [*make_texts(20, seed=7), "shipp wavve!! 你好", "A", "zz zz zz"]
    rows = vectors(embedder, some).astype(np.float64)
    expected = [dense_row(found, text) for text in some]
    own = np.array([projected for projected, _ in expected])
    assert rows[:, :-7] @ rows[:, :-7].T == pytest.approx(own @ own.T, abs=1e-5)
    assert rows[:, -7:] == pytest.approx(np.array([rest for _, rest in expected]), abs=1e-5)


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_rows_have_length_one_unless_a_text_is_empty(embedder, text):
    row = vectors(embedder, [text])[0]
    assert np.linalg.norm(row) == pytest.approx(1.0 if text.split() else 0.0, abs=1e-6)
    assert (row[-7:] >= 0).all()


def test_slips_lengthen_what_is_unknown(embedder, texts):
    some = texts[:50]
    slipped = [text.replace("r", "q") for text in some]
    fresh, own = vectors(embedder, slipped)[:, -5:], vectors(embedder, some)[:, -5:]
    assert fresh.mean() > own.mean() + 0.1


def test_a_wrong_order_of_words_lengthens_what_goes_across_words(embedder, texts):
    rng = np.random.default_rng(3)
    shuffled = [" ".join(rng.permutation(text.split())) for text in texts[:50]]
    moved = (vectors(embedder, shuffled) - vectors(embedder, texts[:50]))[:, -6:].mean(axis=0)
    within, across = moved[:4], moved[4:]
    assert (across > 0.02).all()
    assert np.abs(within).max() < across.min()


def test_vectors_do_not_depend_on_company_or_order(embedder, texts):
    whole = vectors(embedder, texts)
    order = np.random.default_rng(1).permutation(len(texts))
    assert np.array_equal(vectors(embedder, [texts[row] for row in order]), whole[order])
    alone = np.concatenate([vectors(embedder, [text]) for text in texts[:20]])
    assert np.array_equal(alone, whole[:20])


def test_neither_the_order_of_the_reference_nor_threads_change_a_bit(texts):
    new = make_texts(50, seed=9)
    embedder = Characters(size=20).fitted(texts)
    turned = Characters(size=20).fitted(iter(texts[::-1]))
    assert np.array_equal(vectors(turned, new), vectors(embedder, new))
    assert turned.identity == embedder.identity
    with threadpool_limits(1):
        one = vectors(Characters(size=20).fitted(texts), new)
    assert np.array_equal(one, vectors(embedder, new))


def test_it_sees_order_case_and_spelling(embedder, texts):
    some = texts[:50]
    rng = np.random.default_rng(2)
    spoilt = {
        "shuffled letters": ["".join(rng.permutation(list(text))) for text in some],
        "shuffled words": [" ".join(rng.permutation(text.split())) for text in some],
        "upper case": [text.upper() for text in some],
    }
    for name, changed in spoilt.items():
        moved = np.abs(vectors(embedder, changed) - vectors(embedder, some)).max(axis=1)
        assert (moved > 1e-4).all(), name


def test_white_space_and_unicode_form_change_nothing(texts):
    own = [f"Café {text}" for text in texts]
    embedder = Characters(size=20).fitted(own)
    spread = [unicodedata.normalize("NFD", text.replace(" ", " \n\t")) for text in own]
    assert np.array_equal(vectors(embedder, spread), vectors(embedder, own))


def test_what_no_reference_holds_is_unread(embedder):
    batch = embedder.embed(["", " \n", "你好 мир", "the ship мир здесь", "ship §§ ж", "wave"])
    assert batch.reading.words.tolist() == [0, 0, 3, 4, 4, 1]
    assert batch.reading.unread.tolist() == [0, 0, 3, 2, 3, 0]
    rows = batch.views["form"]
    assert rows.dtype == np.float32
    assert not rows[:2].any()
    assert rows[2:].any(axis=1).all()
    assert not batch.truncated.any()


def test_a_word_with_a_known_character_is_read(embedder):
    # й is unknown, as are the letters of no word here
    batch = embedder.embed(["shйp wave", "йй wave"])
    assert batch.reading.words.tolist() == [2, 2]
    assert batch.reading.unread.tolist() == [0, 1]


def test_a_character_is_known_by_the_half_that_reads(texts):
    found = fitting.fit([*texts, "ж ж"], components=5)
    # In one text of one half only, too few for either
    assert FittedCharacters(found).embed(["ж"]).reading.unread.tolist() == [1]


def test_texts_of_one_character_and_long_ones(embedder):
    marks = "e" + "\u0301\u0316" * 500_000
    rows = vectors(embedder, ["a", marks, "a" * 100_000])
    assert np.isfinite(rows).all()
    assert rows[0].any()


def test_size_is_bounded_by_the_reference(texts):
    small = Characters().fitted(texts[:20])
    axes = vectors(small, texts[:1]).shape[1] - 7
    assert axes <= 18
    assert small.view_signature == {"form": f"ngrams_1_4_svd_{axes}_halves_within_across"}
    larger = Characters(size=20).fitted(texts)
    assert larger.view_signature == {"form": "ngrams_1_4_svd_20_halves_within_across"}


def test_identity_holds_reference_and_choices(texts, embedder):
    assert Characters(size=20).fitted(texts).identity == embedder.identity
    assert Characters(size=22).fitted(texts).identity != embedder.identity
    assert Characters(size=20).fitted([*texts, "more"]).identity != embedder.identity
    assert embedder.signature["embedder"] == "characters"
    assert not embedder.needs_fitting
    assert embedder.leaves_out


def test_a_large_reference_is_fitted_on_a_choice_that_no_order_biases(texts, monkeypatch):
    new = make_texts(20, seed=3)
    everything = vectors(Characters(size=10).fitted(texts), new)
    monkeypatch.setattr(fitting, "MOST_COUNTS", 10_000)
    monkeypatch.setattr(fitting, "_AT_ONCE", 32)
    one = vectors(Characters(size=10).fitted(texts), new)
    two = vectors(Characters(size=10).fitted(texts[::-1]), new)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, everything)
    bags, _ = fitting._read(texts)
    assert sum(len(bag.terms) for bag in bags) <= 10_000
    draws = sorted(count_ngrams(list(map(as_read, texts))).sums.tolist())
    assert [bag.draw for bag in bags] == draws[: len(bags)]


def test_ngrams_are_capped_at_those_of_most_texts(texts, monkeypatch):
    monkeypatch.setattr(fitting, "MOST_NGRAMS", 10)
    found = fitting.fit(texts, components=5)
    for half in found.halves.axes:
        assert np.count_nonzero(half.idf) == 10
    space = columns_of(np.array([32], np.uint32))[0]
    assert space in found.columns


def test_the_road_embeds_with_it(texts):
    embedder = load_embedder("characters:size=8").fitted(SampleSet.from_texts(texts, name="human"))
    found = embed(SampleSet.from_texts(texts[:40], name="x"), embedder)
    assert found.views["form"].shape == (40, 15)
    assert np.array_equal(found.views["form"], vectors(embedder, texts[:40]))
    assert found.reading.left_out


@pytest.mark.parametrize(
    "reference", [[], ["one text"], ["", " ", ""], ["same words"] * 9, ["a b", " a\nb", "c", "d"]]
)
def test_a_reference_that_is_too_small_is_refused(reference):
    with pytest.raises(InputError, match=r"'characters' .*at least 4 texts .*found [0-3]"):
        Characters().fitted(reference)


def test_it_must_be_fitted_first():
    with pytest.raises(InputError, match="'characters' must be fitted on a reference first"):
        load_embedder("characters").embed(["a"])


@pytest.mark.parametrize("sample", [3.5, None, b"bytes", [1, 2]])
def test_what_is_no_text_is_refused(embedder, texts, sample):
    with pytest.raises(InputError, match=r"sample 2 must be a text; found"):
        embedder.embed(["a", sample])
    with pytest.raises(InputError, match=r"sample 201 must be a text; found"):
        Characters().fitted([*texts, sample])


def test_lone_surrogates_are_refused(embedder, texts):
    with pytest.raises(InputError, match=r"sample 2 must be valid Unicode; found '\\udcff'"):
        embedder.embed(["a", "b\udcff"])
    with pytest.raises(InputError, match=r"sample 201 must be valid Unicode"):
        Characters().fitted([*texts, "b\udcff"])


def test_weights_worked_by_hand():
    # "a" in both texts of a half, "b" in one: no n-gram of "b" is known, as scikit-learn's min_df
    found = fitting.fit(["aa", "aaaa", "aab", "aaab", "baa", "baaa"], components=9)
    bags = bags_of(found, ["aa"])
    weights = weigh(bags, np.ones(len(found.columns))).toarray()[0]
    a, space = columns_of(np.array([97, 32], np.uint32))
    by_column = dict(zip(found.columns.tolist(), weights.tolist(), strict=True))
    assert by_column[a] == by_column[space]  # both twice
    ones = [weight for column, weight in by_column.items() if column not in (a, space) and weight]
    assert ones[0] * (1 + math.log(2)) == pytest.approx(by_column[a])
    assert sum(weight**2 for weight in by_column.values()) == pytest.approx(1)
