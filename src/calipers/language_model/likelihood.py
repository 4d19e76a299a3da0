"""Texts with log-probabilities from language models, and the scores computed from these.

A :class:`ScoredCorpus` is a corpus whose every text has the log-probabilities of its tokens under
the model that measures, so that all that measures texts measures it too. Each score is read by a
function that the catalogue names (:mod:`calipers.catalogue.likelihoods`), the values without each
block of texts by another one beside it: sums of a block are taken off the sums of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.catalogue.estimation import PAIRED_C, EstimationOptions
from calipers.catalogue.likelihoods import LIKELIHOODS
from calipers.errors import InputError
from calipers.language_model.model import LanguageModel, Passage, TokenScores
from calipers.metrics import likelihood as formulas
from calipers.numeric.arrays import Floats
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.score import Score, signature
from calipers.text.corpus import Corpus
from calipers.text.replicates import (
    MeasuredTexts,
    TextReplicates,
    by_block,
    means_without,
    ratio,
)
from calipers.text.scoring import Chosen, TextPair
from calipers.unicode.written_words import word_count

if TYPE_CHECKING:
    from calipers.curves.frontier import DivergenceFrontier
    from calipers.progress import Advance

BETWEEN = "\n\n"
"""What stands between the texts of one context."""

MOST_IMPOSSIBLE = 0.05
"""Share of texts that may be impossible under their own model, as they are read."""

FEWEST_BATCHES = 5
"""Batches of texts below which nothing tells how much their mean moves."""


@dataclass(frozen=True, eq=False)
class InContext:
    """Log-probabilities of texts given other texts of their set.

    Attributes
    ----------
    bits
        Surprise of each text, given the others of its batch in random order, shape ``(n,)``; NaN
        where nothing of it was scored.
    batches
        The batch of each text, shape ``(n,)``, from 0 on.
    """

    bits: Floats
    batches: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class ScoredCorpus(Corpus):
    """Texts, with the log-probabilities of their tokens under language models.

    Attributes
    ----------
    scores
        By the model that measures.
    decoder
        By the model whose decoder is looked at: the one that generated, where that is known, else
        the one that measures.
    generator
        By the model that generated; None where it is not known.
    contexts
        By the number of texts in a context, what :func:`score_in_context` gave; an error where it
        could not be measured.
    pins
        What every signature says: the models, and how they read the texts.
    """

    scores: TokenScores = field(kw_only=True)
    decoder: TokenScores = field(kw_only=True)
    generator: TokenScores | None = field(default=None, kw_only=True)
    contexts: Mapping[int, InContext | InputError] = field(default_factory=dict, kw_only=True)
    pins: Mapping[str, object] = field(default_factory=dict, kw_only=True)

    def take(self, rows: NDArray[np.intp]) -> ScoredCorpus:
        """Keep the texts of some rows, in the order given, with their scores."""
        plain = super().take(rows)
        assert isinstance(plain, ScoredCorpus)
        contexts: dict[int, InContext | InputError] = {
            size: in_context
            if isinstance(in_context, InputError)
            else InContext(in_context.bits[rows], in_context.batches[rows])
            for size, in_context in self.contexts.items()
        }
        return replace(
            plain,
            scores=take_scores(self.scores, rows),
            decoder=take_scores(self.decoder, rows),
            generator=None if self.generator is None else take_scores(self.generator, rows),
            contexts=contexts,
        )

    @cached_property
    def by_text(self) -> Floats:
        """Log-probability of each text under the measuring model, shape ``(n,)``."""
        return _by_text(self.scores)

    @cached_property
    def by_generator(self) -> Floats:
        """Log-probability of each text under the generator with its decoding; may be -inf."""
        scores = self.generator
        assert scores is not None
        if scores.decoded is None:
            return _by_text(scores)
        with np.errstate(divide="ignore"):
            return formulas.sums_by_text(np.log(scores.decoded), scores.starts)

    @cached_property
    def decoded(self) -> Floats:
        """Probability of each token under the decoder, or the model itself without a decoding."""
        scores = self.decoder
        return np.exp(scores.log_probability) if scores.decoded is None else scores.decoded

    @cached_property
    def best_share(self) -> float:
        """The share of a uniform distribution that maximises the likelihood of the tokens."""
        q = self.decoded
        return formulas.best_share(q, self.decoder.vocabulary) if len(q) else 0.0

    @cached_property
    def sizes(self) -> Floats:
        """Bytes of each text in UTF-8, shape ``(n,)``."""
        return np.array([len(text.encode()) for text in self.texts], np.float64)

    @cached_property
    def scored_sizes(self) -> Floats:
        """Bytes of each text that were scored, shape ``(n,)``; 0 without scored tokens."""
        sizes = [len(text.encode()) for text in self._scored_texts]
        return np.where(self.scores.tokens > 0, np.array(sizes, np.float64), 0)

    @cached_property
    def scored_words(self) -> Floats:
        """Words that were at least partly scored, shape ``(n,)``.

        They are split at white space; of scripts without spaces every character is one.
        """
        words = list(map(word_count, self._scored_texts))
        return np.where(self.scores.tokens > 0, np.array(words, np.float64), 0)

    @property
    def _scored_texts(self) -> Iterator[str]:
        """What of each text stands behind its unscored tokens."""
        unscored = self.scores.unscored
        begins = [0] * len(self) if unscored is None else unscored.tolist()
        return (text[begin:] for text, begin in zip(self.texts, begins, strict=True))


def take_scores(scores: TokenScores, rows: NDArray[np.intp]) -> TokenScores:
    """Keep the scores of some texts, in the order given."""
    lengths = scores.tokens[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(starts[-1]) + np.repeat(scores.starts[rows] - starts[:-1], lengths)
    return replace(
        scores,
        log_probability=scores.log_probability[places],
        starts=starts,
        decoded=None if scores.decoded is None else scores.decoded[places],
        squares=None if scores.squares is None else scores.squares[places],
        unscored=None if scores.unscored is None else scores.unscored[rows],
    )


def score_in_context(
    model: LanguageModel,
    texts: Sequence[str],
    size: int,
    *,
    ended: Sequence[bool] = (),
    seed: int,
    first: str = "skip",
    advance: Advance | None = None,
) -> InContext:
    """Compute the log-probabilities of texts given others of their set.

    The texts are dealt at random into batches of `size`; each text of a batch is scored once behind
    all others of the batch in random order, with an empty line between. Empty texts are left out,
    and so are those that fill no batch. `ended` tells of each text whether the token that ends it
    is scored too.
    """
    rng = np.random.default_rng([seed, size, len(texts)])
    rows = np.array([row for row, text in enumerate(texts) if text.strip()], np.intp)
    dealt = rng.permutation(rows)[: len(rows) // size * size].reshape(-1, size)
    if not len(dealt):
        raise InputError(f"a context takes {size} texts that are not empty; found {len(rows)}")
    passages, places = [], []
    for batch in dealt:
        for last in batch:
            others = rng.permutation(batch[batch != last])
            prompt = "".join(f"{texts[other]}{BETWEEN}" for other in others)
            passages.append(Passage(texts[last], prompt, bool(len(ended)) and ended[last]))
            places.append(last)
    scored = model.score(passages, first=first, advance=advance)
    bits, batches = np.full(len(texts), np.nan), np.full(len(texts), -1)
    bits[places] = np.where(scored.tokens > 0, -_by_text(scored) / np.log(2), np.nan)
    batches[dealt.ravel()] = np.repeat(np.arange(len(dealt)), size)
    return InContext(bits, batches)


def _scored(pair: TextPair) -> ScoredCorpus:
    assert isinstance(pair.texts, ScoredCorpus)
    return pair.texts


def _by_text(scores: TokenScores) -> Floats:
    """Log-probability of each text, shape ``(n,)``; that of one may be -inf."""
    return formulas.sums_by_text(scores.log_probability, scores.starts)


def _score(
    metric: str,
    value: float,
    corpus: ScoredCorpus,
    *,
    reason: str = "no token of the texts was scored",
    per_sample: Floats | None = None,
    pins: Mapping[str, object] | None = None,
) -> Score:
    entry = LIKELIHOODS[metric]
    missing = 0 if per_sample is None else int(np.isnan(per_sample).sum())
    shown: dict[str, object] = {"metric": metric, **(pins or {}), **corpus.pins, "n": len(corpus)}
    shown |= {"undefined": missing} if missing and np.isfinite(value) else {}
    endless = "a token has no probability" if np.isinf(value) else None
    return Score(
        float(value),
        range=entry.range,
        better=entry.better,
        signature=signature({**shown, "calipers": __version__}),
        reason=reason if np.isnan(value) else endless,
        per_sample=per_sample,
    )


# How likely --------------------------------------------------------------------------------------


def read_perplexity(pair: TextPair, options: Chosen) -> Score:
    corpus, average = _scored(pair), options["average"]
    scores = corpus.scores
    by_text = formulas.perplexity_by_text(scores.log_probability, scores.starts)
    if average == "texts":
        defined = by_text[~np.isnan(by_text)]
        value = float(defined.mean()) if len(defined) else np.nan
    else:
        value = formulas.perplexity(scores.log_probability)
    pins = {"average": average}
    return _score("perplexity", _at_least_one(value), corpus, per_sample=by_text, pins=pins)


def perplexity_replicates(measured: MeasuredTexts) -> TextReplicates:
    if measured.options["average"] == "texts":
        return TextReplicates(texts=means_without(measured))
    return _exp_replicates(measured, _scored(measured).scores.tokens)


def read_word_perplexity(pair: TextPair, _: Chosen) -> Score:
    return _per_unit("word_perplexity", _scored(pair), _scored(pair).scored_words)


def word_perplexity_replicates(measured: MeasuredTexts) -> TextReplicates:
    return _exp_replicates(measured, _scored(measured).scored_words)


def read_byte_perplexity(pair: TextPair, _: Chosen) -> Score:
    return _per_unit("byte_perplexity", _scored(pair), _scored(pair).scored_sizes)


def byte_perplexity_replicates(measured: MeasuredTexts) -> TextReplicates:
    return _exp_replicates(measured, _scored(measured).scored_sizes)


def _per_unit(metric: str, corpus: ScoredCorpus, units: Floats) -> Score:
    """Perplexity over the words or bytes that were scored."""
    sums = corpus.by_text
    with np.errstate(over="ignore"):
        by_text = np.exp(-ratio(sums, units))
    value = formulas.perplexity(corpus.scores.log_probability, units.sum())
    return _score(metric, _at_least_one(value), corpus, per_sample=by_text)


def read_bits_per_byte(pair: TextPair, _: Chosen) -> Score:
    corpus = _scored(pair)
    sizes = corpus.scored_sizes
    by_text = ratio(-corpus.by_text, sizes) / np.log(2)
    value = formulas.bits_per_byte(corpus.scores.log_probability, sizes.sum())
    return _score("bits_per_byte", value, corpus, per_sample=by_text)


def bits_per_byte_replicates(measured: MeasuredTexts) -> TextReplicates:
    corpus = _scored(measured)
    means = _means_without(measured, -corpus.by_text, corpus.scored_sizes)
    return TextReplicates(texts=means / np.log(2))


def read_mean_log_probability(pair: TextPair, _: Chosen) -> Score:
    corpus = _scored(pair)
    by_text = np.where(corpus.scores.tokens > 0, corpus.by_text, np.nan)
    return _mean("mean_log_probability", by_text, corpus)


def _exp_replicates(measured: MeasuredTexts, units: NDArray[Any]) -> TextReplicates:
    means = _means_without(measured, _scored(measured).by_text, units)
    return TextReplicates(texts=np.exp(-means))


def _means_without(measured: MeasuredTexts, sums: Floats, units: NDArray[Any]) -> Floats:
    """Sums over units without each block, of those texts of which a token was scored."""
    units = np.where(_scored(measured).scores.tokens > 0, units, 0)
    above, below = by_block(sums, measured.labels), by_block(units, measured.labels)
    with np.errstate(invalid="ignore"):  # of texts without any probability nothing is known
        return ratio(above.sum() - above, below.sum() - below)


def _mean(
    metric: str, values: Floats, corpus: ScoredCorpus, pins: Mapping[str, object] | None = None
) -> Score:
    defined = values[~np.isnan(values)]
    value = float(defined.mean()) if len(defined) else np.nan
    return _score(metric, value, corpus, per_sample=values, pins=pins)


def _at_least_one(value: float) -> float:
    """Log-probabilities of float32 may lie above 0 by rounding."""
    return value if np.isnan(value) else max(1.0, value)


# Variety -----------------------------------------------------------------------------------------


def read_unigram_entropy(pair: TextPair, options: Chosen) -> Score:
    corpus, unit = _scored(pair), options["unit"]
    entropies = formulas.unigram_entropy(corpus.tokens, corpus.starts)
    values = entropies / np.log(2) if unit == "bits" else entropies
    pins = {"unit": unit, "tokenizer": corpus.tokenizer}
    score = _mean("unigram_entropy", values, corpus, pins)
    return replace(score, reason="no text has a token") if np.isnan(score.value) else score


def read_conditional_surprise(pair: TextPair, options: Chosen) -> Score:
    return _in_context("conditional_surprise", pair, int(options["texts"]))


def read_decan(pair: TextPair, options: Chosen) -> Score:
    return _in_context("decan", pair, int(options["texts"]))


def _in_context(metric: str, pair: TextPair, size: int) -> Score:
    corpus = _scored(pair)
    context = corpus.contexts.get(size) or InputError("texts were not read in one context")
    if isinstance(context, InputError):
        return _score(metric, np.nan, corpus, reason=str(context))
    last, alone = _rates(corpus, context)
    there = ~np.isnan(last) & ~np.isnan(alone)
    pins = {"texts": size, "seed": pair.seed}
    if metric == "decan":
        value = formulas.decan(last[there], alone[there])
        return _score(metric, value, corpus, pins=pins)
    value = formulas.conditional_surprise(last[~np.isnan(last)])
    return _score(metric, value, corpus, per_sample=last, pins=pins)


def _rates(corpus: ScoredCorpus, context: InContext) -> tuple[Floats, Floats]:
    """Bits per byte of each text behind others of its set, and by itself; NaN where not scored."""
    alone = np.where(corpus.scores.tokens > 0, -corpus.by_text / np.log(2), np.nan)
    return ratio(context.bits, corpus.sizes), ratio(alone, corpus.scored_sizes)


def conditional_surprise_replicates(measured: MeasuredTexts) -> TextReplicates | None:
    """Compute replicates without batches of texts, which share no text and so are independent."""
    return _without_batches(measured, lambda last, _: formulas.conditional_surprise(last))


def decan_replicates(measured: MeasuredTexts) -> TextReplicates | None:
    """Compute replicates without batches of texts, as for conditional surprise."""
    return _without_batches(measured, formulas.decan)


def _without_batches(
    measured: MeasuredTexts, value: Callable[[Floats, Floats], float]
) -> TextReplicates | None:
    corpus = _scored(measured)
    context = corpus.contexts[int(measured.options["texts"])]
    assert isinstance(context, InContext)
    batches = int(context.batches.max()) + 1
    if batches < FEWEST_BATCHES:
        return None
    count = min(DEFAULT_BLOCKS, batches)
    last, alone = _rates(corpus, context)
    there = ~np.isnan(last) & ~np.isnan(alone)
    labels = context.batches % count
    row_sets = [there & (labels != block) for block in range(count)]
    return TextReplicates(texts=np.array([value(last[rows], alone[rows]) for rows in row_sets]))


# The decoder -------------------------------------------------------------------------------------


def read_sparsemax_score(pair: TextPair, _: Chosen) -> Score:
    corpus = _scored(pair)
    values = _sparsemax(corpus)
    if values is None:
        reason = "the model tells probabilities of tokens, but no whole distributions"
        return _score("sparsemax_score", np.nan, corpus, reason=reason)
    return _of_tokens("sparsemax_score", values, corpus)


def _sparsemax(corpus: ScoredCorpus) -> Floats | None:
    squares = corpus.decoder.squares
    if squares is None:
        return None
    return np.clip(formulas.sparsemax_scores(corpus.decoded, squares), 0.0, 1.0)


def sparsemax_score_replicates(measured: MeasuredTexts) -> TextReplicates:
    values = _sparsemax(_scored(measured))
    assert values is not None
    return TextReplicates(texts=_token_means_without(measured, values))


def read_decoder_divergence(pair: TextPair, _: Chosen) -> Score:
    corpus = _scored(pair)
    return _of_tokens("decoder_divergence", formulas.jensen_shannon(corpus.decoded), corpus)


def decoder_divergence_replicates(measured: MeasuredTexts) -> TextReplicates:
    values = formulas.jensen_shannon(_scored(measured).decoded)
    return TextReplicates(texts=_token_means_without(measured, values))


def read_epsilon_perplexity(pair: TextPair, options: Chosen) -> Score:
    corpus, epsilon = _scored(pair), float(options["epsilon"])
    vocabulary = corpus.decoder.vocabulary
    if vocabulary < 1:
        reason = "the model does not tell how many tokens it chooses from"
        return _score("epsilon_perplexity", np.nan, corpus, reason=reason)
    logs = _smoothed(corpus, epsilon)
    value = float(np.exp(-logs.mean())) if len(logs) else np.nan
    by_text = np.exp(-formulas.means_by_text(logs, corpus.decoder.starts))
    pins: dict[str, object] = {"epsilon": epsilon or "best", "vocabulary": vocabulary}
    value = _at_least_one(value)
    return _score("epsilon_perplexity", value, corpus, per_sample=by_text, pins=pins)


def epsilon_perplexity_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute replicates with the ε of all texts, on which the value hardly depends there."""
    corpus, epsilon = _scored(measured), float(measured.options["epsilon"])
    means = _token_means_without(measured, _smoothed(corpus, epsilon))
    return TextReplicates(texts=np.exp(-means))


def _smoothed(corpus: ScoredCorpus, epsilon: float) -> Floats:
    """The logarithm of every token's probability with ε added; 0 for the best ε."""
    vocabulary, q = corpus.decoder.vocabulary, corpus.decoded
    share = formulas.share_of(epsilon, vocabulary) if epsilon else corpus.best_share
    with np.errstate(divide="ignore"):
        return np.log((1 - share) * q + share / vocabulary)


def _of_tokens(metric: str, values: Floats, corpus: ScoredCorpus) -> Score:
    """A mean over all tokens, with the mean of each text."""
    value = float(values.mean()) if len(values) else np.nan
    by_text = formulas.means_by_text(values, corpus.decoder.starts)
    return _score(metric, value, corpus, per_sample=by_text)


def _token_means_without(measured: MeasuredTexts, values: Floats) -> Floats:
    """The mean of the values of all tokens without each block of texts."""
    scores = _scored(measured).decoder
    sums = by_block(formulas.sums_by_text(values, scores.starts), measured.labels)
    counts = by_block(scores.tokens, measured.labels)
    return ratio(sums.sum() - sums, counts.sum() - counts)


# Two models --------------------------------------------------------------------------------------


def read_mauve(pair: TextPair, _: Chosen) -> Score:
    return _of_models("mauve", pair)


def read_frontier_integral(pair: TextPair, _: Chosen) -> Score:
    return _of_models("frontier_integral", pair)


def read_midpoint(pair: TextPair, _: Chosen) -> Score:
    return _of_models("midpoint", pair)


BY_MODELS = EstimationOptions(estimator="model")


def _of_models(metric: str, pair: TextPair) -> Score:
    from calipers.metrics.frontiers import summary_score

    corpus = _scored(pair)
    sizes = {"n": len(pair.references), "m": len(corpus)}
    pins: dict[str, object] = {"estimator": "model", **corpus.pins, **sizes}
    if left_out := sum(int((~possible).sum()) for possible in _possible(pair)):
        pins["impossible"] = left_out
    rows = [np.arange(len(texts)) for texts in (pair.references, pair.texts)]
    frontier = _frontier(pair, rows[0], rows[1])
    costs = frontier.unclipped()
    if min(costs) < -ROUNDING:
        pins["clipped"] = f"{min(costs):.2g}"  # the score says of itself that this counts as 0
    score = summary_score(metric, BY_MODELS, frontier, c=PAIRED_C["model"], pins=pins)
    reason = _no_divergence(frontier, costs)
    return score if reason is None else replace(score, value=np.nan, reason=reason)


ROUNDING = 1e-9
SURE = 2.0
"""Standard errors below 0 from which an average of log-ratios is the estimate of no divergence."""


def _no_divergence(frontier: DivergenceFrontier, costs: tuple[float, float]) -> str | None:
    """Say that texts are not from the model that they stand for; None where they may be.

    KL(Q‖½P' + ½Q) is the mean of log Q/R over texts that Q wrote, and at least 0.
    """
    ratios = frontier.ratios
    logs = -np.logaddexp(0, ratios.log_generated), -np.logaddexp(0, -ratios.log_reference)
    sides = (
        ("Q", "generated", "the model (`model`) than under their generator"),
        ("P'", "reference", "the generator than under the model (`model`), which stands for them"),
    )
    for cost, of, (name, side, likelier) in zip(costs, logs, sides, strict=True):
        error = float(np.std(of)) / len(of) ** 0.5
        if cost < -ROUNDING and cost + SURE * error < 0:
            return (
                f"the estimate of KL({name}‖½P' + ½Q) is {cost:.3g} ± {error:.2g} nats, and no "
                f"divergence is below 0: the {side} texts are likelier under {likelier}"
            )
    return None


def mauve_replicates(measured: MeasuredTexts) -> TextReplicates:
    return _models_replicates("mauve", measured)


def frontier_integral_replicates(measured: MeasuredTexts) -> TextReplicates:
    return _models_replicates("frontier_integral", measured)


def midpoint_replicates(measured: MeasuredTexts) -> TextReplicates:
    return _models_replicates("midpoint", measured)


def _models_replicates(metric: str, measured: MeasuredTexts) -> TextReplicates:
    """Without each block of either side."""
    from calipers.metrics.frontiers import SUMMARIES

    ours, theirs = measured.labels, measured.reference_labels
    our_rows, other = np.arange(len(ours)), np.arange(len(theirs))

    def value(reference: NDArray[np.intp], generated: NDArray[np.intp]) -> float:
        frontier = _frontier(measured, reference, generated)
        return float(SUMMARIES[metric](frontier, PAIRED_C["model"]))

    return TextReplicates(
        texts=np.array([value(other, our_rows[ours != b]) for b in range(DEFAULT_BLOCKS)]),
        references=np.array([value(other[theirs != b], our_rows) for b in range(DEFAULT_BLOCKS)]),
    )


def _frontier(
    pair: TextPair, reference: NDArray[np.intp], generated: NDArray[np.intp]
) -> DivergenceFrontier:
    """The frontier of P', the model that measures, and Q, the one that generated."""
    from calipers.curves.frontier import OWN_SIDE, divergence_frontier
    from calipers.estimate.model_probabilities import probability_ratios

    theirs, ours = _both(pair)
    sides = []
    for corpus, taken, possible in zip(
        (theirs, ours), (reference, generated), _possible(pair), strict=True
    ):
        rows = taken[possible[taken]]
        sides.append((corpus.by_text[rows], corpus.by_generator[rows]))
    ratios = probability_ratios(sides[0], sides[1])
    return divergence_frontier(ratios, points=OWN_SIDE)


def _both(pair: TextPair) -> tuple[ScoredCorpus, ScoredCorpus]:
    theirs, ours = pair.references, pair.texts
    assert isinstance(theirs, ScoredCorpus)
    assert isinstance(ours, ScoredCorpus)
    return theirs, ours


def _possible(pair: TextPair) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which texts of each side the model that they stand for could have written.

    A few written texts may be read as other tokens than they were written in; they are left out.
    Of more than :data:`MOST_IMPOSSIBLE` all are kept, and refused by the estimator.
    """
    theirs, ours = _both(pair)
    masks = []
    for logs in (theirs.by_text, ours.by_generator):
        finite = np.isfinite(logs)
        few = (~finite).mean() <= MOST_IMPOSSIBLE
        masks.append(finite if few else np.ones(len(finite), bool))
    return masks[0], masks[1]
