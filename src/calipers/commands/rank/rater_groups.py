"""Groups of raters in tables of judgements, the questions that they answered, and their rows.

A group is the people of one table, or one model. In a table that names the item and the rater, as
``calipers annotate`` and ``calipers judge`` write it, every column that is not one of the fixed
ones is a question; in any other table of pairs one column holds the answers.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from calipers.commands.rank.scores import ScoredSystems
from calipers.errors import InputError, either
from calipers.files import at_home
from calipers.judgements.alpaca_eval import NEEDED, as_judgements, is_annotations, without_texts
from calipers.judgements.tables import (
    KNOWN,
    flags_of,
    is_pairs,
    judgements_in,
    question_columns,
    rater_kind,
    read_judged,
)
from calipers.samples.row_tables import SUFFIXES, Row, RowTable
from calipers.samples.source import split_suffix
from calipers.samples.wording import counted, names

ANSWERS = ("winner", "answer", "preference")
"""Names that the column of answers usually has."""

ANNOTATIONS = "annotations.json"
"""What AlpacaEval calls the judgements of one system by one model."""

NAMED = 6
"""Systems without scores that a note names."""

KEEP = "`keep_unscored` leaves them in the fit"


@dataclass(frozen=True)
class RaterGroup:
    """A group of raters, and their rows of one table.

    Attributes
    ----------
    label
        What names the group beside others: ``people``, the name of the model, or of the file.
    by
        ``"by"`` for raters, ``"from"`` for a file.
    """

    table: RowTable
    rows: tuple[Row, ...]
    kind: Literal["", "person", "model"]
    label: str
    by: str


def tables_of(judgements: Any) -> tuple[list[RowTable], list[str]]:
    """Read one or several tables of judgements, and report what was left out.

    A folder or a pattern stands for its files; all annotations of AlpacaEval are one table.

    Raises
    ------
    InputError
        If one cannot be read, or holds neither pairs nor ratings.
    """
    several = _is_several(judgements)
    given = list(judgements) if several else [judgements]
    tables: list[RowTable] = []
    annotations: list[RowTable] = []
    for place, one in enumerate(given, 1):
        for file in _files_of(one):
            table = read_judged(file, f"judgements {place}" if several else "judgements")
            if is_annotations(table):
                annotations.append(without_texts(table))
            else:
                _check_judged(table)
                tables.append(table)
    if not annotations:
        return tables, []
    whole = str(given[0]) if len(given) == 1 and isinstance(given[0], str | Path) else ""
    joined, notes = as_judgements(annotations, whole or f"{len(annotations)} files of annotations")
    return [joined, *tables], notes


def _check_judged(table: RowTable) -> None:
    """Refuse a table that holds no judgements."""
    if is_pairs(table):
        return
    if "system" in table.columns and "rater" in table.columns:
        table.need("item")
        return
    if "annotations" in table.columns:
        raise table.source.error(
            "is an export of Label Studio; bring it into the study with calipers annotate "
            "STUDY --import-label-studio FILE, and give what --export writes"
        )
    table.need("a", "b", hint="; judgements of AlpacaEval have " + ", ".join(NEEDED))


def _files_of(given: Any) -> list[Any]:
    """Return the files of a folder or of a pattern; anything else as it is.

    A folder that has files called ``annotations.json`` somewhere in it, as the results of
    AlpacaEval do, stands for these; any other for the tables that lie directly in it.
    """
    if not isinstance(given, str | Path):
        return [given]
    path = at_home(given)
    if path.is_dir():
        files = sorted(path.rglob(ANNOTATIONS)) or sorted(
            file for file in path.iterdir() if file.is_file() and split_suffix(file)[1] in SUFFIXES
        )
        if not files:
            raise InputError(
                f"{given}: the folder holds no judgements: no {ANNOTATIONS}, and no file ending in "
                f"{either(SUFFIXES)}"
            )
        return files
    if path.exists() or not glob.has_magic(str(given)):
        return [given]
    files = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    if not files:
        raise InputError(f"{given}: no file matches this pattern")
    return files


def _is_several(judgements: Any) -> bool:
    """Whether a person gave a list of tables; a list of rows is one table."""
    if isinstance(judgements, str | bytes | Path) or not isinstance(judgements, Sequence):
        return False
    if not judgements or judgements_in(judgements) is not None:
        return False
    return all(
        isinstance(one, str | Path | list | tuple) or hasattr(one, "columns") for one in judgements
    )


def groups_of(table: RowTable) -> Iterator[RaterGroup]:
    """Split a table into its people and each of its models."""
    stem = split_suffix(Path(table.source.path))[0]
    if "rater_kind" not in table.columns:
        yield RaterGroup(table, table.rows, "", stem, "from")
        return
    people = tuple(row for row in table.rows if rater_kind(table, row) == "person")
    models: dict[str, list[Row]] = {}
    if len(people) < len(table.rows):
        table.need("rater")
    for row in table.rows:
        if rater_kind(table, row) == "model":
            models.setdefault(table.name(row, "rater"), []).append(row)
    if people:
        yield RaterGroup(table, people, "person", "people", "by")
    for name, rows in models.items():
        yield RaterGroup(table, tuple(rows), "model", name, "by")


def is_export(table: RowTable) -> bool:
    """Whether every column of a table of pairs that is not a fixed one holds a question."""
    return "item" in table.columns and "rater" in table.columns


def check_columns(tables: Sequence[RowTable], columns: Sequence[str] | None) -> None:
    """Refuse a column that no table has."""
    for column in columns or ():
        if not any(column in table.columns for table in tables):
            tables[0].need(column)


def questions_of(table: RowTable, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Choose the columns that hold answers."""
    if columns is not None:
        return tuple(column for column in columns if column in table.columns)
    if not is_pairs(table) or is_export(table):
        questions = question_columns(table)
        if not questions:
            raise table.source.error(
                f"has no column of answers; its columns are {names(table.columns)}"
            )
        return questions
    usual = [column for column in table.columns if column in ANSWERS]
    candidates = usual or [column for column in table.columns if column not in KNOWN]
    if len(candidates) == 1:
        return (candidates[0],)
    known = " or ".join(map(repr, ANSWERS))
    raise table.source.error(
        f"no one column holds the answers ({known} by default); its columns are "
        f"{names(table.columns)}; name it, or several, with `truth_columns`"
    )


def unflagged(group: RaterGroup, *, drop: bool, named: bool) -> tuple[tuple[Row, ...], list[str]]:
    """Leave flagged rows out if asked, and count them."""
    flags = [flags_of(row[1].get("flags")) for row in group.rows]
    marked = sum(map(bool, flags))
    if not marked:
        return group.rows, []
    kinds = Counter(flag for row in flags for flag in row)
    listed = ", ".join(f"{kind} {often:,}" for kind, often in sorted(kinds.items()))
    whose = f" {group.by} {group.label}" if named else ""
    of = f"{group.table.source.path}: {marked:,} of {counted(len(group.rows), 'judgement')}{whose}"
    verb = "is" if marked == 1 else "are"
    if not drop:
        note = f"{of} {verb} flagged ({listed}) and kept; `drop_flagged` leaves them out"
        return group.rows, [note]
    if marked == len(group.rows):
        raise group.table.source.error(
            f"all {counted(marked, 'judgement')}{whose} are flagged ({listed}), and `drop_flagged` "
            "leaves none"
        )
    rows = tuple(row for row, flagged in zip(group.rows, flags, strict=True) if not flagged)
    return rows, [f"{of} left out: flagged ({listed})"]


def systems_of(group: RaterGroup, *columns: str) -> tuple[str, ...]:
    """Return every judged system, in order of appearance."""
    names_of = (group.table.name(row, column) for row in group.rows for column in columns)
    return tuple(dict.fromkeys(names_of))


def scored(
    group: RaterGroup, scores: ScoredSystems, *columns: str
) -> tuple[tuple[Row, ...], list[str]]:
    """Leave out judgements of systems without scores, except the reference, and report them."""
    table, known = group.table, {*scores.systems, *scores.copies, scores.reference}
    unknown = [name for name in systems_of(group, *columns) if name not in known]
    if not unknown:
        return group.rows, []
    gone = set(unknown)
    rows = tuple(
        row for row in group.rows if gone.isdisjoint(table.name(row, name) for name in columns)
    )
    left = len(group.rows) - len(rows)
    note = (
        f"{table.source.path}: {counted(left, 'judgement')} of {names(unknown, limit=NAMED)} left "
        f"out: no scores; {KEEP}"
    )
    return rows, [note]


def none_scored(tables: Sequence[RowTable], scores: ScoredSystems) -> InputError:
    """Build the error for a table of which no judgement is left."""
    columns = ("a", "b") if is_pairs(tables[0]) else ("system",)
    judged = dict.fromkeys(
        table.name(row, name)
        for table in tables
        for row in table.rows
        for name in columns
        if name in row[1]
    )
    return tables[0].source.error(
        f"holds no judgement of systems that have scores: it names {names(judged)}, the scores "
        f"{names(scores.systems)}; {KEEP}"
    )
