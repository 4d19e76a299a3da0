"""The answer of an embeddings service ──► vectors, with everything checked that can be wrong."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.service.words import is_html, one_line
from calipers.errors import CalipersError

_PARTS, _PARTS_BESIDE = 8, 64
"""Objects, and lists, that an answer may have for each text, and beside them.

A small answer of many parts would take far more memory once it is parsed.
"""


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
    data = _data(_parsed(content))
    if len(data[1]) != texts:
        raise AnswerError(f"{len(data[1]):,} vectors for {texts:,} texts")
    rows = [_vector(entry, at) for at, entry in enumerate(_in_order(data[1]), start=1)]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise AnswerError(f"vectors of different sizes, {' and '.join(map(str, sizes[:3]))}")
    return Answer(np.stack(rows), _model(data[0]), _tokens(data[0]))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content[:400].decode("utf-8", "replace")
        if is_html(text):
            raise AnswerError(
                "a web page (HTML) instead of JSON; the address must be that of the API, such as "
                "https://host/v1"
            ) from None
        raise AnswerError(f"malformed JSON, which begins {one_line(text, 60)!r}") from None


def _data(parsed: Any) -> tuple[dict[str, Any], list[Any]]:
    if not isinstance(parsed, dict) or not isinstance(parsed.get("data"), list):
        keys = ", ".join(map(repr, list(parsed)[:5])) if isinstance(parsed, dict) else "no object"
        raise AnswerError(f"JSON without a list 'data'; found {one_line(keys, 100) or 'no keys'}")
    return parsed, parsed["data"]


def _in_order(data: Sequence[Any]) -> list[Any]:
    """Put the entries into the order of the texts."""
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


def _vector(entry: dict[str, Any], at: int) -> NDArray[np.float32]:
    given = entry["embedding"]
    row = _decoded(given, at) if isinstance(given, str) else _listed(given, at)
    if not row.size:
        raise AnswerError(f"an empty vector for text {at}")
    if not np.isfinite(row).all():
        raise AnswerError(f"a vector for text {at} that holds NaN or infinity")
    return row


def _decoded(text: str, at: int) -> NDArray[np.float32]:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
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


def _model(parsed: dict[str, Any]) -> str | None:
    model = parsed.get("model")
    return one_line(model, 120) or None if isinstance(model, str) else None


def _tokens(parsed: dict[str, Any]) -> int | None:
    usage = parsed.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    return tokens if _whole(tokens) else None


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0
