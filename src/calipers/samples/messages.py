"""Paths to the text in chat formats: messages, parts of content, tool calls.

Services and trainers name the same things differently: a message has its text under ``content``
(OpenAI, Anthropic), ``value`` (ShareGPT), ``parts`` (Gemini) or ``text``; a content may be a list
of parts; a message that calls a tool may have no content. Here a path is written to the last text,
for the errors that say how to name it. Which texts are samples, a person decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calipers.samples.fields import MANY, USUAL

TEXTS = (
    *("content", "value", "text", "parts", "message", "messages", "conversations", "delta"),
    *("tool_calls", "function_call", "function", "arguments", "input", "choices"),
)
"""Fields that hold the text, or what holds it, the likelier ones first."""

ROLES = ("role", "from", "author", "speaker", "sender")
ABOUT = (
    *ROLES,
    *("type", "id", "name", "model", "object", "created", "timestamp", "date", "lang", "language"),
    *("index", "finish_reason", "stop_reason", "weight", "loss", "train", "tool_call_id", "status"),
)
"""Fields that tell about a message, and never what it says."""


def text_path(value: Any) -> str | None:
    """Return the path from a value to its last text; None where there is none.

    Examples
    --------
    >>> text_path([{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}])
    '[-1].value'
    >>> text_path({"role": "assistant", "content": [{"type": "text", "text": "Hello."}]})
    '.content[-1].text'
    """
    if isinstance(value, str):
        return "" if value.strip() else None
    if isinstance(value, list):
        for place in range(-1, -len(value) - 1, -1):
            if (path := text_path(value[place])) is not None:
                return f"[{place}]{path}"
    if isinstance(value, Mapping):
        for key in _by_likelihood(value):
            if (path := text_path(value[key])) is not None:
                return f".{key}{path}"
    return None


def messages_path(row: Mapping[str, Any]) -> str | None:
    """Return the path to the text of a row's last message; None without messages."""
    for key, cell in row.items():
        last = cell[-1] if isinstance(cell, list) and cell else cell
        if isinstance(last, Mapping) and set(last) & {*ROLES, "message"}:
            path = text_path(cell)
            if path is not None:
                return f"{key}{path}"
    return None


def _by_likelihood(message: Mapping[str, Any]) -> list[str]:
    """List the fields of a message that may hold its text: known names, then the longest text."""
    known = [key for key in (*TEXTS, *USUAL, *MANY) if key in message]
    others = [
        key
        for key, cell in message.items()
        if isinstance(cell, str) and key not in (*known, *ABOUT)
    ]
    return [*dict.fromkeys(known), *sorted(others, key=lambda key: -len(message[key]))]
