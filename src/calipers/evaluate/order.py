"""The order in which systems are shown, and the choice of those shown first.

By default the system closest to the reference comes first. A comparison whose systems differ by
design, such as the values of a parameter, keeps the order of the design.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.likelihoods import STATISTICS
from calipers.errors import unknown_name
from calipers.evaluate.alike import Groups, alike, best_first
from calipers.evaluate.verdict import decisive
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.wording.names import clean
from calipers.wording.words import Name

CLOSENESS, NAME, GIVEN = "closeness", "name", "given"
ORDERS = (CLOSENESS, NAME, GIVEN)
"""Orders beside those by a score."""

MANY = 24
"""Systems from more of which on the screen leaves some out."""
ENDS = 10
"""Systems that it then shows of either end."""
QUESTIONABLE = 10
"""Systems between them that it shows at most since there is a question about them."""
IN_QUESTION = ("withheld", "reference", "collapsed", "distant")
"""Sentences of a verdict; the systems that they name are shown wherever they stand."""
NUMBER = re.compile(r"(\d+)")


def order(comparison: Comparison, sort: str | None = None) -> list[int]:
    """Return the indices of the systems in display order.

    Parameters
    ----------
    comparison
        What is shown.
    sort
        ``"closeness"`` to the reference, ``"name"``, ``"given"`` for the order of the comparison,
        or the key of a score, by which the best comes first. None for closeness, or the order of
        the design where the systems differ by one. Systems without a value, and
        those that hold only samples of the reference, come last.

    Raises
    ------
    InputError
        If no system has such a score.
    """
    rows = list(range(len(comparison)))
    sort = (CLOSENESS if comparison.varied is None else GIVEN) if sort is None else sort
    if sort == GIVEN:
        return rows
    if sort == NAME:
        return sorted(rows, key=lambda row: _natural(comparison.systems[row].name))
    metric = decisive(comparison) if sort == CLOSENESS else _score(comparison, sort)
    if metric is None:
        return rows
    first = best_first(comparison, metric)
    return [*first, *(row for row in rows if row not in first)]


def check_order(sort: str | None) -> None:
    """Refuse an invalid order of systems before anything is measured.

    Raises
    ------
    InputError
        If it is neither an order nor the key of a score in the catalogue.
    """
    if sort is None or sort in ORDERS:
        return
    base = sort.partition(":")[0].rpartition(".")[2]
    if base not in METRICS and base not in STATISTICS:
        raise unknown_name("order of the systems", sort, [*ORDERS, *METRICS, *STATISTICS])


def arranged(comparison: Comparison, sort: str | None = None) -> Comparison:
    """Return the same comparison with its systems in display order.

    Its maps, whose parts have the order of the systems, are left out.
    """
    rows = order(comparison, sort)
    if rows == sorted(rows):
        return comparison
    return replace(comparison, systems=tuple(comparison.systems[row] for row in rows), maps={})


def first_shown(comparison: Comparison) -> list[int]:
    """Choose the systems to show first among many: both ends, and those in question.

    In question are those that a caution of the verdict names, and those that have collapsed, lie
    far from the reference or have no verdict, as far as the verdict names them.

    Parameters
    ----------
    comparison
        Whose systems stand in the order in which they are shown.
    """
    rows = range(len(comparison))
    if len(rows) <= MANY:
        return list(rows)
    verdict, between = comparison.verdict, rows[ENDS:-ENDS]
    named = [caution.system for caution in verdict.cautions]
    for finding in verdict.findings:
        if finding.kind in IN_QUESTION:
            named += [part.name for part in finding.words if isinstance(part, Name)]
    questioned = [row for row in between if clean(comparison.systems[row].name) in named]
    shown = sorted((*rows[:ENDS], *questioned[:QUESTIONABLE], *rows[-ENDS:]))
    # A line that says that one is left out is no shorter than that one
    single = [a + 1 for a, b in pairwise(shown) if b - a == 2]
    return sorted((*shown, *single))


def alike_by_closeness(comparison: Comparison) -> tuple[ShownScore, Groups] | None:
    """Return the groups that tests of closeness do not distinguish; None without any."""
    metric = decisive(comparison)
    if metric is None:
        return None
    groups = alike(comparison, metric)
    return (metric, groups) if groups else None


def _score(comparison: Comparison, key: str) -> ShownScore:
    """Find a score by its key, shown or not."""
    for shown in comparison.shown:
        if shown.key == key:
            return shown
    scores = [system.scores[key] for system in comparison.systems if key in system.scores]
    if not scores:
        known = dict.fromkeys(key for system in comparison.systems for key in system.scores)
        raise unknown_name("order of the systems", key, [*ORDERS, *known])
    return ShownScore("", key, key, scores[0].better)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """What sorts names as people do: 7b before 13b."""
    parts = NUMBER.split(name.casefold())
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
