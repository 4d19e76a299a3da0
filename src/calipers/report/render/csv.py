"""Comparisons, and the tables of any document, as CSV in long form.

Numbers stand in full precision, as Python and JSON write them; what is not known is empty. Names
are on one line, and those that a spreadsheet would run as a formula begin with an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from calipers.catalogue.shown import TEXT, split_view, views_of
from calipers.report.scored import Scored, check_scored
from calipers.report.table import Cell, Document, ScoreCell
from calipers.results.texts import TextComparison
from calipers.score import Score
from calipers.wording.cells import cut
from calipers.wording.names import clean
from calipers.wording.numbers import defined
from calipers.wording.short_names import among
from calipers.wording.words import said

COLUMNS = (
    "system",
    "role",
    "view",
    "metric",
    "options",
    "key",
    "value",
    "low",
    "high",
    "level",
    "standard_error",
    "approximate",
    "noise_floor",
    "noise_floor_sd",
    "noise_floor_n",
    "at_noise_floor_n",
    "within_noise_floor",
    "better",
    "reference",
    "gap",
    "seeds_sd",
    "n",
    "reason",
    "signature",
)
"""The columns, in order; later versions add theirs at the end."""

SHOWN = ("table", "row", "group", "column", "text", "interval", "mark", "aside")
"""The columns of the tables of a document."""

LONGEST = 32_767
"""Characters that a cell of a spreadsheet holds; longer texts are cut, with a mark at the end."""

_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet takes for the start of a formula, full-width forms too."""


def scores_csv(result: Scored) -> str:
    """Write all scores as CSV, one row for each set and score.

    Parameters
    ----------
    result
        The result.

    Returns
    -------
    str
        A line of column names, then the scores; lines end with CR LF and cells are quoted as
        RFC 4180 says. ``role`` tells the reference from a system that is called so. Control
        characters, and what UTF-8 cannot hold, become U+FFFD; the JSON has names as they are.

    Raises
    ------
    InputError
        If it is no comparison.

    Examples
    --------
    >>> import calipers
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> scores_csv(result).partition(",value")[0]
    'system,role,view,metric,options,key'
    """
    check_scored(result)
    file = io.StringIO(newline="")
    lines = csv.writer(file)
    lines.writerow(COLUMNS)
    lines.writerows(_rows(result))
    return file.getvalue()


def tables_csv(document: Document) -> str:
    """Write the tables of a document as CSV, one row for each cell as shown.

    A row names its table, its row, the group and the name of its column; lines end with CR LF.
    """
    file = io.StringIO(newline="")
    lines = csv.writer(file)
    lines.writerow(SHOWN)
    with among(document.names):
        for table in document.tables:
            for column in table.columns[1:]:
                names = table.columns[0].cells
                for name, shown in zip(names, column.cells, strict=True):
                    group, head = said(column.group), said(column.head)
                    about = (table.id, _text(name), group, head)
                    lines.writerow(map(cell, (*about, *_parts(shown))))
    return file.getvalue()


def cell(value: Any) -> str:
    """Write one cell: numbers in full, texts on one line and never as a formula.

    Examples
    --------
    >>> cell(0.1), cell(-1), cell(None), cell(True), cell("=1+1"), cell("-a")
    ('0.1', '-1', '', 'true', "'=1+1", "'-a")
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    text = clean(text if len(text) <= LONGEST else f"{cut(text, LONGEST - 2)}…")
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _rows(result: Scored) -> Iterator[list[str]]:
    """Return a row of cells for each score of each set, the reference's own first."""
    texts = isinstance(result, TextComparison)
    views = views_of(result.settings)
    sets = [(system.summary, "generated", system.scores) for system in result.systems]
    if result.reference is not None:
        sets.insert(0, (result.reference, "reference", result.reference_scores))
    for summary, role, scores in sets:
        for key, score in scores.items():
            row = {
                **_of_score(score),
                **_of_key(key, views, texts=texts),
                "system": summary.name,
                "role": role,
                "n": summary.n,
                "key": key,
            }
            yield [cell(row[column]) for column in COLUMNS]


def _of_score(score: Score) -> dict[str, Any]:
    low, high = map(defined, score.interval or (None, None))
    floor = score.floor
    return {
        "value": defined(score.value),
        "low": low,
        "high": high,
        "level": score.level,
        "standard_error": defined(score.standard_error),
        "approximate": score.approximate,
        "noise_floor": defined(score.noise_floor),
        "noise_floor_sd": None if floor is None else defined(floor.spread),
        "noise_floor_n": None if floor is None else floor.size,
        "at_noise_floor_n": None if floor is None else defined(floor.beside),
        "within_noise_floor": None if floor is None else floor.inside,
        "better": score.better,
        "reference": defined(score.reference),
        "gap": defined(score.gap),
        "seeds_sd": score.seeds_sd,
        "reason": score.reason,
        "signature": score.signature,
    }


def _of_key(key: str, views: Sequence[str], *, texts: bool) -> dict[str, str]:
    """Take a key apart: view, metric, options."""
    view, rest = split_view(key, views)
    metric, _, options = rest.partition(":")
    return {"view": TEXT if texts else view or views[0], "metric": metric, "options": options}


def _text(shown: Cell) -> str:
    return shown.value if isinstance(shown, ScoreCell) else said(shown.text)


def _parts(shown: Cell) -> tuple[str, ...]:
    """Take a cell apart: its text, its interval, its mark, and what else is said."""
    if isinstance(shown, ScoreCell):
        return shown.value, shown.interval, shown.marks, shown.aside
    return said(shown.text), "", "", ""
