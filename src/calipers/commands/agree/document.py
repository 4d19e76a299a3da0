"""An agreement ──► a document: scores by every embedder, their correlations, and who disagrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import UNRANKED
from calipers.report import legend
from calipers.report.names import VIEWS, clean, label, meaning, shorten
from calipers.report.numbers import MISSING, best_of, score_text
from calipers.report.of_data import of_data, score_of
from calipers.report.shown import lead_columns, short
from calipers.report.table import (
    ARROWS,
    BEST,
    BEST_STYLE,
    METRIC,
    SYSTEM,
    Align,
    Block,
    Cell,
    Column,
    Data,
    Document,
    Note,
    Notes,
    Run,
    ScoreCell,
    Table,
    glossary,
    notes,
    texts,
    together,
)

WIDEST_EMBEDDER = 24
MOST_PAIRS = 6
"""Pairs of systems that are told for each metric; the JSON holds all."""


def document(data: Data) -> Document:
    """Give all that an agreement shows.

    Parameters
    ----------
    data
        What ``Agreement.to_dict()`` gives.
    """
    correlations = (_correlations(data),) if _is_correlated(data) else ()
    rows = [data["reference"], *data["systems"]]
    sets = [(short(row["name"]), of_data(row)) for row in rows]
    blocks: tuple[Block, ...] = (
        _sets_table(data),
        *(_scores(data, metric) for metric in data["metrics"]),
        *correlations,
        Notes(tuple(_verdicts(data))),
        Notes((Note("heading", _verdict(data)),)),
        *together(*notes("note", _remarks(data)), *legend.warnings(of_data(data), sets)),
        Notes(
            (
                *glossary(_meanings(data)),
                Note(
                    "how",
                    "Columns that agree may all be wrong. All correlations, also Kendall's, "
                    "and signatures: --json FILE, or .to_dict() in Python.",
                ),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def correlation_text(value: float | None) -> str:
    """Write a correlation.

    Examples
    --------
    >>> correlation_text(-0.5), correlation_text(1.0), correlation_text(None)
    ('-0.50', '1.00', '–')
    """
    return MISSING if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _title(data: Data) -> str:
    """Say how many embedders were asked about how many systems."""
    settings, systems = data["settings"], data["systems"]
    embedders = len(settings["embedders"])
    what = f"{embedders} embedder" + ("s" if embedders > 1 else "")
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed") if key in settings]
    head = f"Agreement of {what} ({len(data['columns'])} columns) on {len(systems)} systems"
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join([head, *pins, *rows])


def _sets_table(data: Data) -> Table:
    """Say what was compared: names, sizes, lengths."""
    names, *others = lead_columns(of_data(data))
    first = Column("system", names.cells, align="left", share=3)
    kinds = (SYSTEM,) * len(names.cells)
    return Table((first, *others), kinds=kinds, id="sets", breaks="whole")


def _scores(data: Data, metric: str) -> Table:
    """Give the scores of one metric: a run for each embedder, a column for each view."""
    systems = [system["name"] for system in data["systems"]]
    columns = data["metrics"][metric]["scores"]
    names = Column("system", texts([clean(name) for name in systems]), align="left", share=3)
    known = metric.partition(":")[0] in METRICS
    tells = f": {meaning(metric)}" if known else ""
    return Table(
        (names,),
        _runs(data, [_score_cells(data, metric, column) for column in columns], align="value"),
        (SYSTEM,) * len(systems),
        id=metric,
        heading=f"{label(metric)}{_arrow(data, metric)}{tells}",
        apart=False,
    )


def _score_cells(data: Data, metric: str, column: Data) -> tuple[Cell, ...]:
    scores = [column[system["name"]] for system in data["systems"]]
    best = best_of([*map(score_of, scores)], _direction(data, metric))
    return tuple(
        ScoreCell(
            score_text(score_of(score)),
            mark=BEST if row == best else "",
            style=BEST_STYLE if row == best else "",
            number=score.get("value"),
        )
        for row, score in enumerate(scores)
    )


def _correlations(data: Data) -> Table:
    """Give for each metric the rank correlation of every column with the first."""
    found = list(data["metrics"].values())
    cells = [
        texts([correlation_text(each["spearman"][0][column]) for each in found])
        for column in range(len(data["columns"]))
    ]
    names = texts([label(metric) for metric in data["metrics"]])
    first = clean(data["columns"][0]["label"])
    return Table(
        (Column("metric", names, align="left", share=3),),
        (*_runs(data, cells), (_lowest_column(data),)),
        (METRIC,) * len(found),
        id="correlations",
        heading=f"Rank correlation with {first}, over the systems (Spearman)",
        apart=False,
    )


def _lowest_column(data: Data) -> Column:
    """Give the least correlation of any two columns."""
    values = []
    for found in data["metrics"].values():
        defined = [value for row in found["spearman"] for value in row if value is not None]
        values.append(correlation_text(min(defined)) if found["lowest"] else MISSING)
    return Column("lowest", texts(values))


def _runs(
    data: Data, cells: Sequence[tuple[Cell, ...]], *, align: Align = "right"
) -> tuple[Run, ...]:
    """Put cells under their view, and views under their embedder."""
    runs: dict[str, list[Column]] = {}
    for column, own in zip(data["columns"], cells, strict=True):
        name = shorten(clean(column["embedder"]), WIDEST_EMBEDDER)
        head = clean(column["view"])
        runs.setdefault(column["embedder"], []).append(Column(head, own, group=name, align=align))
    return tuple(tuple(run) for run in runs.values())


def _direction(data: Data, metric: str) -> str:
    """Where a metric is better; empty where neither end is."""
    if metric.partition(":")[0] in UNRANKED:
        return ""
    first = next(iter(data["metrics"][metric]["scores"][0].values()))
    return str(first.get("better") or "higher")


def _arrow(data: Data, metric: str) -> str:
    """Give the arrow to where a metric is better; nothing where neither end is."""
    return ARROWS.get(_direction(data, metric), "")


def _is_correlated(data: Data) -> bool:
    """Whether any correlation is defined."""
    return any(each["lowest"] for each in data["metrics"].values())


def _verdicts(data: Data) -> Iterator[Note]:
    """Say what the columns say by each metric, and below it the pairs that it is about."""
    for metric, found in data["metrics"].items():
        yield Note("point", f"{label(metric)}: {clean(found['sentence'])}", about=(metric,))
        if len(found["pairs"]) > 1:
            yield from notes("subpoint", _agreed(data, metric))
            yield from notes("subpoint", _split(data, metric))


def _agreed(data: Data, metric: str) -> Iterator[str]:
    """Name the pairs that all columns put the same way round, unless the sentence has them all."""
    found = data["metrics"][metric]
    pairs = [pair for pair in found["pairs"] if pair["agreed"]]
    if not pairs or len(pairs) == len(found["pairs"]):
        return
    told = [clean(pair["sentence"]).partition(" put ") for pair in pairs]
    orders = [order for _, _, order in told]
    more = f" and {len(orders) - MOST_PAIRS} more" if orders[MOST_PAIRS:] else ""
    yield f"{told[0][0]} put {', '.join(orders[:MOST_PAIRS])}{more}"


def _split(data: Data, metric: str) -> Iterator[str]:
    """Tell each pair that columns put the one and the other way round."""
    pairs = [each for each in data["metrics"][metric]["pairs"] if each["split"]]
    yield from (clean(pair["sentence"]) for pair in pairs[:MOST_PAIRS])
    if pairs[MOST_PAIRS:]:
        yield f"and {len(pairs) - MOST_PAIRS} more pairs, which --json FILE holds"


def _verdict(data: Data) -> str:
    """Give the whole in one sentence."""
    text = clean(data["verdict"])
    named = ", ".join(label(metric) for metric in data["split"])
    return text[:1].upper() + text[1:] + (f" ({named})." if named else ".")


def _remarks(data: Data) -> Iterator[str]:
    """Say how sets were cut, what chance does, and why correlations are missing."""
    yield from legend.cut_notes(of_data(data))
    systems, rare = len(data["systems"]), data["limits"]["rarely_reached"]
    if _is_correlated(data):
        yield _chance_note(systems, rare)
    reasons = [
        (label(metric), reason)
        for metric, found in data["metrics"].items()
        for reason in dict.fromkeys(row for rows in found["reasons"] for row in rows if row)
    ]
    for reason in dict.fromkeys(reason for _, reason in reasons):
        about = [name for name, own in reasons if own == reason]
        whom = "" if len(about) == len(data["metrics"]) else f" ({', '.join(about)})"
        yield f"no rank correlation{whom}: {clean(reason)}"
    yield from _missing_scores(data)


def _chance_note(systems: int, rare: float | None) -> str:
    orders = f"{math.factorial(systems)} orders" if systems <= 8 else "many orders"
    told = f"{systems} systems can be ranked in {orders}"
    if rare is None:
        share = math.factorial(systems)
        return (
            f"{told}: unrelated columns agree completely 1 time in {share}, so 1.00 is weak "
            "evidence"
        )
    return f"{told}: by chance, unrelated columns reach {rare:.2f} at most 1 time in 20"


def _missing_scores(data: Data) -> Iterator[str]:
    """Say for every dash among the scores why there is no value."""
    about: dict[str, list[str]] = {}
    for metric, found in data["metrics"].items():
        for column, scores in zip(data["columns"], found["scores"], strict=True):
            for name, score in scores.items():
                if score_text(score_of(score)) == MISSING:
                    reason = clean(score.get("reason") or "no value; the reason was not saved")
                    where = f"{clean(name)}, {label(metric)} by {clean(column['label'])}"
                    about.setdefault(reason, []).append(where)
    for reason, places in about.items():
        more = f" and {len(places) - 3} more" if places[3:] else ""
        yield f"{'; '.join(places[:3])}{more}: {reason}"


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read marks, views and words, as pairs of a name and a line."""
    shown = {_arrow(data, metric) for metric in data["metrics"]}
    words = {"↑": "higher is better", "↓": "lower is better", "→": "closer to the reference's"}
    yield from ((sign, text) for sign, text in words.items() if sign in shown)
    yield BEST, "best in its column"
    for view in dict.fromkeys(column["view"] for column in data["columns"]):
        if view in VIEWS:
            yield clean(view), f"scores by {VIEWS[view]}"
    if _is_correlated(data):
        yield "1.00", "the same ranking of the systems; -1.00 the reverse, 0.00 unrelated"
        yield "lowest", "of any two columns"
    tie = data["limits"]["tie"]
    yield "tie", f"scores that differ by less than {tie:.2g}, which chance in sampling can explain"
