"""The HTML report of a comparison: one file that works offline."""

from __future__ import annotations

from calipers.report.html.page import html_page

__all__ = ["html_page"]
