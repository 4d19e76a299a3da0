"""Scores by group ──► blocks of columns: a row for each group, the worst covered marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.report.content import Data, views
from calipers.report.grid import Cell, Column
from calipers.report.layout import Grid, packed
from calipers.report.names import clean, label, shorten
from calipers.report.numbers import MISSING, best_of, score_text

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


def heading(data: Data) -> str:
    """Name the block after the field of the groups."""
    return f"By group ({clean(data.get('settings', {}).get('group') or 'groups')})"


def group_grids(data: Data, *, width: int) -> Iterator[Grid]:
    """Lay out the scores by group; nothing where no groups were asked for.

    A run of columns for each system by each view, as many beside each other as fit, and every
    view from a new line where not all do.
    """
    sizes = data["reference"].get("groups")
    if not sizes:
        return
    labels = shown_groups(data, _labels(data, sizes))
    lead = [
        Column("group", tuple(Cell(_short(name)) for name in labels), right=False),
        Column("n", tuple(Cell(str(sizes.get(name, 0)), "dim") for name in labels)),
    ]
    runs = [run for view in views(data) for run in _runs(data, view, labels, sizes)]
    grids = packed(lead, runs, width=width)
    if len(grids) == 1:
        yield from grids
        return
    for view in views(data):
        yield from packed(lead, _runs(data, view, labels, sizes), width=width)


def caption(data: Data) -> str:
    """Say what the columns hold, and what is left out."""
    sizes = data["reference"].get("groups") or {}
    own = "; Own: precision of the generated samples of the group" if _has_own(data) else ""
    rest = len(_labels(data, sizes)) - MOST
    left_out = (
        f" The {WORST} groups of the lowest recall; {len(_labels(data, sizes)) - WORST} more are "
        "in the JSON (--json FILE)."
        if rest > 0
        else ""
    )
    return (
        "n: reference samples of the group, of which recall and coverage tell a share. Precision: "
        f"of the generated samples whose nearest reference sample is of the group{own}. "
        f"{LOWEST} lowest of its column, among groups of at least {FEW}; {MISSING} no sample to "
        f"score.{left_out}"
    )


def _labels(data: Data, sizes: Mapping[str, int]) -> list[str]:
    """Every group of the reference, then those that only generated sets have."""
    own = [name for system in data.get("systems", ()) for name in system.get("groups") or ()]
    return list(dict.fromkeys([*sizes, *own]))


def shown_groups(data: Data, labels: Sequence[str], *, before: str = "") -> list[str]:
    """Give the groups to show: all, or of very many the worst by recall.

    `before` stands before the keys of a view's scores; nothing stands before those of the main one.
    """
    if len(labels) <= MOST:
        return list(labels)
    return sorted(labels, key=lambda name: _lowest_recall(data, name, before))[:WORST]


def _lowest_recall(data: Data, name: str, before: str) -> float:
    """The lowest recall of a group by one view, over all systems."""
    key = f"{before}recall:group={name}"
    scores = [system.get("scores", {}).get(key) for system in data["systems"]]
    values = [score["value"] for score in scores if score and score.get("value") is not None]
    return min(values, default=1.0)


def _runs(
    data: Data, view: str, labels: Sequence[str], sizes: Mapping[str, int]
) -> list[tuple[Column, ...]]:
    """Give the columns of every system by one view; none where it was not asked for."""
    prefix = "" if view == views(data)[0] else f"{view}."
    found = []
    for system in data.get("systems", ()):
        scores = system.get("scores", {})
        bases = [base for base in (*HEADINGS, OWN) if _has(scores, prefix + base)]
        group = _run_name(data, system, view)
        columns = [
            _column(base, [scores.get(f"{prefix}{base}={name}") for name in labels], labels, sizes)
            for base in bases
        ]
        found.append(tuple(Column(c.header, c.cells, group=group) for c in columns))
    return [run for run in found if run]


def _column(
    base: str,
    scores: Sequence[Mapping[str, Any] | None],
    labels: Sequence[str],
    sizes: Mapping[str, int],
) -> Column:
    large = [
        s if sizes.get(name, 0) >= FEW else None for s, name in zip(scores, labels, strict=True)
    ]
    marked = best_of(large, "lower") if base in MARKED else None
    cells = [
        Cell(
            score_text(score) + (LOWEST if row == marked else " "), "bold" if row == marked else ""
        )
        for row, score in enumerate(scores)
    ]
    return Column(label(HEADINGS[base]) if base in HEADINGS else "Own", tuple(cells))


def _run_name(data: Data, system: Mapping[str, Any], view: str) -> str:
    """Name a run by what tells it apart: the system, the view, or both."""
    several = len(data.get("systems", ())) > 1
    name = shorten(clean(system["name"]), 16) if several else ""
    shown = clean(view) if len(views(data)) > 1 or not several else ""
    return ", ".join(part for part in (name, shown) if part)


def _has(scores: Mapping[str, Any], start: str) -> bool:
    return any(key.startswith(f"{start}=") for key in scores)


def _has_own(data: Data) -> bool:
    return any(system.get("groups") for system in data.get("systems", ()))


def _short(name: str) -> str:
    return shorten(clean(name), WIDEST_LABEL)
