"""Scores by group: which topics, authors or classes a model misses or generates poorly.

With a group for every reference sample (paper 000, section 8): recall and coverage averaged over
the reference samples of one group, and precision over the generated samples whose nearest reference
sample belongs to it. With a group for every generated sample, precision over those of one group.
The balls are those of the whole sets: a group's sample may be covered by a sample of another group.
Groups of a few samples give coarse values; compare them by their size, which the signature holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import InputError, checks_keywords
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.metrics.reading import read_off, sizes
from calipers.score import Score

Labels = Sequence[str] | NDArray[Any]


@checks_keywords
def scores_by_group(
    reference: ArrayLike,
    generated: ArrayLike,
    reference_groups: Labels,
    generated_groups: Labels | None = None,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> dict[str, Score]:
    """Tell for every group how good its samples are and how much of it is covered.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    reference_groups, generated_groups
        The group of every row, n and m labels; the second may be left out.
    k, ties, distance, threads
        As for :func:`calipers.metrics.precision_recall`.

    Returns
    -------
    dict
        Scores in [0, 1], higher is better, in the order of the labels: ``recall:group=LABEL``,
        ``coverage:group=LABEL`` and ``precision:group=LABEL`` (by the group of the nearest
        reference row) for every group of the reference, and ``precision:own=LABEL`` for every
        group of the generated set. NaN with a reason where a group has no sample to average over.
        ``per_sample`` holds the group's own samples, in the order of the rows.

    Raises
    ------
    InputError
        If there is not one label for every row, or the arrays do not fit together, are not finite,
        or are too small for k.

    Examples
    --------
    >>> reference, generated = [[0.0], [1.0], [8.0], [9.0]], [[0.5], [1.5], [2.5]]
    >>> scores = scores_by_group(reference, generated, ["low", "low", "high", "high"], k=1)
    >>> scores["recall:group=low"].value, scores["recall:group=high"].value
    (1.0, 0.0)
    """
    near = neighbourhoods(reference, generated, k=k, ties=ties, distance=distance, threads=threads)
    return group_scores(near, k, reference_groups, generated_groups)


def group_scores(
    near: Neighbourhoods,
    k: int,
    reference_groups: Labels,
    generated_groups: Labels | None = None,
    *,
    nearest: NDArray[np.str_] | None = None,
) -> dict[str, Score]:
    """Average recall, coverage and precision over groups; see :func:`scores_by_group`.

    `nearest` gives the group of the reference row nearest to every generated row, where that row
    may be one that was left out; a group that is nearest to none has then no precision at all.
    """
    n, m = sizes(near)
    labels, group = _grouped("reference", reference_groups, n)
    if nearest is None:
        close = labels, group[near.reference.nearest]
    else:
        close = _grouped("nearest", nearest, m)
    good = near.reference.inside[:, k - 1] > 0
    parts = [
        ("recall", "group", labels, group, near.generated.inside[:, k - 1] > 0),
        ("coverage", "group", labels, group, near.reference.held[:, k - 1] > 0),
        ("precision", "group", *close, good),
    ]
    if generated_groups is not None:
        parts.append(("precision", "own", *_grouped("generated", generated_groups, m), good))
    return {
        f"{metric}:{by}={label}": _score(metric, by, label, hits, near, k)
        for metric, by, names, members, all_hits in parts
        for label, hits in _split(names, members, all_hits)
    }


def _grouped(name: str, groups: Labels, rows: int) -> tuple[list[str], NDArray[np.intp]]:
    """The labels in order, and the place of every row's label among them."""
    if not isinstance(groups, list | tuple | np.ndarray):
        raise InputError(
            f"{name} groups must be a list or an array of labels; found {type(groups).__name__}"
        )
    given = list(groups)
    if len(given) != rows:
        raise InputError(
            f"{name} groups must have one label for each of {rows} rows; found {len(given)}"
        )
    bare = [row for row, label in enumerate(given, start=1) if label is None]
    if bare:
        raise InputError(
            f"{name} groups must have a label on every row; "
            f"{len(bare)} row(s) have none, the first one is row {bare[0]}"
        )
    labels, members = np.unique(np.array([str(label) for label in given]), return_inverse=True)
    return labels.tolist(), members.reshape(-1)


def _split(
    labels: list[str], members: NDArray[np.intp], hits: NDArray[np.bool_]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Every label with the hits of its own samples, in the order of the rows."""
    ends = np.cumsum(np.bincount(members, minlength=len(labels)))
    return zip(labels, np.split(hits[np.argsort(members, kind="stable")], ends[:-1]), strict=True)


def _score(
    metric: str, by: str, label: str, hits: NDArray[np.bool_], near: Neighbourhoods, k: int
) -> Score:
    value = int(np.count_nonzero(hits)) / len(hits) if len(hits) else np.nan
    reason = None if len(hits) else f"no generated sample is nearest to the group {label!r}"
    pins = {by: label, "size": len(hits)}
    return read_off(near, metric, value, k, pins, reason=reason, per_sample=hits)
