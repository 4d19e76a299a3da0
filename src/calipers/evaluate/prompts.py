"""Removing prompts from the texts that begin with them, on both sides alike.

Where rows name their prompt, a text that begins with it loses it; a set whose rows name none loses
the prompts that the other sets name; a reference that holds nearly all prompts, of one length, and
texts that nobody continued, loses as many words from each. Where no set names prompts, they show as
openings that a generated text shares with the reference: row i with row i where both sets have as
many rows, else with whichever reference text has the longest opening in common. The opening goes in
whole words, and a reference text and the generated ones that continue it lose equally many, so that
both sides go on at one place. A few of these words may be no prompt: where a model goes on as the
person did, nobody can tell. If most openings have the same length, that is taken for the prompt's,
and none is lost.

Letter case and white space do not matter for what is found; what stays of a text is as it was.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.evaluate.cautions.copies import (
    NEARLY_ALL,
    SHARED_WORDS,
    SHORTEST_PROMPT,
    same_length,
    words_to_skip,
)
from calipers.evaluate.cautions.texts import common_words, fold, percent
from calipers.samples import SampleSet
from calipers.samples.truncation import check_left
from calipers.samples.wording import KINDS, counted
from calipers.text.unicode_forms import as_seen
from calipers.unicode.written_words import (
    counted_words,
    is_unspaced,
    last_words,
    split_words,
    word_spans,
)

HARDLY_ANY = 0.01
"""A reference of which fewer texts begin with a known prompt holds continuations only."""

WHOLE = 10_000
"""Words of a text that are compared; there are hardly longer prompts."""

FOLDED = 4
"""Most characters by which the composed form of a word grows and shrinks when it is cut."""

OPTION = "`strip_prompt`"
SKIP = "`skip_words=N` removes the first words of every text"

Rows = NDArray[np.intp]


class Stripped(NamedTuple):
    """The sets of a run without their prompts."""

    reference: SampleSet | None
    generated: tuple[SampleSet, ...]
    train: SampleSet | None


def strip_prompts(
    reference: SampleSet | None, generated: Sequence[SampleSet], train: SampleSet | None = None
) -> Stripped:
    """Remove the prompts from all texts of a run.

    Parameters
    ----------
    reference, generated
        The sets as they were read, before any is cut to a size.
    train
        The training set, of which only prompts that rows name are taken off.

    Returns
    -------
    Stripped
        As many texts in the same order, those that were nothing but a prompt empty, and in each set
        a note of what was done.

    Raises
    ------
    InputError
        If a set holds no texts, or its prompts can neither be read from rows nor seen.
    """
    sides = [*([] if reference is None else [reference]), *generated]
    every = [*sides, *([] if train is None else [train])]
    for samples in every:
        if samples.kind != "texts":
            raise InputError(
                f"{samples.place}: {OPTION} shortens texts, but this set holds "
                f"{KINDS[samples.kind]}"
            )
    if any(samples.prompts is not None for samples in sides):
        known = KnownPrompts.of(every)
        return Stripped(
            None if reference is None else known.off_reference(reference),
            tuple(map(known.off_generated, generated)),
            None if train is None else known.off(train).stripped(),
        )
    if reference is None:
        raise InputError(
            f"{generated[0].place}: {OPTION} needs the prompts in the rows, in the field "
            f"'prompt', where there is no reference that could share them; {SKIP}"
        )
    first, others = _without_openings(reference, generated)
    return Stripped(first, others, train)


@dataclass(frozen=True, eq=False)
class Cut:
    """The positions at which the texts of a set begin after their prompts.

    Attributes
    ----------
    samples
        The set.
    starts
        For each text the place of its first character that stays; 0 where it has no prompt.
    what
        What is taken off, for the note: ``"the prompt in its row"``.
    size
        Of what is taken off, for the note.
    """

    samples: SampleSet
    starts: NDArray[np.int64]
    what: str
    size: str = ""

    @property
    def share(self) -> float:
        """The share of texts with a prompt, among texts that are not empty."""
        words = self.samples.word_counts()
        assert words is not None
        return float((self.starts > 0).sum() / max(1, (words > 0).sum()))

    def stripped(self) -> SampleSet:
        """Return the texts from these positions on.

        Raises
        ------
        InputError
            If most of them are empty then.
        """
        samples, n = self.samples, len(self.samples)
        left = [text[start:] for text, start in zip(samples, self.starts.tolist(), strict=True)]
        empty = sum(
            start > 0 and not text.strip()
            for text, start in zip(left, self.starts.tolist(), strict=True)
        )
        check_left(samples, left, OPTION)
        return replace(
            SampleSet.from_texts(left, name=samples.name, source=samples.source),
            groups=samples.groups,
            clusters=samples.clusters,
            prompts=samples.prompts,
            reading_notes=(*samples.reading_notes, self._note(n, empty)),
        )

    def _note(self, n: int, empty: int) -> str:
        count = int((self.starts > 0).sum())
        if not count:
            return f"no text begins with {self.what}"
        of = "every text" if count == n else f"{count:,} of {counted(n, 'text')}"
        note = f"{self.what} was left out of {of}{self.size}"
        if empty:
            verb = "is" if empty == 1 else "are"
            note += f"; {counted(empty, 'text')} had no more and {verb} empty"
        return note


# ------------------------------------------------------------------ prompts that rows name


@dataclass(frozen=True, eq=False)
class KnownPrompts:
    """The prompts that any rows of a run name, folded, with their numbers of words."""

    prompts: frozenset[str]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, sets: Iterable[SampleSet]) -> KnownPrompts:
        """Collect the prompts, except those so short that a text may begin with them by chance."""
        columns = [samples.prompts for samples in sets if samples.prompts is not None]
        folded = {fold(prompt, WHOLE) for column in columns for prompt in column}
        lengths = {prompt: prompt.count(" ") + 1 for prompt in folded}
        long = {prompt: words for prompt, words in lengths.items() if words >= SHORTEST_PROMPT}
        return cls(frozenset(long), tuple(sorted(set(long.values()), reverse=True)))

    def off(self, samples: SampleSet) -> Cut:
        """Find where the texts of a set continue after their prompts."""
        if samples.prompts is not None:
            pairs = zip(samples, samples.prompts, strict=True)
            starts = [behind_prompt(text, prompt) for text, prompt in pairs]
            return Cut(samples, np.array(starts, np.int64), "the prompt in its row")
        starts = [_behind_words(text, self._words(text)) for text in samples]
        return Cut(samples, np.array(starts, np.int64), "a prompt that another set names")

    def off_generated(self, samples: SampleSet) -> SampleSet:
        """Strip the prompts of a generated set.

        Raises
        ------
        InputError
            If its rows name no prompts, and not nearly all texts begin with a known one.
        """
        cut = self.off(samples)
        if samples.prompts is None and cut.share < NEARLY_ALL:
            raise InputError(
                f"{samples.place}: its rows have no field 'prompt', and {percent(cut.share)} of "
                f"its texts begin with a prompt that another set names ({OPTION} asks for "
                f"{percent(NEARLY_ALL)}): name the prompts, or {SKIP}"
            )
        return cut.stripped()

    def off_reference(self, samples: SampleSet) -> SampleSet:
        """Strip the prompts of the reference, if its texts contain them.

        Raises
        ------
        InputError
            If its rows name no prompts, and only some of its texts begin with a known one.
        """
        cut = self.off(samples)
        some = samples.prompts is None and HARDLY_ANY <= cut.share < NEARLY_ALL
        if some and len(self.lengths) == 1 and self._begun(samples) >= NEARLY_ALL:
            return self._same_words_off(samples).stripped()
        if some:
            raise InputError(
                f"{samples.place}: its rows have no field 'prompt', and only "
                f"{percent(cut.share)} of its texts begin with a prompt that a generated set names "
                f"({OPTION} asks for {percent(NEARLY_ALL)}), so that the others would keep theirs: "
                f"name the prompts, or {SKIP}"
            )
        return cut.stripped()

    def _begun(self, samples: SampleSet) -> float:
        """The share of the known prompts, all of one length, that begin a text of a set."""
        begun = {fold(text, self.lengths[0]) for text in samples}
        return len(self.prompts & begun) / len(self.prompts)

    def _same_words_off(self, samples: SampleSet) -> Cut:
        """Take as many words off every text as all known prompts have."""
        words = self.lengths[0]
        starts = [_behind_words(text, words) for text in samples]
        what = f"as much as the prompts have, {counted_words(words, samples.word_unit)},"
        return Cut(samples, np.array(starts, np.int64), what)

    def begun_by(self, text: str) -> str | None:
        """Return the longest known prompt, folded, that a text begins with; None if none."""
        if not self.lengths:
            return None
        words = fold(text, self.lengths[0]).split(" ")
        begun = (" ".join(words[:length]) for length in self.lengths if length <= len(words))
        return next((prompt for prompt in begun if prompt in self.prompts), None)

    def _words(self, text: str) -> int:
        """The words of the longest known prompt that a text begins with; 0 for none."""
        prompt = self.begun_by(text)
        return 0 if prompt is None else prompt.count(" ") + 1


def behind_prompt(text: str, prompt: str) -> int:
    """Find the character at which a text continues after its prompt.

    Where the prompt ends within a word, that word stays whole. 0 where the text does not begin with
    the prompt, or the prompt is empty.

    Examples
    --------
    >>> text = "Once  upon a Time, there"
    >>> text[behind_prompt(text, "once upon a time,"):]
    'there'
    >>> text[behind_prompt(text, "Once upon a Ti"):]
    'Time, there'
    """
    words = split_words(prompt)
    spans = list(islice(word_spans(text), len(words)))
    if not words or len(spans) < len(words):
        return 0
    first = [text[start:stop] for start, stop in spans[:-1]]
    if any(_folded(a) != _folded(b) for a, b in zip(first, words, strict=False)):
        return 0
    start, stop = spans[-1]
    end = _end_of(_folded(words[-1]), text[start:stop])
    if end is None or (end == 0 and not first):
        return 0
    return len(text) - len(text[start + end :].lstrip())


def _end_of(last: str, word: str) -> int | None:
    """Where a prompt whose last word is `last` ends in a word of a text; None where nowhere."""
    if not _folded(word).startswith(last):
        return None
    # Folding changes lengths a little, and unseen characters have none: the last end is taken
    reached = bisect_right(range(1, len(word) + 1), len(last), key=lambda n: len(_folded(word[:n])))
    ends = range(reached, max(0, reached - FOLDED), -1)
    end = next((end for end in ends if _folded(word[:end]) == last), None)
    inside = end is not None and end < len(word) and _one_word(word[end - 1 : end + 1])
    return 0 if inside else end


def _folded(word: str) -> str:
    return as_seen(word).casefold()


def _one_word(pair: str) -> bool:
    """Whether no word ends between two signs: one with its mark, or letters of a spaced script."""
    if category(pair[1])[0] == "M":
        return True
    return pair.isalnum() and not any(map(is_unspaced, pair))


def _behind_words(text: str, words: int) -> int:
    return len(text) - len(last_words(text, words)) if words else 0


# ------------------------------------------------------------------ openings in common


@dataclass(frozen=True, eq=False)
class Openings:
    """Beginnings that the texts of one generated set share with the reference.

    Attributes
    ----------
    partner
        For each text the reference text that it is held against; -1 where there is none.
    words
        The words that both begin with, 0 where those are too few to count.
    copies
        Which texts are the same as their partner to the end.
    """

    partner: Rows
    words: NDArray[np.int64]
    copies: NDArray[np.bool_]

    @property
    def sharing(self) -> NDArray[np.bool_]:
        """Which texts share an opening and then differ."""
        return (self.words > 0) & ~self.copies


def _without_openings(
    reference: SampleSet, generated: Sequence[SampleSet]
) -> tuple[SampleSet, tuple[SampleSet, ...]]:
    theirs = [fold(text, WHOLE) for text in reference]
    ours = [[fold(text, WHOLE) for text in samples] for samples in generated]
    matches = [openings(texts, theirs) for texts in ours]
    for samples, texts, shared in zip(generated, ours, matches, strict=True):
        _check_shared(samples, texts, shared)
    cuts = _words_to_cut(len(theirs), matches)
    _cut_without_partner(cuts, theirs, ours)
    if (length := same_length(cuts.reference[cuts.reference > 0])) is not None:
        alike = [
            length * ((cut > 0) | shared.copies)
            for cut, shared in zip(cuts.generated, matches, strict=True)
        ]
        cuts = Words(np.full(len(theirs), length), alike)
    for samples, texts, words, shared in zip(generated, ours, cuts.generated, matches, strict=True):
        _check_alike(samples, texts, (words > 0) | shared.copies)
    sides = zip((reference, *generated), (cuts.reference, *cuts.generated), strict=True)
    first, *others = (_opening_cut(samples, words) for samples, words in sides)
    if first.share < NEARLY_ALL:
        raise InputError(
            f"{reference.place}: only {percent(first.share)} of its texts share an opening with "
            f"a generated text ({OPTION} asks for {percent(NEARLY_ALL)}), so that the others would "
            f"keep their prompts: {_skip(cuts.reference)}"
        )
    return first.stripped(), tuple(cut.stripped() for cut in others)


class Words(NamedTuple):
    """The number of words removed from each text of both sides."""

    reference: NDArray[np.int64]
    generated: list[NDArray[np.int64]]


def openings(ours: Sequence[str], theirs: Sequence[str]) -> Openings:
    """Compare texts with the reference, row by row, or each with its most similar text.

    Parameters
    ----------
    ours, theirs
        The folded texts of the generated set and of the reference.
    """
    if len(ours) == len(theirs):
        words = np.array([common_words(*pair) for pair in zip(ours, theirs, strict=True)], np.int64)
        words[words < SHORTEST_PROMPT] = 0
        both = np.array([bool(a and b) for a, b in zip(ours, theirs, strict=True)])
        if both.any() and (words[both] > 0).mean() >= NEARLY_ALL:
            copies = both & np.array([a == b for a, b in zip(ours, theirs, strict=True)])
            return Openings(np.arange(len(ours)), words, copies)
    rows = sorted(range(len(theirs)), key=theirs.__getitem__)
    in_order = [theirs[row] for row in rows]
    nearest = [_nearest(text, in_order) for text in ours]
    words = np.array([words for _, words in nearest], np.int64)
    words[words < SHARED_WORDS] = 0
    partner = np.array([rows[place] for place, _ in nearest], np.intp)
    copies = np.array([text == theirs[row] for text, row in zip(ours, partner, strict=True)])
    return Openings(np.where(words > 0, partner, -1), words, copies & (words > 0))


def _nearest(text: str, in_order: Sequence[str]) -> tuple[int, int]:
    """Find the place of the sorted text with the longest opening in common, and its words."""
    place = bisect_left(in_order, text)
    near = [row for row in (place - 1, place) if 0 <= row < len(in_order)]
    return max(((row, common_words(text, in_order[row])) for row in near), key=lambda x: x[1])


def _check_shared(samples: SampleSet, texts: Sequence[str], openings: Openings) -> None:
    """Refuse a generated set whose prompts cannot be seen.

    Raises
    ------
    InputError
        Names the set, the rule and what to do.
    """
    filled = max(1, sum(map(bool, texts)))
    if openings.copies.sum() > filled / 2:
        raise InputError(
            f"{samples.place}: most of its texts occur whole in the reference, so {OPTION} cannot "
            "tell prompts from continuations"
        )
    share = float(openings.sharing.sum() / (filled - openings.copies.sum()))
    if share < NEARLY_ALL:
        raise InputError(
            f"{samples.place}: {OPTION} sees no prompts: its rows have no field 'prompt', and "
            f"{percent(share)} of its texts begin as a reference text does, but "
            f"{percent(NEARLY_ALL)} must share {SHORTEST_PROMPT} words with the same row or "
            f"{SHARED_WORDS} with any; {_skip(openings.words)}"
        )


def _check_alike(samples: SampleSet, texts: Sequence[str], done: NDArray[np.bool_]) -> None:
    """Refuse a generated set whose prompts are others than those of the rest.

    Raises
    ------
    InputError
        Names the set and what to do.
    """
    filled = np.array([bool(text) for text in texts])
    if done[filled].mean() < NEARLY_ALL:
        raise InputError(
            f"{samples.place}: shares shorter openings with the reference than another set does, "
            f"so {OPTION} cannot cut both where the reference is cut: compare it separately, or "
            f"{SKIP}"
        )


def words_of_prompts(
    theirs: Sequence[str], ours: Sequence[str], matches: Openings
) -> tuple[Rows, Rows]:
    """Find which texts continue the prompt of which others.

    Returns
    -------
    partner, continued
        For each generated text the reference text whose prompt it continues, shape ``(m,)``; for
        each reference text that no generated one is held against, a generated text of the same
        prompt, shape ``(n,)``. -1 where there is none.
    """
    cuts = _words_to_cut(len(theirs), [matches])
    partner = np.where((cuts.generated[0] > 0) | matches.copies, matches.partner, -1)
    continued = np.full(len(theirs), -1, np.intp)
    for row, text, _ in _sharing_prompt(cuts, theirs, [ours]):
        continued[row] = text
    return partner, continued


def _words_to_cut(n: int, matches: Sequence[Openings]) -> Words:
    """Let a reference text and those that continue it lose the words that all of them share.

    A text that shares less than half as much as others do with its partner begins with another
    prompt, and stays.
    """
    longest, shortest = np.zeros(n, np.int64), np.full(n, WHOLE + 1)
    for shared in matches:
        np.maximum.at(longest, shared.partner[shared.sharing], shared.words[shared.sharing])
    sharing = [shared.sharing & (2 * shared.words >= longest[shared.partner]) for shared in matches]
    for shared, rows in zip(matches, sharing, strict=True):
        np.minimum.at(shortest, shared.partner[rows], shared.words[rows])
    reference = np.where(shortest <= WHOLE, shortest, 0)
    generated = [
        np.where(rows | shared.copies, reference[shared.partner], 0)
        for shared, rows in zip(matches, sharing, strict=True)
    ]
    return Words(reference, generated)


def _cut_without_partner(cuts: Words, theirs: Sequence[str], ours: Sequence[Sequence[str]]) -> None:
    """Cut reference texts that nobody continues, but whose prompt another text of theirs shares."""
    for row, _, words in _sharing_prompt(cuts, theirs, ours):
        cuts.reference[row] = words


def _sharing_prompt(
    cuts: Words, theirs: Sequence[str], ours: Sequence[Sequence[str]]
) -> list[tuple[int, int, int]]:
    """Find reference texts that nobody continues, a text that shares their prompt, and its words.

    Generated texts are counted through all sets.
    """
    rows = np.flatnonzero(cuts.reference == 0)
    if not len(rows):
        return []
    words = np.concatenate(cuts.generated).tolist()
    texts = [text for side in ours for text in side]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    in_order = [texts[row] for row in order]
    pairs = []
    for row in rows.tolist():
        place, shared = _nearest(theirs[row], in_order)
        cut = min(shared, words[order[place]])
        if cut >= SHARED_WORDS:
            pairs.append((row, order[place], cut))
    return pairs


def _opening_cut(samples: SampleSet, words: NDArray[np.int64]) -> Cut:
    starts = [_behind_words(*pair) for pair in zip(samples, words.tolist(), strict=True)]
    size, lost = "", words[words > 0]
    if len(lost):
        low, high, median = int(lost.min()), int(lost.max()), float(np.median(lost))
        unit = samples.word_unit
        size = f": median {median:g} {unit}, {low} to {high}"
        size = f": {counted_words(low, unit)}" if low == high else size
    what = "the opening shared with the other side"
    return Cut(samples, np.array(starts, np.int64), what, size)


def _skip(words: NDArray[np.int64]) -> str:
    """Say how to take off as many words as are shared."""
    shared = words[words > 0]
    if 2 * len(shared) < len(words) or not (count := words_to_skip(shared)):
        return SKIP
    return f"`skip_words={count}` removes that many words from every text"
