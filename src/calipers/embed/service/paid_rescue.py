"""What becomes of a damaged database of paid vectors: set aside, and read as far as it goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from calipers.embed.service.paid_texts import as_row, checked, insert, opened

_AT_ONCE = 200
_SIDES = ("ASC", "DESC")


def rescue(path: Path) -> str | None:
    """Set a damaged database aside and carry over what can be read of it.

    Returns
    -------
    str or None
        What a person must be told; None if another process has put it right meanwhile.

    Raises
    ------
    OSError
        If the file cannot be moved.
    sqlite3.Error
        If the new database cannot be written.
    """
    if not _broken(path):
        return None
    aside = _set_aside(path)
    kept = 0
    rows = _readable(aside)
    while part := list(islice(rows, _AT_ONCE)):
        with opened(path) as connection:
            kept += insert(connection, part)
    vectors = "1 vector was" if kept == 1 else f"{kept:,} vectors were"
    return f"{path} was damaged and is now {aside.name}; {vectors} read from it"


def _broken(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError:
        return True


def _set_aside(path: Path) -> Path:
    """Move a database and its journal to a name that is free."""
    day = f"{datetime.now():%Y%m%d-%H%M%S}"
    names = (f"{path.stem}.damaged-{day}{again}{path.suffix}" for again in _counted())
    aside = next(place for name in names if not (place := path.with_name(name)).exists())
    path.rename(aside)
    with suppress(FileNotFoundError):
        Path(f"{path}-journal").rename(f"{aside}-journal")
    return aside


def _counted() -> Iterator[str]:
    yield ""
    yield from (f"-{number}" for number in range(2, 1000))


def _readable(path: Path) -> Iterator[tuple[Any, ...]]:
    """Give the whole rows of a damaged database: from its beginning, then from its end."""
    reached = 0
    for side in _SIDES:
        for rowid, *row in _walked(path, side):
            if side == "DESC" and rowid <= reached:
                return
            reached = rowid if side == "ASC" else reached
            paid = checked(row)
            if paid is not None:
                yield as_row((row[0], paid))


def _walked(path: Path, side: str) -> Iterator[tuple[Any, ...]]:
    """Give rows until the damage; nothing is written to the file."""
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(address, uri=True)) as connection,
    ):
        yield from connection.execute(f"SELECT rowid, * FROM vectors ORDER BY rowid {side}")
