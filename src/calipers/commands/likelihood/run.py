"""``likelihood``: score texts by a language model, alone or beside those of a reference."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, check_extras, choose_likelihood, split_names
from calipers.commands.likelihood.naive_samplers import naive_samples
from calipers.commands.likelihood.options import LikelihoodOptions
from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError
from calipers.evaluate.end_of_text import MARKS, has_mark
from calipers.evaluate.inputs import Inputs, InputSet, InputSystem, Reader, read_texts, where
from calipers.evaluate.prompts import behind_prompt
from calipers.evaluate.texts import find_splitter, measure_inputs
from calipers.language_model.decoding import Decoding
from calipers.language_model.kept import Convention, KeptScores, is_kept, keep, passages_hash
from calipers.language_model.likelihood import InContext, ScoredCorpus, score_in_context
from calipers.language_model.model import LanguageModel, Passage, TokenScores
from calipers.language_model.models import find_language_model, is_fitted
from calipers.language_model.prompting import between
from calipers.options.keywords import keywords_of
from calipers.progress import Progress, Silent
from calipers.results.caution import Caution, sentences, worst_first
from calipers.results.reading import SetReading, too_little, unread_cautions
from calipers.results.texts import TextComparison, TextResult
from calipers.samples import SampleSet
from calipers.samples.truncation import check_left
from calipers.samples.wording import counted
from calipers.text.corpus import Corpus

PLANE = ("perplexity", "unigram_entropy")
"""The axes of the plane of the suite."""

DISTRIBUTIONS = ("precision", "recall", "mauve_star")
"""What stands beside them."""

CONTROL = "ngram:order=3"
"""The model whose samples at a low temperature are a control."""

IN_CONTEXT = ("conditional_surprise", "decan")
"""What is measured of texts behind others of their set."""

OF_WORDS = ("unigram_entropy",)
"""What is read from the words of the texts, without the model."""

OTHER_MODEL = "choose a model that reads these texts"

IMPOSSIBLE = re.compile(r"\|impossible:(\d+)")
CLIPPED = re.compile(r"\|clipped:(-[^|]+)")

NAMED = 4
"""Marks of most models that a warning names."""

MODELS = ("model", "generator")
"""Options that name a model."""

FIRST_ROW = 2**20
"""Bytes of a file that are looked at to see which model wrote it."""


@keywords_of(LikelihoodOptions)
def likelihood(generated: Any, options: LikelihoodOptions) -> LikelihoodComparison:
    """Tell for each set of texts how likely a language model finds it.

    Parameters
    ----------
    generated
        The texts to measure: a list of strings, a path, a :class:`~calipers.samples.SampleSet`, or
        a dict from system name to any of these. A sequence of sample sets under one name stands
        for the seeds of that system.

    Returns
    -------
    LikelihoodComparison
        ``comparison["model_a"]["perplexity"].gap``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or hold no texts, there is no such model, it gives no
        log-probabilities, a metric lacks its input, or an option is out of its range.
    MissingExtraError
        If the model or the tokenizer needs a package that is not installed.

    Examples
    --------
    >>> import calipers
    >>> result = calipers.likelihood(
    ...     {"model": ["a b", "b b"]}, model="ngram:order=1", fit_on=["a b", "a b"],
    ...     metrics="perplexity", level=None,
    ... )
    >>> round(result["model"]["perplexity"].value, 2)
    2.54
    """
    splitter = find_splitter(options.tokenizer)
    saved_scores = {
        name: KeptScores(value) for name in MODELS if is_kept(value := getattr(options, name))
    }
    decoding = _decoding(options, saved_scores.get("generator" if options.generator else "model"))
    choices = choose_likelihood(
        _asked(options), decoding=decoding is not None, generator=options.generator is not None
    )
    check_extras(choices)
    # Where texts end, the models tell too; else they are loaded once all texts could be read
    ready = {**saved_scores, **(_ready(options, saved_scores) if options.ends != "keep" else {})}
    inputs = read_texts(
        generated,
        options,
        reference=options.reference,
        seed=options.seed,
        match_length=options.match_length,
        ends=options.ends,
        marks=_marks(ready.values()),
    )
    if options.given_prompt:
        inputs = _behind_prompts(inputs)
    given = len(inputs.systems)
    if options.suite is not None:
        inputs = _with_controls(inputs, options)
    fit_on = _fit_on(inputs, options)
    model = ready.get("model") or _find(options.model, options, fit_on)
    generator = None
    if options.generator is not None:
        generator = ready.get("generator") or _find(options.generator, options, fit_on)
    if options.ends == "count":
        _check_ends([scorer for scorer in (model, generator) if scorer is not None])
    run = _Scoring(choices, options, model, generator, decoding)
    run.check_requests(inputs.files)
    scored = [run.of(file) for file in inputs.files]
    if options.log_probabilities is not None:
        names = [where(file.samples) for file in inputs.files]
        sets = zip(names, scored, strict=True)
        convention = Convention(run.first, options.stride, run.decoding_of_model)
        entries = [
            (name, scored_set.passages, run.by_content[scored_set.content].scores)
            for name, scored_set in sets
        ]
        keep(options.log_probabilities, model, convention, entries)
    measured = measure_inputs(
        inputs, choices, splitter, options, keep_sizes=options.keep_sizes, scored=run.scored
    )
    settings = {
        **measured.settings,
        "model": model.name,
        "revision": model.revision,
        "generator": None if generator is None else generator.name,
        "decoding": None if decoding is None else str(decoding),
        **options.settings(),
        "first_token": run.first,
        "end_of_text": options.ends,
    }
    comparison = _with_cautions(measured, inputs, model, generator, options)
    if options.suite is not None:
        comparison, compared = _compared(comparison, inputs, options)
        settings["metrics"] = [*settings["metrics"], *compared]
        settings["controls"] = [system.name for system in inputs.systems[given:]]
    return LikelihoodComparison(**{**vars(comparison), "settings": settings})


def _ready(
    options: LikelihoodOptions, saved_scores: Mapping[str, KeptScores]
) -> dict[str, LanguageModel]:
    """The models that can be had before any text is read."""
    asked = {name: getattr(options, name) for name in MODELS if name not in saved_scores}
    return {
        name: _find(value, options, None)
        for name, value in asked.items()
        if value is not None and not is_fitted(value)
    }


def _marks(models: Iterable[LanguageModel | None]) -> tuple[str, ...]:
    """What the models write where a text ends."""
    marks = (mark for model in models for mark in getattr(model, "end_marks", ()))
    return tuple(dict.fromkeys(marks))


@dataclass(frozen=True, eq=False)
class _Passages:
    """A set of texts as a model reads them."""

    passages: Sequence[Passage]

    @property
    def content(self) -> str:
        return passages_hash(self.passages)


@dataclass(frozen=True, eq=False)
class _Scores:
    """What was scored of one set."""

    scores: TokenScores
    decoder: TokenScores
    generator: TokenScores | None
    contexts: dict[int, InContext | InputError]


@dataclass(frozen=True, eq=False)
class _Scoring:
    """The scoring of every set of a run; sets of the same texts and prompts are scored once."""

    choices: Sequence[Choice]
    options: LikelihoodOptions
    model: LanguageModel
    generator: LanguageModel | None
    decoding: Decoding | None
    by_content: dict[str, _Scores] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """What becomes of first tokens; of two models both must score them, or neither."""
        models = [self.model] if self.generator is None else [self.model, self.generator]
        scored = all(getattr(model, "scores_first", False) for model in models)
        return self.options.first_token or ("bos" if scored else "skip")

    @property
    def asked(self) -> Decoding | None:
        """The decoding whose distribution is looked at; the model as it is where none is named."""
        sparse = any(choice.metric.family == "decoder" for choice in self.choices)
        return self.decoding or (Decoding() if sparse else None)

    @property
    def decoding_of_model(self) -> str:
        """The decoding by which the model itself was asked, as it is written."""
        asked = self.asked if self.generator is None else None
        return "" if asked is None else str(asked)

    def check_requests(self, files: Sequence[InputSet]) -> None:
        """Refuse before anything is sent what takes more requests to a server than are allowed."""
        most = self.options.max_requests
        if most is None:
            return
        sets = {made.content: made.passages for made in map(self._passages, files)}
        every = [passage for passages in sets.values() for passage in passages]
        for model in (self.model, self.generator):
            least = 0 if model is None else model.requests_for(every)
            if model is not None and least > most:
                raise InputError(
                    f"`max_requests` allows {counted(most, 'request')}, but each "
                    f"text takes one, and all sets together have {least:,}; what had been scored "
                    f"before the bound would be lost, so nothing was sent to {model.name}"
                )

    def of(self, file: InputSet) -> _Passages:
        """Score one set."""
        made = self._passages(file)
        if made.content not in self.by_content:
            self.by_content[made.content] = self._score(file, made)
        return made

    def scored(self, file: InputSet, corpus: Corpus) -> Corpus:
        """Put the scores of a set beside its tokens."""
        scores = self.by_content[self._passages(file).content]
        return ScoredCorpus(**vars(corpus), **vars(scores), pins=self._pins)

    def _passages(self, file: InputSet) -> _Passages:
        texts = list(file.samples)
        prompts = [""] * len(texts)
        if self.options.given_prompt and file.samples.prompts is not None:
            prompts = list(file.samples.prompts)
        rows = zip(texts, prompts, self._ended(file), strict=True)
        return _Passages([Passage(*row) for row in rows])

    def _ended(self, file: InputSet) -> list[bool]:
        """Which texts end in a token that is scored."""
        if self.options.ends != "count" or file.ended is None:
            return [False] * len(file.samples)
        return list(map(bool, file.ended))

    def _score(self, file: InputSet, made: _Passages) -> _Scores:
        alone = self.generator is None
        name = where(file.samples)
        scores = self._by(self.model, made.passages, self.asked if alone else None, name)
        generator = None
        if self.generator is not None:
            generator = self._by(self.generator, made.passages, self.asked, name)
        return _Scores(scores, generator or scores, generator, self._contexts(file))

    def _by(
        self,
        model: LanguageModel,
        passages: Sequence[Passage],
        decoding: Decoding | None,
        name: str,
    ) -> TokenScores:
        options = self.options
        with _progress(options).task(f"Scoring {name}", len(passages)) as advance:
            try:
                scores = model.score(
                    passages,
                    first=self.first,
                    stride=options.stride,
                    decoding=decoding,
                    advance=advance,
                )
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
        if len(scores) != len(passages):
            raise InputError(
                f"{name}: the model {model.name!r} must score every text; it was given "
                f"{len(passages):,} and scored {len(scores):,}"
            )
        return scores

    def _contexts(self, file: InputSet) -> dict[int, InContext | InputError]:
        """Score texts behind others of their set; what cannot be scored becomes a reason."""
        sizes = {
            int(choice.option("texts"))
            for choice in self.choices
            if choice.metric.name in IN_CONTEXT
        }
        texts, contexts = list(file.samples), dict[int, InContext | InputError]()
        for size in sorted(sizes):
            with _progress(self.options).task("Scoring in context", len(texts)) as advance:
                try:
                    contexts[size] = score_in_context(
                        self.model,
                        texts,
                        size,
                        ended=self._ended(file),
                        seed=self.options.seed,
                        first=self.first,
                        advance=advance,
                    )
                except InputError as error:
                    contexts[size] = error
        return contexts

    @property
    def _pins(self) -> dict[str, object]:
        """What every score is signed with of the models, and of how they read the texts."""
        options = self.options
        pins: dict[str, object] = {"model": self.model.name, **self.model.signature}
        pins |= {"first_token": self.first, "stride": options.stride or "half"}
        pins |= {"given_prompt": "yes"} if options.given_prompt else {}
        if self.generator is not None:
            parts = {"name": self.generator.name, **self.generator.signature}
            pins["generator"] = ",".join(f"{key}={value}" for key, value in parts.items())
        pins |= treatment(options)
        return pins | ({} if self.asked is None else {"decoding": str(self.asked)})


def treatment(options: LikelihoodOptions) -> dict[str, object]:
    """Describe how texts were cut before they were scored, as signatures state it."""
    pins: dict[str, object] = {} if options.ends == "keep" else {"end_of_text": options.ends}
    return pins | ({} if options.match_length is None else {"match_length": options.match_length})


def _check_ends(models: Sequence[LanguageModel]) -> None:
    for model in models:
        if not model.scores_end:
            raise InputError(
                "`end_of_text='count'` scores the token that ends texts, of which "
                f"{model.name} tells no log-probability; use `end_of_text='cut'`"
            )


def _progress(options: LikelihoodOptions) -> Progress:
    return options.progress or Silent()


def _decoding(options: LikelihoodOptions, saved_scores: KeptScores | None) -> Decoding | None:
    """The decoding that is named, or else that by which a file of log-probabilities was made."""
    if options.decoding is None:
        decoding = "" if saved_scores is None else saved_scores.convention.decoding
        return Decoding.parse(decoding) if decoding else None
    return Decoding.parse(options.decoding)


def _find(
    name: str | Path | LanguageModel, options: LikelihoodOptions, fit_on: Sequence[str] | None
) -> LanguageModel:
    if isinstance(name, LanguageModel):
        return name
    return find_language_model(
        str(name), options.of_models(), fit_on=fit_on, max_requests=options.max_requests
    )


def _fit_on(inputs: Inputs, options: LikelihoodOptions) -> list[str] | None:
    """The texts that an n-gram model is fitted on; None where no model is."""
    fitted = any(map(is_fitted, (options.model, options.generator)))
    if options.fit_on is not None:
        if not fitted:
            raise InputError(
                "`fit_on` names texts for a model that is fitted here, such as ngram; "
                f"found the model {_named(options.model)!r}"
            )
        samples = Reader(options.field).one(options.fit_on, "fit_on")
        if samples.kind != "texts":
            raise InputError(f"{where(samples)}: a language model is fitted on texts")
        return list(samples)
    if not fitted or inputs.reference is None:
        return None
    return list(inputs.reference.samples)


def _named(model: object) -> str:
    return model.name if isinstance(model, LanguageModel) else str(model)


# The suite for samples without prompts -----------------------------------------------------------


def _asked(options: LikelihoodOptions) -> str | Iterable[str] | None:
    """What is measured: with the suite both axes of its plane, whatever else was asked for."""
    if options.suite is None or options.metrics is None:
        return options.metrics
    return [*split_names(options.metrics), *PLANE]


def _with_controls(inputs: Inputs, options: LikelihoodOptions) -> Inputs:
    """Put systems of naive samples behind those that were given."""
    assert inputs.reference is not None
    texts = [text for text in inputs.reference.samples if text.strip()]
    ended = _ended_of_written(inputs.reference)

    def fit(texts: Sequence[str]) -> LanguageModel:
        return find_language_model(CONTROL, options.of_models(), fit_on=texts)

    made = naive_samples(texts, seed=options.seed, fit=fit)
    taken = {system.name for system in inputs.systems}
    if clash := taken & {*made}:
        raise InputError(f"the suite has a control named {clash.pop()!r}; rename that system")
    controls = tuple(
        InputSystem(
            name, (InputSet(SampleSet.from_texts(sampled, name=name), len(sampled), ended=ended),)
        )
        for name, sampled in made.items()
    )
    return replace(inputs, systems=(*inputs.systems, *controls))


def _ended_of_written(reference: InputSet) -> NDArray[np.bool_] | None:
    """Which texts of the reference end at a mark, of those that are not empty."""
    if reference.ended is None:
        return None
    written = [bool(text.strip()) for text in reference.samples]
    return np.asarray(reference.ended[np.array(written)])


def _compared(
    measured: TextComparison, inputs: Inputs, options: LikelihoodOptions
) -> tuple[TextComparison, list[str]]:
    """Put precision, recall and MAUVE* of the same sets beside the other scores."""
    from calipers.commands.compare.run import compare

    assert inputs.reference is not None
    comparison = compare(
        inputs.reference.samples,
        {system.name: [file.samples for file in system.files] for system in inputs.systems},
        metrics=DISTRIBUTIONS,
        level=options.level,
        seed=options.seed,
        threads=options.threads,
        progress=options.progress,
        keep_sizes=True,
        floor=False,
    )
    systems = tuple(
        replace(
            system,
            scores={
                **system.scores,
                **{
                    key: comparison[system.name][key].signed(**treatment(options))
                    for key in DISTRIBUTIONS
                },
            },
        )
        for system in measured.systems
    )
    return replace(measured, systems=systems), list(DISTRIBUTIONS)


# Prompts -----------------------------------------------------------------------------------------


def _behind_prompts(inputs: Inputs) -> Inputs:
    """Take its prompt off every text that begins with it, since it is read before the text."""
    return replace(
        inputs,
        systems=tuple(
            replace(system, files=tuple(map(_behind, system.files))) for system in inputs.systems
        ),
        reference=None if inputs.reference is None else _behind(inputs.reference),
    )


def behind_prompts(samples: SampleSet) -> SampleSet:
    """Remove its prompt from every text that begins with it, since the model is given the prompt.

    Raises
    ------
    InputError
        If the rows name no prompts, or nothing is left of all texts.
    """
    if samples.prompts is None:
        raise InputError(
            f"{where(samples)}: `given_prompt` needs the field 'prompt' in its "
            "rows, and there is none"
        )
    pairs = [_parted(*pair) for pair in zip(samples, samples.prompts, strict=True)]
    check_left(samples, (text for _, text in pairs), "`given_prompt`")
    made = SampleSet.from_texts(
        [text for _, text in pairs],
        name=samples.name,
        source=samples.source,
        prompts=[prompt for prompt, _ in pairs],
        notes=samples.reading_notes,
    )
    return replace(made, field=samples.field)


def _behind(file: InputSet) -> InputSet:
    return replace(file, samples=behind_prompts(file.samples))


def _parted(text: str, prompt: str) -> tuple[str, str]:
    """Part a text that begins with its prompt; the white space between stays with the text.

    A text that was kept without its prompt gets back the space that stood between the two.
    """
    start = behind_prompt(text, prompt)
    if not start:
        return prompt, f"{between(prompt, text)}{text}"
    head = text[:start].rstrip()
    return head, text[len(head) :]


# Cautions ----------------------------------------------------------------------------------------


def _with_cautions(
    measured: TextComparison,
    inputs: Inputs,
    model: LanguageModel,
    generator: LanguageModel | None,
    options: LikelihoodOptions,
) -> TextComparison:
    """Say where the model that measures knows the texts too well."""
    systems, marks = [], _marks((model, generator))
    theirs = None if inputs.reference is None else _read(model, [inputs.reference])
    for result, system in zip(measured.systems, inputs.systems, strict=True):
        files = [file.samples for file in system.files]
        sides = (("its", _read(model, system.files)), ("the reference's", theirs))
        unread = unread_cautions(model.name, sides, remedy=OTHER_MODEL, option="`model`")
        result = _as_read(result, too_little(model.name, sides), sides[0][1])
        more = (*unread, *_wrote(files, model, generator), *_impossible(result))
        more = (*more, *_clipped(result), *_marked(files, options, marks))
        systems.append(_warned(result, (*more, *_ended_apart(system, inputs.reference, options))))
    cautions = (*_fitted(options), *_marked_reference(inputs, options, marks))
    reference = measured.reference and replace(measured.reference, reading=theirs)
    return replace(
        measured,
        reference=reference,
        systems=tuple(systems),
        cautions=worst_first((*measured.cautions, *cautions)),
        warnings=(*measured.warnings, *sentences(cautions)),
    )


def _read(model: LanguageModel, files: Sequence[InputSet]) -> SetReading | None:
    """Count what the model's tokenizer does not know of a set; None where nobody tells."""
    reading = ReadingCounts.joined([model.reading(list(file.samples)) for file in files])
    return None if reading is None else SetReading.of(reading, len(reading))


def _as_read(result: TextResult, reason: str | None, reading: SetReading | None) -> TextResult:
    """Return scores as they are; those by the model have none where it knows too few words."""
    result = replace(result, summary=replace(result.summary, reading=reading))
    if reason is None:
        return result
    scores = {
        key: score if _of_words(key) else score.without_value(reason)
        for key, score in result.scores.items()
    }
    spreads = {key: spread for key, spread in result.spreads.items() if _of_words(key)}
    gaps = {key: spread for key, spread in result.gap_spreads.items() if _of_words(key)}
    return replace(result, scores=scores, spreads=spreads, gap_spreads=gaps)


def _of_words(key: str) -> bool:
    """Whether a score is read from the words of the texts, without the model."""
    return key.partition(":")[0] in OF_WORDS


def _warned(result: TextResult, more: tuple[Caution, ...]) -> TextResult:
    return replace(
        result,
        cautions=worst_first((*result.cautions, *more)),
        warnings=(*result.warnings, *sentences(more)),
    )


def _wrote(
    files: Sequence[SampleSet], model: LanguageModel, generator: LanguageModel | None
) -> Iterator[Caution]:
    """Say that the texts were written by the model that measures them."""
    writers = list(filter(None, map(written_by, files)))
    writers += [] if generator is None else [(generator.name, generator.revision)]
    for name, revision in writers:
        other = bool(revision and model.revision) and revision != model.revision
        if _last(name) == _last(model.name) and not other:
            text = (
                f"its texts were written by {name!r}, the model that measures them: a model finds "
                "its own texts likelier than others; use another model"
            )
            yield Caution("scorer", "scored by the model that wrote it", text)
            return


def _marked(
    files: Sequence[SampleSet], options: LikelihoodOptions, marks: tuple[str, ...]
) -> Iterator[Caution]:
    """Say how many texts go on behind a mark that ends texts."""
    if options.ends != "keep":
        return
    marked = sum(has_mark(text, marks) for samples in files for text in samples)
    if marked:
        shown = ", ".join(dict.fromkeys((*marks, *MARKS[:NAMED])))
        text = (
            f"{counted(marked, 'text')} with a mark that ends texts ({shown}, ...): it and what "
            "follows it are scored too; `end_of_text='cut'` ends texts there"
        )
        yield Caution("truncation", "end-of-text marks in its texts", text, "`end_of_text`")


def _marked_reference(
    inputs: Inputs, options: LikelihoodOptions, marks: tuple[str, ...]
) -> Iterator[Caution]:
    """Say the same of the reference."""
    if inputs.reference is not None:
        for caution in _marked([inputs.reference.samples], options, marks):
            yield replace(caution, text=f"the reference has {caution.text}")


def _ended_apart(
    system: InputSystem, reference: InputSet | None, options: LikelihoodOptions
) -> Iterator[Caution]:
    """Say that ends of texts count on one side alone."""
    if options.ends != "count" or reference is None:
        return
    ours = sum(int(file.ended.sum()) for file in system.files if file.ended is not None)
    theirs = 0 if reference.ended is None else int(reference.ended.sum())
    if bool(ours) != bool(theirs):
        here, there = ("its own", "the reference") if ours else ("the reference", "its own")
        text = (
            f"in {counted(ours or theirs, 'text')} of {here} the end counts as a token, and in "
            f"none of {there}: only one side holds end-of-text marks; `end_of_text='cut'` treats "
            "both alike"
        )
        yield Caution("truncation", "ends counted on one side only", text, "`end_of_text`")


def _impossible(result: TextResult) -> Iterator[Caution]:
    """Say how many texts the two models are not compared on."""
    counts = [IMPOSSIBLE.search(score.signature) for score in result.scores.values()]
    left_out = max((int(count[1]) for count in counts if count is not None), default=0)
    if left_out:
        text = (
            f"{counted(left_out, 'text')} left out of the comparison of the two models: as it is "
            "read, the model that it stands for could not have written it"
        )
        yield Caution("undefined", "some texts are impossible", text)


def _clipped(result: TextResult) -> Iterator[Caution]:
    """Say that an estimate of a divergence was negative and counts as 0, or could not be made."""
    for score in result.scores.values():
        clipped = CLIPPED.search(score.signature)
        if clipped is None:
            continue
        if score.reason is not None:
            yield Caution("scorer", "not from the model it stands for", score.reason, "`generator`")
        else:
            text = (
                "the comparison of the two models estimates one of its divergences at "
                f"{clipped[1]} nats, which is negative by chance and counts as 0: its summaries "
                "make the models appear closer than measured"
            )
            yield Caution("ratios", "a negative divergence counts as 0", text)
        return


def _fitted(options: LikelihoodOptions) -> Iterator[Caution]:
    if is_fitted(options.model) and options.fit_on is None:
        text = (
            "the n-gram model was fitted to the very reference that it measures, whose texts it "
            "finds likelier than others; `fit_on=FILE` fits it to other texts"
        )
        yield Caution("scorer", "fitted to the reference", text, "`fit_on`")


def _last(name: str) -> str:
    """What two names of a model have in common, by folder or by owner on a hub."""
    return os.path.basename(os.path.normpath(name)).casefold()


def written_by(samples: SampleSet) -> tuple[str, str] | None:
    """Return the model that wrote a set, and its revision, from the first row of its file.

    In the fields ``model`` and ``revision``, as ``calipers generate`` writes them; None where the
    row does not tell.
    """
    path = Path(samples.source)
    if path.suffix.lower() not in (".jsonl", ".ndjson") or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            row = json.loads(file.readline(FIRST_ROW))
    except (OSError, ValueError, RecursionError):
        return None
    writer = row.get("model") if isinstance(row, dict) else None
    if not isinstance(writer, str) or not writer.strip():
        return None
    revision = row.get("revision")
    return writer, revision if isinstance(revision, str) else ""
