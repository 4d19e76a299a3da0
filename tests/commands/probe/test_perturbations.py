"""Known changes of texts: by hand, by what they keep, and the same for the same seed."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.probe import perturbations
from calipers.commands.probe.perturbations import CHANGES, change_set
from calipers.samples import SampleSet
from calipers.unicode.written_words import split_words

STORY = 'The dog ran.  "Stop!" she cried. It did not\nhear her, or did it?  Nobody knows'
CHINESE = "春眠不觉晓。处处闻啼鸟！夜来风雨声，花落知多少？"
TEXTS = st.text(st.sampled_from("aB cd.é!\n\t 晓。ß,"), max_size=60)


def rng(seed=0):
    return random.Random(seed)


def test_sentences_are_found_with_their_quotes():
    found = [STORY[start:stop] for start, stop in perturbations.sentences(STORY)]
    assert found == [
        "The dog ran.",
        '"Stop!"',
        "she cried.",
        "It did not\nhear her, or did it?",
        "Nobody knows",
    ]
    assert [CHINESE[a:b] for a, b in perturbations.sentences(CHINESE)] == [
        "春眠不觉晓。",
        "处处闻啼鸟！",
        "夜来风雨声，花落知多少？",
    ]
    assert perturbations.sentences("3.14 is no end. v2.0") == [(0, 15), (16, 20)]
    assert perturbations.sentences(" \n") == []


def same_words(new, text):
    """Marks may go to another word where they are moved between scripts; no character is lost."""
    if "晓" in text:
        return Counter(new) == Counter(text)
    return Counter(new.split()) == Counter(text.split())


@pytest.mark.parametrize("text", [CHINESE, "ไปเดินเล่น ที่สวน", "ខ្ញុំស្រលាញ់អ្នក", "吾輩は猫である。"])
def test_words_of_scripts_without_spaces_are_their_units(text):
    units = split_words(text)
    assert Counter(split_words(perturbations.shuffle_words(text, rng()))) == Counter(units)
    assert perturbations.shuffle_words(text, rng()) != text
    swapped = split_words(perturbations.swap_words(text, rng()))
    assert sum(a != b for a, b in zip(units, swapped, strict=True)) == 2 * max(
        1, round(perturbations.SHARE * len(units))
    )
    half = perturbations.cut_in_half(text, rng())
    assert split_words(half) == units[: (len(units) + 1) // 2]
    assert perturbations.misspell(text, rng()) != text


def test_typos_in_chinese_are_in_a_tenth_of_the_pairs_of_characters():
    text = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少" * 5
    assert len(text) == 100
    old, new = text, perturbations.misspell(text, rng())
    assert 95 <= len(new) <= 100
    assert sum(a != b for a, b in zip(old[::-1], new[::-1], strict=False)) > 0
    assert "春眠" in new


def test_a_repeated_end_has_no_space_where_the_script_has_none():
    assert perturbations.repeat_end("早安。晚安。", rng()) == "早安。" + "晚安。" * 4


@given(TEXTS, st.integers(0, 9))
def test_shuffled_words_are_the_same_words(text, seed):
    new = perturbations.shuffle_words(text, rng(seed))
    assert same_words(new, text)
    assert re.findall(r"\s+", new) == re.findall(r"\s+", text)


@given(TEXTS, st.integers(0, 9))
def test_swapped_words_are_the_same_words(text, seed):
    new = perturbations.swap_words(text, rng(seed))
    assert same_words(new, text)
    if "晓" in text:
        return
    old, moved = text.split(), new.split()
    different = [place for place in range(len(old)) if old[place] != moved[place]]
    assert len(different) <= 2 * max(1, round(0.1 * len(old)))


def test_a_shuffle_changes_the_order_wherever_it_can():
    for seed in range(20):
        assert perturbations.shuffle_words("one two", rng(seed)) == "two one"
        assert perturbations.shuffle_sentences("Yes. No! ", rng(seed)) == "No! Yes. "
    assert perturbations.shuffle_words("no no", rng()) == "no no"


def test_swaps_are_of_neighbours_and_a_tenth():
    words = [str(number) for number in range(50)]
    for seed in range(20):
        new = perturbations.swap_words(" ".join(words), rng(seed)).split()
        moved = [place for place in range(50) if new[place] != words[place]]
        assert len(moved) == 10
        assert all(abs(int(new[place]) - place) == 1 for place in moved)


@given(TEXTS, st.integers(0, 9))
def test_shuffled_sentences_are_the_same_sentences(text, seed):
    def found(of):
        return Counter(of[start:stop] for start, stop in perturbations.sentences(of))

    new = perturbations.shuffle_sentences(text, rng(seed))
    assert len(new) == len(text)
    assert Counter(new) == Counter(text)
    if "。" not in text and text.rstrip()[-1:] in (".", "!"):
        assert found(new) == found(text)


def test_shuffled_sentences_stay_whole():
    text = " ".join(f"This is number {number}." for number in range(9))
    new = perturbations.shuffle_sentences(text, rng())
    assert new != text
    assert sorted(new.replace(". ", ".|").split("|")) == sorted(text.replace(". ", ".|").split("|"))
    assert perturbations.shuffle_sentences("only one sentence", rng()) == "only one sentence"


@given(TEXTS)
def test_half_of_the_words_is_their_beginning(text):
    new = perturbations.cut_in_half(text, rng())
    words = split_words(text)
    assert text.startswith(new)
    if len(words) > 1:
        assert split_words(new) == words[: (len(words) + 1) // 2]
    if text.strip():
        assert new.strip()


def test_typos_are_in_a_tenth_of_the_words():
    text = " ".join(["letters", "made", "wrong", "slightly"] * 10)
    new = perturbations.misspell(text, rng()).split()
    wrong = [(a, b) for a, b in zip(text.split(), new, strict=True) if a != b]
    assert len(wrong) == 4
    for old, typo in wrong:
        assert len(old) - len(typo) in (0, 1)
        assert sum((Counter(old) - Counter(typo)).values()) <= 1


def test_every_kind_of_typo_occurs_and_each_changes_the_word():
    kinds = set()
    for seed in range(60):
        typo = perturbations.misspell("balloon", rng(seed))
        assert typo != "balloon"
        same_letters = Counter(typo) == Counter("balloon")
        kinds.add("dropped" if len(typo) == 6 else "swapped" if same_letters else "replaced")
    assert kinds == {"dropped", "swapped", "replaced"}


def test_short_words_and_other_signs_have_no_typos():
    assert perturbations.misspell("a of 12345 -- !!", rng()) == "a of 12345 -- !!"
    assert perturbations.misspell("", rng()) == ""


def test_the_end_is_said_again():
    again = perturbations.repeat_end("No. Yes, I do. ", rng())
    assert again == "No. Yes, I do." + " Yes, I do." * 3
    assert perturbations.repeat_end("once", rng()) == "once once once once"
    assert perturbations.repeat_end("  ", rng()) == "  "


@pytest.mark.parametrize("change", CHANGES.values(), ids=lambda change: change.name)
@given(text=TEXTS)
def test_one_seed_one_text(change, text):
    assert change.apply(text, seed="1/2") == change.apply(text, seed="1/2")
    if not text:
        assert change.apply(text, seed="1/2") == ""


def test_seeds_differ():
    text = " ".join(map(str, range(40)))
    assert len({CHANGES["word_shuffle"].apply(text, seed=f"0/{row}") for row in range(9)}) == 9


def test_a_set_is_changed_row_by_row():
    samples = SampleSet.from_texts(["One two three. Four.", "", "lower", CHINESE], name="s")
    lower, altered = change_set(samples, CHANGES["lower_case"], seed=0)
    assert list(lower) == ["one two three. four.", "", "lower", CHINESE]
    assert altered == [True, False, False, False]
    words, altered = change_set(samples, CHANGES["word_shuffle"], seed=0)
    assert list(words)[3] != CHINESE
    assert altered[3]
    halves, altered = change_set(samples, CHANGES["truncation"], seed=0)
    assert list(halves) == ["One two", "", "low", CHINESE[:12]]
    assert altered == [True, False, True, True]


def test_a_change_depends_on_row_and_seed_alone():
    texts = [" ".join(map(str, range(30)))] * 3
    samples = SampleSet.from_texts(texts, name="s")
    first, _ = change_set(samples, CHANGES["word_shuffle"], seed=0)
    assert len(set(first)) == 3
    shorter, _ = change_set(samples.take([0, 1]), CHANGES["word_shuffle"], seed=0)
    assert list(shorter) == list(first)[:2]
    other, _ = change_set(samples, CHANGES["word_shuffle"], seed=1)
    assert list(other) != list(first)
