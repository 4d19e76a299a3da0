"""BLEU with custom weights for the orders of n-grams.

With precisions p_n and the penalty BP of sacrebleu, smoothed as it does, and weights w_n that add
up to 1 (Papineni et al., ACL 2002, section 2.3; w of paper 002):

    BLEU = 100 · BP · exp(Σ_n w_n ln p_n)

Weights are divided by their sum, so that ``4/3/2/1`` is ``0.4/0.3/0.2/0.1``. An order of weight 0
does not count, not even where nothing of it matches. Of a single text those orders count that it is
long enough for, their weights divided by their sum: with equal weights this is sacrebleu's
`effective_order`. NLTK's ``corpus_bleu(weights=…)`` has the same value for the same tokens, where
every order has a match.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calipers.errors import InputError

_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"  # read in one way, in one pass
_SHAPE = re.compile(rf"{_NUMBER}(/{_NUMBER})*")


@dataclass(frozen=True)
class Weights:
    """Weights of the orders, as in a key.

    Attributes
    ----------
    values
        One for each order, at least 0, that add up to 1.
    name
        The option of the key, ``weights=4/3/2/1``.
    """

    values: tuple[float, ...]
    name: str


def parse_weights(word: str) -> Weights:
    """Parse the weights in a key.

    Raises
    ------
    InputError
        If they are not numbers joined by ``/``, or all 0.

    Examples
    --------
    >>> parse_weights("weights=3/1").values, parse_weights("weights=0.50/.5").name
    ((0.75, 0.25), 'weights=0.5/0.5')
    """
    text = word.partition("=")[2]
    if not _SHAPE.fullmatch(text):
        raise InputError(
            "weights of BLEU must be one number for each order, joined by /, such as "
            f"weights=0.4/0.3/0.2/0.1; found {text!r}"
        )
    given = [float(number) for number in text.split("/")]
    written = "/".join(repr(number).removesuffix(".0") for number in given)
    return Weights(divided(given), f"weights={written}")


def divided(weights: Sequence[float]) -> tuple[float, ...]:
    """Normalise weights to sum 1.

    Raises
    ------
    InputError
        If one is no number of at least 0, or none is above it.
    """
    numbers = [float(weight) for weight in weights]
    if not all(0 <= number < math.inf for number in numbers) or not sum(numbers) > 0:
        raise InputError(
            f"weights of BLEU must be numbers of at least 0, not all 0; found {list(weights)}"
        )
    total = math.fsum(numbers)
    return tuple(number / total for number in numbers)


def check_weights(weights: Sequence[float], order: int) -> tuple[float, ...]:
    """Check that there is one weight for each order, and normalise them to sum 1.

    Raises
    ------
    InputError
        If there are more or fewer, or they are no weights.
    """
    if len(weights) != order:
        raise InputError(
            f"weights of BLEU must be as many as the order of n-grams (n), {order}; "
            f"found {len(weights)}"
        )
    return divided(weights)


def with_weights(bleu: Any, weights: Sequence[float]) -> Any:
    """Set the weights of the orders in a BLEU of sacrebleu.

    Parameters
    ----------
    bleu
        Changed in place: its scores are those with the weights, all else stays.
    weights
        One for each order; they add up to 1.
    """
    computed = bleu._compute_score_from_stats

    def compute(stats: Any) -> Any:
        score = computed(stats)
        orders = len(weights)
        if bleu.effective_order:
            orders = sum(total > 0 for total in score.totals)
        score.score = 100 * score.bp * _geometric(score.precisions[:orders], weights[:orders])
        return score

    bleu._compute_score_from_stats = compute
    return bleu


def _geometric(precisions: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted geometric mean of precisions in per cent, in [0, 1]."""
    pairs = [(p, w) for p, w in zip(precisions, weights, strict=True) if w > 0]
    if not pairs or any(p <= 0 for p, _ in pairs):
        return 0.0
    total = math.fsum(w for _, w in pairs)
    return math.exp(math.fsum(w / total * math.log(p / 100) for p, w in pairs))
