"""The key of an embeddings service: read from the environment, sent, and never shown.

It is sent to the service that a person named and to no other: ``CALIPERS_ENDPOINT_KEY`` to any,
``OPENAI_API_KEY`` to api.openai.com alone, neither over a network unencrypted.
"""

from __future__ import annotations

import base64
import html
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from calipers.embed.service.address import Address
from calipers.errors import InputError

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
