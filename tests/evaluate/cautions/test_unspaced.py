"""Lengths, openings, copies and prompts of texts in scripts without spaces, and in other forms."""

import unicodedata

import numpy as np
import pytest

from calipers.evaluate.cautions.confounders import confounders
from calipers.evaluate.cautions.texts import common_words, fold, read_facts
from calipers.evaluate.inputs import InputSet, length_cautions, summarise
from calipers.evaluate.prompt_texts import texts_of_prompts
from calipers.evaluate.prompts import behind_prompt, strip_prompts
from calipers.evaluate.shared_prompts import shared_prompts
from calipers.samples import SampleSet
from calipers.text import exact_duplicates, shared_texts

HAN = [chr(0x4E00 + place) for place in range(300)]
THAI = [
    consonant + vowel for consonant in "กขคงจชซดตถทนบปผพฟมยรลวสหอ" for vowel in ("า", "ิ", "ู่", "")
]
KHMER = [consonant + vowel for consonant in "កខគងចឆជដតថទនបផពមយរលវសហអ" for vowel in ("", "ា", "្រី")]
SCRIPTS = pytest.mark.parametrize("units", [HAN, THAI, KHMER], ids=["Han", "Thai", "Khmer"])


def held(texts, prompts=None, name="x"):
    return SampleSet.from_texts(texts, name=name, prompts=prompts)


def written(rng, units, n, length):
    return ["".join(rng.choice(units, length)) for _ in range(n)]


def cautions(reference, generated):
    found = confounders(held(reference), [held(generated)])
    return {caution.kind: caution for caution in found.cautions}


@SCRIPTS
def test_lengths_are_told_in_characters_with_a_cut_that_works(units):
    rng = np.random.default_rng(0)
    long, short = written(rng, units, 200, 80), written(rng, units, 200, 40)
    found = cautions(long, short)["lengths"]
    assert found.brief == "much shorter (40 vs 80 characters)"
    assert found.remedy == "`match_length=40`"
    lengths = confounders(held(long), [held(short)]).to_dict()["lengths"]
    assert list(lengths) == ["characters"]
    assert lengths["characters"]["generated"] == 40


@SCRIPTS
def test_two_halves_of_one_kind_have_no_cautions(units):
    rng = np.random.default_rng(1)
    assert not cautions(written(rng, units, 300, 50), written(rng, units, 300, 50))


def test_words_and_characters_are_not_compared():
    rng = np.random.default_rng(2)
    chinese, english = written(rng, HAN, 200, 60), [" ".join(["word"] * 12)] * 200
    lengths = confounders(held(chinese), [held(english)]).to_dict()["lengths"]
    assert list(lengths) == ["characters"]
    assert lengths["characters"]["cut"] is None
    sides = (summarise([InputSet(held(texts), 200)], name="x") for texts in (chinese, english))
    assert length_cautions(*sides) == ()


def test_mixed_scripts_are_counted_in_both():
    rng = np.random.default_rng(3)
    mixed = [f"one two three {text}" for text in written(rng, HAN, 200, 3)]
    longer = [f"{text} {text} {text}" for text in mixed]
    found = cautions(mixed, longer)["lengths"]
    assert found.brief == "longer (18 vs 6 words or characters)"


@SCRIPTS
def test_shared_openings_are_seen_and_taken_off(units):
    rng = np.random.default_rng(4)
    openings = written(rng, units, 200, 12)
    theirs = [
        opening + rest for opening, rest in zip(openings, written(rng, units, 200, 40), strict=True)
    ]
    ours = [
        opening + rest for opening, rest in zip(openings, written(rng, units, 200, 40), strict=True)
    ]
    found = cautions(theirs, ours)["openings"]
    assert found.text.startswith(
        "100 % of its texts begin as a reference text does, with 12 characters"
    )
    stripped = strip_prompts(held(theirs), [held(ours)])
    assert list(stripped.reference) == [
        text[len(opening) :] for text, opening in zip(theirs, openings, strict=True)
    ]
    assert "12 characters" in stripped.reference.notes[0]
    shared = shared_prompts(held(theirs), held(ours), paired=False)
    assert shared.by == "openings"
    assert shared.count == 200
    assert texts_of_prompts(held(theirs), held(ours), shared)[7] == openings[7]


@SCRIPTS
def test_prompts_in_rows_are_seen_in_texts_that_go_on_without_a_space(units):
    rng = np.random.default_rng(5)
    prompts = written(rng, units, 100, 6)
    texts = [
        prompt + rest for prompt, rest in zip(prompts, written(rng, units, 100, 20), strict=True)
    ]
    found = confounders(held(written(rng, units, 100, 26)), [held(texts, prompts)])
    assert found.prompts.generated == 1.0
    (left,) = strip_prompts(held(written(rng, units, 100, 26)), [held(texts, prompts)]).generated
    assert list(left) == [text[len(prompt) :] for text, prompt in zip(texts, prompts, strict=True)]


def test_copies_are_found_whatever_the_white_space_and_form():
    theirs = ["今日は良い天気です。", "が" * 8 + "ギター", "カフェで本を読む", "cafe\u0301 noir"]
    ours = [
        "今日は 良い\n天気です。",
        unicodedata.normalize("NFD", theirs[1]),
        "別の文です",
        "café noir",
    ]
    found = confounders(held(theirs), [held(ours)])
    assert found.copies.generated == 0.75
    assert exact_duplicates([*theirs, *ours], fold=True).value == 3 / 8
    matches = shared_texts([theirs, ours])[0, 1]
    assert [(match.row, match.other, match.verbatim) for match in matches] == [
        (0, 0, True),
        (1, 1, True),
        (3, 3, True),
    ]
    assert [match.words for match in matches] == [9, 9, 2]


@SCRIPTS
def test_near_copies_share_n_grams_of_characters(units):
    rng = np.random.default_rng(6)
    theirs = written(rng, units, 50, 60)
    units_of = theirs[0]
    ours = [units_of + "".join(rng.choice(units, 4)), *written(rng, units, 49, 60)]
    (match,) = shared_texts([theirs, ours])[0, 1]
    assert (match.row, match.other, match.verbatim) == (0, 0, False)
    assert match.similarity == pytest.approx(56 / 60)
    assert match.words == 60


@pytest.mark.parametrize(
    ("text", "prompt", "left"),
    [
        ("从前有一个国王，他", "从前，有一个", "从前有一个国王，他"),
        ("从前，有一个国王", "从前，有一个", "国王"),
        ("从前 有一个国王", "从前有一个", "国王"),
        ("春眠不覚暁、処処", "春眠不覚暁", "、処処"),
        ("データベースを使う", "データ", "ベースを使う"),
        ("データベースを使う", "データベース", "を使う"),
        (unicodedata.normalize("NFD", "ガギグゲゴは"), "ガギグゲゴ", "は"),
        ("ខ្ញុំទៅសាលា", "ខ្ញុំទៅ", "សាលា"),
        ("का काम", "क", "का काम"),
        ("ขั้นตอน", "ข", "ขั้นตอน"),
        ("Debian是一个", "debian", "是一个"),
    ],
)
def test_texts_go_on_behind_their_prompts(text, prompt, left):
    assert text[behind_prompt(text, prompt) :] == left


def test_a_word_of_a_million_marks_takes_no_quadratic_time():
    text = "a" + "\u0301" * 100_000 + " b"
    assert text[behind_prompt(text, text[:-2]) :] == "b"
    assert behind_prompt(text, "a" + "\u0301" * 99_999) == 0


def test_folded_texts_are_cut_into_units():
    assert fold("「春眠 不覚暁」、", 9) == "「春 眠 不 覚 暁」、"
    assert common_words(fold("春眠不覚暁", 9), fold("春眠不知", 9)) == 3
    facts = read_facts(held(["春眠不覚暁", "", "two words"]))
    assert facts.words.tolist() == [5, 0, 2]
