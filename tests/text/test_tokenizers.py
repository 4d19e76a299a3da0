"""Tokenizers by name, by path, and of a person's own."""

import json
import sys
from itertools import chain
from types import SimpleNamespace

import pytest
import sacrebleu

from calipers.embedders.minilm import find_model
from calipers.errors import InputError, MissingExtraError
from calipers.text import sacrebleu_tokenizers
from calipers.text.aligned import bleu
from calipers.text.tokenizers import find_tokenizer
from calipers.text.tokens import as_corpus
from calipers.text.word_numbers import Vocabulary

pytestmark = pytest.mark.usefixtures("no_network")

SCRIPTS = ["สวัสดีครับ", "你好，世界。", "مرحبا بالعالم", "👩‍👩‍👧 😀", "", "naïve café"]
LOCAL = ["nltk", "whitespace", "characters", "13a", "intl", "zh", "char", "none"]


def words_of(text, tokenizer):
    corpus = as_corpus([text], tokenizer)
    return [corpus.words[number] for number in corpus.tokens]


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        ("nltk", ["Do", "n't", "say", "``", "3.5-4", "''", ",", "Mr.", "X", "."]),
        ("whitespace", ["Don't", "say", '"3.5-4",', "Mr.", "X."]),
        ("13a", ["Don't", "say", '"', "3.5", "-", "4", '"', ",", "Mr", ".", "X", "."]),
        ("intl", ["Don", "'", "t", "say", '"', "3.5-4", '"', ",", "Mr", ".", "X", "."]),
        ("none", ["Don't", "say", '"3.5-4",', "Mr.", "X."]),
        ("minilm", ["don", "'", "t", "say", '"', *"3.5-4", '"', ",", "mr", ".", "x", "."]),
    ],
)
def test_what_each_makes_of_a_sentence(tokenizer, words):
    assert words_of('Don\'t say "3.5-4", Mr. X.', tokenizer) == words


def test_characters_are_those_a_reader_sees_and_white_space_counts():
    assert words_of("a b\n😀\u0301", "characters") == ["a", " ", "b", "\n", "😀\u0301"]
    assert words_of("กำลัง", "characters") == ["กำ", "ลั", "ง"]
    assert words_of("a b\n", "char") == ["a", "b"]
    assert words_of("你好a", "zh") == ["你", "好", "a"]


@pytest.mark.parametrize("name", [*LOCAL, "minilm"])
def test_numbers_are_those_of_the_words(name):
    texts = [*SCRIPTS, "a a b", "The end.", "\t"]
    tokenizer = find_tokenizer(name)
    vocabulary = Vocabulary()
    numbers = tokenizer.number(texts, vocabulary)
    words = list(vocabulary)
    split = [list(map(str, tokens)) for tokens in tokenizer.split(texts)]
    assert [words[number] for number in numbers.tokens] == list(chain(*split))
    assert numbers.starts.tolist() == [sum(map(len, split[:i])) for i in range(len(texts) + 1)]


@pytest.mark.parametrize("name", LOCAL)
def test_lone_surrogates_are_tokens_like_others(name):
    assert "\ud800" in words_of("a \ud800 b", name)


@pytest.mark.parametrize("name", [name for name in sacrebleu_tokenizers.PLAIN if name != "none"])
def test_sacrebleu_counts_the_same_tokens(name):
    text = "Caf\u00e9 &quot;3,000&quot; <skipped>U.S.-\nbased -- 你好!"
    assert words_of(text, name) == sacrebleu.BLEU(tokenize=name).tokenizer(text).split()


def test_names_in_signatures_pin_what_changes_a_token():
    assert as_corpus(["a"], "nltk").tokenizer == "nltk-3.10.4"
    assert as_corpus(["a"], "13a").tokenizer == f"13a-sacrebleu-{sacrebleu.__version__}"
    assert as_corpus(["a"], "minilm").tokenizer == "minilm-be50c3628f2b"


def test_a_tokenizer_from_a_folder_or_its_file(tmp_path):
    content = (find_model() / "tokenizer.json").read_bytes()
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes(content)
    expected = words_of("unaffable", "minilm")
    assert len(expected) > 1
    for name in (f"hf:{folder}", str(folder), str(folder / "tokenizer.json"), folder):
        assert words_of("unaffable", name) == expected
        assert find_tokenizer(name).name == "hf:mine-be50c3628f2b"


def test_texts_are_neither_cut_nor_padded_nor_framed():
    settings = json.loads((find_model() / "tokenizer.json").read_bytes())
    assert settings["truncation"] or settings["padding"]  # what the file asks for
    corpus = as_corpus(["a " * 1000, "a"], "minilm")
    assert corpus.lengths.tolist() == [1000, 1]
    assert corpus.words == ["a"]


def test_a_tokenizer_from_the_cache(tmp_path, monkeypatch):
    snapshot = tmp_path / "models--org--name" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_bytes((find_model() / "tokenizer.json").read_bytes())
    (tmp_path / "models--org--name" / "refs").mkdir()
    (tmp_path / "models--org--name" / "refs" / "main").write_text("0123")
    import huggingface_hub.constants
    import huggingface_hub.file_download

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.file_download, "HF_HUB_CACHE", str(tmp_path), raising=False)
    assert find_tokenizer("hf:org/name").name == "hf:org/name-be50c3628f2b"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nltkk", r"tokenizer 'nltkk'.*'nltk'"),
        ("hf:", "give a name or folder after hf:"),
        ("NLTK", r"tokenizer 'NLTK'.*'nltk'"),
        (
            "nowhere/at-all",
            r"no folder or file .*nowhere/at-all; .*hf:nowhere",
        ),
        ("./nowhere", "there is no folder or file [^;]*nowhere$"),
        ("hf:org/none-such", r"Hugging Face cache .*hf download org/none-such"),
        ("hf:/none/such", r"/none/such.*downloads nothing$"),
    ],
)
def test_unknown_names_say_where_was_looked(name, message):
    with pytest.raises(InputError, match=message):
        find_tokenizer(name)


def test_files_that_are_no_tokenizer(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json: not a file"):
        find_tokenizer(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: holds no tokenizer\.json"):
        find_tokenizer(tmp_path / "empty")


def test_word_pieces_need_valid_unicode():
    with pytest.raises(InputError, match=r"^texts, row 3: .*character 2 .*surrogate"):
        as_corpus(["a", "b", "c\udc80"], "minilm")


def test_what_sacrebleu_would_download_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sacrebleu_tokenizers, "find_spec", lambda name: None)
    for name, package in [
        ("ja-mecab", "MeCab"),
        ("ko-mecab", "mecab_ko"),
        ("spm", "sentencepiece"),
    ]:
        with pytest.raises(MissingExtraError, match=f"the tokenizer '{name}' needs .*{package}"):
            find_tokenizer(name)


class Processor:
    """Stands for sentencepiece's: its model is a file that begins with b"model"."""

    def Load(self, path):  # noqa: N802 - sentencepiece's name
        with open(path, "rb") as file:
            if file.read(5) != b"model":
                raise RuntimeError("INTERNAL: could not parse ModelProto")

    def EncodeAsPieces(self, text):  # noqa: N802
        return ["\u2581", *text.replace(" ", "\u2581")]


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Where sacrebleu keeps models, with a package that reads them."""
    monkeypatch.setitem(
        sys.modules, "sentencepiece", SimpleNamespace(SentencePieceProcessor=Processor)
    )
    monkeypatch.setattr(sacrebleu_tokenizers, "find_spec", lambda name: name)
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


OF_MODELS = {
    "spm": "sacrebleu_tokenizer_spm.model",
    "flores101": "sacrebleu_tokenizer_spm.model",
    "flores200": "flores200sacrebleuspm",
    "spBLEU-1K": "spbleu-1k_tokenizer_spm.model",
}


@pytest.mark.parametrize("name", OF_MODELS)
def test_a_model_that_is_not_here_is_refused_and_a_damaged_one(models, name):
    path = models / OF_MODELS[name]
    missing = f"the tokenizer '{name}' needs the file {path}.*downloads nothing; fetch it from http"
    damaged = f"the tokenizer '{name}' needs the file {path}, which is not a model of .*again from"
    for use in (find_tokenizer, lambda name: bleu(["a b"], ["a c"], tokenizer=name)):
        path.unlink(missing_ok=True)
        with pytest.raises(InputError, match=missing):
            use(name)
        path.write_bytes(b"")
        with pytest.raises(InputError, match=damaged):
            use(name)


@pytest.mark.parametrize("name", OF_MODELS)
def test_a_model_that_is_here_cuts_texts(models, name):
    (models / OF_MODELS[name]).write_bytes(b"model")
    assert words_of("ab c", name) == ["\u2581", "a", "b", "\u2581", "c"]
    texts, references = ["the cat ran", "a dog"], ["the cat sat", "a dog"]
    expected = sacrebleu.corpus_bleu(texts, [references], tokenize=name).score
    assert bleu(texts, references, tokenizer=name).value == pytest.approx(expected)


class Halves:
    name = "halves"

    def split(self, texts):
        return [[text[: len(text) // 2], text[len(text) // 2 :]] for text in texts]


def test_a_tokenizer_of_ones_own():
    corpus = as_corpus(["abcd"], Halves())
    assert (corpus.words, corpus.tokenizer) == (["ab", "cd"], "halves")
    corpus = as_corpus(["a-b"], lambda text: text.split("-"))
    assert corpus.words == ["a", "b"]
    assert corpus.tokenizer.startswith("function:")


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda text: text, r"texts, row 1: .* list of strings; it returned 'a b'"),
        (lambda text: [1], r"row 1: .* list of strings; it returned \[1\]"),
        (lambda text: None, "it returned None"),
        (7, r"tokenizer .*name, an object .* or a function .* 7"),
        (None, "tokenizer must be a name"),
    ],
)
def test_a_tokenizer_that_returns_no_tokens(tokenizer, message):
    with pytest.raises(InputError, match=message):
        as_corpus(["a b"], tokenizer)


@pytest.mark.parametrize(("change", "returned"), [(-1, "it returned 1"), (1, "it returned more")])
def test_a_tokenizer_must_return_one_list_for_each_text(change, returned):
    class Wrong(Halves):
        def split(self, texts):
            return [["a"]] * (len(texts) + change)

    with pytest.raises(InputError, match=r"one list of tokens for each.*"):
        as_corpus(["a", "b"], Wrong())
