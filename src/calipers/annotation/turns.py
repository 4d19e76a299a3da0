"""The turns of annotators: the next item, an answer, its correction, and their progress.

An item that is shown is lent: for half an hour nobody else gets it in the place of this annotator.
One that was not answered by then goes to whoever asks next, and the annotator who comes back gets
it again only while it still lacks ratings. An answer that arrives after all is kept.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from calipers.annotation.assignment import (
    Candidate,
    First,
    check_places,
    choose,
    choose_first,
    tally,
)
from calipers.annotation.settings import StudySettings, answers_from_json, item_from_json
from calipers.annotation.store import Store
from calipers.judgements.items import Item, RatedTexts

LEASE = 1800.0
"""Seconds for which a shown item is kept for its annotator; a longer pause restarts its clock."""

TAKEN = "(answered = 1 OR (withdrawn = 0 AND served > :since))"
"""Which showings of an item count as a rating, given or under way."""


@dataclass(frozen=True)
class Annotator:
    """An annotator: a number in the file, a name, and the token of the link."""

    number: int
    name: str
    token: str


@dataclass(frozen=True)
class Turn:
    """An item as shown to one annotator.

    Attributes
    ----------
    place
        Its number in the row of this annotator's items, from 1.
    item
        What is shown.
    first
        Which text of a pair stands first.
    answers
        What was answered, of the texts as they stand: 1 is "definitely the first". None before.
    previous
        Place of the item that was answered before it, if there is one.
    """

    place: int
    item: Item | RatedTexts
    first: First
    answers: Mapping[str, int] | None
    previous: int | None


@dataclass(frozen=True)
class AnnotatorProgress:
    """The progress of an annotator: items answered, items expected, and the last one answered."""

    answered: int
    goal: int
    last: int | None


class Turns:
    """The turns of all annotators of a study."""

    def __init__(
        self, store: Store, settings: StudySettings, clock: Callable[[], float] = time.time
    ) -> None:
        self.store = store
        self.settings = settings
        self._clock = clock

    def next(self, annotator: Annotator) -> int | None:
        """Return the number of the annotator's next item, and reserve the item.

        Returns
        -------
        int or None
            None if there is nothing for this annotator now.
        """
        with self.store.writing() as db:
            now = self._clock()
            open_turn = db.execute(
                "SELECT * FROM shown WHERE annotator = ? AND answered = 0 AND withdrawn = 0"
                " ORDER BY place LIMIT 1",
                (annotator.number,),
            ).fetchone()
            if open_turn is not None:
                if self._still_wanted(db, open_turn, now):
                    return int(open_turn["place"])
                db.execute("UPDATE shown SET withdrawn = 1 WHERE shown = ?", (open_turn["shown"],))
            chosen = self._choose(db, annotator, now)
            return None if chosen is None else self._lend(db, annotator, chosen, now)

    def turn(self, annotator: Annotator, place: int) -> Turn | None:
        """Show an item reserved for the annotator; its clock starts, or continues.

        Returns
        -------
        Turn or None
            None if there is no such place.
        """
        with self.store.writing() as db:
            now = self._clock()
            row = _shown(db, annotator, place)
            if row is None:
                return None
            paused = row["opened"] is None or now - row["served"] > LEASE
            db.execute(
                "UPDATE shown SET opened = ?, served = ? WHERE shown = ?",
                (now if paused else row["opened"], now, row["shown"]),
            )
            (previous,) = db.execute(
                "SELECT MAX(place) FROM shown WHERE annotator = ? AND place < ? AND answered = 1",
                (annotator.number, place),
            ).fetchone()
            given = _answers(db, row["shown"], self.settings)
            return Turn(
                place=place,
                item=item_from_json(row["content"]),
                first=row["first"],
                answers=None if given is None else self.turned(given, row["first"]),
                previous=previous,
            )

    def answer(self, annotator: Annotator, place: int, answers: Mapping[str, int]) -> bool:
        """Save an answer: it is on disk when this returns.

        The same answer once more changes nothing; another one becomes a revision, and what was
        answered before is kept beside it.

        Parameters
        ----------
        answers
            Of the texts as they stand on the page, checked against the rubric.

        Returns
        -------
        bool
            Whether there is such a place.
        """
        with self.store.writing() as db:
            now = self._clock()
            row = _shown(db, annotator, place)
            if row is None:
                return False
            turned = self.turned(answers, row["first"])
            if _answers(db, row["shown"], self.settings) == turned:
                return True
            revision, before = db.execute(
                "SELECT COUNT(*), MAX(seconds) FROM answers WHERE shown = ?", (row["shown"],)
            ).fetchone()
            watched = 0.0 if row["opened"] is None else max(0.0, now - row["opened"])
            db.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?)",
                (
                    row["shown"],
                    revision,
                    json.dumps(turned),
                    round((before or 0.0) + watched, 3),
                    datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
                ),
            )
            db.execute(
                "UPDATE shown SET answered = 1, opened = NULL WHERE shown = ?", (row["shown"],)
            )
            return True

    def progress(self, annotator: Annotator) -> AnnotatorProgress:
        """Return the progress of an annotator."""
        with self.store.reading() as db:
            answered, last = db.execute(
                "SELECT COUNT(*), MAX(place) FROM shown WHERE annotator = ? AND answered = 1",
                (annotator.number,),
            ).fetchone()
            checks = min(self.settings.checks, _count(db, "items WHERE is_check = 1"))
            return AnnotatorProgress(answered, self._share(db) + checks, last)

    def pending(self, annotator: Annotator) -> int:
        """Count the items that others have open and that may still come to this annotator."""
        most = self.settings.per_annotator
        with self.store.reading() as db:
            if most is not None and _seen(db, annotator) >= most:
                return 0
            (count,) = db.execute(
                "SELECT COUNT(*) FROM items WHERE is_check = 0"
                " AND item NOT IN (SELECT item FROM shown WHERE annotator = :annotator)"
                " AND (SELECT COUNT(*) FROM shown WHERE shown.item = items.item AND answered = 1)"
                " < :wanted",
                {"annotator": annotator.number, "wanted": self.settings.ratings_per_item},
            ).fetchone()
            return int(count)

    def turned(self, answers: Mapping[str, int], first: str) -> dict[str, int]:
        """Convert answers about a and b into answers about the texts as shown, or back."""
        if first != "b" or self.settings.rubric.task != "pairs":
            return dict(answers)
        ends = {
            question.name: question.least + question.most
            for question in self.settings.rubric.questions
        }
        return {name: ends[name] - value for name, value in answers.items()}

    def _share(self, db: sqlite3.Connection) -> int:
        """Items that an annotator is expected to answer: an even share of all."""
        items = _count(db, "items WHERE is_check = 0")
        people = max(1, _count(db, "annotators"))
        even = min(items, math.ceil(items * self.settings.ratings_per_item / people))
        most = self.settings.per_annotator
        return even if most is None else min(most, items)

    def _still_wanted(self, db: sqlite3.Connection, row: sqlite3.Row, now: float) -> bool:
        """Whether an item that was not answered is shown again."""
        if row["served"] > now - LEASE:
            return True
        (others, check) = db.execute(
            f"SELECT COUNT(shown), is_check FROM items LEFT JOIN shown ON shown.item = items.item"
            f" AND {TAKEN} AND shown <> :shown WHERE items.item = :item",
            {"since": now - LEASE, "shown": row["shown"], "item": row["item"]},
        ).fetchone()
        return bool(check) or others < self.settings.ratings_per_item

    def _choose(self, db: sqlite3.Connection, annotator: Annotator, now: float) -> int | None:
        seen = db.execute(
            "SELECT stratum, is_check FROM shown JOIN items USING (item)"
            " WHERE annotator = ? AND withdrawn = 0",
            (annotator.number,),
        ).fetchall()
        real = [row["stratum"] for row in seen if not row["is_check"]]
        checks = len(seen) - len(real)
        if self._check_is_due(db, annotator, len(real), checks):
            check = self._next_check(db, annotator)
            if check is not None:
                return check
        most = self.settings.per_annotator
        if most is not None and len(real) >= most:
            return self._next_check(db, annotator) if checks < self.settings.checks else None
        rows = db.execute(
            f"SELECT items.item, stratum, COALESCE(taken, 0) AS taken,"
            f" EXISTS (SELECT 1 FROM shown AS own WHERE own.item = items.item"
            f" AND own.annotator = :annotator) AS seen"
            f" FROM items LEFT JOIN (SELECT item, SUM({TAKEN}) AS taken FROM shown GROUP BY item)"
            f" AS ratings ON ratings.item = items.item WHERE is_check = 0",
            {"annotator": annotator.number, "since": now - LEASE},
        ).fetchall()
        wanted = self.settings.ratings_per_item
        totals = tally(row["stratum"] for row in rows)
        taken: dict[str, float] = dict.fromkeys(totals, 0.0)
        for row in rows:
            taken[row["stratum"]] += row["taken"] / (wanted * totals[row["stratum"]])
        chosen = choose(
            [
                Candidate(row["item"], row["stratum"])
                for row in rows
                if row["taken"] < wanted and not row["seen"]
            ],
            shown=tally(real),
            everyone=taken,
            seed=self.settings.seed,
            annotator=annotator.number,
        )
        return None if chosen is None else chosen.item

    def _check_is_due(
        self, db: sqlite3.Connection, annotator: Annotator, real: int, checks: int
    ) -> bool:
        if checks >= self.settings.checks:
            return False
        places = check_places(
            self.settings.checks,
            self._share(db),
            seed=self.settings.seed,
            annotator=annotator.number,
        )
        return real >= places[checks]

    def _next_check(self, db: sqlite3.Connection, annotator: Annotator) -> int | None:
        """Return a check that the annotator has not seen, one that few others have."""
        row = db.execute(
            "SELECT item FROM items WHERE is_check = 1"
            " AND item NOT IN (SELECT item FROM shown WHERE annotator = ?)"
            " ORDER BY (SELECT COUNT(*) FROM shown WHERE shown.item = items.item), item LIMIT 1",
            (annotator.number,),
        ).fetchone()
        return None if row is None else int(row["item"])

    def _lend(self, db: sqlite3.Connection, annotator: Annotator, item: int, now: float) -> int:
        counts = tally(
            row["first"] for row in db.execute("SELECT first FROM shown WHERE item = ?", (item,))
        )
        first = choose_first(counts, seed=self.settings.seed, annotator=annotator.number, item=item)
        (last,) = db.execute(
            "SELECT COALESCE(MAX(place), 0) FROM shown WHERE annotator = ?", (annotator.number,)
        ).fetchone()
        db.execute(
            "INSERT INTO shown (annotator, item, place, first, opened, served)"
            " VALUES (?, ?, ?, ?, NULL, ?)",
            (annotator.number, item, last + 1, first, now),
        )
        return int(last) + 1


def _shown(db: sqlite3.Connection, annotator: Annotator, place: int) -> sqlite3.Row | None:
    row = db.execute(
        "SELECT shown.*, content FROM shown JOIN items USING (item)"
        " WHERE annotator = ? AND place = ?",
        (annotator.number, place),
    ).fetchone()
    return cast("sqlite3.Row | None", row)


def _answers(
    db: sqlite3.Connection, shown: int, settings: StudySettings
) -> Mapping[str, int] | None:
    """Return the answers in force."""
    row = db.execute(
        "SELECT answers FROM answers WHERE shown = ? ORDER BY revision DESC LIMIT 1", (shown,)
    ).fetchone()
    return None if row is None else answers_from_json(row["answers"], settings.rubric)


def _seen(db: sqlite3.Connection, annotator: Annotator) -> int:
    """Count the items that an annotator was shown, besides checks."""
    (count,) = db.execute(
        "SELECT COUNT(*) FROM shown JOIN items USING (item)"
        " WHERE annotator = ? AND withdrawn = 0 AND is_check = 0",
        (annotator.number,),
    ).fetchone()
    return int(count)


def _count(db: sqlite3.Connection, what: str) -> int:
    return int(db.execute(f"SELECT COUNT(*) FROM {what}").fetchone()[0])
