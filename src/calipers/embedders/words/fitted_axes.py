"""Latent semantic analysis fitted on two halves of a reference: leading axes of TF-IDF weights.

What texts are counted in (words, n-grams of characters) are their **terms**. Term frequency is
1 + ln(count), inverse document frequency ln((1 + n) / (1 + df)) + 1, rows have length one; the axes
are the leading right singular vectors. They are fitted on the reference alone, so that adding a
system changes nothing.

A text that the axes were fitted on lies farther out on them than any other text can: fitted on 250
stories and asked about 250 others by the same people, the plain recipe gives a recall of 0.11. So
the reference is fitted in two halves, and every text, reference or generated, is read by the half
that it is not in; which half that is depends on its terms alone. With P_h the projection on the
axes of half h, vector(x) = P_{h(x)} tfidf_{h(x)}(x), as coordinates in the span of all axes.

Each half equals scikit-learn's ``TfidfVectorizer(sublinear_tf=True, min_df=2)`` and
``TruncatedSVD`` on the same terms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from calipers.embedders.embedder import Embedder
from calipers.errors import InputError


class Bag(NamedTuple):
    """The terms of a text, without their order.

    Attributes
    ----------
    terms
        Numbers of the different terms in rising order, int32; those unknown are left out.
    counts
        How often each occurs, int32.
    length
        Terms of the text, unknown ones too.
    draw
        A number below 2^64 that is as good as random, and the same for equal bags.
    reading
        Words of the text without punctuation, and how many of them have no number.
    """

    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    length: int
    draw: int
    reading: tuple[int, int] = (0, 0)


LEAST_TEXTS = 2
"""A term that stands in fewer texts of a half is unknown to it."""
_ROUNDS, _SPARE = 4, 16
"""Power iterations of the randomised SVD, and axes that it finds beyond those that are kept."""
_LEAST = 4


@dataclass(frozen=True, eq=False)
class Axes:
    """Fitted weights and axes.

    Attributes
    ----------
    idf
        Weight of each term, float64 of shape (terms,); 0 for one that is unknown.
    axes
        Orthonormal rows, float64 of shape (components, terms).
    """

    idf: NDArray[np.float64]
    axes: NDArray[np.float64]


def known_terms(texts: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Choose the vocabulary among terms in at least two texts, preferring the most frequent.

    Parameters
    ----------
    texts
        In how many texts each term stands.
    most
        Most terms that are known.

    Returns
    -------
    ndarray
        Their numbers in rising order.
    """
    least = LEAST_TEXTS if np.count_nonzero(texts >= LEAST_TEXTS) > 1 else 1
    known = np.flatnonzero(texts >= least)
    if len(known) > most:
        known = np.sort(known[np.argsort(-texts[known], kind="stable")[:most]])
    return known


def fit_axes(bags: Sequence[Bag], terms: int, *, components: int, most: int) -> Axes | None:
    """Fit weights and axes.

    Parameters
    ----------
    bags
        Bags whose terms are numbered below `terms`.
    terms
        How many terms have a number.
    components
        Most axes; there are fewer than texts and known terms in any case.
    most
        Most terms that are known.

    Returns
    -------
    Axes or None
        None if there are not two texts and two terms.
    """
    texts = np.bincount(np.concatenate([bag.terms for bag in bags]), minlength=terms)
    known = known_terms(texts, most)
    components = min(components, len(bags) - 1, len(known) - 1)
    if components < 1:
        return None
    idf = np.zeros(terms)
    idf[known] = np.log((1 + len(bags)) / (1 + texts[known])) + 1
    axes = np.zeros((components, terms))
    axes[:, known] = leading_axes(weigh(bags, idf)[:, known], components)
    return Axes(idf, axes)


def leading_axes(rows: Any, components: int) -> NDArray[np.float64]:
    """Compute the leading right singular vectors of a sparse matrix, each up to its sign.

    By power iterations from a random start (Halko, Martinsson and Tropp, 2011, algorithm 4.4). The
    start is random in the columns, so that the order of the rows cannot matter. The vectors are
    those of scikit-learn's ``randomized_svd`` from the same start, to rounding.

    Returns
    -------
    ndarray
        Shape (components, columns), orthonormal rows.
    """
    from scipy.linalg import qr, svd

    def basis(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(qr(vectors, mode="economic", check_finite=False)[0])

    span = np.random.RandomState(0).normal(size=(rows.shape[1], components + _SPARE))
    for _ in range(_ROUNDS):
        span = basis(rows.T @ basis(rows @ span))
    span = basis(rows @ span)
    right_vectors = svd(span.T @ rows, full_matrices=False, check_finite=False)[2]
    return np.asarray(right_vectors[:components])


def weigh(bags: Sequence[Bag], idf: NDArray[np.float64]) -> Any:
    """Return bags as rows of TF-IDF weights, of length one or zero.

    Returns
    -------
    scipy.sparse.csr_array
        float64 of shape (bags, terms).
    """
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(bag.terms) for bag in bags)])
    terms = np.concatenate([np.empty(0, np.int32), *(bag.terms for bag in bags)])
    counts = np.concatenate([np.empty(0, np.int32), *(bag.counts for bag in bags)])
    weights = (1 + np.log(counts)) * idf[terms]
    rows = csr_array((weights, terms, starts), shape=(len(bags), len(idf)))
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(starts))
    return rows


def common_axes(halves: Sequence[Axes]) -> list[NDArray[np.float32]]:
    """Rotate the axes of both halves into one space, preserving distances.

    A text projected on its half's axes is x·VᵀV, a row in the space of all terms. All these rows
    lie in the span of both halves' axes, so they are told by their coordinates in it.

    Returns
    -------
    list of array
        For each half float32 of shape (terms, sum of components): weights to coordinates.
    """
    basis = np.linalg.qr(np.concatenate([half.axes for half in halves]).T)[0]
    largest = basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])]
    basis *= np.where(largest < 0, -1, 1)
    return [(half.axes.T @ (half.axes @ basis)).astype(np.float32) for half in halves]


@dataclass(frozen=True, eq=False)
class Halves:
    """The half of each text, and the fit on each half.

    Attributes
    ----------
    axes
        Of the lower and of the upper half, by the draw of a text.
    border
        The least draw of the upper half.
    """

    axes: tuple[Axes, Axes]
    border: int


def border_of(bags: Iterable[Bag], embedder: str) -> int:
    """Return the smallest draw of the upper half of some texts.

    Raises
    ------
    InputError
        If there are fewer than four different ones.
    """
    draws = sorted({bag.draw for bag in bags if bag.length})
    if len(draws) < _LEAST:
        raise _too_small(embedder, len(draws))
    return draws[len(draws) // 2]


def sides_of(bags: Iterable[Bag], border: int) -> tuple[list[Bag], list[Bag]]:
    """Assign texts to the lower or upper half, empty ones to neither.

    An empty text has no terms to learn from, but it would be counted.
    """
    filled = [bag for bag in bags if bag.length]
    upper = [bag.draw >= border for bag in filled]
    lower_half = [bag for bag, high in zip(filled, upper, strict=True) if not high]
    return lower_half, [bag for bag, high in zip(filled, upper, strict=True) if high]


def fit_halves(
    bags: Sequence[Bag], terms: int, border: int, *, components: int, most: int, embedder: str
) -> Halves:
    """Fit weights and axes on each half of a reference.

    Parameters
    ----------
    bags, terms, components, most
        As :func:`fit_axes` takes them; the axes are those of each half.
    border
        The least draw of the upper half.
    embedder
        Its name, for messages.

    Raises
    ------
    InputError
        If a half has not two texts and two terms.
    """
    fit_side = partial(fit_axes, terms=terms, components=components, most=most)
    # One thread of BLAS each: as fast for such small matrices, and the same to the last bit
    with threadpool_limits(1), ThreadPoolExecutor(2) as pool:
        lower, upper = pool.map(fit_side, sides_of(bags, border))
    if lower is None or upper is None:
        raise _too_small(embedder, len({bag.draw for bag in bags if bag.length}))
    return Halves((lower, upper), border)


def _too_small(embedder: str, different: int) -> InputError:
    return InputError(
        f"the embedder {embedder!r} must be fitted on a reference of at least {_LEAST} texts with "
        f"different words, and hundreds to be of use; found {different}. Choose an embedder that "
        "is not fitted, such as 'minilm'"
    )


class HalvesReader:
    """Computes the vectors of texts, each by the half that it is not in.

    Parameters
    ----------
    halves
        What was fitted.
    """

    def __init__(self, halves: Halves) -> None:
        self.idf = tuple(half.idf for half in halves.axes)
        self._axes, self._border = common_axes(halves.axes), halves.border

    def read_by(self, bags: Sequence[Bag]) -> NDArray[np.intp]:
        """Return the half that embeds each text: 0 for the lower, for texts that are not in it."""
        return np.array([int(bag.draw < self._border) for bag in bags], np.intp)

    def vectors(self, bags: Sequence[Bag]) -> NDArray[np.float32]:
        """Return the vectors, of shape (n, d); a row of zeros where no term is known."""
        rows = np.zeros((len(bags), self._axes[0].shape[1]), np.float32)
        read_by = self.read_by(bags)
        for half in (0, 1):
            chosen = np.flatnonzero(read_by == half).tolist()
            if chosen:
                weights = weigh([bags[row] for row in chosen], self.idf[half])
                rows[chosen] = weights.astype(np.float32) @ self._axes[half]
        return rows


def least_draws(bags: list[Bag], most: int) -> list[Bag]:
    """Keep the texts with the smallest draws, in order: a selection independent of row order."""
    if len(bags) <= most:
        return bags
    border = np.partition(np.array([bag.draw for bag in bags], np.uint64), most)[most]
    return [bag for bag in bags if bag.draw < border]


SIZE = 128
"""Numbers of a vector: half of them for the axes of each half."""


class UnfittedAxes(Embedder):
    """An embedder on the axes of a reference, before fitting.

    Parameters
    ----------
    size
        Numbers of a vector, an even number; fewer where the reference is small.

    Raises
    ------
    InputError
        If `size` is odd.
    """

    leaves_out = True
    needs_fitting = True
    kept = False  # fitting is the work, and no part of it can be kept for another reference

    def __init__(self, *, size: int = SIZE) -> None:
        if size % 2:
            raise InputError(f"size must be even for the embedder {self.name!r}; found {size}")
        self._components = size // 2
        self.identity = f"{self.name}|unfitted|size:{size}"
        self.signature = {"embedder": self.name}
        self.view_signature = {self.views[0]: f"svd_{size}"}

    @abstractmethod
    def fitted(self, samples: Iterable[Any]) -> Embedder:
        """Fit weights and axes on the reference."""

    def encode(self, samples: Sequence[Any]) -> NoReturn:
        """Refuse to embed before a reference is fitted.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            f"the embedder {self.name!r} must be fitted on a reference first: "
            f"load_embedder({self.name!r}).fitted(texts).embed(more)"
        )
