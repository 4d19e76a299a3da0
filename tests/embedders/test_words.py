"""Words of a text, TF-IDF of them, and word vectors."""

import gzip
import hashlib
import math
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from calipers.embedders import embed, load_embedder
from calipers.embedders.embedder import check_texts
from calipers.embedders.words import tfidf as fitting
from calipers.embedders.words import word_vector_files as text_reader
from calipers.embedders.words.fitted_axes import SIZE, common_axes, fit_axes, weigh
from calipers.embedders.words.tfidf import Bags, FittedTfidf, Tfidf
from calipers.embedders.words.word_vector_files import read_word_vectors
from calipers.embedders.words.word_vectors import WordVectors
from calipers.embedders.words.words import parts, split_chunk, split_words
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
        ("データベースの管理", ["データベース", "の", "管", "理"]),
        ("か\u3099く", ["か\u3099", "く"]),
        ("ไปเดิน", ["ไป", "เดิ", "น"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("မြန်မာ", ["မြန်", "မာ"]),
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
    with pytest.raises(InputError, match=r"text 2 .*bytes"):
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
    return np.array([draw >= found.halves.border for draw in draws])


def test_weights_worked_by_hand():
    numbers = {}
    bags = list(Bags(lambda word: numbers.setdefault(word, len(numbers))).of(["b a b", "a"]))
    assert numbers == {"b": 0, "a": 1}
    found = fit_axes(bags, 2, components=1, most=9)
    rare, usual = math.log(3 / 2) + 1, 1.0  # b stands in one text of two, a in both
    assert found.idf == pytest.approx([rare, usual])
    weight = (1 + math.log(2)) * rare
    length = math.hypot(weight, usual)
    expected = [[weight / length, usual / length], [0, 1]]
    assert weigh(bags, found.idf).toarray() == pytest.approx(np.array(expected))


def test_each_half_is_what_scikit_learn_gives(texts):
    found = fitting.fit(texts, components=10)
    upper = halves_of(found, texts)
    axes = common_axes(found.halves.axes)
    for half, own in enumerate((~upper, upper)):
        fitted_on = [text for text, here in zip(texts, own, strict=True) if here]
        read = [text for text, here in zip(texts, own, strict=True) if not here]
        peer = TfidfVectorizer(analyzer=words_of, sublinear_tf=True, min_df=2)
        svd = TruncatedSVD(10, algorithm="arpack", random_state=0)
        svd.fit(peer.fit_transform(fitted_on))
        expected = svd.transform(peer.transform(read))
        bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of(read))
        ours = weigh(bags, found.halves.axes[half].idf) @ found.halves.axes[half].axes.T
        # The gaps behind the topics are small, so single axes turn, but not what they span
        assert ours[:, :3] == pytest.approx(expected[:, :3] * signs(ours, expected), abs=1e-4)
        energy = np.linalg.norm(ours), np.linalg.norm(expected)
        assert energy[0] == pytest.approx(energy[1], rel=1e-2)
        assert weigh(bags, found.halves.axes[half].idf) @ axes[half] @ (
            weigh(bags, found.halves.axes[half].idf) @ axes[half]
        ).T == pytest.approx(ours @ ours.T, abs=1e-5)


def signs(ours, expected):
    return np.sign((ours[:, :3] * expected[:, :3]).sum(axis=0))


def test_with_all_axes_it_is_exactly_scikit_learns(texts):
    some = texts[:24]
    found = fitting.fit(some, components=500)
    upper = halves_of(found, some)
    peer = TfidfVectorizer(analyzer=words_of, sublinear_tf=True, min_df=2)
    weights = peer.fit_transform([text for text, here in zip(some, upper, strict=True) if here])
    components = len(found.halves.axes[1].axes)
    assert components == min(weights.shape) - 1
    svd = TruncatedSVD(components, algorithm="arpack", random_state=0).fit(weights)
    new = make_texts(10, seed=5)
    expected = svd.transform(peer.transform(new))
    bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of(new))
    ours = weigh(bags, found.halves.axes[1].idf) @ found.halves.axes[1].axes.T
    assert np.abs(ours) == pytest.approx(np.abs(expected), abs=1e-8)


def test_a_text_is_read_by_the_half_that_it_is_not_in(texts):
    found = fitting.fit(texts, components=10)
    upper = halves_of(found, texts)
    assert abs(upper.sum() - len(texts) / 2) <= 1
    text = texts[int(np.flatnonzero(upper)[0])]
    bags = list(Bags(lambda word: found.vocabulary.get(word, -1)).of([text]))
    expected = weigh(bags, found.halves.axes[0].idf) @ common_axes(found.halves.axes)[0]
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
    assert batch.reading.words.tolist() == [0, 0, 2, 4]
    assert batch.reading.unread.tolist() == [0, 0, 2, 1]
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
    assert (as_tokens.reading.unread < 0.2 * as_tokens.reading.words).all()


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
    assert one.halves.border == two.halves.border
    assert one.vocabulary == two.vocabulary
    assert one.halves.axes[0].idf == pytest.approx(two.halves.axes[0].idf)
    drawn = sorted(bag.draw for bag in Bags(lambda word: 0).of(texts))
    assert drawn[0] < one.halves.border < drawn[100]


def test_the_vocabulary_is_capped_at_the_words_of_most_texts(texts, monkeypatch):
    monkeypatch.setattr("calipers.embedders.words.tfidf.MOST_WORDS", 10)
    found = fitting.fit(texts, components=5)
    known = {word for word, row in found.vocabulary.items() if found.halves.axes[0].idf[row]}
    assert len(known) == 10
    assert known <= {*COMMON, "."}


def test_the_road_embeds_with_it(texts):
    embedder = load_embedder("tfidf", size=8).fitted(SampleSet.from_texts(texts, name="human"))
    found = embed(SampleSet.from_texts(texts[:40], name="x"), embedder)
    assert found.views["wording"].shape == (40, 8)
    assert np.array_equal(found.views["wording"], vectors(embedder, texts[:40]))


@pytest.mark.parametrize(
    "reference",
    [[], ["one text"], ["", " ", ""], ["same words"] * 9, ["a b", "b a", "c", "d"]],
)
def test_a_reference_that_is_too_small_is_refused(reference):
    with pytest.raises(InputError, match=r"at least 4 texts .*found [0-3]"):
        Tfidf().fitted(reference)


def test_it_must_be_fitted_first():
    with pytest.raises(InputError, match="must be fitted on a reference first"):
        load_embedder("tfidf").embed(["a"])


def test_wrong_samples_are_refused(embedder):
    with pytest.raises(InputError, match=r"sample 2 .*token ids"):
        embedder.embed(["a", 3.5])
    with pytest.raises(InputError, match=r"sample 1 .*token ids"):
        Tfidf().fitted([None, "a"])


VECTORS = {
    "the": [1, 0, 0],
    "cat": [0, 2, 0],
    "sat": [0, 0, 4],
    "do": [8, 0, 0],
    "n't": [0, 8, 0],
    "Paris": [3, 3, 3],
    ".": [0.5, 0.5, 0],
    "今": [1, 1, 1],
}


def glove(vectors=VECTORS):
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in vectors.items()).encode()


def header(vectors=VECTORS):
    return f"{len(vectors)} {len(next(iter(vectors.values())))}\n".encode()


def binary(vectors=VECTORS, between=b"\n"):
    rows = [
        word.encode() + b" " + np.array(row, "<f4").tobytes() + between
        for word, row in vectors.items()
    ]
    return header(vectors) + b"".join(rows)


@pytest.fixture
def write(tmp_path):
    def write(content, name="vectors.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def zipped(content, path, names=("a.txt",)):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return path.read_bytes()


FORMS = {
    "glove": glove(),
    "glove, no last line break": glove().rstrip(b"\n"),
    "glove, empty lines at the end": glove() + b"\n \n\n",
    "glove, CRLF": glove().replace(b"\n", b"\r\n"),
    "tabs": glove().replace(b" ", b"\t"),
    "fastText .vec": header() + glove().replace(b"\n", b" \n"),
    "word2vec text": header() + glove(),
    "word2vec binary": binary(),
    "word2vec binary without line breaks": binary(between=b""),
    "gzip of text": gzip.compress(glove()),
    "gzip of binary": gzip.compress(binary()),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_table(form, write):
    path = write(FORMS[form])
    table = read_word_vectors(path, threads=2)
    assert list(table.rows) == list(VECTORS)
    assert table.vectors.dtype == np.float32
    assert np.array_equal(table.vectors, np.array(list(VECTORS.values()), np.float32))
    assert table.sha256 == hashlib.sha256(FORMS[form]).hexdigest()


def test_a_zip_with_one_member_is_read(tmp_path):
    zipped(glove(), tmp_path / "v.zip")
    assert list(read_word_vectors(tmp_path / "v.zip").rows) == list(VECTORS)


def test_words_with_spaces_and_numbers_as_words(write):
    content = b"a 1 2 3\n. . . 4 5 6\nat 7 7 8 9\n12 1 1 1\nb 0 0 0\n\xc2\xa0 1 2 3\n\xff 3 2 1\n"
    table = read_word_vectors(write(content))
    assert list(table.rows) == ["a", ". . .", "at 7", "12", "b", "\xa0", "\udcff"]
    assert table.vectors[1].tolist() == [4, 5, 6]
    assert table.vectors[2].tolist() == [7, 8, 9]


def test_of_a_word_that_stands_twice_the_first_counts(write):
    table = read_word_vectors(write(b"a 1 2\nb 3 4\na 5 6\n"))
    assert table.vectors[table.rows["a"]].tolist() == [1, 2]
    assert table.vectors[table.rows["b"]].tolist() == [3, 4]


NUMBERS = [
    "0", "-0.0", "+1.5", ".5", "5.", "1e3", "1E-3", "-2.5e+2", "0.1", "3.4028234e38", "1e-45",
    "7e-46", "0.30000001192092896", "0.333333333333333333333333333333", "123456789012345678901234",
    "1.00000005960464477539", "1.000000059604644775390625", "0.00000000000000000000012345",
    "9007199254740993", "16777217", "1e-400", "0e999",
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_those_of_numpy(number, write):
    table = read_word_vectors(write(f"a {number} 1\nb 0 {number}\n".encode()))
    expected = np.float32(float(number))
    assert table.vectors[:, :].tobytes() == np.array([[expected, 1], [0, expected]], "f4").tobytes()


@settings(max_examples=25)
@given(st.lists(st.lists(st.floats(width=64, max_value=3e38, min_value=-3e38), min_size=3,
                         max_size=3), min_size=1, max_size=20))  # fmt: skip
def test_any_float64_is_rounded_as_numpy_rounds(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "v.txt"
    path.write_bytes(glove({f"w{row}": numbers for row, numbers in enumerate(rows)}))
    found = read_word_vectors(path).vectors
    assert np.array_equal(found, np.array(rows, np.float64).astype(np.float32))


def test_usual_ways_to_write_a_number_are_not_left_to_python(write, monkeypatch):
    def careful(*line):
        raise AssertionError(line)

    monkeypatch.setattr(text_reader, "_read_carefully", careful)
    rows = np.random.default_rng(0).standard_normal((300, 4)).astype(np.float32)
    forms = ["{:.5g}", "{:.18e}", "{:.6f}", "{:+.9g}", "{!r}", "{:.30f}"]
    lines = [
        " ".join([f"w{row}", *(forms[row % len(forms)].format(float(x)) for x in numbers)])
        for row, numbers in enumerate(rows)
    ]
    endings = ["\n", " \n", "\r\n", " \r\n"]
    content = "".join(line + endings[row % 4] for row, line in enumerate(lines)).replace(
        " ", "\t", 4
    )
    table = read_word_vectors(write(content.encode()))
    expected = [[np.float32(float(x)) for x in line.split()[1:]] for line in lines]
    assert np.array_equal(table.vectors, np.array(expected))
    assert list(table.rows) == [f"w{row}" for row in range(300)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["text", "binary", "gzip"])
def test_many_blocks_give_what_one_gives(kind, threads, write, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((700, 7)).astype(np.float32)
    vectors = {f"w{row}" * (1 + row % 40): list(map(float, rows[row])) for row in range(700)}
    content = {"text": glove, "binary": binary, "gzip": lambda v: gzip.compress(glove(v))}[kind]
    monkeypatch.setattr(text_reader, "BLOCK", 997)
    table = read_word_vectors(write(content(vectors)), threads=threads)
    assert list(table.rows) == list(vectors)
    assert np.array_equal(table.vectors, rows)


BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "JSON lines": (b'{"text": "a"}\n{"text": "b"}\n', "holds no word vectors.*Line 1 is .*text"),
    "prose": (b"It was a dark night.\nIt rained.\n", "holds no word vectors"),
    "word list": (b"the 100\nof 90\n", "holds no word vectors"),
    "too few": (b"a 1 2 3\nb 1 2\nc 1 2 3\n", "line 2: .*3 numbers; the word 'b' has 2"),
    "word alone": (b"a 1 2 3\nb 1 2 3\nc\n", "line 3: .*3 numbers; the word 'c' has 0"),
    "no number": (b"a 1 2 3\nb 1 x 3\nc 1 2 3\n", "line 2: .*found 'x' among .* 'b'"),
    "hex": (b"a 1 2\nb 1 0x10\nc 1 2\n", "line 2: .*found '0x10'"),
    "underscore": (b"a 1 2\nb 1 1_0\nc 1 2\n", "line 2: .*found '1_0'"),
    "exponent": (b"a 1 2\nb 1 1e\nc 1 2\n", "line 2: .*found '1e'"),
    "NaN": (b"a 1 2\nb 1 nan\n", "line 2: every number must be finite in float32; found nan"),
    "infinite": (b"a 1 2\nb -inf 3\n", "line 2: .* must be finite in float32; found -inf"),
    "too large": (b"a 1 2\nb 1 1e39\n", "line 2: .* must be finite in float32; found 1e39"),
    "empty line": (b"a 1 2\n\nb 1 2\n", "line 2: is empty"),
    "header, too few": (b"2 3\na 1 2 3\nb 1 2\n", "line 3: .*3 numbers; the word 'b' has 2"),
    "header, more": (b"3 2\na 1 2\nb 1 2\n", "line 1 promises 3 words, but the file holds 2"),
    "header, less": (b"1 2\na 1 2\nb 1 2\n", "line 1 promises 1 words, but the file holds 2"),
    "header, width": (b"2 4\na 1 2 3\nb 1 2 3\n", "line 2: .*4 numbers; the word 'a' has 3"),
    "header, zero": (b"0 3\na 1 2 3\n", "line 1 promises 0 words with 3 numbers"),
    "header, huge": (b"999999999999 2\na 1 2\n", "promises 999,999,999,999 words, .* holds 1"),
    "header alone": (b"5 3\n", "promises 5 words, but the file holds 0"),
    "binary, cut": (binary()[:-6], "ends within word 8; it was cut short"),
    "binary, longer": (binary() + b"more", "goes on behind them"),
    "binary, NaN": (binary({"a": [1, 2], "b": [1, np.nan]}), "that of word 2 is not"),
    "pickle": (pickle.dumps({"a": 1}), "pickled.*refused.*save_word2vec_format"),
    "numpy": (b"\x93NUMPY\x01\x00", "is a NumPy array"),
    "fastText .bin": (b"\xba\x16\x4f\x2f\x0c\x00", "fastText's own format; use its .vec"),
    "unknown binary": (bytes(range(256)), "binary file of an unknown kind"),
    "gzip, cut": (gzip.compress(glove() * 50)[:-20], "is damaged or cut short"),
    "gzip, damaged": (b"\x1f\x8b" + b"nonsense" * 9, "is damaged or cut short"),
    "zip, damaged": (b"PK\x03\x04nonsense", "is damaged or cut short"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_files_are_told(what, write):
    content, message = BAD[what]
    path = write(content)
    with pytest.raises(InputError, match=message) as caught:
        read_word_vectors(path, threads=2)
    assert str(caught.value).startswith(str(path))


def test_line_numbers_hold_across_blocks(write, monkeypatch):
    monkeypatch.setattr(text_reader, "BLOCK", 64)
    lines = [f"w{row} 1.5 2.5" for row in range(100)]
    lines[76] = "w76 1.5"
    with pytest.raises(InputError, match=r"line 77: .*the word 'w76' has 1"):
        read_word_vectors(write("\n".join(lines).encode()), threads=3)


def test_endless_lines_are_refused(write, monkeypatch):
    monkeypatch.setattr(text_reader, "BLOCK", 64)
    monkeypatch.setattr(text_reader, "LONGEST_LINE", 500)
    with pytest.raises(InputError, match="a line is longer than 500 bytes"):
        read_word_vectors(write(b"a 1 2\nb 1 2\n" + b"c" * 2000))


def test_files_that_cannot_be_opened_are_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.txt: no such file"):
        read_word_vectors(tmp_path / "gone.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_word_vectors(tmp_path)
    zipped(glove(), tmp_path / "two.zip", ("a.txt", "b.txt"))
    with pytest.raises(InputError, match=r"two.zip: .*\(a.txt, b.txt\)"):
        read_word_vectors(tmp_path / "two.zip")


@pytest.fixture
def small(write):
    return WordVectors(write(glove()))


@pytest.mark.parametrize(
    ("text", "mean", "read"),
    [
        ("the cat sat", [1 / 3, 2 / 3, 4 / 3], (3, 0)),
        ("The cat.", [0.5, 2.5 / 3, 0], (2, 0)),  # punctuation is no word
        ("the cat ;", [0.5, 1, 0], (3, 1)),  # but lost where it is not known
        ("the cat xyzzy", [0.5, 1, 0], (3, 1)),
        ("Don't", [4, 4, 0], (1, 0)),
        ("Paris paris", [3, 3, 3], (2, 1)),
        ("the-cat", [0.5, 1, 0], (2, 0)),
        ("the-plugh", [1, 0, 0], (2, 1)),
        ("今天", [1, 1, 1], (2, 1)),
        ("xyzzy", [0, 0, 0], (1, 1)),
        ("", [0, 0, 0], (0, 0)),
        (" \n", [0, 0, 0], (0, 0)),
    ],
)
def test_means_worked_by_hand(small, text, mean, read):
    batch = small.embed([text])
    assert batch.views["wording"][0] == pytest.approx(mean, rel=1e-6)
    assert (batch.reading.words[0], batch.reading.unread[0]) == read
    assert batch.views["wording"].dtype == np.float32
    assert not batch.truncated.any()


def test_words_of_scripts_without_spaces_are_the_longest_that_are_known(tmp_path):
    path = tmp_path / "zh.txt"
    path.write_text("软件 1 0\n软件包 4 2\n的 0 2\nไปเดิน 2 2\n", encoding="utf-8")
    batch = WordVectors(str(path)).embed(["软件包的软件", "软件包库的", "ไปเดินไป"])
    rows = batch.views["wording"].tolist()
    assert rows == [pytest.approx([5 / 3, 4 / 3]), pytest.approx([2, 2]), pytest.approx([2, 2])]
    assert batch.reading.words.tolist() == [6, 5, 4]
    assert batch.reading.unread.tolist() == [0, 1, 1]


def test_words_in_other_unicode_forms_are_the_same(tmp_path):
    path = tmp_path / "fr.txt"
    path.write_text("café 1 2\nnoir 3 4\n", encoding="utf-8")
    rows = WordVectors(str(path)).embed(["cafe\u0301 noir", "café noir"]).views["wording"]
    assert rows.tolist() == [[2, 3], [2, 3]]
    texts = [f"un café noir {row % 7}" for row in range(40)]
    apart = [text.replace("é", "e\u0301") for text in texts]
    fitted = Tfidf(size=4).fitted(texts)
    assert (fitted.embed(apart).views["wording"] == fitted.embed(texts).views["wording"]).all()


WORDS = [*VECTORS, "The", "CAT", "xyzzy", "don't", "cat."]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), st.randoms())
def test_shuffled_words_have_the_same_vector_bit_by_bit(shared, words, random):
    shuffled = list(words)
    random.shuffle(shuffled)
    one, two = (shared.embed([" ".join(each)]) for each in (words, shuffled))
    assert np.array_equal(one.views["wording"], two.views["wording"])
    assert one.reading.words == two.reading.words
    assert one.reading.unread == two.reading.unread


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "v.txt"
    rng = np.random.default_rng(0)
    path.write_bytes(glove({word: rng.standard_normal(50).tolist() for word in VECTORS}))
    return path


@pytest.fixture(scope="module")
def shared(path):
    return WordVectors(path)


def test_the_mean_is_that_of_plain_numpy(shared, path):
    table = read_word_vectors(path)
    texts = ["the cat sat . Paris", "cat cat cat the", "do n't sat"]
    for text, found in zip(texts, shared.embed(texts).views["wording"], strict=True):
        expected = np.mean([table.vectors[table.rows[word]] for word in text.split()], axis=0)
        assert found == pytest.approx(expected, abs=1e-6)


def test_vectors_do_not_depend_on_company(shared):
    texts = [" ".join(WORDS[start:]) for start in range(len(WORDS))] + ["", "xyzzy"]
    together = shared.embed(texts).views["wording"]
    alone = np.concatenate([shared.embed([text]).views["wording"] for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(shared.embed(texts[::-1]).views["wording"], together[::-1])


def test_identity_is_that_of_the_file(write):
    one, same = WordVectors(write(glove(), "one.txt")), WordVectors(write(glove(), "two.txt"))
    other = WordVectors(write(glove() + b"new 1 2 3\n", "three.txt"))
    assert one.identity == same.identity != other.identity
    sha256 = hashlib.sha256(glove()).hexdigest()
    assert one.signature == {"embedder": "one.txt", "revision": sha256[:12]}
    assert one.view_signature == {"wording": "mean_known_words"}


def test_the_catalogue_and_the_road_reach_it(write):
    path = write(glove(), "glove.txt")
    small = load_embedder(str(path))
    assert isinstance(small, WordVectors)
    found = embed(SampleSet.from_texts(["the cat", "plugh"], name="x"), small)
    assert found.views["wording"].tolist() == [[0.5, 1, 0], [0, 0, 0]]
    assert any("33 %" in note and "glove.txt" in note for note in found.notes)
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder(str(path), layer=3)


def test_what_is_no_text_is_refused(small):
    with pytest.raises(InputError, match=r"text 2 .*NoneType"):
        small.embed(["a", None])


def test_it_equals_gensim(write):
    models = pytest.importorskip("gensim.models")
    path = write(header() + glove())
    peer = models.KeyedVectors.load_word2vec_format(str(path))
    table = read_word_vectors(path)
    assert peer.key_to_index == table.rows
    assert np.array_equal(peer.vectors, table.vectors)
