"""Raters of pairs and of ratings: who answered, in what clusters, and how far they agree.

Answers of one rater are alike, and so are answers about one pair of texts: standard errors come
from clusters of raters where there are several, from those of raters and of items where several
raters saw the same items, else from items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from calipers.commands.rank.judged import Cluster, RaterCeiling, Raters, Texts
from calipers.commands.rank.rater_groups import RaterGroup
from calipers.commands.rank.result import Truth
from calipers.judgements.tables import flags_of
from calipers.samples.row_tables import Row
from calipers.uncertainty.ceiling import Ceiling
from calipers.uncertainty.correlation import CorrelationKind
from calipers.uncertainty.rated_pairs import RatedPairs

LEAST = 2
"""Clusters below which nothing tells how far they differ."""


@dataclass(frozen=True)
class RatedTruth:
    """A truth from raters, before any metric is compared with it, and its answers.

    Attributes
    ----------
    pairs, ratings
        Their judgements of pairs; or item, rater and number of every rating.
    """

    truth: Truth
    question: str
    pairs: RatedPairs | None = None
    ratings: tuple[tuple[str, str, float], ...] = ()


def raters_of(group: RaterGroup, rows: Sequence[Row], raters: int, answers: int) -> Raters:
    """Describe who answered, before clusters are known."""
    flagged = sum(bool(flags_of(row[1].get("flags"))) for row in rows)
    return Raters(group.kind, raters, answers, flagged, "ignore")


def clusters_of(rater: Iterable[Hashable], item: Iterable[Hashable]) -> Cluster:
    """Choose the clusters of several raters' answers: by item too, where raters share items."""
    pairs = set(zip(rater, item, strict=True))
    raters, items = (len(set(column)) for column in zip(*pairs, strict=True))
    both = len(pairs)
    if both == items or items < LEAST:
        return "rater"
    return "item" if both == raters else "rater and item"


def with_clusters(
    raters: Raters, cluster: Cluster, by_rater: int, by_item: int, texts: Texts = "item"
) -> Raters:
    """Add what the clusters are, and how many; those of texts are items or prompts."""
    return replace(
        raters,
        cluster=cluster,
        clusters={"": 0, "item": by_item}.get(cluster, by_rater),
        item_clusters=by_item if cluster == "rater and item" else 0,
        texts=texts,
    )


def rater_ceiling(ceilings: Mapping[CorrelationKind, Ceiling]) -> RaterCeiling:
    """Measure how far raters agree among themselves, by both correlations."""
    rank, line = ceilings["spearman"], ceilings["pearson"]
    return RaterCeiling(
        spearman=rank.value,
        spearman_interval=rank.interval,
        spearman_attainable=rank.attainable,
        pearson=line.value,
        pearson_interval=line.interval,
        pearson_attainable=line.attainable,
        n=rank.systems,
        halved=rank.unit,
        units=rank.units,
        reason=rank.reason or line.reason,
    )
