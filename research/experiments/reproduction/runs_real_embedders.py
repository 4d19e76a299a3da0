"""Whether other embedders say the same of two real models, and how many tokens a word takes.

Tables B.1 and B.2 of Le Bronnec et al. (ACL 2024), as far as six systems give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tokenizers import Tokenizer

import calipers
from reproduction import real_models
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2, STORY
from reproduction.runs_real_mauve import named, setting, title, told_of, values
from reproduction.runs_real_precision_recall import SYSTEMS
from reproduction.verdicts import Row, correlated, jackknife, shown

EMBEDDERS = {"TF-IDF": "tfidf", "character n-grams": "characters"}
"""Titles of the embedders beside MiniLM, and how `calipers compare` calls them."""
BLOCKS = 20


def scores(embedder: str) -> dict[str, np.ndarray]:
    """Precision and recall of all systems by another embedder."""
    found = calipers.compare(
        real_models.cut(real_models.human()),
        {named(*each): real_models.cut(real_models.written(*each)) for each in real_models.STORIES},
        embedder=embedder,
        metrics="precision,recall",
        level=None,
        floor=False,
        shared_prompts="ignore",
        threads=1,
    )
    return {
        score: np.array([found[named(*each)][score].value for each in real_models.STORIES])
        for score in ("precision", "recall")
    }


def pr_table_b1() -> Iterator[Line | Setting]:
    """Precision and recall by other embedders, and tokens per word of two tokenizers."""
    n = len(real_models.STORIES)
    yield setting(more=f"{told_of(STORY)}; {SYSTEMS.format(n=n)}")
    others = {name: scores(embedder) for name, embedder in EMBEDDERS.items()}
    for score in ("precision", "recall"):
        first = values(score, "meaning")
        columns = {"MiniLM, form": values(score, "form")}
        columns |= {name: each[score] for name, each in others.items()}
        for name, column in columns.items():
            yield correlated(
                f"{score}, MiniLM, meaning, and {name}",
                "positive, 0.67 to 0.99",
                first,
                column,
                kind="pearson",
                digits=2,
            )
    yield shown(
        f"tokens per word of {len(real_models.stories())} stories by people: {title(GEMMA)}, "
        f"{title(SMOLLM2)} (the paper, of WebText by four tokenizers: 1.183 to 1.360)",
        tokens_per_word((GEMMA, SMOLLM2)),
    )


def tokens_per_word(models: Sequence[str]) -> Row:
    """Mean tokens of a word of all stories by people, by the tokenizers of some models."""
    stories = real_models.stories()
    words = np.array([len(each.split()) for each in stories])
    counts = np.array(
        [
            [
                len(each.ids)
                for each in tokenizer(model).encode_batch(stories, add_special_tokens=False)
            ]
            for model in models
        ]
    )

    def ratios(kept: np.ndarray) -> list[float]:
        return (counts[:, kept].sum(axis=1) / words[kept].sum()).tolist()

    return jackknife(ratios, len(stories), blocks=BLOCKS)


def tokenizer(model: str) -> Tokenizer:
    """The tokenizer in the folder of a model."""
    return Tokenizer.from_file(str(real_models.folder(model) / "tokenizer.json"))
