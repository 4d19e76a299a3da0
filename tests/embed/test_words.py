import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embed.words.words import check_texts, parts, split_chunk, split_words
from calipers.errors import InputError


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
        check_texts(["a", b"b"])
