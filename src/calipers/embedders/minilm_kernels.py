"""A BERT encoder in compiled loops: tokens of several texts to the mean states of each text.

The texts of a batch stand end to end. Dense layers take all their tokens as one matrix, in blocks
of rows that stay in a core's own cache; attention takes one text after the other, so nothing is
padded. Every number is summed in one order, whatever stands beside it: a text has the same vectors,
bit by bit, in any batch, order and number of threads.

Weights lie in panels, as `numeric/simd.py` multiplies them: 48 outputs side by side, one input
after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from calipers.numeric.arrays import Floats32
from calipers.numeric.compile import fused, kernel, summation
from calipers.numeric.simd import HEIGHT, PANEL, WIDTH, address, multiply_rows

ROWS = 8  # tokens that are multiplied at a time: a multiple of every patch's height
BLOCK = 512  # tokens that pass a dense layer together, so that its weights are not read too often
DEPTH = 128  # inputs of a dense layer that are multiplied at a time
HEAD = 32  # numbers of a head; all weights of this module have this size
EPSILON = 1e-12


class EncoderWeights(NamedTuple):
    """The weights of an encoder with L layers of width d, hidden width h, all float32.

    Attributes
    ----------
    words, positions
        Embeddings, (vocabulary, d) and (places, d); the first token type is part of the positions.
    norm
        Scale and shift behind the embeddings, (2, d).
    project, merge, widen, narrow
        Dense layers in panels, (L, outputs / 48, inputs, 48): d to 3d (query, key, value),
        d to d, d to h, h to d.
    project_bias, merge_bias, widen_bias, narrow_bias
        Their biases, (L, outputs).
    norms
        Scale and shift behind attention and at the end of each layer, (L, 2, 2, d).
    """

    words: Floats32
    positions: Floats32
    norm: Floats32
    project: Floats32
    merge: Floats32
    widen: Floats32
    narrow: Floats32
    project_bias: Floats32
    merge_bias: Floats32
    widen_bias: Floats32
    narrow_bias: Floats32
    norms: Floats32

    @classmethod
    def of(cls, tensors: Mapping[str, Floats32], layers: int) -> EncoderWeights:
        """Lay out the weights of the first layers, named as transformers names them."""

        def dense(*parts: str) -> tuple[Floats32, Floats32]:
            names = [[f"encoder.layer.{i}.{part}" for part in parts] for i in range(layers)]
            weights, biases = (
                np.stack(
                    [np.concatenate([tensors[f"{name}.{kind}"] for name in own]) for own in names]
                )
                for kind in ("weight", "bias")
            )
            return _in_panels(weights), biases

        def norm(name: str) -> Floats32:
            return np.stack([tensors[f"{name}.LayerNorm.{kind}"] for kind in ("weight", "bias")])

        project = dense(*(f"attention.self.{part}" for part in ("query", "key", "value")))
        merge = dense("attention.output.dense")
        widen, narrow = dense("intermediate.dense"), dense("output.dense")
        norms = [
            [norm(f"encoder.layer.{i}.{part}") for part in ("attention.output", "output")]
            for i in range(layers)
        ]
        return cls(
            words=tensors["embeddings.word_embeddings.weight"],
            positions=tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0],
            norm=norm("embeddings"),
            project=project[0],
            merge=merge[0],
            widen=widen[0],
            narrow=narrow[0],
            project_bias=project[1],
            merge_bias=merge[1],
            widen_bias=widen[1],
            narrow_bias=narrow[1],
            norms=np.array(norms),
        )


def _in_panels(weights: Floats32) -> Floats32:
    """(L, outputs, inputs) to (L, outputs / 48, inputs, 48)."""
    layers, outputs, inputs = weights.shape
    panels = weights.reshape(layers, outputs // PANEL, PANEL, inputs)
    return np.ascontiguousarray(panels.swapaxes(2, 3))


@kernel
def put_mean_states(tokens: Any, starts: Any, weights: Any, depths: Any, means: Any) -> None:
    """Mean over the tokens of each text of the states after some layers.

    Parameters
    ----------
    tokens
        Ids of all texts end to end, integers of shape (T,).
    starts
        Where each text begins, and the end of the last, integers of shape (texts + 1,); every
        text has a token.
    weights
        Those of all layers.
    depths
        The layers whose states are wanted, from 1 to L, integers of shape (views,).
    means
        Takes the means, float32 of shape (views, texts, d).
    """
    width = weights.words.shape[1]
    room = (tokens.shape[0] + ROWS - 1) // ROWS * ROWS
    states = np.zeros((room, width), np.float32)
    projected = np.zeros((room + ROWS, 3 * width), np.float32)  # so many are read behind a text
    added = np.empty((BLOCK, width), np.float32)
    hidden = np.empty((BLOCK, weights.widen_bias.shape[1]), np.float32)
    _look_up(tokens, starts, weights, states)
    for i in range(weights.project.shape[0]):
        for row in range(0, room, BLOCK):
            end = min(room, row + BLOCK)
            _dense(
                states[row:end],
                weights.project[i],
                weights.project_bias[i],
                False,
                projected[row:end],
            )
        _attend(projected, starts)
        for row in range(0, room, BLOCK):
            end = min(room, row + BLOCK)
            own, new, wide = states[row:end], added[: end - row], hidden[: end - row]
            _dense(projected[row:end], weights.merge[i], weights.merge_bias[i], False, new)
            _add_norm(own, new, weights.norms[i, 0])
            _dense(own, weights.widen[i], weights.widen_bias[i], True, wide)
            _dense(wide, weights.narrow[i], weights.narrow_bias[i], False, new)
            _add_norm(own, new, weights.norms[i, 1])
        for view in range(depths.shape[0]):
            if depths[view] == i + 1:
                _pool(states, starts, means[view])


@kernel
def _look_up(tokens: Any, starts: Any, weights: Any, states: Any) -> None:
    for text in range(starts.shape[0] - 1):
        for row in range(starts[text], starts[text + 1]):
            token, place = tokens[row], row - starts[text]
            for c in range(states.shape[1]):
                states[row, c] = weights.words[token, c] + weights.positions[place, c]
    _norm(states, weights.norm)


@kernel
def _multiply(left: Any, stride: int, right: Any, depth: int, sums: Any) -> None:
    """Add to (8, 48) sums the products of 8 rows with a panel; all but sizes are addresses."""
    for r in range(0, ROWS, HEIGHT):
        for c in range(0, PANEL, WIDTH):
            multiply_rows(
                left + np.uintp(4 * stride * r),
                stride,
                right + np.uintp(4 * c),
                depth,
                sums + np.uintp(4 * (r * PANEL + c)),
            )


@fused
def _exp(x: Any) -> Any:
    """The exponential of what is not positive; below -87 that of -87."""
    x = max(x, np.float32(-87.0))
    # Adding and taking away 1.5 * 2^23 rounds to a whole number
    n = (x * np.float32(1.44269504) + np.float32(12582912.0)) - np.float32(12582912.0)
    f = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    p = (p * f) * f + f + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@fused
def _gelu(x: Any) -> Any:
    """x times the normal distribution function, whose tail is the density times a ratio."""
    t = abs(x)
    p = np.float32(0.0119592955)
    p = p * t + np.float32(0.0965733476)
    p = p * t + np.float32(0.319161429)
    p = p * t + np.float32(0.499999959)
    q = np.float32(0.0300144101)
    q = q * t + np.float32(0.241217857)
    q = q * t + np.float32(0.839087547)
    q = q * t + np.float32(1.4362055)
    q = q * t + np.float32(1.0)
    tail = np.divide(_exp(np.float32(-0.5) * (t * t)) * p, q)
    return max(x, np.float32(0.0)) - t * tail


@kernel
def _dense(rows: Any, panels: Any, bias: Any, gelu: bool, found: Any) -> None:
    """Rows, of which the first numbers are read, times the weights in panels, plus the bias."""
    depth, stride = panels.shape[1], rows.shape[1]
    sums = np.empty((BLOCK, PANEL), np.float32)
    for panel in range(panels.shape[0]):
        column = panel * PANEL
        for row in range(rows.shape[0]):
            for c in range(PANEL):
                sums[row, c] = bias[column + c]
        for step in range(0, depth, DEPTH):
            right = address(panels) + np.uintp(4 * (panel * depth + step) * PANEL)
            for row in range(0, rows.shape[0], ROWS):
                _multiply(
                    address(rows) + np.uintp(4 * (row * stride + step)),
                    stride,
                    right,
                    min(DEPTH, depth - step),
                    address(sums) + np.uintp(4 * row * PANEL),
                )
        for row in range(rows.shape[0]):
            if gelu:
                for c in range(PANEL):
                    found[row, column + c] = _gelu(sums[row, c])
            else:
                for c in range(PANEL):
                    found[row, column + c] = sums[row, c]


@kernel
def _attend(projected: Any, starts: Any) -> None:
    """Let the tokens of each text look at each other; what they see replaces their queries."""
    longest = 0
    for text in range(starts.shape[0] - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    most = (longest + PANEL - 1) // PANEL
    keys = np.zeros((most, HEAD, PANEL), np.float32)
    values = np.zeros((most * PANEL, PANEL), np.float32)
    for row in range(values.shape[0]):
        values[row, HEAD] = 1  # so that the sum of the weights stands behind what they weigh
    scores = np.empty((most, ROWS, PANEL), np.float32)
    shares = np.empty((ROWS, most * PANEL), np.float32)
    seen = np.empty((ROWS, PANEL), np.float32)
    for text in range(starts.shape[0] - 1):
        start, length = starts[text], starts[text + 1] - starts[text]
        panels = (length + PANEL - 1) // PANEL
        for head in range(0, projected.shape[1] // 3, HEAD):
            _lay_out(projected, start, length, head, keys, values)
            for row in range(0, length, ROWS):
                query = address(projected) + np.uintp(
                    4 * ((start + row) * projected.shape[1] + head)
                )
                for panel in range(panels):
                    for r in range(ROWS):
                        for c in range(PANEL):
                            hidden = panel * PANEL + c >= length
                            scores[panel, r, c] = -np.inf if hidden else 0.0
                    _multiply(
                        query,
                        projected.shape[1],
                        address(keys) + np.uintp(4 * panel * HEAD * PANEL),
                        keys.shape[1],
                        address(scores) + np.uintp(4 * panel * ROWS * PANEL),
                    )
                _weigh(scores, panels, shares)
                for r in range(ROWS):
                    for c in range(PANEL):
                        seen[r, c] = 0
                _multiply(address(shares), shares.shape[1], address(values), length, address(seen))
                for r in range(min(ROWS, length - row)):
                    scale = np.divide(np.float32(1.0), seen[r, HEAD])
                    for c in range(HEAD):
                        projected[start + row + r, head + c] = seen[r, c] * scale


@kernel
def _lay_out(projected: Any, start: int, length: int, head: int, keys: Any, values: Any) -> None:
    """Lay out the keys and values of one head; what only fills a panel stays as it is."""
    width = projected.shape[1] // 3
    for row in range(length):
        panel, place = row // PANEL, row % PANEL
        for c in range(HEAD):
            keys[panel, c, place] = projected[start + row, width + head + c]
        for c in range(HEAD):
            values[row, c] = projected[start + row, 2 * width + head + c]


@kernel
def _weigh(scores: Any, panels: int, shares: Any) -> None:
    """Scores to the weights of a softmax, which need not add up to 1, row by row."""
    scale = np.float32(1 / np.sqrt(HEAD))
    top = np.empty(PANEL, np.float32)
    for r in range(ROWS):
        for c in range(PANEL):
            top[c] = scores[0, r, c]
        for panel in range(1, panels):
            for c in range(PANEL):
                top[c] = max(top[c], scores[panel, r, c])
        for half in (24, 12, 6, 3):
            for c in range(half):
                top[c] = max(top[c], top[half + c])
        highest = max(top[0], top[1], top[2])
        for panel in range(panels):
            for c in range(PANEL):
                lower = (scores[panel, r, c] - highest) * scale
                shares[r, panel * PANEL + c] = _exp(lower)


@summation
def _norm(states: Any, norm: Any) -> None:
    """Give each row the mean 0 and the variance 1, then scale and shift it, in place."""
    width = states.shape[1]
    for row in range(states.shape[0]):
        total = 0.0
        for c in range(width):
            total += states[row, c]
        mean = total / width
        total = 0.0
        for c in range(width):
            total += (states[row, c] - mean) ** 2
        scale = 1 / np.sqrt(total / width + EPSILON)
        for c in range(width):
            unit = np.float32((states[row, c] - mean) * scale)
            states[row, c] = unit * norm[0, c] + norm[1, c]


@kernel
def _add_norm(states: Any, added: Any, norm: Any) -> None:
    for row in range(states.shape[0]):
        for c in range(states.shape[1]):
            states[row, c] += added[row, c]
    _norm(states, norm)


@kernel
def _pool(states: Any, starts: Any, pooled: Any) -> None:
    total = np.empty(states.shape[1], np.float64)
    for text in range(starts.shape[0] - 1):
        for c in range(states.shape[1]):
            total[c] = 0
        for row in range(starts[text], starts[text + 1]):
            for c in range(states.shape[1]):
                total[c] += states[row, c]
        for c in range(states.shape[1]):
            pooled[text, c] = total[c] / (starts[text + 1] - starts[text])
