"""Permutation tests of "the same distribution given the prompt", labels permuted within prompts.

Two models that answer the same prompts are the same where for every prompt their samples are drawn
from one distribution. Then labels can be swapped among the samples of a prompt, and nowhere else,
and the p-value of :mod:`calipers.uncertainty.two_sample` is exact at every number of prompts and of
samples (Gao, Liang and Guestrin, "Model equality testing", arXiv 2410.20247). With a kernel κ on
samples, the statistic is the mean over prompts of MMD²: with n ≥ 2 samples x and m ≥ 2 samples y
of a prompt, the unbiased one,

    mean_{i≠j} κ(x_i, x_j) + mean_{i≠j} κ(y_i, y_j) − 2 mean_{ij} κ(x_i, y_j).

Where some prompt has a single sample on a side, the pairs of a sample with itself count too, for
all prompts; these are the same for every permutation, so that the p-value is as good. It is never
below what the relabellings of these sizes allow (:func:`relabellings`): MMD² does not know which
set is which, so that one sample against one gives a single value, and tests nothing. Such prompts
tell something only together: :func:`calipers.uncertainty.two_sample_classifier.classifier_test`
asks whether the difference of the two answers points one way.

Kernels: the Gaussian one of embeddings, its width the median distance of all pairs within prompts;
and the Hamming kernel of strings (:func:`calipers.text.hamming.hamming_kernel`), which needs no
model.

What it does not see: which prompts differ, and how; and whether anybody would care.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.measures import CentredRows, squared_distances
from calipers.numeric.arrays import Flags, Floats
from calipers.numeric.threads import workers
from calipers.numeric.validation import check_points
from calipers.uncertainty.two_sample import TwoSample, check_options, permuted

Kernel = Literal["gaussian", "hamming"]

MANY = 10**9
"""Relabellings of which no more are counted: more than anybody draws."""

ONE_EACH = (
    "both sets have one sample of each prompt, and MMD² within a prompt stays the same where the "
    "two are swapped"
)
ALIKE = "all samples of each prompt are the same, so that the kernel has no width"


def prompts_test(
    kernels: Sequence[ArrayLike],
    sizes: Sequence[tuple[int, int]],
    *,
    kernel: Kernel,
    permutations: int = 999,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
) -> TwoSample:
    """Tell whether two sets of samples differ given the prompt, with a p-value.

    Parameters
    ----------
    kernels
        For each prompt the kernel of all its samples, those of the first set first, shape
        ``(n + m, n + m)``; symmetric, the same value all along the diagonal.
    sizes
        For each prompt how many samples are of the first and of the second set, from 1 each.
    kernel
        What the kernel is called.
    permutations
        How often labels are permuted, from 1: no p-value is below 1/(1 + permutations).
    seed
        Of the permutations.
    level
        Confidence level of the threshold, in (0, 1).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    TwoSample
        With the mean MMD² over prompts as the statistic; NaN with a reason where every prompt has
        one sample on each side.

    Raises
    ------
    InputError
        If kernels and sizes do not fit together, or an option is out of its range.
    """
    check_options(permutations, seed, level)
    blocks = [np.asarray(kernel_matrix, np.float64) for kernel_matrix in kernels]
    _check(blocks, sizes)
    unbiased = min(min(pair) for pair in sizes) > 1
    pins = {
        "test": "mmd_by_prompt",
        "kernel": kernel,
        "estimate": "unbiased" if unbiased else "biased",
        "prompts": len(blocks),
        "permutations": permutations,
        "seed": seed,
        "n": sum(n for n, _ in sizes),
        "m": sum(m for _, m in sizes),
    }
    if relabellings(sizes) == 1:
        return TwoSample.undefined(
            "prompts", ONE_EACH, permutations=permutations, level=level, pins=pins
        )
    by_size = _by_size(blocks, sizes)
    starts = np.cumsum([0, *(n + m for n, m in sizes)])

    def statistic(chosen: Flags) -> Floats:
        total = np.zeros(len(chosen))
        for (n, m), places in by_size:
            rows = starts[places][:, None] + np.arange(n + m)
            stacked = np.stack([blocks[place] for place in places])
            total += _squared(chosen[:, rows], stacked, n, m, unbiased=unbiased)
        return total / len(blocks)

    with workers(threads) as pool:
        value, null = permuted(statistic, list(sizes), permutations, pool, seed=seed)
    return TwoSample.of("prompts", value, null, level=level, pins=pins)


def relabellings(sizes: Sequence[tuple[int, int]]) -> float:
    """Count the relabellings within prompts by which MMD² may differ.

    Of n samples against m there are C(n + m, n), and half as many where n = m, since to swap the
    two sets changes nothing. No p-value is below 1 over their product.

    Examples
    --------
    >>> relabellings([(1, 1)] * 300), relabellings([(1, 2)]), relabellings([(2, 2), (1, 1)])
    (1.0, 3.0, 3.0)
    """
    count = 1.0
    for n, m in sizes:
        count *= min(MANY, math.comb(n + m, n)) / (2 if n == m else 1)
        if count >= MANY:
            return math.inf
    return count


def gaussian_kernels(parts: Sequence[ArrayLike]) -> list[Floats] | None:
    """Compute the Gaussian kernel of the samples of each prompt, with one width for all.

    Parameters
    ----------
    parts
        For each prompt the embeddings of all its samples, shape ``(samples, d)``.

    Returns
    -------
    list of array
        exp(−|x − y|²/(2σ²)), σ the median distance of all pairs of samples of one prompt; None
        where that is 0.
    """
    squared = []
    for part in parts:
        points = check_points(part, "vectors")
        rows = CentredRows.of(points, points.mean(axis=0, dtype=np.float64))
        squared.append(np.maximum(squared_distances(rows, rows), 0.0))
    pairs = [np.sqrt(distances[np.triu_indices(len(distances), 1)]) for distances in squared]
    width = float(np.median(np.concatenate(pairs))) if pairs else 0.0
    if width == 0:
        return None
    made = [np.exp(-distances / (2 * width**2)) for distances in squared]
    for distances in made:
        np.fill_diagonal(distances, 1.0)
    return made


def _squared(chosen: Flags, kernels: Floats, n: int, m: int, *, unbiased: bool) -> Floats:
    """Sum MMD² over prompts of one size, for each relabelling, shape ``(c,)``."""
    labels = np.ascontiguousarray(chosen.transpose(1, 0, 2), np.float64)  # prompts, c, samples
    diagonal = np.trace(kernels, axis1=1, axis2=2)[:, None] / (n + m)
    touched = labels @ kernels.sum(axis=2)[:, :, None]
    within = ((labels @ kernels) * labels).sum(axis=2)
    across = touched[:, :, 0] - within
    outside = kernels.sum(axis=(1, 2))[:, None] - within - 2 * across
    if unbiased:
        ours, theirs = (
            (within - n * diagonal) / (n * (n - 1)),
            (outside - m * diagonal) / (m * (m - 1)),
        )
    else:
        ours, theirs = within / n**2, outside / m**2
    values: Any = (ours + theirs - 2 * across / (n * m)).sum(axis=0)
    return np.asarray(values, np.float64)


def _by_size(
    blocks: Sequence[Floats], sizes: Sequence[tuple[int, int]]
) -> list[tuple[tuple[int, int], NDArray[np.intp]]]:
    """Put prompts of equal sizes together, a few hundred at once."""
    places_by_size: dict[tuple[int, int], list[int]] = {}
    for place, size in enumerate(sizes):
        places_by_size.setdefault((int(size[0]), int(size[1])), []).append(place)
    step = 64
    return [
        (size, np.array(places[start : start + step]))
        for size, places in places_by_size.items()
        for start in range(0, len(places), step)
    ]


def _check(blocks: Sequence[Floats], sizes: Sequence[tuple[int, int]]) -> None:
    if not blocks or len(blocks) != len(sizes):
        raise InputError(
            "there must be one kernel and one pair of sizes for each prompt, at least one; "
            f"found {len(blocks)} and {len(sizes)}"
        )
    for place, (block, (n, m)) in enumerate(zip(blocks, sizes, strict=True), 1):
        if min(n, m) < 1 or block.shape != (n + m, n + m):
            raise InputError(
                f"prompt {place}: a kernel of {n} and {m} samples must be of the shape "
                f"({n + m}, {n + m}), with at least one sample on each side; found {block.shape}"
            )
