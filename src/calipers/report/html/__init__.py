"""A comparison ──► one HTML file that opens offline. Plotly and Jinja stay in this room."""

from __future__ import annotations

from calipers.report.html.page import html_page

__all__ = ["html_page"]
