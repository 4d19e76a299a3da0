"""Words and characters of texts in many scripts, worked by hand; nothing is lost or hangs."""

import time
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from calipers.unicode import words as unicode_words
from calipers.unicode.scripts import WITHOUT_SPACES, unspaced_share, without_spaces
from calipers.unicode.words import (
    graphemes,
    is_word,
    joined,
    word_count,
    word_spans,
    words,
    words_and_marks,
)

CUT = [
    ("english", "Don't stop: 3.14, 1,000 and e.g. x_1", "Don't|stop|:|3.14|,|1,000|and|e.g|.|x_1"),
    ("french", "L'été, aujourd’hui", "L'été|,|aujourd’hui"),
    ("german", "Straßenbahn-Größe", "Straßenbahn|-|Größe"),
    ("russian", "Всё хорошо, да?", "Всё|хорошо|,|да|?"),
    ("greek", "Τι κάνεις;", "Τι|κάνεις|;"),
    ("arabic", "كَتَبَ الولدُ، ثم ذهب.", "كَتَبَ|الولدُ|،|ثم|ذهب|."),
    ("persian joiner", "می\u200cخواهم بروم", "می\u200cخواهم|بروم"),
    ("hebrew gershayim", 'צה"ל אמר', 'צה"ל|אמר'),
    ("hindi", "हिन्दी में क्षत्रिय।", "हिन्दी|में|क्षत्रिय|।"),
    ("tamil", "நான் வருகிறேன்.", "நான்|வருகிறேன்|."),
    ("korean", "나는 학교에 갑니다.", "나는|학교에|갑니다|."),
    ("amharic", "ሰላም ለዓለም።", "ሰላም|ለዓለም|።"),
    ("chinese", "我喜欢咖啡，2024年。", "我|喜|欢|咖|啡|，|2024|年|。"),
    ("japanese", "コーヒーが好き！", "コーヒー|が|好|き|！"),
    ("iteration and length", "人々はらーめん", "人|々|は|らー|め|ん"),
    ("variation selector", "葛\U000e0100城", "葛\U000e0100|城"),
    ("thai", "เด็กไปโรงเรียน น้ำ ๑๒๓", "เด็|ก|ไป|โร|ง|เรี|ย|น|น้ำ|๑๒๓"),
    ("lao", "ເດັກໄປ ຄຳ", "ເດັ|ກ|ໄປ|ຄຳ"),
    ("khmer", "ភាសាខ្មែរ។", "ភា|សា|ខ្មែ|រ|។"),
    ("burmese", "မြန်မာစာ အင်္ဂလိပ် ဗုဒ္ဓ။", "မြန်|မာ|စာ|အင်္ဂ|လိပ်|ဗုဒ္ဓ|။"),
    ("javanese", "ꦗꦮ", "ꦗ|ꦮ"),
    ("tibetan", "བོད་སྐད།", "བོད|་|སྐད|།"),
    ("emoji", "👩‍👩‍👧👍🏽 🇩🇪🇫🇷", "👩‍👩‍👧|👍🏽|🇩🇪|🇫🇷"),
    ("scripts without a space between", "iPhone手机abcไทย", "iPhone|手|机|abc|ไท|ย"),
    ("a mark alone", " \u0301a", "\u0301|a"),
    ("white space of all kinds", "a\u3000b\u00a0c\x1cd\r\né", "a|b|c|d|é"),
]


@pytest.mark.parametrize(("text", "cut"), [row[1:] for row in CUT], ids=[row[0] for row in CUT])
def test_words_and_marks_by_hand(text, cut):
    assert words_and_marks(text) == cut.split("|")
    assert words(text) == [piece for piece in cut.split("|") if is_word(piece)]


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("e\u0301a", ["e\u0301", "a"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("각", ["각"]),
        ("நிக்ஷி", ["நி", "க்", "ஷி"]),
        ("क्षत्रिय", ["क्ष", "त्रि", "य"]),
        ("กำลัง", ["กำ", "ลั", "ง"]),
        ("👩‍👩‍👧👍🏽", ["👩‍👩‍👧", "👍🏽"]),
        ("🇩🇪🇫🇷🇩", ["🇩🇪", "🇫🇷", "🇩"]),
        ("1️⃣", ["1️⃣"]),
        ("naïve", list("naïve")),
    ],
)
def test_characters_that_a_reader_sees(text, characters):
    assert graphemes(text) == characters


def test_marks_are_no_words():
    assert words("¡Hola! … — «да» 。، !?") == ["Hola", "да"]
    assert words("👍🏽 © ½ \u0301") == ["👍🏽", "©", "½"]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["the", "cat", "'s"], "the cat 's"),
        (["我", "喜", "欢", "，", "iPhone", "很", "好"], "我喜欢，iPhone很好"),
        (["コーヒー", "が", "好", "き", "。"], "コーヒーが好き。"),
        (["เด็", "ก", "ไป"], "เด็กไป"),
        (["나는", "학교에"], "나는 학교에"),
        (["मैं", "हूँ"], "मैं हूँ"),
        (["年", "2024", "年"], "年2024年"),
        ([], ""),
    ],
)
def test_words_are_joined_as_their_script_writes_them(pieces, text):
    assert joined(pieces) == text


def test_scripts_without_spaces():
    for text in (
        "我们去学校",
        "ภาษาไทย",
        "カタカナ",
        "ភាសាខ្មែរ",
        "မြန်မာ",
        "ພາສາລາວ",
        "日本語ではiPod",
    ):
        assert without_spaces(text), text
    for text in ("한국어", "Русский", "हिन्दी", "English 好", "بالعربية", "123", ""):
        assert not without_spaces(text), text
    assert unspaced_share("ab好吗") == 0.5


@given(st.text())
def test_cutting_loses_nothing_but_white_space(text):
    assert "".join(words_and_marks(text)) == "".join(text.split())
    assert "".join(graphemes(text)) == text


@given(st.text())
def test_spans_are_where_the_words_stand(text):
    assert [text[start:stop] for start, stop in word_spans(text)] == words(text)
    assert word_count(text) == len(words(text))


SCRIPTS = "ab'.:,1 \u0301éßёג\"ءकि्षनกเำា្រကျန််္가ᄀ각ー々好がガ🇩👩\u200d🏽\ufe0f、。_"


@given(st.text(alphabet=SCRIPTS, max_size=12))
def test_the_fast_ways_cut_as_the_slow_one(text):
    slow = [piece for chunk in text.split() for piece in unicode_words._PIECES.findall(chunk)]
    assert words_and_marks(text) == slow


@given(st.text(alphabet="aB1_.,;:'\"!- \t\r\n\x0b\x1c", max_size=12))
def test_ascii_is_cut_by_the_same_rules(text):
    slow = [piece for chunk in text.split() for piece in unicode_words._PIECES.findall(chunk)]
    assert words_and_marks(text) == slow
    assert words(text) == [piece for piece in slow if is_word(piece)]


@given(st.text(alphabet=SCRIPTS, max_size=12), st.text(alphabet=SCRIPTS, max_size=12))
def test_a_space_parts_texts(first, second):
    """So that chunks between spaces can be cut by themselves."""
    together = words_and_marks(f"{first} {second}")
    assert together == words_and_marks(first) + words_and_marks(second)


@given(st.text(alphabet="éàüёйが각ปำกคำกេ ន្នेड़ऩ.,1", max_size=12))
def test_composed_and_decomposed_texts_have_the_same_words(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    composed_words = words(composed)
    assert [unicodedata.normalize("NFC", word) for word in words(decomposed)] == composed_words


def test_blocks_hold_every_character_of_their_scripts():
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    lacking = regex.findall(rf"(?V1)[{WITHOUT_SPACES}]", everything)
    assert [c for c in lacking if not unicode_words._MAY_LACK_SPACES.match(c)] == []


HOSTILE = {
    "marks": "a" + "\u0301" * 10**6,
    "marks alone": "\u0301" * 10**6,
    "joiners": "👩\u200d" * 500_000,
    "flags": "🇩" * 10**6,
    "viramas": "क्" * 500_000,
    "stacks": "ក្" * 500_000,
    "closed": "က\u103a" * 500_000,
    "dots": "é." * 500_000,
    "vowels": "เ" * 10**6,
    "spaces": " " * 10**6 + "é",
    "jamo": "ᄀ" * 10**6,
    "han": "中" * 10**6,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_million_of_anything_takes_bounded_time(kind):
    start = time.process_time()
    words(HOSTILE[kind])
    joined(words_and_marks(HOSTILE[kind]))
    graphemes(HOSTILE[kind])
    assert time.process_time() - start < 10


def test_lone_surrogates_are_pieces_and_no_error():
    assert words_and_marks("é\ud800x") == ["é", "\ud800", "x"]
