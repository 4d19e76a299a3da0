"""The document of a history: the first worse run, and a table of every score over the runs."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.commands.history.result import History, HistoryPoint, ScoreHistory
from calipers.report import legend
from calipers.report.table import (
    SYSTEM,
    Block,
    Cell,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    singles,
    texts,
    together,
)
from calipers.wording.names import clean, label
from calipers.wording.numbers import MISSING, number, p_text
from calipers.wording.short_names import short

MOST_SENTENCES = 4
"""Scores that the verdict speaks of."""

ASYMMETRIC = 0.1
"""Share of an interval by which its halves may differ where it is written as ±."""

SIGNS = {"worse": "▼", "better": "▲", "open": ""}
STYLES = {"worse": "bold", "better": "", "open": ""}


def document(history: History) -> Document:
    """Return the document of a history: its tables and notes."""
    systems = dict.fromkeys(score.system for score in history)
    blocks: tuple[Block, ...] = (
        *together(*notes("verdict", _verdict(history))),
        *(_table(history, system, several=len(systems) > 1) for system in systems),
        *together(*notes("warning", history.warnings)),
        Notes((*glossary(_meanings(history)), Note("how", _how(history)))),
    )
    runs = f"{len(history.runs)} runs, {short(history.runs[0].name)} to "
    title = f"History of {runs}{short(history.runs[-1].name)} · level {history.settings['level']:g}"
    return Document(title, blocks, legend.made_by(history))


def score_name(history: ScoreHistory) -> str:
    """Name a score as tables do, with its view where the key includes one."""
    view, dot, metric = history.score.partition(".")
    if dot and ":" not in view and not view[-1:].isdigit():
        return f"{label(metric)} ({clean(view)})"
    return label(history.score)


def _verdict(history: History) -> Iterator[str]:
    """Say which run is worse first, and by what."""
    worse = sorted(
        (score for score in history if score.first_worse is not None),
        key=lambda score: score.first_worse or 0,
    )
    for score in worse[:MOST_SENTENCES]:
        yield _sentence(history, score)
    if len(worse) > MOST_SENTENCES:
        yield f"{len(worse) - MOST_SENTENCES} other scores become worse; see ▼ in the table."
    if not worse:
        tested = any(score.changes for score in history)
        yield (
            "No run is worse than a run before it beyond the noise."
            if tested
            else "No change was tested."
        )


def _sentence(history: History, score: ScoreHistory) -> str:
    after, before = score.first_worse, score.worse_than
    assert after is not None
    assert before is not None
    change = score.change(before, after)
    assert change is not None
    level = history.settings["level"]
    values = [_value(score, score.points[place]) for place in (before, after)]
    of = f" of {short(score.system)}" if len({other.system for other in history}) > 1 else ""
    return (
        f"{short(history.runs[after].name)} is the first run with a worse {score_name(score)}{of}: "
        f"{values[1]}, against {values[0]} in {short(history.runs[before].name)} "
        f"({p_text(change.adjusted_p_value, 1 - level)})."
    )


def _table(history: History, system: str, *, several: bool) -> Table:
    """Return a row for each run, and a column for each score; signs tell the change before it."""
    scores = [score for score in history if score.system == system]
    names = texts([short(run.name) for run in history.runs])
    sizes = texts([f"{point.n:,}" for point in scores[0].points])
    lead = (Column("run", names, align="left"), Column("n", sizes))
    columns = [Column(score_name(score), tuple(_cells(score)), align="value") for score in scores]
    return Table(
        lead,
        singles(columns),
        (SYSTEM,) * len(history.runs),
        id=f"history-{system}",
        heading=f"{short(system)}" if several else "",
        apart=False,
    )


def _cells(score: ScoreHistory) -> Iterator[Cell]:
    bounds = any(map(_asymmetric, score.points))
    for place, point in enumerate(score.points):
        change = score.change(place - 1, place)
        direction = "open" if change is None else change.direction
        direction = "worse" if score.first_worse == place else direction
        text = _value(score, point)
        if text == MISSING:
            yield Text(MISSING, "dim")
            continue
        spread = _interval(score, point, bounds=bounds)
        style = STYLES[direction]
        yield ScoreCell(f"{text}{SIGNS[direction]}", spread, style=style, number=point.value)


def _asymmetric(point: HistoryPoint) -> bool:
    """Whether one end of the interval lies clearly farther from the value than the other."""
    if point.interval is None:
        return False
    low, high = point.interval
    return abs((high - point.value) - (point.value - low)) > ASYMMETRIC * (high - low)


def _interval(score: ScoreHistory, point: HistoryPoint, *, bounds: bool) -> str:
    if point.interval is None:
        return ""
    low, high = point.interval
    if bounds:
        return f" [{number(low, unit=score.share)}, {number(high, unit=score.share)}]"
    return f"±{number((high - low) / 2, unit=score.share)}"


def _value(score: ScoreHistory, point: HistoryPoint) -> str:
    return MISSING if point.value != point.value else number(point.value, unit=score.share)


def _meanings(history: History) -> Iterator[tuple[str, str]]:
    yield "▼", "worse than the run before it, or the first that is worse than any run before it"
    yield "▲", "better than the run before it"
    yield "±, [ ]", "the confidence interval of the score in its run"


def _how(history: History) -> str:
    tests = history.settings["tests"]
    return (
        f"A change counts where it is beyond the noise: {tests:,} tests of all pairs of runs by "
        f"all scores, adjusted by Holm at level {history.settings['level']:g}. Every change: "
        "`.to_dict()`."
    )
