"""The texts behind the experiment on preprocessing, as vectors: news, stories, and faults of both.

Items of AG News are parted once: a generator is fitted on some, some are only ever the reference,
and some only ever a system. Nothing stands in two of the parts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ag_news import news
from calipers import SampleSet
from calipers.demo.markov import fit, generate
from calipers.demo.near_copies import near_copies
from calipers.embedders.cache import Cache
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed

Rows = np.ndarray
PART = 2_500
"""Items of news that are only ever the reference, and that are only ever a system."""
CHANGED = 1_000
"""Items of which there are changed versions, and texts of the Markov chain."""
SOURCES = 20
"""Items that the near repeats repeat."""
STORIES = {"human": "human", "gpt2-xl": "gpt2-xl", "gpt-neox": "gpt-neox-20b"}


@dataclass(frozen=True)
class News:
    """Vectors of news by one view.

    Attributes
    ----------
    items, labels
        All items, and the topic of each.
    reference, system
        Which of them are only ever the reference, and only ever a system.
    chain
        Texts of a word-level Markov chain, fitted on items in neither part.
    half, quarter
        The first items of `system`, cut to half and to a quarter of their words.
    copies
        Near copies of the first items of `reference`, one of each.
    repeats
        Near copies of twenty of the first items of `system`, in turn.
    """

    items: Rows
    labels: Rows
    reference: Rows
    system: Rows
    chain: Rows
    half: Rows
    quarter: Rows
    copies: Rows
    repeats: Rows


def news_by_view(folder: Path) -> dict[str, News]:
    """News and what was made of it, by every view of the default embedder."""
    topics = news(folder)
    texts = [text for items in topics.values() for text in items]
    labels = np.repeat(list(topics), [len(items) for items in topics.values()])
    order = np.random.default_rng(0).permutation(len(texts))
    reference, system, rest = order[:PART], order[PART : 2 * PART], order[2 * PART :]
    chain = fit([texts[row] for row in rest])
    first = [texts[row] for row in system[:CHANGED]]
    known = [texts[row] for row in reference[:CHANGED]]
    made = {
        "chain": generate(chain, CHANGED, seed=0),
        "half": [_cut(text, 0.5) for text in first],
        "quarter": [_cut(text, 0.25) for text in first],
        "copies": [
            near_copies([text], size=1, sources=1, seed=i)[0] for i, text in enumerate(known)
        ],
        "repeats": near_copies(first, size=CHANGED, sources=SOURCES, seed=0),
    }
    found = {name: vectors(each, name) for name, each in {"items": texts, **made}.items()}
    return {
        view: News(
            labels=labels,
            reference=reference,
            system=system,
            **{name: views[view] for name, views in found.items()},
        )
        for view in found["items"]
    }


def stories_by_view(folder: Path) -> dict[str, dict[str, Rows]]:
    """Story openings by people and by two models, row by row of the same prompts, by view."""
    found = {}
    for name, file in STORIES.items():
        lines = (folder / "writing_prompts" / f"{file}.jsonl").read_text("utf-8").splitlines()
        found[name] = vectors([json.loads(line)["text"] for line in lines], name)
    return {view: {name: views[view] for name, views in found.items()} for view in found["human"]}


def vectors(texts: Sequence[str], name: str) -> Mapping[str, Rows]:
    """Vectors of texts in every view; kept, so that they are made once."""
    samples = SampleSet.from_texts(list(texts), name=name)
    return embed(samples, load_embedder("minilm"), cache=Cache()).views


def _cut(text: str, share: float) -> str:
    """Keep the first words of a text."""
    words = text.split()
    return " ".join(words[: max(round(share * len(words)), 1)])
