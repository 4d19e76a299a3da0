"""Log-probabilities of given texts from a server: the ways to ask, and the tokens of the text.

Servers have three ways: ``echo`` with ``logprobs`` and no new token (vLLM, OpenAI's completions
form as it was), the same with one new token, which is left out again, and vLLM's
``prompt_logprobs``. They are tried in that order until one is answered. Whether a server puts a
token before the text that begins texts is seen from what it answers to all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import CalipersError, InputError
from calipers.language_model.completions import Told, read_choice, read_told
from calipers.language_model.model import Passage
from calipers.numeric.arrays import Floats
from calipers.service.address import Key
from calipers.service.client import MAX_BYTES, ServiceQuestion
from calipers.service.refusal import AnswerError

_WAYS: tuple[Mapping[str, Any], ...] = (
    {"max_tokens": 0, "echo": True, "logprobs": 1},
    {"max_tokens": 1, "echo": True, "logprobs": 1},
    {"max_tokens": 1, "prompt_logprobs": 0},
)
_BYTES, _BYTES_PER_CHARACTER = 1 << 20, 1024
_ROUNDING = 1e-4
"""How far above 0 a log-probability may be by rounding."""

_LONG = re.compile(r"context|too long|(prompt|input|max\w{0,40}).{0,20}length", re.IGNORECASE)
_SPELT = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})
_PIECES = ("�", "bytes:", "<0x")
"""In what stands for a part of a character."""


@dataclass
class Way:
    """The way in which a server is asked; shared by threads.

    Attributes
    ----------
    model
        The model's name at the server.
    number
        Of the way.
    answered
        Whether it was answered.
    """

    model: str
    number: int = 0
    answered: bool = False

    def begin(self) -> None:
        """Restart with the first way if none has succeeded."""
        if not self.answered:
            self.number = 0

    def another(self, tried: int) -> bool:
        """Continue with the next way after a failed one; False where none is left."""
        if self.number == tried and not self.answered:
            self.number += 1
        return tried < self.number < len(_WAYS)


@dataclass(frozen=True, eq=False)
class ScoredTokens:
    """The tokens of a text, possibly with an opening mark.

    Attributes
    ----------
    texts
        Of each token; None where nobody tells.
    log_probability
        Of each token; None of the first where it has none.
    """

    texts: tuple[str | None, ...]
    log_probability: tuple[float | None, ...]


class ScoreQuestion(ServiceQuestion[tuple[ScoredTokens | None, Told]]):
    """The request for the log-probabilities of one text; its answer is None without any.

    Parameters
    ----------
    number
        Of the text, from 0.
    passage
        The text.
    way
        How the server is asked.
    """

    operation = "completions"
    wanted = "log-probabilities"

    def __init__(self, number: int, passage: Passage, way: Way) -> None:
        self.number, self.passage, self.way = number, passage, way
        self.text = passage.prompt + passage.text
        self.tried = 0

    @property
    def sent(self) -> str:
        """What the request contains: one text."""
        return "1 text"

    def body(self) -> Mapping[str, Any]:
        """Return the body of the request: the text, and how its log-probabilities are requested."""
        self.tried = min(self.way.number, len(_WAYS) - 1)
        plain = {"temperature": 1.0, "top_p": 1.0, "n": 1}
        return {"model": self.way.model, "prompt": self.text, **_WAYS[self.tried], **plain}

    def most_bytes(self) -> int:
        """Upper limit on the bytes of the answer."""
        return min(_BYTES + _BYTES_PER_CHARACTER * len(self.text), MAX_BYTES)

    def read(self, content: bytes, key: Key | None) -> tuple[ScoredTokens | None, Told]:
        """Read the tokens and their log-probabilities."""
        parsed, choice = read_choice(content)
        usage = read_told(parsed, key)
        if "echo" in _WAYS[self.tried]:
            tokens = self._echoed(choice, usage)
        else:
            tokens = _listed(choice.get("prompt_logprobs") or parsed.get("prompt_logprobs"))
        self.way.answered |= tokens is not None
        return tokens, usage

    def adapts(self, status: int, message: str) -> bool:
        """Try another way of asking, until one succeeds."""
        fails = status == 500 and self.tried == 0  # of a server that cannot write no token
        if not (status in (400, 422, 501) or fails) or _LONG.search(message):
            return False
        return self.way.another(self.tried)

    def _echoed(self, choice: Mapping[str, Any], usage: Told) -> ScoredTokens | None:
        given, text = choice.get("logprobs"), choice.get("text")
        if not isinstance(given, dict) or not isinstance(given.get("token_logprobs"), list):
            return None
        if not isinstance(text, str) or not text.lstrip().startswith(self.text.strip()):
            return None  # the tokens are those that were written
        texts, numbers = given.get("tokens"), given["token_logprobs"]
        if not isinstance(texts, list) or len(texts) != len(numbers):
            raise AnswerError("log-probabilities that are not one for each token", passing=True)
        if not all(isinstance(token, str) for token in texts):
            raise AnswerError("tokens that are not texts", passing=True)
        if _WAYS[self.tried]["max_tokens"]:
            new = 1 if usage.completion_tokens is None else usage.completion_tokens
            texts, numbers = texts[: len(texts) - new], numbers[: len(numbers) - new]
        return ScoredTokens(tuple(texts), _checked(numbers))


def _listed(given: Any) -> ScoredTokens | None:
    """Read vLLM's list, with an object for each token but the first."""
    if not isinstance(given, list) or not given:
        return None
    firsts = [
        next(iter(entry.values()), None) if isinstance(entry, dict) else None for entry in given
    ]
    texts = tuple(
        text
        if isinstance(first, dict) and isinstance(text := first.get("decoded_token"), str)
        else None
        for first in firsts
    )
    numbers = [first.get("logprob") if isinstance(first, dict) else None for first in firsts]
    return ScoredTokens(texts, _checked(numbers))


def _checked(numbers: Sequence[Any]) -> tuple[float | None, ...]:
    for at, number in enumerate(numbers, start=1):
        if number is None and at == 1:
            continue
        fits = type(number) in (int, float) and math.isfinite(number) and number <= _ROUNDING
        if not fits:
            raise AnswerError(f"no log-probability for token {at}", passing=True)
    return tuple(None if number is None else min(float(number), 0.0) for number in numbers)


def select(
    answers: Sequence[tuple[Passage, ScoredTokens | None]], *, first: str, where: str
) -> tuple[list[Floats], NDArray[np.int64]]:
    """Return log-probabilities of the tokens of each text, without mark, prompt and first token.

    A token that begins in the prompt and ends in the text belongs to the text.

    Parameters
    ----------
    answers
        The texts with what was answered; None for a text that was not asked for, being empty.
    first
        ``"skip"`` or ``"bos"``, as in :meth:`calipers.language_model.model.LanguageModel.score`.
    where
        The server, for messages.

    Raises
    ------
    InputError
        If a first token should be scored that has no log-probability.
    CalipersError
        If it cannot be seen where the tokens of a prompt end.
    """
    votes = [_opened(p.prompt + p.text, tokens) for p, tokens in answers if tokens is not None]
    marked = votes.count(True) > votes.count(False)
    rows: list[Floats] = []
    unscored = np.zeros(len(answers), np.int64)
    for number, (passage, tokens) in enumerate(answers, start=1):
        values: list[float] = []
        if tokens is not None:
            texts, numbers = tokens.texts[marked:], tokens.log_probability[marked:]
            begin = 0
            if passage.prompt:
                ends = _ends(texts, passage.prompt + passage.text)
                if ends is None:
                    raise CalipersError(
                        f"{where}: the tokens of text {number} do not make up the text, so it "
                        "cannot be seen where its prompt ends; score it without a prompt"
                    )
                begin = sum(end <= len(passage.prompt) for end in ends)
            if begin == 0 and numbers and first == "bos" and numbers[0] is None:
                raise InputError(
                    f"{where}: this server gives no log-probability of a first token; "
                    "first='bos' needs one, first='skip' leaves it out"
                )
            if begin == 0 and numbers and (first == "skip" or numbers[0] is None):
                begin = 1
                unscored[number - 1] = _first_characters(passage, texts)
            values = [value for value in numbers[begin:] if value is not None]
        rows.append(np.array(values, dtype=np.float64))
    return rows, unscored


def _first_characters(passage: Passage, texts: Sequence[str | None]) -> int:
    """How many characters of a text its first token holds; 0 where the tokens do not tell."""
    ends = _ends(texts, passage.prompt + passage.text)
    return 0 if ends is None else max(ends[0] - len(passage.prompt), 0)


def _opened(text: str, tokens: ScoredTokens) -> bool | None:
    """Whether a mark stands before a text; None where the tokens do not tell."""
    if _ends(tokens.texts, text) is not None and tokens.texts[:1] != (None,):
        return False
    if _ends(tokens.texts[1:], text) is not None:
        return True
    return None if _ends(tokens.texts, text) is None else False


def _ends(texts: Sequence[str | None], text: str) -> list[int] | None:
    """Find where in a text each of its tokens ends; None where they do not make it up.

    Spaces that a token has lost or gained do not matter. A token that is part of a character, or
    unknown, ends where the next one begins.
    """
    ends: list[int] = []
    at, unsure = 0, 0
    for token in texts:
        if token is None or any(piece in token for piece in _PIECES):
            unsure += 1
            continue
        spelt = token if token in text else token.translate(_SPELT)
        core = spelt.strip()
        begin = text.find(core, at) if core else at
        if begin < 0 or (not unsure and text[at:begin].strip()):
            return None
        ends += [begin] * unsure
        unsure = 0
        at = begin + len(core) if core else min(at + len(spelt), len(text))
        ends.append(at)
    if not unsure and text[at:].strip():
        return None
    return ends + [len(text)] * unsure
