"""One module a command: what ``to_dict()`` of its result gives ──► a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from calipers.errors import InputError
from calipers.report.names import clean
from calipers.report.table import Data, Document

MODULES = {
    "comparison": "compare",
    "tuning": "compare",
    "sweep": "sweep",
    "overlap": "overlap",
    "prompts": "by_prompt",
    "agreement": "agree",
    "probe": "probe",
    "ranking": "rank",
    "judging": "judge",
    "texts": "texts",
    "likelihoods": "texts",
    "check": "check",
}
"""Kind of a result to the module that says what is shown of it."""


def document_of(kind: str, data: Data, **options: Any) -> Document:
    """Give what the screen shows of a result of some kind, by what its ``to_dict()`` gives."""
    document: Document = _module(kind).document(data, **options)
    return document


def summary_of(kind: str, data: Data) -> Document:
    """Give what a paper or a notebook shows of a result: for most kinds the same."""
    module = _module(kind)
    shown: Document = getattr(module, "summary", module.document)(data)
    return shown


def _module(kind: str) -> ModuleType:
    return import_module(f"calipers.report.documents.{MODULES[kind]}")


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
        from calipers.report.documents import texts

        return texts.summary(data)
    from calipers.report.documents import compare

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
