"""The verdict of a comparison, in the few sentences that a person reads first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from calipers.serialise import Plain
from calipers.wording.short_names import among
from calipers.wording.words import Words, named, names_in, said

Kind = Literal[
    "closest",
    "undecided",
    "groups",
    "score",
    "collapsed",
    "distant",
    "lost",
    "unconfirmed",
    "distinguishable",
    "untested",
    "withheld",
    "reference",
    "same",
]


@dataclass(frozen=True, repr=False)
class Finding(Plain):
    """One sentence of a verdict.

    Attributes
    ----------
    kind
        What it says: who is ``"closest"``, of whom that is ``"undecided"``, which ``"groups"`` of
        many systems are alike, what a single system scores (``"score"``), who has
        ``"collapsed"`` or lies ``"distant"`` from the reference, what is ``"lost"`` beyond the
        noise floor, where such a loss is ``"unconfirmed"`` since no test distinguishes the system
        from the reference, who is ``"distinguishable"`` from it, that this is ``"untested"``,
        of whom no verdict is given (``"withheld"``), since too little of the texts was read, who
        holds only samples of the ``"reference"`` and is not ranked, or who holds the ``"same"``
        samples as another system.
    systems
        The names of those that it is about.
    words
        The sentence, with the names set apart.
    """

    kind: Kind
    systems: tuple[str, ...]
    words: Words

    def __str__(self) -> str:
        return said(self.words)

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {str(self)!r})"


@dataclass(frozen=True, repr=False)
class BriefCaution(Plain):
    """A caution in a few words.

    Attributes
    ----------
    system
        The system that it is about; empty for all of them.
    kind, brief, remedy
        As of :class:`~calipers.results.caution.Caution`.
    others
        How many systems more have a caution of this kind.
    """

    system: str
    kind: str
    brief: str
    remedy: str = ""
    others: int = 0

    def __repr__(self) -> str:
        return f"BriefCaution({self.kind!r}, {str(self)!r})"

    @property
    def words(self) -> Words:
        """The words that are shown."""
        brief = f"{self.brief} ({self.remedy})" if self.remedy else self.brief
        if self.others:
            brief += f" (and {self.others} other{'s' if self.others > 1 else ''})"
        return (named(self.system), f": {brief}") if self.system else (brief,)

    def __str__(self) -> str:
        return said(self.words)


@dataclass(frozen=True)
class Verdict(Plain):
    """The verdict of a comparison, in a few sentences; print it.

    Attributes
    ----------
    findings
        The sentences, in their order.
    cautions
        What could change them: the two that weigh most, and every other that could reverse them.
    """

    findings: tuple[Finding, ...] = ()
    cautions: tuple[BriefCaution, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings as plain text."""
        with among(self._names()):
            return tuple(map(str, self.findings))

    @property
    def closest(self) -> tuple[str, ...]:
        """The system closest to the reference, and those tied with it."""
        return self._of("closest")

    @property
    def undecided(self) -> tuple[str, ...]:
        """The systems that may be as close as the closest, as far as the samples tell."""
        return self._of("undecided")

    @property
    def collapsed(self) -> tuple[str, ...]:
        """The systems that have lost most of the reference's diversity."""
        return self._of("collapsed")

    @property
    def lost(self) -> tuple[str, ...]:
        """The systems that lose diversity, or a single one quality, beyond the noise floor.

        Those that have collapsed or lie far from the reference are not named again.
        """
        return self._of("lost")

    @property
    def distinguishable(self) -> tuple[str, ...]:
        """The systems that clearly differ from the reference: a corrected test is significant."""
        return self._of("distinguishable")

    @property
    def withheld(self) -> tuple[str, ...]:
        """The systems of which no verdict is given, since too little of the texts was read."""
        return self._of("withheld")

    def _outline(self) -> Mapping[str, Any]:
        return {
            "sentences": self.sentences,
            "closest": self.closest,
            "undecided": self.undecided,
            "collapsed": self.collapsed,
            "lost": self.lost,
            "distinguishable": self.distinguishable,
            "withheld": self.withheld,
            "cautions": self.cautions,
        }

    def __str__(self) -> str:
        with among(self._names()):
            warned = [f"! {caution}" for caution in self.cautions]
            return "\n".join((*self.sentences, *warned))

    def _names(self) -> Iterator[str]:
        """The names in its sentences and cautions."""
        spoken = [finding.words for finding in self.findings]
        spoken += [caution.words for caution in self.cautions]
        for words in spoken:
            yield from names_in(words)

    def _of(self, kind: Kind) -> tuple[str, ...]:
        return tuple(name for f in self.findings if f.kind == kind for name in f.systems)
