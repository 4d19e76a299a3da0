"""A probe ──► a document: what an embedder makes of each change, by every view."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.catalogue.embeddings import METRICS
from calipers.report import legend
from calipers.report.names import VIEWS, clean, label, meaning
from calipers.report.numbers import MISSING, number
from calipers.report.of_data import of_data
from calipers.report.shown import short
from calipers.report.table import (
    BEST_STYLE,
    METRIC,
    Block,
    Column,
    Data,
    Document,
    Note,
    Notes,
    Run,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    texts,
    together,
)

UNCHANGED = "unchanged"
STYLES = {"sees": "bold", "hardly": "", "blind": "yellow"}


def document(data: Data) -> Document:
    """Give all that a probe shows.

    Parameters
    ----------
    data
        What ``Probe.to_dict()`` gives.
    """
    samples = [(short(data["samples"]["name"]), of_data(data["samples"]))]
    blocks: tuple[Block, ...] = (
        *(_table(data, view) for view in data["views"]),
        *together(*notes("note", _remarks(data)), *legend.warnings(of_data(data), samples)),
        Notes(
            (
                *glossary(_meanings(data)),
                Note(
                    "how",
                    "No score detects what its embedder ignores. Every split: --json FILE, "
                    "or .to_dict() in Python.",
                ),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def _title(data: Data) -> str:
    """Say what was probed with what."""
    settings = data["settings"]
    halves = f"{settings['seeds']} random splits into {settings['half']} + {settings['half']}"
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed")]
    name = short(data["samples"]["name"])
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join(
        [f"What {clean(settings['embedder'])} detects in {name}", halves, *pins, *rows]
    )


def _table(data: Data, view: str) -> Table:
    """Give the changes of one view: how many texts each alters, its scores, and the verdict."""
    changes = list(data["views"][view].values())
    names = [UNCHANGED, *(clean(change["label"]) for change in changes)]
    shares = ["", *(percent(change["altered"]) for change in changes)]
    verdicts = (
        Text(),
        *(Text(change["verdict"], STYLES.get(change["verdict"], "dim")) for change in changes),
    )
    return Table(
        (Column("change", texts(names), align="left"), Column("alters", texts(shares))),
        (
            *(_metric_run(data, view, metric) for metric in data["settings"]["metrics"]),
            (Column("verdict", verdicts, align="left"),),
        ),
        (METRIC,) * len(names),
        id=view,
        heading=f"By {clean(view)}" + (f" ({VIEWS[view]})" if view in VIEWS else ""),
        apart=False,
    )


def _metric_run(data: Data, view: str, metric: str) -> Run:
    """Give what changed texts score, and how far that is from unchanged ones."""
    moves = [change["metrics"][metric] for change in data["views"][view].values()]
    first = moves[0]
    scores = (first["unchanged"], *(move["value"] for move in moves))
    gaps = (
        ScoreCell(f"±{first['noise']:.3f}", style="dim"),
        *(
            ScoreCell(signed(m["gap"]), style=BEST_STYLE if _beyond(m) else "dim", number=m["gap"])
            for m in moves
        ),
    )
    name, tells = label(metric), meaning(metric) if metric.partition(":")[0] in METRICS else ""
    values = tuple(ScoreCell(_share(value), number=value) for value in scores)
    return (
        Column("score", values, group=name, key=metric, meaning=tells),
        Column("gap", gaps, group=name),
    )


def _beyond(move: Data) -> bool:
    return move["gap"] is not None and abs(move["gap"]) > move["noise"]


def _share(value: float | None) -> str:
    return MISSING if value is None else number(value, unit=True)


def signed(value: float | None) -> str:
    """Write a gap with its sign; one that rounds to nothing has none."""
    if value is None:
        return MISSING
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def percent(share: float) -> str:
    """Write a share; one that is not all or none never looks like it."""
    rounded = f"{100 * share:.0f} %"
    if rounded == "100 %" and share < 1:
        return ">99 %"
    return "<1 %" if rounded == "0 %" and share > 0 else rounded


def _remarks(data: Data) -> Iterator[str]:
    """Say which changes move no vector at all, and how the set was cut."""
    samples, limit = data["samples"], data["settings"].get("max_samples")
    if limit and samples["n_given"] > limit:
        yield f"{samples['n_given']} texts cut to {limit} (--max-samples)"
    for view, changes in data["views"].items():
        still = [clean(each["label"]) for each in changes.values() if each["moved"] == 0]
        if still:
            yield f"by {clean(view)}, no vector changes with: {', '.join(still)}"


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read numbers and words, as pairs of a name and a line."""
    limits = data["limits"]
    for change in next(iter(data["views"].values())).values():
        yield clean(change["label"]), clean(change["does"])
    for metric in data["settings"]["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)
    yield "alters", "share of the texts that the change alters"
    yield (
        UNCHANGED,
        (
            "the score of unchanged texts; beside it the noise: twice the standard deviation "
            f"over the splits, or the sampling error of {data['settings']['half']} texts"
        ),
    )
    yield "gap", "score minus that of unchanged texts, averaged over the splits"
    yield "sees", f"some metric changes by {limits['clear']:g} or more, and by more than the noise"
    yield "hardly", "some metric changes by more than the noise, none by that much"
    yield "blind", "no metric changes by more than the noise"
