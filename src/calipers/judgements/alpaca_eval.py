"""Annotations of AlpacaEval (``annotations.json``) as judgements.

A row holds an instruction, what two systems answered, who they are (``generator_1`` and
``generator_2``), the model that judged (``annotator``) and its ``preference``: 1 for the first, 2
for the second, 1.5 (or 0, in old files) for a tie, and a fraction between 1 and 2 where the
preference is weighted by the chances that the model gave both answers. A fraction p makes p − 1 of
a win for the second, as the published win rate counts it.

Answers to one instruction are alike, so the instruction is the prompt of its judgements.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from calipers.samples.row_tables import Row, RowTable, as_number, is_blank
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe

NEEDED = ("generator_1", "generator_2", "preference")
JUDGE = "judge"
"""Name of a judge that no column names."""

DIGEST = 16


def is_annotations(table: RowTable) -> bool:
    """Whether a table holds annotations of AlpacaEval."""
    return set(NEEDED) <= set(table.columns)


def as_judgements(tables: Sequence[RowTable], called: str) -> tuple[RowTable, list[str]]:
    """Combine annotations into one table of judgements by models, and report what was left out.

    Parameters
    ----------
    tables
        With the columns that AlpacaEval writes.
    called
        What a person calls all of them.

    Raises
    ------
    InputError
        If a system has no name, a preference is no number from 1 to 2, or none is left.
    """
    rows: list[Row] = []
    unanswered = alone = repeated = 0
    earlier: set[tuple[Any, ...]] = set()
    for table in tables:
        here: set[tuple[Any, ...]] = set()
        for row in table.rows:
            if is_blank(row[1].get("preference")):
                unanswered += 1
                continue
            judged = _judgement(table, row)
            if judged["a"] == judged["b"]:
                alone += 1
                continue
            key = tuple(judged.values())
            if key in earlier:
                repeated += 1
                continue
            here.add(key)
            rows.append((len(rows) + 1, judged))
        earlier |= here
    source = tables[0].source if len(tables) == 1 else Source(called, called, unit="row")
    if not rows:
        raise source.error("holds no preference between two systems")
    notes = [f"{source.path}: {note}" for note in _notes(unanswered, alone, repeated)]
    return RowTable(source, tuple(rows), tuple(rows[0][1])), notes


def _notes(unanswered: int, alone: int, repeated: int) -> Iterator[str]:
    if unanswered:
        yield f"{counted(unanswered, 'judgement')} without a preference left out"
    if alone:
        yield f"{counted(alone, 'judgement')} of a system with itself left out"
    if repeated:
        yield f"{counted(repeated, 'judgement')} left out that an earlier file holds too"


def _judgement(table: RowTable, row: Row) -> Mapping[str, Any]:
    a, b = table.name(row, "generator_1"), table.name(row, "generator_2")
    share = _second_share(table, row)
    prompt = _digest(row[1].get("instruction"), row[0])
    annotator = row[1].get("annotator")
    return {
        "item": " ".join((prompt, *sorted((a, b)))),
        "a": a,
        "b": b,
        "preference": "tie" if share == 0.5 else b if share > 0.5 else a,
        "share": max(share, 1 - share),
        "prompt": prompt,
        "rater": JUDGE if is_blank(annotator) else str(annotator),
        "rater_kind": "model",
    }


def _second_share(table: RowTable, row: Row) -> float:
    """Read how far the second system is preferred, from 0 to 1."""
    value = as_number(row[1].get("preference"))
    if value == 0:
        return 0.5
    if value is None or not math.isfinite(value) or not 1 <= value <= 2:
        raise table.source.row_error(
            row[0],
            "preference must be a number from 1 (generator_1) to 2 (generator_2), or 0 for a tie; "
            f"found {describe(row[1].get('preference'))}",
        )
    return value - 1


def _digest(instruction: Any, number: int) -> str:
    """Name a prompt; where a row has none, its number does."""
    if is_blank(instruction):
        return f"row {number}"
    return hashlib.sha256(str(instruction).encode(errors="surrogatepass")).hexdigest()[:DIGEST]


def without_texts(table: RowTable) -> RowTable:
    """Remove the answers, which judgements do not need and which make up most of a file."""
    kept = (*NEEDED, "instruction", "annotator")
    rows = tuple(
        (number, {column: row[column] for column in kept if column in row})
        for number, row in table.rows
    )
    return replace(table, rows=rows)
