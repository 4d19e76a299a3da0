"""``show``: print a result, or one that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calipers.results.result import Result, load


def show(result: Result | str | Path, **options: Any) -> None:
    """Print the tables and notes of a result, or of a file that holds one.

    Parameters
    ----------
    result
        What a function of ``calipers`` returned, or the path of what ``save``, ``--save`` or
        ``--json`` wrote.
    options
        Of the document of its kind, such as ``details=True`` of a comparison.

    Raises
    ------
    InputError
        If the file is missing or damaged, or holds no result.

    Examples
    --------
    >>> import calipers
    >>> result = calipers.measure_texts(
    ...     {"model": ["a b", "a b c"]}, tokenizer="whitespace", metrics="mean_length", level=None
    ... )
    >>> calipers.show(result)  # doctest: +ELLIPSIS
    Texts, without a reference · tokenizer whitespace · seed 0
    ...
    """
    shown = result if isinstance(result, Result) else load(result)
    print(shown.document(**options))  # noqa: T201
