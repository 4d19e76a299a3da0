"""Every support metric again, by whole distance matrices in float64, a few lines for each."""

from __future__ import annotations

import numpy as np


def distances(x, y, metric="euclidean"):
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if metric == "cosine":
        x, y = (z / np.sqrt((z**2).sum(1))[:, None] for z in (x, y))
    squared = np.array([((row - y) ** 2).sum(axis=1) for row in x])
    return squared / 2 if metric == "cosine" else np.sqrt(squared)


def own(x, metric="euclidean"):
    """Distances within a set, sorted; a row's distance to itself is left out."""
    within = distances(x, x, metric)
    np.fill_diagonal(within, np.inf)
    return np.sort(within, axis=1)


def holds(gap, radius, ties):
    return gap <= radius if ties == "closed" else gap < radius


def realism(p, q, k=4, metric="euclidean"):
    radius = own(p, metric)[:, k - 1]
    values = []
    for gaps in distances(q, p, metric):
        best = [
            np.inf if gap == 0 else r / gap
            for r, gap in zip(radius, gaps, strict=True)
            if r <= np.median(radius)
        ]
        values.append(max(best))
    return np.array(values)


def clipped_density(p, q, k=5, ties="closed", metric="euclidean"):
    radius = own(p, metric)[:, k - 1]
    radius = np.minimum(radius, np.median(radius))
    within = distances(p, p, metric)
    np.fill_diagonal(within, np.inf)
    around_own = holds(within, radius[:, None], ties).sum(axis=0)
    around = holds(distances(p, q, metric), radius[:, None], ties).sum(axis=0)
    calibration = np.minimum(around_own, k).mean()
    return min(1, np.minimum(around, k).mean() / calibration) if calibration else np.nan


def clipped_share(p, q, k=5, ties="closed", metric="euclidean"):
    """Clipped coverage before its calibration."""
    held = holds(distances(p, q, metric), own(p, metric)[:, k - 1 : k], ties).sum(axis=1)
    return np.minimum(held, k).mean() / k


def probabilistic_precision(p, q, k=4, factor=1.2, metric="euclidean"):
    reach = factor * own(p, metric)[:, k - 1].mean()
    gaps = distances(q, p, metric)
    if reach == 0:
        return (gaps == 0).any(axis=1).mean()
    return np.mean(1 - np.where(gaps <= reach, gaps / reach, 1).prod(axis=1))


def cover_precision(p, q, k=3, factor=3, ties="closed", metric="euclidean"):
    radius = own(q, metric)[:, factor * k - 1]
    return (holds(distances(q, p, metric), radius[:, None], ties).sum(axis=1) >= k).mean()


def to_mean(x, of):
    """Rounded, so that distances that are equal on paper are equal."""
    return np.linalg.norm(x - of.mean(axis=0), axis=1).round(10)


def sphere_precision(p, q):
    to_own, to_other = to_mean(p, p), to_mean(q, p)
    alpha = np.array([np.mean(to_own <= r) for r in to_own])
    found = np.array([np.mean(to_other <= r) for r in to_own])
    return 1 - np.abs(found - alpha).sum() / alpha.sum()


def sphere_recall(p, q, ties="closed"):
    to_own, gaps = to_mean(q, q), distances(p, q)
    near = holds(gaps.min(axis=1), own(p)[:, 0], ties)
    reached = to_own[gaps.argmin(axis=1)]
    beta = np.array([np.mean(to_own <= r) for r in to_own])
    found = np.array([np.mean(near & (reached <= r)) for r in to_own])
    return 1 - np.abs(found - beta).sum() / beta.sum()


def authenticity(p, q, metric="euclidean"):
    gaps = distances(q, p, metric)
    return np.mean(gaps.min(axis=1) > own(p, metric)[gaps.argmin(axis=1), 0])


def near_copies(p, q, metric="euclidean"):
    nearest = np.sort(own(p, metric)[:, 0])
    tau = nearest[int(np.ceil(len(p) / 100)) - 1]
    return np.mean(distances(q, p, metric).min(axis=1) <= tau)
