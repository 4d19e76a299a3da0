"""A store of paid vectors: one SQLite database, written as each answer arrives.

A row is found by a hash of the service, the model and the text; the text itself is not kept. Each
row carries a checksum, so damage does not go unseen. Every answer is one short transaction on a
connection of its own, so that threads and processes may share the file. It keeps SQLite's rollback
journal and not its write-ahead log: that one needs memory shared by all who write, which processes
on several machines with one home folder do not have, and cannot be read in a folder that is
read-only.

A damaged database is set aside, never deleted, and the rows that can still be read are copied.
What one run asked for and paid is counted beside, and put into words.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.service.answer import EmbeddingAnswer
from calipers.errors import CalipersError
from calipers.service.address import Address

FILE = "paid-vectors-1.sqlite3"
TIMEOUT, TIMEOUT_AGAIN = 30.0, 1.0
"""Seconds to wait while others write, and once that was in vain."""

_KEYS_A_QUERY = 500
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, model BLOB NOT NULL,"
    " width INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL)"
)
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
Result = TypeVar("Result")


class StoredVector(NamedTuple):
    """A vector, float32 of shape (d,), and the service's name of the model ("" for none)."""

    vector: NDArray[np.float32]
    model: str


class VectorStore:
    """The vectors stored in a folder.

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
        self._timeout = TIMEOUT
        self._lock = Lock()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, StoredVector]:
        """Return stored vectors by their keys."""
        rows = self._guarded(lambda connection: _selected(connection, keys), make=False) or []
        stored = {row[0]: vector for row in rows if (vector := _checked(row)) is not None}
        self._damaged += len(rows) - len(stored)
        return stored

    def keep(self, vectors: Mapping[bytes, StoredVector]) -> bool:
        """Store vectors, all or none; tell whether they are stored."""
        rows = [_as_row(*item) for item in vectors.items()]
        return self._guarded(lambda connection: _insert(connection, rows)) is not None

    def notes(self) -> tuple[str, ...]:
        """Report what happened to the store since the last call."""
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
                self._timeout = TIMEOUT_AGAIN
                self.refusal = getattr(error, "strerror", None) or str(error)
                return None

    def _attempt(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            with _opened(self.path, self._timeout) as connection:
                return work(connection)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                raise
        if _is_damaged(self.path):  # another process may have put it right meanwhile
            self._rescues.append(_rescue(self.path))
        with _opened(self.path, self._timeout) as connection:
            return work(connection)


@contextmanager
def _opened(path: Path, timeout: float = TIMEOUT) -> Iterator[sqlite3.Connection]:
    """Open the database, made where there is none, for as long as it takes."""
    with closing(sqlite3.connect(path, timeout=timeout, isolation_level="IMMEDIATE")) as connection:
        connection.execute(_TABLE)
        yield connection


def _insert(
    connection: sqlite3.Connection, rows: Iterable[Sequence[Any]], known: str = "REPLACE"
) -> int:
    """Write rows in one transaction; return how many. ``known="IGNORE"`` keeps those there are."""
    insert = f"INSERT OR {known} INTO vectors VALUES (?, ?, ?, ?, ?)"
    with connection:
        return connection.executemany(insert, rows).rowcount


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError:
        return True


def _rescue(path: Path) -> str:
    """Set a damaged database aside, copy what can be read of it, and say so."""
    aside = path.with_name(f"{path.stem}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
    path.rename(aside)
    with suppress(FileNotFoundError):  # else it would be rolled back into the new database
        Path(f"{path}-journal").rename(f"{aside}-journal")
    with _opened(path) as connection:
        rescued = _insert(connection, _readable(aside), known="IGNORE")
    return f"{path} was damaged and is now {aside.name}; {_count(rescued, 'vector')} read from it"


def _readable(path: Path) -> Iterator[Sequence[Any]]:
    """Return the rows of a damaged database up to the damage: from its beginning, and its end."""
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as connection:
            rows = connection.execute(f"SELECT * FROM vectors ORDER BY rowid {order}")
            yield from (row for row in rows if _checked(row) is not None)


def _selected(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for first in range(0, len(keys), _KEYS_A_QUERY):
        some = keys[first : first + _KEYS_A_QUERY]
        marks = ", ".join("?" * len(some))
        rows += connection.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", some)
    return rows


def _as_row(key: bytes, stored: StoredVector) -> tuple[Any, ...]:
    """Write a vector as a row of the table."""
    model = stored.model.encode()
    content = np.ascontiguousarray(stored.vector, dtype="<f4").tobytes()
    return key, model, len(stored.vector), zlib.crc32(key + model + content), content


def _checked(row: Sequence[Any]) -> StoredVector | None:
    """Read a row of the table; None where it is damaged."""
    key, model, width, checksum, content = row
    try:
        whole = len(content) == 4 * width > 0 and checksum == zlib.crc32(key + model + content)
    except TypeError:
        return None
    if not whole:
        return None
    vector = np.frombuffer(content, dtype="<f4").astype(np.float32)
    return StoredVector(vector, model.decode("utf-8", "replace"))


def _count(number: int, noun: str) -> str:
    return f"1 {noun} was" if number == 1 else f"{number:,} {noun}s were"


Vectors = dict[str, NDArray[np.float32]]


class PaidVectors:
    """The vectors of one model in a run, stored or new, for several threads.

    Parameters
    ----------
    address, model, size
        The service, the model's name there, and the numbers that a vector should have (None: the
        model's own).
    """

    def __init__(self, address: Address, model: str, size: int | None) -> None:
        self.service = f"endpoint|url:{address.unversioned('embeddings')}|model:{model}|size:{size}"
        self.width = size
        self._where, self._model, self._size = address.shown, model, size
        self._store: VectorStore | None = None
        self._lock = Lock()
        self._total = Counter[str]()  # different texts seen, vectors known, and safe on disk
        self._since = Counter[str]()  # what is to be noted next
        self._models: dict[str, None] = {}  # in the order of appearance
        self._models_noted = 1

    def keep_in(self, folder: Path | None) -> None:
        """Store vectors in a database in this folder; None for nowhere."""
        self._store = None if folder is None else VectorStore(Path(folder))

    @property
    def served(self) -> tuple[str, ...]:
        """The service's names of the model, in order of appearance."""
        return tuple(self._models)

    def look_up(self, texts: list[str], *, empty: int) -> Vectors:
        """Return the vectors stored before; `empty` samples had no character."""
        keys = {self._key(text): text for text in texts}
        stored = {} if self._store is None else self._store.find(list(keys))
        for vector, model in stored.values():
            self._check(vector.shape[0], model)
        known = len(stored)
        self._total.update(seen=len(texts), known=known, safe=known)
        self._since.update(kept=known, empty=empty)
        return {keys[key]: vector for key, (vector, _) in stored.items()}

    def accept(self, texts: list[str], answer: EmbeddingAnswer) -> Vectors:
        """Check the vectors of an answer and store them.

        Raises
        ------
        CalipersError
            If they are not as long as those before.
        """
        model, count = answer.model or "", len(texts)
        with self._lock:
            self._check(answer.vectors.shape[1], model)
        vectors = dict(zip(texts, answer.vectors, strict=True))
        rows = {self._key(text): StoredVector(row, model) for text, row in vectors.items()}
        safe = self._store is not None and self._store.keep(rows)
        with self._lock:
            self._total.update(known=count, safe=count if safe else 0)
            self._since.update(sent=count, tokens=answer.tokens or 0)
        return vectors

    def told(self) -> tuple[str, ...]:
        """Report what happened since the last call."""
        with self._lock:
            since, self._since = self._since, Counter()
            several = len(self._models) > self._models_noted
            self._models_noted = max(len(self._models), 1)
        notes = []
        if since["sent"]:
            tokens = f" ({since['tokens']:,} tokens)" if since["tokens"] else ""
            before = (
                f"; {_count(since['kept'], 'vector')} kept from before" if since["kept"] else ""
            )
            notes.append(f"{_count(since['sent'], 'text')} sent to {self._where}{tokens}{before}")
        if since["empty"]:
            notes.append(f"{_count(since['empty'], 'empty text')} sent as a space")
        if several:
            names = " and ".join(map(repr, self._models))
            notes.append(
                f"{self._where} answered as {names}: the vectors may be of different models"
            )
        return (*notes, *(() if self._store is None else self._store.notes()))

    def standing(self) -> str:
        """Describe what is stored, for the error that ends a run; empty where nothing is."""
        if not self._total["known"]:
            return ""
        if self._store is None:
            return "No answers are kept, because there is no cache folder"
        if self._store.refusal:
            return f"Some answers could not be kept in {self._store.path} ({self._store.refusal})"
        return (
            f"The same command continues from here: {self._total['safe']:,} of "
            f"{self._total['seen']:,} vectors so far are kept in {self._store.path}"
        )

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.service}\0{text}".encode()).digest()

    def _check(self, width: int, model: str) -> None:
        """Refuse vectors of another size than those before; remember what the model was called."""
        if model:
            self._models.setdefault(model)
        if self.width is None:
            self.width = width
        if width == self.width:
            return
        if self._size is not None:
            raise CalipersError(
                f"{self._where}: the size asked for is {self._size:,}, but the vectors have "
                f"{width:,} numbers; if {self._model!r} comes in no other size, leave the size out"
            )
        note = "" if self._store is None else f" (those from before are in {self._store.path})"
        raise CalipersError(
            f"{self._where}: the vectors of {self._model!r} must be equally long; they had "
            f"{self.width:,} numbers at first and have {width:,} now{note}. The service has "
            "another model behind the name; with another cache folder all texts are sent anew"
        )
