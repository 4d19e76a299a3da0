"""Figures drawn for the file that they go to, with a message on characters that no font has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from calipers.cli.streams import write_error


@contextmanager
def told_of_letters(path: str, *, quiet: bool) -> Iterator[None]:
    """Draw for a file; a .svg keeps all text, for others report characters drawn as substitutes."""
    from calipers.report.plots.fonts import MissingLettersWarning, letters_kept

    with (
        letters_kept(path.lower().endswith(".svg")),
        warnings.catch_warnings(record=True) as raised,
    ):
        if not quiet:
            warnings.simplefilter("always", MissingLettersWarning)
        yield
    for one in raised:
        if issubclass(one.category, MissingLettersWarning):
            write_error(f"warning: {one.message}")
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
