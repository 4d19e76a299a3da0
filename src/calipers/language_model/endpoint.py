"""Models on a server with OpenAI's API, in completions or chat form.

It is named ``https://host/v1#MODEL``. One request is made for each text, several at a time, each
with a seed of its own; a passing trouble is waited for; every text is given the moment it arrives,
so that whoever keeps it pays for nothing twice. What is sent stands in
:mod:`calipers.language_model.completions`, how given texts are scored in
:mod:`calipers.language_model.prompt_scores`.

What it cannot see: whether the server heeds the seed and the parameters, and whether it changes the
model behind a name; a change of the name in its answers is told.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from calipers.embedders.options import EmbedderOptions, check_positive
from calipers.errors import CalipersError, InputError, check_unicode, unknown_name
from calipers.language_model.completions import (
    CompletionRequestFormat,
    TextQuestion,
    Told,
    check_decoding,
    is_openai,
    sampling,
    seed_of,
)
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Completion, LanguageModel, Passage, Request, TokenScores
from calipers.language_model.prompt_scores import ScoredTokens, ScoreQuestion, Way, select
from calipers.progress import Advance
from calipers.service.address import Address, Key, ServiceKind, check_offline, find_key, read_name
from calipers.service.client import (
    Client,
    RefusalError,
    RequestLimitError,
    RequestTooLargeError,
    RetryPolicy,
)
from calipers.service.refusal import one_line
from calipers.service.side_by_side import as_they_arrive

SERVERS = ServiceKind(
    noun="a server of language models",
    name="the model's name",
    endings=("/chat/completions", "/completions"),
    example="https://api.openai.com/v1#gpt-4o-mini",
)
"""The service, in the words of messages."""

AT_ONCE, MOST_AT_ONCE = 8, 50
"""Requests under way at a time, and at most."""

SILENCE = 600.0
"""Seconds without a byte after which a request counts as lost: a text comes when it is whole."""

_RETRIES, _BROKEN_OFF = 8, 5
"""How often a request is made again, and where its answer broke off or was none."""

_NO_SCORES = (400, 422, 501)
_FILTERED = re.compile(
    r"content[ _-]?(filter|policy|management)|moderation|flagged|safety|responsible.?ai",
    re.IGNORECASE,
)
Question = TypeVar("Question", TextQuestion, ScoreQuestion)


def load_endpoint(
    name: str, options: EmbedderOptions, *, max_requests: int | None = None, chat: bool = False
) -> ServedModel:
    """Make the model of a server, without a request.

    Parameters
    ----------
    name
        ``https://host/v1#MODEL``, or ``MODEL`` with ``options.endpoint``.
    options
        Of them ``endpoint``, ``offline`` and ``batch_size`` (requests under way at a time, 8 where
        it is not given) count.
    max_requests
        Most requests in the life of the model, those that are made again too; None for no limit.
    chat
        Whether the server is asked in its chat form.

    Raises
    ------
    InputError
        If the address cannot be or holds a credential, no model is named, a key would cross the
        network unencrypted, or an offline run would ask a server on another machine.
    MissingExtraError
        If httpx or tenacity is not installed.
    """
    address, model = read_name(name, options.endpoint, SERVERS)
    check_offline(address, offline=options.offline, remedy="name a model that runs here")
    check_positive("max_requests", max_requests)
    at_once = options.batch_size or AT_ONCE
    if at_once > MOST_AT_ONCE:
        raise InputError(
            f"{address.shown}: a server is asked at most {MOST_AT_ONCE} requests at a time "
            f"(batch_size); found {at_once}"
        )
    if options.revision is not None:
        raise InputError(
            f"{address.shown}: a server has the model that it has, and no revision can be chosen; "
            f"leave it out (found {options.revision!r})"
        )
    return ServedModel(
        address, model, key=find_key(address), chat=chat, at_once=at_once, max_requests=max_requests
    )


@dataclass(frozen=True)
class Usage:
    """Counts of requests to a server, and the counts that it reported.

    Attributes
    ----------
    requests
        Requests that were made, those that were made again too.
    prompt_tokens, completion_tokens
        As the server counted them.
    uncounted
        Answers that told no counts.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0


class ServedModel(LanguageModel):
    """A language model on a server.

    Parameters
    ----------
    address, model
        The server, and the model's name there.
    key
        Sent with every request; None for none.
    chat
        Whether it is asked in the chat form.
    at_once
        Most requests under way at a time.
    max_requests
        Most requests that are made; None for no limit.
    max_retries
        How often a request is made again whose trouble may pass.
    sleep
        Waits for the given seconds; by default in a way that a stopped run cuts short.
    silence
        Seconds without a byte after which a request counts as lost.
    seed
        Of the spread of waits.

    Attributes
    ----------
    revision
        Empty: a server says nothing before it is asked. What it calls the model in its answers is
        in `served`, and with each text for which it is another name.
    unclaimed
        Texts that arrived after the generator of a run was closed, and so were not given.
    """

    def __init__(
        self,
        address: Address,
        model: str,
        *,
        key: Key | None = None,
        chat: bool = False,
        at_once: int = AT_ONCE,
        max_requests: int | None = None,
        max_retries: int = _RETRIES,
        sleep: Callable[[float], object] | None = None,
        silence: float = SILENCE,
        seed: int = 0,
    ) -> None:
        self.name, self._address, self._at_once = model, address, at_once
        self._manner = CompletionRequestFormat(
            model, chat, "nothing" if is_openai(address) else "fields"
        )
        self._way = Way(model)
        self._lock = Lock()
        self._counts = [0, 0, 0]
        self._served: dict[str, None] = {}  # in the order of appearance
        self.unclaimed: list[Completion] = []
        self.revision = ""
        self.signature = {
            "model": model,
            "endpoint": address.shown,
            "form": "chat" if chat else "completions",
        }
        self.context, self.chats = None, chat
        self.reproducible = (
            f"{address.shown} decides how a text is drawn: a seed is sent with each request, but "
            "only the server knows whether it honours it"
        )
        self._client = Client(
            address,
            model,
            key=key,
            connections=at_once,
            timeout=silence,
            policy=RetryPolicy(max_retries, random.Random(seed), _BROKEN_OFF),
            purpose="a model behind an endpoint",
            sleep=sleep,
            max_requests=max_requests,
        )

    def __repr__(self) -> str:
        return f"<ServedModel {self.name!r} at {self._address.shown}>"

    @property
    def served(self) -> tuple[str, ...]:
        """The server's names of the model, in order of appearance."""
        return tuple(self._served)

    @property
    def usage(self) -> Usage:
        """Counts of requests and tokens so far."""
        with self._lock:
            return Usage(self._client.requests, *self._counts)

    def parameters(self, decoding: Decoding, max_tokens: int) -> dict[str, Any]:
        """Return the parameters sent for a decoding, in the form that the server accepts."""
        manner = self._manner
        return {manner.limit: max_tokens, **sampling(decoding, manner.beside)}

    def told(self) -> tuple[str, ...]:
        """Report what happened in the requests so far."""
        usage, where, notes = self.usage, self._address.shown, []
        if usage.requests:
            plural = "" if usage.requests == 1 else "s"
            notes.append(
                f"{usage.requests:,} request{plural} to {where}: {usage.prompt_tokens:,} tokens "
                f"read, {usage.completion_tokens:,} written, as the server counts"
                + (f" ({usage.uncounted:,} answers told no counts)" if usage.uncounted else "")
            )
        if self._manner.beside == "nothing" and not is_openai(self._address):
            notes.append(
                f"{where} does not take top_k, min_p and repetition_penalty; its own defaults apply"
            )
        if len(self._served) > 1:
            names = " and ".join(map(repr, self._served))
            notes.append(f"{where} answered as {names}: the texts may be of different models")
        return tuple(notes)

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Write a text for each request, yielding each as it arrives.

        When the generator is closed, no further request is made; what is under way is waited for
        up to 15 seconds, and is then in `unclaimed`.

        Raises
        ------
        InputError
            If the server cannot decode in that way, or a request is not of the form in which it is
            asked; before anything is asked.
        RequestLimitError
            If as many requests were made as allowed, after all that arrived was given.
        CalipersError
            If the server refuses, or its trouble does not pass, after all that arrived was given.
        KeyboardInterrupt
            If a person stops it, after all that arrived was given.
        """
        check_positive("max_tokens", max_tokens)
        check_decoding(decoding, self._address)
        questions = []
        for request in requests:
            self._check(request)
            sample_seed = seed_of(seed, request.id)
            questions.append(
                TextQuestion(
                    request,
                    decoding,
                    max_tokens=max_tokens,
                    seed=sample_seed,
                    manner=self._manner,
                )
            )
        return self._written(questions, advance)

    def requests_for(self, passages: Sequence[Passage]) -> int:
        """Return a request for each text that is not empty."""
        return sum(passage.text != "" for passage in passages)

    def score(
        self,
        passages: Sequence[Passage],
        *,
        first: str = "skip",
        stride: int | None = None,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> TokenScores:
        """Request the log-probability of every token of some texts.

        The vocabulary is unknown and 0. `stride` has no effect: a text that is longer than the
        server's context is refused by it.

        Raises
        ------
        InputError
            If a decoding is asked for, or first tokens that the server does not score.
        CalipersError
            If the server gives no log-probabilities of given texts, refuses one, or its trouble
            does not pass.
        """
        where = self._address.shown
        if decoding is not None:
            raise InputError(
                f"{where}: a server does not tell the whole distribution of a token, which "
                f"measures of a decoder need; found the decoding {str(decoding)!r}"
            )
        if first not in ("skip", "bos"):
            raise unknown_name("convention for the first token", first, ("skip", "bos"))
        if any(passage.ended for passage in passages):
            raise InputError(
                f"{where}: a server reads texts, so that the token that ends them cannot be scored"
            )
        self._way.begin()
        questions = []
        for number, passage in enumerate(passages):
            check_unicode(f"text {number + 1}", passage.prompt + passage.text)
            if passage.text:
                questions.append(ScoreQuestion(number, passage, self._way))
        tokens: dict[int, ScoredTokens] = {}
        answers = self._answers(
            questions, lambda question, answer: None, "text", "scored", alone=not self._way.answered
        )
        for question, answer in answers:
            tokens[question.number] = answer
            if advance is not None:
                advance(1)
        rows, unscored = select(
            [(passage, tokens.get(number)) for number, passage in enumerate(passages)],
            first=first,
            where=where,
        )
        if advance is not None and len(passages) > len(questions):
            advance(len(passages) - len(questions))
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        ends = np.concatenate(rows) if rows else np.empty(0)
        return TokenScores(log_probability=ends, starts=starts, vocabulary=0, unscored=unscored)

    def _check(self, request: Request) -> None:
        where, sample = self._address.shown, f"sample {request.id}"
        check_unicode(f"the prompt of {sample}", request.prompt)
        for message in request.messages or ():
            check_unicode(f"a message of {sample}", message.get("content", ""))
        if self._manner.chat and not request.messages:
            raise InputError(
                f"{where}: the chat form needs messages, and {sample} has none; leave the chat "
                "form out to have a prompt continued"
            )
        if not self._manner.chat and request.messages is not None:
            raise InputError(
                f"{where}: the completions form continues a prompt, and {sample} is a "
                "conversation; ask in the chat form"
            )
        if self._manner.chat and request.prompt and is_openai(self._address):
            raise InputError(
                f"{where}: this server does not continue a reply that has begun; found the "
                f"beginning {one_line(request.prompt, 40)!r} of {sample}"
            )

    def _written(
        self, questions: list[TextQuestion], advance: Advance | None
    ) -> Iterator[Completion]:
        judged = any(question.request.schema is not None for question in questions)
        answers = self._answers(
            questions,
            lambda question, answer: self.unclaimed.append(answer),
            *(("answer", "given") if judged else ("text", "written")),
            alone=not self._client.answered,
        )
        with closing(answers):
            for _, completion in answers:
                if advance is not None:
                    advance(1)
                yield completion

    def _answers(
        self,
        questions: list[Question],
        leave: Callable[[Question, Any], object],
        noun: str,
        done_as: str,
        *,
        alone: bool,
    ) -> Any:
        """Return questions with their answers as these arrive; say what was done where that ends.

        Errors are made anew: the frames behind them hold what the server said.
        """
        done = 0
        failure: tuple[type[BaseException], str] | None = None
        arriving = as_they_arrive(
            questions, self._ask, at_once=self._at_once, first_alone=alone, leave=leave
        )
        try:
            with closing(arriving):
                for pair in arriving:
                    done += 1
                    yield pair
        except CalipersError as error:
            limit = isinstance(error, RequestLimitError)
            failure = (RequestLimitError if limit else CalipersError), str(error)
        except KeyboardInterrupt as interrupt:
            failure = KeyboardInterrupt, str(interrupt) or "stopped"
        if failure is not None:
            kind, words = failure
            raise kind(f"{words}; {done:,} of {len(questions):,} {noun}s were {done_as}")

    def _ask(self, question: TextQuestion | ScoreQuestion, stopped: Event) -> Any:
        """Ask one question, and count what the server tells; called from several threads."""
        try:
            if isinstance(question, TextQuestion):
                completion, usage = self._client.ask(question, stopped)
                self._count(usage)
                return completion
            return self._score(question, stopped)
        except RefusalError as refusal:
            if refusal.status not in (400, 413, 422):
                raise
            if isinstance(question, TextQuestion) and self._refuses_the_item(question, refusal):
                refusal_note = {"refusal": one_line(str(refusal), 240)}
                return Completion(question.request.id, "", "content_filter", 0, 0, refusal_note)
            raise CalipersError(f"{refusal}; {_described(question)}") from None

    def _refuses_the_item(self, question: TextQuestion, refusal: RefusalError) -> bool:
        """Whether an answer is refused for what stands in the one question: a filter, its size."""
        if question.request.schema is None:
            return False
        too_long = isinstance(refusal, RequestTooLargeError) and self._client.answered
        return too_long or _FILTERED.search(str(refusal)) is not None

    def _score(self, question: ScoreQuestion, stopped: Event) -> ScoredTokens:
        last = ""
        while True:
            try:
                tokens, usage = self._client.ask(question, stopped)
            except RefusalError as refusal:
                too_long = isinstance(refusal, RequestTooLargeError)
                if too_long or question.way.answered or refusal.status not in _NO_SCORES:
                    raise
                last = f"; at last: {refusal}"
                break
            self._count(usage)
            if tokens is not None:
                return tokens
            if not question.way.another(question.tried):
                break
        raise CalipersError(
            f"{self._address.shown}: this server gives no log-probabilities of given texts, "
            f"neither by echo with logprobs nor by prompt_logprobs{last}"
        )

    def _count(self, usage: Told) -> None:
        with self._lock:
            counts = (usage.prompt_tokens, usage.completion_tokens)
            self._counts[0] += counts[0] or 0
            self._counts[1] += counts[1] or 0
            self._counts[2] += None in counts
            if usage.model:
                self._served.setdefault(usage.model)


def _described(question: TextQuestion | ScoreQuestion) -> str:
    """Say which sample or text a server refuses."""
    if isinstance(question, ScoreQuestion):
        text, words = question.text, f"it is text {question.number + 1}"
    else:
        request = question.request
        text = request.prompt or " ".join(m.get("content", "") for m in request.messages or ())
        words = f"it is the prompt of sample {request.id}"
    return f"{words}, of {len(text):,} characters, which begins {one_line(text, 40)!r}"
