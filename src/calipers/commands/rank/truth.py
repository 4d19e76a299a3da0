"""Truths about the systems: one for each column of scores, or for each question of judgements.

A table with a row for each system holds finished scores; a column NAME_sd beside a column NAME is
not a truth: it holds the standard errors of NAME. A leaderboard as it is published names its
systems in a first column without a name, or in one called ``name`` or ``model``; beside quality it
holds counts, lengths and more, so that a person says which columns are meant. What raters answered
becomes truths in :mod:`calipers.commands.rank.judgements`.
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
from calipers.errors import either, unknown_name
from calipers.samples.row_tables import Row, RowTable, as_number, is_blank, read_table
from calipers.samples.wording import names

ERRORS = "_sd"
"""Ends the name of a column that holds the standard errors of another."""

ERRORS_OF = {"win_rate": "standard_error", "length_controlled_winrate": "lc_standard_error"}
"""Columns of AlpacaEval's leaderboards whose standard errors have a name of their own."""

SYSTEM = "system"
NAMELESS = ("", "unnamed: 0", "index")
"""Names of a first column that was written without one: as it is, and as pandas reads it."""

MANY = 20
"""Columns that a message lists."""

USUAL = ("name", "model", "model_name", "generator")
"""Names that the column of systems usually has in a leaderboard."""


@dataclass(frozen=True)
class Truths:
    """All truths, before any metric is compared with them, and notes on them.

    Attributes
    ----------
    judged
        Those that raters gave, with their judgements; empty for finished scores.
    """

    truths: tuple[Truth, ...]
    notes: tuple[str, ...]
    judged: tuple[RatedTruth, ...] = ()


def read_truths(scores: ScoredSystems, options: RankOptions) -> Truths:
    """Read the truths from `truth` or `judgements`, whichever is given.

    Raises
    ------
    InputError
        If a table cannot be read or breaks a rule, or nobody names the reference.
    """
    if options.truth is not None:
        table = read_table(_rows(options.truth), "truth")
        columns = options.truth_columns
        if SYSTEM not in table.columns:
            table = _leaderboard(table)
            if columns is None:
                _check_one_truth(table)
        _check_reference(scores, [table], SYSTEM)
        return _truths_of_scores(table, scores, columns)
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
    """Rows of a mapping from systems to one score each, or of a data frame with names as its index;
    anything else as it is."""
    if isinstance(truth, Mapping):
        return [{SYSTEM: name, "truth": score} for name, score in truth.items()]
    index = list(getattr(truth, "index", ())) if hasattr(truth, "columns") else []
    if not index or not all(isinstance(name, str) for name in index) or SYSTEM in truth.columns:
        return truth
    rows = zip(index, truth.to_dict("records"), strict=True)
    return [{SYSTEM: name, **row} for name, row in rows]


def _leaderboard(table: RowTable) -> RowTable:
    """Call the column of a leaderboard that names its systems ``system``.

    Raises
    ------
    InputError
        If no column does; it lists all.
    """
    first = table.columns[0]
    known = {column.strip().casefold(): column for column in reversed(table.columns)}
    usual = [known[name] for name in USUAL if name in known]
    if first.strip().casefold() in NAMELESS:
        named = first
    elif usual:
        named = usual[0]
    else:
        table.need(
            SYSTEM,
            hint="; the systems are in it, in a first column without a name, or in one called "
            f"{either(USUAL)}",
        )
    rows = tuple(
        (number, {SYSTEM if key == named else key: value for key, value in row.items()})
        for number, row in table.rows
    )
    columns = tuple(SYSTEM if column == named else column for column in table.columns)
    return RowTable(table.source, rows, columns)


def _check_one_truth(table: RowTable) -> None:
    """Refuse a leaderboard of several columns of numbers of which nobody said which are meant."""
    numeric, _ = _numeric(table, None)
    if len(numeric) > 1:
        raise table.source.error(
            f"has {len(numeric)} columns of numbers: {names(numeric, limit=MANY)}; name those that "
            f"hold quality, higher is better, as in `truth_columns={numeric[0]!r}`"
        )


def _errors_of(table: RowTable, column: str) -> str | None:
    """Name the column that holds the standard errors of another, if there is one."""
    own = (column + ERRORS, ERRORS_OF.get(column, column + ERRORS))
    return next((key for key in own if key in table.columns), None)


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
    errors = {_errors_of(table, column) for column in table.columns}
    others = [column for column in table.columns if column not in (SYSTEM, *errors)]
    numeric = [column for column in others if as_number(_first(table, column)) is not None]
    if not numeric:
        raise table.source.error(
            f"has no column of numbers beside 'system'; its columns are {names(table.columns)}"
        )
    left = [column for column in others if column not in numeric]
    return numeric, [f"{table.source.path}: {names(left)} left out: no numbers"] if left else []


def _errors(table: RowTable, rows: Mapping[str, Row], column: str) -> dict[str, float]:
    """Read the standard errors of a truth, where the table has them; a blank one is left out."""
    key = _errors_of(table, column)
    if key is None:
        return {}
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
