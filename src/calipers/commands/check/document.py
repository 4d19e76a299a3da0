"""The document of a check: the verdict first, then a row for each condition and system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from calipers.report import legend
from calipers.report.table import (
    SYSTEM,
    Block,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    notes,
    singles,
    texts,
    together,
)
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, about, defined, number
from calipers.wording.short_names import short

if TYPE_CHECKING:
    from calipers.commands.check.result import Check, CheckedScore, Outcome

STYLES: dict[Outcome, str] = {"passes": "", "fails": "bold", "inconclusive": "yellow"}
ENDS: dict[str, str] = {
    "report": "exit code 3",
    "pass": "counted as a pass (`inconclusive='pass'`)",
    "fail": "counted as a failure (`inconclusive='fail'`)",
}
MOST_NAMED = 3
"""Conditions of which the verdict says what was measured."""


def document(check: Check) -> Document:
    """Return the document of a check: its tables and notes."""
    level = check.settings["level"]
    blocks: tuple[Block, ...] = (
        Notes(tuple(notes("verdict", _verdict(check)))),
        _table(check),
        *together(*notes("note", _remarks(check)), *legend.warnings(check, [])),
        Notes(
            (
                Note("how", f"{_how(check)} Full precision: `.to_dict()`."),
                Note(
                    "how",
                    f"The chance of a false failure is at most {percent(1 - level)}, and that of a "
                    "false pass too. Limits are compared with what scores are on average at these "
                    "sample sizes.",
                ),
            )
        ),
    )
    return Document(_title(check), blocks, legend.made_by(check))


def percent(share: float) -> str:
    """Write a level as a percentage."""
    return f"{round(100 * share, 6):g} %"


def _title(check: Check) -> str:
    against = "" if check.baseline is None else f" against {short(check.baseline)}"
    return f"Check of {short(check.run)}{against} · level {check.settings['level']:g}"


# The verdict -------------------------------------------------------------------------------------


def _verdict(check: Check) -> Iterator[str]:
    """Say how it ended, and why, in a sentence or two."""
    checked = check.checked
    failing, undecided = check.of_outcome("fails"), check.of_outcome("inconclusive")
    if failing:
        yield f"Fails: {_listed(failing)}."
        if undecided:
            yield f"{len(undecided)} of {len(checked)} checks are inconclusive."
    elif undecided:
        yield f"Inconclusive: {_listed(undecided)}."
    elif len(checked) <= MOST_NAMED:
        yield f"Passes: {_listed(checked)}."
    else:
        yield f"Passes: by the bounds of their scores, none of {len(checked)} conditions is met."


def _listed(checked: Sequence[CheckedScore]) -> str:
    """Write the first few conditions as sentences, and how many there are besides."""
    sentences = "; ".join(map(sentence, checked[:MOST_NAMED]))
    more = len(checked) - MOST_NAMED
    return sentences + (f"; and {more} more" if more > 0 else "")


def sentence(row: CheckedScore) -> str:
    """Describe the outcome of one condition on one system."""
    score = f"{clean(row.score)} of {short(row.system)}"
    if row.reason:
        return f"{score} has no value: {row.reason}"
    value, beyond = _number(row, row.value), _beyond(row)
    low, high = _number(row, row.lower_bound), _number(row, row.upper_bound)
    if row.outcome != "inconclusive":
        # The bound on the side of the limit is the one that decides
        met = row.outcome == "fails"
        bound = f"at most {high}" if (row.side == "below") == met else f"at least {low}"
        return f"{score} is {value} ({bound}), {'' if met else 'not '}{beyond}"
    n = row.deciding_n
    more = "" if n is None else f"; {about(n)} in each set would, if the score stays as it is"
    return (
        f"{score} is {value} (at least {low}, at most {high}): {row.n:,} samples do not decide "
        f"whether it is {beyond}{more}"
    )


def _beyond(row: CheckedScore) -> str:
    """Say on which side of the limit a condition is met."""
    before = row.baseline
    why = "" if before is None else f", the limit that the baseline's {_number(row, before)} gives"
    return f"{row.side} {_limit(row)}{why}"


# The table ---------------------------------------------------------------------------------------


def _table(check: Check) -> Table:
    checked = check.checked
    lead = (
        Column("fails if", texts([clean(row.condition) for row in checked]), align="left"),
        Column("system", texts([short(row.system) for row in checked]), align="left"),
    )
    columns = [
        Column("score", tuple(map(_score, checked))),
        Column("interval", texts([_interval(row) for row in checked]), align="left"),
        Column("at least", texts([_number(row, row.lower_bound) for row in checked])),
        Column("at most", texts([_number(row, row.upper_bound) for row in checked])),
        Column("limit", texts([_limit(row) for row in checked])),
    ]
    outcomes = tuple(Text(row.outcome, STYLES[row.outcome]) for row in checked)
    columns.append(Column("outcome", outcomes, align="left"))
    if check.baseline is not None:
        before = [_number(row, row.baseline) for row in checked]
        columns.append(Column("baseline", texts(before)))
    if any(row.deciding_n is not None for row in checked):
        needed = [MISSING if row.deciding_n is None else about(row.deciding_n) for row in checked]
        columns.append(Column("n to decide", texts(needed)))
    return Table(lead, singles(columns), (SYSTEM,) * len(checked), id="checked", apart=False)


def _score(row: CheckedScore) -> ScoreCell:
    return ScoreCell(_number(row, row.value), number=defined(row.value))


def _number(row: CheckedScore, value: float | None) -> str:
    known = defined(value)
    return MISSING if known is None else number(known, unit=row.share)


def _limit(row: CheckedScore) -> str:
    if row.baseline is None and math.isfinite(row.limit):
        return f"{row.limit:.6g}"
    return _number(row, row.limit)


def _interval(row: CheckedScore) -> str:
    if row.reason or row.interval is None:
        return MISSING
    low, high = row.interval
    return f"[{_number(row, low)}, {_number(row, high)}]"


# The notes below it ------------------------------------------------------------------------------


def _remarks(check: Check) -> Iterator[str]:
    ending = check.settings["inconclusive"]
    if ending == "pass" and any(row.reason for row in check):
        yield "texts that were not read are never counted as a pass: exit code 3"
    elif check.of_outcome("inconclusive"):
        yield f"inconclusive: {ENDS[ending]}"
    compared = [row for row in check if row.baseline is not None]
    if compared:
        yield "bounds beside a baseline allow for the errors of both scores"
    if not all(row.paired for row in compared):
        yield (
            "the errors of both runs are treated as independent, which is conservative: what "
            "they share through the reference is in the zips of `.save(path)`, not in JSON"
        )


def _how(check: Check) -> str:
    several = len(check) > 1
    corrected = ", for failing corrected by Holm over all checks" if several else ""
    level = check.settings["level"]
    levels = sorted({row.level for row in check if row.level})
    shown = f"{' and '.join(map(percent, levels))} interval" if levels else "interval"
    return (
        f"At least, at most: one-sided bounds ({percent(level)} each{corrected}), which decide: a "
        "check fails where both lie beyond the limit, and passes where both lie on the other side. "
        f"Interval: the two-sided {shown} that the run itself shows."
    )
