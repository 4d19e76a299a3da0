"""Float64 brute force for likelihood ratios, a matrix of all pairs at a time."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp


def two_gaussians(kl, d, n, seed, m=None):
    rng = np.random.default_rng(seed)
    reference, generated = rng.standard_normal((n, d)), rng.standard_normal((m or n, d))
    return reference + np.sqrt(2 * kl / d), generated


def mean_kl(ratios):
    """E_Q[f(r)] with f(t) = t log t - t + 1."""
    logs = ratios.log_generated
    r = np.exp(logs)
    return float(np.mean(np.where(r > 0, r * np.where(r > 0, logs, 0), 0) - r + 1))


def squared_distances(rows):
    wide = np.asarray(rows, np.float64)
    return np.array([((row - wide) ** 2).sum(axis=1) for row in wide])


def knn_logs(reference, generated, k):
    n, m = len(reference), len(generated)
    union = np.concatenate([reference, generated])
    squared = squared_distances(union)
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
    squared = squared_distances(union)
    np.fill_diagonal(squared, np.inf)
    d = union.shape[1]
    return np.sqrt(np.sort(squared, axis=1)[:, k - 1]) / (2 * np.exp(gammaln(d / 2 + 1) / d))


def kde_logs(reference, generated, widths):
    n, m = len(reference), len(generated)
    union = np.concatenate([reference, generated])
    exponents = -squared_distances(union) / (2 * widths[:, None] ** 2)
    np.fill_diagonal(exponents, -np.inf)
    sizes = np.full((n + m, 2), [n, m]) - np.repeat(np.eye(2), [n, m], axis=0)
    p = logsumexp(exponents[:, :n], axis=1) - np.log(sizes[:, 0])
    q = logsumexp(exponents[:, n:], axis=1) - np.log(sizes[:, 1])
    return (p - q)[:n], (p - q)[n:]
