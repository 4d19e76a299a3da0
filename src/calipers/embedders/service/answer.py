"""Requests to an embeddings service and its answers, with all answers checked."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.service.address import Key
from calipers.service.client import MAX_BYTES, ServiceQuestion
from calipers.service.refusal import AnswerError, is_count, one_line, parsed_json

_PARTS, _PARTS_BESIDE = 8, 64
"""Objects, and lists, that an answer may have for each text, and beside them.

A small answer of many parts would take far more memory once it is parsed.
"""


BYTES_PER_TEXT = 24 * 16_384
"""Bytes that the vector of one text can take in the first answer: 16,384 numbers, in full."""

BYTES_PER_NUMBER, BYTES_BESIDE = 64, 4096
"""Bytes for each number of a vector, and beside it, once their size is known."""

_FORMAT = re.compile(r"encoding.?format|base64", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class EmbeddingAnswer:
    """A service's answer for some texts.

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


@dataclass
class EmbeddingRequestFormat:
    """The format of requests for vectors, adapted after refusals; shared by threads.

    Attributes
    ----------
    model
        The model's name at the service.
    size
        Numbers that a vector should have; None for the model's own.
    base64
        Whether vectors are asked for in base64, until the service refuses that.
    width
        Numbers that vectors have; None before the first answer.
    """

    model: str
    size: int | None
    base64: bool = True
    width: int | None = None


class EmbeddingQuestion(ServiceQuestion[EmbeddingAnswer]):
    """The request for the vectors of some texts."""

    operation = "embeddings"
    wanted = "vectors"
    hint = " (a smaller batch size may help)"

    def __init__(self, texts: Sequence[str], manner: EmbeddingRequestFormat) -> None:
        self._texts, self._manner, self._base64 = list(texts), manner, manner.base64

    @property
    def sent(self) -> str:
        """What the request contains: a number of texts."""
        return "1 text" if len(self._texts) == 1 else f"{len(self._texts):,} texts"

    def body(self) -> Mapping[str, Any]:
        """Return the body of the request: texts, model, and format of the vectors."""
        self._base64 = self._manner.base64
        request: dict[str, Any] = {"model": self._manner.model, "input": self._texts}
        if self._base64:
            request["encoding_format"] = "base64"
        if self._manner.size is not None:
            request["dimensions"] = self._manner.size
        return request

    def most_bytes(self) -> int:
        """Upper limit on the bytes of the answer."""
        of_one = BYTES_PER_TEXT
        if self._manner.width is not None:
            of_one = BYTES_PER_NUMBER * self._manner.width + BYTES_BESIDE
        return min(of_one * len(self._texts), MAX_BYTES)

    def read(self, content: bytes, key: Key | None) -> EmbeddingAnswer:
        """Read the vectors."""
        answer = read_answer(content, len(self._texts))
        self._manner.width = answer.vectors.shape[1]
        if key is None or answer.model is None:
            return answer
        return replace(answer, model=key.scrub(answer.model))

    def adapts(self, status: int, message: str) -> bool:
        """Switch to lists of numbers where the service does not accept base64."""
        refused = self._base64 and status in (400, 422) and _FORMAT.search(message)
        if refused:
            self._manner.base64 = False
        return bool(refused)


def read_answer(content: bytes, texts: int) -> EmbeddingAnswer:
    """Read the body of an answer for `texts` texts.

    Vectors may be lists of numbers or base64 of little-endian float32; where they carry an
    ``index``, that is their order.

    Raises
    ------
    AnswerError
        If it has far more parts than texts or is not JSON, vectors are missing, too many, doubled
        or of different sizes, or an entry is not a number. The message continues "the service
        answered with".
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
    return EmbeddingAnswer(
        np.stack(rows),
        model=(one_line(model, 120) or None) if isinstance(model, str) else None,
        tokens=tokens if is_count(tokens) else None,
    )


def _parsed(content: bytes) -> dict[str, Any]:
    parsed = parsed_json(content)
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
    places = {index: entry for index, entry in zip(indices, data, strict=True) if is_count(index)}
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
        raise AnswerError(f"a vector for text {at} that is not base64") from None
    if len(content) % 4:
        raise AnswerError(f"a vector for text {at} that is not base64 of float32 numbers")
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


def _listed(given: Any, at: int) -> NDArray[np.float32]:
    if not isinstance(given, list) or not all(type(number) in (int, float) for number in given):
        raise AnswerError(f"a vector for text {at} that is not a list of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.array(given, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise AnswerError(f"a vector for text {at} with a number beyond float32") from None
