"""A ranking as data ──► the columns of its tables, without any width in mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.report.content import ARROWS, BEST, BEST_STYLE
from calipers.report.grid import Cell, Column
from calipers.report.names import clean
from calipers.report.numbers import MISSING, number

Data = Mapping[str, Any]

SEARCHED = "≤"
BOUND = "≥"
FIXED = "systems fixed"


def title(data: Data) -> str:
    """Say what was ranked by what, and beside what."""
    settings, truths = data["settings"], len(data["truths"])
    beside = f", beside {counted(truths, 'truth')}" if truths else ""
    head = f"Ranking of {len(data['systems'])} systems by {counted(len(data['metrics']), 'metric')}"
    reference = settings.get("reference")
    pins = [f"reference {clean(reference)}"] if reference else []
    return " · ".join([head + beside, *pins])


def fitted(data: Data) -> list[str]:
    """Name the truths that were fitted to judgements."""
    return [name for name, truth in data["truths"].items() if truth["fit"]]


def fit_title(data: Data, truth: str) -> str:
    """Say which judgements a fit comes from."""
    players = data["truths"][truth]["fit"]["players"]
    total = round(sum(p["won"] + p["lost"] + p["tied"] for p in players) / 2)
    of = "" if truth == "judgements" else f" ({clean(truth)})"
    return f"Bradley-Terry scores{of}, from {total} judgements of {len(players)} systems"


def fit_columns(data: Data, truth: str) -> list[Column]:
    """Give the fitted scores, the most preferred system first."""
    fit = data["truths"][truth]["fit"]
    players = fit["players"]
    named = [clean(player["name"]) + _role(data, player["name"]) for player in players]
    return [
        Column("system", _plain(named), right=False),
        Column("score", _plain([f"{player['score']:.1f}" for player in players])),
        Column(_level(fit["level"]), _plain([_wide(player["interval"]) for player in players])),
        *(
            Column(word, _plain([f"{player[word]:g}" for player in players]))
            for word in ("won", "lost", "tied")
        ),
    ]


def summary_title() -> str:
    """Say what the table of all truths holds."""
    return "Worst-case rank correlation with each truth"


def truth_column(data: Data) -> Column:
    """Give the names of the truths."""
    return Column("truth", _plain([clean(name) for name in data["truths"]]), right=False)


def summary_columns(data: Data) -> list[Column]:
    """Give one column for each metric, the best of a row marked."""
    return [
        Column(
            metric_name(data, metric),
            tuple(_worst(truth, metric) for truth in data["truths"].values()),
        )
        for metric in data["metrics"]
    ]


def beside_title(data: Data, truth: str) -> str:
    """Name a truth, and over how many systems metrics were held against it."""
    sizes = sorted({each["n"] for each in data["truths"][truth]["metrics"].values()})
    over = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"Beside {clean(truth)}, over {over} systems"


def beside_lead(data: Data, truth: str) -> list[Column]:
    """Give the metrics, and the systems behind each where these differ."""
    found = data["truths"][truth]["metrics"]
    names = Column("metric", _plain([metric_name(data, m) for m in found]), right=False)
    sizes = [str(each["n"]) for each in found.values()]
    return [names, *([Column("n", _plain(sizes))] if len(set(sizes)) > 1 else [])]


def beside_runs(data: Data, truth: str) -> list[tuple[Column, ...]]:
    """Give the three correlations with a truth, each with what belongs to it."""
    held = data["truths"][truth]
    found, level = list(held["metrics"].values()), _level(data["settings"]["level"])
    worst = [Column("worst", tuple(_worst(held, metric) for metric in held["metrics"]))]
    if any(_searched(each) for each in found):
        bounds = [BOUND + share(each["bound"]) if _searched(each) else "" for each in found]
        worst.append(Column("bound", _plain(bounds)))
    return [
        (_correlation(found, "spearman"), *_intervals(found, "spearman", level)),
        tuple(worst),
        (_correlation(found, "pearson"), *_intervals(found, "pearson", level)),
    ]


def interval_name(data: Data) -> str:
    """Head the intervals of correlations."""
    return _level(data["settings"]["level"])


def metric_name(data: Data, metric: str) -> str:
    """Name a metric, with the sign of where it is better."""
    return clean(metric) + ARROWS.get(data["metrics"][metric]["better"], "")


def share(value: float | None) -> str:
    """Write a correlation with three decimals.

    Examples
    --------
    >>> share(-0.0001), share(0.8571), share(None)
    ('0.000', '0.857', '–')
    """
    return MISSING if value is None else number(value, unit=True)


def two(value: float) -> str:
    """Write a correlation with two decimals.

    Examples
    --------
    >>> two(-0.001), two(-0.5)
    ('0.00', '-0.50')
    """
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def counted(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _worst(truth: Mapping[str, Any], metric: str) -> Cell:
    each, best = truth["metrics"][metric], truth["best"] == metric
    mark = SEARCHED if _searched(each) else ""
    text = mark + share(each["worst"]) + (BEST if best else " ")
    return Cell(text, BEST_STYLE if best else "")


def _searched(each: Mapping[str, Any]) -> bool:
    return each["worst"] is not None and not each["exact"]


def _correlation(found: Sequence[Mapping[str, Any]], kind: str) -> Column:
    return Column(kind.capitalize(), _plain([share(each[kind]) for each in found]))


def _intervals(found: Sequence[Mapping[str, Any]], kind: str, level: str) -> list[Column]:
    """Give the columns of intervals, where there are any: systems drawn from many, and fixed."""
    columns = []
    for header, key in ((level, f"{kind}_interval"), (FIXED, f"{kind}_fixed")):
        bounds = [each[key] for each in found]
        texts = ["" if each is None else f"[{two(each[0])}, {two(each[1])}]" for each in bounds]
        if any(texts):
            columns.append(Column(header, tuple(Cell(text, "dim") for text in texts)))
    return columns


def _role(data: Data, name: str) -> str:
    if name == data["settings"].get("reference"):
        return " (reference)"
    return "" if name in data["systems"] else " (no scores)"


def _wide(interval: Sequence[float]) -> str:
    return f"[{interval[0]:.1f}, {interval[1]:.1f}]"


def _level(level: float) -> str:
    return f"{100 * level:.4g} % interval"


def _plain(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)
