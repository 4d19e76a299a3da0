"""Truths from the judgements of people and models, one for each question and group of raters.

Judged pairs give Bradley-Terry scores (:mod:`calipers.commands.rank.judged_pairs`), ratings of
single texts or batches a mean for each system (:mod:`calipers.commands.rank.judged_ratings`). Where
both people and a model were asked the same, the model is compared with the people, item by item
(:mod:`calipers.commands.rank.beside_people`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from calipers.commands.rank.judged_pairs import truth_of_pairs
from calipers.commands.rank.judged_ratings import truth_of_ratings
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.rater_groups import (
    ANSWERS,
    check_columns,
    groups_of,
    none_scored,
    questions_of,
    scored,
    systems_of,
    unflagged,
)
from calipers.commands.rank.raters import RatedTruth
from calipers.commands.rank.scores import ScoredSystems, only_on_one_side
from calipers.errors import InputError
from calipers.judgements.tables import is_pairs
from calipers.samples.row_tables import RowTable
from calipers.samples.source import split_suffix


def judged_truths(
    tables: Sequence[RowTable], scores: ScoredSystems, options: RankOptions
) -> tuple[list[RatedTruth], list[str]]:
    """Make a truth of each question and group of raters, with its notes.

    Raises
    ------
    InputError
        If a column is missing, an answer cannot be read, no judged system has scores, or the
        judgements do not connect all systems.
    """
    check_columns(tables, options.truth_columns)
    groups = [group for table in tables for group in groups_of(table)]
    empty = 0
    named = len({group.label for group in groups}) > 1
    truths: list[RatedTruth] = []
    notes: list[str] = []
    for group in groups:
        table = group.table
        pairs = is_pairs(table)
        columns = ("a", "b") if pairs else ("system",)
        unscored: list[str] = []
        if not options.keep_unscored:
            remaining, unscored = scored(group, scores, *columns)
            notes += unscored
            group = replace(group, rows=remaining)
            if not remaining:
                empty += 1
                continue
        systems = systems_of(group, *columns)
        rows, about_flags = unflagged(group, drop=options.drop_flagged, named=named)
        notes += about_flags
        make = truth_of_pairs if pairs else truth_of_ratings
        for question in questions_of(table, options.truth_columns):
            try:
                judged = make(replace(group, rows=rows), question, scores, options)
            except InputError as error:
                if not unscored:
                    raise
                raise InputError(f"{error} ({unscored[0].partition(': ')[2]})") from None
            if judged is None:
                continue
            name = "judgements" if question in ANSWERS else question
            if named:
                name = f"{name} {group.by} {group.label}"
            truths.append(replace(judged, truth=replace(judged.truth, name=name)))
        notes += only_on_one_side(scores, systems, table.source.path)
    if empty == len(groups):
        raise none_scored(tables, scores)
    return _apart(truths), list(dict.fromkeys(notes))


def _apart(truths: Sequence[RatedTruth]) -> list[RatedTruth]:
    """Return truths of one name the name of their file too, then a number."""
    often = Counter(judged.truth.name for judged in truths)
    seen: Counter[str] = Counter()
    named = []
    for judged in truths:
        name = judged.truth.name
        if often[name] > 1:
            name = f"{name} ({split_suffix(Path(judged.truth.source))[0]})"
            seen[name] += 1
            name += f" {seen[name]}" if seen[name] > 1 else ""
        named.append(replace(judged, truth=replace(judged.truth, name=name)))
    return named
