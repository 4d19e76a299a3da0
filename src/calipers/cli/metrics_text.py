"""The catalogue as data ──► a list by family, or the page of one metric."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import typer

from calipers.report.names import UNRANKED, label

Data = Mapping[str, Any]

WIDEST = 110
NARROWEST = 40
MARK = "•"
FIELD = 14

FOOT = """\
• measured unless others are asked for; ↑ higher is better, ↓ lower is better
Ask for metrics, families or all: --metrics precision,frontier
One of them, with the options that it takes: calipers metrics mauve"""

ALONE = "The metric of the family's name alone"


def text_of(names: Sequence[str], width: int) -> str:
    """List what families stand for, and write a page for each metric that is named."""
    from calipers.metrics.described import describe_all, questions, stands_for_many

    parts, listed, shared = [], False, dict[str, None]()
    for name in names or ["all"]:
        data = describe_all([name])
        many = stands_for_many(name)
        listed = listed or many
        shared |= {f"{each['key']}:": None for each in data if many and _is_shared(each)}
        parts.append(list_text(data, questions(), width) if many else page_text(data[0], width))
    alone = f"\n{ALONE}: {', '.join(shared)}" if shared else ""
    return "\n\n".join([*parts, *([_filled(FOOT + alone, width)] if listed else [])])


def list_text(data: Sequence[Data], questions: Mapping[str, str], width: int) -> str:
    """List metrics under the questions that their families answer."""
    width = max(NARROWEST, min(width, WIDEST))
    name = max(len(each["key"]) for each in data) + 2
    span = max(len(_bounds(each)) for each in data) + 4
    parts = []
    for family, members in groupby(data, key=lambda each: each["family"]):
        rows = list(members)
        heading = textwrap.fill(f"{family}: {questions[family]}", width)
        lines = [_row(each, name, span, width) for each in rows]
        parts.append("\n".join([_bold(heading), *lines]))
    return "\n\n".join(parts)


def page_text(data: Data, width: int) -> str:
    """Write all that is known of one metric."""
    width = max(NARROWEST, min(width, WIDEST))
    base = data["key"].partition(":")[0]
    head = f"{_bold(data['key'])}  in tables: {label(data['key'])}"
    fields = [
        ("Tells", data["tells"]),
        ("Range", _range_words(data, base)),
        ("Measured", _measured(data, base)),
        *([("By name", f"{ALONE}: {base}:")] if _is_shared(data) else []),
        *_options(data),
        *([("Needs", f"pip install '{data['needs']}'{_when(data)}")] if data["needs"] else []),
        ("Source", data["source"]),
        ("Not detected", data["blind"]),
    ]
    return "\n".join([head, *(_field(name, text, width) for name, text in fields)])


def _row(each: Data, name: int, span: int, width: int) -> str:
    mark = MARK if each["default"] else " "
    lead = f"{mark} {each['key']:<{name}}{_arrow(each)} {_bounds(each):<{span - 2}}"
    text = each["tells"] + (f"; needs {each['needs']}{_when(each)}" if each["needs"] else "")
    if len(lead) + 20 > width:
        return f"{lead.rstrip()}\n" + textwrap.indent(textwrap.fill(text, width - 4), "    ")
    lines = textwrap.wrap(text, width - len(lead), break_on_hyphens=False)
    return "\n".join([lead + lines[0], *(" " * len(lead) + line for line in lines[1:])])


def _when(each: Data) -> str:
    return " for sets of different size" if each["needs_if_unequal"] else ""


def _arrow(each: Data) -> str:
    if each["key"].partition(":")[0] in UNRANKED:
        return " "
    return "↓" if each["better"] == "lower" else "↑"


def _bounds(each: Data) -> str:
    low, high = each["range"]
    if low is None:
        return "any"
    return f"from {low:g}" if high is None else f"{low:g} to {high:.3g}"


def _range_words(data: Data, base: str) -> str:
    span = {"any": "any number"}.get(_bounds(data), _bounds(data))
    side = "neither end is good" if base in UNRANKED else f"{data['better']} is better"
    equal = data["equal"]
    same = (
        ""
        if equal is None
        else f"; a set against itself scores {equal:g}"
        if (equal != "inf")
        else "; a set against itself scores without bound"
    )
    return f"{span}; {side}{same}"


def _measured(data: Data, base: str) -> str:
    colon = ":" if _is_shared(data) else ""
    asked = f"--metrics {data['key']}{colon}"
    if data["default"]:
        return f"by default; alone by {asked}"
    others = "" if data["key"] != base else f", {data['family']} or all"
    return f"when asked for: {asked}{others}"


def _is_shared(data: Data) -> bool:
    """Whether a metric has the name of its family, which then means the family."""
    return bool(data["key"] == data["family"])


def _options(data: Data) -> list[tuple[str, str]]:
    options = [(axis.capitalize(), _words(words)) for axis, words in data["options"].items()]
    constants = [f"{c:g} for {name}" for name, c in (data["c"] or {}).items()]
    shown = constants if "estimator" in data["options"] else constants[:1]
    return [*options, *([("Scaling c", f"{', '.join(shown)}; or as --c says")] if shown else [])]


def _words(words: Sequence[str]) -> str:
    weighted = "; a weight lies in (0, 1)" if any("=" in word for word in words) else ""
    return f"{words[0]} (usual), {', '.join(words[1:])}{weighted}"


def _field(name: str, text: str, width: int) -> str:
    lines = textwrap.wrap(text, width - FIELD - 2, break_on_hyphens=False)
    first = f"  {name:<{FIELD}}{lines[0]}"
    return "\n".join([first, *(" " * (FIELD + 2) + line for line in lines[1:])])


def _filled(text: str, width: int) -> str:
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def _bold(text: str) -> str:
    return typer.style(text, bold=True) if sys.stdout.isatty() else text
