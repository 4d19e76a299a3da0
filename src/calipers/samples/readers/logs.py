"""Known logs: output of OpenAI's batch interface, and samples of lm-evaluation-harness.

**Batch output**, also written by other services: each row answers one request with ``custom_id``,
``response`` (``status_code`` and ``body``) and ``error``. Texts lie in
``body.choices[*].message.content``, for plain completions in ``body.choices[*].text``, for the
responses endpoint in ``body.output[*].content[*].text``.

**Samples of lm-evaluation-harness** (``samples_<task>_<date>.jsonl``): each row is one document as
one filter saw it, so a task with two filters logs every document twice with the same responses.
``resps`` holds a list for each request, of a string for each repeat. Tasks that only score given
continuations log log-probabilities there, and no texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe, names, numbered, shortened


def is_batch_output(row: dict[str, Any]) -> bool:
    """Tell whether a row is of such a file."""
    response = row.get("response", "")
    return "custom_id" in row and (response is None or isinstance(response, dict))


def batch_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield the text of every choice; rows with an error and choices without text are noted."""
    failed: list[int] = []
    silent: list[int] = []
    reason = ""
    given = 0
    for number, row in rows:
        problem = _problem(number, row, source)
        if problem:
            failed.append(number)
            reason = reason or problem
            continue
        for text in _texts(number, row["response"]["body"], source):
            if text is None:
                silent.append(number)
                continue
            given += 1
            yield number, text, None, row
    if not given:
        raise source.error(f"no row holds a text; {_left_out(failed, silent, reason, source)}")
    if failed or silent:
        notes.append(_left_out(failed, silent, reason, source))


def _left_out(failed: list[int], silent: list[int], reason: str, source: Source) -> str:
    parts = []
    if failed:
        where = numbered(source.unit, failed)
        parts.append(f"{counted(len(failed), 'row')} with an error left out ({where}: {reason})")
    if silent:
        where = numbered(source.unit, silent)
        parts.append(f"{counted(len(silent), 'answer')} without text left out ({where})")
    return "; ".join(parts) or "their answers are empty lists"


def _problem(number: int, row: Any, source: Source) -> str:
    """Say why a row has no answer; empty if it has one."""
    if not isinstance(row, dict) or "response" not in row:
        found = names(row) if isinstance(row, dict) else describe(row)
        raise source.row_error(number, f"has no 'response', as the rows before it; found {found}")
    response = row["response"]
    if row.get("error"):
        return _reason(row["error"])
    if not isinstance(response, dict):
        return "no response"
    body = response.get("body")
    status = response.get("status_code", 200)
    if status != 200:
        error = body.get("error") if isinstance(body, dict) else None
        return f"status {status}" + (f", {_reason(error)}" if error else "")
    return "" if isinstance(body, dict) else "no body"


def _reason(error: object) -> str:
    message = error
    if isinstance(error, dict):
        message = error.get("message") or error.get("code") or error
    return shortened(str(message), 120)


def _texts(number: int, body: dict[str, Any], source: Source) -> list[str | None]:
    if isinstance(body.get("choices"), list):
        texts = [_of_choice(choice) for choice in body["choices"]]
    elif isinstance(body.get("output"), list):
        texts = [_of_output(number, body["output"], source)]
    else:
        raise source.row_error(number, f"the answer has no choices; its fields are {names(body)}")
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise source.row_error(
                number, f"an answer must be a string, but it is {describe(text)}"
            )
    return texts


def _of_choice(choice: Any) -> Any:
    if not isinstance(choice, dict):
        return choice
    message = choice.get("message")
    return message.get("content") if isinstance(message, dict) else choice.get("text")


def _of_output(number: int, output: list[Any], source: Source) -> str | None:
    messages = [item for item in output if isinstance(item, dict) and item.get("type") == "message"]
    texts = []
    for message in messages:
        parts = message.get("content") or []
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise source.row_error(
                number, f"the content of a message must list objects, but it is {describe(parts)}"
            )
        texts += [str(part.get("text", "")) for part in parts if part.get("type") == "output_text"]
    return "".join(texts) if texts else None


SEEN = 256
"""Bytes that it takes to remember a row."""


def is_harness(row: dict[str, Any]) -> bool:
    """Tell whether a row is of such a log."""
    return "doc_id" in row and isinstance(row.get("resps"), list)


def harness_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield every repeat of every request once, whatever the number of filters."""
    seen = _Seen()
    copies = 0
    none: list[int] = []
    current = budget()
    for number, row in rows:
        current.borrow(SEEN, source.error)
        responses = _responses(number, row, source)
        if seen.before(row):
            copies += 1
            continue
        for index, repeats in enumerate(responses):
            prompt = _prompt(row, index)
            for text in repeats:
                yield number, text, prompt, row
        if not any(responses):
            none.append(number)
    if copies:
        notes.append(f"{counted(copies, 'row')} left out: the same responses under another filter")
    if none:
        notes.append(
            f"{counted(len(none), 'row')} had no response and gave no sample "
            f"({numbered(source.unit, none)})"
        )


class _Seen:
    """Which filters have shown each document with the same responses."""

    def __init__(self) -> None:
        self._filters: dict[bytes, tuple[object, ...]] = {}

    def before(self, row: dict[str, Any]) -> bool:
        """Tell whether another filter has shown this row's responses already."""
        content = [row["doc_id"], row.get("doc_hash"), row["resps"]]
        key = hashlib.sha256(json.dumps(content).encode()).digest()[:16]
        name = str(row.get("filter"))
        known = self._filters.get(key, ())
        # The same filter again is another run with equal responses, unless the log is of a
        # version that did not name filters yet.
        copy = bool(known) and (name not in known or "filter" not in row)
        self._filters[key] = (*known, name) if copy else (name,)
        return copy


def _responses(number: int, row: Any, source: Source) -> list[list[str]]:
    found = names(row) if isinstance(row, dict) else describe(row)
    if not isinstance(row, dict) or not isinstance(row.get("resps"), list):
        raise source.row_error(number, f"has no list 'resps', as the rows before it; found {found}")
    if "doc_id" not in row:
        raise source.row_error(number, f"has no 'doc_id', as the rows before it; found {found}")
    responses = [[response] if isinstance(response, str) else response for response in row["resps"]]
    if any(isinstance(repeats, list) and _scored(repeats) for repeats in responses):
        raise _no_texts(number, source)
    for repeats in responses:
        if not isinstance(repeats, list) or not all(isinstance(text, str) for text in repeats):
            raise source.row_error(
                number, f"'resps' must hold lists of strings, but one is {describe(repeats)}"
            )
    if _rolling(row, responses):
        raise _no_texts(number, source)
    return responses


def _scored(repeats: list[Any]) -> bool:
    return any(isinstance(repeat, list | int | float) for repeat in repeats)


def _rolling(row: dict[str, Any], responses: list[list[str]]) -> bool:
    # A log-probability of a whole text is logged as a string like a response, but its request
    # has no settings for generation.
    arguments = [_arguments(row, index) for index in range(len(responses))]
    if any(len(request) != 1 for request in arguments):
        return False
    return all(_is_log(text) for repeats in responses for text in repeats)


def _no_texts(number: int, source: Source) -> InputError:
    return source.row_error(
        number,
        "'resps' holds log-probabilities, not texts: this task scores given continuations "
        "and generates nothing; take the log of a task that generates (generate_until)",
    )


def _prompt(row: dict[str, Any], index: int) -> str | None:
    first = next(iter(_arguments(row, index)), None)
    if isinstance(first, list) and len(first) == 1:
        first = first[0]
    return first if isinstance(first, str) else None


def _arguments(row: dict[str, Any], index: int) -> list[Any]:
    given = row.get("arguments")
    if isinstance(given, dict):
        request = given.get(f"gen_args_{index}")
        return list(request.values()) if isinstance(request, dict) else []
    if isinstance(given, list) and index < len(given) and isinstance(given[index], list):
        return list(given[index])
    return []


def _is_log(text: str) -> bool:
    try:
        return text.startswith("-") and float(text) <= 0
    except ValueError:
        return False
