"""A map of all samples of a comparison on one plane.

Rows are shown along the two directions in which all sets together vary most, by default scaled to
length one before; every set counts alike, however large it is. Two axes of hundreds show little of
the distances (`explained` says how much), so a map helps to look around and proves nothing: what
lies apart on it is apart, what lies together need not be. UMAP keeps neighbours together and gives
up distances: there, neither gaps nor sizes of clusters mean anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.catalogue.settings import Norm
from calipers.errors import InputError, MissingExtraError, unknown_name

Method = Literal["pca", "umap"]
Plane = NDArray[np.float32]

FEWEST_UMAP = 10
NEIGHBOURS = 15
LARGE = 512  # axes from which on two of them are found one by one


@dataclass(frozen=True, eq=False)
class SampleMap(Brief):
    """Positions of the samples of several sets on a plane.

    Attributes
    ----------
    method
        ``"pca"`` or ``"umap"``.
    explained
        The share of the variance that each axis keeps, in [0, 1]; None for UMAP.
    coordinates
        Of every set, shape ``(n_i, 2)``, float32; in the unit of the rows, or in a power of two of
        it where their squares might overflow or underflow.
    """

    method: Method
    explained: tuple[float, ...] | None
    coordinates: tuple[Plane, ...]


def sample_map(
    sets: Sequence[ArrayLike], *, method: Method = "pca", normalise: Norm = "l2", seed: int = 0
) -> SampleMap:
    """Project the samples of several sets onto one plane.

    Parameters
    ----------
    sets
        Embeddings of every set, the reference first, shapes ``(n_i, d)``.
    method
        ``"pca"``: principal axes, the same for the same sets, in any order of their rows but for
        rounding. ``"umap"``: needs the package umap-learn, and time.
    normalise
        ``"l2"`` scales every row to length one first; ``"none"`` leaves them.
    seed
        Seed of UMAP.

    Raises
    ------
    InputError
        If there is no set, sets do not fit together, or are too small for UMAP.
    MissingExtraError
        If UMAP is asked for and not installed.

    Examples
    --------
    >>> import numpy as np
    >>> found = sample_map([np.eye(3), np.eye(3)[:2]])
    >>> found.method, [round(share, 3) for share in found.explained]
    ('pca', [0.667, 0.333])
    """
    if method not in ("pca", "umap"):
        raise unknown_name("method of a map", str(method), ("pca", "umap"))
    if normalise not in ("l2", "none"):
        raise unknown_name("value for normalise", str(normalise), ("l2", "none"))
    rows = _checked(sets, normalise)
    return _pca(rows) if method == "pca" else _umap(rows, seed)


def _checked(sets: Sequence[ArrayLike], normalise: Norm) -> list[NDArray[Any]]:
    from calipers.estimate.axes import common_exponent, unit_rows
    from calipers.numeric.validation import check_points

    if len(sets) == 0:
        raise InputError("a map needs at least one set of samples; found none")
    rows = [check_points(points, f"set {place}") for place, points in enumerate(sets, start=1)]
    columns = sorted({points.shape[1] for points in rows})
    if len(columns) > 1:
        raise InputError(f"all sets of a map must have the same number of columns; found {columns}")
    kind = np.result_type(*rows)
    same = [points.astype(kind, copy=False) for points in rows]
    if normalise == "l2":
        return [unit_rows(points) for points in same]
    exponent = common_exponent(same)
    return [np.ldexp(points, -exponent) for points in same] if exponent else same


def _pca(rows: list[NDArray[Any]]) -> SampleMap:
    from calipers.estimate.axes import coordinates, scatter_about
    from calipers.numeric.distances import column_sums
    from calipers.numeric.threads import workers

    weights = [1 / (len(rows) * len(side)) for side in rows]
    with workers() as pool:
        sums = [w * column_sums(side, pool) for w, side in zip(weights, rows, strict=True)]
        mean: NDArray[np.float64] = np.sum(sums, axis=0)
        scatter = scatter_about(rows, mean, weights, pool)
        axes, variances = _leading(scatter)
        points = tuple(coordinates(side, mean, axes, pool) for side in rows)
    total = float(np.trace(scatter))
    shares = tuple(float(variance / total) if total > 0 else 0.0 for variance in variances)
    return SampleMap("pca", shares, points)


def _leading(scatter: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two axes with the largest variances, each pointing along its largest component."""
    d = len(scatter)
    if d == 1:
        return np.array([[1.0, 0.0]]), np.array([scatter[0, 0], 0.0])
    if d <= LARGE:
        from scipy.linalg import eigh

        variances, axes = eigh(scatter, subset_by_index=[d - 2, d - 1])
    else:
        from scipy.sparse.linalg import eigsh

        start = np.random.default_rng(0).standard_normal(d)
        variances, axes = eigsh(scatter, k=2, v0=start)
    order = np.argsort(-variances)
    axes = axes[:, order]
    signs = np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])
    return axes * signs, np.maximum(variances[order], 0.0)


def _umap(rows: list[NDArray[Any]], seed: int) -> SampleMap:
    try:
        import umap
    except ModuleNotFoundError as error:
        if error.name != "umap":
            raise
        raise MissingExtraError(
            "a map by UMAP needs the package 'umap-learn', which is not installed. "
            "Install it with: pip install umap-learn"
        ) from error
    together = np.concatenate(rows)
    if len(together) < FEWEST_UMAP:
        raise InputError(
            f"a map by UMAP needs at least {FEWEST_UMAP} samples; found {len(together)}"
        )
    near = min(NEIGHBOURS, len(together) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = umap.UMAP(n_neighbors=near, random_state=seed, n_jobs=1).fit_transform(together)
    ends = np.cumsum([len(side) for side in rows])[:-1]
    return SampleMap("umap", None, tuple(np.split(np.asarray(made, np.float32), ends)))
