"""Lists of token ids, checked and concatenated."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import partial

import numpy as np

from calipers.errors import InputError
from calipers.memory import ROW, budget
from calipers.samples.columns import RowError, sample_error
from calipers.samples.kinds import TokenData, read_only
from calipers.samples.wording import counted, describe

LARGEST = 2**31 - 1

RULE = f"token ids must be whole numbers from 0 to {LARGEST:,}"


class TokenColumn:
    """A growing column of token ids.

    Parameters
    ----------
    row_error
        Builds the error for a row, given its number and what is wrong with it.
    """

    def __init__(self, row_error: RowError) -> None:
        self._row_error, self._budget = row_error, budget()
        self._ids = array("i")
        self._ends = array("q", [0])

    @property
    def length(self) -> int:
        """Number of samples so far."""
        return len(self._ends) - 1

    def append(self, number: int, value: object) -> None:
        """Add the ids of row `number`, a list or an array."""
        if type(value) is list and set(map(type, value)) <= {int}:
            self._extend(number, value)
        else:
            self._extend(number, _whole_numbers(number, value, self._row_error))
        self._ends.append(len(self._ids))

    def finish(self) -> TokenData:
        """Return the lists."""
        ids = np.frombuffer(self._ids, np.int32) if self._ids else np.empty(0, np.int32)
        return TokenData(read_only(ids), read_only(np.frombuffer(self._ends, np.int64)))

    def _extend(self, number: int, ids: list[int]) -> None:
        if ids and (min(ids) < 0 or max(ids) > LARGEST):
            place = next(i for i, token in enumerate(ids) if not 0 <= token <= LARGEST)
            raise self._row_error(number, wrong_id(place, ids[place]))
        self._budget.take(4 * len(ids) + 8 + ROW, partial(self._row_error, number))
        self._ids.extend(ids)


def checked_tokens(ids: Iterable[object] | TokenData, where: str) -> TokenData:
    """Convert samples to lists of token ids; raise an error for one that is not.

    Raises
    ------
    InputError
        If there are no lists, all are empty, or one holds anything else than token ids.
    """
    tokens = ids if isinstance(ids, TokenData) else _from_items(ids, where)
    if not len(tokens):
        raise InputError(f"{where}: holds no samples")
    if not len(tokens.ids):
        raise InputError(f"{where}: all {counted(len(tokens), 'list')} of token ids are empty")
    return tokens


def wrong_id(place: int, value: object) -> str:
    """Build the error for an invalid id at a position, counted from 0."""
    hint = "; embeddings must be an array, or a .npy file" if isinstance(value, float) else ""
    return f"{RULE}, but id {place + 1:,} is {describe(value)}{hint}"


def is_id_list(value: object) -> bool:
    """Tell whether a value represents token ids: a list of numbers, or a 1-d array."""
    if isinstance(value, list | tuple):
        return all(_is_number(number) for number in value)
    return getattr(value, "ndim", None) == 1 and getattr(value, "shape", None) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)


def _whole_numbers(number: int, value: object, row_error: RowError) -> list[int]:
    if not is_id_list(value):
        entry = value.item() if getattr(value, "ndim", None) == 0 else value  # type: ignore[attr-defined]
        if isinstance(value, list | tuple):
            place, entry = next((i, v) for i, v in enumerate(value) if not _is_number(v))
            raise row_error(number, wrong_id(place, entry))
        raise row_error(number, f"must be a list of token ids, but it is {describe(entry)}")
    values = value if isinstance(value, list | tuple) else np.asarray(value).tolist()
    for place, token in enumerate(values):
        if isinstance(token, bool | np.bool_) or not isinstance(token, int | np.integer):
            raise row_error(number, wrong_id(place, token))
    return [int(token) for token in values]


def _from_items(ids: Iterable[object], where: str) -> TokenData:
    column = TokenColumn(partial(sample_error, where))
    for number, tokens in enumerate(ids, 1):
        column.append(number, tokens)
    return column.finish()
