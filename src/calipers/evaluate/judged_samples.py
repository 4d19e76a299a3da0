"""The samples that people or models judge, and the texts shown of them.

Annotation and judging by models both take them from here, so that the same files and the same seed
give the same items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calipers.errors import InputError
from calipers.evaluate.inputs import Reader
from calipers.judgements.designs import pair_design
from calipers.judgements.items import Item, Items, RatedTexts, make_items, make_rated_texts
from calipers.judgements.rubric import PAIRS, PAIRS_ALONE, Rubric
from calipers.options.judged import Judged
from calipers.samples import SampleSet


@dataclass(frozen=True)
class JudgedSamples:
    """The samples of all systems, those of the reference first.

    Attributes
    ----------
    sets
        One for each system.
    reference
        The name of the reference, if one is judged.
    notes
        What was left out.
    """

    sets: tuple[SampleSet, ...]
    reference: str | None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(samples.name for samples in self.sets)

    def items(
        self, rubric: Rubric, options: Judged, *, seed: int, ratings_per_item: int = 1
    ) -> Items[Item] | Items[RatedTexts]:
        """Choose the texts to show.

        Parameters
        ----------
        rubric
            Whose task says whether they are shown in pairs, alone or in batches.
        options
            How many, of which lengths, and which systems meet.
        seed
            Fixes the choice.
        ratings_per_item
            How many raters judge the same item.

        Raises
        ------
        InputError
            If there is one system where pairs are judged, systems that meet share no context, or
            there are too few texts.
        """
        if rubric.task != "pairs":
            return make_rated_texts(
                self.sets,
                rubric,
                n=options.n,
                seed=seed,
                shortest=options.min_words,
                longest=options.max_words,
            )
        if len(self.sets) < 2:
            raise InputError(
                "pairs are of two systems, but there is one; give another, or the reference "
                "(`reference`), or have single texts rated with `task='quality'`"
            )
        return make_items(
            self.sets,
            pairs=pair_design(self.names, opponents=options.opponents).pairs,
            per_pair=options.per_pair,
            ratings_per_item=ratings_per_item,
            seed=seed,
            shortest=options.min_words,
            longest=options.max_words,
        )


def read_judged_samples(generated: Any, reference: Any, field: str | None) -> JudgedSamples:
    """Read the samples of all systems; of several files of a system the first.

    Parameters
    ----------
    generated
        What the systems wrote, as :func:`calipers.compare` takes it; None for the reference alone.
    reference
        Real texts that are judged like those of a system; None for none.
    field
        Which field of a row holds the text.

    Raises
    ------
    InputError
        If samples cannot be read.
    """
    reading = Reader(field)
    real = None if reference is None else reading.one(reference, "reference")
    systems = () if generated is None else reading.systems(generated)
    sets = [system.sets[0].renamed(system.name) for system in systems]
    return JudgedSamples(
        tuple(sets if real is None else [real, *sets]),
        None if real is None else real.name,
        tuple(
            f"{system.name}: only the first of its {len(system.sets)} files is judged"
            for system in systems
            if len(system.sets) > 1
        ),
    )


def rubric_for(items: Items[Item] | Items[RatedTexts], rubric: Rubric) -> Rubric:
    """Return the built-in questions on pairs, reworded where no text continues another."""
    alone = all(isinstance(item, Item) and not item.context for item in items)
    return PAIRS_ALONE if rubric is PAIRS and alone else rubric
