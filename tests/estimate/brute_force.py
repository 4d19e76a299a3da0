"""Float64 brute force over all pairs: what every fast count and ratio must equal."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp


def squared_distances(x, y):
    left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return np.array([((row - right) ** 2).sum(axis=1) for row in left])


def squared_radii(x, k):
    within = squared_distances(x, x)
    np.fill_diagonal(within, np.inf)
    return np.sort(within, axis=1)[:, k - 1]


def counts(reference, generated, k, *, closed=True):
    """(held by reference balls, inside reference balls, held by generated, inside generated)."""
    across = squared_distances(reference, generated)
    compare = np.less_equal if closed else np.less
    of_reference = compare(across, squared_radii(reference, k)[:, None])
    of_generated = compare(across, squared_radii(generated, k)[None, :])
    return (
        of_reference.sum(axis=1),
        of_reference.sum(axis=0),
        of_generated.sum(axis=0),
        of_generated.sum(axis=1),
    )


def supports(owners, guests, k, factor, *, closed=True):
    """Per guest: (capped balls, realism, missed), and per owner: capped balls of its own set."""
    within, across = squared_distances(owners, owners), squared_distances(owners, guests)
    np.fill_diagonal(within, np.inf)
    radii = np.sqrt(np.sort(within, axis=1)[:, k - 1])
    compare, middle = (np.less_equal if closed else np.less), np.median(radii)
    capped = np.minimum(radii, middle)[:, None]
    distance, smaller = np.sqrt(across), radii <= middle
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = np.where(distance == 0, np.inf, radii[:, None] / distance)[smaller].max(axis=0)
        common = factor * radii.mean()
        ratio = np.where(distance == 0, 0.0, distance / common)
        missed = np.where(distance <= common, ratio, 1.0).prod(axis=0)
    return (
        compare(distance, capped).sum(axis=0),
        depth,
        missed,
        compare(np.sqrt(within), capped).sum(axis=0),
    )


def two_gaussians(kl, d, n, seed, m=None):
    rng = np.random.default_rng(seed)
    reference, generated = rng.standard_normal((n, d)), rng.standard_normal((m or n, d))
    return reference + np.sqrt(2 * kl / d), generated


def mean_kl(ratios):
    """E_Q[f(r)] with f(t) = t log t - t + 1."""
    logs = ratios.log_generated
    r = np.exp(logs)
    return float(np.mean(np.where(r > 0, r * np.where(r > 0, logs, 0), 0) - r + 1))


def union_distances(rows):
    wide = np.asarray(rows, np.float64)
    return np.array([((row - wide) ** 2).sum(axis=1) for row in wide])


def knn_logs(reference, generated, k):
    n, m = len(reference), len(generated)
    union = np.concatenate([reference, generated])
    squared = union_distances(union)
    np.fill_diagonal(squared, np.inf)
    inside = squared <= np.sort(squared, axis=1)[:, k - 1][:, None]
    a, b = inside[:, :n].sum(axis=1), inside[:, n:].sum(axis=1)
    with np.errstate(divide="ignore"):
        at_reference = -np.log((b[:n] / m) / ((a[:n] + 1) / n))
        at_generated = np.log((a[n:] / n) / ((b[n:] + 1) / m))
    return at_reference, at_generated


def balloon(reference, generated, k):
    """Width of the kernel at every row of the union, in the unit of the rows."""
    union = np.concatenate([reference, generated])
    squared = union_distances(union)
    np.fill_diagonal(squared, np.inf)
    d = union.shape[1]
    return np.sqrt(np.sort(squared, axis=1)[:, k - 1]) / (2 * np.exp(gammaln(d / 2 + 1) / d))


def kde_logs(reference, generated, widths):
    n, m = len(reference), len(generated)
    union = np.concatenate([reference, generated])
    exponents = -union_distances(union) / (2 * widths[:, None] ** 2)
    np.fill_diagonal(exponents, -np.inf)
    sizes = np.full((n + m, 2), [n, m]) - np.repeat(np.eye(2), [n, m], axis=0)
    p = logsumexp(exponents[:, :n], axis=1) - np.log(sizes[:, 0])
    q = logsumexp(exponents[:, n:], axis=1) - np.log(sizes[:, 1])
    return (p - q)[:n], (p - q)[n:]
