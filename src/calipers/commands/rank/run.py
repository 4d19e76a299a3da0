"""``rank``: compare the ranking by scores with the preferences of people or judges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.shown import UNRANKED
from calipers.commands.rank.beside_people import beside_people, people_of
from calipers.commands.rank.disagreement import disagreement, disagreements
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.raters import RatedTruth
from calipers.commands.rank.result import Beside, Matrix, RankedMetric, Ranking, Truth
from calipers.commands.rank.scores import MetricColumn, ScoredSystems, ranking_values, read_scores
from calipers.commands.rank.truth import read_truths
from calipers.errors import InputError
from calipers.options.keywords import keywords_of
from calipers.samples.wording import names
from calipers.uncertainty.correlation import (
    DRAWS,
    Correlation,
    CorrelationKind,
    Interval,
    correlation_matrix,
    draw_errors,
    interval_of_errors,
    pearson,
    spearman,
    widened,
)
from calipers.uncertainty.rank_agreement import rarely_reached
from calipers.uncertainty.worst_case import worst_case_spearman

PEOPLE = ("human", "humans", "reference", "gold")
"""Names that what people wrote usually has."""

DEVIATIONS = {
    "sd": "the column sd",
    "seeds": "the spread over the seed files of a system",
    "errors": "standard errors",
}
"""What a deviation is, by its kind, in words."""


@keywords_of(RankOptions)
def rank(scores: Any, options: RankOptions) -> Ranking:
    """Tell how far metrics rank systems as people do, and how far metrics agree.

    From judgements of pairs it fits a Bradley-Terry model; each metric is then compared with the
    fitted scores, or with given ones, by Spearman's and Pearson's correlation and by the worst-case
    Spearman correlation ρ_min (Pillutla et al., JMLR 2023, section 6.4, equation 30, table 4,
    appendix E). The intervals of the correlations include the errors of the fitted scores, and
    those of the metrics where deviations are given. Metrics are compared with one another in a
    matrix (Le Bronnec et al., ACL 2024, figures 7 and A.5).

    Parameters
    ----------
    scores
        A table with the columns ``system``, ``metric``, ``mean`` and, where known, ``sd`` and
        ``better`` (higher, lower, closest): a path (.csv, .tsv, .jsonl, .json, .parquet), a data
        frame or a list of rows. Or a mapping from system to metric to mean or ``(mean, sd)``. Or
        the result of :func:`calipers.compare`, its JSON or its saved zip.

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

    Examples
    --------
    >>> import calipers
    >>> scores = {"a": {"mauve": 0.9}, "b": {"mauve": 0.5}, "c": {"mauve": 0.3}}
    >>> ranking = calipers.rank(scores, truth={"a": 3, "b": 1, "c": 2})
    >>> round(ranking["truth"].metrics["mauve"].spearman, 6)
    0.5
    """
    judgements, truth, level, seed = options.judgements, options.truth, options.level, options.seed
    _check(options)
    given = read_scores(scores, options.reference, options.metrics)
    if judgements is None and truth is None and len(given.columns) < 2:
        raise InputError(
            f"{given.source}: there is only one metric and nothing to compare it with; give "
            "judgements, a truth, or more metrics"
        )
    read = read_truths(given, options)
    truths = [_with_correlations(one, given, level=level, seed=seed) for one in read.truths]
    truths = _with_people(truths, read.judged, given, level=level, seed=seed)
    sizes = sorted({metric.n for one in truths for metric in one}) or [len(given.systems)]
    return Ranking(
        systems=given.systems,
        metrics={
            key: RankedMetric(key, column.better, column.means, column.deviations, column.reference)
            for key, column in given.columns.items()
        },
        truths={one.name: one for one in truths},
        matrix=_matrix(given, truths, options.kind),
        settings={
            "scores": given.source,
            "judgements": _named(judgements, "judgements"),
            "truth": _named(truth, "truth"),
            "reference": given.reference,
            "ties": None if judgements is None else options.ties,
            "raters": None if judgements is None else options.raters,
            "drop_flagged": options.drop_flagged,
            "kind": options.kind,
            "matrix": options.matrix,
            "level": level,
            "keep_unscored": options.keep_unscored,
            "seed": seed,
        },
        chance={size: rarely_reached(size) for size in sizes},
        notes=(*_score_notes(given, deviations=bool(truths)), *read.notes),
        warnings=(*_score_warnings(given), *_alike(truths)),
    )


def _check(options: RankOptions) -> None:
    neither = options.judgements is None and options.truth is None
    if options.judgements is not None and options.truth is not None:
        raise InputError("judgements and truth cannot be combined; give one of them")
    if options.truth_columns is not None and neither:
        raise InputError(
            "truth_columns needs truth or judgements, whose columns it names; found neither"
        )
    if options.judgements is None:
        for name, given in (("raters", options.raters), ("drop_flagged", options.drop_flagged)):
            if given:
                raise InputError(
                    f"`{name}` says how judgements are treated; give some (`judgements`)"
                )


def _named(given: Any, parameter: str) -> str | list[str] | None:
    if given is None:
        return None
    if isinstance(given, list | tuple) and all(isinstance(one, str | Path) for one in given):
        return [str(one) for one in given] if len(given) != 1 else str(given[0])
    return str(given) if isinstance(given, str | Path) else parameter


def _with_correlations(truth: Truth, scores: ScoredSystems, *, level: float, seed: int) -> Truth:
    """Correlate every metric with a truth, each over the systems that have both.

    The errors of the truth are drawn once for all metrics, and those of a metric for it alone, by
    systems in the order of their names: neither the order of rows nor a further metric changes
    them.
    """
    true = {
        name: truth.scores[name]
        for name in scores.systems
        if math.isfinite(truth.scores.get(name, math.nan))
    }
    errors = _drawn(truth, true, seed=2 * seed)
    metrics = {
        key: _correlate(key, column, true, errors, level=level, seed=seed)
        for key, column in scores.columns.items()
    }
    about = disagreements(
        scores.systems,
        true,
        {key: metric.places for key, metric in metrics.items() if metric_name(key) not in UNRANKED},
    )
    besides = {key: metric.beside for key, metric in metrics.items()}
    return replace(truth, metrics=besides, disagreements=about)


class _Correlated(NamedTuple):
    """A metric beside a truth; and the systems that both value, with what the metric makes of them
    and about which it disagrees."""

    beside: Beside
    places: tuple[list[str], NDArray[np.float64], NDArray[np.int64]]


def _drawn(
    truth: Truth, systems: Iterable[str], *, seed: int
) -> dict[str, NDArray[np.float64]] | None:
    """Draw the errors of a truth, by systems in the order of their names; None without any."""
    names = sorted(systems)
    covariance = _covariance(truth, names)
    if covariance is None:
        return None
    return dict(zip(names, draw_errors(covariance, seed=seed).T, strict=True))


def _covariance(truth: Truth, systems: Sequence[str]) -> NDArray[np.float64] | None:
    """Of the errors of a truth; None where nothing is known of them."""
    if truth.fit is not None:
        players = [player.name for player in truth.fit.players]
        places = [players.index(name) for name in systems]
        wide = _widening(truth, [(p.standard_error, p.interval) for p in truth.fit.players])
        return truth.fit.covariance[np.ix_(places, places)] * wide**2
    if truth.ratings is not None:
        rated = list(truth.ratings.systems)
        places = [rated.index(name) for name in systems]
        means = truth.ratings.systems.values()
        wide = _widening(truth, [(mean.standard_error, mean.interval) for mean in means])
        covariance = truth.ratings.covariance[np.ix_(places, places)] * wide**2
        return covariance if np.isfinite(covariance).all() else None
    deviations = np.array([truth.deviations.get(name, 0.0) for name in systems], dtype=np.float64)
    return np.diag(deviations**2) if deviations.any() else None


def _widening(truth: Truth, known: Sequence[tuple[float, Interval | None]]) -> float:
    """How much farther the intervals of scores reach than normal ones: few clusters, Student's t.

    Errors are drawn from a normal distribution, which so many clusters would have.
    """
    estimate = truth.fit or truth.ratings
    if estimate is None or truth.raters is None or not truth.raters.cluster:
        return 1.0
    from scipy.special import ndtri

    reach = float(ndtri((1 + estimate.level) / 2))
    ratios = [
        (interval[1] - interval[0]) / 2 / (reach * error)
        for error, interval in known
        if interval is not None and error > 0
    ]
    return sum(ratios) / len(ratios) if ratios else 1.0


def _correlate(
    key: str,
    column: MetricColumn,
    truth: Mapping[str, float],
    truth_errors: Mapping[str, NDArray[np.float64]] | None,
    *,
    level: float,
    seed: int,
) -> _Correlated:
    ranked = ranking_values(column, tuple(truth))
    systems = [name for name, value in zip(truth, ranked, strict=True) if math.isfinite(value)]
    values = ranking_values(column, systems)
    deviations = np.array([column.deviations[name] for name in systems], dtype=np.float64)
    true = np.array([truth[name] for name in systems], dtype=np.float64)
    worst = worst_case_spearman(values, deviations, true, seed=seed)
    moved = ranking_values(column, systems, _errors(systems, deviations, seed=2 * seed + 1))
    moved_true = _moved(true, truth_errors, systems)
    both = _correlations(values, moved, true, moved_true, level=level)
    uncertain = truth_errors is not None
    beside = Beside(
        metric=key,
        n=len(systems),
        spearman=both.rank.value,
        spearman_interval=both.rank_interval,
        worst=worst.value,
        exact=worst.exact,
        bound=worst.lower_bound,
        pearson=both.line.value,
        pearson_interval=both.line_interval,
        reason=both.rank.reason or both.line.reason,
        spearman_fixed=both.rank_fixed if uncertain else None,
        pearson_fixed=both.line_fixed if uncertain else None,
    )
    apart = disagreement(values, true, moved, moved_true, level=level)
    return _Correlated(beside, (systems, values, apart))


class _Correlations(NamedTuple):
    """Both correlations of two columns, with their intervals."""

    rank: Correlation
    rank_interval: Interval | None
    rank_fixed: Interval | None
    line: Correlation
    line_interval: Interval | None
    line_fixed: Interval | None


def _correlations(
    values: NDArray[np.float64],
    moved: NDArray[np.float64],
    true: NDArray[np.float64],
    moved_true: NDArray[np.float64],
    *,
    level: float,
) -> _Correlations:
    """Correlate values with true ones; what both would be with their errors drawn goes in."""
    rank, line = spearman(values, true, level=level), pearson(values, true, level=level)
    rank_fixed = interval_of_errors("spearman", rank.value, moved, moved_true, level=level)
    line_fixed = interval_of_errors("pearson", line.value, moved, moved_true, level=level)
    return _Correlations(
        rank,
        widened(rank.value, rank.interval, rank_fixed),
        rank_fixed,
        line,
        widened(line.value, line.interval, line_fixed),
        line_fixed,
    )


def _moved(
    values: NDArray[np.float64],
    errors: Mapping[str, NDArray[np.float64]] | None,
    systems: Sequence[str],
) -> NDArray[np.float64]:
    """Add drawn errors to values, shape ``(draws, n)``; a single row without any."""
    if errors is None or not systems:
        return values[None]
    return np.asarray(values[None] + np.column_stack([errors[name] for name in systems]))


def _with_people(
    truths: Sequence[Truth],
    judged: Sequence[RatedTruth],
    scores: ScoredSystems,
    *,
    level: float,
    seed: int,
) -> list[Truth]:
    """Compare every model that judges with the people who were asked the same."""
    compared = list(truths)
    for place, model in enumerate(judged):
        people = people_of(judged, model)
        if people is None:
            continue
        ours, theirs = model.truth, people.truth
        systems = [
            name
            for name in scores.systems
            if all(math.isfinite(truth.scores.get(name, math.nan)) for truth in (ours, theirs))
        ]
        values, true = (
            np.array([truth.scores[name] for name in systems], dtype=np.float64)
            for truth in (ours, theirs)
        )
        both = _correlations(
            values,
            _moved(values, _drawn(ours, systems, seed=2 * seed + 1), systems),
            true,
            _moved(true, _drawn(theirs, systems, seed=2 * seed), systems),
            level=level,
        )
        beside = replace(
            beside_people(model, people, level=level, seed=seed),
            n=len(systems),
            spearman=both.rank.value,
            spearman_interval=both.rank_interval,
            spearman_fixed=both.rank_fixed,
            pearson=both.line.value,
            pearson_interval=both.line_interval,
            pearson_fixed=both.line_fixed,
            reason=both.rank.reason or both.line.reason,
        )
        compared[place] = replace(compared[place], people=beside)
    return compared


def _errors(
    systems: Sequence[str], deviations: NDArray[np.float64], *, seed: int
) -> NDArray[np.float64]:
    """Draw the errors of a metric, shape ``(draws, n)``; a single row of zeros without any."""
    if not deviations.any():
        return np.zeros((1, len(systems)))
    order = np.argsort(systems)
    errors = np.empty((DRAWS, len(systems)))
    errors[:, order] = draw_errors(np.diag(deviations[order] ** 2), seed=seed)
    return errors


def _matrix(scores: ScoredSystems, truths: Sequence[Truth], kind: CorrelationKind) -> Matrix:
    """Correlate all metrics and truths with one another, by their values as measured.

    Paper 000, figures 7 and A.5.
    """
    columns = [
        *(column.means for column in scores.columns.values()),
        *(truth.scores for truth in truths),
    ]
    values = [[column.get(name, math.nan) for column in columns] for name in scores.systems]
    matrix = correlation_matrix(np.array(values, dtype=np.float64), kind=kind)
    keys = (*scores.columns, *(truth.name for truth in truths))
    return Matrix(kind, keys, len(truths), matrix.values, matrix.systems, matrix.reasons)


def _score_notes(scores: ScoredSystems, *, deviations: bool) -> Iterator[str]:
    """Say what was left out or taken for granted; `deviations` tells whether they matter."""
    yield from scores.notes
    yield from _gaps(scores)
    yield from _unranked(scores)
    if deviations:
        yield from _deviations(scores)
    if scores.reference is None:
        yield from _hints(scores.systems)


def _score_warnings(scores: ScoredSystems) -> Iterator[str]:
    """Say by which metrics all systems are alike."""
    for key, column in scores.columns.items():
        if len(column.means) > 1 and len(set(column.means.values())) == 1:
            yield f"{key}: all systems have the same score, so there is no ranking"


def _gaps(scores: ScoredSystems) -> Iterator[str]:
    """Say which systems have no value of a metric."""
    for metric, column in scores.columns.items():
        missing = [name for name in scores.systems if name not in column.means]
        reasons = "; ".join(dict.fromkeys(column.reasons.get(name, "") for name in missing))
        why = f" ({reasons})" if reasons else ""
        if missing:
            yield f"{metric}: no value of {names(missing)}{why}; ranked over the other systems"


def _deviations(scores: ScoredSystems) -> Iterator[str]:
    """Say what deviations are, unless they are what the table calls them throughout."""
    kinds = [kind for column in scores.columns.values() for kind in column.kinds.values()]
    used = [words for kind, words in DEVIATIONS.items() if kind in kinds]
    none = kinds.count("")
    if none == len(kinds):
        yield (
            "no standard deviations were given, so the worst case is Spearman's correlation itself"
        )
    elif none:
        yield f"{none} of {len(kinds)} scores have no standard deviation; it is taken as 0"
    if used and used != [DEVIATIONS["sd"]]:
        yield f"deviations are {' or '.join(used)}"


def _unranked(scores: ScoredSystems) -> Iterator[str]:
    """Say which metrics are good in the middle."""
    unranked = [key for key in scores.columns if metric_name(key) in UNRANKED]
    if unranked:
        yield f"{names(unranked)}: neither direction is better; higher is taken as better"


def metric_name(key: str) -> str:
    """Return the name of the metric in a key, without view and options."""
    return key.rpartition(".")[2].partition(":")[0]


def _hints(systems: Sequence[str]) -> Iterator[str]:
    for name in systems:
        if name.casefold() in PEOPLE:
            yield (
                f"{name!r} is ranked like the other systems; if its texts were written by "
                "people, name it with `reference`"
            )


def _alike(truths: Sequence[Truth]) -> Iterator[str]:
    """Say which truths rank no system."""
    for truth in truths:
        values = {score for score in truth.scores.values() if math.isfinite(score)}
        if len(values) == 1:
            yield f"{truth.name}: all systems have the same score, so there is no ranking"
