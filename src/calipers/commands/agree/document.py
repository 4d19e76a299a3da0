"""The document of an agreement: scores by every embedder, their correlations, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from calipers.catalogue.embeddings import METRICS
from calipers.commands.agree.result import Agreement, MetricAgreement, PairOrder
from calipers.report import legend
from calipers.report.shown import lead_columns
from calipers.report.table import (
    BEST_STYLE,
    METRIC,
    SYSTEM,
    Align,
    Block,
    Cell,
    Column,
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
from calipers.results.ranking import best_of
from calipers.score import Score
from calipers.wording.marks import ARROWS, BEST
from calipers.wording.names import clean, label, meaning, sees
from calipers.wording.numbers import MISSING, cell_text, defined, score_text, value_of
from calipers.wording.short_names import short

WIDEST_EMBEDDER = 24
MOST_PAIRS = 6
"""Pairs of systems that are listed for each metric; the JSON has all."""

MOST_PLACES = 3
"""Missing scores that are named for each reason."""

MOST_COUNTED = 8
"""Systems up to which the number of their orders is written out."""


def document(agreement: Agreement) -> Document:
    """Return the document of an agreement: its tables and notes."""
    correlations = (_correlations(agreement),) if _is_correlated(agreement) else ()
    sets = [(short(samples.name), samples) for samples in agreement.sets]
    blocks: tuple[Block, ...] = (
        _sets_table(agreement),
        *(_scores(agreement, metric) for metric in agreement),
        *correlations,
        Notes(tuple(_sentences(agreement))),
        Notes((Note("heading", _verdict(agreement)),)),
        *together(*notes("note", _remarks(agreement)), *legend.warnings(agreement, sets)),
        Notes(
            (
                *glossary(_meanings(agreement)),
                Note(
                    "how",
                    "Columns that agree may all be wrong. All correlations, also Kendall's, "
                    "and signatures: `.to_dict()`.",
                ),
            )
        ),
    )
    return Document(_title(agreement), blocks, legend.made_by(agreement))


def correlation_text(value: float) -> str:
    """Write a correlation with two decimals; a dash where it is undefined.

    Examples
    --------
    >>> correlation_text(-0.5), correlation_text(1.0), correlation_text(math.nan)
    ('-0.50', '1.00', '–')
    """
    return MISSING if defined(value) is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _title(agreement: Agreement) -> str:
    """Name the numbers of embedders, of columns and of systems."""
    settings = agreement.settings
    embedders = len(settings["embedders"])
    columns, systems = len(agreement.columns), len(agreement.systems)
    by = f"{embedders} embedder" + ("s" if embedders > 1 else "")
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed") if key in settings]
    head = f"Agreement of {by} ({columns} columns) on {systems} systems"
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join([head, *pins, *rows])


# Tables ------------------------------------------------------------------------------------------


def _sets_table(agreement: Agreement) -> Table:
    """Return what was compared: names, sizes, lengths."""
    names, *others = lead_columns(agreement.sets)
    first = Column("system", names.cells, align="left", share=3)
    kinds = (SYSTEM,) * len(names.cells)
    return Table((first, *others), kinds=kinds, id="sets", breaks="whole")


def _scores(agreement: Agreement, metric: MetricAgreement) -> Table:
    """Return the scores of one metric: a run for each embedder, a column for each view."""
    names = texts([clean(system.name) for system in agreement.systems])
    known = metric.metric.partition(":")[0] in METRICS
    about = f": {meaning(metric.metric)}" if known else ""
    cells = [_score_cells(column, metric.direction) for column in metric.scores]
    return Table(
        (Column("system", names, align="left", share=3),),
        _runs(agreement, cells, align="value"),
        (SYSTEM,) * len(names),
        id=metric.metric,
        heading=f"{label(metric.metric)}{ARROWS.get(metric.direction, '')}{about}",
        apart=False,
    )


def _score_cells(scores: Sequence[Score], direction: str) -> tuple[Cell, ...]:
    best = best_of(scores, direction)
    return tuple(
        ScoreCell(
            cell_text(score, score_text(score)),
            mark=BEST if row == best else "",
            style=BEST_STYLE if row == best else "",
            number=value_of(score),
        )
        for row, score in enumerate(scores)
    )


def _correlations(agreement: Agreement) -> Table:
    """Return for each metric the rank correlation of every column with the first."""
    first = [metric.spearman[0].tolist() for metric in agreement]
    cells = [texts(list(map(correlation_text, column))) for column in zip(*first, strict=True)]
    names = texts([label(metric.metric) for metric in agreement])
    lowest = texts([_lowest(metric) for metric in agreement])
    return Table(
        (Column("metric", names, align="left", share=3),),
        (*_runs(agreement, cells), (Column("lowest", lowest),)),
        (METRIC,) * len(names),
        id="correlations",
        heading="Rank correlation with "
        f"{clean(agreement.columns[0].label)}, over the systems (Spearman)",
        apart=False,
    )


def _lowest(metric: MetricAgreement) -> str:
    """Return the least correlation of any two columns."""
    if metric.lowest is None:
        return MISSING
    values = map(defined, metric.spearman.ravel().tolist())
    return correlation_text(min(value for value in values if value is not None))


def _runs(
    agreement: Agreement, cells: Sequence[tuple[Cell, ...]], *, align: Align = "right"
) -> tuple[Run, ...]:
    """Put cells under their view, and views under their embedder."""
    runs: dict[str, list[Column]] = {}
    for column, of_column in zip(agreement.columns, cells, strict=True):
        name = short(column.embedder, WIDEST_EMBEDDER)
        laid = Column(clean(column.view), of_column, group=name, align=align)
        runs.setdefault(column.embedder, []).append(laid)
    return tuple(tuple(run) for run in runs.values())


def _is_correlated(agreement: Agreement) -> bool:
    """Whether any correlation is defined."""
    return any(metric.lowest is not None for metric in agreement)


# Whether the columns agree -----------------------------------------------------------------------


def _sentences(agreement: Agreement) -> Iterator[Note]:
    """Say whether the columns agree by each metric, and below it on which pairs."""
    for metric in agreement:
        text = f"{label(metric.metric)}: {clean(metric.sentence)}"
        yield Note("point", text, about=(metric.metric,))
        pairs = metric.pairs
        if len(pairs) > 1:
            yield from notes("subpoint", _agreed(pairs))
            yield from notes("subpoint", _split(pairs))


def _agreed(pairs: Sequence[PairOrder]) -> Iterator[str]:
    """Name the pairs that all columns rank alike, unless the sentence has them all."""
    agreed = [pair for pair in pairs if pair.agreed]
    if not agreed or len(agreed) == len(pairs):
        return
    who, *_ = clean(agreed[0].sentence).partition(" put ")
    orders = [clean(pair.sentence).partition(" put ")[2] for pair in agreed]
    more = f" and {len(orders) - MOST_PAIRS} more" if orders[MOST_PAIRS:] else ""
    yield f"{who} put {', '.join(orders[:MOST_PAIRS])}{more}"


def _split(pairs: Sequence[PairOrder]) -> Iterator[str]:
    """Describe each pair that columns rank in opposite order."""
    split = [pair for pair in pairs if pair.split]
    yield from (clean(pair.sentence) for pair in split[:MOST_PAIRS])
    if split[MOST_PAIRS:]:
        yield f"and {len(split) - MOST_PAIRS} more pairs, which `.to_dict()` holds"


def _verdict(agreement: Agreement) -> str:
    """Return the whole in one sentence."""
    text = clean(agreement.verdict)
    named = ", ".join(label(metric) for metric in agreement.split)
    return text[:1].upper() + text[1:] + (f" ({named})." if named else ".")


# Notes -------------------------------------------------------------------------------------------


def _remarks(agreement: Agreement) -> Iterator[str]:
    """Say how sets were cut, what chance does, and why correlations are missing."""
    yield from legend.cut_notes(agreement.settings, agreement.sets)
    if _is_correlated(agreement):
        yield _chance_note(len(agreement.systems), agreement.rarely_reached)
    about: dict[str, list[str]] = {}
    for metric in agreement:
        for reason in dict.fromkeys(reason for row in metric.reasons for reason in row if reason):
            about.setdefault(reason, []).append(label(metric.metric))
    for reason, names in about.items():
        of = "" if len(names) == len(agreement) else f" ({', '.join(names)})"
        yield f"no rank correlation{of}: {clean(reason)}"
    yield from _missing_scores(agreement)


def _chance_note(systems: int, rare: float) -> str:
    orders = f"{math.factorial(systems)} orders" if systems <= MOST_COUNTED else "many orders"
    ranked = f"{systems} systems can be ranked in {orders}"
    if math.isnan(rare):
        return (
            f"{ranked}: unrelated columns agree completely 1 time in {math.factorial(systems)}, "
            "so 1.00 is weak evidence"
        )
    return f"{ranked}: by chance, unrelated columns reach {rare:.2f} at most 1 time in 20"


def _missing_scores(agreement: Agreement) -> Iterator[str]:
    """Say for every dash among the scores why there is no value."""
    about: dict[str, list[str]] = {}
    for metric in agreement:
        for column, scores in zip(agreement.columns, metric.scores, strict=True):
            for name, score in zip(metric.systems, scores, strict=True):
                if score_text(score) == MISSING:
                    reason = clean(score.reason or "no value; the reason was not saved")
                    where = f"{clean(name)}, {label(metric.metric)} by {clean(column.label)}"
                    about.setdefault(reason, []).append(where)
    for reason, places in about.items():
        more = f" and {len(places) - MOST_PLACES} more" if places[MOST_PLACES:] else ""
        yield f"{'; '.join(places[:MOST_PLACES])}{more}: {reason}"


def _meanings(agreement: Agreement) -> Iterator[tuple[str, str]]:
    """Return how to read marks, views and words, as pairs of a name and a line."""
    signs = {ARROWS.get(metric.direction) for metric in agreement}
    words = {"↑": "higher is better", "↓": "lower is better", "→": "closer to the reference's"}
    yield from ((sign, text) for sign, text in words.items() if sign in signs)
    yield BEST, "best in its column"
    for view in dict.fromkeys(column.view for column in agreement.columns):
        if seen := sees(view):
            yield clean(view), f"scores by {seen}"
    if _is_correlated(agreement):
        yield "1.00", "the same ranking of the systems; -1.00 the reverse, 0.00 unrelated"
        yield "lowest", "of any two columns"
    tie = agreement.tie
    yield "tie", f"scores that differ by less than {tie:.2g}, which chance in sampling can explain"
