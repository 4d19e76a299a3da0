"""Entries of the kernel and energy metrics; their modules are imported when they are asked for."""

from __future__ import annotations

from calipers.metrics.entries.metric import ANY, FROM_ZERO, Doubles, Metric
from calipers.metrics.keys import Options
from calipers.metrics.pair import Pair
from calipers.score import Score

GRETTON = "Gretton et al., JMLR 2012"
NEGATIVE = "small gaps: unbiased, so it scatters around 0, also below"


def _mmd(pair: Pair, _: Options) -> Score:
    from calipers.metrics.mmd import mmd

    settings = pair.settings
    return mmd(*pair.projected, seed=settings.seed, threads=settings.threads)


def _kid(pair: Pair, _: Options) -> Score:
    from calipers.metrics.mmd import kid

    return kid(*pair.projected, threads=pair.settings.threads)


def _energy(pair: Pair, _: Options) -> Score:
    from calipers.metrics.energy import energy_distance

    return energy_distance(*pair.projected, threads=pair.settings.threads)


def _mmd_without(pair: Pair) -> tuple[Doubles, Doubles]:
    from calipers.metrics.pair_replicates import mmd_replicates

    settings = pair.settings
    rows = pair.projected
    found = mmd_replicates(*rows, pair.labels, seed=settings.seed, threads=settings.threads)
    return found.without_reference, found.without_generated


def _kid_without(pair: Pair) -> tuple[Doubles, Doubles]:
    from calipers.metrics.pair_replicates import kid_replicates

    rows = pair.projected
    found = kid_replicates(*rows, pair.labels, threads=pair.settings.threads)
    return found.without_reference, found.without_generated


def _energy_without(pair: Pair) -> tuple[Doubles, Doubles]:
    from calipers.metrics.pair_replicates import energy_replicates

    rows = pair.projected
    found = energy_replicates(*rows, pair.labels, threads=pair.settings.threads)
    return found.without_reference, found.without_generated


ENTRIES = (
    Metric(
        name="mmd",
        family="mmd",
        tells="squared distance of kernel means, Gaussian of median width; 0 is no gap",
        read=_mmd,
        without=_mmd_without,
        source=f"{GRETTON}, lemma 6",
        blind=f"{NEGATIVE}; gaps much finer than the typical distance, such as copies",
        on_request=True,
        range=ANY,
        better="lower",
    ),
    Metric(
        name="kid",
        family="mmd",
        tells="squared distance of kernel means, cubic kernel (KID); 0 is no gap",
        read=_kid,
        without=_kid_without,
        source="Bińkowski et al., ICLR 2018",
        blind=f"{NEGATIVE}; moments beyond the third",
        on_request=True,
        range=ANY,
        better="lower",
    ),
    Metric(
        name="energy_distance",
        family="mmd",
        tells="distances across both sets less those within; 0 is no gap, nothing to tune",
        read=_energy,
        without=_energy_without,
        source="Székely and Rizzo, J. Stat. Plan. Inference 2013; as means over all pairs",
        blind="in many dimensions, mostly anything but the means and the overall spread",
        on_request=True,
        range=FROM_ZERO,
        better="lower",
        equal=0.0,
    ),
)
