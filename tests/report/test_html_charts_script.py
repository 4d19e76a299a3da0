"""Plotly's script without what no chart runs: what is asked for stays, in its order."""

from __future__ import annotations

import re

import pytest

from calipers.assets import PLOTLY
from calipers.report.html.charts_script import needed_parts
from calipers.report.html.page import SCRIPT

MODULES = {
    "co": "e.exports={pick:bo().all}",
    "bo": "e.exports={all:1}",
    "ba": 'e.exports={name:"bar",plot:dr}',
    "dr": "e.exports=bo()",
    "in": "e.exports=ba()",
    "ge": 'e.exports={name:"scattergeo",plot:gl}',
    "gl": "e.exports='globe'",
    "ig": "e.exports=ge()",
}
"""A core, the kind that is drawn, and another one, each behind a module that names it."""


def script(kinds: str = "in(),ig()", calls: str = "dr()") -> str:
    """A script that is built as plotly's is."""
    bodies = MODULES | {"ba": MODULES["ba"].replace("dr", calls)}
    modules = "".join(f";var {name}=W((t,e)=>{{{body}}})" for name, body in bodies.items())
    last = f";var la=W((t,e)=>{{var r=co();r.register([{kinds}]);e.exports=r}});return la();"
    helper = "var W=(e,t)=>()=>(t||e((t={exports:{}}).exports,t),t.exports)"
    return f'"use strict";{helper}{modules}{last}'


def defined(text: str) -> list[str]:
    return re.findall(r"var (\w\w)=W", text)


def test_what_no_chart_asks_for_is_left_out() -> None:
    made = needed_parts(script())
    assert defined(made) == ["co", "bo", "ba", "dr", "in", "la"]
    assert ".register([in()])" in made
    assert "globe" not in made


def test_what_is_called_anywhere_stays() -> None:
    assert "globe" in needed_parts(script(calls="x?gl():dr()"))


@pytest.mark.parametrize(
    "otherwise",
    [
        "window.Plotly = {};",
        script().replace(".register(", ".enter("),
        script().replace('name:"bar"', 'name:"column"'),
        script(kinds="ig()"),
    ],
)
def test_a_script_built_otherwise_stays_whole(otherwise: str) -> None:
    assert needed_parts(otherwise) == otherwise


def test_the_published_script_is_a_quarter() -> None:
    whole = (PLOTLY.require("the test") / SCRIPT).read_text("utf-8")
    made = needed_parts(whole)
    assert len(made) < len(whole) / 4
    assert all(part in made for part in ('name:"bar"', 'name:"scatter"', "license"))
    assert 'name:"scattergeo"' in whole
    assert 'name:"scattergeo"' not in made
