"""Prompts: what a model is asked for each sample, and what is said of texts that give none."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from calipers.language_model.creative import INSTRUCTIONS
from calipers.language_model.prompting import (
    CONTINUE,
    between,
    biographies,
    continuations,
    creative,
    cut_at,
    first_words,
    no_prompts,
)
from calipers.samples import SampleSet

TEXTS = ["Once upon a time there was", "  It  rained\nall day", "Hello", ""]
NAMES = ["Ada", "Bo", "Cy"]
LIVES = ["born in 1815.", "a\nsailor.", "unknown."]


def texts(given=TEXTS, **more):
    return SampleSet.from_texts(given, name="human", source="human.jsonl", **more)


def asked(prompting, count):
    return [prompting.request(sample) for sample in range(count)]


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        ("Once upon a time", 2, ("Once upon", "a time")),
        ("  Once\n\nupon\ta time ", 2, ("Once\n\nupon", "a time ")),
        ("Once upon", 2, ("Once upon", "")),
        ("Once upon", 9, ("Once upon", "")),
        ("Once upon", 0, ("", "Once upon")),
        (" \n", 3, ("", "")),
        ("中文 字符", 2, ("中文", "字符")),
        ("从前，有一个国王。", 3, ("从前，有", "一个国王。")),
        ("ไปเดินเล่น", 2, ("ไปเดิ", "นเล่น")),
    ],
)
def test_first_words(text, words, parts):
    assert first_words(text, words) == parts


def test_prompts_of_scripts_without_spaces_are_characters() -> None:
    samples = SampleSet.from_texts(["从前，有一个国王。", "短"], name="zh")
    prompting = continuations(samples, words=3, most=9, seed=0, chat=True)
    (prompt,) = prompting.prompts
    assert (prompt.text, prompting.rest) == ("从前，有", ("一个国王。",))
    assert prompt.asked == "Continue the following text:\n从前，"
    assert prompt.lead == "有"
    assert prompting.notes == (
        "1 text of zh has no more than 3 characters and gave no prompt (row 2)",
    )


def test_texts_from_their_beginning_are_asked_for_nothing():
    prompting = no_prompts()
    assert [request.prompt for request in asked(prompting, 2)] == ["", ""]
    assert prompting.prompt_of(0) is None


def test_first_words_are_continued_and_short_texts_are_named():
    prompting = continuations(texts(), words=3, most=99, seed=0)
    assert [request.prompt for request in asked(prompting, 3)] == [
        "Once upon a", "It  rained\nall", "Once upon a",
    ]  # fmt: skip
    assert [prompt.id for prompt in prompting.prompts] == ["0", "1"]
    assert prompting.rest == ("time there was", "day")
    assert prompting.notes == (
        "2 texts of human.jsonl have no more than 3 words and gave no prompt (rows 3 and 4)",
    )


def test_one_text_that_is_too_short():
    (note,) = continuations(texts(TEXTS[:3]), words=3, most=99, seed=0).notes
    assert note == "1 text of human.jsonl has no more than 3 words and gave no prompt (row 3)"


def test_whole_texts_are_prompts_and_empty_ones_give_none():
    prompting = continuations(texts(), words=None, most=99, seed=0)
    assert [prompt.before for prompt in prompting.prompts] == [
        "Once upon a time there was", "It  rained\nall day", "Hello",
    ]  # fmt: skip
    assert prompting.rest is None
    assert prompting.notes == ("1 text of human.jsonl is empty and gave no prompt (row 4)",)


def test_rows_that_name_their_prompt():
    named = texts(["a b", "c d"], prompts=["Say a", "Say c"])
    asked_for = continuations(named, words=None, most=99, seed=0)
    assert [prompt.before for prompt in asked_for.prompts] == ["Say a", "Say c"]
    by_words = continuations(named, words=1, most=99, seed=0)
    assert [prompt.before for prompt in by_words.prompts] == ["a", "c"]


def test_a_chat_model_is_told_all_but_the_last_word_which_its_reply_begins_with():
    prompting = continuations(texts(["Once upon a time"]), words=3, most=9, seed=0, chat=True)
    request = prompting.request(0)
    assert request.messages == ({"role": "user", "content": f"{CONTINUE}\nOnce upon"},)
    assert request.prompt == "a"
    assert prompting.prompts[0].text == "Once upon a"
    assert prompting.prompts[0].kept == "Once upon a"


def test_a_whole_prompt_is_asked_as_it_is():
    asked = "Write a poem about rain."
    request = continuations(texts([asked]), words=None, most=9, seed=0, chat=True).request(0)
    assert request.messages == ({"role": "user", "content": asked},)
    assert request.prompt == ""


def test_a_chat_model_continues_a_single_word():
    request = continuations(texts(["Once upon"]), words=1, most=9, seed=0, chat=True).request(0)
    assert request.messages == ({"role": "user", "content": CONTINUE},)
    assert request.prompt == "Once"


def test_fewer_prompts_are_chosen_by_the_seed_and_stay_in_order():
    many = texts([f"text number {row} of many" for row in range(50)])
    chosen = {
        seed: [int(p.id) for p in continuations(many, words=3, most=7, seed=seed).prompts]
        for seed in (0, 0, 1)
    }
    assert all(len(ids) == 7 and ids == sorted(ids) for ids in chosen.values())
    assert chosen[0] != chosen[1]
    again = continuations(many, words=3, most=7, seed=0)
    assert [int(prompt.id) for prompt in again.prompts] == chosen[0]


@pytest.mark.parametrize(
    ("given", "words", "said"),
    [
        (["one two"], 2, "human.jsonl: no text has more than 2 words; use fewer `prompt_words`"),
        (["one"], 1, "human.jsonl: no text has more than 1 word; use fewer `prompt_words`"),
        (["one"], None, "human.jsonl: no text has a prompt; give a file with prompts"),
    ],
)
def test_texts_that_give_no_prompt_at_all(given, words, said):
    with pytest.raises(InputError) as found:
        continuations(texts(given, prompts=[" "]), words=words, most=9, seed=0)
    assert str(found.value) == said


def test_creative_instructions_are_taken_in_turn():
    prompting = creative()
    assert len(prompting.prompts) == len(set(INSTRUCTIONS)) == 50
    assert prompting.request(50).prompt == prompting.request(0).prompt == f"{INSTRUCTIONS[0]}\n\n"
    chat = creative(chat=True)
    assert chat.request(51).messages == ({"role": "user", "content": INSTRUCTIONS[1]},)
    assert chat.request(51).prompt == ""
    assert chat.prompts[1].kept == f"{INSTRUCTIONS[1]}\n\n"


def test_biographies_show_examples_on_a_line_each():
    prompting = biographies(NAMES, LIVES, shots=2, n=20, seed=0)
    prompt = prompting.request(4).prompt
    lines = prompt.split("\n")
    assert lines[0] == "Write biographies of various people."
    assert lines[-1] == "- Biography of"
    known = {"- Biography of Ada: born in 1815.", "- Biography of Bo: a sailor.",
             "- Biography of Cy: unknown."}  # fmt: skip
    assert len(lines) == 4
    assert set(lines[1:3]) < known
    assert prompting.stop == ("\n- ", "\n- Biography of")
    orders = {prompting.request(sample).prompt for sample in range(20)}
    assert len(orders) > 3
    longer = biographies(NAMES, LIVES, shots=2, n=40, seed=0)
    assert [longer.request(s).prompt for s in range(20)] == [
        prompting.request(s).prompt for s in range(20)
    ]


def test_biographies_without_examples_and_in_the_chat_form():
    alone = biographies(NAMES, LIVES, shots=0, n=1, seed=0).request(0)
    assert alone.prompt == "Write biographies of various people.\n- Biography of"
    chat = biographies(NAMES, LIVES, shots=1, n=1, seed=0, chat=True).request(0)
    assert chat.prompt == "- Biography of"
    told = chat.messages[0]["content"].split("\n")
    assert told[:2] == ["Write biographies of various people.", "Here are a few examples:"]
    assert len(told) == 3


def test_more_examples_than_biographies_and_names_that_are_missing():
    with pytest.raises(InputError, match=r"shots .*at most 3"):
        biographies(NAMES, LIVES, shots=4, n=1, seed=0)
    with pytest.raises(InputError, match="a name for each text; found 3 and 2"):
        biographies(NAMES, LIVES[:2], shots=1, n=1, seed=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n- b", ("a", True)),
        ("a\n# x\n- b", ("a", True)),
        ("\n- b", ("", True)),
        ("a - b", ("a - b", False)),
    ],
)
def test_a_text_ends_before_the_first_mark(text, expected):
    assert cut_at(text, ["\n- ", "\n#"]) == expected


@pytest.mark.parametrize(
    ("prompt", "text", "expected"),
    [
        ("Once upon", "a time", " "),
        ("Once upon a time", ", there", ""),
        ("Once upon ", "a time", ""),
        ("Once upon", "\na time", ""),
        ("", "a time", ""),
        ("Once upon", "", ""),
        ("It cost", "$5", " "),
        ("She said", "“No.”", " "),
        ("中文", "字符", ""),
        ("今天", "a bird", ""),
    ],
)
def test_what_stands_between_a_prompt_and_its_text(prompt, text, expected):
    assert between(prompt, text) == expected


def test_the_hash_tells_runs_that_ask_for_other_things_apart():
    some = texts(TEXTS[:2])
    plain = continuations(some, words=2, most=9, seed=0)
    hashes = {
        plain.content_hash,
        continuations(some, words=3, most=9, seed=0).content_hash,
        continuations(some, words=2, most=9, seed=0, chat=True).content_hash,
        continuations(some, words=2, most=1, seed=0).content_hash,
        no_prompts().content_hash,
        creative().content_hash,
    }
    assert len(hashes) == 6
    assert continuations(some, words=2, most=9, seed=0).content_hash == plain.content_hash


def test_own_instructions_stand_in_place_of_the_built_in_wording():
    own = creative(["Write a riddle.", "Write a toast."])
    assert [request.prompt for request in asked(own, 3)] == [
        "Write a riddle.\n\n",
        "Write a toast.\n\n",
        "Write a riddle.\n\n",
    ]
    lives = biographies(NAMES, LIVES, shots=1, n=1, seed=0, instruction="Sum up some lives.")
    assert lives.prompts[0].before.startswith("Sum up some lives.\n- Biography of ")
    going_on = continuations(
        texts(), words=2, most=9, seed=0, chat=True, instruction="Go on from here."
    )
    assert going_on.prompts[0].asked == "Go on from here.\nOnce"
    usual = continuations(texts(), words=2, most=9, seed=0, chat=True)
    assert going_on.content_hash != usual.content_hash
