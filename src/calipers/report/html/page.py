"""Report data ──► one HTML file, with everything in it: styles, scripts, pictures and texts.

Jinja escapes every value; scripts run only if their hash stands in the policy at the head of the
page, so that no text can become one. The same data give the same bytes.
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from calipers.assets import PLOTLY
from calipers.report.comparison import document as compare
from calipers.report.html.escaping import escaping_templates
from calipers.report.html.islands import island, policy, visible
from calipers.report.html.lists import FIRST, system_lists
from calipers.report.html.map import map_data
from calipers.report.html.pictures import SCRIPTS, STYLES, chart_data
from calipers.report.html.tables import (
    MARKS,
    checks,
    grouped,
    parts,
    places,
    scores_of,
    set_rows,
    settings_of,
    signatures,
    title,
    written,
)
from calipers.report.html.texts import fitting
from calipers.report.names import VIEWS, clean
from calipers.report.of_data import comparison_of
from calipers.report.redacted import without_texts
from calipers.report.table import Data, Name, ScoreCell, Words, said
from calipers.report.verdict import verdict

PURPOSE = "the HTML report"
SCRIPT = "plotly.min.js"
OWN_STYLES = ("style.css",)
OWN_SCRIPTS = ("page.js",)
ISLANDS = ("data-map", "data-charts")
SEPARATED = re.compile(r"(?<=[_./-])(?=[^_./-])")
"""Where a name may be broken: behind the signs that separate its parts."""
CHARTS = ("planes", "curves", "frontiers", "topics")


@dataclass(frozen=True)
class Pictures:
    """What the pictures of a page are drawn from, and the scripts that draw them."""

    map: dict[str, Any]
    charts: dict[str, Any]

    @property
    def shown(self) -> set[str]:
        """Name the pictures that have something to show."""
        return {name for name in CHARTS if self.charts[name]} | (
            {"map"} if self.map["sets"] else set()
        )

    @property
    def plotly(self) -> str:
        """Give plotly's script; empty where no chart is shown."""
        if not self.shown & set(CHARTS):
            return ""
        return _harmless((PLOTLY.require(PURPOSE) / SCRIPT).read_text("utf-8"))


def html_page(data: Data) -> str:
    """Write the report of a comparison as one HTML file that opens offline.

    Parameters
    ----------
    data
        What ``Comparison.report_data()`` gives. Where it is redacted, no text of a sample and no
        folder of a file gets into the page.

    Returns
    -------
    str
        The page; it can be encoded as strict UTF-8 whatever the texts hold.

    Raises
    ------
    MissingExtraError
        If plotly's script is needed, and Calipers was built without it.
    """
    environment = _environment()
    shown = without_texts(data) if data.get("redacted") else data
    page: str = environment.get_template("page.html").render(_context(shown, environment))
    return page


def _context(data: Data, environment: Any) -> dict[str, Any]:
    """Gather what the templates show."""
    comparison, safe = data["comparison"], environment.filters["as_is"]
    pictures = Pictures(map_data(data), chart_data(data))
    scripts = [_static(name) for name in (*OWN_SCRIPTS, *SCRIPTS)]
    styles = [_static(name) for name in (*OWN_STYLES, *STYLES)]
    plotly, islands = pictures.plotly, [island(pictures.map), island(pictures.charts)]
    told = data.get("explanations") or {}
    taken = sum(len(part.encode("utf-8")) for part in (*scripts, *styles, plotly, *islands))
    return {
        **_said(comparison),
        "policy": policy([*scripts, *([plotly] if plotly else [])]),
        "styles": [safe(style) for style in styles],
        "scripts": [safe(script) for script in scripts],
        "plotly": safe(plotly),
        "islands": zip(ISLANDS, map(safe, islands), strict=True),
        "pictures": pictures.shown,
        "systems": system_lists(data, fitting(told, taken=taken)),
        "command": data.get("command"),
        "redacted": bool(data.get("redacted")),
        "first": FIRST,
    }


def _said(comparison: Data) -> dict[str, Any]:
    """Gather what the page says of the comparison itself."""
    document = compare.full(comparison_of(comparison))
    heading = title(comparison)
    return {
        "title": heading,
        "tab": said(heading),
        "about": document.title,
        "version": comparison.get("calipers") or "",
        "verdict": verdict(comparison_of(comparison)),
        "scores": scores_of(document, comparison),
        "views": defaultdict(str, VIEWS),
        "places": places(comparison),
        "legend": document.of_kind("legend"),
        "warnings": document.warnings,
        "remarks": document.of_kind("note", "detail"),
        "checks": checks(comparison),
        "parts": parts(document),
        "sets": list(set_rows(comparison)),
        "settings": list(settings_of(comparison)),
        "signatures": list(signatures(comparison)),
        "tuning": _tuning(comparison),
    }


def _tuning(comparison: Data) -> dict[str, str] | None:
    """Give the figure of a tuning, as an address that holds it, and what it is of."""
    tuned = comparison.get("tuned")
    if not tuned:
        return None
    from calipers.report.plots.parameter import tuning_plot
    from calipers.report.plots.style import figure_bytes

    figure = base64.b64encode(figure_bytes(tuning_plot(comparison).figure(), ".svg")).decode()
    over = " and ".join(map(clean, tuned["over"]))
    return {"source": f"data:image/svg+xml;base64,{figure}", "over": over}


def _environment() -> Environment:
    """Make templates from the files of the package, every value escaped and made visible."""
    environment = escaping_templates("calipers.report.html")
    environment.filters |= {
        "as_is": Markup,
        "grouped": grouped,
        "breakable": lambda name: Markup("<wbr>").join(
            map(escape, filter(None, SEPARATED.split(visible(str(name)))))
        ),
        "meaning": MARKS.get,
        "named": lambda words: Markup("").join(_with_names(words)),
        "written": written,
    }
    environment.tests["scored"] = lambda cell: isinstance(cell, ScoreCell)
    return environment


def _with_names(words: Words) -> Iterator[Any]:
    """Set the names in a sentence apart from the direction in which the sentence is written."""
    for part in words:
        shown = escape(visible(str(part)))
        yield Markup("<bdi>{}</bdi>").format(shown) if isinstance(part, Name) else shown


def _static(name: str) -> str:
    return _harmless(files("calipers.report.html").joinpath("static", name).read_text("utf-8"))


def _harmless(source: str) -> str:
    """Write line ends as HTML reads them: a hash is of what a browser sees."""
    return source.replace("\r\n", "\n").replace("\r", "\n")
