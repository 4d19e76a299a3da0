"""Finished scores that people or judges gave the systems: one truth for each column of numbers.

A column NAME_sd beside a column NAME is no truth: it holds the standard errors of NAME.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from calipers.evaluate.rank_scores import Scores
from calipers.evaluate.rank_tables import Row, Table, as_number, is_blank
from calipers.results.ranking import Truth
from calipers.samples.wording import names

ERRORS = "_sd"
"""Ends the name of a column that holds the standard errors of another."""


@dataclass(frozen=True)
class Truths:
    """All truths of one file, no metric beside them yet, and what is to be said of them."""

    found: tuple[Truth, ...]
    notes: tuple[str, ...]


def truths_of_scores(table: Table, scores: Scores, columns: Sequence[str] | None) -> Truths:
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
    kept, words = _numeric(table, columns)
    used = {name: row for name, row in rows.items() if name in scores.systems}
    if not used:
        raise table.source.error(
            f"has no system that has scores: it names {names(rows)}, the scores "
            f"{names(scores.systems)}"
        )
    found = [
        Truth(
            column,
            table.source.path,
            "scores",
            {name: _cell(table, row, column) for name, row in used.items()},
            {},
            deviations=_errors(table, used, column),
        )
        for column in kept
    ]
    return Truths(
        tuple(found), (*words, *left_out(scores, rows, table.source.path), *_blank(found))
    )


def left_out(scores: Scores, held: Iterable[str], source: str) -> Iterator[str]:
    """Say which systems stand on one side only."""
    held = tuple(held)
    extra = [name for name in held if name not in (*scores.systems, scores.reference)]
    lacking = [name for name in scores.systems if name not in held]
    if extra:
        yield f"{source}: {names(extra)} left out of the correlations: no scores"
    if lacking:
        yield f"{names(lacking)} left out of the correlations: not in {source}"


def _by_system(table: Table) -> dict[str, Row]:
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


def _numeric(table: Table, columns: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Choose the columns of numbers, and say which others were left out."""
    if columns is not None:
        return list(columns), []
    others = [
        column
        for column in table.columns
        if column != "system" and not _holds_errors(table, column)
    ]
    first = {column: _first(table, column) for column in others}
    kept = [column for column in others if as_number(first[column]) is not None]
    if not kept:
        raise table.source.error(
            f"has no column of numbers beside 'system'; its columns are {names(table.columns)}"
        )
    left = [column for column in others if column not in kept]
    return kept, [f"{table.source.path}: {names(left)} left out: no numbers"] if left else []


def _holds_errors(table: Table, column: str) -> bool:
    return column.endswith(ERRORS) and column.removesuffix(ERRORS) in table.columns


def _errors(table: Table, rows: Mapping[str, Row], column: str) -> dict[str, float]:
    """Read the standard errors of a truth, where the table has them; a blank one is left out."""
    beside = column + ERRORS
    found = {
        name: table.number(row, beside)
        for name, row in rows.items()
        if beside in table.columns and not is_blank(row[1].get(beside))
    }
    for name, error in found.items():
        if error < 0:
            raise table.source.row_error(
                rows[name][0], f"{beside} must not be below 0; found {error:g}"
            )
    return found


def _first(table: Table, column: str) -> object:
    cells = (row.get(column) for _, row in table.rows)
    return next((cell for cell in cells if not is_blank(cell)), None)


def _cell(table: Table, row: Row, column: str) -> float:
    """Read a truth; a blank one is NaN, and told."""
    return math.nan if is_blank(row[1].get(column)) else table.number(row, column)


def _blank(found: Sequence[Truth]) -> Iterator[str]:
    for truth in found:
        blank = [name for name, score in truth.scores.items() if math.isnan(score)]
        if blank:
            yield f"{truth.name}: no value of {names(blank)}; held against the other systems"
