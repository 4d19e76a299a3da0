"""Judgements of systems besides the fitted scores: mean ratings, raters, and their agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.serialise import Plain

Interval = tuple[float, float]

Method = Literal["clustered", "effects", "ignore"]
"""How answers of one rater are dealt with."""

Cluster = Literal["", "rater", "item", "rater and item"]
"""What answers are alike in; empty where they count as independent."""

Texts = Literal["item", "prompt"]
"""What answers about the same texts share: the item (a pair of texts), or the prompt of items."""


@dataclass(frozen=True)
class RatedSystem(Plain):
    """Mean rating of one system.

    Attributes
    ----------
    mean
        Over its ratings.
    standard_error, interval
        Of the mean; NaN and None where nothing tells them.
    ratings
        How many there are.
    """

    mean: float
    standard_error: float
    interval: Interval | None
    ratings: int


@dataclass(frozen=True, eq=False)
class Ratings(Plain):
    """Mean ratings of systems.

    Attributes
    ----------
    systems
        By their names, the highest first, the reference among them where it was rated.
    covariance
        Of the means, in the order of `systems`: one rater's severity moves all means together. NaN
        where nothing tells it.
    level
        Of the intervals.
    """

    systems: Mapping[str, RatedSystem]
    covariance: NDArray[np.float64]
    level: float


@dataclass(frozen=True)
class RaterProfile(Plain):
    """One rater, compared with the others.

    Attributes
    ----------
    answers
        How many the rater gave.
    discrimination, discrimination_interval
        Multiplies differences of scores: 1 is the typical rater, 0 one who answers at random.
    side_bias, side_bias_interval
        Log odds by which the text shown first is preferred where two systems are equal.
    """

    answers: int
    discrimination: float
    discrimination_interval: Interval | None
    side_bias: float
    side_bias_interval: Interval | None


@dataclass(frozen=True)
class Raters(Plain):
    """Numbers of raters, and the treatment of answers of one rater.

    Attributes
    ----------
    kind
        ``"person"`` or ``"model"``; empty where the table does not say.
    count
        How many; 0 where the table does not say.
    answers
        How many they gave.
    flagged
        How many of these are flagged as doubtful.
    method
        ``"ignore"``: answers taken for independent; ``"clustered"``: errors from clusters of
        answers; ``"effects"``: a discrimination and a side bias of each rater.
    cluster, clusters
        What the clusters are, and how many: ``"rater"``, ``"item"``, or ``"rater and item"``, of
        which the number is that of raters; empty and 0 without.
    texts
        What stands for an item in these: ``"prompt"`` where the prompts are known.
    item_clusters
        How many clusters of items there are beside those of raters; 0 without.
    first_share, first_share_interval
        How often the text shown first was preferred, of the times that one was; NaN where it is
        not known.
    side_bias, side_bias_interval
        The mean over raters, where effects were fitted.
    left_out
        What the answers cannot tell of raters, a sentence each.
    effects
        By the name of the rater, where effects were fitted.
    """

    kind: Literal["", "person", "model"]
    count: int
    answers: int
    flagged: int
    method: Method
    cluster: Cluster = ""
    clusters: int = 0
    item_clusters: int = 0
    first_share: float = float("nan")
    first_share_interval: Interval | None = None
    side_bias: float = float("nan")
    side_bias_interval: Interval | None = None
    left_out: tuple[str, ...] = ()
    effects: Mapping[str, RaterProfile] = field(default_factory=dict)
    texts: Texts = "item"

    _optional = ("texts",)


@dataclass(frozen=True)
class RaterCeiling(Plain):
    """Agreement of raters with one another about the systems: the best that a metric can reach.

    Attributes
    ----------
    spearman, spearman_interval, pearson, pearson_interval
        Correlations that the scores of two such groups of raters would have (each of the size of
        this one); NaN where undefined.
    spearman_attainable, pearson_attainable
        Correlation with these raters' scores that a metric without any error would have.
    n
        Systems that are correlated.
    halved
        What was halved to find it: ``"raters"``, or ``"judgements"`` where raters are too few or
        not known, which overlooks that answers of one rater are alike.
    units
        How many of these there are.
    reason
        Why it is undefined; None where it is not.
    """

    spearman: float
    spearman_interval: Interval | None
    spearman_attainable: float
    pearson: float
    pearson_interval: Interval | None
    pearson_attainable: float
    n: int
    halved: Literal["raters", "judgements"]
    units: int
    reason: str | None = None


@dataclass(frozen=True)
class BesidePeople(Plain):
    """Agreement of a judging model with people, about systems and item by item.

    Attributes
    ----------
    people
        Name of the truth that people gave.
    n
        Systems that both judged and that are ranked.
    spearman, spearman_interval, spearman_fixed, pearson, pearson_interval, pearson_fixed
        Correlations of the scores of both, as a metric has them with a truth; the intervals include
        the errors of both.
    reason
        Why a correlation is undefined.
    items
        Items that both judged.
    same, same_interval
        How often an answer of the model is that of a person: the same system, or both a tie; the
        same number. NaN without such items.
    kappa, kappa_interval
        That beyond chance: Cohen's κ, of ratings that of squared distances.
    people_same, people_same_interval, people_kappa, people_kappa_interval
        The same of people with one another, on items that several of them judged.
    """

    people: str
    n: int
    spearman: float
    spearman_interval: Interval | None
    spearman_fixed: Interval | None
    pearson: float
    pearson_interval: Interval | None
    pearson_fixed: Interval | None
    reason: str | None
    items: int
    same: float
    same_interval: Interval | None
    kappa: float
    kappa_interval: Interval | None
    people_same: float
    people_same_interval: Interval | None
    people_kappa: float
    people_kappa_interval: Interval | None
