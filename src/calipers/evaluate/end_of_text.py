"""End-of-text marks in texts, and the convention for likelihoods beyond them.

Models write a mark where a text ends, and samples of a fixed number of tokens go on behind it with
another text. ``keep`` scores all of it as it stands. ``cut`` ends a text before its first mark, and
``count`` scores the token that ends texts there too, once, as the model that measures has it.

Marks are those that end texts, or turns of a conversation, for most models, and those of the
models that measure.

A mark that a text begins with ends nothing: for many models (GPT-2, OPT) the token that begins
texts is the one that ends them. It is left out. Where a prompt stands before the text, a mark at
its beginning ends it; marks within the prompt end nothing. Texts of which so nothing is left are
counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.prompts import behind_prompt
from calipers.samples import SampleSet
from calipers.samples.columns import StringColumn
from calipers.samples.kinds import TextData
from calipers.samples.wording import counted

MARKS = (
    *("<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>"),
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>", "<|eot|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>"),
)
"""Marks that end texts for most models, and the turns of chat models."""

Ended = NDArray[np.bool_]


@cache
def _patterns(more: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A mark, and marks at the beginning of a text; the longest of those that begin alike."""
    marks = sorted({*MARKS, *more}, key=len, reverse=True)
    mark = "|".join(map(re.escape, marks))
    return re.compile(mark), re.compile(rf"\A(?:\s*(?:{mark}))+")


def has_mark(text: str, marks: tuple[str, ...] = ()) -> bool:
    """Whether a text contains an end-of-text mark, one of `MARKS` or of `marks`."""
    return _patterns(marks)[0].search(text) is not None


def until_end(text: str, prompt: str = "", marks: tuple[str, ...] = ()) -> tuple[str, bool]:
    """Return the text before the first end-of-text mark, and whether there is one.

    `marks` are others than `MARKS`.

    Examples
    --------
    >>> until_end("A tale.<|endoftext|>Another"), until_end("</s>A tale")
    (('A tale.', True), ('A tale', False))
    """
    one, several = _patterns(marks)
    opening = several.match(text)
    begin = opening.end() if opening else 0
    behind = behind_prompt(text[begin:], prompt) if prompt else 0
    if opening and prompt and not behind:
        begin = 0
    mark = one.search(text, begin + behind)
    if mark:
        return text[begin : mark.start()], True
    return text[begin:], bool(begin) and not text[begin:].strip()


def cut_at_end(
    samples: SampleSet, *, count: bool, marks: tuple[str, ...] = ()
) -> tuple[SampleSet, Ended]:
    """Cut every text at its first end-of-text mark.

    Parameters
    ----------
    samples
        Texts, with prompts where their rows have them.
    count
        Whether the token that ends a text will be scored; the note says so.
    marks
        Marks that end texts beside `MARKS`, such as those of the model that measures.

    Returns
    -------
    tuple
        As many samples in the same order, with a note where any was cut; and which of them had a
        mark, bool of shape ``(n,)``. Samples without any mark are given as they are.
    """
    texts = list(samples)
    prompts = [""] * len(texts) if samples.prompts is None else list(samples.prompts)
    pairs = [until_end(*pair, marks) for pair in zip(texts, prompts, strict=True)]
    ended = np.array([end for _, end in pairs], np.bool_)
    changed = [new != old for (new, _), old in zip(pairs, texts, strict=True)]
    if not any(changed):
        return samples, ended
    column = StringColumn.of(text for text, _ in pairs)
    changed_texts = [text for (text, _), new in zip(pairs, changed, strict=True) if new]
    changed_prompts = [prompt for prompt, new in zip(prompts, changed, strict=True) if new]
    note = _note(
        int(ended.sum()), sum(changed), _empty(changed_texts, changed_prompts), count=count
    )
    notes = (*samples.reading_notes, note)
    return replace(samples, data=TextData(column), reading_notes=notes), ended


def _empty(texts: Sequence[str], prompts: Sequence[str]) -> int:
    """How many texts hold nothing behind their prompts."""
    pairs = zip(texts, prompts, strict=True)
    return sum(
        not text[behind_prompt(text, prompt) if prompt else 0 :].strip() for text, prompt in pairs
    )


def _note(cut: int, changed: int, empty: int, *, count: bool) -> str:
    """Say how many texts end at a mark, how many only begin with one, and how many are empty."""
    option = f"`end_of_text={'count' if count else 'cut'!r}`"
    parts = []
    if cut:
        scored = ", and the mark counts as one token" if count else ""
        ends = "ends" if cut == 1 else "end"
        parts.append(
            f"{counted(cut, 'text')} {ends} before an end-of-text mark: what follows is left "
            f"out{scored} ({option})"
        )
    if changed > cut:
        begins = "begins" if changed - cut == 1 else "begin"
        parts.append(
            f"{counted(changed - cut, 'text')} {begins} with an end-of-text mark, which is left out"
        )
    if empty:
        parts.append(
            f"{counted(empty, 'text')} of these {'is' if empty == 1 else 'are'} empty: the mark "
            "comes first"
        )
    return "; ".join(parts)
