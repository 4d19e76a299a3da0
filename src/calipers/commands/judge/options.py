"""The options of ``calipers judge``."""

from __future__ import annotations

import os
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    INPUT,
    LANGUAGE_MODEL,
    OUTPUT,
    Rule,
    option,
    options_class,
    reworded,
    share,
)

if TYPE_CHECKING:
    pass

from calipers.commands.generate.options import GenerateOptions
from calipers.options.inputs import Reading
from calipers.options.judged import Judged
from calipers.options.language_models import LanguageModelling, Loading, Writing
from calipers.options.rules import all_names
from calipers.options.running import Running, Seeded


def _check_judges(name: str, value: Any) -> None:
    from calipers.language_model.model import LanguageModel

    given = [value] if isinstance(value, str | os.PathLike | LanguageModel) else value
    fits = isinstance(given, list | tuple) and bool(given)
    if not fits or not all(
        isinstance(each, LanguageModel)
        or (isinstance(each, str | os.PathLike) and str(each).strip() != "")
        for each in given
    ):
        raise InputError(
            f"{name} must be the name of a language model, such as 'https://host/v1#gpt-4o-mini' "
            f"or './model', a language model, or a list of them; found {value!r}"
        )


def _share_of_all(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1; found {value!r}")


def _whole_share(text: str) -> float | None:
    found = float(text)
    return found if 0 <= found <= 1 else None


@options_class
class JudgeOptions(Running, Loading, Seeded, Judged, Reading):
    """The options of ``judge``."""

    model: Any = option(
        MISSING,
        "The judge: https://host/v1#MODEL for a server with OpenAI's interface, which is asked in "
        "its chat form, or a model of transformers by its folder or name. May be repeated, for "
        "several judges.",
        Rule("name language models", all_names, _check_judges, "NAME"),
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        several=True,
        required=True,
        common=True,
        complete=("https://api.openai.com/v1#", "http://localhost:8000/v1#", "./"),
        doc='The judge: ``"https://host/v1#MODEL"``, a folder or name of transformers, a '
        ":class:`~calipers.language_model.model.LanguageModel`, or a list of these.",
    )
    task: str | None = reworded(
        Judged,
        "task",
        "What is judged: pairs of texts of two systems, each in both orders; the quality of single "
        "texts on three scales from 1 to 5; or the diversity of batches of ten texts, yes or no. "
        "By default that of --rubric, else pairs.",
    )
    repeat_share: float = option(
        0.1,
        "Share of the items that are asked a second time, from 0 to 1, to see whether the judge "
        "agrees with itself.",
        Rule("be a number from 0 to 1", _whole_share, _share_of_all, "SHARE"),
        kept=True,
    )
    people: Any = option(
        None,
        "What people answered, as calipers annotate exports it: the judge is compared with them, "
        "item by item and system by system.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="What people answered: a table as ``calipers annotate`` exports it, or its judgements.",
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        kept=True,
    )
    decoding: Any = reworded(
        Writing,
        "decoding",
        "How answers are chosen: greedy, or sampled, such as temperature=1 (ancestral). Only "
        "sampled answers show how far a judge varies by itself.",
        default="greedy",
        common=False,
        doc='How answers are chosen: ``"greedy"``, ``"temperature=1"`` or a '
        ":class:`~calipers.language_model.decoding.Decoding`. Only sampled answers show how far a "
        "judge varies by itself.",
    )
    max_tokens: int = reworded(
        Writing,
        "max_tokens",
        "Most tokens of an answer, what the model thinks before it included.",
        common=False,
    )
    max_requests: int | None = reworded(
        LanguageModelling,
        "max_requests",
        "Stop after N requests to the server of a judge. What was received is kept, and the same "
        "command goes on from there.",
    )
    price: str | None = reworded(
        GenerateOptions,
        "price",
        "Price of a million tokens read, and of a million written, such as 0.15,0.60, to say what "
        "the answers cost.",
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the texts that are chosen, and of the answers. The same files and seed give the "
        "same items as calipers annotate.",
        doc="Of the texts that are chosen, and of the answers; the same files and seed give the "
        "same items as annotation by people.",
    )
    threads: int | None = reworded(Running, "threads", panel=LANGUAGE_MODEL)
    field: str | None = reworded(Reading, "field", common=False)
    dtype: str = reworded(
        Loading,
        "dtype",
        "Number format of the model. In float32 the seed fixes every answer; auto is faster on "
        "hardware with bfloat16, where it does not.",
    )
    batch_size: int | None = reworded(
        Loading,
        "batch_size",
        "Largest number of answers in one forward pass, or of requests under way.",
    )
    output: Any = option(
        None,
        "File to write the judgements to, as .csv or .jsonl. All answers are kept as they came in "
        "a folder beside it, and a run that was stopped goes on where it was.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE",
        required=True,
        common=True,
        doc="File to write the judgements to, .csv or .jsonl; None keeps them in memory. All "
        "answers are kept as they came in a folder beside it, and a run that was stopped goes on "
        "where it was.",
    )
    overwrite: bool = reworded(
        GenerateOptions, "overwrite", "Replace answers of another configuration in `output`."
    )
