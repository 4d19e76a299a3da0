"""Ask an embeddings service for vectors: one HTTP request, made again while its trouble may pass.

The key goes to the address that was named and nowhere else: redirects are not followed, and
errors are raised without the exceptions behind them, whose frames hold the request.
"""

from __future__ import annotations

import json
import random
import re
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import Any, NamedTuple, NoReturn

from calipers.embed.service.address import Address, Key
from calipers.embed.service.answer import (
    Answer,
    AnswerError,
    explain,
    one_line,
    read_answer,
    server_message,
    status_line,
)
from calipers.errors import CalipersError, InputError, require

CONNECT_TIMEOUT, READ_TIMEOUT, ANSWER_TIMEOUT = 15.0, 180.0, 600.0
"""Seconds to wait for a connection, for the next part of an answer, and for all of it."""

BYTES_PER_TEXT = 24 * 16_384
"""Bytes that the vector of one text can take in the first answer: 16,384 numbers, in full."""

BYTES_PER_NUMBER, BYTES_BESIDE = 64, 4096
"""Bytes for each number of a vector, and beside it, once their size is known."""

MAX_BYTES, MAX_REFUSAL_BYTES = 256 << 20, 1 << 16
"""Bytes that are read of any one answer, and of one that refuses."""

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses of an answer that may be another one a moment later."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a request is made again for the first time, and at most."""

MAX_RETRY_AFTER = 600.0
"""Seconds that a service may ask to be left alone; for longer, the run ends instead."""

MAX_SECONDS = 600.0
"""Seconds after which a request is not made again, unless the service asked for the wait."""

MAX_RETRIES_BROKEN_OFF = 3
"""How often a request is made again whose answer broke off: what cuts it is likely to stay."""

MAX_RETRIES_UNANSWERED = 3
"""How often a service that never answered is asked again: a wrong address is more likely."""

_BUSY = frozenset({429, 503})
_CHUNK = 1 << 16
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}
_SIZE = re.compile(
    r"too (long|large|many|big)|max(imum)?\b|limit|exceed|at most|larger than|longer than|"
    r"less than|batch.?size|context.?length",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"encoding.?format|base64", re.IGNORECASE)


class TransientError(Exception):
    """A trouble that may be gone a moment later.

    Attributes
    ----------
    after
        Seconds that the service asks to be left alone, or None.
    status
        Of its answer, or None where there was none.
    broken_off
        Whether the service closed the connection before its answer was whole.
    """

    def __init__(
        self,
        message: str,
        *,
        after: float | None = None,
        status: int | None = None,
        broken_off: bool = False,
    ) -> None:
        super().__init__(message)
        self.after, self.status, self.broken_off = after, status, broken_off


class RequestTooLargeError(CalipersError):
    """The service refuses a request for its size; fewer or shorter texts may pass."""


class StoppedError(Exception):
    """Another request has failed, or a person has stopped the run."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often to ask again, and how long to wait before.

    Attributes
    ----------
    retries
        How often a request is made again.
    random
        Where the spread of waits comes from, so that requests do not come back all at once.
    """

    retries: int
    random: random.Random

    def allows(
        self, attempt: int, error: TransientError, *, answered: bool, seconds: float = 0.0
    ) -> bool:
        """Tell whether to ask once more after `attempt` attempts, which took some seconds.

        `answered` says whether the service ever gave an answer.
        """
        if error.after is not None and error.after > MAX_RETRY_AFTER:
            return False
        if error.after is None and seconds > MAX_SECONDS:
            return False
        return attempt <= self.most(error, answered=answered)

    def most(self, error: TransientError, *, answered: bool) -> int:
        """Tell how often a request with such an error is made again at most."""
        if error.broken_off:
            return min(self.retries, MAX_RETRIES_BROKEN_OFF)
        known = answered or error.status in _BUSY
        return self.retries if known else min(self.retries, MAX_RETRIES_UNANSWERED)

    def wait(self, attempt: int, after: float | None) -> float:
        """Return the seconds to wait: twice as long each time, and as long as was asked for."""
        longest = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
        return max(longest * self.random.uniform(0.5, 1.0), after or 0.0)


def retry_after(header: str | None, now: float) -> float | None:
    """Read the header ``Retry-After``: seconds, or a date; None where it is neither.

    Examples
    --------
    >>> retry_after("20", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    (20.0, 45.0)
    """
    if header is None:
        return None
    text = header.strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((date - datetime.fromtimestamp(now, UTC)).total_seconds(), 0.0)


class Response(NamedTuple):
    """What came back: status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """An embeddings service that can be asked from several threads.

    Parameters
    ----------
    address, model, size, key
        The service, the model, how many numbers a vector should have (None: the model's own),
        the key (None: none).
    connections
        How many requests may be made side by side.
    timeout
        Seconds without a byte after which a request counts as lost.
    policy
        When to ask again.
    sleep
        Waits for the given seconds.
    stopped
        Set when nothing more is to be asked.
    """

    def __init__(
        self,
        address: Address,
        model: str,
        *,
        size: int | None,
        key: Key | None,
        connections: int,
        timeout: float,
        policy: RetryPolicy,
        sleep: Callable[[float], object],
        stopped: Event,
    ) -> None:
        self._address, self._model, self._size, self._key = address, model, size, key
        self._policy, self._stopped = policy, stopped
        self._base64, self._answered = True, False
        self._width: int | None = None
        self._parsing = Lock()
        purpose = "an embeddings endpoint"
        self._httpx = require("httpx", extra="endpoint", purpose=purpose)
        tenacity = require("tenacity", extra="endpoint", purpose=purpose)
        self._connections = _connections(self._httpx, address, connections, timeout)
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            wait=lambda state: policy.wait(state.attempt_number, state.outcome.exception().after),
            stop=self._stops,
            sleep=sleep,
            retry_error_callback=self._give_up,
        )

    def ask(self, texts: list[str]) -> Answer:
        """Ask for the vectors of some texts.

        Raises
        ------
        RequestTooLargeError
            If the service refuses for the size of the request.
        CalipersError
            If it refuses otherwise, its answer is no answer, or its trouble does not pass.
        StoppedError
            If the run has ended meanwhile.
        """
        answer: Answer = self._retrying(self._once, texts)
        return answer

    def _stops(self, state: Any) -> bool:
        """Tell tenacity whether to give up."""
        return not self._policy.allows(
            state.attempt_number,
            state.outcome.exception(),
            answered=self._answered,
            seconds=state.seconds_since_start,
        )

    def _give_up(self, state: Any) -> NoReturn:
        error, attempts = state.outcome.exception(), state.attempt_number
        times = "once" if attempts == 1 else f"{attempts} times"
        words = f"{self._address.shown}: asked {times}, at last {error}"
        if error.after:
            raise CalipersError(f"{words}; it asks to be left alone for {error.after:,.0f} seconds")
        most = self._policy.most(error, answered=self._answered)
        raise CalipersError(
            f"{words} (given up after {state.seconds_since_start:,.0f} seconds: such a request is "
            f"made again {most} times at most, and not after {MAX_SECONDS:,.0f} seconds)"
        )

    def _once(self, texts: list[str]) -> Answer:
        if self._stopped.is_set():
            raise StoppedError
        base64 = self._base64
        request: dict[str, Any] = {"model": self._model, "input": texts}
        if base64:
            request["encoding_format"] = "base64"
        if self._size is not None:
            request["dimensions"] = self._size
        response = self._post(json.dumps(request).encode(), len(texts))
        if response.status // 100 == 2:
            return self._answer(response.body, len(texts))
        refused = base64 and response.status in (400, 422)
        if refused and _FORMAT.search(server_message(response.body)):
            self._base64 = False
            return self._once(texts)
        raise self._refusal(response)

    def _post(self, body: bytes, texts: int) -> Response:
        """Send one request and read its answer, no more of it than the vectors can take.

        Raises
        ------
        TransientError
            If no whole answer came back.
        CalipersError
            If the answer is longer, or packed in a way that was not asked for.
        """
        httpx, broken_off = self._httpx, False
        try:
            with self._connections.stream(
                "POST",
                self._address.url,
                content=body,
                headers=_HEADERS,
                auth=None if self._key is None else self._key.sign,
            ) as response:
                return self._received(response, texts)
        except httpx.TimeoutException:
            trouble = "no answer in time (a smaller batch size may help)"
        except httpx.TransportError as error:
            broken_off = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
            trouble = f"the connection failed: {one_line(str(error), 160) or type(error).__name__}"
        except httpx.HTTPError as error:
            trouble = f"the answer cannot be read: {one_line(str(error), 160)}"
        except zlib.error as error:
            trouble = f"the answer cannot be unpacked: {error}"
            broken_off = True
        raise TransientError(self._scrub(trouble), broken_off=broken_off)

    def _received(self, response: Any, texts: int) -> Response:
        status, headers, succeeded = response.status_code, response.headers, response.is_success
        most = self._max_bytes(texts) if succeeded else MAX_REFUSAL_BYTES
        packing = headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip", "x-gzip"):
            if not succeeded:
                return Response(status, headers, b"")
            raise CalipersError(
                f"{self._address.shown}: the service answered with a body packed as "
                f"{one_line(self._scrub(packing), 40)!r}; gzip, once, is all that is unpacked"
            )
        announced = headers.get("content-length", "")
        if succeeded and announced.isdecimal() and int(announced) > most:
            raise self._too_long(most, texts, f" ({int(announced):,} as it says)")
        content, until = bytearray(), time.monotonic() + ANSWER_TIMEOUT
        chunks = response.iter_raw()
        for chunk in chunks if packing == "identity" else _gunzipped(chunks):
            content += chunk
            if time.monotonic() > until:
                raise TransientError("no whole answer in time")
            if max(len(content), response.num_bytes_downloaded) > most:
                if succeeded:
                    raise self._too_long(most, texts)
                break
        return Response(status, headers, bytes(content[:most]))

    def _max_bytes(self, texts: int) -> int:
        """Bytes that the vectors of so many texts can take."""
        of_one = BYTES_PER_TEXT
        if self._width is not None:
            of_one = BYTES_PER_NUMBER * self._width + BYTES_BESIDE
        return min(of_one * texts, MAX_BYTES)

    def _too_long(self, most: int, texts: int, announced: str = "") -> CalipersError:
        sent = "1 text" if texts == 1 else f"{texts:,} texts"
        return CalipersError(
            f"{self._address.shown}: the service answered with more than {most:,} bytes{announced} "
            f"to {sent}, which cannot be the vectors that were asked for"
        )

    def _answer(self, body: bytes, texts: int) -> Answer:
        try:
            # One at a time: parsed numbers take many times the bytes that say them
            with self._parsing:
                answer = read_answer(body, texts)
        except AnswerError as error:
            begin = body[:MAX_REFUSAL_BYTES].decode("utf-8", "replace")
            content = self._scrub(str(error))
            if self._key is not None and self._key.resembles(begin):
                content = "something else than vectors, withheld since it resembles the key"
            raise CalipersError(
                f"{self._address.shown}: the service answered with {content}"
            ) from None
        self._answered, self._width = True, answer.vectors.shape[1]
        model = None if answer.model is None else self._scrub(answer.model)
        return Answer(answer.vectors, model, answer.tokens)

    def _refusal(self, response: Response) -> Exception:
        """Return what a refusal means: a passing trouble, one of size, or the end."""
        status, body, said = response.status, response.body, server_message(response.body)
        line = status_line(status, body, self._key)
        if status in TRANSIENT and b"insufficient_quota" not in body:
            after = retry_after(response.headers.get("retry-after"), time.time())
            return TransientError(line, after=after, status=status)
        about_size = _SIZE.search(said) and "dimension" not in said.lower()
        if status == 413 or (status in (400, 422) and about_size):
            return RequestTooLargeError(f"{self._address.shown} {line}")
        words = explain(status, body, address=self._address, model=self._model, key=self._key)
        return CalipersError(f"{self._address.shown} {words}")

    def _scrub(self, text: str) -> str:
        return text if self._key is None else self._key.scrub(text)


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip data a little at a time, so that whoever counts can stop in time.

    Raises
    ------
    zlib.error
        If the data are damaged or end too soon.
    """
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    for chunk in chunks:
        packed = chunk
        while packed and not unpacking.eof:
            yield unpacking.decompress(packed, _CHUNK)
            packed = unpacking.unconsumed_tail
        yield b""
    yield unpacking.flush(_CHUNK)
    if not unpacking.eof:
        raise zlib.error("it ends too soon")


def _connections(httpx: Any, address: Address, number: int, timeout: float) -> Any:
    """Make the connections; those within this machine never go by way of a proxy."""
    mounts = {f"all://{address.bracketed}": None} if address.local else None
    # To read the certificates takes longer than many an answer of a service on this machine
    plain = address.local and address.scheme == "http"
    try:
        return httpx.Client(
            timeout=httpx.Timeout(timeout, connect=CONNECT_TIMEOUT, pool=None),
            limits=httpx.Limits(max_connections=number),
            follow_redirects=False,
            mounts=mounts,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        )
    except (ImportError, ValueError) as error:
        raise InputError(
            f"no connection can be made by the proxy that the environment names: {error}"
        ) from None
