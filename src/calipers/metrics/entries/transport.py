"""Entries of the optimal transport metrics; their modules are imported when they are asked for."""

from __future__ import annotations

from calipers.estimate.moments import Moments
from calipers.metrics.entries.metric import FROM_ZERO, Doubles, Metric
from calipers.metrics.frechet import frechet_score, frechet_without
from calipers.metrics.keys import Options
from calipers.metrics.pair import Pair
from calipers.numeric.threads import limit_threads
from calipers.score import Score

JMLR = "Pillutla et al., JMLR 2023, section 7.4.2"
CURSE = "a gap smaller than its own bias, which shrinks slowly with n in many dimensions"
CELLS = "differences within a cell; depends on buckets"
SIDES = f"{CELLS}; whether quality or variety is lacking"


def _plug_in(pair: Pair, _: Options) -> Score:
    from calipers.metrics.transport import optimal_transport

    return optimal_transport(*pair.projected, threads=pair.settings.threads)


def _quantised(pair: Pair, _: Options) -> Score:
    from calipers.metrics.transport import quantised_transport_score as score

    return score(*pair.projected, pair.estimates.cells, pins=pair.estimates.seed_pin)


def _linear(pair: Pair, _: Options) -> Score:
    return _mauve_ot(pair, "linear")


def _barycentric(pair: Pair, _: Options) -> Score:
    return _mauve_ot(pair, "barycentric")


def _mauve_ot(pair: Pair, interpolation: str) -> Score:
    from calipers.metrics.mauve_transport import mauve_ot_score

    return mauve_ot_score(
        *pair.projected,
        pair.estimates.cells,
        interpolation=interpolation,  # type: ignore[arg-type]
        c=pair.curves.scaling("quantisation"),
        pins=pair.estimates.seed_pin,
    )


def _sliced(pair: Pair, _: Options) -> Score:
    from calipers.metrics.transport import sliced_wasserstein

    settings = pair.settings
    return sliced_wasserstein(*pair.projected, seed=settings.seed, threads=settings.threads)


def _frechet_without(pair: Pair) -> tuple[Doubles, Doubles]:
    sets = zip(pair.projected, pair.labels, strict=True)
    with limit_threads(1):
        left, right = (Moments.by_block(rows.astype(float), labels) for rows, labels in sets)
    return frechet_without(*pair.moments, left, right)


ENTRIES = (
    Metric(
        name="frechet_distance",
        family="ot",
        tells="distance between the Gaussians fitted to both sets",
        read=lambda pair, _: frechet_score(*pair.moments),
        without=_frechet_without,
        source="Heusel et al., NeurIPS 2017 (FID)",
        blind="anything beyond means and covariances; too large for few samples",
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
    Metric(
        name="ot",
        family="ot",
        tells="cost of moving the generated samples onto the reference, squared distances",
        read=_plug_in,
        source=f"{JMLR}, plug-in",
        blind=CURSE,
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
        extra="transport",
        extra_if_unequal=True,
    ),
    Metric(
        name="ot_quantised",
        family="ot",
        tells="cost of moving one histogram onto the other, between centres of cells",
        read=_quantised,
        source=f"{JMLR}, quantised",
        blind=CELLS,
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
        extra="transport",
    ),
    Metric(
        name="ot_entropic",
        family="ot",
        tells="cost between the histograms by a blurred plan; equal sets do not score 0",
        read=lambda pair, _: pair.estimates.entropic.entropic,
        source=f"{JMLR}; Cuturi, NeurIPS 2013",
        blind=f"{CELLS}; small gaps, next to the spread of the sets themselves",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
    ),
    Metric(
        name="ot_debiased",
        family="ot",
        tells="cost between the histograms by a blurred plan, less that of each with itself",
        read=lambda pair, _: pair.estimates.entropic.debiased,
        source="Feydy et al., AISTATS 2019 (Sinkhorn divergence)",
        blind=f"{CELLS}; by default little beyond the distance of the means",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
    Metric(
        name="mauve_ot",
        family="ot",
        tells="closeness by transport costs to mixtures of both sets",
        read=_linear,
        source=f"{JMLR}, equation 31",
        blind=SIDES,
        on_request=True,
        equal=1.0,
        extra="transport",
    ),
    Metric(
        name="mauve_ot_barycentric",
        family="ot",
        tells="closeness by transport costs to barycentres of both sets",
        read=_barycentric,
        source=f"{JMLR}, equation 32",
        blind=SIDES,
        on_request=True,
        equal=1.0,
        extra="transport",
    ),
    Metric(
        name="sliced_wasserstein",
        family="ot",
        tells="mean transport cost over random directions, squared; cheap for large sets",
        read=_sliced,
        source="Bonneel et al., JMIV 2015",
        blind="gaps along few of many dimensions, which are thinned out; moves with the seed",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
)
