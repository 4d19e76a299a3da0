"""What people or judges prefer ──► truths: one for each column of scores, or of answers.

A table with a row for each system holds finished scores; a column NAME_sd beside a column NAME is
no truth: it holds the standard errors of NAME. A table of judged pairs gives Bradley-Terry scores.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from calipers.errors import InputError, unknown_name
from calipers.evaluate.options import RankOptions
from calipers.evaluate.rank_scores import Scores
from calipers.samples.row_tables import Row, Table, as_number, is_blank, read_table
from calipers.results.ranking import Fit, Player, Truth
from calipers.samples.wording import names
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.preferences import Preferences, count_preferences

ERRORS = "_sd"
"""Ends the name of a column that holds the standard errors of another."""

ANSWERS = ("winner", "answer")
"""Names that the column of answers usually has."""

SCALE = 100.0


@dataclass(frozen=True)
class Truths:
    """All truths of one table, not yet compared with any metric, and what to note of them."""

    truths: tuple[Truth, ...]
    notes: tuple[str, ...]


def read_truths(scores: Scores, options: RankOptions) -> Truths:
    """Read the truths that scores are compared with, of `truth` or of `judgements`, if of either.

    Raises
    ------
    InputError
        If a table cannot be read or breaks a rule, or nobody names the reference.
    """
    if options.truth is not None:
        table = read_table(_rows(options.truth), "truth")
        _check_reference(scores, table, "system")
        return _truths_of_scores(table, scores, options.truth_columns)
    if options.judgements is not None:
        table = read_table(options.judgements, "judgements")
        _check_reference(scores, table, "a", "b")
        return _truths_of_judgements(table, scores, options)
    _check_reference(scores)
    return Truths((), ())


def _check_reference(scores: Scores, table: Table | None = None, *columns: str) -> None:
    """Refuse a reference that neither the scores nor the truth name."""
    rows = () if table is None else table.rows
    named = {str(row[column]).strip() for _, row in rows for column in columns if column in row}
    known = {*scores.named, *named}
    if scores.reference is not None and scores.reference not in known:
        raise unknown_name("reference", scores.reference, known)


def _rows(truth: Any) -> Any:
    """Rows of a mapping from systems to one score each; anything else as it is."""
    if not isinstance(truth, Mapping):
        return truth
    return [{"system": name, "truth": score} for name, score in truth.items()]


def _truths_of_scores(table: Table, scores: Scores, columns: Sequence[str] | None) -> Truths:
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
    notes += [*_left_out(scores, rows, table.source.path), *_blank(truths)]
    return Truths(tuple(truths), tuple(notes))


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
        if column != "system"
        and not (column.endswith(ERRORS) and column.removesuffix(ERRORS) in table.columns)
    ]
    kept = [column for column in others if as_number(_first(table, column)) is not None]
    if not kept:
        raise table.source.error(
            f"has no column of numbers beside 'system'; its columns are {names(table.columns)}"
        )
    left = [column for column in others if column not in kept]
    return kept, [f"{table.source.path}: {names(left)} left out: no numbers"] if left else []


def _errors(table: Table, rows: Mapping[str, Row], column: str) -> dict[str, float]:
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


def _first(table: Table, column: str) -> object:
    cells = (row.get(column) for _, row in table.rows)
    return next((cell for cell in cells if not is_blank(cell)), None)


def _cell(table: Table, row: Row, column: str) -> float:
    """Read a truth; a blank one is NaN."""
    return math.nan if is_blank(row[1].get(column)) else table.number(row, column)


def _blank(truths: Sequence[Truth]) -> Iterator[str]:
    for truth in truths:
        blank = [name for name, score in truth.scores.items() if math.isnan(score)]
        if blank:
            yield f"{truth.name}: no value of {names(blank)}; compared with the other systems"


def _truths_of_judgements(table: Table, scores: Scores, options: RankOptions) -> Truths:
    """Fit a Bradley-Terry model to each column of answers.

    Raises
    ------
    InputError
        If a column is missing, an answer cannot be read, a system has no scores and these are not
        kept, or the judgements do not connect all systems.
    """
    columns = options.truth_columns or ()
    table.need("a", "b", *columns)
    judged = _players(table)
    if not options.keep_unscored:
        _check_scored(table, scores, judged)
    truths = []
    for column in columns or (_answers(table),):
        fit = _fit(table, column, options)
        fitted = {
            player.name: player.score for player in fit.players if player.name in scores.systems
        }
        name = "judgements" if column in ANSWERS else column
        truths.append(Truth(name, table.source.path, "judgements", fitted, {}, fit))
    return Truths(tuple(truths), tuple(_left_out(scores, judged, table.source.path)))


def _fit(table: Table, column: str, options: RankOptions) -> Fit:
    a, b, answers = ([row.get(key) for _, row in table.rows] for key in ("a", "b", column))
    try:
        preferences = count_preferences(a, b, answers)
    except InputError as error:
        _raise_at_its_row(table, column, error)
    try:
        model = fit_bradley_terry(
            preferences, ties=options.ties, scale=SCALE, level=options.level, seed=options.seed
        )
    except InputError as error:
        raise table.source.error(f"column {column!r}: {error}") from None
    order = np.argsort(-model.scores, kind="stable")
    return Fit(
        players=tuple(_player(model, preferences, place) for place in order),
        ties=model.ties,
        tie_share=model.tie_share,
        tie_parameter=model.tie_parameter,
        scale=model.scale,
        level=model.level,
        covariance=model.covariance[np.ix_(order, order)],
    )


def _player(model: BradleyTerry, preferences: Preferences, place: int) -> Player:
    row = preferences.names.index(model.names[place])
    low, high = model.intervals[place]
    return Player(
        name=model.names[place],
        score=float(model.scores[place]),
        standard_error=float(model.standard_errors[place]),
        interval=(float(low), float(high)),
        won=float(preferences.wins[row].sum()),
        lost=float(preferences.wins[:, row].sum()),
        tied=float(preferences.ties[row].sum()),
    )


def _raise_at_its_row(table: Table, column: str, error: InputError) -> NoReturn:
    """Name the line of the file where the message names a row of the judgements."""
    match = re.fullmatch(r"row (\d+): (.*)", str(error), flags=re.DOTALL)
    if match is None:
        raise table.source.error(f"column {column!r}: {error}") from None
    raise table.source.row_error(table.rows[int(match[1]) - 1][0], match[2]) from None


def _answers(table: Table) -> str:
    """Find the column of answers: one of a usual name, or the only one beside a and b."""
    usual = [column for column in table.columns if column in ANSWERS]
    candidates = usual or [column for column in table.columns if column not in ("a", "b")]
    if len(candidates) == 1:
        return candidates[0]
    known = " or ".join(map(repr, ANSWERS))
    raise table.source.error(
        f"no one column holds the answers ({known} by default); its columns are "
        f"{names(table.columns)}; name it, or several, with --truth-column (truth_columns= in "
        "Python)"
    )


def _players(table: Table) -> dict[str, int]:
    """Give every judged system, and the number of the first row that names it."""
    players: dict[str, int] = {}
    for row in table.rows:
        for column in ("a", "b"):
            players.setdefault(table.name(row, column), row[0])
    return players


def _check_scored(table: Table, scores: Scores, judged: dict[str, int]) -> None:
    known = {*scores.systems, *([scores.reference] if scores.reference else [])}
    for name, number in judged.items():
        if name not in known:
            unknown = unknown_name("system", name, known)
            raise table.source.row_error(
                number,
                f"{unknown} (only systems with scores and the reference, --reference NAME, may be "
                "judged; --keep-unscored leaves others in the fit)",
            )


def _left_out(scores: Scores, systems: Iterable[str], source: str) -> Iterator[str]:
    """Say which systems stand on one side only."""
    systems = tuple(systems)
    extra = [name for name in systems if name not in (*scores.systems, scores.reference)]
    lacking = [name for name in scores.systems if name not in systems]
    if extra:
        yield f"{source}: {names(extra)} left out of the correlations: no scores"
    if lacking:
        yield f"{names(lacking)} left out of the correlations: not in {source}"
