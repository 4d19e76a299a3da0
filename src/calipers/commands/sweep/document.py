"""The document of a sweep: its curves as tables by view, and where each levels off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import UNRANKED
from calipers.commands.sweep.result import Curve, PlacedCurve, Sweep, SweptSystem
from calipers.report import legend
from calipers.report.table import (
    METRIC,
    Block,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    by_group,
    glossary,
    texts,
    together,
)
from calipers.wording.marks import ARROWS
from calipers.wording.names import clean, label, meaning, sees
from calipers.wording.numbers import MISSING, number
from calipers.wording.short_names import short

ROUND = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)
MOST_ROWS = 16
SATURATED = 0.995
UNITS = {"length": " words", "buckets": " cells", "axes": " axes"}
"""What is counted, where the name of what was varied does not say it."""
MORE = "All values, replicates and signatures: `.to_dict()`; a figure: `.plot()`."


def document(sweep: Sweep) -> Document:
    """Return the document of a sweep: its tables and notes."""
    blocks: tuple[Block, ...] = (
        *(_table(sweep, view) for view in sweep.views),
        Notes((Note("heading", _plateau_title(sweep)), *_plateaus(sweep))),
        *together(*_remarks(sweep)),
        Notes(
            (
                *glossary(_meanings(sweep)),
                Note("how", MORE),
            )
        ),
    )
    return Document(_title(sweep), blocks, legend.made_by(sweep))


def _title(sweep: Sweep) -> str:
    """Say what was swept, against which reference."""
    settings, over = sweep.settings, sweep.over
    values = settings["values"]
    fixed = f", k = {settings['k']}" if over in ("n", "length") else ""
    unit = UNITS.get(over, "")
    what = f"Sweep over {over} from {values[0]} to {values[-1]}{unit}{fixed}"
    return f"{what} · {legend.title(sweep.reference, settings, stated=['k'])}"


def _table(sweep: Sweep, view: str) -> Table:
    rows = _shown_rows(sweep.settings["values"])
    values = texts([str(sweep.settings["values"][row]) for row in rows])
    columns = [_column(placed, rows) for placed in sweep.placed_curves() if placed.view == view]
    seen = sees(view, sweep.settings.get("samples"))
    named = f"By {clean(view)}" + (f" ({seen})" if seen else "")
    return Table(
        (Column(sweep.over, values),),
        by_group(columns),
        (METRIC,) * len(rows),
        id=view,
        heading=named if len(sweep.settings["views"]) > 1 else "",
        breaks="systems",
    )


def _column(placed: PlacedCurve, rows: Sequence[int]) -> Column:
    """Return the column of one curve: its means, with deviations where there are any."""
    metric, curve = placed.metric, placed.curve
    known = metric.partition(":")[0] in METRICS
    return Column(
        label(metric),
        tuple(_cell(curve, row) for row in rows),
        "" if metric in UNRANKED else ARROWS.get(curve.better, ""),
        group=short(placed.system),
        key=metric,
        meaning=meaning(metric) if known else "",
    )


def _cell(curve: Curve, row: int) -> ScoreCell:
    text, deviation = _value_text(curve, row), curve.deviation
    if text == MISSING or deviation is None or not np.isfinite(deviation[row]):
        return ScoreCell(text)
    spread = f"±{_spread(float(deviation[row]), text)}"
    return ScoreCell(text, spread, number=float(curve.mean[row]))


def _shown_rows(values: Sequence[int]) -> list[int]:
    """Choose the values that a table shows: all, or round ones with the first and the last."""
    every = list(range(len(values)))
    if len(values) <= MOST_ROWS:
        return every
    rows = [row for row in every if _is_round(values[row]) or row in (0, every[-1])]
    step = -(-len(values) // MOST_ROWS)
    return rows if len(rows) >= MOST_ROWS // 2 else sorted({*every[::step], every[-1]})


def _is_round(value: int) -> bool:
    while value > ROUND[-1] and value % 10 == 0:
        value //= 10
    return value in ROUND


def _value_text(curve: Curve, row: int) -> str:
    """Write one mean; a dash where it is not defined."""
    value = float(curve.mean[row])
    return number(value, unit=_is_share(curve)) if math.isfinite(value) else MISSING


def _spread(spread: float, mean: str) -> str:
    """Write a spread to the last digit of its mean, with the same power of ten."""
    digits, e, power = mean.partition("e")
    places = len(digits.partition(".")[2])
    return f"{spread / 10 ** int(power or 0):.{places}f}{e}{power}"


def _is_share(curve: Curve) -> bool:
    """Three decimals for shares, and for density, which is about one."""
    return curve.range[0] == 0 and float(np.nan_to_num(curve.mean).max()) < 100


def _plateau_title(sweep: Sweep) -> str:
    """Say when a curve counts as level."""
    error = ", or its standard error," if _is_banded(sweep) else ""
    return (
        f"Where the mean becomes constant: within {_tolerances(sweep)}{error} of its value at "
        f"{sweep.over} = {sweep.settings['values'][-1]} from there on, over at least a "
        f"doubling of {sweep.over}"
    )


def _plateaus(sweep: Sweep) -> Iterator[Note]:
    """Say for every curve where it levels off."""
    several = len(sweep.settings["views"]) > 1
    for placed in sweep.placed_curves():
        view = (clean(placed.view),) if several else ()
        about = (short(placed.system), *view, label(placed.metric))
        yield Note("named", _plateau(sweep, placed.curve), about=about)


def _plateau(sweep: Sweep, curve: Curve) -> str:
    start = curve.plateau.start
    if start is None:
        return f"no plateau: {curve.plateau.reason}"
    first = _value_text(curve, curve.values.tolist().index(start))
    return f"from {sweep.over} = {start} on ({first}, at the end {_value_text(curve, -1)})"


def _tolerances(sweep: Sweep) -> str:
    """Say how far a mean may lie from its end: as such for shares, else by the value there."""
    relative = {placed.curve.plateau.relative for placed in sweep.placed_curves()}
    shares = [f"{share:.0%}".replace("%", " %") for share in relative if share is not None]
    if not shares:
        return f"{sweep.settings['tolerance']:g}"
    if None not in relative:
        return shares[0]
    return f"{sweep.settings['tolerance']:g} ({shares[0]} of its end for scores without a scale)"


def _remarks(sweep: Sweep) -> Iterator[Note]:
    yield from (Note("note", text) for text in (*_cuts(sweep), *_orders(sweep)))
    for placed in sweep.placed_curves():
        if not np.isfinite(placed.curve.mean).all():
            why = clean(placed.curve.reason or "the reason was not saved")
            system = short(placed.system)
            text = f"{system}, {label(placed.metric)}: {why}"
            yield Note("missing", text, MISSING, about=(system,))
    reference = (short(sweep.reference.name), sweep.reference)
    systems = [(short(system.name), row) for system in sweep.systems for row in legend.both(system)]
    yield from legend.warnings(sweep, [reference, *systems])


def _cuts(sweep: Sweep) -> Iterator[str]:
    summaries = [sweep.reference, *(system.summary for system in sweep.systems)]
    cut = [summary for summary in summaries if summary.n < summary.n_given]
    if cut:
        names = ", ".join(
            f"{clean(summary.name)} {summary.n_given} to {summary.n}" for summary in cut
        )
        yield f"cut to the smallest generated set, or as `max_samples` says: {names}"


def _orders(sweep: Sweep) -> Iterator[str]:
    """Say what stands behind ``±``."""
    last = sweep.settings["values"][-1]
    if sweep.over in ("k", "length", "axes"):
        yield from _file_notes(sweep)
        if sweep.over == "k" and _is_saturated(sweep):
            yield f"a share that ends at 1 is constant because neighbourhoods of {last} cover all"
        return
    if sweep.over == "buckets":
        yield (
            f"± is the standard deviation over {sweep.settings['seeds']} starts of k-means: it is "
            "not a confidence interval"
        )
        return
    files = sorted({len(system.seeds) or 1 for system in sweep.systems})
    yield _order_note(sweep.settings["seeds"], files)
    if any(_is_exhausted(sweep, system, last) for system in sweep.systems):
        yield (
            f"at n = {last} every order has all samples, so ± is 0 there and too small just "
            "before; ± is not a confidence interval"
        )


def _file_notes(sweep: Sweep) -> Iterator[str]:
    systems = sweep.systems
    several = [system for system in systems if len(system.seeds) > 1]
    for system in several:
        count = len(system.seeds)
        yield f"{clean(system.name)}: mean ± standard deviation over {count} seed files"
    if len(several) < len(systems):
        yield f"no ± for a system of one file, because a change of {sweep.over} repeats nothing"


def _order_note(seeds: int, files: Sequence[int]) -> str:
    nested = "each larger subsample contains the smaller ones, on both sides"
    if seeds == files[-1] == 1:
        return f"only one random order of the samples, so no ±; {nested}"
    shared = "" if files[-1] == 1 else ", which the files of a system take in turn"
    return (
        f"± is the standard deviation over {seeds} random orders of the samples{shared}; {nested}"
    )


def _is_saturated(sweep: Sweep) -> bool:
    return any(
        placed.curve.range[1] == 1 and placed.curve.plateau.level >= SATURATED
        for placed in sweep.placed_curves()
    )


def _is_banded(sweep: Sweep) -> bool:
    return any(placed.curve.deviation is not None for placed in sweep.placed_curves())


def _is_exhausted(sweep: Sweep, system: SweptSystem, last: int) -> bool:
    sizes = (system.summary.n, sweep.reference.n)
    return len(system.seeds) < 2 and sizes == (last, last) and _is_banded(sweep)


def _meanings(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Return what each column tells, as pairs of a name and a line."""
    for metric in sweep.settings["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)
