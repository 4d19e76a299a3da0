"""A comparison as data ──► two sentences: how near, and what is missing, quality or variety.

They say what the numbers of the table say, and how sure those are; where nothing was measured that
would tell, they say that. By which scores they speak is fixed below, and the headline scores come
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calipers.report.html.verdict_balance import balance
from calipers.report.html.verdict_nearness import nearness
from calipers.report.html.verdict_reference import told_clause
from calipers.report.shown import TEXT, Metric, scores_of, shown_metrics
from calipers.report.table import Data

CLOSENESS = (
    "mauve_star",
    "mauve",
    "frontier_integral_star",
    "frontier_integral",
    "midpoint_star",
    "midpoint",
    "divergence_star",
    "divergence",
    "total_variation",
    "mauve_ot",
    "frechet_distance",
    "mmd",
    "kid",
    "energy_distance",
)
"""Scores of the gap between the distributions, the one to speak of first."""


@dataclass(frozen=True)
class Verdict:
    """Two sentences.

    Attributes
    ----------
    nearness
        Which system is nearest to the reference, and whether the others can be told from it.
    balance
        Whether quality or variety is lost, whether that is beyond noise, and which systems cannot
        be told from the reference.
    """

    nearness: str
    balance: str


def verdict(data: Data) -> Verdict:
    """Say in two sentences what a comparison found.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    """
    metrics = [metric for metric in shown_metrics(data) if _valued(data, metric)]
    lead = _lead(metrics)
    if lead is None:
        first = "No score that could rank the systems has a value"
    else:
        first = nearness(data, lead, closeness=_base(lead) in CLOSENESS)
    second = "; ".join(filter(None, [balance(data, metrics), told_clause(data)]))
    return Verdict(_sentence(first), _sentence(second))


def _lead(metrics: Sequence[Metric]) -> Metric | None:
    """Choose the score to speak of first: of the gap, by the first view; else any ranked one."""
    of_gap = [metric for metric in metrics if metric.view != TEXT and _base(metric) in CLOSENESS]
    views = list(dict.fromkeys(metric.view for metric in metrics))
    of_gap.sort(key=lambda metric: (views.index(metric.view), CLOSENESS.index(_base(metric))))
    return next(iter([*of_gap, *(metric for metric in metrics if metric.ranked)]), None)


def _valued(data: Data, metric: Metric) -> bool:
    return any(score and score.get("value") is not None for score in scores_of(data, metric))


def _base(metric: Metric) -> str:
    return metric.metric.partition(":")[0]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
