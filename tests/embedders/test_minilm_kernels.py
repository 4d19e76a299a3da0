"""The compiled encoder against plain NumPy in float64, and with every instruction set."""

import os
import subprocess
import sys
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.embedders.minilm_kernels import (
    HEAD,
    EncoderWeights,
    exponential_and_gelu,
    put_mean_states,
)
from calipers.numeric import native

WIDTH, HIDDEN, WORDS, PLACES, LAYERS = 96, 192, 40, 120, 3
DEPTHS = np.array([3, 1])


def random_tensors():
    """Weights of a small encoder, by the names that transformers gives them."""
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.position_embeddings.weight": (PLACES, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        dense["attention.output.dense"] = WIDTH, WIDTH
        dense |= {"intermediate.dense": (HIDDEN, WIDTH), "output.dense": (WIDTH, HIDDEN)}
        for part, shape in dense.items():
            shapes |= {f"{name}.{part}.weight": shape, f"{name}.{part}.bias": shape[:1]}
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    tensors = {name: rng.normal(0, 0.2, shape) for name, shape in shapes.items()}
    for name in norms:
        tensors[f"{name}.weight"] = rng.normal(1, 0.2, WIDTH)
        tensors[f"{name}.bias"] = rng.normal(0, 0.2, WIDTH)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


TENSORS = random_tensors()
WEIGHTS = EncoderWeights.of(TENSORS, LAYERS)


def compiled(texts):
    starts = np.cumsum([0, *map(len, texts)])
    means = np.full((len(DEPTHS), len(texts), WIDTH), np.nan, np.float32)
    put_mean_states(np.concatenate(texts), starts, WEIGHTS, DEPTHS, means)
    return means


def exact(ids):
    """The mean states of one text in float64, step by step as BERT is defined."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in TENSORS.items()}

    def norm(states, name):
        states = states - states.mean(axis=1, keepdims=True)
        states /= np.sqrt((states**2).mean(axis=1, keepdims=True) + 1e-12)
        return states * tensors[f"{name}.LayerNorm.weight"] + tensors[f"{name}.LayerNorm.bias"]

    def dense(states, name):
        return states @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def embedding(kind, rows):
        return tensors[f"embeddings.{kind}_embeddings.weight"][rows]

    states = embedding("word", ids) + embedding("position", np.arange(len(ids)))
    states = norm(states + embedding("token_type", 0), "embeddings")
    means = {}
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            dense(states, f"{name}.attention.self.{part}").reshape(len(ids), -1, HEAD)
            for part in ("query", "key", "value")
        )
        weights = np.exp(np.einsum("qhd,khd->hqk", query, key) / np.sqrt(HEAD))
        weights /= weights.sum(axis=2, keepdims=True)
        seen = np.einsum("hqk,khd->qhd", weights, value).reshape(len(ids), -1)
        states = norm(
            states + dense(seen, f"{name}.attention.output.dense"), f"{name}.attention.output"
        )
        wide = dense(states, f"{name}.intermediate.dense")
        wide *= 0.5 * (1 + np.vectorize(erf)(wide / sqrt(2)))
        states = norm(states + dense(wide, f"{name}.output.dense"), f"{name}.output")
        means[layer + 1] = states.mean(axis=0)
    return np.array([means[depth] for depth in DEPTHS])


def texts_of(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, WORDS, length).astype(np.int32) for length in lengths]


@given(st.lists(st.integers(1, PLACES), min_size=1, max_size=6))
@settings(max_examples=30)
def test_states_are_those_of_exact_arithmetic(lengths):
    texts = texts_of(lengths)
    found = compiled(texts)
    for row, text in enumerate(texts):
        np.testing.assert_allclose(found[:, row], exact(text), atol=3e-6)


@given(st.lists(st.integers(1, PLACES), min_size=2, max_size=8), st.randoms())
@settings(max_examples=30)
def test_neither_company_nor_order_changes_a_bit(lengths, random):
    texts = texts_of(lengths)
    order = list(range(len(texts)))
    random.shuffle(order)
    found = compiled(texts)
    assert np.array_equal(compiled([texts[row] for row in order]), found[:, order])
    assert np.array_equal(compiled([texts[-1]])[:, 0], found[:, -1])


def test_large_scores_neither_overflow_nor_vanish():
    tensors = dict(TENSORS)
    for part in ("query", "key"):
        name = f"encoder.layer.0.attention.self.{part}.weight"
        tensors[name] = TENSORS[name] * 30
    texts, means = texts_of([70]), np.empty((1, 1, WIDTH), np.float32)
    put_mean_states(
        texts[0], np.array([0, 70]), EncoderWeights.of(tensors, 1), np.array([1]), means
    )
    assert np.isfinite(means).all()


def test_exponential():
    x = -np.geomspace(1e-6, 87, 2000, dtype=np.float32)
    assert np.abs(exponential_and_gelu(x)[0] / np.exp(x.astype(float)) - 1).max() < 2e-7
    ends = np.array([0, -np.inf, np.nan], np.float32)
    one, nothing, undefined = exponential_and_gelu(ends)[0]
    assert one == 1
    assert nothing < 1e-37
    assert np.isnan(undefined)


def test_gelu():
    x = np.linspace(-12, 12, 4001, dtype=np.float32)
    right = [value * 0.5 * (1 + erf(value / sqrt(2))) for value in x.tolist()]
    errors = np.abs(exponential_and_gelu(x)[1] - right)
    assert (errors < 1e-7 * np.maximum(1, np.abs(x))).all()
    assert exponential_and_gelu(np.zeros(1, np.float32))[1] == 0
    assert np.isnan(exponential_and_gelu(np.full(1, np.nan, np.float32))[1])


@pytest.mark.parametrize("count", [0, 1, 3, 15, 16, 17, 101])
def test_numbers_have_the_same_functions_in_any_company(count):
    x = -np.linspace(0, 20, count, dtype=np.float32)
    together = np.array(exponential_and_gelu(x))
    alone = [exponential_and_gelu(x[i : i + 1]) for i in range(count)]
    assert np.array_equal(together, np.reshape(alone, (count, 2)).T)


def test_no_texts():
    empty = np.empty((2, 0, WIDTH), np.float32)
    put_mean_states(np.empty(0, np.int32), np.zeros(1, np.int64), WEIGHTS, DEPTHS, empty)


@pytest.mark.parametrize(
    ("tokens", "starts", "says"),
    [
        ([1, WORDS], [0, 2], "a token"),
        ([1, -1], [0, 2], "a token"),
        ([1, 2], [0, 2, 2], "no token"),
        ([1, 2], [0, 2, 1, 2], "no token"),
        ([1] * (PLACES + 1), [0, PLACES + 1], "more than 120"),
        ([1, 2], [0, 1], "all of the tokens"),
        ([1, 2], [1, 2], "all of the tokens"),
        ([1, 2], [0, 3], "all of the tokens"),
        ([1, 2], [], "all of the tokens"),
    ],
)
def test_what_would_be_read_out_of_place_is_refused(tokens, starts, says):
    means = np.empty((2, max(0, len(starts) - 1), WIDTH), np.float32)
    tokens, starts = np.array(tokens, np.int32), np.array(starts, np.int64)
    with pytest.raises(ValueError, match=says):
        put_mean_states(tokens, starts, WEIGHTS, DEPTHS, means)


@pytest.mark.parametrize("shape", [(2, 1, WIDTH - 1), (2, 2, WIDTH)])
def test_means_of_another_shape_are_refused(shape):
    tokens, starts = np.zeros(5, np.int32), np.array([0, 5])
    with pytest.raises(ValueError, match="means are of another shape"):
        put_mean_states(tokens, starts, WEIGHTS, DEPTHS, np.empty(shape, np.float32))


@pytest.mark.parametrize("width", [48, 64, 90])
def test_widths_that_heads_or_panels_do_not_fill_are_refused(width):
    tensors = {
        name: tensor[..., :width] if tensor.shape[-1] == WIDTH else tensor
        for name, tensor in TENSORS.items()
    }
    tensors = {
        name: tensor[:width] if len(tensor) == WIDTH else tensor for name, tensor in tensors.items()
    }
    with pytest.raises(ValueError, match=f"width {width}"):
        EncoderWeights.of(tensors, LAYERS)


OTHER_SET = """
import sys
import numpy as np
from calipers.embedders.minilm_kernels import exponential_and_gelu
from tests_kernels import compiled, texts_of
x = np.linspace(-90, 12, 5001, dtype=np.float32)
functions = exponential_and_gelu(x)
np.savez(sys.argv[1], *functions, compiled(texts_of([1, 7, 50, 113])))
"""


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bits(tmp_path):
    (tmp_path / "tests_kernels.py").write_text(Path(__file__).read_text(encoding="utf-8"))
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    results = []
    for name in native.available_sets():
        environment = {**os.environ, native.VARIABLE: name, "PYTHONPATH": path}
        command = [sys.executable, "-c", OTHER_SET, str(tmp_path / f"{name}.npz")]
        subprocess.run(command, env=environment, check=True)
        with np.load(tmp_path / f"{name}.npz") as file:
            results.append([file[key] for key in file.files])
    for arrays in results[1:]:
        for array, expected in zip(arrays, results[0], strict=True):
            assert np.array_equal(array, expected)
    assert len(results[0]) == 3
