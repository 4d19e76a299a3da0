"""All metrics on language-model likelihoods, in the order of tables and lists.

They are measured by ``calipers likelihood``. What all metrics of a family have in common stands
before its entries.
"""

from __future__ import annotations

from functools import partial

from calipers.catalogue.keys import Option
from calipers.catalogue.metric import ANY, FROM_ONE, FROM_ZERO, UNIT, Family, Metric
from calipers.catalogue.texts import TEXT_METRICS

LIKELIHOOD = "likelihood"
"""What stands for all of these metrics where others stand beside them."""

JMLR = "Pillutla et al., JMLR 2023"
DECAN = "Khoriaty, Williams-King and Feng, arXiv 2606.01811, section 3"
MARTINS = "Martins, Marinho and Martins, EMNLP 2020"
LIKELY = "quality: a repeated phrase is likely, and so is gibberish tuned to the right level"
UNSEEN_TEXTS = "the texts that the decoder writes: only its distribution at given ones"
SURROGATE = (
    "what the model of --model, taken for human text here, does not know; few texts decide; no "
    "value for texts that are likelier under the other model than under the one they stand for"
)

LOG_2 = 0.6931471805599453

LIKELIHOOD_FAMILIES = {
    family.name: family
    for family in (
        Family(
            name="predictability",
            members="perplexity, bits_per_byte, ...",
            question="how likely does a language model find the texts?",
            heading="how likely the model finds the texts",
        ),
        Family(
            name="variety",
            members="unigram_entropy; slow: conditional_surprise, decan",
            question="do texts repeat themselves, or each other?",
            heading="variety",
        ),
        Family(
            name="decoder",
            members="with --decoding: sparsemax_score, epsilon_perplexity, ...",
            question="could the decoder have written the texts?",
            heading="the decoder's own distribution",
        ),
        Family(
            name="models",
            members="with --reference and --generator: mauve:model, ...",
            question="how far apart are two models, on the texts of both sides?",
            heading="the model and the generator",
        ),
    )
}
"""Families by name, each with the question that it answers."""

AVERAGE = Option(
    name="average",
    default="tokens",
    tells="over all tokens at once, or the mean over texts of their own perplexities",
    words=("tokens", "texts"),
    labels={"texts": "of a text"},
)
UNIT_OF_ENTROPY = Option(
    name="unit",
    default="nats",
    tells="natural logarithms, or logarithms to the base 2",
    words=("nats", "bits"),
)
IN_CONTEXT = Option(
    name="texts",
    default=8,
    tells="texts in one context, the last of which is scored",
    least=2,
    most=1000,
    phrases={"": "{} texts of its set"},
)
BY_MODELS = Option(
    name="estimator",
    default="",
    tells="likelihood ratios from the probabilities of two models",
    words=("model",),
)

_likely = partial(
    Metric,
    family="predictability",
    scored=True,
    side="own",
    range=FROM_ONE,
    better="closest",
    blind=LIKELY,
)
PREDICTABILITY = (
    _likely(
        name="perplexity",
        label="Perplexity",
        meaning="exp of the mean surprise over all tokens, in the tokens of the model",
        meanings={"texts": "mean of the texts' own perplexities; a few texts decide it"},
        tells="exp of the mean negative log-probability of a token; the gap is what counts",
        read="calipers.language_model.likelihood:read_perplexity",
        replicates="calipers.language_model.likelihood:perplexity_replicates",
        source=f"Jelinek et al., 1977; of both sides: Holtzman et al., ICLR 2020, and {JMLR}, "
        "section 6.3",
        parity="the library evaluate (texts, with bos)",
        blind=f"{LIKELY}; depends on the tokens of the model",
        options=(AVERAGE,),
    ),
    _likely(
        name="word_perplexity",
        label="Perplexity of words",
        meaning="exp of the surprise of all texts over their words, split at spaces",
        tells="perplexity per word, comparable between tokenizers",
        read="calipers.language_model.likelihood:read_word_perplexity",
        replicates="calipers.language_model.likelihood:word_perplexity_replicates",
        source="as lm-evaluation-harness gives it",
        on_request=True,
    ),
    _likely(
        name="byte_perplexity",
        label="Perplexity of bytes",
        meaning="exp of the surprise of all texts over their bytes",
        tells="perplexity per byte of UTF-8, comparable between tokenizers",
        read="calipers.language_model.likelihood:read_byte_perplexity",
        replicates="calipers.language_model.likelihood:byte_perplexity_replicates",
        source="as lm-evaluation-harness gives it",
        on_request=True,
    ),
    _likely(
        name="bits_per_byte",
        label="Bits per byte",
        meaning="surprise of all texts in bits, over their bytes",
        tells="bits that the model needs for a byte of the texts",
        read="calipers.language_model.likelihood:read_bits_per_byte",
        replicates="calipers.language_model.likelihood:bits_per_byte_replicates",
        source="Gao et al. (The Pile), arXiv 2101.00027, section 3.1",
        range=FROM_ZERO,
    ),
    _likely(
        name="mean_log_probability",
        label="Log-probability",
        meaning="mean log-probability of a whole text in nats; longer texts have less",
        tells="mean over texts of the log-probability of the whole text, in nats",
        read="calipers.language_model.likelihood:read_mean_log_probability",
        replicates="calipers.text.replicates:mean_replicates",
        source="a count",
        blind=f"{LIKELY}; falls with length",
        range=(ANY[0], 0.0),
    ),
)
_variety = partial(Metric, family="variety", scored=True, side="own", better="closest")
VARIETY = (
    _variety(
        name="unigram_entropy",
        label="Unigram entropy",
        meaning="mean entropy of the tokens of one text in {unit}, by --tokenizer",
        tells="mean over texts of the entropy of a text's own tokens; low where texts repeat",
        read="calipers.language_model.likelihood:read_unigram_entropy",
        replicates="calipers.text.replicates:mean_replicates",
        source="Dieleman et al. (CDCD), arXiv 2211.15089, and later diffusion language models",
        blind="sense and order: random words score high; rises with length; depends on the tokens",
        options=(UNIT_OF_ENTROPY,),
        range=FROM_ZERO,
    ),
    _variety(
        name="conditional_surprise",
        label="Conditional surprise",
        meaning="mean bits per byte of the last of {texts} in one context",
        tells="bits per byte that a text needs once others of its set were read; low if alike",
        read="calipers.language_model.likelihood:read_conditional_surprise",
        replicates="calipers.language_model.likelihood:conditional_surprise_replicates",
        source=f"{DECAN}: a_n",
        blind="sense: random words surprise most; likeness that the model does not see in context",
        options=(IN_CONTEXT,),
        range=FROM_ZERO,
        on_request=True,
        slow=True,
    ),
    _variety(
        name="decan",
        label="Decan",
        meaning="bits per byte of the last of {texts} in one context, times the mean "
        "probability of a byte",
        tells="conditional surprise times coherence: low for noise and for repetition",
        read="calipers.language_model.likelihood:read_decan",
        replicates="calipers.language_model.likelihood:decan_replicates",
        source=f"{DECAN}: C a_n, without the labels of texts in the context",
        blind="likeness that the model does not see in context; depends on the model",
        options=(IN_CONTEXT,),
        range=FROM_ZERO,
        on_request=True,
        slow=True,
    ),
)
_decoder = partial(
    Metric,
    family="decoder",
    scored=True,
    side="own",
    source=f"{MARTINS}, section 4; {JMLR}, appendix D.1",
    blind=UNSEEN_TEXTS,
)
DECODER = (
    _decoder(
        name="sparsemax_score",
        label="Sparsemax score",
        meaning="how near the decoder's distribution comes to each token; 1 is sure of it",
        tells="1 minus half the squared distance between q and the token that was written",
        read="calipers.language_model.likelihood:read_sparsemax_score",
        replicates="calipers.language_model.likelihood:sparsemax_score_replicates",
    ),
    _decoder(
        name="epsilon_perplexity",
        label="ε-perplexity",
        meaning="perplexity of the decoder's distribution with ε added; finite if tokens are cut",
        tells="perplexity of (q + ε) / (1 + ε|V|): finite where the decoder leaves tokens out",
        read="calipers.language_model.likelihood:read_epsilon_perplexity",
        replicates="calipers.language_model.likelihood:epsilon_perplexity_replicates",
        options=(
            Option(
                name="epsilon",
                default=0.0,
                tells="ε; 0 for the one that makes the result smallest, as the authors choose it",
                least=0,
                whole=False,
            ),
        ),
        range=FROM_ONE,
        better="lower",
    ),
    _decoder(
        name="decoder_divergence",
        label="Decoder JS",
        meaning="Jensen-Shannon divergence between the decoder and each token; 0 is sure of it",
        tells="Jensen-Shannon divergence between q and the token that was written, in nats",
        read="calipers.language_model.likelihood:read_decoder_divergence",
        replicates="calipers.language_model.likelihood:decoder_divergence_replicates",
        range=(0.0, LOG_2),
        better="lower",
    ),
)
_models = partial(
    Metric,
    family="models",
    scored=True,
    side="models",
    source=f"{JMLR}, section 7.3.3",
    blind=SURROGATE,
    options=(BY_MODELS,),
)
MODELS = (
    _models(
        name="mauve",
        label="MAUVE",
        meaning="how close the generator is to the model, by their probabilities; 1 is no gap",
        tells="how close the generator is to the model, by the probabilities of both",
        read="calipers.language_model.likelihood:read_mauve",
        replicates="calipers.language_model.likelihood:mauve_replicates",
        shown=("mauve:model",),
        range=UNIT,
    ),
    _models(
        name="frontier_integral",
        label="FI",
        meaning="average cost along the frontier of the two models; 0 is no gap",
        tells="average cost along the frontier of generator and model",
        read="calipers.language_model.likelihood:read_frontier_integral",
        replicates="calipers.language_model.likelihood:frontier_integral_replicates",
        shown=("frontier_integral:model",),
        range=(0.0, 1.0),
        better="lower",
    ),
    _models(
        name="midpoint",
        label="Mid",
        meaning="cost in the middle of the frontier of the two models; 0 is no gap",
        tells="cost in the middle of the frontier of generator and model",
        read="calipers.language_model.likelihood:read_midpoint",
        replicates="calipers.language_model.likelihood:midpoint_replicates",
        shown=("midpoint:model",),
        range=(0.0, LOG_2),
        better="lower",
    ),
)

LIKELIHOODS = {metric.name: metric for metric in (*PREDICTABILITY, *VARIETY, *DECODER, *MODELS)}
"""Every metric on what language models say of texts, by name."""

STATISTICS = {**TEXT_METRICS, **LIKELIHOODS}
"""What a table of texts shows, by name."""
