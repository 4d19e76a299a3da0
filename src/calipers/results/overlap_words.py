"""What two shares say of a pair of systems: within, disjoint, overlapping, covering each other.

Of systems a and b, one share tells how much of b lies inside the support of a, the other how much
of a lies inside that of b (Le Bronnec et al., ACL 2024, section 5.5: precision and recall with one
model as the reference of another). A share of at least `NEARLY_ALL` counts as all, one of at most
`NEARLY_NONE` as none. Where the owner of the support has several seed files, both limits are taken
of its ceiling: the share of its own files that lies inside one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

NEARLY_ALL = 0.9
NEARLY_NONE = 0.1
LEAST_CEILING = 0.5
"""Files of one system that overlap less than this are no measure for others."""

Kind = Literal["cover_each_other", "b_within_a", "a_within_b", "disjoint", "overlap_in_part"]


@dataclass(frozen=True)
class Share:
    """How much of one system lies inside the support of another.

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
        """From where on the share counts as all, and up to where as none."""
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
        """Its standard deviation; that of a share of n independent draws where there is none."""
        chance = math.sqrt(self.value * (1 - self.value) / self.n)
        return self.sd if math.isfinite(self.sd) else chance

    @property
    def uncertain(self) -> bool:
        """Whether the spread reaches across a limit."""
        return any(abs(self.value - limit) < self.spread for limit in self.limits)

    def percent(self, *, rest: bool = False) -> str:
        """Write the share, or the `rest` that is missing to one.

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
class Relation:
    """What a pair of systems is to each other in one view.

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
        """The pair in one word."""
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
        """Whether the spread could change the word."""
        return self.b_in_a.uncertain or self.a_in_b.uncertain

    @property
    def sentence(self) -> str:
        """The pair in words, with the names and the shares."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return the relation as plain data."""
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
            return "disjoint: 0 % of either lies inside the other"
        return f"nearly disjoint: {self._shares}"


def _within(inner: str, outer: str, inside: Share, covered: Share) -> str:
    return (
        f"{inner} lies within {outer} ({inside.percent()} of it) "
        f"and leaves {covered.percent(rest=True)} of {outer} uncovered"
    )
