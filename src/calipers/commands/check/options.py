"""The options of ``calipers check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    CERTAINTY,
    INPUT,
    Group,
    Rule,
    one_of,
    option,
    options_class,
)

if TYPE_CHECKING:
    from calipers.commands.check.result import Inconclusive


def _more_than_half(text: str) -> float | None:
    found = float(text)
    return found if 0.5 < found < 1 else None


def _check_more_than_half(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0.5 < value < 1:
        raise InputError(f"{name} must lie between 0.5 and 1, such as 0.95; found {value!r}")


MORE_THAN_HALF = Rule(
    "lie between 0.5 and 1, such as 0.95", _more_than_half, _check_more_than_half, "NUMBER"
)


@options_class
class CheckOptions(Group):
    """The options of ``check``."""

    fail_if: Any = option(
        None,
        "Condition on which the check fails: [SYSTEM:]KEY OP LIMIT, where OP is <, <=, > or >= and "
        "LIMIT is a number, or the word baseline, times a factor, plus or minus a number. It holds "
        "for every system unless it names one. May be repeated.",
        panel=CERTAINTY,
        metavar="CONDITION",
        several=True,
        apart=True,
        common=True,
        doc="One condition or several on which the check fails, as ``[system:]key op limit``: "
        '``"recall < 0.8"``, ``"mauve_star < baseline - 0.02"``.',
    )
    conditions: Any = option(
        None,
        "File of conditions, beside those of --fail-if: TOML or JSON that holds the list fail_if, "
        "such as fail_if = ['recall < 0.8'].",
        panel=CERTAINTY,
        metavar="FILE",
        source=True,
        doc="A TOML or JSON file with more conditions: the list ``fail_if``, and nothing else.",
    )
    baseline: Any = option(
        None,
        "Saved run that limits with the word baseline are taken from. Its systems are found by "
        "name; a single one stands for all.",
        panel=INPUT,
        flag=("--against",),
        metavar="BASELINE.zip",
        source=True,
        common=True,
        doc="The comparison that limits with the word ``baseline`` are taken from, or its path; "
        "its systems are found by name, and a single one stands for all.",
    )
    level: float = option(
        0.95,
        "The chance of a false failure of the whole check, and of a false pass, is at most 1 "
        "minus this level, which lies between 0.5 and 1.",
        MORE_THAN_HALF,
        panel=CERTAINTY,
        kept=True,
        doc="One less the chance of a false failure of the whole check, and of a false pass; in "
        "(0.5, 1).",
    )
    inconclusive: Inconclusive = option(
        "report",
        "What a check that is inconclusive ends as: an exit code of its own, 3 (report), a pass, 0 "
        "(pass), or a failure, 1 (fail).",
        one_of("report", "pass", "fail"),
        panel=CERTAINTY,
        kept=True,
        common=True,
        doc='What the exit code of an inconclusive check says: ``"report"`` that it is that (3), '
        '``"pass"`` (0) or ``"fail"`` (1).',
    )
