"""Every metric by name: what it tells, how it is read off a pair, and what that needs measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calipers.metrics.clipped import clipped_coverage_score, clipped_density_score
from calipers.metrics.copying import authenticity_score, near_copies_score
from calipers.metrics.cover import cover_precision_score, cover_recall_score
from calipers.metrics.frechet import frechet_score
from calipers.metrics.needs import (
    CLIPPED,
    CLIPPED_COVERAGE,
    COVER,
    NOTHING,
    PROBABILISTIC,
    REALISM,
    Needs,
)
from calipers.metrics.pair import Pair
from calipers.metrics.probabilistic import (
    probabilistic_precision_score,
    probabilistic_recall_score,
)
from calipers.metrics.realism import realism_score
from calipers.metrics.spheres import sphere_precision_score, sphere_recall_score
from calipers.metrics.support import coverage_score, density_score, precision_score, recall_score
from calipers.score import Score


@dataclass(frozen=True)
class Metric:
    """One metric of the catalogue.

    Attributes
    ----------
    name
        The key under which its score stands.
    tells
        What a person learns from it, in one line.
    score
        Reads the score off a pair; estimates that metrics share are made only once.
    needs
        What the pass over the distances must measure for it, beyond the balls of the shared k.
    on_request
        Whether it is left out unless it, or all, was asked for: it shares no estimate with others.
    """

    name: str
    tells: str
    score: Callable[[Pair], Score]
    needs: Needs = NOTHING
    on_request: bool = False


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "precision",
            "share of generated samples inside the reference's support: quality",
            lambda pair: precision_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "recall",
            "share of reference samples inside the generated support: diversity",
            lambda pair: recall_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "density",
            "how many reference samples surround a generated one, relative to k: quality",
            lambda pair: density_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "coverage",
            "share of reference samples with a generated one nearby: diversity",
            lambda pair: coverage_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "realism",
            "median depth of the generated samples inside the reference's support: quality",
            lambda pair: realism_score(pair.neighbourhoods, pair.settings.k),
            REALISM,
        ),
        Metric(
            "clipped_density",
            "density as a share of good samples, safe from outliers: quality",
            lambda pair: clipped_density_score(pair.neighbourhoods),
            CLIPPED,
        ),
        Metric(
            "clipped_coverage",
            "coverage as a share of good samples, safe from outliers: diversity",
            lambda pair: clipped_coverage_score(pair.neighbourhoods),
            CLIPPED_COVERAGE,
        ),
        Metric(
            "probabilistic_precision",
            "mean probability of a generated sample under the reference's support: quality",
            lambda pair: probabilistic_precision_score(pair.neighbourhoods),
            PROBABILISTIC,
        ),
        Metric(
            "probabilistic_recall",
            "mean probability of a reference sample under the generated support: diversity",
            lambda pair: probabilistic_recall_score(pair.neighbourhoods),
            PROBABILISTIC,
        ),
        Metric(
            "cover_precision",
            "share of generated samples with enough reference samples around them: quality",
            lambda pair: cover_precision_score(pair.neighbourhoods),
            COVER,
        ),
        Metric(
            "cover_recall",
            "share of reference samples with enough generated samples around them: diversity",
            lambda pair: cover_recall_score(pair.neighbourhoods),
            COVER,
        ),
        Metric(
            "sphere_precision",
            "agreement of the spheres around the reference's mean: quality",
            lambda pair: sphere_precision_score(
                pair.neighbourhoods, pair.reference, pair.generated
            ),
        ),
        Metric(
            "sphere_recall",
            "agreement of the spheres around the generated mean: diversity",
            lambda pair: sphere_recall_score(pair.neighbourhoods, pair.reference, pair.generated),
        ),
        Metric(
            "topp",
            "share of significant generated samples inside the reference's support: quality",
            lambda pair: pair.topology.precision,
            on_request=True,
        ),
        Metric(
            "topr",
            "share of significant reference samples inside the generated support: diversity",
            lambda pair: pair.topology.recall,
            on_request=True,
        ),
        Metric(
            "authenticity",
            "share of generated samples that are no closer to the reference than its own samples",
            lambda pair: authenticity_score(pair.neighbourhoods),
        ),
        Metric(
            "near_copies",
            "share of generated samples that nearly repeat a reference sample",
            lambda pair: near_copies_score(pair.neighbourhoods),
        ),
        Metric(
            "mauve",
            "closeness of the two distributions, raw counts as in mauve-text",
            lambda pair: pair.mauve.mauve,
        ),
        Metric(
            "mauve_star",
            "closeness of the two distributions, smoothed counts",
            lambda pair: pair.mauve.mauve_star,
        ),
        Metric(
            "frontier_integral",
            "average cost of explaining both sets by a mixture, raw counts",
            lambda pair: pair.mauve.frontier_integral,
        ),
        Metric(
            "frontier_integral_star",
            "average cost of explaining both sets by a mixture, smoothed counts",
            lambda pair: pair.mauve.frontier_integral_star,
        ),
        Metric(
            "prd_f8",
            "diversity, from the precision-recall curve over 20 cells",
            lambda pair: pair.prd.f8,
        ),
        Metric(
            "prd_f1_8",
            "quality, from the precision-recall curve over 20 cells",
            lambda pair: pair.prd.f1_8,
        ),
        Metric(
            "frechet_distance",
            "distance between the Gaussians fitted to both sets",
            lambda pair: frechet_score(*pair.moments),
        ),
    )
}
