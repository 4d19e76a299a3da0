"""Truncation rules of decodings: pure functions from probabilities to the tokens that are kept.

The rules are the papers' definitions in float64: top-K (Fan et al., ACL 2018), nucleus (Holtzman et
al., ICLR 2020), min-p (Nguyen et al., ICLR 2025), locally typical (Meister et al., TACL 2023), ε
and η (Hewitt et al., EMNLP Findings 2022) and top-H (Potraghloo et al., 2025). Each takes the
probabilities of one next token, shape ``(v,)``, and gives the tokens that are kept. A token of
probability 0 is never kept, and the most probable one always.

**Ties at the border.** top-K, nucleus, locally typical and top-H keep, of equally good tokens, the
lower number first, so that top-K keeps K tokens and a nucleus is smallest; min-p, ε and η are
thresholds, and keep equal tokens or none. transformers differs in ties alone: its top-K and its
typical warper keep all that tie with the last kept token, its nucleus and its top-H warper
whichever come first in a sort that is not stable. A mass that falls short of its goal by no more
than :data:`SLACK` is rounding, and counts as enough (transformers compares exactly).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.numeric.arrays import Flags, Floats, Longs

SLACK = 1e-12
"""What a sum of probabilities may be short of its goal by rounding."""

TOP_H_TOKENS = 100
"""How many of the most probable tokens top-H looks at, as transformers does."""


def top_k(probabilities: Floats, k: float) -> Flags:
    """Keep the `k` most probable tokens."""
    return _kept(probabilities, _descending(probabilities)[: int(k)])


def top_p(probabilities: Floats, p: float) -> Flags:
    """Keep the smallest set of most probable tokens whose mass is at least `p`."""
    if p >= 1:
        return probabilities > 0
    order = _descending(probabilities)
    return _kept(probabilities, order[: _enough(probabilities[order], p)])


def min_p(probabilities: Floats, share: float) -> Flags:
    """Keep tokens at least `share` times as probable as the most probable one."""
    return np.asarray((probabilities >= share * probabilities.max()) & (probabilities > 0))


def typical(probabilities: Floats, tau: float) -> Flags:
    """Keep the smallest set whose mass is at least `tau`, in the order of |−log p − H|."""
    if tau >= 1:
        return probabilities > 0
    with np.errstate(divide="ignore"):
        distances = np.abs(-np.log(probabilities) - entropy(probabilities))
    order = np.argsort(distances, kind="stable")
    return _kept(probabilities, order[: _enough(probabilities[order], tau)])


def epsilon(probabilities: Floats, least: float) -> Flags:
    """Keep tokens with a probability of at least `least`, or else the most probable one."""
    return (probabilities >= min(least, float(probabilities.max()))) & (probabilities > 0)


def eta(probabilities: Floats, least: float) -> Flags:
    """Keep tokens with p ≥ min(η, √η · exp(−H)), or else the most probable one."""
    return epsilon(probabilities, min(least, math.sqrt(least) * math.exp(-entropy(probabilities))))


def top_h(probabilities: Floats, share: float) -> Flags:
    """Keep the most probable tokens while their part of the entropy is at most `share` of it.

    As transformers has it: of the :data:`TOP_H_TOKENS` most probable tokens, renormalised, the
    terms −p log p are added in descending order of p while their sum is at most ``share`` times the
    sum of all; the first is always kept. (The paper asks for the entropy of what is kept,
    renormalised.)
    """
    order = _descending(probabilities)[:TOP_H_TOKENS]
    head = probabilities[order][probabilities[order] > 0]
    head = head / head.sum()
    sums = np.cumsum(-head * np.log(head))
    within = sums <= share * sums[-1] + SLACK
    within[0] = True
    return _kept(probabilities, order[: len(head)][within])


RULES: Mapping[str, Callable[[Floats, float], Flags]] = {
    "top_k": top_k,
    "top_p": top_p,
    "min_p": min_p,
    "typical": typical,
    "epsilon": epsilon,
    "eta": eta,
    "top_h": top_h,
}
"""The rules by the names that a decoding is written with."""


def entropy(probabilities: Floats) -> float:
    """Shannon entropy in nats."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


def tempered(probabilities: Floats, temperature: float) -> Floats:
    """Return the distribution proportional to p^(1/T)."""
    if temperature == 1:
        return np.asarray(probabilities / probabilities.sum())
    with np.errstate(divide="ignore"):
        scores = np.log(probabilities)
    with np.errstate(over="ignore"):
        scores = (scores - scores.max()) / temperature  # −inf where temperatures are tiny
    weights = np.exp(scores)
    return np.asarray(weights / weights.sum())


def penalised(scores: ArrayLike, history: Sequence[int] | Longs, penalty: float) -> Floats:
    """Make earlier tokens less likely (Keskar et al., 2019), as transformers does.

    Scores above 0 are divided by the penalty, others multiplied, once for each different token of
    the history. So it matters whether scores are logits or log-probabilities: they differ by a
    constant, and the result by more than one.
    """
    changed = np.array(scores, np.float64)
    seen = np.unique(np.asarray(history, np.int64))
    seen = seen[(seen >= 0) & (seen < len(changed))]
    old = changed[seen]
    changed[seen] = np.where(old < 0, old * penalty, old / penalty)
    return changed


def repeating(history: Sequence[int] | Longs, n: int, *, size: int | None = None) -> list[int]:
    """List the tokens that would repeat an n-gram of the history, as transformers does.

    Of `size` tokens that can be written; a prompt may hold others, such as unknown words.
    """
    tokens = [int(token) for token in history]
    if len(tokens) + 1 < n:
        return []
    last = tokens[len(tokens) + 1 - n :]
    ends = range(n - 1, len(tokens))
    repeats = {tokens[end] for end in ends if tokens[end - n + 1 : end] == last}
    return sorted(token for token in repeats if size is None or token < size)


def without_repeats(
    probabilities: Floats, decoding: Decoding, history: Sequence[int] | Longs
) -> Floats:
    """Apply the rules on the history: the repetition penalty, then the ban on repeated n-grams.

    The penalty is applied to log-probabilities. Where every token is banned, none is.
    """
    penalty, n = decoding.get("repetition_penalty"), decoding.get("no_repeat_ngram")
    if penalty is not None:
        with np.errstate(divide="ignore"):
            scores = penalised(np.log(probabilities), history, penalty)
        probabilities = np.exp(scores - scores.max())
    if n is not None:
        allowed = probabilities.copy()
        allowed[repeating(history, int(n), size=len(allowed))] = 0
        probabilities = allowed if allowed.any() else probabilities
    return np.asarray(probabilities / probabilities.sum())


def truncated(
    probabilities: ArrayLike, decoding: Decoding, *, history: Sequence[int] | Longs = ()
) -> Floats:
    """Return the distribution from which a decoding draws the next token.

    What looks at the history comes first, then the temperature, then the truncations in the order
    in which they are written, each on what the one before left, renormalised. Greedy decoding has
    all its mass on the most probable token, of equal ones on that of the lowest number.

    Parameters
    ----------
    probabilities
        Of the next token, or in proportion to it, shape ``(v,)``.
    decoding
        How it is chosen.
    history
        The tokens before it, the prompt's too, for the repetition penalty and repeated n-grams.

    Raises
    ------
    InputError
        If the decoding looks further than one token, and so has no such distribution.

    Examples
    --------
    >>> truncated([0.5, 0.25, 0.25], Decoding.parse("top_p=0.75")).round(3).tolist()
    [0.667, 0.333, 0.0]
    """
    if not has_distribution(decoding):
        raise InputError(
            f"{decoding.method} decoding draws no token from a distribution of its own; scores of "
            f"one need a decoding that samples, or greedy; found {decoding}"
        )
    values = np.asarray(probabilities, np.float64)
    values = without_repeats(values, decoding, history)
    if decoding.method == "greedy":
        chosen = np.zeros(len(values))
        chosen[values.argmax()] = 1
        return chosen
    values = tempered(values, decoding.temperature)
    for name, value in decoding.truncations:
        values = np.where(RULES[name](values, value), values, 0)
        values = values / values.sum()
    return values


def has_distribution(decoding: Decoding) -> bool:
    """Whether each token is drawn from a truncated distribution: sampling and greedy decoding."""
    return decoding.method in ("sample", "greedy")


def _descending(probabilities: Floats) -> NDArray[np.intp]:
    """The tokens from the most to the least probable, equal ones by their numbers."""
    return np.argsort(-probabilities, kind="stable")


def _enough(ordered: Floats, mass: float) -> int:
    """How many of the first values have that mass together."""
    return int(np.searchsorted(np.cumsum(ordered), mass - SLACK)) + 1


def _kept(probabilities: Floats, tokens: NDArray[np.intp]) -> Flags:
    allowed = np.zeros(len(probabilities), np.bool_)
    allowed[tokens] = True
    return allowed & (probabilities > 0)
