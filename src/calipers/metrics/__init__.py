"""Metrics as functions of arrays, for use with embeddings at hand.

Arrays are compared as they are given, as :func:`calipers.compare` compares them. Only ``mauve`` and
``mauve_ot`` preprocess them as mauve-text does, by rows of length one and PCA, unless another
`norm` and `pca` are given.
"""

from calipers.estimate.axes import Preprocessed, preprocess
from calipers.metrics.bert_score import BertScore, bert_score
from calipers.metrics.classifier import classifier_auc
from calipers.metrics.conditional_vendi import (
    conditional_vendi,
    cosine_kernel,
    information_vendi,
    same_prompt_kernel,
    vendi_within,
)
from calipers.metrics.copying import authenticity, near_copies
from calipers.metrics.density_bands import recall_by_density
from calipers.metrics.energy import energy_distance
from calipers.metrics.entropies import (
    precision_cross_entropy,
    recall_cross_entropy,
    recall_entropy,
)
from calipers.metrics.frechet import frechet_distance
from calipers.metrics.frontiers import Mauve, mauve
from calipers.metrics.groups import scores_by_group
from calipers.metrics.inception import inception_score
from calipers.metrics.knn_support import (
    DensityCoverage,
    PrecisionRecall,
    SupportScores,
    density_coverage,
    precision_recall,
    realism,
    support,
)
from calipers.metrics.mauve_transport import (
    MauveTransport,
    TransportFrontier,
    mauve_ot,
    transport_frontier,
)
from calipers.metrics.mmd import kid, mmd
from calipers.metrics.mover_score import mover_score
from calipers.metrics.prd import Prd, prd
from calipers.metrics.precise import precise_diversity, precise_recall
from calipers.metrics.robust import (
    ClippedDensityCoverage,
    clipped_density_coverage,
    precision_recall_cover,
    probabilistic_precision_recall,
)
from calipers.metrics.spheres import sphere_precision_recall
from calipers.metrics.topp import TopologicalPrecisionRecall, topological_precision_recall
from calipers.metrics.transport import (
    EntropicTransport,
    entropic_transport,
    optimal_transport,
    quantised_transport,
    sliced_wasserstein,
)
from calipers.metrics.vendi import rke, vendi_score
from calipers.metrics.within_prompts import (
    distinct_k,
    similarity_across,
    similarity_between,
    similarity_classes,
    similarity_within,
)

__all__ = [
    "BertScore",
    "ClippedDensityCoverage",
    "DensityCoverage",
    "EntropicTransport",
    "Mauve",
    "MauveTransport",
    "Prd",
    "PrecisionRecall",
    "Preprocessed",
    "SupportScores",
    "TopologicalPrecisionRecall",
    "TransportFrontier",
    "authenticity",
    "bert_score",
    "classifier_auc",
    "clipped_density_coverage",
    "conditional_vendi",
    "cosine_kernel",
    "density_coverage",
    "distinct_k",
    "energy_distance",
    "entropic_transport",
    "frechet_distance",
    "inception_score",
    "information_vendi",
    "kid",
    "mauve",
    "mauve_ot",
    "mmd",
    "mover_score",
    "near_copies",
    "optimal_transport",
    "prd",
    "precise_diversity",
    "precise_recall",
    "precision_cross_entropy",
    "precision_recall",
    "precision_recall_cover",
    "preprocess",
    "probabilistic_precision_recall",
    "quantised_transport",
    "realism",
    "recall_by_density",
    "recall_cross_entropy",
    "recall_entropy",
    "rke",
    "same_prompt_kernel",
    "scores_by_group",
    "similarity_across",
    "similarity_between",
    "similarity_classes",
    "similarity_within",
    "sliced_wasserstein",
    "sphere_precision_recall",
    "support",
    "topological_precision_recall",
    "transport_frontier",
    "vendi_score",
    "vendi_within",
]
