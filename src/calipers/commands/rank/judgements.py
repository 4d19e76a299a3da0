"""Judgements of people and of models ──► truths: one for each question and group of raters.

A group is the people of one table, or one model. Judged pairs give Bradley-Terry scores, ratings of
single texts or batches a mean for each system. In a table that names the item and the rater, as
``calipers annotate`` and ``calipers judge`` write it, every column that is none of the fixed ones
is a question; in any other table of pairs one column holds the answers.

Answers of one rater are alike, and so are answers about one pair of texts: standard errors come
from clusters of raters where there are several, from those of raters and of items where several
raters saw the same items, else from items. Where both people and a model were asked the same, the
model is held against the people, item by item.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from calipers.commands.rank.judged import (
    BesidePeople,
    Cluster,
    Method,
    RatedSystem,
    RaterCeiling,
    RaterProfile,
    Raters,
    Ratings,
)
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.result import Fit, Player, Truth
from calipers.commands.rank.scores import Scores, only_on_one_side
from calipers.errors import InputError, unknown_name
from calipers.judgements.judgement import STEPS
from calipers.judgements.tables import (
    KNOWN,
    flags_of,
    is_pairs,
    judgements_in,
    pair_step,
    question_columns,
    rater_kind,
    read_judged,
)
from calipers.samples.row_tables import Row, RowTable, is_blank
from calipers.samples.source import split_suffix
from calipers.samples.wording import counted, describe, names
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.ceiling import Ceiling, ceiling, ratings_ceiling
from calipers.uncertainty.clustered import clustered_covariance, crossed_covariance
from calipers.uncertainty.correlation import CorrelationKind
from calipers.uncertainty.rated_means import RatedMeans, rated_means
from calipers.uncertainty.rated_pairs import RatedPairs, count_rated_pairs
from calipers.uncertainty.rater_agreement import (
    agreement_between,
    check_more_than_sides,
    first_share,
    ratings_between,
)
from calipers.uncertainty.rater_effects import RaterFit, fit_rater_effects

ANSWERS = ("winner", "answer")
"""Names that the column of answers usually has."""

SCALE = 100.0

LEAST = 2
"""Clusters below which nothing tells how far they differ."""


@dataclass(frozen=True)
class Judged:
    """A truth that raters gave, not yet compared with any metric, and what they answered.

    Attributes
    ----------
    pairs, ratings
        Their judgements of pairs; or item, rater and number of every rating.
    """

    truth: Truth
    question: str
    pairs: RatedPairs | None = None
    ratings: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True)
class RaterGroup:
    """Raters who belong together, and their rows of one table.

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


def tables_of(judgements: Any) -> list[RowTable]:
    """Read one table of judgements, or several.

    Raises
    ------
    InputError
        If one cannot be read, or holds neither pairs nor ratings.
    """
    several = _is_several(judgements)
    given = list(judgements) if several else [judgements]
    tables = [
        read_judged(one, f"judgements {place}" if several else "judgements")
        for place, one in enumerate(given, 1)
    ]
    for table in tables:
        if is_pairs(table):
            continue
        if "system" in table.columns and "rater" in table.columns:
            table.need("item")
            continue
        if "annotations" in table.columns:
            raise table.source.error(
                "is an export of Label Studio; bring it into the study with calipers annotate "
                "STUDY --import-label-studio FILE, and give what --export writes"
            )
        table.need("a", "b")
    return tables


def _is_several(judgements: Any) -> bool:
    """Whether a person gave a list of tables; a list of rows is one table."""
    if isinstance(judgements, str | bytes | Path) or not isinstance(judgements, Sequence):
        return False
    if not judgements or judgements_in(judgements) is not None:
        return False
    return all(
        isinstance(one, str | Path | list | tuple) or hasattr(one, "columns") for one in judgements
    )


def judged_truths(
    tables: Sequence[RowTable], scores: Scores, options: RankOptions
) -> tuple[list[Judged], list[str]]:
    """Make a truth of each question and group of raters, and say what to note.

    Raises
    ------
    InputError
        If a column is missing, an answer cannot be read, a system has no scores and these are not
        kept, or the judgements do not connect all systems.
    """
    _check_columns(tables, options.truth_columns)
    groups = [group for table in tables for group in _groups(table)]
    named = len({group.label for group in groups}) > 1
    found: list[Judged] = []
    notes: list[str] = []
    for group in groups:
        table = group.table
        pairs = is_pairs(table)
        systems = _systems(group, *(("a", "b") if pairs else ("system",)))
        if not options.keep_unscored:
            _check_scored(table, scores, systems)
        rows, about_flags = _unflagged(group, drop=options.drop_flagged, named=named)
        notes += about_flags
        make = _of_pairs if pairs else _of_ratings
        for question in _questions(table, options.truth_columns):
            judged = make(replace(group, rows=rows), question, scores, options)
            if judged is None:
                continue
            name = "judgements" if question in ANSWERS else question
            if named:
                name = f"{name} {group.by} {group.label}"
            found.append(replace(judged, truth=replace(judged.truth, name=name)))
        notes += only_on_one_side(scores, systems, table.source.path)
    return _apart(found), list(dict.fromkeys(notes))


def _apart(found: Sequence[Judged]) -> list[Judged]:
    """Give truths of one name the name of their file too, then a number."""
    often = Counter(one.truth.name for one in found)
    seen: Counter[str] = Counter()
    made = []
    for one in found:
        name = one.truth.name
        if often[name] > 1:
            name = f"{name} ({split_suffix(Path(one.truth.source))[0]})"
            seen[name] += 1
            name += f" {seen[name]}" if seen[name] > 1 else ""
        made.append(replace(one, truth=replace(one.truth, name=name)))
    return made


# Groups and their rows ---------------------------------------------------------------------------


def _groups(table: RowTable) -> Iterator[RaterGroup]:
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
    """Whether every column of a table of pairs that is none of the fixed ones is a question."""
    return "item" in table.columns and "rater" in table.columns


def _check_columns(tables: Sequence[RowTable], columns: Sequence[str] | None) -> None:
    """Refuse a column that no table has."""
    for column in columns or ():
        if not any(column in table.columns for table in tables):
            tables[0].need(column)


def _questions(table: RowTable, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Choose the columns that hold answers."""
    if columns is not None:
        return tuple(column for column in columns if column in table.columns)
    if not is_pairs(table) or is_export(table):
        found = question_columns(table)
        if not found:
            raise table.source.error(
                f"has no column of answers; its columns are {names(table.columns)}"
            )
        return found
    usual = [column for column in table.columns if column in ANSWERS]
    candidates = usual or [column for column in table.columns if column not in KNOWN]
    if len(candidates) == 1:
        return (candidates[0],)
    known = " or ".join(map(repr, ANSWERS))
    raise table.source.error(
        f"no one column holds the answers ({known} by default); its columns are "
        f"{names(table.columns)}; name it, or several, with --truth-column (truth_columns= in "
        "Python)"
    )


def _unflagged(group: RaterGroup, *, drop: bool, named: bool) -> tuple[tuple[Row, ...], list[str]]:
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
        kept = f"{of} {verb} flagged ({listed}) and kept; --drop-flagged leaves them out"
        return group.rows, [kept]
    if marked == len(group.rows):
        raise group.table.source.error(
            f"all {counted(marked, 'judgement')}{whose} are flagged ({listed}), and --drop-flagged "
            "leaves none"
        )
    rows = tuple(row for row, found in zip(group.rows, flags, strict=True) if not found)
    return rows, [f"{of} left out: flagged ({listed})"]


def _systems(group: RaterGroup, *columns: str) -> dict[str, int]:
    """Give every judged system, and the number of the first row that names it."""
    systems: dict[str, int] = {}
    for row in group.rows:
        for column in columns:
            systems.setdefault(group.table.name(row, column), row[0])
    return systems


def _check_scored(table: RowTable, scores: Scores, judged: dict[str, int]) -> None:
    known = {*scores.systems, *([scores.reference] if scores.reference else [])}
    for name, number in judged.items():
        if name not in known:
            unknown = unknown_name("system", name, known)
            raise table.source.row_error(
                number,
                f"{unknown} (only systems with scores and the reference, --reference NAME, may be "
                "judged; --keep-unscored leaves others in the fit)",
            )


# Pairs -------------------------------------------------------------------------------------------


def _of_pairs(
    group: RaterGroup, question: str, scores: Scores, options: RankOptions
) -> Judged | None:
    """Fit a Bradley-Terry model to the answers of a group to a question; None without answers."""
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
    return Judged(truth, question, pairs)


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
            "columns of questions with --truth-column where some are none)",
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
    by_item = len(np.unique(pairs.item)) if pairs.items and (pairs.item >= 0).all() else 0
    method, cluster = _method(group, options.raters, pairs, by_rater, by_item)
    raters = _about(group, rows, by_rater, len(pairs))
    share = first_share(pairs, level=options.level)
    if pairs.first.any():
        raters = replace(raters, first_share=share.value, first_share_interval=share.interval)
    try:
        check_more_than_sides(pairs)
        if method == "effects":
            made = fit_rater_effects(
                pairs, ties=options.ties, scale=SCALE, level=options.level, seed=options.seed
            )
            return _fit_of_effects(made, pairs), _with_effects(raters, made)
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
            clustered = crossed_covariance(model, pairs)
        else:
            labels = pairs.rater if cluster == "rater" else pairs.item
            clustered = clustered_covariance(model, pairs, labels)
        intervals, covariance = clustered.intervals, clustered.covariance
        errors = clustered.standard_errors
        raters = _with_clusters(raters, cluster, by_rater, by_item)
    fit = _fit(model, pairs, model.tie_share, model.tie_parameter, intervals, covariance, errors)
    return fit, replace(raters, method=method)


def _method(
    group: RaterGroup, asked: str | None, pairs: RatedPairs, raters: int, items: int
) -> tuple[Method, Cluster]:
    """Choose how answers of one rater are dealt with, and what the clusters are."""
    if asked in ("clustered", "effects") and not raters:
        raise group.table.source.error(
            f"raters {asked!r} (--raters {asked}) needs a column 'rater', which says who answered; "
            f"its columns are {names(group.table.columns)}"
        )
    if asked == "effects":
        return "effects", ""
    if asked == "ignore":
        return "ignore", ""
    if raters >= LEAST:
        return "clustered", _clusters(
            pairs.rater.tolist(), pairs.item.tolist()
        ) if items else "rater"
    if LEAST <= items < len(pairs):
        return "clustered", "item"
    return "ignore", ""


def _clusters(rater: Iterable[Hashable], item: Iterable[Hashable]) -> Cluster:
    """Choose the clusters of answers of several raters: by item too, where these share some."""
    pairs = set(zip(rater, item, strict=True))
    raters, items = (len(set(column)) for column in zip(*pairs, strict=True))
    both = len(pairs)
    if both == items or items < LEAST:
        return "rater"
    return "item" if both == raters else "rater and item"


def _with_clusters(raters: Raters, cluster: Cluster, by_rater: int, by_item: int) -> Raters:
    """Say what the clusters are, and how many."""
    return replace(
        raters,
        cluster=cluster,
        clusters={"": 0, "item": by_item}.get(cluster, by_rater),
        item_clusters=by_item if cluster == "rater and item" else 0,
    )


def _about(group: RaterGroup, rows: Sequence[Row], raters: int, answers: int) -> Raters:
    flagged = sum(bool(flags_of(row[1].get("flags"))) for row in rows)
    return Raters(group.kind, raters, answers, flagged, "ignore")


def _with_effects(raters: Raters, made: RaterFit) -> Raters:
    effects = {
        one.name: RaterProfile(
            one.answers,
            one.discrimination,
            one.discrimination_interval,
            one.side_bias,
            one.side_bias_interval,
        )
        for one in made.raters
    }
    return replace(
        raters,
        method="effects",
        cluster="rater" if made.clustered else "",
        clusters=len(made.raters) if made.clustered else 0,
        side_bias=made.side_bias,
        side_bias_interval=made.side_bias_interval,
        left_out=made.left_out,
        effects=effects,
    )


def _fit_of_effects(made: RaterFit, pairs: RatedPairs) -> Fit:
    share = float((pairs.outcome == 0).mean())
    parameter = made.tie_parameter
    return _fit(
        made, pairs, share, parameter, made.intervals, made.covariance, made.standard_errors
    )


def _fit(
    made: BradleyTerry | RaterFit,
    pairs: RatedPairs,
    tie_share: float,
    tie_parameter: float,
    intervals: NDArray[np.float64],
    covariance: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> Fit:
    """Put a fit in the form of results, the most preferred system first."""
    counts = pairs.preferences
    order = np.argsort(-made.scores, kind="stable")
    players = tuple(
        Player(
            name=made.names[place],
            score=float(made.scores[place]),
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
        ties=made.ties,
        tie_share=tie_share,
        tie_parameter=tie_parameter,
        scale=made.scale,
        level=made.level,
        covariance=covariance[np.ix_(order, order)],
    )


def _pairs_ceiling(
    pairs: RatedPairs, systems: tuple[str, ...], options: RankOptions
) -> RaterCeiling:
    return _ceiling(
        lambda kind: ceiling(
            pairs, correlation=kind, systems=systems, level=options.level, seed=options.seed
        )
    )


def _ceiling(found: Callable[[CorrelationKind], Ceiling]) -> RaterCeiling:
    rank, line = found("spearman"), found("pearson")
    return RaterCeiling(
        spearman=rank.value,
        spearman_interval=rank.interval,
        spearman_attainable=rank.attainable,
        pearson=line.value,
        pearson_interval=line.interval,
        pearson_attainable=line.attainable,
        n=rank.systems,
        halved=rank.unit,
        units=rank.units,
        reason=rank.reason or line.reason,
    )


# Ratings -----------------------------------------------------------------------------------------


def _of_ratings(
    group: RaterGroup, question: str, scores: Scores, options: RankOptions
) -> Judged | None:
    """Take the mean rating of each system; None without ratings."""
    table = group.table
    rows = tuple(row for row in group.rows if not is_blank(row[1].get(question)))
    if not rows:
        return None
    system = [table.name(row, "system") for row in rows]
    rater = [table.name(row, "rater") for row in rows]
    item = [table.name(row, "item") for row in rows]
    rating = np.array([table.number(row, question) for row in rows], dtype=np.float64)
    count = len(set(rater))
    if options.raters == "effects":
        raise table.source.error(
            "raters 'effects' (--raters effects) is a model of judged pairs, but this table holds "
            "ratings; use clustered or ignore"
        )
    method: Method = "ignore" if options.raters == "ignore" else "clustered"
    cluster: Cluster = ""
    if method == "clustered":
        cluster = _clusters(rater, item) if count >= LEAST else "item"
    ways = {"rater": [rater], "item": [item], "rater and item": [rater, item]}
    alone = [list(range(len(rows)))]
    ratings = _means(
        rated_means(system, rating, *ways.get(cluster, alone), level=options.level), options.level
    )
    ranked = {name: one.mean for name, one in ratings.systems.items() if name in scores.systems}
    kept = [place for place, name in enumerate(system) if name in ranked]
    raters = _about(group, rows, count, len(rows))
    truth = Truth(
        question,
        table.source.path,
        "ratings",
        ranked,
        {},
        ratings=ratings,
        raters=_with_clusters(replace(raters, method=method), cluster, count, len(set(item))),
        ceiling=_ceiling(
            lambda kind: ratings_ceiling(
                [system[place] for place in kept],
                [rater[place] for place in kept],
                rating[kept],
                correlation=kind,
                level=options.level,
                seed=options.seed,
            )
        ),
    )
    answers = zip(item, rater, rating.tolist(), strict=True)
    return Judged(truth, question, ratings=tuple(answers))


def _means(found: RatedMeans, level: float) -> Ratings:
    """Put means in the form of results, the highest first."""
    order = np.argsort(-found.means, kind="stable")
    systems = {}
    for i in order:
        mean, error, (low, high) = found.means[i], found.standard_errors[i], found.intervals[i]
        interval = (float(low), float(high)) if math.isfinite(error) else None
        systems[found.names[i]] = RatedSystem(
            float(mean), float(error), interval, int(found.counts[i])
        )
    return Ratings(systems, found.covariance[np.ix_(order, order)], level)


# A model beside people ---------------------------------------------------------------------------


def people_of(judged: Sequence[Judged], model: Judged) -> Judged | None:
    """Find the people who were asked what a model was."""
    if model.truth.raters is None or model.truth.raters.kind != "model":
        return None
    for one in judged:
        raters = one.truth.raters
        alike = one.question == model.question and one.truth.made_of == model.truth.made_of
        if raters is not None and raters.kind == "person" and alike:
            return one
    return None


def beside_people(model: Judged, people: Judged, *, level: float, seed: int) -> BesidePeople:
    """Tell how far a model and people agree item by item; correlations are not filled in."""
    nothing = BesidePeople(
        people=people.truth.name,
        n=0,
        spearman=math.nan,
        spearman_interval=None,
        spearman_fixed=None,
        pearson=math.nan,
        pearson_interval=None,
        pearson_fixed=None,
        reason=None,
        items=0,
        same=math.nan,
        same_interval=None,
        kappa=math.nan,
        kappa_interval=None,
        people_same=math.nan,
        people_same_interval=None,
        people_kappa=math.nan,
        people_kappa_interval=None,
    )
    if model.pairs is not None and people.pairs is not None:
        across = agreement_between(people.pairs, model.pairs, level=level, seed=seed)
        among = agreement_between(people.pairs, people.pairs, level=level, seed=seed)
    else:
        across = ratings_between(people.ratings, model.ratings, level=level, seed=seed)
        among = ratings_between(people.ratings, people.ratings, level=level, seed=seed)
    return replace(
        nothing,
        items=across.items,
        same=across.share.value,
        same_interval=across.share.interval,
        kappa=across.kappa.value,
        kappa_interval=across.kappa.interval,
        people_same=among.share.value,
        people_same_interval=among.share.interval,
        people_kappa=among.kappa.value,
        people_kappa_interval=among.kappa.interval,
    )
