"""Options for measuring two sets: neighbourhoods, preprocessing, engines, intervals and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from calipers.catalogue.estimation import ESTIMATORS
from calipers.catalogue.settings import Axes, Buckets, Distance, Norm, Projection, Settings, Ties
from calipers.options.option import CERTAINTY, Group, option, options_class
from calipers.options.rules import (
    FLAG,
    METRICS,
    POSITIVE,
    NameRule,
    Rule,
    one_of,
    read_whole,
    share,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


BUCKET_RULES = get_args(get_args(Buckets)[1])


def _are_buckets(value: Any) -> bool:
    return value in BUCKET_RULES or whole(2).fits(value)


def _read_buckets(text: str) -> str | int:
    return text if text in BUCKET_RULES else read_whole(text)


THREE_WAY = Rule("be True, False or None", FLAG.fits, metavar="")


@options_class
class Neighbours(Group):
    """Options of the neighbourhoods."""

    k: int = option(
        Settings.k,
        "Number of nearest neighbours for precision, recall, density, coverage and realism. Other "
        "metrics have values of their own, which --json records.",
        whole(1),
        setting=True,
    )
    ties: Ties = option(
        Settings.ties,
        "Whether a point exactly on the boundary of a neighbourhood counts as inside (closed) or "
        "outside (open).",
        one_of(*get_args(Ties)),
        setting=True,
    )
    distance: Distance = option(
        Settings.distance,
        "Distance between samples, for neighbourhoods and copies. For rows of length one, as those "
        "of texts are, both distances give the same order, except with --projection union, where "
        "cosine measures angles about the joint mean.",
        one_of(*get_args(Distance)),
        setting=True,
    )
    projection: Projection = option(
        Settings.projection,
        "Space in which neighbours are searched: none is that of the rows (see --normalise); union "
        "is that of the principal axes that keep 90 % of the variance of both sets together, as in "
        "Le Bronnec et al. (2024), in which precision also falls when good texts repeat each "
        "other. Whole distributions (MAUVE, PRD, Fréchet, kernels) are compared on those axes "
        "either way.",
        one_of(*get_args(Projection)),
        setting=True,
    )
    normalise: Norm | None = option(
        None,
        "How every vector is scaled first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2 for texts and images that are "
        "embedded here, as in Le Bronnec et al. (2024), and none for vectors that are given.",
        one_of(*get_args(Norm)),
        setting=True,
    )


@options_class
class Measuring(Neighbours):
    """Options on what is measured, and how."""

    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute and show, such as precision,recall,mauve_star, a family, or all; "
        "calipers metrics lists them. A key is [view.]metric[:option…], as form.mauve_star:chi2. "
        "The name precision means precision in every view, form.precision in one of them; "
        "text.self_bleu is a statistic of the texts themselves, and text all of those. A family "
        "(support, frontier, prd, classifier, ot, mmd, copying) means its metrics, all every "
        "metric on embeddings. May be repeated; in Python a list or one text. By default all that "
        "are fast are computed, and the table shows precision, recall, coverage and mauve_star.",
        METRICS,
        several=True,
        common=True,
        complete="all_metrics",
    )
    buckets: Buckets = option(
        Settings.buckets,
        "Number of clusters of the quantisation for MAUVE and its family: auto is a tenth of the "
        "size of the smaller set, at most 5,000; cube-root the cube root of that size.",
        Rule(
            "be auto, cube-root or a whole number of at least 2",
            _are_buckets,
            _read_buckets,
            "N|auto|cube-root",
            BUCKET_RULES,
        ),
        setting=True,
    )
    estimator: str = option(
        "quantisation",
        "How MAUVE, its family and the precision-recall curve are estimated: by quantisation "
        "(shares of the samples in clusters), or by likelihood ratios from knn, kde, classifier, "
        "boosted or gaussian, which their keys then name. A single metric may use another "
        "estimator, as in mauve:knn.",
        NameRule("", lambda value: value in ESTIMATORS, values=tuple(ESTIMATORS)),
        setting=True,
    )
    c: float | None = option(
        Settings.c,
        "Scaling constant of MAUVE, above 0. By default that of the estimator, 5 for quantisation.",
        POSITIVE,
        setting=True,
    )
    shared: bool = option(
        False,
        "Project and quantise all generated sets together, so that their scores use the same "
        "clusters. Adding a set then changes the scores of the others, which it never does by "
        "default.",
        FLAG,
        setting=True,
    )
    axes: Axes = option(
        Settings.axes,
        "The principal axes on which whole distributions are compared (MAUVE, PRD, Fréchet, "
        "kernels): those of the union of both sets, as in the papers, or of the reference alone. "
        "The latter are the same for every generated set, so that a :class:`calipers.Reference` "
        "computes its rows and moments on them once, but miss what a set adds outside them.",
        one_of(*get_args(Axes)),
        setting=True,
    )


@options_class
class Inference(Group):
    """Options of intervals and tests."""

    level: float | None = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1; in Python None computes "
        "neither.",
        share("0.95"),
        panel=CERTAINTY,
        setting=True,
        off=(
            "--no-intervals",
            "Compute no intervals and tests, which saves up to half of the time after embedding.",
        ),
    )
    floor: bool | None = option(
        None,
        "Measure the noise floor: the scores of one half of the reference against the other, "
        "beside the scores of each system at the same sample size. It takes ten more comparisons "
        "at half size, and ten for each system. By default it is measured for the scores of the "
        "table, if the reference has fewer than 5,000 samples; with --floor for every score.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--floor/--no-floor",),
    )
    advice: bool = option(
        False,
        "Estimate how much each score would still change with more samples, from nested smaller "
        "sets.",
        FLAG,
        panel=CERTAINTY,
    )
    paired: bool | None = option(
        None,
        "Whether row i of every generated set, and of a reference of that size, answers the same "
        "prompt; tests then compare within prompts. By default decided by the prompts in the rows.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--paired/--no-paired",),
    )
    margin: float | None = option(
        None,
        "Also test whether systems are equivalent: whether their scores, of metrics between 0 and "
        "1, differ by less than this margin, such as 0.05.",
        share("0.05"),
        panel=CERTAINTY,
        setting=True,
    )
