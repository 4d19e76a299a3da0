"""The tables of scores by group and of copies of the training set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calipers.catalogue.shown import views_of
from calipers.report.shown import REFERENCE, interval_of
from calipers.report.table import (
    BEST_STYLE,
    SYSTEM,
    Column,
    Note,
    Run,
    ScoreCell,
    Table,
    Text,
    texts,
)
from calipers.results.comparison import Comparison
from calipers.results.ranking import best_of
from calipers.results.system import SystemResult
from calipers.score import Score
from calipers.wording.names import clean, label
from calipers.wording.numbers import MISSING, score_text, size_text, value_of
from calipers.wording.short_names import short

MOST = 50
"""Groups that are all shown; of more, only the worst."""

WORST = 20
FEW = 10
"""Samples below which a group is never marked: its scores may be chance."""

LOWEST = "!"
WIDEST_LABEL = 24
HEADINGS = {"recall:group": "recall", "coverage:group": "coverage", "precision:group": "precision"}
OWN = "precision:own"
MARKED = ("recall:group", "coverage:group")
COPIES = {"near_copies:train": ("Near copies", "↓"), "authenticity:train": ("Authentic", "")}

Meanings = Mapping[str, str]
"""What a metric tells, by its name."""


def groups_table(comparison: Comparison, meanings: Meanings | None = None) -> Table | None:
    """Return the table of scores by group, a run of columns for each system and view.

    None where no groups were asked for.
    """
    sizes = comparison.reference.groups
    if not sizes:
        return None
    labels = shown_groups(comparison, _labels(comparison, sizes))
    lead = (
        Column("group", texts([_short(name) for name in labels]), align="left"),
        Column("n", texts([str(sizes.get(name, 0)) for name in labels], "dim")),
    )
    runs = [
        _group_run(comparison, system, view, labels, sizes, meanings or {})
        for view in views_of(comparison.settings)
        for system in comparison.systems
    ]
    return Table(
        lead,
        tuple(run for run in runs if run),
        (SYSTEM,) * len(labels),
        id="groups",
        heading=f"By group ({clean(comparison.settings.get('group') or 'groups')})",
        notes=(Note("caption", _groups_caption(comparison)),),
    )


def shown_groups(comparison: Comparison, labels: Sequence[str], *, before: str = "") -> list[str]:
    """Return the groups to show: all, or among very many those of the lowest recall.

    `before` stands before the keys of a view's scores; nothing stands before those of the main one.
    """
    if len(labels) <= MOST:
        return list(labels)
    return sorted(labels, key=lambda name: _lowest_recall(comparison, name, before))[:WORST]


def copies_table(comparison: Comparison, meanings: Meanings | None = None) -> Table | None:
    """Return the table of copies of the training set, the reference first for comparison.

    None where no training set was given.
    """
    train = comparison.train
    if not train:
        return None
    names = [_short(system.name) for system in comparison.systems]
    scored = [comparison.reference_scores, *(system.scores for system in comparison.systems)]
    cells = (Text(REFERENCE, "dim"), *texts(names))
    columns = [
        _copies_run(scored, view, meanings or {}, main=place == 0)
        for place, view in enumerate(views_of(comparison.settings))
    ]
    caption = (
        "Near copies: share of samples as close to a training sample as the closest 1 % of the "
        "training samples are to each other. Authentic: share of samples farther from their "
        "nearest training sample than that one is from its own nearest. The reference shows what "
        "is normal."
    )
    runs = tuple(run for run in columns if run)
    return Table(
        (Column("system", cells, align="left"),) if runs else (),
        runs,
        (SYSTEM,) * len(scored),
        id="train",
        heading=f"Copies of the training set: {clean(train.name)}, n = {size_text(train)}",
        notes=(Note("caption", caption),),
    )


def _groups_caption(comparison: Comparison) -> str:
    """Say what the columns hold, and what is left out."""
    generated = (
        "; Own: precision of the generated samples in the group" if _has_own(comparison) else ""
    )
    labels = _labels(comparison, comparison.reference.groups or {})
    left_out = (
        f" Shown are the {WORST} groups with the lowest recall; {len(labels) - WORST} more are in "
        "the JSON (`.to_dict()`)."
        if len(labels) > MOST
        else ""
    )
    return (
        "n: reference samples in the group; recall and coverage are shares of these. Precision: of "
        f"the generated samples whose nearest reference sample is in the group{generated}. "
        f"{LOWEST} lowest in its column, among groups of at least {FEW}; {MISSING} no sample to "
        f"score.{left_out}"
    )


def _labels(comparison: Comparison, sizes: Mapping[str, int]) -> list[str]:
    """Every group of the reference, then those that only generated sets have."""
    generated = [name for system in comparison.systems for name in system.summary.groups or ()]
    return list(dict.fromkeys([*sizes, *generated]))


def _lowest_recall(comparison: Comparison, name: str, before: str) -> float:
    """The lowest recall of a group by one view, over all systems."""
    key = f"{before}recall:group={name}"
    values = [value_of(system.scores.get(key)) for system in comparison.systems]
    return min((value for value in values if value is not None), default=1.0)


def _group_run(
    comparison: Comparison,
    system: SystemResult,
    view: str,
    labels: Sequence[str],
    sizes: Mapping[str, int],
    meanings: Meanings,
) -> Run:
    """Return the columns of one system by one view; none where it was not asked for."""
    prefix = "" if view == views_of(comparison.settings)[0] else f"{view}."
    scores = system.scores
    columns = []
    for base in (*HEADINGS, OWN):
        if any(key.startswith(f"{prefix}{base}=") for key in scores):
            head = label(HEADINGS[base]) if base in HEADINGS else "Own"
            by_group = [scores.get(f"{prefix}{base}={name}") for name in labels]
            large = [
                score if sizes.get(name, 0) >= FEW else None
                for score, name in zip(by_group, labels, strict=True)
            ]
            lowest = best_of(large, "lower") if base in MARKED else None
            columns.append(
                Column(
                    head,
                    tuple(_group_cell(score, row == lowest) for row, score in enumerate(by_group)),
                    group=_run_name(comparison, system, view),
                    align="value",
                    view=view,
                    meaning=meanings.get(head, ""),
                )
            )
    return tuple(columns)


def _group_cell(score: Score | None, lowest: bool) -> ScoreCell:
    mark, style = (LOWEST, BEST_STYLE) if lowest else ("", "")
    return ScoreCell(score_text(score), mark=mark, style=style)


def _run_name(comparison: Comparison, system: SystemResult, view: str) -> str:
    """Name a run by what tells it apart: the system, the view, or both."""
    several = len(comparison) > 1
    name = short(system.name, 16) if several else ""
    shown = clean(view) if len(views_of(comparison.settings)) > 1 or not several else ""
    return ", ".join(part for part in (name, shown) if part)


def _has_own(comparison: Comparison) -> bool:
    return any(system.summary.groups for system in comparison.systems)


def _copies_run(
    scored: Sequence[Mapping[str, Score]], view: str, meanings: Meanings, *, main: bool
) -> Run:
    columns = []
    for key, (head, arrow) in COPIES.items():
        full = key if main else f"{view}.{key}"
        values = [scores.get(full) for scores in scored]
        if any(score is not None for score in values):
            cells = tuple(map(_copies_cell, values))
            tells = meanings.get(head, "")
            columns.append(Column(head, cells, arrow, clean(view), key=full, meaning=tells))
    return tuple(columns)


def _copies_cell(score: Score | None) -> ScoreCell:
    text = score_text(score)
    spread = interval_of(score, text)
    return ScoreCell(text, spread, bool(spread and score and score.approximate))


def _short(name: str) -> str:
    return short(name, WIDEST_LABEL)
