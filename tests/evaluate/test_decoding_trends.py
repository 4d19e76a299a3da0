"""The trends of paper 004 (section 7.2) and 000 on texts of the n-gram model, in seconds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calipers
from calipers.demo.systems import systems
from calipers.language_model.model import Passage
from calipers.language_model.ngram import fit_ngram

DECODINGS = ("greedy", "ancestral", "top_p=0.5", "top_p=0.9", "temperature=0.2", "adversarial")


@pytest.fixture(scope="module")
def found():
    """Texts of one model by each decoding against texts that it was not fitted on."""
    human, generated = systems(0)
    held_out = list(generated["held_out"])
    model = fit_ngram(human, order=3)
    texts = {
        decoding: list(
            calipers.generate(
                model=model, reference=held_out, decoding=decoding, n=len(held_out), max_tokens=80
            )
        )
        for decoding in DECODINGS
    }
    perplexity = {
        name: math.exp(
            -float(np.mean(model.score([Passage(text) for text in each]).log_probability))
        )
        for name, each in {"human": held_out, **texts}.items()
    }
    return calipers.compare(held_out, texts, level=None, floor=False), perplexity


def score(found, decoding: str, key: str) -> float:
    return float(found[0][decoding][key].value)


@pytest.mark.slow
def test_greedy_decoding_is_far_below_sampling(found):
    assert score(found, "greedy", "mauve_star") < 0.05
    assert score(found, "greedy", "recall") == 0
    for decoding in ("ancestral", "top_p=0.9"):
        assert score(found, decoding, "mauve_star") > 5 * score(found, "greedy", "mauve_star")


@pytest.mark.slow
def test_recall_rises_with_p_and_temperature(found):
    recalls = [score(found, name, "recall") for name in ("top_p=0.5", "top_p=0.9", "ancestral")]
    assert recalls[0] + 0.05 < recalls[1] < recalls[2] + 0.05
    assert score(found, "temperature=0.2", "recall") + 0.2 < recalls[2]


@pytest.mark.slow
def test_perplexity_misses_the_adversary_and_mauve_does_not(found):
    human, adversary = (found[1][name] for name in ("human", "adversarial"))
    gaps = {name: abs(math.log(each / human)) for name, each in found[1].items()}
    assert gaps["adversarial"] < gaps["top_p=0.5"], (human, adversary)
    assert score(found, "adversarial", "mauve_star") < 0.3 * score(found, "ancestral", "mauve_star")
    assert score(found, "adversarial", "form.mauve_star") < 0.02
