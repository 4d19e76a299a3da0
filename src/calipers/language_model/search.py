"""Decoding by search over whole texts: beam search, and adversarial perplexity sampling.

Both take any model as a function from histories to the logarithms of the probabilities of the next
token.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.truncation import penalised, repeating
from calipers.numeric.arrays import Floats, Longs

NextLogProbabilities = Callable[[Sequence[Sequence[int]]], Floats]
"""From histories, the prompt's tokens first, to log-probabilities of shape ``(b, v)``."""

RANDOM_SHARE = 0.15
"""Share of a text that adversarial perplexity sampling draws uniformly (Pillutla et al., 2023)."""


class Extensions(NamedTuple):
    """Possible next tokens after some histories, by history and then by token.

    Attributes
    ----------
    rows, tokens
        The history and the token of each, int64.
    log_probability
        Of the token after the history; −inf where it may not come.
    """

    rows: Longs
    tokens: Longs
    log_probability: Floats


Extend = Callable[[Sequence[Sequence[int]]], Extensions]
"""From histories, the prompt's tokens first, to their extensions."""


@dataclass(frozen=True)
class Found:
    """A text found by a search.

    Attributes
    ----------
    tokens
        Its tokens, the one that ends it included.
    log_probability
        Sum over its tokens of the logarithms that it was found by.
    score
        That sum over the number of tokens to the power of the length penalty.
    ended
        Whether the model ended it.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float
    ended: bool


def beam_search(
    next_log_probabilities: NextLogProbabilities,
    prompt: Sequence[int],
    *,
    beams: int,
    max_tokens: int,
    end: int | None,
    length_penalty: float = 1.0,
    no_repeat_ngram: int | None = None,
    repetition_penalty: float | None = None,
) -> Found:
    """Find a probable text by extending the best `beams` beginnings token by token.

    In each step all extensions of all beginnings are ranked by their log-probabilities, the best
    ``beams`` of those that go on stay, and those among the best ``beams`` that end are set aside.
    The search stops when no beginning is left, at `max_tokens`, or when ``beams`` texts have ended
    and no beginning, were it to end now, would be better than the worst of them (the rule of
    transformers with ``early_stopping=False``, which is exact for a length penalty of 0). Equal
    extensions are ranked by their beginning, then by the token's number.

    Parameters
    ----------
    next_log_probabilities
        The model.
    prompt
        What the text continues; its tokens count for `no_repeat_ngram`.
    beams
        How many beginnings are followed.
    max_tokens
        Most tokens of the text.
    end
        The token that ends texts; None where none does.
    length_penalty
        Texts are compared by the sum of log-probabilities over ``tokens ** length_penalty``: 0
        compares sums, 1 means.
    no_repeat_ngram
        No n-gram of so many tokens comes twice.
    repetition_penalty
        As :func:`calipers.language_model.truncation.penalised` has it, on log-probabilities.
    """

    def extend(histories: Sequence[Sequence[int]]) -> Extensions:
        steps = np.array(next_log_probabilities(histories), np.float64)
        for row, history in enumerate(histories):
            if repetition_penalty is not None:
                steps[row] = penalised(steps[row], history, repetition_penalty)
            if no_repeat_ngram is not None:
                banned = repeating(history, no_repeat_ngram, size=steps.shape[1])
                steps[row, banned] = -np.inf
        rows, tokens = np.divmod(np.arange(steps.size), steps.shape[1])
        return Extensions(rows, tokens, steps.ravel())

    return search_beams(
        extend, [prompt], beams=beams, max_tokens=max_tokens, end=end, length_penalty=length_penalty
    )[0]


def search_beams(
    extend: Extend,
    prompts: Sequence[Sequence[int]],
    *,
    beams: int,
    max_tokens: int,
    end: int | None,
    length_penalty: float = 1.0,
) -> list[Found]:
    """Run :func:`beam_search` for several prompts, one step at a time.

    Parameters
    ----------
    extend
        From the histories of all searches to their extensions, at least the best ``2 · beams`` of
        each.
    prompts
        What the texts continue.
    beams, max_tokens, end, length_penalty
        As for :func:`beam_search`.
    """
    searches = [_search(prompt, beams, max_tokens, end, length_penalty) for prompt in prompts]
    found: dict[int, Found] = {}
    asked: dict[int, list[list[int]]] = {}

    def go_on(number: int, extensions: Extensions | None) -> None:
        try:
            asked[number] = searches[number].send(extensions)
        except StopIteration as ended:
            found[number] = ended.value
            asked.pop(number, None)

    for number in range(len(searches)):
        go_on(number, None)
    while asked:
        going = list(asked.items())
        extensions = extend([history for _, histories in going for history in histories])
        starts = np.cumsum([0, *(len(histories) for _, histories in going)])
        bounds = np.searchsorted(extensions.rows, starts)
        for (number, _), start, low, high in zip(
            going, starts[:-1], bounds[:-1], bounds[1:], strict=True
        ):
            mine = slice(int(low), int(high))
            rows, tokens, logarithms = extensions
            go_on(number, Extensions(rows[mine] - start, tokens[mine], logarithms[mine]))
    return [found[number] for number in range(len(searches))]


def _search(
    prompt: Sequence[int], beams: int, max_tokens: int, end: int | None, length_penalty: float
) -> Generator[list[list[int]], Extensions | None, Found]:
    """Search for one text: give histories, take their extensions, and return what was found."""
    start = [int(token) for token in prompt]
    alive: list[tuple[float, list[int]]] = [(0.0, [])]
    done: list[Found] = []
    for step in range(1, max_tokens + 1):
        extensions = yield [start + tokens for _, tokens in alive]
        assert extensions is not None
        rows, chosen, steps = extensions
        totals = np.array([total for total, _ in alive])[rows] + steps
        before, alive = alive, []
        for rank, place in enumerate(_best(totals, 2 * beams)):
            token = int(chosen[place])
            total, tokens = float(totals[place]), [*before[rows[place]][1], token]
            if token != end:
                alive.append((total, tokens))
            elif rank < beams:
                done.append(_found(total, tokens, length_penalty, True))
            if len(alive) == beams:
                break
        done = sorted(done, key=lambda text: -text.score)[:beams]
        if not alive:
            break
        if len(done) == beams and alive[0][0] / step**length_penalty <= done[-1].score:
            return done[0]
    done.extend(_found(total, tokens, length_penalty, False) for total, tokens in alive)
    if not done:  # every token was banned at the start
        return Found((), 0.0, 0.0, False)
    return max(done, key=lambda text: text.score)


def _best(values: Floats, count: int) -> NDArray[np.intp]:
    """The places of the highest values above −inf, the lower place first of equal ones."""
    if count < len(values):
        border = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= border)
    else:
        places = np.arange(len(values))
    places = places[values[places] > -np.inf]
    return places[np.argsort(-values[places], kind="stable")][:count]


def _found(total: float, tokens: list[int], length_penalty: float, ended: bool) -> Found:
    return Found(tuple(tokens), total, total / len(tokens) ** length_penalty, ended)


def random_tokens(max_tokens: int, share: float = RANDOM_SHARE) -> int:
    """Return how many initial tokens of an adversarial text are drawn uniformly."""
    return math.ceil(share * max_tokens - 1e-9)


def closest_to_perplexity(
    log_probabilities: Floats, total: Floats, count: int, target: float
) -> Longs:
    """Choose the token that brings the running perplexity closest to a target.

    Parameters
    ----------
    log_probabilities
        Of every token as the next one, shape ``(b, v)``; −inf leaves a token out.
    total
        Sum of the log-probabilities of the tokens so far, shape ``(b,)``.
    count
        How many these are.
    target
        The perplexity to come close to.

    Returns
    -------
    ndarray
        Tokens, of equal ones the lowest number, int64 of shape ``(b,)``.

    Examples
    --------
    >>> closest_to_perplexity(np.log([[0.5, 0.25, 0.2, 0.05]]), np.array([0.0]), 0, 4.4).tolist()
    [1]
    """
    sums = np.asarray(total, np.float64)[:, None] + log_probabilities
    with np.errstate(over="ignore"):
        distances = np.abs(np.exp(-sums / (count + 1)) - target)
    distances[np.isneginf(log_probabilities)] = np.inf
    chosen = distances.argmin(axis=1)
    beyond = np.isinf(np.take_along_axis(distances, chosen[:, None], axis=1)[:, 0])
    if beyond.any():  # the perplexity itself is beyond float64: the likeliest token is closest
        chosen[beyond] = np.asarray(log_probabilities)[beyond].argmax(axis=1)
    return np.asarray(chosen, dtype=np.int64)


def perplexity_target(decoding: Decoding) -> float:
    """Return the target perplexity of an adversarial decoding.

    Raises
    ------
    InputError
        If it has none yet.
    """
    target = decoding.get("adversarial")
    if target is None:
        raise InputError(
            "adversarial decoding needs the perplexity that it comes close to, as in "
            "adversarial=30; found none"
        )
    return float(target)


def adversarial_search(
    next_log_probabilities: NextLogProbabilities,
    prompt: Sequence[int],
    decoding: Decoding,
    uniforms: Floats,
    *,
    choices: Longs,
) -> list[int]:
    """Write a text of low quality and of a given perplexity (Pillutla et al., 2023, section 6.2).

    The first tokens are drawn uniformly, of those that the model does not rule out; then each is
    the one that brings the perplexity of the whole text so far closest to the target. The token
    that ends texts is never chosen, so that all have the same length.

    Parameters
    ----------
    next_log_probabilities
        The model.
    prompt
        What the text continues; it is no part of the perplexity.
    decoding
        With the target, and the share of tokens that are drawn uniformly.
    uniforms
        In [0, 1), one for each token of the text.
    choices
        The tokens that may be written, ascending.
    """
    target = perplexity_target(decoding)
    first = random_tokens(len(uniforms), float(decoding.get("random_share", RANDOM_SHARE)))
    history, written, total = [int(token) for token in prompt], list[int](), 0.0
    for step, uniform in enumerate(uniforms):
        log_probabilities = next_log_probabilities([history])[:, choices]
        if step < first:
            possible = np.flatnonzero(log_probabilities[0] > -np.inf)
            place = int(possible[min(int(uniform * len(possible)), len(possible) - 1)])
        else:
            place = int(
                closest_to_perplexity(log_probabilities, np.array([total]), step, target)[0]
            )
        total += float(log_probabilities[0, place])
        written.append(int(choices[place]))
        history.append(int(choices[place]))
    return written
