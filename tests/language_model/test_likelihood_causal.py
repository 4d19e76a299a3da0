"""Likelihoods of real causal models, against plain code that reads one text at a time."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import likelihood
from calipers.catalogue.likelihoods import LIKELIHOODS


def distributions(zoo, kind, text):
    """The tokens of a text behind the mark that begins texts, and what is expected at each."""
    torch = pytest.importorskip("torch")
    ids = [0, *zoo.tokenizer(kind)(text, add_special_tokens=False)["input_ids"]]
    with torch.inference_mode():
        logits = zoo.plain(kind)(input_ids=torch.tensor([ids])).logits[0].double()
    return np.array(ids[1:]), logits.softmax(-1)[:-1].numpy()


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_equal_to_plain_code(zoo, kind):
    texts = list(dict.fromkeys(zoo.TEXTS))
    found = likelihood(
        {"m": texts},
        model=str(zoo.folder(kind)),
        metrics="perplexity,perplexity:texts,bits_per_byte,decoder",
        decoding="top_k=5",
        first_token="bos",
        tokenizer="whitespace",
        threads=1,
    )["m"]
    own, logs, q, squares = [], [], [], []
    for text in texts:
        ids, every = distributions(zoo, kind, text)
        chances = every[np.arange(len(ids)), ids]
        own.append(np.exp(-np.log(chances).mean()))
        logs += [*np.log(chances)]
        for token, row in zip(ids, every, strict=True):
            kept = np.where(row >= np.sort(row)[-5], row, 0)
            kept /= kept.sum()
            q.append(kept[token])
            squares.append((kept**2).sum())
    q, size = np.array(q), sum(len(text.encode()) for text in texts)
    assert found["perplexity"].value == pytest.approx(np.exp(-np.mean(logs)), rel=1e-4)
    assert found["perplexity:texts"].value == pytest.approx(np.mean(own), rel=1e-4)  # evaluate's
    assert found["bits_per_byte"].value == pytest.approx(-sum(logs) / np.log(2) / size, rel=1e-4)
    expected = np.mean(q + (1 - np.array(squares)) / 2)
    assert found["sparsemax_score"].value == pytest.approx(expected, abs=1e-4)
    shares = np.linspace(0, 1, 20_001)[1:]
    mixed = (1 - shares[:, None]) * q + shares[:, None] / zoo.VOCABULARY
    best = np.exp(-np.log(mixed).mean(axis=1)).min()
    assert found["epsilon_perplexity"].value == pytest.approx(best, rel=1e-4)
    assert {key.partition(":")[0] for key in found.scores} <= {*LIKELIHOODS}


def test_in_context_of_a_real_model(zoo):
    texts = ["A bird.", "The cat sat.", "One, two, three."] * 7
    found = likelihood(
        {"same": ["A bird."] * 21, "mixed": texts},
        model=str(zoo.folder("llama")),
        metrics="decan:texts=3,conditional_surprise:texts=3",
        first_token="bos",
        tokenizer="whitespace",
        threads=1,
    )
    for system in found:
        for score in system.scores.values():
            assert score.reason is None
            assert score.value > 0
