"""Error messages for refusals of a service.

Nothing that may be the key is repeated: a body that resembles it is withheld as a whole.
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Any

from calipers.errors import CalipersError
from calipers.service.address import Address, Key, variables

_LONGEST_MESSAGE = 240
_DEEPEST = 8
_TITLE = re.compile("<title", re.IGNORECASE)
_TITLE_END = re.compile("</title>", re.IGNORECASE)


class AnswerError(CalipersError):
    """An invalid answer of a service.

    Attributes
    ----------
    passing
        Whether another answer may be better.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


def parsed_json(content: bytes, *, passing: bool = False) -> Any:
    """Parse the body of an answer as JSON.

    Raises
    ------
    AnswerError
        If it is a web page or no JSON; the latter may pass where `passing` says so.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content[:400].decode("utf-8", "replace")
        if is_html(text):
            raise AnswerError(
                "a web page (HTML) instead of JSON; the address must be that of the API, such as "
                "https://host/v1"
            ) from None
        raise AnswerError(
            f"malformed JSON, which begins {one_line(text, 60)!r}", passing=passing
        ) from None


MOST_COUNTED = 2**53
"""Counts are below this, so that they are the same in every reader of JSON."""


def is_count(value: Any) -> bool:
    """Whether a JSON value is a whole number of at least 0."""
    return type(value) is int and 0 <= value < MOST_COUNTED


def explain(status: int, body: bytes, *, address: Address, model: str, key: Key | None) -> str:
    """Build the error for a refusal: what the service said, and what to check."""
    advice = _advice(status, address, model, key)
    return f"{status_line(status, body, key)}{f'; {advice}' if advice else ''}"


def status_line(status: int, body: bytes, key: Key | None) -> str:
    """Describe the answer of a service, such as ``answered 500 (Internal Server Error): "…"``."""
    phrases = {known.value: f" ({known.phrase})" for known in HTTPStatus}
    answered = f"answered {status}{phrases.get(status, '')}"
    if key is not None and key.resembles(body.decode("utf-8", "replace")):
        return f"{answered}; what it said is withheld, since it resembles the key"
    message = server_message(body)
    message = one_line(message if key is None else key.scrub(message), _LONGEST_MESSAGE)
    return answered + (f': "{message}"' if message else "")


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
    """Extract the message from the body of a refusal, or return all of it."""
    text = body.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        if not is_html(text):
            return text
        return _title(text)
    return said_in(parsed) or text


def _title(page: str) -> str:
    """Return the title of a web page; empty where it has none."""
    begin = _TITLE.search(page)
    start = -1 if begin is None else page.find(">", begin.end())
    end = None if start < 0 else _TITLE_END.search(page, start)
    return "" if end is None else page[start + 1 : end.start()]


def said_in(parsed: Any, depth: int = 0) -> str:
    """Find the message in the JSON formats that services use."""
    if isinstance(parsed, str):
        return parsed
    if depth == _DEEPEST:
        return ""
    if isinstance(parsed, list):
        return "; ".join(filter(None, (said_in(part, depth + 1) for part in parsed[:3])))
    if not isinstance(parsed, dict):
        return ""
    keys = ("error", "message", "msg", "detail", "title")
    messages = (said_in(parsed.get(key), depth + 1) for key in keys)
    return next(filter(None, messages), "")


def is_html(text: str) -> bool:
    """Tell whether a text is a web page."""
    return re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE) is not None


def one_line(text: str, longest: int) -> str:
    """Put a text on one line, without control characters, cut to `longest`."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
