"""Realism: how deep inside the reference's support each generated sample lies.

R(y) = max over reference x of r_k(x) / d(x, y), over the half of the reference balls whose radius
is at most the median (Kynkäänniemi et al., NeurIPS 2019, section 5, equation 3). R(y) ≥ 1 says that
y lies in one of these balls. The paper prunes the wide half of the balls, since they stretch over
regions where samples are sparse; the authors' released code takes all balls and adds 1e-5 to the
distance, so its values are larger and finite. The paper uses k = 3 and gives values for single
samples only; the score here is their median.

It does not detect missing variety: the same good sample, many times over, scores high, and exact
copies of the reference score without bound. Like every ratio of distances it comes close to 1 for
all samples in high dimensions, and samples in the sparse half of the reference never score high.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.neighbourhoods import Distance, Neighbourhoods, Supports
from calipers.metrics.reading import measure, signed, too_small
from calipers.score import Score


def realism(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how realistic generated samples are, each by itself.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        Neighbours that span a ball, from 1 to the smaller set less one.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 less the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        The median over the generated samples, above 0, higher is better; infinite with a reason
        where it falls on exact copies. ``per_sample`` holds the realism of every generated sample,
        shape ``(m,)``, float64: at least 1 inside the support, infinite for exact copies.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> realism([[0.0], [1.0], [3.0]], [[0.5], [5.0]], k=1).per_sample.tolist()
    [2.0, 0.25]
    """
    supports = Supports(smaller=k)
    near = measure(reference, generated, k=k, distance=distance, supports=supports, threads=threads)
    return realism_score(near, k)


def realism_score(near: Neighbourhoods, k: int) -> Score:
    """Median realism of the generated rows."""
    each = near.reference.realism
    reason = too_small(near, k, measured=each is not None and near.supports.smaller == k)
    value = np.nan if each is None or reason else float(np.median(each))
    if np.isposinf(value):
        reason = "at least half of the generated samples are exact copies of reference samples"
    return Score(
        value=value,
        range=(0.0, np.inf),
        signature=signed("realism", near, k, radii="up_to_median", summary="median"),
        reason=reason,
        per_sample=each,
    )
