"""A study: the items that people judge, the annotators with their links, and the answers.

:func:`calipers.commands.annotate.run.annotate` makes one or opens it. ``study.serve()`` shows it to
people; ``study.judgements()`` gives their answers, ``study.export()`` writes them.
"""

from __future__ import annotations

import hmac
import re
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calipers._version import __version__
from calipers.annotation.settings import (
    HOST,
    PORT,
    StudySettings,
    answers_from_json,
    item_from_json,
    item_to_json,
    stratum_of,
    systems_of,
)
from calipers.annotation.status import (
    StratumStatus,
    StudyStatus,
    agreement_of,
    annotator_statuses,
)
from calipers.annotation.store import Store
from calipers.annotation.turns import Annotator, Turns
from calipers.errors import InputError, check_unicode
from calipers.judgements.items import Item, RatedTexts, passes_check
from calipers.judgements.judgement import FAILED_CHECKS, TOO_FAST, PairJudgement, Rating
from calipers.judgements.rubric import Rubric
from calipers.judgements.tables import check_questions
from calipers.samples.wording import counted
from calipers.wording.printable import printable

ALLOWED = 1 / 3
"""Share of the attention checks that an annotator may fail before all answers are flagged."""

LONGEST_NAME = 80
MOST_ANNOTATORS = 2_000

_IN_FORCE = (
    "SELECT shown.*, items.id, content, is_check, name, answers, seconds, time, revision"
    " FROM answers JOIN shown USING (shown) JOIN items USING (item) JOIN annotators"
    " USING (annotator) WHERE revision = (SELECT MAX(revision) FROM answers AS other"
    " WHERE other.shown = shown.shown) ORDER BY annotators.annotator, shown.place"
)

_RATINGS = (
    "SELECT stratum, (SELECT COUNT(*) FROM shown WHERE shown.item = items.item AND answered = 1)"
    " AS given FROM items WHERE is_check = 0"
)


@dataclass(frozen=True)
class Answered:
    """One valid answer: its annotator, its item, and its values."""

    annotator: str
    item_id: str
    item: Item | RatedTexts
    first: str
    answers: Mapping[str, int]
    seconds: float | None
    time: str


class AnnotationStudy:
    """An open study.

    Attributes
    ----------
    path
        Its file.
    settings
        What was fixed when it was made.
    turns
        What annotators are shown and answer.
    """

    def __init__(
        self, store: Store, settings: StudySettings, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self.path = store.path
        self.settings = settings
        self.turns = Turns(store, settings, clock)

    @classmethod
    def open(cls, path: str | Path, *, clock: Callable[[], float] = time.time) -> AnnotationStudy:
        """Open the file of a study.

        Raises
        ------
        InputError
            If there is none, it is no study, or it is damaged.
        """
        store = Store.open(path)
        try:
            with store.reading() as db:
                settings = StudySettings.read(db)
        except InputError:
            store.close()
            raise
        return cls(store, settings, clock)

    @classmethod
    def make(
        cls,
        path: str | Path,
        items: Sequence[Item | RatedTexts],
        *,
        rubric: Rubric,
        annotators: int | Sequence[str] = 1,
        checks: Sequence[Item] = (),
        ratings_per_item: int = 1,
        least_seconds: float = 25.0,
        checks_per_annotator: int | None = None,
        per_annotator: int | None = None,
        seed: int = 0,
        notes: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> AnnotationStudy:
        """Make a study of some items; its file appears once it is complete.

        Parameters
        ----------
        path
            The file, which must not be there yet.
        items
            What is judged; each once.
        rubric
            What is asked of each.
        annotators
            How many, or their names.
        checks
            Attention checks.
        ratings_per_item, least_seconds, per_annotator, seed, notes
            As in :class:`~calipers.annotation.settings.StudySettings`.
        checks_per_annotator
            How many checks each annotator is shown; all if None.

        Raises
        ------
        InputError
            If there are no items, too few annotators, a question is called as a column of the
            export is, or the file cannot be written.
        """
        names = annotator_names(annotators)
        check_questions(question.name for question in rubric.questions)
        if not items:
            raise InputError("a study needs at least one item to be judged; found none")
        if ratings_per_item > len(names):
            raise InputError(
                f"ratings_per_item is {ratings_per_item}, but there "
                f"{'is' if len(names) == 1 else 'are'} {counted(len(names), 'annotator')}, and "
                "nobody rates an item twice; give at least as many annotators"
            )
        systems = dict.fromkeys(
            name
            for item in items
            for name in ((item.a, item.b) if isinstance(item, Item) else (item.system,))
        )
        most = len(checks) if checks_per_annotator is None else checks_per_annotator
        settings = StudySettings(
            rubric=rubric,
            systems=tuple(systems),
            ratings_per_item=ratings_per_item,
            least_seconds=float(least_seconds),
            checks=min(most, len(checks)),
            per_annotator=per_annotator,
            seed=seed,
            made=_utc(clock()),
            calipers=__version__,
            notes=tuple(notes),
            name=secrets.token_hex(4),
            key=secrets.token_hex(32),
            overview=_token(),
        )
        unique = {item.id: item for item in items}
        with Store.create(path).writing() as db:
            settings.write(db)
            rows = [(id, stratum_of(item), 0, item_to_json(item)) for id, item in unique.items()]
            rows += [
                (item.id, stratum_of(item), 1, item_to_json(item))
                for item in {item.id: item for item in checks if item.id not in unique}.values()
            ]
            db.executemany(
                "INSERT INTO items (id, stratum, is_check, content) VALUES (?, ?, ?, ?)", rows
            )
            _add(db, names, _utc(clock()))
        return cls.open(path, clock=clock)

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> AnnotationStudy:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {str(self.path)!r} of {self.settings.rubric.task}>"

    # People ----------------------------------------------------------------------------------

    @property
    def annotators(self) -> tuple[Annotator, ...]:
        """All annotators, in the order in which they were added."""
        with self._store.reading() as db:
            rows = db.execute("SELECT * FROM annotators ORDER BY annotator").fetchall()
        return tuple(Annotator(row["annotator"], row["name"], row["token"]) for row in rows)

    def add_annotators(self, annotators: int | Sequence[str]) -> tuple[Annotator, ...]:
        """Add annotators to a study, even while it is served.

        Parameters
        ----------
        annotators
            How many, or their names.

        Raises
        ------
        InputError
            If a name is taken already, or is not valid.
        """
        known = {annotator.name for annotator in self.annotators}
        names = annotator_names(annotators, known)
        taken = next((name for name in names if name in known), None)
        if taken is not None:
            raise InputError(f"{self.path}: there is an annotator {taken!r} already")
        with self._store.writing() as db:
            _add(db, names, _utc(time.time()))
        return tuple(annotator for annotator in self.annotators if annotator.name in set(names))

    def annotator(self, token: str) -> Annotator | None:
        """Find the owner of a token, in a time that reveals nothing about the tokens."""
        owner = None
        for annotator in self.annotators:
            if hmac.compare_digest(annotator.token.encode(), token.encode("utf-8", "replace")):
                owner = annotator
        return owner

    def is_overview(self, token: str) -> bool:
        """Whether a token belongs to the person who runs the study."""
        return hmac.compare_digest(
            self.settings.overview.encode(), token.encode("utf-8", "replace")
        )

    @property
    def links(self) -> dict[str, str]:
        """The links of the annotators by name, at the default address."""
        return self.links_at(f"http://{HOST}:{PORT}")

    @property
    def overview_link(self) -> str:
        """The link of the person who runs the study, at the default address."""
        return self.overview_at(f"http://{HOST}:{PORT}")

    def links_at(self, address: str) -> dict[str, str]:
        """Return the links of the annotators for a server at the given address."""
        return {annotator.name: f"{address}/a/{annotator.token}" for annotator in self.annotators}

    def overview_at(self, address: str) -> str:
        """Return the link of the person who runs the study, at the given address."""
        return f"{address}/o/{self.settings.overview}"

    # Judgements ------------------------------------------------------------------------------

    def items(self, *, checks: bool = False) -> list[Item | RatedTexts]:
        """Return all items; attention checks only on request."""
        with self._store.reading() as db:
            rows = db.execute(
                "SELECT content FROM items WHERE is_check = 0 OR ? ORDER BY item", (checks,)
            )
            return [item_from_json(row["content"]) for row in rows]

    def answered(self) -> list[Answered]:
        """Return every valid answer, including those to attention checks."""
        with self._store.reading() as db:
            return [
                Answered(
                    annotator=row["name"],
                    item_id=row["id"],
                    item=item_from_json(row["content"]),
                    first=row["first"],
                    answers=answers_from_json(row["answers"], self.settings.rubric),
                    seconds=row["seconds"],
                    time=row["time"],
                )
                for row in db.execute(_IN_FORCE)
            ]

    def judgements(self) -> list[PairJudgement] | list[Rating]:
        """Return all judgements with flags; attention checks only as counts per annotator.

        Returns
        -------
        list of PairJudgement, or of Rating
            Whichever the rubric asks for.
        """
        answered = self.answered()
        checks = checks_of(answered)
        pairs: list[PairJudgement] = []
        ratings: list[Rating] = []
        for answer in answered:
            item = answer.item
            flags = self._flags(answer, checks)
            if isinstance(item, RatedTexts):
                ratings.append(
                    Rating(
                        item=answer.item_id,
                        system=item.system,
                        answers=answer.answers,
                        rater=answer.annotator,
                        rater_kind="person",
                        seconds=answer.seconds,
                        time=answer.time,
                        flags=flags,
                    )
                )
            elif not item.check:
                passed, shown = checks.get(answer.annotator, (0, 0))
                pairs.append(
                    PairJudgement(
                        item=answer.item_id,
                        a=item.a,
                        b=item.b,
                        answers=answer.answers,
                        rater=answer.annotator,
                        rater_kind="person",
                        first="b" if answer.first == "b" else "a",
                        seconds=answer.seconds,
                        time=answer.time,
                        flags=flags,
                        checks=f"{passed}/{shown}" if shown else "",
                    )
                )
        return pairs if self.settings.rubric.task == "pairs" else ratings

    def _flags(self, answer: Answered, checks: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
        passed, shown = checks.get(answer.annotator, (0, 0))
        fast = answer.seconds is not None and answer.seconds < self.settings.least_seconds
        failed = shown - passed > ALLOWED * shown
        return (*((TOO_FAST,) if fast else ()), *((FAILED_CHECKS,) if failed else ()))

    def status(self, *, agreement: bool = True) -> StudyStatus:
        """Return the progress of the study: items, annotators, checks, agreement.

        Parameters
        ----------
        agreement
            Whether to measure how far annotators agree, which takes about a second.
        """
        with self._store.reading() as db:
            rows = db.execute(_RATINGS).fetchall()
            answered, judged = self.answered(), self.judgements()
            names = [annotator.name for annotator in self.annotators]
            named = {row["stratum"]: systems_of(row["stratum"]) for row in rows}
        strata: dict[str, list[int]] = {}
        wanted = self.settings.ratings_per_item
        for row in rows:
            strata.setdefault(row["stratum"], []).append(row["given"])
        counts = [given for of_stratum in strata.values() for given in of_stratum]
        several = agreement and any(given > 1 for given in counts)
        questions = [question.name for question in self.settings.rubric.questions]
        times: dict[str, str] = {}
        for answer in answered:
            times[answer.annotator] = max(answer.time, times.get(answer.annotator, ""))
        return StudyStatus(
            path=str(self.path),
            name=self.path.name,
            task=self.settings.rubric.task,
            items=len(counts),
            complete=sum(given >= wanted for given in counts),
            wanted=len(counts) * wanted,
            given=sum(min(given, wanted) for given in counts),
            more=sum(max(given - wanted, 0) for given in counts),
            annotators=annotator_statuses(names, judged, checks_of(answered), times),
            strata=tuple(
                StratumStatus(
                    systems=named[stratum],
                    items=len(given),
                    wanted=wanted * len(given),
                    given=sum(min(ratings, wanted) for ratings in given),
                )
                for stratum, given in sorted(strata.items())
            ),
            agreement=agreement_of(judged, questions) if several else (),
            notes=self.settings.notes,
        )

    def export(self, path: str | Path) -> None:
        """Write all judgements as a table that :func:`calipers.rank` reads.

        Parameters
        ----------
        path
            Ends in ``.csv`` or ``.jsonl``; the latter holds the texts too. Beside it goes
            ``PATH.manifest.json``: the questions, how far the study is, what each annotator did,
            and how far they agree.

        Raises
        ------
        InputError
            If it ends otherwise, or cannot be written.
        """
        from calipers.annotation.exchange import write_export

        write_export(self, path)

    def serve(self, *, host: str = HOST, port: int = PORT) -> None:
        """Serve the study until Ctrl-C.

        Parameters
        ----------
        host
            Where to listen; only this machine by default.
        port
            Of the address; 0 takes any that is free.

        Raises
        ------
        MissingExtraError
            If starlette and uvicorn are not installed.
        InputError
            If the address cannot be had.
        """
        from calipers.annotation.server import serve

        serve(self, host=host, port=port)

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Change the file in one transaction that is on disk at its end, or has no effect."""
        return self._store.writing()


def checks_of(answered: Iterable[Answered]) -> dict[str, tuple[int, int]]:
    """Count the attention checks that each annotator passed and answered."""
    counts: dict[str, tuple[int, int]] = {}
    for answer in answered:
        if isinstance(answer.item, Item) and answer.item.check:
            passed, shown = counts.get(answer.annotator, (0, 0))
            counts[answer.annotator] = (
                passed + passes_check(answer.item, answer.answers),
                shown + 1,
            )
    return counts


def annotator_names(annotators: Any, known: Iterable[str] = ()) -> list[str]:
    """Name annotators: as given, or as many new names as asked for.

    Raises
    ------
    InputError
        If there is none, or a name cannot be.
    """
    if isinstance(annotators, int) and not isinstance(annotators, bool):
        if not 1 <= annotators <= MOST_ANNOTATORS:
            raise InputError(
                f"annotators must be a number from 1 to {MOST_ANNOTATORS:,}, or names; found "
                f"{annotators}"
            )
        taken = set(known)
        start = max(
            (
                int(match[1])
                for name in taken
                if (match := re.fullmatch(r"annotator-(\d{1,9})", name))
            ),
            default=0,
        )
        return [f"annotator-{start + number:02d}" for number in range(1, annotators + 1)]
    names = [annotators] if isinstance(annotators, str) else list(annotators or ())
    if not names:
        raise InputError("annotators must be a number or names; found none")
    for name in names:
        _check_name(name)
        if names.count(name) > 1:
            raise InputError(f"two annotators are named {name!r}; each needs a name of their own")
    return names


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise InputError(f"annotators must be a number or names; found {name!r}")
    check_unicode("the name of an annotator", name)
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InputError(
            f"the name of an annotator must have 1 to {LONGEST_NAME} characters; found {name!r:.90}"
        )
    if any(map(_is_control, name, printable(name))):
        raise InputError(f"the name of an annotator may hold no control characters; found {name!r}")


def _is_control(character: str, shown: str) -> bool:
    """Whether a character is a control; joiners within a word are spelling."""
    return shown != character and unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


def _add(db: sqlite3.Connection, names: Iterable[str], added: str) -> None:
    db.executemany(
        "INSERT INTO annotators (name, token, added) VALUES (?, ?, ?)",
        [(name, _token(), added) for name in names],
    )


def _token() -> str:
    """Make 128 random bits, fit for an address."""
    return secrets.token_urlsafe(16)


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
