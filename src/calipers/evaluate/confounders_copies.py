"""What samples have in common: repeats within a set, copies and beginnings on both sides, prompts.

**Duplicates and copies.** Texts are compared as a whole, letter case and white space aside; a copy
with one changed word is none (:func:`calipers.text.near_texts` finds those). Empty texts are left
out: they have a note of their own. The share of repeats rises with the number of texts, so the
reference's is given as it would be in a random part of it of the generated set's size, which needs
no drawing: a text that stands c times among n is missing in such a part of h with the chance
C(n - c, h) / C(n, h). Rows of embeddings that are given repeat an earlier one where all their
numbers do. A copied text is in the reference as well. People write the same short texts too, so the
share is held against that of reference texts which stand in the reference a second time.

**Prompts and beginnings.** What both sides have in common in a prompt is no merit of the model.
Where prompts are known, a text that begins with its own prompt is seen at once, and so is a
reference that begins with the prompts which generated rows name. Where they are not,
prompts show as long beginnings that a generated text shares with a reference text: five words and
more, far more often than two reference texts share them. Texts that stand in the reference as a
whole are copies and not counted there. Copies of which a few words were changed look the same:
which of the two it is, only a person can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_texts import (
    BEGINNING,
    TextFacts,
    beyond_chance,
    longest_common,
    percent,
)
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import row_ranks
from calipers.results.caution import Caution, brief_share

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

RAISES = "this raises precision, recall, MAUVE and BLEU alike"


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
        """Say how many there are beyond the reference's, and what to do."""
        shares, sizes = (self.generated, self.reference), (self.size, self.size)
        if not beyond_chance(*shares, *sizes, least=MORE_REPEATS):
            return None
        text = (
            f"{percent(self.generated)} of its {self.unit} repeat an earlier one of the set, "
            f"{percent(self.reference)} of as many reference {self.unit} do; repeats lower "
            "coverage, recall, MAUVE and every measure of variety, and with --projection union "
            "precision and density too: where they come from sampling the same prompt, keep one "
            "of each"
        )
        return Caution("duplicates", f"{brief_share(self.generated)} duplicates", text)


@dataclass(frozen=True)
class Copies:
    """The share of generated texts that stand in the reference too, 0 to 1.

    Attributes
    ----------
    generated
        Of the generated texts.
    expected
        Of the reference texts, those that stand in the reference a second time.
    n, m
        Texts on the two sides.
    """

    generated: float
    expected: float
    n: int
    m: int

    def caution(self) -> Caution | None:
        """Say how many there are beyond what people repeat, and what to do."""
        if not beyond_chance(self.generated, self.expected, self.m, self.n, least=MORE_COPIES):
            return None
        text = (
            f"{percent(self.generated)} of its texts stand in the reference word for word "
            f"({percent(self.expected)} of the reference's texts stand there twice); copies raise "
            "every score: compare with texts that the model cannot have seen"
        )
        return Caution("copies", f"{brief_share(self.generated)} copied from the reference", text)


@dataclass(frozen=True)
class Prompts:
    """The share of texts that begin with their own prompt, 0 to 1; None where none is known.

    Attributes
    ----------
    reference, generated
        Of the texts on the two sides.
    continued
        Where the reference names no prompts: the share of those that the generated rows name which
        begin a text of the reference.
    """

    reference: float | None
    generated: float | None
    continued: float | None = None

    def caution(self) -> Caution | None:
        """Say on which side prompts stand in the texts, and what to do."""
        ours, theirs = self.generated or 0.0, self.reference or 0.0
        if ours <= MORE_BEGINNINGS and (self.continued or 0.0) > MORE_CONTINUED:
            return self._kept_by_reference()
        if max(ours, theirs) <= MORE_BEGINNINGS:
            return None
        if min(ours, theirs) > MORE_BEGINNINGS:
            effect = RAISES
        else:
            effect = "this alone sets the two sides apart"
        text = (
            f"{percent(ours)} of its texts and {percent(theirs)} of the reference's begin with "
            f"their own prompt; {effect}: --strip-prompt takes it off, on both sides"
        )
        whose, share = ("", ours) if ours > MORE_BEGINNINGS else ("reference: ", theirs)
        brief = f"{whose}{brief_share(share)} begin with their prompt"
        return Caution("prompts", brief, text, "--strip-prompt")

    def _kept_by_reference(self) -> Caution:
        """Say that only the reference has the prompts in its texts."""
        text = (
            f"{percent(self.continued or 0.0)} of the prompts that its rows name begin a text of "
            "the reference, while its own texts go on behind them; this alone sets the two sides "
            "apart: --strip-prompt takes the prompts off the reference too"
        )
        return Caution("prompts", "the reference keeps its prompts", text, "--strip-prompt")


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
    """

    generated: float
    expected: float
    words: float
    n: int
    m: int
    skip: int = 0
    both: bool = False

    def caution(self) -> Caution | None:
        """Say how many there are, how long they are, and what to do."""
        if not beyond_chance(self.generated, self.expected, self.m, self.n, least=MORE_BEGINNINGS):
            return None
        many = f"{self.words:g}" if self.words < BEGINNING else f"{BEGINNING} and more"
        text = (
            f"{percent(self.generated)} of its texts begin as a reference text does, with {many} "
            f"words in common ({percent(self.expected)} of the reference's texts among "
            f"themselves); {RAISES}: if it is a prompt, {self._advice}; if not, look for copies"
        )
        brief = f"{brief_share(self.generated)} share an opening with the reference"
        return Caution("openings", brief, text, self._remedy)

    @property
    def _remedy(self) -> str:
        if self.both:
            return "--strip-prompt"
        return f"--skip-words {self.skip}" if self.skip else ""

    @property
    def _advice(self) -> str:
        if self.both:
            return "--strip-prompt takes it off both sides"
        if not self.skip:
            return "compare the continuations only"
        return f"{self._remedy} takes that many words off every text"


def measure_duplicates(reference: TextFacts, generated: Sequence[TextFacts]) -> Duplicates | None:
    """Hold the repeats within each file against the reference's at the same size."""
    theirs, *ours = (
        np.unique(facts.keys[facts.nonempty], return_counts=True)[1]
        for facts in (reference, *generated)
    )
    return _duplicates(theirs, ours, "texts")


def measure_repeated_rows(reference: Points, generated: Sequence[Points]) -> Duplicates | None:
    """The same for embeddings: rows that equal an earlier one in every number."""
    return _duplicates(_row_counts(reference), [_row_counts(rows) for rows in generated], "rows")


def _row_counts(rows: Points) -> NDArray[np.intp]:
    """How often each different row stands in a set."""
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
    """Give the share of repeats that is expected among `size` texts drawn from a set.

    Parameters
    ----------
    counts
        How often each different text stands in the set; they sum to n, at least `size`.
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
    """Count the texts that begin with their own prompt; None where no prompts are known."""
    ours, theirs = _prompted(generated), _prompted([reference])
    if ours is None and theirs is None:
        return None
    return Prompts(theirs, ours, _continued(reference, generated) if theirs is None else None)


def measure_beginnings(reference: TextFacts, generated: Sequence[TextFacts]) -> Beginnings | None:
    """Hold what generated texts share with reference texts against what these share."""
    texts = [text for facts in generated for text in _uncopied(facts, reference)]
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
    )


def words_to_skip(lengths: NDArray[np.int64]) -> int:
    """Give the number of words that leaves hardly any of these openings; 0 where that is unknown.

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
    """Give the length of the prompts behind shared openings, where they have one; else None.

    An opening is longer than its prompt where a model goes on as the person did, and hardly ever
    shorter.
    """
    if len(lengths) < FEWEST_ALIKE:
        return None
    shortest = int(np.quantile(lengths, 0.01, method="lower"))
    return shortest if (lengths == shortest).mean() >= SAME_LENGTH else None


def _prompted(sets: Sequence[TextFacts]) -> float | None:
    """The share of texts behind a prompt of some length that begin with it."""
    begun = [
        text.startswith(prompt)
        for facts in sets
        for prompt, text in zip(facts.prompts or (), facts.beginnings, strict=False)
        if prompt.count(" ") + 1 >= SHORTEST_PROMPT
    ]
    return float(np.mean(begun)) if begun else None


def _continued(reference: TextFacts, generated: Sequence[TextFacts]) -> float | None:
    """The share of the prompts that generated texts name which begin a reference text."""
    prompts = {prompt for facts in generated for prompt in facts.prompts or ()}
    prompts = {prompt for prompt in prompts if prompt.count(" ") + 1 >= SHORTEST_PROMPT}
    lengths = {prompt.count(" ") + 1 for prompt in prompts}
    texts = [text.split(" ") for text in reference.beginnings]
    begun = {" ".join(text[:n]) for text in texts for n in lengths}
    return len(prompts & begun) / len(prompts) if prompts else None


def _uncopied(facts: TextFacts, reference: TextFacts) -> list[str]:
    """The beginnings of the texts that are not in the reference as a whole."""
    kept = facts.nonempty & ~np.isin(facts.keys, reference.keys)
    return [facts.beginnings[row] for row in np.flatnonzero(kept).tolist()]
