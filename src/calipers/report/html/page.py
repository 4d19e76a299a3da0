"""The HTML report of a comparison as one file: styles, scripts, pictures and texts.

Jinja escapes every value; scripts run only if their hash is in the policy at the head of the
page, so that no text can become one. The same comparison gives the same bytes.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from calipers.assets import PLOTLY
from calipers.evaluate.order import arranged
from calipers.report.comparison import document as compare
from calipers.report.html.charts_script import needed_parts
from calipers.report.html.escaping import escaping_templates
from calipers.report.html.gallery import Gallery
from calipers.report.html.islands import data_text, island, policy, visible
from calipers.report.html.lists import FIRST, beside, files, keywords, system_lists
from calipers.report.html.map import map_data
from calipers.report.html.pictures import SCRIPTS, STYLES, chart_data
from calipers.report.html.stored import (
    MOST_LISTED,
    are_pairs_stored,
    is_stored,
    packed,
    stored_pairs,
    stored_parts,
    with_shorter_lists,
)
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
from calipers.report.html.texts import (
    LARGEST,
    LEAST_ROOM,
    SEPARATED,
    StoredTexts,
    TextView,
    fitting,
    fitting_stored,
    listed_keys,
)
from calipers.report.html.wording import count
from calipers.report.redacted import without_texts
from calipers.report.shown import sets_of
from calipers.report.table import ScoreCell
from calipers.results.comparison import Comparison
from calipers.wording.cells import has_rtl, pieces
from calipers.wording.front import worded
from calipers.wording.names import clean, views_of_kind
from calipers.wording.numbers import defined, length_head, share
from calipers.wording.short_names import among, peers
from calipers.wording.words import Name, Words, in_front, said

PURPOSE = "the HTML report"
SCRIPT = "plotly.min.js"
OWN_STYLES = ("style.css",)
OWN_SCRIPTS = ("packed.js", "page.js")
CHARTS = ("planes", "curves", "frontiers", "topics")
PARTS = "data-parts"
"""The id of what is stored of many systems."""


@dataclass(frozen=True)
class Pictures:
    """The data of the pictures of a page, and the scripts that draw them."""

    map: dict[str, Any]
    charts: dict[str, Any]

    @property
    def shown(self) -> set[str]:
        """The pictures that have something to show."""
        return {name for name in CHARTS if self.charts[name]} | (
            {"map"} if self.map["sets"] else set()
        )

    @property
    def plotly(self) -> str:
        """Give plotly's script as far as it is run; empty where no chart is shown."""
        if not self.shown & set(CHARTS):
            return ""
        return _charts_script(PLOTLY.require(PURPOSE) / SCRIPT)


def html_page(
    comparison: Comparison, *, redact: bool = False, sort: str | None = None, brief: bool = False
) -> str:
    """Write the report of a comparison as one HTML file that opens offline.

    Parameters
    ----------
    comparison
        With its explanations and maps, as :meth:`Comparison.explained` gives it.
    redact
        Whether no text of a sample and no folder of a file gets into the page.
    sort
        In which order tables have the systems, as of :func:`calipers.evaluate.order.order`.
    brief
        Whether it has the verdict and the tables alone, without pictures and samples.

    Returns
    -------
    str
        The page; it can be encoded as strict UTF-8 whatever the texts hold.

    Raises
    ------
    MissingExtraError
        If plotly's script is needed, and Calipers was built without it.
    """
    shown = without_texts(comparison) if redact else comparison
    with among(samples.name for samples in sets_of(shown)):
        return _written(shown, sort, redact=redact, brief=brief)


def _written(shown: Comparison, sort: str | None, *, redact: bool, brief: bool) -> str:
    placed = arranged(shown, sort)
    if brief:
        bare = tuple(replace(s, explained={}) for s in shown.systems)
        shown = replace(shown, systems=bare, maps={})
    shorter = are_pairs_stored(shown) and any(system.explained for system in shown)
    shown = with_shorter_lists(shown) if shorter else shown
    explanations = [
        (place, explanation)
        for place, system in enumerate(shown, start=1)
        for explanation in system.explained.values()
    ]
    keys = listed_keys(explanations) if is_stored(shown) else ()
    charts = dict.fromkeys(CHARTS, ()) if brief else chart_data(shown)
    pictures = Pictures(map_data(shown, redacted=redact, stored=keys), charts)
    inlined = _inlined(pictures, packing=is_stored(shown))
    if is_stored(shown):
        texts: TextView = fitting_stored(explanations, taken=inlined.size)
    else:
        texts = fitting((explanation for _, explanation in explanations), taken=inlined.size)
    texts.gallery = Gallery.of(shown, max(LEAST_ROOM, LARGEST - inlined.size))
    environment, about, systems = _environment(texts), _about(placed, shown), system_lists(shown)
    if isinstance(texts, StoredTexts):
        parts = stored_parts(environment, systems, about["signatures"], texts=texts, first=FIRST)
        if are_pairs_stored(shown):
            parts["pairs"] = stored_pairs(placed, [table for table, _ in about["parts"]])
        inlined = replace(inlined, islands={**inlined.islands, PARTS: packed(data_text(parts))})
    page: str = environment.get_template("page.html").render(
        **about,
        **inlined.placed,
        pictures=pictures.shown,
        systems=systems,
        stored=is_stored(shown),
        most_listed=MOST_LISTED if shorter else 0,
        pairs_stored=are_pairs_stored(shown),
        views_listed=list(dict.fromkeys(v.view for system in systems for v in system.views)),
        command=shown.settings.get("command"),
        study=shown.settings.get("study"),
        redacted=redact,
        first=FIRST,
        gallery=texts.gallery,
    )
    return page


@dataclass(frozen=True)
class Inlined:
    """The inlined parts of the page: styles, scripts and data.

    Attributes
    ----------
    styles, scripts
        As they stand in the page.
    plotly, run
        Plotly's script as it stands there, which may be packed, and as it runs; empty without a
        chart.
    islands
        Data by the id of their element.
    """

    styles: Sequence[str]
    scripts: Sequence[str]
    plotly: str
    run: str
    islands: Mapping[str, str]

    @property
    def size(self) -> int:
        """Size of the parts in bytes."""
        parts = (*self.scripts, *self.styles, self.plotly, *self.islands.values())
        return sum(len(part.encode("utf-8")) for part in parts)

    @property
    def placed(self) -> dict[str, Any]:
        """The parts as the template inserts them, and the policy for them."""
        return {
            "policy": policy([*self.scripts, *([self.run] if self.run else [])]),
            "styles": list(map(Markup, self.styles)),
            "scripts": list(map(Markup, self.scripts)),
            "plotly": Markup(self.plotly),
            "islands": [(name, Markup(data)) for name, data in self.islands.items()],
        }


def _inlined(pictures: Pictures, *, packing: bool) -> Inlined:
    """Gather it; plotly's script is packed, and of many systems the data are."""
    pack, data = (packed, data_text) if packing else (str, island)
    if not pictures.shown:
        styles, scripts = map(_all_static, (OWN_STYLES, OWN_SCRIPTS))
        return Inlined(styles, scripts, "", "", {})
    return Inlined(
        _all_static((*OWN_STYLES, *STYLES)),
        _all_static((*OWN_SCRIPTS, *SCRIPTS)),
        _packed_once(pictures.plotly) if pictures.plotly else "",
        pictures.plotly,
        {"data-map": pack(data(pictures.map)), "data-charts": pack(data(pictures.charts))},
    )


def _about(comparison: Comparison, given: Comparison) -> dict[str, Any]:
    """Gather what the page says of the comparison itself, whose systems were `given` otherwise."""
    document, heading = compare.full(comparison), title(given)
    return {
        "title": heading,
        "tab": said(heading),
        "about": document.title,
        "version": comparison.version,
        "verdict": comparison.verdict,
        "scores": scores_of(document, comparison, given),
        "views": defaultdict(str, views_of_kind(comparison.settings.get("samples"))),
        "places": places(comparison),
        "legend": document.of_kind("interval", "mark", "legend"),
        "warnings": document.warnings,
        "remarks": document.of_kind("note", "detail"),
        "checks": checks(comparison),
        "parts": parts(document, stored=("pairs",) if are_pairs_stored(comparison) else ()),
        "sets": list(set_rows(comparison)),
        "length_head": length_head(sets_of(comparison)),
        "settings": list(settings_of(comparison)),
        "signatures": list(signatures(comparison)),
        "tuning": _tuning(comparison),
    }


def _tuning(comparison: Comparison) -> dict[str, str] | None:
    """Return the figure of a tuning, as an address that holds it, and what it is of."""
    if comparison.varied is None:
        return None
    from calipers.report.plots.fonts import letters_kept
    from calipers.report.plots.parameter import parameter_plot
    from calipers.report.plots.style import figure_bytes

    with letters_kept():
        figure = figure_bytes(parameter_plot(comparison).figure(), ".svg")
    over = " and ".join(map(clean, comparison.varied.names))
    return {
        "source": f"data:image/svg+xml;base64,{base64.b64encode(figure).decode()}",
        "over": over,
    }


def _environment(texts: TextView) -> Environment:
    """Make templates from the files of the package, every value escaped and made visible."""
    environment = escaping_templates("calipers.report.html")
    environment.filters |= {
        "beside": beside,
        "count": count,
        "grouped": grouped,
        "breakable": lambda name: _breakable(visible(str(name))),
        "sentence": lambda text: Markup("").join(_in_direction(worded(str(text)), escape)),
        "cell": lambda text: Markup("").join(_in_direction(str(text), escape)),
        "parted": lambda text: Markup("").join(_in_direction(str(text), _breakable)),
        "files": files,
        "keywords": keywords,
        "meaning": MARKS.get,
        "named": lambda words: Markup("").join(_with_names(in_front(words))),
        "share": lambda value: share(defined(value)),
        "sample": texts.written,
        "samples": texts.all_written,
        "written": written,
        "turned": texts.turn_to,
    }
    environment.tests["scored"] = lambda cell: isinstance(cell, ScoreCell)
    return environment


def _with_names(words: Words) -> Iterator[Any]:
    """Set the names in a sentence apart from the direction in which the sentence is written."""
    for part in words:
        shown = escape(visible(str(part)))
        yield Markup("<bdi>{}</bdi>").format(shown) if isinstance(part, Name) else shown


def _breakable(name: str) -> Markup:
    return Markup("<wbr>").join(map(escape, filter(None, SEPARATED.split(name))))


def _in_direction(text: str, write: Callable[[str], Markup]) -> Iterator[Markup]:
    """Set apart what runs from right to left in a sentence, or in a cell of several names."""
    shown = visible(text)
    if not has_rtl(shown):
        yield write(shown)
        return
    known = peers()
    for piece, apart in pieces(shown, (*known.names, *known.whole)):
        yield Markup("<bdi>{}</bdi>").format(write(piece)) if apart else write(piece)


@lru_cache(maxsize=1)
def _charts_script(path: Path) -> str:
    return needed_parts(_harmless(path.read_text("utf-8")))


@lru_cache(maxsize=1)
def _packed_once(script: str) -> str:
    """Pack a script that all pages have."""
    return packed(script)


def _all_static(names: Sequence[str]) -> list[str]:
    return [_static(name) for name in names]


def _static(name: str) -> str:
    return _harmless(
        resources.files("calipers.report.html").joinpath("static", name).read_text("utf-8")
    )


def _harmless(source: str) -> str:
    """Write line ends as HTML reads them: a hash is of what a browser sees."""
    return source.replace("\r\n", "\n").replace("\r", "\n")
