import gzip
import hashlib
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.embed import embed_samples, load_embedder
from calipers.embed.words import word_vector_files as text_reader
from calipers.embed.words.word_vector_files import read_word_vectors
from calipers.embed.words.word_vectors import WordVectors
from calipers.errors import InputError
from calipers.samples import SampleSet

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


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.floats(width=64, max_value=3e38, min_value=-3e38), min_size=3,
                         max_size=3), min_size=1, max_size=20))  # fmt: skip
def test_any_float64_is_rounded_as_numpy_rounds(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "v.txt"
    path.write_bytes(glove({f"w{row}": numbers for row, numbers in enumerate(rows)}))
    found = read_word_vectors(path).vectors
    assert np.array_equal(found, np.array(rows, np.float64).astype(np.float32))


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
    with pytest.raises(InputError, match=r"two.zip: holds 2 files \(a.txt, b.txt\); unpack it"):
        read_word_vectors(tmp_path / "two.zip")


@pytest.fixture
def embedder(write):
    return WordVectors(write(glove()))


@pytest.mark.parametrize(
    ("text", "mean", "unknown"),
    [
        ("the cat sat", [1 / 3, 2 / 3, 4 / 3], 0),
        ("The cat.", [0.5, 2.5 / 3, 0], 0),
        ("the cat xyzzy", [0.5, 1, 0], 1 / 3),
        ("Don't", [4, 4, 0], 0),
        ("Paris paris", [3, 3, 3], 0.5),
        ("the-cat", [0.5, 1, 0], 0),
        ("the-plugh", [1, 0, 0], 0.5),
        ("今天", [1, 1, 1], 0.5),
        ("xyzzy", [0, 0, 0], 1),
        ("", [0, 0, 0], 0),
        (" \n", [0, 0, 0], 0),
    ],
)
def test_means_worked_by_hand(embedder, text, mean, unknown):
    batch = embedder.embed([text])
    assert batch.views["wording"][0] == pytest.approx(mean, rel=1e-6)
    assert batch.unknown[0] == pytest.approx(unknown)
    assert batch.views["wording"].dtype == np.float32
    assert not batch.truncated.any()


WORDS = [*VECTORS, "The", "CAT", "xyzzy", "don't", "cat."]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), st.randoms())
def test_shuffled_words_have_the_same_vector_bit_by_bit(shared, words, random):
    shuffled = list(words)
    random.shuffle(shuffled)
    one, two = (shared.embed([" ".join(each)]) for each in (words, shuffled))
    assert np.array_equal(one.views["wording"], two.views["wording"])
    assert one.unknown == two.unknown


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
    embedder = load_embedder(str(path))
    assert isinstance(embedder, WordVectors)
    found = embed_samples(SampleSet.from_texts(["the cat", "plugh"], name="x"), embedder)
    assert found.views["wording"].tolist() == [[0.5, 1, 0], [0, 0, 0]]
    assert any("50" in note and "glove.txt" in note for note in found.notes)
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder(str(path), layer=3)


def test_what_is_no_text_is_refused(embedder):
    with pytest.raises(InputError, match="text 2 must be a string; found NoneType"):
        embedder.embed(["a", None])


def test_it_equals_gensim(write):
    models = pytest.importorskip("gensim.models")
    path = write(header() + glove())
    peer = models.KeyedVectors.load_word2vec_format(str(path))
    table = read_word_vectors(path)
    assert peer.key_to_index == table.rows
    assert np.array_equal(peer.vectors, table.vectors)
