"""Scores held against what people or judges prefer: how far a metric's ranking can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from calipers.errors import InputError, unknown_name
from calipers.evaluate.rank_beside import beside, correlated
from calipers.evaluate.rank_intake import take_scores
from calipers.evaluate.rank_judgements import Judging, truths_of_judgements
from calipers.evaluate.rank_notes import score_notes, score_warnings
from calipers.evaluate.rank_scores import Scores
from calipers.evaluate.rank_tables import Table, read_table
from calipers.evaluate.rank_truth import Truths, truths_of_scores
from calipers.numeric.validation import check_choice, check_whole, is_positive
from calipers.results.ranking import RankedMetric, Ranking, Truth
from calipers.uncertainty.bradley_terry import Ties
from calipers.uncertainty.correlation import Kind
from calipers.uncertainty.rank_agreement import rarely_reached


def rank(
    scores: Any,
    *,
    judgements: Any = None,
    truth: Any = None,
    truth_columns: Sequence[str] | None = None,
    reference: str | None = None,
    metrics: Sequence[str] | None = None,
    ties: Ties = "davidson",
    kind: Kind = "spearman",
    level: float = 0.95,
    keep_unscored: bool = False,
    matrix: bool = False,
    seed: int = 0,
) -> Ranking:
    """Tell how far metrics rank systems as people do, and as one another.

    From judgements of pairs it fits a Bradley-Terry model; each metric then meets the fitted
    scores, or finished ones, by Spearman's and Pearson's correlation and by the worst-case
    Spearman correlation ρ_min (Pillutla et al., JMLR 2023, section 6.4, equation 30, table 4,
    appendix E). The intervals of the correlations include the errors of the fitted scores, and
    those of the metrics where deviations are given. Metrics meet one another in a matrix (Le
    Bronnec et al., ACL 2024, figures 7 and A.5).

    Parameters
    ----------
    scores
        A table with the columns ``system``, ``metric``, ``mean`` and, where known, ``sd`` and
        ``better`` (higher, lower, closest): a path (.csv, .tsv, .jsonl, .json, .parquet), a data
        frame or a list of rows. Or a mapping from system to metric to mean or ``(mean, sd)``. Or
        what :func:`calipers.compare` found: the comparison, its JSON or its saved zip.
    judgements
        A table with the columns ``a``, ``b`` and an answer: the winner's name, ``tie``, or five
        steps from ``definitely a`` (1) to ``definitely b`` (5).
    truth
        A table with the column ``system`` and one or more columns of numbers, higher better; each
        is a truth of its own. A column with ``_sd`` after the name of another holds the standard
        errors of that one. Or a dict from system to number. Not together with `judgements`.
    truth_columns
        Which columns hold the truths, or the answers; by default all columns of numbers, and
        ``winner`` or ``answer``.
    reference
        The system that is the reference: it is not ranked, and a metric of which it has a value is
        better the closer to that, compared as -|T(Q) - T(P)| (section 6.3), unless `better` says
        otherwise.
    metrics
        Which metrics to rank by, ``["all"]`` for all that `scores` holds. By default all, and of a
        comparison those that its table shows: the best of many is best by chance.
    ties
        What becomes of ties: an outcome of its own, by the model of ``"davidson"`` (JASA 1970),
        which leaves the scores on their scale; ``"half"`` a win to each, which draws them together,
        or a win to either at ``"random"`` (as appendix E has it), which does so too; or ``"drop"``.
    kind
        Of the matrix: ``"spearman"`` or ``"pearson"``.
    level
        Of the intervals, between 0 and 1.
    keep_unscored
        Whether judged systems without scores stay in the fit; otherwise they are an error.
    matrix
        Whether printing shows the matrix beside truths; without a truth it always does.
    seed
        Of ties at random, of the errors that are drawn for the intervals of correlations, and of
        the search for ρ_min where it is not exact.

    Returns
    -------
    Ranking
        ``ranking["human_like"]["mauve_star"].worst``, ``ranking["judgements"].fit``,
        ``ranking.matrix``; printing it shows the tables.

    Raises
    ------
    InputError
        If a table cannot be read, lacks a column, holds a value that breaks a rule or names unknown
        systems; if there is one system; if the judgements do not connect the systems; if an option
        is out of its range.
    """
    _check(judgements, truth, truth_columns, ties, kind, level, seed)
    held = take_scores(scores, reference, metrics)
    if judgements is None and truth is None and len(held.columns) < 2:
        raise InputError(
            f"{held.source}: one metric alone has nothing to be ranked beside; give judgements, a "
            "truth, or more metrics"
        )
    judging = Judging(ties, level, keep_unscored, seed)
    made = _truths(judgements, truth, held, truth_columns, judging)
    found = [beside(each, held, level=level, seed=seed) for each in made.found]
    sizes = sorted({each.n for one in found for each in one}) or [len(held.systems)]
    return Ranking(
        systems=held.systems,
        metrics={
            key: RankedMetric(key, column.better, column.means, column.deviations, column.own)
            for key, column in held.columns.items()
        },
        truths={each.name: each for each in found},
        matrix=correlated(held, found, kind),
        settings={
            "scores": held.source,
            "judgements": _named(judgements, "judgements"),
            "truth": _named(truth, "truth"),
            "reference": held.reference,
            "ties": None if judgements is None else ties,
            "kind": kind,
            "matrix": matrix,
            "level": level,
            "keep_unscored": keep_unscored,
            "seed": seed,
        },
        chance={size: rarely_reached(size) for size in sizes},
        notes=(*score_notes(held, spread=bool(found)), *made.notes),
        warnings=(*score_warnings(held), *_alike(found)),
    )


def _check(
    judgements: Any,
    truth: Any,
    columns: Sequence[str] | None,
    ties: str,
    kind: str,
    level: Any,
    seed: int,
) -> None:
    if judgements is not None and truth is not None:
        raise InputError("judgements and truth exclude each other; give one of them")
    if columns is not None and judgements is None and truth is None:
        raise InputError("truth_columns names columns, but there is neither truth nor judgements")
    check_choice("ties", ties, get_args(Ties))
    check_choice("kind", kind, ("spearman", "pearson"))
    check_whole("seed", seed, 0)
    if not is_positive(level) or level >= 1:
        raise InputError(f"level must lie between 0 and 1, and be neither; found {level!r}")


def _truths(
    judgements: Any, truth: Any, scores: Scores, columns: Sequence[str] | None, judging: Judging
) -> Truths:
    if truth is not None:
        table = read_table(_rows(truth), "truth")
        _check_reference(scores, table, "system")
        return truths_of_scores(table, scores, columns)
    if judgements is not None:
        table = read_table(judgements, "judgements")
        _check_reference(scores, table, "a", "b")
        return truths_of_judgements(table, scores, columns, judging)
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


def _named(given: Any, parameter: str) -> str | None:
    if given is None:
        return None
    return str(given) if isinstance(given, str | Path) else parameter


def _alike(truths: Sequence[Truth]) -> Iterator[str]:
    """Say which truths rank no system."""
    for truth in truths:
        known = {score for score in truth.scores.values() if math.isfinite(score)}
        if len(known) == 1:
            yield f"{truth.name}: all systems have the same score, so it ranks none"
