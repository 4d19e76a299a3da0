"""Conditional Vendi scores: the effective number of different samples for each prompt.

With kernel matrices of n samples K_X and of their prompts K_T, both with ones on the diagonal, and
H(K) = −Σ λ log λ over the eigenvalues λ of K/n (the matrix-based entropy of order 1),

    Conditional-Vendi(X | T) = exp(H(K_X ∘ K_T) − H(K_T)),
    Information-Vendi(X; T)  = exp(H(K_X) + H(K_T) − H(K_X ∘ K_T)),

∘ being the product of entries (Jalali, Ospanov, Gohari and Farnia, "Conditional Vendi score",
arXiv 2411.02817). The first is the variety that a model adds for a given prompt, the second the
variety that prompts call forth, and their product is the Vendi score of all samples together.

Where prompts are compared by identity, K_T has ones for samples of one prompt and zeros elsewhere.
Then K_X ∘ K_T falls into blocks, and Conditional-Vendi is the geometric mean of the Vendi scores
of the prompts, each weighted by its samples: 1 where every prompt gets one answer over and over,
k where its k samples are orthogonal.

It grows with the number of samples for each prompt: compare sets that have equally many.

What it does not detect: whether samples are any good; and with embeddings that all point one way
the cosine kernel gives values near 1 to any set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError, checks_keywords
from calipers.metrics.vendi import eigenvalues, spectrum, vendi_of
from calipers.metrics.within_prompts import Labels, directions, rows_by_prompt
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import as_array
from calipers.score import Score, signature

SLACK = 1e-6
"""How far from 1 the diagonal of a kernel may lie, and from symmetry its entries."""


@checks_keywords
def vendi_within(vectors: ArrayLike, prompts: Labels, *, threads: int | None = None) -> Floats:
    """Measure the effective number of different samples for each prompt: its Vendi score.

    Parameters
    ----------
    vectors
        Embeddings, shape ``(n, d)``, no row all zero.
    prompts
        The prompt of every row, shape ``(n,)``.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    array
        Shape ``(prompts,)``, from 1 to the samples of the prompt.

    Raises
    ------
    InputError
        If the arrays do not fit together, or a row has no direction.

    Examples
    --------
    >>> samples = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> vendi_within(samples, [0, 0, 1, 1]).round(9).tolist()
    [2.0, 1.0]
    """
    rows = directions(vectors)
    return np.array(
        [
            np.clip(vendi_of(spectrum(rows[part], normalise=False, threads=threads)), 1, len(part))
            for part in rows_by_prompt(prompts, len(rows))
        ]
    )


@checks_keywords
def conditional_vendi(
    samples: ArrayLike, prompts: ArrayLike, *, threads: int | None = None
) -> Score:
    """Measure the effective number of different samples for a prompt.

    Parameters
    ----------
    samples
        Kernel matrix K_X of the samples, shape ``(n, n)``: symmetric, ones on the diagonal.
    prompts
        Kernel matrix K_T of their prompts, of the same shape. :func:`cosine_kernel` and
        :func:`same_prompt_kernel` make either.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Score
        From 1 to n, closest to the reference's value is better.

    Raises
    ------
    InputError
        If the matrices are not such kernels, or differ in shape.

    Examples
    --------
    >>> same = same_prompt_kernel(["a", "a", "b", "b"])
    >>> round(conditional_vendi(np.ones((4, 4)), same).value, 9)
    1.0
    >>> round(conditional_vendi(np.eye(4), same).value, 9)
    2.0
    """
    left, right = _kernels(samples, prompts)
    value = np.exp(_entropy(left * right, threads) - _entropy(right, threads))
    return _scored("conditional_vendi", float(value), len(left))


@checks_keywords
def information_vendi(
    samples: ArrayLike, prompts: ArrayLike, *, threads: int | None = None
) -> Score:
    """Measure how much of the variety of samples is due to their prompts.

    Parameters
    ----------
    samples, prompts, threads
        As for :func:`conditional_vendi`, whose value times this one is the Vendi score of all
        samples.

    Returns
    -------
    Score
        From 1, where samples have nothing to do with their prompts, to n.

    Raises
    ------
    InputError
        As :func:`conditional_vendi`.

    Examples
    --------
    >>> import numpy as np
    >>> round(information_vendi(np.eye(4), same_prompt_kernel(["a", "a", "b", "b"])).value, 6)
    2.0
    """
    left, right = _kernels(samples, prompts)
    shared = _entropy(left, threads) + _entropy(right, threads) - _entropy(left * right, threads)
    return _scored("information_vendi", float(np.exp(shared)), len(left))


@checks_keywords
def cosine_kernel(vectors: ArrayLike) -> Floats:
    """Return the cosines of all pairs of rows, shape ``(n, n)``, with ones on the diagonal.

    Examples
    --------
    >>> cosine_kernel([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    rows = directions(vectors)
    kernel = rows @ rows.T
    np.fill_diagonal(kernel, 1.0)
    return np.asarray(kernel, np.float64)


@checks_keywords
def same_prompt_kernel(prompts: Labels) -> Floats:
    """Return ones for pairs of samples of one prompt, zeros elsewhere, shape ``(n, n)``.

    Examples
    --------
    >>> same_prompt_kernel(["a", "a", "b"]).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _, places = np.unique(np.asarray(prompts), return_inverse=True)
    return np.equal.outer(places, places).astype(np.float64)


def _entropy(kernel: Floats, threads: int | None) -> float:
    """The matrix-based entropy of order 1."""
    return float(np.log(vendi_of(eigenvalues(kernel / len(kernel), threads))))


def _kernels(samples: ArrayLike, prompts: ArrayLike) -> tuple[Floats, Floats]:
    left, right = _kernel(samples, "samples"), _kernel(prompts, "prompts")
    if left.shape != right.shape:
        raise InputError(
            "the kernels of samples and prompts must be of one shape; "
            f"found {left.shape} and {right.shape}"
        )
    return left, right


def _kernel(given: ArrayLike, name: str) -> Floats:
    kernel = as_array(given, name).astype(np.float64)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1] or not len(kernel):
        raise InputError(f"{name} must be a square kernel matrix; found the shape {kernel.shape}")
    if not np.isfinite(kernel).all() or np.abs(kernel.diagonal() - 1).max() > SLACK:
        raise InputError(f"{name} must be a kernel matrix with ones on its diagonal")
    if np.abs(kernel - kernel.T).max() > SLACK:
        raise InputError(f"{name} must be a symmetric kernel matrix")
    return kernel


def _scored(metric: str, value: float, n: int) -> Score:
    return Score(
        value=float(np.clip(value, 1.0, n)),
        range=(1.0, float(n)),
        better="closest",
        signature=signature({"metric": metric, "order": 1, "n": n}),
    )
