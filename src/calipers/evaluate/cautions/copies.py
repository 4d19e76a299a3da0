"""Cautions on repeats within a set, texts and beginnings shared by both sides, and prompts.

**Duplicates and copies.** Texts are compared as a whole, letter case and white space aside; a copy
with one changed word is none (:func:`calipers.text.near_texts` finds those). Empty texts are left
out: they have a note of their own. The share of repeats rises with the number of texts, so the
reference's is given as it would be in a random part of it of the generated set's size, which needs
no drawing: a text that stands c times among n is missing in such a part of h with the chance
C(n - c, h) / C(n, h). Rows of embeddings that are given repeat an earlier one where all their
numbers do. A copied text is in the reference as well. People write the same short texts too, so the
share is held against that of reference texts that occur in the reference twice.

**Prompts and beginnings.** What both sides have in common in a prompt is no merit of the model.
Where rows name prompts, a text that begins with its own is seen at once. A side whose rows name
none is searched for those of the other side; what else it begins with is not known, and not said.
Where no prompts are named, they show as long beginnings that a generated text shares with a
reference text: five words and more, far more often than two reference texts share them. Where rows
name prompts that do not begin the texts, such beginnings are part of the answers. Texts that stand
in the reference as a whole are copies and not counted there. Copies of which a few words were
changed look the same: which of the two it is, only a person can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.cautions.movements import movement
from calipers.evaluate.cautions.texts import (
    BEGINNING,
    TextFacts,
    beyond_chance,
    longest_common,
    percent,
)
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import row_ranks
from calipers.results.caution import Caution, brief_share
from calipers.unicode.written_words import WORDS

MORE_REPEATS = 0.01
"""One text in a hundred; `calipers text` warns of as many."""

MORE_COPIES = 0.01
"""One text in a hundred; a copy lies at distance 0 from the reference, however poor the others."""

SHARED_WORDS = 5
"""Words of a beginning that hardly two people write by chance, unless their texts follow a form."""

MORE_BEGINNINGS = 0.05
"""A twentieth of the texts: fewer prompts in them move no score by more than its interval."""

MORE_CONTINUED = 0.5
"""Half of the prompts: then they were taken from the reference."""

SHORTEST_PROMPT = 3
"""Words of a prompt; with fewer a text may begin by chance."""

NEARLY_ALL = 0.95
"""The share of texts that must begin with a prompt, so that none is left on one side alone. Of 500
stories by GPT-NeoX 20B, 98.6 % open as one of the 500 human ones, which lack a few prompts."""

SAME_LENGTH, FEWEST_ALIKE = 0.5, 30
"""Where so many openings have the length that 99 % reach, the prompts have that length. In two of
five stories GPT-2 XL goes on with a word or more of the person's; fewer openings than 30 may agree
in length by chance."""

MOVES = "this changes precision, recall, MAUVE and BLEU"
"""Upwards where answers are compared as they are; where shared prompts are held constant, words of
the prompt on both sides lower precision and recall."""


@dataclass(frozen=True)
class Duplicates:
    """The share of samples that repeat an earlier one of their set, 0 to 1.

    Attributes
    ----------
    generated
        In the generated set, over its files where there are several.
    reference
        In a part of the reference of `size` samples.
    size
        The samples of a generated file, or of the reference where it has fewer.
    unit
        What they are: ``"texts"`` or ``"rows"``.
    """

    generated: float
    reference: float
    size: int
    unit: str = "texts"

    def caution(self) -> Caution | None:
        """Describe the repeats beyond the reference's, and advise."""
        shares, sizes = (self.generated, self.reference), (self.size, self.size)
        if not beyond_chance(*shares, *sizes, least=MORE_REPEATS):
            return None
        text = (
            f"{percent(self.generated)} of its {self.unit} duplicate an earlier one, as do "
            f"{percent(self.reference)} of as many reference {self.unit}; duplicates lower "
            "coverage, recall, MAUVE and every measure of diversity, and with `projection='union'` "
            "precision and density too: if they come from sampling the same prompt, keep one of "
            "each"
        )
        brief, more = f"{brief_share(self.generated)} duplicates", self.generated - self.reference
        return Caution("duplicates", brief, text, movement=movement("duplicates", more))


@dataclass(frozen=True)
class Copies:
    """The share of generated texts that also occur in the reference, 0 to 1.

    Attributes
    ----------
    generated
        Of the generated texts.
    expected
        Of the reference texts, those that occur in the reference a second time.
    n, m
        Texts on the two sides.
    """

    generated: float
    expected: float
    n: int
    m: int

    def caution(self) -> Caution | None:
        """Describe the copies beyond those expected of people, and advise."""
        if not beyond_chance(self.generated, self.expected, self.m, self.n, least=MORE_COPIES):
            return None
        text = (
            f"{percent(self.generated)} of its texts occur word for word in the reference "
            f"({percent(self.expected)} of the reference's texts occur there twice); copies raise "
            "every score: compare with texts that the model cannot have seen"
        )
        brief = f"{brief_share(self.generated)} copied from the reference"
        moved = movement("copies", self.generated - self.expected)
        return Caution("copies", brief, text, movement=moved)


@dataclass(frozen=True)
class Prompts:
    """The share of texts that begin with a prompt, 0 to 1, where rows name prompts.

    A side whose rows name prompts is held against these, text by text. A side whose rows name none
    is held against those of the other side; whether it begins with others is not known.

    Attributes
    ----------
    reference, generated
        Texts that begin with the prompt in their own row; None where no row names one.
    reference_others, generated_others
        Of a side whose rows name none, the texts that begin with one of the other side's prompts;
        None where its rows name prompts.
    continued
        Where the reference names no prompts: the share of those that the generated rows name which
        begin a text of the reference.
    part
        The words of a prompt over those of a text that begins with one, of medians; 0 where none
        does.
    """

    reference: float | None
    generated: float | None
    reference_others: float | None = None
    generated_others: float | None = None
    continued: float | None = None
    part: float = 0.0

    @property
    def apart(self) -> bool:
        """Whether texts on neither side begin with the prompts that rows name."""
        return not self._in_generated and not self._in_reference

    @property
    def _ours(self) -> float:
        """The share of generated texts that begin with a prompt, their own or another's."""
        share = self.generated if self.generated is not None else self.generated_others
        return share or 0.0

    @property
    def _theirs(self) -> float:
        """The same of the reference; of a longer one, the share of prompts that begin its texts."""
        share = self.reference
        return (
            share if share is not None else max(self.reference_others or 0.0, self.continued or 0.0)
        )

    @property
    def _in_generated(self) -> bool:
        return self._ours > MORE_BEGINNINGS

    @property
    def _in_reference(self) -> bool:
        others, named = self.reference_others or 0.0, self.continued or 0.0
        return max(self.reference or 0.0, others) > MORE_BEGINNINGS or named > MORE_CONTINUED

    def caution(self) -> Caution | None:
        """Describe on which side the texts contain prompts, and advise."""
        if self.apart:
            return None
        if self._in_generated:
            whose, share = "", brief_share(self._ours)
        else:
            whose, share = "reference: ", brief_share(self._theirs)
        brief = f"{whose}{share} begin with {'their' if self._own else 'a'} prompt"
        if self.reference is None and not self._in_generated:
            brief = "the reference keeps its prompts"
        text = f"{self._shares}; {self._effect}: `strip_prompt` removes it from both sides"
        return Caution("prompts", brief, text, "`strip_prompt`", self._movement)

    @property
    def _movement(self) -> float:
        """What stands on both sides hides a difference, what stands on one makes one."""
        low, high = sorted((self._ours, self._theirs))
        return max(
            movement("openings", low * self.part), movement("prompts", (high - low) * self.part)
        )

    @property
    def _own(self) -> bool:
        """Whether the side that is mentioned first begins with prompts of its own rows."""
        return (self.generated if self._in_generated else self.reference) is not None

    @property
    def _shares(self) -> str:
        """Say what was measured of both sides, and by which prompts."""
        if self.reference is not None and self.generated is not None:
            return (
                f"{percent(self.generated)} of its texts and {percent(self.reference)} of the "
                "reference's begin with their own prompt"
            )
        if self.reference is not None:
            return (
                f"{percent(self.reference)} of the reference's texts begin with their own prompt, "
                f"and {percent(self._ours)} of its texts with one of these; its rows name none"
            )
        if not self._in_generated:
            return (
                f"{percent(self._theirs)} of the prompts that its rows name begin a text of the "
                f"reference, and {percent(self._ours)} of its own texts begin with theirs"
            )
        among = (
            f"{percent(self.reference_others or 0.0)} of the reference's texts with one of these"
        )
        if (self.reference_others or 0.0) <= MORE_BEGINNINGS and self._in_reference:
            among = f"{percent(self.continued or 0.0)} of these begin a text of the reference"
        return (
            f"{percent(self._ours)} of its texts begin with their own prompt, and {among}; the "
            "reference's rows name none"
        )

    @property
    def _effect(self) -> str:
        if self._in_generated and self._in_reference:
            return MOVES
        apart = "this alone separates the two sides"
        other, whose = self.reference, "the reference's"
        if self._in_reference:
            other, whose = self.generated, "its"
        # What a side begins with whose rows name no prompts, nobody knows
        return (
            apart
            if other is not None
            else f"unless {whose} texts begin with other prompts, {apart}"
        )


@dataclass(frozen=True)
class Beginnings:
    """Long beginnings that generated texts share with reference texts.

    Attributes
    ----------
    generated
        The share of generated texts whose first five words or more begin a reference text, 0 to 1.
    expected
        The share of reference texts that share as much with another reference text.
    words
        The median length of such a common beginning, at most `BEGINNING`; 0 where there is none.
    n, m
        Texts on the two sides.
    skip
        The words that leave hardly any of these beginnings, taken off every text; 0 where there
        are none, or they may go on behind the words that are kept.
    both
        Whether nearly all texts of both sides share one with the other, as with a prompt.
    part
        The words in common over the words of such a generated text, of medians, 0 to 1.
    apart
        Whether rows name their prompts, and these do not begin the texts.
    unit
        What is counted in place of words where the reference's script has no spaces.
    """

    generated: float
    expected: float
    words: float
    n: int
    m: int
    skip: int = 0
    both: bool = False
    part: float = 0.0
    apart: bool = False
    unit: str = WORDS

    def caution(self) -> Caution | None:
        """Describe the shared beginnings and their length, and advise."""
        if not beyond_chance(self.generated, self.expected, self.m, self.n, least=MORE_BEGINNINGS):
            return None
        many = f"{self.words:g}" if self.words < BEGINNING else f"{BEGINNING} or more"
        text = (
            f"{percent(self.generated)} of its texts begin as a reference text does, with {many} "
            f"{self.unit} in common ({percent(self.expected)} of the reference's texts among "
            f"themselves); {self._advice}"
        )
        brief = f"{brief_share(self.generated)} share an opening with the reference"
        moved = movement("openings", (self.generated - self.expected) * self.part)
        return Caution("openings", brief, text, self._remedy, moved)

    @property
    def _answers(self) -> bool:
        """Whether the openings are how answers to a prompt begin, which no option should remove."""
        return self.apart and not self.both

    @property
    def _remedy(self) -> str:
        if self._answers:
            return ""
        if self.both and not self.apart:
            return "`strip_prompt`"
        return f"`skip_words={self.skip}`" if self.skip else ""

    @property
    def _advice(self) -> str:
        if self._answers:
            return (
                f"they do not begin with the prompts in their rows, so these {self.unit} belong to "
                "the answers, as when a question is restated; look for copies"
            )
        if self.both and not self.apart:
            remedy = "`strip_prompt` removes it from both sides"
        elif not self.skip:
            remedy = "compare the continuations only"
        else:
            remedy = f"{self._remedy} removes that many {self.unit} from every text"
        what = "if it is a prompt that the rows do not name" if self.apart else "if it is a prompt"
        return f"{MOVES}: {what}, {remedy}; if not, look for copies"


def measure_duplicates(reference: TextFacts, generated: Sequence[TextFacts]) -> Duplicates | None:
    """Compare the share of repeats within each file with the reference's at the same size."""
    theirs, *ours = (
        np.unique(facts.keys[facts.nonempty], return_counts=True)[1]
        for facts in (reference, *generated)
    )
    return _duplicates(theirs, ours, "texts")


def measure_repeated_rows(reference: Points, generated: Sequence[Points]) -> Duplicates | None:
    """Do the same for embeddings: rows equal to an earlier one in every number."""
    return _duplicates(_row_counts(reference), [_row_counts(rows) for rows in generated], "rows")


def _row_counts(rows: Points) -> NDArray[np.intp]:
    """How often each different row occurs in a set."""
    return np.bincount(row_ranks(rows))


def _duplicates(
    theirs: NDArray[np.intp], ours: Sequence[NDArray[np.intp]], unit: str
) -> Duplicates | None:
    size = min(int(counts.sum()) for counts in (theirs, *ours))
    if size < 2:
        return None
    shares = [repeats(counts, size) for counts in ours]
    return Duplicates(float(np.mean(shares)), repeats(theirs, size), size, unit)


def repeats(counts: NDArray[np.intp], size: int) -> float:
    """Return the expected share of repeats among `size` texts drawn from a set.

    Parameters
    ----------
    counts
        How often each different text occurs in the set; they sum to n, at least `size`.
    size
        Texts drawn, none of them twice.
    """
    n = int(counts.sum())
    times, texts = np.unique(counts, return_counts=True)
    missing = np.array([_missing(int(count), size, n) for count in times])
    different = float((texts * (1 - missing)).sum())
    # Where all differ, rounding may leave a little
    return max(0.0, round(1 - different / size, 12))


def _missing(times: int, size: int, n: int) -> float:
    """The chance that none of `times` equal texts is among `size` drawn of n."""
    if times > n - size:
        return 0.0
    steps = np.arange(min(times, size))
    # Whichever of C(n - c, h) / C(n, h) = C(n - h, c) / C(n, c) has fewer factors
    other = size if times <= size else times
    return float(np.prod((n - other - steps) / (n - steps)))


def measure_copies(reference: TextFacts, generated: Sequence[TextFacts]) -> Copies | None:
    """Count the generated texts that are in the reference."""
    ours = np.concatenate([facts.keys[facts.nonempty] for facts in generated])
    theirs = reference.keys[reference.nonempty]
    if not len(ours) or len(theirs) < 2:
        return None
    _, inverse, counts = np.unique(theirs, return_inverse=True, return_counts=True)
    expected = float((counts[inverse] > 1).mean())
    return Copies(float(np.isin(ours, theirs).mean()), expected, len(theirs), len(ours))


def measure_prompts(reference: TextFacts, generated: Sequence[TextFacts]) -> Prompts | None:
    """Count the texts that begin with a prompt named by a row; None where no row names one."""
    ours, theirs = _begun_by_own(generated), _begun_by_own([reference])
    if ours is None and theirs is None:
        return None
    known = (ours, theirs)
    if ours is None:
        ours = _begun_by(generated, _named([reference]))
    if theirs is None:
        theirs = _begun_by([reference], _named(generated))
    shares = [None if side is None else side.share for side in known]
    others = [
        None if named is not None else side.share
        for named, side in zip(known, (ours, theirs), strict=True)
    ]
    parts = [part for side in (ours, theirs) if side.begun.any() for part in side.parts]
    return Prompts(
        shares[1],
        shares[0],
        others[1],
        others[0],
        _continued(reference, generated) if shares[1] is None else None,
        float(np.median(parts)) if parts else 0.0,
    )


def measure_beginnings(
    reference: TextFacts, generated: Sequence[TextFacts], prompts: Prompts | None = None
) -> Beginnings | None:
    """Compare the beginnings shared across the sides with those shared within the reference."""
    uncopied = [_uncopied(facts, reference) for facts in generated]
    texts = [
        facts.beginnings[row]
        for facts, rows in zip(generated, uncopied, strict=True)
        for row in rows
    ]
    sizes = np.concatenate(
        [facts.words[rows] for facts, rows in zip(generated, uncopied, strict=True)]
    )
    theirs = reference.different_in_order
    if not texts or len(theirs) < 2:
        return None
    longest, among = longest_common(texts, theirs), reference.common_among
    shared = longest >= SHARED_WORDS
    lengths, both = longest[shared], False
    if shared.mean() >= NEARLY_ALL:
        others = longest_common(theirs, sorted(texts))
        both = bool((others >= SHARED_WORDS).mean() >= NEARLY_ALL)
    return Beginnings(
        float(shared.mean()),
        float((among >= SHARED_WORDS).mean()),
        float(np.median(lengths)) if len(lengths) else 0.0,
        len(theirs),
        len(texts),
        words_to_skip(lengths),
        both,
        float(np.median(lengths / sizes[shared])) if len(lengths) else 0.0,
        prompts is not None and prompts.apart,
        reference.unit,
    )


def words_to_skip(lengths: NDArray[np.int64]) -> int:
    """Return the number of words to skip so that few openings remain; 0 where unknown.

    Parameters
    ----------
    lengths
        The words of each opening, at most `BEGINNING` where no more are kept.
    """
    if not len(lengths):
        return 0
    same = same_length(lengths)
    words = int(np.quantile(lengths, NEARLY_ALL, method="higher")) if same is None else same
    return words if words < BEGINNING else 0


def same_length(lengths: NDArray[np.int64]) -> int | None:
    """Return the common length of the prompts behind shared openings, or None.

    An opening is longer than its prompt where a model goes on as the person did, and hardly ever
    shorter.
    """
    if len(lengths) < FEWEST_ALIKE:
        return None
    shortest = int(np.quantile(lengths, 0.01, method="lower"))
    return shortest if (lengths == shortest).mean() >= SAME_LENGTH else None


class _Begun(NamedTuple):
    """Which texts begin with a prompt, and for those that do, its part of their words."""

    begun: NDArray[np.bool_]
    parts: list[float]

    @property
    def share(self) -> float:
        """Of all of them."""
        return float(self.begun.mean()) if len(self.begun) else 0.0


def _begun_by_own(sets: Sequence[TextFacts]) -> _Begun | None:
    """Look at the texts whose row names a prompt of some length; None where none does."""
    begun, parts = [], []
    for facts in sets:
        rows = zip(facts.prompts or (), facts.beginnings, facts.words.tolist(), strict=False)
        for prompt, text, size in rows:
            words = prompt.count(" ") + 1
            if words >= SHORTEST_PROMPT:
                begun.append(text.startswith(prompt))
                parts += [words / size] if begun[-1] else []
    return _Begun(np.array(begun), parts) if begun else None


def _begun_by(sets: Sequence[TextFacts], prompts: Collection[str]) -> _Begun:
    """Look for any of these prompts at the beginning of every text."""
    lengths = sorted({prompt.count(" ") + 1 for prompt in prompts}, reverse=True)
    begun, parts = [], []
    for facts in sets:
        for text, size in zip(facts.beginnings, facts.words.tolist(), strict=True):
            words = text.split(" ")
            matches = (n for n in lengths if n <= len(words) and " ".join(words[:n]) in prompts)
            length = next(matches, 0)
            begun.append(length > 0)
            parts += [length / size] if length else []
    return _Begun(np.array(begun, bool), parts)


def _named(sets: Sequence[TextFacts]) -> set[str]:
    """The different prompts that rows name; shorter ones may begin a text by chance."""
    prompts = {prompt for facts in sets for prompt in facts.prompts or ()}
    return {prompt for prompt in prompts if prompt.count(" ") + 1 >= SHORTEST_PROMPT}


def _continued(reference: TextFacts, generated: Sequence[TextFacts]) -> float | None:
    """The share of the prompts that generated texts name which begin a reference text."""
    prompts = _named(generated)
    lengths = {prompt.count(" ") + 1 for prompt in prompts}
    texts = [text.split(" ") for text in reference.beginnings]
    begun = {" ".join(text[:n]) for text in texts for n in lengths}
    return len(prompts & begun) / len(prompts) if prompts else None


def _uncopied(facts: TextFacts, reference: TextFacts) -> NDArray[np.intp]:
    """The rows of the texts that are not in the reference as a whole."""
    return np.flatnonzero(facts.nonempty & ~np.isin(facts.keys, reference.keys))
