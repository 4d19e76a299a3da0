"""All metrics on embeddings, in the order of tables and lists.

What all metrics of a family have in common stands before its entries.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, log

from calipers.catalogue.estimation import (
    COMMON,
    CURVE_ESTIMATOR,
    CURVE_POINTS,
    DIVERGENCE,
    ESTIMATOR,
    ORDER,
    POINTS,
    SMOOTHING,
    STARRED,
)
from calipers.catalogue.metric import ANY, FROM_ONE, FROM_ZERO, UNBOUNDED, Family, Metric
from calipers.catalogue.needs import (
    ACROSS,
    CLIPPED,
    CLIPPED_COVERAGE,
    COVER,
    PROBABILISTIC,
    REALISM,
)

KYNKAANNIEMI = "Kynkäänniemi et al., NeurIPS 2019"
NAEEM = "Naeem et al., ICML 2020"
SALVY = "Salvy, Talbot and Thirion, arXiv 2507.01761, section 4"
PARK = "Park and Kim, ICCV 2023"
CHEEMA = "Cheema and Urner, AISTATS 2023, appendix A.3"
ALAA = "after Alaa et al., ICML 2022, sections 3 and 4, without their trained map"
KIM = "Kim et al. (TopP&R), NeurIPS 2023, section 3"
FOX = "Fox, Swarup and Adiga, AAAI 2025"
KAROUZOS = "after Karouzos, Tan and Aletras, arXiv 2604.16027, with the support for a verifier"
JMLR = "Pillutla et al., JMLR 2023"
COSTS = f"{JMLR}, section 7.4.2"
FIGURE = "Le Bronnec et al., ACL 2024, figure A.4"
SAJJADI = "Sajjadi et al., NeurIPS 2018"
GRETTON = "Gretton et al., JMLR 2012"

MASS = (
    "how the mass is spread inside the support; one outlier with a wide ball can hide a gap; small "
    "sets have wide balls, which can raise it"
)
ONE_RADIUS = "how the mass is spread inside the support; modes of another scale than the rest"
FACTOR = "mass that is missing or in excess by less than a factor of 3"
CENTRE = "anything but distances to a mean: modes at the same distance from it look the same"
NOISE = "samples that are noise to their own set; do not use it below 8 dimensions"
COPIES = (
    "copied fragments in an otherwise new sample; compare it with the value of held-out samples"
)
CELLS = "differences within a cell; depends on buckets"
SIDE = "whether quality or variety is lacking"
HARDLY = "it hardly separates quality from variety; depends on c"
FEW_CELLS = "differences within a cell, of which there are 20; values follow the cells"
OFTEN = "how often the {} makes what it reaches"
LINEAR = "what no plane between the embeddings can separate; 0.5 may mean that it learned nothing"
DIMENSIONS = "scale, which depends on the dimensions; one exact copy makes it minus infinity"
FEW_PRECISE = "which samples are precise depends on k; few precise samples span few balls"
CURSE = "a gap smaller than its own bias, which shrinks slowly with n in many dimensions"
NEGATIVE = "small gaps: it is unbiased, so it varies around 0 and may be negative"
NOISY = "the quality of the samples: noise is varied too; grows with the number of samples"

FAMILIES = {
    family.name: family
    for family in (
        Family(
            name="support",
            members="precision, recall, density, coverage and robust variants of them",
            question="does each sample lie where the other set has samples?",
        ),
        Family(
            name="copying",
            members="near_copies, authenticity",
            question="are generated samples new?",
        ),
        Family(
            name="entropy",
            members="precision_cross_entropy, recall_cross_entropy, recall_entropy",
            question="how improbable are the samples of one set under the other?",
        ),
        Family(
            name="frontier",
            members="mauve, frontier_integral, midpoint, divergence, frontier_f8, ..., "
            "with a star (mauve_star) by smoothed counts; renyi_area, ...",
            question="how far apart are the two distributions, by mixtures of both?",
        ),
        Family(
            name="prd",
            members="prd_f8, prd_f1_8, max_precision, max_recall, total_variation, prd_area",
            question="how much of each distribution does the other cover (precision-recall curve)?",
        ),
        Family(
            name="classifier",
            members="classifier_accuracy, classifier_auc, discriminator_accuracy",
            question="can a classifier distinguish the two sets?",
        ),
        Family(
            name="ot",
            members="frechet_distance and optimal transport",
            question="how far must samples be moved (optimal transport)?",
        ),
        Family(
            name="mmd",
            members="mmd, kid, energy_distance",
            question="do means over pairs of samples agree (kernels and distances)?",
        ),
        Family(
            name="variety",
            members="vendi, rke (each beside the reference's own)",
            question="how many effectively different samples does each set hold?",
        ),
    )
}
"""Families by name, each with the question that it answers."""

_support = partial(Metric, family="support")
SUPPORT = (
    _support(
        name="precision",
        replicates="counts",
        label="Precision",
        meaning="share of generated samples inside the reference's support (quality)",
        headline=True,
        tells="share of generated samples inside the reference's support: quality",
        read="calipers.metrics.knn_support:read_precision",
        source=f"{KYNKAANNIEMI}, equation 1",
        parity="prdc, with `--ties open`",
        blind=MASS,
        equal=1.0,
    ),
    _support(
        name="recall",
        replicates="counts",
        label="Recall",
        meaning="share of reference samples inside the generated support (diversity)",
        headline=True,
        tells="share of reference samples inside the generated support: diversity",
        read="calipers.metrics.knn_support:read_recall",
        source=f"{KYNKAANNIEMI}, equation 2",
        parity="prdc, with `--ties open`",
        blind=f"{MASS}, so that a topic may be missing and recall stay: read coverage beside it; a "
        "worse model whose samples are spread out may raise it",
        equal=1.0,
    ),
    _support(
        name="core_recall",
        replicates="counts",
        label="Core R",
        meaning="recall of the densest fifth of the reference",
        tells="share of the densest fifth of the reference inside the generated support",
        read="calipers.metrics.density_bands:read_core_recall",
        source=f"{KYNKAANNIEMI}, equation 2, over a fifth",
        blind=f"{MASS}; loss of sparse samples",
        on_request=True,
        equal=1.0,
    ),
    _support(
        name="peripheral_recall",
        replicates="counts",
        label="Periph R",
        meaning="recall of the sparsest fifth of the reference (its periphery)",
        tells="share of the sparsest fifth of the reference inside the generated support",
        read="calipers.metrics.density_bands:read_peripheral_recall",
        source=f"{KYNKAANNIEMI}, equation 2, over a fifth",
        blind=f"{MASS}; loss of typical samples",
        on_request=True,
        equal=1.0,
    ),
    _support(
        name="density",
        replicates="counts",
        label="Density",
        meaning="how densely the reference surrounds the generated samples; can exceed 1 (quality)",
        tells="how many reference samples surround a generated one, relative to k: quality",
        read="calipers.metrics.knn_support:read_density",
        source=f"{NAEEM}, equation 3",
        parity="prdc, with `--ties open`",
        blind="missing variety; samples concentrated where the reference is dense raise it above 1",
        range=FROM_ZERO,
    ),
    _support(
        name="coverage",
        replicates="counts",
        label="Coverage",
        meaning="share of reference samples with a generated one close by (diversity)",
        headline=True,
        tells="share of reference samples with a generated one nearby: diversity",
        read="calipers.metrics.knn_support:read_coverage",
        source=f"{NAEEM}, equation 4",
        parity="prdc, with `--ties open`",
        blind="how many generated samples lie near; falls where the generated set alone shrinks, "
        "can rise where both do, and falls with the share that lies elsewhere; samples that keep "
        "to the typical do not lower it: read recall beside it",
        equal=1.0,
    ),
    _support(
        name="realism",
        label="Realism",
        meaning="depth of the median generated sample in the support; 1 is its boundary (quality)",
        tells="median depth of the generated samples inside the reference's support: quality",
        read="calipers.metrics.knn_support:read_realism",
        source=f"{KYNKAANNIEMI}, equation 3, section 5",
        blind="missing variety: many copies of one good sample score high",
        needs=REALISM,
        range=FROM_ZERO,
        equal=inf,
    ),
    _support(
        name="precise_recall",
        replicates="calipers.metrics.precise:precise_recall_replicates",
        label="Precise R",
        meaning="recall by the generated samples inside the support only (diversity)",
        tells="recall by the precise samples only: diversity without that of noise",
        read="calipers.metrics.precise:read_precise_recall",
        source=KAROUZOS,
        blind=FEW_PRECISE,
        on_request=True,
        equal=1.0,
    ),
    _support(
        name="precise_diversity",
        replicates="calipers.metrics.precise:precise_diversity_replicates",
        label="Precise div",
        meaning="spread of the generated samples inside the support; 1 is the reference's own",
        tells="spread of the precise samples over that of the reference: diversity",
        read="calipers.metrics.precise:read_precise_diversity",
        source=KAROUZOS,
        blind="gaps within the support; which samples are precise depends on k",
        on_request=True,
        range=FROM_ZERO,
        better="closest",
        equal=1.0,
    ),
    _support(
        name="clipped_density",
        label="Clip D",
        meaning="density as the share of good samples, safe from outliers (quality)",
        tells="density as a share of good samples, safe from outliers: quality",
        read="calipers.metrics.robust:read_clipped_density",
        source=SALVY,
        blind="missing variety; the cap at 1 hides samples that keep to the dense regions",
        needs=CLIPPED,
        equal=1.0,
    ),
    _support(
        name="clipped_coverage",
        label="Clip C",
        meaning="coverage as the share of good samples, safe from outliers (diversity)",
        tells="coverage as a share of good samples, safe from outliers: diversity",
        read="calipers.metrics.robust:read_clipped_coverage",
        source=SALVY,
        blind="copies; where the mass lies, as long as 5 samples reach every ball",
        needs=CLIPPED_COVERAGE,
        equal=1.0,
    ),
    _support(
        name="probabilistic_precision",
        label="Prob P",
        meaning="chance that a generated sample is in the reference's support",
        tells="mean probability of a generated sample under the reference's support: quality",
        read="calipers.metrics.robust:read_probabilistic_precision",
        source=PARK,
        blind=ONE_RADIUS,
        needs=PROBABILISTIC,
        equal=1.0,
    ),
    _support(
        name="probabilistic_recall",
        label="Prob R",
        meaning="chance that a reference sample is in the generated support",
        tells="mean probability of a reference sample under the generated support: diversity",
        read="calipers.metrics.robust:read_probabilistic_recall",
        source=PARK,
        blind=ONE_RADIUS,
        needs=PROBABILISTIC,
        equal=1.0,
    ),
    _support(
        name="cover_precision",
        label="Cover P",
        meaning="share of generated samples with enough reference samples around (quality)",
        tells="share of generated samples with enough reference samples around them: quality",
        read="calipers.metrics.robust:read_cover_precision",
        source=CHEEMA,
        blind=FACTOR,
        needs=COVER,
        equal=1.0,
    ),
    _support(
        name="cover_recall",
        label="Cover R",
        meaning="share of reference samples with enough generated ones around (diversity)",
        tells="share of reference samples with enough generated samples around them: diversity",
        read="calipers.metrics.robust:read_cover_recall",
        source=CHEEMA,
        blind=FACTOR,
        needs=COVER,
        equal=1.0,
    ),
    _support(
        name="sphere_precision",
        label="Sphere P",
        meaning="whether both sets are equally spread around the reference's mean (quality)",
        tells="agreement of the spheres around the reference's mean: quality",
        read="calipers.metrics.spheres:read_sphere_precision",
        source=ALAA,
        blind=CENTRE,
        equal=1.0,
    ),
    _support(
        name="sphere_recall",
        label="Sphere R",
        meaning="whether both sets are equally spread around the generated mean; 0.5 is usual",
        tells="agreement of the spheres around the generated mean: diversity",
        read="calipers.metrics.spheres:read_sphere_recall",
        source=ALAA,
        blind=CENTRE,
        equal=1.0,
    ),
    _support(
        name="topp",
        replicates="none",
        label="TopP",
        meaning="precision without samples that are noise to their own set (quality)",
        tells="share of significant generated samples inside the reference's support: quality",
        read="calipers.metrics.topp:read_topp",
        source=KIM,
        blind=NOISE,
        on_request=True,
        equal=1.0,
    ),
    _support(
        name="topr",
        replicates="none",
        label="TopR",
        meaning="recall without samples that are noise to their own set (diversity)",
        tells="share of significant reference samples inside the generated support: diversity",
        read="calipers.metrics.topp:read_topr",
        source=KIM,
        blind=NOISE,
        on_request=True,
        equal=1.0,
    ),
)
_copying = partial(Metric, family="copying", blind=COPIES)
COPYING = (
    _copying(
        name="authenticity",
        label="Authentic",
        meaning="share of generated samples not too close to a known one; 0.3 to 0.8 is usual",
        ranked=False,
        tells="share of generated samples that are no closer to the reference than its own samples",
        read="calipers.metrics.copying:read_authenticity",
        source="Alaa et al., ICML 2022, section 4.3",
        equal=0.0,
    ),
    _copying(
        name="near_copies",
        label="Copies",
        meaning="share of generated samples that nearly repeat a known one; 0.01 is usual",
        tells="share of generated samples that are near copies of a reference sample",
        read="calipers.metrics.copying:read_near_copies",
        source="a distance within the closest 1 % of the reference's own",
        better="lower",
        equal=1.0,
    ),
)
_entropy = partial(Metric, family="entropy", replicates="counts", on_request=True, range=ANY)
ENTROPY = (
    _entropy(
        name="precision_cross_entropy",
        label="PCE",
        meaning="how improbable generated samples are under the reference, in nats (quality)",
        tells="cross-entropy of the generated samples under the reference, in nats: quality",
        read="calipers.metrics.entropies:read_precision_cross_entropy",
        source=f"{FOX}: H(Q, P) by k-th nearest neighbours",
        blind=f"missing variety; {DIMENSIONS}",
        needs=ACROSS,
        better="lower",
    ),
    _entropy(
        name="recall_cross_entropy",
        label="RCE",
        meaning="how improbable the reference is under the generated samples, in nats (diversity)",
        tells="cross-entropy of the reference under the generated samples, in nats: diversity",
        read="calipers.metrics.entropies:read_recall_cross_entropy",
        source=f"{FOX}: H(P, Q) by k-th nearest neighbours",
        blind=f"generated samples far from the reference; {DIMENSIONS}",
        needs=ACROSS,
        better="lower",
    ),
    _entropy(
        name="recall_entropy",
        label="RE",
        meaning="entropy of the reference, in nats: the RCE of a perfect system",
        tells="entropy of the reference, in nats: the value to compare RCE with",
        read="calipers.metrics.entropies:read_recall_entropy",
        source=f"{FOX}: H(P) by k-th nearest neighbours",
        blind=f"the generated samples; {DIMENSIONS}",
        better="closest",
        ranked=False,
    ),
)

_OPTIONS = (DIVERGENCE, ESTIMATOR, SMOOTHING, POINTS)
_frontier = partial(Metric, family="frontier", replicates="counts", options=_OPTIONS)
_MAUVE = _frontier(
    name="mauve",
    label="MAUVE",
    meaning="how close the two distributions are, unsmoothed; 1 is no gap",
    scaled=True,
    tells="closeness of the two distributions, raw counts as in mauve-text",
    read="calipers.metrics.frontiers:read_mauve",
    source=f"{JMLR}, equation 5; for KL as mauve-text 0.4.0 on the same cells, but of two equal "
    "histograms, which score 1 here and 0.75 or 1 there",
    parity="mauve-text on the same cells, unless both histograms are equal: 1 here, 0.75 or 1 "
    "there",
    blind=f"{SIDE}; {CELLS}",
    unseen=(SIDE, ""),
    equal=1.0,
)
_INTEGRAL = _frontier(
    name="frontier_integral",
    ranged="calipers.metrics.frontiers:range_by",
    label="FI",
    meaning="the gap between the distributions, unsmoothed; 0 is none",
    tells="average cost of explaining both sets by a mixture, raw counts",
    read="calipers.metrics.frontiers:read_frontier_integral",
    source=f"{JMLR}, equation 7",
    parity="mauve-text",
    blind=f"{SIDE}; {CELLS}",
    unseen=(SIDE, ""),
    better="lower",
    equal=0.0,
)
_MIDPOINT = _frontier(
    name="midpoint",
    ranged="calipers.metrics.frontiers:range_by",
    label="Mid",
    meaning="the gap of both to their even mixture, unsmoothed; 0 is none",
    tells="cost of explaining both sets by their even mixture, raw counts; Jensen-Shannon for KL",
    read="calipers.metrics.frontiers:read_midpoint",
    source=f"{JMLR}, equation 8",
    blind=f"{SIDE}; {CELLS}",
    unseen=(SIDE, ""),
    on_request=True,
    range=(0.0, log(2)),
    better="lower",
    equal=0.0,
)
_DIVERGENCE = _frontier(
    name="divergence",
    ranged="calipers.metrics.frontiers:range_by",
    label="Div",
    meaning="divergence of the reference from the generated set, unsmoothed; 0 is no gap",
    tells="f-divergence of the reference from the generated set, raw counts; KL is often infinite",
    read="calipers.metrics.frontiers:read_divergence",
    source=f"{JMLR}, definition 1 and table 1",
    blind=f"{CELLS}; {UNBOUNDED}",
    unseen=("", ""),
    on_request=True,
    range=FROM_ZERO,
    better="lower",
    equal=0.0,
)


def _starred(
    metric: Metric, *, label: str, meaning: str, tells: str, headline: bool = False
) -> Metric:
    """The same metric by another name, with smoothed counts."""
    return replace(
        metric,
        name=f"{metric.name}_star",
        label=label,
        meaning=meaning,
        headline=headline,
        tells=tells,
        alias_of=metric.name,
        smoothing=STARRED,
        source=f"{metric.source}; smoothing: equation 9",
        blind=metric.blind.removesuffix(f"; {UNBOUNDED}"),
        options=(DIVERGENCE,),
    )


FRONTIER = (
    _MAUVE,
    _starred(
        _MAUVE,
        label="MAUVE*",
        meaning="how close the two distributions are; 1 is no gap",
        tells="closeness of the two distributions, smoothed counts",
        headline=True,
    ),
    _INTEGRAL,
    _starred(
        _INTEGRAL,
        label="FI*",
        meaning="the gap between the distributions; 0 is none",
        tells="average cost of explaining both sets by a mixture, smoothed counts",
    ),
    _MIDPOINT,
    _starred(
        _MIDPOINT,
        label="Mid*",
        meaning="the gap of both to their even mixture; 0 is none",
        tells="cost of explaining both sets by their even mixture, smoothed counts",
    ),
    _frontier(
        name="frontier_f8",
        label="Front F8",
        meaning="the frontier as a precision-recall curve, recall first, unsmoothed",
        scaled=True,
        tells="diversity, from the frontier as a precision-recall curve",
        read="calipers.metrics.frontiers:read_frontier_f8",
        source=FIGURE,
        blind=f"differences within a cell; {HARDLY}",
        unseen=("", HARDLY),
        on_request=True,
        equal=1.0,
    ),
    _frontier(
        name="frontier_f1_8",
        label="Front F1/8",
        meaning="the frontier as a precision-recall curve, precision first, unsmoothed",
        scaled=True,
        tells="quality, from the frontier as a precision-recall curve",
        read="calipers.metrics.frontiers:read_frontier_f1_8",
        source=FIGURE,
        blind=f"differences within a cell; {HARDLY}",
        unseen=("", HARDLY),
        on_request=True,
        equal=1.0,
    ),
    _DIVERGENCE,
    _starred(
        _DIVERGENCE,
        label="Div*",
        meaning="divergence of the reference from the generated set; 0 is no gap",
        tells="f-divergence of the reference from the generated set, smoothed counts",
    ),
)
_renyi = partial(
    Metric,
    family="frontier",
    replicates="counts",
    options=(ESTIMATOR, ORDER, COMMON),
    source="Djolonga et al., AISTATS 2020, propositions 1 and 2",
    on_request=True,
    equal=1.0,
)
RENYI = (
    _renyi(
        name="renyi_area",
        label="Rényi area",
        meaning="area under precision and recall by Rényi divergences; 1 is no gap",
        tells="area under precision and recall by the Rényi divergences of an order",
        read="calipers.metrics.renyi:read_renyi_area",
        blind=f"{CELLS}; {SIDE}",
        unseen=("", SIDE),
    ),
    _renyi(
        name="renyi_f8",
        label="Rényi F8",
        meaning="precision and recall by Rényi divergences in one number, recall first",
        tells="diversity, from the Rényi frontier of an order",
        read="calipers.metrics.renyi:read_renyi_f8",
        blind=CELLS,
        unseen=("", ""),
    ),
    _renyi(
        name="renyi_f1_8",
        label="Rényi F1/8",
        meaning="precision and recall by Rényi divergences in one number, precision first",
        tells="quality, from the Rényi frontier of an order",
        read="calipers.metrics.renyi:read_renyi_f1_8",
        blind=CELLS,
        unseen=("", ""),
    ),
)
_prd = partial(Metric, family="prd", replicates="counts", options=(CURVE_ESTIMATOR, CURVE_POINTS))
PRD = (
    _prd(
        name="prd_f8",
        label="PRD F8",
        meaning="precision and recall of distributions in one number, recall first",
        tells="diversity, from the precision-recall curve over 20 cells",
        read="calipers.metrics.prd:read_prd_f8",
        source=f"{SAJJADI}, section 4.1",
        parity="the PRD authors' release on the same cells",
        blind=FEW_CELLS,
        unseen=("", ""),
        equal=1.0,
    ),
    _prd(
        name="prd_f1_8",
        label="PRD F1/8",
        meaning="precision and recall of distributions in one number, precision first",
        tells="quality, from the precision-recall curve over 20 cells",
        read="calipers.metrics.prd:read_prd_f1_8",
        source=f"{SAJJADI}, section 4.1",
        parity="the PRD authors' release on the same cells",
        blind=FEW_CELLS,
        unseen=("", ""),
        equal=1.0,
    ),
    _prd(
        name="max_precision",
        label="Max P",
        meaning="share of the generated set in cells that the reference reaches (quality)",
        tells="share of the generated set in cells that the reference reaches: quality",
        read="calipers.metrics.prd:read_max_precision",
        source=f"{SAJJADI}, theorem 1; α∞ of Le Bronnec et al., ACL 2024",
        blind=f"{FEW_CELLS}; how much of the reference lies in a cell",
        unseen=("", OFTEN.format("reference")),
        on_request=True,
        equal=1.0,
    ),
    _prd(
        name="max_recall",
        label="Max R",
        meaning="share of the reference in cells that the generated set reaches (diversity)",
        tells="share of the reference in cells that the generated set reaches: diversity",
        read="calipers.metrics.prd:read_max_recall",
        source=f"{SAJJADI}, theorem 1; β₀ of Le Bronnec et al., ACL 2024",
        blind=f"{FEW_CELLS}; how much of the generated set lies in a cell",
        unseen=("", OFTEN.format("generated set")),
        on_request=True,
        equal=1.0,
    ),
    _prd(
        name="total_variation",
        label="TV",
        meaning="largest difference in the probability of any event; 0 is no gap",
        tells="largest difference in the probability of any event, over 20 cells",
        read="calipers.metrics.prd:read_total_variation",
        source=f"{SAJJADI}, theorem 2, at slope 1: 1 - α(1)",
        blind=FEW_CELLS,
        unseen=("", ""),
        on_request=True,
        better="lower",
        equal=0.0,
    ),
    _prd(
        name="prd_area",
        label="PRD area",
        meaning="area under the curve of precision and recall of distributions; 1 is no gap",
        tells="area under the precision-recall curve over 20 cells",
        read="calipers.metrics.prd:read_prd_area",
        source="Sykes, Simon and Rabin, arXiv 2405.01611: area under the curve",
        blind=f"{FEW_CELLS}; {SIDE}",
        unseen=("", SIDE),
        on_request=True,
        equal=1.0,
    ),
)
_classifier = partial(
    Metric, family="classifier", parity="scikit-learn", on_request=True, better="lower", chance=0.5
)
CLASSIFIER = (
    _classifier(
        name="classifier_accuracy",
        label="Clf acc",
        meaning="accuracy of a classifier between the sets, held out; 0.5 is no gap",
        tells="accuracy of a classifier between the sets, held out; 0.5 is no gap",
        read="calipers.metrics.classifier:read_classifier_accuracy",
        source=f"{JMLR}, section 4.3",
        blind=LINEAR,
    ),
    _classifier(
        name="classifier_auc",
        label="Clf AUC",
        meaning="how often a classifier picks the reference's of two samples; 0.5 is no gap",
        tells="how often a classifier picks the reference's of two samples (area under the ROC)",
        read="calipers.metrics.classifier:read_classifier_auc",
        replicates="calipers.uncertainty.classifier_auc:classifier_auc_spread",
        source="Lopez-Paz and Oquab, ICLR 2017, with a linear discriminant",
        blind=LINEAR,
    ),
    _classifier(
        name="discriminator_accuracy",
        label="Disc acc",
        meaning="accuracy of a classifier on a held-out quarter; 0.5 is no gap",
        tells="accuracy of a classifier on a held-out quarter, its penalty cross-validated",
        read="calipers.metrics.classifier:read_discriminator_accuracy",
        source=f"{JMLR}, section 6.3",
        blind=f"{LINEAR}; small gaps, since a quarter of the samples is tested",
    ),
)
_ot = partial(Metric, family="ot")
OT = (
    _ot(
        name="frechet_distance",
        label="Fréchet",
        meaning="distance of the Gaussians fitted to the two sets; 0 is no gap",
        tells="distance between the Gaussians fitted to both sets",
        read="calipers.metrics.frechet:read_frechet_distance",
        replicates="calipers.metrics.frechet:frechet_distance_without",
        source="Heusel et al., NeurIPS 2017 (FID)",
        parity="FID's formula",
        blind="anything beyond means and covariances; too large for few samples",
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
    _ot(
        name="ot",
        label="W2²",
        meaning="cost of moving the generated samples onto the reference; 0 is no gap",
        tells="cost of moving the generated samples onto the reference, squared distances",
        read="calipers.metrics.transport:read_ot",
        source=f"{COSTS}, plug-in",
        parity="POT",
        blind=CURSE,
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
        extra="transport",
        package="ot",
        extra_if_unequal=True,
    ),
    _ot(
        name="ot_quantised",
        label="W2² cells",
        meaning="cost of moving one histogram onto the other; 0 is no gap",
        tells="cost of moving one histogram onto the other, between centres of cells",
        read="calipers.metrics.transport:read_ot_quantised",
        source=f"{COSTS}, quantised",
        parity="POT",
        blind=CELLS,
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
        extra="transport",
        package="ot",
    ),
    _ot(
        name="ot_entropic",
        label="W2² blur",
        meaning="cost of moving one histogram onto the other, entropically regularised",
        tells="entropically regularised cost between the histograms; equal sets do not score 0",
        read="calipers.metrics.transport:read_ot_entropic",
        source=f"{COSTS}; Cuturi, NeurIPS 2013",
        parity="POT",
        blind=f"{CELLS}; small gaps, next to the spread of the sets themselves",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
    ),
    _ot(
        name="ot_debiased",
        label="W2² debias",
        meaning="the regularised cost, minus that of each set with itself; 0 is no gap",
        tells="regularised cost between the histograms, minus that of each with itself",
        read="calipers.metrics.transport:read_ot_debiased",
        source="Feydy et al., AISTATS 2019 (Sinkhorn divergence)",
        parity="POT",
        blind=f"{CELLS}; by default little beyond the distance of the means",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
    _ot(
        name="mauve_ot",
        label="MAUVE OT",
        meaning="closeness by transport costs to mixtures of both sets; 1 is no gap",
        tells="closeness by transport costs to mixtures of both sets",
        read="calipers.metrics.mauve_transport:read_mauve_ot",
        source=f"{COSTS}, equation 31",
        blind=f"{CELLS}; {SIDE}",
        on_request=True,
        equal=1.0,
        extra="transport",
        package="ot",
    ),
    _ot(
        name="mauve_ot_barycentric",
        label="MAUVE OT bar",
        meaning="closeness by transport costs to barycentres of both; 1 is no gap",
        tells="closeness by transport costs to barycentres of both sets",
        read="calipers.metrics.mauve_transport:read_mauve_ot_barycentric",
        source=f"{COSTS}, equation 32",
        blind=f"{CELLS}; {SIDE}",
        on_request=True,
        equal=1.0,
        extra="transport",
        package="ot",
    ),
    _ot(
        name="sliced_wasserstein",
        label="Sliced",
        meaning="mean transport cost over random directions; 0 is no gap",
        tells="mean transport cost over random directions, squared; cheap for large sets",
        read="calipers.metrics.transport:read_sliced_wasserstein",
        source="Bonneel et al., JMIV 2015",
        parity="POT",
        blind="gaps along few of many dimensions, which are averaged out; depends on the seed",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
)
_mmd = partial(Metric, family="mmd", on_request=True, better="lower")
MMD = (
    _mmd(
        name="mmd",
        label="MMD",
        meaning="distance of kernel means, Gaussian kernel; 0 is no gap, may be negative by chance",
        tells="squared distance of kernel means, Gaussian of median width; 0 is no gap",
        read="calipers.metrics.mmd:read_mmd",
        replicates="calipers.metrics.mmd:mmd_without",
        source=f"{GRETTON}, lemma 6",
        blind=f"{NEGATIVE}; gaps much finer than the typical distance, such as copies",
        range=ANY,
    ),
    _mmd(
        name="kid",
        label="KID",
        meaning="distance of kernel means, cubic kernel; 0 is no gap, may be negative by chance",
        tells="squared distance of kernel means, cubic kernel (KID); 0 is no gap",
        read="calipers.metrics.mmd:read_kid",
        replicates="calipers.metrics.mmd:kid_without",
        source="Bińkowski et al., ICLR 2018",
        blind=f"{NEGATIVE}; moments beyond the third",
        range=ANY,
    ),
    _mmd(
        name="energy_distance",
        label="Energy",
        meaning="distances between the sets minus those within them; 0 is no gap",
        tells="distances between the sets minus those within them; 0 is no gap, no parameters",
        read="calipers.metrics.energy:read_energy_distance",
        replicates="calipers.metrics.energy:energy_distance_without",
        source="Székely and Rizzo, J. Stat. Plan. Inference 2013; as means over all pairs",
        blind="in many dimensions, most differences beyond the means and the overall spread",
        range=FROM_ZERO,
        equal=0.0,
    ),
)
_variety = partial(
    Metric,
    family="variety",
    parity="vendi-score",
    on_request=True,
    range=FROM_ONE,
    better="closest",
)
VARIETY = (
    _variety(
        name="vendi",
        label="Vendi",
        meaning="effective number of different samples, beside the reference's",
        tells="effective number of different samples, by cosine similarity, beside the reference's",
        read="calipers.metrics.vendi:read_vendi",
        source="Friedman and Dieng, TMLR 2023",
        blind=NOISY,
    ),
    _variety(
        name="rke",
        label="RKE",
        meaning="effective number of modes, beside the reference's",
        tells="effective number of modes (Vendi score of order 2), beside the reference's",
        read="calipers.metrics.vendi:read_rke",
        source="Jalali et al., NeurIPS 2023; Pasarkar and Dieng, AISTATS 2024",
        blind=f"{NOISY}; rare modes",
    ),
)

METRICS = {
    metric.name: metric
    for metric in (
        *SUPPORT,
        *COPYING,
        *ENTROPY,
        *FRONTIER,
        *RENYI,
        *PRD,
        *CLASSIFIER,
        *OT,
        *MMD,
        *VARIETY,
    )
}
"""Every metric on embeddings by name."""
