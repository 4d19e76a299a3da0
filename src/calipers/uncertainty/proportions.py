"""Proportions: intervals of one, tests of two, and intervals of their ratio.

:func:`share_interval` is Wilson's interval of one share (JASA 1927).

For a category that rows fall into, such as a topic, the shares x/n of one set and y/m of the other:

- :func:`exact_p_value`: Fisher's exact test. Given how many rows of both sets together fall into
  the category, x is hypergeometric if both sets have one distribution; the p-value is the chance of
  all counts that are no likelier than x. Valid for any size of the sets, as long as rows are
  independent and categories were made without looking at which set a row is of.
- :func:`ratio_interval`: the score interval of (x/n)/(y/m) (Koopman, Biometrics 1984; Miettinen and
  Nurminen, Statistics in Medicine 1985, without their factor N/(N − 1)): all ratios that Pearson's
  χ² does not refuse. It holds where a count is zero; one end is then open.
- :func:`clustered_p_values` and :func:`effective_counts`, where rows come in clusters (several
  continuations of one prompt) and are not independent. Whole clusters are permuted; for the
  interval, counts are divided by the design effect (Rao and Scott, Biometrics 1992).

What they do not detect: rows that depend on each other and are not known to.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Floats

Labels = NDArray[np.integer]

NEAR_TIE = 1e-7
"""Chances that differ by less than this part are taken to be equal, as in R's fisher.test."""
STEPS = 200
PERMUTATIONS = 1_999
CHUNK = 256
"""Permutations that are looked at together."""


def exact_p_value(x: int, n: int, y: int, m: int) -> float:
    """Two-sided p-value of Fisher's exact test that the shares x/n and y/m are equal.

    Parameters
    ----------
    x, n
        Rows of one set in the category, and all its rows.
    y, m
        The same of the other set.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    The lady who tasted tea: 3 of 4 cups against 1 of 4.

    >>> round(exact_p_value(3, 4, 1, 4), 4)
    0.4857
    """
    from scipy.special import gammaln

    total = x + y
    counts = np.arange(max(0, total - m), min(n, total) + 1)
    logs = (
        _log_choose(gammaln, n, counts)
        + _log_choose(gammaln, m, total - counts)
        - _log_choose(gammaln, n + m, np.asarray(total))
    )
    chances = np.exp(logs)
    observed = chances[x - counts[0]]
    return min(1.0, float(chances[chances <= observed * (1 + NEAR_TIE)].sum() / chances.sum()))


def _log_choose(gammaln: np.ufunc, size: int, chosen: NDArray[np.integer]) -> Floats:
    logarithms: Floats = gammaln(size + 1) - gammaln(chosen + 1) - gammaln(size - chosen + 1)
    return logarithms


def ratio_interval(
    x: float, n: float, y: float, m: float, *, level: float = 0.95
) -> tuple[float, float]:
    """Score interval of the ratio of two shares, (x/n)/(y/m).

    Parameters
    ----------
    x, n, y, m
        As of :func:`exact_p_value`; counts may be effective ones, and so no whole numbers.
    level
        Of confidence.

    Returns
    -------
    tuple of float
        From 0 where `x` is zero, to infinity where `y` is.

    Examples
    --------
    >>> low, high = ratio_interval(36, 40, 16, 80)  # the example of Koopman 1984
    >>> round(low, 2), round(high, 2)
    (2.94, 7.15)
    """
    limit = NormalDist().inv_cdf((1 + level) / 2) ** 2
    low = 0.0 if x <= 0 else 1 / _highest(y, m, x, n, limit)
    high = math.inf if y <= 0 else _highest(x, n, y, m, limit)
    return low, high


def _highest(x: float, n: float, y: float, m: float, limit: float) -> float:
    """The largest ratio that is not refused; `y` above zero."""
    low = high = max((x / n) / (y / m), 1e-12)
    while _chi_square(high, x, n, y, m) < limit:
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if _chi_square(middle, x, n, y, m) < limit:
            low = middle
        else:
            high = middle
    return high


def _chi_square(ratio: float, x: float, n: float, y: float, m: float) -> float:
    """Pearson's χ² of a ratio, with the share y/m that is likeliest under it."""
    b = x + m + ratio * (y + n)
    share = 2 * (x + y) / (b + math.sqrt(max(0.0, b * b - 4 * ratio * (n + m) * (x + y))))
    other = min(1.0, ratio * share)
    variance = other * (1 - other) / n + ratio * ratio * share * (1 - share) / m
    difference = x / n - ratio * y / m
    if variance <= 0:
        return 0.0 if difference == 0 else math.inf
    return difference * difference / variance


def share_interval(share: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of n independent rows."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = 0.0 if share <= 0 else max(0.0, middle - reach)
    return low, 1.0 if share >= 1 else min(1.0, middle + reach)


# ------------------------------------------------------------------ clusters


def clustered_p_values(
    first: tuple[Labels, Labels],
    second: tuple[Labels, Labels],
    *,
    categories: int,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Test equal shares of each category in two sets, by permuting whole clusters.

    A cluster that both sets have rows of changes sides or not; of those that one set has, as many
    as before are drawn for each set. The statistic is the difference of the shares.

    Parameters
    ----------
    first, second
        Of each set the category of every row, and its cluster: whole numbers from 0, of clusters
        the same in both sets.
    categories
        How many there are.
    permutations
        How often sides are permuted.
    seed
        Of the permutations.

    Returns
    -------
    array
        Shape ``(categories,)``, each in [1/(permutations + 1), 1].
    """
    units = np.unique(np.concatenate([first[1], second[1]]))
    tables = [
        _by_cluster(labels, np.searchsorted(units, numbers), len(units), categories)
        for labels, numbers in (first, second)
    ]
    rows = [table.sum(axis=1) > 0 for table in tables]
    shared = rows[0] & rows[1]
    ours, total = tables[0], tables[0] + tables[1]
    # The first set has `base`, and for every cluster that lies on its side the `moving` rows
    base = tables[1][shared].sum(axis=0)
    moving = np.where(shared[:, None], ours - tables[1], total)
    sides = np.where(shared, True, rows[0])

    def differences(drawn: NDArray[np.bool_]) -> Floats:
        here = base + drawn.astype(np.float64) @ moving
        there = total.sum(axis=0) - here
        shares = [
            counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0) for counts in (here, there)
        ]
        distances: Floats = np.abs(shares[0] - shares[1])
        return distances

    observed = differences(sides[None])[0]
    rng, reached = np.random.default_rng(seed), np.zeros(categories)
    for start in range(0, permutations, CHUNK):
        count = min(CHUNK, permutations - start)
        drawn = rng.random((count, len(units))) < 0.5
        alone = np.tile(sides[~shared], (count, 1))
        drawn[:, ~shared] = rng.permuted(alone, axis=1)
        reached += (differences(drawn) >= observed - 1e-12).sum(axis=0)
    p_values: NDArray[np.float64] = (1 + reached) / (1 + permutations)
    return p_values


def effective_counts(inside: NDArray[np.bool_], clusters: Labels) -> tuple[float, float]:
    """Return effective sample sizes of a share for rows in clusters.

    Both counts are divided by the design effect: the variance of the share by clusters over that of
    independent rows, at least 1. Where none or all rows are inside, the variance is 0, and rows of
    a cluster count as one.

    Parameters
    ----------
    inside
        Which rows of a set are in the category, shape ``(n,)``.
    clusters
        The cluster of every row, whole numbers.

    Returns
    -------
    tuple of float
        Effective rows inside, and of all.
    """
    n, numbers = len(inside), np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(numbers).astype(np.float64)
    counts = np.bincount(numbers, inside.astype(np.float64))
    x, groups = float(counts.sum()), len(sizes)
    share = x / n
    if groups < 2 or share in (0.0, 1.0):
        effect = float((sizes**2).sum() / n)
    else:
        spread = groups / (groups - 1) * float(((counts - sizes * share) ** 2).sum())
        effect = max(1.0, spread / (n * share * (1 - share)))
    return x / effect, n / effect


def _by_cluster(labels: Labels, clusters: Labels, units: int, categories: int) -> Floats:
    """How many rows of every cluster lie in each category, shape ``(units, categories)``."""
    flat = np.bincount(clusters * categories + labels, minlength=units * categories)
    return flat.reshape(units, categories).astype(np.float64)
