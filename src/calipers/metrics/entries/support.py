"""Entries of the support metrics that share the k of the comparison."""

from __future__ import annotations

import numpy as np

from calipers.metrics.entries.metric import FROM_ZERO, Metric
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    realism_score,
    recall_score,
)
from calipers.metrics.needs import REALISM

KYNKAANNIEMI = "Kynkäänniemi et al., NeurIPS 2019"
NAEEM = "Naeem et al., ICML 2020"
MASS = (
    "how the mass is spread inside the support; one outlier with a wide ball can hide a gap; small "
    "sets have wide balls, which can flatter"
)

ENTRIES = (
    Metric(
        name="precision",
        family="support",
        by_block=True,
        tells="share of generated samples inside the reference's support: quality",
        read=lambda pair, _: precision_score(pair.neighbourhoods, pair.settings.k),
        source=f"{KYNKAANNIEMI}, equation 1",
        blind=MASS,
        equal=1.0,
    ),
    Metric(
        name="recall",
        family="support",
        by_block=True,
        tells="share of reference samples inside the generated support: diversity",
        read=lambda pair, _: recall_score(pair.neighbourhoods, pair.settings.k),
        source=f"{KYNKAANNIEMI}, equation 2",
        blind=f"{MASS}; a worse model whose samples are spread out may raise it",
        equal=1.0,
    ),
    Metric(
        name="density",
        family="support",
        by_block=True,
        tells="how many reference samples surround a generated one, relative to k: quality",
        read=lambda pair, _: density_score(pair.neighbourhoods, pair.settings.k),
        source=f"{NAEEM}, equation 3",
        blind="missing variety; samples packed where the reference is dense raise it above 1",
        range=FROM_ZERO,
    ),
    Metric(
        name="coverage",
        family="support",
        by_block=True,
        tells="share of reference samples with a generated one nearby: diversity",
        read=lambda pair, _: coverage_score(pair.neighbourhoods, pair.settings.k),
        source=f"{NAEEM}, equation 4",
        blind="how many generated samples lie near; falls where the generated set alone shrinks, "
        "can rise where both do, and falls with the share that lies elsewhere",
        equal=1.0,
    ),
    Metric(
        name="realism",
        family="support",
        tells="median depth of the generated samples inside the reference's support: quality",
        read=lambda pair, _: realism_score(pair.neighbourhoods, pair.settings.k),
        source=f"{KYNKAANNIEMI}, equation 3, section 5",
        blind="missing variety: one good sample many times over scores high",
        needs=REALISM,
        range=FROM_ZERO,
        equal=np.inf,
    ),
)
