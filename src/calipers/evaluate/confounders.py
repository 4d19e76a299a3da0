"""What besides the models may have moved the scores: a number each, a warning where it is large.

Scores compare two sets of texts and not two writers. A difference in length, repeated or copied
texts, prompts that stand on both sides, texts that the embedder did not read to the end, another
script or language: any of these moves a score without saying anything of the model. They are
measured here from the texts themselves, and told in words where they are beyond chance and large
enough to matter; the numbers are kept either way. What cannot be seen in the texts (what a model
was trained on, how its samples were selected) is not seen here. Images have none of these numbers;
of embeddings that are given, rows that repeat are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from calipers.embed import Embeddings
from calipers.evaluate.confounders_beginnings import (
    Beginnings,
    Prompts,
    measure_beginnings,
    measure_prompts,
)
from calipers.evaluate.confounders_copies import (
    Copies,
    Duplicates,
    measure_copies,
    measure_duplicates,
    measure_repeated_rows,
)
from calipers.evaluate.confounders_language import Language, measure_language
from calipers.evaluate.confounders_lengths import Lengths, measure_lengths
from calipers.evaluate.confounders_scripts import Scripts, measure_scripts
from calipers.evaluate.confounders_texts import TextFacts, read_facts
from calipers.evaluate.confounders_truncation import Truncation, measure_truncation
from calipers.samples import SampleSet


@dataclass(frozen=True)
class Confounders:
    """What differs between a system's texts and the reference's besides how they are written.

    Attributes
    ----------
    lengths
        How long the texts are, in words and in characters; of token ids, in tokens.
    truncation
        Shares of texts that the embedder cut; None where embeddings do not tell.
    duplicates, copies
        Texts or rows that repeat others of their set, and texts that stand in the reference too.
    prompts
        Texts that begin with their own prompt; None where no prompts are known.
    beginnings
        Long beginnings that both sides share.
    scripts, language
        Of the letters and of the words of up to 1,000 texts a set; None where there are too few.
    same
        Whether the system is the reference itself, of which nothing is said here.
    """

    lengths: tuple[Lengths, ...] = ()
    truncation: Truncation | None = None
    duplicates: Duplicates | None = None
    copies: Copies | None = None
    prompts: Prompts | None = None
    beginnings: Beginnings | None = None
    scripts: Scripts | None = None
    language: Language | None = None
    same: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before trusting the scores, one sentence each."""
        return () if self.same else tuple(self._warnings())

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data; None where something could not be measured."""
        data = asdict(self)
        data["lengths"] = {each.pop("unit"): each for each in data["lengths"]}
        return data

    def _warnings(self) -> Iterator[str]:
        """One cause is told once: by its first sign."""
        differing = [each for each in self.lengths if each.differs]
        yield from (each.warning() for each in differing[:1])
        # Prompts are common beginnings, and another script brings other words
        causes = (
            (self.truncation,),
            (self.duplicates,),
            (self.copies,),
            (self.prompts, self.beginnings),
            (self.scripts, self.language),
        )
        for signs in causes:
            told = (each.warning() for each in signs if each is not None)
            yield from list(filter(None, told))[:1]


@dataclass(frozen=True, eq=False)
class ReferenceTexts:
    """The reference, read once for all systems; None in place of facts for images and vectors."""

    samples: SampleSet
    facts: TextFacts | None

    @classmethod
    def of(cls, samples: SampleSet) -> Self:
        """Read the reference's texts."""
        return cls(samples, read_facts(samples))


def confounders(
    reference: SampleSet | ReferenceTexts,
    generated: Sequence[SampleSet],
    embeddings: tuple[Embeddings, Sequence[Embeddings]] | None = None,
) -> Confounders:
    """Measure what besides the model may have moved a system's scores.

    Parameters
    ----------
    reference
        The reference set, or what :meth:`ReferenceTexts.of` read of it for several systems.
    generated
        The files of one system, at least one, taken together.
    embeddings
        Of the reference, and of each file; None where there are none.

    Returns
    -------
    Confounders
        Its ``warnings`` are empty for two sets of one kind. For images all is.
    """
    known = reference if isinstance(reference, ReferenceTexts) else ReferenceTexts.of(reference)
    same = all(each.content_hash == known.samples.content_hash for each in generated)
    rows = known.samples.vectors
    if rows is not None:
        others = [each.vectors for each in generated if each.vectors is not None]
        return Confounders(duplicates=measure_repeated_rows(rows, others), same=same)
    if known.facts is None:
        return Confounders()
    ours = [facts for each in generated if (facts := read_facts(each)) is not None]
    return Confounders(
        lengths=measure_lengths(known.facts, ours),
        truncation=measure_truncation(known.facts, ours, embeddings),
        duplicates=measure_duplicates(known.facts, ours),
        copies=measure_copies(known.facts, ours),
        prompts=measure_prompts(known.facts, ours),
        beginnings=measure_beginnings(known.facts, ours),
        scripts=measure_scripts(known.facts, ours),
        language=measure_language(known.facts, ours),
        same=same,
    )
