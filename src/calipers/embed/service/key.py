"""The key of an embeddings service: read from the environment, sent, and never shown.

It is sent to the service that a person named and to no other: ``CALIPERS_ENDPOINT_KEY`` to any,
``OPENAI_API_KEY`` to api.openai.com alone, neither over a network unencrypted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from calipers.embed.service.address import Address
from calipers.errors import InputError

ANY, OPENAI = "CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY"
HIDDEN = "***"
_ENDS = 8


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
        if len(self._value) <= _ENDS:
            return text
        head, tail = re.escape(self._value[:_ENDS]), re.escape(self._value[-_ENDS:])
        return re.sub(rf"{head}\S*|\S{{0,200}}{tail}", HIDDEN, text)


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
