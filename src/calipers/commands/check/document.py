"""A check ──► a document: the verdict first, then a row for each condition and system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.report import legend
from calipers.report.names import clean
from calipers.report.numbers import MISSING, about, number
from calipers.report.of_data import of_data
from calipers.report.shown import short
from calipers.report.table import (
    SYSTEM,
    Block,
    Column,
    Data,
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

STYLES = {"passes": "", "fails": "bold", "inconclusive": "yellow"}
ENDS = {
    "report": "exit code 3",
    "pass": "counted as a pass (--inconclusive pass)",
    "fail": "counted as a failure (--inconclusive fail)",
}
MOST_SAID = 3


def document(data: Data) -> Document:
    """Give all that a check shows.

    Parameters
    ----------
    data
        What ``Check.to_dict()`` gives.
    """
    level = data["settings"]["level"]
    blocks: tuple[Block, ...] = (
        Notes(tuple(notes("verdict", _verdict(data)))),
        _table(data),
        *together(*notes("note", _remarks(data)), *legend.warnings(of_data(data), [])),
        Notes(
            (
                Note("how", f"{_how(data)} Full precision: --json FILE, or .to_dict() in Python."),
                Note(
                    "how",
                    f"The chance of a false failure is at most {percent(1 - level)}, and that of a "
                    "false pass too. Limits are compared with what scores are on average at these "
                    "sample sizes.",
                ),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def percent(share: float) -> str:
    """Write a level as a percentage."""
    return f"{round(100 * share, 6):g} %"


def _title(data: Data) -> str:
    against = "" if data["baseline"] is None else f" against {short(data['baseline'])}"
    parts = [f"Check of {short(data['run'])}{against}", f"level {data['settings']['level']:g}"]
    return " · ".join(parts)


# The verdict -------------------------------------------------------------------------------------


def _verdict(data: Data) -> Iterator[str]:
    """Say how it ended, and why, in a sentence or two."""
    checked = data["checked"]
    failing, undecided = _of(checked, "fails"), _of(checked, "inconclusive")
    if failing:
        yield f"Fails: {_said(failing)}."
        if undecided:
            yield f"{len(undecided)} of {len(checked)} checks are inconclusive."
    elif undecided:
        yield f"Inconclusive: {_said(undecided)}."
    elif len(checked) <= MOST_SAID:
        yield f"Passes: {_said(checked)}."
    else:
        yield f"Passes: by the bounds of their scores, none of {len(checked)} conditions is met."


def _said(checked: Sequence[Data]) -> str:
    """Say of the first few what was found, and how many there are besides."""
    told = "; ".join(sentence(row) for row in checked[:MOST_SAID])
    more = len(checked) - MOST_SAID
    return told + (f"; and {more} more" if more > 0 else "")


def sentence(row: Data) -> str:
    """Say what was found of one condition on one system."""
    score = f"{clean(row['score'])} of {short(row['system'])}"
    if row.get("reason"):
        return f"{score} has no value: {row['reason']}"
    value, beyond = _value(row), _beyond(row)
    low, high = (_number(row, row[bound]) for bound in ("lower_bound", "upper_bound"))
    if row["outcome"] != "inconclusive":
        # The bound on the side of the limit is the one that decides
        met = row["outcome"] == "fails"
        bound = f"at most {high}" if (row["side"] == "below") == met else f"at least {low}"
        return f"{score} is {value} ({bound}), {'' if met else 'not '}{beyond}"
    n = row["deciding_n"]
    more = "" if n is None else f"; {about(n)} in each set would, if the score stays as it is"
    return (
        f"{score} is {value} (at least {low}, at most {high}): {row['n']:,} samples do not decide "
        f"whether it is {beyond}{more}"
    )


def _beyond(row: Data) -> str:
    """Say on which side of the limit a condition is met."""
    before = row["baseline"]
    why = "" if before is None else f", the limit that the baseline's {_number(row, before)} gives"
    return f"{row['side']} {_limit(row)}{why}"


# The table ---------------------------------------------------------------------------------------


def _table(data: Data) -> Table:
    checked = data["checked"]
    lead = (
        Column("fails if", texts([clean(row["condition"]) for row in checked]), align="left"),
        Column("system", texts([short(row["system"]) for row in checked]), align="left"),
    )
    values = tuple(ScoreCell(_value(row), number=row["value"]) for row in checked)
    columns = [
        Column("score", values),
        Column("interval", texts([_interval(row) for row in checked]), align="left"),
        *(
            Column(head, texts([_number(row, row[key]) for row in checked]))
            for head, key in (("at least", "lower_bound"), ("at most", "upper_bound"))
        ),
        Column("limit", texts([_limit(row) for row in checked])),
    ]
    outcomes = tuple(Text(row["outcome"], STYLES[row["outcome"]]) for row in checked)
    columns.append(Column("outcome", outcomes, align="left"))
    if data["baseline"] is not None:
        before = [_number(row, row["baseline"]) for row in checked]
        columns.append(Column("baseline", texts(before)))
    if any(row["deciding_n"] is not None for row in checked):
        needed = [_deciding(row["deciding_n"]) for row in checked]
        columns.append(Column("n to decide", texts(needed)))
    return Table(lead, singles(columns), (SYSTEM,) * len(checked), id="checked", apart=False)


def _deciding(n: int | None) -> str:
    return MISSING if n is None else about(n)


def _number(row: Data, value: float | None) -> str:
    return MISSING if value is None else number(value, unit=row["share"])


def _value(row: Data) -> str:
    return _number(row, row["value"])


def _limit(row: Data) -> str:
    if row["limit"] is None:
        return MISSING
    return f"{row['limit']:.6g}" if row["baseline"] is None else _number(row, row["limit"])


def _interval(row: Data) -> str:
    if row.get("reason") or row["interval"] is None:
        return MISSING
    low, high = row["interval"]
    return f"[{_number(row, low)}, {_number(row, high)}]"


# What stands below it ----------------------------------------------------------------------------


def _remarks(data: Data) -> Iterator[str]:
    unread = any(row.get("reason") for row in data["checked"])
    if unread and data["settings"]["inconclusive"] == "pass":
        yield "texts that were not read are never counted as a pass: exit code 3"
    elif _of(data["checked"], "inconclusive"):
        yield f"inconclusive: {ENDS[data['settings']['inconclusive']]}"
    compared = [row for row in data["checked"] if row["baseline"] is not None]
    if compared:
        yield "bounds beside a baseline allow for the errors of both scores"
    if not all(row["paired"] for row in compared):
        yield (
            "the errors of both runs are taken as independent, which is too careful: what the "
            "reference brings to both is in the zips of --save, and not in JSON"
        )


def _how(data: Data) -> str:
    several = len(data["checked"]) > 1
    corrected = ", for failing corrected by Holm over all checks" if several else ""
    level = data["settings"]["level"]
    levels = sorted({row["level"] for row in data["checked"] if row["level"]})
    shown = f"{' and '.join(map(percent, levels))} interval" if levels else "interval"
    return (
        f"At least, at most: one-sided bounds ({percent(level)} each{corrected}), which decide: a "
        "check fails where both lie beyond the limit, and passes where both lie on the other side. "
        f"Interval: the two-sided {shown} that the run itself shows."
    )


def _of(checked: Sequence[Data], outcome: str) -> list[Data]:
    return [row for row in checked if row["outcome"] == outcome]
