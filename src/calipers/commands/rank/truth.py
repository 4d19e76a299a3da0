"""What people or judges prefer ──► truths: one for each column of scores, or of answers.

A table with a row for each system holds finished scores; a column NAME_sd beside a column NAME is
not a truth: it holds the standard errors of NAME. What raters answered becomes truths in
:mod:`calipers.commands.rank.judgements`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.commands.rank.judgements import judged_truths
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.rater_groups import tables_of
from calipers.commands.rank.raters import RatedTruth
from calipers.commands.rank.result import Truth
from calipers.commands.rank.scores import ScoredSystems, only_on_one_side
from calipers.errors import unknown_name
from calipers.samples.row_tables import Row, RowTable, as_number, is_blank, read_table
from calipers.samples.wording import names

ERRORS = "_sd"
"""Ends the name of a column that holds the standard errors of another."""


@dataclass(frozen=True)
class Truths:
    """All truths, not yet compared with any metric, and what to note of them.

    Attributes
    ----------
    judged
        Those that raters gave, with their judgements; empty for finished scores.
    """

    truths: tuple[Truth, ...]
    notes: tuple[str, ...]
    judged: tuple[RatedTruth, ...] = ()


def read_truths(scores: ScoredSystems, options: RankOptions) -> Truths:
    """Read the truths that scores are compared with, of `truth` or of `judgements`, if of either.

    Raises
    ------
    InputError
        If a table cannot be read or breaks a rule, or nobody names the reference.
    """
    if options.truth is not None:
        table = read_table(_rows(options.truth), "truth")
        _check_reference(scores, [table], "system")
        return _truths_of_scores(table, scores, options.truth_columns)
    if options.judgements is not None:
        tables, notes = tables_of(options.judgements)
        _check_reference(scores, tables, "a", "b", "system")
        judged, about = judged_truths(tables, scores, options)
        truths = tuple(one.truth for one in judged)
        return Truths(truths, (*notes, *about), tuple(judged))
    _check_reference(scores)
    return Truths((), ())


def _check_reference(scores: ScoredSystems, tables: Sequence[RowTable] = (), *columns: str) -> None:
    """Refuse a reference that neither the scores nor the truth name."""
    rows = [row for table in tables for row in table.rows]
    named = {str(row[column]).strip() for _, row in rows for column in columns if column in row}
    known = {*scores.named, *named}
    if scores.reference is not None and scores.reference not in known:
        raise unknown_name("reference", scores.reference, known)


def _rows(truth: Any) -> Any:
    """Rows of a mapping from systems to one score each; anything else as it is."""
    if not isinstance(truth, Mapping):
        return truth
    return [{"system": name, "truth": score} for name, score in truth.items()]


def _truths_of_scores(
    table: RowTable, scores: ScoredSystems, columns: Sequence[str] | None
) -> Truths:
    """Take each numeric column as a truth, but for standard errors of another one.

    Systems without scores are left out, and named.

    Raises
    ------
    InputError
        If a column is missing or holds no numbers, a standard error is below 0, a system has two
        rows, or no system of the table has scores.
    """
    table.need("system", *(columns or ()))
    rows = _by_system(table)
    numeric, notes = _numeric(table, columns)
    used = {name: row for name, row in rows.items() if name in scores.systems}
    if not used:
        raise table.source.error(
            f"has no system that has scores: it names {names(rows)}, the scores "
            f"{names(scores.systems)}"
        )
    truths = [
        Truth(
            column,
            table.source.path,
            "scores",
            {name: _cell(table, row, column) for name, row in used.items()},
            {},
            deviations=_errors(table, used, column),
        )
        for column in numeric
    ]
    notes += [*only_on_one_side(scores, rows, table.source.path), *_blank(truths)]
    return Truths(tuple(truths), tuple(notes))


def _by_system(table: RowTable) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for row in table.rows:
        name = table.name(row, "system")
        if name in rows:
            raise table.source.row_error(
                row[0],
                f"{name!r} has a second row; the first is {table.source.unit} {rows[name][0]}",
            )
        rows[name] = row
    return rows


def _numeric(table: RowTable, columns: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Choose the columns of numbers, and say which others were left out."""
    if columns is not None:
        return list(columns), []
    others = [
        column
        for column in table.columns
        if column != "system"
        and not (column.endswith(ERRORS) and column.removesuffix(ERRORS) in table.columns)
    ]
    numeric = [column for column in others if as_number(_first(table, column)) is not None]
    if not numeric:
        raise table.source.error(
            f"has no column of numbers beside 'system'; its columns are {names(table.columns)}"
        )
    left = [column for column in others if column not in numeric]
    return numeric, [f"{table.source.path}: {names(left)} left out: no numbers"] if left else []


def _errors(table: RowTable, rows: Mapping[str, Row], column: str) -> dict[str, float]:
    """Read the standard errors of a truth, where the table has them; a blank one is left out."""
    key = column + ERRORS
    errors = {
        name: table.number(row, key) for name, row in rows.items() if not is_blank(row[1].get(key))
    }
    for name, error in errors.items():
        if error < 0:
            raise table.source.row_error(
                rows[name][0], f"{key} must not be below 0; found {error:g}"
            )
    return errors


def _first(table: RowTable, column: str) -> object:
    cells = (row.get(column) for _, row in table.rows)
    return next((cell for cell in cells if not is_blank(cell)), None)


def _cell(table: RowTable, row: Row, column: str) -> float:
    """Read a truth; a blank one is NaN."""
    return math.nan if is_blank(row[1].get(column)) else table.number(row, column)


def _blank(truths: Sequence[Truth]) -> Iterator[str]:
    for truth in truths:
        blank = [name for name, score in truth.scores.items() if math.isnan(score)]
        if blank:
            yield f"{truth.name}: no value of {names(blank)}; compared with the other systems"
