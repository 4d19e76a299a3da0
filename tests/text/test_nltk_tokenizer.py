"""The default tokenizer has NLTK's tokens, whether NLTK is installed or not."""

import csv
import subprocess
import sys
import unicodedata

import nltk
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from calipers.text.nltk_tokenizer import NltkTokenizer, _is_word, tokenize

theirs = NLTKWordTokenizer().tokenize

ATOMS = [
    *"ab1 .,:;'\"`()[]{}<>!?-*&$_ \n\t\u00a0\u3000\x1c\x1f\x85\u2028«»“”‘’„sTéИ中…",
    *[" ", " ", " ", "''", "``", "--", "...", "'s", "'S", " 't", "'tis", " 'twas", "n't", "'ll"],
    *["cannot", "d'ye", "gimme", "gonna", "gotta", "lemme", "more'n", "wanna", "'re", "N'T"],
    *[" ' ", " '' ", ' " ', "’s", "end.", '."', ".)", '.")', ". ", ", ", ": ", "W. ", "word"],
    *["&quot;", "<skipped>", "-\n", "1.", "1,", "-1", "'LL", "'ſ", "ſ", "İ", "ı", "²", "½", ",٣"],
    *["\ud800", "😀", "e\u0301", "\u093e", "\u200d", "\u203f", "Ⓐ", "Ⅷ", "٣", "CANNOT", "'TIS"],
]


@settings(max_examples=500)
@given(text=st.lists(st.sampled_from(ATOMS), max_size=20).map("".join))
def test_tokens_are_those_of_nltk(text):
    assert tokenize(text) == theirs(text)


@pytest.mark.parametrize(
    "text",
    [
        *["के' घर", "के 'घर", "'tis I", "the '90s", "rock 'n' roll", "'re 's 'sword 'nough 'd'ye"],
        *[
            "¡'Hola'!",
            "l'été d'Été",
            "''",
            "'",
            "it's 5' 3\".",
            "end. \x1c",
            "end.\u2028",
            "e\u0301'a",
        ],
        *["\u200d'a", "Ⓐ'a", "²'a", "a_'s", "١,٢ 1,2 ½,½", "a.b. (c.) [d.]  ", "x – y — z"],
    ],
)
def test_hard_cases_are_as_in_nltk(text):
    for around in (text, f"a {text}", f"{text} a", f"({text})."):
        assert tokenize(around) == theirs(around)


@pytest.mark.slow
def test_words_end_where_they_end_for_nltk():
    word = regex.compile(r"\w")
    assigned = [x for x in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(x) != "Cn"]
    known = [x for x in assigned if regex.match(r"\p{Cn}", x) is None]  # of older data than ours
    assert [x for x in known if _is_word(x) != bool(word.match(x))] == []


def test_all_of_ag_news_is_as_in_nltk(data_folder):
    with open(data_folder / "ag_news" / "test.csv", encoding="utf-8") as file:
        texts = [f"{title} {description}" for _, title, description in csv.reader(file)]
    assert [tokenize(text) for text in texts[:1500]] == [theirs(text) for text in texts[:1500]]


def test_the_name_is_that_of_the_rules():
    """Where NLTK is newer, the tests above say whether its rules are still these."""
    assert NltkTokenizer.name == "nltk-3.10.4"
    assert tuple(map(int, nltk.__version__.split(".")[:2])) >= (3, 10)


@pytest.mark.slow
def test_it_needs_no_nltk():
    code = (
        "import sys; sys.modules.update(nltk=None, regex=None);"
        "from calipers.text.nltk_tokenizer import tokenize; print(tokenize('I cannot, \"go\".'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["I", "can", "not", ",", "``", "go", "''", "."])


def test_long_texts_take_time_linear_in_their_length():
    """Runs of what a rule repeats: backtracking over them would take minutes."""
    for part in (" ", ". ", "'", ")", "\n", '" ', "«", ".) ", ": "):
        text = f"a.{part * 10_000}b"
        assert "".join(tokenize(text)).count("b") == 1
