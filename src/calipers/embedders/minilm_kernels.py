"""A BERT encoder in compiled loops, from the tokens of several texts to their mean states.

The texts of a batch stand end to end. Dense layers take all their tokens as one matrix, in blocks
of rows that stay in a core's own cache; attention takes one text after the other, so nothing is
padded. Every number is summed in one order, whatever stands beside it: a text has the same vectors,
bit by bit, in any batch, order and number of threads.

Weights lie in panels, as `numeric/panels.py` multiplies them: 48 outputs side by side, one input
after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats32
from calipers.numeric.panels import PANEL

ROWS = 8  # tokens that are multiplied at a time
BLOCK = 512  # tokens that pass a dense layer together, so that its weights are not read too often
HEAD = 32  # numbers of a head; all weights of this module have this size


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
        """Lay out the weights of the first layers from the names in transformers.

        Raises
        ------
        ValueError
            If the width is not one of whole heads and panels.
        """
        width = tensors["embeddings.LayerNorm.weight"].shape[0]
        if width % HEAD or width % PANEL:
            raise ValueError(f"the encoder's width {width} is not a multiple of {HEAD} and {PANEL}")

        def dense(*parts: str) -> tuple[Floats32, Floats32]:
            names = [[f"encoder.layer.{i}.{part}" for part in parts] for i in range(layers)]
            weights, biases = (
                np.stack(
                    [
                        np.concatenate([tensors[f"{name}.{kind}"] for name in layer])
                        for layer in names
                    ]
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


class EncoderRoom(NamedTuple):
    """Working memory of the encoder for a batch, all float32.

    Attributes
    ----------
    states, projected
        Of all tokens, in whole groups of `ROWS` that are multiplied together, (rows, d) and
        (rows + ROWS, 3d): so many are read behind the last text.
    added, hidden, sums
        Of the tokens that pass the dense layers together, (block, d), (block, h) and (block, 48).
    keys, values, scores, shares
        Of one text in whole panels of keys, (panels, 32, 48), (panels, 48, 48), (panels, 8, 48) and
        (8, panels, 48).
    """

    states: Floats32
    projected: Floats32
    added: Floats32
    hidden: Floats32
    sums: Floats32
    keys: Floats32
    values: Floats32
    scores: Floats32
    shares: Floats32

    @classmethod
    def of(cls, weights: EncoderWeights, tokens: int, longest: int) -> EncoderRoom:
        """Allocate memory for a number of tokens, and for the longest text."""
        width, hidden = weights.words.shape[1], weights.widen_bias.shape[1]
        rows = -(-tokens // ROWS) * ROWS
        block, panels = min(rows, BLOCK), -(-longest // PANEL)
        shapes = {
            "states": (rows, width),
            "projected": (rows + ROWS, 3 * width),
            "added": (block, width),
            "hidden": (block, hidden),
            "sums": (block, PANEL),
            "keys": (panels, HEAD, PANEL),
            "values": (panels, PANEL, PANEL),
            "scores": (panels, ROWS, PANEL),
            "shares": (ROWS, panels, PANEL),
        }
        return cls(**{name: np.empty(shape, np.float32) for name, shape in shapes.items()})


native.record(
    "encoder_weights",
    "words f4[vocabulary, d]",
    "positions f4[places, d]",
    "norm f4[2, d]",
    "project f4[layers, project_panels, d, 48]",
    "merge f4[layers, merge_panels, d, 48]",
    "widen f4[layers, widen_panels, d, 48]",
    "narrow f4[layers, merge_panels, h, 48]",
    "project_bias f4[layers, width]",
    "merge_bias f4[layers, d]",
    "widen_bias f4[layers, h]",
    "narrow_bias f4[layers, d]",
    "norms f4[layers, 2, 2, d]",
)
native.record(
    "encoder_room",
    "states f4[rows, d] out",
    "projected f4[projected_rows, width] out",
    "added f4[block, d] out",
    "hidden f4[block, h] out",
    "sums f4[block, 48] out",
    "keys f4[panels, 32, 48] out",
    "values f4[panels, 48, 48] out",
    "scores f4[panels, 8, 48] out",
    "shares f4[8, panels, 48] out",
)
_mean_states = native.kernel(
    "minilm_mean_states",
    "tokens i4[count]",
    "starts i8[ends]",
    "weights encoder_weights",
    "depths i8[views]",
    "room encoder_room",
    "means f4[views, texts, d] out",
)
_functions = native.kernel(
    "minilm_functions", "x f4[n]", "exponentials f4[n] out", "gelus f4[n] out"
)


def put_mean_states(
    tokens: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: EncoderWeights,
    depths: NDArray[np.int64],
    means: Floats32,
) -> None:
    """Compute the mean over the tokens of each text of the states after some layers.

    Parameters
    ----------
    tokens
        Ids of all texts end to end, int32 of shape (T,).
    starts
        Where each text begins, and the end of the last, int64 of shape (texts + 1,); every text
        has a token.
    weights
        Those of all layers.
    depths
        The layers whose states are wanted, from 1 to L, int64 of shape (views,).
    means
        Takes the means, float32 of shape (views, texts, d).

    Raises
    ------
    ValueError
        If a token has no embedding, a text is empty or longer than there are places, the texts
        are not all of the tokens, or the means are for others.
    """
    lengths = np.diff(starts)
    ends = starts[:1].tolist(), starts[-1:].tolist()
    if ends != ([0], [len(tokens)]) or means.shape[1:] != (len(lengths), weights.words.shape[1]):
        raise ValueError("the texts are not all of the tokens, or means are of another shape")
    if not len(lengths):
        return
    if lengths.min() < 1 or lengths.max() > len(weights.positions):
        raise ValueError(f"a text has no token, or more than {len(weights.positions)}")
    if tokens.min() < 0 or tokens.max() >= len(weights.words):
        raise ValueError(f"a token is not one of {len(weights.words)}")
    room = EncoderRoom.of(weights, len(tokens), int(lengths.max()))
    _mean_states(tokens, starts, weights, depths, room, means)


def exponential_and_gelu(x: Floats32) -> tuple[Floats32, Floats32]:
    """Apply the encoder's exponential (for values up to 0) and its GELU elementwise."""
    exponentials, gelus = np.empty_like(x), np.empty_like(x)
    _functions(x, exponentials, gelus)
    return exponentials, gelus
