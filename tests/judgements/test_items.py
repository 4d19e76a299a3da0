"""What raters are shown: contexts that match, the same items from the same files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.judgements.items import make_checks, make_items, make_rated_texts
from calipers.judgements.rubric import DIVERSITY, QUALITY
from calipers.samples import SampleSet

N = 40
PROMPTS = [f"It was on day {row} that" for row in range(N)]


def system(name: str, *, n: int = N, prompts: list[str] | None = None) -> SampleSet:
    texts = [f" {name} went to place {row} and saw seven more things there" for row in range(n)]
    return SampleSet.from_texts(
        texts, name=name, prompts=PROMPTS[:n] if prompts is None else prompts
    )


SETS = [system("x"), system("human"), system("w")]


def test_both_texts_continue_the_context() -> None:
    items = make_items(SETS, per_pair=20)
    assert len(items) == 60
    assert items.notes == ()
    assert Counter((item.a, item.b) for item in items) == {
        ("human", "x"): 20,
        ("w", "x"): 20,
        ("human", "w"): 20,
    }
    for item in items:
        row = PROMPTS.index(item.context)
        assert item.text_a == f" {item.a} went to place {row} and saw seven more things there"
        assert item.text_b == f" {item.b} went to place {row} and saw seven more things there"
    contexts = [item.context for item in items if item.a == "w"]
    assert len(set(contexts)) == 20  # without replacement


def test_the_same_items_whatever_the_order_and_whoever_else_is_judged() -> None:
    items = make_items(SETS, per_pair=20, seed=3)
    assert make_items(SETS[::-1], per_pair=20, seed=3).shown == items.shown
    two = {item.id for item in make_items(SETS[:2], per_pair=20, seed=3)}
    assert two == {item.id for item in items if {item.a, item.b} == {"x", "human"}}
    order = np.random.default_rng(0).permutation(N)
    assert make_items([SETS[0].take(order), *SETS[1:]], per_pair=20, seed=3).shown == items.shown
    assert {item.id for item in items} < {item.id for item in make_items(SETS, per_pair=21, seed=3)}
    assert make_items(SETS, per_pair=20, seed=4).shown != items.shown


def test_ratings_per_item_need_fewer_contexts() -> None:
    assert len(make_items(SETS[:2], per_pair=20, ratings_per_item=3)) == 7


def test_a_reference_without_prompts_begins_with_them() -> None:
    texts = [f"{prompt}  human words {row}" for row, prompt in enumerate(PROMPTS)]
    human = SampleSet.from_texts([*texts, "Nobody asked."], name="human")
    items = make_items([human, system("x")], per_pair=N)
    assert len(items) == N
    for item in items:
        assert item.text_a == f"  human words {PROMPTS.index(item.context)}"
    assert items.notes == (
        "human: 40 texts shown without the prompt that they begin with",
        "human: 1 text left out: no prompt of the other systems",
    )


def test_the_longest_prompt_counts() -> None:
    human = SampleSet.from_texts(["It rained all day."], name="human")
    model = SampleSet.from_texts([" a", " b"], name="x", prompts=["It", "It rained"])
    items = make_items([human, model], per_pair=1)
    assert (items[0].context, items[0].text_a, items[0].text_b) == ("It rained", " all day.", " b")


def test_a_short_prompt_ends_with_a_word() -> None:
    human = SampleSet.from_texts(["Italy is far.", "It is near."], name="human")
    model = SampleSet.from_texts([" is here"], name="x", prompts=["It"])
    items = make_items([human, model], per_pair=1)
    assert [(item.context, item.text_a) for item in items] == [("It", " is near.")]
    long = "We went to sunny It"
    human = SampleSet.from_texts(["We went to sunny Italy."], name="human")
    model = SampleSet.from_texts(["haca"], name="x", prompts=[long])
    assert make_items([human, model], per_pair=1)[0].text_a == "aly."


def test_row_meets_row_without_prompts() -> None:
    sets = [
        SampleSet.from_texts([f"{name} {row}" for row in range(n)], name=name)
        for name, n in (("x", 12), ("y", 9))
    ]
    items = make_items(sets, per_pair=12)
    assert sorted((item.text_a, item.text_b) for item in items) == [
        (f"x {row}", f"y {row}") for row in range(9)
    ]
    assert {item.context for item in items} == {""}
    assert items.notes == (
        "fewer contexts than the 12 wanted for each pair of systems: 9 of x and y",
    )


def test_prompts_come_once_before_they_come_twice() -> None:
    twice = [*PROMPTS[:5], *PROMPTS[:5]]
    sets = [system(name, n=10, prompts=twice) for name in ("x", "y")]
    contexts = Counter(item.context for item in make_items(sets, per_pair=7))
    assert len(contexts) == 5
    assert sorted(contexts.values()) == [1, 1, 1, 2, 2]


def test_equal_and_empty_texts_are_told() -> None:
    x = SampleSet.from_texts(["same", "", "more", ""], name="x", prompts=PROMPTS[:4])
    y = SampleSet.from_texts([" same", "", "other", "text"], name="y", prompts=PROMPTS[:4])
    items = make_items([x, y], per_pair=4)
    assert len(items) == 2
    assert items.notes == (
        "2 items left out: both systems wrote the same text",
        "fewer contexts than the 4 wanted for each pair of systems: 2 of x and y",
        "1 text to be judged is empty",
    )


def test_lengths() -> None:
    x = SampleSet.from_texts(["one two three", "one two"], name="x", prompts=PROMPTS[:2])
    y = SampleSet.from_texts(["1 2 3 4", "1 2 3 4"], name="y", prompts=PROMPTS[:2])
    items = make_items([x, y], per_pair=1, shortest=3, longest=3)
    assert [(item.text_a, item.text_b) for item in items] == [("one two three", "1 2 3")]
    assert items.notes == ("x: 1 text left out: fewer than 3 words",)
    with pytest.raises(InputError, match=r"shortest .*longest \(2\).* 3"):
        make_items([x, y], shortest=3, longest=2)


@pytest.mark.parametrize(
    ("sets", "more", "message"),
    [
        ([system("x")], {}, "need at least two systems, found 1"),
        ([system("x"), system("x")], {}, "two systems are called 'x'"),
        (SETS, {"per_pair": 0}, "per_pair .*at least 1"),
        (SETS, {"pairs": [("x", "z")]}, "pairs: 'z' .*'x', 'human'"),
        (
            [system("x"), system("y", prompts=[f"other {row}" for row in range(N)])],
            {},
            "x and y .*no prompt",
        ),
        (
            [system("x"), system("x").renamed("y")],
            {},
            "x and y .*all 40 texts .*equal",
        ),
        (SETS, {"shortest": 99}, "no prompt .*at least 99 words"),
        (
            [system("x"), SampleSet.from_vectors(np.eye(3), name="v")],
            {},
            "v: .*texts.*embeddings",
        ),
    ],
)
def test_bad_input(sets: list[SampleSet], more: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_items(sets, **more)  # type: ignore[arg-type]


def test_checks_are_shuffled_texts() -> None:
    items = make_items(SETS, per_pair=5)
    checks = make_checks(items, count=4, seed=1, system="human")
    assert len(checks) == 4
    for check in checks:
        assert (check.a, check.b, check.check) == ("(original)", "(shuffled)", "a")
        assert check.text_a.startswith(" human went")
        assert sorted(check.text_a.split()) == sorted(check.text_b.split())
        assert check.text_a.split() != check.text_b.split()
    assert make_checks(items, count=4, seed=1, system="human") == checks
    assert not {check.id for check in checks} & {item.id for item in items}


def test_checks_of_texts_without_spaces() -> None:
    items = [
        replace(make_items(SETS, per_pair=1)[0], text_a="天地玄黃宇宙洪荒日月", text_b="short")
    ]
    (check,) = make_checks(items, count=3)
    assert sorted(check.text_b) == sorted("天地玄黃宇宙洪荒日月") != list(check.text_b)


def test_texts_in_scripts_without_spaces_are_shown_and_shuffled_by_characters() -> None:
    texts = ["天地玄黃，宇宙洪荒。日月盈昃", "短い"]
    sets = [SampleSet.from_texts(texts[::step], name=name) for name, step in (("a", 1), ("b", -1))]
    notes: list[str] = []
    items = make_items([sets[0], SampleSet.from_texts(["辰宿列張，寒來", "x"], name="c")],
                       per_pair=2, shortest=4, longest=5)  # fmt: skip
    assert [(item.text_a, item.text_b) for item in items] == [("天地玄黃，宇", "辰宿列張，寒")]
    assert any("1 text left out: fewer than 4 characters" in note for note in items.notes)
    (check,) = make_checks(make_items(sets, per_pair=1), count=1)
    assert "，" in check.text_b
    assert " " not in check.text_b
    assert sorted(check.text_b) == sorted(check.text_a)
    assert notes == []


def test_prompts_in_other_unicode_forms_meet() -> None:
    prompt, apart = "Un café noir :", "Un cafe\u0301 noir :"
    one = SampleSet.from_texts(["il pleut", "x y"], name="a", prompts=[prompt, "other"])
    other = SampleSet.from_texts(["il neige"], name="b", prompts=[apart])
    bare = SampleSet.from_texts([f"{apart} il vente"], name="c")
    items = make_items([one, other, bare], per_pair=1)
    assert {frozenset((item.text_a.strip(), item.text_b.strip())) for item in items} == {
        frozenset(pair)
        for pair in (("il pleut", "il neige"), ("il pleut", "il vente"), ("il neige", "il vente"))
    }
    assert {item.context for item in items} == {prompt}


def test_single_texts_are_of_the_same_prompts() -> None:
    shown = make_rated_texts(SETS, QUALITY, n=12, seed=2)
    assert Counter(one.system for one in shown) == {"x": 12, "human": 12, "w": 12}
    contexts = {
        name: {one.contexts for one in shown if one.system == name} for name in ("x", "w", "human")
    }
    assert contexts["x"] == contexts["w"] == contexts["human"]
    for one in shown:
        row = PROMPTS.index(one.contexts[0])
        assert one.texts == (f" {one.system} went to place {row} and saw seven more things there",)


def test_batches_are_without_replacement() -> None:
    shown = make_rated_texts(SETS[:1], DIVERSITY, n=35)
    assert [len(one.texts) for one in shown] == [10, 10, 10]
    assert len({text for one in shown for text in one.texts}) == 30
    assert shown.notes == ("x: 5 texts left out, too few for a batch of 10",)
    with pytest.raises(InputError, match=r"x: has 9 texts .* 10"):
        make_rated_texts(SETS[:1], DIVERSITY, n=9)


def test_texts_without_prompts_are_rated_too() -> None:
    human = SampleSet.from_texts([f"text {row}" for row in range(30)], name="human")
    shown = make_rated_texts([human, system("x")], QUALITY, n=10)
    rows = [int(one.texts[0].split()[1]) for one in shown if one.system == "human"]
    assert len(set(rows)) == 10
    assert max(rows) > 10  # not the first ones
    assert all(one.contexts == () for one in shown if one.system == "human")
