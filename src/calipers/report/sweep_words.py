"""What a sweep says in words: what was swept, what the bands hold, where the curves level off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report import notes
from calipers.report.names import VIEWS, clean, label, meaning
from calipers.report.sweep_content import Curve, Data, curves, value_text

SATURATED = 0.995


def title(data: Data) -> str:
    """Say what was swept, against which reference."""
    settings = data["settings"]
    values, over = settings["values"], settings["over"]
    fixed = f", k = {settings['k']}" if over == "n" else ""
    what = f"Sweep over {over} from {values[0]} to {values[-1]}{fixed}"
    return f"{what} · {notes.title(data, said=['k'])}"


def view_title(view: str) -> str:
    """Name a view and what it sees."""
    return f"By {clean(view)} ({VIEWS[view]})" if view in VIEWS else f"By {clean(view)}"


def plateau_title(data: Data) -> str:
    """Say when a curve counts as level."""
    settings = data["settings"]
    error = ", or its standard error," if _banded(data) else ""
    return (
        f"Where the mean levels off: within {_tolerances(data)}{error} of its value at "
        f"{settings['over']} = {settings['values'][-1]} from there on, while {settings['over']} "
        "doubles at least"
    )


def plateaus(data: Data) -> list[tuple[tuple[str, ...], str]]:
    """Say for every curve where it levels off: its names, and the rest of a sentence."""
    several = len(data["settings"]["views"]) > 1
    return [
        (
            (curve.system, *([clean(curve.view)] if several else []), label(curve.metric)),
            _plateau(data, curve),
        )
        for curve in curves(data)
    ]


def remarks(data: Data) -> Iterator[str]:
    """Say how sets were cut, and what stands behind ``±``."""
    yield from _cuts(data)
    settings = data["settings"]
    last = settings["values"][-1]
    files = sorted({len(system.get("seeds") or ()) or 1 for system in data["systems"]})
    if settings["over"] == "k":
        yield from _file_notes(data["systems"])
        if _saturated(data):
            yield f"a share that ends at 1 is level since balls of {last} neighbours hold all"
        return
    yield _order_note(settings["seeds"], files)
    full = [system["name"] for system in data["systems"] if _exhausted(data, system, last)]
    if full:
        yield (
            f"at n = {last} every order has all the samples there are, so ± is 0 there and too "
            "small just before; it is no interval"
        )


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the sets that it is about in front of it."""
    return notes.warnings(data)


def reasons(data: Data) -> Iterator[str]:
    """Say why values miss."""
    for curve in curves(data):
        if any(value is None for value in curve.data["mean"]):
            why = clean(curve.data["reason"] or "no reason was kept")
            yield f"{curve.system}, {label(curve.metric)}: {why}"


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give what each column tells, as pairs of a name and a line."""
    for metric in data["settings"]["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)


def more(data: Data) -> str:
    """Say where the rest is that the table leaves out."""
    return "All values, replicates and signatures: --json FILE; a figure: --plot FILE.png."


def _plateau(data: Data, curve: Curve) -> str:
    level, values = curve.data["plateau"], curve.data["values"]
    if level["start"] is None:
        return f"no plateau: {level['reason']}"
    start, end = value_text(curve.data, values.index(level["start"])), value_text(curve.data, -1)
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


def _saturated(data: Data) -> bool:
    return any(
        curve.data["range"][1] == 1 and (curve.data["plateau"]["level"] or 0.0) >= SATURATED
        for curve in curves(data)
    )


def _cuts(data: Data) -> Iterator[str]:
    rows = [data["reference"], *data["systems"]]
    cut = [row for row in rows if row["n"] < row["n_given"]]
    if cut:
        names = ", ".join(f"{clean(row['name'])} {row['n_given']} to {row['n']}" for row in cut)
        yield f"cut to the smallest generated set, or as --max-samples says: {names}"


def _file_notes(systems: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    several = [system for system in systems if len(system.get("seeds") or ()) > 1]
    for system in several:
        count = len(system["seeds"])
        yield f"{clean(system['name'])}: mean ± standard deviation over {count} seed files"
    if len(several) < len(systems):
        yield "no ± for a system of one file: nothing is repeated when only k changes"


def _order_note(seeds: int, files: Sequence[int]) -> str:
    nested = "each larger subsample contains the smaller ones, on both sides"
    if seeds == files[-1] == 1:
        return f"one random order of the samples, so no ±; {nested}"
    shared = "" if files[-1] == 1 else ", which the files of a system take in turn"
    return (
        f"± is the standard deviation over {seeds} random orders of the samples{shared}; {nested}"
    )


def _banded(data: Data) -> bool:
    return any(curve.data["deviation"] is not None for curve in curves(data))


def _exhausted(data: Data, system: Mapping[str, Any], last: int) -> bool:
    one_file = len(system.get("seeds") or ()) < 2
    return one_file and last == system["n"] == data["reference"]["n"] and _banded(data)
