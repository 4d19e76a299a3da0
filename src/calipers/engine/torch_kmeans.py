"""K-means on a GPU through torch, with the same labels as on the processor.

The device multiplies rows with all centres, tile by tile, and lists the pairs that its bounds
cannot rule out; these few are settled in float64 on the processor, by the same loops as everywhere.
So no label, centre or inertia depends on the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.engine.device import Device, exact_products
from calipers.estimate.kmeans.centres import Centres
from calipers.estimate.kmeans.kernels import Assignments, ClusterRows, settle_listed
from calipers.estimate.kmeans.lloyd import LocalSteps
from calipers.estimate.kmeans.rounds import Clustering, Round, run_rounds
from calipers.numeric.arrays import Floats32
from calipers.numeric.distances import FLOOR, slack
from calipers.numeric.panels import PANEL
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, panel_spans, spans

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows, and a centre for each."""

SMALL = 2**23
"""Pairs that are looked at sooner where they are."""

BYTES_OF_A_PAIR = 24
"""What a tile takes on the device for each of its pairs: products, bounds, masks, lists."""

MOST_PAIRS = 2**30
"""Pairs of a tile, at most."""

MOST_LISTED = 2**25
"""Pairs that a tile may list, which then lie in half a gigabyte; tiles of copies list many."""


@dataclass(frozen=True)
class TorchRounds:
    """K-means on a device of torch.

    Attributes
    ----------
    device
        Such as ``"cuda"`` or ``"cuda:1"``; ``"cpu"`` runs the same code on the processor.
    threads
        For what is settled on the processor; None for one each core.
    block
        Rows of a tile; None for what fits into the free memory of the device. Changes no label.
    few_pairs
        Tables of no more pairs of rows and centres are clustered on the processor, which keeps
        bounds.
    """

    device: str = "cuda"
    threads: int | None = None
    block: int | None = None
    few_pairs: int = SMALL

    def run(self, table: ClusterRows, first: Floats32, max_iterations: int) -> Clustering:
        """Cluster rows."""
        at = Round.first(first)
        with (
            exact_products(self.device, "k-means on a GPU") as device,
            workers(self.threads) as pool,
        ):
            steps = _DeviceSteps(device, table, len(at.centres.low), pool, self.block)
            return run_rounds(table, steps, at, max_iterations)


class _DeviceSteps(LocalSteps):
    """Rows that find their centres by products on a device."""

    def __init__(
        self, device: Device, table: ClusterRows, places: int, pool: Workers, block: int | None
    ) -> None:
        super().__init__(table, places, pool, bounded=False)
        self._device, self._torch, self._pool, self._block = device, device.torch, pool, block
        self._gap = 2.02 * slack(table.rows.shape[1])
        self._all: Any = None
        if device.holds(table.rows.nbytes):
            self._all = self._there(table.rows[: table.n])

    def bring(self, rows: Floats32, low: Floats32, assigned: Assignments, centres: Centres) -> None:
        """Bring rows to the nearest of some centres, in place."""
        n, known = len(assigned.labels), np.isfinite(centres.low)
        there = self._there(centres.values[known]), self._there(centres.low[known])
        count = len(there[1])
        most = min(n, max(PANEL, MOST_PAIRS // count))
        size = self._block or self._device.block_rows(BYTES_OF_A_PAIR * count, most)

        def look(span: Span) -> None:
            listed = self._candidates(span, rows, low, assigned, there)
            self._settle(span, listed, rows, assigned, centres)

        self._device.each_block(panel_spans(n, size), look)

    def _candidates(
        self,
        span: Span,
        rows: Floats32,
        low: Floats32,
        assigned: Assignments,
        centres: tuple[Any, Any],
    ) -> Pairs:
        """Rows of a span and those centres that may be their nearest."""
        torch, part = self._torch, slice(*span)
        whole = self._all is not None and rows is self._table.rows
        taken = self._all[part] if whole else self._there(rows[part])
        row_low, (values, centre_low) = self._there(low[part]), centres
        bounds = row_low[:, None] + centre_low - taken @ values.T
        above = (bounds + self._gap * centre_low).amin(dim=1) + self._gap * row_low
        halves = 0.5 * (1 + 2.0**-22) * assigned.own[part] + FLOOR
        limit = torch.minimum(
            self._there(halves.astype(np.float32)), above * (1 + 2.0**-20) + FLOOR
        )
        open_pairs = bounds < limit[:, None]
        labels = self._there(assigned.labels[part]).long()
        measured = torch.nonzero(labels >= 0)[:, 0]
        open_pairs[measured, labels[measured]] = False
        if int(open_pairs.sum()) > MOST_LISTED and len(bounds) > PANEL:
            raise torch.OutOfMemoryError("too many pairs to list at once")
        listed = torch.nonzero(open_pairs).cpu().numpy()
        return listed[:, 0] + span[0], np.ascontiguousarray(listed[:, 1])

    def _settle(
        self, span: Span, pairs: Pairs, rows: Floats32, assigned: Assignments, centres: Centres
    ) -> None:
        """Settle listed pairs, whose rows are in order, with all pairs of a row on one thread."""
        size = -(-(span[1] - span[0]) // (4 * self._pool.threads))
        starts = [span[0] + start for start, _ in spans(span[1] - span[0], size)]
        cuts = [*np.searchsorted(pairs[0], starts).tolist(), len(pairs[0])]

        def work(part: Span) -> None:
            settle_listed(rows, pairs, part, assigned, centres)

        list(self._pool.map(work, pairwise(cuts)))

    def _there(self, values: NDArray[Any]) -> Any:
        return self._torch.from_numpy(values).to(self._device.name)
