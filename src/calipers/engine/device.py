"""A torch device: exact products, tiles that fit its free memory, and smaller ones on failure.

The passes over neighbours and the sums of products share this; ``"cpu"`` runs the same code on the
processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

from calipers.embedders.options import choose_device
from calipers.errors import InputError, require
from calipers.numeric.panels import PANEL
from calipers.numeric.tiles import Span, panel_spans, rectangle

ON_PROCESSOR = 2_048
"""Rows of a tile where torch runs on the processor."""

SHARE = 1 / 2
"""Share of the free memory that one tile may take."""


_one_at_a_time = RLock()


@dataclass(frozen=True)
class Device:
    """A device on which torch computes.

    Attributes
    ----------
    torch
        The module.
    name
        Such as ``"cuda:0"`` or ``"cpu"``.
    """

    torch: Any
    name: str

    @property
    def free(self) -> int | None:
        """Free bytes of the device; None for the processor, whose memory is not queried."""
        return None if self.name == "cpu" else int(self.torch.cuda.mem_get_info(self.name)[0])

    def holds(self, size: int) -> bool:
        """Whether so many bytes can stay on the device while tiles are processed."""
        return self.free is not None and size <= self.free / 4

    def tile_rows(self, bytes_of_a_pair: int, most: int) -> int:
        """Return the rows of a square tile that fits, from the bytes for each pair."""
        if self.free is None:
            return min(ON_PROCESSOR, most)
        return int(np.clip(np.sqrt(self.free * SHARE / bytes_of_a_pair), PANEL, most))

    def block_rows(self, bytes_of_a_row: int, most: int) -> int:
        """Return the rows of a block that fits, from the bytes for each row."""
        if self.free is None:
            return min(ON_PROCESSOR, most)
        return int(np.clip(self.free * SHARE / bytes_of_a_row, PANEL, most))

    def each_tile(
        self, tiles: Sequence[tuple[Span, Span]], look: Callable[[Span, Span], None]
    ) -> None:
        """Process all tiles, splitting those that do not fit into quarters.

        Parameters
        ----------
        tiles
            Spans of rows and of columns.
        look
            Takes in a tile, or raises torch's ``OutOfMemoryError`` before it has taken in anything.

        Raises
        ------
        InputError
            If the device has no room for the smallest tile.
        """
        waiting = list(tiles)[::-1]
        while waiting:
            rows, columns = waiting.pop()
            if not self._fits(look, rows, columns):
                if max(_length(rows), _length(columns)) <= PANEL:
                    raise self._too_full()
                waiting += rectangle(_halves(rows), _halves(columns))[::-1]

    def each_block(self, blocks: Sequence[Span], look: Callable[[Span], None]) -> None:
        """Process all blocks of rows, splitting those that do not fit into halves."""
        waiting = list(blocks)[::-1]
        while waiting:
            rows = waiting.pop()
            if not self._fits(look, rows):
                if _length(rows) <= PANEL:
                    raise self._too_full()
                waiting += _halves(rows)[::-1]

    def _fits(self, look: Callable[..., None], *spans: Span) -> bool:
        try:
            look(*spans)
        except self.torch.OutOfMemoryError:
            pass
        else:
            return True
        # Outside of that block the error, and with it all that was computed so far, is gone
        if self.name != "cpu":
            self.torch.cuda.empty_cache()
        return False

    def _too_full(self) -> InputError:
        return InputError(
            f"device {self.name!r} has too little free memory for a tile of {PANEL} rows; end what "
            "else runs on it, name another with `device`, or leave it out for "
            "the processor"
        )


def _length(span: Span) -> int:
    return span[1] - span[0]


def _halves(span: Span) -> list[Span]:
    """Both halves, the first of whole panels; a span of one panel stays as it is."""
    half = max(1, -(-_length(span) // (2 * PANEL))) * PANEL
    return [(start, min(start + half, span[1])) for start in range(*span, half)]


@contextmanager
def exact_products(name: str, purpose: str) -> Iterator[Device]:
    """Open a device, with products of float32 numbers in full float32 precision.

    One thread at a time has it: torch has one precision for all, and the free memory is one, too.

    Parameters
    ----------
    name
        As torch has it, such as ``"cuda"``.
    purpose
        What it is needed for, as errors say it.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    InputError
        If it does not see the device.
    """
    torch = require("torch", extra="models", purpose=purpose)
    choose_device(name, torch)
    with _one_at_a_time:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            with torch.inference_mode():
                yield Device(torch, name)
        finally:
            torch.set_float32_matmul_precision(before)


def tiles_of(n: int, m: int, size: int) -> list[tuple[Span, Span]]:
    """Divide two sets of rows into tiles of about `size` rows each."""
    return rectangle(panel_spans(n, size), panel_spans(m, size))
