"""Mean ratings of systems, from single texts or batches, with clustered standard errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from calipers.commands.rank.judged import Cluster, Method, RatedSystem, Ratings
from calipers.commands.rank.options import RankOptions
from calipers.commands.rank.rater_groups import RaterGroup
from calipers.commands.rank.raters import (
    LEAST,
    RatedTruth,
    clusters_of,
    rater_ceiling,
    raters_of,
    with_clusters,
)
from calipers.commands.rank.result import Truth
from calipers.commands.rank.scores import ScoredSystems
from calipers.samples.row_tables import is_blank
from calipers.uncertainty.ceiling import ratings_ceilings
from calipers.uncertainty.rated_means import RatedMeans, rated_means


def truth_of_ratings(
    group: RaterGroup, question: str, scores: ScoredSystems, options: RankOptions
) -> RatedTruth | None:
    """Compute the mean rating of each system; None without ratings."""
    table = group.table
    rows = tuple(row for row in group.rows if not is_blank(row[1].get(question)))
    if not rows:
        return None
    system = [table.name(row, "system") for row in rows]
    rater = [table.name(row, "rater") for row in rows]
    item = [table.name(row, "item") for row in rows]
    rating = np.array([table.number(row, question) for row in rows], dtype=np.float64)
    count = len(set(rater))
    if options.raters == "effects":
        raise table.source.error(
            "raters 'effects' (`raters='effects'`) is a model of judged pairs, but this table "
            "holds ratings; use clustered or ignore"
        )
    method: Method = "ignore" if options.raters == "ignore" else "clustered"
    cluster: Cluster = ""
    if method == "clustered":
        cluster = clusters_of(rater, item) if count >= LEAST else "item"
    ways = {"rater": [rater], "item": [item], "rater and item": [rater, item]}
    alone = [list(range(len(rows)))]
    ratings = _means(
        rated_means(system, rating, *ways.get(cluster, alone), level=options.level), options.level
    )
    ranked = {name: rated.mean for name, rated in ratings.systems.items() if name in scores.systems}
    places = [place for place, name in enumerate(system) if name in ranked]
    raters = raters_of(group, rows, count, len(rows))
    truth = Truth(
        question,
        table.source.path,
        "ratings",
        ranked,
        {},
        ratings=ratings,
        raters=with_clusters(replace(raters, method=method), cluster, count, len(set(item))),
        ceiling=rater_ceiling(
            ratings_ceilings(
                [system[place] for place in places],
                [rater[place] for place in places],
                rating[places],
                level=options.level,
                seed=options.seed,
            )
        ),
    )
    answers = zip(item, rater, rating.tolist(), strict=True)
    return RatedTruth(truth, question, ratings=tuple(answers))


def _means(rated: RatedMeans, level: float) -> Ratings:
    """Put means in the form of results, the highest first."""
    order = np.argsort(-rated.means, kind="stable")
    systems = {}
    for i in order:
        mean, error, (low, high) = rated.means[i], rated.standard_errors[i], rated.intervals[i]
        interval = (float(low), float(high)) if math.isfinite(error) else None
        systems[rated.names[i]] = RatedSystem(
            float(mean), float(error), interval, int(rated.counts[i])
        )
    return Ratings(systems, rated.covariance[np.ix_(order, order)], level)
