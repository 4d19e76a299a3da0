"""Systems that hold only samples of the reference, and systems with identical samples.

A system that is the reference, given again, in another format or as one of the published systems of
which one was chosen as the reference, has the best score by every metric and says nothing. It is
shown, and no verdict, mark, scale or rank takes it for a system.

So is every system all of whose samples are in the reference, none more often than there: a copy, a
copy in another order, a part. Texts are the same whatever their letter case and white space, images
that are files where their bytes are, embeddings where all their numbers are. Where more than a
tenth of the reference repeats itself, as labels and other short answers do, a system may hold the
same by merit, so there it must be the same samples in the same order.

A system with a single sample of its own is compared as any other, however many of its samples are
verbatim copies: which share would be too large, nobody can tell. A caution gives that share
(:mod:`calipers.evaluate.cautions.copies`), and from a quarter of the scale on stands with every
verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.row_sets import row_ranks
from calipers.results.comparison import Comparison
from calipers.results.texts import TextComparison
from calipers.samples import SampleSet
from calipers.wording.words import Words, in_speech, joined

ONCE = 0.9
"""The share of the reference's samples that must occur there once for a part to be known as one."""

Keys = NDArray[Any]
"""One for each sample, of any type that can be sorted; equal samples have equal ones."""


NOTHING: tuple[Keys, Keys] = np.arange(1), np.arange(1, 2)
"""Keys of samples none of which are equal."""


def holds_only(
    reference: SampleSet,
    generated: Sequence[SampleSet],
    keys: tuple[Keys, Sequence[Keys]] | None = None,
) -> bool:
    """Tell whether all samples of a system are the reference's, in each of its files.

    Parameters
    ----------
    reference, generated
        The reference, and the files of the system, at least one.
    keys
        Of the samples that are not empty, on both sides; they are made where they are not known.
    """
    if all(file.content_hash == reference.content_hash for file in generated):
        return True
    if any(file.kind != reference.kind or len(file) > len(reference) for file in generated):
        return False
    if keys is not None:
        return all(is_part(keys[0], ours) for ours in keys[1])
    return all(is_part(*_keys(reference, file)) for file in generated)


def is_part(reference: Keys, generated: Keys) -> bool:
    """Tell whether samples are some of the reference's, most of which must differ from each other.

    Examples
    --------
    >>> is_part(np.arange(20), np.array([7, 3]))
    True
    >>> is_part(np.arange(20), np.array([3, 3]))
    False
    """
    known, counts = np.unique(reference, return_counts=True)
    if not len(generated) or not len(known) or (counts == 1).sum() < ONCE * len(reference):
        return False
    ours, times = np.unique(generated, return_counts=True)
    places = np.searchsorted(known, ours).clip(max=len(known) - 1)
    return bool(((known[places] == ours) & (times <= counts[places])).all())


def same_systems(result: Comparison | TextComparison) -> list[list[str]]:
    """Return the names of systems with the same samples in the same order, group by group.

    Systems that hold only samples of the reference are left out.
    """
    groups: dict[str, list[str]] = {}
    for system in result.systems:
        if system.summary.content_hash and not system.is_reference:
            groups.setdefault(system.summary.content_hash, []).append(system.name)
    return [names for names in groups.values() if names[1:]]


def about_identical(
    result: Comparison | TextComparison, unit: str
) -> Iterator[tuple[Literal["reference", "same"], tuple[str, ...], Words]]:
    """Report systems with only samples of the reference, and systems with identical samples.

    `unit` is what the samples are called.
    """
    copies = tuple(system.name for system in result.systems if system.is_reference)
    if copies:
        verbs = ("holds", "is") if len(copies) == 1 else ("hold", "are")
        text = f" {verbs[0]} only {unit} of the reference and {verbs[1]} not ranked."
        yield "reference", copies, joined(in_speech(copies), (text,))
    groups = same_systems(result)
    if groups:
        first, *others = map(in_speech, groups)
        more = (joined(("; so do ",), names, (" among themselves",)) for names in others)
        words = joined(first, (f" hold the same {unit}",), *more, (".",))
        yield "same", tuple(chain(*groups)), words


def _keys(reference: SampleSet, generated: SampleSet) -> tuple[Keys, Keys]:
    theirs, ours = reference.vectors, generated.vectors
    if theirs is None or ours is None:
        return reference.row_hashes(), generated.row_hashes()
    if theirs.shape[1] != ours.shape[1]:
        return NOTHING
    # Of a million rows hardly one begins as another does, unless it is a copy
    begin = np.flatnonzero(theirs[:, 0] == ours[0, 0])
    if not (theirs[begin] == ours[0]).all(axis=1).any():
        return NOTHING
    kind = np.result_type(theirs, ours)
    ranks = row_ranks(theirs.astype(kind, copy=False), ours.astype(kind, copy=False))
    return ranks[: len(theirs)], ranks[len(theirs) :]
