"""Likelihoods of real causal models, against plain code that reads one text at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from calipers import likelihood
from calipers.catalogue.likelihoods import LIKELIHOODS
from calipers.language_model.model import Passage
from extras import need


def distributions(zoo, kind, text):
    """The tokens of a text behind the mark that begins texts, and what is expected at each."""
    torch = need("torch")
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


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_bits_per_byte_are_those_of_lm_evals_rolling_windows(zoo, kind):
    """lm-eval puts BOS before a text, scores every token, and divides by all bytes and words."""
    texts = list(dict.fromkeys(zoo.TEXTS))
    found = likelihood(
        {"m": texts}, model=str(zoo.folder(kind)), metrics="predictability", threads=1,
        tokenizer="whitespace",
    )["m"]  # fmt: skip
    assert "first_token:bos" in found["bits_per_byte"].signature
    logs = 0.0
    for text in texts:
        ids, every = distributions(zoo, kind, text)
        logs += np.log(every[np.arange(len(ids)), ids]).sum()
    size = sum(len(text.encode()) for text in texts)
    # Of one text, lm-eval takes four Chinese characters for one word
    words = sum(len(re.split(r"\s+", text)) for text in texts) + 3
    assert found["bits_per_byte"].value == pytest.approx(-logs / np.log(2) / size, rel=1e-4)
    assert found["byte_perplexity"].value == pytest.approx(np.exp(-logs / size), rel=1e-4)
    assert found["word_perplexity"].value == pytest.approx(np.exp(-logs / words), rel=1e-4)


@pytest.mark.parametrize("fast", [True, False])
def test_bytes_and_words_of_a_skipped_first_token_are_not_counted(fast, zoo, monkeypatch):
    model = zoo.load("gpt2")
    if not fast:
        monkeypatch.setattr(type(model._tokens._tokenizer), "is_fast", False, raising=False)
    texts = [*dict.fromkeys(zoo.TEXTS), "", "🎉 é"]
    scored = model.score([Passage(text) for text in texts], first="skip")
    tokenizer, size = zoo.tokenizer("gpt2"), 0
    for text, unscored in zip(texts[:-2], scored.unscored, strict=False):
        first = tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"][:1])
        assert text[:unscored] == first.rstrip("\ufffd")  # a character counts by its last token
        size += len(text[unscored:].encode())
    assert scored.unscored[-2] == 0
    assert scored.unscored[-1] == 0  # 🎉 is four tokens, of which three are scored
    bos = model.score([Passage(text) for text in texts], first="bos")
    assert bos.unscored.tolist() == [0] * len(texts)
    found = likelihood(
        {"m": texts[:-2]}, model=model, metrics="bits_per_byte", first_token="skip", threads=1,
        tokenizer="whitespace",
    )["m"]["bits_per_byte"]  # fmt: skip
    logs = scored.log_probability[: scored.starts[len(texts) - 2]].sum()
    assert found.value == pytest.approx(-logs / np.log(2) / size)


def test_of_a_prompt_that_shares_a_token_with_its_text_only_the_text_counts(zoo):
    model = zoo.load("gpt2")
    whole = model.score([Passage("he cat", "T")], first="skip")
    (first,) = zoo.tokenizer("gpt2").encode("The")[:1]
    held = len(zoo.tokenizer("gpt2").decode([first]))
    assert whole.unscored.tolist() == [max(held - 1, 0)]


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
