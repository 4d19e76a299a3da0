"""Vendi score and RKE of texts: how many different texts does a set hold, in effect?

The similarity of two texts is the mean over orders of the cosine of their n-gram counts, as in the
text part of the vendi-score package; :mod:`calipers.metrics.vendi` has the definitions. A text of
fewer tokens than an order has no such n-gram; there it is like equal texts only, so that every text
is like itself by 1 (that package gives such texts less weight). Embeddings may take the n-grams'
place.

The exact score takes a matrix of n x n numbers, for up to 10,000 texts; for more, orders 2 and
infinity and truncated scores are found without one.

What they do not detect: see :mod:`calipers.metrics.vendi`; with n-grams, also any likeness beyond
the words themselves. Both grow with n: compare sets of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.validate import as_array, check_whole
from calipers.metrics.vendi import rke as rke_of_rows
from calipers.metrics.vendi import vendi_score as vendi_of_rows
from calipers.metrics.vendi_entropy import check_order
from calipers.score import Score
from calipers.text.checks import check_order as check_length
from calipers.text.signing import text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus
from calipers.text.vendi_features import features, vendi_of_features

if TYPE_CHECKING:
    from calipers.text.corpus import Corpus


def vendi_score(
    texts: Texts,
    *,
    q: float = 1.0,
    orders: Sequence[int] = (1, 2),
    tokenizer: AnyTokenizer = "nltk",
    truncate: int | None = None,
    embeddings: ArrayLike | None = None,
    threads: int | None = None,
) -> Score:
    """Tell how many different texts a set holds, in effect.

    Parameters
    ----------
    texts
        Strings, or a corpus.
    q
        Order of the entropy, from 0 to infinity: 1 for Shannon's, 2 for RKE.
    orders
        Lengths of n-grams, over whose similarities the mean is taken.
    tokenizer
        What splits the texts.
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
    check_whole("threads", 1 if threads is None else threads, 1)
    if truncate is not None:
        check_whole("truncate", truncate, 1)
    if embeddings is not None:
        rows = _check_rows(texts, embeddings)
        return vendi_of_rows(rows, q=q, truncate=truncate, threads=threads)
    orders, corpus = _check_orders(orders), as_corpus(texts, tokenizer)
    value = vendi_of_features(features(corpus, orders), q, truncate, threads)
    kept = {} if truncate is None else {"truncate": truncate}
    return _score("vendi", value, corpus, orders, q=float(q), **kept)


def rke(
    texts: Texts,
    *,
    orders: Sequence[int] = (1, 2),
    tokenizer: AnyTokenizer = "nltk",
    embeddings: ArrayLike | None = None,
    bandwidth: float | None = None,
    threads: int | None = None,
) -> Score:
    """Tell how many modes a set of texts has, by Rényi kernel entropy of order 2.

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
    """
    check_whole("threads", 1 if threads is None else threads, 1)
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
    return text_score(metric, value, corpus, range=(1.0, float(n)), **pins)


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
