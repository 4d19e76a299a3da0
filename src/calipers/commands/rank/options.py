"""The options of ``calipers rank``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.options.option import (
    CERTAINTY,
    FLAG,
    INPUT,
    OUTPUT,
    Rule,
    one_of,
    option,
    options_class,
    share,
    unchecked,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.commands.rank.judged import Method as HowRaters
    from calipers.uncertainty.bradley_terry import Ties as JudgedTies
    from calipers.uncertainty.correlation import CorrelationKind

from calipers.options.running import Seeded


def _names(text: str) -> list[str] | None:
    found = [name.strip() for name in text.split(",")]
    return list(dict.fromkeys(found)) if all(found) else None


NAMES = Rule("be names with commas between them", _names, unchecked, "LIST")


@options_class
class RankOptions(Seeded):
    """The options of ``rank``."""

    judgements: Any = option(
        None,
        "Judgements of people or models: what calipers annotate or calipers judge wrote, or a "
        "table with the columns a, b and winner. The winner is a system's name, tie, or one of "
        "five steps: definitely a, slightly a, tie, slightly b, definitely b, or 1 to 5. May be "
        "repeated.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        several=True,
        common=True,
        doc="What ``calipers annotate`` or ``calipers judge`` wrote, or a table with the columns "
        "``a``, ``b`` and an answer: the winner's name, ``tie``, or five steps from ``definitely "
        "a`` (1) to ``definitely b`` (5). Or a list of such.",
    )
    truth: Any = option(
        None,
        "In place of --judgements, known quality scores: a table with the column system and "
        "columns of numbers, higher is better. Metrics are compared with each column separately; "
        "a column NAME_sd holds the standard errors of the column NAME.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="A table with the column ``system`` and one or more columns of numbers, higher better; "
        "each is a truth of its own. A column with ``_sd`` after the name of another holds the "
        "standard errors of that one. Or a dict from system to number. Not together with "
        "`judgements`.",
    )
    truth_columns: Sequence[str] | None = option(
        None,
        "Columns of --truth or --judgements to use. May be repeated. By default every column of "
        "numbers of --truth, and of --judgements every question, or winner or answer.",
        NAMES,
        panel=INPUT,
        flag=("--truth-column",),
        several=True,
        doc="Which columns hold the truths, or the answers; by default all columns of numbers, and "
        "every question of an export, else ``winner`` or ``answer``.",
    )
    reference: str | None = option(
        None,
        "Name of the system that is the reference, such as human. It is not ranked; a metric that "
        "has a value for it is better the closer a system is to that value.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="NAME",
        common=True,
        doc="The system that is the reference: it is not ranked, and a metric of which it has a "
        "value is better the closer to that, compared as -|T(Q) - T(P)| (section 6.3), unless "
        "`better` says otherwise.",
    )
    metrics: Sequence[str] | None = option(
        None,
        "Use only these metrics, or all. May be repeated. By default every metric of a table, and "
        "of a comparison those that its table shows: among many metrics, the best one is often "
        "best by chance.",
        NAMES,
        panel=INPUT,
        several=True,
        common=True,
        doc='Which metrics to rank by, ``["all"]`` for all that `scores` holds. By default all,'
        " and of a comparison those that its table shows: the best of many is best by "
        "chance.",
    )
    keep_unscored: bool = option(
        False,
        "Keep judged systems without scores in the fit. By default they are an error.",
        FLAG,
        panel=INPUT,
        doc="Whether judged systems without scores stay in the fit; otherwise they are an error.",
    )
    ties: JudgedTies = option(
        "davidson",
        "How ties are counted: as an outcome of their own by Davidson's model (davidson), as half "
        "a win for each (half), as a win for one at random (random), or not at all (drop).",
        one_of("davidson", "half", "random", "drop"),
        doc='What becomes of ties: an outcome of its own, by the model of ``"davidson"`` (JASA '
        '1970), which leaves the scores on their scale; ``"half"`` a win to each, which '
        'draws them together, or a win to either at ``"random"`` (as appendix E has it), '
        'which does so too; or ``"drop"``.',
    )
    raters: HowRaters | None = option(
        None,
        "What becomes of answers of one rater, who are alike: their standard errors come from "
        "clusters (clustered), every rater has a discrimination and a bias towards the text shown "
        "first (effects), or they count as those of many (ignore). By default clustered, where "
        "the raters are known: by rater, and by item where several saw the same ones or there is "
        "one rater.",
        one_of("clustered", "effects", "ignore", optional=True),
        panel=CERTAINTY,
        doc='How answers of one rater are dealt with: ``"clustered"`` standard errors, by rater, '
        'and by item where several raters saw the same ones or there is one rater; ``"effects"``, '
        'a discrimination and a bias towards the text shown first of each; or ``"ignore"``, as if '
        "everybody had answered once. By default clustered, where the raters are known.",
    )
    drop_flagged: bool = option(
        False,
        "Leave out judgements that are flagged, such as those that came too fast. By default they "
        "are kept, and counted.",
        FLAG,
        panel=INPUT,
        doc="Whether judgements that are flagged as doubtful are left out.",
    )
    kind: CorrelationKind = option(
        "spearman",
        "Kind of correlation between metrics, in the matrix and the heat map.",
        one_of("spearman", "pearson"),
        doc='Of the matrix: ``"spearman"`` or ``"pearson"``.',
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        metavar="SHARE",
        doc="Of the intervals, between 0 and 1.",
    )
    matrix: bool = option(
        False,
        "Also show how the metrics correlate with each other. Without --judgements and --truth "
        "this is always shown.",
        FLAG,
        panel=OUTPUT,
        doc="Whether printing shows the matrix beside truths; without a truth it always does.",
    )
