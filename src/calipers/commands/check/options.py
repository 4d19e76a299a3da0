"""The options of ``calipers check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.options.option import CERTAINTY, INPUT, Group, option, options_class
from calipers.options.rules import between, one_of

if TYPE_CHECKING:
    from calipers.commands.check.result import Inconclusive


@options_class
class CheckOptions(Group):
    """The options of ``check``."""

    fail_if: Any = option(
        None,
        "Condition on which the check fails: [SYSTEM:]KEY OP LIMIT, where OP is <, <=, > or >= and "
        "LIMIT is a number, or the word baseline, times a factor, plus or minus a number. Examples "
        "are recall < 0.8 and mauve_star < baseline - 0.02. It holds for every system unless it "
        "names one. May be repeated; in Python a list or one text.",
        panel=CERTAINTY,
        metavar="CONDITION",
        several=True,
        apart=True,
        common=True,
    )
    conditions: Any = option(
        None,
        "File of conditions, beside those of --fail-if: TOML or JSON that holds the list fail_if "
        "and nothing else, such as fail_if = ['recall < 0.8'].",
        panel=CERTAINTY,
        metavar="FILE",
        source=True,
    )
    baseline: Any = option(
        None,
        "Saved run that limits with the word baseline are taken from. Its systems are found by "
        "name; a single one stands for all. In Python also a comparison.",
        panel=INPUT,
        flag=("--against",),
        metavar="BASELINE.zip",
        source=True,
        common=True,
    )
    level: float = option(
        0.95,
        "The chance of a false failure of the whole check, and of a false pass, is at most 1 "
        "minus this level, which lies between 0.5 and 1.",
        between(0.5, 1, "0.95"),
        panel=CERTAINTY,
        setting=True,
    )
    inconclusive: Inconclusive = option(
        "report",
        "How an inconclusive check ends: with an exit code of its own, 3 (report), as a pass, 0 "
        "(pass), or as a failure, 1 (fail).",
        one_of("report", "pass", "fail"),
        panel=CERTAINTY,
        setting=True,
        common=True,
    )
