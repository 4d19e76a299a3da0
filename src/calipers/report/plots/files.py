"""A figure ──► a file that is either whole or untouched, with the same bytes every time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plots.style import styled
from calipers.report.whole_files import write_bytes_atomically

FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
    ".svg": {"metadata": {"Date": None}},
}
"""Suffix to what keeps the time and the machine out of the file."""


def save_figure(figure: Figure, path: str | Path) -> None:
    """Keep a figure as .png, .pdf or .svg, by the suffix of its name.

    Raises
    ------
    InputError
        If the suffix is another one, or the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: a figure is kept as {', '.join(FORMATS)}; found {suffix!r}")
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format=suffix[1:], bbox_inches="tight", **FORMATS[suffix])
    write_bytes_atomically(path, buffer.getvalue())
