"""How much of a set an embedder read, and whether that is enough for a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calipers.embedders.reading import ReadingCounts
from calipers.results.caution import Caution, brief_share, fitting
from calipers.serialise import Plain

WORTH_SAYING = 0.01
"""From this share of what was not read on, it is said on the first screen."""

TOO_MUCH = 0.05
"""From this share on nothing is measured: scores have moved further by then than what they are read
for (``research/experiments/unread_words.py``; docs/embedders.md has the table)."""

TOO_MANY = 0.1
"""The same where unread words leave no trace, for the share of texts of which nothing is left."""

REMEDY = (
    "choose an embedder that reads these texts (`embedder`), or compare their characters "
    "(`calipers.measure_texts`)"
)
REMEDY_OF_CHARACTERS = (
    "the reference holds none of their characters: compare texts in one script, or name a model "
    "that reads both sides (`embedder`)"
)


def remedy_of(embedder: str) -> str:
    """Advise what to do where an embedder did not read some texts."""
    return REMEDY_OF_CHARACTERS if embedder == "characters" else REMEDY


@dataclass(frozen=True)
class SetReading(Plain):
    """The shares of a set that an embedder read, over all files of a system.

    Attributes
    ----------
    texts
        Texts of the set.
    words
        Words of all texts, as :mod:`calipers.embedders.reading` counts them; None where the
        embedder does not tell what it knows.
    unread_words
        How many of them it does not know.
    unread_texts
        Texts of which it knows no word at all.
    truncated_texts
        Texts that are longer than it reads; None where it does not tell.
    left_out
        Whether unread words leave no trace in a vector, as in a mean over words; else an unknown
        token stands for each, so that texts look alike by it.
    """

    texts: int
    words: int | None = None
    unread_words: int | None = None
    unread_texts: int | None = None
    truncated_texts: int | None = None
    left_out: bool = False

    @classmethod
    def of(
        cls, reading: ReadingCounts | None, texts: int, truncated: int | None = None
    ) -> SetReading:
        """Sum up how much was read of each of some texts."""
        if reading is None:
            return cls(texts, truncated_texts=truncated)
        return cls(
            texts,
            words=int(reading.words.sum()),
            unread_words=int(reading.unread.sum()),
            unread_texts=int(reading.nothing.sum()),
            truncated_texts=truncated,
            left_out=reading.left_out,
        )

    @property
    def unread(self) -> float:
        """The share of words that were not read, 0 to 1."""
        return (self.unread_words or 0) / self.words if self.words else 0.0

    @property
    def empty(self) -> float:
        """The share of texts of which nothing was read, 0 to 1."""
        return (self.unread_texts or 0) / self.texts if self.texts else 0.0

    @property
    def truncated(self) -> float | None:
        """The share of texts that were truncated, 0 to 1; None where unknown."""
        count = self.truncated_texts
        return None if count is None or not self.texts else count / self.texts

    @property
    def lost(self) -> float:
        """The share that decides whether anything is measured, 0 to 1."""
        return max(self.empty, 0.0 if self.left_out else self.unread)

    @property
    def too_little(self) -> bool:
        """Whether too little was read to measure anything."""
        return self.lost >= (TOO_MANY if self.left_out else TOO_MUCH)


SideReadings = Sequence[tuple[str, SetReading | None]]
"""Sets by whose they are, as a sentence says it: ``its``, ``the reference's``."""


def too_little(embedder: str, sides: SideReadings) -> str | None:
    """Explain why sets cannot be compared by an embedder that knows too few of their words.

    None where it knows enough of all of them.
    """
    lost = [(whose, reading) for whose, reading in sides if reading and reading.too_little]
    return unread_text(embedder, lost) if lost else None


def unread_note(embedder: str, name: str, reading: SetReading | None) -> str | None:
    """Describe what an embedder did not read of a set, if it is enough to matter."""
    if reading is None or reading.lost < WORTH_SAYING:
        return None
    what = "nothing is measured of it" if reading.too_little else "their content is not seen"
    return f"{name}: {unread_text(embedder, [('its', reading)])}; {what}: {remedy_of(embedder)}"


def unread_text(embedder: str, sides: SideReadings) -> str:
    """State how many words of sets an embedder does not know.

    Examples
    --------
    >>> unread_text("minilm", [("its", SetReading(2, 9, 3, 1)), ("the reference's", None)])
    'minilm does not know 33 % of its words; 1 text has no known word'
    """
    known = [(whose, reading) for whose, reading in sides if reading is not None]
    shares = [_percent(reading.unread) for _, reading in known]
    (first, *_), owners = shares, [whose for whose, _ in known]
    if len(set(shares)) == 1 and len(known) > 1:
        text = f"{first} of the words of both sides"
    else:
        others = zip(shares[1:], owners[1:], strict=True)
        text = " and ".join([f"{first} of {owners[0]} words", *(f"{s} of {o}" for s, o in others)])
    count = sum(reading.unread_texts or 0 for _, reading in known)
    have = "text has" if count == 1 else "texts have"
    none = f"; {count:,} {have} no known word" if count else ""
    return f"{embedder} does not know {text}{none}"


def unread_cautions(
    embedder: str, sides: SideReadings, *, remedy: str | None = None, option: str = "`embedder`"
) -> Iterator[Caution]:
    """Make the cautions on what an embedder did not read, if it is enough to matter."""
    lost = [
        (whose, reading) for whose, reading in sides if reading and reading.lost >= WORTH_SAYING
    ]
    if not lost:
        return
    reason = too_little(embedder, sides)
    what = "no score is given" if reason else "their content is not compared"
    text = f"{reason or unread_text(embedder, lost)}; {what}: {remedy or remedy_of(embedder)}"
    whose, most = max(lost, key=lambda side: side[1].lost)
    unit = "words" if most.lost == most.unread else "texts"
    share = brief_share(most.lost)
    brief = fitting(f"{share} of {whose} {unit} not read", f"{share} of {unit} not read")
    yield Caution("unread", brief, text, option)


def _percent(share: float) -> str:
    """Write a share, 0 and 100 % never too early."""
    if 0.99 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1g} %"
