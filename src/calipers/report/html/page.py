"""Report data ──► one HTML file, with everything in it: styles, scripts, pictures and texts.

Jinja escapes every value; scripts run only if their hash stands in the policy at the head of the
page, so that no text can become one. The same data give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from calipers.errors import require
from calipers.report.documents import compare
from calipers.report.html.checks import checks
from calipers.report.html.islands import island, policy, visible
from calipers.report.html.lists import FIRST, system_lists
from calipers.report.html.pictures import SCRIPTS, STYLES, chart_data, map_data
from calipers.report.html.sets import set_rows, settings_of, signatures, title
from calipers.report.html.table import parts, score_table
from calipers.report.html.texts import fitting
from calipers.report.html.verdict import verdict
from calipers.report.html.wording import END, START, plain
from calipers.report.inference import level_of, percent
from calipers.report.redacted import without_texts
from calipers.report.table import Data

PURPOSE = "the HTML report"
OWN_STYLES = ("style.css",)
OWN_SCRIPTS = ("page.js",)
ISLANDS = ("data-map", "data-charts")
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
        plotly = require("plotly.offline", extra="report", purpose=PURPOSE)
        return _harmless(plotly.get_plotlyjs())


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
        If jinja2 or plotly is not installed.
    """
    environment = _environment(require("jinja2", extra="report", purpose=PURPOSE))
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
        **_told(comparison),
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


def _told(comparison: Data) -> dict[str, Any]:
    """Gather what the page says of the comparison itself."""
    document = compare.document(comparison, details=True)
    return {
        "title": title(comparison),
        "tab": plain(title(comparison)),
        "about": document.title,
        "version": comparison.get("calipers") or "",
        "verdict": verdict(comparison),
        "level": percent(level_of(comparison)),
        "table": score_table(document, comparison),
        "legend": [(note.sign, str(note)) for note in document.of_kind("legend")],
        "warnings": document.warnings,
        "remarks": [str(note) for note in document.of_kind("note", "detail")],
        "checks": checks(comparison),
        "parts": parts(document),
        "sets": list(set_rows(comparison)),
        "settings": list(settings_of(comparison)),
        "signatures": list(signatures(comparison)),
    }


def _environment(jinja: Any) -> Any:
    """Make templates from the files of the package, every value escaped and made visible."""
    markup = require("markupsafe", extra="report", purpose=PURPOSE)
    environment = jinja.Environment(
        loader=jinja.PackageLoader("calipers.report.html", "templates"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _finalized(value, markup.Markup),
    )
    environment.filters["as_is"] = markup.Markup
    environment.filters["told"] = lambda text: _with_names(text, markup)
    return environment


def _finalized(value: Any, markup: type) -> Any:
    plain = isinstance(value, str) and not isinstance(value, markup)
    return visible(value) if plain else value


def _with_names(text: str, markup: Any) -> Any:
    """Set the names in a sentence apart from the direction in which the sentence is written."""
    escaped = str(markup.escape(visible(text)))
    return markup.Markup(escaped.replace(START, "<bdi>").replace(END, "</bdi>"))


def _static(name: str) -> str:
    return _harmless(files("calipers.report.html").joinpath("static", name).read_text("utf-8"))


def _harmless(source: str) -> str:
    """Write line ends as HTML reads them: a hash is of what a browser sees."""
    return source.replace("\r\n", "\n").replace("\r", "\n")
