"""Reports of results for people and programs, without further computation.

``comparison/``, and the document of each command, make of a result what is shown, as values
(``table.py``); ``render/`` writes that in each format. ``html/`` and ``plots/`` draw.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.report.render.csv import scores_csv as scores_csv
    from calipers.report.render.json import json_text as json_text
    from calipers.report.render.latex import latex as latex
    from calipers.report.render.markdown import markdown as markdown
    from calipers.report.render.text import plain as plain
    from calipers.report.scored import summary as summary

WHERE = {
    "json_text": "render.json",
    "latex": "render.latex",
    "markdown": "render.markdown",
    "plain": "render.text",
    "scores_csv": "render.csv",
    "summary": "scored",
}
"""Public name to the module that has it, which is loaded when the name is first used."""

__all__ = [
    "json_text",
    "latex",
    "markdown",
    "plain",
    "scores_csv",
    "summary",
]


def __getattr__(name: str) -> Any:
    """Load what writes tables and files when that is first done: the help of a command need not."""
    if name not in WHERE:
        raise AttributeError(f"module 'calipers.report' has no attribute {name!r}")
    return getattr(import_module(f"calipers.report.{WHERE[name]}"), name)
