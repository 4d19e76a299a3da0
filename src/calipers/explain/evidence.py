"""The input of an explanation: one generated set and the reference in one view.

:class:`Evidence` is what was measured of them, :class:`DistanceSpace` where their rows lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.explain.words import WordCounts
from calipers.numeric.arrays import Matrix

Labels = NDArray[np.integer]

OF_REFERENCE = ("nearest_generated", "generated_distance", "generated_first_k", "covered")
OF_GENERATED = ("nearest_reference", "reference_distance", "reference_first_k", "copied")


@dataclass(frozen=True, eq=False)
class Trained:
    """Distances of generated samples from a model's training set.

    Attributes
    ----------
    nearest
        The row of the nearest training sample, shape ``(m,)``.
    distance
        To it, shape ``(m,)``.
    copied
        How many generated samples are near copies: those with the smallest distances.
    files
        The image file of each training sample, where that is known.
    """

    nearest: NDArray[np.integer]
    distance: NDArray[np.floating]
    copied: int
    files: Sequence[str] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """One generated set and the reference in one view, with what was measured of them.

    Attributes
    ----------
    reference_vectors, generated_vectors
        Rows as embedded, shapes ``(n, d)`` and ``(m, d)``.
    reference_texts, generated_texts
        The texts of the rows; None where samples are not texts.
    neighbours
        Where single samples lie, as :attr:`SystemResult.neighbours` has it for one file and one
        view, without a prefix; any may be missing. Beside those ``covered``, shape ``(n,)``:
        whether the k-NN ball of each reference sample holds a generated one; and ``copied``, shape
        ``(m,)``: whether each generated sample is a near copy.
    realism
        Of every generated sample, shape ``(m,)``.
    reference_cells, generated_cells
        The cell of every row in the quantisation that scores are read from, whole numbers from 0.
    k
        The k of the k-NN balls.
    cells
        How many cells the quantisation has; one more than the largest label by default.
    rows
        Both sets in the space of comparison, where that is not the one of this pair alone.
    distance
        That the neighbours were found by: ``"euclidean"`` or ``"cosine"``.
    projection
        Where they were found if `rows` does not say: ``"none"`` for rows as they are, ``"union"``
        for their coordinates on joint axes.
    normalise
        Scaling of the rows before: ``"l2"`` to length one each, ``"none"`` without.
    reference_words, generated_words
        The counted words of the texts; counted anew where they are not given.
    reference_clusters, generated_clusters
        The cluster of every row where rows were not drawn independently, whole numbers from 0, the
        same for rows of one cluster in both sets; both, or None.
    reference_files, generated_files
        The image file of every row; None where samples are not images, or not read from files.
    pictured
        Whether samples are images that a person can be shown: more of them are named then, and the
        best as well.
    trained
        Samples near the training set; None without one.

    Raises
    ------
    InputError
        If something has not one entry for each row, or rows or cells that do not exist.
    """

    reference_vectors: NDArray[Any]
    generated_vectors: NDArray[Any]
    reference_texts: Sequence[str] | None = None
    generated_texts: Sequence[str] | None = None
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    realism: NDArray[np.float64] | None = None
    reference_cells: NDArray[np.integer] | None = None
    generated_cells: NDArray[np.integer] | None = None
    k: int = 4
    cells: int | None = None
    rows: tuple[NDArray[Any], NDArray[Any]] | None = None
    distance: Literal["euclidean", "cosine"] = "euclidean"
    projection: Literal["none", "union"] = "none"
    normalise: Literal["l2", "none"] = "l2"
    reference_words: WordCounts | None = None
    generated_words: WordCounts | None = None
    reference_clusters: NDArray[np.integer] | None = None
    generated_clusters: NDArray[np.integer] | None = None
    reference_files: Sequence[str] | None = None
    generated_files: Sequence[str] | None = None
    pictured: bool = False
    trained: Trained | None = None

    def __post_init__(self) -> None:
        n, m = len(self.reference_vectors), len(self.generated_vectors)
        if not n or not m:
            raise InputError(f"an explanation needs samples on both sides; found {n} and {m}")
        if self.distance not in ("euclidean", "cosine"):
            raise InputError(f"distance must be 'euclidean' or 'cosine'; found {self.distance!r}")
        if self.projection not in ("none", "union"):
            raise InputError(f"projection must be 'none' or 'union'; found {self.projection!r}")
        if self.normalise not in ("l2", "none"):
            raise InputError(f"normalise must be 'l2' or 'none'; found {self.normalise!r}")
        sized = {f"{name} of the reference": self.neighbours.get(name) for name in OF_REFERENCE}
        sized |= _named(self, "reference", self.rows and self.rows[0])
        _check_sizes(sized, n, "reference")
        sized = {f"{name} of the generated set": self.neighbours.get(name) for name in OF_GENERATED}
        sized |= _named(self, "generated", self.rows and self.rows[1]) | {"realism": self.realism}
        _check_sizes(sized, m, "generated")
        _check_rows(self.neighbours.get("nearest_reference"), n, "nearest_reference")
        for side in ("reference_cells", "generated_cells"):
            _check_rows(getattr(self, side), self.cells, side)
        for side in ("reference_clusters", "generated_clusters"):
            _check_rows(getattr(self, side), None, side)
        if (self.reference_clusters is None) != (self.generated_clusters is None):
            raise InputError("clusters must be given of both sets, or of neither")

    @property
    def n(self) -> int:
        """Number of reference samples."""
        return len(self.reference_vectors)

    @property
    def m(self) -> int:
        """Number of generated samples."""
        return len(self.generated_vectors)

    @property
    def clusters(self) -> tuple[Labels, Labels] | None:
        """The clusters of the rows of both sets; None where rows are independent."""
        if self.reference_clusters is None or self.generated_clusters is None:
            return None
        return np.asarray(self.reference_clusters), np.asarray(self.generated_clusters)

    @property
    def has_words(self) -> bool:
        """Whether both sets are texts."""
        known = (
            (self.reference_words, self.reference_texts),
            (self.generated_words, self.generated_texts),
        )
        return all(any(words is not None for words in side) for side in known)

    def words(self) -> tuple[WordCounts, WordCounts] | None:
        """The words of both sets; None where samples are not texts."""
        reference = _counted(self.reference_words, self.reference_texts)
        generated = _counted(self.generated_words, self.generated_texts)
        return None if reference is None or generated is None else (reference, generated)

    def reference_sample(self, row: int) -> dict[str, Any]:
        """Return the reference sample of a row: its text and its file, if it has them."""
        return _named_row(row, self.reference_texts, self.reference_files)

    def generated_sample(self, row: int) -> dict[str, Any]:
        """Return the generated sample of a row: its text and its file, if it has them."""
        return _named_row(row, self.generated_texts, self.generated_files)


def _named_row(
    row: int, texts: Sequence[str] | None, files: Sequence[str] | None
) -> dict[str, Any]:
    return {
        "row": int(row),
        "text": None if texts is None else texts[row],
        "file": None if files is None else files[row],
    }


@dataclass(frozen=True, eq=False)
class DistanceSpace:
    """Rows of both sets in the space of distances, float64."""

    reference: Matrix
    generated: Matrix
    cosine: bool

    @classmethod
    def of(cls, evidence: Evidence) -> DistanceSpace:
        """Project the vectors into the space in which `compare` searched neighbours."""
        sets = evidence.rows
        if sets is None:
            from calipers.estimate.axes import preprocess

            pca = 0.9 if evidence.projection == "union" else None
            given = evidence.reference_vectors, evidence.generated_vectors
            made = preprocess(*given, norm=evidence.normalise, pca=pca)
            sets = made.reference, made.generated
        return cls(
            np.asarray(sets[0], np.float64),
            np.asarray(sets[1], np.float64),
            evidence.distance == "cosine",
        )

    def to_reference(self, row: int) -> Matrix:
        """Return distances of a generated sample from all reference samples, shape ``(n,)``."""
        point = self.generated[row]
        if not self.cosine:
            return _lengths(self.reference - point)
        lengths = _lengths(self.reference) * np.sqrt(point @ point)
        distances: Matrix = 1 - self.reference @ point / np.where(lengths > 0, lengths, 1.0)
        return distances


class NearMeans:
    """The rows of every region nearest to the region's mean.

    Parameters
    ----------
    rows
        Shape ``(n, q)``.
    labels
        The region of each, shape ``(n,)``.
    regions
        How many there are.
    among
        Which rows count; all by default.
    """

    def __init__(
        self, rows: Matrix, labels: Labels, regions: int, among: NDArray[np.bool_] | None = None
    ) -> None:
        chosen = np.arange(len(rows)) if among is None else np.flatnonzero(among)
        rows, labels = rows[chosen], labels[chosen]
        far = _lengths(rows - means(rows, labels, regions)[labels])
        order = np.lexsort((far, labels))
        self._rows = chosen[order]
        self._starts = np.searchsorted(labels[order], np.arange(regions + 1))

    def of(self, region: int, count: int) -> list[int]:
        """Return at most `count` rows of a region, nearest to its mean first."""
        first, last = self._starts[region], self._starts[region + 1]
        return [int(row) for row in self._rows[first : min(last, first + count)]]

    def size(self, region: int) -> int:
        """Return the number of rows of a region."""
        return int(self._starts[region + 1] - self._starts[region])


def means(rows: Matrix, labels: Labels, regions: int) -> Matrix:
    """Return the mean row of every region, zeros for an empty one, shape ``(regions, q)``."""
    sums = np.zeros((regions, rows.shape[1]))
    np.add.at(sums, labels, rows)
    middles: Matrix = sums / np.maximum(np.bincount(labels, minlength=regions), 1)[:, None]
    return middles


def _lengths(rows: Matrix) -> Matrix:
    lengths: Matrix = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths


def _counted(counted: WordCounts | None, texts: Sequence[str] | None) -> WordCounts | None:
    return WordCounts.of(texts) if counted is None and texts is not None else counted


def _named(evidence: Evidence, side: str, rows: Any) -> dict[str, Any]:
    names = tuple(f"{side}_{what}" for what in ("texts", "cells", "words", "clusters", "files"))
    return {name: getattr(evidence, name) for name in names} | {f"rows of the {side} set": rows}


def _check_sizes(sized: Mapping[str, Any], size: int, side: str) -> None:
    for name, values in sized.items():
        entries = (
            len(values)
            if hasattr(values, "__len__") and not isinstance(values, str)
            else repr(values)
        )
        if values is not None and entries != size:
            raise InputError(
                f"{name} must have one entry for each of the {size} {side} vectors; found {entries}"
            )


def _check_rows(given: Any, size: int | None, name: str) -> None:
    if given is None:
        return
    rows = np.asarray(given)
    if rows.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers; found dtype {rows.dtype}")
    if rows.min() < 0 or (size is not None and rows.max() >= size):
        most = "" if size is None else f" and below {size}"
        raise InputError(
            f"{name} must be at least 0{most}; found {int(rows.min())} to {int(rows.max())}"
        )
