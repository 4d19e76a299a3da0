"""Words as they are written: worked by hand in many scripts, and laws for any text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.unicode import words as words_by_unicode
from calipers.unicode.written_words import (
    UNSPACED,
    counted_words,
    first_words,
    gap,
    is_spaced,
    is_unspaced,
    last_words,
    split_words,
    unit_of,
    word_count,
    word_spans,
)

SCRIPTS = "字人々好のをはーカタナﾀﾞがไปเดินโรຄວາມខ្មែរမြန်မာᬅꀀꦗ"
MIXED = SCRIPTS + " \n abDon't1.5,、。「」()!?—👍🏽👨‍👩‍👧🇩🇪❤️°é\u0301\u200b한국हिन्दीالله"
SYLLABLES = [
    *("字", "々", "が", "が", "は", "ー", "カ", "ﾀﾞ", "ไ"),
    *("เดิ", "ขั้", "ก็", "ำ", "ะ", "กำ", "ๆ", "ຄ", "ວາ"),
    *("ມ", "ຮັ", "ເ", "ໂຍ", "ខ្មែ", "រ", "ស្ត្រី", "ភា", "មြ"),
    *("န်", "မာ", "န္တ", "ကြ့်", "ဥ", "ꀀ", "ꦗꦮ", "ᬓ᭄ᬱ", "ᥐ"),
    *("ㄅ"),
]
"""Letters with the marks of their own script, and a few without the letter that they need."""
texts = st.one_of(st.text(), st.text(alphabet=MIXED), st.text(alphabet=SCRIPTS + " 。a"))


without_pictures = texts.map(
    lambda text: "".join(sign for sign in text if is_unspaced(sign) or is_spaced(sign))
)
"""Whether emoji stand alone depends on the rest of a text, and so changes where it is cut."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t ", []),
        ("Don't pay $10,000… in  the U.S.!", ["Don't", "pay", "$10,000…", "in", "the", "U.S.!"]),
        ("吾輩は猫である。", ["吾", "輩", "は", "猫", "で", "あ", "る。"]),
        ("你好，「世界」！", ["你", "好，", "「世", "界」！"]),
        ("——好", ["——好"]),
        ("データベースを管理", ["データベース", "を", "管", "理"]),
        ("人々の", ["人", "々", "の"]),
        ("使用apt-get(8)安装", ["使", "用", "apt-get(8)", "安", "装"]),
        ("ok（好）ok", ["ok", "（好）", "ok"]),
        ("3.5万", ["3.5", "万"]),
        ("ไปเดิน โรงเรียน", ["ไป", "เดิ", "น", "โร", "ง", "เรี", "ย", "น"]),
        ("ຄວາມຮັກ", ["ຄ", "ວາ", "ມ", "ຮັ", "ກ"]),
        ("ភាសាខ្មែរ", ["ភា", "សា", "ខ្មែ", "រ"]),
        ("မြန်မာ။", ["မြန်", "မာ။"]),
        ("한국어는 띄어쓰기가 있다.", ["한국어는", "띄어쓰기가", "있다."]),
        ("हिन्दी में, शब्द।", ["हिन्दी", "में,", "शब्द।"]),
        ("اللغة العربية", ["اللغة", "العربية"]),
        ("👍🏽👨‍👩‍👧🇩🇪🇫🇷", ["👍🏽", "👨‍👩‍👧", "🇩🇪", "🇫🇷"]),
        ("😀❤️😀 😀", ["😀", "❤️", "😀", "😀"]),
        ("好！😀❤️😀", ["好！", "😀", "❤️", "😀"]),
        ("great!😀❤️😀 🎉🎉", ["great!😀❤️😀", "🎉🎉"]),
        ("375°F © 2024", ["375°F", "©", "2024"]),
        ("か\u3099く", ["か\u3099", "く"]),
    ],
)
def test_words_worked_by_hand(text, words):
    assert split_words(text) == words
    assert word_count(text) == len(words)
    assert [text[start:stop] for start, stop in word_spans(text)] == words


@given(texts)
def test_words_end_to_end_are_the_text_without_its_white_space(text):
    words = split_words(text)
    assert all(words)
    assert "".join(words) == "".join(text.split())


@given(texts)
def test_without_units_words_are_what_white_space_separates(text):
    spaced = "".join(sign for sign in text if is_spaced(sign))
    assert split_words(spaced) == spaced.split()


@given(st.lists(without_pictures, max_size=4))
def test_no_rule_looks_past_white_space(parts):
    assert split_words(" ".join(parts)) == [word for part in parts for word in split_words(part)]


@given(without_pictures, st.integers(1, 9))
def test_the_first_words_and_the_rest_are_the_whole(text, words):
    first, rest = first_words(text, words), last_words(text, words)
    assert split_words(first)[:words] + split_words(rest) == split_words(text)
    assert text.startswith(first)
    assert text.endswith(rest)
    assert word_count(first) == min(words, word_count(text))


@given(st.lists(st.sampled_from(SYLLABLES)))
def test_units_are_those_of_the_words_of_unicode(syllables):
    text = "".join(syllables)
    assert split_words(text) == words_by_unicode.words(text)


def test_every_letter_of_these_scripts_is_a_unit_of_unicodes_words_too():
    """Of each letter alone, so that a script that is in one list and not in the other shows."""
    ranges = [sign for sign in map(chr, range(0x3000, 0xFFA0)) if is_unspaced(sign)]
    lower = [sign for sign in map(chr, range(0xE00, 0x1C00)) if is_unspaced(sign)]
    assert [sign for sign in lower + ranges if words_by_unicode.words(sign) != [sign]] == []
    assert len(UNSPACED) < 1000


@given(st.text(alphabet="字はไปមာ。「ok ", min_size=1))
def test_words_are_joined_without_spaces_where_their_script_has_none(text):
    whole = words_by_unicode.joined(split_words(text))
    assert "".join(whole.split()) == "".join(text.split())
    for before, space, after in zip(whole, whole[1:], whole[2:], strict=False):
        assert space != " " or not (is_unspaced(before) or is_unspaced(after))


@given(st.lists(st.text(alphabet="abé'-.1", min_size=1)))
def test_words_of_scripts_with_spaces_are_joined_by_one(words):
    assert words_by_unicode.joined(words) == " ".join(words)


@pytest.mark.parametrize(
    ("left", "right", "between"),
    [
        ("a", "b", " "),
        ("好", "b", ""),
        ("b", "好", ""),
        ("好，", "b", ""),
        ("b", "「好", ""),
        ("ไป", "เดิน", ""),
        ("안녕", "세상", " "),
        ("नमस्ते", "दुनिया", " "),
        ("😀", "😀", " "),
        ("。", "a", ""),
    ],
)
def test_what_stands_between_two_words(left, right, between):
    assert gap(left, right) == between


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        ([], "words"),
        (["", " "], "words"),
        (
            ["字", "among very many more words, so many that " * 3],
            "words",
        ),
        (["今日は apt を使う", "日本語の文章"], "characters"),
        (["Half of it 是中文的"], "words or characters"),
        (["😀😀😀"], "characters"),
        (["한국어 문장"], "words"),
    ],
)
def test_what_is_counted_is_named(given, unit):
    assert unit_of(given) == unit


def test_many_texts_are_looked_at_evenly():
    assert unit_of(["word"] * 5000 + ["字"] * 5000) == "words or characters"


def test_counts_are_written_with_what_they_count():
    assert counted_words(1, "words or characters") == "1 word or character"
    assert counted_words(1234, "characters") == "1,234 characters"


@pytest.mark.parametrize(
    "text",
    [
        "e" + "\u0301" * 10**6,
        "字" + "\u0301" * 10**6,
        "(" * 10**6 + "字",
        "!" * 10**6 + "字",
        "字" + "!" * 10**6 + "a",
        "👍" + "\u200d👍" * 300_000,
        "🇩" * 10**6,
        "ー" * 10**6,
        "က်" * 500_000,
        "\ufe0f" * 10**6,
        "(a" * 500_000 + "字",
    ],
    ids=lambda text: f"{text[:3]!a}",
)
def test_long_runs_take_time_in_proportion(text):
    started = time.process_time()
    words = split_words(text)
    assert "".join(words) == text
    assert first_words(text, 3) + last_words(text, 3) == text
    assert gap(text, text) in ("", " ")
    assert time.process_time() - started < 20
