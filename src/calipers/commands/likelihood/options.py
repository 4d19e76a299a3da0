"""The options of ``calipers likelihood``."""

from __future__ import annotations

import os
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    FLAG,
    INPUT,
    LANGUAGE_MODEL,
    OUTPUT,
    Rule,
    one_of,
    option,
    options_class,
    reworded,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from calipers.language_model.decoding import Decoding
    from calipers.language_model.model import LanguageModel
    from calipers.text.tokens import AnyTokenizer

from calipers.commands.text.options import TextOptions
from calipers.options.inputs import Labels, Sizes
from calipers.options.language_models import LanguageModelling, Loading, decoding
from calipers.options.rules import KEYS
from calipers.options.running import Running, Seeded, Tagged


def _check_model(name: str, value: Any) -> None:
    from calipers.language_model.model import LanguageModel

    if value is None or isinstance(value, LanguageModel):
        return
    if not isinstance(value, str | os.PathLike) or not str(value).strip():
        raise InputError(
            f"{name} must be the name of a language model, such as './gpt2' or 'ngram', a file of "
            f"log-probabilities (.npz) or a language model; found {value!r}"
        )


def _check_distribution(name: str, value: Any) -> None:
    from calipers.language_model.decoding import Decoding

    if value is None:
        return
    decoding = Decoding.parse(value)
    if decoding.method not in ("sample", "greedy"):
        raise InputError(
            f"{name} must choose each token from a distribution, as greedy, temperature, top_p and "
            f"top_k do; found {str(decoding)!r}"
        )


MODEL = Rule("name a language model", lambda text: text if text.strip() else None, _check_model)


@options_class
class LikelihoodOptions(Running, Loading, Tagged, Seeded, Sizes):
    """The options of ``likelihood``."""

    model: str | Path | LanguageModel = option(
        MISSING,
        "Language model that tells how likely the texts are, such as ./gpt2 or ngram. It is a "
        "causal model of transformers by its folder or name, ngram or ngram:order=3 for a model "
        "that is fitted here, https://host/v1#MODEL for a server, or a file of "
        "--log-probabilities. It should not be the model that wrote the texts.",
        MODEL,
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        required=True,
        common=True,
        complete=("ngram", "ngram:order=3"),
        doc="The language model that tells how likely the texts are: a folder or a name such as "
        '``"./gpt2"``, ``"ngram:order=3"``, ``"https://host/v1#MODEL"``, a file of '
        "`log_probabilities`, or a :class:`~calipers.language_model.model.LanguageModel`. It "
        "should not be the one that wrote the texts.",
    )
    reference: Any = reworded(
        TextOptions,
        "reference",
        "Reference texts, such as texts that people wrote: adds their numbers, and the gap. Any "
        "file that calipers compare reads; - is standard input.",
        doc="Texts that people wrote, in any form of one set. The numbers of both then stand "
        "beside each other, with the gap |ppl(Q) - ppl(P)|.",
    )
    generator: str | Path | LanguageModel | None = option(
        None,
        "The model that wrote the texts, named as for --model: both sides are also scored by it, "
        "which adds mauve:model and other summaries of the frontier of the two models.",
        MODEL,
        panel=LANGUAGE_MODEL,
        metavar="NAME",
        doc="The model that wrote the texts, in any form of `model`. Both sides are scored by it "
        "too, as `decoding` cuts it: adds ``mauve:model`` and other summaries.",
    )
    decoding: str | Decoding | None = option(
        None,
        "How tokens were chosen, such as top_p=0.9: adds how this decoder fits the texts. Its "
        "truncated, renormalised distribution is scored by the sparsemax score, ε-perplexity and "
        "the Jensen-Shannon divergence; it is that of --generator, or without one of --model.",
        Rule("name a decoding algorithm", decoding, _check_distribution, "DECODING"),
        panel=LANGUAGE_MODEL,
        common=True,
        complete=("ancestral", "greedy", "top_p=0.9", "top_k=40", "temperature=0.8"),
        doc='How the texts were chosen from the model, such as ``"top_p=0.9"``: adds how its '
        "truncated, renormalised distribution fits the texts. It is that of `generator`, or "
        "without one of `model`.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as perplexity,bits_per_byte, a family, or all; calipers metrics "
        "likelihood lists them. May be repeated. By default all that are fast.",
        KEYS,
        several=True,
        common=True,
        complete="likelihood_metrics",
        doc="Keys ``metric[:option…]``, in a list or in one string: ``perplexity:texts``, a family "
        "(``predictability``, ``variety``, ``decoder``, ``models``) or ``all``. None for those "
        "that are quick; ``calipers metrics likelihood`` lists them.",
    )
    suite: str | None = option(
        None,
        "generative-perplexity: for samples without prompts, adds naive samplers as negative "
        "controls, and precision, recall and MAUVE* of all. The controls are made from the "
        "reference; the plane of perplexity and entropy is drawn by calipers plot entropy-plane.",
        one_of("generative-perplexity", optional=True),
        kept=True,
        doc='``"generative-perplexity"``, for samples without prompts: adds naive samplers, made '
        "from the reference, as negative controls, and precision, recall and MAUVE* of all sets "
        "(:func:`calipers.compare`).",
    )
    first_token: str | None = option(
        None,
        "What becomes of the first token of a text, which nothing stands before: bos puts the "
        "token that begins texts before it, skip leaves it unscored and counts none of its bytes "
        "and words. By default bos, or skip where the model has no such token.",
        one_of("skip", "bos", optional=True),
        panel=LANGUAGE_MODEL,
        kept=True,
        doc='What becomes of a first token that nothing stands before: ``"bos"`` puts the token '
        'before it that begins texts, ``"skip"`` leaves it unscored and counts none of its bytes '
        'and words. None for ``"bos"``, or ``"skip"`` where a model has no such token.',
    )
    stride: int | None = option(
        None,
        "In texts longer than the context of the model, how many tokens the window moves at a "
        "time. By default half of the context.",
        whole(1, optional=True),
        panel=LANGUAGE_MODEL,
        kept=True,
        doc="How far the window moves in texts that are longer than the context, in tokens; None "
        "for half of it.",
    )
    end_of_text: str | None = option(
        None,
        "What becomes of texts that hold an end-of-text mark such as <|endoftext|> or </s>, or "
        "one of the model: cut "
        "ends them before the first one, count does too and scores the token that ends texts once, "
        "keep scores all as it stands. By default cut with --suite, else keep, with a warning.",
        one_of("cut", "count", "keep", optional=True),
        panel=LANGUAGE_MODEL,
        doc="What becomes of texts that hold an end-of-text mark such as ``<|endoftext|>``: "
        '``"cut"`` ends them before the first one, ``"count"`` does too and scores the token that '
        'ends texts once, ``"keep"`` scores all as it stands. None for ``"cut"`` with `suite`, '
        'else ``"keep"``, with a warning.',
    )
    given_prompt: bool = option(
        False,
        "Score every text given its prompt, which is read from the field prompt of its row and is "
        "not scored itself. By default texts are scored alone.",
        FLAG,
        panel=INPUT,
        kept=True,
        doc="Score every text given the prompt in its row (``SampleSet.prompts``), which is not "
        "scored itself.",
    )
    fit_on: Any = option(
        None,
        "With --model ngram: fit it to these texts. By default to the reference, which then looks "
        "more likely than it should.",
        panel=LANGUAGE_MODEL,
        metavar="FILE",
        source=True,
        doc="The texts that an n-gram model is fitted to, in any form of one set; by default the "
        "reference itself, which then looks more likely than it should.",
    )
    log_probabilities: str | Path | None = option(
        None,
        "Keep the log-probabilities of all tokens by --model in this file (.npz), which --model "
        "and --generator then take in place of the model.",
        panel=OUTPUT,
        metavar="FILE.npz",
        doc="A file (``.npz``) in which the log-probabilities of all tokens are kept; `model` and "
        "`generator` then take it in place of the model.",
    )
    max_samples: int | None = reworded(
        TextOptions,
        "max_samples",
        "Use at most N texts of every set, chosen at random.",
        doc="Cut every set to this many texts.",
    )
    keep_sizes: bool = reworded(
        TextOptions,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest.",
        doc="Leave the sets as large as they are; by default all are cut to the smallest.",
    )
    match_length: int | None = reworded(
        Labels,
        "match_length",
        "Truncate all texts to this many words first, because predictability and entropy depend "
        "on text length.",
    )
    tokenizer: AnyTokenizer = reworded(
        TextOptions,
        "tokenizer",
        "How texts are split into tokens for unigram_entropy: by whitespace, nltk, characters, "
        "minilm, or hf:NAME for the tokenizer of the model, by name or folder. The other metrics "
        "count the tokens of the model.",
        default="whitespace",  # needs no package
        common=False,
        doc="What makes the tokens of ``unigram_entropy``; the other metrics take the model's.",
    )
    level: float | None = reworded(TextOptions, "level")
    dtype: str = reworded(
        Loading,
        "dtype",
        "Number format of the model. float32 gives the same numbers on every machine but for the "
        "last digits; auto is faster on hardware with bfloat16 and changes them slightly.",
    )
    endpoint: str | None = reworded(
        Loading,
        "endpoint",
        "Server with OpenAI's interface that has the model that --model names and tells the "
        "log-probabilities of given texts. The key is read from CALIPERS_ENDPOINT_KEY, or for "
        "api.openai.com from OPENAI_API_KEY.",
    )
    max_requests: int | None = reworded(
        LanguageModelling, "max_requests", "Most requests that are sent to a server."
    )
    threads: int | None = reworded(TextOptions, "threads")

    def __post_init__(self) -> None:
        """Check every value, and that what is needed together is there."""
        super().__post_init__()
        if self.generator is not None and self.reference is None:
            raise InputError(
                "generator (--generator) compares two models on the texts of both sides; give "
                "the reference too (--reference FILE, reference=...)"
            )
        if self.suite is not None and self.reference is None:
            raise InputError(
                "suite (--suite) makes its controls from the reference; give one (--reference "
                "FILE, reference=...)"
            )
        path = self.log_probabilities
        if path is not None and not str(path).lower().endswith(".npz"):
            raise InputError(
                f"log_probabilities (--log-probabilities) must name a file that ends in .npz; "
                f"found {str(path)!r}"
            )
        self.of_models()

    @property
    def ends(self) -> str:
        """The convention for marks that end texts: ``"cut"``, ``"count"`` or ``"keep"``."""
        return self.end_of_text or ("keep" if self.suite is None else "cut")
