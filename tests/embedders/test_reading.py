"""What an embedder does not know of texts is counted, by every way that its vectors take."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embedders import (
    Cache,
    EmbedderChoice,
    EmbedderOptions,
    EncodedBatch,
    embed,
    load_embedder,
)
from calipers.embedders.embedder import as_embedder
from calipers.embedders.processes import in_processes
from calipers.embedders.reading import (
    ReadingCounts,
    UnknownTokens,
    of_tokenizers,
    of_transformers,
    unread_note,
    unread_words,
    word_count,
    word_spans,
)
from calipers.embedders.segments import DamagedSegmentError
from calipers.engine.ray_vectors import arrays_of, batch_of
from calipers.samples import SampleSet
from extras import need

TELUGU = "ముసలివాడు స్నేహితుడు పటం."
AMHARIC = "ሰላም ለዓለም ዛሬ"
KHMER = "ខ្ញុំស្រលាញ់ភាសាខ្មែរ"
THAI = "วันนี้อากาศดีมาก"
EMOJI = "🫠🫠 🪿"
PROTEIN = (
    "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVVHSLAKWKRQTLGQHDFSAGEG"
    * 2
)
UNREADABLE = (TELUGU, AMHARIC, KHMER, THAI, EMOJI, PROTEIN)


def words_of(text):
    return [text[start:stop] for start, stop in word_spans(text)]


# Words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop, now!", ["Don't", "stop", "now"]),
        ("", []),
        ("... — !", []),
        ("naïve café", ["naïve", "café"]),
        (TELUGU, ["ముసలివాడు", "స్నేహితుడు", "పటం"]),
        ("我喜欢 GPT-4", ["我", "喜", "欢", "GPT", "4"]),
        ("ひらがな", ["ひ", "ら", "が", "な"]),
        ("ดีมาก", ["ดี", "มา", "ก"]),  # vowels belong to their consonant
        ("안녕하세요 세계", ["안녕하세요", "세계"]),
        ("👍🏽👍 ok", ["👍🏽", "👍", "ok"]),
        ("a\u200db", ["a\u200db"]),  # a joiner of no width parts no word
    ],
)
def test_words_by_hand(text, words):
    assert words_of(text) == words
    assert word_count(text) == len(words)


@given(st.text())
def test_words_are_counted_as_they_are_found(text):
    spans = word_spans(text)
    assert word_count(text) == len(spans)
    assert all(start < stop for start, stop in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@given(st.text(st.characters(max_codepoint=127)), st.text())
def test_texts_beside_each_other_have_the_words_of_both(one, other):
    assert word_count(f"{one} {other}") == word_count(one) + word_count(other)


def test_a_word_is_unread_where_a_part_of_it_is():
    text, unknown = "naïve fox, ~", 0
    # na|ï|ve| fox|,| ~ with ï and ~ unknown
    ids = [5, unknown, 6, 7, 8, unknown]
    spans = [(0, 2), (2, 3), (3, 5), (5, 9), (9, 10), (11, 12)]
    # the sign ~ is no word, but it is lost: it counts as one
    assert unread_words(text, ids, spans, unknown) == (3, 2)


def test_a_word_without_a_token_is_unread():
    assert unread_words("one two", [1], [(0, 3)], None) == (2, 1)


def test_texts_of_which_nothing_was_read():
    reading = ReadingCounts.of([(3, 3), (3, 2), (0, 0), (4, 1)])
    assert reading.nothing.tolist() == [True, False, False, False]
    assert reading.little.tolist() == [True, True, False, False]
    assert unread_note("minilm", reading) == (
        "minilm does not know 60 % of the words; 1 text has no known word"
    )


def test_parts_are_joined_only_where_all_tell():
    one = ReadingCounts.of([(1, 0)])
    joined = ReadingCounts.joined([one, ReadingCounts.of([(2, 2)])])
    assert (joined.words.tolist(), joined.unread.tolist()) == ([1, 2], [0, 2])
    assert ReadingCounts.joined([one, None]) is None
    assert ReadingCounts.joined([]) is None


# What a tokenizer drops before it looks for tokens


def test_a_word_of_marks_is_unread_where_they_are_dropped():
    spelt = ([7, 8], [(0, 1), (7, 10)])
    dropped = unread_words("a" + 5 * "\u0301" + " cat", *spelt, None)
    assert dropped == (2, 1)
    # Each mark has a token of its own
    kept = [(place, place + 1) for place in range(6)]
    assert unread_words("a" + 5 * "\u0301" + " cat", range(7), [*kept, (7, 10)], None) == (2, 0)


@pytest.mark.parametrize(
    ("text", "spans", "counts"),
    [
        ("e\u0301", [(0, 1)], (1, 0)),  # an accent
        (
            "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",
            [(0, 1), (2, 3), (4, 5), (7, 8)],
            (1, 0),
        ),
        ("a" + 3 * "\u0301", [(0, 1)], (1, 0)),  # three marks on a letter at most
        ("a" + 4 * "\u0301", [(0, 1)], (1, 1)),
        ("a" + 9 * "\u200b", [(0, 1)], (1, 0)),  # nobody sees them
        (9 * "\u0301", [], (1, 1)),
        ("\u0301", [], (1, 1)),
        ("!" + 4 * "\u0301" + " it is", [(0, 1), (6, 8), (9, 11)], (3, 1)),
        ("a" + 99 * "\u0301" + " and so on", [(0, 1), (101, 104), (105, 107), (108, 110)], (4, 4)),
        ("\ufffd\ufffd so", [(3, 5)], (3, 2)),
        (9 * "\ue000" + "a", [(9, 10)], (10, 10)),
        ("", [], (0, 0)),
    ],
)
def test_dropped_characters_by_hand(text, spans, counts):
    assert unread_words(text, range(len(spans)), spans, None) == counts


@given(st.text(), st.text(st.characters(categories=["Mn"])))
def test_no_more_words_are_unread_than_there_are(text, marks):
    for spans in ([], [(0, len(text))]):
        words, unread = unread_words(text + marks, range(len(spans)), spans, None)
        assert 0 <= unread <= words


# The default embedder ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    return load_embedder("minilm", device="cpu")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("a" + 100_000 * "\u0301", (1, 1)),
        (100_000 * "\u0301", (1, 1)),
        (9 * "\ufffd", (9, 9)),
        ("\ue000\ue001 x", (3, 2)),
        ("n\u0303and\u00fa, caf\u00e9", (2, 0)),
        ("x\u0336y\u0336", (1, 0)),
        ("a\u200bb" + 40 * "\u200b", (2, 0)),
    ],
)
def test_minilm_says_what_it_drops(minilm, text, counts):
    reading = minilm.embed([text, "a cat"]).reading
    assert (reading.words[0], reading.unread[0]) == counts
    assert (reading.words[1], reading.unread[1]) == (2, 0)


def test_texts_that_minilm_drops_have_one_vector_and_no_score(minilm):
    from calipers import compare

    letters = "abcdefghijklmnopqrstuvwxyz"
    drowned = [f"{a}{b}" + 40 * "\u0301" for a in letters[:6] for b in letters[:5]]
    plain = [f"a cat sat on {a} {b}" for a in letters[:6] for b in letters[:5]]
    found = compare(plain, drowned, embedder="minilm", level=None, floor=False, metrics="recall")
    (system,) = found.systems
    assert system.withheld is not None
    assert all(np.isnan(score.value) for score in system.scores.values())
    assert system.summary.reading.unread_texts == 30
    (caution,) = [each for each in system.cautions if each.kind == "unread"]
    assert "30 texts have no known word" in caution.text


@pytest.mark.parametrize("text", UNREADABLE)
def test_minilm_reads_nothing_of_these(minilm, text):
    reading = minilm.embed([text]).reading
    assert reading.nothing.tolist() == [True]
    assert reading.words[0] == word_count(text)


def test_minilm_reads_all_of_these(minilm):
    texts = ["A cat sat.", "Ein schöner Tag in Köln", "Привет, мир", "", "...", "x" * 50]
    reading = minilm.embed(texts).reading
    assert not reading.unread.any()
    assert not reading.nothing.any()


def test_minilm_reads_a_part_of_these(minilm):
    reading = minilm.embed(["a cat ముసలివాడు sat 🫠", "我喜欢"]).reading
    assert (reading.words.tolist(), reading.unread.tolist()) == ([5, 3], [2, 2])


def test_counts_come_back_from_the_cache(minilm, tmp_path):
    texts = [*UNREADABLE, "a cat", "a ముసలివాడు"]
    samples, cache = SampleSet.from_texts(texts, name="x"), Cache(tmp_path)
    cold, warm = (embed(samples, minilm, cache=cache) for _ in range(2))
    for found in (cold, warm):
        assert found.reading.nothing.tolist() == [True] * 6 + [False, False]
        assert found.reading.unread.tolist()[-2:] == [0, 1]
        assert any("6 texts have no known word" in note for note in found.notes)
    assert cold.reading.words.tolist() == warm.reading.words.tolist()


@pytest.mark.slow
def test_counts_come_back_from_processes():
    texts = ["a cat", TELUGU, "a ముసలివాడు"] * 150
    several = in_processes(EmbedderChoice("minilm", EmbedderOptions(device="cpu")), 2)
    reading = several.embed(texts).reading
    assert reading.words.tolist() == [2, 3, 2] * 150
    assert reading.unread.tolist() == [0, 3, 1] * 150


# The cache ---------------------------------------------------------------------------------------


def batch(**more):
    views = {"a": np.ones((2, 3), np.float32)}
    return EncodedBatch(views, np.array([True, False]), **more)


def test_a_batch_is_itself_again():
    given = batch(reading=ReadingCounts.of([(3, 1), (2, 2)]))
    found = batch_of(arrays_of(given), "here")
    assert found.reading.unread.tolist() == [1, 2]
    assert found.truncated.tolist() == [True, False]
    assert batch_of(arrays_of(batch()), "here").reading is None


@pytest.mark.parametrize(
    "change",
    [
        {"words": np.array([3], np.int32)},
        {"words": np.array([3, 2], np.int64)},
        {"unread": None},
        {"more": np.ones(2, np.float32)},
    ],
)
def test_counts_that_do_not_fit_are_damage(change):
    arrays = {**arrays_of(batch(reading=ReadingCounts.of([(3, 1), (2, 2)]))), **change}
    with pytest.raises(DamagedSegmentError, match="here: must hold"):
        batch_of({name: each for name, each in arrays.items() if each is not None}, "here")


def test_what_one_part_does_not_tell_nobody_knows(stub, tmp_path):
    class Half(stub):
        def embed(self, texts):
            found = super().embed(texts)
            told = ReadingCounts.of([(1, 1)] * len(texts)) if texts[0] == "0" else None
            return replace(found, reading=told)

    samples = SampleSet.from_texts([str(i) for i in range(300)], name="x")
    assert embed(samples, Half()).reading is None
    assert as_embedder(Half()).leaves_out is False


# Other tokenizers --------------------------------------------------------------------------------

tokenizers = need("tokenizers")
transformers = need("transformers")


def fast(made, **options):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **options)


def wordpiece():
    pieces = ["[UNK]", "a", "cat", "##s", "."]
    vocabulary = {piece: place for place, piece in enumerate(pieces)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return made


def unigram():
    scores = [("<unk>", 0.0), ("▁", -1.0), ("▁a", -1.0), ("▁cat", -1.0), ("s", -1.5)]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, unk_id=0))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    return made


def read(tokenizer, texts, **options):
    vocabulary = of_transformers(tokenizer)
    ids = tokenizer([*texts], verbose=False)["input_ids"]
    found = vocabulary.read(texts, ids, **options)
    return list(zip(found.words.tolist(), found.unread.tolist(), strict=True))


@pytest.mark.parametrize("named", [{}, {"unk_token": "[UNK]"}])
def test_wordpiece_loses_whole_words(named):
    # whether or not the files name the unknown token: the vocabulary does
    texts = ["a cats.", "a dog, cat", TELUGU]
    assert read(fast(wordpiece(), **named), texts) == [(2, 0), (4, 2), (3, 3)]


def test_sentencepiece_loses_characters():
    found = read(fast(unigram(), unk_token="<unk>"), ["a cats", "a cat 猫猫 x", "犬"])
    assert found == [(2, 0), (5, 3), (1, 1)]


def test_bytes_spell_every_text():
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(["a cat sat"], vocab_size=300, show_progress=False)
    tokenizer = fast(made._tokenizer, unk_token="<|end|>", eos_token="<|end|>")
    assert read(tokenizer, [TELUGU, "<|end|> a"]) == [(3, 0), (2, 0)]


def test_what_a_vocabulary_without_an_unknown_token_leaves_out_is_unread():
    vocabulary = {letter: place for place, letter in enumerate("abct")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = fast(made)
    assert of_transformers(tokenizer).drops
    assert read(tokenizer, ["a cat", "a xyz", "xyz"]) == [(2, 0), (2, 1), (1, 1)]


class Slow:
    """A tokenizer that does not tell where its tokens stand, by single characters of a list."""

    is_fast, unk_token_id = False, 0

    def __call__(self, text, **options):
        known = {"a": 1, "cat": 2, "你": 3, "你好": 4}
        return {"input_ids": [known.get(word, 0) for word in text.split()]}


def test_a_tokenizer_without_places_that_drops_marks():
    class Stripped(Slow):
        def __call__(self, text, **options):
            return super().__call__(text.replace("\u0301", ""), **options)

    texts = ["a cat", "c" + 3 * "\u0301" + "at a" + 9 * "\u0301", "ca\u0301t"]
    for kind, unread in ((Stripped(), [0, 1, 0]), (Slow(), [0, 2, 1])):
        ids = [kind(text)["input_ids"] for text in texts]
        assert of_transformers(kind).read(texts, ids).unread.tolist() == unread


def test_a_tokenizer_without_places_is_asked_word_by_word():
    slow = Slow()
    texts = ["a cat", "a dog", "你好 cat", "你們 cat", "cat!"]
    ids = [slow(text)["input_ids"] for text in texts]
    found = of_transformers(slow).read(texts, ids)
    # Of "你們" the first is known alone; "cat!" is lost as a whole, though "cat" is known alone
    assert found.words.tolist() == [2, 2, 3, 3, 1]
    assert found.unread.tolist() == [0, 1, 0, 1, 1]


def test_a_prefix_is_nobodys_word():
    made = wordpiece()
    found = of_tokenizers(made, 0).read(["query: a cat"], [[0, 0, 1, 2]], skip=7)
    assert (found.words.tolist(), found.unread.tolist()) == ([2], [0])


def test_token_ids_are_words():
    found = UnknownTokens(3, lambda texts: []).read_ids([np.array([1, 3, 3]), np.array([], int)])
    assert (found.words.tolist(), found.unread.tolist()) == ([3, 0], [2, 0])


# Models in folders -------------------------------------------------------------------------------

torch = need("torch")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=5, intermediate_size=16, max_position_embeddings=32, pad_token_id=0, **sizes
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    fast(wordpiece(), model_max_length=32).save_pretrained(folder)
    return folder


def test_a_model_of_transformers_tells(bert, tmp_path):
    texts = ["a cats.", "a dog", TELUGU]
    model = load_embedder(str(bert), device="cpu")
    cache, samples = Cache(tmp_path), SampleSet.from_texts(texts, name="x")
    for _ in range(2):
        found = embed(samples, model, cache=cache).reading
        assert (found.words.tolist(), found.unread.tolist()) == ([2, 2, 3], [0, 1, 3])
    ids = SampleSet.from_tokens([[1, 2], [1, 0, 0]], name="ids")
    assert embed(ids, model).reading.unread.tolist() == [0, 2]
    prefixed = load_embedder(str(bert), device="cpu", prefix="dog dog ")
    assert prefixed.embed(texts).reading.unread.tolist() == [0, 1, 3]


def test_saved_vectors_remember_what_was_read(bert, tmp_path):
    from calipers import compare
    from calipers.commands.embed.run import embed
    from calipers.embedders.vectors import write_vectors

    texts = [f"a cat {'s' * (i % 3)}" for i in range(12)]
    path = tmp_path / "v.safetensors"
    found = embed([*texts, TELUGU], embedder=str(bert), cache=False)
    views = dict(found.embeddings.views)
    write_vectors(path, views, about=found.about(list(views)))
    # "s" and "ss" begin no word of its vocabulary: eight of them, and three of Telugu
    assert (found.reading.unread_words, found.reading.unread_texts) == (11, 1)
    kept = compare(path, path, level=None, floor=False, metrics="recall")
    assert kept.reference.reading.to_dict() == found.reading.to_dict()


def test_the_library_of_sentence_transformers_tells(tmp_path):
    library = need("sentence_transformers")
    from sentence_transformers import models as parts
    from sentence_transformers.models.tokenizer import WhitespaceTokenizer

    table = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    tokenizer = WhitespaceTokenizer(vocab=["cat", "sat", "x"], stop_words=["the"])
    words = parts.WordEmbeddings(tokenizer, table)
    model = library.SentenceTransformer(modules=[words, parts.Pooling(8)], device="cpu")
    model.save(str(tmp_path / "m"))
    found = load_embedder(str(tmp_path / "m"), device="cpu")
    reading = found.embed(["the cat sat.", "the dog sat", TELUGU]).reading
    assert (reading.words.tolist(), reading.unread.tolist()) == ([3, 3, 3], [0, 1, 3])
    assert found.leaves_out
    assert json.dumps(embed(["dog"], found).reading.left_out) == "true"
