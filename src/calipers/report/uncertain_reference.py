"""Tests against the reference ──► a block: can each system be told from it at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from calipers.report.content import Data, Metric
from calipers.report.grid import Cell, Column
from calipers.report.layout import packed
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block, metric_of, short, value
from calipers.report.uncertain_marks import against_reference, alpha_of
from calipers.report.uncertain_numbers import p_text
from calipers.report.uncertain_tests import family, untested

ASKED = "told apart?"


def reference_block(data: Data, width: int) -> Block | None:
    """Say of every system whether it can be told from the reference; None without tests."""
    tests = against_reference(data)
    if not tests:
        return None
    names = list(dict.fromkeys(test["a"] for test in tests))
    lead = [Column("system", tuple(Cell(short(name, width)) for name in names), right=False)]
    metrics = [metric_of(data, key) for key in dict.fromkeys(test["score"] for test in tests)]
    runs = [
        tuple(column for metric in run for column in _verdicts(data, metric, names))
        for _, run in groupby(_by_view(metrics), key=lambda metric: metric.view)
    ]
    grids = packed(lead, runs, width=width)
    caption = f"p: how often chance alone would show as much{family(tests)}; yes: below "
    return Block(
        "Told from the reference?",
        grids,
        list(untested(data, tests, width)),
        f"{caption}{alpha_of(data):g}",
    )


def _by_view(metrics: Sequence[Metric]) -> list[Metric]:
    order = list(dict.fromkeys(metric.view for metric in metrics))
    return sorted(metrics, key=lambda metric: order.index(metric.view))


def _verdicts(data: Data, metric: Metric, names: Sequence[str]) -> tuple[Column, Column]:
    """Give the column of a statistic, and the one that says whether it tells."""
    found = {t["a"]: t for t in against_reference(data) if t["score"] == metric.key}
    tests = [found.get(name) for name in names]
    values = tuple(
        Cell(value(data, metric.key, test["difference"] if test else None) or MISSING)
        for test in tests
    )
    verdicts = tuple(Cell(_verdict(test, alpha_of(data))) for test in tests)
    group = clean(metric.view)
    return Column(metric.label, values, group), Column(ASKED, verdicts, group, right=False)


def _verdict(test: Data | None, alpha: float) -> str:
    p = None if test is None else test["adjusted_p_value"]
    return MISSING if p is None else f"{'yes' if p < alpha else 'no'}: {p_text(p, alpha)}"
