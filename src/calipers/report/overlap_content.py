"""An overlap as data ──► the cells of its matrices, and the words around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.report.grid import Cell, Column
from calipers.report.names import VIEWS, WIDEST_NAME, clean, shorten
from calipers.report.numbers import MISSING, number, size_text, words_text

Data = Mapping[str, Any]

ROWS = ("precision", "recall")


def names_of(data: Data) -> list[str]:
    """Give the names of the systems, fit for one line."""
    return [clean(system["name"]) for system in data["systems"]]


def has_seeds(data: Data) -> bool:
    """Tell whether any system has several files."""
    return any(len(system.get("files") or ()) > 1 for system in data["systems"])


def title(data: Data) -> str:
    """Say what was compared with what, and how."""
    settings, sizes = data.get("settings", {}), sorted({s["n"] for s in data["systems"]})
    size = f"n = {sizes[0]}" + (f" to {sizes[-1]}" if len(sizes) > 1 else " each")
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    return " · ".join([f"Overlap of {len(data['systems'])} systems, {size}", *pins])


def system_columns(data: Data, *, numbered: bool) -> list[Column]:
    """Give the columns that say who the systems are: name, files, size and length."""
    systems = data["systems"]
    cells = [
        Column("system", _cells(row_names(data, numbered=numbered)), right=False),
        Column("n", _cells([size_text(system) for system in systems])),
    ]
    if has_seeds(data):
        files = [str(len(system.get("files") or ("",))) for system in systems]
        cells.insert(1, Column("files", _cells(files)))
    if any(system.get("words") for system in systems):
        cells.append(Column("words", _cells([words_text(system) for system in systems])))
    return cells


def row_names(data: Data, *, numbered: bool) -> list[str]:
    """Name the rows, with their number in front where the columns have no more than that."""
    names = names_of(data)
    if not numbered:
        return names
    width = len(str(len(names)))
    return [f"{row:>{width}} {name}" for row, name in enumerate(names, 1)]


def lead_columns(data: Data, *, numbered: bool, brief: bool) -> list[Column]:
    """Give the columns before a matrix: the reference system, and what the line tells of it."""
    twice = [text for name in row_names(data, numbered=numbered) for text in (name, "")]
    kinds = [kind[0].upper() if brief else kind for kind in ROWS] * len(names_of(data))
    return [
        Column("reference", _cells(twice), right=False),
        Column("", _cells(kinds), right=False),
    ]


def judged_columns(data: Data, view: str, *, numbered: bool) -> list[Column]:
    """Give one column for each judged system, two lines for each reference."""
    headers = [str(i + 1) for i in range(len(names_of(data)))] if numbered else names_of(data)
    return [
        Column(header, tuple(_judged_cells(data, view, column)))
        for column, header in enumerate(headers)
    ]


def sentences(data: Data, view: str) -> list[str]:
    """Give what each pair means, in words."""
    return [clean(relation["sentence"]) for relation in data["views"][view]["relations"]]


def view_title(view: str) -> str:
    """Name a view, and what it sees."""
    sees = f" ({VIEWS[view]})" if view in VIEWS else ""
    return f"By {clean(view)}{sees}: rows as reference, columns judged"


def remarks(data: Data) -> Iterator[str]:
    """Say how the sets were cut, and what stands on the diagonal."""
    files = [file for system in data["systems"] for file in system.get("files") or ()]
    cut = [file for file in files if file["n"] < file["n_given"]]
    if cut:
        size, limit = min(file["n"] for file in files), data["settings"].get("max_samples")
        smallest = [clean(f["name"]) for f in files if f["n_given"] == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit} (--max-samples)"
        else:
            name = shorten(smallest[0], WIDEST_NAME)
            yield f"all sets cut to {size}, the smallest ({name}); --keep-sizes leaves them"
    alone = any(len(system.get("files") or ()) < 2 for system in data["systems"])
    if has_seeds(data):
        yield "diagonal: the files of one system against each other, the ceiling for its row"
    if alone:
        yield (
            f"{MISSING} on the diagonal: a single file has no other of its system to be held "
            "against; several (NAME=GLOB) give a ceiling"
        )


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the systems that it is about in front of it."""
    about: dict[str, list[str]] = {}
    for system in data["systems"]:
        for text in system.get("warnings") or ():
            about.setdefault(clean(text), []).append(shorten(clean(system["name"]), WIDEST_NAME))
    sets = [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in about.items()]
    return [*sets, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read numbers and words, as pairs of a name and a line."""
    high, low = (100 * data["limits"][key] for key in ("nearly_all", "nearly_none"))
    yield "precision", "share of the judged system that lies inside the reference's support"
    yield "recall", "share of the reference that lies inside the judged system's support"
    if has_seeds(data):
        yield "±", "standard deviation over the pairs of files"
    yield "within", f"at least {high:g} % of one inside the other, and not the reverse"
    yield "cover", f"at least {high:g} % both ways"
    yield "disjoint", f"at most {low:g} % both ways"
    if has_seeds(data):
        yield "ceiling", "where the diagonal has one, these are shares of the one in the same row"
    if any(r["about"] for view in data["views"].values() for r in view["relations"]):
        yield "about", "so near a limit that other samples could change the word"


def _judged_cells(data: Data, view: str, column: int) -> Iterator[Cell]:
    matrices = data["views"][view]
    for row in range(len(data["systems"])):
        style = "dim" if row == column else ""
        for kind in ROWS:
            value, sd = matrices[kind][row][column], matrices[f"{kind}_sd"][row][column]
            yield Cell(_share_text(value, sd, seeds=has_seeds(data)), style)


def _share_text(value: float | None, sd: float | None, *, seeds: bool) -> str:
    """Write a share: three decimals alone, two with a spread, which leaves the third no sense."""
    if value is None:
        return MISSING
    if not seeds:
        return number(value, unit=True)
    return f"{value:.2f}" + ("     " if sd is None else f"±{sd:.2f}")


def _cells(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)
