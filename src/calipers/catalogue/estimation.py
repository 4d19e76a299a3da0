"""Estimators of frontiers and precision-recall curves: the options in their metrics' keys.

The names are stated here; :mod:`calipers.curves` and :mod:`calipers.estimate` hold the functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from calipers.catalogue.keys import Option, Value

Axis = Literal["divergence", "estimator", "smoothing", "points", "order", "common"]
AveragedOver = Literal["both_sides", "other_side", "own_side"]
Smoothing = Literal["none", "laplace", "krichevsky-trofimov", "braess-sauer", "good-turing"]

COUNTING = "quantisation"
"""The estimator that counts cells; the others give likelihood ratios."""

STARRED: Smoothing = "krichevsky-trofimov"
"""The smoothing of the scores with a star."""

PAIRED_C = {
    COUNTING: 5.0,
    "knn": 10.0,
    "kde": 10.0,
    "classifier": 2.5,
    "boosted": 2.5,
    "gaussian": 1.0,
    "model": 5.0,
}
"""Scaling constant c of MAUVE for each estimator; 5 for model probabilities is this library's."""

DIVERGENCE = Option(
    name="divergence",
    default="kl",
    tells="how far a mixture is from each set",
    article="a divergence",
    words=(
        "kl",
        "reverse_kl",
        "jensen_shannon",
        "chi2",
        "le_cam",
        "squared_hellinger",
        "total_variation",
    ),
    weighted=("interpolated_kl", "interpolated_chi2", "skew_jensen_shannon"),
    parse="calipers.curves.divergences:find_divergence",
    labels={
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
    },
)
ESTIMATOR = Option(
    name="estimator",
    default=COUNTING,
    tells="what relates the two sets",
    article="an estimator",
    words=(COUNTING, "knn", "kde", "classifier", "boosted", "gaussian"),
    labels={
        "knn": "k-NN",
        "kde": "KDE",
        "classifier": "classifier",
        "boosted": "boosted",
        "gaussian": "Gauss",
    },
    phrases={
        "knn": "from nearest neighbours",
        "kde": "from kernel densities",
        "classifier": "from the odds of a classifier",
        "boosted": "from the odds of boosted trees",
        "gaussian": "from fitted Gaussians",
    },
)
SMOOTHING = Option(
    name="smoothing",
    default="none",
    tells="what is added to the counts of cells",
    article="a smoothing",
    words=get_args(Smoothing),
    labels={
        "laplace": "Laplace",
        "krichevsky-trofimov": "KT",
        "braess-sauer": "BS",
        "good-turing": "GT",
    },
    phrases={
        "laplace": "1 added to each count",
        "krichevsky-trofimov": "1/2 added to each count",
        "braess-sauer": "counts smoothed by Braess and Sauer",
        "good-turing": "counts smoothed by Good and Turing",
    },
)
POINTS = Option(
    name="points",
    default="both_sides",
    tells="whose samples estimated ratios are averaged over",
    article="a choice of samples to average over",
    words=get_args(AveragedOver),
    labels={"other_side": "(other side)", "own_side": "(own side)"},
    phrases={
        "other_side": "averaged over the samples of the other side",
        "own_side": "averaged over the samples of the own side",
    },
)
HELD_OUT: Literal["held_out"] = "held_out"
"""Every sample judged by classifiers that were trained on the other half of both sets."""

EVERY_POINTS = replace(
    POINTS,
    words=(*POINTS.words, HELD_OUT),
    labels={**POINTS.labels, HELD_OUT: "held out"},
    phrases={**POINTS.phrases, HELD_OUT: "by classifiers trained on the other half"},
)
CURVE_POINTS = replace(
    EVERY_POINTS,
    words=("both_sides", "own_side", HELD_OUT),
    labels={word: EVERY_POINTS.labels[word] for word in ("own_side", HELD_OUT)},
)
"""The same of precision-recall curves: their definitions average over the own side, or judge
samples by classifiers."""

ORDER = Option(
    name="order",
    default=1.0,
    tells="the order of the Rényi divergence; inf follows the worst place alone",
    article="an order",
    least=0.05,
    whole=False,
    labels={"order": "α"},
)
COMMON = Option(
    name="common",
    default="exclusive",
    tells="whether what is common must be in both sets, or hold what is in either",
    article="a kind of frontier",
    words=("exclusive", "inclusive"),
    labels={"inclusive": "inclusive"},
    phrases={"inclusive": "by what holds both sets"},
)

JUDGES = ("support", "coverage")
"""What only precision-recall curves are estimated by: classifiers by k-NN balls."""

CURVE_ESTIMATOR = replace(
    ESTIMATOR,
    words=(*ESTIMATOR.words, *JUDGES),
    labels={**ESTIMATOR.labels, "support": "balls", "coverage": "coverage"},
    phrases={
        **ESTIMATOR.phrases,
        "support": "from the k-NN balls of both sets",
        "coverage": "from the neighbours of a sample in either set",
    },
)

AXES = (DIVERGENCE, CURVE_ESTIMATOR, SMOOTHING, EVERY_POINTS, ORDER, COMMON)
"""What a key may choose, with the words of all metrics."""

ESTIMATORS = ESTIMATOR.words
"""What a frontier or a precision-recall curve of two sets of rows can be estimated by."""

_BEYOND = "beyond the 10 leading axes"

UNSEEN = {
    "knn": f"anything finer than 50 neighbours, or {_BEYOND}",
    "kde": f"anything finer than its kernel, or {_BEYOND}; a set against itself does not score "
    "best",
    "classifier": f"what no plane separates, or {_BEYOND}",
    "boosted": f"small differences on small sets, or {_BEYOND}",
    "gaussian": "all but mean and covariance of the 10 leading axes",
    "support": "what no number of k-NN balls around a sample tells",
    "coverage": "what the k-th neighbours of a sample in either set do not tell",
}
"""What an estimator that counts no cells does not see."""

UNSEEN_FROM = {
    "other_side": "how far apart sets are that hardly overlap, which it may rank wrongly",
    "own_side": "gaps that come out negative, which count as none",
    HELD_OUT: "what half of the samples are too few to learn",
}
"""What an average over the samples of one side does not see."""


@dataclass(frozen=True)
class EstimationOptions:
    """Options in the key of a score on embeddings.

    Attributes
    ----------
    divergence
        Name of an f-divergence, as :func:`calipers.curves.divergences.find_divergence` knows it.
    estimator
        What relates the two distributions: ``"quantisation"`` counts cells, the others give
        likelihood ratios.
    smoothing
        What is added to the counts of cells.
    points
        Whose samples estimated ratios are averaged over; of cells all are the same. Of
        precision-recall curves also ``"held_out"``, by classifiers trained on the other half.
    order, common
        Of Rényi frontiers: α, and whether what is common is in both sets or holds what is in
        either.
    """

    divergence: str = "kl"
    estimator: str = COUNTING
    smoothing: Smoothing = "none"
    points: AveragedOver | Literal["held_out"] = "both_sides"
    order: float = 1.0
    common: Literal["exclusive", "inclusive"] = "exclusive"

    @property
    def judged(self) -> bool:
        """Whether classifiers judge samples, instead of averages over likelihood ratios."""
        return self.points == HELD_OUT or self.estimator in JUDGES

    @property
    def averaged_over(self) -> AveragedOver:
        """The set over whose samples ratios are averaged."""
        return "own_side" if self.points == HELD_OUT else self.points

    @property
    def words(self) -> tuple[str, ...]:
        """The options that differ from the defaults, in canonical order."""
        chosen: tuple[Value, ...] = (
            *(self.divergence, self.estimator, self.smoothing),
            *(self.points, self.order, self.common),
        )
        axes = zip(AXES, chosen, strict=True)
        return tuple(axis.written(word) for axis, word in axes if word != axis.default)

    def key(self, metric: str) -> str:
        """Return the canonical key of a metric with these options.

        Examples
        --------
        >>> EstimationOptions(divergence="chi2", estimator="knn").key("mauve")
        'mauve:chi2:knn'
        """
        return ":".join((metric, *self.words))

    def starred_key(self, metric: str) -> str:
        """Return the canonical key of a frontier's score; a star stands for its own smoothing.

        Examples
        --------
        >>> EstimationOptions(divergence="chi2", smoothing=STARRED).starred_key("mauve")
        'mauve_star:chi2'
        """
        if self.smoothing != STARRED:
            return self.key(metric)
        return replace(self, smoothing="none").key(f"{metric}_star")

    def smoothed(self, smoothing: str) -> EstimationOptions:
        """Return the same options with another smoothing."""
        return replace(self, smoothing=smoothing)  # type: ignore[arg-type]


DEFAULTS = EstimationOptions()
