"""How far several systems overlap: frozen, complete, and readable without computing again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.overlap_words import NEARLY_ALL, NEARLY_NONE, Relation, Share
from calipers.results.plain import values
from calipers.results.system import SetSummary

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class OverlapSystem:
    """One system: what is known of it as a whole, and of each of its files.

    Attributes
    ----------
    summary
        Lengths and warnings over all its files; sizes are those of the first.
    files
        One entry for each file, the seeds of the system.
    """

    summary: SetSummary
    files: tuple[SetSummary, ...]

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.summary.name

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the system as plain data."""
        files = [file.to_dict() for file in self.files]
        return self.summary.to_dict() | {"files": files, "warnings": list(self.summary.warnings)}


@dataclass(frozen=True, eq=False)
class OverlapView:
    """The matrices of one view; row i is the system held as reference, column j the judged one.

    Attributes
    ----------
    name
        Of the view, such as ``"meaning"``.
    names
        Of the systems, in the order of rows and columns.
    sizes
        Samples in a file of each system, the smallest of its files.
    precision
        Share of system j inside the support of system i, shape ``(s, s)``, in [0, 1]. With seed
        files the mean over pairs of files. On the diagonal the files of one system against each
        other, the ceiling for its row; NaN where it has a single file.
    precision_sd
        Standard deviation over pairs of files (one less than their number in the denominator);
        NaN where there is a single pair.
    file_pairs
        How many pairs of files stand behind a cell, shape ``(s, s)``.
    signatures
        ``signatures[i][j]`` pins every choice behind ``precision[i, j]`` and ``recall[i, j]``.
    """

    name: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    precision: Matrix
    precision_sd: Matrix
    file_pairs: NDArray[np.int64]
    signatures: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def recall(self) -> Matrix:
        """Share of system i inside the support of system j: the precision of the swapped pair."""
        return self.precision.T

    @property
    def recall_sd(self) -> Matrix:
        """Standard deviation of `recall` over pairs of files."""
        return self.precision_sd.T

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What each pair of systems is to each other, in the order of the systems."""
        pairs = combinations(range(len(self.names)), 2)
        return tuple(
            Relation(self.names[i], self.names[j], self._share(i, j), self._share(j, i))
            for i, j in pairs
        )

    def to_dict(self) -> dict[str, Any]:
        """Return matrices, signatures and relations as plain data."""
        return {
            "precision": _rows(self.precision),
            "recall": _rows(self.recall),
            "precision_sd": _rows(self.precision_sd),
            "recall_sd": _rows(self.recall_sd),
            "file_pairs": self.file_pairs.tolist(),
            "relations": [relation.to_dict() for relation in self.relations],
            "signatures": [list(row) for row in self.signatures],
        }

    def _share(self, i: int, j: int) -> Share:
        """How much of system j lies inside the support of system i."""
        value, sd, ceiling = self.precision[i, j], self.precision_sd[i, j], self.precision[i, i]
        return Share(float(value), self.sizes[j], float(sd), float(ceiling))


@dataclass(frozen=True, eq=False, repr=False)
class Overlap:
    """Every system against every other, without a reference: print it, or read its matrices.

    Attributes
    ----------
    systems
        What was compared, in the order given.
    views
        By the name of the view, the main one first.
    settings
        The choices of the run, as plain data.
    warnings
        What is to be known of the whole.
    version
        Of Calipers, that made it.
    """

    systems: tuple[OverlapSystem, ...]
    views: Mapping[str, OverlapView]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems, in the order of rows and columns."""
        return tuple(system.name for system in self.systems)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What each pair is to each other by the main view; ``overlap["form"].relations``."""
        return next(iter(self.views.values())).relations

    def __getitem__(self, view: str) -> OverlapView:
        if view not in self.views:
            raise unknown_name("view", view, self.views)
        return self.views[view]

    def __iter__(self) -> Iterator[OverlapView]:
        return iter(self.views.values())

    def __len__(self) -> int:
        return len(self.views)

    def __repr__(self) -> str:
        return f"<Overlap of {', '.join(map(repr, self.names))}>"

    def __str__(self) -> str:
        from calipers.report.documents import overlap
        from calipers.report.render.text import plain

        return plain(overlap.document(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON."""
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "limits": {"nearly_all": NEARLY_ALL, "nearly_none": NEARLY_NONE},
            "systems": [system.to_dict() for system in self.systems],
            "views": {view.name: view.to_dict() for view in self},
            "warnings": list(self.warnings),
        }


def _rows(matrix: Matrix) -> list[list[float | None]]:
    return [values(row) for row in matrix]
