"""The cells of a terminal's table ──► their parts, so that any other kind of table can show them.

What stands in a cell (digits, interval, mark) is decided once, for the terminal; here it is only
taken apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from calipers.report.content import ARROWS, BEST
from calipers.report.grid import Cell, Column
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_marks import ALIKE, EQUAL, OPEN, UNTESTED

LOWEST = "!"
DAGGERS = {ALIKE: "†", OPEN: "‡", EQUAL: "§", UNTESTED: "¶"}
"""A mark of the terminal to what a document shows in its place; the best stands in bold."""

_PARTS = re.compile(r"([^±\[~*=?!≡#]*)(±[^~*=?!≡#]*|\[[^\]]*\])?(~)?([*=?!≡#])?")


@dataclass(frozen=True)
class Parts:
    """What stands in one cell; `spread` is half an interval as ``±0.01``, or ``[0.8, 0.9]``."""

    value: str = ""
    spread: str = ""
    approximate: bool = False
    mark: str = ""

    @property
    def best(self) -> bool:
        """Whether it is the best of those that it stands beside."""
        return self.mark == BEST

    @property
    def dagger(self) -> str:
        """The mark that stands behind the value; nothing behind the best."""
        return DAGGERS.get(self.mark, "" if self.best else self.mark)

    @property
    def missing(self) -> bool:
        """Whether there is no value."""
        return self.value == MISSING


def parts_of(cell: Cell) -> Parts:
    """Take the cell of a score apart.

    Examples
    --------
    >>> parts_of(Cell("0.878±0.050= "))
    Parts(value='0.878', spread='±0.050', approximate=False, mark='=')
    >>> parts_of(Cell("0.930* ", under="[0.878,0.961]~"))
    Parts(value='0.930', spread='[0.878, 0.961]', approximate=True, mark='*')
    """
    text, under = cell.text.strip(), cell.under.strip()
    if under:
        text = f"{text[:-1]}{under}{text[-1]}" if text[-1:] in "*=?!" else text + under
    found = _PARTS.fullmatch(text)
    if found is None:
        return Parts(clean(text))
    value, spread, wave, mark = (part or "" for part in found.groups())
    return Parts(value, _spaced(spread), bool(wave), mark)


def is_even(column: Column) -> bool:
    """Whether all values have as many digits, so that they line up where they begin."""
    values = [parts.value for parts in map(parts_of, column.cells) if not parts.missing]
    places = {tuple(map(len, value.split("."))) for value in values if value}
    return len(places) == 1 and len(places.pop()) == 2


def split_arrow(text: str) -> tuple[str, str]:
    """Take the arrow to where a metric is better off the end of its name, if it has one.

    Examples
    --------
    >>> split_arrow("MAUVE*↑"), split_arrow("Authentic")
    (('MAUVE*', '↑'), ('Authentic', ''))
    """
    text = clean(text).strip()
    arrow = text[-1:] if text[-1:] in ARROWS.values() else ""
    return text.removesuffix(arrow), arrow


def _spaced(spread: str) -> str:
    return spread.replace(",", ", ") if spread.startswith("[") else spread
