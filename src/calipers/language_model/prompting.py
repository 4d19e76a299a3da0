"""Prompts for generation, in the four ways of paper 000 (appendix B.3 to B.6).

``continue``
    the first words of each text of a file, or the field ``prompt`` of its rows; for a chat model an
    instruction with all but the last of these words, which the reply begins with, so that no reply
    opens with a phrase of its own; a whole prompt is asked as it is
``biographies``
    a list of biographies, k of them as examples, that ends where the next one begins
``creative``
    instructions to write something, repeated until there are enough samples
``none``
    nothing: texts from their beginning

Lengths count words, since models split texts into tokens differently.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from calipers.errors import InputError
from calipers.language_model.creative import INSTRUCTIONS
from calipers.language_model.model import Request
from calipers.language_model.sampling import stream
from calipers.numeric.subsample import subsample_rows
from calipers.samples import SampleSet
from calipers.samples.wording import counted, numbered
from calipers.unicode.written_words import counted_words, gap, split_words, word_spans

Task = Literal["continue", "biographies", "creative", "none"]

CONTINUE = "Continue the following text:"
"""What a chat model is told before the words that it continues (paper 000, table B.3)."""

BIOGRAPHIES = "Write biographies of various people."
"""What stands above a list of biographies (paper 000, table B.6)."""

BIOGRAPHY = "- Biography of"
"""What each biography of a list begins with."""


@dataclass(frozen=True)
class Prompt:
    """One prompt with its metadata.

    Attributes
    ----------
    id
        Of the row that it comes from, counted from 0; for instructions their number.
    text
        What is taken off the texts that it begins, or the instruction.
    before
        What a model without chat is given; the continuation follows it.
    asked
        What a chat model is told; None where only continuation makes sense.
    lead
        What the reply of a chat model begins with.
    """

    id: str
    text: str
    before: str
    asked: str | None = None
    lead: str = ""

    @property
    def kept(self) -> str:
        """The text before a chat model's reply, where texts are saved with their prompts."""
        return self.text if self.lead else f"{self.text}\n\n"


@dataclass(frozen=True)
class Prompting:
    """The prompts of a run, and notes on them.

    Attributes
    ----------
    task
        Which way they were made.
    prompts
        In the order of the rows; empty where texts are written from their beginning.
    chat
        Whether they are asked as a conversation.
    stop
        What a text ends before, such as the mark of the next biography.
    words
        How many words of each text are its prompt; None where prompts were given by themselves.
    rest
        What stood behind each prompt in its text: what a person wrote there. None where prompts
        were given by themselves.
    notes
        What was left out, and why.
    """

    task: Task
    prompts: tuple[Prompt, ...] = ()
    chat: bool = False
    stop: tuple[str, ...] = ()
    words: int | None = None
    rest: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        """SHA-256 in hex of everything that a model is given; equal hashes mean equal requests."""
        prompts = [[p.id, p.before, p.asked, p.lead] for p in self.prompts]
        text = json.dumps([self.task, self.chat, self.stop, prompts], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def prompt_of(self, sample: int) -> Prompt | None:
        """Return the prompt of a sample; prompts are used in turn; None without prompts."""
        return self.prompts[sample % len(self.prompts)] if self.prompts else None

    def request(self, sample: int) -> Request:
        """Return the request for a sample."""
        prompt = self.prompt_of(sample)
        if prompt is None:
            return Request(sample)
        if self.chat:
            message = {"role": "user", "content": prompt.asked or prompt.before}
            return Request(sample, prompt.lead, (message,))
        return Request(sample, prompt.before)


def no_prompts() -> Prompting:
    """Request texts without prompts."""
    return Prompting("none")


def first_words(text: str, words: int) -> tuple[str, str]:
    """Split a text after its first words, dropping the white space in between.

    Parameters
    ----------
    text
        The text; white space before its first word is left out.
    words
        How many words: what white space separates, and characters of scripts without spaces
        (:mod:`calipers.unicode.written_words`).

    Examples
    --------
    >>> first_words(" Once upon  a time, there", 3)
    ('Once upon  a', 'time, there')
    >>> first_words("从前有一个国王，他有三个女儿。", 8)
    ('从前有一个国王，他', '有三个女儿。')
    """
    ends = [stop for _, stop in islice(word_spans(text), words)]
    end = ends[-1] if ends else 0
    return text[:end].lstrip(), text[end:].lstrip()


CLOSING = frozenset(".,;:!?%)]}…’”»-–—'")
"""Marks that no space stands before."""


def between(prompt: str, text: str) -> str:
    """Return what separates a prompt from its continuation: a space, or nothing.

    Samples are kept without the white space around them, so that the space must be put back before
    both are read as one text.

    Examples
    --------
    >>> between("Once upon", "a time"), between("Once upon a time", ", there")
    (' ', '')
    """
    joined = prompt[-1:].isspace() or text[:1].isspace() or text[:1] in CLOSING
    return "" if not prompt or not text or joined else gap(prompt, text)


def continuations(
    samples: SampleSet,
    *,
    words: int | None,
    most: int,
    seed: int,
    chat: bool = False,
    instruction: str = CONTINUE,
) -> Prompting:
    """Make prompts from texts: their first words, or the prompts that rows name.

    Parameters
    ----------
    samples
        Texts, or prompts by themselves.
    words
        How many words of each text are the prompt; None for the field ``prompt`` of the rows, or
        where they have none the whole text.
    most
        Most prompts, chosen at random by `seed`, in their order.
    seed
        As said.
    chat
        Whether a chat model is asked.
    instruction
        What a chat model is told before the words that it continues.

    Raises
    ------
    InputError
        If the set holds no texts, or no text is longer than the prompt.
    """
    where = samples.place
    if samples.kind != "texts":
        raise InputError(f"{where}: prompts are texts, but this set holds {samples.kind}")
    texts = list(samples)
    named = samples.prompts if words is None else None
    if named is not None:
        split = list(zip(named, texts, strict=True))
    elif words is None:
        split = [(text.strip(), "") for text in texts]
    else:
        split = [first_words(text, words) for text in texts]
    short = [
        row
        for row, (before, rest) in enumerate(split)
        if not before.strip() or (words is not None and not rest)
    ]
    rows = [row for row in range(len(split)) if row not in set(short)]
    if not rows:
        needed = "a prompt" if words is None else f"more than {_counted(words, samples)}"
        raise InputError(f"{where}: no text has {needed}; {_use(words)}")
    chosen = [rows[place] for place in subsample_rows(len(rows), most, seed=seed)]
    notes = []
    if short:
        why = "is empty" if words is None else f"has no more than {_counted(words, samples)}"
        rows_said = numbered("row", [row + 1 for row in short])
        notes.append(
            f"{counted(len(short), 'text')} of {where} {why if len(short) == 1 else _many(why)} "
            f"and gave no prompt ({rows_said})"
        )
    return Prompting(
        "continue",
        tuple(
            _made(str(row), split[row][0], words=words, chat=chat, instruction=instruction)
            for row in chosen
        ),
        chat=chat,
        words=words,
        rest=tuple(split[row][1] for row in chosen) if words is not None else None,
        notes=tuple(notes),
    )


def _counted(words: int, samples: SampleSet) -> str:
    return counted_words(words, samples.word_unit)


def _use(words: int | None) -> str:
    return "give a file with prompts" if words is None else "use fewer `prompt_words`"


def _many(why: str) -> str:
    return why.replace("is ", "are ").replace("has ", "have ")


def _made(id: str, text: str, *, words: int | None, chat: bool, instruction: str) -> Prompt:
    """Make a prompt; a chat model continues openings, and is asked whole prompts as they are."""
    if not chat:
        return Prompt(id, text, text)
    if words is None:
        return Prompt(id, text, text, text)
    last = split_words(text)[-1]
    beginning = text[: text.rindex(last)]
    return Prompt(id, text, text, f"{instruction}\n{beginning}".rstrip(), last)


def creative(instructions: Sequence[str] = INSTRUCTIONS, *, chat: bool = False) -> Prompting:
    """Make prompts from fifty instructions for creative writing (after paper 000, appendix B.6).

    A model without chat is given the instruction as the heading of a text.

    Parameters
    ----------
    instructions
        What is asked, in turn; the authors' own stand in listing 1 of the paper.
    chat
        Whether a chat model is asked.
    """
    prompts = (
        Prompt(str(number), instruction, f"{instruction}\n\n", instruction)
        for number, instruction in enumerate(instructions)
    )
    return Prompting("creative", tuple(prompts), chat=chat)


def biographies(
    names: Sequence[str],
    texts: Sequence[str],
    *,
    shots: int,
    n: int,
    seed: int,
    chat: bool = False,
    instruction: str = BIOGRAPHIES,
) -> Prompting:
    """Make prompts for biographies after k examples (paper 000, appendix B.5).

    Parameters
    ----------
    names, texts
        Of the biographies that examples are drawn from.
    shots
        How many examples each prompt has; drawn for each sample by itself.
    n
        How many samples, each with a prompt of its own.
    seed
        Of the draws.
    chat
        Whether a chat model is asked.
    instruction
        What stands above the examples.

    Raises
    ------
    InputError
        If there are fewer biographies than examples.
    """
    if shots > len(texts):
        raise InputError(
            f"shots must be at most {len(texts)}, the number of biographies; found {shots}"
        )
    lines = [
        f"{BIOGRAPHY} {name.strip()}: {' '.join(text.split())}"
        for name, text in _pairs(names, texts)
    ]
    prompts = []
    for sample in range(n):
        chosen = stream(seed, sample).permutation(len(lines))[:shots].tolist()
        examples = "".join(f"{lines[row]}\n" for row in chosen)
        head = f"{instruction}\n{'Here are a few examples:' if chosen and chat else ''}".rstrip()
        shown_examples = f"{head}\n{examples}"
        prompts.append(
            Prompt(
                str(sample),
                BIOGRAPHY,
                f"{shown_examples}{BIOGRAPHY}",
                shown_examples.rstrip(),
                BIOGRAPHY,
            )
        )
    return Prompting("biographies", tuple(prompts), chat=chat, stop=("\n- ", f"\n{BIOGRAPHY}"))


def _pairs(names: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    if len(names) != len(texts):
        raise InputError(
            f"biographies need a name for each text; found {len(names)} and {len(texts)}"
        )
    return list(zip(names, texts, strict=True))


def cut_at(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """Cut a text at the first of some marks; tell whether there was one.

    Examples
    --------
    >>> cut_at("Ada: born 1815\\n- Biography of Bo", ["\\n- "])
    ('Ada: born 1815', True)
    """
    places = [place for mark in stop if (place := text.find(mark)) >= 0]
    return (text[: min(places)], True) if places else (text, False)
