"""Advice on sample sizes ──► a block: what more samples would change."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.content import Data
from calipers.report.grid import Cell, Column
from calipers.report.layout import packed
from calipers.report.names import shorten
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block, metric_of, short, spoken, value
from calipers.report.uncertain_numbers import half_text, signed

MOST = 40


def advice_block(data: Data, width: int) -> Block | None:
    """Lay out where each score is heading; None where no advice was asked for."""
    advice = list(data.get("advice") or ())
    if not advice:
        return None
    shown = advice[:MOST]
    names = tuple(Cell(short(each["system"], 3 * width // 4)) for each in shown)
    keys = tuple(Cell(_score_name(data, each["score"], width)) for each in shown)
    lead = [Column("system", names, right=False), Column("score", keys, right=False)]
    more = [f"{len(advice) - MOST} more in the JSON (--json FILE)"] if advice[MOST:] else []
    return Block(
        "What more samples would change",
        packed(lead, [_run(data, shown)], width=width),
        more,
        _caption(),
    )


def _run(data: Data, advice: Sequence[Data]) -> tuple[Column, ...]:
    rows = [_cells(data, each) for each in advice]
    headers = ("n", "now", "limit", "bias", "spread")
    columns = [
        Column(header, tuple(Cell(row[place]) for row in rows))
        for place, header in enumerate(headers)
    ]
    plateau = tuple(Cell("reached" if each["plateau"] else "not reached") for each in advice)
    return (*columns, Column("plateau", plateau, right=False))


def _cells(data: Data, advice: Data) -> tuple[str, ...]:
    now = advice["values"][-1] if advice["values"] else None
    n = str(advice["sizes"][-1]) if advice["sizes"] else MISSING
    key = advice["score"]
    text, limit, bias = (value(data, key, each) for each in (now, advice["limit"], advice["bias"]))
    spread = "" if advice["spread"] is None else half_text(advice["spread"], text)
    return n, text or MISSING, limit or MISSING, signed(bias or MISSING), spread or MISSING


def _score_name(data: Data, key: str, width: int) -> str:
    return shorten(spoken(data, metric_of(data, key)), width // 3)


def _caption() -> str:
    return (
        "limit: where the scores of smaller samples lead with ever more of them, settings held; "
        f"{MISSING} they do not settle. bias: now less limit. spread: standard error now. plateau: "
        "whether the score moves little from half of the samples to all."
    )
