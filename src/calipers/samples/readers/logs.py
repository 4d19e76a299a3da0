"""Logs of known tools: OpenAI's batch interface, lm-evaluation-harness, and inspect.

**Batch output**, also written by other services: each row answers one request with ``custom_id``,
``response`` (``status_code`` and ``body``) and ``error``. Texts lie in
``body.choices[*].message.content``, for plain completions in ``body.choices[*].text``, for the
responses endpoint in ``body.output[*].content[*].text``.

**Samples of lm-evaluation-harness** (``samples_<task>_<date>.jsonl``): each row is one document as
one filter saw it, so a task with two filters logs every document twice with the same responses.
``resps`` holds a list for each request, of a string for each repeat; every repeat is a sample.
What a filter made of them is in ``filtered_resps``, and read only where it is asked for. Tasks
that only score given continuations log log-probabilities there, and no texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples.fields import PathError, extractor
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe, names, numbered, shortened


def is_batch_output(row: dict[str, Any]) -> bool:
    """Tell whether a row is of an output file of OpenAI's batch interface."""
    response = row.get("response", "")
    return "custom_id" in row and (response is None or isinstance(response, dict))


def batch_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield the text of every choice, noting rows with an error and choices without text."""
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
        description = names(row) if isinstance(row, dict) else describe(row)
        raise source.row_error(
            number, f"has no 'response', as the rows before it; found {description}"
        )
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
    """Tell whether a row is of a log of lm-evaluation-harness."""
    return "doc_id" in row and isinstance(row.get("resps"), list)


def harness_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield every repeat of every request once, whatever the number of filters."""
    seen = Seen()
    copies = 0
    none: list[int] = []
    current = budget()
    for number, row in rows:
        current.borrow(SEEN, source.error)
        responses = _responses(number, row, source)
        content = [row["doc_id"], row.get("doc_hash"), row["resps"]]
        # A log of a version that did not name filters yet shows a copy under no name.
        if seen.before(content, str(row.get("filter")), named="filter" in row):
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


class Seen:
    """Contents that have been seen, and under which names, such as filters."""

    def __init__(self) -> None:
        self._names: dict[bytes, tuple[str, ...]] = {}

    def before(self, content: object, name: str, *, named: bool = True) -> bool:
        """Tell whether a row repeats the content of another one under another name.

        The same name again is another run with equal responses, unless rows have no names.
        """
        key = hashlib.sha256(json.dumps(content).encode()).digest()[:16]
        known = self._names.get(key, ())
        copy = bool(known) and (name not in known or not named)
        self._names[key] = (*known, name) if copy else (name,)
        return copy


class Filters:
    """The filters whose rows were read one by one, for a field of theirs."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def see(self, row: Any) -> None:
        """Record the filter of a row, of any file."""
        if isinstance(row, dict) and is_harness(row) and isinstance(row.get("filter"), str):
            self._found[row["filter"]] = None

    def notes(self) -> list[str]:
        """Report that the rows of several filters were combined."""
        if len(self._found) < 2:
            return []
        return [
            f"its rows are of {len(self._found):,} filters, {names(self._found)}: all are taken"
        ]


def _responses(number: int, row: Any, source: Source) -> list[list[str]]:
    description = names(row) if isinstance(row, dict) else describe(row)
    if not isinstance(row, dict) or not isinstance(row.get("resps"), list):
        raise source.row_error(
            number, f"has no list 'resps', as the rows before it; found {description}"
        )
    if "doc_id" not in row:
        raise source.row_error(
            number, f"has no 'doc_id', as the rows before it; found {description}"
        )
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


def harness_prompt(row: dict[str, Any]) -> str | None:
    """Return the prompt of a row with one request."""
    return _prompt(row, 0) if len(row["resps"]) == 1 else None


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


ATTACHMENT = "attachment://"
"""What a text begins with that a log of inspect keeps once for all places where it stands."""


OF_INSPECT = "with id, epoch, input and an object output"
"""What every sample of inspect has, in words."""


def is_inspect(row: object) -> bool:
    """Tell whether a row is a sample in a log of inspect."""
    if not isinstance(row, dict) or not {"id", "epoch", "input", "output"} <= set(row):
        return False
    return isinstance(row["output"], dict) and bool({"choices", "completion"} & set(row["output"]))


def inspect_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield the completion of every sample, or the value of the requested field.

    Samples that ended in an error or have no output are left out and noted.
    """
    extract = None if source.field is None else extractor(source.field)
    failed, silent, marked = list[int](), list[int](), dict[str, list[int]]()
    reason = ""
    given = 0
    for number, row in rows:
        if not is_inspect(row):
            description = names(row) if isinstance(row, dict) else describe(row)
            raise source.row_error(
                number, f"is not a sample of inspect, {OF_INSPECT}; found {description}"
            )
        if row.get("error"):
            failed.append(number)
            reason = reason or _reason(row["error"])
            continue
        if extract is None:
            choices = row["output"].get("choices") or []
            values = [_completion(number, row, choices, source)]
            if len(choices) > 1:
                marked.setdefault(_CHOICES, []).append(number)
        else:
            try:
                values = extract(row)
            except PathError as error:
                raise source.row_error(number, str(error)) from None
        for mark in _MARKS:
            if row.get(mark):
                marked.setdefault(_MARKS[mark], []).append(number)
        prompt = None if source.field == "input" else _input(row)
        for value in values:
            given += value is not None
            if value is None:
                silent.append(number)
            else:
                yield number, value, prompt, row
    if not given:
        raise source.error(f"no sample holds an output; {_without_output(failed, silent, reason)}")
    if failed or silent:
        notes.append(_without_output(failed, silent, reason))
    for remark, numbers in marked.items():
        notes.append(f"{counted(len(numbers), 'sample')} {remark} ({numbered('sample', numbers)})")


_CHOICES = (
    "with several choices: the completion is the first "
    "(`field='output.choices[*].message.content'` takes all)"
)
_MARKS = {
    "limit": "stopped by a limit of the run and kept",
    "invalidation": "marked as invalid in the log and kept",
}


def _without_output(failed: list[int], silent: list[int], reason: str) -> str:
    parts = []
    if failed:
        where = numbered("sample", failed)
        parts.append(f"{counted(len(failed), 'sample')} with an error left out ({where}: {reason})")
    if silent:
        where = numbered("sample", silent)
        parts.append(f"{counted(len(silent), 'sample')} without output left out ({where})")
    return "; ".join(parts) or "their fields are empty lists"


def _completion(number: int, row: dict[str, Any], choices: Any, source: Source) -> str | None:
    """What inspect takes as the answer of the model; None where there was none."""
    if not isinstance(choices, list):
        raise source.row_error(
            number, f"the choices of the output must be a list, not {describe(choices)}"
        )
    text = row["output"].get("completion")
    if not text:
        if not choices:
            return None
        message = choices[0].get("message") if isinstance(choices[0], dict) else None
        text = _message_text(message, row)
    if not isinstance(text, str):
        raise source.row_error(
            number, f"the completion must be a string, but it is {describe(text)}"
        )
    return _attached(text, row)


def _input(row: dict[str, Any]) -> str | None:
    """The texts that the model was given, with a blank line between messages; None without any."""
    given = row["input"]
    if isinstance(given, list):
        message_texts = [_message_text(message, row) for message in given]
        texts = [text for text in message_texts if isinstance(text, str) and text]
        return "\n\n".join(texts) or None
    return _attached(given, row) if isinstance(given, str) else None


def _message_text(message: Any, row: dict[str, Any]) -> Any:
    """The text of a message; other parts of it, such as images and reasoning, are passed over."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return _attached(content, row) if isinstance(content, str) else content
    texts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(_attached(str(part.get("text", "")), row) for part in texts)


def _attached(text: str, row: dict[str, Any]) -> str:
    attachments = row.get("attachments")
    if text.startswith(ATTACHMENT) and isinstance(attachments, dict):
        attachment = attachments.get(text.removeprefix(ATTACHMENT))
        return attachment if isinstance(attachment, str) else text
    return text
