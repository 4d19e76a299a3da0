"""Real models over length, chat models beside each other, and tokens per word, on made-up data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calipers.errors import InputError


@pytest.fixture
def length(experiments, monkeypatch):
    """The module, on vectors of which the generated ones move away as the texts grow."""
    from reproduction import runs_real_length

    def vectors(model, decoding, view, words):
        rng = np.random.default_rng([words, len(model)])
        moved = words / 25 if model == "away" else 0.0
        return rng.standard_normal((100, 4)) + moved * np.array([1.0, 0, 0, 0])

    monkeypatch.setattr(runs_real_length, "vectors", vectors)
    runs_real_length.lengths.cache_clear()
    yield runs_real_length
    runs_real_length.lengths.cache_clear()


@pytest.mark.parametrize(
    ("model", "star", "distance"),
    [
        ("away", "same direction beyond noise", "opposite"),
        ("equal", "not distinguishable", "not distinguishable"),
    ],
)
def test_scores_over_length_see_a_drift_and_no_other(length, model, star, distance):
    from reproduction import verdicts

    found = length.lengths(model, "ancestral", "meaning")
    assert verdicts.falls("", "", found["mauve_star"]).verdict == star
    assert verdicts.falls("", "", found["frechet_distance"]).verdict == distance


def test_tokens_per_word_are_counted_without_marks(experiments, monkeypatch):
    from reproduction import real_models, runs_real_embedders

    class Halves:
        """Two tokens for each word, and a mark where it is asked for."""

        def encode_batch(self, texts, *, add_special_tokens):
            marks = 1 if add_special_tokens else 0
            lengths = [2 * len(text.split()) + marks for text in texts]
            return [type("Encoding", (), {"ids": list(range(n))})() for n in lengths]

    told = [" ".join(["word"] * (3 + i % 4)) for i in range(40)]
    monkeypatch.setattr(real_models, "stories", lambda: told)
    monkeypatch.setattr(runs_real_embedders, "tokenizer", lambda model: Halves())
    (estimate,) = runs_real_embedders.tokens_per_word(["any"]).estimates
    assert estimate.value == 2
    assert estimate.interval == (2, 2)


def test_answers_of_a_chat_model_are_read_with_their_instructions(
    experiments, monkeypatch, tmp_path
):
    from reproduction import runs_real_chat

    monkeypatch.setattr(runs_real_chat, "DATA", tmp_path)
    with pytest.raises(InputError, match=r"there is no alpaca_eval/vicuna-13b-v1\.5"):
        runs_real_chat.answers("Vicuna")
    path = tmp_path / "alpaca_eval" / "vicuna-13b-v1.5" / "model_outputs.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"instruction": "Say a.", "output": "a", "generator": "v"}]))
    found = runs_real_chat.answers("Vicuna")
    assert list(found.prompts) == ["Say a."]
    assert len(found) == 1
