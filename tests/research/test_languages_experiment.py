"""The experiment on languages: what is done to texts, and what its tables say of draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("experiments")


def test_words_are_shuffled_and_none_is_lost():
    from languages_texts import shuffled

    text = "eins zwei drei vier fünf"
    (other,) = shuffled([text], "de")
    assert other != text
    assert sorted(other.split()) == sorted(text.split())


def test_texts_without_spaces_are_shuffled_by_characters_but_not_within_other_words():
    from languages_texts import shuffled, units

    text = "RAID-4 はディスクを使う。"
    assert units(text, "ja") == ["RAID-4", " ", "は", "ディスク", "を", "使", "う", "。"]
    (other,) = shuffled([text], "ja")
    assert other != text
    assert Counter(other) == Counter(text)
    assert "RAID-4" in other
    assert "ディスク" in other


def test_a_prompt_is_half_of_a_text_at_most_in_whole_words():
    from languages_texts import prompt_of

    assert (
        prompt_of("one two three four five six seven eight nine ten", "en")
        == "one two three four five"
    )
    assert (
        prompt_of("此系统不是万无一失的；在测试版中也经常发现软件包", "zh")
        == "此系统不是万无一失的；在"
    )
    assert prompt_of("五个字的话", "zh") == "五个"


def test_a_text_ends_where_the_sentence_does_that_is_nearest_to_its_length():
    from languages_texts import ended

    text = "One is here.  Two is\nthere. Three goes on and on and on"
    assert ended(text, 24) == "One is here. Two is there."
    assert ended(text, 14) == "One is here."
    assert ended("no end at all in this text", 10) == "no end at all i"


def test_english_is_cut_to_the_lengths_of_german(tmp_path):
    import json

    from languages_texts import PARAGRAPHS, paragraphs

    def write(path, texts):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))

    write(
        tmp_path / "languages" / "de.jsonl", ["x" * (50 + row % 100) for row in range(PARAGRAPHS)]
    )
    story = "A prompt. " + " ".join(f"This is sentence number {row}." for row in range(40))
    write(tmp_path / "writing_prompts" / "human.jsonl", [story] * 100)
    english = paragraphs(tmp_path, "en")
    lengths = [len(text) for text in english]
    assert len(english) == PARAGRAPHS
    assert np.mean(np.abs(np.array(lengths) - [50 + row % 100 for row in range(PARAGRAPHS)])) < 20
    assert not any("prompt" in text for text in english)


def record(world, change="as they were", **p):
    case = f"fr|use|{change}"
    return {"part": "draws", "case": case, "n": 200, "world": world, "p": p, "scores": {}}


def test_a_draw_is_found_where_a_test_holds_over_all_of_the_draw():
    from languages_tables import found

    # By Holm 0.012 counts four times, so one test of four holds from 0.0125 on
    draws = [
        record(0, **{"meaning.mmd": 0.012, "meaning.a": 0.5, "form.mmd": 0.5, "form.a": 0.5}),
        record(1, **{"meaning.mmd": 0.02, "meaning.a": 0.5, "form.mmd": 0.5, "form.a": 0.5}),
        record(2, **{"meaning.mmd": 0.5, "meaning.a": 0.5, "form.mmd": 0.001, "form.a": 0.5}),
    ]
    assert found(draws).tolist() == [True, False, True]
    assert found(draws, "meaning").tolist() == [True, False, False]
    assert found(draws, "form").tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0.8, 1.0, "reached"), (0.7, 1.0, "undecided: too few draws"), (0.5, 0.79, "missed")],
)
def test_the_worst_language_is_decided_by_its_interval(low, high, says):
    from languages_tables import decided

    assert decided(low, high) == says


def test_the_fewest_draws_stand_for_languages_that_find_as_much(tmp_path):
    import json

    from calibration_store import Store
    from languages_tables import power, worst

    change = "words shuffled"
    rows = [record(number, change, mmd=0.001) for number in range(16)]
    rows += [
        {**record(number, change, mmd=0.001), "case": f"en|minilm|{change}"} for number in range(20)
    ]
    rows += [
        {**record(number, change, mmd=0.001), "case": f"ar|use|{change}"} for number in range(10)
    ]
    path = tmp_path / "draws.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = Store(path, 0)
    assert worst(store, ["use"], 200)[3:] == [
        "| words shuffled | use | 1.00 (0.84–1.00) | Arabic | 1.00 (0.72–1.00) | 1.00 | "
        "undecided: too few draws |"
    ]
    assert [line.split(" | ")[0] for line in power(store, ["use"], 200)[3:]] == [
        "| Arabic",
        "| French",
    ]
