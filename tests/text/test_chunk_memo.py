"""Tokens by way of remembered chunks are the tokenizer's own, token for token."""

import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.text import chunk_memo
from calipers.text.nltk_tokenizer import NltkTokenizer
from calipers.text.sacrebleu_tokenizers import PROVEN_13A, Sacrebleu13a, fingerprint_13a
from calipers.text.word_numbers import Vocabulary, blocks

pytestmark = pytest.mark.usefixtures("no_network")

ATOMS = [
    *"ab1 .,:;'\"`()[]{}<>!?-*&$_ \n\t\u00a0\u3000\x1c«»“”‘’„sTé中…",
    *[" ", " ", " ", "''", "``", "--", "...", "'s", "'S", " 't", "'tis", " 'twas", "n't", "'ll"],
    *["cannot", "d'ye", "gimme", "gonna", "gotta", "lemme", "more'n", "wanna", "'re", "N'T"],
    *[" ' ", " '' ", ' " ', "’s", "end.", '."', ".)", '.")', ". ", ", ", ": ", "W. ", "word"],
    *["&quot;", "&amp;", "<skipped>", "-\n", "1.", "1,", "-1", "ſ", "İ", "²", "\ud800", "😀"],
    chunk_memo.MARK,
]
TEXTS = st.lists(st.lists(st.sampled_from(ATOMS), max_size=12).map("".join), min_size=1, max_size=8)
NLTK, THIRTEEN = NltkTokenizer(), Sacrebleu13a()
BOTH = pytest.mark.parametrize("tokenizer", [NLTK, THIRTEEN], ids=["nltk", "13a"])


def remembered(tokenizer, texts):
    vocabulary = Vocabulary()
    numbers = chunk_memo.ChunkMemo(tokenizer, vocabulary).number(texts)
    words = list(vocabulary)
    return [
        [words[number] for number in numbers.tokens[start:stop]]
        for start, stop in zip(numbers.starts[:-1], numbers.starts[1:], strict=True)
    ]


def own(tokenizer, texts):
    return [list(words) for words in tokenizer.split(texts)]


def test_this_version_has_the_rules_that_were_proven_local():
    """Where this fails, the rules have changed: all is still right, but slow."""
    assert fingerprint_13a(THIRTEEN._tokenizer) == PROVEN_13A


@BOTH
@settings(max_examples=250)
@given(texts=TEXTS)
def test_tokens_are_the_tokenizers_own(tokenizer, texts):
    assert remembered(tokenizer, texts) == own(tokenizer, texts)


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "  ", "\n", '"', "'", "''", ".", " .", ". ", "..", '"."', "( . )", " ) ) ", ","],
        *['"Go."', '"Go on."', "''Go on.''", "Go on, ", "Go on:", "Go on:\n", "a ,\n", "a' ' ' b"],
        *["I wanna", "I wanna.", "I wanna go", "cannot", "cannot.", "'tis", "it 'tis", "Mr. X. "],
        *["end.\x1c", "end. \x1c)", 'end."  ', "end.) \u3000\n", "a. ) .", "a . ) ", 'x. " b', "'"],
        *[
            'a\n"b',
            "a ' b'",
            "a' b",
            "«a» «b» '",
            '`" a',
            "_'s a",
            "more'n d'ye",
            f"{'x' * 300} y.",
        ],
    ],
)
@BOTH
def test_ends_of_texts(tokenizer, text):
    for around in (text, f"a {text}", f"{text} a", f"a. {text} b."):
        assert remembered(tokenizer, [around]) == own(tokenizer, [around])


@BOTH
def test_little_room_and_small_blocks_change_nothing(tokenizer, monkeypatch):
    texts = [f'{word} \'twas cannot {word}, "end."' for word in "abcdefgh"] * 3
    expected = own(tokenizer, texts)
    for room, size in [(0, 1), (100, 50), (1 << 20, 10)]:
        monkeypatch.setattr(chunk_memo, "ROOM", room)
        monkeypatch.setattr(chunk_memo, "BLOCK", size)
        monkeypatch.setattr(chunk_memo, "BATCH", size)
        assert remembered(tokenizer, texts) == expected


def test_blocks_hold_every_row_once():
    texts = ["a" * size for size in (0, 5, 1, 0, 9, 2, 0)]
    cut = list(blocks(texts, 5))
    assert cut == [(0, 2), (2, 5), (5, 7)]
    assert list(blocks([""], 5)) == [(0, 1)]


@BOTH
def test_all_of_ag_news(tokenizer, data_folder):
    with open(data_folder / "ag_news" / "test.csv", encoding="utf-8") as file:
        texts = [f"{title} {description}" for _, title, description in csv.reader(file)]
    assert remembered(tokenizer, texts[:1500]) == own(tokenizer, texts[:1500])


@pytest.mark.parametrize("source", ["human", "gpt2-xl", "gpt-neox-20b"])
@BOTH
def test_long_texts_with_paragraphs(tokenizer, source, data_folder):
    lines = (data_folder / "writing_prompts" / f"{source}.jsonl").read_text("utf-8").splitlines()
    texts = [max(filter(None, map(str, json.loads(line).values())), key=len) for line in lines]
    assert remembered(tokenizer, texts[:200]) == own(tokenizer, texts[:200])
