"""The overlap of several systems, and the relation of each pair in words.

Of systems a and b, one share tells how much of b lies inside the support of a, the other how much
of a lies inside that of b (Le Bronnec et al., ACL 2024, section 5.5: precision and recall with one
model as the reference of another). A share of at least `NEARLY_ALL` counts as all, one of at most
`NEARLY_NONE` as none. Where the owner of the support has several seed files, both limits are taken
of its ceiling: the share of its own files that lies inside one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.results.by_name import ByName
from calipers.results.result import Result
from calipers.results.sets import SetSummary
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

NEARLY_ALL = 0.9
NEARLY_NONE = 0.1
LEAST_CEILING = 0.5
"""Files of one system that overlap less than this are no measure for others."""

Kind = Literal["cover_each_other", "b_within_a", "a_within_b", "disjoint", "overlap_in_part"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """The share of one system that lies inside the support of another.

    Attributes
    ----------
    value
        In [0, 1]; the mean over pairs of files.
    n
        Samples of which it is the share.
    sd
        Its standard deviation over pairs of files; NaN where there is one pair.
    ceiling
        What another file of the support's owner reaches; NaN where it has one file.
    """

    value: float
    n: int
    sd: float = math.nan
    ceiling: float = math.nan

    @property
    def limits(self) -> tuple[float, float]:
        """The shares from which on nearly all, and up to which nearly nothing, lies inside."""
        scale = self.ceiling if self.ceiling >= LEAST_CEILING else 1.0
        return NEARLY_ALL * scale, NEARLY_NONE * scale

    @property
    def nearly_all(self) -> bool:
        """Whether nearly all lies inside."""
        return self.value >= self.limits[0]

    @property
    def nearly_none(self) -> bool:
        """Whether nearly nothing lies inside."""
        return self.value <= self.limits[1]

    @property
    def spread(self) -> float:
        """Standard deviation of the share; where none was measured, that of n independent draws."""
        chance = math.sqrt(self.value * (1 - self.value) / self.n)
        return self.sd if math.isfinite(self.sd) else chance

    @property
    def uncertain(self) -> bool:
        """Whether the share is less than its spread away from a limit."""
        return any(abs(self.value - limit) < self.spread for limit in self.limits)

    def percent(self, *, rest: bool = False) -> str:
        """Write the share as a percentage, or with `rest` its complement.

        It has as many digits, up to two, as put it on the same side of every limit as the number.

        Examples
        --------
        >>> Share(0.958, 500).percent(), Share(0.958, 500).percent(rest=True)
        ('96 %', '4 %')
        >>> Share(0.896, 500).percent()
        'about 89.6 %'
        """
        digits = next((n for n in range(2) if self._faithful(n)), 2)
        shown = round(1 - self.value if rest else self.value, digits + 2)
        return f"{'about ' if self.uncertain else ''}{100 * shown:.{digits}f} %"

    def _faithful(self, digits: int) -> bool:
        shown = round(100 * round(self.value, digits + 2), 6)
        high, low = (round(100 * limit, 6) for limit in self.limits)
        exact = (self.nearly_all, self.nearly_none, self.value > 0, self.value >= 1)
        return exact == (shown >= high, shown <= low, shown > 0, shown >= 100)


@dataclass(frozen=True)
class Relation(Plain):
    """The relation of a pair of systems in one view.

    Attributes
    ----------
    a, b
        Names of the systems, in the order given.
    b_in_a, a_in_b
        How much of b lies inside the support of a, and of a inside that of b.
    """

    a: str
    b: str
    b_in_a: Share
    a_in_b: Share

    @property
    def relation(self) -> Kind:
        """The relation in one word."""
        if self.b_in_a.nearly_all and self.a_in_b.nearly_all:
            return "cover_each_other"
        if self.b_in_a.nearly_all:
            return "b_within_a"
        if self.a_in_b.nearly_all:
            return "a_within_b"
        if self.b_in_a.nearly_none and self.a_in_b.nearly_none:
            return "disjoint"
        return "overlap_in_part"

    @property
    def about(self) -> bool:
        """Whether the spread of the shares could change the relation."""
        return self.b_in_a.uncertain or self.a_in_b.uncertain

    @property
    def sentence(self) -> str:
        """The relation in one sentence, with names and shares."""
        a, b = self.a, self.b
        match self.relation:
            case "b_within_a":
                return _within(b, a, self.b_in_a, self.a_in_b)
            case "a_within_b":
                return _within(a, b, self.a_in_b, self.b_in_a)
            case "cover_each_other":
                return f"{a} and {b} cover each other: {self._shares}"
            case "disjoint":
                return f"{a} and {b} are {self._disjoint}"
            case _:
                return f"{a} and {b} overlap in part: {self._shares}"

    def _outline(self) -> Mapping[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "relation": self.relation,
            "about": self.about,
            "b_in_a": self.b_in_a.value,
            "a_in_b": self.a_in_b.value,
            "sentence": self.sentence,
        }

    @property
    def _shares(self) -> str:
        within_a, within_b = self.b_in_a.percent(), self.a_in_b.percent()
        return (
            f"{within_a} of {self.b} lies inside {self.a}, {within_b} of {self.a} inside {self.b}"
        )

    @property
    def _disjoint(self) -> str:
        if self.b_in_a.value == self.a_in_b.value == 0:
            return "disjoint: 0 % of each lies inside the other"
        return f"nearly disjoint: {self._shares}"


def _within(inner: str, outer: str, inside: Share, covered: Share) -> str:
    return (
        f"{inner} lies within {outer} ({inside.percent()} of it) "
        f"and leaves {covered.percent(rest=True)} of {outer} uncovered"
    )


@dataclass(frozen=True)
class OverlapSystem(Plain):
    """One system: what is known of all its samples, and of each of its files.

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
        """Name of the system."""
        return self.summary.name

    def _outline(self) -> Mapping[str, Any]:
        data = {**self.summary._outline(), "files": self.files}
        return {**data, "warnings": self.summary.warnings}

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**data, "summary": data}


@dataclass(frozen=True, eq=False)
class OverlapView(Plain):
    """Matrices of one view: row i is the system as reference, column j the evaluated system.

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
        other, the ceiling for its row; NaN where it has a single file. NaN too where the embedder
        knows too few words of one side.
    precision_sd
        Standard deviation over pairs of files (one less than their number in the denominator);
        NaN where there is a single pair.
    file_pairs
        How many pairs of files stand behind a cell, shape ``(s, s)``.
    signatures
        ``signatures[i][j]`` pins every choice behind ``precision[i, j]`` and ``recall[i, j]``.
    """

    _key = "name"
    _written = (
        *("precision", "recall", "precision_sd", "recall_sd"),
        *("file_pairs", "relations", "signatures"),
    )

    name: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    precision: Matrix
    precision_sd: Matrix
    file_pairs: NDArray[np.int64]
    signatures: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def recall(self) -> Matrix:
        """Share of system i inside the support of system j: precision with the sides exchanged."""
        return self.precision.T

    @property
    def recall_sd(self) -> Matrix:
        """Standard deviation of `recall` over pairs of files."""
        return self.precision_sd.T

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Relations of all pairs of systems, in order, except pairs without shares."""
        pairs = combinations(range(len(self.names)), 2)
        return tuple(
            Relation(self.names[i], self.names[j], self._share(i, j), self._share(j, i))
            for i, j in pairs
            if np.isfinite([self.precision[i, j], self.precision[j, i]]).all()
        )

    def _share(self, i: int, j: int) -> Share:
        """How much of system j lies inside the support of system i."""
        value, sd, ceiling = self.precision[i, j], self.precision_sd[i, j], self.precision[i, i]
        return Share(float(value), self.sizes[j], float(sd), float(ceiling))


@dataclass(frozen=True)
class SharedRow(Plain):
    """A text of one system that also occurs in another.

    Attributes
    ----------
    row, other
        Its rows in the files of the two systems as they were given, counted from 0.
    similarity
        Share of 5-grams of words that both texts hold (Jaccard), 1 where they are the same.
    verbatim
        Whether their words are the same, letter case and white space aside.
    file, other_file
        Which files they are in, counted from 0, where systems have several.
    """

    row: int
    other: int
    similarity: float
    verbatim: bool
    file: int = 0
    other_file: int = 0


@dataclass(frozen=True)
class SharedTexts(Plain):
    """The texts that two systems share, verbatim or nearly so.

    Attributes
    ----------
    a, b
        Names of the systems, in the order given.
    short
        How many of the verbatim ones have so few words that systems may share them by chance.
    rows
        Each text of a with the one of b that it is matched with; every text is matched once.
    """

    a: str
    b: str
    short: int
    rows: tuple[SharedRow, ...]

    _written = ("a", "b", "verbatim", "near", "short", "rows")

    @property
    def verbatim(self) -> int:
        """Number of texts that are identical."""
        return sum(row.verbatim for row in self.rows)

    @property
    def near(self) -> int:
        """Number of texts that are nearly identical."""
        return len(self.rows) - self.verbatim


@dataclass(frozen=True)
class TextSearch(Plain):
    """Texts that systems share, and how the search was limited.

    Attributes
    ----------
    order
        Words of an n-gram.
    threshold
        The similarity from which on texts are nearly the same.
    texts
        Texts of the smallest system.
    unseen
        The largest share of copies of which so many texts show none, with a chance of 5 %.
    needed
        Texts from which on copies of 1 % of them show, with a chance of 95 %.
    pairs
        The pairs of systems that share texts, those that share most first.
    """

    order: int
    threshold: float
    texts: int
    unseen: float
    needed: int
    pairs: tuple[SharedTexts, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Overlap(ByName[OverlapView], Result):
    """Overlap of every pair of systems, without a reference: print it, or read its matrices.

    Attributes
    ----------
    systems
        What was compared, in the order given.
    views
        By the name of the view, the main one first.
    settings
        The settings of the run, as plain data.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    shared
        Which texts two systems share, verbatim or nearly so; None of samples that are no texts.
    """

    kind = "overlap"
    _optional = ("shared",)

    systems: tuple[OverlapSystem, ...]
    views: Mapping[str, OverlapView]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__
    shared: TextSearch | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems, in the order of rows and columns."""
        return tuple(system.name for system in self.systems)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Relations of all pairs in the main view; ``overlap["form"].relations`` in another."""
        return next(iter(self.views.values())).relations

    _noun = "view"

    @property
    def _parts(self) -> Mapping[str, OverlapView]:
        return self.views

    def _rows(self) -> Iterator[Row]:
        """A row for each view, each system as the reference, and each system that is judged."""
        for view in self:
            for (i, reference), (j, generated) in product(enumerate(view.names), repeat=2):
                yield {
                    "view": view.name,
                    "reference": reference,
                    "generated": generated,
                    "precision": float(view.precision[i, j]),
                    "recall": float(view.recall[i, j]),
                    "precision_sd": float(view.precision_sd[i, j]),
                    "recall_sd": float(view.recall_sd[i, j]),
                    "file_pairs": int(view.file_pairs[i, j]),
                    "signature": view.signatures[i][j],
                }

    def _wide(self) -> Wide:
        return ("view", "reference"), "generated", "precision"

    def __repr__(self) -> str:
        return f"<Overlap of {', '.join(map(repr, self.names))}>"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "limits": {"nearly_all": NEARLY_ALL, "nearly_none": NEARLY_NONE},
            "systems": self.systems,
            "views": {view.name: view for view in self},
            "shared": self.shared,
            "warnings": self.warnings,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the views the names and sizes of the systems too."""
        systems = data["systems"]
        of_systems = {
            "names": [system["name"] for system in systems],
            "sizes": [min(file["n"] for file in system["files"]) for system in systems],
        }
        views = {name: {**view, **of_systems} for name, view in data["views"].items()}
        return {**super()._restored(data), "views": views}

    def _check(self) -> None:
        super()._check()
        square = (len(self.systems),) * 2
        if not self.views or any(file.n == 0 for system in self.systems for file in system.files):
            raise ValueError("it has no views, or files without samples")
        for view in self:
            shares = view.precision[np.isfinite(view.precision)]
            if ((shares < 0) | (shares > 1)).any():
                raise ValueError(f"precision of {view.name!r} is not between 0 and 1")
            for name in ("precision", "precision_sd", "file_pairs"):
                if getattr(view, name).shape != square:
                    raise ValueError(f"{name} of {view.name!r} is not of {square[0]} systems")
            if [len(row) for row in view.signatures] != [square[0]] * square[0]:
                raise ValueError(f"signatures of {view.name!r} are not of {square[0]} systems")
