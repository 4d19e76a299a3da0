"""Both passes over all pairs on a GPU through torch, with the same counts as on the processor.

The device multiplies float32 rows tile by tile and keeps what its bounds cannot rule out: for every
row a few candidates for its nearest rows, and the pairs that may lie in each other's balls. These
are settled in float64 on the processor, by the same loops as everywhere, so no count depends on the
device. The bounds hold for float32 sums in any order; TF32, which is coarser, is switched off while
a pass runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.engine.device import Device, exact_products, tiles_of
from calipers.estimate.knn.ball_counts import BallCounts
from calipers.estimate.knn.balls import BallSide
from calipers.estimate.knn.kernels import CLOSE, TINY, count_listed, enter_close
from calipers.estimate.knn.nearest import MORE, Candidates, Nearest, settle
from calipers.estimate.knn.passes import Passes, SettledCounts, empty_counts, settled_counts
from calipers.numeric.distances import Sieve, slack
from calipers.numeric.panels import PANEL
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, panel_spans

MOST_ROWS = 16_384
"""Rows of a tile, at most: 16,384 x 16,384 products take a gigabyte."""

BYTES_OF_A_PAIR = 48
"""What a tile takes on the device for each of its pairs: products, bounds, masks, depths."""

PURPOSE = "the search for neighbours on a GPU"


@dataclass(frozen=True)
class TorchPasses(Passes):
    """Both passes on a torch device.

    Attributes
    ----------
    device
        Such as ``"cuda"`` or ``"cuda:1"``; ``"cpu"`` runs the same code on the processor.
    threads
        For what is settled on the processor; None for one each core.
    block
        Rows of a tile; None for what fits into the free memory of the device. Changes no count.
    """

    device: str = "cuda"
    threads: int | None = None
    block: int | None = None

    def nearest(self, points: Sieve, k: int) -> Nearest:
        """Find the k nearest neighbours of every row within its own set."""
        n = len(points.points)
        candidates = Candidates.empty(n, k)
        with exact_products(self.device, PURPOSE) as device:
            torch, rows = device.torch, _DeviceRows(device, points)

            def look(span: Span, other: Span) -> None:
                bounds = rows.bounds(span, rows, other)
                first, last = max(span[0], other[0]), min(span[1], other[1])
                if first < last:  # no row is its own neighbour
                    same = torch.arange(first, last, device=self.device)
                    bounds[same - span[0], same - other[0]] = torch.inf
                candidates.merge(span, _smallest(torch, bounds, k + MORE, other[0]))

            device.each_tile(tiles_of(n, n, self._size(device)), look)
        with workers(self.threads) as pool:
            return settle(candidates, points, points, k, pool, same_set=True)

    def count(
        self, reference: BallSide, generated: BallSide, *, closed: bool, neighbours: tuple[int, int]
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process every pair of two sets once."""
        sides, total = (reference, generated), empty_counts(reference, generated, neighbours)
        with exact_products(self.device, PURPOSE) as device:
            tile = _CountedTile(device, sides, total, closed)
            n, m = (len(side.points.points) for side in sides)
            device.each_tile(tiles_of(n, m, self._size(device)), tile.look)
        with workers(self.threads) as pool:
            return settled_counts(reference, generated, total, pool)

    def _size(self, device: Device) -> int:
        return self.block or device.tile_rows(BYTES_OF_A_PAIR, MOST_ROWS)


class _DeviceRows:
    """The centred and scaled rows of a set on the device: all, or those of a tile at a time."""

    def __init__(self, device: Device, points: Sieve) -> None:
        torch = device.torch
        self._device, self._points = device, points
        self.low = torch.from_numpy(points.low).to(device.name)
        self._all: Any = None
        n, d = points.points.shape
        if device.holds(4 * n * d):
            self._all = torch.empty((n, d), dtype=torch.float32, device=device.name)
            for start, stop in panel_spans(n):
                self._all[start:stop] = self._read((start, stop))

    def bounds(self, span: Span, others: _DeviceRows, other: Span) -> Any:
        """Lower bounds of half the squared distances of the pairs of a tile."""
        low = self.low[slice(*span), None] + others.low[None, slice(*other)]
        return low - self.take(span) @ others.take(other).T

    def take(self, span: Span) -> Any:
        """Some of the rows, shape ``(rows, d)``."""
        return self._read(span) if self._all is None else self._all[slice(*span)]

    def _read(self, span: Span) -> Any:
        first, last = span[0] // PANEL, -(-span[1] // PANEL)
        panels = self._points.panels[first:last]
        rows = panels.transpose(0, 2, 1).reshape(-1, panels.shape[1])[: span[1] - span[0]]
        return self._device.torch.from_numpy(np.ascontiguousarray(rows)).to(self._device.name)


def _smallest(torch: Any, bounds: Any, count: int, start: int) -> Candidates:
    """The columns with the smallest bounds of every row, smallest first."""
    smallest = torch.topk(bounds, min(count, bounds.shape[1]), dim=1, largest=False, sorted=True)
    return Candidates(
        np.ascontiguousarray(smallest.values.cpu().numpy()),
        np.ascontiguousarray(smallest.indices.cpu().numpy()) + start,
    )


class _CountedTile:
    """What one tile of the pass across adds to the counts of both sets."""

    def __init__(
        self,
        device: Device,
        sides: tuple[BallSide, BallSide],
        total: tuple[BallCounts, BallCounts],
        closed: bool,
    ) -> None:
        self._torch, self._sides, self._total, self._closed = device.torch, sides, total, closed
        self._rows = [_DeviceRows(device, side.points) for side in sides]

        def there(values: NDArray[Any]) -> Any:
            return device.torch.from_numpy(values.astype(np.float32)).to(device.name)

        scale = sides[0].points.half_scale
        self._limits = [there(side.points.limits(side.radii.largest)) for side in sides]
        self._smaller = [there(side.radii.smaller * scale) for side in sides]
        self._spreads = np.array([side.spread for side in sides])
        self._spread = bool(np.isfinite(self._spreads).all())
        self._deep = any((side.radii.smaller >= 0).any() for side in sides)
        self._share = 1 - slack(sides[0].points.points.shape[1])

    def look(self, rows: Span, columns: Span) -> None:
        """Take in all pairs of a tile; nothing is taken in where the device has no room for it."""
        torch, total = self._torch, self._total
        bounds = self._rows[0].bounds(rows, self._rows[1], columns)
        inside = bounds < self._limits[0][slice(*rows), None]
        inside |= bounds < self._limits[1][None, slice(*columns)]
        pairs = self._listed(inside, rows, columns)
        nearest = (
            _smallest(torch, bounds.T, total[0].bound.shape[1], rows[0]),
            _smallest(torch, bounds, total[1].bound.shape[1], columns[0]),
        )
        more = self._measured(bounds, rows, columns) if self._deep or self._spread else None
        left, right = self._sides
        points, balls = (left.points.points, right.points.points), (left.radii, right.radii)
        count_listed(points, *pairs, balls, total, left.k, self._closed)
        total[0].candidates.merge(columns, nearest[0])
        total[1].candidates.merge(rows, nearest[1])
        if more is not None:
            close, depths, misses = more
            for which, (counts, guests) in enumerate(zip(total, (columns, rows), strict=True)):
                _deepest(counts, slice(*guests), *depths[which])
                counts.missed[slice(*guests)] *= misses[which]
            spreads = self._spreads if self._spread else np.full(2, -1.0)
            enter_close(points, close[0], close[1], balls, spreads, total)

    def _listed(self, mask: Any, rows: Span, columns: Span) -> tuple[NDArray[Any], NDArray[Any]]:
        pairs = self._torch.nonzero(mask).cpu().numpy()
        return (
            np.ascontiguousarray(pairs[:, 0]) + rows[0],
            np.ascontiguousarray(pairs[:, 1]) + columns[0],
        )

    def _measured(self, bounds: Any, rows: Span, columns: Span) -> tuple[Any, Any, Any]:
        """Depths in smaller balls and misses of common ones; pairs that cancel are listed."""
        torch = self._torch
        whole = self._rows[0].low[slice(*rows), None] + self._rows[1].low[None, slice(*columns)]
        half = bounds + whole * (1 / self._share - 1)
        near = ~(half >= float(CLOSE) * whole + float(TINY))
        close = self._listed(near, rows, columns)
        smaller = self._smaller[0][slice(*rows)], self._smaller[1][slice(*columns)]
        depths = []
        for radii, axis, start in ((smaller[0][:, None], 0, rows[0]), (smaller[1], 1, columns[0])):
            ratio = torch.where(near | (radii < 0), -1.0, radii / half).max(dim=axis)
            depths.append(
                (ratio.values.double().cpu().numpy(), ratio.indices.cpu().numpy() + start)
            )
        misses: list[Any] = [1.0, 1.0]
        if self._spread:
            scale = self._sides[0].points.half_scale
            for which, axis in ((0, 0), (1, 1)):
                share = half / float(self._spreads[which] * scale)
                logs = torch.where(near, 0.0, torch.log(share.clamp(max=1.0)))
                misses[which] = np.exp(logs.double().sum(dim=axis).cpu().numpy())
        return close, depths, misses


def _deepest(
    counts: BallCounts, guests: slice, ratio: NDArray[np.float64], owners: NDArray[np.int64]
) -> None:
    """Take in the deepest ball of a tile for each guest; the first owner of equal ones."""
    known, deepest = counts.ratio[guests], counts.deepest[guests]
    deeper = (ratio > known) | ((ratio == known) & (owners < deepest))
    known[deeper], deepest[deeper] = ratio[deeper], owners[deeper]
