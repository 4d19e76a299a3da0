"""Compressed parts of a page with many systems, which its script unpacks on request.

Lists of samples, signatures and differences of pairs would be half a million elements for a hundred
systems, and the lists of eight systems are 9 MB where texts are long. Of more than
:data:`MOST_WHOLE` systems the page has them as text: the markup that the same templates write, each
text of a sample once, and, of more than :data:`MOST_PAIRED`, the cells of the differences. It is
packed with the other data of the page (zlib, base64), which a browser unpacks by itself.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jinja2 import Environment

from calipers.explain.model import Explanation
from calipers.report.html.lists import SystemLists
from calipers.report.html.tables import Signed, written
from calipers.report.html.texts import StoredTexts
from calipers.report.table import ScoreCell, Table
from calipers.results.comparison import Comparison
from calipers.wording.words import named, said

MOST_WHOLE = 4
"""Systems of which a page shows everything without a script."""

MOST_PAIRED = 12
"""Systems of which it shows the differences of all pairs in one table."""

MOST_LISTED = 8
"""Samples of a list, and cells, of more than :data:`MOST_PAIRED` systems."""

LEVEL = 6
"""Of zlib: more takes seconds and saves little."""


def is_stored(comparison: Comparison) -> bool:
    """Whether there are so many systems that their lists are compressed."""
    return len(comparison) > MOST_WHOLE


def are_pairs_stored(comparison: Comparison) -> bool:
    """Whether there are so many systems that their differences are stored."""
    return len(comparison) > MOST_PAIRED


def with_shorter_lists(comparison: Comparison) -> Comparison:
    """Keep the first :data:`MOST_LISTED` of every list; samples are still counted in full."""

    def short(explanation: Explanation) -> Explanation:
        return replace(
            explanation,
            outside=explanation.outside[:MOST_LISTED],
            copies=explanation.copies[:MOST_LISTED],
            cells=explanation.cells[:MOST_LISTED],
        )

    systems = tuple(
        replace(system, explained={view: short(one) for view, one in system.explained.items()})
        for system in comparison.systems
    )
    return replace(comparison, systems=systems)


def once(texts: Mapping[str, str]) -> dict[str, Any]:
    """Give texts by key so that those which several keys have are there once.

    Examples
    --------
    >>> once({"1:0": "a", "1:1": "b", "2:0": "a"})
    {'texts': ['a', 'b'], 'rows': {'1:0': 0, '1:1': 1, '2:0': 0}}
    """
    places: dict[str, int] = {}
    rows = {key: places.setdefault(text, len(places)) for key, text in texts.items()}
    return {"texts": list(places), "rows": rows}


def packed(text: str) -> str:
    """Compress a text for an element that the script unpacks.

    Examples
    --------
    >>> zlib.decompress(base64.b64decode(packed("text"))).decode()
    'text'
    """
    return base64.b64encode(zlib.compress(text.encode("utf-8"), LEVEL)).decode("ascii")


def stored_parts(
    environment: Environment,
    systems: Sequence[SystemLists],
    signatures: Sequence[tuple[str, Sequence[Signed]]],
    *,
    texts: StoredTexts,
    first: int,
) -> dict[str, Any]:
    """Return lists and signatures of all systems as markup, and the texts of the lists.

    Parameters
    ----------
    environment
        Whose templates write them.
    systems
        The lists of each system.
    signatures
        The scores of each system, in their order.
    texts
        What the lists show of samples; filled by this.
    first
        Entries of a list that are seen at once.

    Returns
    -------
    dict
        ``systems`` by place (from 1), ``signatures`` in their order, ``texts``, and ``rows``:
        which of these belongs to what the markup names in ``data-text``.
    """
    lists: Any = environment.get_template("systems.html").module
    run: Any = environment.get_template("signatures.html").module
    markup = {}
    for system in systems:
        with texts.of(system.place):
            markup[str(system.place)] = str(lists.views_of(system, first))
    return {
        "systems": markup,
        "signatures": [str(run.entries(scores)) for _, scores in signatures],
        **once(texts.stored),
    }


def stored_pairs(comparison: Comparison, tables: Iterable[Table]) -> dict[str, Any] | None:
    """Return the differences of pairs as in the table of the document; None without any.

    Returns
    -------
    dict
        ``names`` of the systems; ``a`` and ``b``, places among these, of every pair; ``columns``,
        each with ``head``, ``group``, ``cells`` and ``strong`` (a string with 1 for each cell that
        is significant, else 0).
    """
    table = next((table for table in tables if table.id == "pairs"), None)
    if table is None or not table.columns:
        return None
    names = [system.name for system in comparison]
    places = {name: place for place, name in enumerate(names)}
    pairs = list(comparison.indexed.by_pair)
    return {
        "names": [said((named(name),)) for name in names],
        "a": [places[a] for a, _ in pairs],
        "b": [places[b] for _, b in pairs],
        "lead": str(table.lead[0].head),
        "columns": [
            {
                "head": f"{column.head}{column.arrow}",
                "group": str(column.group),
                "cells": [written(cell) for cell in column.cells],
                "strong": "".join(
                    "1" if isinstance(cell, ScoreCell) and cell.style else "0"
                    for cell in column.cells
                ),
            }
            for column in table.scores
        ],
    }
