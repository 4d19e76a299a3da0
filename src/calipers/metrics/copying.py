"""Copying: are generated samples new, or unusually close to known ones?

- authenticity: a generated sample y is authentic when its nearest reference sample x is further
  from y than from its own nearest other reference sample (Alaa et al., "How faithful is your
  synthetic data?", ICML 2022, section 4.3: not authentic if d(y, x) ≤ d(x, rest)); the score is the
  share of authentic samples. An early release compared other pairs of distances; this is the
  paper's rule, and that of the later release.
- near_copies: with τ the lower 1 % quantile of the distances of reference samples to their nearest
  other reference sample, a generated sample is a near copy when its nearest reference sample is no
  further than τ. Distance 0 is always a copy.

For new samples of the reference's own distribution about 1 % are near copies, whatever n and m,
since their nearest distances are distributed like the reference's own; below n = 100, where τ is
the smallest distance, it is about 2/n. With few hundred samples τ depends on one to three
distances, and a generated set that is denser than the reference has many samples within it: values
there are rough. Authenticity is then the chance that a sample and its nearest neighbour are not
each other's nearest: 1/3 in one dimension, 0.38 in two, towards 0.5 for an even spread in more, and
beyond it where many samples share a few hubs as their nearest (0.8 for a Gaussian in 100
dimensions). So compare it with the value of held-out samples, not with 1; samples far from
everything score 1.

What they do not detect: neither tells copying from a reference with few distinct samples, or sees a
copied fragment in an otherwise new text; what lies close is what the embedding says. Copies matter
most against the set that the model was trained on: neighbourhoods of (training set, generated set),
with ``of="train"``, give these scores for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.catalogue.settings import Distance
from calipers.errors import checks_keywords
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.metrics.reading import read_off, share
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

QUANTILE = 0.01


@checks_keywords
def authenticity(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell which generated samples are farther from a known sample than known ones are apart.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``, at least two rows each; taken as given. Give
        the training set as reference to learn what was copied from it.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], higher is better, but for new samples of the same distribution about 0.5 (from
        1/3 in one dimension to 0.8 in very many), and not 1. ``per_sample`` tells for every
        generated row whether it is authentic.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or have a single row.

    Examples
    --------
    >>> authenticity([[0.0], [1.0], [3.0]], [[0.1], [5.0]]).per_sample.tolist()
    [False, False]
    """
    return authenticity_score(
        neighbourhoods(reference, generated, k=1, distance=distance, threads=threads)
    )


@checks_keywords
def near_copies(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell which generated samples lie unusually close to a known sample.

    Parameters
    ----------
    reference, generated, distance, threads
        As for :func:`authenticity`.

    Returns
    -------
    Score
        The share of near copies, in [0, 1], lower is better; about 0.01 for new samples of the
        same distribution. ``per_sample`` gives for every generated row the share of reference rows
        whose own nearest neighbour is no further than this row's nearest reference row, in [0, 1]:
        near copies have the lowest.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or have a single row.

    Examples
    --------
    >>> near_copies([[0.0], [1.0], [3.0]], [[3.0], [5.0]]).value
    0.5
    """
    return near_copies_score(
        neighbourhoods(reference, generated, k=1, distance=distance, threads=threads)
    )


def authenticity_score(near: Neighbourhoods, *, of: str = "reference") -> Score:
    """Share of generated rows farther from the nearest known row than that row from others.

    ``of`` names the known set in the signature: ``"reference"`` or ``"train"``.
    """
    return share(near, "authenticity", are_authentic(near), 1, {"of": of})


def near_copies_score(near: Neighbourhoods, *, of: str = "reference") -> Score:
    """Share of generated rows as close to a known row as the closest 1 % of known rows are.

    ``of`` names the known set in the signature: ``"reference"`` or ``"train"``.
    """
    radii, distances = near.reference.radii[:, 0], near.reference.distance
    value = int(np.count_nonzero(are_near_copies(near))) / len(distances)
    ranks = np.searchsorted(np.sort(radii), distances, side="right") / len(radii)
    pins = {"quantile": QUANTILE, "of": of}
    return read_off(near, "near_copies", value, 1, pins, per_sample=ranks)


def are_authentic(near: Neighbourhoods) -> NDArray[np.bool_]:
    """Tell which generated rows are farther from the nearest known row than that from others."""
    known = near.reference
    far: NDArray[np.bool_] = known.distance > known.radii[known.nearest, 0]
    return far


def are_near_copies(near: Neighbourhoods) -> NDArray[np.bool_]:
    """Tell which generated rows are as close to a known row as its closest 1 %, shape ``(m,)``."""
    tau = np.quantile(near.reference.radii[:, 0], QUANTILE, method="inverted_cdf")
    close: NDArray[np.bool_] = near.reference.distance <= tau
    return close


def read_authenticity(pair: Pair, _: EstimationOptions) -> Score:
    return authenticity_score(pair.neighbourhoods)


def read_near_copies(pair: Pair, _: EstimationOptions) -> Score:
    return near_copies_score(pair.neighbourhoods)
