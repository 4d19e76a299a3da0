"""Texts whose form is spoilt, and texts that lack a topic: what the experiment on views embeds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ag_news import news

Rng = np.random.Generator
MACHINES = {"GPT-2 XL": "gpt2-xl", "GPT-NeoX 20B": "gpt-neox-20b"}
_ENDED = re.compile(r"[.!?]\W*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def shuffle_words(text: str, rng: Rng) -> str:
    return " ".join(rng.permutation(text.split()))


def swap_neighbours(text: str, rng: Rng) -> str:
    """Of the pairs of words that follow each other, turn around every second, at random."""
    words = text.split()
    for i in range(0, len(words) - 1, 2):
        if rng.random() < 0.5:
            words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words)


def shuffle_sentences(text: str, rng: Rng) -> str:
    """Shuffle all sentences but one without an end, so that a text that was cut still ends so."""
    sentences = _SENTENCE.split(text.strip())
    whole = len(sentences) - (not _ENDED.search(sentences[-1]))
    return " ".join([*rng.permutation(sentences[:whole]), *sentences[whole:]])


def cut(text: str, rng: Rng) -> str:
    """Keep the first half of the words."""
    words = text.split()
    return " ".join(words[: max(len(words) // 2, 1)])


def mistype(text: str, rng: Rng) -> str:
    """Turn around two letters within every tenth word, at random, where it has four or more."""
    words = text.split()
    for i, word in enumerate(words):
        if len(word) >= 4 and rng.random() < 0.1:
            at = int(rng.integers(1, len(word) - 2))
            words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def lower(text: str, rng: Rng) -> str:
    return text.lower()


CHANGES: dict[str, Callable[[str, Rng], str]] = {
    "words shuffled": shuffle_words,
    "neighbours swapped": swap_neighbours,
    "sentences shuffled": shuffle_sentences,
    "cut in half": cut,
    "typos": mistype,
    "lower case": lower,
}


def changed(texts: list[str], name: str) -> list[str]:
    """Every text with one of the changes; what happens to a text depends on its row alone."""
    number = list(CHANGES).index(name)
    return [
        CHANGES[name](text, np.random.default_rng([number, row])) for row, text in enumerate(texts)
    ]


def headlines(folder: Path, n: int) -> tuple[list[str], np.ndarray]:
    """`n` items of AG News, as many of each topic, and the topic of each."""
    topics = news(folder)
    rng = np.random.default_rng(0)
    texts = [items[i] for items in topics.values() for i in rng.permutation(len(items))[: n // 4]]
    return texts, np.repeat(list(topics), n // 4)


def stories(folder: Path, name: str) -> list[str]:
    """The stories of one writer; row i of all continues the same beginning."""
    lines = (folder / "writing_prompts" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]
