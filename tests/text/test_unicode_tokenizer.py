"""The default tokenizer follows the script, is one for all sets, and loses nothing of a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.evaluate.texts import find_splitter
from calipers.text import (
    distinct,
    exact_duplicates,
    moving_average_ttr,
    novelty,
    overused_phrases,
    rep_n,
    repeated_endings,
    self_bleu,
    shared_texts,
    tokenise,
    zipf_coefficient,
)
from calipers.text.nltk_tokenizer import NltkTokenizer
from calipers.text.tokenizers import find_tokenizer
from calipers.text.unicode_tokenizer import UnicodeTokenizer, has_foreign_letters
from calipers.text.word_numbers import Vocabulary
from calipers.unicode.words import words_and_marks

ENGLISH = [
    "The cat couldn't sit on the mat, could it?",
    "It rained in the café all day.",
    "“Nobody,” he said, “has been here since May.”",
]
OTHERS = {
    "german": "Der schöne Tag war für uns alle viel zu kurz, aber die Gäste müssen früh nach Köln.",
    "french": "L'été dernier nous sommes allés à la mer, même après la pluie.",
    "russian": "Кошка сидела на ковре.",
    "arabic": "جلست القطة على السجادة.",
    "hebrew": "החתול ישב על השטיח.",
    "hindi": "बिल्ली चटाई पर बैठी।",
    "korean": "고양이가 매트 위에 앉았다.",
    "chinese": "猫今天坐在垫子上。",
    "japanese": "ネコはマットの上に座った。",
    "thai": "แมวนั่งบนเสื่อ",
    "khmer": "ឆ្មាអង្គុយលើកន្ទេល។",
}


def test_english_keeps_the_tokens_of_nltk():
    (corpus,) = tokenise(ENGLISH)
    (nltk,) = tokenise(ENGLISH, tokenizer="nltk")
    assert corpus.tokenizer == NltkTokenizer.name
    assert corpus.words == nltk.words
    assert corpus.tokens.tolist() == nltk.tokens.tolist()


@pytest.mark.parametrize("language", OTHERS)
def test_one_tokenizer_for_all_sets_by_the_letters_of_all(language):
    (alone,) = tokenise([OTHERS[language]])
    assert alone.tokenizer == UnicodeTokenizer.name
    assert [alone.words[token] for token in alone.tokens] == words_and_marks(OTHERS[language])
    first, second = tokenise(ENGLISH, [OTHERS[language]])
    assert first.tokenizer == second.tokenizer == UnicodeTokenizer.name


def test_names_and_marks_make_no_foreign_text():
    assert not has_foreign_letters(ENGLISH)
    assert not has_foreign_letters(["“It’s fine,” she said — …", "👍🏽 €5", ""])
    assert not has_foreign_letters([])
    assert has_foreign_letters(["ein слово", ""])
    assert has_foreign_letters(["👩‍👩‍👧👍🏽 🎉", "🇩🇪🇫🇷"])


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_numbers_are_those_of_the_words(texts):
    vocabulary = Vocabulary()
    numbers = UnicodeTokenizer().number(texts, vocabulary)
    words = list(vocabulary)
    assert [words[token] for token in numbers.tokens] == [
        word for text in texts for word in words_and_marks(text)
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_forms_of_one_text_have_the_same_tokens(language):
    forms = [unicodedata.normalize(form, OTHERS[language]) for form in ("NFC", "NFD")]
    first, second = tokenise([forms[0]], [forms[1]])
    assert first.tokens.tolist() == second.tokens.tolist()
    assert exact_duplicates(forms).value == 0.5


def test_a_named_tokenizer_is_kept():
    assert tokenise(["猫今天"], tokenizer="nltk")[0].words == ["猫今天"]
    assert find_tokenizer("unicode").name.startswith("unicode-regex-")
    assert find_splitter("auto").name == "auto"
    assert list(find_tokenizer("auto").split(["猫今"])) == [["猫", "今"]]


# Statistics of texts without spaces, by hand --------------------------------------------------

LOOP = ["我们走吧。我们走吧。", "今天下雨了。"]


def test_statistics_of_chinese_by_hand():
    # ten tokens of five kinds, and six of six
    assert distinct(LOOP, order=1).value == pytest.approx(10 / 16)
    # rep-2: nine pairs of five kinds; five of five
    assert rep_n(LOOP, order=2).per_sample.tolist() == pytest.approx([4 / 9, 0])
    found = repeated_endings(LOOP)
    assert found.copies.tolist() == [2, 1]
    assert found.lengths.tolist() == [5, 0]
    assert novelty(["我们走了"], ["我们走吧"], order=2).value == pytest.approx(1 / 3)


def test_statistics_of_thai_are_of_clusters():
    # แม|ว|กิ|น twice over
    assert distinct(["แมวกินแมวกิน"], order=1).value == 0.5
    assert repeated_endings(["แมวกินแมวกิน"]).lengths.tolist() == [4]


def test_no_statistic_of_the_room_takes_a_text_for_one_word():
    texts = [text * 2 for text in (OTHERS["chinese"], OTHERS["japanese"], OTHERS["thai"])]
    assert self_bleu(texts, order=1).value > 0
    assert moving_average_ttr(texts, window=12).value < 1
    assert zipf_coefficient(texts).value > 0


@pytest.mark.parametrize(
    ("phrase", "filler"),
    [("总而言之", "猫狗鸟鱼马牛羊虎龙蛇"), ("โดยสรุปแล้ว", "กขคงจชซดตถ")],
)
def test_phrases_are_written_as_their_script_writes_them(phrase, filler):
    generated = [f"{phrase}{a}{b}" for a in filler for b in filler[:4]]
    references = [f"{a}{b}{c}" for a in filler for b in filler[:2] for c in filler[:2]]
    found = overused_phrases(generated, references, order=3)
    phrases = [row["phrase"] for row in found.details]
    assert phrases
    assert all(" " not in listed and listed in phrase for listed in phrases[:1])


def test_near_copies_are_found_without_spaces():
    text = "今天天气很好我们一起去公园散步然后喝咖啡"
    shared = shared_texts([[text]], order=2, threshold=0.6) or shared_texts(
        [[text], [text.replace("咖啡", "茶")]], order=2, threshold=0.6
    )
    assert shared[0, 1][0].similarity > 0.6
    assert shared[0, 1][0].words == 19
