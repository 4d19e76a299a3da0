"""Texts too long for libraries that lay out a table of one text's words by another's.

A table is refused before it takes the machine's memory; cutting the texts is the user's choice.
"""

from __future__ import annotations

from collections.abc import Callable

from calipers.errors import InputError
from calipers.text.aligned_rows import Aligned


def check_tables(metric: str, rows: Aligned, count: Callable[[str], int], most: int) -> None:
    """Refuse a row whose text and one of its references would need too large a table.

    Parameters
    ----------
    metric
        What asks, as the message names it.
    rows
        Texts and references.
    count
        How many tokens a text has.
    most
        The largest table, in entries.

    Raises
    ------
    InputError
        If a text's tokens times those of a reference are more; it names the row.
    """
    for number, (text, references) in enumerate(zip(rows.texts, rows.references, strict=True), 1):
        for reference in references:
            # A token takes at least one character, and so most rows need no counting
            if len(text) * len(reference) > most:
                _check(metric, number, count(text), count(reference), most)


def _check(metric: str, row: int, tokens: int, known: int, most: int) -> None:
    if tokens * known > most:
        raise InputError(
            f"{metric} lays out a table of a text's tokens by its reference's, of at most {most:,} "
            f"entries; row {row} needs {tokens:,} x {known:,}: cut the texts, or leave the row out"
        )
