"""The options of ``calipers generate``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    FLAG,
    INPUT,
    LANGUAGE_MODEL,
    OUTPUT,
    Rule,
    option,
    options_class,
    reworded,
)

if TYPE_CHECKING:
    pass

from calipers.options.language_models import Generating
from calipers.options.running import Running, Seeded


def _price(text: str) -> str | None:
    numbers = [float(part) for part in text.split(",")]
    fits = len(numbers) == 2 and all(0 <= number < math.inf for number in numbers)
    return text if fits else None


def _check_price(name: str, value: Any) -> None:
    try:
        fits = value is None or _price(value) is not None
    except (AttributeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"{name} must be two numbers such as 0.15,0.60; found {value!r}")


@options_class
class GenerateOptions(Running, Generating):
    """The options of ``generate``."""

    threads: int | None = reworded(Running, "threads", panel=LANGUAGE_MODEL)
    reference: Any = option(
        None,
        "Real texts: the model ngram is fitted on them, --prompt-words takes prompts from them, "
        "and the decoding adversarial takes its perplexity from them.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the samples: with the number of a sample it fixes the random numbers that it is "
        "drawn by.",
        panel=LANGUAGE_MODEL,
        doc="With the number of a sample it fixes the random numbers that it is drawn by.",
    )
    price: str | None = option(
        None,
        "Price of a million tokens read, and of a million written, such as 0.15,0.60, to say what "
        "the samples cost.",
        Rule("be two numbers such as 0.15,0.60", _price, _check_price, "IN,OUT"),
        panel=LANGUAGE_MODEL,
    )
    output: Any = option(
        None,
        "File to write the samples to, as JSON lines. A run that was stopped goes on where it was.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE.jsonl",
        required=True,
        common=True,
        doc="File to write the samples to, as JSON lines; None keeps them in memory. A run that "
        "was stopped goes on where it was.",
    )
    overwrite: bool = option(
        False,
        "Replace samples of another configuration in `output`.",
        FLAG,
        flag=(),
    )
