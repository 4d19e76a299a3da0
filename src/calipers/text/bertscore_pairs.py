"""Which texts meet which for BERTScore: each distinct text once, each distinct pair once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.text.aligned_rows import Aligned

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Texts and references as numbers of distinct texts.

    Attributes
    ----------
    distinct
        The distinct texts, without white space at their ends, in the order of their first row.
    texts, references
        The number of each row's text and of its references, shapes (n,) and (n, references).
    meetings
        The distinct pairs of a text and a reference, ascending, shape (m, 2).
    own, others
        Which of `meetings` each row has with its own references and, where these were asked for,
        with those of another row, both of shape (n, references).
    """

    distinct: list[str]
    texts: Integers
    references: Integers
    meetings: Integers
    own: Integers
    others: Integers | None


def pair_up(rows: Aligned, *, shuffled: bool, seed: int) -> Pairs:
    """Number the texts, and list the pairs that are to be matched.

    Parameters
    ----------
    rows
        Texts and their references.
    shuffled
        Whether each text also meets the references of another row. The rows stand in one random
        circle for this, each before its partner; numbering them along the circle keeps what
        belongs together close together.
    seed
        For the circle.

    Raises
    ------
    InputError
        If a text is no valid Unicode, or a single row has no other to meet.
    """
    n = len(rows.texts)
    if shuffled and n < 2:
        raise InputError("baseline 'shuffled' needs at least 2 rows, to pair texts of other rows")
    circle = np.random.default_rng(seed).permutation(n) if shuffled else np.arange(n)
    numbers: dict[str, int] = {}
    texts = np.empty(n, dtype=np.int64)
    references = np.empty((n, len(rows.references[0])), dtype=np.int64)
    for row in circle.tolist():
        texts[row] = _number(rows.texts[row], numbers, f"texts: row {row + 1:,}")
        references[row] = [
            _number(reference, numbers, f"references: row {row + 1:,}")
            for reference in rows.references[row]
        ]
    partner = np.empty(n, dtype=np.int64)
    partner[circle] = np.roll(circle, -1)
    sides = [references, references[partner]] if shuffled else [references]
    codes = np.stack([texts[:, None] * len(numbers) + side for side in sides])
    meetings, which = np.unique(codes, return_inverse=True)
    which = which.reshape(codes.shape)
    return Pairs(
        distinct=list(numbers),
        texts=texts,
        references=references,
        meetings=np.column_stack(np.divmod(meetings, len(numbers))),
        own=which[0],
        others=which[1] if shuffled else None,
    )


def _number(text: str, numbers: dict[str, int], where: str) -> int:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} must be valid Unicode for a model's tokenizer; found "
            f"{text[error.start]!r} at character {error.start + 1:,}"
        ) from error
    return numbers.setdefault(text.strip(), len(numbers))


def blocks(sizes: Sequence[int] | Integers, budget: int) -> list[tuple[int, int]]:
    """Divide consecutive things into blocks of bounded size; a larger one stands alone.

    Examples
    --------
    >>> blocks([3, 3, 9, 1, 1], 6)
    [(0, 2), (2, 3), (3, 5)]
    """
    found, start, filled = [], 0, 0
    for place, size in enumerate(np.asarray(sizes).tolist()):
        if filled and filled + size > budget:
            found.append((start, place))
            start, filled = place, 0
        filled += size
    return [*found, (start, len(sizes))] if len(sizes) else []
