"""The options of ``calipers judge``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from calipers.commands.generate.options import GenerateOptions
from calipers.options.inputs import Reading
from calipers.options.judged import Judged
from calipers.options.language_models import (
    LanguageModelling,
    Loading,
    Writing,
    is_language_model,
)
from calipers.options.option import INPUT, LANGUAGE_MODEL, OUTPUT, option, options_class, reworded
from calipers.options.rules import Rule, all_names, is_number, share
from calipers.options.running import Running, Seeded


def _are_judges(value: Any) -> bool:
    judges = value if isinstance(value, list | tuple) else [value]
    return len(judges) > 0 and all(map(is_language_model, judges))


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


@options_class
class JudgeOptions(Running, Loading, Seeded, Judged, Reading):
    """The options of ``judge``."""

    model: Any = option(
        MISSING,
        "The judge: https://host/v1#MODEL for a server with OpenAI's interface, which is asked in "
        "its chat form, or a model of transformers by its folder or name. May be repeated, for "
        "several judges. In Python also a :class:`~calipers.language_model.model.LanguageModel`, "
        "or a list of any of these.",
        Rule("name language models", _are_judges, all_names),
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        several=True,
        required=True,
        common=True,
        complete=("https://api.openai.com/v1#", "http://localhost:8000/v1#", "./"),
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
        Rule("be a number from 0 to 1", _is_share, float, "SHARE"),
        setting=True,
    )
    people: Any = option(
        None,
        "What people answered, as calipers annotate exports it: the judge is compared with them, "
        "item by item and system by system. In Python also the judgements of a study.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        setting=True,
    )
    decoding: Any = reworded(
        Writing,
        "decoding",
        "How answers are chosen: greedy, or sampled, such as temperature=1 (ancestral). Only "
        "sampled answers show how much a judge varies between runs. In Python also a "
        ":class:`~calipers.language_model.decoding.Decoding`.",
        default="greedy",
        common=False,
    )
    max_tokens: int = reworded(
        Writing,
        "max_tokens",
        "Maximum number of tokens of an answer, including what the model thinks before it.",
        common=False,
    )
    max_requests: int | None = reworded(
        LanguageModelling,
        "max_requests",
        "Stop after N requests to the server of a judge. What was received is kept, and the same "
        "command continues from there.",
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
        "a folder beside it, and a stopped run continues where it was. In Python "
        "None leaves them in memory.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE",
        required=True,
        common=True,
    )
    overwrite: bool = reworded(
        GenerateOptions, "overwrite", "Replace answers of another configuration in `output`."
    )
