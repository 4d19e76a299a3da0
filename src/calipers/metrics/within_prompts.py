"""Several samples for each prompt: how many differ, how alike they are, and across systems.

Every function gives one value for each prompt, in the order of the sorted labels, so that a mean
over prompts and its interval can be taken (:mod:`calipers.uncertainty.over_prompts`).

- **distinct k** (NoveltyBench, Zhang et al. 2025): how many of k samples of a prompt are different
  in kind. Of n ≥ k samples in classes of c_1, c_2, … samples, the mean over all ways of choosing k
  is known exactly, and is an unbiased estimate of what k new samples would give,

      distinct_k = Σ_j 1 − C(n − c_j, k) / C(n, k),

  as for pass@k (Chen et al. 2021). Classes are given, or are the connected parts of the graph that
  joins samples whose cosine is at least a threshold: no order of the rows plays a part.
- **similarity within a prompt**: the mean cosine of all pairs of different samples of a prompt;
  **across** two sets: of all pairs of a sample of either. With v the sum of n rows of length 1 the
  first is (|v|² − n) / (n (n − 1)), the second v·w / (n m); both are unbiased at every n.
- **similarity between prompts**: the mean cosine with the samples of other prompts, each prompt
  counting once. Within less between is what the prompt explains; embeddings of one topic are alike
  whatever is asked, so that the first alone has no scale.

What they do not detect: whether an answer is right, or good. Connected parts may chain: many
samples, each like the next, are one class although the ends differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.estimate.axes import unit_rows
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_points, check_whole, is_positive

Labels = Sequence[Any] | NDArray[Any]


def rows_by_prompt(prompts: Labels, rows: int) -> list[NDArray[np.intp]]:
    """Return the rows of each prompt, prompts in the order of their sorted labels.

    Parameters
    ----------
    prompts
        The prompt of every row, shape ``(n,)``.
    rows
        How many rows there are.

    Raises
    ------
    InputError
        If there is not one label for each row.

    Examples
    --------
    >>> [part.tolist() for part in rows_by_prompt(["b", "a", "b"], 3)]
    [[1], [0, 2]]
    """
    labels = np.asarray(prompts)
    if labels.shape != (rows,):
        raise InputError(
            f"prompts must be one label for each of {rows} rows; found the shape {labels.shape}"
        )
    _, places = np.unique(labels, return_inverse=True)
    ends = np.cumsum(np.bincount(places))
    return np.split(np.argsort(places, kind="stable"), ends[:-1])


@checks_keywords
def distinct_k(classes: Labels, prompts: Labels, *, k: int) -> Floats:
    """Measure the expected number of classes among k samples of each prompt.

    Parameters
    ----------
    classes
        The class of every row, shape ``(n,)``; classes of different prompts are
        unrelated.
    prompts
        The prompt of every row, shape ``(n,)``.
    k
        How many samples are drawn of a prompt, at least 1.

    Returns
    -------
    array
        Shape ``(prompts,)``, from 1 to k; NaN where a prompt has fewer than k samples.

    Raises
    ------
    InputError
        If there is not one class and one prompt for each row, or k is not a whole number of at
        least 1.

    Examples
    --------
    >>> distinct_k(["yes", "no", "yes", "yes"], [0, 0, 0, 0], k=2).tolist()
    [1.5]
    """
    check_whole("k", k, 1)
    kinds = np.asarray(classes)
    parts = rows_by_prompt(prompts, len(kinds))
    return np.array([_expected(np.unique(kinds[rows], return_counts=True)[1], k) for rows in parts])


def _expected(counts: NDArray[np.int64], k: int) -> float:
    """Expected number of classes among k of all samples, drawn without replacement."""
    n = int(counts.sum())
    if n < k:
        return float("nan")
    # C(n − c, k) / C(n, k) as a product of k factors, each at least 0
    drawn = np.arange(k)
    missed = np.prod(np.clip(n - counts[:, None] - drawn, 0, None) / (n - drawn), axis=1)
    return float(np.sum(1 - missed))


@checks_keywords
def similarity_classes(
    vectors: ArrayLike, prompts: Labels, *, threshold: float
) -> NDArray[np.int64]:
    """Group the samples of one prompt into classes, linked by cosines above a threshold.

    Parameters
    ----------
    vectors
        Embeddings, shape ``(n, d)``, no row all zero.
    prompts
        The prompt of every row, shape ``(n,)``.
    threshold
        Above 0, at most 1.

    Returns
    -------
    array
        The class of every row, shape ``(n,)``, int64, counted within its prompt; as connected
        parts of the graph of similar samples, so that the order of the rows plays no part.

    Raises
    ------
    InputError
        If the arrays do not fit together, or the threshold is out of its range.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> similarity_classes(vectors, [0, 0, 1, 1], threshold=0.5).tolist()
    [0, 1, 0, 0]
    """
    from scipy.sparse.csgraph import connected_components

    if not is_positive(threshold) or threshold > 1:
        raise InputError(f"threshold must be above 0 and at most 1; found {threshold!r}")
    rows = directions(vectors)
    classes = np.empty(len(rows), np.int64)
    for part in rows_by_prompt(prompts, len(rows)):
        alike = rows[part] @ rows[part].T >= threshold - ROUNDING
        _, classes[part] = connected_components(alike, directed=False)
    return classes


ROUNDING = 1e-9
"""What rounding may take off the cosine of equal rows."""


@checks_keywords
def similarity_within(vectors: ArrayLike, prompts: Labels) -> Floats:
    """Tell how alike the samples of each prompt are: the mean cosine of all pairs.

    Parameters
    ----------
    vectors
        Embeddings, shape ``(n, d)``, no row all zero.
    prompts
        The prompt of every row, shape ``(n,)``.

    Returns
    -------
    array
        Shape ``(prompts,)``, in [-1, 1]; NaN where a prompt has a single sample.

    Raises
    ------
    InputError
        If the arrays do not fit together, or a row has no direction.

    Examples
    --------
    >>> similarity_within([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [1.0, 0.0]], [0, 0, 1, 1]).tolist()
    [0.0, 1.0]
    """
    sums, sizes = _sums(vectors, prompts)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (np.square(sums).sum(axis=1) - sizes) / (sizes * (sizes - 1.0))
    return np.where(sizes > 1, np.clip(values, -1, 1), np.nan)


@checks_keywords
def similarity_across(
    first: ArrayLike, first_prompts: Labels, second: ArrayLike, second_prompts: Labels
) -> Floats:
    """Tell how alike the samples of two sets are for each prompt: the mean cosine of all pairs.

    Parameters
    ----------
    first, second
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    first_prompts, second_prompts
        The prompt of every row; both sets must have the same prompts.

    Returns
    -------
    array
        Shape ``(prompts,)``, in [-1, 1].

    Raises
    ------
    InputError
        If the arrays do not fit together, a row has no direction, or the prompts differ.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> similarity_across(vectors, [0, 0, 1, 1], vectors, [0, 0, 1, 1]).tolist()
    [0.5, 1.0]
    """
    if not np.array_equal(np.unique(np.asarray(first_prompts)), np.unique(second_prompts)):
        raise InputError("both sets must have samples of the same prompts")
    ours, n = _sums(first, first_prompts)
    theirs, m = _sums(second, second_prompts)
    if ours.shape[1] != theirs.shape[1]:
        raise InputError(
            f"both sets must have as many columns; found {ours.shape[1]} and {theirs.shape[1]}"
        )
    return np.asarray(np.clip((ours * theirs).sum(axis=1) / (n * m), -1, 1), np.float64)


@checks_keywords
def similarity_between(vectors: ArrayLike, prompts: Labels) -> Floats:
    """Tell how alike the samples of each prompt are to those of the other prompts.

    Parameters
    ----------
    vectors, prompts
        As for :func:`similarity_within`.

    Returns
    -------
    array
        Shape ``(prompts,)``: the mean over the other prompts of the mean cosine of all pairs of a
        sample of either; NaN where there is one prompt alone.

    Raises
    ------
    InputError
        As :func:`similarity_within`.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> similarity_between(vectors, [0, 0, 1, 1]).tolist()
    [0.5, 0.5]
    """
    sums, sizes = _sums(vectors, prompts)
    means = sums / sizes[:, None]
    others = means @ means.sum(axis=0) - np.square(means).sum(axis=1)
    return others / (len(means) - 1) if len(means) > 1 else np.full(1, np.nan)


def _sums(vectors: ArrayLike, prompts: Labels) -> tuple[Floats, NDArray[np.int64]]:
    """The sum of the directions of each prompt, shape ``(prompts, d)``, and how many there are."""
    rows = directions(vectors)
    parts = rows_by_prompt(prompts, len(rows))
    sums = np.array([rows[part].sum(axis=0) for part in parts])
    return sums, np.array([len(part) for part in parts], np.int64)


def directions(vectors: ArrayLike) -> Floats:
    """Normalise rows to length 1, in float64."""
    points = check_points(vectors, "vectors").astype(np.float64)
    zero = np.flatnonzero(~points.any(axis=1))
    if len(zero):
        raise InputError(
            "vectors must have no rows that are all zero, which have no direction; "
            f"the first is row {zero[0] + 1} (counted from 1)"
        )
    return np.asarray(unit_rows(points), np.float64)
