"""The file of a study: an SQLite database of items, annotators and all answers.

Each answer is one transaction, on disk (``synchronous=FULL``) before the next page is sent, so that
a process that is killed loses none. On a local disk the database keeps a write-ahead log; on a
folder of a network, and wherever the kind of disk is unknown, a rollback journal, since the log
needs memory shared by all who write. Several processes may open one study: whatever depends on what
others wrote is decided within one transaction.

What is in the file is data, whoever wrote it: a database with anything but these tables is refused.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from calipers.errors import InputError
from calipers.files import at_home, check_plain

APPLICATION = 0x43414C41
"""What says in the head of the file that it is a study."""

VERSION = 1
"""Of the tables."""

LEAST_FREE = 1 << 16
"""Bytes of free space below which an error of reading or writing is for want of it."""

TIMEOUT = 15.0
"""Seconds to wait while another process writes."""

TABLES = (
    "CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE items (item INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " stratum TEXT NOT NULL, is_check INTEGER NOT NULL, content TEXT NOT NULL)",
    "CREATE TABLE annotators (annotator INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " token TEXT NOT NULL UNIQUE, added TEXT NOT NULL)",
    "CREATE TABLE shown (shown INTEGER PRIMARY KEY,"
    " annotator INTEGER NOT NULL REFERENCES annotators, item INTEGER NOT NULL REFERENCES items,"
    " place INTEGER NOT NULL, first TEXT NOT NULL, opened REAL, served REAL NOT NULL,"
    " answered INTEGER NOT NULL DEFAULT 0, withdrawn INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE (annotator, item), UNIQUE (annotator, place))",
    "CREATE INDEX shown_of_item ON shown (item)",
    "CREATE TABLE answers (shown INTEGER NOT NULL REFERENCES shown, revision INTEGER NOT NULL,"
    " answers TEXT NOT NULL, seconds REAL, time TEXT NOT NULL, PRIMARY KEY (shown, revision))",
)

LOCAL = frozenset(
    {"apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs"}
    | {"reiserfs", "tmpfs", "ufs", "vfat", "xfs", "zfs"}
)
"""File systems of one machine, as Linux calls them."""


class DamagedError(ValueError):
    """The contents of a study file are damaged; the store adds which file it is."""


class Store:
    """An open study file; any thread may use its connection, one at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._number = os.stat(path).st_ino

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Making:
        """Create a study file; it appears under its name once it is complete.

        Raises
        ------
        InputError
            If there is a file, or none can be written.
        """
        target = at_home(path)
        if target.exists():
            raise InputError(f"{target}: the file already exists; choose another name")
        folder = target.absolute().parent
        if not folder.is_dir():
            raise InputError(f"{target}: there is no folder {folder}")
        if not target.name.strip():
            raise InputError(f"{target}: a study needs the name of a file, such as study.sqlite")
        return Making(target)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a study file.

        Raises
        ------
        InputError
            If there is none, it is no study, or it is damaged.
        """
        target = at_home(path)
        if not target.exists():
            raise InputError(f"{target}: there is no such study")
        check_plain(target)
        if target.is_dir():
            raise InputError(f"{target}: a study is a file, but this is a folder")
        try:
            connection = _connect(target)
            try:
                _set_up(connection)
                _check(connection, target)
                _journal(connection, target)
            except BaseException:
                connection.close()
                raise
        except sqlite3.OperationalError as error:
            raise InputError(f"{target}: cannot be opened: {error}") from error
        except sqlite3.Error as error:
            raise InputError(f"{target}: is not a study, or is damaged: {error}") from error
        return cls(target, connection)

    def close(self) -> None:
        """Close the file; everything written is kept."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read within one transaction.

        Raises
        ------
        InputError
            If the file is damaged.
        """
        with self._lock, self._told():
            if self._connection.in_transaction:  # within another step of this thread
                yield self._connection
                return
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                with suppress(sqlite3.Error):
                    self._connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Read and write as one transaction that is on disk when it ends, or has no effect.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        with self._lock, self._told():
            self._check_there()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _check_there(self) -> None:
        """Refuse to write to a file that was taken away: nobody would find it again."""
        try:
            there = os.stat(self.path).st_ino == self._number
        except OSError:
            there = False
        if not there:
            raise InputError(f"{self.path}: was moved or deleted while it was open")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except DamagedError as error:
            raise InputError(f"{self.path}: is damaged: {error}") from error
        except sqlite3.Error as error:
            if is_full(error, self.path):
                raise InputError(
                    f"{self.path}: no space is left on the disk that holds it. What was being "
                    "written is not in the study, and everything before it is; free some space, "
                    "and send it again"
                ) from error
            raise InputError(f"{self.path}: cannot be read or written: {error}") from error


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Tell whether an error means a full disk, which SQLite does not always report as such."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what makes it more precise
    if code == sqlite3.SQLITE_FULL:
        return True
    try:
        return code == sqlite3.SQLITE_IOERR and shutil.disk_usage(path.parent).free < LEAST_FREE
    except OSError:
        return False


class Making:
    """A study that is being written to a temporary file beside its final path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fresh = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Return the empty tables; at the end the file is renamed, unless the name is taken.

        Raises
        ------
        InputError
            If it cannot be written, or there is such a file by now.
        """
        try:
            os.close(os.open(self._fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with closing(_connect(self._fresh)) as connection:
                _set_up(connection)
                connection.execute("BEGIN IMMEDIATE")
                for table in TABLES:
                    connection.execute(table)
                yield connection
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            self._take_place()
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            if isinstance(error, sqlite3.Error) and is_full(error, self._fresh):
                reason = "no space is left on the disk"
            raise InputError(f"{self.path}: cannot be written: {reason}") from error
        finally:
            with suppress(OSError):
                self._fresh.unlink(missing_ok=True)

    def _take_place(self) -> None:
        try:
            os.link(self._fresh, self.path)
        except FileExistsError:
            raise InputError(
                f"{self.path}: another run has created this study in the meantime; start it "
                "without samples"
            ) from None
        except OSError:  # a disk without links
            os.replace(self._fresh, self.path)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.row_factory = sqlite3.Row
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no study of this version, or one that is damaged."""
    if _number(connection, "application_id") != APPLICATION:
        raise InputError(f"{path}: is not a study made by calipers annotate")
    version = _number(connection, "user_version")
    if version != VERSION:
        raise InputError(
            f"{path}: is a study of version {version}, but this Calipers reads version {VERSION}"
        )
    made = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    if sorted(row[0] for row in connection.execute(made)) != sorted(TABLES):
        raise InputError(f"{path}: is damaged: it has other tables than a study")
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise InputError(f"{path}: is damaged: {state}")


def _number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _journal(connection: sqlite3.Connection, path: Path) -> None:
    """Keep a write-ahead log on a disk of this machine, a rollback journal elsewhere."""
    mode = "WAL" if is_local(path) else "DELETE"
    with suppress(sqlite3.OperationalError):  # another process holds it: its mode is right too
        connection.execute(f"PRAGMA journal_mode = {mode}")


def is_local(path: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Tell whether a path is known to lie on a disk of this machine."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    place = Path(os.path.realpath(path))
    kinds = {}
    for line in lines:
        _, folder, kind, *_ = [*line.split(" "), "", "", ""]
        kinds[Path(folder.replace("\\040", " "))] = kind
    return next((kinds[parent] for parent in place.parents if parent in kinds), "") in LOCAL
