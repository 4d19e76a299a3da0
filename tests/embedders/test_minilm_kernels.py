"""The compiled encoder against plain NumPy in float64, and in the forms of other processors."""

import os
import subprocess
import sys
from math import erf, sqrt
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.embedders.minilm_kernels import HEAD, EncoderWeights, _exp, _gelu, put_mean_states

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


@numba.njit
def exponential(x):
    return _exp(x)


@numba.njit
def gelu(x):
    return _gelu(x)


def test_exponential():
    for x in -np.geomspace(1e-6, 87, 2000, dtype=np.float32):
        assert abs(exponential(x) / np.exp(np.float64(x)) - 1) < 2e-7
    assert exponential(np.float32(0)) == 1
    assert exponential(np.float32(-np.inf)) < 1e-37


def test_gelu():
    for x in np.linspace(-12, 12, 4001, dtype=np.float32).astype(float):
        right = x * 0.5 * (1 + erf(x / sqrt(2)))
        assert abs(gelu(np.float32(x)) - right) < 1e-7 * max(1, abs(x))
    assert gelu(np.float32(0)) == 0


OTHER_PROCESSOR = """
import llvmlite.binding as llvm
found = llvm.get_host_cpu_features()
for name in found:
    if name.startswith(HIDDEN):
        found[name] = False
llvm.get_host_cpu_features = lambda: found
from calipers.numeric.simd import LANES
assert LANES == EXPECTED, LANES
import numba
import numpy as np
from tests_kernels import compiled, exact, texts_of
texts = texts_of([1, 7, 50, 113])
means = compiled(texts)
for row, text in enumerate(texts):
    np.testing.assert_allclose(means[:, row], exact(text), atol=3e-6)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hidden", "lanes", "processor"),
    [("avx512", 8, "haswell"), (("avx512", "avx2"), 4, "haswell")],
    ids=["AVX2", "shorter registers"],
)
def test_processors_with_shorter_registers(hidden, lanes, processor, tmp_path):
    import llvmlite.binding as llvm

    if not llvm.get_host_cpu_features().get("avx2"):
        pytest.skip("this processor has no AVX2")
    (tmp_path / "tests_kernels.py").write_text(Path(__file__).read_text(encoding="utf-8"))
    code = OTHER_PROCESSOR.replace("HIDDEN", repr(hidden)).replace("EXPECTED", str(lanes))
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": processor,
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
