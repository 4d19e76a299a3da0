"""What metrics, their options and views are called where a person reads them."""

from __future__ import annotations

HEADLINE = ("precision", "recall", "coverage", "mauve_star")
"""The metrics that a table shows unless others were asked for."""

LABELS = {
    "precision": "Precision",
    "recall": "Recall",
    "density": "Density",
    "coverage": "Coverage",
    "realism": "Realism",
    "clipped_density": "Clip D",
    "clipped_coverage": "Clip C",
    "probabilistic_precision": "Prob P",
    "probabilistic_recall": "Prob R",
    "cover_precision": "Cover P",
    "cover_recall": "Cover R",
    "sphere_precision": "Sphere P",
    "sphere_recall": "Sphere R",
    "topp": "TopP",
    "topr": "TopR",
    "authenticity": "Authentic",
    "near_copies": "Copies",
    "mauve": "MAUVE",
    "mauve_star": "MAUVE*",
    "frontier_integral": "FI",
    "frontier_integral_star": "FI*",
    "midpoint": "Mid",
    "midpoint_star": "Mid*",
    "frontier_f8": "Front F8",
    "frontier_f1_8": "Front F1/8",
    "divergence": "Div",
    "divergence_star": "Div*",
    "prd_f8": "PRD F8",
    "prd_f1_8": "PRD F1/8",
    "max_precision": "Max P",
    "max_recall": "Max R",
    "total_variation": "TV",
    "classifier_accuracy": "Clf acc",
    "classifier_auc": "Clf AUC",
    "discriminator_accuracy": "Disc acc",
    "frechet_distance": "Fréchet",
    "ot": "W2²",
    "ot_quantised": "W2² cells",
    "ot_entropic": "W2² blur",
    "ot_debiased": "W2² debias",
    "mauve_ot": "MAUVE OT",
    "mauve_ot_barycentric": "MAUVE OT bar",
    "sliced_wasserstein": "Sliced",
    "mmd": "MMD",
    "kid": "KID",
    "energy_distance": "Energy",
    "vendi": "Vendi",
    "rke": "RKE",
}
"""Key of a metric to the name at the head of its column."""

UNRANKED = {"authenticity"}
"""The metrics whose good values lie in the middle, so that none is the best of its column."""

FAMILIES = ("support", "copying", "frontier", "prd", "classifier", "ot", "mmd", "variety")
"""What stands for several metrics at once."""

DIVERGENCES = {
    "kl": "KL",
    "reverse_kl": "rev KL",
    "jensen_shannon": "JS",
    "chi2": "χ²",
    "le_cam": "Le Cam",
    "squared_hellinger": "H²",
    "total_variation": "TV",
    "interpolated_kl": "KL",
    "interpolated_chi2": "χ²",
    "skew_jensen_shannon": "JS",
}
"""Name of a divergence to what it is called in a column; a weight follows it."""

ESTIMATORS = {
    "knn": "k-NN",
    "kde": "KDE",
    "classifier": "classifier",
    "boosted": "boosted",
    "gaussian": "Gauss",
}
"""Name of an estimator of likelihood ratios to what it is called in a column."""

SMOOTHINGS = {
    "laplace": "Laplace",
    "krichevsky-trofimov": "KT",
    "braess-sauer": "BS",
    "good-turing": "GT",
}
"""Name of a smoothing to what it is called in a column."""

MADE_BY = {
    "knn": "from nearest neighbours",
    "kde": "from kernel densities",
    "classifier": "from the odds of a classifier",
    "boosted": "from the odds of boosted trees",
    "gaussian": "from fitted Gaussians",
    "laplace": "1 added to each count",
    "krichevsky-trofimov": "1/2 added to each count",
    "braess-sauer": "counts smoothed by Braess and Sauer",
    "good-turing": "counts smoothed by Good and Turing",
}
"""Name of an estimator or a smoothing to how it makes a score."""

MEANINGS = {
    "precision": "share of generated samples inside the reference's support (quality)",
    "recall": "share of reference samples inside the generated support (diversity)",
    "density": "how densely the reference surrounds the generated samples; may pass 1 (quality)",
    "coverage": "share of reference samples with a generated one close by (diversity)",
    "realism": "depth of the median generated sample in the support; 1 is the edge (quality)",
    "clipped_density": "density as the share of good samples, safe from outliers (quality)",
    "clipped_coverage": "coverage as the share of good samples, safe from outliers (diversity)",
    "probabilistic_precision": "chance that a generated sample is in the reference's support",
    "probabilistic_recall": "chance that a reference sample is in the generated support",
    "cover_precision": "share of generated samples with enough of the reference around (quality)",
    "cover_recall": "share of reference samples with enough generated ones around (diversity)",
    "sphere_precision": "whether both sets spread alike around the reference's mean (quality)",
    "sphere_recall": "whether both sets spread alike around the generated mean; 0.5 is usual",
    "topp": "precision without samples that are noise to their own set (quality)",
    "topr": "recall without samples that are noise to their own set (diversity)",
    "authenticity": "share of generated samples not too close to a known one; 0.3 to 0.8 is usual",
    "near_copies": "share of generated samples that nearly repeat a known one; 0.01 is usual",
    "mauve": "how close the two distributions are, unsmoothed; 1 is no gap",
    "mauve_star": "how close the two distributions are; 1 is no gap",
    "frontier_integral": "the gap between the distributions, unsmoothed; 0 is none",
    "frontier_integral_star": "the gap between the distributions; 0 is none",
    "midpoint": "the gap of both to their even mixture, unsmoothed; 0 is none",
    "midpoint_star": "the gap of both to their even mixture; 0 is none",
    "frontier_f8": "the frontier as a precision-recall curve, recall first, unsmoothed",
    "frontier_f1_8": "the frontier as a precision-recall curve, precision first, unsmoothed",
    "divergence": "divergence of the reference from the generated set, unsmoothed; 0 is no gap",
    "divergence_star": "divergence of the reference from the generated set; 0 is no gap",
    "prd_f8": "precision and recall of distributions in one number, recall first",
    "prd_f1_8": "precision and recall of distributions in one number, precision first",
    "max_precision": "share of the generated set in cells that the reference reaches (quality)",
    "max_recall": "share of the reference in cells that the generated set reaches (diversity)",
    "total_variation": "largest difference in the probability of any event; 0 is no gap",
    "classifier_accuracy": "how often held-out samples are told apart; 0.5 is no gap",
    "classifier_auc": "how well held-out samples are ordered by their side; 0.5 is no gap",
    "discriminator_accuracy": "how often a held-out quarter is told apart; 0.5 is no gap",
    "frechet_distance": "distance of the Gaussians fitted to the two sets; 0 is no gap",
    "ot": "cost of moving the generated samples onto the reference; 0 is no gap",
    "ot_quantised": "cost of moving one histogram onto the other; 0 is no gap",
    "ot_entropic": "cost of moving one histogram onto the other by a blurred plan",
    "ot_debiased": "the cost by a blurred plan, less that of each set with itself; 0 is no gap",
    "mauve_ot": "closeness by transport costs to mixtures of both sets; 1 is no gap",
    "mauve_ot_barycentric": "closeness by transport costs to barycentres of both; 1 is no gap",
    "sliced_wasserstein": "mean transport cost over random directions; 0 is no gap",
    "mmd": "distance of kernel means, Gaussian kernel; 0 is no gap, chance goes below",
    "kid": "distance of kernel means, cubic kernel; 0 is no gap, chance goes below",
    "energy_distance": "distances across both sets less those within; 0 is no gap",
    "vendi": "effective number of different samples, beside the reference's",
    "rke": "effective number of modes, beside the reference's",
}
"""Key of a metric to one line that says what it tells."""

VIEWS = {
    "meaning": "topics and content",
    "form": "style, fluency, word order; topics too",
    "wording": "the words that occur, whatever their order",
    "image": "what a picture shows, as the model sees it",
    "pixels": "brightness and colour, place by place",
    "text": "the strings themselves",
}
"""Name of a view to what it sees."""
