"""Judgements of pairs ──► Bradley-Terry scores, one truth for each column of answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.evaluate.rank_scores import Scores
from calipers.evaluate.rank_tables import Table
from calipers.evaluate.rank_truth import Truths, left_out
from calipers.results.ranking import Fit, Player, Truth
from calipers.samples.wording import names
from calipers.uncertainty.bradley_terry import BradleyTerry, Ties, fit_bradley_terry
from calipers.uncertainty.preferences import Preferences, count_preferences

ANSWERS = ("winner", "answer")
"""Names that the column of answers usually has."""

SCALE = 100.0


@dataclass(frozen=True)
class Judging:
    """How judgements become scores.

    Attributes
    ----------
    ties
        What becomes of them.
    level
        Of the intervals.
    keep_unscored
        Whether judged systems without scores stay in the fit.
    seed
        Of ties at random.
    """

    ties: Ties
    level: float
    keep_unscored: bool
    seed: int


def truths_of_judgements(
    table: Table, scores: Scores, columns: Sequence[str] | None, judging: Judging
) -> Truths:
    """Fit a Bradley-Terry model to each column of answers.

    Raises
    ------
    InputError
        If a column is missing, an answer cannot be read, a system has no scores and these are not
        kept, or the judgements do not connect all systems.
    """
    table.need("a", "b", *(columns or ()))
    judged = _players(table)
    if not judging.keep_unscored:
        _check_scored(table, scores, judged)
    found = []
    for column in columns or (_answers(table),):
        fit = _fit(table, column, judging)
        held = {
            player.name: player.score for player in fit.players if player.name in scores.systems
        }
        name = "judgements" if column in ANSWERS else column
        found.append(Truth(name, table.source.path, "judgements", held, {}, fit))
    return Truths(tuple(found), tuple(left_out(scores, judged, table.source.path)))


def _fit(table: Table, column: str, judging: Judging) -> Fit:
    a, b, answers = ([row.get(key) for _, row in table.rows] for key in ("a", "b", column))
    try:
        counted = count_preferences(a, b, answers)
    except InputError as error:
        _raise_at_its_row(table, column, error)
    try:
        model = fit_bradley_terry(
            counted, ties=judging.ties, scale=SCALE, level=judging.level, seed=judging.seed
        )
    except InputError as error:
        raise table.source.error(f"column {column!r}: {error}") from None
    order = np.argsort(-model.scores, kind="stable")
    return Fit(
        players=tuple(_ordered(model, counted, order)),
        ties=model.ties,
        tie_share=model.tie_share,
        tie_parameter=model.tie_parameter,
        scale=model.scale,
        level=model.level,
        covariance=model.covariance[np.ix_(order, order)],
    )


def _ordered(
    model: BradleyTerry, counted: Preferences, order: NDArray[np.intp]
) -> Iterator[Player]:
    for i in order:
        place = counted.names.index(model.names[i])
        low, high = model.intervals[i]
        yield Player(
            name=model.names[i],
            score=float(model.scores[i]),
            standard_error=float(model.standard_errors[i]),
            interval=(float(low), float(high)),
            won=float(counted.wins[place].sum()),
            lost=float(counted.wins[:, place].sum()),
            tied=float(counted.ties[place].sum()),
        )


def _raise_at_its_row(table: Table, column: str, error: InputError) -> NoReturn:
    """Name the line of the file where the message names a row of the judgements."""
    found = re.fullmatch(r"row (\d+): (.*)", str(error), flags=re.DOTALL)
    if found is None:
        raise table.source.error(f"column {column!r}: {error}") from None
    raise table.source.row_error(table.rows[int(found[1]) - 1][0], found[2]) from None


def _answers(table: Table) -> str:
    """Find the column of answers: one of a usual name, or the only one beside a and b."""
    usual = [column for column in table.columns if column in ANSWERS]
    others = [column for column in table.columns if column not in ("a", "b")]
    found = usual or others
    if len(found) == 1:
        return found[0]
    known = " or ".join(map(repr, ANSWERS))
    raise table.source.error(
        f"no one column holds the answers ({known} by default); its columns are "
        f"{names(table.columns)}; name it, or several, with --truth-column (truth_columns= in "
        "Python)"
    )


def _players(table: Table) -> dict[str, int]:
    """Give every judged system, and the number of the first row that names it."""
    found: dict[str, int] = {}
    for row in table.rows:
        for column in ("a", "b"):
            found.setdefault(table.name(row, column), row[0])
    return found


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
