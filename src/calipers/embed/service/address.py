"""Where an embeddings service is: its address, without anything that is nobody's business.

An address may be given as its documentation has it (``https://host/v1``), with a trailing slash,
in full (``https://host/v1/embeddings``) or without a path, which then is ``/v1``.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from calipers.embed.options import check_unicode
from calipers.errors import InputError

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
