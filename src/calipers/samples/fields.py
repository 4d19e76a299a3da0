"""Which field of a row holds the text, or the token ids, when nobody said."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.errors import InputError
from calipers.samples.source import Source
from calipers.samples.wording import names

USUAL = (
    "text",
    "generation",
    "generated_text",
    "generated",
    "output",
    "output_text",
    "completion",
    "response",
    "content",
    "prediction",
    "answer",
    "story",
    "document",
    "article",
    "sentence",
)
"""Names that a text field usually has, whatever the case of their letters."""

TOKENS = ("input_ids", "token_ids", "tokens")
"""Names that a field of token ids usually has."""

NAME_IT = "name it with --field (field= in Python)"


def find_field(
    fields: Sequence[str], textual: Sequence[str], source: Source, *, listed: Sequence[str] = ()
) -> str:
    """Find the field of the text, or else that of the token ids, among those of a file's rows.

    The only field is taken whatever its name. Otherwise it must be the only one with a usual
    name that holds a string; where there is none, the only one with a usual name for token ids
    that holds a list of numbers.

    Parameters
    ----------
    fields
        All fields of the rows.
    textual
        Those of them that hold strings, or may hold some, being null.
    source
        The file, for messages.
    listed
        The fields that hold lists of numbers.

    Raises
    ------
    InputError
        If no field has a usual name, or several have.
    """
    if len(fields) == 1:
        return fields[0]
    usual = [field for field in fields if field.casefold() in USUAL]
    ids = [field for field in listed if field.casefold() in TOKENS]
    found = [field for field in usual if field in textual] or ids or usual
    if len(found) == 1:
        return found[0]
    what = "the token ids" if found == ids else "the text"
    raise _ambiguous(found, what, source) if found else _missing(fields, source)


def _ambiguous(found: Sequence[str], what: str, source: Source) -> InputError:
    return source.error(f"several fields may be {what}: {names(found)}; {NAME_IT}")


def _missing(fields: Sequence[str], source: Source) -> InputError:
    note = f" ({source.header_note})" if source.header_note else ""
    return source.error(
        f"no field has a usual name for a text, such as 'text' or 'generation'; "
        f"the fields are {names(fields)}{note}; {NAME_IT}"
    )
