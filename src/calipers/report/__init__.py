"""Comparison ──► what a person or a program reads. Computes nothing.

Everything here is a view of the data that ``Comparison.to_dict()`` gives.
"""

from __future__ import annotations

from calipers.report.json_text import json_text
from calipers.report.table import ComparisonTable, comparison_table, plain_text
from calipers.report.whole_files import utf8, write_text_atomically

__all__ = [
    "ComparisonTable",
    "comparison_table",
    "json_text",
    "plain_text",
    "utf8",
    "write_text_atomically",
]
