"""The options of ``calipers huse``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from calipers.errors import InputError
from calipers.options.inputs import Reading
from calipers.options.judged import Judged
from calipers.options.language_models import LanguageModelling, Loading, is_language_model
from calipers.options.option import (
    CERTAINTY,
    INPUT,
    LANGUAGE_MODEL,
    option,
    options_class,
    reworded,
)
from calipers.options.rules import FLAG, NAME, Rule, share, whole
from calipers.options.running import Running, Seeded
from calipers.uncertainty.huse import K

MODEL = Rule("name a language model", lambda value: value is None or is_language_model(value))


@options_class
class HuseOptions(Running, Loading, Seeded, Reading):
    """The options of ``huse``."""

    judgements: Any = option(
        MISSING,
        "Judgements of single texts, as calipers annotate or calipers judge wrote them with --task "
        "quality, or a table with the columns system, text and the answers. May be repeated; in "
        "Python a list.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        several=True,
        required=True,
        common=True,
    )
    question: str | None = option(
        None,
        "The question whose answers count, such as how typical a text is; a column of the "
        "judgements. By default the only one.",
        NAME,
        panel=INPUT,
        setting=True,
        common=True,
    )
    likelihoods: Any = option(
        None,
        "How likely the model that wrote the texts finds each text of both sets: what calipers "
        "likelihood wrote with --reference, --keep-sizes, --per-sample and --json. In Python also "
        "its result.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
    )
    model: Any = option(
        None,
        "The model that wrote the texts, in place of --likelihoods: anything that --model of "
        "calipers likelihood takes.",
        MODEL,
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        common=True,
        complete=("ngram", "./"),
    )
    fit_on: Any = reworded(
        LanguageModelling,
        "fit_on",
        "With --model ngram: the texts that the model which wrote was fitted on.",
    )
    given_prompt: bool = option(
        False,
        "With --model: score every text given the prompt in the field prompt of its row. With "
        "--likelihoods, give it to calipers likelihood.",
        FLAG,
        panel=LANGUAGE_MODEL,
        setting=True,
    )
    k: int = option(K, "Number of nearest neighbours that vote.", whole(1), setting=True)
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        panel=CERTAINTY,
        setting=True,
    )
    max_words: int | None = reworded(
        Judged,
        "max_words",
        "Raters saw at most N words of each text, as set by --max-words of calipers annotate or "
        "calipers judge.",
    )
    drop_flagged: bool = option(
        False,
        "Leave out judgements that are flagged as doubtful, such as those that came too fast. By "
        "default they are included, and counted.",
        FLAG,
        panel=INPUT,
        setting=True,
    )

    def __post_init__(self) -> None:
        """Check every value, and that likelihoods come from one place."""
        super().__post_init__()
        if (self.likelihoods is None) == (self.model is None):
            found = "neither" if self.model is None else "both"
            raise InputError(
                "HUSE needs the likelihood of every text: give either "
                f"`likelihoods` or `model`; found {found}"
            )
        for name, value in (("given_prompt", self.given_prompt), ("fit_on", self.fit_on)):
            if value not in (None, False) and self.model is None:
                raise InputError(
                    f"`{name}` goes with `model`; with `likelihoods` give it to "
                    "`calipers.likelihood`"
                )
        self.of_models()
