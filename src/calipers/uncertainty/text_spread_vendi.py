"""The Vendi score and RKE without each block of texts.

Of order 2 the score is one over the mean squared similarity, so a block leaves with its sum. Of
other orders all eigenvalues are found anew without each block; where that would take long, the
change is followed to first order (Hadamard's formula): with ρ = X'X/n for rows x of length 1,

    d Tr ρ^q = q (x'ρ^(q-1)x - Tr ρ^q),    x'ρ^(q-1)x = n Σ_k λ_k^q u_k(x)²

for the eigenvalues λ and eigenvectors u of the similarities over n. That takes the eigenvectors,
in float32, and is approximate: the score bends where texts are few beside their variety.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.numeric.threads import limit_threads
from calipers.numeric.tiles import spans
from calipers.text.vendi import MOST_DENSE, STEP, features, vendi_of_features
from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import BLOCKS, Measured, by_block

ORDERS = (1, 2)
FEW = 1_000
"""Texts up to which all eigenvalues are found without each block."""

SMALLEST = 1e-7
"""Share of the largest eigenvalue below which float32 cannot tell one from 0."""


def of_rke(found: Measured) -> tuple[Component, ...]:
    """One over the mean squared similarity of the other blocks."""
    rows = features(found.texts, ORDERS)
    own = by_block(_squares(rows, rows.T.tocsr()), found.labels)
    parts = (rows[found.labels == block] for block in BLOCKS)
    within = np.array([_squares(part, part.T.tocsr()).sum() for part in parts])
    left = len(found.labels) - np.bincount(found.labels, minlength=len(BLOCKS))
    return (found.own(left**2 / (own.sum() - 2 * own + within)),)


def of_vendi(found: Measured) -> tuple[Component, ...]:
    """To first order for many texts; not below order 1, where every eigenvalue near 0 counts."""
    q, rows = float(found.options["q"]), features(found.texts, ORDERS)
    if q == 2:
        return of_rke(found)
    if len(found.texts) <= FEW:
        kept = (rows[found.labels != block] for block in BLOCKS)
        threads = found.held.threads
        return (found.own(np.array([vendi_of_features(x, q, None, threads) for x in kept])),)
    if q < 1 or (np.isfinite(q) and len(found.texts) > MOST_DENSE):
        return ()
    with limit_threads(found.held.threads):
        influence = _influence(rows, q, found.value)
    n, blocks = len(influence), np.bincount(found.labels, minlength=len(BLOCKS))
    moved = by_block(influence, found.labels)
    return (found.own(found.value + (influence.sum() - moved) / (n - blocks)),)


def _influence(rows: Any, q: float, value: float) -> Doubles:
    """How much the score would move towards each text, shape (n,)."""
    if np.isinf(q):
        towards: Doubles = value - value**2 * _leading(rows)
        return towards
    weights, shares = _eigen(rows)
    if q == 1:
        surprise = -shares @ (weights * np.log(weights))
        change: Doubles = value * (surprise - surprise.mean())
        return change
    powers = shares @ weights**q
    total = float(np.sum(weights**q))
    influence: Doubles = value * q / (1 - q) * (powers / total - 1)
    return influence


def _eigen(rows: Any) -> tuple[Doubles, Doubles]:
    """Eigenvalues of the similarities over n, and n times the squared eigenvectors of each text."""
    from scipy.linalg import eigh

    n, turned = rows.shape[0], rows.T.tocsr()
    similarities = np.empty((n, n), np.float32)
    for start, end in spans(n, STEP):
        similarities[start:end] = (rows[start:end] @ turned).toarray()
    values, vectors = eigh(similarities / n, overwrite_a=True, check_finite=False)
    kept = values > SMALLEST * values[-1]
    return values[kept].astype(np.float64), n * np.square(vectors[:, kept], dtype=np.float64)


def _leading(rows: Any) -> Doubles:
    """The squared share of each text in the leading eigenvector, n λ u²."""
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).random(min(rows.shape))
    vectors, singular, _ = svds(rows, k=1, v0=start)
    squares: Doubles = np.square(vectors[:, 0] * singular[0])
    return squares


def _squares(rows: Any, turned: Any) -> Doubles:
    """Sum the squared similarities of each row, some rows at a time."""
    sums = [np.empty(0)]
    for start, end in spans(rows.shape[0], STEP):
        similar = rows[start:end] @ turned
        sums.append(np.asarray(similar.multiply(similar).sum(axis=1)).ravel())
    return np.concatenate(sums)
