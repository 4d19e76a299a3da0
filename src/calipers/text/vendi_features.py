"""The n-gram similarities of texts as products of sparse rows, and what their spectrum gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.tiles import Span, limit_threads, spans, workers
from calipers.metrics.vendi_entropy import vendi_of
from calipers.metrics.vendi_spectrum import eigenvalues
from calipers.text.corpus import Corpus
from calipers.text.text_distances import equal_texts

Floats = NDArray[np.float64]

MOST_DENSE = 10_000  # rows of a matrix whose eigenvalues are all found
FEW = 2_000  # rows up to which that takes less time than finding the largest alone
MOST_LEADING = 500
STEP = 256


def features(corpus: Corpus, orders: Sequence[int]) -> Any:
    """Rows of length 1 whose products are the similarities, sparse, shape ``(n, features)``."""
    from scipy.sparse import csr_array, hstack

    parts, n, same = [], len(corpus), equal_texts(corpus)
    for order in orders:
        ngrams = corpus.ngrams(order)
        found = ngrams.within
        counts = csr_array(
            (found.counts.astype(np.float64), found.ids, found.starts), shape=(n, ngrams.size)
        )
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(lengths, found.different)
        short = np.flatnonzero(found.different == 0)
        own = np.unique(same[short], return_inverse=True)[1]  # one feature for equal texts
        room = (n, int(own.max(initial=0)) + 1)
        parts += [counts, csr_array((np.ones(len(short)), (short, own)), shape=room)]
    return hstack(parts, format="csr") / np.sqrt(len(orders))


def vendi_of_features(rows: Any, q: float, truncate: int | None, threads: int | None) -> float:
    """Tell how many texts sparse rows of length 1 stand for, by the cheapest exact way there is.

    Raises
    ------
    InputError
        If it would take all eigenvalues of too large a matrix.
    """
    size = min(rows.shape)
    if q == 2 and truncate is None:
        return 1 / _energy(rows, threads)
    leading = 1 if truncate is None and np.isinf(q) else truncate
    if size > FEW and leading is not None and leading <= MOST_LEADING:
        return _of_leading(rows, q, leading, truncate, threads)
    if size <= MOST_DENSE:
        values = _spectrum(rows, threads)
        return vendi_of(values, q=q, truncate=truncate, zero=rows.shape[0] * 2.0**-52)
    if truncate is None:
        raise InputError(
            f"the Vendi score of order {q:g} takes all eigenvalues of an n x n matrix, for at most "
            f"{MOST_DENSE:,} texts; found {size:,}. Take vendi:q=2, vendi:q=inf or --max-samples "
            f"{MOST_DENSE} (in Python q=2, q=inf, truncate=, embeddings= or a sample)"
        )
    raise InputError(
        f"truncate must be at most {MOST_LEADING} for more than {MOST_DENSE:,} texts; found "
        f"{truncate}"
    )


def _of_leading(
    rows: Any, q: float, leading: int, truncate: int | None, threads: int | None
) -> float:
    """From the largest eigenvalues alone; all of them sum to 1."""
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).random(min(rows.shape))
    with limit_threads(threads):
        singular = svds(rows, k=leading, return_singular_vectors=False, v0=start)
    values = np.sort(singular)[::-1] ** 2 / rows.shape[0]
    if truncate is None:
        return float(1 / values[0])
    return vendi_of(values + (1 - values.sum()) / truncate, q=q)


def _energy(rows: Any, threads: int | None) -> float:
    """Mean squared similarity over all pairs, some rows at a time."""
    n, turned = rows.shape[0], rows.T.tocsr()
    if _work(rows) < _work(turned):  # products of the other side have the same sum of squares
        rows, turned = turned, rows

    def work(span: Span) -> float:
        similarities = rows[slice(*span)] @ turned
        return float(similarities.data @ similarities.data)

    with workers(threads) as pool:
        total = sum(pool.map(work, spans(rows.shape[0], STEP)))
    return float(total / n**2)


def _work(rows: Any) -> float:
    """Multiplications that the products of all columns with each other take."""
    return float(np.sum(np.diff(rows.indptr).astype(np.float64) ** 2))


def _spectrum(rows: Any, threads: int | None) -> Floats:
    """All eigenvalues of the similarities over n, or of the smaller matrix with the same ones."""
    n = rows.shape[0]
    if rows.shape[1] < n:
        rows = rows.T.tocsr()
    turned = rows.T.tocsr()
    size = rows.shape[0]
    similarities = np.empty((size, size))

    def work(span: Span) -> None:
        similarities[slice(*span)] = (rows[slice(*span)] @ turned).toarray()

    with workers(threads) as pool:
        for _ in pool.map(work, spans(size, STEP)):
            pass
    return eigenvalues(similarities, threads)
