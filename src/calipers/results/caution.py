"""What could change what a result seems to say: a kind, a few words, the sentence, and its weight.

Every caution is one of the warnings of a system or of a whole comparison, which hold its sentence.
Beside that it has what a line of a summary needs: a brief that fits beside a name, and a weight by
which the worst comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from calipers.serialise import Plain

Kind = Literal[
    "unread",
    "same_file",
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
    "copies": 90,
    "prompts": 80,
    "openings": 80,
    # One defect of the texts explains a good part of the scores
    "duplicates": 70,
    "lengths": 60,
    "truncation": 55,
    "outlier": 75,
    "unseen": 65,
    "forms": 50,
    "scripts": 50,
    "language": 50,
    "empty": 45,
    # The measurement sees too little, or not the same on all sides
    "ratios": 42,
    "sizes": 40,
    "embedder": 40,
    "neighbours": 35,
    "few_samples": 30,
    "groups": 20,
    "tokens": 20,
    # A score or an interval says less than it seems to
    "unsettled": 15,
    "intervals": 10,
    "undefined": 5,
}
"""How much a caution of each kind could change a verdict; the largest is told first.

Copies and shared prompts let a system that is easily told from the reference pass for
indistinguishable; duplicates, lengths and the like make one that writes well look worse; few
samples widen what chance does without favouring anyone.
"""

LONGEST = 40
"""Characters of a brief at most."""


@dataclass(frozen=True)
class Caution(Plain):
    """One thing that a person should know before trusting a verdict.

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
        The option that removes the cause, as on a command line; empty where none does.
    """

    kind: Kind
    brief: str
    text: str
    remedy: str = ""

    _written = ("kind", "brief", "weight", "text", "remedy")
    _optional = ("remedy",)

    @property
    def weight(self) -> int:
        """How much it could change the verdict: more is worse."""
        return WEIGHTS[self.kind]


def worst_first(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Sort by weight, the largest first; of one weight in the order given, each once."""
    return tuple(sorted(dict.fromkeys(cautions), key=lambda caution: -caution.weight))


def sentences(cautions: Iterable[Caution]) -> tuple[str, ...]:
    """Give their sentences, as warnings."""
    return tuple(caution.text for caution in cautions)


def brief_share(share: float) -> str:
    """Write a share in as few signs as can be: ``all``, ``14 %``, and 100 or 0 never too early.

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
    """Take the first brief that is short enough; the last one always is."""
    return next((brief for brief in briefs if len(brief) <= LONGEST), briefs[-1][:LONGEST])
