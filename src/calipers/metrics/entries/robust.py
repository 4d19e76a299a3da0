"""Entries of the support metrics that outliers move less, each with a k or a rule of its own."""

from __future__ import annotations

from calipers.metrics.entries.metric import Metric
from calipers.metrics.needs import CLIPPED, CLIPPED_COVERAGE, COVER, PROBABILISTIC
from calipers.metrics.robust import (
    clipped_coverage_score,
    clipped_density_score,
    cover_precision_score,
    cover_recall_score,
    probabilistic_precision_score,
    probabilistic_recall_score,
)
from calipers.metrics.spheres import sphere_precision_score, sphere_recall_score

SALVY = "Salvy, Talbot and Thirion, arXiv 2507.01761, section 4"
PARK = "Park and Kim, ICCV 2023"
CHEEMA = "Cheema and Urner, AISTATS 2023, appendix A.3"
ALAA = "after Alaa et al., ICML 2022, sections 3 and 4, without their trained map"
KIM = "Kim et al. (TopP&R), NeurIPS 2023, section 3"
ONE_RADIUS = "how the mass is spread inside the support; modes of another scale than the rest"
FACTOR = "mass that is missing or in excess by less than a factor of 3"
CENTRE = "anything but distances to a mean: modes equally far from it look alike"
NOISE = "samples that are noise to their own set; do not use it below 8 dimensions"

ENTRIES = (
    Metric(
        name="clipped_density",
        family="support",
        tells="density as a share of good samples, safe from outliers: quality",
        read=lambda pair, _: clipped_density_score(pair.neighbourhoods),
        source=SALVY,
        blind="missing variety; the cap at 1 hides samples that keep to the dense regions",
        needs=CLIPPED,
        equal=1.0,
    ),
    Metric(
        name="clipped_coverage",
        family="support",
        tells="coverage as a share of good samples, safe from outliers: diversity",
        read=lambda pair, _: clipped_coverage_score(pair.neighbourhoods),
        source=SALVY,
        blind="copies; where the mass lies, as long as 5 samples reach every ball",
        needs=CLIPPED_COVERAGE,
        equal=1.0,
    ),
    Metric(
        name="probabilistic_precision",
        family="support",
        tells="mean probability of a generated sample under the reference's support: quality",
        read=lambda pair, _: probabilistic_precision_score(pair.neighbourhoods),
        source=PARK,
        blind=ONE_RADIUS,
        needs=PROBABILISTIC,
        equal=1.0,
    ),
    Metric(
        name="probabilistic_recall",
        family="support",
        tells="mean probability of a reference sample under the generated support: diversity",
        read=lambda pair, _: probabilistic_recall_score(pair.neighbourhoods),
        source=PARK,
        blind=ONE_RADIUS,
        needs=PROBABILISTIC,
        equal=1.0,
    ),
    Metric(
        name="cover_precision",
        family="support",
        tells="share of generated samples with enough reference samples around them: quality",
        read=lambda pair, _: cover_precision_score(pair.neighbourhoods),
        source=CHEEMA,
        blind=FACTOR,
        needs=COVER,
        equal=1.0,
    ),
    Metric(
        name="cover_recall",
        family="support",
        tells="share of reference samples with enough generated samples around them: diversity",
        read=lambda pair, _: cover_recall_score(pair.neighbourhoods),
        source=CHEEMA,
        blind=FACTOR,
        needs=COVER,
        equal=1.0,
    ),
    Metric(
        name="sphere_precision",
        family="support",
        tells="agreement of the spheres around the reference's mean: quality",
        read=lambda pair, _: sphere_precision_score(
            pair.neighbourhoods, pair.reference, pair.generated
        ),
        source=ALAA,
        blind=CENTRE,
        equal=1.0,
    ),
    Metric(
        name="sphere_recall",
        family="support",
        tells="agreement of the spheres around the generated mean: diversity",
        read=lambda pair, _: sphere_recall_score(
            pair.neighbourhoods, pair.reference, pair.generated
        ),
        source=ALAA,
        blind=CENTRE,
        equal=1.0,
    ),
    Metric(
        name="topp",
        family="support",
        by_part=False,
        tells="share of significant generated samples inside the reference's support: quality",
        read=lambda pair, _: pair.topology.precision,
        source=KIM,
        blind=NOISE,
        on_request=True,
        equal=1.0,
    ),
    Metric(
        name="topr",
        family="support",
        by_part=False,
        tells="share of significant reference samples inside the generated support: diversity",
        read=lambda pair, _: pair.topology.recall,
        source=KIM,
        blind=NOISE,
        on_request=True,
        equal=1.0,
    ),
)
