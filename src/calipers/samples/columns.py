"""Columns of strings in flat memory: concatenated UTF-8, and the end of each string.

A string takes its bytes and eight more, and stays on disk where a file is mapped into memory.
Python strings are made of a part of the column at a time, never of a million at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import ROW, budget
from calipers.unicode.written_words import word_count

AT_ONCE = 1024
"""Strings that are Python objects at one time, when a column is gone through."""

ROWS = 16 * 1024
CHARACTERS = 2**24
"""Strings that a builder keeps as Python objects, and the characters in all of them."""

RowError = Callable[[int, str], InputError]
"""Builds the error for row `number`, given what is wrong with it."""

Part = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""UTF-8, and where in it each of n strings begins and the last one ends, shape (n + 1,)."""


class StringColumn(Sequence[str]):
    """An immutable sequence of strings.

    Parameters
    ----------
    parts
        Consecutive strings, as valid UTF-8. The arrays are kept, not copied.

    Examples
    --------
    >>> column = StringColumn.of(["one", "zwölf", ""])
    >>> len(column), column[1], column[1:].tolist()
    (3, 'zwölf', ['zwölf', ''])
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple((data, ends) for data, ends in parts if len(ends) > 1)
        self._firsts = np.cumsum([0, *(len(ends) - 1 for _, ends in self._parts)])

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringColumn:
        """Pack strings, only a few of which need to be in memory at a time.

        Raises
        ------
        UnicodeEncodeError
            If one holds half of a surrogate pair.
        """
        rest = iter(strings)
        blocks = iter(lambda: list(islice(rest, AT_ONCE)), [])
        return cls(map(_packed, blocks))

    @classmethod
    def joined(cls, columns: Iterable[StringColumn]) -> StringColumn:
        """Concatenate columns without copying their strings."""
        return cls(part for column in columns for part in column._parts)

    def __len__(self) -> int:
        return int(self._firsts[-1])

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> StringColumn: ...

    def __getitem__(self, index: int | slice) -> str | StringColumn:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return _strings(*next(self._between(rows, rows + 1)))[0]
        if rows.step == 1:
            return StringColumn(self._between(rows.start, rows.stop))
        return self.take(np.fromiter(rows, np.intp, len(rows)))

    def __iter__(self) -> Iterator[str]:
        for _, data, ends in self._blocks():
            yield from _strings(data, ends)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StringColumn):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return f"StringColumn({len(self):,} strings)"

    def tolist(self) -> list[str]:
        """Return all strings as a list."""
        return list(self)

    def take(self, rows: NDArray[np.intp]) -> StringColumn:
        """Keep the given rows, counted from 0, in the given order, as a copy."""
        starts, stops = (
            np.concatenate([np.empty(0, np.int64), *(ends[span] for _, ends in self._parts)])[rows]
            for span in (slice(None, -1), slice(1, None))
        )
        owners = np.searchsorted(self._firsts, rows, side="right") - 1
        views = [data.data for data, _ in self._parts]

        def gathered(block: slice) -> Part:
            places = zip(
                *(column[block].tolist() for column in (owners, starts, stops)), strict=True
            )
            return _end_to_end([views[owner][start:stop] for owner, start, stop in places])

        return StringColumn(gathered(slice(i, i + ROWS)) for i in range(0, len(rows), ROWS))

    @property
    def ends(self) -> NDArray[np.int64]:
        """The end of each string in bytes from the beginning of the column, ``(n + 1,)``."""
        lengths = [np.diff(ends) for _, ends in self._parts]
        return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))

    def utf8(self) -> Iterator[memoryview]:
        """Yield the bytes of all strings, in parts and without copying them."""
        for data, ends in self._parts:
            yield data[ends[0] : ends[-1]].data

    def encoded(self) -> Iterator[memoryview]:
        """Yield the UTF-8 of each string, without copying it."""
        for _, data, ends in self._blocks():
            view = data.data
            yield from (view[start:stop] for start, stop in pairwise(ends.tolist()))

    def blank_rows(self) -> NDArray[np.intp]:
        """Find the strings that are empty or only white space; rows are counted from 0."""
        blank: list[int] = []
        for first, data, ends in self._blocks():
            if _may_be_blank(data, ends):
                strings = _strings(data, ends)
                blank += [i for i, text in enumerate(strings, first) if not text or text.isspace()]
        return np.array(blank, np.intp)

    def word_counts(self) -> NDArray[np.int64]:
        """Count the words of every string (:mod:`calipers.unicode.written_words`)."""
        return np.fromiter(map(word_count, self), np.int64, len(self))

    def _between(self, start: int, stop: int) -> Iterator[Part]:
        """Return what the parts hold of some rows."""
        place = int(np.searchsorted(self._firsts, start, side="right")) - 1
        for (data, ends), first in zip(self._parts[place:], self._firsts[place:], strict=False):
            if first >= stop:
                return
            yield data, ends[max(start - first, 0) : stop - first + 1]

    def _blocks(self) -> Iterator[tuple[int, *Part]]:
        """Return the parts as blocks of few rows, with the number of the first row."""
        for (data, ends), first in zip(self._parts, self._firsts.tolist(), strict=False):
            for start in range(0, len(ends) - 1, AT_ONCE):
                yield first + start, data, ends[start : start + AT_ONCE + 1]


class StringBuilder:
    """Builds a column string by string, keeping few of them as Python strings.

    Parameters
    ----------
    row_error
        Builds the error for a row, given its number and what is wrong with it.
    """

    def __init__(self, row_error: RowError) -> None:
        self._row_error, self._budget = row_error, budget()
        self._parts: list[Part] = []
        self._values: list[str] = []
        self._numbers: list[int] = []
        self._characters = 0
        self.length = 0

    def append(self, number: int, value: str) -> None:
        """Add the value of row `number`."""
        self._values.append(value)
        self._numbers.append(number)
        self.length += 1
        self._characters += len(value)
        if len(self._values) >= ROWS or self._characters >= CHARACTERS:
            self._flush()

    def finish(self) -> StringColumn:
        """Return the column."""
        self._flush()
        return StringColumn(self._parts)

    def _flush(self) -> None:
        if not self._values:
            return
        try:
            data, ends = _packed(self._values)
        except UnicodeEncodeError as error:
            raise self._broken_character() from error
        size = data.nbytes + ends.nbytes + ROW * len(self._values)
        self._budget.take(size, partial(self._row_error, self._numbers[-1]))
        self._parts.append((data, ends))
        self._values, self._numbers, self._characters = [], [], 0

    def _broken_character(self) -> InputError:
        pairs = zip(self._numbers, self._values, strict=True)
        number = next(number for number, value in pairs if _is_broken(value))
        return self._row_error(number, "holds half of a surrogate pair, which is not a character")


def sample_error(where: str, number: int, problem: str) -> InputError:
    """Build the error for a sample of a list or array, counted from 1."""
    return InputError(f"{where}: sample {number}: {problem}")


def is_arrow(value: object) -> bool:
    """Tell whether a value is an Arrow array, without loading Arrow."""
    arrow: Any = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(value, arrow.Array | arrow.ChunkedArray)


def _packed(strings: Sequence[str]) -> Part:
    return _end_to_end([text.encode() for text in strings])


def _end_to_end(pieces: Sequence[bytes | memoryview]) -> Part:
    ends = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=ends[1:])
    return np.frombuffer(b"".join(pieces), np.uint8), ends


def _strings(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """Make Python strings of consecutive ones."""
    raw = data[ends[0] : ends[-1]].tobytes()
    spans = pairwise((ends - ends[0]).tolist())
    if raw.isascii():  # so that bytes and characters are counted alike
        text = raw.decode()
        return [text[start:stop] for start, stop in spans]
    return [raw[start:stop].decode() for start, stop in spans]


_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2028\u202f\u205f\u3000"
_MAY_BEGIN_BLANK = np.isin(np.arange(256), [blank.encode()[0] for blank in _BLANKS])


def _may_be_blank(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> bool:
    """Tell whether one of consecutive strings is empty or may begin with white space."""
    starts = ends[:-1]
    return bool((starts == ends[1:]).any() or _MAY_BEGIN_BLANK[data[starts]].any())


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
