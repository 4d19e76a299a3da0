"""Tables of judgements, one per row, written and read as CSV or JSON lines.

Pairs have the columns ``item, a, b, first``, one for each question, ``rater, rater_kind, repeat,
seconds, time, flags, checks``; texts and batches of one system ``item, system``, one for each
question, and the same without ``first`` and ``checks``. Every column that is not a fixed one
is a question; a blank cell is one that was not answered. Answers to pairs are written in words,
"definitely a" to "definitely b", of the systems a and b and not of the sides shown; reading takes
1 to 5 too. A table that was made elsewhere may also have the columns ``prompt`` (what the texts
answer) and ``share`` (how much of a win the preferred one has, where a model gave a probability).
Flags are joined by spaces in CSV and a list in JSON lines, whose rows may also hold the texts.

A spreadsheet takes a cell that begins with = + - or @ for a formula, and a rater may have any name.
In CSV such cells begin with an apostrophe, which reading takes off again, so that what was written
is what is read. (Cells that begin with apostrophes before such a character get one more.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeGuard

from calipers.errors import InputError, either
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.judgement import STEPS, PairJudgement, RaterKind, Rating, Side
from calipers.samples.row_tables import Row, RowTable, is_blank, read_table
from calipers.samples.source import split_suffix
from calipers.samples.wording import describe, names
from calipers.whole_files import utf8, write_bytes_atomically

SUFFIXES = (".csv", ".jsonl")

BEHIND = ("rater", "rater_kind", "repeat", "seconds", "time", "flags")
PAIRS = (("item", "a", "b", "first"), (*BEHIND, "checks"))
"""The columns of judged pairs, before and behind those of the questions."""

RATINGS = (("item", "system"), BEHIND)
"""The columns of ratings, before and behind those of the questions."""

TEXTS = ("context", "text_a", "text_b", "text", "contexts", "texts")
"""Fields of JSON lines that hold what was shown."""

MORE = ("prompt", "share")
"""Columns of judgements that were made elsewhere: what the texts answer, and how much of a win the
preferred one has, from 0.5 to 1."""

KNOWN = frozenset((*PAIRS[0], *PAIRS[1], *RATINGS[0], *TEXTS, *MORE))
"""Columns that are no questions."""

QUOTED = re.compile('[,"\r\n]')
FORMULA = re.compile(r"'*[=+\-@\t\r]")

Judgements = tuple[PairJudgement, ...] | tuple[Rating, ...]
Shape = Item | RatedTexts


# Written -----------------------------------------------------------------------------------------


def write_judgements(
    path: str | Path,
    judgements: Iterable[PairJudgement] | Iterable[Rating],
    *,
    shown: Mapping[str, Shape] | None = None,
    questions: Sequence[str] | None = None,
    pairs: bool | None = None,
) -> None:
    """Write judgements to a file atomically.

    Parameters
    ----------
    path
        Ends in .csv or .jsonl.
    judgements
        All of pairs, or all ratings.
    shown
        What was shown, by its id; JSON lines then hold the texts.
    questions
        Names of the questions, in the order of their columns; by default those that are answered.
    pairs
        Whether the table is of pairs; needed only where there may be no judgements.

    Raises
    ------
    InputError
        If the name ends in something else, a question is called as a column is, judgements of both
        kinds are mixed, or the file cannot be written.
    """
    check_path(path)
    rows: list[PairJudgement | Rating] = list(judgements)
    if pairs is None:
        pairs = not (rows and isinstance(rows[0], Rating))
    if any(isinstance(row, PairJudgement) is not pairs for row in rows):
        raise InputError(f"{path}: judgements of pairs and ratings belong in tables of their own")
    if questions is None:
        questions = tuple(dict.fromkeys(name for row in rows for name in row.answers))
    check_questions(questions)
    before, behind = PAIRS if pairs else RATINGS
    records = (as_record(row) for row in rows)
    if split_suffix(Path(path))[1] == ".csv":
        write_bytes_atomically(path, _csv((*before, *questions, *behind), records))
        return
    texts = {} if shown is None else shown
    lines = (_ascii({**record, **_texts(texts.get(record["item"]))}) for record in records)
    write_bytes_atomically(path, "".join(lines).encode("ascii"))


def check_path(path: str | Path) -> None:
    """Refuse a file of judgements whose name ends in neither .csv nor .jsonl."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: judgements are written to a file ending in {either(SUFFIXES)}")


def check_questions(questions: Iterable[str]) -> None:
    """Refuse a question with the name of another column of the table."""
    for name in questions:
        if name in KNOWN:
            raise InputError(f"a question cannot be called {name!r}: the table has such a column")


def as_record(judgement: PairJudgement | Rating) -> dict[str, Any]:
    """Return a judgement as a row of its table, with a list of flags and None for blanks."""
    head: dict[str, Any]
    tail: dict[str, Any]
    if isinstance(judgement, PairJudgement):
        head = {key: getattr(judgement, key) for key in PAIRS[0]}
        head |= {name: STEPS[step - 1] for name, step in judgement.answers.items()}
        tail = {"checks": judgement.checks}
    else:
        head = {"item": judgement.item, "system": judgement.system, **judgement.answers}
        tail = {}
    shared = {key: getattr(judgement, key) for key in BEHIND}
    return {**head, **shared, "flags": list(judgement.flags), **tail}


def _texts(shown: Shape | None) -> dict[str, Any]:
    if shown is None:
        return {}
    if isinstance(shown, Item):
        return {"context": shown.context, "text_a": shown.text_a, "text_b": shown.text_b}
    if len(shown.texts) == 1:
        return {"context": "".join(shown.contexts), "text": shown.texts[0]}
    return {"contexts": list(shown.contexts), "texts": list(shown.texts)}


def _ascii(record: Mapping[str, Any]) -> str:
    """Write a line; ASCII holds halves of characters, and line ends of other kinds, as they are."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False) + "\n"


def _csv(columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> bytes:
    rows = ([_cell(record.get(column)) for column in columns] for record in records)
    return utf8("".join(",".join(map(_quoted, row)) + "\n" for row in chain([columns], rows)))


def _quoted(cell: str) -> str:
    """Quote a cell that needs it; the csv module does not quote a lone carriage return."""
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(value)
    return _guarded(value) if isinstance(value, str) else f"{value}"


def _guarded(text: str) -> str:
    """Write a text so that no spreadsheet takes it for a formula.

    Examples
    --------
    >>> _guarded("=1+1"), _guarded("a-b"), _guarded("'@x")
    ("'=1+1", 'a-b', "''@x")
    """
    text = text.replace("\0", "\ufffd")  # a file with NUL is no CSV to any reader
    return f"'{text}" if FORMULA.match(text) else text


def _unguarded(text: str) -> str:
    """Undo :func:`_guarded`."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


# Read --------------------------------------------------------------------------------------------


def read_judgements(given: Any, parameter: str = "judgements") -> Judgements:
    """Read judgements of pairs, or ratings.

    Parameters
    ----------
    given
        A path (.csv, .tsv, .jsonl, .json, .parquet), a data frame, a list of rows, or a sequence of
        judgements.
    parameter
        The name of the parameter, where it is not a file.

    Raises
    ------
    InputError
        If it cannot be read; or a row lacks a system, an item, a rater or an answer that the other
        rows have, or holds a value that breaks a rule.
    """
    judgements = judgements_in(given)
    if judgements is not None:
        return judgements
    table = read_judged(given, parameter)
    if is_pairs(table):
        table.need(*PAIRS[0][:3], "rater")
        return tuple(_pair(table, row) for row in table.rows)
    if "system" not in table.columns:
        raise table.source.error(
            "holds no judgements: neither the columns a and b, of pairs, nor system, of ratings; "
            f"its columns are {names(table.columns)}"
        )
    table.need(*RATINGS[0], "rater")
    return tuple(_rating(table, row) for row in table.rows)


def judgements_in(given: Any) -> Judgements | None:
    """Return an object that already holds judgements; None for anything else."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and given:
        if _all_pairs(given):
            return tuple(given)
        if all(isinstance(one, Rating) for one in given):
            return tuple(given)
    return None


def _all_pairs(given: Sequence[Any]) -> TypeGuard[Sequence[PairJudgement]]:
    return all(isinstance(one, PairJudgement) for one in given)


def read_judged(given: Any, parameter: str = "judgements") -> RowTable:
    """Read a table of judgements as rows, without the apostrophes that escape formulas."""
    judgements = judgements_in(given)
    if judgements is not None:
        given = [as_record(one) for one in judgements]
    table = read_table(given, parameter)
    if not isinstance(given, str | Path) or split_suffix(Path(given))[1] not in (".csv", ".tsv"):
        return table
    rows = tuple(
        (number, {column: _plain_cell(value) for column, value in values.items()})
        for number, values in table.rows
    )
    return RowTable(table.source, rows, table.columns)


def _plain_cell(value: Any) -> Any:
    return _unguarded(value) if isinstance(value, str) else value


def is_pairs(table: RowTable) -> bool:
    """Whether a table holds judgements of pairs."""
    return "a" in table.columns and "b" in table.columns


def question_columns(table: RowTable) -> tuple[str, ...]:
    """Return the columns that are not fixed ones."""
    return tuple(column for column in table.columns if column not in KNOWN)


def pair_step(value: Any) -> int | None:
    """Parse one of the five answers, in words or as 1 to 5; None for anything else.

    Examples
    --------
    >>> pair_step("Slightly b"), pair_step(3.0), pair_step("2"), pair_step("yes")
    (4, 3, 2, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = re.sub(r"[\s_-]+", " ", str(value)).strip().casefold().removesuffix(".0")
    if text in STEPS:
        return STEPS.index(text) + 1
    return int(text) if text in tuple("12345") else None


def _pair(table: RowTable, row: Row) -> PairJudgement:
    a, b = table.name(row, "a"), table.name(row, "b")
    if a == b:
        raise table.source.row_error(row[0], f"{a!r} is compared with itself")
    answers = {}
    for question in question_columns(table):
        value = row[1].get(question)
        if is_blank(value):
            continue
        step = pair_step(value)
        if step is None:
            known = ", ".join(map(repr, STEPS))
            raise table.source.row_error(
                row[0], f"{question} must be one of {known}, or 1 to 5; found {describe(value)}"
            )
        answers[question] = step
    _check_answered(table, row, answers)
    checks = row[1].get("checks")
    return PairJudgement(
        item=table.name(row, "item"),
        a=a,
        b=b,
        answers=answers,
        first=_first(table, row),
        checks="" if is_blank(checks) else str(checks),
        **_shared(table, row),
    )


def _rating(table: RowTable, row: Row) -> Rating:
    answers = {}
    for question in question_columns(table):
        if is_blank(row[1].get(question)):
            continue
        value = table.number(row, question)
        if value != int(value):
            raise table.source.row_error(
                row[0], f"{question} must be a whole number; found {value:g}"
            )
        answers[question] = int(value)
    _check_answered(table, row, answers)
    return Rating(
        item=table.name(row, "item"),
        system=table.name(row, "system"),
        answers=answers,
        **_shared(table, row),
    )


def _check_answered(table: RowTable, row: Row, answers: Mapping[str, int]) -> None:
    if not answers:
        raise table.source.row_error(row[0], "holds no answer to any question")


def _first(table: RowTable, row: Row) -> Side:
    """Read which text was shown first."""
    value = row[1].get("first")
    if value == "a" or value == "b":
        return "a" if value == "a" else "b"
    raise table.source.row_error(row[0], f"first must be 'a' or 'b'; found {describe(value)}")


def _shared(table: RowTable, row: Row) -> dict[str, Any]:
    number, values = row
    seconds = values.get("seconds")
    repeat = values.get("repeat")
    time, flags = values.get("time"), values.get("flags")
    if not is_blank(seconds) and table.number(row, "seconds") < 0:
        raise table.source.row_error(number, f"seconds must not be below 0; found {seconds}")
    turn = 0.0 if is_blank(repeat) else table.number(row, "repeat")
    if turn < 0 or turn != int(turn):
        raise table.source.row_error(
            number, f"repeat must be a whole number of at least 0; found {repeat}"
        )
    return {
        "rater": table.name(row, "rater"),
        "rater_kind": rater_kind(table, row),
        "repeat": int(turn),
        "seconds": None if is_blank(seconds) else table.number(row, "seconds"),
        "time": "" if is_blank(time) else str(time),
        "flags": flags_of(flags),
    }


def rater_kind(table: RowTable, row: Row) -> RaterKind:
    """Read whether a person or a model answered; a person by default."""
    value = row[1].get("rater_kind")
    if is_blank(value):
        return "person"
    if value not in ("person", "model"):
        raise table.source.row_error(
            row[0], f"rater_kind must be 'person' or 'model'; found {describe(value)}"
        )
    return "person" if value == "person" else "model"


def flags_of(value: Any) -> tuple[str, ...]:
    """Parse flags from a list or from words."""
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    return () if is_blank(value) else tuple(str(value).split())
