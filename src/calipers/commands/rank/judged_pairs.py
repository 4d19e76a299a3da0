"""Bradley-Terry scores of judged pairs, with clustered standard errors or effects of raters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calipers.commands.rank.judged import (
    Cluster,
    Method,
    RaterCeiling,
    RaterProfile,
    Raters,
    Texts,
)
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.rater_groups import RaterGroup, is_export
from calipers.commands.rank.raters import (
    LEAST,
    RatedTruth,
    clusters_of,
    rater_ceiling,
    raters_of,
    with_clusters,
)
from calipers.commands.rank.result import Fit, Player, Truth
from calipers.commands.rank.scores import ScoredSystems
from calipers.errors import InputError
from calipers.judgements.judgement import STEPS
from calipers.judgements.tables import pair_step
from calipers.numeric.arrays import Longs
from calipers.samples.row_tables import Row, RowTable, is_blank
from calipers.samples.wording import describe, names
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.ceiling import ceilings
from calipers.uncertainty.clustered import clustered_covariance, crossed_covariance
from calipers.uncertainty.rated_pairs import RatedPairs, count_rated_pairs
from calipers.uncertainty.rater_agreement import check_more_than_sides, first_share
from calipers.uncertainty.rater_effects import RaterFit, fit_rater_effects

SCALE = 100.0
"""Unit of the scores."""


def truth_of_pairs(
    group: RaterGroup, question: str, scores: ScoredSystems, options: RankOptions
) -> RatedTruth | None:
    """Fit a Bradley-Terry model to a group's answers to one question; None without answers."""
    rows = group.rows
    if is_export(group.table):
        rows = tuple(row for row in rows if not is_blank(row[1].get(question)))
        if not rows:
            return None
    pairs = _rated(group.table, rows, question)
    fit, raters = _fitted(group, rows, question, pairs, options)
    ranked = {p.name: p.score for p in fit.players if p.name in scores.systems}
    truth = Truth(
        question,
        group.table.source.path,
        "judgements",
        ranked,
        {},
        fit,
        raters=raters,
        ceiling=_pairs_ceiling(pairs, tuple(ranked), options),
    )
    return RatedTruth(truth, question, pairs)


def _rated(table: RowTable, rows: Sequence[Row], question: str) -> RatedPairs:
    """Read the answers to a question."""
    export = is_export(table)

    def column(name: str) -> list[Any] | None:
        return [row.get(name) for _, row in rows] if name in table.columns else None

    a, b, answers, first = (column(name) or [] for name in ("a", "b", question, "first"))
    if export:
        # Names, not letters: of systems that are called "a" and "b" these could be the others
        a = [table.name(row, "a") for row in rows]
        b = [table.name(row, "b") for row in rows]
        sides = list(zip(rows, a, b, strict=True))
        answers = [_winner(table, row, question, *both) for row, *both in sides]
        first = [
            {"a": one, "b": other}.get(str(row[1].get("first") or ""), row[1].get("first"))
            for row, one, other in sides
        ]
    try:
        return count_rated_pairs(
            a,
            b,
            answers,
            rater=column("rater"),
            first=first or None,
            item=column("item"),
            repeat=column("repeat"),
            prompt=column("prompt"),
            share=column("share"),
        )
    except InputError as error:
        _raise_at_its_row(table, rows, question, error)


def _winner(table: RowTable, row: Row, question: str, a: str, b: str) -> str:
    """Name who was preferred in a row of an export, or "tie"."""
    value = row[1].get(question)
    if isinstance(value, str) and value.strip() in (a, b) and pair_step(value) is None:
        return value.strip()
    step = pair_step(value)
    if step is None:
        known = ", ".join(map(repr, STEPS))
        raise table.source.row_error(
            row[0],
            f"{question} must be one of {known}, or 1 to 5; found {describe(value)} (name the "
            "columns of questions with `truth_columns` where some are none)",
        )
    return {-1: a, 0: "tie", 1: b}[(step > 3) - (step < 3)]


def _raise_at_its_row(
    table: RowTable, rows: Sequence[Row], column: str, error: InputError
) -> NoReturn:
    """Name the line of the file where the message names a row of the judgements."""
    match = re.fullmatch(r"row (\d+): (.*)", str(error), flags=re.DOTALL)
    if match is None:
        raise table.source.error(f"column {column!r}: {error}") from None
    raise table.source.row_error(rows[int(match[1]) - 1][0], match[2]) from None


def _fitted(
    group: RaterGroup, rows: Sequence[Row], question: str, pairs: RatedPairs, options: RankOptions
) -> tuple[Fit, Raters]:
    """Fit the scores, with errors as the raters ask for."""
    by_rater = len(np.unique(pairs.rater)) if pairs.raters else 0
    texts, noun = _texts_of(pairs)
    by_item = len(np.unique(texts)) if len(texts) and (texts >= 0).all() else 0
    method, cluster = _method(group, options.raters, pairs, by_rater, by_item)
    raters = raters_of(group, rows, by_rater, len(pairs))
    share = first_share(pairs, level=options.level)
    if pairs.first.any():
        raters = replace(raters, first_share=share.value, first_share_interval=share.interval)
    try:
        check_more_than_sides(pairs)
        if method == "effects":
            effects = fit_rater_effects(
                pairs, ties=options.ties, scale=SCALE, level=options.level, seed=options.seed
            )
            return _fit_of_effects(effects, pairs), _with_effects(raters, effects)
        model = fit_bradley_terry(
            pairs.preferences,
            ties=options.ties,
            scale=SCALE,
            level=options.level,
            seed=options.seed,
        )
    except InputError as error:
        whose = f" by {group.label}" if group.kind == "model" else ""
        raise group.table.source.error(f"column {question!r}{whose}: {error}") from None
    intervals, covariance, errors = model.intervals, model.covariance, model.standard_errors
    if cluster:
        if cluster == "rater and item":
            clustered = crossed_covariance(model, pairs, second=texts if by_item else None)
        else:
            labels = pairs.rater if cluster == "rater" else texts
            clustered = clustered_covariance(model, pairs, labels)
        intervals, covariance = clustered.intervals, clustered.covariance
        errors = clustered.standard_errors
        raters = with_clusters(raters, cluster, by_rater, by_item, noun)
    fit = _fit(model, pairs, model.tie_share, model.tie_parameter, intervals, covariance, errors)
    return fit, replace(raters, method=method)


def _method(
    group: RaterGroup, asked: str | None, pairs: RatedPairs, raters: int, items: int
) -> tuple[Method, Cluster]:
    """Choose how answers of one rater are dealt with, and what the clusters are."""
    if asked in ("clustered", "effects") and not raters:
        raise group.table.source.error(
            f"raters {asked!r} (`raters={asked!r}`) needs a column 'rater', which says who "
            f"answered; its columns are {names(group.table.columns)}"
        )
    if asked == "effects":
        return "effects", ""
    if asked == "ignore":
        return "ignore", ""
    if raters >= LEAST:
        if not items:
            return "clustered", "rater"
        texts, _ = _texts_of(pairs)
        return "clustered", clusters_of(pairs.rater.tolist(), texts.tolist())
    if LEAST <= items < len(pairs):
        return "clustered", "item"
    return "ignore", ""


def _texts_of(pairs: RatedPairs) -> tuple[Longs, Texts]:
    """What answers about the same texts share: their prompt, where it is known, else the item."""
    if pairs.prompt is not None:
        return pairs.prompt, "prompt"
    return (pairs.item if pairs.items else np.empty(0, dtype=np.int64)), "item"


def _with_effects(raters: Raters, model: RaterFit) -> Raters:
    effects = {
        rater.name: RaterProfile(
            rater.answers,
            rater.discrimination,
            rater.discrimination_interval,
            rater.side_bias,
            rater.side_bias_interval,
        )
        for rater in model.raters
    }
    return replace(
        raters,
        method="effects",
        cluster="rater" if model.clustered else "",
        clusters=len(model.raters) if model.clustered else 0,
        side_bias=model.side_bias,
        side_bias_interval=model.side_bias_interval,
        left_out=model.left_out,
        effects=effects,
    )


def _fit_of_effects(model: RaterFit, pairs: RatedPairs) -> Fit:
    share = float((pairs.outcome == 0).mean())
    parameter = model.tie_parameter
    return _fit(
        model, pairs, share, parameter, model.intervals, model.covariance, model.standard_errors
    )


def _fit(
    model: BradleyTerry | RaterFit,
    pairs: RatedPairs,
    tie_share: float,
    tie_parameter: float,
    intervals: NDArray[np.float64],
    covariance: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> Fit:
    """Put a fit in the form of results, the most preferred system first."""
    counts = pairs.preferences
    order = np.argsort(-model.scores, kind="stable")
    players = tuple(
        Player(
            name=model.names[place],
            score=float(model.scores[place]),
            standard_error=float(errors[place]),
            interval=(float(intervals[place, 0]), float(intervals[place, 1])),
            won=float(counts.wins[place].sum()),
            lost=float(counts.wins[:, place].sum()),
            tied=float(counts.ties[place].sum()),
        )
        for place in order
    )
    return Fit(
        players=players,
        ties=model.ties,
        tie_share=tie_share,
        tie_parameter=tie_parameter,
        scale=model.scale,
        level=model.level,
        covariance=covariance[np.ix_(order, order)],
    )


def _pairs_ceiling(
    pairs: RatedPairs, systems: tuple[str, ...], options: RankOptions
) -> RaterCeiling:
    return rater_ceiling(ceilings(pairs, systems=systems, level=options.level, seed=options.seed))
