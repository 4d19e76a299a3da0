"""The end of a verdict: which systems can be told from the reference at all."""

from __future__ import annotations

from calipers.report.html.wording import listing, named
from calipers.report.inference import against_reference, alpha_of
from calipers.report.table import Data

NOT_TESTED = "whether a system can be told from the reference was not tested"


def told_clause(data: Data) -> str:
    """Say which systems the tests tell from the reference, and which they do not."""
    told, alike = _told(data), _alike(data)
    names = [each["name"] for each in data.get("systems", ())]
    if not told and not alike:
        return NOT_TESTED.replace("a system", "it") if len(names) == 1 else NOT_TESTED
    if len(names) > 1 and set(told) == set(names):
        return "every system can be told from the reference"
    parts = [
        f"{_list(alike)} cannot be told from the reference by any test made" if alike else "",
        f"{_list(told)} can{'' if alike else ' be told from the reference'}" if told else "",
    ]
    return ", ".join(filter(None, parts))


def _told(data: Data) -> list[str]:
    """Give the systems that at least one test tells from the reference."""
    alpha = alpha_of(data)
    found = [t["a"] for t in _decided(data) if t["adjusted_p_value"] < alpha]
    return list(dict.fromkeys(found))


def _alike(data: Data) -> list[str]:
    told = _told(data)
    return list(dict.fromkeys(t["a"] for t in _decided(data) if t["a"] not in told))


def _decided(data: Data) -> list[Data]:
    return [t for t in against_reference(data) if t["adjusted_p_value"] is not None]


def _list(names: list[str]) -> str:
    return listing([named(name) for name in names])
