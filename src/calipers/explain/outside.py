"""Single generated samples that stand out: outside the reference's support, or copied from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import Evidence
from calipers.explain.parts import Copy, Neighbour, Outlier, Sample
from calipers.explain.space import Space

NEAREST = 3


def rows_outside(evidence: Evidence) -> NDArray[np.intp] | None:
    """Generated rows that no k-NN ball of the reference holds, worst first; None if not measured.

    By realism where it was measured, else by the distance to the nearest reference sample: both
    tell how far a sample lies from all that is known, the first in units of how dense the
    reference is there.
    """
    first = evidence.neighbours.get("reference_first_k")
    if first is None:
        return None
    rows = np.flatnonzero(np.asarray(first) > evidence.k)
    if evidence.realism is not None:
        return rows[np.argsort(np.asarray(evidence.realism)[rows], kind="stable")]
    far = evidence.neighbours.get("reference_distance")
    return rows if far is None else rows[np.argsort(-np.asarray(far)[rows], kind="stable")]


def outlier(evidence: Evidence, space: Space, row: int) -> Outlier:
    """A generated sample outside the support, with the reference samples nearest to it."""
    realism = None if evidence.realism is None else float(evidence.realism[row])
    first = int(evidence.neighbours["reference_first_k"][row])
    near = tuple(_nearest(evidence, space, row))
    return Outlier(int(row), _text(evidence.generated_texts, row), realism, first, near)


def _nearest(evidence: Evidence, space: Space, row: int) -> list[Neighbour]:
    """The nearest as it was stored, the others by looking at all."""
    far = space.to_reference(row)
    order = np.argsort(far, kind="stable")[: NEAREST + 1].tolist()
    stored = evidence.neighbours.get("nearest_reference")
    if stored is not None:
        first = int(stored[row])
        order = [first, *(each for each in order if each != first)]
        known = evidence.neighbours.get("reference_distance")
        far[first] = far[first] if known is None else known[row]
    texts = evidence.reference_texts
    return [Neighbour(each, _text(texts, each), float(far[each])) for each in order[:NEAREST]]


def rows_copied(evidence: Evidence) -> NDArray[np.intp] | None:
    """Generated rows that are near copies, closest first; None if not measured."""
    copied, far = (evidence.neighbours.get(name) for name in ("copied", "reference_distance"))
    if copied is None or far is None or "nearest_reference" not in evidence.neighbours:
        return None
    rows = np.flatnonzero(np.asarray(copied, bool))
    return rows[np.argsort(np.asarray(far)[rows], kind="stable")]


def copy_of(evidence: Evidence, row: int) -> Copy:
    """A near copy, with the reference sample that it is close to."""
    source = int(evidence.neighbours["nearest_reference"][row])
    far = float(evidence.neighbours["reference_distance"][row])
    known = Sample(source, _text(evidence.reference_texts, source))
    return Copy(int(row), _text(evidence.generated_texts, row), far, known)


def _text(texts: Sequence[str] | None, row: int) -> str | None:
    return None if texts is None else texts[row]
