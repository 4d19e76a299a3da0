"""Principal axes, moments, and kernel sums over all pairs on a GPU through torch.

All of it is in float64: products of float32 rows would do for axes, but sums of kernels and the
Fréchet distance need the digits, and GPUs made for computing multiply float64 as fast as float32
without TF32. On others, which are many times slower at it, the passes over all pairs in float32 are
still most of the work. Rows go to the device block by block as they were given, and are taken about
their centre there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.engine.device import Device, exact_products, tiles_of
from calipers.estimate.measures import NEAR, CentredRows, Cubic, Euclidean, Gaussian, Measure
from calipers.estimate.pairwise import sum_of_tiles
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points
from calipers.numeric.scratch import scratch
from calipers.numeric.tiles import Span, panel_spans, spans, triangle

MOST_ROWS = 8_192
"""Rows of a tile, at most: 8,192 x 8,192 values take half a gigabyte."""

BYTES_OF_A_PAIR = 40
"""What a tile takes on the device for each of its pairs: values, lengths, what is near."""

MOST_BLOCK = 65_536
"""Rows of a block, at most."""

FEWEST = 10**9
"""Multiplications below which the processor is done before the rows would be on the device."""

NEAR_PAIRS = 2**22
"""Numbers of rows whose differences are taken at once."""

PURPOSE = "products on a GPU"


@dataclass(frozen=True)
class TorchProducts:
    """Sums of products on a torch device.

    Attributes
    ----------
    device
        Such as ``"cuda"`` or ``"cuda:1"``; ``"cpu"`` runs the same code on the processor.
    block
        Rows of a tile and of a block; None for what fits into the free memory of the device.
    fewest
        Multiplications from which on it is worth while.
    """

    device: str = "cuda"
    block: int | None = None
    fewest: int = FEWEST

    def scatter(self, points: Points, centre: Floats) -> Floats:
        """Sum the outer products of all rows about a centre, in float64."""
        n, d = points.shape
        with exact_products(self.device, PURPOSE) as device:
            middle = _there(device, centre)
            total = device.torch.zeros((d, d), dtype=device.torch.float64, device=device.name)

            def look(span: Span) -> None:
                rows = _there(device, points[slice(*span)]).double() - middle
                part = rows.T @ rows
                total.add_(part)

            size = self.block or device.block_rows(8 * 4 * d, MOST_BLOCK)
            device.each_block(spans(n, size), look)
            matrix: Floats = total.cpu().numpy()
        return matrix

    def coordinates(self, points: Points, centre: Floats, axes: Floats) -> NDArray[np.float32]:
        """Compute coordinates of rows along axes about a centre, rounded to float32."""
        n, d = points.shape
        out: NDArray[np.float32] = scratch((n, axes.shape[1]), np.float32)
        with exact_products(self.device, PURPOSE) as device:
            middle, along = _there(device, centre), _there(device, axes)

            def look(span: Span) -> None:
                rows = _there(device, points[slice(*span)]).double() - middle
                out[slice(*span)] = (rows @ along).float().cpu().numpy()

            size = self.block or device.block_rows(8 * (3 * d + 2 * len(axes)), MOST_BLOCK)
            device.each_block(spans(n, size), look)
        return out

    def measures(self, measure: Measure) -> bool:
        """Whether it can sum a measure."""
        return isinstance(measure, Gaussian | Cubic | Euclidean)

    def total(self, left: CentredRows, right: CentredRows | None, measure: Measure) -> float:
        """Sum a measure over all pairs; of one set over the ordered pairs of different rows."""
        parts: list[float] = []
        with exact_products(self.device, PURPOSE) as device:
            values = _Values(device, left, right, measure)

            def look(one: Span, other: Span) -> None:
                if right is None and _mirrored(one, other):
                    return
                twice = right is None and one[1] <= other[0]
                parts.append(float(values(one, other).sum()) * (2 if twice else 1))

            device.each_tile(self._tiles(device, left, right), look)
        return sum_of_tiles(parts)

    def power_sums(
        self,
        rows: CentredRows,
        measure: Measure,
        labels: NDArray[np.int64],
        count: int,
        powers: Sequence[int],
    ) -> Floats:
        """Sum powers of a measure over the ordered pairs of different rows of every two groups."""
        total = np.zeros((len(powers), count, count))
        with exact_products(self.device, PURPOSE) as device:
            values = _Values(device, rows, None, measure)

            def look(one: Span, other: Span) -> None:
                if _mirrored(one, other):
                    return
                above, members = _members(device, labels[slice(*one)])
                beside, others = _members(device, labels[slice(*other)])
                found = values(one, other)
                for sums, power in zip(total, powers, strict=True):
                    part = (members.T @ found**power @ others).cpu().numpy()
                    sums[np.ix_(above, beside)] += part
                    if one[1] <= other[0]:
                        sums[np.ix_(beside, above)] += part.T

            device.each_tile(self._tiles(device, rows, None), look)
        return (total + total.swapaxes(1, 2)) / 2  # but for rounding they are alike

    def _tiles(
        self, device: Device, left: CentredRows, right: CentredRows | None
    ) -> list[tuple[Span, Span]]:
        size = self.block or device.tile_rows(BYTES_OF_A_PAIR, MOST_ROWS)
        n = len(left.squares)
        if right is None:
            return triangle(panel_spans(n, size))
        return tiles_of(n, len(right.squares), size)


def _there(device: Device, values: NDArray[Any]) -> Any:
    # A copy, since torch warns of arrays that may not be written to
    return device.torch.from_numpy(np.array(values, order="C")).to(device.name)


def _mirrored(one: Span, other: Span) -> bool:
    """Whether a tile of a set with itself lies below the diagonal: another stands for it."""
    return one[0] >= other[1]


def _members(device: Device, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], Any]:
    """The groups among consecutive rows, and which rows are theirs, shape ``(rows, groups)``."""
    groups, place = np.unique(labels, return_inverse=True)
    torch = device.torch
    members = torch.nn.functional.one_hot(_there(device, place.ravel()), len(groups))
    return groups, members.double()


class _Side:
    """The rows of a set on the device: all as they were given, or those of a tile at a time."""

    def __init__(self, device: Device, rows: CentredRows) -> None:
        self._device, self._rows = device, rows
        self._centre = _there(device, rows.centre)
        self.squares = _there(device, rows.squares)
        n, d = rows.given.shape
        self._all: Any = None
        if device.holds(rows.given.nbytes):
            kind = _there(device, rows.given[:0]).dtype
            self._all = device.torch.empty((n, d), dtype=kind, device=device.name)
            for start, stop in spans(n, MOST_BLOCK):
                self._all[start:stop] = _there(device, rows.given[start:stop])

    def given(self, span: Span) -> Any:
        """Some of the rows as they were given."""
        if self._all is not None:
            return self._all[slice(*span)]
        return _there(self._device, self._rows.given[slice(*span)])

    def centred(self, given: Any) -> Any:
        """Given rows less the centre, in float64."""
        return given.double() - self._centre


class _Values:
    """Values of a measure for the pairs of a tile, in float64; 0 where a row meets itself."""

    def __init__(
        self, device: Device, left: CentredRows, right: CentredRows | None, measure: Measure
    ) -> None:
        self._torch, self._same = device.torch, right is None
        self._left = _Side(device, left)
        self._right = self._left if right is None else _Side(device, right)
        self._of = self._function(measure)

    def __call__(self, one: Span, other: Span) -> Any:
        """Values of all pairs of two spans."""
        values = self._of(one, other)
        first, last = max(one[0], other[0]), min(one[1], other[1])
        if self._same and first < last:
            same = self._torch.arange(first, last, device=values.device)
            values[same - one[0], same - other[0]] = 0.0
        return values

    def _function(self, measure: Measure) -> Callable[[Span, Span], Any]:
        if isinstance(measure, Gaussian):
            width = measure.width

            def gaussian(one: Span, other: Span) -> Any:
                return self._squared(one, other).div_(width).div_(-2 * width).exp_()

            return gaussian
        if isinstance(measure, Cubic):
            d = measure.d

            def cubic(one: Span, other: Span) -> Any:
                values = self._product(self._left.given(one), self._right.given(other))
                values.div_(d).add_(1)
                return values * values * values

            return cubic
        return lambda one, other: self._squared(one, other).sqrt_()

    def _product(self, one: Any, other: Any) -> Any:
        return self._left.centred(one) @ self._right.centred(other).T

    def _squared(self, one: Span, other: Span) -> Any:
        """Squared distances; those that lose digits are summed up from the differences of rows."""
        x, y = self._left.given(one), self._right.given(other)
        values = self._product(x, y).mul_(-2)
        lengths = self._left.squares[slice(*one), None] + self._right.squares[None, slice(*other)]
        values.add_(lengths)
        rows, columns = self._torch.nonzero(values < lengths.mul_(NEAR), as_tuple=True)
        step = max(1, NEAR_PAIRS // x.shape[1])
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], columns[start : start + step]
            values[i, j] = (x[i].double() - y[j].double()).square_().sum(dim=1)
        return values
