"""Tests between systems ──► a block: how far each pair is apart, and by more than chance?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from calipers.report.content import BEST_STYLE, Data, Metric
from calipers.report.grid import Cell, Column, total_width
from calipers.report.layout import Grid, packed
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block, short, spoken, value
from calipers.report.uncertain_marks import alpha_of, between_systems, level_of, percent
from calipers.report.uncertain_numbers import about, below_value, beside_value, p_text, signed
from calipers.report.uncertain_tests import family, pair_name, untested

FEW_PAIRS = 1
"""More than these are counted, and shown where details are asked for."""

Pair = tuple[str, str]


def pairs_block(
    data: Data, metrics: Sequence[Metric], width: int, *, details: bool = False
) -> Block | None:
    """Say how many differences are told from chance; show all of few systems, or where asked."""
    tests = between_systems(data)
    if not tests:
        return None
    pairs = list(dict.fromkeys((test["a"], test["b"]) for test in tests))
    heading = "Differences between systems"
    keys = {test["score"] for test in tests}
    shown = [metric for metric in metrics if metric.key in keys]
    closest = list(_separating(data, shown, pairs, width))
    if not shown or (len(pairs) > FEW_PAIRS and not details):
        return Block(
            heading, (), [_count(data, tests, len(pairs)), *closest, *_missed(data, shown)]
        )
    labels = tuple(Cell(pair_name(pair, width)) for pair in pairs)
    lead = [Column("first - second", labels, right=False)]
    ways = [
        packed(lead, _runs(data, shown, pairs, inline=inline), width=width)
        for inline in (True, False)
    ]
    grids = min(ways, key=lambda found: (_widest(found) > width, len(found)))
    tells = [*closest, *_missed(data, shown), *untested(data, tests, width)]
    return Block(heading, grids, tells, _pairs_caption(data, tests))


def _runs(
    data: Data, metrics: Sequence[Metric], pairs: Sequence[Pair], *, inline: bool
) -> list[tuple[Column, ...]]:
    """Give the columns of the differences, view by view; `inline` puts p beside, not below."""
    return [
        tuple(_differences(data, metric, pairs, inline=inline) for metric in run)
        for _, run in groupby(metrics, key=lambda metric: metric.view)
    ]


def _widest(grids: Sequence[Grid]) -> int:
    return max(total_width(grid.columns, grid.gap) for grid in grids)


def _differences(data: Data, metric: Metric, pairs: Sequence[Pair], *, inline: bool) -> Column:
    """Give the differences by one score with their p."""
    found = {(t["a"], t["b"]): t for t in between_systems(data) if t["score"] == metric.key}
    cells = [_difference(data, metric.key, found.get(pair)) for pair in pairs]
    if inline:
        room = max(len(cell.under) for cell in cells)
        cells = [Cell(f"{c.text} {c.under.ljust(room)}", c.style) for c in cells]
    return Column(metric.label, tuple(cells), clean(metric.view))


def _difference(data: Data, key: str, test: Data | None) -> Cell:
    if test is None or test["difference"] is None:
        return Cell(MISSING)
    text, p = value(data, key, test["difference"]), test["adjusted_p_value"]
    pseudo = {"value": test["difference"], "interval": test["interval"], "range": [-1, 1]}
    bounds = beside_value(pseudo, text.lstrip("-")) or below_value(pseudo)
    told = p is not None and p < alpha_of(data)
    return Cell(signed(text) + bounds, BEST_STYLE if told else "", p_text(p, alpha_of(data)))


def _separating(
    data: Data, metrics: Sequence[Metric], pairs: Sequence[Pair], width: int
) -> Iterator[str]:
    """Say of the two closest systems how many samples would tell them apart."""
    cheapest = [(_cheapest(data, metrics, pair), pair) for pair in pairs]
    known = [(found, pair) for found, pair in cheapest if found is not None]
    if known:
        (n, metric), (a, b) = max(known, key=lambda each: each[0][0])
        closest = "closest: " if pairs[1:] else ""
        yield (
            f"{closest}{short(a, width)} and {short(b, width)}; {about(n)} samples in every set "
            f"would be needed to tell them apart by {spoken(data, metric)}, the score that needs "
            "fewest"
        )


def _missed(data: Data, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say how large a difference would have been found, where one was not."""
    alpha, told = alpha_of(data), []
    for metric in metrics:
        sizes = [
            test["detectable"]
            for test in between_systems(data)
            if test["score"] == metric.key
            and test.get("detectable")
            and test["adjusted_p_value"] is not None
            and test["adjusted_p_value"] >= alpha
        ]
        if sizes:
            told.append(f"{spoken(data, metric)} {value(data, metric.key, max(sizes))}")
    if told:
        yield (
            "not distinguishable does not mean equal; differences from these on would have been "
            f"found in four of five runs: {', '.join(told)}"
        )


def _cheapest(data: Data, metrics: Sequence[Metric], pair: Pair) -> tuple[int, Metric] | None:
    """The score that would tell a pair apart with the fewest samples; None where one does so."""
    tests = {t["score"]: t for t in between_systems(data) if (t["a"], t["b"]) == pair}
    told = [t["adjusted_p_value"] for t in tests.values() if t["adjusted_p_value"] is not None]
    sizes = [(tests[m.key]["separating_n"], m) for m in metrics if m.key in tests]
    known = [(n, metric) for n, metric in sizes if n]
    if not known or min(told, default=1.0) < alpha_of(data):
        return None
    return min(known, key=lambda each: each[0])


def _count(data: Data, tests: Sequence[Data], pairs: int) -> str:
    alpha = alpha_of(data)
    told = sum(t["adjusted_p_value"] is not None and t["adjusted_p_value"] < alpha for t in tests)
    return (
        f"{pairs} pair{'s' * (pairs > 1)}: {told} of {len(tests)} differences are told from 0 at "
        f"{percent(level_of(data))}{family(tests)}; --details shows them"
    )


def _pairs_caption(data: Data, tests: Sequence[Data]) -> str:
    paired = sum(bool(test["paired"]) for test in tests)
    how = "" if not paired else "; paired over prompts" if paired == len(tests) else "; some paired"
    return f"±: {percent(level_of(data))} interval of the difference; p{family(tests)}{how}"
