"""Near copies are close to few sources and seldom equal."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

import numpy as np
import pytest

from calipers.demo.near_copies import near_copies

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
