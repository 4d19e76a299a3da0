"""A probe as data ──► the columns of its tables, and the words around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report.grid import Cell, Column
from calipers.report.names import VIEWS, WIDEST_NAME, clean, label, meaning, shorten
from calipers.report.numbers import MISSING, number

Data = Mapping[str, Any]

UNCHANGED = "unchanged"
STYLES = {"sees": "bold", "hardly": "", "blind": "yellow"}


def title(data: Data) -> str:
    """Say what was probed with what."""
    settings, samples = data["settings"], data["samples"]
    name = shorten(clean(samples["name"]), WIDEST_NAME)
    halves = f"{settings['seeds']} random halvings into {settings['half']} + {settings['half']}"
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed")]
    return " · ".join([f"What {clean(settings['embedder'])} sees in {name}", halves, *pins])


def view_title(view: str) -> str:
    """Name a view, and what it is for."""
    return f"By {clean(view)}" + (f" ({VIEWS[view]})" if view in VIEWS else "")


def change_columns(data: Data, view: str) -> list[Column]:
    """Give the changes, and how many texts each alters."""
    changes = list(data["views"][view].values())
    names = [UNCHANGED, *(clean(change["label"]) for change in changes)]
    shares = ["", *(_percent(change["altered"]) for change in changes)]
    return [
        Column("change", tuple(Cell(name) for name in names), right=False),
        Column("alters", tuple(Cell(share) for share in shares)),
    ]


def metric_runs(data: Data, view: str) -> list[tuple[Column, ...]]:
    """Give for each metric what changed texts score, and how far from unchanged ones."""
    return [_metric_run(data, view, metric) for metric in data["settings"]["metrics"]]


def verdict_column(data: Data, view: str) -> Column:
    """Give what the view makes of each change, in a word."""
    words = [change["verdict"] for change in data["views"][view].values()]
    cells = [Cell(), *(Cell(word, STYLES.get(word, "dim")) for word in words)]
    return Column("verdict", tuple(cells), right=False)


def remarks(data: Data) -> Iterator[str]:
    """Say which changes move no vector at all, and how the set was cut."""
    samples, limit = data["samples"], data["settings"].get("max_samples")
    if limit and samples["n_given"] > limit:
        yield f"{samples['n_given']} texts cut to {limit} (--max-samples)"
    for view, changes in data["views"].items():
        still = [clean(each["label"]) for each in changes.values() if each["moved"] == 0]
        if still:
            yield f"by {clean(view)}, no vector moves for: {', '.join(still)}"


def warnings(data: Data) -> list[str]:
    """Give every warning once."""
    name = shorten(clean(data["samples"]["name"]), WIDEST_NAME)
    own = [f"{name}: {clean(text)}" for text in data["samples"].get("warnings") or ()]
    return [*own, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read numbers and words, as pairs of a name and a line."""
    limits = data["limits"]
    for change in next(iter(data["views"].values())).values():
        yield clean(change["label"]), clean(change["does"])
    for metric in data["settings"]["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)
    yield "alters", "share of the texts that come out other than they went in"
    yield (
        UNCHANGED,
        (
            "the ceiling; beside it the noise: twice the standard deviation over the halvings, or "
            f"what the draw of {data['settings']['half']} texts may move"
        ),
    )
    yield "gap", "score less the ceiling, the mean over the halvings"
    yield "sees", f"some metric moves by {limits['clear']:g} or more, and beyond the noise"
    yield "hardly", "some metric moves beyond the noise, none that far"
    yield "blind", "no metric moves beyond the noise"


def _metric_run(data: Data, view: str, metric: str) -> tuple[Column, ...]:
    moves = [change["metrics"][metric] for change in data["views"][view].values()]
    first = moves[0]
    scores = [_share(first["unchanged"]), *(_share(move["value"]) for move in moves)]
    gaps = [f"±{first['noise']:.3f}", *(_signed(move["gap"]) for move in moves)]
    styles = ["dim", *("bold" if _beyond(move) else "dim" for move in moves)]
    name = label(metric)
    return (
        Column("score", tuple(Cell(text) for text in scores), group=name),
        Column("gap", tuple(map(Cell, gaps, styles)), group=name),
    )


def _beyond(move: Mapping[str, Any]) -> bool:
    return move["gap"] is not None and abs(move["gap"]) > move["noise"]


def _share(value: float | None) -> str:
    return MISSING if value is None else number(value, unit=True)


def _signed(value: float | None) -> str:
    """Write a gap with its sign; one that rounds to nothing has none."""
    if value is None:
        return MISSING
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def _percent(share: float) -> str:
    """Write a share; one that is not all or none never looks like it."""
    rounded = f"{100 * share:.0f} %"
    if rounded == "100 %" and share < 1:
        return ">99 %"
    return "<1 %" if rounded == "0 %" and share > 0 else rounded
