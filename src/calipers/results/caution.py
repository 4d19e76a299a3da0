"""Cautions: what could change the conclusion from a result, with a sentence and a weight.

Every caution is one of the warnings of a system or of a whole comparison, which hold its sentence.
Beside that it has what a line of a summary needs: a brief that fits beside a name, and a weight by
which the worst comes first. The weight follows from how far the cause, as strong as it was found,
can move a score (:mod:`calipers.evaluate.cautions.movements` holds what was measured).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from calipers.serialise import Plain

Kind = Literal[
    "unread",
    "same_file",
    "quotes",
    "scorer",
    "copies",
    "prompts",
    "openings",
    "duplicates",
    "lengths",
    "truncation",
    "forms",
    "scripts",
    "language",
    "empty",
    "unseen",
    "outlier",
    "sizes",
    "embedder",
    "neighbours",
    "few_samples",
    "groups",
    "tokens",
    "unsettled",
    "intervals",
    "ratios",
    "undefined",
]

WEIGHTS: Mapping[Kind, int] = {
    # The scores speak of something else than the generated texts
    "unread": 110,
    "same_file": 100,
    "scorer": 95,
    "outlier": 60,
    "quotes": 55,
    # Their movement is measured, wherever their strength is known
    "copies": 50,
    "ratios": 42,
    "unseen": 40,
    "embedder": 40,
    "duplicates": 30,
    "lengths": 30,
    "forms": 30,
    "scripts": 30,
    "language": 30,
    "prompts": 20,
    "openings": 20,
    "truncation": 20,
    "empty": 20,
    "few_samples": 10,
    "sizes": 10,
    "neighbours": 10,
    # A score or an interval says less than it seems to, and does not move
    "groups": 3,
    "tokens": 3,
    "unsettled": 2,
    "intervals": 1,
    "undefined": 1,
}
"""What a caution of each kind weighs whose movement is not known, in hundredths of a score too."""

LONGEST = 40
"""Characters of a brief at most."""


@dataclass(frozen=True)
class Caution(Plain):
    """Something that a person should know before trusting a verdict.

    Attributes
    ----------
    kind
        What it is about, a key of `WEIGHTS`: ``"openings"``, ``"duplicates"``, ``"lengths"``, …
    brief
        A few words to stand behind the system's name, at most `LONGEST` characters:
        ``14 % duplicates``. It holds neither names of systems nor texts of samples.
    text
        The whole sentence, as it stands among the warnings.
    remedy
        The option that removes the cause, as messages name it: ```match_length=6```; empty where
        none does.
    movement
        How far a cause of this strength can move a score, 0 to 1: the mean absolute change of the
        score that changed most in experiments; None where its strength is not known.
    """

    kind: Kind
    brief: str
    text: str
    remedy: str = ""
    movement: float | None = None

    _written = ("kind", "brief", "weight", "movement", "text", "remedy")
    _optional = ("remedy", "movement")

    @property
    def weight(self) -> int:
        """How much it could change the verdict, in hundredths of a score."""
        return WEIGHTS[self.kind] if self.movement is None else round(100 * self.movement)


def worst_first(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Sort by weight, the largest first, without repeats; ties keep their order."""
    return tuple(sorted(dict.fromkeys(cautions), key=lambda caution: -caution.weight))


def sentences(cautions: Iterable[Caution]) -> tuple[str, ...]:
    """Return the sentences of cautions, as warnings."""
    return tuple(caution.text for caution in cautions)


def brief_share(share: float) -> str:
    """Write a share briefly: ``all``, ``14 %``; 100 and 0 only where they are exact.

    Examples
    --------
    >>> brief_share(1.0), brief_share(0.996), brief_share(0.137), brief_share(0.001)
    ('all', '99 %', '14 %', 'under 1 %')
    """
    if share == 1:
        return "all"
    if 0 < share < 0.01:
        return "under 1 %"
    return f"{min(99, round(100 * share))} %"


def fitting(*briefs: str) -> str:
    """Return the first brief form that is short enough, else the last."""
    return next((brief for brief in briefs if len(brief) <= LONGEST), briefs[-1][:LONGEST])
