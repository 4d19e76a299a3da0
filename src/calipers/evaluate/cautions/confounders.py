"""Confounders of the scores besides the model: a number for each, and a warning where it is large.

Scores compare two sets of texts and not two writers. A difference in length, repeated or copied
texts, prompts that stand on both sides, texts that the embedder did not read to the end, another
script or language: any of these moves a score without saying anything of the model. They are
measured here from the texts themselves, and said in words where they are beyond chance and large
enough to matter; the numbers are kept either way. What cannot be seen in the texts (what a model
was trained on, how its samples were selected) is not seen here. Images have none of these numbers;
of embeddings that are given, rows that repeat are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from calipers.embedders import Embeddings
from calipers.evaluate.cautions.copies import (
    Beginnings,
    Copies,
    Duplicates,
    Prompts,
    measure_beginnings,
    measure_copies,
    measure_duplicates,
    measure_prompts,
    measure_repeated_rows,
)
from calipers.evaluate.cautions.forms import Forms, measure_forms
from calipers.evaluate.cautions.language import (
    Language,
    Languages,
    Scripts,
    measure_language,
    measure_languages,
    measure_scripts,
)
from calipers.evaluate.cautions.lengths import (
    Lengths,
    Truncation,
    measure_lengths,
    measure_truncation,
)
from calipers.evaluate.cautions.texts import TextFacts, read_facts
from calipers.evaluate.identical import holds_only
from calipers.results.caution import Caution, sentences
from calipers.samples import SampleSet


@dataclass(frozen=True)
class Confounders:
    """Differences between a system's texts and the reference's besides the writing itself.

    Attributes
    ----------
    lengths
        How long the texts are, in words and in characters, of scripts without spaces in
        characters; of token ids, in tokens.
    truncation
        Shares of texts that the embedder cut; None where embeddings do not tell.
    duplicates, copies
        Texts or rows that repeat others of their set, and texts that are in the reference too.
    prompts
        Texts that begin with a prompt; None where no row names one.
    beginnings
        Long beginnings that both sides share.
    forms
        Texts whose characters are not those that are seen; None where there are no characters.
    languages
        Of up to 200 texts a set; None where there are no texts.
    scripts, language
        Of the letters and of the words of up to 1,000 texts a set; None where there are too few.
    same
        Whether the system holds only samples of the reference; nothing else is said of it here.
    """

    lengths: tuple[Lengths, ...] = ()
    truncation: Truncation | None = None
    duplicates: Duplicates | None = None
    copies: Copies | None = None
    prompts: Prompts | None = None
    beginnings: Beginnings | None = None
    forms: Forms | None = None
    languages: Languages | None = None
    scripts: Scripts | None = None
    language: Language | None = None
    same: bool = False

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions to be read before the scores, in the order of the checks."""
        return () if self.same else tuple(self._cautions())

    @property
    def warnings(self) -> tuple[str, ...]:
        """The cautions as sentences."""
        return sentences(self.cautions)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data; None where something could not be measured."""
        data = asdict(self)
        for lengths in data["lengths"]:
            del lengths["called"]
        if data["beginnings"] is not None:
            del data["beginnings"]["unit"]
        data["lengths"] = {lengths.pop("unit"): lengths for lengths in data["lengths"]}
        return data

    def _cautions(self) -> Iterator[Caution]:
        """One cause is named once: by its first sign."""
        differing = [lengths for lengths in self.lengths if lengths.differs]
        yield from (lengths.caution() for lengths in differing[:1])
        # Prompts are common beginnings, and another script brings other words
        causes = (
            (self.truncation,),
            (self.duplicates,),
            (self.copies,),
            (self.prompts, self.beginnings),
            (self.forms,),
            (self.languages, self.scripts, self.language),
        )
        for signs in causes:
            cautions = (sign.caution() for sign in signs if sign is not None)
            yield from list(filter(None, cautions))[:1]


@dataclass(frozen=True, eq=False)
class ReferenceTexts:
    """Facts on the reference's texts, read once for all systems; None for images and vectors."""

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
    if not isinstance(reference, ReferenceTexts):
        reference = ReferenceTexts.of(reference)
    samples, theirs = reference.samples, reference.facts
    if samples.vectors is not None:
        same = holds_only(samples, generated)
        rows = [file.vectors for file in generated if file.vectors is not None]
        return Confounders(duplicates=measure_repeated_rows(samples.vectors, rows), same=same)
    if theirs is None:
        return Confounders(same=holds_only(samples, generated))
    ours = [facts for file in generated if (facts := read_facts(file)) is not None]
    keys = [facts.keys[facts.nonempty] for facts in (theirs, *ours)]
    prompts, forms = measure_prompts(theirs, ours), measure_forms(theirs, ours)
    # The characters of another form are others to an embedder
    alike = forms is None or forms.caution() is None
    same = alike and holds_only(samples, generated, (keys[0], keys[1:]))
    return Confounders(
        lengths=measure_lengths(theirs, ours),
        truncation=measure_truncation(theirs, ours, embeddings),
        duplicates=measure_duplicates(theirs, ours),
        copies=measure_copies(theirs, ours),
        prompts=prompts,
        beginnings=measure_beginnings(theirs, ours, prompts),
        forms=forms,
        languages=measure_languages(theirs, ours),
        scripts=measure_scripts(theirs, ours),
        language=measure_language(theirs, ours),
        same=same,
    )
