"""Vectors that were paid for, kept text by text in one SQLite database, the moment they arrive.

A row is found by a hash of the service, the model and the text; the text itself is not kept. Each
row carries a checksum, so damage does not go unseen. Every answer is one short transaction on a
connection of its own, so that threads and processes may share the file. It keeps SQLite's rollback
journal and not its write-ahead log: that one needs memory shared by all who write, which processes
on several machines with one home folder do not have, and cannot be read in a folder that is
read-only.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

FILE = "paid-vectors-1.sqlite3"
WAIT, WAIT_AGAIN = 30.0, 1.0
"""Seconds to wait while others write, and once that was in vain."""

_AT_ONCE = 500
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, model BLOB NOT NULL,"
    " width INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL)"
)
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
Result = TypeVar("Result")


class Paid(NamedTuple):
    """A vector, float32 of shape (d,), and what the service called the model ("" for nothing)."""

    vector: NDArray[np.float32]
    model: str


class PaidTexts:
    """The vectors that are kept in a folder.

    Trouble never raises: what cannot be read is as if it were not there, what cannot be kept is
    not kept, and :meth:`notes` tells of it. A damaged database is set aside under another name,
    never deleted; what can still be read in it is carried over.

    Parameters
    ----------
    folder
        Made when the first vector is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / FILE
        self.refusal: str | None = None
        self._rescues: list[str] = []
        self._damaged = 0
        self._wait = WAIT
        self._lock = Lock()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Paid]:
        """Return the vectors that are kept, by their keys."""
        rows = self._guarded(lambda connection: _selected(connection, keys), make=False) or []
        found = {row[0]: paid for row in rows if (paid := checked(row)) is not None}
        self._damaged += len(rows) - len(found)
        return found

    def keep(self, rows: Mapping[bytes, Paid]) -> bool:
        """Keep vectors, all or none; tell whether they are kept."""
        rows_made = [as_row(item) for item in rows.items()]
        return self._guarded(lambda connection: insert(connection, rows_made)) is not None

    def notes(self) -> tuple[str, ...]:
        """Say what a person must be told since the last time."""
        notes, self._rescues = list(self._rescues), []
        if self._damaged:
            plural = "" if self._damaged == 1 else "s"
            notes.append(
                f"{self._damaged:,} damaged vector{plural} in {self.path}, asked for again"
            )
        if self.refusal:
            notes.append(
                f"vectors could not all be read from or kept in {self.path} ({self.refusal})"
            )
        self._damaged, self.refusal = 0, None
        return tuple(notes)

    def _guarded(
        self, work: Callable[[sqlite3.Connection], Result], *, make: bool = True
    ) -> Result | None:
        """Do something with the database; None where that cannot be done.

        `make` says whether a database that is not there is made for it.
        """
        with self._lock:
            try:
                if make:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                elif not self.path.exists():
                    return None
                return self._attempt(work)
            except (sqlite3.Error, OSError) as error:
                self._wait = WAIT_AGAIN
                self.refusal = getattr(error, "strerror", None) or str(error)
                return None

    def _attempt(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            with opened(self.path, self._wait) as connection:
                return work(connection)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self._rescue()
        with opened(self.path, self._wait) as connection:
            return work(connection)

    def _rescue(self) -> None:
        from calipers.embed.service.paid_rescue import rescue

        told = rescue(self.path)
        if told is not None:
            self._rescues.append(told)


def is_damage(error: sqlite3.Error) -> bool:
    """Tell a damaged database from one that is busy, full or read-only."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


@contextmanager
def opened(path: Path, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open the database, made where there is none, for as long as it takes."""
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    try:
        connection.execute(_TABLE)
        yield connection
    finally:
        connection.close()


def insert(connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> int:
    """Write rows in one transaction; return how many."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return done.rowcount


def _selected(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for first in range(0, len(keys), _AT_ONCE):
        part = keys[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        rows += connection.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", part)
    return rows


def as_row(item: tuple[bytes, Paid]) -> tuple[Any, ...]:
    """Write a vector as a row of the table."""
    key, (vector, model) = item
    name, content = model.encode(), np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return key, name, len(vector), _checksum(key, name, content), content


def checked(row: Sequence[Any]) -> Paid | None:
    """Read a row of the table; None where it is damaged."""
    key, model, width, crc, content = row
    if not (isinstance(key, bytes) and isinstance(model, bytes) and isinstance(content, bytes)):
        return None
    fits = isinstance(width, int) and len(content) == 4 * width > 0
    if not fits or crc != _checksum(key, model, content):
        return None
    vector = np.frombuffer(content, dtype="<f4").astype(np.float32)
    return Paid(vector, model.decode("utf-8", "replace"))


def _checksum(*parts: bytes) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum
