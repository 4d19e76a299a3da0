"""Texts cut to one length in words, or without their first words.

A text ends at the end of its W-th word; the white space between words stays as it is, that behind
the last word goes. Words are what white space separates and, of scripts without spaces, characters
(:mod:`calipers.unicode.written_words`), as :meth:`SampleSet.word_counts` counts them. Texts of
fewer words stay, and so do empty ones: where one side has many of them, lengths still differ. A cut
text may break off in a sentence, on both sides alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.samples.columns import StringColumn
from calipers.samples.kinds import TextData
from calipers.samples.sample_set import SampleSet
from calipers.samples.wording import KINDS, counted, describe
from calipers.unicode.written_words import counted_words, first_words, last_words


def match_length(samples: SampleSet, words: int) -> SampleSet:
    """Cut every text to its first words, on both sides and in the training set.

    Parameters
    ----------
    samples
        Texts. They are cut a part at a time, into a new column.
    words
        How many words of a text stay, 1 or more.

    Returns
    -------
    SampleSet
        As many samples in the same order, with their labels, prompts and notes, and a note of how
        many texts were cut and how many are shorter. Its content hash is that of the cut texts.

    Raises
    ------
    InputError
        If `words` is no whole number of at least 1, or the samples are no texts.
    """
    most = check_words(words)
    column = samples.texts
    if column is None:
        raise InputError(
            f"{samples.name}: `match_length` cuts texts, but this set holds {KINDS[samples.kind]}"
        )
    cut = StringColumn.of(first_words(text, most) for text in column)
    counts = samples.word_counts()
    assert counts is not None
    length = counted_words(most, samples.word_unit)
    note = _note(len(samples), int((counts > most).sum()), int((counts < most).sum()), length)
    return replace(samples, data=TextData(cut), reading_notes=(*samples.reading_notes, note))


def skip_words(samples: SampleSet, words: int) -> SampleSet:
    """Remove the first words of every text, such as a prompt common to all.

    Parameters
    ----------
    samples
        Texts.
    words
        How many words go, 1 or more, with the white space around them.

    Returns
    -------
    SampleSet
        As many samples in the same order, with their labels, prompts and notes, and a note of how
        many texts are left empty. Its content hash is that of what is left.

    Raises
    ------
    InputError
        If the samples are no texts.
    """
    column = samples.texts
    if column is None:
        raise InputError(
            f"{samples.name}: `skip_words` shortens texts, but this set holds {KINDS[samples.kind]}"
        )
    left = StringColumn.of(last_words(text, words) for text in column)
    empty = int((np.diff(left.ends) == 0).sum())
    were = "was" if words == 1 else "were"
    note = f"the first {counted_words(words, samples.word_unit)} of every text {were} left out"
    if empty:
        note += f"; {counted(empty, 'text')} had no more and {'is' if empty == 1 else 'are'} empty"
    return replace(samples, data=TextData(left), reading_notes=(*samples.reading_notes, note))


def check_left(given: SampleSet, left: Iterable[str], option: str) -> None:
    """Refuse an option that removes all words of most texts.

    Parameters
    ----------
    given
        A set of texts before it.
    left
        The texts after it.
    option
        What took them, as messages name it.

    Raises
    ------
    InputError
        If more than half of the texts that had words have none now.
    """
    before = given.word_counts()
    assert before is not None
    filled = int(np.count_nonzero(before))
    emptied = filled - sum(bool(text.strip()) for text in left)
    if emptied > filled / 2:
        raise InputError(
            f"{given.place}: {option} leaves nothing of {emptied:,} of its "
            f"{counted(filled, 'text')}; at most half of them may be left empty, since scores "
            "would be meaningless"
        )


def check_filled(reference: SampleSet) -> None:
    """Refuse a reference of mostly empty texts.

    Raises
    ------
    InputError
        If more than half of its texts are.
    """
    counts = reference.word_counts()
    if counts is None:
        return
    empty = int(np.count_nonzero(counts == 0))
    if empty > len(counts) / 2:
        field = "" if reference.field is None else f" in the field {reference.field!r}"
        raise InputError(
            f"{reference.place}: {empty:,} of {counted(len(counts), 'text')} of the reference are "
            f"empty{field}; at most half of them may be: leave those rows out, or name another "
            "field with `field`"
        )


def check_words(words: Any) -> int:
    """Return a number of words as an int.

    Raises
    ------
    InputError
        If it is not a whole number of at least 1.
    """
    whole = isinstance(words, Integral) and not isinstance(words, bool)
    if whole and words >= 1:
        return int(words)
    description = words if whole else describe(words)
    raise InputError(
        f"`match_length` must be a whole number of words, at least 1; found {description}"
    )


def _note(n: int, cut: int, shorter: int, length: str) -> str:
    """Say what was cut, and how many texts are shorter all the same."""
    if cut == n:
        return f"every text was cut to its first {length}"
    verb = "was" if cut == 1 else "were"
    done = f"{cut:,} of {counted(n, 'text')} {verb} cut to their first {length}"
    if not shorter:
        return f"{done}; the others have as many"
    has, them = ("has", "it") if shorter == 1 else ("have", "them")
    return f"{done}; {shorter:,} {has} fewer, so that lengths still differ by {them}"
