"""The style of figures: colours for colour-blind readers, independent of user settings.

A figure is kept as a file that is either whole or untouched, with the same bytes every time.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import rc_context
from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plots.fonts import FONT
from calipers.whole_files import write_bytes_atomically

Dashes = tuple[float, tuple[float, ...]]
Look = dict[str, Any]

# Okabe and Ito's palette for all kinds of colour vision, dark enough for lines on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Dashes, ...] = ((0, ()), (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))

INK, GREY = "#1a1a1a", "#444444"
SHADE = 0.16
"""How opaque bands are."""

EDGE: Look = {"markeredgecolor": "white", "markeredgewidth": 0.5}
"""Rims of markers, which keep those that overlap apart."""

FORMATS: dict[str, Look] = {
    ".png": {"metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
    ".svg": {"metadata": {"Date": None}},
}
"""Suffix to what keeps the time and the machine out of the file."""

STYLE: Look = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 3.4,
    "legend.title_fontsize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "svg.hashsalt": "calipers",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the settings of this module, leaving the user's unchanged."""
    plain = {key: value for key, value in matplotlib.rcParamsDefault.items() if _looks(key)}
    settings: Any = {**plain, **STYLE, "font.family": [FONT]}
    with rc_context(settings):
        yield


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save a figure as .png, .pdf or .svg, by the suffix of its name.

    Raises
    ------
    InputError
        If the suffix is unknown, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(), Path(folder) / "empty.svg")
    ...     print([file.name for file in Path(folder).iterdir()])
    ['empty.svg']
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: a figure is saved as {', '.join(FORMATS)}; found {suffix!r}")
    write_bytes_atomically(path, figure_bytes(figure, suffix))


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the file of a figure as bytes, by suffix, such as ``".svg"``."""
    buffer = io.BytesIO()
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # text of a .svg
        figure.savefig(buffer, format=suffix[1:], bbox_inches="tight", **FORMATS[suffix])
    return buffer.getvalue()


def colour(index: int) -> str:
    """Return the colour of a system; colours repeat after seven."""
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    """Return the marker of a metric."""
    return MARKERS[index % len(MARKERS)]


def dashes(index: int) -> Dashes:
    """Return the line style of a metric."""
    return DASHES[index % len(DASHES)]


def line(shade: str, index: int) -> Look:
    """Return the style of a line with markers, by an index."""
    return {"color": shade, "linestyle": dashes(index), "marker": marker(index), **EDGE}


def _looks(key: str) -> bool:
    """Whether a setting is about looks; the others choose backends and folders."""
    return not key.startswith(("backend", "date.", "datapath", "interactive", "toolbar", "webagg"))
