"""Output common to all results, and checks for those that need scores of systems."""

from __future__ import annotations

from calipers.errors import InputError
from calipers.report.table import Document
from calipers.results.comparison import Comparison
from calipers.results.result import Result
from calipers.results.texts import TextComparison

Scored = Comparison | TextComparison
"""What has scores of systems, by key."""


def summary(result: Result) -> Document:
    """Return the summary of a result for a paper or an issue.

    Raises
    ------
    InputError
        If it is not a result.

    Examples
    --------
    >>> import calipers
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> type(summary(result)).__name__
    'Document'
    """
    if not isinstance(result, Result):
        raise InputError(
            "a summary is made of a result, such as calipers.compare and calipers.load give; "
            f"found {type(result).__name__}"
        )
    return result.summary()


def document_of(shown: Document | Result, *, whole: bool = False) -> Document:
    """Return the document for a format: a summary of the result, or with `whole` the screen's."""
    if isinstance(shown, Document):
        return shown
    return shown.document() if whole and isinstance(shown, Result) else summary(shown)


def check_scored(result: object) -> None:
    """Refuse a result without scores of systems."""
    if not isinstance(result, Scored):
        raise InputError(
            "tables of scores are made of the result of compare, tune, measure_texts or "
            f"likelihood; found {type(result).__name__}"
        )
