"""Samples and likelihoods of real models are read where they are, and refused where they differ."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.language_model.model import TokenScores


@pytest.fixture
def real_models(experiments, monkeypatch, tmp_path):
    """The module, with an empty folder of samples and no models."""
    from reproduction import real_models

    monkeypatch.setenv("CALIPERS_SAMPLES", str(tmp_path))
    monkeypatch.delenv("CALIPERS_MODELS", raising=False)
    # the first two stories, of 150, have one prompt
    told = [" ".join(["w"] * 19 + [str(max(i, 1)), "rest", str(i)]) for i in range(150)]
    monkeypatch.setattr(real_models, "stories", lambda: told)
    caches = (real_models.rows, real_models.asked)
    for cached in caches:
        cached.cache_clear()
    yield real_models
    for cached in caches:
        cached.cache_clear()


def kept(real_models, folder, draw, **changed):
    """Write samples as they are kept, with something else in the rows."""
    decoding = {"method": "greedy"} if draw.decoding == "greedy" else {"method": "sample"}
    row = {"model": draw.model, "decoding": decoding, "seed": 0, "revision": "abc"}
    rows = [
        json.dumps({**row, "prompt": prompt, "text": f"after {rest}", **changed})
        for prompt, rest in real_models.asked(draw.n)
    ]
    (folder / draw.file).write_text("\n".join(rows) + "\n", "utf-8")


def test_without_the_models_it_says_what_names_them(real_models):
    with pytest.raises(InputError, match="CALIPERS_MODELS names"):
        real_models.rows(real_models.STORIES[real_models.GEMMA, "greedy"])


@pytest.mark.parametrize("n", [100, 150])
def test_what_was_written_is_read_in_the_order_of_the_prompts(
    real_models, tmp_path, monkeypatch, n
):
    """A set may hold more than the prompts, and some prompts begin two stories."""
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    assert not real_models.there(draw)
    draw = replace(draw, n=n)
    monkeypatch.setitem(real_models.STORIES, (real_models.GEMMA, "greedy"), draw)
    kept(real_models, tmp_path, draw)
    found = real_models.written(real_models.GEMMA, "greedy")
    assert "revision abc" in real_models.named(real_models.GEMMA)
    assert found == [f"after {rest}" for rest in real_models.human()]


def test_further_decodings_are_read_as_the_first_three(real_models, tmp_path):
    key = (real_models.SMOLLM2, "top_p=0.95")
    decoding = {"method": "sample", "top_p": 0.95}
    kept(real_models, tmp_path, real_models.FURTHER[key], decoding=decoding)
    assert real_models.written(*key) == [f"after {rest}" for rest in real_models.human()]


def test_samples_for_other_prompts_are_refused(real_models, tmp_path):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw, prompt="another")
    with pytest.raises(InputError, match="continues other prompts"):
        real_models.written(real_models.GEMMA, "greedy")


@pytest.mark.parametrize("changed", [{"seed": 1}, {"model": "gpt2"}, {"decoding": {"beam": 4}}])
def test_samples_of_something_else_are_refused(real_models, tmp_path, changed):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw, **changed)
    with pytest.raises(InputError, match="samples of something else"):
        real_models.rows(draw)


def test_too_few_samples_are_refused(real_models, tmp_path):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw)
    path = tmp_path / draw.file
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[1:]) + "\n", "utf-8")
    with pytest.raises(InputError, match="holds 99 samples and not 100"):
        real_models.rows(draw)


def test_texts_are_cut_to_words(real_models):
    assert real_models.cut(["one  two\nthree four", "one"], 3) == ["one  two\nthree", "one"]


def test_likelihoods_are_kept_by_all_that_is_read(real_models, monkeypatch):
    asked = []

    def score(passages, decoding=None):
        asked.append([(passage.prompt, passage.text) for passage in passages])
        more = {} if decoding is None else {"decoded": np.ones(3), "squares": np.ones(3)}
        return TokenScores(np.array([-1.0, -2.0, -3.0]), np.array([0, 2, 3]), 9, **more)

    monkeypatch.setattr(real_models, "load", lambda model: SimpleNamespace(score=score))
    for _ in range(2):
        found = real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", c"], ["p", "q"])
        assert found.log_probability.tolist() == [-1.0, -2.0, -3.0]
        assert found.tokens.tolist() == [2, 1]
        assert found.decoded is None
    assert asked == [[("p", " a b"), ("q", ", c")]]
    decoded = real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", c"], ["p", "q"], "greedy")
    assert decoded.decoded is not None
    real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", d"], ["p", "q"])
    assert len(asked) == 3
