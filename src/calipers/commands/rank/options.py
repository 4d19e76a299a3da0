"""The options of ``calipers rank``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calipers.options.option import CERTAINTY, INPUT, OUTPUT, option, options_class
from calipers.options.rules import FLAG, NAMES, all_names, one_of, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calipers.commands.rank.judged import Method as HowRaters
    from calipers.uncertainty.bradley_terry import Ties as JudgedTies
    from calipers.uncertainty.correlation import CorrelationKind

from calipers.options.running import Seeded

ONCE = replace(NAMES, read=lambda text: list(dict.fromkeys(all_names(text))))
"""Names of which each counts once."""


@options_class
class RankOptions(Seeded):
    """The options of ``rank``."""

    judgements: Any = option(
        None,
        "Judgements of people or models: what calipers annotate or calipers judge wrote, or a "
        "table with the columns a, b and winner. The winner is a system's name, tie, or one of "
        "five steps: definitely a, slightly a, tie, slightly b, definitely b, or 1 to 5. Or "
        "annotations.json of AlpacaEval, or a folder or pattern of such files. May be repeated; in "
        "Python a list.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        several=True,
        common=True,
    )
    truth: Any = option(
        None,
        "In place of --judgements, known quality scores: a table with the column system and "
        "columns of numbers, higher is better. Metrics are compared with each column separately; "
        "a column NAME_sd holds the standard errors of the column NAME. For a leaderboard whose "
        "first column names the systems but has no header, --truth-column names the columns to "
        "use. In Python also a dict from system to number.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
    )
    truth_columns: Sequence[str] | None = option(
        None,
        "Columns of --truth or --judgements to use. May be repeated. By default every column of "
        "numbers of --truth, and of --judgements every question, or winner or answer.",
        ONCE,
        panel=INPUT,
        flag=("--truth-column",),
        several=True,
    )
    reference: str | None = option(
        None,
        "Name of the system that is the reference, such as human. It is not ranked; a metric that "
        "has a value for it is better the closer a system is to that value, compared as "
        "-|T(Q) - T(P)|, unless the column better of the scores says otherwise.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="NAME",
        common=True,
    )
    metrics: Sequence[str] | None = option(
        None,
        "Use only these metrics, or all. May be repeated. By default every metric of a table, and "
        "of a comparison those that its table shows: among many metrics, the best one is often "
        "best by chance.",
        ONCE,
        panel=INPUT,
        several=True,
        common=True,
    )
    keep_unscored: bool = option(
        False,
        "Keep judged systems without scores in the fit. By default their judgements are left out, "
        "with a note.",
        FLAG,
        panel=INPUT,
    )
    ties: JudgedTies = option(
        "davidson",
        "How ties are counted: as an outcome of their own by Davidson's model (davidson, JASA "
        "1970), as half a win for each (half), as a win for one at random (random, as in appendix "
        "E of Pillutla et al.), or not at all (drop). Davidson's model leaves the scores on their "
        "scale; half and random shrink them.",
        one_of("davidson", "half", "random", "drop"),
    )
    raters: HowRaters | None = option(
        None,
        "How answers of one rater, which are alike, are treated: their standard errors come from "
        "clusters (clustered), every rater has a discrimination and a bias towards the text shown "
        "first (effects), or they count as those of many (ignore). By default clustered, where "
        "the raters are known: by rater, and by item where several saw the same ones or there is "
        "one rater.",
        one_of("clustered", "effects", "ignore"),
        panel=CERTAINTY,
    )
    drop_flagged: bool = option(
        False,
        "Leave out judgements that are flagged as doubtful, such as those that came too fast. By "
        "default they are included, and counted.",
        FLAG,
        panel=INPUT,
    )
    kind: CorrelationKind = option(
        "spearman",
        "Kind of correlation between metrics, in the matrix and the heat map.",
        one_of("spearman", "pearson"),
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        metavar="SHARE",
    )
    matrix: bool = option(
        False,
        "Also show how the metrics correlate with each other. Without --judgements and --truth "
        "this is always shown.",
        FLAG,
        panel=OUTPUT,
    )
