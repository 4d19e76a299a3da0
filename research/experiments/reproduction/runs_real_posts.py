"""What two real models say of the posts on perplexity and on BERTScore and MAUVE."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calipers.metrics import likelihood as formulas
from reproduction import real_models
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2, STORY
from reproduction.runs_real_mauve import BLOCKS, read, setting, surprise, title
from reproduction.verdicts import equal, jackknife, shown


def perplexity() -> Iterator[Line | Setting]:
    """Perplexity of people's stories by two models, per token and per byte."""
    yield setting(more=read(), n=f"{STORY.scored} texts by people")
    people = real_models.cut(real_models.human()[: STORY.scored], STORY.scored_words)
    sizes = np.array([len(each.encode()) + 1 for each in people])
    for scorer in (SMOLLM2, GEMMA):
        scores = surprise(scorer, "")
        sums = formulas.sums_by_text(scores.log_probability, scores.starts)
        by_hand = float(np.exp(-sums.sum() / len(scores.log_probability)))
        about = f"read by {title(scorer)}"
        yield equal(
            f"perplexity as exp of the mean surprise over tokens, {about}",
            by_hand,
            formulas.perplexity(scores.log_probability),
        )

        def values(
            kept: np.ndarray, sums: np.ndarray = sums, tokens: np.ndarray = scores.tokens
        ) -> list[float]:
            nats = -sums[kept].sum()
            return [
                float(np.exp(nats / tokens[kept].sum())),
                float(nats / np.log(2) / sizes[kept].sum()),
            ]

        found = jackknife(values, STORY.scored, blocks=BLOCKS)
        yield shown(f"perplexity of people's stories, {about}", found.estimates[0], digits=1)
        yield shown(f"bits per byte, {about}", found.estimates[1])
