"""Samples of Every Eval Ever, the schema of the EvalEval Coalition (versions 0.2 and 0.3).

A file ``*_samples.jsonl`` has a row for each sample and each score of it, so a sample with two
scores is there twice. The texts are ``output.raw``, one or several; of a conversation, the last
message of the model. The prompt is ``input.raw``. The file of scores beside it holds no texts.

Source: ``instance_level_eval.schema.json`` of every_eval_ever 0.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calipers.memory import budget
from calipers.samples.readers.logs import SEEN, Seen
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe, names, numbered

_FIELDS = {"evaluation_id", "sample_id", "interaction_type", "input"}


def is_every_eval(row: object) -> bool:
    """Tell whether a row is a sample of Every Eval Ever."""
    return isinstance(row, dict) and set(row) >= _FIELDS and isinstance(row["input"], dict)


def is_every_eval_scores(value: object) -> bool:
    """Tell whether a JSON file is one of scores of Every Eval Ever, without samples."""
    return isinstance(value, dict) and {"evaluation_results", "model_info"} <= set(value)


def every_eval_items(
    rows: Iterator[tuple[int, Any]], source: Source, notes: list[str]
) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield every text of every sample once, whatever the number of its scores.

    Raises
    ------
    InputError
        If a row is not such a sample, or its texts are not strings.
    """
    seen, current = Seen(), budget()
    copies = 0
    failed, silent = list[int](), list[int]()
    for number, row in rows:
        if not is_every_eval(row):
            description = names(row) if isinstance(row, dict) else describe(row)
            raise source.row_error(
                number,
                f"has no {names(sorted(_FIELDS))}, as the rows before it; found {description}",
            )
        if row.get("error"):
            failed.append(number)
            continue
        texts = _texts(number, row, source)
        current.borrow(SEEN, source.error)
        content = [row["evaluation_id"], row.get("model_id"), row["sample_id"], texts]
        if seen.before(content, str(row.get("evaluation_result_id", row.get("evaluation_name")))):
            copies += 1
            continue
        if not texts:
            silent.append(number)
        for text in texts:
            yield number, text, row["input"].get("raw"), row
    if copies:
        notes.append(f"{counted(copies, 'row')} left out: the same texts under another score")
    if failed:
        where = numbered(source.unit, failed)
        notes.append(f"{counted(len(failed), 'row')} with an error left out ({where})")
    if silent:
        where = numbered(source.unit, silent)
        notes.append(f"{counted(len(silent), 'row')} had no text and gave no sample ({where})")


def _texts(number: int, row: dict[str, Any], source: Source) -> list[str]:
    output = row.get("output")
    raw = output.get("raw") if isinstance(output, dict) else _last_message(row.get("messages"))
    texts = [] if raw is None else [raw] if isinstance(raw, str) else raw
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise source.row_error(number, f"its texts must be strings, but they are {describe(raw)}")
    return texts


def _last_message(messages: Any) -> Any:
    """Return what the model said last in a conversation; None where it said nothing."""
    if not isinstance(messages, list):
        return None
    answers = [
        message
        for message in messages
        if isinstance(message, dict) and message.get("role") == "assistant"
    ]
    return answers[-1].get("content") if answers else None
