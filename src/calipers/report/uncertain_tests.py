"""What all blocks of tests say: the size of the family, and why a p-value is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.report.content import Data
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import metric_of, short, spoken
from calipers.report.uncertain_marks import is_against_reference


def family(tests: Sequence[Data]) -> str:
    """Say over how many tests p-values are adjusted; nothing for a single one."""
    count = sum(test["p_value"] is not None for test in tests)
    return f", corrected for {count} tests" if count > 1 else ""


def untested(data: Data, tests: Sequence[Data], width: int) -> Iterator[str]:
    """Say why tests gave no p-value, each reason once."""
    about_reason: dict[str, list[str]] = {}
    for test in tests:
        if test["p_value"] is None:
            name = spoken(data, metric_of(data, test["score"]))
            reason = clean(test.get("reason") or "no p-value, and no reason was kept")
            about_reason.setdefault(reason, []).append(f"{_sides(data, test, width)}, {name}")
    for reason, names in about_reason.items():
        more = f" and {len(names) - 3} more" if names[3:] else ""
        yield f"{MISSING} {'; '.join(names[:3])}{more}: {reason}"


def _sides(data: Data, test: Data, width: int) -> str:
    pair = (test["a"], test["b"])
    if is_against_reference(data, test):
        return short(pair[0], width)
    return pair_name(pair, width)


def pair_name(pair: tuple[str, str], width: int) -> str:
    """Name the difference between two systems."""
    a, b = (short(name, width // 2) for name in pair)
    return f"{a} - {b}"
