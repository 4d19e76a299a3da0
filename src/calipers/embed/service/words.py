"""What an embeddings service says when it refuses, in words that a person can act on."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Any

from calipers.embed.service.address import Address
from calipers.embed.service.key import Key, variables

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
