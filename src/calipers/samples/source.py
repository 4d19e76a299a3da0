"""Which file is being read and what was asked of it; every reader's messages start from here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from calipers.errors import InputError
from calipers.progress import Progress

Unit = Literal["line", "row", "sample"]
LabelKind = Literal["group", "cluster"]


@dataclass(frozen=True)
class Wanted:
    """Labels of samples that a field of their rows holds.

    Attributes
    ----------
    kind
        What the labels say: the group of a sample, or the cluster that it was drawn with.
    path
        Path of the field.
    needed
        Whether a file in which no row has that field is refused.
    """

    kind: LabelKind
    path: str
    needed: bool = True

    def __str__(self) -> str:
        return f"{self.kind} {self.path!r}"


@dataclass(frozen=True)
class Source:
    """A file, or standard input, and the choices for reading it.

    Attributes
    ----------
    path
        What a person calls the file; it begins every message.
    name
        Name of the sample set that is read from it.
    field
        Path of the text field, or None to find it.
    group
        Path of the field whose value is each sample's group, or None.
    group_needed
        Whether a file in which no row has that field is refused.
    cluster, cluster_needed
        The same of the field whose value names the cluster of each sample.
    unit
        What the numbers in messages count, from 1.
    skip_bad
        Whether image files that cannot be read are left out, with a note, instead of refused.
    progress
        What shows how far the first look at image files is.
    header_note
        Said where a field is missing, for formats whose field names stand in a header row.
    """

    path: str
    name: str
    field: str | None = None
    group: str | None = None
    group_needed: bool = True
    cluster: str | None = None
    cluster_needed: bool = True
    unit: Unit = "line"
    header_note: str = ""
    skip_bad: bool = False
    progress: Progress | None = None

    @property
    def labels(self) -> tuple[Wanted, ...]:
        """The labels that were asked for."""
        asked: tuple[tuple[LabelKind, str | None, bool], ...] = (
            ("group", self.group, self.group_needed),
            ("cluster", self.cluster, self.cluster_needed),
        )
        return tuple(Wanted(kind, path, needed) for kind, path, needed in asked if path is not None)

    def counting(self, unit: Unit, header_note: str = "") -> Source:
        """Return the same source with messages that count another unit."""
        return replace(self, unit=unit, header_note=header_note)

    def error(self, problem: str) -> InputError:
        """Build the error for a problem of the whole file."""
        return InputError(f"{self.path}: {problem}")

    def row_error(self, number: int, problem: str) -> InputError:
        """Build the error for a problem of one line or row, counted from 1."""
        return InputError(f"{self.path}: {self.unit} {number}: {problem}")
