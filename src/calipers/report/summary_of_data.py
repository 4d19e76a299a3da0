"""A comparison of embeddings or of texts ──► the document for a paper."""

from __future__ import annotations

from calipers.errors import InputError
from calipers.report.table import Document
from calipers.results.comparison import Comparison
from calipers.results.texts import TextComparison

Scored = Comparison | TextComparison
"""What has scores of systems, by key."""


def summary(result: Scored) -> Document:
    """Give what a paper or an issue shows of a comparison of embeddings or of texts.

    Raises
    ------
    InputError
        If it is neither.
    """
    check_comparison(result)
    if isinstance(result, TextComparison):
        from calipers.report import text_statistics as texts

        return texts.summary(result)
    from calipers.report.comparison import document as compare

    return compare.summary(result)


def check_comparison(result: object) -> None:
    """Refuse what is no comparison, such as data of one."""
    if not isinstance(result, Scored):
        raise InputError(
            "tables of scores are made of the result of compare, tune, measure_texts or "
            f"likelihood; found {type(result).__name__}"
        )
