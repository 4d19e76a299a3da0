"""Comparison ──► what a person or a program reads. Computes nothing.

Everything here is a view of the data that ``Comparison.to_dict()`` gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.report.json_text import json_text

if TYPE_CHECKING:
    from calipers.report.table import ComparisonTable as ComparisonTable
    from calipers.report.table import comparison_table as comparison_table
    from calipers.report.table import plain_text as plain_text
    from calipers.report.whole_files import utf8 as utf8
    from calipers.report.whole_files import write_text_atomically as write_text_atomically

__all__ = [
    "ComparisonTable",
    "comparison_table",
    "json_text",
    "plain_text",
    "utf8",
    "write_text_atomically",
]


def __getattr__(name: str) -> Any:
    """Load what writes tables and files when that is first done: the help of a command need not."""
    if name not in __all__:
        raise AttributeError(f"module 'calipers.report' has no attribute {name!r}")
    from calipers.report import table, whole_files

    return getattr(whole_files if hasattr(whole_files, name) else table, name)
