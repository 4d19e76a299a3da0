"""The document of an overlap: matrices of precision and recall by view, and relations of pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calipers.commands.overlap.result import (
    NEARLY_ALL,
    NEARLY_NONE,
    Matrix,
    Overlap,
    OverlapView,
    Relation,
    SharedTexts,
)
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
from calipers.samples.wording import counted
from calipers.unicode.written_words import BOTH
from calipers.wording.names import WIDEST_NAME, clean, sees
from calipers.wording.numbers import (
    MISSING,
    length_head,
    number,
    percent,
    share,
    size_text,
    words_text,
)
from calipers.wording.short_names import short
from calipers.wording.words import Words, joined, listed, named

SIDES = ("precision", "recall")

ROOM = 4
"""Columns beside a name that its mark of a list and its comma take."""


IN_FULL = 10
"""Systems up to which the screen shows every pair."""

PAIRS = 5
"""Pairs that the verdict names."""

LISTED = 10
"""Pairs that share texts which the screen lists."""

ROWS = 23
"""Characters that the rows of shared texts of a pair take on the screen."""

LISTED_ROWS = 200
"""The same on a page."""

KINDS = {
    "cover_each_other": "cover each other",
    "b_within_a": "lie one within the other",
    "a_within_b": "lie one within the other",
    "disjoint": "are disjoint or nearly so",
    "overlap_in_part": "overlap in part",
}
"""What pairs are to each other, in a sentence about many."""


def document(overlap: Overlap) -> Document:
    """Return the document for the screen: for many systems, one line for each."""
    return _document(overlap, whole=len(overlap.systems) <= IN_FULL)


def whole(overlap: Overlap) -> Document:
    """Return all tables, with the matrix of every pair, for pages and papers."""
    return _document(overlap, whole=True, page=True)


def _document(overlap: Overlap, *, whole: bool, page: bool = False) -> Document:
    summaries = [(short(system.name), system.summary) for system in overlap.systems]
    many = len(overlap.systems) > IN_FULL
    tables: tuple[Block, ...] = (_overview(overlap),) if many else ()
    if whole:
        tables += (_systems_table(overlap), *(_matrix(overlap, view) for view in overlap))
    how = "No system is taken as the correct one. Full precision and signatures: `.to_dict()`."
    if not whole:
        how = f"The matrices of all pairs: `.summary()`. {how}"
    blocks: tuple[Block, ...] = (
        *together(*notes("verdict", _verdict(overlap))),
        *_shared_table(overlap, page=page),
        *tables,
        *together(
            *notes("note", _remarks(overlap, whole=whole)), *legend.warnings(overlap, summaries)
        ),
        Notes((*glossary(_meanings(overlap)), Note("how", how))),
    )
    return Document(_title(overlap), blocks, legend.made_by(overlap))


def _verdict(overlap: Overlap) -> Iterator[Words]:
    """Say who shares texts, and of many systems what pairs are to each other."""
    yield from _shared_words(overlap)
    if len(overlap.systems) <= IN_FULL:
        return
    for view in overlap:
        kinds = Counter(KINDS[relation.relation] for relation in view.relations)
        by = f"by {clean(view.name)}, " if len(overlap) > 1 else ""
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        yield (f"{by}of {len(view.relations)} pairs {counts}",)


def _shared_words(overlap: Overlap) -> Iterator[Words]:
    search, unit = overlap.shared, _unit(overlap)
    if search is None:
        return
    limit = f"copies of {share(search.unseen)} of the texts or more would show"
    pairs = [pair for pair in search.pairs if len(pair.rows) > pair.short]
    if not pairs:
        yield (
            f"no two systems share a text of more than a few {unit}: of {search.texts:,}, {limit}",
        )
        return
    parts = [
        (
            named(pair.a, 2),
            " and ",
            named(pair.b, 2),
            f" {counted(len(pair.rows), 'text')} ({_counts(pair, unit)})",
        )
        for pair in pairs[:PAIRS]
    ]
    rest = f"; {counted(len(pairs) - PAIRS, 'more pair')}" if len(pairs) > PAIRS else ""
    yield joined(("shared texts: ",), listed(parts, "; "), (rest,))


def _unit(overlap: Overlap) -> str:
    """What the words of the texts are: words, or characters of scripts without spaces."""
    units = {system.summary.word_unit for system in overlap.systems}
    return units.pop() if len(units) == 1 else BOTH


def _counts(pair: SharedTexts, unit: str) -> str:
    parts = []
    if pair.verbatim:
        few = f", {pair.short} of a few {unit}" if pair.short else ""
        parts.append(f"{pair.verbatim} verbatim{few}")
    if pair.near:
        parts.append(f"{pair.near} nearly so")
    return ", ".join(parts)


def _shared_table(overlap: Overlap, *, page: bool) -> Iterator[Table]:
    """A line for each pair that shares texts: how many, and their rows."""
    search = overlap.shared
    pairs = search.pairs if search is not None else ()
    if search is None or not pairs:
        return
    longer = [pair for pair in pairs if len(pair.rows) > pair.short]
    shown = (pairs if page else longer)[: None if page else LISTED]
    if not shown:
        return
    room = LISTED_ROWS if page else ROWS
    columns = [
        Column("verbatim", texts([f"{pair.verbatim:,}" for pair in shown])),
        Column("near", texts([f"{pair.near:,}" for pair in shown])),
        Column("short", texts([f"{pair.short:,}" for pair in shown])),
        Column("rows", texts([_rows(pair, room) for pair in shown]), align="left"),
    ]
    left = len(pairs) - len(shown)
    more = f"; {counted(left, 'more pair')} in the JSON" if left else ""
    unit = _unit(overlap)
    about = (
        f"near: they share {percent(search.threshold)} of their {search.order}-grams of {unit}; "
        f"short: verbatim, of a few {unit}; rows are counted from 0, 3=7 is row 3 of the first and "
        f"row 7 of the second system{more}. A pair that shares none of {search.texts:,} texts has "
        f"fewer than {share(search.unseen)} of copies, with 95 % certainty; copies of 1 % show "
        f"from {search.needed} texts on"
    )
    pair_names = tuple(Text((named(pair.a, 6), " and ", named(pair.b, 6))) for pair in shown)
    yield Table(
        (Column("pair", pair_names, align="left"),),
        singles(columns),
        (SYSTEM,) * len(shown),
        id="shared",
        heading="Texts that two systems share",
        notes=(Note("note", about),),
        breaks="systems",
        apart=False,
    )


def _rows(pair: SharedTexts, room: int) -> str:
    """Write rows, once where they are the same in both, as many as there is room for."""
    several = any(row.file or row.other_file for row in pair.rows)
    shown: list[str] = []
    length = 0
    for shared in pair.rows:
        first, second = _row(shared.file, shared.row), _row(shared.other_file, shared.other)
        text = first if first == second and not several else f"{first}={second}"
        length += len(text) + 2
        if length > room:
            return ", ".join([*shown, "…"])
        shown.append(text)
    return ", ".join(shown)


def _row(file: int, row: int) -> str:
    """Write a row, behind the number of its file where that is not the first."""
    return f"{file}:{row}" if file else str(row)


def _overview(overlap: Overlap) -> Table:
    """A line for each system: how much of it lies inside the others, and of these inside it."""
    sets = overlap.systems
    lead = [
        Column("system", tuple(Text(named(system.name, 4)) for system in sets), align="left"),
        Column("n", texts([size_text(system.summary) for system in sets])),
    ]
    if any(system.summary.words for system in sets):
        head = length_head(system.summary for system in sets)
        lead.append(Column(head, texts([words_text(system.summary) for system in sets])))
    columns = []
    for view in overlap:
        inside, covers = (_means(m) for m in (view.precision, view.recall))
        group = clean(view.name) if len(overlap) > 1 else ""
        # Column j of precision: how much of j lies inside the others
        columns += [
            Column("inside", tuple(map(_plain, inside)), group=group),
            Column("covers", tuple(map(_plain, covers)), group=group),
        ]
    return Table(
        tuple(lead),
        singles(columns),
        (SYSTEM,) * len(sets),
        id="overview",
        heading="How much of each lies inside the others, and of the others inside it (means)",
        breaks="systems",
    )


def _means(shares: Matrix) -> Iterator[float]:
    """The mean of each column over the others."""
    for place in range(len(shares)):
        others = np.delete(shares[:, place], place)
        others = others[np.isfinite(others)]
        yield float(others.mean()) if others.size else math.nan


def _plain(value: float) -> Cell:
    return Text(MISSING) if math.isnan(value) else ScoreCell(f"{value:.3f}", number=value)


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
        lead.append(Column(length_head(summaries), texts(list(map(words_text, summaries)))))
    return Table(tuple(lead), kinds=(SYSTEM,) * len(summaries), id="sets", breaks="whole")


def _matrix(overlap: Overlap, view: OverlapView) -> Table:
    """Return two rows for each reference, a column for each judged system, and what pairs mean."""
    names = _names(overlap)
    twice = [text for name in names for text in (name, "")]
    seen = sees(view.name, overlap.settings.get("samples"))
    view_sees = f" ({seen})" if seen else ""
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
        heading=f"By {clean(view.name)}{view_sees}: rows are the reference, columns are judged",
        notes=(
            tuple(notes("point", map(_relation, view.relations))) if len(names) <= IN_FULL else ()
        ),
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


def _remarks(overlap: Overlap, *, whole: bool) -> Iterator[str]:
    """Say how the sets were cut, and what stands on the diagonal, where that is shown."""
    files = [file for system in overlap.systems for file in system.files]
    if any(file.n < file.n_given for file in files):
        size, limit = min(file.n for file in files), overlap.settings.get("max_samples")
        smallest = [short(file.name) for file in files if file.n_given == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit} (`max_samples`)"
        else:
            yield f"all sets cut to {size}, the smallest ({smallest[0]}); `keep_sizes` leaves them"
    if not whole:
        return
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
    """Return how to read numbers and words, as pairs of a name and a line."""
    high, low = 100 * NEARLY_ALL, 100 * NEARLY_NONE
    yield "precision", "share of the judged system that lies inside the reference's support"
    yield "recall", "share of the reference that lies inside the judged system's support"
    if _has_seeds(overlap):
        yield "±", "standard deviation over the pairs of files"
    if len(overlap.systems) > IN_FULL:
        yield "inside", "the mean of a system's precision with each of the others as the reference"
        yield "covers", "the mean of its recall with each of the others"
    yield "within", f"at least {high:g} % of one inside the other, but not the reverse"
    yield "cover", f"at least {high:g} % in both directions"
    yield "disjoint", f"at most {low:g} % in both directions"
    if _has_seeds(overlap):
        yield "ceiling", "where the diagonal has one, these are shares of the one in the same row"
    if any(relation.about for view in overlap for relation in view.relations):
        yield "about", "so close to a limit that other samples could change the description"
