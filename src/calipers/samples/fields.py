"""Which field of a row holds the text, when nobody said."""

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

NAME_IT = "name it with --field (field= in Python)"


def find_field(fields: Sequence[str], textual: Sequence[str], source: Source) -> str:
    """Find the text field among the fields of a file's rows.

    The only field is taken whatever its name. Otherwise it must be the only one with a usual
    name that holds a string.

    Parameters
    ----------
    fields
        All fields of the rows.
    textual
        Those of them that hold strings, or may hold some, being null.
    source
        The file, for messages.

    Raises
    ------
    InputError
        If no field has a usual name, or several have.
    """
    if len(fields) == 1:
        return fields[0]
    usual = [field for field in fields if field.casefold() in USUAL]
    found = [field for field in usual if field in textual] or usual
    if len(found) == 1:
        return found[0]
    raise _ambiguous(found, source) if found else _missing(fields, source)


def _ambiguous(found: Sequence[str], source: Source) -> InputError:
    return source.error(f"several fields may be the text: {names(found)}; {NAME_IT}")


def _missing(fields: Sequence[str], source: Source) -> InputError:
    note = f" ({source.header_note})" if source.header_note else ""
    return source.error(
        f"no field has a usual name for a text, such as 'text' or 'generation'; "
        f"the fields are {names(fields)}{note}; {NAME_IT}"
    )
