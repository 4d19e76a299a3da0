"""Requests to a service by HTTP, repeated after transient errors.

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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, TypeVar

from calipers.errors import CalipersError, InputError, require
from calipers.service.address import Address, Key
from calipers.service.refusal import (
    AnswerError,
    explain,
    one_line,
    server_message,
    status_line,
)

CONNECT_TIMEOUT, READ_TIMEOUT, ANSWER_TIMEOUT = 15.0, 180.0, 600.0
"""Seconds to wait for a connection, for the next part of an answer, and for all of it."""

MAX_BYTES, MAX_REFUSAL_BYTES = 256 << 20, 1 << 16
"""Bytes that are read of any one answer, and of one that refuses."""

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses of an answer that may be another one a moment later."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a request is made again for the first time, and at most."""

MAX_RETRY_AFTER = 600.0
"""Seconds that a service may ask to be left alone; for longer, the run ends instead."""

LONGEST_BELIEVED = 31 * 86_400.0
"""Seconds to which a quota may be gone; a service that names more has said nothing."""

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
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?")
_LONGEST_HEADER = 100
_MOST_DIGITS = 18
Result = TypeVar("Result")


class TransientError(Exception):
    """An error that may disappear on its own.

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


class RefusalError(CalipersError):
    """The service refuses a request, and would refuse it again.

    Attributes
    ----------
    status
        Of its answer.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RequestTooLargeError(RefusalError):
    """The service refuses a request because of its size."""


class RequestLimitError(CalipersError):
    """The limit on the number of requests is reached."""


class StoppedError(Exception):
    """Another request has failed, or the run was stopped."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often requests are repeated, and after what delays.

    Attributes
    ----------
    retries
        How often a request is made again.
    random
        Where the spread of waits comes from, so that requests do not come back all at once.
    broken_off
        How often at most where its answer broke off.
    """

    retries: int
    random: random.Random
    broken_off: int = MAX_RETRIES_BROKEN_OFF

    def allows(
        self,
        attempt: int,
        error: TransientError,
        *,
        answered: bool,
        seconds: float = 0.0,
        broken: int | None = None,
    ) -> bool:
        """Tell whether to repeat a request after `attempt` attempts, which took some seconds.

        `answered` says whether the service ever gave an answer, `broken` of how many attempts the
        answer broke off: all of them where that is not said.
        """
        if error.after is not None and error.after > MAX_RETRY_AFTER:
            return False
        if error.after is None and seconds > MAX_SECONDS:
            return False
        if error.broken_off and broken is not None:
            return broken <= self.most(error, answered=answered) and attempt <= self.retries
        return attempt <= self.most(error, answered=answered)

    def most(self, error: TransientError, *, answered: bool) -> int:
        """Return how often a request with such an error is repeated at most."""
        if error.broken_off:
            return min(self.retries, self.broken_off)
        known = answered or error.status in _BUSY
        return self.retries if known else min(self.retries, MAX_RETRIES_UNANSWERED)

    def wait(self, attempt: int, after: float | None) -> float:
        """Return the delay in seconds, doubling each time, and at least as long as asked for."""
        longest = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
        return max(longest * self.random.uniform(0.5, 1.0), after or 0.0)


def retry_after(header: str | None, now: float) -> float | None:
    """Parse the header ``Retry-After``: seconds, or a date; None for anything else.

    None too where it is further away than a service could mean: the wait is then our own.

    Examples
    --------
    >>> retry_after("20", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    (20.0, 45.0)
    >>> retry_after("9" * 400, 0.0), retry_after("Thu, 01 Jan 2099 00:00:00 GMT", 0.0)
    (None, None)
    """
    text = (header or "").strip()[:_LONGEST_HEADER]
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        try:
            date = parsedate_to_datetime(text)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            seconds = max((date - datetime.fromtimestamp(now, UTC)).total_seconds(), 0.0)
        except (ArithmeticError, LookupError, TypeError, ValueError):  # of an odd offset or year
            return None
    return seconds if seconds <= LONGEST_BELIEVED else None


class Response(NamedTuple):
    """A response: status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ServiceQuestion(ABC, Generic[Result]):
    """One kind of request to a service, and the parsing of its answer.

    Attributes
    ----------
    operation
        Such as ``"embeddings"``, the end of the address.
    wanted
        What the answer should be, in the plural.
    hint
        What may help where no answer comes in time, with a space before it.
    """

    operation: str
    wanted: ClassVar[str]
    hint: ClassVar[str] = ""

    @property
    @abstractmethod
    def sent(self) -> str:
        """What a request contains, such as ``"3 texts"``."""

    @abstractmethod
    def body(self) -> Mapping[str, Any]:
        """Return the body of the request, as JSON."""

    @abstractmethod
    def most_bytes(self) -> int:
        """Upper limit on the bytes of an answer."""

    @abstractmethod
    def read(self, content: bytes, key: Key | None) -> Result:
        """Parse the body of an answer, without showing the key.

        Raises
        ------
        AnswerError
            If it is not what was asked for. The message continues "the service answered with".
        """

    def adapts(self, status: int, message: str) -> bool:
        """Change the request after a refusal; False where there is no alternative."""
        return False


class Client:
    """A client of a service, for several threads.

    Parameters
    ----------
    address, model, key
        The service, the model, the key (None: none).
    connections
        How many requests may be made side by side.
    timeout
        Seconds without a byte after which a request counts as lost.
    policy
        When to ask again.
    purpose
        What needs the HTTP client, as the subject of a sentence.
    sleep
        Waits for the given seconds; None for a wait that a stopped run cuts short.
    max_requests
        Most requests that are made, those that are made again too; None for no limit.

    Attributes
    ----------
    requests
        How many were made.
    """

    def __init__(
        self,
        address: Address,
        model: str,
        *,
        key: Key | None,
        connections: int,
        timeout: float,
        policy: RetryPolicy,
        purpose: str,
        sleep: Callable[[float], object] | None = None,
        max_requests: int | None = None,
    ) -> None:
        self._address, self._model, self._key = address, model, key
        self._policy, self._sleep = policy, sleep
        self._max_requests, self.requests = max_requests, 0
        self._answered = False
        self._parsing, self._counting = Lock(), Lock()
        self._httpx = require("httpx", extra="endpoint", purpose=purpose)
        self._tenacity = require("tenacity", extra="endpoint", purpose=purpose)
        self._connections = _connections(self._httpx, address, connections, timeout)

    @property
    def answered(self) -> bool:
        """Whether the service has answered any request."""
        return self._answered

    def ask(self, question: ServiceQuestion[Result], stopped: Event) -> Result:
        """Send a request, unless the event says to stop.

        Raises
        ------
        RequestTooLargeError
            If the service refuses for the size of the request.
        RequestLimitError
            If no more requests may be made.
        CalipersError
            If it refuses otherwise, its answer cannot be read, or its trouble does not pass.
        StoppedError
            If the run has ended meanwhile.
        """
        policy, broken = self._policy, [0]
        retrying = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception_type(TransientError),
            wait=lambda state: policy.wait(state.attempt_number, state.outcome.exception().after),
            stop=lambda state: self._stops(state, broken),
            sleep=self._sleep or stopped.wait,
            retry_error_callback=self._give_up,
        )
        result: Result = retrying(self._once, question, stopped)
        return result

    def _stops(self, state: Any, broken: list[int]) -> bool:
        """Tell tenacity whether to give up, and count answers that broke off."""
        error = state.outcome.exception()
        broken[0] += error.broken_off
        return not self._policy.allows(
            state.attempt_number,
            error,
            answered=self._answered,
            seconds=state.seconds_since_start,
            broken=broken[0],
        )

    def _give_up(self, state: Any) -> NoReturn:
        error, attempts = state.outcome.exception(), state.attempt_number
        times = "once" if attempts == 1 else f"{attempts} times"
        words = f"{self._address.shown}: asked {times}, at last {error}"
        if error.after:
            raise CalipersError(f"{words}; it asks to wait for {error.after:,.0f} seconds")
        most = self._policy.most(error, answered=self._answered)
        raise CalipersError(
            f"{words} (given up after {state.seconds_since_start:,.0f} seconds: such a request is "
            f"made again {most} times at most, and not after {MAX_SECONDS:,.0f} seconds)"
        )

    def _once(self, question: ServiceQuestion[Result], stopped: Event) -> Result:
        while True:
            if stopped.is_set():
                raise StoppedError
            response = self._post(json.dumps(question.body()).encode(), question)
            if response.status // 100 == 2:
                return self._answer(response.body, question)
            if not question.adapts(response.status, server_message(response.body)):
                raise self._refusal(response)

    def _count(self) -> None:
        """Count a request that is about to be made."""
        with self._counting:
            if self._max_requests is not None and self.requests >= self._max_requests:
                raise RequestLimitError(
                    f"{self._address.shown}: {self.requests:,} requests were made, as many as "
                    f"`max_requests={self._max_requests}` allows"
                )
            self.requests += 1

    def _post(self, body: bytes, question: ServiceQuestion[Any]) -> Response:
        """Send one request and read its answer, no more of it than an answer can take.

        Raises
        ------
        TransientError
            If no whole answer came back.
        CalipersError
            If the answer is longer, or packed in a way that was not asked for.
        """
        httpx, broken_off = self._httpx, False
        self._count()
        try:
            with self._connections.stream(
                "POST",
                self._address.url(question.operation),
                content=body,
                headers=_HEADERS,
                auth=None if self._key is None else self._key.sign,
            ) as response:
                return self._received(response, question)
        except httpx.TimeoutException:
            trouble = f"no answer in time{question.hint}"
        except httpx.TransportError as error:
            broken_off = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
            trouble = f"the connection failed: {one_line(str(error), 160) or type(error).__name__}"
        except httpx.HTTPError as error:
            trouble = f"the answer cannot be read: {one_line(str(error), 160)}"
        except zlib.error as error:
            trouble = f"the answer cannot be unpacked: {error}"
            broken_off = True
        raise TransientError(self._scrub(trouble), broken_off=broken_off)

    def _received(self, response: Any, question: ServiceQuestion[Any]) -> Response:
        status, headers, succeeded = response.status_code, response.headers, response.is_success
        most = question.most_bytes() if succeeded else MAX_REFUSAL_BYTES
        packing = headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip", "x-gzip"):
            if not succeeded:
                return Response(status, headers, b"")
            raise CalipersError(
                f"{self._address.shown}: the service answered with a body packed as "
                f"{one_line(self._scrub(packing), 40)!r}; gzip, once, is all that is unpacked"
            )
        announced = headers.get("content-length", "")
        if succeeded and announced.isdecimal():
            shown = announced[:_MOST_DIGITS]
            if len(announced) > _MOST_DIGITS or int(shown) > most:
                raise self._too_long(most, question, f" ({int(shown):,} or more as it says)")
        content, until = bytearray(), time.monotonic() + ANSWER_TIMEOUT
        chunks = response.iter_raw()
        for chunk in chunks if packing == "identity" else _gunzipped(chunks):
            content += chunk
            if time.monotonic() > until:
                raise TransientError("no whole answer in time")
            if max(len(content), response.num_bytes_downloaded) > most:
                if succeeded:
                    raise self._too_long(most, question)
                break
        return Response(status, headers, bytes(content[:most]))

    def _too_long(
        self, most: int, question: ServiceQuestion[Any], announced: str = ""
    ) -> CalipersError:
        return CalipersError(
            f"{self._address.shown}: the service answered with more than {most:,} bytes{announced} "
            f"to {question.sent}, which cannot be the {question.wanted} that were asked for"
        )

    def _answer(self, body: bytes, question: ServiceQuestion[Result]) -> Result:
        try:
            # One at a time: parsed numbers take many times the bytes that say them
            with self._parsing:
                result = question.read(body, self._key)
        except AnswerError as error:
            begin = body[:MAX_REFUSAL_BYTES].decode("utf-8", "replace")
            content, passing = self._scrub(str(error)), error.passing
            if self._key is not None and self._key.resembles(begin):
                content = (
                    f"something else than {question.wanted}, withheld since it resembles the key"
                )
        else:
            self._answered = True
            return result
        if passing:
            raise TransientError(f"answered with {content}", broken_off=True)
        raise CalipersError(f"{self._address.shown}: the service answered with {content}")

    def _refusal(self, response: Response) -> Exception:
        """Return what a refusal means: a passing trouble, one of size, or the end."""
        status, body, message = response.status, response.body, server_message(response.body)
        line = status_line(status, body, self._key)
        if status in TRANSIENT and b"insufficient_quota" not in body:
            after = retry_after(response.headers.get("retry-after"), time.time())
            return TransientError(line, after=after, status=status)
        about_size = _SIZE.search(message) and "dimension" not in message.lower()
        if status == 413 or (status in (400, 422) and about_size):
            return RequestTooLargeError(f"{self._address.shown} {line}", status)
        words = explain(status, body, address=self._address, model=self._model, key=self._key)
        return RefusalError(f"{self._address.shown} {words}", status)

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
