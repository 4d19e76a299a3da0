"""The demo's systems are of one size, and each has the fault that it stands for."""

from __future__ import annotations

import inspect
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from calipers import demo
from calipers.demo.corpora import paragraphs
from calipers.demo.systems import SOURCES, systems


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
    sentences = re.split(r"(?<=\.) ", demo.READING)
    assert len(sentences) == 3
    assert sum(name in sentence for sentence in sentences) == 1


def test_run_takes_the_options_of_compare() -> None:
    options = inspect.signature(demo.run).parameters
    assert all(option.kind is option.KEYWORD_ONLY for option in options.values())
    assert options["seed"].default == 0
    assert options["dtype"].default == "float32"


def test_run_hands_the_sets_and_every_option_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, Any, dict[str, Any]]] = []

    def compare(reference: Any, generated: Any, **options: Any) -> str:
        calls.append((reference, generated, options))
        return "a comparison"

    monkeypatch.setitem(sys.modules, "calipers.road", SimpleNamespace(compare=compare))
    result = demo.run(seed=1, cache=False, device="cpu", dtype="auto")
    assert result == "a comparison"
    [(reference, generated, options)] = calls
    texts, expected = systems(1)
    assert (reference.name, list(reference)) == ("human", texts)
    assert generated == expected
    assert options == {
        "seed": 1,
        "cache": False,
        "cache_dir": None,
        "device": "cpu",
        "dtype": "auto",
        "progress": None,
    }
