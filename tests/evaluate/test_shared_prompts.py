"""Which rows of two sets answer the same prompts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.evaluate.inputs import comparison_inputs
from calipers.evaluate.shared_prompts import SharedPrompts, shared_prompts
from calipers.numeric.subsample import subsample_rows
from calipers.options.comparison import CompareOptions
from calipers.samples import SampleSet

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")


def texts(count: int, seed: int, words: int = 12) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, words)) for _ in range(count)]


def made(rows: list[str], prompts: list[str] | None = None, name: str = "set") -> SampleSet:
    return SampleSet.from_texts(rows, name=name, prompts=prompts)


def test_prompts_in_the_rows_of_both_sides() -> None:
    human = made(["a", "b", "c", "d"], ["Who?", "What?", "Where?", "What?"])
    model = made(["e", "f", "g"], ["what?", "When?", " who? "])

    found = shared_prompts(human, model, paired=False)

    assert found is not None
    assert found.by == "prompt"
    assert found.reference.tolist() == [0, 1, 2, 1]
    assert found.generated.tolist() == [1, 3, 0]
    assert found.count == 2
    assert found.reference_share == 3 / 4
    assert found.generated_share == 2 / 3


def test_rows_without_a_prompt_have_a_number_of_their_own() -> None:
    human = made(["a", "b", "c", "d"], ["P", "Q", "", ""])
    model = made(["e", "f", "g", "h"], ["Q", "P", "", ""])

    found = shared_prompts(human, model, paired=False)

    assert found is not None
    assert len({*found.reference[2:].tolist(), *found.generated[2:].tolist()}) == 4
    assert found.generated_share == 0.5


def test_answers_of_one_prompt_are_grouped_where_the_other_side_lacks_it() -> None:
    human = made(["a", "b", "c"], ["P", "Q", "R"])
    model = made(["e", "f", "g", "h"], ["P", "Q", "S", "S"])

    found = shared_prompts(human, model, paired=False)

    assert found is not None
    assert found.generated[2] == found.generated[3] not in found.reference


def test_nothing_shared() -> None:
    assert shared_prompts(made(texts(9, 0)), made(texts(9, 1)), paired=False) is None
    apart = shared_prompts(made(["a", "b"], ["P", "Q"]), made(["a", "b"], ["R", "S"]), paired=False)
    assert apart is None


def test_one_prompt_for_all_rows_pairs_nothing() -> None:
    one = made(["a", "b", "c"], ["P"] * 3)
    assert shared_prompts(one, one, paired=False) is None


@pytest.mark.parametrize("named", ["reference", "generated"])
def test_texts_begin_with_the_prompts_that_the_other_side_names(named: str) -> None:
    prompts = [f"Tale {row} of {word} begins" for row, word in enumerate(WORDS)]
    without = made(
        [f"{prompt} and {text}" for prompt, text in zip(prompts, texts(10, 0), strict=True)][::-1]
    )
    with_field = made(texts(10, 1), prompts)
    sides = (with_field, without) if named == "reference" else (without, with_field)

    found = shared_prompts(*sides, paired=False)

    assert found is not None
    assert found.by == "prompt"
    assert found.reference.tolist() == found.generated[::-1].tolist()


def test_openings_row_by_row() -> None:
    prompts = [f"{a} {b} {a}" for a in WORDS for b in WORDS[:3]]
    rest = zip(prompts, texts(30, 0), texts(30, 1), strict=True)
    sides = [(f"{p} one {a}", f"{p} two {b}") for p, a, b in rest]
    human, model = (made(list(side)) for side in zip(*sides, strict=True))

    found = shared_prompts(human, model, paired=False)

    assert found is not None
    assert found.by == "openings"
    assert found.reference.tolist() == found.generated.tolist() == list(range(30))


def test_openings_of_several_answers_in_any_order() -> None:
    prompts = [f"in the year {row} a {word} grew" for row, word in enumerate(WORDS)]
    human = made([f"{p} {x}" for p, x in zip(prompts * 2, texts(20, 0), strict=True)])
    model = made([f"{p} {x}" for p, x in zip(prompts[::-1] * 3, texts(30, 1), strict=True)])

    found = shared_prompts(human, model, paired=False)

    assert found is not None
    assert found.by == "openings"
    assert found.generated_share == 1
    prompt_of = [row % 10 for row in range(20)], [9 - row % 10 for row in range(30)]
    together = {
        number: {p for p, x in zip(prompt_of[0], found.reference, strict=True) if x == number}
        | {p for p, x in zip(prompt_of[1], found.generated, strict=True) if x == number}
        for number in found.prompts.tolist()
    }
    assert all(len(each) == 1 for each in together.values())  # no number has two prompts


def test_a_form_of_words_that_some_texts_share_is_no_prompt() -> None:
    form = "It was the best of times "
    human = made([form + text if row < 3 else text for row, text in enumerate(texts(20, 0))])
    model = made([form + text if row < 3 else text for row, text in enumerate(texts(20, 1))])
    assert shared_prompts(human, model, paired=False) is None


def test_a_persons_word_pairs_rows() -> None:
    human, model = made(texts(9, 0)), made(texts(9, 1))

    found = shared_prompts(human, model, paired=True)

    assert found is not None
    assert found.by == "paired"
    assert found.reference.tolist() == found.generated.tolist() == list(range(9))
    assert shared_prompts(human, made(texts(8, 1)), paired=True) is None


def test_rows_that_answer_no_prompt_are_paired_by_nobodys_word() -> None:
    human, model = made(texts(9, 0), [""] * 9), made(texts(9, 1))
    assert shared_prompts(human, model, paired=True) is None


def test_prompts_in_rows_tell_more_than_the_order_of_rows() -> None:
    human = made(["a", "b", "c", "d"], ["P", "P", "Q", "Q"])
    model = made(["e", "f", "g", "h"], ["P", "Q", "P", "Q"])

    found = shared_prompts(human, model, paired=True)

    assert found is not None
    assert found.by == "prompt"


def test_arrays_are_paired_by_a_persons_word_alone() -> None:
    rows = np.eye(4)
    one, other = (SampleSet.from_vectors(rows, name=name) for name in "ab")
    assert shared_prompts(one, other, paired=False) is None
    assert shared_prompts(one, other, paired=True) is not None


def test_rows_that_stay() -> None:
    numbers = np.arange(6)
    shared = SharedPrompts(numbers, numbers[::-1].copy(), "prompt")

    kept = shared.rows(np.array([0, 2, 4]), np.array([1, 3]))

    assert kept is not None
    assert kept.reference.tolist() == [0, 2, 4]
    assert kept.generated.tolist() == [4, 2]
    assert kept.count == 2
    assert shared.rows(np.array([0, 2]), np.array([0, 1])) is None


def numbered(count: int, seed: int) -> list[str]:
    return [f"in the year {row} it {text}" for row, text in enumerate(texts(count, seed))]


def test_prompts_survive_what_takes_them_off_and_cuts_the_sets() -> None:
    human, model = numbered(60, 0), numbered(60, 1)
    shorter = texts(40, 2)
    options = CompareOptions(skip_words=4, max_samples=50)

    inputs = comparison_inputs(
        human, {"model": model, "other": shorter}, options, seed=0, keep_sizes=False
    )

    (one,), (other,) = (system.files for system in inputs.systems)
    assert other.shared is None
    assert one.shared is not None
    assert (len(one.shared.reference), len(one.shared.generated)) == (50, 40)
    rows = subsample_rows(60, 50, seed=0), subsample_rows(60, 40, seed=0)
    assert [one.shared.reference.tolist(), one.shared.generated.tolist()] == [
        each.tolist() for each in rows
    ]


def test_prompts_survive_that_they_are_stripped() -> None:
    options = CompareOptions(strip_prompt=True)
    inputs = comparison_inputs(numbered(40, 0), numbered(40, 1), options, seed=0)
    (file,) = inputs.systems[0].files
    assert not next(iter(file.samples)).startswith("in the year")
    assert file.shared is not None
    assert file.shared.generated_share == 1


# ------------------------------------------------------------------ not held constant

NEAR = {"embedder": None, "normalise": "none", "cache": False, "threads": 1}


def answering(prompts: list[str] | None, seed: int) -> SampleSet:
    rows = np.random.default_rng(seed).standard_normal((60, 4))
    named = None if prompts is None else made(["x"] * 60, prompts).prompts
    return replace(SampleSet.from_vectors(rows, name=f"set {seed}"), prompts=named)


@pytest.mark.parametrize("prompts", [[f"P {row}" for row in range(60)], None])
def test_sweeps_and_overlaps_say_that_prompts_are_not_held_constant(
    prompts: list[str] | None,
) -> None:
    one, two = answering(prompts, 1), answering(prompts, 2)
    swept = calipers.sweep(one, {"b": two}, over="k", values=[3, 4], **NEAR)
    lying = calipers.overlap({"a": one, "b": two}, **NEAR)
    told = ["the same prompts" in " ".join(w) for w in (swept.systems[0].warnings, lying.warnings)]
    assert told == [prompts is not None] * 2


def begun(prompts: list[str], seed: int) -> list[str]:
    """Texts that go on from the first eight words of others."""
    rests = texts(len(prompts), seed)
    return [" ".join([*a.split()[:8], b]) for a, b in zip(prompts, rests, strict=True)]


def test_texts_that_a_model_repeats_or_knows_by_heart_show_no_prompts() -> None:
    human = texts(60, 1)
    learnt = made([*begun(human[:42], 2), *texts(18, 3)])
    assert shared_prompts(made(human), learnt, paired=False) is None
    collapsed = made(begun(human[:3] * 20, 4))
    assert shared_prompts(made(human), collapsed, paired=False) is None
    found = shared_prompts(made(human), made(begun(human[:20], 5)), paired=False)
    assert found is not None
    assert found.count == 20
