"""A sweep ──► a document: its curves as tables by view, and where each levels off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import UNRANKED
from calipers.report import legend
from calipers.report.names import VIEWS, clean, label, meaning
from calipers.report.numbers import MISSING, number
from calipers.report.of_data import of_data
from calipers.report.shown import short
from calipers.report.table import (
    ARROWS,
    METRIC,
    Block,
    Column,
    Data,
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

ROUND = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)
MOST_ROWS = 16
SATURATED = 0.995
MORE = "All values, replicates and signatures: --json FILE; a figure: --plot FILE.png."


@dataclass(frozen=True)
class Curve:
    """One curve as data, with the names to show beside it."""

    system: str
    view: str
    metric: str
    data: Data


def document(data: Data) -> Document:
    """Give all that a sweep shows.

    Parameters
    ----------
    data
        What ``Sweep.to_dict()`` gives.
    """
    blocks: tuple[Block, ...] = (
        *(_table(data, view) for view in swept_views(data)),
        Notes((Note("heading", _plateau_title(data)), *_plateaus(data))),
        *together(*_remarks(data)),
        Notes(
            (
                *glossary(_meanings(data)),
                Note("how", MORE),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def curves(data: Data) -> Iterator[Curve]:
    """Give every curve: by view, then by system, then by metric."""
    for index, view in enumerate(data["settings"]["views"]):
        for system in data.get("systems", ()):
            for metric in data["settings"]["metrics"]:
                key = metric if index == 0 else f"{view}.{metric}"
                if key in system["curves"]:
                    yield Curve(short(system["name"]), view, metric, system["curves"][key])


def swept_views(data: Data) -> list[str]:
    """Give the views that have curves."""
    return list(dict.fromkeys(curve.view for curve in curves(data)))


def _title(data: Data) -> str:
    """Say what was swept, against which reference."""
    settings = data["settings"]
    values, over = settings["values"], settings["over"]
    fixed = f", k = {settings['k']}" if over == "n" else ""
    what = f"Sweep over {over} from {values[0]} to {values[-1]}{fixed}"
    return f"{what} · {legend.title(of_data(data), said=['k'])}"


def _table(data: Data, view: str) -> Table:
    rows = _shown_rows(data)
    values = texts([str(data["settings"]["values"][row]) for row in rows])
    columns = [_column(curve, rows) for curve in curves(data) if curve.view == view]
    sees = f" ({VIEWS[view]})" if view in VIEWS else ""
    return Table(
        (Column(data["settings"]["over"], values),),
        by_group(columns),
        (METRIC,) * len(rows),
        id=view,
        heading=f"By {clean(view)}{sees}" if len(data["settings"]["views"]) > 1 else "",
        breaks="systems",
    )


def _column(curve: Curve, rows: Sequence[int]) -> Column:
    """Give the column of one curve: its means, with deviations where there are any."""
    known = curve.metric.partition(":")[0] in METRICS
    return Column(
        label(curve.metric),
        tuple(_cell(curve.data, row) for row in rows),
        "" if curve.metric in UNRANKED else ARROWS.get(curve.data["better"], ""),
        group=curve.system,
        key=curve.metric,
        meaning=meaning(curve.metric) if known else "",
    )


def _cell(curve: Data, row: int) -> ScoreCell:
    text, deviation = _value_text(curve, row), curve["deviation"]
    if text == MISSING or deviation is None or deviation[row] is None:
        return ScoreCell(text)
    return ScoreCell(text, f"±{_spread(deviation[row], text)}", number=curve["mean"][row])


def _shown_rows(data: Data) -> list[int]:
    """Choose the values that a table shows: all, or round ones with the first and the last."""
    values: Sequence[int] = data["settings"]["values"]
    every = list(range(len(values)))
    if len(values) <= MOST_ROWS:
        return every
    kept = [row for row in every if _is_round(values[row]) or row in (0, every[-1])]
    step = -(-len(values) // MOST_ROWS)
    return kept if len(kept) >= MOST_ROWS // 2 else sorted({*every[::step], every[-1]})


def _is_round(value: int) -> bool:
    while value > ROUND[-1] and value % 10 == 0:
        value //= 10
    return value in ROUND


def _value_text(curve: Data, row: int) -> str:
    """Write one mean; a dash where it is not defined."""
    value = curve["mean"][row]
    return MISSING if value is None else number(value, unit=_is_share(curve))


def _spread(spread: float, mean: str) -> str:
    """Write a spread to the last digit of its mean, with the same power of ten."""
    digits, e, power = mean.partition("e")
    places = len(digits.partition(".")[2])
    return f"{spread / 10 ** int(power or 0):.{places}f}{e}{power}"


def _is_share(curve: Data) -> bool:
    """Three decimals for shares, and for density, which is about one."""
    return curve["range"][0] == 0 and max(v or 0.0 for v in curve["mean"]) < 100


def _plateau_title(data: Data) -> str:
    """Say when a curve counts as level."""
    settings = data["settings"]
    error = ", or its standard error," if _is_banded(data) else ""
    return (
        f"Where the mean becomes constant: within {_tolerances(data)}{error} of its value at "
        f"{settings['over']} = {settings['values'][-1]} from there on, over at least a "
        f"doubling of {settings['over']}"
    )


def _plateaus(data: Data) -> Iterator[Note]:
    """Say for every curve where it levels off."""
    several = len(data["settings"]["views"]) > 1
    for curve in curves(data):
        view = (clean(curve.view),) if several else ()
        about = (curve.system, *view, label(curve.metric))
        yield Note("named", _plateau(data, curve), about=about)


def _plateau(data: Data, curve: Curve) -> str:
    level, values = curve.data["plateau"], curve.data["values"]
    if level["start"] is None:
        return f"no plateau: {level['reason']}"
    start = _value_text(curve.data, values.index(level["start"]))
    end = _value_text(curve.data, -1)
    return f"from {data['settings']['over']} = {level['start']} on ({start}, at the end {end})"


def _tolerances(data: Data) -> str:
    """Say how far a mean may lie from its end: as such for shares, else by the value there."""
    found = {curve.data["plateau"]["relative"] for curve in curves(data)}
    shares = [f"{share:.0%}".replace("%", " %") for share in found if share is not None]
    if not shares:
        return f"{data['settings']['tolerance']:g}"
    if None not in found:
        return shares[0]
    return f"{data['settings']['tolerance']:g} ({shares[0]} of its end for scores without a scale)"


def _remarks(data: Data) -> Iterator[Note]:
    yield from (Note("note", text) for text in (*_cuts(data), *_orders(data)))
    for curve in curves(data):
        if any(value is None for value in curve.data["mean"]):
            why = clean(curve.data["reason"] or "the reason was not saved")
            text = f"{curve.system}, {label(curve.metric)}: {why}"
            yield Note("missing", text, MISSING, about=(curve.system,))
    yield from legend.warnings(of_data(data), legend.sets_with_warnings(of_data(data)))


def _cuts(data: Data) -> Iterator[str]:
    rows = [data["reference"], *data["systems"]]
    cut = [row for row in rows if row["n"] < row["n_given"]]
    if cut:
        names = ", ".join(f"{clean(row['name'])} {row['n_given']} to {row['n']}" for row in cut)
        yield f"cut to the smallest generated set, or as --max-samples says: {names}"


def _orders(data: Data) -> Iterator[str]:
    """Say what stands behind ``±``."""
    settings = data["settings"]
    last = settings["values"][-1]
    if settings["over"] == "k":
        yield from _file_notes(data["systems"])
        if _is_saturated(data):
            yield f"a share that ends at 1 is constant because neighbourhoods of {last} cover all"
        return
    files = sorted({len(system.get("seeds") or ()) or 1 for system in data["systems"]})
    yield _order_note(settings["seeds"], files)
    if any(_is_exhausted(data, system, last) for system in data["systems"]):
        yield (
            f"at n = {last} every order has all samples, so ± is 0 there and too small just "
            "before; ± is not a confidence interval"
        )


def _file_notes(systems: Sequence[Data]) -> Iterator[str]:
    several = [system for system in systems if len(system.get("seeds") or ()) > 1]
    for system in several:
        count = len(system["seeds"])
        yield f"{clean(system['name'])}: mean ± standard deviation over {count} seed files"
    if len(several) < len(systems):
        yield "no ± for a system of one file, because a change of k repeats nothing"


def _order_note(seeds: int, files: Sequence[int]) -> str:
    nested = "each larger subsample contains the smaller ones, on both sides"
    if seeds == files[-1] == 1:
        return f"only one random order of the samples, so no ±; {nested}"
    shared = "" if files[-1] == 1 else ", which the files of a system take in turn"
    return (
        f"± is the standard deviation over {seeds} random orders of the samples{shared}; {nested}"
    )


def _is_saturated(data: Data) -> bool:
    return any(
        curve.data["range"][1] == 1 and (curve.data["plateau"]["level"] or 0.0) >= SATURATED
        for curve in curves(data)
    )


def _is_banded(data: Data) -> bool:
    return any(curve.data["deviation"] is not None for curve in curves(data))


def _is_exhausted(data: Data, system: Data, last: int) -> bool:
    one_file = len(system.get("seeds") or ()) < 2
    return one_file and last == system["n"] == data["reference"]["n"] and _is_banded(data)


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give what each column tells, as pairs of a name and a line."""
    for metric in data["settings"]["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)
