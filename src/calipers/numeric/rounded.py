"""Rows rounded to eight bits, which exclude most pairs before products in float32.

A row, turned so that no coordinate stands out, is a whole number from -127 to 127 in each, times a
unit, plus a rest whose length is known. So is a product of two rows, which some processors sum four
times as fast as float32: ``native/rounded.h`` says how far off it may be. What is shut out would
not pass the float32 bound either, so no result depends on it, in any bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats32, Ints
from calipers.numeric.panels import PANEL
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import panel_spans

FEWEST_ROWS, FEWEST_COLUMNS = 480, 64
"""Below these, rounding costs more than it saves."""

MOST_COLUMNS = 2**17
"""Up to here a sum of products cannot pass 32 bits."""

native.record(
    "rounded",
    "panels i1[count, steps, 192]",
    "sums i4[n]",
    "unit f4[n]",
    "error f4[n]",
    "length f4[n]",
)
compares_rounded = native.kernel("compares_rounded", returns="bool")
round_rows = native.kernel(
    "round_rows",
    "panels f4[count, d, 48]",
    "slack float",
    "rounded i1[count, steps, 192] out",
    "sums i4[n] out",
    "unit f4[n] out",
    "error f4[n] out",
    "length f4[n] out",
    "room f4[d, 48] out",
)


class Rounded(NamedTuple):
    """Rows rounded to eight bits, padded to whole panels.

    Attributes
    ----------
    panels
        Four coordinates of 48 rows after the other, int8, shape ``(panels, d / 4, 192)``.
    sums
        Their sums, int32, shape ``(panels * 48,)``.
    unit
        What 1 stands for, in each row, float32.
    error
        The length of the rest that rounding leaves, or more, float32.
    length
        The length of the row, or more, float32.
    """

    panels: NDArray[np.int8]
    sums: Ints
    unit: Floats32
    error: Floats32
    length: Floats32

    @classmethod
    def none(cls) -> Rounded:
        """Return no rows, so that nothing is excluded."""
        return cls._of(0, 0)

    @classmethod
    def _of(cls, count: int, steps: int) -> Rounded:
        n = count * PANEL
        numbers = (scratch((n,), np.float32) for _ in range(3))
        panels = scratch((count, steps, 4 * PANEL), np.int8)
        return cls(panels, scratch((n,), np.int32), *numbers)

    @classmethod
    def of(cls, panels: Floats32, slack: float, pool: Workers | None = None) -> Rounded:
        """Round the rows of a set, where that saves time.

        Parameters
        ----------
        panels
            As of :class:`calipers.numeric.distances.Sieve`.
        slack
            The share of two lengths by which their product in float32 may be off.
        pool
            Where it is done; no effect on the result.
        """
        count, d, _ = panels.shape
        if (
            count * PANEL < FEWEST_ROWS
            or not FEWEST_COLUMNS <= d <= MOST_COLUMNS
            or not compares_rounded()
        ):
            return cls.none()
        made = cls._of(count, -(-d // 4))
        # Butterflies round once a stage, sums of float32 once a term
        share = slack + 4 * d.bit_length() * 2.0**-24 + 1e-6

        def work(span: tuple[int, int]) -> None:
            part = slice(span[0] // PANEL, span[1] // PANEL)
            rows = slice(*span)
            room = np.empty((d, PANEL), np.float32)
            round_rows(panels[part], share, made.panels[part], *(a[rows] for a in made[1:]), room)

        for _ in (pool.map if pool else map)(work, panel_spans(count * PANEL)):
            pass
        return made
