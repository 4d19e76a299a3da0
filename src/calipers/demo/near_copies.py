"""Near copies of a few texts: the demo's system of high quality and low diversity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calipers.unicode.words import joined
from calipers.unicode.written_words import split_words, word_count

EDIT_SHARE = 0.04
"""Share of a text's words that a copy changes; two words at least, so that few copies are equal."""


def near_copies(
    texts: Sequence[str], *, size: int, sources: int = 5, seed: int | np.random.Generator
) -> list[str]:
    """Write `size` near copies of `sources` of the texts, taking these in turn.

    A copy drops, doubles or swaps a few words (`EDIT_SHARE`), so that it still reads well. The
    sources are drawn from as many length classes, so that length does not give the copies away.

    Raises
    ------
    ValueError
        If there are fewer texts than `sources`.
    """
    if not 1 <= sources <= len(texts):
        raise ValueError(f"sources must lie in 1..{len(texts)}, the number of texts; got {sources}")
    rng = np.random.default_rng(seed)
    by_length = np.argsort(list(map(word_count, texts)), kind="stable")
    chosen = [texts[rng.choice(rows)] for rows in np.array_split(by_length, sources)]
    return [_edit(chosen[copy % sources], rng) for copy in range(size)]


def _edit(text: str, rng: np.random.Generator) -> str:
    words = split_words(text)
    for _ in range(max(2, round(EDIT_SHARE * len(words)))):
        change = _CHANGES[rng.integers(len(_CHANGES))]
        words = change(words, int(rng.integers(len(words))))
    return joined(words)


def _drop(words: list[str], place: int) -> list[str]:
    return words[:place] + words[place + 1 :] if len(words) > 1 else words


def _double(words: list[str], place: int) -> list[str]:
    return words[: place + 1] + words[place:]


def _swap(words: list[str], place: int) -> list[str]:
    pair = words[place : place + 2]
    return words[:place] + pair[::-1] + words[place + 2 :]


_CHANGES: tuple[Callable[[list[str], int], list[str]], ...] = (_drop, _double, _swap)
