"""How sure the scores of a table are ──► the blocks below it, and the lines that explain its marks.

Nothing is written of what a comparison does not hold, such as one without intervals or tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.report.content import Data, Metric, scores_of
from calipers.report.grid import Line
from calipers.report.uncertain_advice import advice_block
from calipers.report.uncertain_block import Block, block_lines
from calipers.report.uncertain_floor import floor_block
from calipers.report.uncertain_marks import is_tested, marks_line, percent
from calipers.report.uncertain_numbers import APPROXIMATE, PLUS_MINUS, is_lopsided
from calipers.report.uncertain_pairs import pairs_block
from calipers.report.uncertain_reference import reference_block
from calipers.report.uncertain_seeds import seeds_block
from calipers.report.wrapping import listed

BOUNDS = "[low,high]"
COVERS = "of the score's average at these sizes; bias comes on top"


def lines(
    data: Data,
    metrics: Sequence[Metric],
    marks: set[str],
    width: int,
    *,
    plain: bool,
    details: bool = False,
) -> Iterator[Line]:
    """Explain intervals and marks right below the scores, then write the blocks."""
    told = list(interval_lines(data, metrics))
    told += ["; ".join(marks_line(data, marks))] if is_tested(data) and marks - {""} else []
    yield from listed("", told, width, "dim")
    if told:
        yield ()
    for block in blocks(data, metrics, width, plain=plain, details=details):
        yield from block_lines(block, width, plain=plain)


def blocks(
    data: Data, metrics: Sequence[Metric], width: int, *, plain: bool, details: bool
) -> Iterator[Block]:
    """Give the blocks below the table, the most telling first."""
    found = (
        reference_block(data, width),
        floor_block(data, metrics, width, plain=plain),
        pairs_block(data, metrics, width, details=details),
        seeds_block(data, metrics, width, plain=plain),
        advice_block(data, width),
    )
    yield from (block for block in found if block is not None)


def interval_lines(data: Data, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say what ± and the brackets hold, where there are any."""
    scores = [score for metric in metrics for score in scores_of(data, metric) if score]
    held = [score for score in scores if score.get("interval") and None not in score["interval"]]
    if not held:
        return
    levels = sorted({score["level"] for score in held if score.get("level")})
    level = f"{' and '.join(map(percent, levels))} " if levels else ""
    lopsided = [is_lopsided(score) for score in held]
    sign = BOUNDS if all(lopsided) else PLUS_MINUS
    odd = f", {BOUNDS} where lopsided," if any(lopsided) and not all(lopsided) else ""
    yield f"{sign} {level}interval{odd} {COVERS}"
    if any(score.get("approximate") for score in held):
        yield f"{APPROXIMATE} approximate: found on smaller sets, or a share close to 0 or 1"
