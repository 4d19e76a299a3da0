"""Mean judgements of the texts of both sets, read from tables, and what was left out.

A judgement is of the text that it names: by the id of its item, as ``annotate`` and ``judge`` write
it, or by the text itself. Judgements that belong to no text are counted, and so are texts that
nobody judged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.judgements.items import rows_of_items
from calipers.judgements.tables import (
    flags_of,
    is_pairs,
    judgements_in,
    question_columns,
    rater_kind,
    read_judged,
)
from calipers.numeric.arrays import Vector
from calipers.samples import SampleSet
from calipers.samples.row_tables import RowTable, is_blank
from calipers.samples.wording import counted, names
from calipers.text.unicode_forms import as_seen


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """Mean judgements of the texts of one set.

    Attributes
    ----------
    values
        The mean judgement of each text, over raters, shape ``(n,)``; NaN where nobody judged it.
    answers, raters
        How many judgements these are, and of how many raters.
    """

    values: Vector
    answers: int
    raters: int


@dataclass(frozen=True)
class _Answer:
    """One judgement that belongs to texts of a set."""

    system: str
    rows: tuple[int, ...]
    rater: str
    value: float
    of_model: bool


@dataclass(frozen=True, eq=False)
class Judgements:
    """Mean judgements of the texts of both sets.

    Attributes
    ----------
    question
        Which question it was.
    sets
        Of the reference, then of the generated set.
    by
        ``"people"`` or ``"models"``.
    notes
        Texts that were left out, and cautions.
    """

    question: str
    sets: tuple[JudgedSet, JudgedSet]
    by: str
    notes: tuple[str, ...]


def judged_texts(
    given: Any,
    reference: SampleSet,
    generated: SampleSet,
    *,
    question: str | None = None,
    longest: int | None = None,
    drop_flagged: bool = False,
) -> Judgements:
    """Read judgements and match them to the texts of both sets.

    Parameters
    ----------
    given
        A table (:func:`calipers.judgements.tables.read_judged`), or a list of such.
    reference, generated
        The texts, under the names that the judgements have for their systems.
    question
        The column of the answers; None for the only one.
    longest
        Words that raters were shown of a text.
    drop_flagged
        Whether flagged judgements are left out.

    Raises
    ------
    InputError
        If a table cannot be read, holds pairs, lacks a column or an answer that is a number, the
        question is not clear, or no judgement is of a text of one of the sets.
    """
    tables = [read_judged(one) for one in _several(given)]
    question = _question(tables, question)
    found = _Reading((reference, generated), question, longest, drop_flagged=drop_flagged)
    answers = [answer for table in tables for answer in found.answers(table)]
    people = [answer for answer in answers if not answer.of_model]
    notes = found.notes()
    if people and len(people) < len(answers):
        notes.append(f"{counted(len(answers) - len(people), 'judgement')} of models left out")
    if not people and answers:
        notes.append(
            "all judgements are by models; HUSE is defined by those of people, which may differ"
        )
    taken = people or answers
    sides = [_of_set(samples, taken) for samples in (reference, generated)]
    for samples, side in zip((reference, generated), sides, strict=True):
        if not side.answers:
            raise InputError(
                f"{samples.name}: no judgement of {question!r} is of a text of this set; the "
                f"judgements are of the systems {names(found.systems)}"
                + "".join(f"; {note}" for note in notes)
            )
    return Judgements(
        question, (sides[0], sides[1]), "people" if people else "models", tuple(notes)
    )


def _several(given: Any) -> Sequence[Any]:
    """Return the tables that were given: one, or a list of them."""
    if isinstance(given, list | tuple) and judgements_in(given) is None:
        rows = bool(given) and all(isinstance(one, dict) for one in given)
        return [given] if rows else given
    return [given]


def _question(tables: Sequence[RowTable], asked: str | None) -> str:
    """Find the column of the answers."""
    for table in tables:
        if is_pairs(table):
            raise table.source.error(
                "holds judgements of pairs, but HUSE needs judgements of single texts: those of "
                "`calipers.annotate` or `calipers.judge` with `task='quality'`"
            )
        table.need("system")
        if "item" not in table.columns:
            table.need("text", hint=", and no column 'item': one of them must name the text")
    known = list(dict.fromkeys(name for table in tables for name in question_columns(table)))
    if asked is None and len(known) == 1:
        asked = known[0]
    if asked is None:
        if not known:
            raise tables[0].source.error("has no column of answers")
        raise InputError(f"`question` must say which answers count; there are {names(known)}")
    for table in tables:
        table.need(asked)
    return asked


class _Reading:
    """Reads rows, and counts what is left out."""

    def __init__(
        self,
        sides: Sequence[SampleSet],
        question: str,
        longest: int | None,
        *,
        drop_flagged: bool,
    ) -> None:
        self.question, self.drop_flagged = question, drop_flagged
        self.by_item = rows_of_items(sides, longest=longest)
        self.by_text: dict[str, dict[str, list[int]]] = {}
        for samples in sides:
            of_set = self.by_text.setdefault(samples.name, defaultdict(list))
            for row, text in enumerate(samples):
                of_set[as_seen(text).strip()].append(row)
        self.systems: dict[str, None] = {}
        self.others = self.unmatched = self.blank = self.flagged = 0

    def answers(self, table: RowTable) -> Iterator[_Answer]:
        """Return the judgements of a table that are of texts of the two sets."""
        for row in table.rows:
            system = table.name(row, "system")
            self.systems[system] = None
            if system not in self.by_item:
                self.others += 1
                continue
            number, values = row
            flagged = bool(flags_of(values.get("flags")))
            self.flagged += flagged
            if flagged and self.drop_flagged:
                continue
            if is_blank(values.get(self.question)):
                self.blank += 1
                continue
            value = table.number(row, self.question)
            rows = self._rows(table, system, row)
            if not rows:
                self.unmatched += 1
                continue
            named = not is_blank(values.get("rater"))
            rater = table.name(row, "rater") if named else f"row {number}"
            of_model = rater_kind(table, row) == "model"
            yield _Answer(system, rows, rater, value, of_model)

    def _rows(self, table: RowTable, system: str, row: Any) -> tuple[int, ...]:
        """Find the texts that a judgement is of."""
        values = row[1]
        if not is_blank(values.get("item")):
            rows = self.by_item[system].get(table.name(row, "item"))
            if rows:
                return rows
        text = values.get("text")
        if is_blank(text):
            return ()
        return tuple(self.by_text[system].get(as_seen(str(text)).strip(), ()))

    def notes(self) -> list[str]:
        """Say what was counted."""
        said = []
        if self.unmatched:
            said.append(
                f"{counted(self.unmatched, 'judgement')} left out: no such text in these "
                "files; if raters saw only the first words of texts, say so with `max_words`"
            )
        if self.others:
            said.append(f"{counted(self.others, 'judgement')} of other systems left out")
        if self.blank:
            said.append(f"{counted(self.blank, 'judgement')} without an answer to {self.question}")
        if self.flagged:
            done = "left out" if self.drop_flagged else "kept; `drop_flagged` leaves them out"
            verb = "is" if self.flagged == 1 else "are"
            said.append(f"{counted(self.flagged, 'judgement')} {verb} flagged and {done}")
        return said


def _of_set(samples: SampleSet, answers: Sequence[_Answer]) -> JudgedSet:
    """Take the mean judgement of every text: over raters, each by the mean of what he said."""
    by_row: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    own = [answer for answer in answers if answer.system == samples.name]
    for answer in own:
        for row in answer.rows:
            by_row[row][answer.rater].append(answer.value)
    values = np.full(len(samples), math.nan)
    for row, raters in by_row.items():
        values[row] = np.mean([np.mean(said) for said in raters.values()])
    return JudgedSet(values, len(own), len({answer.rater for answer in own}))
