"""Rows of the reference and of a generated set that answer the same prompt.

Prompts are known in three ways, tried in this order:

``"prompt"``
    Rows name them. Where the rows of one side alone do, a text of the other that begins with one of
    these prompts has it.
``"paired"``
    A person says that row i of both sides answers prompt i.
``"openings"``
    Nearly all texts of one side begin as a text of the other does
    (:mod:`calipers.evaluate.prompts`): row i as row i, or each as the text with which it shares
    most words.

Look at the sets as they were read: texts that lost their prompts do not show them any more.
:meth:`SharedPrompts.rows` then follows the rows that stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.cautions.copies import MORE_BEGINNINGS, SHARED_WORDS, SHORTEST_PROMPT
from calipers.evaluate.cautions.texts import BEGINNING, fold
from calipers.evaluate.prompts import KnownPrompts, openings, words_of_prompts
from calipers.results.prompts import PromptOverlap
from calipers.samples import SampleSet

By = Literal["prompt", "openings", "paired"]
Numbers = NDArray[np.int64]
Keys = list[str | None]

WHOLE = 10_000
"""Words of a prompt that are compared; there are hardly longer ones."""

NEARLY_ALL = 0.99
"""Rows that answer one prompt by the prompts that they name, before a person's word on their order
is not needed."""

MOST = 0.5
"""The share of a side that must begin as the other does before a closer look pays, and of generated
rows that must begin in ways of their own: a collapsed system begins all its texts in a few."""

PROMPTED = 0.9
"""The share of a side that must begin as the other does before openings are taken for prompts: 0.99
of 500 stories by GPT-NeoX, 0.73 of 120 texts by an n-gram model that has learnt half of the other
side by heart."""

FEWEST_PROMPTS = 2
"""Rows that all answer one prompt are held together by nothing."""


@dataclass(frozen=True, eq=False)
class SharedPrompts:
    """The prompt of each row of two sets that share some prompts.

    Attributes
    ----------
    reference, generated
        The number of the prompt of each row, shapes ``(n,)`` and ``(m,)``. Rows of one number
        answer one prompt, on both sides. A prompt that the other side lacks has a number of its
        own, and so has a row whose prompt is unknown.
    by
        How the prompts are known: ``"prompt"`` (rows name them), ``"paired"`` (row i with row i,
        since a person says so), ``"openings"`` (texts begin alike).
    """

    reference: Numbers
    generated: Numbers
    by: By

    @cached_property
    def prompts(self) -> Numbers:
        """The numbers of the prompts answered on both sides, ascending."""
        return np.intersect1d(self.reference, self.generated)

    @property
    def count(self) -> int:
        """Number of prompts answered on both sides."""
        return len(self.prompts)

    @property
    def reference_share(self) -> float:
        """The share of reference rows whose prompt the generated set answers too, 0 to 1."""
        return float(np.isin(self.reference, self.prompts).mean())

    @property
    def generated_share(self) -> float:
        """The share of generated rows whose prompt the reference answers too, 0 to 1."""
        return float(np.isin(self.generated, self.prompts).mean())

    def overlap(self) -> PromptOverlap:
        """Describe how far the sets share prompts."""
        return PromptOverlap(self.count, self.by, self.reference_share, self.generated_share)

    def rows(
        self, reference: NDArray[np.intp], generated: NDArray[np.intp]
    ) -> SharedPrompts | None:
        """Keep some rows of both sides; None where they no longer share any prompt."""
        selected = SharedPrompts(self.reference[reference], self.generated[generated], self.by)
        return selected if selected.count >= FEWEST_PROMPTS else None


def shared_prompts(
    reference: SampleSet, generated: SampleSet, *, paired: bool
) -> SharedPrompts | None:
    """Find the rows of two sets that answer the same prompts.

    Parameters
    ----------
    reference, generated
        The sets, before prompts or words were taken off their texts.
    paired
        Whether a person says that row i of both answers prompt i. It counts where both have as many
        rows, unless the rows themselves name shared prompts, or those of a side nothing but empty
        ones: it has none.

    Returns
    -------
    SharedPrompts or None
        None where fewer than two prompts are shared.

    Examples
    --------
    >>> human = SampleSet.from_texts(["a", "b", "c"], name="human", prompts=["P", "Q", "R"])
    >>> model = SampleSet.from_texts(["d", "e", "f"], name="model", prompts=["q", "P", "p"])
    >>> found = shared_prompts(human, model, paired=False)
    >>> found.reference, found.generated, found.count
    (array([0, 1, 2]), array([1, 0, 0]), 2)
    """
    named = _by_field(reference, generated)
    denied = any(map(_names_none, (reference, generated)))
    if paired and not denied and len(reference) == len(generated) >= FEWEST_PROMPTS:
        shares = (0.0,) if named is None else (named.reference_share, named.generated_share)
        if min(shares) < NEARLY_ALL:
            rows = np.arange(len(reference))
            return SharedPrompts(rows, rows, "paired")
    return named or _by_openings(reference, generated)


# ------------------------------------------------------------------ prompts that rows name


def _by_field(reference: SampleSet, generated: SampleSet) -> SharedPrompts | None:
    """By the prompts in the rows of both sides, or of one whose prompts begin the other's texts."""
    ours, theirs = _named(reference), _named(generated)
    if ours is None and theirs is None:
        return None
    least = 0.0
    if ours is None or theirs is None:
        known = KnownPrompts.of([reference, generated])
        ours = _begun(reference, known) if ours is None else ours
        theirs = _begun(generated, known) if theirs is None else theirs
        least = MORE_BEGINNINGS
    shared = SharedPrompts(*_numbered(ours, theirs), "prompt")
    enough = max(shared.reference_share, shared.generated_share) >= least
    return shared if enough and shared.count >= FEWEST_PROMPTS else None


def _named(samples: SampleSet) -> Keys | None:
    """The folded prompt of each row, None where it is empty; None where all are."""
    if samples.prompts is None or _names_none(samples):
        return None
    return [fold(prompt, WHOLE) or None for prompt in samples.prompts]


def _names_none(samples: SampleSet) -> bool:
    """Whether rows say that they answer no prompt."""
    return samples.prompts is not None and not any(prompt.strip() for prompt in samples.prompts)


def _begun(samples: SampleSet, known: KnownPrompts) -> Keys:
    """The known prompt that each text begins with."""
    if samples.kind != "texts":
        return [None] * len(samples)
    return [known.begun_by(text) for text in samples]


def _numbered(ours: Keys, theirs: Keys) -> tuple[Numbers, Numbers]:
    """Number prompts in the order in which they come up; a row without one has its own."""
    numbers: dict[str | int, int] = {}
    every = [
        numbers.setdefault(row if prompt is None else prompt, len(numbers))
        for row, prompt in enumerate([*ours, *theirs])
    ]
    return np.array(every[: len(ours)], np.int64), np.array(every[len(ours) :], np.int64)


# ------------------------------------------------------------------ openings in common


def _by_openings(reference: SampleSet, generated: SampleSet) -> SharedPrompts | None:
    """By what the texts of both sides begin with."""
    if reference.kind != "texts" or generated.kind != "texts":
        return None
    theirs, ours = ([fold(text, BEGINNING) for text in side] for side in (reference, generated))
    if not _may_share(theirs, ours):
        return None
    matches = openings(ours, theirs)
    filled = max(1, sum(map(bool, ours)))
    if matches.copies.sum() > filled / 2:  # what is the same to the end shows no prompts
        return None
    partner, of_reference = words_of_prompts(theirs, ours, matches)
    n = len(theirs)
    first = np.arange(n)
    # A reference text without a text that goes on from it may share the prompt of one that has
    linked = of_reference >= 0
    first[linked] = partner[of_reference[linked]]
    second = np.where(partner >= 0, first[np.maximum(partner, 0)], n + np.arange(len(ours)))
    shared = SharedPrompts(first, second, "openings")
    if max(shared.reference_share, shared.generated_share) < PROMPTED:
        return None  # a model that has learnt some texts by heart begins them too
    repeats = shared.reference_share < PROMPTED and shared.count < MOST * len(ours)
    return None if repeats or shared.count < FEWEST_PROMPTS else shared


def _may_share(theirs: Sequence[str], ours: Sequence[str]) -> bool:
    """Whether so many texts can share an opening that a closer look pays."""
    if len(theirs) == len(ours):
        pairs = zip(theirs, ours, strict=True)
        same = [_first(a, SHORTEST_PROMPT) == _first(b, SHORTEST_PROMPT) for a, b in pairs]
        if np.mean(same) >= MOST:
            return True
    counts = [Counter(_first(text, SHARED_WORDS) for text in side) for side in (theirs, ours)]
    shares = [
        sum(count for opening, count in one.items() if opening and opening in other)
        for one, other in (counts, counts[::-1])
    ]
    return max(shares[0] / len(theirs), shares[1] / len(ours)) >= MOST


def _first(text: str, words: int) -> str:
    """The first words of a folded text; nothing where it has fewer."""
    parts = text.split(" ", words)
    return " ".join(parts[:words]) if len(parts) >= words else ""
