"""Twenty lines of float64 brute force: what every fast count must equal."""

from __future__ import annotations

import numpy as np


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
