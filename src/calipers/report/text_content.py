"""Text statistics as data ──► the cells of their table, and the words around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calipers.catalogue.texts import TEXT_FAMILIES
from calipers.report import numbers
from calipers.report.grid import Cell, Column
from calipers.report.names import WIDEST_NAME, clean, shorten
from calipers.report.numbers import MISSING, size_text
from calipers.report.text_names import family_of, is_unranked, text_label
from calipers.report.text_numbers import gap_text, value_text
from calipers.report.uncertain_numbers import below_value, beside_value

Data = Mapping[str, Any]
Rows = Sequence[str | None]
"""The keys of the rows; None for the heading of a family."""

BEST = "*"
INDENT = "  "


def name_of(row: Data) -> str:
    """Name a set, fit for one line."""
    return shorten(clean(row["name"]), WIDEST_NAME)


def set_columns(data: Data) -> list[Column]:
    """Give the columns that say who the systems are: name, files, size, and length in words."""
    rows = [row for row in (data.get("reference"), *data["systems"], data.get("train")) if row]
    names = [name_of(row) for row in data["systems"]]
    names = [*(["reference"] if data.get("reference") else []), *names]
    names += ["training set"] if data.get("train") else []
    return [
        Column("system", _cells(names), right=False),
        Column("n", _cells([size_text(row) for row in rows])),
        Column("words", _cells([_median(row) for row in rows])),
    ]


def rows_of(data: Data) -> Rows:
    """Give the keys by family, with a heading before each; both in the order of the run."""
    families: dict[str, list[str]] = {}
    for key in data["settings"]["metrics"]:
        families.setdefault(family_of(key), []).append(key)
    return [row for keys in families.values() for row in (None, *keys)]


def label_column(data: Data, rows: Rows) -> Column:
    """Give the column of names: the families, and under them what was measured."""
    cells = []
    for row, key in enumerate(rows):
        if key is None:
            family = family_of(str(rows[row + 1]))
            cells.append(
                Cell(TEXT_FAMILIES[family].heading if family in TEXT_FAMILIES else family, "bold")
            )
        else:
            cells.append(Cell(f"{INDENT}{text_label(key)}{arrow(data, key)}"))
    return Column("", tuple(cells), right=False)


def has_gaps(data: Data) -> bool:
    """Tell whether the reference has values of its own beside those of the systems."""
    return bool((data.get("reference") or {}).get("scores"))


def reference_column(data: Data, rows: Rows) -> Column:
    """Give the column of T(P); empty for what holds texts against the reference."""
    scores, keys = data["reference"]["scores"], [key for key in rows if key]
    cells = _values(data, keys, [scores.get(key) for key in keys], [""] * len(keys))
    dim = [replace(cell, style="dim") for cell in cells]
    return Column("reference", _with_headings(dim, rows))


def system_columns(data: Data, rows: Rows, index: int) -> tuple[Column, ...]:
    """Give the columns of one system: T(Q), and the gap to T(P) where there is a reference."""
    system, keys = data["systems"][index], [key for key in rows if key]
    group = name_of(system)
    scores = [system["scores"].get(key) or {} for key in keys]
    marks, gaps = [], []
    for key, score in zip(keys, scores, strict=True):
        mark, gapped = best_of(data, key) == index, "gap" in score
        marks.append(BEST if mark and not gapped else " ")
        gaps.append(_marked(gap_text(score, whole=_whole(data, key)), mark=mark and gapped))
    values = _values(data, keys, scores, marks)
    if not has_gaps(data):
        return (Column(group, _with_headings(values, rows)),)
    return (
        Column("value ", _with_headings(values, rows), group=group),
        Column("gap ", _with_headings(gaps, rows), group=group),
    )


def best_of(data: Data, key: str) -> int | None:
    """Tell which system is closest to the reference; None for a tie as shown, or for one alone."""
    scores, whole = [system["scores"].get(key) for system in data["systems"]], _whole(data, key)
    if any("gap" in (score or {}) for score in scores):
        shown = [gap_text(score, whole=whole) for score in scores]
        return numbers.best_of(scores, "closest", shown=shown)
    side = next((_side(score, key) for score in scores if score), "")
    shown = [value_text(score, whole=whole) for score in scores]
    return numbers.best_of(scores, side, shown=shown)


def _median(row: Data) -> str:
    """Write the median length as warnings do: in full, whether it is whole or between two."""
    median = (row.get("words") or {}).get("median")
    return MISSING if median is None else f"{median:.1f}".removesuffix(".0")


def _whole(data: Data, key: str) -> bool:
    """Whether all values of a row are whole, so that they can go without decimals alike."""
    sets = [data.get("reference") or {}, *data["systems"]]
    values = [(row.get("scores") or {}).get(key, {}).get("value") for row in sets]
    return all(value == int(value) for value in values if value is not None)


def _side(score: Data, key: str) -> str:
    """Where a value is better, ``"higher"`` or ``"lower"``; empty where neither end is good."""
    better = score.get("better")
    return better if better in ("higher", "lower") and not is_unranked(key) else ""


def arrow(data: Data, key: str) -> str:
    """Where a value is better that has no gap; nothing for the others."""
    sides = {_side(system["scores"].get(key) or {}, key) for system in data["systems"]}
    return "↑" if "higher" in sides else "↓" if "lower" in sides else ""


def _values(
    data: Data, keys: Sequence[str], scores: Sequence[Data | None], marks: Sequence[str]
) -> list[Cell]:
    """Write values with what stands behind them, so that both line up."""
    texts = [
        "" if score is None else value_text(score, whole=_whole(data, key))
        for key, score in zip(keys, scores, strict=True)
    ]
    besides = [beside_value(score, text) for score, text in zip(scores, texts, strict=True)]
    behind = [beside + mark for beside, mark in zip(besides, marks, strict=True)]
    room = max(map(len, behind), default=0)
    return [
        Cell(text + more.ljust(room), "bold" if mark == BEST else "", below_value(score))
        for text, more, mark, score in zip(texts, behind, marks, scores, strict=True)
    ]


def _marked(text: str, *, mark: bool) -> Cell:
    return Cell(text + (BEST if mark else " "), "bold" if mark else "")


def _with_headings(cells: Sequence[Cell], rows: Rows) -> tuple[Cell, ...]:
    """Put an empty cell into the row of every heading."""
    left = iter(cells)
    return tuple(Cell() if key is None else next(left) for key in rows)


def _cells(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)
