"""Principal axes of rows, and the joint preprocessing that uses them.

:func:`preprocess` makes rows ready for distances: scaled to length one, then projected on the main
axes of both sets together. :func:`leading_axes` gives two sets in a fixed few dimensions, for
ratios of densities, and :func:`whiten` their whitened form.

The axes are eigenvectors of the scatter matrix, no more of them than are asked for. Of rows that
are not scaled to length one, a few that lie far out are left out of it
(:mod:`calipers.estimate.far_rows`), or the axes would point to them alone. For float32
rows the matrix and the coordinates are made by kernels of our own (``native/axes.c``), which are
faster than many a BLAS. No result depends on the number of threads.

Ratios of densities need few dimensions (Pillutla et al., JMLR 2023, algorithm 2 and section 7.3.1:
5 or 10 principal components, fewer than 50 in any case). Neither step moves the true ratio as long
as the axes that are left out tell the sets no further apart, and no estimator here depends on the
unit of the rows, so that they may be scaled.

What they do not detect: only how far the union spreads on an axis is looked at, not what the axis
tells, so a difference on an axis of little spread beside the others is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.catalogue.settings import Norm
from calipers.errors import InputError, checks_keywords
from calipers.estimate.far_rows import far_rows
from calipers.estimate.moments import STEP, Moments
from calipers.estimate.products import products_for
from calipers.numeric import native
from calipers.numeric.arrays import Matrix
from calipers.numeric.distances import Points, column_sums
from calipers.numeric.kept import content, kept
from calipers.numeric.panels import PANEL
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers, limit_threads, workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import check_choice, check_pair, check_whole

Float32Matrix = NDArray[np.float32]

REACH = 1e4  # median distances, at which float32 still has three digits of one
ROWS_PER_CHUNK = 4096  # rows that are laid out at a time
FLOAT32_ROWS = 256  # rows whose products are added in float32 before they go to float64
ROWS_PER_PIECE = 960  # rows of a piece of work, whole panels


def scatter_about(
    sets: Sequence[Points], centre: Matrix, factors: Sequence[float], workers: Workers
) -> Matrix:
    """Sum the outer products of all rows about a centre.

    Parameters
    ----------
    sets
        Rows, shapes ``(n_s, d)``, all float32 or all float64. Of float32 rows the products are
        added in float32, 256 at a time.
    centre
        Shape ``(d,)``.
    factors
        What every row of each set counts.
    workers
        The threads; no effect on the result.

    Returns
    -------
    array
        Shape ``(d, d)``, float64.
    """
    n, d = sum(map(len, sets)), len(centre)
    scatter = np.zeros((d, d))
    elsewhere = products_for(n * d * d)
    if elsewhere is not None:
        for points, factor in zip(sets, factors, strict=True):
            scatter += factor * elsewhere.scatter(points, centre)
        return scatter
    add: Any = _add_panels if sets[0].dtype == np.float32 else _add_blocks
    for points, factor in zip(sets, factors, strict=True):
        for start, stop in spans(len(points), ROWS_PER_CHUNK):
            add(points[start:stop], centre, factor, workers, scatter)
    return scatter


def _add_blocks(
    rows: Matrix, centre: Matrix, factor: float, workers: Workers, scatter: Matrix
) -> None:
    def work(span: Span) -> Matrix:
        deviations = rows[slice(*span)] - centre
        product: Matrix = deviations.T @ deviations
        return product

    for part in workers.map(work, spans(len(rows), ROWS_PER_CHUNK // 4)):
        scatter += factor * part


def _add_panels(
    rows: Float32Matrix, centre: Matrix, factor: float, workers: Workers, scatter: Matrix
) -> None:
    count = -(-rows.shape[1] // PANEL)
    rows, middle = np.ascontiguousarray(rows), centre.astype(np.float32)
    panels = np.zeros((count, len(rows), PANEL), np.float32)
    list(
        workers.map(
            lambda part: _lay_columns(rows, middle, *part, panels), spans(len(rows), ROWS_PER_PIECE)
        )
    )
    list(
        workers.map(
            lambda one: _add_products(panels, one, factor, FLOAT32_ROWS, scatter), range(count)
        )
    )
    list(workers.map(lambda one: _mirror(scatter, one * PANEL), range(count)))


def coordinates(points: Points, centre: Matrix, axes: Matrix, workers: Workers) -> Float32Matrix:
    """Return coordinates of rows along axes about a centre, shape ``(n, q)``, float32.

    Products are taken in the precision of the rows.

    Parameters
    ----------
    points
        Rows, shape ``(n, d)``.
    centre, axes
        Shapes ``(d,)`` and ``(d, q)``.
    workers
        The threads; no effect on the result.
    """
    elsewhere = products_for(len(points) * axes.size)
    if elsewhere is not None:
        return elsewhere.coordinates(points, centre, axes)
    out: Float32Matrix = scratch((len(points), axes.shape[1]), np.float32)
    if points.dtype == np.float32:
        middle, panels, d = centre.astype(np.float32), _axis_panels(axes), len(axes)

        def work(span: Span) -> None:
            part, room = (
                np.ascontiguousarray(points[slice(*span)]),
                np.zeros((PANEL, d), np.float32),
            )
            _project(part, middle, panels, room, out[slice(*span)])
    else:

        def work(span: Span) -> None:
            out[slice(*span)] = (points[slice(*span)] - centre) @ axes

    list(workers.map(work, spans(len(points), ROWS_PER_PIECE)))
    return out


def _axis_panels(axes: Matrix) -> Float32Matrix:
    d, q = axes.shape
    panels = np.zeros((-(-q // PANEL), d, PANEL), np.float32)
    for panel, part in enumerate(panels):
        columns = axes[:, panel * PANEL : (panel + 1) * PANEL]
        part[:, : columns.shape[1]] = columns
    return panels


_lay_columns = native.kernel(
    "lay_columns",
    "points f4[n, d]",
    "centre f4[d]",
    "first int",
    "last int",
    "panels f4[panel_count, n, 48] out",
)
_add_products = native.kernel(
    "add_column_products",
    "panels f4[panel_count, n, 48]",
    "one int",
    "factor float",
    "float32_rows int",
    "scatter f8[d, d] out",
)
_project = native.kernel(
    "project_rows",
    "points f4[n, d]",
    "centre f4[d]",
    "panels f4[panel_count, d, 48]",
    "room f4[48, d] out",
    "out f4[n, q] out",
)


def _mirror(scatter: Matrix, first: int) -> None:
    """Copy what lies above the diagonal below it, in some of the rows."""
    last = min(first + PANEL, len(scatter))
    scatter[first:last, :first] = scatter[:first, first:last].T
    square = scatter[first:last, first:last]
    below = np.tril_indices(len(square), -1)
    square[below] = square.T[below]


# Where variance lies on fewer effective axes than this share, few axes will do
CONCENTRATED = 1 / 16
# Above this share of all axes, finding them together is cheaper than one by one
MANY = 1 / 4


def principal_axes(scatter: Matrix, share: float) -> tuple[Matrix, float]:
    """Compute the fewest principal axes that keep a given share of the variance.

    Parameters
    ----------
    scatter
        Symmetric, positive semidefinite, shape ``(d, d)``; left as it is.
    share
        Of the variance, in (0, 1].

    Returns
    -------
    axes
        Shape ``(d, q)``, largest variance first.
    kept
        The share that they keep.
    """
    total = float(np.trace(scatter))
    if total == 0:
        return np.eye(len(scatter), 1), 1.0
    # More threads gain little, wait for each other for seconds where the cores are shared, and move
    # the last digits
    with limit_threads(1):
        if (total / np.linalg.norm(scatter)) ** 2 < CONCENTRATED * len(scatter):
            leading = _leading(scatter, share)
            if leading is not None:
                return leading
        return _all(scatter, share)


def _all(scatter: Matrix, share: float) -> tuple[Matrix, float]:
    variances, axes = np.linalg.eigh(scatter)
    count, explained = _fewest(variances, share)
    return axes[:, ::-1][:, :count], explained


def _fewest(variances: Matrix, share: float) -> tuple[int, float]:
    """How many of the largest variances make up a share of all; they come in rising order."""
    falling = np.clip(variances[::-1], 0.0, None)
    explained = np.cumsum(falling) / falling.sum()
    count = min(int(np.searchsorted(explained, share - 1e-12)) + 1, len(explained))
    return count, float(min(explained[count - 1], 1.0))


def _leading(scatter: Matrix, share: float) -> tuple[Matrix, float] | None:
    """By way of a tridiagonal matrix: all variances, then axes for the largest alone.

    None where that takes too many axes, or the method of relatively robust representations fails.
    """
    d = len(scatter)
    from scipy.linalg import lapack  # a quarter of what a comparison without axes imports

    room = int(lapack.dsytrd_lwork(d, lower=1)[0])
    reflectors, diagonal, beside, factors, _ = lapack.dsytrd(scatter.T, lower=1, lwork=room)
    variances, failed = lapack.dsterf(diagonal, beside)
    if failed:
        return None
    count, explained = _fewest(variances, share)
    if count > MANY * d:
        return None
    solved, _, axes, failed = lapack.dstemr(
        diagonal, np.append(beside, 0.0), 2, 0.0, 0.0, d - count + 1, d
    )
    if failed or solved != count:
        return None
    axes = np.asfortranarray(axes[:, count - 1 :: -1])
    # The first row is what no reflector touches
    turned, _, _ = lapack.dormqr("L", "N", reflectors[1:, :-1], factors, axes[1:], 64 * count)
    axes[1:] = turned
    return axes, explained


@dataclass(frozen=True)
class Preprocessed(Brief):
    """Two sets in the space in which they are compared.

    Attributes
    ----------
    reference, generated
        Shapes ``(n, q)`` and ``(m, q)``, float32.
    explained_variance
        Share of the union's variance that the q axes keep, in [0, 1].
    """

    reference: Points
    generated: Points
    explained_variance: float


@checks_keywords
def preprocess(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    norm: Norm = "l2",
    pca: float | None = 0.9,
    threads: int | None = None,
) -> Preprocessed:
    """Project two sets of embeddings as paper 000 does before comparing them.

    Rows are scaled to Euclidean length one, then both sets are projected on the fewest principal
    axes of their union that keep the share `pca` of its variance (Le Bronnec et al., ACL 2024,
    section 5.1; the same steps as in mauve-text). The axes depend on both sets, so numbers from
    two different pairs are not strictly comparable.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    norm
        ``"l2"`` scales every row to length one (zero rows stay); ``"none"`` leaves them.
    pca
        Share of the variance to keep, in (0, 1]; None skips the projection.
    threads
        Number of threads (default: all cores); no effect on the result.

    Raises
    ------
    InputError
        If the arrays do not fit together or `pca` lies outside (0, 1].

    Examples
    --------
    >>> rows = preprocess([[0.0, 2.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 1.0]], pca=None)
    >>> rows.reference.tolist(), rows.generated.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    """
    sets = check_pair(reference, generated)
    space = joint_space(sets, (1.0, 1.0), norm=norm, pca=pca, threads=threads)
    return Preprocessed(space.sets[0], space.sets[1], space.explained_variance)


@dataclass(frozen=True)
class _Fitted:
    """A reference on its own axes, and all that brings other rows there."""

    rows: Points
    mean: Matrix
    axes: Matrix
    exponent: int
    explained_variance: float


def on_reference_axes(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    norm: Norm = "l2",
    pca: float = 0.9,
    threads: int | None = None,
) -> Preprocessed:
    """Project two sets of embeddings on the principal axes of the reference alone.

    As :func:`preprocess`, but the axes and their centre are the same for every generated set, and
    are kept with the reference's rows where :mod:`calipers.numeric.kept` keeps them.

    Parameters
    ----------
    reference, generated, norm, threads
        As for :func:`preprocess`.
    pca
        Share of the variance of the reference to keep, in (0, 1].

    Raises
    ------
    InputError
        If the arrays do not fit together or `pca` lies outside (0, 1].
    """
    left, right = check_pair(reference, generated)
    with workers(threads) as pool:

        def fit() -> _Fitted:
            reference_rows = joint_space(
                (left,), (1.0,), norm=norm, pca=None, threads=threads
            ).sets[0]
            exponent = 0 if norm == "l2" else common_exponent((reference_rows,))
            reference_rows = _scaled(reference_rows, -exponent)
            far = None if norm == "l2" else far_rows((reference_rows,))
            near = [reference_rows] if far is None else far.without((reference_rows,))
            mean = _joint_mean(near, (1.0,), pool)
            axes, explained = principal_axes(scatter_about(near, mean, (1.0,), pool), pca)
            made = coordinates(reference_rows, mean, axes, pool)
            if far is not None:
                _bring_within_digits([made])
            return _Fitted(_scaled(made, exponent), mean, axes, exponent, explained)

        check_share(pca)
        fitted = kept(lambda: ("axes", content(left), norm, pca), fit)
        other = unit_rows(right, pool) if norm == "l2" else _scaled(right, -fitted.exponent)
        projected = coordinates(other, fitted.mean, fitted.axes, pool)
        rows = fitted.rows, _scaled(projected, fitted.exponent)
    check_float32(rows, (left, right), fitted.exponent)
    return Preprocessed(*rows, fitted.explained_variance)


UNFIT = "scale them first, or every row to length one: `normalise='l2'`"
SMALLEST = -125
"""The power of two below which float32 loses digits."""


@dataclass(frozen=True)
class JointSpace:
    """Sets of rows in one space, and the share of the variance kept by its axes."""

    sets: tuple[Points, ...]
    explained_variance: float


def joint_space(
    sets: Sequence[Points],
    weights: Sequence[float],
    *,
    norm: Norm,
    pca: float | None,
    threads: int | None,
) -> JointSpace:
    """Project sets of checked rows into one space; `weights` are the weights of rows by set."""
    check_choice("norm", norm, ("l2", "none"))
    if pca is not None:
        check_share(pca)
    with workers(threads) as pool:
        if norm == "l2":
            sets = [unit_rows(points, pool) for points in sets]
        if pca is None:
            return JointSpace(tuple(sets), 1.0)
        exponent = 0 if norm == "l2" else common_exponent(sets)
        sets = [_scaled(points, -exponent) for points in sets]
        far = None if norm == "l2" else far_rows(sets)
        fitted = sets if far is None else far.without(sets)
        mean = _joint_mean(fitted, weights, pool)
        axes, explained = principal_axes(scatter_about(fitted, mean, weights, pool), pca)
        made = [coordinates(points, mean, axes, pool) for points in sets]
        if far is not None:
            _bring_within_digits(made)
        rows = tuple(_scaled(points, exponent) for points in made)
    check_float32(rows, sets, exponent)
    return JointSpace(rows, explained)


def check_share(pca: float) -> None:
    """Refuse a value that is not a share of the variance."""
    if not 0 < pca <= 1:
        raise InputError(f"pca must be a share of the variance in (0, 1], or None; found {pca}")


def check_float32(rows: Sequence[Points], sets: Sequence[Points], exponent: int) -> None:
    """Refuse projected rows outside the range of float32; `sets` are their originals."""
    if exponent and not all(np.isfinite(part).all() for points in rows for part in _steps(points)):
        raise InputError(f"embeddings are too large for float32; {UNFIT}")
    if exponent < SMALLEST and any(points.dtype == np.float64 for points in sets):
        raise InputError(f"embeddings are too small for float32; {UNFIT}")


def _bring_within_digits(sets: Sequence[Float32Matrix]) -> None:
    """Bring rows beyond `REACH` median distances to there, so that float32 keeps others apart."""
    lengths = [np.linalg.norm(points.astype(np.float64), axis=1) for points in sets]
    limit = REACH * float(np.median(np.concatenate(lengths)))
    for points, row_lengths in zip(sets, lengths, strict=True):
        beyond = np.flatnonzero(row_lengths > limit)
        points[beyond] *= (limit / row_lengths[beyond])[:, None]


def _joint_mean(
    sets: Sequence[Points], weights: Sequence[float], pool: Workers
) -> NDArray[np.float64]:
    mass = sum(weight * len(points) for points, weight in zip(sets, weights, strict=True))
    sums = [
        weight * column_sums(points, pool) for points, weight in zip(sets, weights, strict=True)
    ]
    mean: NDArray[np.float64] = np.sum(sums, axis=0) / mass
    return mean


def common_exponent(sets: Sequence[Points]) -> int:
    """Return the power of two that scales all sets to about 1; 0 where squares are safe."""
    largest = max(max(float(points.max()), -float(points.min())) for points in sets)
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > 30 else 0


def _scaled(rows: Points, exponent: int) -> Points:
    """The rows times a power of two, which rounds nothing."""
    if exponent == 0:
        return rows
    scaled: Points = scratch(rows.shape, rows.dtype)
    with np.errstate(over="ignore"):
        for span in spans(len(rows), STEP):
            np.ldexp(rows[slice(*span)], exponent, out=scaled[slice(*span)])
    return scaled


def unit_rows(points: Points, pool: Workers | None = None) -> Points:
    """Scale every row to Euclidean length one; rows of zeros stay as they are."""
    scaled: Points = scratch(points.shape, points.dtype)

    def work(span: Span) -> None:
        part, out = np.ascontiguousarray(points[slice(*span)]), scaled[slice(*span)]
        _scale_rows(part, *((None, out) if out.dtype == np.float64 else (out, None)))

    list((pool or Workers.alone()).map(work, spans(len(points))))
    return scaled


def joint_axes(
    reference: Moments, generated: Moments, *, share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Compute the principal axes of the union of two sets.

    Returns
    -------
    mean
        Of the union, shape ``(d,)``.
    axes
        The fewest axes that keep `share` of the variance, shape ``(d, q)``, largest first.
    explained
        The share that they keep.
    """
    union = reference.merge(generated)
    axes, explained = principal_axes(union.scatter, share)
    return union.mean, axes, explained


_scale_rows = native.kernel(
    "scale_rows",
    "points reals[n, d]",
    "narrow f4[n, d] out optional",
    "wide f8[n, d] out optional",
)

NO_SPREAD = "all rows of both sets are equal: density is undefined"

LEAST_VARIANCE = 1e-12
"""Axes with at most this share of the largest variance are left out, whatever they tell.

In standard deviations a millionth of the largest. Rounding may leave nearly as much on an axis that
holds nothing, and a small difference cannot be told from it.
"""


def leading_axes(
    reference: ArrayLike, generated: ArrayLike, *, dimensions: int | None
) -> tuple[Points, Points]:
    """Project both sets on the leading principal axes of their union.

    Moments and products are taken in float64 and the coordinates rounded to float32 in the end, so
    that equal rows stay equal and their order moves no coordinate.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    dimensions
        How many axes to keep, from 1; None, or d and more, leaves the rows as they are, but for a
        power of two where their squares might underflow.

    Returns
    -------
    tuple of arrays
        Shapes ``(n, q)`` and ``(m, q)``, q at most `dimensions`; float32, in units of about the
        largest coordinate, unless the rows are left as they are.

    Raises
    ------
    InputError
        If the arrays do not fit together or `dimensions` is no whole number from 1.
    """
    left, right = _enlarged(*check_pair(reference, generated))
    if dimensions is None or check_whole("dimensions", dimensions, 1) >= left.shape[1]:
        return left, right
    mean, axes, exponent = _axes(left, right)
    axes = np.ldexp(axes[:, :dimensions], -exponent)
    return tuple(_coordinates(rows, mean, axes).astype(np.float32) for rows in (left, right))  # type: ignore[return-value]


def whiten(reference: Points, generated: Points) -> tuple[Matrix, Matrix]:
    """Transform the union of two sets to mean zero and variance one on each principal axis kept.

    Left out are axes with at most LEAST_VARIANCE of the largest variance. On most of them all rows
    agree up to rounding; but sets that differ there alone come out as equal. Columns in very
    different units are to be scaled before.

    Raises
    ------
    InputError
        If all rows of both sets are equal.
    """
    union = _moments(reference).merge(_moments(generated))
    variances, axes = np.linalg.eigh(union.covariance)
    varied = variances > LEAST_VARIANCE * variances[-1]
    if not varied.any():
        raise InputError(NO_SPREAD)
    scaled = axes[:, varied] / np.sqrt(variances[varied])
    return tuple(_coordinates(rows, union.mean, scaled) for rows in (reference, generated))  # type: ignore[return-value]


def scale_alike(reference: Points, generated: Points) -> tuple[Matrix, Matrix]:
    """Centre the union of two sets and scale it to a mean variance of one; angles are kept.

    Raises
    ------
    InputError
        If all rows of both sets are equal.
    """
    union = _moments(reference).merge(_moments(generated))
    scale = float(np.sqrt(np.trace(union.covariance) / len(union.mean)))
    if not scale > 0:
        raise InputError(NO_SPREAD)
    return tuple(
        _by_steps(rows, rows.shape[1], lambda part: (part - union.mean) / scale)
        for rows in (reference, generated)
    )  # type: ignore[return-value]


def check_two_rows(n: int, m: int, what: str) -> None:
    """Refuse sets with a single row."""
    for name, size in (("reference", n), ("generated", m)):
        if size < 2:
            raise InputError(f"{what} needs at least two rows in each set; the {name} set has one")


def _enlarged(left: Points, right: Points) -> tuple[Points, Points]:
    """Rows so small that their squares underflow, times a power of two that rounds nothing."""
    exponent = common_exponent((left, right))
    if exponent >= 0:
        return left, right
    return _scaled(left, -exponent), _scaled(right, -exponent)


def _axes(left: Points, right: Points) -> tuple[Matrix, Matrix, int]:
    """The union's mean, its principal axes, and the power of two of its largest coordinate."""
    mean, axes, _ = joint_axes(_moments(left), _moments(right), share=1.0)
    sets = (left, right)
    largest = max(float(np.abs(part - mean).max()) for rows in sets for part in _steps(rows))
    return mean, axes, int(np.frexp(largest)[1])


def _moments(rows: Points) -> Moments:
    """Moments in float64 whatever the rows are, without a second copy of all of them."""
    parts = [Moments.of(part, precise=True) for part in _steps(rows)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total


def _coordinates(rows: Points, mean: Matrix, axes: Matrix) -> Matrix:
    return _by_steps(rows, axes.shape[1], lambda part: (part - mean) @ axes)


def _by_steps(rows: Points, columns: int, of: Callable[[Any], Matrix]) -> Matrix:
    """What some rows at a time are turned into, with so many columns."""
    made: Matrix = scratch((len(rows), columns), np.float64)
    for start in range(0, len(rows), STEP):
        made[start : start + STEP] = of(rows[start : start + STEP])
    return made


def _steps(rows: Points) -> list[Any]:
    return [rows[start : start + STEP] for start in range(0, len(rows), STEP)]
