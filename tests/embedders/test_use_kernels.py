"""The encoder of many languages against plain NumPy in float64, and with every instruction set."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.embedders.use import kernels
from calipers.embedders.use.kernels import (
    BLOCK,
    ORDERS,
    RUN,
    TEXTS,
    MeaningWeights,
    StateWeights,
    forms,
    meanings,
    state_sums,
)
from calipers.numeric import native

PIECES, GROUPS, D, C, U, SIZE = 51, 3, 32, 16, 80, 112
STATE = D + len(ORDERS) * C


def random_arrays():
    """Weights of a small encoder, by the names that the package gives them."""
    rng = np.random.default_rng(0)
    shapes = {"ln_g": STATE, "ln_b": STATE, "cnn_W": (STATE, D), "cnn_b": D}
    shapes |= {"d0": (D, U), "p1": (D, U), "d1": (U, U), "d2": (U, D), "p3": (U, SIZE)}
    shapes |= {"d3": (D, SIZE), "scale": GROUPS, "lo": GROUPS}
    for order in ORDERS:
        shapes |= {f"proj{order}": (D, C), f"proj_b{order}": C, f"ln_g{order}": C}
        shapes |= {f"ln_b{order}": C}
        for layer in (1, 2):
            shapes |= {f"w{layer}_{order}": (order * C, C), f"b{layer}_{order}": C}
    arrays = {name: rng.normal(0, 0.2, shape) for name, shape in shapes.items()}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    for group in range(GROUPS):
        arrays[f"q{group + 1}"] = rng.integers(0, 64, (PIECES // GROUPS, D), np.uint8)
    return arrays


ARRAYS = random_arrays()
STATES, MEANINGS = StateWeights.of(ARRAYS), MeaningWeights.of(ARRAYS)


def texts_of(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, PIECES, length).astype(np.int32) for length in lengths]


def compiled(texts, block=BLOCK):
    """Meanings and forms."""
    lengths = np.array(list(map(len, texts)), np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.concatenate(texts)
    sums = state_sums(tokens, starts, STATES, block=block)
    return meanings(sums.states, lengths, MEANINGS), forms(sums, tokens, starts, STATES)


def exact(pieces):
    """The same of one text in float64, step by step as the encoder is defined."""
    arrays = {name: array.astype(np.float64) for name, array in ARRAYS.items()}

    def norm(rows, scale, shift):
        rows = rows - rows.mean(axis=1, keepdims=True)
        return rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-12) * scale + shift

    def all_orders(name):
        return np.concatenate([arrays[f"{name}{order}"] for order in ORDERS], axis=-1)

    rows = np.array([arrays[f"q{piece % GROUPS + 1}"][piece // GROUPS] for piece in pieces])
    groups = pieces % GROUPS
    rows = rows * arrays["scale"][groups, None] + arrays["lo"][groups, None]
    projected = rows @ all_orders("proj") + all_orders("proj_b")
    projected = norm(projected, all_orders("ln_g"), all_orders("ln_b"))
    states, windows = [rows], []
    for place, order in enumerate(ORDERS):
        x = projected[:, place * C : (place + 1) * C]
        for layer in (1, 2):
            before = (order - 1) // 2
            padded = np.pad(x, ((before, order - 1 - before), (0, 0)))
            seen = np.array([padded[t : t + order].ravel() for t in range(len(pieces))])
            bent = np.maximum(seen @ arrays[f"w{layer}_{order}"] + arrays[f"b{layer}_{order}"], 0)
            windows += [bent.mean(axis=0)] if layer == 1 else []
            x = x + bent
        states.append(x)
    states = norm(np.concatenate(states, axis=1), arrays["ln_g"], arrays["ln_b"])
    merged = (states @ arrays["cnn_W"] + arrays["cnn_b"]).sum(axis=0) / np.sqrt(len(pieces))
    first = np.maximum(merged @ arrays["d0"], 0)
    second = np.maximum(merged @ arrays["p1"] + first @ arrays["d1"], 0)
    third = np.maximum(second @ arrays["d2"], 0)
    last = np.tanh(second @ arrays["p3"] + third @ arrays["d3"])
    windows = np.concatenate(windows)
    apart = rows - rows.mean(axis=0)
    follows = (apart[1:] * apart[:-1]).sum(axis=0) / len(rows) / (rows.var(axis=0) + 0.01)
    parts = [part / (np.linalg.norm(part) or 1) for part in (windows, follows)]
    return last / np.linalg.norm(last), np.concatenate(parts)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.sampled_from([16, 24, 40, 256]))
@settings(max_examples=40)
def test_vectors_are_those_of_exact_arithmetic(lengths, block):
    texts = texts_of(lengths)
    for meaning, form, expected in zip(*compiled(texts, block), map(exact, texts), strict=True):
        np.testing.assert_allclose(meaning, expected[0], atol=5e-6)
        np.testing.assert_allclose(form, expected[1], atol=2e-6)


@given(
    st.lists(st.integers(1, 90), min_size=2, max_size=9),
    st.sampled_from([16, 32, 72]),
    st.randoms(),
)
@settings(max_examples=40)
def test_neither_company_nor_order_nor_block_changes_a_bit(lengths, block, random):
    texts = texts_of(lengths)
    order = list(range(len(texts)))
    random.shuffle(order)
    found = compiled(texts)
    for again, once in zip(compiled([texts[i] for i in order], block), found, strict=True):
        assert np.array_equal(again, once[order])
    for alone, once in zip(compiled([texts[-1]], block), found, strict=True):
        assert np.array_equal(alone[0], once[-1])


def test_more_texts_than_are_computed_together():
    texts = texts_of([1 + i % 5 for i in range(2 * TEXTS + 3)])
    found = compiled(texts)[0]
    for row in (0, TEXTS - 1, TEXTS, 2 * TEXTS + 2):
        np.testing.assert_allclose(found[row], exact(texts[row])[0], atol=2e-6)


def test_a_long_text_is_read_to_its_end():
    text = texts_of([1000])[0]
    other = text.copy()
    other[-1] = (other[-1] + 1) % PIECES
    found = compiled([text, other], 16)[0]
    np.testing.assert_allclose(found[0], exact(text)[0], atol=5e-6)
    assert np.abs(found[0] - found[1]).max() > 1e-6


def with_runs():
    """Texts in which pieces repeat: alone, between others, side by side, shorter and longer."""
    rng = np.random.default_rng(5)
    some = rng.integers(0, PIECES, 20).astype(np.int32)
    once = [np.full(length, 7, np.int32) for length in (1, RUN, RUN + 1, 900)]
    between = np.concatenate([some[:9], once[3], some[9:], once[2], np.full(RUN + 5, 9, np.int32)])
    return [*once, between, some, np.concatenate([once[1], once[3] + 1])]


def test_runs_of_one_piece_are_read_as_they_are():
    texts = with_runs()
    for meaning, form, expected in zip(*compiled(texts), map(exact, texts), strict=True):
        np.testing.assert_allclose(meaning, expected[0], atol=5e-6)
        np.testing.assert_allclose(form, expected[1], atol=2e-6)


def test_runs_have_the_same_bits_in_any_company():
    texts = with_runs()
    found = compiled(texts, 16)
    for row, text in enumerate(texts):
        for alone, once in zip(compiled([text]), found, strict=True):
            assert np.array_equal(alone[0], once[row])


def test_of_a_million_equal_pieces_few_pass_the_layers(monkeypatch):
    passed = []
    whole = kernels._state_sums

    def counted(tokens, *rest):
        passed.append(len(tokens))
        whole(tokens, *rest)

    monkeypatch.setattr(kernels, "_state_sums", counted)
    meaning, form = compiled([np.full(1_000_000, 3, np.int32)])
    assert sum(passed) < 100
    assert np.isfinite(meaning).all()
    assert np.isfinite(form).all()


def test_no_texts():
    tokens, starts = np.empty(0, np.int32), np.zeros(1, np.int64)
    sums = state_sums(tokens, starts, STATES)
    assert meanings(sums.states, np.empty(0, np.int64), MEANINGS).shape == (0, SIZE)
    assert forms(sums, tokens, starts, STATES).shape == (0, STATE)


@pytest.mark.parametrize(
    ("tokens", "starts", "says"),
    [
        ([1, PIECES], [0, 2], "a token is not one of 51"),
        ([1, -1], [0, 2], "a token is not one of 51"),
        ([1, 2], [0, 2, 2], "no token"),
        ([1, 2], [0, 2, 1, 2], "no token"),
        ([1, 2], [0, 1], "all of the tokens"),
        ([1, 2], [1, 2], "all of the tokens"),
        ([1, 2], [], "all of the tokens"),
    ],
)
def test_what_would_be_read_out_of_place_is_refused(tokens, starts, says):
    with pytest.raises(ValueError, match=says):
        state_sums(np.array(tokens, np.int32), np.array(starts, np.int64), STATES)


@pytest.mark.parametrize("block", [0, 8, 20])
def test_blocks_that_rows_do_not_fill_are_refused(block):
    with pytest.raises(ValueError, match=f"found {block}"):
        state_sums(np.zeros(2, np.int32), np.array([0, 2]), STATES, block=block)


def test_widths_that_vectors_do_not_fill_are_refused():
    arrays = {**ARRAYS, "d0": ARRAYS["d0"][:, :20]}
    with pytest.raises(ValueError, match="width 20"):
        MeaningWeights.of(arrays)


OTHER_SET = """
import sys
import numpy as np
from tests_kernels import compiled, texts_of
np.savez(sys.argv[1], *compiled(texts_of([1, 7, 50, 113]), 48))
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
    assert len(results[0]) == 2
