"""An overlap ──► a document: a matrix of precision and recall by each view, and what it means."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.report import legend
from calipers.report.names import VIEWS, clean
from calipers.report.numbers import MISSING, number, size_text, words_text
from calipers.report.of_data import of_data
from calipers.report.shown import short
from calipers.report.table import (
    SYSTEM,
    Align,
    Block,
    Cell,
    Column,
    Data,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    singles,
    texts,
    together,
)

SIDES = ("precision", "recall")


def document(data: Data) -> Document:
    """Give all that an overlap shows.

    Parameters
    ----------
    data
        What ``Overlap.to_dict()`` gives.
    """
    sets = [(short(system["name"]), of_data(system)) for system in data["systems"]]
    blocks: tuple[Block, ...] = (
        _systems_table(data),
        *(_matrix(data, view) for view in data["views"]),
        *together(*notes("note", _remarks(data)), *legend.warnings(of_data(data), sets)),
        Notes(
            (
                *glossary(_meanings(data)),
                Note(
                    "how",
                    "No system is taken as the correct one. Full precision and signatures: "
                    "--json FILE, or "
                    ".to_dict() in Python.",
                ),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def _title(data: Data) -> str:
    """Say what was compared with what, and how."""
    settings, sizes = data.get("settings", {}), sorted({s["n"] for s in data["systems"]})
    size = f"n = {sizes[0]}" + (f" to {sizes[-1]}" if len(sizes) > 1 else " each")
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join([f"Overlap of {len(data['systems'])} systems, {size}", *pins, *rows])


def _names(data: Data) -> list[str]:
    return [clean(system["name"]) for system in data["systems"]]


def _has_seeds(data: Data) -> bool:
    """Tell whether any system has several files."""
    return any(len(system.get("files") or ()) > 1 for system in data["systems"])


def _systems_table(data: Data) -> Table:
    """Say who the systems are: name, files, size and length."""
    systems = data["systems"]
    lead = [
        Column("system", texts(_names(data)), align="left", share=0),
        Column("n", texts([size_text(of_data(system)) for system in systems])),
    ]
    if _has_seeds(data):
        files = [str(len(system.get("files") or ("",))) for system in systems]
        lead.insert(1, Column("files", texts(files)))
    if any(system.get("words") for system in systems):
        lead.append(Column("words", texts([words_text(of_data(system)) for system in systems])))
    return Table(tuple(lead), kinds=(SYSTEM,) * len(systems), id="sets", breaks="whole")


def _matrix(data: Data, view: str) -> Table:
    """Give two rows for each reference, a column for each judged system, and what pairs mean."""
    names = _names(data)
    twice = [text for name in names for text in (name, "")]
    sees = f" ({VIEWS[view]})" if view in VIEWS else ""
    relations = data["views"][view]["relations"]
    align: Align = "value" if _has_seeds(data) else "right"
    columns = [
        Column(name, tuple(_judged(data, view, place)), align=align)
        for place, name in enumerate(names)
    ]
    return Table(
        (
            Column("reference", texts(twice), align="left"),
            Column("", texts(list(SIDES) * len(names)), align="left"),
        ),
        singles(columns),
        (SYSTEM,) * len(twice),
        id=view,
        heading=f"By {clean(view)}{sees}: rows are the reference, columns are judged",
        notes=tuple(notes("point", [clean(relation["sentence"]) for relation in relations])),
        breaks="matrix",
        even=True,
        apart=False,
    )


def _judged(data: Data, view: str, column: int) -> Iterator[Cell]:
    matrices = data["views"][view]
    for row in range(len(data["systems"])):
        style = "dim" if row == column else ""
        for side in SIDES:
            value, sd = matrices[side][row][column], matrices[f"{side}_sd"][row][column]
            yield _share(value, sd, style, seeds=_has_seeds(data))


def _share(value: float | None, sd: float | None, style: str, *, seeds: bool) -> Cell:
    """Write a share: three decimals alone, two with a spread, which leaves the third no sense."""
    if value is None:
        return Text(MISSING, style)
    if not seeds:
        return ScoreCell(number(value, unit=True), style=style, number=value)
    spread = "" if sd is None else f"±{sd:.2f}"
    return ScoreCell(f"{value:.2f}", spread, style=style, number=value)


def _remarks(data: Data) -> Iterator[str]:
    """Say how the sets were cut, and what stands on the diagonal."""
    files = [file for system in data["systems"] for file in system.get("files") or ()]
    cut = [file for file in files if file["n"] < file["n_given"]]
    if cut:
        size, limit = min(file["n"] for file in files), data["settings"].get("max_samples")
        smallest = [short(f["name"]) for f in files if f["n_given"] == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit} (--max-samples)"
        else:
            yield f"all sets cut to {size}, the smallest ({smallest[0]}); --keep-sizes leaves them"
    alone = any(len(system.get("files") or ()) < 2 for system in data["systems"])
    if _has_seeds(data):
        yield (
            "diagonal: the overlap of the files of one system, the highest value to expect in "
            "its row"
        )
    if alone:
        yield (
            f"{MISSING} on the diagonal: the system has a single file; with several (NAME=GLOB) "
            "the diagonal shows how far they overlap"
        )


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read numbers and words, as pairs of a name and a line."""
    high, low = (100 * data["limits"][key] for key in ("nearly_all", "nearly_none"))
    yield "precision", "share of the judged system that lies inside the reference's support"
    yield "recall", "share of the reference that lies inside the judged system's support"
    if _has_seeds(data):
        yield "±", "standard deviation over the pairs of files"
    yield "within", f"at least {high:g} % of one inside the other, but not the reverse"
    yield "cover", f"at least {high:g} % in both directions"
    yield "disjoint", f"at most {low:g} % in both directions"
    if _has_seeds(data):
        yield "ceiling", "where the diagonal has one, these are shares of the one in the same row"
    if any(r["about"] for view in data["views"].values() for r in view["relations"]):
        yield "about", "so close to a limit that other samples could change the description"
