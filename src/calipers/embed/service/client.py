"""The answer of an embeddings service ──► vectors, with everything checked that can be wrong.

Ask an embeddings service for vectors, again while its trouble may pass.

Texts ──► requests of bounded size, several under way at a time.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.service.connection import (
    LONGEST_TROUBLE,
    MOST_OF_REFUSAL,
    PASSING,
    Address,
    Key,
    PassingError,
    Patience,
    Reply,
    Transport,
    explain,
    is_html,
    one_line,
    retry_after,
    server_message,
    status_line,
)
from calipers.errors import CalipersError

_PARTS, _PARTS_BESIDE = 8, 64
"""Objects, and lists, that an answer may have for each text, and beside them.

A small answer of many parts would take far more memory once it is parsed.
"""


class AnswerError(CalipersError):
    """A service answered, but not with the vectors of the texts that it was sent."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a service gave for some texts.

    Attributes
    ----------
    vectors
        float32 of shape (n, d), in the order of the texts.
    model
        What the service calls the model, or None.
    tokens
        How many tokens it counted, or None.
    """

    vectors: NDArray[np.float32]
    model: str | None = None
    tokens: int | None = None


def read_answer(content: bytes, texts: int) -> Answer:
    """Read the body of an answer to `texts` texts.

    Vectors may be lists of numbers or base64 of little-endian float32; where they carry an
    ``index``, that is their order.

    Raises
    ------
    AnswerError
        If it has far more parts than texts or is no JSON, vectors are missing, too many, doubled
        or of different sizes, or a number is none. The message continues "the service answered
        with".
    """
    most = _PARTS * texts + _PARTS_BESIDE
    for noun, mark in (("objects", b"{"), ("lists", b"]")):
        if (count := content.count(mark)) > most:
            raise AnswerError(f"{count:,} {noun} for {texts:,} texts, far more than they can have")
    data = _data(_parsed(content))
    if len(data[1]) != texts:
        raise AnswerError(f"{len(data[1]):,} vectors for {texts:,} texts")
    rows = [_vector(entry, at) for at, entry in enumerate(_in_order(data[1]), start=1)]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise AnswerError(f"vectors of different sizes, {' and '.join(map(str, sizes[:3]))}")
    return Answer(np.stack(rows), _model(data[0]), _tokens(data[0]))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content[:400].decode("utf-8", "replace")
        if is_html(text):
            raise AnswerError(
                "a web page (HTML) instead of JSON; the address must be that of the API, such as "
                "https://host/v1"
            ) from None
        raise AnswerError(f"malformed JSON, which begins {one_line(text, 60)!r}") from None


def _data(parsed: Any) -> tuple[dict[str, Any], list[Any]]:
    if not isinstance(parsed, dict) or not isinstance(parsed.get("data"), list):
        keys = ", ".join(map(repr, list(parsed)[:5])) if isinstance(parsed, dict) else "no object"
        raise AnswerError(f"JSON without a list 'data'; found {one_line(keys, 100) or 'no keys'}")
    return parsed, parsed["data"]


def _in_order(data: Sequence[Any]) -> list[Any]:
    """Put the entries into the order of the texts."""
    for at, entry in enumerate(data, start=1):
        if not isinstance(entry, dict) or "embedding" not in entry:
            raise AnswerError(f"an entry {at} of 'data' that has no 'embedding'")
    indices = [entry.get("index") for entry in data]
    if indices == [None] * len(data):
        return list(data)
    places = {index: entry for index, entry in zip(indices, data, strict=True) if _whole(index)}
    if sorted(places) != list(range(len(data))):
        raise AnswerError(
            f"indices that are doubled, missing or out of range; they must be 0 to {len(data) - 1}"
        )
    return [places[index] for index in range(len(data))]


def _vector(entry: dict[str, Any], at: int) -> NDArray[np.float32]:
    given = entry["embedding"]
    row = _decoded(given, at) if isinstance(given, str) else _listed(given, at)
    if not row.size:
        raise AnswerError(f"an empty vector for text {at}")
    if not np.isfinite(row).all():
        raise AnswerError(f"a vector for text {at} that holds NaN or infinity")
    return row


def _decoded(text: str, at: int) -> NDArray[np.float32]:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise AnswerError(f"a vector for text {at} that is no base64") from None
    if len(content) % 4:
        raise AnswerError(f"a vector for text {at} that is no base64 of float32 numbers")
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


def _listed(given: Any, at: int) -> NDArray[np.float32]:
    if not isinstance(given, list) or not all(type(number) in (int, float) for number in given):
        raise AnswerError(f"a vector for text {at} that is no list of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.array(given, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise AnswerError(f"a vector for text {at} with a number beyond float32") from None


def _model(parsed: dict[str, Any]) -> str | None:
    model = parsed.get("model")
    return one_line(model, 120) or None if isinstance(model, str) else None


def _tokens(parsed: dict[str, Any]) -> int | None:
    usage = parsed.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    return tokens if _whole(tokens) else None


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


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


Ask = Callable[[list[str]], Answer]
Accept = Callable[[list[str], Answer], None]

GRACE = 15.0
"""Seconds that answers under way have to arrive when a person stops the run."""


class TooLongError(TooMuchError):
    """A text that the service refuses even by itself.

    Attributes
    ----------
    text
        As it was sent.
    """

    def __init__(self, text: str, refusal: str) -> None:
        super().__init__(refusal)
        self.text = text


class Requests:
    """How texts are divided among requests, and how many of these are under way.

    Parameters
    ----------
    ask
        Makes one request; called from several threads.
    at_once
        Most requests under way.
    texts, characters
        Most of each in one request; a longer text goes by itself.
    stopped
        Set when one request has failed or a person has stopped the run, so that no other begins.
    """

    def __init__(
        self, ask: Ask, *, at_once: int, texts: int, characters: int, stopped: Event
    ) -> None:
        self._ask, self._at_once, self._stopped = ask, at_once, stopped
        self._texts, self._characters = texts, characters

    def fetch(self, texts: Sequence[str], accept: Accept) -> None:
        """Ask for all texts; hand each answer to `accept` in the thread that received it.

        Requests that are under way when another fails, or when a person stops the run, are waited
        for, since they are paid for: in the latter case for 15 seconds, or until the person stops
        that too.

        Raises
        ------
        TooLongError
            If the service refuses a text for its length.
        CalipersError
            If a request fails for good.
        """
        self._stopped.clear()
        batches = _Queue(plan(texts, most=self._texts, characters=self._characters))
        failures: list[BaseException] = []
        running: list[Event] = []
        try:
            threads = range(min(self._at_once, len(texts)))
            running.extend(self._begin(batches, accept, failures) for _ in threads)
            _wait_for(running)
        except KeyboardInterrupt:
            self._stopped.set()
            batches.close()
            _wait_for(running, GRACE)
            raise
        if failures:
            raise failures[0]

    def _begin(self, batches: _Queue, accept: Accept, failures: list[BaseException]) -> Event:
        """Ask for one batch after another in a thread; return what it sets when it ends.

        The thread is of no pool, since Python would wait for that before it ends, and so for a
        service that is silent; and it is not joined, since a join that Ctrl-C breaks off counts
        the thread as ended.
        """
        ended = Event()

        def work() -> None:
            try:
                self._work_off(batches, accept)
            except BaseException as error:
                failures.append(error)
                self._stopped.set()
            finally:
                ended.set()

        Thread(target=work, name="calipers-endpoint", daemon=True).start()
        return ended

    def _work_off(self, batches: _Queue, accept: Accept) -> None:
        with suppress(StoppedError):
            while not self._stopped.is_set() and (batch := batches.take()):
                self._fetch(batch, accept)

    def _fetch(self, texts: list[str], accept: Accept) -> None:
        if len(texts) > self._texts:
            self._halve(texts, accept)
            return
        try:
            answer = self._ask(texts)
        except TooMuchError as refusal:
            if len(texts) == 1:
                raise TooLongError(texts[0], str(refusal)) from None
            self._halve(texts, accept)
            self._texts = min(self._texts, (len(texts) + 1) // 2)
            return
        accept(texts, answer)

    def _halve(self, texts: list[str], accept: Accept) -> None:
        middle = (len(texts) + 1) // 2
        self._fetch(texts[:middle], accept)
        self._fetch(texts[middle:], accept)


class _Queue:
    """Batches for several threads, until there are no more or it is closed."""

    def __init__(self, batches: Iterable[list[str]]) -> None:
        self._batches, self._lock, self._open = iter(batches), Lock(), True

    def take(self) -> list[str] | None:
        with self._lock:
            return next(self._batches, None) if self._open else None

    def close(self) -> None:
        with self._lock:
            self._open = False


def plan(texts: Sequence[str], *, most: int, characters: int) -> Iterator[list[str]]:
    """Divide texts into batches, in their order.

    Examples
    --------
    >>> list(plan(["a", "b", "cccc", "d"], most=2, characters=3))
    [['a', 'b'], ['cccc'], ['d']]
    """
    batch: list[str] = []
    filled = 0
    for text in texts:
        if batch and (len(batch) == most or filled + len(text) > characters):
            yield batch
            batch, filled = [], 0
        batch.append(text)
        filled += len(text)
    if batch:
        yield batch


def _wait_for(running: Sequence[Event], seconds: float = math.inf) -> None:
    """Wait until all threads have ended, or for so many seconds.

    In short steps: a Ctrl-C just before a wait would else be heard only after it.
    """
    until = time.monotonic() + seconds
    for ended in running:
        while time.monotonic() < until and not ended.wait(0.2):
            pass
