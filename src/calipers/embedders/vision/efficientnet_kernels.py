"""A convolutional network of inverted bottlenecks in compiled loops, from pictures to features.

The network is EfficientNet-Lite (Tan and Le, 2019, without what is slow on small devices): a first
convolution of 3 × 3, blocks that widen each position of a map to many channels, filter each channel
by itself and narrow the result (Sandler et al., 2018), a last widening, and the mean over the
positions. Behind all but the narrowing stands ``min(max(0, ·), 6)``. The scale and shift of a norm,
which training fixed, are multiplied into the weights before it, in float64.

Some rows of a wide map pass through a block at a time, so that memory does not grow with the number
of pictures. Every number is summed in one order, whatever stands beside it: a picture has the same
features, bit by bit, in any batch, order and number of threads.

Weights of products lie in panels, as `numeric/panels.py` multiplies them: 48 outputs side by side,
one input after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats, Floats32
from calipers.numeric.panels import PANEL

EPSILON = 1e-3
"""Is added to the variance of every norm."""
LANES = 16
"""Channels of wide maps are multiples of this, and rows of narrow maps are filled up to it."""
BUFFER = 2**15
"""Numbers of a wide map that are computed at a time, where one row does not need more."""
FIRST = 27
"""Numbers that the first convolution looks at: 3 × 3 positions in three colours."""


class Block(NamedTuple):
    """A block of the network.

    Attributes
    ----------
    kernel
        Side of its filters, 3 or 5.
    step
        Positions between those that its filters are put on, 1 or 2.
    """

    kernel: int
    step: int


class NetworkWeights(NamedTuple):
    """The weights of a network.

    Attributes
    ----------
    numbers
        Those of all blocks end to end, float32 of shape (size,).
    blocks
        The shape of each, and where its weights stand, int64 of shape (layers, 18): the fields of
        ``block_shape`` in ``native/efficientnet.c``.
    head, head_bias
        The last widening in panels, float32 of shape (panels, last, 48), and its bias, (features,).
    side
        Side of the pictures.
    channels
        Channels of the map of the first convolution, and of that behind each block.
    """

    numbers: Floats32
    blocks: NDArray[np.int64]
    head: Floats32
    head_bias: Floats32
    side: int
    channels: tuple[int, ...]

    @classmethod
    def of(
        cls,
        tensors: Mapping[str, Floats32],
        blocks: Sequence[Block],
        side: int,
        *,
        buffer: int = BUFFER,
    ) -> NetworkWeights:
        """Lay out the weights by their names in efficientnet_lite_pytorch.

        Parameters
        ----------
        tensors
            Name to weights.
        blocks
            All blocks, in order.
        side
            Side of the pictures, an even number.
        buffer
            Numbers of a wide map that are computed at a time; changes no bit.

        Raises
        ------
        ValueError
            If a number of channels is not a multiple of 16 in a wide map or of 8 in a narrow one.
        """
        parts: list[Floats32] = []
        size = 0

        def place(part: Floats32) -> int:
            nonlocal size
            parts.append(part.ravel())
            size += part.size
            return size - part.size

        def product(name: str, norm: str) -> tuple[int, int]:
            weights, bias = _folded(tensors, name, norm)
            flat = weights.transpose(0, 2, 3, 1).reshape(len(weights), -1)
            return place(_in_panels(flat)), place(_filled(bias))

        table = []
        side = (side + 1) // 2
        channels = [len(tensors["_conv_stem.weight"])]
        for layer, block in enumerate(blocks):
            name = f"_blocks.{layer}"
            if layer:
                inside = tensors[f"{name}._expand_conv.weight"].shape[1]
                widen = product(f"{name}._expand_conv", f"{name}._bn0")
            else:
                inside, widen = FIRST, product("_conv_stem", "_bn0")
            filters, filter_bias = _folded(tensors, f"{name}._depthwise_conv", f"{name}._bn1")
            wide = len(filters)
            out = len(tensors[f"{name}._project_conv.weight"])
            if wide % LANES or out % 8:
                raise ValueError(f"a block's channels, {wide} and {out}, are not whole lanes")
            by_place = filters.reshape(wide, block.kernel**2).T
            narrow = product(f"{name}._project_conv", f"{name}._bn2")
            out_side = -(-side // block.step)
            filled = max((out_side - 1) * block.step + block.kernel, side)
            rows = max(buffer // (filled * wide) // block.step, 1)
            table.append(
                [
                    *(block.kernel, block.step, side, out_side, (filled - side) // 2, filled),
                    *(min(rows, out_side), inside, _stride(inside), wide, out, _stride(out)),
                    *(*widen, place(np.ascontiguousarray(by_place)), place(filter_bias), *narrow),
                ]
            )
            side = out_side
            channels.append(out)
        head, bias = _folded(tensors, "_conv_head", "_bn1")
        return cls(
            numbers=np.concatenate(parts),
            blocks=np.array(table, np.int64),
            head=_in_panels(head.reshape(len(head), -1)),
            head_bias=bias,
            side=2 * int(table[0][2]),
            channels=tuple(channels),
        )


def _folded(tensors: Mapping[str, Floats32], name: str, norm: str) -> tuple[Floats32, Floats32]:
    """Weights with the norm behind them multiplied in, and the bias that it leaves."""
    scale, shift, mean, variance = (
        tensors[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + EPSILON)
    weights = tensors[f"{name}.weight"] * factor[:, None, None, None]
    return weights.astype(np.float32), (shift - mean * factor).astype(np.float32)


def _stride(channels: int) -> int:
    return -(-channels // LANES) * LANES


def _filled(bias: Floats32) -> Floats32:
    """Filled up with zeros to whole panels."""
    return np.pad(bias, (0, -len(bias) % PANEL))


def _in_panels(weights: Floats32) -> Floats32:
    """(outputs, inputs) to (outputs / 48, inputs, 48); the last panel is filled up with zeros."""
    outputs, inputs = weights.shape
    filled = np.pad(weights, ((0, -outputs % PANEL), (0, 0)))
    return np.ascontiguousarray(filled.reshape(-1, PANEL, inputs).swapaxes(1, 2))


class NetworkRoom(NamedTuple):
    """Working memory for one picture, all float32.

    Attributes
    ----------
    states, results
        A narrow map and the next one, (map,).
    buffer
        Rows of a wide map with the zeros around them, or the map of features, (buffered,).
    filtered
        What filters make of them, (narrowed,).
    windows
        What the first convolution looks at in one row, (positions, 27).
    """

    states: Floats32
    results: Floats32
    buffer: Floats32
    filtered: Floats32
    windows: Floats32

    @classmethod
    def of(cls, weights: NetworkWeights) -> NetworkRoom:
        """Allocate the memory."""
        kernel, step, side, out_side, _, filled, rows, _, _, wide, _, stride = weights.blocks.T[:12]
        buffered = ((rows - 1) * step + kernel) * filled * wide
        features = int(out_side[-1]) ** 2 * len(weights.head_bias)
        return cls(
            states=np.empty(int((out_side**2 * stride).max()), np.float32),
            results=np.empty(int((out_side**2 * stride).max()), np.float32),
            buffer=np.empty(max(int(buffered.max()), features), np.float32),
            filtered=np.empty(int((rows * out_side * wide).max()), np.float32),
            windows=np.empty((int(side[0]), FIRST), np.float32),
        )


native.record(
    "network_weights",
    "numbers f4[size]",
    "blocks i8[layers, fields]",
    "head f4[head_panels, last, 48]",
    "head_bias f4[features]",
)
native.record(
    "network_room",
    "states f4[map] out",
    "results f4[map] out",
    "buffer f4[buffered] out",
    "filtered f4[narrowed] out",
    "windows f4[positions, 27] out",
)
_features = native.kernel(
    "efficientnet_features",
    "images u1[count, side, side, 3]",
    "weights network_weights",
    "depths i8[views]",
    "room network_room",
    "features f4[count, width] out",
    "moments f8[count, moments_width] out",
)


class Features(NamedTuple):
    """The features of some pictures.

    Attributes
    ----------
    last
        Mean over the positions of the last map, float32 of shape (n, features).
    moments
        For each map that was asked for, the mean of each of its c channels over the positions and
        its variance, float64 of shape (n, 2, c).
    """

    last: Floats32
    moments: tuple[Floats, ...]


def features(
    images: NDArray[np.uint8], weights: NetworkWeights, depths: Sequence[int] = ()
) -> Features:
    """Compute the features of pictures on this thread.

    Parameters
    ----------
    images
        Red, green and blue of each position, uint8 of shape (n, side, side, 3).
    weights
        Those of the network.
    depths
        Maps whose means and variances are wanted, from the first to the last: 0 is what the first
        convolution gives, behind ``min(max(0, ·), 6)``, and i what the i-th block gives.

    Raises
    ------
    ValueError
        If there is no such map, the maps are not in their order, or pictures have another side.
    """
    if list(depths) != sorted({depth for depth in depths if 0 <= depth <= len(weights.blocks)}):
        raise ValueError(f"depths must rise from 0 to {len(weights.blocks)}; found {list(depths)}")
    if images.shape[1:] != (weights.side, weights.side, 3):
        raise ValueError(f"pictures must be of {weights.side} positions a side: {images.shape}")
    sizes = [2 * weights.channels[depth] for depth in depths]
    last = np.empty((len(images), len(weights.head_bias)), np.float32)
    moments = np.empty((len(images), sum(sizes)))
    wanted = np.array(depths, np.int64)
    _features(images, weights, wanted, NetworkRoom.of(weights), last, moments)
    split = np.split(moments, np.cumsum(sizes)[:-1], axis=1) if sizes else []
    pairs = [part.reshape(len(images), 2, part.shape[1] // 2) for part in split]
    return Features(last, tuple(pairs))
