"""What an embeddings service says when it refuses, in words that a person can act on.

Where an embeddings service is: its address, without anything that is nobody's business.

An address may be given as its documentation has it (``https://host/v1``), with a trailing slash,
in full (``https://host/v1/embeddings``) or without a path, which then is ``/v1``.

The key of an embeddings service: read from the environment, sent, and never shown.

It is sent to the service that a person named and to no other: ``CALIPERS_ENDPOINT_KEY`` to any,
``OPENAI_API_KEY`` to api.openai.com alone, neither over a network unencrypted.

When to ask again: which troubles pass, how long to wait, and when to give up.

One HTTP request to an embeddings service and its answer's bytes; nothing is read from them.

The key goes to the address that was named and nowhere else: redirects are not followed, and
errors are raised without the exceptions behind them, whose frames hold the request.
"""

from __future__ import annotations

import base64
import html
import ipaddress
import json
import os
import random
import re
import ssl
import time
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from threading import Lock
from typing import Any, NamedTuple, NoReturn
from urllib.parse import SplitResult, unquote, urlsplit

from calipers.embed.options import check_unicode
from calipers.errors import CalipersError, InputError, require

LONGEST = 240
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def explain(status: int, body: bytes, *, address: Address, model: str, key: Key | None) -> str:
    """Say that a service refused, what it said itself, and what to look at."""
    advice = _advice(status, address, model, key)
    return f"{status_line(status, body, key)}{f'; {advice}' if advice else ''}"


def status_line(status: int, body: bytes, key: Key | None) -> str:
    """Say what a service answered, such as ``answered 500 (Internal Server Error): "…"``."""
    answered = f"answered {status}{_phrase(status)}"
    if key is not None and key.resembles(body.decode("utf-8", "replace")):
        return f"{answered}; what it said is withheld, since it resembles the key"
    said = server_message(body)
    said = one_line(said if key is None else key.scrub(said), LONGEST)
    return answered + (f': "{said}"' if said else "")


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _advice(status: int, address: Address, model: str, key: Key | None) -> str:
    if status in (401, 403):
        if key is not None:
            return f"check the key in the environment variable {key.variable}"
        return f"set the environment variable {' or '.join(variables(address))} to the key"
    if status == 404:
        return f"check the address ({address.shown}) and the model's name ({model!r})"
    if status in (400, 422):
        return f"check the model's name ({model!r}) and the options"
    return "check the address" if status in (405, 410) or status // 100 == 3 else ""


def server_message(body: bytes) -> str:
    """Find what a person should read in the body of a refusal: its message, or all of it."""
    text = body.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        if not is_html(text):
            return text
        title = _TITLE.search(text)
        return title[1] if title else ""
    return _said(parsed) or text


def _said(parsed: Any) -> str:
    """Find the message in the shapes that services use for it."""
    if isinstance(parsed, str):
        return parsed
    if isinstance(parsed, list):
        return "; ".join(filter(None, map(_said, parsed[:3])))
    if not isinstance(parsed, dict):
        return ""
    found = (_said(parsed.get(key)) for key in ("error", "message", "msg", "detail", "title"))
    return next(filter(None, found), "")


def is_html(text: str) -> bool:
    """Tell a web page from other text."""
    return re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE) is not None


def one_line(text: str, longest: int) -> str:
    """Make a text one line without control characters, cut where it is longer than `longest`."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


_USUAL_PORTS = {"http": 80, "https": 443}
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
_PATH = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:@/-]*")
_QUERY = re.compile(r"api-version=[A-Za-z0-9.-]+")
_EXAMPLE = "https://api.openai.com/v1#text-embedding-3-small"


@dataclass(frozen=True)
class Address:
    """An embeddings service, in parts; none of them holds a credential.

    Attributes
    ----------
    scheme
        ``"http"`` or ``"https"``.
    host
        In small letters; an IPv6 address without its brackets.
    port
        None for the scheme's usual one.
    path
        Of the service, without ``/embeddings``.
    version
        The query ``api-version=…`` that some services want, or an empty string.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    version: str = ""

    @property
    def shown(self) -> str:
        """Host and path, as a person reads it and as the signature pins it."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.bracketed}{port}{self.path}"

    @property
    def bracketed(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def url(self) -> str:
        """Where requests go."""
        query = f"?{self.version}" if self.version else ""
        return f"{self.unversioned}{query}"

    @property
    def unversioned(self) -> str:
        """The same without a query: what a vector's identity holds."""
        return f"{self.scheme}://{self.shown}/embeddings"

    @property
    def local(self) -> bool:
        """Whether the service runs on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_name(name: str, endpoint: str | None) -> tuple[Address, str]:
    """Tell which service and which model an embedder's name means.

    Parameters
    ----------
    name
        ``https://host/v1#MODEL``, or ``MODEL`` where `endpoint` is given.
    endpoint
        The service's address.

    Raises
    ------
    InputError
        If the address cannot be, holds a credential, is given twice, or no model is named.

    Examples
    --------
    >>> address, model = read_name("http://localhost:8000/v1/#BAAI/bge-m3", None)
    >>> address.url, model
    ('http://localhost:8000/v1/embeddings', 'BAAI/bge-m3')
    """
    inside = re.match(r"https?://", name, re.IGNORECASE) is not None
    if inside and endpoint is not None:
        raise InputError(
            "the address of an embeddings service is given twice, in the embedder's name and as "
            "the endpoint; leave one of them out"
        )
    where, _, model = name.partition("#") if inside else (endpoint or "", "", name)
    address = read_address(where)
    if not model.strip():
        raise InputError(
            f"{address.shown}: name the model behind a '#', as in {_EXAMPLE}; found none"
        )
    check_unicode("the model's name", model)
    return address, model.strip()


def read_address(text: str) -> Address:
    """Read the address of an embeddings service.

    Raises
    ------
    InputError
        If it is none, or holds a user name, a password or a key. A credential is not repeated in
        the message.
    """
    parts = _split(text)
    if "@" in parts.netloc:
        raise InputError(
            "the address of an embeddings service may hold no user name and no password; put the "
            "key into the environment variable CALIPERS_ENDPOINT_KEY"
        )
    if parts.query and not _QUERY.fullmatch(parts.query):
        raise InputError(
            f"{parts.netloc}{parts.path}: the address of an embeddings service may hold no query "
            "(?…) but api-version; a key belongs into the environment variable "
            "CALIPERS_ENDPOINT_KEY"
        )
    host, port = _host(parts)
    usual = port == _USUAL_PORTS[parts.scheme]
    return Address(parts.scheme, host, None if usual else port, _path(parts), parts.query)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text.strip())
    except ValueError as error:
        raise InputError(f"{_safe(text)!r} is no address: {error}") from None
    if parts.scheme not in _USUAL_PORTS or not parts.netloc:
        raise InputError(
            "the address of an embeddings service must begin with http:// or https:// and a host; "
            f"found {_safe(text)!r}"
        )
    return parts


def _host(parts: SplitResult) -> tuple[str, int | None]:
    host = (parts.hostname or "").lower()
    try:
        port = parts.port
        if ":" in host:
            ipaddress.IPv6Address(host)
    except ValueError as error:
        raise InputError(f"{parts.netloc!r} is no host with a port: {error}") from None
    if ":" not in host and not _HOST.fullmatch(host):
        raise InputError(
            f"{parts.netloc!r} is no host; parts of letters, digits and '-', at most 63 each, with "
            "'.' between them make one"
        )
    return host, port


def _path(parts: SplitResult) -> str:
    path = parts.path.rstrip("/").removesuffix("/embeddings").rstrip("/")
    if not _PATH.fullmatch(path):
        raise InputError(f"{parts.path!r} cannot be the path of an address")
    return path if parts.path.strip("/") else "/v1"


def _safe(text: str) -> str:
    """Return an address for a message, without what may be a credential."""
    return re.sub(r"[^/]*@", "", re.split(r"[?#]", text)[0])


ANY, OPENAI = "CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY"
HIDDEN = "***"
_ENDS = 8
"""Characters of the key that a text may not hold in a row."""

_ESCAPE = re.compile(r"\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbf])", re.IGNORECASE)


class Key:
    """A key that no print, message, pickle or traceback shows.

    Parameters
    ----------
    value
        The key.
    variable
        The environment variable that it comes from.
    """

    __slots__ = ("_value", "variable")

    def __init__(self, value: str, variable: str) -> None:
        self._value, self.variable = value, variable

    def __repr__(self) -> str:
        return f"<the key in {self.variable}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not written down")

    def sign(self, request: Any) -> Any:
        """Put the key into a request's headers."""
        request.headers["Authorization"] = f"Bearer {self._value}"
        return request

    def scrub(self, text: str) -> str:
        """Take the key out of a text, and any word that begins or ends as it does."""
        text = text.replace(self._value, HIDDEN)
        if len(self._value) > _ENDS:
            head, tail = re.escape(self._value[:_ENDS]), re.escape(self._value[-_ENDS:])
            text = re.sub(rf"{head}\S*|\S{{0,200}}{tail}", HIDDEN, text)
        return HIDDEN if self.resembles(text) else text

    def resembles(self, text: str) -> bool:
        """Tell whether a text shows the key, or eight characters of it in a row, in any spelling.

        Only letters and digits count, whatever their case and whatever stands between them; they
        may stand backwards, be escaped as in JSON, HTML or addresses, or be encoded in base64,
        base32, hex or decimal numbers, one encoding within another at most.
        """
        bare = _bare(self._value)
        if not bare:
            return self._value in text
        run = min(_ENDS, len(bare))
        parts = {bare[first : first + run] for first in range(len(bare) - run + 1)}
        parts |= {part[::-1] for part in parts}
        return any(part in spelt for spelt in map(_bare, _spellings(text)) for part in parts)


def find_key(address: Address, environment: Mapping[str, str] = os.environ) -> Key | None:
    """Return the key for a service, or None where none is set.

    Raises
    ------
    InputError
        If the key would cross a network unencrypted, or holds characters that no key has.
    """
    for variable in variables(address):
        value = environment.get(variable, "").strip()
        if value:
            _check(value, variable, address)
            return Key(value, variable)
    return None


def variables(address: Address) -> tuple[str, ...]:
    """Tell which environment variables may hold the key for a service, the first first."""
    openai = (address.scheme, address.host, address.port) == ("https", "api.openai.com", None)
    return (ANY, OPENAI) if openai else (ANY,)


def _bare(text: str) -> str:
    """Keep the letters and digits of a text, in small letters."""
    return re.sub(r"[^a-z0-9]+", "", unicodedata.normalize("NFKC", text).casefold())


def _spellings(text: str) -> Iterator[str]:
    """Give what a text may mean: itself, without escapes and tags, and decoded, twice at most."""
    plain = text
    for _ in range(3):
        plain = _ESCAPE.sub(_unescaped, unquote(html.unescape(plain), errors="replace"))
    for each in {text, plain, re.sub(r"<[^>]*>", "", plain)}:
        yield each
        for once in _decoded(each):
            yield once
            yield from _decoded(once)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else ""


def _decoded(text: str) -> Iterator[str]:
    """Read a text as base64, base32, hex and decimal codes, wherever these begin in it."""
    kept = {re.sub(rf"[^A-Za-z0-9{more}]", "", text) for more in ("", "+/", "+/_-")}
    for letters in kept:
        standard = letters.translate(str.maketrans("-_", "+/"))
        for first in range(4):
            whole = (len(standard) - first) // 4 * 4
            yield _readable(base64.b64decode(standard[first : first + whole]))
    letters = re.sub(r"[^A-Z2-7]", "", text.upper())
    for first in range(8):
        whole = (len(letters) - first) // 8 * 8
        yield _readable(base64.b32decode(letters[first : first + whole]))
    digits = re.sub(r"0x|\\x|&#x|[^a-z0-9]", "", text.lower())
    for run in re.findall(r"[0-9a-f]{6,}", digits):
        for first in range(2):
            whole = (len(run) - first) // 2 * 2
            yield _readable(bytes.fromhex(run[first : first + whole]))
    codes = [int(code) for code in re.findall(r"(?<!\d)\d{1,3}(?!\d)", text)]
    yield _readable(bytes(code for code in codes if code < 256))


def _readable(content: bytes) -> str:
    """Keep the printable parts of bytes; what was decoded from the wrong place has hardly any."""
    return b" ".join(re.findall(rb"[\t\n\r -~]{3,}", content)).decode("ascii")


def _check(value: str, variable: str, address: Address) -> None:
    if re.search(r"[^!-~]", value):
        raise InputError(
            f"the key in {variable} holds spaces, line breaks or characters beyond ASCII; "
            "set it again"
        )
    if address.scheme == "http" and not address.local:
        raise InputError(
            f"{address.shown}: the key in {variable} would cross the network unencrypted; use "
            f"https://, or unset {variable} if the service needs no key"
        )


PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses of an answer that may be another one a moment later."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
LONGEST_ASKED = 600.0
"""Seconds that a service may ask to be left alone; for longer, the run ends instead."""

BROKEN_OFF = 3
"""How often a request is made again whose answer broke off: what cuts it is likely to stay."""

LONGEST_TROUBLE = 600.0
"""Seconds after which a request is not made again, unless the service asked for the wait."""

BEFORE_FIRST = 3
"""How often a service that never answered is asked again: a wrong address is more likely."""

_BUSY = frozenset({429, 503})


class PassingError(Exception):
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
        words: str,
        *,
        after: float | None = None,
        status: int | None = None,
        broken_off: bool = False,
    ) -> None:
        super().__init__(words)
        self.after, self.status, self.broken_off = after, status, broken_off


@dataclass(frozen=True)
class Patience:
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
    lock: Lock

    @classmethod
    def of(cls, retries: int, seed: int) -> Patience:
        """Make it from numbers."""
        return cls(retries, random.Random(seed), Lock())

    def lasts(
        self, attempt: int, trouble: PassingError, *, answered: bool, seconds: float = 0.0
    ) -> bool:
        """Tell whether to ask once more after `attempt` attempts, which took some seconds.

        `answered` says whether the service ever gave an answer.
        """
        if trouble.after is not None and trouble.after > LONGEST_ASKED:
            return False
        if trouble.after is None and seconds > LONGEST_TROUBLE:
            return False
        return attempt <= self.again(trouble, answered=answered)

    def again(self, trouble: PassingError, *, answered: bool) -> int:
        """Tell how often a request with such a trouble is made again at most."""
        if trouble.broken_off:
            return min(self.retries, BROKEN_OFF)
        known = answered or trouble.status in _BUSY
        return self.retries if known else min(self.retries, BEFORE_FIRST)

    def wait(self, attempt: int, after: float | None) -> float:
        """Return the seconds to wait: twice as long each time, and as long as was asked for."""
        longest = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
        with self.lock:
            spread = self.random.uniform(0.5, 1.0)
        return max(longest * spread, after or 0.0)


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
