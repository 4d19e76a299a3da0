"""Vendi score and RKE of texts: the effective number of different texts.

The similarity of two texts is the mean over orders of the cosine of their n-gram counts, as in the
text part of the vendi-score package; :mod:`calipers.metrics.vendi` has the definitions. A text of
fewer tokens than an order has no such n-gram; there it is like equal texts only, so that every text
is like itself by 1 (that package gives such texts less weight). Embeddings may take the n-grams'
place.

Similarities are products of sparse rows of counts, whose spectrum gives the scores. The exact score
takes a matrix of n x n numbers, for up to 10,000 texts; for more, orders 2 and infinity and
truncated scores are found without one.

What they do not detect: see :mod:`calipers.metrics.vendi`; with n-grams, also any likeness beyond
the words themselves. Both grow with n: compare sets of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.metrics.vendi import check_order, eigenvalues, vendi_of
from calipers.metrics.vendi import rke as rke_of_rows
from calipers.metrics.vendi import vendi_score as vendi_of_rows
from calipers.numeric.arrays import Floats
from calipers.numeric.threads import limit_threads, workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import as_array, check_threads, check_whole
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.ngrams import check_order as check_length
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates, by_block
from calipers.text.scoring import Chosen, TextPair, text_score
from calipers.text.string_kernels import equal_texts
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus

MOST_DENSE = 10_000  # rows of a matrix whose eigenvalues are all found
FEW = 2_000  # rows up to which that takes less time than finding the largest alone
MOST_LEADING = 500
STEP = 256

ORDERS = (1, 2)
"""Lengths of n-grams by default."""

FEW_ANEW = 1_000
"""Texts up to which all eigenvalues are found without each block."""

SMALLEST = 1e-7
"""Share of the largest eigenvalue below which float32 cannot tell one from 0."""


def features(corpus: Corpus, orders: Sequence[int]) -> Any:
    """Return sparse rows of length 1 whose products are the similarities, ``(n, features)``."""
    from scipy.sparse import csr_array, hstack

    parts, n, same = [], len(corpus), equal_texts(corpus)
    for order in orders:
        ngrams = corpus.ngrams(order)
        within = ngrams.within
        counts = csr_array(
            (within.counts.astype(np.float64), within.ids, within.starts), shape=(n, ngrams.size)
        )
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(lengths, within.different)
        short = np.flatnonzero(within.different == 0)
        feature = np.unique(same[short], return_inverse=True)[1]  # one feature for equal texts
        room = (n, int(feature.max(initial=0)) + 1)
        parts += [counts, csr_array((np.ones(len(short)), (short, feature)), shape=room)]
    return hstack(parts, format="csr") / np.sqrt(len(orders))


def vendi_of_features(rows: Any, q: float, truncate: int | None, threads: int | None) -> float:
    """Compute the Vendi score of sparse rows of length 1, by the cheapest exact method.

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
            f"{MOST_DENSE:,} texts; found {size:,}. Take q=2, q=inf (vendi:q=2, "
            f"vendi:q=inf), fewer texts (`max_samples={MOST_DENSE}`), truncate or embeddings"
        )
    raise InputError(
        f"truncate must be at most {MOST_LEADING} for more than {MOST_DENSE:,} texts; found "
        f"{truncate}"
    )


def _of_leading(
    rows: Any, q: float, leading: int, truncate: int | None, threads: int | None
) -> float:
    """From the largest eigenvalues alone; all of them sum to 1."""
    with limit_threads(threads):
        singular = _singular(rows, leading, vectors=False)
    values = np.sort(singular)[::-1] ** 2 / rows.shape[0]
    if truncate is None:
        return float(1 / values[0])
    return vendi_of(values + (1 - values.sum()) / truncate, q=q)


def _singular(rows: Any, count: int, *, vectors: bool) -> Any:
    """The largest singular values, with their vectors or without, from one start."""
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).random(min(rows.shape))
    return svds(rows, k=count, return_singular_vectors=vectors, v0=start)


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


@checks_keywords
def vendi_score(
    texts: Texts,
    *,
    q: float = 1.0,
    orders: Sequence[int] = ORDERS,
    tokenizer: AnyTokenizer = "auto",
    truncate: int | None = None,
    embeddings: ArrayLike | None = None,
    threads: int | None = None,
) -> Score:
    """Measure the effective number of different texts in a set.

    Parameters
    ----------
    texts
        Strings, or a corpus.
    q
        Order of the entropy, from 0 to infinity: 1 for Shannon's, 2 for RKE.
    orders
        Lengths of n-grams, over whose similarities the mean is taken.
    tokenizer
        The tokenizer.
    truncate
        Keep so many of the largest eigenvalues and give each an equal part of what the others hold;
        None keeps all.
    embeddings
        One row for each text, shape ``(n, d)``: their cosine in place of the n-grams'.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Score
        From 1 to n, closest to the reference's value is better. It grows with n: compare sets of
        one size.

    Raises
    ------
    InputError
        If an option is out of its range, or there are more than 10,000 texts and q is neither 2 nor
        infinity, nothing is truncated and no embeddings are given.

    Examples
    --------
    >>> texts = ["a b c", "a b c", "x y z", "x y z"]
    >>> round(vendi_score(texts, tokenizer="whitespace").value, 9)
    2.0
    """
    check_order(q)
    check_threads(threads)
    if truncate is not None:
        check_whole("truncate", truncate, 1)
    if embeddings is not None:
        rows = _check_rows(texts, embeddings)
        return vendi_of_rows(rows, q=q, truncate=truncate, threads=threads)
    orders, corpus = _check_orders(orders), as_corpus(texts, tokenizer)
    value = vendi_of_features(features(corpus, orders), q, truncate, threads)
    truncation = {} if truncate is None else {"truncate": truncate}
    return _score("vendi", value, corpus, orders, q=float(q), **truncation)


@checks_keywords
def rke(
    texts: Texts,
    *,
    orders: Sequence[int] = ORDERS,
    tokenizer: AnyTokenizer = "auto",
    embeddings: ArrayLike | None = None,
    bandwidth: float | None = None,
    threads: int | None = None,
) -> Score:
    """Measure the number of modes of a set of texts, by Rényi kernel entropy of order 2.

    Takes memory for n-grams and some rows of similarities, whatever the number of texts.

    Parameters
    ----------
    texts, orders, tokenizer, embeddings, threads
        As for :func:`vendi_score`.
    bandwidth
        With embeddings, σ of a Gaussian kernel on them; None for the cosine.

    Returns
    -------
    Score
        From 1 to n, closest to the reference's value is better.

    Raises
    ------
    InputError
        If an option is out of its range, or a bandwidth is given without embeddings.

    Examples
    --------
    >>> texts = ["a b c", "a b c", "a b c", "x y z"]
    >>> round(rke(texts, tokenizer="whitespace").value, 6)
    1.6
    """
    check_threads(threads)
    if embeddings is not None:
        rows = _check_rows(texts, embeddings)
        return rke_of_rows(rows, bandwidth=bandwidth, threads=threads)
    if bandwidth is not None:
        raise InputError(f"a bandwidth needs embeddings; found bandwidth {bandwidth!r} without")
    orders, corpus = _check_orders(orders), as_corpus(texts, tokenizer)
    value = vendi_of_features(features(corpus, orders), 2.0, None, threads)
    return _score("rke", value, corpus, orders)


def _score(metric: str, value: float, corpus: Corpus, orders: Sequence[int], **pins: Any) -> Score:
    n = len(corpus)
    pins |= {"kernel": "ngram_cosine", "orders": ",".join(map(str, orders))}
    value = float(np.clip(value, 1.0, n))
    return replace(text_score(metric, value, corpus, **pins), range=(1.0, float(n)))


def _check_orders(orders: Sequence[int]) -> tuple[int, ...]:
    given = tuple(orders) if isinstance(orders, Sequence) else (orders,)
    if not given:
        raise InputError("orders must hold at least one length of n-grams; found none")
    for order in given:
        check_length(order, name="every one of orders")
    return given


def _check_rows(texts: Texts, embeddings: ArrayLike) -> NDArray[Any]:
    rows = as_array(embeddings, "embeddings")
    if rows.shape[:1] != (len(texts),):
        raise InputError(
            f"embeddings must have one row for each text, {len(texts)}; found shape {rows.shape}"
        )
    return rows


def rke_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute RKE without each block of texts, from sums of squared similarities."""
    rows = features(measured.texts, ORDERS)
    block_sums = by_block(_squares(rows, rows.T.tocsr()), measured.labels)
    parts = (rows[measured.labels == block] for block in BLOCKS)
    within = np.array([_squares(part, part.T.tocsr()).sum() for part in parts])
    left = len(measured.labels) - np.bincount(measured.labels, minlength=len(BLOCKS))
    return TextReplicates(texts=left**2 / (block_sums.sum() - 2 * block_sums + within))


def vendi_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the Vendi score without each block of texts.

    Of few texts all eigenvalues are found anew. Of many, the change is followed to first order
    (Hadamard's formula): with ρ = X'X/n for rows x of length 1,

        d Tr ρ^q = q (x'ρ^(q-1)x - Tr ρ^q),    x'ρ^(q-1)x = n Σ_k λ_k^q u_k(x)²

    for the eigenvalues λ and eigenvectors u of the similarities over n. That takes the
    eigenvectors, in float32, and is approximate: the score bends where texts are few beside their
    variety. It is not known below order 1, where every eigenvalue near 0 counts.
    """
    q = float(measured.options["q"])
    if q == 2:
        return rke_replicates(measured)
    rows = features(measured.texts, ORDERS)
    if len(measured.texts) <= FEW_ANEW:
        left_rows = (rows[measured.labels != block] for block in BLOCKS)
        threads = measured.threads
        return TextReplicates(
            texts=np.array([vendi_of_features(x, q, None, threads) for x in left_rows])
        )
    if q < 1 or (np.isfinite(q) and len(measured.texts) > MOST_DENSE):
        return TextReplicates()
    with limit_threads(measured.threads):
        influence = _influence(rows, q, measured.value)
    n, blocks = len(influence), np.bincount(measured.labels, minlength=len(BLOCKS))
    moved = by_block(influence, measured.labels)
    values = measured.value + (influence.sum() - moved) / (n - blocks)
    return TextReplicates(texts=values, approximate=True)


def _influence(rows: Any, q: float, value: float) -> Floats:
    """How much the score would move towards each text, shape (n,)."""
    if np.isinf(q):
        towards: Floats = value - value**2 * _leading(rows)
        return towards
    weights, shares = _eigen(rows)
    if q == 1:
        surprise = -shares @ (weights * np.log(weights))
        change: Floats = value * (surprise - surprise.mean())
        return change
    powers = shares @ weights**q
    total = float(np.sum(weights**q))
    influence: Floats = value * q / (1 - q) * (powers / total - 1)
    return influence


def _eigen(rows: Any) -> tuple[Floats, Floats]:
    """Eigenvalues of the similarities over n, and n times the squared eigenvectors of each text."""
    from scipy.linalg import eigh

    n, turned = rows.shape[0], rows.T.tocsr()
    similarities = np.empty((n, n), np.float32)
    for start, end in spans(n, STEP):
        similarities[start:end] = (rows[start:end] @ turned).toarray()
    values, vectors = eigh(similarities / n, overwrite_a=True, check_finite=False)
    positive = values > SMALLEST * values[-1]
    return values[positive].astype(np.float64), n * np.square(
        vectors[:, positive], dtype=np.float64
    )


def _leading(rows: Any) -> Floats:
    """The squared share of each text in the leading eigenvector, n λ u²."""
    vectors, singular, _ = _singular(rows, 1, vectors=True)
    squares: Floats = np.square(vectors[:, 0] * singular[0])
    return squares


def _squares(rows: Any, turned: Any) -> Floats:
    """Sum the squared similarities of each row, some rows at a time."""
    sums = [np.empty(0)]
    for start, end in spans(rows.shape[0], STEP):
        similar = rows[start:end] @ turned
        sums.append(np.asarray(similar.multiply(similar).sum(axis=1)).ravel())
    return np.concatenate(sums)


def read_vendi(pair: TextPair, options: Chosen) -> Score:
    return vendi_score(pair.texts, q=options["q"], threads=pair.threads)


def read_rke(pair: TextPair, _: Chosen) -> Score:
    return rke(pair.texts, threads=pair.threads)
