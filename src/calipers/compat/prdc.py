"""``compute_prdc`` of the package prdc 0.2: precision, recall, density and coverage of features.

Equal arguments, equal keys, and equal digits: balls are open, as there (a sample on the rim lies
outside), where the papers and all else in Calipers close them. Nothing is printed, and no matrix of
all distances is held, so that memory grows with n + m instead of n times m.

Where digits may differ. prdc takes distances from inner products, |x|² + |y|² − 2xy, and of float32
features it rounds them to float32; here a sample is inside or outside as exact float64 differences
say. The two part only where a sample lies on a rim up to that rounding: of float32 features that
agree in seven digits, or of a sample that has k copies of itself (docs/coming_from_prdc.md counts).
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.numeric.validation import check_points, check_whole

__all__ = ["PRDC", "compute_prdc"]


class PRDC(TypedDict):
    """The four scores under their names in prdc."""

    precision: np.float64
    recall: np.float64
    density: np.float64
    coverage: np.float64


def compute_prdc(real_features: ArrayLike, fake_features: ArrayLike, nearest_k: int) -> PRDC:
    """Measure the quality and the variety of generated samples, as ``prdc.compute_prdc`` does.

    Parameters
    ----------
    real_features, fake_features
        Feature vectors, shapes ``(n, d)`` and ``(m, d)``; taken as given, nothing is normalised.
    nearest_k
        The k of the k-NN balls, from 1 to the smaller set minus one.

    Returns
    -------
    dict
        ``precision``, ``recall`` and ``coverage`` in [0, 1], ``density`` at least 0, all float64;
        higher is better. They come without intervals: :func:`calipers.compare` with
        ``ties="open"`` gives the same values with them.

    Raises
    ------
    InputError
        If the arrays do not fit together, hold NaN or infinity, or are too small for k.

    Notes
    -----
    Precision and recall: Kynkäänniemi et al., NeurIPS 2019; density and coverage: Naeem et al.,
    ICML 2020, equations 3 and 4.

    Examples
    --------
    >>> real, fake = [[0.0], [1.0], [3.0], [7.0]], [[2.0], [4.0], [5.0], [20.0]]
    >>> {name: float(value) for name, value in compute_prdc(real, fake, nearest_k=1).items()}
    {'precision': 0.75, 'recall': 0.75, 'density': 1.0, 'coverage': 0.5}
    """
    k = check_whole("nearest_k", nearest_k, 1)
    real, fake = (
        check_points(rows, name)
        for rows, name in ((real_features, "real_features"), (fake_features, "fake_features"))
    )
    near = neighbourhoods(real, fake, k=k, ties="open")
    around = near.reference.inside[:, -1]
    return {
        "precision": np.float64(np.mean(around > 0)),
        "recall": np.float64(np.mean(near.generated.inside[:, -1] > 0)),
        "density": np.float64((1 / k) * around.mean()),
        "coverage": np.float64(np.mean(near.reference.held[:, -1] > 0)),
    }
