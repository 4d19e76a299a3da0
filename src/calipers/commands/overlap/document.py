"""An overlap ──► a document: a matrix of precision and recall by each view, and what it means."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from calipers.commands.overlap.result import NEARLY_ALL, NEARLY_NONE, Overlap, OverlapView, Relation
from calipers.report import legend
from calipers.report.table import (
    SYSTEM,
    Align,
    Block,
    Cell,
    Column,
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
from calipers.wording.names import VIEWS, WIDEST_NAME, clean
from calipers.wording.numbers import MISSING, number, size_text, words_text
from calipers.wording.short_names import short

SIDES = ("precision", "recall")

ROOM = 4
"""Columns beside a name that its mark of a list and its comma take."""


def document(overlap: Overlap) -> Document:
    """Give all that an overlap shows."""
    summaries = [(short(system.name), system.summary) for system in overlap.systems]
    blocks: tuple[Block, ...] = (
        _systems_table(overlap),
        *(_matrix(overlap, view) for view in overlap),
        *together(*notes("note", _remarks(overlap)), *legend.warnings(overlap, summaries)),
        Notes(
            (
                *glossary(_meanings(overlap)),
                Note(
                    "how",
                    "No system is taken as the correct one. Full precision and signatures: "
                    "--json FILE, or "
                    ".to_dict() in Python.",
                ),
            )
        ),
    )
    return Document(_title(overlap), blocks, legend.made_by(overlap))


def _title(overlap: Overlap) -> str:
    """Say what was compared with what, and how."""
    settings, sizes = overlap.settings, sorted({system.summary.n for system in overlap.systems})
    size = f"n = {sizes[0]}" + (f" to {sizes[-1]}" if len(sizes) > 1 else " each")
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join([f"Overlap of {len(overlap.systems)} systems, {size}", *pins, *rows])


def _names(overlap: Overlap) -> list[str]:
    return [clean(name) for name in overlap.names]


def _has_seeds(overlap: Overlap) -> bool:
    """Tell whether any system has several files."""
    return any(len(system.files) > 1 for system in overlap.systems)


def _systems_table(overlap: Overlap) -> Table:
    """Say who the systems are: name, files, size and length."""
    summaries = [system.summary for system in overlap.systems]
    lead = [
        Column("system", texts(_names(overlap)), align="left", share=0),
        Column("n", texts([size_text(summary) for summary in summaries])),
    ]
    if _has_seeds(overlap):
        files = [str(len(system.files) or 1) for system in overlap.systems]
        lead.insert(1, Column("files", texts(files)))
    if any(summary.words for summary in summaries):
        lead.append(Column("words", texts([words_text(summary) for summary in summaries])))
    return Table(tuple(lead), kinds=(SYSTEM,) * len(summaries), id="sets", breaks="whole")


def _matrix(overlap: Overlap, view: OverlapView) -> Table:
    """Give two rows for each reference, a column for each judged system, and what pairs mean."""
    names = _names(overlap)
    twice = [text for name in names for text in (name, "")]
    sees = f" ({VIEWS[view.name]})" if view.name in VIEWS else ""
    seeds = _has_seeds(overlap)
    align: Align = "value" if seeds else "right"
    columns = [
        Column(name, tuple(_judged(view, place, seeds=seeds)), align=align)
        for place, name in enumerate(names)
    ]
    return Table(
        (
            Column("reference", texts(twice), align="left"),
            Column("", texts(list(SIDES) * len(names)), align="left"),
        ),
        singles(columns),
        (SYSTEM,) * len(twice),
        id=view.name,
        heading=f"By {clean(view.name)}{sees}: rows are the reference, columns are judged",
        notes=tuple(notes("point", map(_relation, view.relations))),
        breaks="matrix",
        even=True,
        apart=False,
    )


def _relation(relation: Relation) -> str:
    """Say what a pair is to each other, by names that fit on a line."""
    a, b = (short(name, WIDEST_NAME - ROOM) for name in (relation.a, relation.b))
    return replace(relation, a=a, b=b).sentence


def _judged(view: OverlapView, column: int, *, seeds: bool) -> Iterator[Cell]:
    sides = ((view.precision, view.precision_sd), (view.recall, view.recall_sd))
    for row in range(len(view.names)):
        style = "dim" if row == column else ""
        for shares, deviations in sides:
            yield _share(shares[row, column], deviations[row, column], style, seeds=seeds)


def _share(value: float, sd: float, style: str, *, seeds: bool) -> Cell:
    """Write a share: three decimals alone, two with a spread, which leaves the third no sense."""
    if math.isnan(value):
        return Text(MISSING, style)
    if not seeds:
        return ScoreCell(number(value, unit=True), style=style, number=float(value))
    spread = "" if math.isnan(sd) else f"±{sd:.2f}"
    return ScoreCell(f"{value:.2f}", spread, style=style, number=float(value))


def _remarks(overlap: Overlap) -> Iterator[str]:
    """Say how the sets were cut, and what stands on the diagonal."""
    files = [file for system in overlap.systems for file in system.files]
    if any(file.n < file.n_given for file in files):
        size, limit = min(file.n for file in files), overlap.settings.get("max_samples")
        smallest = [short(file.name) for file in files if file.n_given == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit} (--max-samples)"
        else:
            yield f"all sets cut to {size}, the smallest ({smallest[0]}); --keep-sizes leaves them"
    if _has_seeds(overlap):
        yield (
            "diagonal: the overlap of the files of one system, the highest value to expect in "
            "its row"
        )
    if any(len(system.files) < 2 for system in overlap.systems):
        yield (
            f"{MISSING} on the diagonal: the system has a single file; with several (NAME=GLOB) "
            "the diagonal shows how far they overlap"
        )


def _meanings(overlap: Overlap) -> Iterator[tuple[str, str]]:
    """Give how to read numbers and words, as pairs of a name and a line."""
    high, low = 100 * NEARLY_ALL, 100 * NEARLY_NONE
    yield "precision", "share of the judged system that lies inside the reference's support"
    yield "recall", "share of the reference that lies inside the judged system's support"
    if _has_seeds(overlap):
        yield "±", "standard deviation over the pairs of files"
    yield "within", f"at least {high:g} % of one inside the other, but not the reverse"
    yield "cover", f"at least {high:g} % in both directions"
    yield "disjoint", f"at most {low:g} % in both directions"
    if _has_seeds(overlap):
        yield "ceiling", "where the diagonal has one, these are shares of the one in the same row"
    if any(relation.about for view in overlap for relation in view.relations):
        yield "about", "so close to a limit that other samples could change the description"
