"""The output files of OpenAI's batch interface, and of services that write the same.

Each row answers one request: ``custom_id``, ``response`` with ``status_code`` and ``body``, and
``error``. Texts lie in ``body.choices[*].message.content``, for plain completions in
``body.choices[*].text``, for the responses endpoint in ``body.output[*].content[*].text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
        told = body.get("error") if isinstance(body, dict) else None
        return f"status {status}" + (f", {_reason(told)}" if told else "")
    return "" if isinstance(body, dict) else "no body"


def _reason(error: object) -> str:
    told = error
    if isinstance(error, dict):
        told = error.get("message") or error.get("code") or error
    return shortened(str(told), 120)


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
