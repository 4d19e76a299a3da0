"""Statistics of the texts of every set of a run, alone or beside those of a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypedDict

from calipers.catalogue.choosing import Choice
from calipers.errors import InputError, MissingExtraError
from calipers.evaluate.cautions.text_statistics import (
    form_cautions,
    script_cautions,
    set_cautions,
    size_cautions,
    system_cautions,
)
from calipers.evaluate.identical import holds_only
from calipers.evaluate.inputs import Inputs, InputSet, InputSystem, summarise
from calipers.evaluate.intervals import Spreads, with_intervals
from calipers.evaluate.scoring import Scored, average
from calipers.progress import Advance, Progress, Silent
from calipers.results import SetSummary
from calipers.results.caution import Caution, sentences, worst_first
from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.measuring import score_of, score_of_reference
from calipers.text.tokenizers import Tokenizer, find_tokenizer
from calipers.text.tokens import AnyTokenizer, tokenise
from calipers.uncertainty.spread import Spread
from calipers.uncertainty.text_replicates import TextSpreads

MOST_FOR_VENDI = 10_000
"""As in :mod:`calipers.text.vendi`, of whose matrix all eigenvalues would be needed."""


class MeasuringTexts(Protocol):
    """Options that every command on texts shares for its computations."""

    @property
    def level(self) -> float | None:
        """The confidence level; None without intervals."""

    @property
    def seed(self) -> int:
        """Seed of every random step."""

    @property
    def threads(self) -> int | None:
        """Number of processor threads; None for all."""

    @property
    def progress(self) -> Progress | None:
        """The progress display."""


FREE = (2.0, float("inf"))
"""Orders of the Vendi score that need no such matrix."""


def measure_inputs(
    inputs: Inputs,
    choices: Sequence[Choice],
    tokenizer: Tokenizer,
    options: MeasuringTexts,
    *,
    keep_sizes: bool = False,
    scored: Callable[[InputSet, Corpus], Corpus] | None = None,
) -> TextComparison:
    """Measure sets that were read and cut.

    Of the options count level, seed, threads and progress; without a level there are neither
    intervals nor spreads. `keep_sizes` is as for :func:`calipers.text.measuring.score_of`. `scored`
    puts what else is known of its texts beside the tokens of a set.
    """
    check_limits(choices, inputs)
    corpora, reference, train = tokenised(inputs, tokenizer, options)
    cut_by = corpora[0].tokenizer
    if scored is not None:
        pairs = zip(inputs.named, corpora, strict=True)
        corpora = [scored(file, corpus) for (_, file), corpus in pairs]
        if inputs.reference is not None and reference is not None:
            reference = scored(inputs.reference, reference)
    run = TextRun(inputs, choices, options, keep_sizes, corpora, reference, train)
    steps = len(choices) * (len(run.corpora) + (inputs.reference is not None))
    with _progress(options).task("Measuring", steps) as advance:
        systems = tuple(run.result(system, advance) for system in inputs.systems)
        reference_scores = run.reference_scores(advance)
    differing = tuple(size_cautions(_sizes(inputs), choices)) if keep_sizes else ()
    return TextComparison(
        systems=systems,
        reference=run.about_reference(reference_scores),
        reference_scores=reference_scores,
        train=None if inputs.train is None else about(inputs.train),
        settings={
            "tokenizer": cut_by,
            "metrics": [choice.key for choice in choices],
            "seed": options.seed,
        },
        warnings=sentences(differing),
        cautions=worst_first(differing),
    )


def find_splitter(tokenizer: AnyTokenizer) -> Tokenizer:
    """Find the tokenizer before files are read."""
    try:
        return find_tokenizer(tokenizer)
    except MissingExtraError as error:
        raise MissingExtraError(
            f"{error}; the default tokenizer, auto, needs no further package"
        ) from error


@dataclass(frozen=True, eq=False)
class TextRun:
    """The state shared while every file is measured; `corpora` are removed as they are used."""

    inputs: Inputs
    choices: Sequence[Choice]
    options: MeasuringTexts
    keep_sizes: bool
    corpora: list[Corpus]
    reference: Corpus | None
    train: Corpus | None

    def result(self, system: InputSystem, advance: Advance) -> TextResult:
        """Measure one system."""
        files, scripts = [], dict[Caution, None]()
        for _ in system.files:
            texts = self.corpora.pop(0)
            scripts |= dict.fromkeys(script_cautions(texts))
            files.append(self._scored(texts, advance))
        scored = average(files)
        scores = with_intervals(scored.scores, scored.spreads, self.options.level)
        summary = summarise(system.files, name=system.name)
        reference = None if self.inputs.reference is None else about(self.inputs.reference)
        sides = self.inputs.reference, self.inputs.train
        generated = [file.samples for file in system.files]
        same = sides[0] is not None and holds_only(sides[0].samples, generated)
        cautions = (
            *scripts,
            *system_cautions(system.files, summary, reference, scores, same=same),
            *form_cautions(system.files, *sides),
        )
        return TextResult(
            summary=summary,
            scores=scores,
            seeds=system.seeds,
            warnings=sentences(cautions),
            cautions=worst_first(cautions),
            spreads=scored.spreads,
            gap_spreads=self._gap_spreads(texts, scored),
            is_reference=same,
        )

    def reference_scores(self, advance: Advance) -> Mapping[str, Score]:
        """Measure the reference alone, or return what was measured with the systems."""
        if self.reference is None:
            return {}
        scores, spreads = {}, {}
        for choice in self.choices:
            if choice.has_gap:
                score = score_of_reference(choice, self.reference, train=self.train, **self._how)
                scores[choice.key] = score.signed(**self._signature_fields)
                spreads[choice.key] = self._spreads.of_reference(choice) if self._spreads else None
            advance(1)
        return with_intervals(scores, _known(spreads), self.options.level)

    def about_reference(self, scores: Mapping[str, Score]) -> SetSummary | None:
        """Return the summary of the reference."""
        file = self.inputs.reference
        if file is None or self.reference is None:
            return None
        cautions = (*script_cautions(self.reference), *set_cautions([file], scores))
        return about(file, sentences(cautions))

    def _scored(self, texts: Corpus, advance: Advance) -> Scored:
        scores, spreads = {}, {}
        sides = {"reference": self.reference, "train": self.train}
        for choice in self.choices:
            score = score_of(choice, texts, **sides, keep_sizes=self.keep_sizes, **self._how)
            scores[choice.key] = score.signed(**self._signature_fields)
            spread = self._spreads.of(choice, texts, score) if self._spreads else None
            spreads[choice.key] = spread
            advance(1)
        return Scored(scores, spreads=_known(spreads))

    def _gap_spreads(self, texts: Corpus, scored: Scored) -> Spreads:
        """How much the gaps of a system move; its files have one size."""
        if self._spreads is None:
            return {}
        return _known(
            {
                choice.key: self._spreads.of_gap(
                    choice, texts, scored.scores[choice.key], scored.spreads[choice.key]
                )
                for choice in self.choices
                if choice.key in scored.spreads
            }
        )

    @cached_property
    def _spreads(self) -> TextSpreads | None:
        if self.options.level is None:
            return None
        return TextSpreads(self.reference, self.train, keep_sizes=self.keep_sizes, **self._how)

    @property
    def _how(self) -> _How:
        return {"seed": self.options.seed, "threads": self.options.threads}

    @property
    def _signature_fields(self) -> dict[str, object]:
        """What every score is signed with."""
        files = {"reference": self.inputs.reference, "train": self.inputs.train}
        hashes = {
            side: file.samples.content_hash[:16] for side, file in files.items() if file is not None
        }
        return {**hashes, "sampling_seed": self.options.seed}


class _How(TypedDict):
    seed: int
    threads: int | None


def _progress(options: MeasuringTexts) -> Progress:
    return options.progress or Silent()


def tokenised(
    inputs: Inputs, tokenizer: Tokenizer, options: MeasuringTexts
) -> tuple[list[Corpus], Corpus | None, Corpus | None]:
    """Tokenise all sets together, so that their words share numbers."""
    sides = [file for file in (inputs.reference, inputs.train) if file is not None]
    files = [*sides, *(file for _, file in inputs.named)]
    with _progress(options).task("Tokenising", None):
        tokens = tokenise(*(list(file.samples) for file in files), tokenizer=tokenizer)
    corpora = [
        replace(corpus, clusters=file.clusters) for corpus, file in zip(tokens, files, strict=True)
    ]
    reference = corpora.pop(0) if inputs.reference is not None else None
    train = corpora.pop(0) if inputs.train is not None else None
    return corpora, reference, train


def _known(spreads: Mapping[str, Spread | None]) -> dict[str, Spread]:
    """Leave out what is not known."""
    return {key: spread for key, spread in spreads.items() if spread is not None}


def about(file: InputSet, warnings: tuple[str, ...] = ()) -> SetSummary:
    return summarise([file], name=file.samples.name, notes=warnings)


def check_limits(choices: Iterable[Choice], inputs: Inputs) -> None:
    """Refuse requested metrics that these sizes do not allow; others have a dash instead.

    Raises
    ------
    InputError
        If Self-BLEU would draw more texts than there are, or the Vendi score take too many.
    """
    sizes = _sizes(inputs).values()
    for choice in choices:
        if not choice.named:
            continue
        if choice.metric.name == "self_bleu":
            _check_draws(choice, min(sizes))
        elif choice.metric.name == "vendi" and choice.option("q") not in FREE:
            _check_vendi(choice, max(sizes))


def _check_draws(choice: Choice, texts: int) -> None:
    """A single text has no others whatever is drawn, which its own reason says."""
    others = int(choice.option("others")) or texts - 1
    pools = {"others": texts - 1, "sample": others + 1}
    for name, most in pools.items():
        if texts > 1 and int(choice.option(name)) > most:
            raise InputError(
                f"{choice.key}: {name} must be at most {most:,}, since the smallest set has "
                f"{texts:,} texts; found {choice.option(name):,}"
            )


def _check_vendi(choice: Choice, texts: int) -> None:
    if texts > MOST_FOR_VENDI:
        raise InputError(
            f"{choice.key}: takes at most {MOST_FOR_VENDI:,} texts; found {texts:,}. Use "
            f"vendi:q=2, vendi:q=inf or `max_samples={MOST_FOR_VENDI}`"
        )


def _sizes(inputs: Inputs) -> dict[str, int]:
    """Texts of each set that is compared with others, by its name."""
    reference = [] if inputs.reference is None else [("the reference", inputs.reference)]
    return {name: len(file.samples) for name, file in [*reference, *inputs.named]}
