"""Values ──► the scale of an axis: logarithmic where they span decades, with plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, ScalarFormatter

DECADES = 100.0
MOST_TICKS = 6
MINUS = "\N{MINUS SIGN}"


def scale_axis(axes: Axes, which: Literal["x", "y"], values: Sequence[float]) -> None:
    """Make an axis logarithmic where values, all above 0, span two decades."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not spans_decades(values):
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
        return
    axes.set(**{f"{which}scale": "log"})
    axis.set_major_locator(FixedLocator(log_ticks(min(values), max(values))))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def spans_decades(values: Sequence[float]) -> bool:
    """Tell whether values span two decades or more."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= DECADES


def log_ticks(low: float, high: float) -> list[float]:
    """Give powers of ten about the values; every second, third, … where there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = -(-(last - first) // MOST_TICKS)
    return [10.0**power for power in range(first, last + 1, max(1, step))]


def tick_text(value: float) -> str:
    """Write a number without a formula: 1,000 and not 10 with a raised 3.

    Examples
    --------
    >>> tick_text(1000.0), tick_text(0.95), tick_text(1e-05)
    ('1,000', '0.95', '1e-05')
    """
    text = f"{value:,.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.4g}"
    return text.replace("-", MINUS) if "e" not in text else text
