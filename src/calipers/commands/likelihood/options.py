"""The options of ``calipers likelihood``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import INPUT, LANGUAGE_MODEL, OUTPUT, option, options_class, reworded
from calipers.options.rules import FLAG, Rule, one_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from calipers.language_model.decoding import Decoding
    from calipers.language_model.model import LanguageModel
    from calipers.text.tokens import AnyTokenizer

from calipers.commands.text.options import TextOptions
from calipers.options.inputs import Labels, Sizes
from calipers.options.language_models import (
    LanguageModelling,
    Loading,
    is_language_model,
    may_name_model,
)
from calipers.options.rules import LIKELIHOOD_METRICS
from calipers.options.running import Running, Seeded, Tagged


def _is_distribution(value: Any) -> bool:
    from calipers.language_model.decoding import Decoding

    return Decoding.parse(value).method in ("sample", "greedy")


MODEL = Rule(
    "name a language model", lambda value: is_language_model(value) and may_name_model(value)
)
DISTRIBUTION = Rule(
    "choose each token from a distribution, as greedy, temperature, top_p and top_k do",
    _is_distribution,
    metavar="DECODING",
)


@options_class
class LikelihoodOptions(Running, Loading, Tagged, Seeded, Sizes):
    """The options of ``likelihood``."""

    model: str | Path | LanguageModel = option(
        MISSING,
        "Language model that tells how likely the texts are, such as ./gpt2 or ngram. It is a "
        "causal model of transformers by its folder or name, a GGUF file, ngram or ngram:order=3 "
        "for a model that is fitted here, https://host/v1#MODEL for a server, or a file of "
        "--log-probabilities; in Python also a "
        ":class:`~calipers.language_model.model.LanguageModel`. It should not be the model that "
        "wrote the texts.",
        MODEL,
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        required=True,
        common=True,
        complete=("ngram", "ngram:order=3"),
    )
    reference: Any = reworded(
        TextOptions,
        "reference",
        "Reference texts, such as human texts: adds their scores, and the gap. The "
        "gap is |ppl(Q) - ppl(P)|. Any file that calipers compare reads; - is standard input.",
    )
    generator: str | Path | LanguageModel | None = option(
        None,
        "The model that wrote the texts, named as for --model: both sides are also scored by it, "
        "as --decoding cuts it, which adds mauve:model and other summaries of the frontier of the "
        "two models.",
        MODEL,
        panel=LANGUAGE_MODEL,
        metavar="NAME",
    )
    decoding: str | Decoding | None = option(
        None,
        "How tokens were chosen, such as top_p=0.9: adds how this decoder fits the texts. Its "
        "truncated, renormalised distribution is scored by the sparsemax score, ε-perplexity and "
        "the Jensen-Shannon divergence; it is that of --generator, or without one of --model.",
        DISTRIBUTION,
        panel=LANGUAGE_MODEL,
        common=True,
        complete=("ancestral", "greedy", "top_p=0.9", "top_k=40", "temperature=0.8"),
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as perplexity,bits_per_byte, a family, or all; calipers metrics "
        "likelihood lists them. A key is metric[:option…], as in perplexity:texts; families are "
        "predictability, variety, decoder and models. May be repeated; in Python a list or one "
        "text. By default all that are fast.",
        LIKELIHOOD_METRICS,
        several=True,
        common=True,
        complete="likelihood_metrics",
    )
    suite: str | None = option(
        None,
        "For samples without prompts, generative-perplexity adds naive samplers as negative "
        "controls, and precision, recall and MAUVE* of all sets, as :func:`calipers.compare` "
        "computes them. The controls are made from the reference; the plane of perplexity and "
        "entropy is drawn by calipers plot entropy-plane.",
        one_of("generative-perplexity"),
        setting=True,
    )
    first_token: str | None = option(
        None,
        "How the first token of a text, which nothing precedes, is scored: bos puts the token that "
        "begins texts before it, skip leaves it unscored and excludes its bytes and words. By "
        "default bos, or skip where the model has no such token.",
        one_of("skip", "bos"),
        panel=LANGUAGE_MODEL,
        setting=True,
    )
    stride: int | None = option(
        None,
        "Tokens that the window moves at a time, in texts longer than the context of the model. By "
        "default half of the context.",
        whole(1),
        panel=LANGUAGE_MODEL,
        setting=True,
    )
    end_of_text: str | None = option(
        None,
        "What becomes of texts that hold an end-of-text mark such as <|endoftext|> or </s>, or "
        "one of the model: cut "
        "ends them before the first one, count does too and scores the token that ends texts once, "
        "keep scores all as it is. By default cut with --suite, else keep, with a warning.",
        one_of("cut", "count", "keep"),
        panel=LANGUAGE_MODEL,
    )
    given_prompt: bool = option(
        False,
        "Score every text given its prompt, which is read from the field prompt of its row (in "
        "Python ``SampleSet.prompts``) and is not scored itself. By default texts are "
        "scored alone.",
        FLAG,
        panel=INPUT,
        setting=True,
    )
    fit_on: Any = option(
        None,
        "With --model ngram: fit it to these texts. By default to the reference, which then looks "
        "more likely than it should.",
        panel=LANGUAGE_MODEL,
        metavar="FILE",
        source=True,
    )
    log_probabilities: str | Path | None = option(
        None,
        "Keep the log-probabilities of all tokens by --model in this file (.npz), which --model "
        "and --generator then take in place of the model.",
        panel=OUTPUT,
        metavar="FILE.npz",
    )
    max_samples: int | None = reworded(
        TextOptions,
        "max_samples",
        "Use at most N texts of every set, chosen at random.",
    )
    keep_sizes: bool = reworded(
        TextOptions,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest.",
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
        "How texts are split into tokens for unigram_entropy: by whitespace, nltk, unicode, "
        "characters, minilm, or hf:NAME for the tokenizer of the model, by name or folder. The "
        "other metrics count the tokens of the model.",
        default="whitespace",  # needs no package
        common=False,
    )
    level: float | None = reworded(TextOptions, "level")
    dtype: str = reworded(
        Loading,
        "dtype",
        "Number format of the model. float32 gives the same numbers on every machine up to the "
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
        LanguageModelling, "max_requests", "Maximum number of requests to a server."
    )
    threads: int | None = reworded(TextOptions, "threads")

    def __post_init__(self) -> None:
        """Check every value, and that what is needed together is there."""
        super().__post_init__()
        if self.generator is not None and self.reference is None:
            raise InputError(
                "`generator` compares two models on the texts of both sides; give `reference` too"
            )
        if self.suite is not None and self.reference is None:
            raise InputError(
                "`suite` makes its controls from the reference; give one (`reference`)"
            )
        path = self.log_probabilities
        if path is not None and not str(path).lower().endswith(".npz"):
            raise InputError(
                f"`log_probabilities` must name a file that ends in .npz; found {str(path)!r}"
            )
        self.of_models()

    @property
    def ends(self) -> str:
        """The convention for end-of-text tokens: ``"cut"``, ``"count"`` or ``"keep"``."""
        return self.end_of_text or ("keep" if self.suite is None else "cut")
