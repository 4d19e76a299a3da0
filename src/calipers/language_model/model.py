"""The interface of language models: score tokens, and continue prompts.

Backends are an n-gram model of the reference (:mod:`calipers.language_model.ngram`), any causal
model of transformers (:mod:`calipers.language_model.causal`), a server that speaks OpenAI's API
(:mod:`calipers.language_model.endpoint`) and vLLM (:mod:`calipers.language_model.vllm`). They are
found by name in :mod:`calipers.language_model.models`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError
from calipers.numeric.arrays import Floats
from calipers.progress import Advance

if TYPE_CHECKING:
    from calipers.language_model.decoding import Decoding

Ids = NDArray[np.int32]
"""Tokens of one text by their numbers, without marks that open or close it."""


@dataclass(frozen=True, eq=False)
class Passage:
    """One text to be scored, and its context.

    Attributes
    ----------
    text
        What is scored.
    prompt
        What stands before it and is read, but not scored.
    ended
        Whether the token that ends texts is scored behind it, as the model has it.
    """

    text: str
    prompt: str = ""
    ended: bool = False


@dataclass(frozen=True, eq=False)
class TokenScores:
    """Log-probabilities of every token of some texts, concatenated.

    Attributes
    ----------
    log_probability
        Natural logarithm of the model's probability of each scored token, float64 of shape
        ``(t,)``, at most 0.
    starts
        Where each text begins, int64 of shape ``(n + 1,)``; text i has the tokens
        ``starts[i]:starts[i + 1]``. A text of which nothing is scored has none.
    vocabulary
        Number of tokens that the model chooses from; 0 where that is unknown, as of a server, so
        that what needs it has no value.
    decoded
        Probability of each token under the decoder's own truncated, renormalised distribution,
        float64 of shape ``(t,)``; None where no decoding was asked for.
    squares
        Sum of the squares of that distribution at each token, float64 of shape ``(t,)``, or None.
    unscored
        How many characters at the beginning of each text stand in a token that was not scored,
        int64 of shape ``(n,)``; None where every text is scored from its beginning.
    """

    log_probability: Floats
    starts: NDArray[np.int64]
    vocabulary: int
    decoded: Floats | None = None
    squares: Floats | None = None
    unscored: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def tokens(self) -> NDArray[np.int64]:
        """Number of scored tokens of each text, shape ``(n,)``."""
        return np.diff(self.starts)


@dataclass(frozen=True, eq=False)
class Request:
    """A request for a text.

    Attributes
    ----------
    id
        Number of the sample. With the seed it fixes the uniform numbers that the sample is drawn
        by, whatever else is written.
    prompt
        What the text continues; empty for a text without a prompt.
    messages
        The conversation for a chat model, as ``{"role": ..., "content": ...}``; the prompt is then
        what stands at the beginning of the reply (it may be empty). None for plain continuation.
    schema
        The JSON schema of an object that the text should be, with ``"title"``; a server that can
        hold its model to one is asked to. None for any text.
    """

    id: int
    prompt: str = ""
    messages: tuple[Mapping[str, str], ...] | None = None
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, eq=False)
class Completion:
    """A generated text.

    Attributes
    ----------
    id
        Number of the sample, as in its request.
    text
        The continuation, without the prompt.
    finish_reason
        ``"stop"`` where the model ended the text, ``"length"`` where it was cut, or what a server
        says.
    tokens
        Tokens of the continuation; the one that ends a text counts. None where nobody tells.
    prompt_tokens
        Tokens of the prompt, marks included; None where nobody tells.
    details
        What else is worth keeping, as plain data.
    """

    id: int
    text: str
    finish_reason: str
    tokens: int | None
    prompt_tokens: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)


class LanguageModel(ABC):
    """Base class of language models, whatever the backend.

    Attributes
    ----------
    name
        The name of the embedder.
    revision
        Commit, hash of its files, or whatever tells two models of one name apart.
    signature
        What a score pins of it, as for an embedder: name, revision, dtype, device.
    reproducible
        Whether a seed fixes every sample, whatever else is written with it; a reason where not.
    context
        Most tokens that it reads, prompt and text together; None for no limit.
    scores_first
        Whether it tells the probability of a first token that nothing stands before, by a token
        that begins texts.
    scores_end
        Whether it tells the probability of the token that ends texts
        (:attr:`Passage.ended`).
    end_marks
        Marks that end a text, as its tokenizer writes them.
    chats
        Whether it takes conversations; else it continues prompts.
    unclaimed
        Texts that a server sent after a run was stopped, so that they were not given.
    """

    name: str
    revision: str
    signature: Mapping[str, str]
    reproducible: bool | str = True
    context: int | None = None
    scores_first: bool = False
    scores_end: bool = False
    end_marks: tuple[str, ...] = ()
    chats: bool = False
    unclaimed: Sequence[Completion] = ()

    def told(self) -> tuple[str, ...]:
        """Report what happened in the requests so far."""
        return ()

    def requests_for(self, passages: Sequence[Passage]) -> int:
        """Return the least number of server requests that scoring some texts needs."""
        return 0

    def reading(self, texts: Sequence[str]) -> ReadingCounts | None:
        """Count the words of texts, and the unknown ones; None where that cannot be known."""
        return None

    def score(
        self,
        passages: Sequence[Passage],
        *,
        first: str = "skip",
        stride: int | None = None,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> TokenScores:
        """Compute the log-probability of every token of some texts.

        Parameters
        ----------
        passages
            The texts, with prompts where they are conditional on one.
        first
            What becomes of a first token that nothing stands before: ``"skip"`` leaves it
            unscored, which :attr:`TokenScores.unscored` tells, ``"bos"`` puts the token before it
            that begins texts.
        stride
            How far the window moves in texts longer than the context, in tokens; None for half of
            the context. A token is scored once, in the first window that holds it.
        decoding
            How the model's distribution is truncated and renormalised for ``decoded`` and
            ``squares``.
        advance
            Called with the number of texts that were scored.

        Raises
        ------
        InputError
            If the model tells no log-probabilities, has no token that begins texts, or a prompt
            leaves no room in the context.
        """
        raise InputError(f"{self.name} tells no log-probabilities of given texts")

    @abstractmethod
    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Write a text for each request, in any order, yielding each when it is complete.

        Parameters
        ----------
        requests
            What to write.
        decoding
            How tokens are chosen.
        max_tokens
            Most tokens of a continuation.
        seed
            With the number of the sample it fixes the uniform numbers that it is drawn by.
        advance
            Called with the number of texts that were written.

        Raises
        ------
        InputError
            If a prompt leaves no room in the context, is empty where the model needs one, or the
            backend cannot decode in that way; before anything is written.
        """


def without_system(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Prepend a system message to the message after it, for models without system messages.

    Examples
    --------
    >>> told = {"role": "system", "content": "Be brief."}
    >>> without_system([told, {"role": "user", "content": "Why?"}])
    [{'role': 'user', 'content': 'Be brief.\\n\\nWhy?'}]
    """
    if len(messages) < 2 or messages[0].get("role") != "system":
        return [dict(message) for message in messages]
    system, first, *rest = messages
    joined = {**first, "content": f"{system['content']}\n\n{first['content']}"}
    return [joined, *(dict(message) for message in rest)]
