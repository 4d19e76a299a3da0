"""The network of pictures against plain NumPy in float64, and with every instruction set."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.embedders.vision.efficientnet_kernels import (
    BUFFER,
    EPSILON,
    Block,
    NetworkWeights,
    features,
)
from calipers.numeric import native

BLOCKS = (Block(3, 1), Block(5, 2), Block(5, 1), Block(3, 2), Block(3, 1), Block(5, 1))
WIDE, NARROW, FEATURES, SIDE = (32, 48, 48, 144, 16, 64), (16, 24, 24, 8, 8, 40), 96, 22
DEPTHS = (0, 2, 5)


def random_tensors():
    """Weights of a small network, by the names that the package gives them."""
    rng = np.random.default_rng(0)
    shapes = {"_conv_stem": (WIDE[0], 3, 3, 3), "_conv_head": (FEATURES, NARROW[-1], 1, 1)}
    norms = {"_bn0": WIDE[0], "_bn1": FEATURES}
    for i, (block, wide, narrow) in enumerate(zip(BLOCKS, WIDE, NARROW, strict=True)):
        name = f"_blocks.{i}"
        if i:
            shapes[f"{name}._expand_conv"] = (wide, NARROW[i - 1], 1, 1)
            norms[f"{name}._bn0"] = wide
        shapes[f"{name}._depthwise_conv"] = (wide, 1, block.kernel, block.kernel)
        shapes[f"{name}._project_conv"] = (narrow, wide, 1, 1)
        norms |= {f"{name}._bn1": wide, f"{name}._bn2": narrow}
    tensors = {
        f"{name}.weight": rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape)
        for name, shape in shapes.items()
    }
    for name, size in norms.items():
        tensors |= {f"{name}.weight": rng.uniform(0.5, 2, size)}
        tensors |= {f"{name}.bias": rng.normal(1, 1, size)}
        tensors |= {f"{name}.running_mean": rng.normal(0, 0.3, size)}
        tensors |= {f"{name}.running_var": rng.uniform(0.3, 2, size)}
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


TENSORS = random_tensors()
WEIGHTS = NetworkWeights.of(TENSORS, BLOCKS, SIDE)


def pictures(count, seed=0, side=SIDE):
    return np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), np.uint8)


def exact(image):
    """The features of one picture in float64, step by step as the network is defined."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in TENSORS.items()}

    def convolution(x, name, norm, step=1, clipped=True):
        weights = tensors[f"{name}.weight"]
        outputs, inputs, kernel, _ = weights.shape
        side = -(-len(x) // step)
        zeros = max((side - 1) * step + kernel - len(x), 0)
        x = np.pad(x, [(zeros // 2, zeros - zeros // 2)] * 2 + [(0, 0)])
        result = np.zeros((side, side, outputs))
        for dy in range(kernel):
            for dx in range(kernel):
                seen = x[dy : dy + side * step : step, dx : dx + side * step : step][:side, :side]
                tap = weights[:, :, dy, dx]
                result += seen * tap[:, 0] if inputs < x.shape[2] else seen @ tap.T
        scale, shift, mean, variance = (
            tensors[f"{norm}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
        )
        result = (result - mean) / np.sqrt(variance + EPSILON) * scale + shift
        return np.clip(result, 0, 6) if clipped else result

    maps = [convolution((image - 127.0) / 128, "_conv_stem", "_bn0", 2)]
    for i, block in enumerate(BLOCKS):
        name, before = f"_blocks.{i}", maps[-1]
        x = convolution(before, f"{name}._expand_conv", f"{name}._bn0") if i else before
        x = convolution(x, f"{name}._depthwise_conv", f"{name}._bn1", block.step)
        x = convolution(x, f"{name}._project_conv", f"{name}._bn2", clipped=False)
        maps.append(x + before if x.shape == before.shape else x)
    moments = [
        np.stack([maps[depth].mean(axis=(0, 1)), maps[depth].var(axis=(0, 1))]) for depth in DEPTHS
    ]
    return convolution(maps[-1], "_conv_head", "_bn1").mean(axis=(0, 1)), moments


def test_features_are_those_of_exact_arithmetic():
    images = pictures(3)
    found = features(images, WEIGHTS, DEPTHS)
    for row, (last, moments) in enumerate(map(exact, images)):
        assert 0.1 < last.std() < 3
        np.testing.assert_allclose(found.last[row], last, atol=2e-5)
        for one, expected in zip(found.moments, moments, strict=True):
            np.testing.assert_allclose(one[row], expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("side", [6, 10, 24, 46])
def test_sides_that_steps_do_not_divide(side):
    image = pictures(1, side=side)
    found = features(image, NetworkWeights.of(TENSORS, BLOCKS, side))
    np.testing.assert_allclose(found.last[0], exact(image[0])[0], atol=2e-5)


@given(st.integers(1, 6), st.sampled_from([1, 1000, 3000, BUFFER]), st.randoms())
@settings(max_examples=25, deadline=None)
def test_neither_company_nor_order_nor_buffer_changes_a_bit(count, buffer, random):
    images = pictures(count, seed=count)
    order = list(range(count))
    random.shuffle(order)
    found = features(images, WEIGHTS, DEPTHS)
    weights = NetworkWeights.of(TENSORS, BLOCKS, SIDE, buffer=buffer)
    again = features(images[order], weights, DEPTHS)
    assert np.array_equal(again.last, found.last[order])
    for one, expected in zip(again.moments, found.moments, strict=True):
        assert np.array_equal(one, expected[order])
    assert np.array_equal(features(images[-1:], weights).last[0], found.last[-1])


def test_every_byte_of_a_picture_counts():
    image = pictures(1)
    found = features(image, WEIGHTS, (0,)).moments[0]
    for place in [(0, 0, 0), (0, SIDE - 1, 1), (SIDE - 1, 0, 2), (SIDE - 1, SIDE - 1, 0)]:
        other = image.copy()
        other[(0, *place)] ^= 128
        assert not np.array_equal(features(other, WEIGHTS, (0,)).moments[0], found)


def test_a_picture_of_one_colour_has_no_spread_inside():
    image = np.full((1, SIDE, SIDE, 3), 127, np.uint8)
    (moments,) = features(image, WEIGHTS, (0,)).moments
    assert np.abs(moments[0, 1]).max() < 1e-12  # zeros beyond the rim are this grey, too


def test_no_pictures():
    found = features(pictures(0), WEIGHTS, DEPTHS)
    assert found.last.shape == (0, FEATURES)
    assert [one.shape for one in found.moments] == [(0, 2, 32), (0, 2, 24), (0, 2, 8)]


@pytest.mark.parametrize("depths", [(1, 0), (-1,), (7,), (2, 2)])
def test_maps_that_are_not_there_are_refused(depths):
    with pytest.raises(ValueError, match="depths must rise from 0 to 6"):
        features(pictures(1), WEIGHTS, depths)


def test_pictures_of_another_side_are_refused():
    with pytest.raises(ValueError, match="22 positions a side"):
        features(pictures(1, side=24), WEIGHTS)


def test_channels_that_vectors_do_not_fill_are_refused():
    tensors = dict(TENSORS)
    tensors["_blocks.0._project_conv.weight"] = TENSORS["_blocks.0._project_conv.weight"][:12]
    with pytest.raises(ValueError, match="32 and 12"):
        NetworkWeights.of(tensors, BLOCKS, SIDE)


OTHER_SET = """
import sys
import numpy as np
from tests_kernels import DEPTHS, WEIGHTS, features, pictures
found = features(pictures(2), WEIGHTS, DEPTHS)
np.savez(sys.argv[1], found.last, *found.moments)
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
    assert len(results[0]) == 4
