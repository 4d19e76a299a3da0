"""Prompts taken off both sides: those that rows name, and openings that both sides share."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InputError
from calipers.evaluate.cautions.confounders import confounders
from calipers.evaluate.cautions.copies import words_to_skip
from calipers.evaluate.inputs import comparison_inputs
from calipers.evaluate.prompts import behind_prompt, strip_prompts
from calipers.options.comparison import CompareOptions
from calipers.samples import SampleSet, System, read_samples

WORDS = np.array([a + b for a in ("br", "d", "fl", "g", "k", "sh", "t") for b in ("an", "ex", "o")])


def held(texts, prompts=None, name="x"):
    return SampleSet.from_texts(texts, name=name, prompts=prompts)


def stories(rng, n, length=20):
    return [" ".join(rng.choice(WORDS, length)) for _ in range(n)]


def texts_of(samples):
    return list(samples)


def both(reference, *generated):
    """Texts of the reference and of each generated set without their prompts."""
    found = strip_prompts(held(reference), [held(texts) for texts in generated])
    return [list(found.reference), *map(list, found.generated)]


@pytest.mark.parametrize(
    ("text", "prompt", "left"),
    [
        ("Once upon a time there was", "Once upon a time", "there was"),
        ("Once  upon\n a time,\tthere  was ", "ONCE upon a time,", "there  was "),
        ("  Once upon a time", "once upon a time", ""),
        ("Once upon a time", "once upon a time there", "Once upon a time"),
        ("Once upon a time", "twice upon", "Once upon a time"),
        ("Once upon a time", "", "Once upon a time"),
        ("Once upon a time", "  ", "Once upon a time"),
        ("", "once", ""),
        ("said the kingdom", "Said the king", "kingdom"),
        ("kingdom come", "king", "kingdom come"),
        ("about their'business'. You", "about their'", "business'. You"),
        ('"Well," he said', '"Well,', '" he said'),
        ("Straße am See und", "STRASSE am", "See und"),
        ("Maßstab eins", "Ma", "Maßstab eins"),
        ("从前有一个国王，他", "从前有一个", "国王，他"),
        ("กาลครั้งหนึ่งนานมาแล้ว", "กาลครั้งหนึ่ง", "นานมาแล้ว"),
    ],
)
def test_what_stands_behind_a_prompt(text, prompt, left):
    assert text[behind_prompt(text, prompt) :] == left


WORD = st.text("abé ß'. \n", min_size=1, max_size=4)
TEXT = st.lists(WORD, max_size=6).map(" ".join)


PROMPT = st.lists(WORD.filter(str.strip), min_size=1, max_size=6).map(" ".join)


@given(PROMPT, st.sampled_from(["", " ", "\n"]), TEXT)
def test_a_prompt_is_never_cut_into_a_word(prompt, gap, rest):
    text = f"{prompt}{gap}{rest}"
    start = behind_prompt(text, prompt)
    if 0 < start < len(text):
        assert not (text[start - 1].isalnum() and text[start].isalnum())
        assert not text[start].isspace()


@given(PROMPT, TEXT)
def test_what_follows_is_the_same_whatever_the_prompt(prompt, rest):
    assert (whole := f"{prompt} {rest}")[behind_prompt(whole, prompt) :] == rest.lstrip()


@given(PROMPT, TEXT)
def test_a_prompt_is_cut_once(prompt, rest):
    """A model that repeats the prompt has written that."""
    again = f"{prompt} {rest}"
    whole = f"{prompt} {again}"
    assert whole[behind_prompt(whole, prompt) :] == again.lstrip()


def test_stripping_what_was_stripped_changes_nothing(rng):
    prompts, rests = stories(rng, 30, 6), stories(rng, 30)
    texts = [f"{prompt}  {rest}" for prompt, rest in zip(prompts, rests, strict=True)]
    once = strip_prompts(held(texts, prompts), [held(rests[::-1], prompts)])
    again = strip_prompts(once.reference, once.generated)
    assert list(once.reference) == list(again.reference) == rests
    assert list(once.generated[0]) == list(again.generated[0]) == rests[::-1]
    assert again.reference.content_hash == once.reference.content_hash
    assert "the prompt in its row was left out of every text" in once.reference.notes
    assert "no text begins with the prompt in its row" in once.generated[0].notes


def test_equal_continuations_of_other_prompts_have_one_hash(rng):
    rests, hashes = stories(rng, 12), set()
    for size in (3, 9):
        prompts = stories(rng, 12, size)
        texts = [f"{prompt} {rest}" for prompt, rest in zip(prompts, rests, strict=True)]
        found = strip_prompts(None, [held(texts, prompts)])
        hashes.add(found.generated[0].content_hash)
    assert hashes == {held(rests).content_hash}


def test_texts_that_were_only_a_prompt_stay_in_place_and_are_counted():
    prompts = ["one two three", "four five six", "seven eight nine"]
    texts = ["one two three and more", "Four  five six", "something else"]
    (left,) = strip_prompts(None, [held(texts, prompts)]).generated
    assert list(left) == ["and more", "", "something else"]
    assert left.notes[0] == (
        "the prompt in its row was left out of 2 of 3 texts; 1 text had no more and is empty"
    )
    assert list(left.prompts.tolist()) == prompts
    with pytest.raises(InputError, match=r"x: `strip_prompt` .*1 of its 1 text"):
        strip_prompts(None, [held(["one two three"], ["one two three"])])


def test_sets_without_prompts_lose_those_that_others_name(rng):
    prompts, one, other, third = (stories(rng, 40, size) for size in (5, 9, 9, 9))
    with_prompts = [f"{a} {b}" for a, b in zip(prompts, one, strict=True)]
    human = [f"{a.upper()} {b}" for a, b in zip(prompts, other, strict=True)][::-1]
    more = [f"{a} {b}" for a, b in zip(prompts, third, strict=True)][:25]
    sets = [held(with_prompts, prompts), held(more, name="more")]
    train = held([with_prompts[0], "unlike all others, this one"], name="train")
    found = strip_prompts(held(human), sets, train)
    assert list(found.reference) == other[::-1]
    assert [list(each) for each in found.generated] == [one, third[:25]]
    assert list(found.train) == [one[0], "unlike all others, this one"]
    assert "a prompt that another set names was left out of every text" in found.reference.notes
    # A reference of continuations only is left as it is
    found = strip_prompts(held(other), sets)
    assert list(found.reference) == other
    with pytest.raises(InputError, match=r"bare: .*'prompt'.* 0 %"):
        strip_prompts(held(human), [*sets, held(third, name="bare")])
    # Of a reference whose texts were not all continued, each loses as many words
    wider = [f"{' '.join(text.split()[:5])} {text}" for text in third]
    found = strip_prompts(held([*human, *wider]), sets)
    assert list(found.reference) == [*other[::-1], *third]
    assert "as much as the prompts have, 5 words, was left out of every text" in (
        found.reference.notes
    )
    with pytest.raises(InputError, match=r"half: .* 50 % .*`skip"):
        strip_prompts(held(human[:20] + other[20:], name="half"), sets)


def test_prompts_that_rows_name_are_cut_exactly_where_a_model_goes_on_as_a_person_did():
    prompts = ["a b c", "d e f"]
    sets = [held([f"{p} same {x}" for p in prompts], prompts) for x in "xy"]
    found = strip_prompts(sets[0], sets[1:])
    assert list(found.reference) == ["same x"] * 2
    assert list(found.generated[0]) == ["same y"] * 2


# ------------------------------------------------------------------ openings, worked by hand


def test_the_opening_of_each_row_goes_in_whole_words():
    reference = ["The old king  was ill.", "A ship came in  at dawn", "In May they left"]
    generated = ["the old King wasted away", "A ship came IN late", "In may they Stayed on"]
    assert both(reference, generated) == [
        ["was ill.", "at dawn", "left"],
        ["wasted away", "late", "Stayed on"],
    ]


def test_two_systems_go_on_where_the_reference_does():
    reference = ["a b c d e f g", "h i j k l m n", "o p q r s t u", "v w x y z 1 2"]
    first = ["a b c d X X", "h i j k l X", "o p q r X X", "v w x y z X"]
    other = ["a b c d e Y", "h i j k Y Y", "o p q r s Y", "v w x y Y Y"]
    assert both(reference, first, other) == [
        ["e f g", "l m n", "s t u", "z 1 2"],
        ["X X", "l X", "X X", "z X"],
        ["e Y", "Y Y", "s Y", "Y Y"],
    ]
    assert both(reference, first)[0] == ["e f g", "m n", "s t u", "1 2"]


def test_prompts_of_one_length_are_not_cut_further_where_words_agree_by_chance(rng):
    prompts, one, other = (stories(rng, 200, size) for size in (24, 15, 15))
    sides = [[f"{a} {b}" for a, b in zip(prompts, rest, strict=True)] for rest in (one, other)]
    agreeing = sum(a.split()[0] == b.split()[0] for a, b in zip(one, other, strict=True))
    assert agreeing > 3
    assert both(*sides) == [one, other]
    note = strip_prompts(*[held(sides[0]), [held(sides[1])]]).reference.notes[0]
    assert note == ("the opening shared with the other side was left out of every text: 24 words")


def test_rows_in_another_order_are_matched_by_their_openings(rng):
    lengths = rng.integers(8, 16, 150)
    prompts = [" ".join(rng.choice(WORDS, n)) for n in lengths]
    sides = [[f"{p} {mark}{row} and so on" for row, p in enumerate(prompts)] for mark in "hg"]
    order = rng.permutation(150)
    shuffled = [sides[1][row] for row in order]
    assert both(sides[0], shuffled) == [
        [f"h{row} and so on" for row in range(150)],
        [f"g{row} and so on" for row in order],
    ]
    # Two samples a prompt, and a text that has no prompt
    twice = [*shuffled, *shuffled, "something that begins with none of them"]
    assert both(sides[0], twice)[1][-1] == twice[-1]
    assert both(sides[0], twice)[1][:150] == [f"g{row} and so on" for row in order]


def test_a_reference_of_which_others_lack_the_prompts_is_refused(rng):
    prompts = [" ".join(rng.choice(WORDS, 8 + row % 7)) for row in range(100)]
    sides = [held([f"{p} {mark} goes on" for p in prompts], name=mark) for mark in "hg"]
    with pytest.raises(InputError, match=r"h: .*60 % .* `skip_words=14`"):
        strip_prompts(sides[0], [sides[1].take(np.arange(60))])
    # Where all prompts have one length, that is known of the others too
    prompts = stories(rng, 100, 12)
    texts = [[f"{p} {mark} goes on" for p in prompts] for mark in "hg"]
    assert both(texts[0], texts[1][:60]) == [["h goes on"] * 100, ["g goes on"] * 60]


def test_sets_without_prompts_are_named_with_the_rule(rng):
    reference, generated = held(stories(rng, 50)), held(stories(rng, 50), name="free")
    words = r"free: `strip_prompt` sees no prompts: .* 'prompt', and 0 % .*`skip_words=N`"
    with pytest.raises(InputError, match=words):
        strip_prompts(reference, [generated])
    with pytest.raises(InputError, match=r"copy: .*reference"):
        strip_prompts(reference, [reference.renamed("copy")])
    with pytest.raises(InputError, match=r"free: .*'prompt'.*reference"):
        strip_prompts(None, [generated])
    with pytest.raises(InputError, match=r"v: `strip_prompt` .*texts"):
        strip_prompts(reference, [SampleSet.from_vectors(np.ones((3, 2)), name="v")])


def test_prompts_of_two_lengths_are_not_cut_together(rng):
    prompts = stories(rng, 60, 24)
    human, one = ([f"{p} {mark} goes on" for p in prompts] for mark in "hg")
    other = [" ".join([*p.split()[:8], "z", "goes", "on"]) for p in prompts]
    sets = [held(one, name="one"), held(other, name="other")]
    with pytest.raises(InputError, match=r"other: .*openings"):
        strip_prompts(held(human), sets)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(3, 12), st.integers(1, 29))
def test_openings_never_cut_into_a_word_and_leave_as_many_texts(seed, size, n):
    rng = np.random.default_rng(seed)
    prompts = [" ".join(rng.choice(WORDS, rng.integers(3, size + 1))) for _ in range(n)]
    sides = [[f"{p} {m} {w}" for p, w in zip(prompts, stories(rng, n), strict=True)] for m in "hg"]
    for before, after in zip(sides, both(*sides), strict=True):
        for whole, left in zip(before, after, strict=True):
            assert whole.split()[len(whole.split()) - len(left.split()) :] == left.split()
            assert whole.endswith(left)
    # The prompt and nothing else: what follows is what each side wrote
    for before, after, mark in zip(sides, both(*sides), "hg", strict=True):
        assert after == [f"{mark} {text.partition(f' {mark} ')[2]}" for text in before]


def test_words_to_skip_leave_hardly_any_opening():
    assert words_to_skip(np.array([], int)) == 0
    assert words_to_skip(np.array([24] * 80 + [25] * 15 + [26] * 5)) == 24
    assert words_to_skip(np.arange(10, 31)) == 29
    assert words_to_skip(np.full(9, 60)) == 0  # they may go on behind what is kept


# ------------------------------------------------------------------ in a run


def test_both_ways_at_once_are_refused():
    with pytest.raises(InputError, match=r"`strip_prompt`.*`skip_words`"):
        CompareOptions(strip_prompt=True, skip_words=3)


def prompted(rng, n=60):
    prompts, one, other = (stories(rng, n, size) for size in (9, 14, 14))
    sides = [[f"{p} {b}" for p, b in zip(prompts, rest, strict=True)] for rest in (one, other)]
    return prompts, sides, (one, other)


def test_rows_are_paired_before_sets_are_cut_to_a_size(rng):
    _, (human, model), (one, other) = prompted(rng)
    options = CompareOptions(strip_prompt=True, max_samples=20)
    seeds = [held(model, name="a"), held(model[:40], name="a")]
    found = comparison_inputs(human, [System("a", tuple(seeds))], options, seed=0)
    assert set(found.reference.samples) <= set(one)
    for file in found.systems[0].files:
        assert set(file.samples) <= set(other)
        assert len(file.samples) == 20
    assert found.systems[0].files[0].n_given == 60


@pytest.mark.parametrize("function", ["compare", "sweep", "overlap", "measure_texts"])
def test_every_command_strips_prompts(function, rng):
    prompts, sides, rests = prompted(rng)
    human, model = (held(side, prompts, name) for side, name in zip(sides, "hm", strict=True))
    inputs, more = {
        "compare": ((human, model), {"embedder": "tfidf", "cache": False, "level": None}),
        "sweep": ((human, model), {"embedder": "tfidf", "cache": False}),
        "overlap": (({"one": human, "two": model},), {"embedder": "tfidf", "cache": False}),
        "measure_texts": ((model,), {"reference": human, "metrics": "distinct"}),
    }[function]
    found = getattr(calipers, function)(*inputs, strip_prompt=True, **more)
    assert found.settings["strip_prompt"] is True
    hashes = {held(rest).content_hash for rest in rests}
    data = json.dumps(found.to_dict())
    assert all(text in data for text in hashes)
    assert "the prompt in its row was left out of every text" in data


def test_an_agreement_is_of_the_continuations(rng):
    prompts, sides, rests = prompted(rng)
    more = stories(rng, 60, 14)
    human, model = (held(side, prompts, name) for side, name in zip(sides, "hm", strict=True))
    other = held([f"{p} {b}" for p, b in zip(prompts, more, strict=True)], prompts)
    options = {"embedders": ["tfidf", "minilm"], "cache": False, "metrics": "precision"}
    found = calipers.agree(human, {"a": model, "b": other}, strip_prompt=True, **options)
    human, model, other = (held(rest, prompts) for rest in (*rests, more))
    bare = calipers.agree(human, {"a": model, "b": other}, **options)
    assert found.settings["strip_prompt"] is True
    assert str(found["precision"].scores) == str(bare["precision"].scores)


def test_scores_are_those_of_the_continuations_and_signed_so(rng):
    _, (human, model), (one, other) = prompted(rng)
    more = {"embedder": "tfidf", "cache": False, "level": None, "metrics": "precision,recall"}
    more["shared_prompts"] = "ignore"
    stripped = calipers.compare(human, {"a": model}, strip_prompt=True, **more)["a"]
    bare = calipers.compare(one, {"a": other}, **more)["a"]
    whole = calipers.compare(human, {"a": model}, **more)["a"]
    for key in ("precision", "recall"):
        assert stripped[key].value == bare[key].value
        assert stripped[key].signature == bare[key].signature != whole[key].signature
    assert whole.cautions[0].kind == "openings"
    assert "openings" not in {each.kind for each in stripped.cautions}


def test_shared_openings_name_the_remedy_that_works(rng):
    prompts, (human, model), _ = prompted(rng)
    (told,) = confounders(held(human), [held(model)]).cautions
    assert (told.kind, told.remedy) == ("openings", "`strip_prompt`")
    assert told.brief == "all share an opening with the reference"
    assert "if it is a prompt, `strip_prompt` removes it from both sides; if not" in told.text
    # Half of the reference's prompts: nothing to pair the others with, but 9 words are shared
    (told,) = confounders(held(human), [held(model[:30])]).cautions
    assert told.remedy == "`skip_words=9`"
    assert "`skip_words=9` removes that many words from every text" in told.text
    (told,) = confounders(held(human, prompts), [held(model, prompts)]).cautions
    assert (told.kind, told.remedy) == ("prompts", "`strip_prompt`")
    assert told.brief == "all begin with their prompt"


def test_stories_with_the_prompts_of_people_lose_them(data_folder):
    names = ("human", "gpt2-xl", "gpt-neox-20b")
    folder = data_folder / "writing_prompts"
    human, *models = (read_samples(folder / f"{name}.jsonl") for name in names)
    # Line by line, and where 14 lines of 500 have other prompts in another order
    for model in models:
        (told,) = (c for c in confounders(human, [model]).cautions if c.kind == "openings")
        assert told.remedy == "`strip_prompt`"
        found = strip_prompts(human, [model])
        after = confounders(found.reference, found.generated)
        assert after.beginnings.generated < 0.05
        assert len(found.reference) == len(found.generated[0]) == 500
        words = human.word_counts() - found.reference.word_counts()
        assert 24 <= np.median(words) <= 25
    together = strip_prompts(human, models)
    assert together.reference.notes[0].startswith("the opening shared with the other side was")
