"""What an embeddings service answers: vectors, with everything checked, or a refusal.

Vectors are checked for everything that can be wrong with them; a refusal is told in words that a
person can act on, without anything that may be the key.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.service.address import Address, Key, variables
from calipers.errors import CalipersError

_PARTS, _PARTS_BESIDE = 8, 64
"""Objects, and lists, that an answer may have for each text, and beside them.

A small answer of many parts would take far more memory once it is parsed.
"""

_LONGEST_MESSAGE = 240
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class AnswerError(CalipersError):
    """A service answered, but not with the vectors of the texts that it was sent."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a service gave for some texts.

    Attributes
    ----------
    vectors
        float32 of shape (n, d), in the order of the texts.
    model
        What the service calls the model, or None.
    tokens
        How many tokens it counted, or None.
    """

    vectors: NDArray[np.float32]
    model: str | None = None
    tokens: int | None = None


def read_answer(content: bytes, texts: int) -> Answer:
    """Read the body of an answer to `texts` texts.

    Vectors may be lists of numbers or base64 of little-endian float32; where they carry an
    ``index``, that is their order.

    Raises
    ------
    AnswerError
        If it has far more parts than texts or is no JSON, vectors are missing, too many, doubled
        or of different sizes, or a number is none. The message continues "the service answered
        with".
    """
    most = _PARTS * texts + _PARTS_BESIDE
    for noun, mark in (("objects", b"{"), ("lists", b"]")):
        if (count := content.count(mark)) > most:
            raise AnswerError(f"{count:,} {noun} for {texts:,} texts, far more than they can have")
    parsed = _parsed(content)
    entries = _in_order(parsed["data"], texts)
    rows = [_vector(entry["embedding"], at) for at, entry in enumerate(entries, start=1)]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise AnswerError(f"vectors of different sizes, {' and '.join(map(str, sizes[:3]))}")
    model, usage = parsed.get("model"), parsed.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    return Answer(
        np.stack(rows),
        model=(one_line(model, 120) or None) if isinstance(model, str) else None,
        tokens=tokens if _whole(tokens) else None,
    )


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        text = content[:400].decode("utf-8", "replace")
        if is_html(text):
            raise AnswerError(
                "a web page (HTML) instead of JSON; the address must be that of the API, such as "
                "https://host/v1"
            ) from None
        raise AnswerError(f"malformed JSON, which begins {one_line(text, 60)!r}") from None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("data"), list):
        keys = ", ".join(map(repr, list(parsed)[:5])) if isinstance(parsed, dict) else "no object"
        raise AnswerError(f"JSON without a list 'data'; found {one_line(keys, 100) or 'no keys'}")
    return parsed


def _in_order(data: Sequence[Any], texts: int) -> list[Any]:
    """Put the entries, one for each text, into the order of the texts."""
    if len(data) != texts:
        raise AnswerError(f"{len(data):,} vectors for {texts:,} texts")
    for at, entry in enumerate(data, start=1):
        if not isinstance(entry, dict) or "embedding" not in entry:
            raise AnswerError(f"an entry {at} of 'data' that has no 'embedding'")
    indices = [entry.get("index") for entry in data]
    if indices == [None] * len(data):
        return list(data)
    places = {index: entry for index, entry in zip(indices, data, strict=True) if _whole(index)}
    if sorted(places) != list(range(len(data))):
        raise AnswerError(
            f"indices that are doubled, missing or out of range; they must be 0 to {len(data) - 1}"
        )
    return [places[index] for index in range(len(data))]


def _vector(given: Any, at: int) -> NDArray[np.float32]:
    row = _decoded(given, at) if isinstance(given, str) else _listed(given, at)
    if not row.size:
        raise AnswerError(f"an empty vector for text {at}")
    if not np.isfinite(row).all():
        raise AnswerError(f"a vector for text {at} that holds NaN or infinity")
    return row


def _decoded(text: str, at: int) -> NDArray[np.float32]:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise AnswerError(f"a vector for text {at} that is no base64") from None
    if len(content) % 4:
        raise AnswerError(f"a vector for text {at} that is no base64 of float32 numbers")
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


def _listed(given: Any, at: int) -> NDArray[np.float32]:
    if not isinstance(given, list) or not all(type(number) in (int, float) for number in given):
        raise AnswerError(f"a vector for text {at} that is no list of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.array(given, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise AnswerError(f"a vector for text {at} with a number beyond float32") from None


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def explain(status: int, body: bytes, *, address: Address, model: str, key: Key | None) -> str:
    """Say that a service refused, what it said itself, and what to look at."""
    advice = _advice(status, address, model, key)
    return f"{status_line(status, body, key)}{f'; {advice}' if advice else ''}"


def status_line(status: int, body: bytes, key: Key | None) -> str:
    """Say what a service answered, such as ``answered 500 (Internal Server Error): "…"``."""
    phrases = {known.value: f" ({known.phrase})" for known in HTTPStatus}
    answered = f"answered {status}{phrases.get(status, '')}"
    if key is not None and key.resembles(body.decode("utf-8", "replace")):
        return f"{answered}; what it said is withheld, since it resembles the key"
    said = server_message(body)
    said = one_line(said if key is None else key.scrub(said), _LONGEST_MESSAGE)
    return answered + (f': "{said}"' if said else "")


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
    messages = (_said(parsed.get(key)) for key in ("error", "message", "msg", "detail", "title"))
    return next(filter(None, messages), "")


def is_html(text: str) -> bool:
    """Tell a web page from other text."""
    return re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE) is not None


def one_line(text: str, longest: int) -> str:
    """Make a text one line without control characters, cut where it is longer than `longest`."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
