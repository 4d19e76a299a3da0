"""``generate``: draw samples from a language model, by a decoding algorithm and a seed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calipers._version import __version__
from calipers.commands.generate.options import GenerateOptions
from calipers.commands.generate.result import Generation
from calipers.errors import InputError
from calipers.evaluate.inputs import Reader
from calipers.language_model.creative import INSTRUCTIONS
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Completion, LanguageModel, Passage
from calipers.language_model.models import find_language_model
from calipers.language_model.prompting import (
    BIOGRAPHIES,
    CONTINUE,
    Prompting,
    between,
    biographies,
    continuations,
    creative,
    cut_at,
    first_words,
    no_prompts,
)
from calipers.language_model.samples_file import REMEDY, Row, SamplesFile, kept_first
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.options.language_models import Generating
from calipers.progress import Progress, Silent
from calipers.samples import SampleSet
from calipers.samples.wording import counted
from calipers.unicode.written_words import counted_words

SAMPLES = 500
"""Samples where neither their number nor prompts are given."""

ALL = 1 << 62
"""More prompts than any file has."""

MEASURED = 1_000
"""Texts of the reference, at most, whose perplexity adversarial sampling comes close to."""


@keywords_of(GenerateOptions)
def generate(options: GenerateOptions) -> Generation:
    """Write samples of a language model, with or without prompts, reproducible from a seed.

    Each sample is drawn by uniform numbers determined by its index and the seed, so that in float32
    it does not depend on the batch, the order, or the other samples.

    Returns
    -------
    Generation
        ``generation.samples`` for :func:`calipers.compare`, ``generation.rows`` with all that is
        known of each; printing it shows a summary.

    Raises
    ------
    InputError
        If the model, the prompts or the decoding are invalid, or `output` holds samples of another
        configuration.
    MissingExtraError
        If the backend of the model is not installed.

    Examples
    --------
    >>> import calipers
    >>> texts = ["a b c", "a b d"] * 3
    >>> generation = calipers.generate(model="ngram:order=2", fit_on=texts, n=3, seed=0)
    >>> list(generation.samples.texts)
    ['a b c', 'a b', 'a b d']
    """
    reference = read_texts(options.reference, "reference", options.field)
    with limit_threads(options.threads):
        writer = open_writer(options, reference)
        decoding = writer.complete(Decoding.parse(options.decoding), reference)
        return writer.write(
            decoding,
            output=options.output,
            overwrite=options.overwrite,
            price=options.price,
            progress=options.progress or Silent(),
        )


def read_texts(value: Any, name: str, field: str | None) -> SampleSet | None:
    """Read texts in any supported form; None stays None.

    Raises
    ------
    InputError
        If they are no texts.
    """
    if value is None:
        return None
    samples = Reader(field).one(value, name)
    if samples.kind != "texts":
        raise InputError(f"{samples.source}: language models read texts, but this set holds none")
    return samples


def open_writer(options: Generating, reference: SampleSet | None) -> Writer:
    """Make the prompts and then load the model, so that mistakes are found before loading.

    Raises
    ------
    InputError
        If options do not fit together, or one of the two cannot be had.
    """
    prompting = make_prompts(options, reference)
    count = options.n or len(prompting.prompts) or SAMPLES
    model = open_model(options, reference)
    return Writer(
        model, prompting, count, options.max_tokens, options.seed, keep_prompt=options.keep_prompt
    )


def open_model(options: Generating, reference: SampleSet | None) -> LanguageModel:
    """Find the named model, and fit it where it needs training texts."""
    if isinstance(options.model, LanguageModel):
        return options.model
    given = read_texts(options.fit_on, "fit_on", options.field)
    fitted = reference if given is None else given
    return find_language_model(
        str(options.model),
        options.of_models(),
        fit_on=None if fitted is None else list(fitted),
        max_requests=options.max_requests,
        chat=options.chat,
    )


def make_prompts(options: Generating, reference: SampleSet | None) -> Prompting:
    """Make the prompts of a run from its options.

    Raises
    ------
    InputError
        If options exclude each other, or prompts are missing.
    """
    wanted = options.prompts is not None or options.prompt_words is not None
    task = options.task or ("continue" if wanted else "none")
    if task == "none" and options.chat:
        raise InputError(
            "`chat` needs something to ask: give `prompts=FILE`, `prompt_words=N`, "
            "`task='creative'` or `task='biographies'`"
        )
    if task in ("none", "creative") and wanted:
        raise InputError(
            f"`task={task!r}` takes no prompts of a person's own; leave out `prompts` and "
            "`prompt_words`"
        )
    asked = _instructions(options, task)
    if task == "none":
        return no_prompts()
    if task == "creative":
        return creative(asked or INSTRUCTIONS, chat=options.chat)
    if task == "biographies":
        return _biographies(options, _one(asked) or BIOGRAPHIES)
    samples = read_texts(options.prompts, "prompts", options.field)
    samples = reference if samples is None else samples
    if samples is None:
        raise InputError(
            "there is nothing to continue: give `prompts=FILE`, or `reference=FILE` with "
            "`prompt_words=N`"
        )
    most = options.n or ALL
    words = options.prompt_words
    return continuations(
        samples,
        words=words,
        most=most,
        seed=options.seed,
        chat=options.chat,
        instruction=_one(asked) or CONTINUE,
    )


def _instructions(options: Generating, task: str) -> tuple[str, ...]:
    """What is asked in place of the built-in wording; nothing where that holds.

    Raises
    ------
    InputError
        If nothing is asked in this way, or the file has no text.
    """
    if options.instructions is None:
        return ()
    if task == "none":
        raise InputError(
            "`instructions` needs something to ask: give `task='creative'`, `task='biographies'`, "
            "or prompts with `chat`"
        )
    if task == "continue" and not (options.chat and options.prompt_words):
        raise InputError(
            "`instructions` replaces what a chat model is told before the words that it continues: "
            "it needs `chat` and `prompt_words=N`; prompts by themselves are asked as they are"
        )
    samples = read_texts(options.instructions, "instructions", options.field)
    return tuple(text.strip() for text in samples or () if text.strip())


def _one(asked: tuple[str, ...]) -> str:
    """The instruction of a task that has one: its lines in their order."""
    return "\n".join(asked)


def _biographies(options: Generating, instruction: str) -> Prompting:
    if options.prompts is None or options.prompt_words is not None:
        raise InputError(
            "`task='biographies'` needs `prompts=FILE`, whose rows have the fields name and text, "
            "and no `prompt_words`"
        )
    samples = Reader(options.field, group="name").one(options.prompts, "prompts")
    if samples.groups is None:
        raise InputError(f"{samples.source}: biographies need the field 'name' in every row")
    return biographies(
        [str(name) for name in samples.groups],
        list(samples),
        shots=options.shots,
        n=options.n or SAMPLES,
        seed=options.seed,
        chat=options.chat,
        instruction=instruction,
    )


@dataclass(frozen=True, eq=False)
class Writer:
    """A model with its prompts, which writes a set of samples by any decoding.

    Attributes
    ----------
    model
        What writes.
    prompting
        What it is asked.
    n
        How many samples; prompts are used in turn.
    max_tokens
        Most tokens of a text.
    seed
        Of all samples; decodings share their uniform numbers.
    keep_prompt
        Whether texts are kept with their prompts.
    """

    model: LanguageModel
    prompting: Prompting
    n: int
    max_tokens: int
    seed: int
    keep_prompt: bool = False

    def configuration(self, decoding: Decoding) -> dict[str, Any]:
        """Everything that the samples of a decoding depend on, as plain data."""
        return {
            "model": self.model.name,
            "revision": self.model.revision,
            "backend": dict(self.model.signature),
            "decoding": decoding.to_dict(),
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "task": self.prompting.task,
            "chat": self.prompting.chat,
            "prompts": self.prompting.content_hash,
            "keep_prompt": self.keep_prompt,
            "n": self.n,
        }

    def complete(self, decoding: Decoding, reference: SampleSet | None) -> Decoding:
        """Complete a decoding: adversarial sampling needs the perplexity of real texts.

        Raises
        ------
        InputError
            If there is no reference to measure it on.
        """
        if decoding.method != "adversarial" or decoding.get("adversarial") is not None:
            return decoding
        if reference is None:
            raise InputError(
                "the decoding adversarial aims at the perplexity of real texts: give them "
                "with `reference=FILE`, or the perplexity itself, as in adversarial=20"
            )
        words = self.prompting.words or 0
        split = [first_words(text, words) for text in reference]
        passages = [Passage(f"{between(head, rest)}{rest}", head) for head, rest in split if rest]
        if not passages:
            most = counted_words(words, reference.word_unit)
            raise InputError(
                f"{reference.source}: no text has more than {most} (`prompt_words`), so the "
                "decoding adversarial has no perplexity to aim at; give it, as in "
                "adversarial=20"
            )
        scores = self.model.score(passages[:MEASURED])
        perplexity = math.exp(-float(np.mean(scores.log_probability)))
        return decoding.with_value("adversarial", f"{perplexity:.6g}")

    def write(
        self,
        decoding: Decoding,
        *,
        output: str | Path | None = None,
        overwrite: bool = False,
        remedy: str = REMEDY,
        price: str | None = None,
        progress: Progress | None = None,
        name: str | None = None,
    ) -> Generation:
        """Write all samples of a decoding, except those that are saved already.

        Parameters
        ----------
        decoding
            How tokens are chosen.
        output
            File of JSON lines; None keeps the samples in memory alone.
        overwrite
            Whether samples of another configuration there are replaced.
        remedy
            What to do where they are not.
        price
            Of a million tokens read, and written.
        progress
            Shows how many are written.
        name
            The name of the set; by default the decoding.

        Raises
        ------
        InputError
            If the model cannot do what is asked, or the file holds something else.
        """
        configuration = self.configuration(decoding)
        file = None if output is None else SamplesFile.at(output, configuration, remedy)
        known = {} if file is None else file.known(overwrite=overwrite)
        rows = {number: row for number, row in known.items() if number < self.n}
        missing = [number for number in range(self.n) if number not in rows]
        requests = [self.prompting.request(number) for number in missing]
        # What the model cannot do is refused here, before anything is on disk
        completions: Iterator[Completion] = iter(())
        if requests:
            completions = self.model.generate(
                requests, decoding, max_tokens=self.max_tokens, seed=self.seed
            )
        title = f"Writing {decoding}"
        opened = nullcontext(None) if file is None or not missing else file.writing(rows)
        with opened as journal, (progress or Silent()).task(title, self.n) as advance:
            advance(len(rows))
            arriving = kept_first(
                self.model, completions, lambda text: self._row(text, decoding), journal
            )
            with closing(arriving) as written:
                for row in written:
                    rows[row["id"]] = row
                    advance(1)
        ordered = [rows[number] for number in sorted(rows)]
        counts = self._counts(ordered, len(missing), price)
        if file is not None and (missing or not file.path.exists()):
            file.finish(ordered, counts)
        source = "<generated>" if file is None else str(file.path)
        return Generation(
            name=name or str(decoding),
            source=source,
            configuration=configuration,
            counts=counts,
            rows=tuple(ordered),
            notes=self._notes(counts["empty"]),
        )

    def _row(self, completion: Completion, decoding: Decoding) -> Row:
        prompt = self.prompting.prompt_of(completion.id)
        text, stopped = cut_at(completion.text, self.prompting.stop)
        named: Row = {}
        with_prompt = prompt is not None and self.keep_prompt
        if self.prompting.task == "biographies" and ":" in text:
            name, _, life = text.partition(":")
            named = {"name": name.strip()}
            text = text if with_prompt else life
        if prompt is not None and with_prompt:
            text = f"{prompt.kept if self.prompting.chat else prompt.before}{text}"
        prompt_fields = (
            {"prompt": prompt.text, "prompt_id": prompt.id} if prompt is not None else {}
        )
        return {
            "id": completion.id,
            "text": text.strip(),
            **named,
            **prompt_fields,
            "model": self.model.name,
            "revision": self.model.revision,
            "decoding": decoding.to_dict(),
            "seed": self.seed,
            "finish_reason": "stop" if stopped else completion.finish_reason,
            "tokens": completion.tokens,
            **(
                {}
                if completion.prompt_tokens is None
                else {"prompt_tokens": completion.prompt_tokens}
            ),
            **completion.details,
        }

    def _counts(self, rows: list[Row], new: int, price: str | None) -> dict[str, Any]:
        tokens = {
            "tokens": sum(row["tokens"] or 0 for row in rows),
            "prompt_tokens": sum(row.get("prompt_tokens") or 0 for row in rows),
        }
        cost = None
        if price is not None:
            read, written = map(float, price.split(","))
            cost = (tokens["prompt_tokens"] * read + tokens["tokens"] * written) / 1e6
        return {
            "calipers": __version__,
            "samples": len(rows),
            "new": new,
            **tokens,
            "finish_reasons": dict(Counter(row["finish_reason"] for row in rows)),
            "empty": sum(map(self._is_empty, rows)),
            "reproducible": self.model.reproducible,
            **({} if cost is None else {"price": price, "cost": round(cost, 6)}),
        }

    def _is_empty(self, row: Row) -> bool:
        """Whether nothing was written behind the prompt."""
        text, prompt = row["text"], self.prompting.prompt_of(row["id"])
        if prompt is not None and self.keep_prompt:
            opening = prompt.kept if self.prompting.chat else prompt.before
            text = text.removeprefix(opening.strip())
        return not text.strip()

    def _notes(self, empty: int) -> tuple[str, ...]:
        notes = list(self.prompting.notes)
        if empty:
            notes.append(
                f"{counted(empty, 'text')} of {self.n:,} {'is' if empty == 1 else 'are'} empty: "
                "the model ended them before it wrote a word"
            )
        if isinstance(self.model.reproducible, str):
            notes.append(self.model.reproducible)
        return (*notes, *self.model.told())
