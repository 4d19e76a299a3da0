"""The measuring of one run: every metric on every file, and once on the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from calipers.catalogue.choosing import TextChoice
from calipers.evaluate import text_notes as notes
from calipers.evaluate.certainty import Spreads, with_intervals
from calipers.evaluate.intake import Cut, Entry, summarise
from calipers.evaluate.scored import Scored, average
from calipers.evaluate.text_intake import TextIntake
from calipers.evaluate.text_scripts import script_warnings
from calipers.progress import Advance, Progress
from calipers.results import SetSummary
from calipers.results.texts import TextResult
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.tokenizers import Tokenizer
from calipers.text.tokens import tokenise
from calipers.uncertainty.spread import Spread
from calipers.uncertainty.text_replicates import TextSpreads


@dataclass(frozen=True, eq=False)
class Job:
    """What the measuring of every file shares; `corpora` are taken out as they are used.

    `level` is that of the intervals, None for none.
    """

    intake: TextIntake
    choices: Sequence[TextChoice]
    keep_sizes: bool
    seed: int
    threads: int | None
    corpora: list[Corpus]
    reference: Corpus | None
    train: Corpus | None
    level: float | None = None

    def result(self, entry: Entry, advance: Advance) -> TextResult:
        """Measure one system."""
        parts, scripts = [], dict[str, None]()
        for _ in entry.cuts:
            texts = self.corpora.pop(0)
            scripts |= dict.fromkeys(script_warnings(texts))
            parts.append(self._scored(texts, advance))
        together = average(parts)
        scores = self._certain(together.scores, together.spreads)
        summary = summarise(entry.cuts, name=entry.name)
        known = None if self.intake.reference is None else about(self.intake.reference)
        return TextResult(
            summary=summary,
            scores=scores,
            seeds=tuple(c.samples.source for c in entry.cuts) if len(entry.cuts) > 1 else (),
            warnings=(*scripts, *notes.system_warnings(entry.cuts, summary, known, scores)),
            spreads=together.spreads,
            gap_spreads=self._gap_spreads(texts, together),
        )

    def of_reference(self, advance: Advance) -> Mapping[str, Score]:
        """Measure the reference alone, or give what was measured of it beside the systems."""
        if self.reference is None:
            return {}
        scores, spreads = {}, {}
        for choice in self.choices:
            if choice.has_gap:
                own = choice.of_reference(
                    self.reference, train=self.train, seed=self.seed, threads=self.threads
                )
                scores[choice.key] = own.signed(**self._pins)
                spreads[choice.key] = self._spreads.of_reference(choice) if self._spreads else None
            advance(1)
        return self._certain(scores, known_of(spreads))

    def about_reference(self, scores: Mapping[str, Score]) -> SetSummary | None:
        """Describe the reference."""
        cut = self.intake.reference
        if cut is None or self.reference is None:
            return None
        scripts = script_warnings(self.reference)
        return about(cut, (*scripts, *notes.set_warnings([cut], scores)))

    def _scored(self, texts: Corpus, advance: Advance) -> Scored:
        scores, spreads = {}, {}
        for choice in self.choices:
            found = choice.score(
                texts,
                self.reference,
                train=self.train,
                keep_sizes=self.keep_sizes,
                seed=self.seed,
                threads=self.threads,
            )
            scores[choice.key] = found.signed(**self._pins)
            moved = self._spreads.of(choice, texts, found) if self._spreads else None
            spreads[choice.key] = moved
            advance(1)
        return Scored(scores, {}, spreads=known_of(spreads))

    def _certain(self, scores: Mapping[str, Score], spreads: Spreads) -> Mapping[str, Score]:
        return scores if self.level is None else with_intervals(scores, spreads, self.level)

    def _gap_spreads(self, texts: Corpus, found: Scored) -> Spreads:
        """How much the gaps of a system move; its files have one size."""
        if self._spreads is None:
            return {}
        moved = {
            choice.key: self._spreads.of_gap(
                choice, texts, found.scores[choice.key], found.spreads[choice.key]
            )
            for choice in self.choices
            if choice.key in found.spreads
        }
        return known_of(moved)

    @cached_property
    def _spreads(self) -> TextSpreads | None:
        if self.level is None:
            return None
        sides = self.reference, self.train
        return TextSpreads(*sides, keep_sizes=self.keep_sizes, seed=self.seed, threads=self.threads)

    @property
    def _pins(self) -> dict[str, object]:
        """What every score is signed with."""
        cuts = {"reference": self.intake.reference, "train": self.intake.train}
        hashes = {
            side: cut.samples.content_hash[:16] for side, cut in cuts.items() if cut is not None
        }
        return {**hashes, "sampling_seed": self.seed}


def tokenised(
    intake: TextIntake, tokenizer: Tokenizer, progress: Progress
) -> tuple[list[Corpus], Corpus | None, Corpus | None]:
    """Tokenise all sets together, so that their words share numbers."""
    sides = [cut for cut in (intake.reference, intake.train) if cut is not None]
    generated = [cut for entry in intake.systems for cut in entry.cuts]
    cuts = [*sides, *generated]
    with progress.task("Tokenising", None):
        made = tokenise(*(list(cut.samples) for cut in cuts), tokenizer=tokenizer)
    corpora = [
        replace(corpus, clusters=cut.clusters) for corpus, cut in zip(made, cuts, strict=True)
    ]
    reference = corpora.pop(0) if intake.reference is not None else None
    train = corpora.pop(0) if intake.train is not None else None
    return corpora, reference, train


def known_of(spreads: Mapping[str, Spread | None]) -> dict[str, Spread]:
    """Leave out what is not known."""
    return {key: spread for key, spread in spreads.items() if spread is not None}


def about(cut: Cut, warnings: tuple[str, ...] = ()) -> SetSummary:
    return summarise([cut], name=cut.samples.name, notes=warnings)
