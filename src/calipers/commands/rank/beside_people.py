"""Agreement, item by item, of a judging model with the people who answered the same questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from calipers.commands.rank.judged import BesidePeople
from calipers.commands.rank.raters import RatedTruth
from calipers.uncertainty.rater_agreement import agreement_between, ratings_between


def people_of(judged: Sequence[RatedTruth], model: RatedTruth) -> RatedTruth | None:
    """Find the people who answered the same question as a model."""
    if model.truth.raters is None or model.truth.raters.kind != "model":
        return None
    for other in judged:
        raters = other.truth.raters
        alike = other.question == model.question and other.truth.made_of == model.truth.made_of
        if raters is not None and raters.kind == "person" and alike:
            return other
    return None


def beside_people(
    model: RatedTruth, people: RatedTruth, *, level: float, seed: int
) -> BesidePeople:
    """Measure how far a model and people agree item by item; correlations are added later."""
    nothing = BesidePeople(
        people=people.truth.name,
        n=0,
        spearman=math.nan,
        spearman_interval=None,
        spearman_fixed=None,
        pearson=math.nan,
        pearson_interval=None,
        pearson_fixed=None,
        reason=None,
        items=0,
        same=math.nan,
        same_interval=None,
        kappa=math.nan,
        kappa_interval=None,
        people_same=math.nan,
        people_same_interval=None,
        people_kappa=math.nan,
        people_kappa_interval=None,
    )
    if model.pairs is not None and people.pairs is not None:
        across = agreement_between(people.pairs, model.pairs, level=level, seed=seed)
        among = agreement_between(people.pairs, people.pairs, level=level, seed=seed)
    else:
        across = ratings_between(people.ratings, model.ratings, level=level, seed=seed)
        among = ratings_between(people.ratings, people.ratings, level=level, seed=seed)
    return replace(
        nothing,
        items=across.items,
        same=across.share.value,
        same_interval=across.share.interval,
        kappa=across.kappa.value,
        kappa_interval=across.kappa.interval,
        people_same=among.share.value,
        people_same_interval=among.share.interval,
        people_kappa=among.kappa.value,
        people_kappa_interval=among.kappa.interval,
    )
