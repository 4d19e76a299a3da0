"""One HTTP request to an embeddings service and its answer's bytes; nothing is read from them.

The key goes to the address that was named and nowhere else: redirects are not followed, and
errors are raised without the exceptions behind them, whose frames hold the request.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from calipers.embed.service.address import Address
from calipers.embed.service.key import Key
from calipers.embed.service.retry import PassingError
from calipers.embed.service.words import one_line
from calipers.errors import CalipersError, InputError, require

CONNECT, SILENCE, WHOLE = 15.0, 180.0, 600.0
"""Seconds to wait for a connection, for the next part of an answer, and for all of it."""

MOST_OF_REFUSAL = 1 << 16
"""Bytes that are read of an answer that refuses."""

_PART = 1 << 16
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}


class Reply(NamedTuple):
    """What came back: status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one service, for several threads.

    Parameters
    ----------
    address, key
        The service, and the key (None: none).
    connections
        How many requests may be made side by side.
    silence
        Seconds without a byte after which a request counts as lost.
    """

    def __init__(
        self, address: Address, key: Key | None, *, connections: int, silence: float = SILENCE
    ) -> None:
        self._address, self._key = address, key
        self._httpx = require("httpx", extra="endpoint", purpose="an embeddings endpoint")
        self._client = _connections(self._httpx, address, connections, silence)

    def post(self, body: bytes, *, most: int, texts: str = "what was asked") -> Reply:
        """Send one request and read at most `most` bytes of its answer, unpacked.

        `texts` says in messages what was asked for, such as ``"2 texts"``.

        Raises
        ------
        PassingError
            If no whole answer came back.
        CalipersError
            If the answer is longer, or packed in a way that was not asked for.
        """
        httpx, broken_off = self._httpx, False
        try:
            with self._client.stream(
                "POST",
                self._address.url,
                content=body,
                headers=_HEADERS,
                auth=None if self._key is None else self._key.sign,
            ) as response:
                return self._read(response, most, texts)
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
        raise PassingError(
            trouble if self._key is None else self._key.scrub(trouble), broken_off=broken_off
        )

    def _read(self, response: Any, most: int, texts: str) -> Reply:
        content, until = bytearray(), time.monotonic() + WHOLE
        longest = most if response.is_success else MOST_OF_REFUSAL
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in _UNPACKED:
            if not response.is_success:
                return Reply(response.status_code, response.headers, b"")
            name = packing if self._key is None else self._key.scrub(packing)
            raise CalipersError(
                f"{self._address.shown}: the service answered with a body packed as "
                f"{one_line(name, 40)!r}; gzip, once, is all that is unpacked"
            )
        announced = response.headers.get("content-length", "")
        if response.is_success and announced.isdecimal() and int(announced) > most:
            raise self._too_long(most, texts, f" ({int(announced):,} as it says)")
        for part in _UNPACKED[packing](response.iter_raw()):
            content += part
            if time.monotonic() > until:
                raise PassingError("no whole answer in time")
            if max(len(content), response.num_bytes_downloaded) > longest:
                if response.is_success:
                    raise self._too_long(most, texts)
                break
        return Reply(response.status_code, response.headers, bytes(content[:longest]))

    def _too_long(self, most: int, texts: str, whole: str = "") -> CalipersError:
        return CalipersError(
            f"{self._address.shown}: the service answered with more than {most:,} bytes{whole} to "
            f"{texts}, which cannot be the vectors that were asked for"
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _as_it_comes(parts: Iterable[bytes]) -> Iterator[bytes]:
    return iter(parts)


def _gunzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip data a little at a time, so that whoever counts can stop in time.

    Raises
    ------
    zlib.error
        If the data are damaged or end too soon.
    """
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    for part in parts:
        packed = part
        while packed and not unpacking.eof:
            yield unpacking.decompress(packed, _PART)
            packed = unpacking.unconsumed_tail
        yield b""
    yield unpacking.flush(_PART)
    if not unpacking.eof:
        raise zlib.error("it ends too soon")


_UNPACKED = {"identity": _as_it_comes, "gzip": _gunzipped, "x-gzip": _gunzipped}


def _connections(httpx: Any, address: Address, number: int, silence: float) -> Any:
    """Make the connections; those within this machine never go by way of a proxy."""
    mounts = {f"all://{address.bracketed}": None} if address.local else None
    try:
        return httpx.Client(
            timeout=httpx.Timeout(silence, connect=CONNECT, pool=None),
            limits=httpx.Limits(max_connections=number),
            follow_redirects=False,
            mounts=mounts,
            verify=_certificates(address),
        )
    except (ImportError, ValueError) as error:
        raise InputError(
            f"no connection can be made by the proxy that the environment names: {error}"
        ) from None


def _certificates(address: Address) -> ssl.SSLContext | bool:
    """Return which certificates are trusted: httpx's choice, or none where none can be asked for.

    To read them takes longer than many an answer of a service on this machine.
    """
    plain = address.local and address.scheme == "http"
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
