"""Texts beside their references, row by row, checked once for all metrics that need them so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from calipers.errors import InputError
from calipers.text.corpus import Corpus
from calipers.text.strings import as_strings
from calipers.text.tokens import Texts

References = Sequence[str] | Sequence[Sequence[str]] | Corpus
"""One string for each text, or a list of the references of each text."""

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Aligned:
    """Texts and their references.

    Attributes
    ----------
    texts
        n strings.
    references
        For each text its references, as many for one as for any other.
    """

    texts: list[str]
    references: list[tuple[str, ...]]

    @property
    def silent(self) -> bool:
        """Whether no reference holds anything but white space."""
        return not any(one.strip() for references in self.references for one in references)

    @property
    def streams(self) -> list[list[str]]:
        """The first references of all texts, then the second ones, …: as sacrebleu takes them."""
        return [list(stream) for stream in zip(*self.references, strict=True)]


def align(texts: Texts, references: References) -> Aligned:
    """Check that each text has its references, and as many of them as any other.

    Raises
    ------
    InputError
        If there are no texts, something is no string, or rows do not match; it names the rows.
    """
    rows = list(texts.texts) if isinstance(texts, Corpus) else as_strings(texts)
    known = _rows(references)
    _check_height(len(rows), known)
    sides = [_references(row, number) for number, row in enumerate(known, 1)]
    _check_width([len(side) for side in sides])
    return Aligned(rows, sides)


def _rows(references: Any) -> list[Any]:
    if isinstance(references, Corpus):
        return list(references.texts)
    if isinstance(references, str | bytes | Mapping | Set) or not hasattr(references, "__iter__"):
        kind = type(references).__name__
        raise InputError(
            f"references must be a list, with one row for each text; found a single {kind}"
        )
    # An Arrow column does not iterate over strings
    return list(references.to_pylist() if hasattr(references, "to_pylist") else references)


def _references(row: Any, number: int) -> tuple[str, ...]:
    if isinstance(row, str):
        return (row,)
    if isinstance(row, bytes | Mapping | Set) or not hasattr(row, "__iter__"):
        raise InputError(
            "each row of references must be a string or a list of strings; "
            f"row {number:,} is of type {type(row).__name__}"
        )
    found = tuple(row)
    for reference in found:
        if not isinstance(reference, str):
            raise InputError(
                f"references must hold strings only; row {number:,} holds one of type "
                f"{type(reference).__name__}"
            )
    return found


def _check_height(n: int, references: list[Any]) -> None:
    found = len(references)
    if found == n:
        return
    missing = range(min(found, n) + 1, max(found, n) + 1)
    what = "no references" if found < n else "no text"
    raise InputError(
        f"references must have one row for each text, {n:,} in all; found {found:,}: "
        f"{_listed(missing)} {'has' if len(missing) == 1 else 'have'} {what}{_hint(n, references)}"
    )


def _hint(n: int, references: list[Any]) -> str:
    """Whoever comes from sacrebleu may have the lists the other way round."""
    turned = all(not isinstance(row, str) and len(row) == n for row in references)
    return ". If each list holds one reference of every text, turn them: list(zip(*references))" * (
        turned and bool(references)
    )


def _check_width(widths: list[int]) -> None:
    usual = Counter(width for width in widths if width).most_common(1)
    if not usual:
        raise InputError("each text must have at least one reference; found none in any row")
    most = usual[0][0]
    odd = [row for row, width in enumerate(widths, 1) if width != most]
    if odd:
        found = ", ".join(f"row {row} has {widths[row - 1]}" for row in odd[:SHOWN])
        raise InputError(
            f"each text must have the same number of references; most have {most}, but {found}"
            + (f" (and {len(odd) - SHOWN:,} more rows differ)" if len(odd) > SHOWN else "")
        )


def _listed(rows: range) -> str:
    if len(rows) == 1:
        return f"row {rows[0]:,}"
    if len(rows) == 2:
        return f"rows {rows[0]:,} and {rows[1]:,}"
    return f"rows {rows[0]:,} to {rows[-1]:,}"
