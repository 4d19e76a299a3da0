"""Data of a comparison of embeddings or of texts ──► the document for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calipers.errors import InputError
from calipers.report.names import clean
from calipers.report.table import Data, Document


def summary(data: Data) -> Document:
    """Give what a paper or an issue shows of a comparison of embeddings or of texts.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` or ``TextComparison.to_dict()`` gives.

    Raises
    ------
    InputError
        If the data are of neither.
    """
    check_comparison(data)
    if is_of_texts(data):
        from calipers.report import text_statistics as texts

        return texts.summary(data)
    from calipers.report.comparison import document as compare

    return compare.summary(data)


def check_comparison(data: Data) -> None:
    """Refuse data that are not of a comparison."""
    systems = data.get("systems") if isinstance(data, Mapping) else None
    held = isinstance(systems, Sequence) and all("scores" in each for each in systems)
    if not held:
        keys = list(map(clean, data))[:6] if isinstance(data, Mapping) else []
        found = f"the keys {', '.join(keys)}" if keys else type(data).__name__
        raise InputError(
            "tables are made of the data that to_dict() of a comparison gives, with the scores of "
            f"its systems; found {found}"
        )


def is_of_texts(data: Data) -> bool:
    """Tell statistics of texts, or of what models say of them, from scores of embeddings."""
    settings = data.get("settings", {})
    return "aligned" in settings or "first_token" in settings
