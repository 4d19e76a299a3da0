"""Ask an embeddings service for vectors, again while its trouble may pass."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from threading import Event, Lock
from typing import Any

from calipers.embed.service.address import Address
from calipers.embed.service.answer import Answer, AnswerError, read_answer
from calipers.embed.service.key import Key
from calipers.embed.service.retry import (
    LONGEST_TROUBLE,
    PASSING,
    PassingError,
    Patience,
    retry_after,
)
from calipers.embed.service.transport import MOST_OF_REFUSAL, Reply, Transport
from calipers.embed.service.words import explain, server_message, status_line
from calipers.errors import CalipersError

MOST_PER_TEXT = 24 * 16_384
"""Bytes that the vector of one text can take in the first answer: 16,384 numbers, in full."""

MOST_PER_NUMBER, MOST_BESIDE = 64, 4096
"""Bytes for each number of a vector, and beside it, once their size is known."""

MOST = 256 << 20
"""Bytes of any one answer."""

_SIZE = re.compile(
    r"too (long|large|many|big)|max(imum)?\b|limit|exceed|at most|larger than|longer than|"
    r"less than|batch.?size|context.?length",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"encoding.?format|base64", re.IGNORECASE)


class TooMuchError(CalipersError):
    """The service refuses a request for its size; fewer or shorter texts may pass."""


class StoppedError(Exception):
    """Another request has failed, or a person has stopped the run."""


class Client:
    """An embeddings service that can be asked from several threads.

    Parameters
    ----------
    transport
        The connections to it.
    address, model, size, key
        The service, the model, how many numbers a vector should have (None: the model's own),
        the key (None: none).
    patience
        When to ask again.
    sleep
        Waits for the given seconds.
    stopped
        Set when nothing more is to be asked.
    """

    def __init__(
        self,
        transport: Transport,
        address: Address,
        model: str,
        *,
        size: int | None,
        key: Key | None,
        patience: Patience,
        sleep: Callable[[float], object],
        stopped: Event,
    ) -> None:
        self._transport, self._address, self._model = transport, address, model
        self._size, self._key, self._patience = size, key, patience
        self._sleep, self._stopped = sleep, stopped
        self._base64, self._answered = True, False
        self._width: int | None = None
        self._parsing = Lock()

    def ask(self, texts: list[str]) -> Answer:
        """Ask for the vectors of some texts.

        Raises
        ------
        TooMuchError
            If the service refuses for the size of the request.
        CalipersError
            If it refuses otherwise, its answer is no answer, or its trouble does not pass.
        StoppedError
            If the run has ended meanwhile.
        """
        attempt, begun = 0, time.monotonic()
        while not self._stopped.is_set():
            attempt += 1
            try:
                return self._once(texts)
            except PassingError as trouble:
                seconds = time.monotonic() - begun
                if not self._patience.lasts(
                    attempt, trouble, answered=self._answered, seconds=seconds
                ):
                    raise CalipersError(self._gave_up(trouble, attempt, seconds)) from None
                wait = self._patience.wait(attempt, trouble.after)
            self._sleep(wait)
        raise StoppedError

    def _once(self, texts: list[str]) -> Answer:
        base64 = self._base64
        sent = "1 text" if len(texts) == 1 else f"{len(texts):,} texts"
        request, most = self._request(texts, base64), self._most(len(texts))
        reply = self._transport.post(request, most=most, texts=sent)
        if reply.status // 100 == 2:
            return self._read(reply.body, len(texts))
        if base64 and reply.status in (400, 422) and _FORMAT.search(server_message(reply.body)):
            self._base64 = False
            return self._once(texts)
        raise self._refusal(reply)

    def _most(self, texts: int) -> int:
        """Bytes that the vectors of so many texts can take."""
        known = self._width is not None
        each = MOST_PER_NUMBER * (self._width or 0) + MOST_BESIDE if known else MOST_PER_TEXT
        return min(each * texts, MOST)

    def _request(self, texts: list[str], base64: bool) -> bytes:
        request: dict[str, Any] = {"model": self._model, "input": texts}
        if base64:
            request["encoding_format"] = "base64"
        if self._size is not None:
            request["dimensions"] = self._size
        return json.dumps(request).encode()

    def _read(self, body: bytes, texts: int) -> Answer:
        try:
            # One at a time: parsed numbers take many times the bytes that say them
            with self._parsing:
                answer = read_answer(body, texts)
        except AnswerError as error:
            found = self._scrub(str(error))
            if self._shows_key(body):
                found = "something else than vectors, withheld since it resembles the key"
            raise CalipersError(
                f"{self._address.shown}: the service answered with {found}"
            ) from None
        self._answered, self._width = True, answer.vectors.shape[1]
        model = None if answer.model is None else self._scrub(answer.model)
        return Answer(answer.vectors, model, answer.tokens)

    def _refusal(self, reply: Reply) -> Exception:
        """Return what a refusal means: a passing trouble, one of size, or the end."""
        status, body, said = reply.status, reply.body, server_message(reply.body)
        line = status_line(status, body, self._key)
        if status in PASSING and b"insufficient_quota" not in body:
            after = retry_after(reply.headers.get("retry-after"), time.time())
            return PassingError(line, after=after, status=status)
        about_size = _SIZE.search(said) and "dimension" not in said.lower()
        if status == 413 or (status in (400, 422) and about_size):
            return TooMuchError(f"{self._address.shown} {line}")
        words = explain(status, body, address=self._address, model=self._model, key=self._key)
        return CalipersError(f"{self._address.shown} {words}")

    def _gave_up(self, trouble: PassingError, attempts: int, seconds: float) -> str:
        times = "once" if attempts == 1 else f"{attempts} times"
        words = f"{self._address.shown}: asked {times}, at last {trouble}"
        if trouble.after:
            return f"{words}; it asks to be left alone for {trouble.after:,.0f} seconds"
        again = self._patience.again(trouble, answered=self._answered)
        return (
            f"{words} (given up after {seconds:,.0f} seconds: such a request is made again "
            f"{again} times at most, and not after {LONGEST_TROUBLE:,.0f} seconds)"
        )

    def _shows_key(self, body: bytes) -> bool:
        """Tell whether the beginning of a body resembles the key."""
        begin = body[:MOST_OF_REFUSAL].decode("utf-8", "replace")
        return self._key is not None and self._key.resembles(begin)

    def _scrub(self, text: str) -> str:
        return text if self._key is None else self._key.scrub(text)
