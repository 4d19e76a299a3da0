"""The options of ``calipers generate``."""

from __future__ import annotations

import math
from typing import Any

from calipers.options.language_models import Generating
from calipers.options.option import INPUT, LANGUAGE_MODEL, OUTPUT, option, options_class, reworded
from calipers.options.rules import FLAG, Rule
from calipers.options.running import Running, Seeded


def _is_price(value: Any) -> bool:
    try:
        numbers = [float(part) for part in value.split(",")]
    except (AttributeError, ValueError):
        return False
    return len(numbers) == 2 and all(0 <= number < math.inf for number in numbers)


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
        "Seed of the samples: with the index of a sample it fixes the random numbers of that "
        "sample.",
        panel=LANGUAGE_MODEL,
    )
    price: str | None = option(
        None,
        "Prices per million input and output tokens, such as 0.15,0.60, to report what the samples "
        "cost.",
        Rule("be two numbers such as 0.15,0.60", _is_price, metavar="IN,OUT"),
        panel=LANGUAGE_MODEL,
    )
    output: Any = option(
        None,
        "File to write the samples to, as JSON lines. A stopped run continues where it was. "
        "In Python None leaves them in memory.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE.jsonl",
        required=True,
        common=True,
    )
    overwrite: bool = option(
        False,
        "Replace samples of another configuration in `output`.",
        FLAG,
        flag=(),
    )
