"""An agreement as data ──► the columns of its tables, and the words around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report.content import ARROWS, BEST, BEST_STYLE, lead_columns
from calipers.report.grid import Cell, Column
from calipers.report.names import UNRANKED, clean, label, meaning, shorten
from calipers.report.numbers import MISSING, best_of, score_text

Data = Mapping[str, Any]

WIDEST_EMBEDDER = 24


def title(data: Data) -> str:
    """Say how many embedders were asked about how many systems."""
    settings, systems = data["settings"], data["systems"]
    embedders = len(settings["embedders"])
    what = f"{embedders} embedder" + ("s" if embedders > 1 else "")
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed") if key in settings]
    head = f"Agreement of {what} ({len(data['columns'])} columns) on {len(systems)} systems"
    return " · ".join([head, *pins])


def set_columns(data: Data) -> list[Column]:
    """Give the columns that say what was compared: names, sizes, lengths."""
    return lead_columns(data)


def metric_title(data: Data, metric: str) -> str:
    """Name a metric, where it is better, and what it tells."""
    base = metric.partition(":")[0]
    tells = f": {meaning(metric)}" if base in METRICS else ""
    return f"{label(metric)}{arrow(data, metric)}{tells}"


def name_column(data: Data) -> Column:
    """Give the names of the systems."""
    return Column("system", _plain([clean(s["name"]) for s in data["systems"]]), right=False)


def score_runs(data: Data, metric: str) -> list[tuple[Column, ...]]:
    """Give the scores of one metric: a run of columns for each embedder, a column for each view."""
    scores = data["metrics"][metric]["scores"]
    return _runs(data, [_score_cells(data, metric, column) for column in scores])


def metric_column(data: Data) -> Column:
    """Give the names of the metrics, for the table of correlations."""
    return Column("metric", _plain([label(metric) for metric in data["metrics"]]), right=False)


def correlation_runs(data: Data) -> list[tuple[Column, ...]]:
    """Give for each metric the rank correlation of every column with the first."""
    found = list(data["metrics"].values())
    cells = [
        _plain([correlation_text(each["spearman"][0][column]) for each in found])
        for column in range(len(data["columns"]))
    ]
    return [*_runs(data, cells), (_lowest_column(data),)]


def correlation_title(data: Data) -> str:
    """Say what the table of correlations holds."""
    first = data["columns"][0]["label"]
    return f"Rank correlation with {clean(first)}, over the systems (Spearman)"


def correlation_text(value: float | None) -> str:
    """Write a correlation.

    Examples
    --------
    >>> correlation_text(-0.5), correlation_text(1.0), correlation_text(None)
    ('-0.50', '1.00', '–')
    """
    return MISSING if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _score_cells(data: Data, metric: str, column: Mapping[str, Any]) -> tuple[Cell, ...]:
    scores = [column[system["name"]] for system in data["systems"]]
    best = best_of(scores, _direction(data, metric))
    return tuple(
        Cell(score_text(score) + (BEST if row == best else " "), BEST_STYLE if row == best else "")
        for row, score in enumerate(scores)
    )


def _lowest_column(data: Data) -> Column:
    """Give the least correlation of any two columns."""
    texts = []
    for found in data["metrics"].values():
        defined = [value for row in found["spearman"] for value in row if value is not None]
        texts.append(correlation_text(min(defined)) if found["lowest"] else MISSING)
    return Column("lowest", _plain(texts))


def _runs(data: Data, cells: Sequence[tuple[Cell, ...]]) -> list[tuple[Column, ...]]:
    """Put cells under their view, and views under their embedder."""
    runs: dict[str, list[Column]] = {}
    for column, each in zip(data["columns"], cells, strict=True):
        name = shorten(clean(column["embedder"]), WIDEST_EMBEDDER)
        header = clean(column["view"])
        runs.setdefault(column["embedder"], []).append(Column(header, each, group=name))
    return [tuple(run) for run in runs.values()]


def _direction(data: Data, metric: str) -> str:
    """Where a metric is better; empty where neither end is."""
    if metric.partition(":")[0] in UNRANKED:
        return ""
    first = next(iter(data["metrics"][metric]["scores"][0].values()))
    return str(first.get("better") or "higher")


def arrow(data: Data, metric: str) -> str:
    """Give the arrow to where a metric is better; nothing where neither end is."""
    return ARROWS.get(_direction(data, metric), "")


def _plain(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)
