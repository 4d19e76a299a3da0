"""How two sets are measured: neighbourhoods, preprocessing, engines, intervals and tests."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from calipers.catalogue.estimation import ESTIMATORS
from calipers.errors import unknown_name
from calipers.options.option import (
    CERTAINTY,
    FLAG,
    Group,
    Rule,
    one_of,
    option,
    options_class,
    positive,
    share,
    three_way,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.estimate.axes import Axes, Norm, Projection
    from calipers.estimate.knn.balls import Distance
    from calipers.estimate.knn.neighbourhoods import Ties
    from calipers.estimate.quantise import Buckets
    from calipers.metrics.pair import Settings

from calipers.options.rules import KEYS


def _check_estimator(name: str, value: Any) -> None:
    if value not in ESTIMATORS:
        raise unknown_name(name, str(value), ESTIMATORS)


@dataclass(frozen=True)
class _Estimator(Rule):
    def parse(self, flag: str, text: str) -> Any:
        _check_estimator(flag, text)
        return text


def _buckets(text: str) -> Any:
    if text in ("auto", "cube-root"):
        return text
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) and int(text) >= 2 else None


def _above_zero(text: str) -> float | None:
    found = float(text)
    return found if 0 < found < math.inf else None


TIES = one_of("closed", "open")


DISTANCE = one_of("euclidean", "cosine")


PROJECTION = one_of("none", "union")


AXES = one_of("union", "reference")


NORMALISE = one_of("l2", "none", optional=True)


THREE_WAY = Rule("", lambda text: None, three_way, "")


@options_class
class Neighbours(Group):
    """How neighbourhoods are spanned."""

    k: int = option(
        4,
        "Number of nearest neighbours for precision, recall, density, coverage and realism. Other "
        "metrics have values of their own, which --json records.",
        whole(1),
        kept=True,
        doc="Nearest neighbours that span a ball.",
    )
    ties: Ties = option(
        "closed",
        "Whether a point exactly on the boundary of a neighbourhood counts as inside (closed) or "
        "outside (open).",
        TIES,
        kept=True,
        doc="Whether the rim of a ball belongs to it (``closed``) or not (``open``).",
    )
    distance: Distance = option(
        "euclidean",
        "Distance between samples, for neighbourhoods and copies. For rows of length one, as those "
        "of texts are, both distances give the same order, except with --projection union, where "
        "cosine measures angles about the joint mean.",
        DISTANCE,
        kept=True,
        doc='``"euclidean"`` or ``"cosine"``: of the balls and of nearest neighbours.',
    )
    projection: Projection = option(
        "none",
        "Space in which neighbours are searched: none is that of the rows (see --normalise); union "
        "is that of the principal axes that keep 90 % of the variance of both sets together, as in "
        "Le Bronnec et al. (2024), in which precision also falls when good texts repeat each "
        "other.",
        PROJECTION,
        kept=True,
        doc='Where neighbours are looked for: ``"none"`` among rows as they are (see `normalise`), '
        '``"union"`` on the principal axes that keep 90 % of the variance of both sets '
        "together, as in Le Bronnec et al. (ACL 2024). With the latter precision falls "
        "where texts merely repeat. Whole distributions (MAUVE, PRD, Fréchet, kernels) are "
        "compared on those axes either way.",
    )
    normalise: Norm | None = option(
        None,
        "What is done to every vector first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2 for texts and images that are "
        "embedded here, as in Le Bronnec et al. (2024), and none for vectors that are given.",
        NORMALISE,
        kept=True,
        doc='What is done to every vector first: ``"l2"`` scales it to length one, so that only '
        'its direction counts, ``"none"`` leaves it as it is. None for ``"l2"`` with texts and '
        'images that are embedded here, as in Le Bronnec et al. (ACL 2024), and for ``"none"`` '
        "with vectors that are given.",
    )


@options_class
class Measuring(Neighbours):
    """What is measured, and how."""

    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute and show, such as precision,recall,mauve_star, a family, or all; "
        "calipers metrics lists them. The name precision means precision in every view, "
        "form.precision in one of them; text.self_bleu is a statistic of the texts themselves, and "
        "text all of those. May be repeated. By default the table shows precision, recall, "
        "coverage and mauve_star.",
        KEYS,
        several=True,
        common=True,
        complete="all_metrics",
        doc="Keys ``[view.]metric[:option…]``, in a list or in one string: ``precision``, "
        "``form.mauve_star:chi2``, ``frontier_integral:knn``. A plain name means every view, a "
        "family (``support``, ``frontier``, ``prd``, ``classifier``, ``ot``, ``mmd``, ``copying``) "
        "its metrics, ``all`` every metric on embeddings. None for all but those that take their "
        "own time. Statistics of the texts themselves stand in the view ``text``: "
        "``text.self_bleu``, ``text`` for all of them. ``calipers metrics`` lists them.",
    )
    buckets: Buckets = option(
        "auto",
        "Number of clusters of the quantisation for MAUVE and its family: auto is a tenth of the "
        "number of samples, at most 5,000; cube-root its cube root.",
        Rule(
            "be auto, cube-root or a whole number of at least 2",
            _buckets,
            unchecked,
            "N|auto|cube-root",
            ("auto", "cube-root"),
        ),
        kept=True,
        doc='Cells of the quantisation behind MAUVE; ``"auto"`` for a tenth of the smaller set, '
        'at most 5,000, ``"cube-root"`` for the cube root of its size.',
    )
    estimator: str = option(
        "quantisation",
        "How MAUVE, its family and the precision-recall curve are estimated: by quantisation "
        "(shares of the samples in clusters), or by likelihood ratios from knn, kde, classifier, "
        "boosted or gaussian. A single metric may use another estimator, as in mauve:knn.",
        _Estimator("", lambda text: text, _check_estimator, "NAME", tuple(ESTIMATORS)),
        kept=True,
        doc="What the metrics of the frontier and of the precision-recall curve are read from "
        'where their key does not say: ``"quantisation"``, ``"knn"``, ``"kde"``, '
        '``"classifier"``, ``"boosted"`` or ``"gaussian"``. Their keys then carry it, as '
        "``mauve:knn``.",
    )
    c: float | None = option(
        None,
        "Scaling constant of MAUVE, above 0. By default the usual one of the estimator, 5 for "
        "quantisation.",
        Rule("be a number above 0", _above_zero, positive, "NUMBER"),
        kept=True,
        doc="Scaling constant of MAUVE, above 0; None for the one that goes with the estimator.",
    )
    shared: bool = option(
        False,
        "Project and quantise all generated sets together, so that their scores use the same "
        "clusters. Adding a set then changes the scores of the others.",
        FLAG,
        kept=True,
        doc="Project and quantise all systems together, so that their scores rest on the same "
        "cells. Adding a system then changes the scores of the others; by default it never does.",
    )
    axes: Axes = option(
        "union",
        "Whose principal axes whole distributions are compared on (MAUVE, PRD, Fréchet, kernels): "
        "those of the union of both sets, or of the reference alone. The latter are the same for "
        "every generated set, but do not see what it adds beside them.",
        AXES,
        kept=True,
        doc='Whose principal axes whole distributions are compared on: ``"union"`` for those of '
        'both sets together, as in the papers, ``"reference"`` for those of the reference alone, '
        "which are the same for every generated set, so that a :class:`calipers.Reference` keeps "
        "its rows and moments on them. What a generated set adds beside those axes is not seen.",
    )


@options_class
class Inference(Group):
    """How sure the scores are."""

    level: float | None = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1.",
        share("0.95", optional=True),
        panel=CERTAINTY,
        kept=True,
        off=(
            "--no-intervals",
            "Compute no intervals and tests, which saves up to half of the time after embedding.",
        ),
        doc="Confidence level of the intervals and tests, in (0, 1); None leaves both out.",
    )
    floor: bool | None = option(
        None,
        "Measure the noise floor: the scores of one half of the reference against the other, "
        "beside the scores of each system at the same sample size. By default it is measured if "
        "the reference has fewer than 5,000 samples: it takes ten more comparisons at half size, "
        "and ten for each system.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--floor/--no-floor",),
        doc="Whether to measure the noise floor: what halves of the reference score against each "
        "other, with each system beside it at the same size. Costs ten more scorings at half size, "
        "and ten for each system. None measures it for the scores of the table, and only for a "
        "reference below 5,000 samples; True for every score.",
    )
    advice: bool = option(
        False,
        "Estimate how much each score would still change with more samples, from nested smaller "
        "sets.",
        FLAG,
        panel=CERTAINTY,
        doc="Whether to tell, from nested smaller sets, what more samples would change.",
    )
    paired: bool | None = option(
        None,
        "Whether row i of every generated set, and of a reference of that size, answers the same "
        "prompt; tests then compare within prompts. By default decided by the prompts in the rows.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--paired/--no-paired",),
        doc="Whether row i of every generated set, and of a reference of that size, answers the "
        "same prompt, within which tests then compare; None to find out from the prompts.",
    )
    margin: float | None = option(
        None,
        "Also test whether systems are equivalent: whether their scores, of metrics between 0 and "
        "1, differ by less than this margin, such as 0.05.",
        share("0.05", optional=True, none=", or be None"),
        panel=CERTAINTY,
        kept=True,
        doc="Test also whether systems are equal: whether scores between 0 and 1 are less than "
        "this far apart; None leaves that out.",
    )


def pair_settings(options: Group, **more: Any) -> Settings:
    """Give the options that the metrics of a pair take, as they take them."""
    from calipers.metrics.pair import Settings

    known = options.keywords() | more
    return Settings(
        **{each.name: known[each.name] for each in fields(Settings) if each.name in known}
    )
