"""Fields of rows: which one holds the text or token ids, and how a path names one.

A path such as ``a.b[0]`` or ``choices[*].text`` is a chain of keys joined by dots; ``[2]`` takes
an item of a list, ``[-1]`` the last one, and ``[*]`` every item, so that one row gives several
samples. Where nobody names a field, the only one is taken, or the only one with a usual name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from calipers.errors import InputError, did_you_mean
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe, names, shortened

USUAL = (
    "text",
    "generation",
    "generated_text",
    "generated",
    "generated_output",
    "generated_response",
    "output",
    "output_text",
    "model_output",
    "model_response",
    "model_answer",
    "model_completion",
    "model_generation",
    "model_prediction",
    "llm_output",
    "llm_response",
    "llm_answer",
    "completion",
    "response",
    "response_text",
    "assistant_response",
    "reply",
    "content",
    "prediction",
    "answer",
    "story",
    "document",
    "article",
    "sentence",
)
"""Names that a text field usually has, as :func:`plain` writes names."""

RARER = (
    "continuation",
    "hypothesis",
    "translation",
    "summary",
    "candidate",
    "predicted",
    "predicted_text",
    "pred",
    "body",
)
"""Names of texts that are taken where no field has a usual one: beside it they are something else,
such as the summary of an article."""

MANY = (
    "generations",
    "responses",
    "completions",
    "outputs",
    "predictions",
    "answers",
    "texts",
    "samples",
    "model_outputs",
    "model_responses",
    "generated_texts",
    "replies",
    "continuations",
    "candidates",
)
"""Names that a list of texts usually has, of which each is a sample."""

TOKENS = ("input_ids", "token_ids", "tokens")
"""Names that a field of token ids usually has."""

# A key, the index of an item, or None for every item.
Step = str | int | None

Extract = Callable[[Any], list[Any]]

DIGITS = 18
"""Most digits of an index: no list is longer."""

_STEP = re.compile(r"(?:^|(?<=[^.])\.)(?P<key>[^.\[\]]+)|\[(?:(?P<index>-?\d+)|(?P<every>\*))\]")

NAME_IT = "choose one with `field`, or FILE@FIELD for one file alone"


def plain(name: str) -> str:
    """Normalise the name of a field: no case, no separators.

    Examples
    --------
    >>> {plain(name) for name in ("model_output", "Model Output", "modelOutput")}
    {'modeloutput'}
    """
    return re.sub(r"[\s_.-]+", "", name).casefold()


def among(fields: Sequence[str], names: Collection[str]) -> list[str]:
    """Return the fields with one of some names, ignoring case and separators."""
    known = set(map(plain, names))
    return [field for field in fields if plain(field) in known]


def find_field(
    fields: Sequence[str],
    textual: Sequence[str],
    source: Source,
    *,
    listed: Sequence[str] = (),
    vectors: Sequence[str] = (),
    many: Sequence[str] = (),
) -> str:
    """Find the field of the text, or else of token ids or vectors, in some rows.

    The only field is taken whatever its name. Otherwise it must be the only one with a usual
    name that holds a string; where there is none, the only one with a usual name for several
    texts that lists strings, of which each is a sample; where there is none either, the only one
    with a usual name for token ids that holds a list of numbers, or else the only one that holds
    vectors, or the only string with a rarer name.

    Parameters
    ----------
    fields
        All fields of the rows.
    textual
        Those of them that hold strings, or may hold some, being null.
    source
        The file, for messages.
    listed
        The fields that hold lists of whole numbers.
    vectors
        The fields that hold lists of floating-point numbers.
    many
        The fields that hold lists of strings.

    Returns
    -------
    str
        Its path: the name of a field, with ``[*]`` behind it where all texts of a list are meant.

    Raises
    ------
    InputError
        If no field has a usual name, or several have.
    """
    lists = among(many, MANY)
    if len(fields) == 1:
        return f"{fields[0]}[*]" if lists else fields[0]
    usual = among(fields, USUAL)
    ids = among(listed, TOKENS)
    texts = [field for field in usual if field in textual] or lists
    candidates = texts or ids or list(vectors) or usual or among(textual, RARER)
    if len(candidates) == 1:
        return f"{candidates[0]}[*]" if candidates == lists else candidates[0]
    what = "the text"
    if candidates == ids or candidates == list(vectors):
        what = "the token ids" if candidates == ids else "the vectors"
    raise _ambiguous(candidates, what, source) if candidates else _missing(fields, source)


def lists_texts(value: object) -> bool:
    """Tell whether a value is a list of strings, or an empty list."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def prompt_field(fields: Collection[str], field: str | None) -> str | None:
    """Return the field of the prompts: ``prompt``, or ``instruction`` in outputs of AlpacaEval."""
    if "prompt" in fields:
        prompt = "prompt"
    elif {"instruction", "generator"} <= set(fields):
        prompt = "instruction"
    else:
        return None
    return None if field == prompt else prompt


def beside_prompts(fields: Collection[str], field: str | None) -> tuple[str, ...]:
    """Return the columns that identify the prompts of rows, and those of the prompts themselves."""
    prompt = prompt_field(fields, field)
    return (prompt, "generator") if prompt == "instruction" else () if prompt is None else (prompt,)


def other_texts(textual: Sequence[str], field: str) -> tuple[str, ...]:
    """Return further fields that may hold texts, except prompts."""
    return tuple(name for name in textual if name not in (field, prompt_field(textual, field)))


def _ambiguous(candidates: Sequence[str], what: str, source: Source) -> InputError:
    return source.error(f"several fields may be {what}: {names(candidates)}; {NAME_IT}")


def _missing(fields: Sequence[str], source: Source) -> InputError:
    note = f" ({source.header_note})" if source.header_note else ""
    return source.error(
        f"no field has a common name for a text, such as 'text' or 'generation'; "
        f"the fields are {names(fields)}{note}; {NAME_IT}"
    )


class PathError(Exception):
    """A row lacks what a path names; the reader adds file and row."""


def parse_path(path: str) -> tuple[Step, ...]:
    """Split a path into its steps.

    Raises
    ------
    InputError
        If it is not of the form ``a.b[0].c[*]``.
    """
    steps: list[Step] = []
    position = 0
    while position < len(path) or not path:
        match = _STEP.match(path, position)
        if match is None:
            raise InputError(
                f"the field path {shortened(path)!r} is not valid from character "
                f"{position + 1} on; write keys, [0] and [*], as in choices[0].message.content"
            )
        steps.append(_step(match, path))
        position = match.end()
    return tuple(steps)


def root(path: str) -> str | None:
    """Return the key that a path starts with; None if there is none."""
    match = _STEP.match(path)
    return match["key"] if match else None


def extractor(path: str) -> Extract:
    """Return a function that lists the values at a path of a row.

    A key of the row that is spelt exactly like the whole path, dots and brackets included, goes
    before the path, so any name of a column can be given. The function raises `PathError` where
    the path breaks.
    """
    parsed: list[tuple[Step, ...]] = []

    def extract(row: Any) -> list[Any]:
        if isinstance(row, dict) and path in row:
            return [row[path]]
        if not parsed:
            parsed.append(parse_path(path))
        return list(_walk(row, parsed[0], path, 0))

    return extract


def _step(match: re.Match[str], path: str) -> Step:
    if match["key"] is not None:
        return match["key"]
    if match["every"]:
        return None
    digits = len(match["index"].removeprefix("-"))
    if digits > DIGITS:
        raise InputError(
            f"field {shortened(path)!r} has an index of {digits:,} digits; an index has at most "
            f"{DIGITS}"
        )
    return int(match["index"])


def _walk(value: Any, steps: tuple[Step, ...], path: str, depth: int) -> Iterator[Any]:
    for position in range(depth, len(steps)):
        step = steps[position]
        if isinstance(step, str):
            value = _by_key(value, step, steps[:position], path)
            continue
        items = _as_list(value, steps[:position], path)
        if step is None:
            for item in items:
                yield from _walk(item, steps, path, position + 1)
            return
        value = _by_index(items, step, steps[:position], path)
    yield value


def _by_key(value: Any, key: str, done: tuple[Step, ...], path: str) -> Any:
    if not isinstance(value, dict):
        raise _broken(path, done, f"{describe(value)} has no field {key!r}")
    if key not in value:
        missing = f"there is no field {key!r}{_likeliest(key, value)}"
        raise _broken(path, done, f"{missing}; the fields are {names(value)}")
    return value[key]


def _likeliest(key: str, fields: Iterable[str]) -> str:
    """Ask for the field that a name is nearest to, by its letters or as another name for a text."""
    by_letters = {field.lower(): field for field in fields if isinstance(field, str)}
    near = difflib.get_close_matches(key.lower(), by_letters, n=1, cutoff=0.6)
    likely = [by_letters[letters] for letters in near]
    if not near and plain(key) in USUAL:
        likely = [field for field in by_letters.values() if plain(field) in USUAL]
    return f" ({did_you_mean(likely)})" if len(likely) == 1 else ""


def _as_list(value: Any, done: tuple[Step, ...], path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _broken(path, done, f"expected a list, found {describe(value)}")
    return value


def _by_index(items: list[Any], index: int, done: tuple[Step, ...], path: str) -> Any:
    try:
        return items[index]
    except IndexError:
        size = counted(len(items), "item")
        raise _broken(path, done, f"there is no item [{index}] in a list of {size}") from None


def _broken(path: str, done: tuple[Step, ...], problem: str) -> PathError:
    place = f"the field {shortened(path)!r} breaks at {_written(done)!r}: " if done else ""
    return PathError(place + problem)


def _written(steps: tuple[Step, ...]) -> str:
    parts = [f".{s}" if isinstance(s, str) else f"[{'*' if s is None else s}]" for s in steps]
    return "".join(parts).removeprefix(".")
