"""The address of a service, and the key that is sent to it.

An address may be given as its documentation has it (``https://host/v1``), with a trailing slash,
in full (``https://host/v1/embeddings``) or without a path, which then is ``/v1``. It holds no
credential: the key is read from the environment, sent to that service alone, and never shown.
``CALIPERS_ENDPOINT_KEY`` goes to any service, ``OPENAI_API_KEY`` to api.openai.com alone, neither
over a network unencrypted.
"""

from __future__ import annotations

import base64
import html
import ipaddress
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from calipers.errors import InputError, check_unicode

_USUAL_PORTS = {"http": 80, "https": 443}
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
_PATH = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:@/-]*")
_QUERY = re.compile(r"api-version=[A-Za-z0-9.-]+")


@dataclass(frozen=True)
class ServiceKind:
    """A kind of service, with its wording in messages.

    Attributes
    ----------
    noun
        Such as ``"an embeddings service"``.
    name
        What holds the address and the model, such as ``"the embedder's name"``.
    endings
        With which of its operations an address in full may end, the longest first.
    example
        A name as it should be.
    """

    noun: str
    name: str
    endings: tuple[str, ...]
    example: str


@dataclass(frozen=True)
class Address:
    """The address of a service in parts, without credentials.

    Attributes
    ----------
    scheme
        ``"http"`` or ``"https"``.
    host
        In small letters; an IPv6 address without its brackets.
    port
        None for the scheme's usual one.
    path
        Of the service, without that of an operation.
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
        """Host and path, as shown to people and in signatures."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.bracketed}{port}{self.path}"

    @property
    def bracketed(self) -> str:
        """The host, with brackets around IPv6, as in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def url(self, operation: str) -> str:
        """Return the address of requests for an operation such as ``"embeddings"``."""
        query = f"?{self.version}" if self.version else ""
        return f"{self.unversioned(operation)}{query}"

    def unversioned(self, operation: str) -> str:
        """The address without a query, for the identity of vectors."""
        return f"{self.scheme}://{self.shown}/{operation}"

    @property
    def local(self) -> bool:
        """Whether the service runs on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_name(name: str, endpoint: str | None, kind: ServiceKind) -> tuple[Address, str]:
    """Parse a name into a service and a model.

    Parameters
    ----------
    name
        ``https://host/v1#MODEL``, or ``MODEL`` where `endpoint` is given.
    endpoint
        The service's address.
    kind
        What the service is asked for.

    Raises
    ------
    InputError
        If the address cannot be, holds a credential, is given twice, or no model is named.
    """
    inside = re.match(r"https?://", name, re.IGNORECASE) is not None
    if inside and endpoint is not None:
        raise InputError(
            f"the address of {kind.noun} is given twice, in {kind.name} and as the endpoint; leave "
            "one of them out"
        )
    where, _, model = (endpoint, "", name) if endpoint is not None else name.partition("#")
    address = read_address(where, kind)
    if not model.strip():
        raise InputError(
            f"{address.shown}: name the model behind a '#', as in {kind.example}; found none"
        )
    check_unicode("the model's name", model)
    return address, model.strip()


def read_address(text: str, kind: ServiceKind) -> Address:
    """Parse the address of a service.

    Raises
    ------
    InputError
        If it is not an address, or holds a user name, a password or a key. A credential is not
        repeated in the message.
    """
    bare = re.split(r"[?#]", text)[0]
    shown = re.sub(r"(?<![^/])[^/]*@", "", bare)  # without what may be a credential
    try:
        parts = urlsplit(text.strip())
    except ValueError as error:
        raise InputError(f"{shown!r} is not an address: {error}") from None
    if parts.scheme not in _USUAL_PORTS or not parts.netloc:
        raise InputError(
            f"the address of {kind.noun} must begin with http:// or https:// and a host; found "
            f"{shown!r}"
        )
    if "@" in parts.netloc:
        raise InputError(
            f"the address of {kind.noun} may hold no user name and no password; put the key into "
            "the environment variable CALIPERS_ENDPOINT_KEY"
        )
    if parts.query and not _QUERY.fullmatch(parts.query):
        raise InputError(
            f"{parts.netloc}{parts.path}: the address of {kind.noun} may hold no query (?…) but "
            "api-version; a key belongs into the environment variable CALIPERS_ENDPOINT_KEY"
        )
    host = (parts.hostname or "").lower()
    try:
        port = parts.port
        if ":" in host:
            ipaddress.IPv6Address(host)
    except ValueError as error:
        raise InputError(f"{parts.netloc!r} is not a host with a port: {error}") from None
    if ":" not in host and not _HOST.fullmatch(host):
        raise InputError(
            f"{parts.netloc!r} is not a host; parts of letters, digits and '-', at most 63 each, "
            "with '.' between them make one"
        )
    path = parts.path.rstrip("/")
    ending = next(filter(path.endswith, kind.endings), "")
    path = path.removesuffix(ending).rstrip("/")
    if not _PATH.fullmatch(path):
        raise InputError(f"{parts.path!r} cannot be the path of an address")
    port = None if port == _USUAL_PORTS[parts.scheme] else port
    return Address(parts.scheme, host, port, path if parts.path.strip("/") else "/v1", parts.query)


ANY, OPENAI = "CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY"
HIDDEN = "***"
_ENDS = 8
"""Characters of the key that a text may not hold in a row."""

_LONGEST_SCRUBBED = 1 << 12
"""Characters from which the key is taken out: what is shown of any text is shorter."""

# From the first of some backslashes on, and all of them: linear in their number
_ESCAPE = re.compile(r"(?<!\\)\\++(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbf])", re.IGNORECASE)


class Key:
    """A key that never appears in output, messages, pickles or tracebacks.

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
        """Add the key to the headers of a request."""
        request.headers["Authorization"] = f"Bearer {self._value}"
        return request

    def hide(self, text: str) -> str:
        """Remove the key, and nothing else, from a text that is data."""
        return text.replace(self._value, HIDDEN) if len(self._value) > _ENDS else text

    def scrub(self, text: str) -> str:
        """Remove the key, and words that begin or end like it, from a text.

        Of a text longer than a message can be only the beginning is looked at, and given.
        """
        text = text[:_LONGEST_SCRUBBED].replace(self._value, HIDDEN)
        if len(self._value) > _ENDS:
            head, tail = re.escape(self._value[:_ENDS]), re.escape(self._value[-_ENDS:])
            text = re.sub(rf"{head}\S*|\S{{0,200}}{tail}", HIDDEN, text)
        return HIDDEN if self.resembles(text) else text

    def resembles(self, text: str) -> bool:
        """Tell whether a text contains the key, or eight consecutive characters of it.

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
    """Return the key of a service, or None where none is set.

    Raises
    ------
    InputError
        If the key would cross a network unencrypted, or holds characters that no key has.
    """
    for variable in variables(address):
        value = environment.get(variable, "").strip()
        if not value:
            continue
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
        return Key(value, variable)
    return None


def check_offline(address: Address, *, offline: bool, remedy: str) -> None:
    """Refuse a request to another machine in an offline run.

    Raises
    ------
    InputError
        If so; `remedy` says what to name in its place.
    """
    if offline and not address.local:
        raise InputError(
            f"{address.shown}: offline asks no service beyond this machine; leave `offline` "
            f"out, or {remedy}"
        )


def variables(address: Address) -> tuple[str, ...]:
    """List the environment variables that may hold the key of a service, in order."""
    openai = (address.scheme, address.host, address.port) == ("https", "api.openai.com", None)
    return (ANY, OPENAI) if openai else (ANY,)


def _bare(text: str) -> str:
    """Keep the letters and digits of a text, in small letters."""
    return re.sub(r"[^a-z0-9]+", "", unicodedata.normalize("NFKC", text).casefold())


def _spellings(text: str) -> Iterator[str]:
    """Return what a text may mean: itself, without escapes and tags, and decoded, twice at most."""
    plain = text
    for _ in range(3):
        plain = _ESCAPE.sub(_unescaped, unquote(html.unescape(plain), errors="replace"))
    for spelling in {text, plain, _without_tags(plain)}:
        yield spelling
        for once in _decoded(spelling):
            yield once
            yield from _decoded(once)


def _without_tags(text: str) -> str:
    """Leave out what is between ``<`` and ``>``."""
    parts, at = [], 0
    while (start := text.find("<", at)) >= 0 and (end := text.find(">", start)) >= 0:
        parts.append(text[at:start])
        at = end + 1
    return "".join([*parts, text[at:]])


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else ""


def _decoded(text: str) -> Iterator[str]:
    """Read a text as base64, base32, hex and decimal codes, wherever these begin in it."""
    for more in ("", "+/", "+/_-"):
        letters = re.sub(rf"[^A-Za-z0-9{more}]", "", text)
        yield from _shifted(letters.translate(str.maketrans("-_", "+/")), 4, base64.b64decode)
    yield from _shifted(re.sub(r"[^A-Z2-7]", "", text.upper()), 8, base64.b32decode)
    digits = re.sub(r"0x|\\x|&#x|[^a-z0-9]", "", text.lower())
    for run in re.findall(r"[0-9a-f]{6,}", digits):
        yield from _shifted(run, 2, bytes.fromhex)
    codes = [int(code) for code in re.findall(r"(?<!\d)\d{1,3}(?!\d)", text)]
    yield _readable(bytes(code for code in codes if code < 256))


def _shifted(text: str, group: int, decode: Callable[[str], bytes]) -> Iterator[str]:
    """Decode whole groups of characters, wherever the first of them begins."""
    for first in range(group):
        whole = (len(text) - first) // group * group
        yield _readable(decode(text[first : first + whole]))


def _readable(content: bytes) -> str:
    """Keep the printable parts of bytes; what was decoded from the wrong place has hardly any."""
    return b" ".join(re.findall(rb"[\t\n\r -~]{3,}", content)).decode("ascii")
