"""MMD², KID and the energy distance without each block of rows: what their intervals are made of.

All three are sums over pairs of rows. The sums are taken once, by block, and every replicate is
read off them: the same number as the metric gives on the rows that are left, up to rounding.
"""

from __future__ import annotations

from typing import Literal, get_args

from numpy.typing import ArrayLike

from calipers.estimate.pairwise import (
    PairSums,
    Replicates,
    Rows,
    centred,
    cubic,
    gaussian,
    replicates,
)
from calipers.metrics.energy import distances, energy_of
from calipers.metrics.mmd import Kernel, check_bandwidth, kernel_width
from calipers.numeric.blocks import Blocks
from calipers.numeric.validation import check_choice, check_pair, check_whole


def mmd_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    kernel: Kernel = "gaussian",
    bandwidth: float | Literal["median"] = "median",
    seed: int = 0,
    threads: int | None = None,
) -> Replicates:
    """Tell what MMD² would be without each block of rows, for little more than MMD² itself.

    Parameters
    ----------
    reference, generated, kernel, bandwidth, seed, threads
        As for ``mmd``; the median bandwidth is that of all rows throughout.
    blocks
        The blocks of the reference and of the generated rows.

    Returns
    -------
    Replicates
        The value, and what it would be without every block of either set; NaN where ``mmd`` is.
    """
    check_choice("kernel", kernel, get_args(Kernel))
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    if kernel == "polynomial":
        return kid_replicates(left, right, blocks, threads=threads)
    check_bandwidth(bandwidth)
    rows = centred(left, right)
    width = kernel_width(rows, bandwidth, seed, threads)
    if width == 0:
        return Replicates.undefined(blocks)
    return replicates(rows, gaussian(width), blocks, PairSums.unbiased, threads=threads)


def kid_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    threads: int | None = None,
) -> Replicates:
    """Tell what KID would be without each block of rows; see :func:`mmd_replicates`."""
    left, right = check_pair(reference, generated)
    rows = Rows.of(left), Rows.of(right)
    return replicates(rows, cubic(left.shape[1]), blocks, PairSums.unbiased, threads=threads)


def energy_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    threads: int | None = None,
) -> Replicates:
    """Tell what the energy distance would be without each block of rows, at little more cost.

    Parameters
    ----------
    reference, generated, threads
        As for ``energy_distance``.
    blocks
        The blocks of the reference and of the generated rows.
    """
    rows = centred(*check_pair(reference, generated))
    return replicates(rows, distances, blocks, energy_of, threads=threads)
