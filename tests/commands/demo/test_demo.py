"""The demo: its prose, its chain of words, its near copies, the fault of each of its systems."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.demo.run import READING, demo
from calipers.demo.carried import listed
from calipers.demo.corpora import LONGEST, SHORTEST, paragraphs, prose
from calipers.demo.markov import fit, generate
from calipers.demo.near_copies import near_copies
from calipers.demo.systems import SOURCES, systems
from calipers.errors import CalipersError

SENTENCES = """\
A reader knows prose when she sees it: the lines are of one indentation, the
words are words, and the whole begins and ends as any plain left-
hand sentence does. That is *all* that the **filter** asks for [1].
"""
FLOWED = (
    "A reader knows prose when she sees it: the lines are of one indentation, the words are "
    "words, and the whole begins and ends as any plain left-hand sentence does. That is all that "
    "the filter asks for."
)


def test_lines_are_joined_and_markup_is_dropped() -> None:
    assert prose([SENTENCES]) == [FLOWED]


def test_an_indented_paragraph_is_prose() -> None:
    indented = "\n".join("   " + line for line in SENTENCES.splitlines())
    assert prose([f"name()\n\n{indented}\n"]) == [FLOWED]


def test_a_list_item_of_prose_loses_its_bullet() -> None:
    first, *rest = SENTENCES.splitlines()
    assert prose(["\n".join([f"* {first}", *(f"  {line}" for line in rest)])]) == [FLOWED]


def test_a_definition_loses_its_term() -> None:
    lines = ["Prose (noun)", *(f"   {line}" for line in SENTENCES.splitlines())]
    assert prose(["\n".join(lines)]) == [FLOWED]


def test_repeats_are_kept_once_in_first_order() -> None:
    other = SENTENCES.replace("reader", "writer")
    texts = prose([f"{SENTENCES}\n{other}", f"{other}\n{SENTENCES}"])
    assert texts == [FLOWED, FLOWED.replace("reader", "writer")]


FILLER = " and so on it goes for more than twenty words because a short text is left out anyway"


@pytest.mark.parametrize(
    "block",
    [
        "Too few words for a paragraph.",
        "Heading" + FILLER + ".\n" + "=" * 60,
        '   assert_stmt ::= "assert" expression' + FILLER + ".",
        "   >>> It" + FILLER + ".",
        "| A cell" + FILLER + ". |",
        "[1] A footnote" + FILLER + ".",
        "Changed in version 3.9: It" + FILLER + ".",
        "New in version 3.9: It" + FILLER + ".",
        "an end of a sentence" + FILLER + ".",
        "A sentence without its end" + FILLER,
        "Code" + " x[i] = f(x, *y)" * 10 + FILLER + ".",
        "A first item" + FILLER + "\n   hanging deeper\nand back" + FILLER + ".",
        "Long " + "word " * (LONGEST + 1) + "end.",
        "",
    ],
)
def test_other_blocks_are_left_out(block: str) -> None:
    assert prose([f"\n\n{block}\n\n"]) == []


def test_this_python_carries_some_hundreds_of_clean_paragraphs() -> None:
    texts = paragraphs()
    assert len(texts) >= 500
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert SHORTEST <= len(text.split()) <= LONGEST
        assert text[-1] in '.:!?)”’"'
        assert not re.search(r"::=|>>>|====|\n|  ", text), text


def test_the_paragraphs_are_the_same_each_time() -> None:
    assert paragraphs() == paragraphs()


def test_a_python_without_its_documentation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(CalipersError, match="pydoc_data"):
        paragraphs()


HEARD = ["a b c a b d", "b c", "one"]


def test_fit_counts_what_follows_what() -> None:
    chain = fit(HEARD)
    assert chain.successors == {
        ("a",): ("b", "b"),
        ("b",): ("c", "d", "c"),
        ("c",): ("a",),
    }
    assert chain.openings == (("a",), ("b",))
    assert chain.lengths == (6, 2)


def test_order_two_looks_at_pairs() -> None:
    chain = fit(HEARD, order=2)
    assert chain.successors[("a", "b")] == ("c", "d")
    assert chain.openings == (("a", "b"),)


def test_words_follow_as_often_as_they_did() -> None:
    chain = fit(["a " + "b a " * 3 + "c a"] * 2)
    words = " ".join(generate(chain, 500, seed=0)).split()
    after_a = Counter(right for left, right in pairwise(words) if left == "a")
    assert after_a["b"] / (after_a["b"] + after_a["c"]) == pytest.approx(0.75, abs=0.03)


def test_lengths_are_those_of_the_fitted_texts() -> None:
    lengths = Counter(len(text.split()) for text in generate(fit(HEARD), 400, seed=1))
    assert set(lengths) == {2, 6}
    assert lengths[6] / 400 == pytest.approx(0.5, abs=0.1)


def test_a_seed_decides_every_word() -> None:
    chain = fit(HEARD)
    assert generate(chain, 20, seed=3) == generate(chain, 20, seed=3)
    assert generate(chain, 20, seed=3) != generate(chain, 20, seed=4)
    assert generate(chain, 20, seed=np.random.default_rng(3)) == generate(chain, 20, seed=3)


words = st.lists(st.sampled_from("abcd"), min_size=2, max_size=8).map(" ".join)


@given(texts=st.lists(words, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_every_pair_was_heard_or_opens_anew(texts: list[str], seed: int) -> None:
    chain = fit(texts)
    for text in generate(chain, 3, seed=seed):
        for left, right in pairwise(text.split()):
            heard = chain.successors.get((left,))
            assert (right in heard) if heard is not None else ((right,) in chain.openings)


@pytest.mark.parametrize(("texts", "order"), [([], 1), (["one"], 1), (["two words"], 2)])
def test_texts_too_short_to_learn_from_are_refused(texts: list[str], order: int) -> None:
    with pytest.raises(ValueError, match=f"more than order={order} words"):
        fit(texts, order=order)


TEXTS = [" ".join(f"w{row}_{place}" for place in range(10 + 5 * row)) for row in range(20)]


def _source(copy: str) -> str:
    (row, _), *_ = Counter(word.split("_")[0] for word in copy.split()).most_common(1)
    return TEXTS[int(row[1:])]


def test_copies_come_from_few_sources_in_equal_shares() -> None:
    copies = near_copies(TEXTS, size=40, sources=5, seed=0)
    assert sorted(Counter(map(_source, copies)).values()) == [8] * 5


def test_a_copy_differs_in_few_words() -> None:
    for copy in near_copies(TEXTS, size=100, sources=5, seed=0):
        match = SequenceMatcher(None, _source(copy).split(), copy.split(), autojunk=False)
        assert match.ratio() > 0.7
        assert abs(len(copy.split()) - len(_source(copy).split())) <= max(2, len(copy.split()) / 20)


def test_copies_of_one_source_are_seldom_equal() -> None:
    copies = near_copies(TEXTS, size=50, sources=1, seed=0)
    assert len(set(copies)) > 45
    assert not set(copies) & set(TEXTS)


def test_sources_span_the_lengths() -> None:
    for seed in range(5):
        copies = near_copies(TEXTS, size=5, sources=5, seed=seed)
        rows = sorted(TEXTS.index(_source(copy)) for copy in copies)
        assert [row // 4 for row in rows] == [0, 1, 2, 3, 4]


def test_a_seed_decides_every_edit() -> None:
    first = near_copies(TEXTS, size=10, seed=1)
    assert first == near_copies(TEXTS, size=10, seed=np.random.default_rng(1))
    assert first != near_copies(TEXTS, size=10, seed=2)


def test_a_single_word_survives() -> None:
    assert all(
        copy.split()[0] == "word" for copy in near_copies(["word"], size=9, sources=1, seed=0)
    )


@pytest.mark.parametrize("sources", [0, 21])
def test_the_number_of_sources_is_checked(sources: int) -> None:
    with pytest.raises(ValueError, match=rf"sources must lie in 1\.\.20.*got {sources}"):
        near_copies(TEXTS, size=3, sources=sources, seed=0)


def _windows(texts: list[str], words: int) -> set[tuple[str, ...]]:
    split = [text.split() for text in texts]
    return {tuple(w[i : i + words]) for w in split for i in range(len(w) - words + 1)}


def test_all_sets_are_of_one_size() -> None:
    reference, generated = systems(0)
    assert list(generated) == ["held_out", "markov_chain", "near_copies"]
    assert {len(texts) for texts in generated.values()} == {len(reference)}
    assert len(reference) == len(paragraphs()) // 2


def test_held_out_texts_are_other_human_texts() -> None:
    reference, generated = systems(0)
    assert not set(reference) & set(generated["held_out"])
    assert set(reference) | set(generated["held_out"]) <= set(paragraphs())
    assert len(set(generated["held_out"])) == len(reference)


def test_the_chain_keeps_word_pairs_and_loses_sentences() -> None:
    reference, generated = systems(0)
    chain = generated["markov_chain"]
    assert len(_windows(chain, 2) & _windows(reference, 2)) > 0.9 * len(_windows(chain, 2))
    assert len(_windows(chain, 8) & _windows(reference, 8)) < 0.01 * len(_windows(chain, 8))


def test_near_copies_know_few_phrases() -> None:
    reference, generated = systems(0)
    covered = _windows(reference, 3) & _windows(generated["near_copies"], 3)
    assert len(covered) < 2 * SOURCES / len(reference) * len(_windows(reference, 3))
    assert len(set(generated["near_copies"])) > 0.9 * len(reference)


def test_a_seed_decides_all_sets() -> None:
    assert systems(1) == systems(1)
    assert all(a != b for a, b in zip(systems(1)[1].values(), systems(2)[1].values(), strict=True))


@pytest.mark.parametrize("name", ["held_out", "markov_chain", "near_copies"])
def test_the_reading_explains_every_system_once(name: str) -> None:
    sentences = re.split(r"(?<=\.) ", READING)
    assert len(sentences) == 3
    assert sum(name in sentence for sentence in sentences) == 1


def test_run_takes_the_options_of_compare() -> None:
    options = inspect.signature(demo).parameters
    assert all(option.kind is option.KEYWORD_ONLY for option in options.values())
    assert options["seed"].default == 0
    assert options["dtype"].default == "float32"


def test_run_hands_the_sets_and_every_option_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, Any, dict[str, Any]]] = []

    def compare(reference: Any, generated: Any, **options: Any) -> str:
        calls.append((reference, generated, options))
        return "a comparison"

    monkeypatch.setattr("calipers.commands.compare.run.compare", compare)
    result = demo(seed=1, cache=False, device="cpu", dtype="auto")
    assert result == "a comparison"
    [(reference, generated, options)] = calls
    texts, expected = systems(1, listed(paragraphs()))
    assert (reference.name, list(reference)) == ("human", texts)
    assert generated == expected
    assert options == {
        "embedder": None,
        "seed": 1,
        "cache": False,
        "cache_dir": None,
        "device": "cpu",
        "dtype": "auto",
        "progress": None,
    }
