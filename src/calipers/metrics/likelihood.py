"""Scores of texts by a language model's likelihood, and by its decoder's.

All functions take arrays: the natural logarithm of the model's probability of every scored token,
the texts end to end, and `starts`, where each text begins (text i has the tokens
``starts[i]:starts[i + 1]``). Those of a decoder take the probability q(x) of every token x under
the decoder's own truncated, renormalised distribution q.

**Perplexity** is the exponential of a mean of -log p, per token over the whole set (a token of a
long text counts as much as one of a short text), per text and then averaged (the convention of the
library `evaluate`), per word or per byte. Per token it depends on the tokenizer of the model, per
word and per byte it does not. Low is not good: a text that repeats one phrase is very likely. What
counts is how near the set comes to the perplexity of human texts (Holtzman et al., ICLR 2020;
Pillutla et al., JMLR 2023, section 6.3).

**Against the decoder** (Martins, Marinho and Martins, "Sparse Text Generation", EMNLP 2020): where
a decoder leaves tokens out, human texts hold some that it could not write, and their perplexity is
infinite. Three numbers stay finite: ε-perplexity, the sparsemax score, and the Jensen-Shannon
divergence between q and the one token that was written. They say how the decoder's distributions
fit human texts and see none of the texts that the decoder writes (Pillutla et al., appendix D.1).

**Entropy of unigrams per sample**: the entropy of the tokens of one text, whose mean over texts
stands beside generation perplexity in papers on diffusion language models, since texts that repeat
themselves have a low one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Floats

Starts = NDArray[np.int64]

HALVINGS = 60
"""Steps of the search for the best ε: more than a double can tell apart."""


def sums_by_text(values: Floats, starts: Starts) -> Floats:
    """Sum the values of each text, shape ``(n,)``; 0 for a text without any."""
    texts = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.bincount(texts, values, len(starts) - 1).astype(np.float64)


def means_by_text(values: Floats, starts: Starts) -> Floats:
    """Average the values of each text, shape ``(n,)``; NaN for a text without any."""
    counts = np.diff(starts)
    means = np.full(len(counts), np.nan)
    np.divide(sums_by_text(values, starts), counts, out=means, where=counts > 0)
    return means


def perplexity(log_probability: Floats, units: float | None = None) -> float:
    """Compute the perplexity of a set: exp of the mean negative log-probability.

    Parameters
    ----------
    log_probability
        Of all scored tokens of all texts.
    units
        What the mean is over: the number of words or of bytes; by default of tokens.

    Returns
    -------
    float
        At least 1; infinite where a token has no probability, NaN where nothing was scored.

    Examples
    --------
    >>> round(perplexity(np.log([1 / 2, 1 / 8])), 9)
    4.0
    """
    count = len(log_probability) if units is None else units
    if count == 0 or len(log_probability) == 0:
        return float("nan")
    return float(np.exp(-log_probability.sum() / count))


def perplexity_by_text(log_probability: Floats, starts: Starts) -> Floats:
    """Compute the perplexity of each text, shape ``(n,)``; NaN without scored tokens.

    Its mean is what the library `evaluate` calls the mean perplexity of a set.
    """
    with np.errstate(over="ignore"):
        return np.exp(-means_by_text(log_probability, starts))


def bits_per_byte(log_probability: Floats, size: float) -> float:
    """Compute the bits that the model needs per byte of text (UTF-8), on average.

    Examples
    --------
    >>> round(bits_per_byte(np.log([1 / 2, 1 / 8]), 8), 9)
    0.5
    """
    if size == 0 or len(log_probability) == 0:
        return float("nan")
    return float(-log_probability.sum() / (np.log(2) * size))


def unigram_entropy(tokens: NDArray[np.int32], starts: Starts) -> Floats:
    """Compute the entropy of each text's tokens in nats, shape ``(n,)``; NaN without tokens.

    H = -Σ (c_w / n) log (c_w / n) over the different tokens w of a text of n tokens, c_w its count:
    from 0 (one token over and over) to log n (all different).

    Examples
    --------
    >>> unigram_entropy(np.array([0, 1, 0, 1, 2, 2], np.int32), np.array([0, 4, 6])).round(4)
    array([0.6931, 0.    ])
    """
    lengths = np.diff(starts)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    size = int(tokens.max(initial=0)) + 1
    different, counts = np.unique(texts * size + tokens, return_counts=True)
    shares = counts / lengths[different // size]
    entropies = np.bincount(different // size, -shares * np.log(shares), len(lengths))
    per_text: Floats = np.where(lengths > 0, np.maximum(entropies, 0.0), np.nan)
    return per_text


# Against the decoder's own distribution ----------------------------------------------------------


def sparsemax_scores(q: Floats, squares: Floats) -> Floats:
    """Compute the sparsemax score of each token, in [0, 1]; 1 where the decoder is certain.

    1 less the sparsemax loss of a distribution q: q(x) + (1 - Σ q²) / 2 (Martins et al., section
    4.2).

    Parameters
    ----------
    q
        Probability of each token, shape ``(t,)``.
    squares
        Sum of the squares of the distribution at each token, shape ``(t,)``.

    Examples
    --------
    >>> sparsemax_scores(np.array([0.75, 0.25]), np.array([0.625, 0.625]))
    array([0.9375, 0.4375])
    """
    return q + (1 - squares) / 2


def jensen_shannon(q: Floats) -> Floats:
    """Compute the Jensen-Shannon divergence of q from the token written, in nats.

    Of m, the mean of both, (KL(q‖m) + KL(1_x‖m)) / 2 depends on q(x) alone: from 0, where q(x) = 1,
    to log 2, where q(x) = 0 (Martins et al., section 4.3).

    Examples
    --------
    >>> jensen_shannon(np.array([0.0, 1.0])).round(6)
    array([0.693147, 0.      ])
    """
    from scipy.special import xlogy

    return np.asarray(np.maximum(np.log(2) + (xlogy(q, q) - xlogy(1 + q, 1 + q)) / 2, 0.0))


def epsilon_perplexity(q: Floats, vocabulary: int, epsilon: float | None = None) -> float:
    """Compute the perplexity of q + ε, renormalised: finite even where q is 0.

    exp of the mean of -log ((q(x) + ε) / (1 + ε|V|)) (Martins et al., section 4.1), which is the
    perplexity of the mixture (1 - λ) q + λ / |V| with λ = ε|V| / (1 + ε|V|).

    Parameters
    ----------
    q
        Probability of each token, shape ``(t,)``.
    vocabulary
        |V|, the number of tokens that the decoder chooses from.
    epsilon
        ε, above 0. None for the one that makes the result smallest, as the authors choose it.

    Returns
    -------
    float
        At least 1, and with the best ε at most |V|; NaN where nothing was scored.

    Examples
    --------
    >>> round(epsilon_perplexity(np.array([0.5, 0.0]), 4, epsilon=0.25), 9)
    4.618802154
    """
    if len(q) == 0 or vocabulary < 1:
        return float("nan")
    share = best_share(q, vocabulary) if epsilon is None else share_of(epsilon, vocabulary)
    return float(np.exp(-np.mean(np.log((1 - share) * q + share / vocabulary))))


def share_of(epsilon: float, vocabulary: int) -> float:
    """Return λ = ε|V| / (1 + ε|V|), the share of the uniform distribution in the mixture."""
    return epsilon * vocabulary / (1 + epsilon * vocabulary)


def best_share(q: Floats, vocabulary: int) -> float:
    """Find the share of the uniform distribution that maximises the likelihood, in [0, 1].

    The mean of log ((1 - λ) q + λ / |V|) is concave in λ; its slope changes sign at the largest.
    """
    uniform = 1 / vocabulary
    different, counts = np.unique(q, return_counts=True)

    def slope(share: float) -> float:
        with np.errstate(divide="ignore", over="ignore"):
            slopes = (uniform - different) / ((1 - share) * different + share * uniform)
        return float(counts @ slopes)

    if slope(0.0) <= 0:
        return 0.0
    if slope(1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


# Diversity without an embedder -------------------------------------------------------------------


def conditional_surprise(rates: Floats) -> float:
    """Compute the bits per byte of a text given others of its set.

    The mean over texts of -log2 θ(r_n | r_1 … r_(n-1)) / |r_n|, each text the last one once: a_n of
    Khoriaty, Williams-King and Feng (arXiv 2606.01811, section 3). Low where a model, having read
    some texts of the set, can predict the next one.

    Examples
    --------
    >>> conditional_surprise(np.array([2.0, 1.0]))
    1.5
    """
    return float(rates.mean()) if len(rates) else float("nan")


def coherence(rates: Floats) -> float:
    """Compute the geometric mean probability of a byte, each text on its own, in [0, 1].

    C = 2^(-mean of h), with h the bits per byte of a text without the others (the same section).

    Examples
    --------
    >>> coherence(np.array([1.0, 3.0]))
    0.25
    """
    return float(2 ** -rates.mean()) if len(rates) else float("nan")


def decan(last: Floats, alone: Floats) -> float:
    """Compute C × a_n in bits per byte: the surprise that remains in context, times coherence.

    Low for one text over and over (by a_n) and for noise (by C), high for many likely texts that
    are not alike (the same section).

    Parameters
    ----------
    last, alone
        Bits per byte of each text, behind others of its set and alone, shape ``(n,)``.

    Examples
    --------
    >>> decan(np.array([2.0, 1.0]), np.array([1.0, 3.0]))
    0.375
    """
    return coherence(alone) * conditional_surprise(last)
