"""The list of metrics by family, and the page of one metric, as text."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import typer

from calipers.catalogue.describing import (
    describe_either,
    is_likelihood_name,
    is_text_name,
    questions,
    stands_for_many,
    stands_for_many_texts,
)
from calipers.catalogue.keys import TEXT
from calipers.catalogue.likelihoods import LIKELIHOOD
from calipers.catalogue.shown import UNRANKED
from calipers.catalogue.texts import TEXT_METRICS
from calipers.wording.names import is_unranked, label, text_label

Data = Mapping[str, Any]

WIDEST = 110
NARROWEST = 40
MARK = "•"
FIELD = 14

FOOT = """\
• computed by default; ↑ higher is better, ↓ lower is better
Choose metrics, families or all: --metrics precision,frontier
One metric and its options: calipers metrics mauve"""

TEXT_FOOT = """\
• computed by default, if the reference or training set that it needs is given
↑ higher is better, ↓ lower is better; of the others, the closest to the reference's own value
Choose metrics, families or all: calipers text --metrics self_bleu,copies
One metric and its options: calipers metrics self_bleu"""

LIKELIHOOD_FOOT = """\
• computed by default; those of decoder with --decoding, of models with --reference and --generator
↑ higher is better, ↓ lower is better; of the others, the closest to the reference's own value
Choose metrics, families or all: calipers likelihood --model MODEL --metrics perplexity
One metric and its options: calipers metrics perplexity"""

ALONE = "A name that a family and a metric share means the metric if a colon follows"


def text_of(names: Sequence[str], width: int) -> str:
    """List the metrics of families, and write a page for each metric that is named."""
    parts, feet, shared = [], dict[str, None](), dict[str, None]()
    for name in names or ["all", TEXT, LIKELIHOOD]:
        scored = is_likelihood_name(name)
        textual = scored or is_text_name(name)
        data = describe_either(name)
        many = stands_for_many_texts(name) if textual else stands_for_many(name)
        foot = LIKELIHOOD_FOOT if scored else TEXT_FOOT if textual else FOOT
        feet |= {foot: None} if many else {}
        shared |= {f"{metric['key']}:": None for metric in data if many and _is_shared(metric)}
        parts.append(list_text(data, questions(), width) if many else page_text(data[0], width))
    alone = f"\n{ALONE}: {', '.join(shared)}" if shared else ""
    last = FOOT if FOOT in feet else next(iter(feet), "")
    return "\n\n".join([*parts, *([_filled(last + alone, width)] if last else [])])


def list_text(data: Sequence[Data], questions: Mapping[str, str], width: int) -> str:
    """List metrics under the questions that their families answer."""
    width = max(NARROWEST, min(width, WIDEST))
    name = max(len(metric["key"]) for metric in data) + 2
    span = max(len(_bounds(metric)) for metric in data) + 4
    parts = []
    for family, members in groupby(data, key=lambda metric: metric["family"]):
        rows = list(members)
        heading = textwrap.fill(f"{family}: {questions[family]}", width)
        lines = [_row(metric, name, span, width) for metric in rows]
        parts.append("\n".join([_bold(heading), *lines]))
    return "\n\n".join(parts)


def page_text(data: Data, width: int) -> str:
    """Write the page of one metric."""
    width = max(NARROWEST, min(width, WIDEST))
    base = data["key"].partition(":")[0]
    head = f"{_bold(data['key'])}  in tables: {_label(data)}"
    fields = [
        ("Measures", data["tells"]),
        ("Range", _range_words(data, base)),
        ("Computed", _measured(data, base)),
        *([("Measured", data["measured"])] if _is_textual(data) else []),
        *([("By name", f"{ALONE}: {base}:")] if _is_shared(data) else []),
        *_options(data),
        *([("Needs", f"pip install '{data['needs']}'{_when(data)}")] if data["needs"] else []),
        ("Source", data["source"]),
        ("Not detected", data["blind"]),
        *([("Of texts", namesake)] if (namesake := _namesake(data, base)) else []),
    ]
    return "\n".join([head, *(_field(name, text, width) for name, text in fields)])


def _row(metric: Data, name: int, span: int, width: int) -> str:
    mark = MARK if metric["default"] else " "
    lead = f"{mark} {metric['key']:<{name}}{_arrow(metric)} {_bounds(metric):<{span - 2}}"
    text = metric["tells"] + (
        f"; needs {metric['needs']}{_when(metric)}" if metric["needs"] else ""
    )
    if len(lead) + 20 > width:
        if len(lead.rstrip()) > width:
            lead = f"{mark} {metric['key']} {_arrow(metric)} {_bounds(metric)}"
        return f"{lead.rstrip()}\n" + textwrap.indent(textwrap.fill(text, width - 4), "    ")
    lines = textwrap.wrap(text, width - len(lead), break_on_hyphens=False)
    return "\n".join([lead + lines[0], *(" " * len(lead) + line for line in lines[1:])])


def _when(metric: Data) -> str:
    return " for sets of different sizes" if metric["needs_if_unequal"] else ""


def _label(data: Data) -> str:
    return text_label(data["key"]) if _is_textual(data) else label(data["key"])


def _is_textual(data: Data) -> bool:
    """Whether it is a metric of texts."""
    return "measured" in data


def _arrow(metric: Data) -> str:
    if metric["better"] == "closest" or _is_unranked(metric):
        return " "
    return "↓" if metric["better"] == "lower" else "↑"


def _bounds(metric: Data) -> str:
    low, high = metric["range"]
    if low is None:
        return "any"
    return f"from {low:g}" if high is None else f"{low:g} to {high:.3g}"


def _range_words(data: Data, base: str) -> str:
    span = {"any": "any number"}.get(_bounds(data), _bounds(data))
    side = "neither end is good" if _is_unranked(data) else f"{data['better']} is better"
    if data["better"] == "closest":
        side = "closest to the reference's own value is best"
    equal = data["equal"]
    same = (
        ""
        if equal is None
        else f"; a set compared with itself scores {equal:g}"
        if (equal != "inf")
        else "; a set compared with itself scores without bound"
    )
    return f"{span}; {side}{same}"


def _measured(data: Data, base: str) -> str:
    colon = ":" if _is_shared(data) else ""
    asked = f"--metrics {data['key']}{colon}"
    if is_likelihood_name(data["key"]):
        asked = f"calipers likelihood --model MODEL {asked}"
    elif _is_textual(data):
        asked = f"calipers text {asked}"
    if data["default"]:
        return f"by default; only this metric with {asked}"
    if data.get("slow"):
        return f"only by its own name, because it is slow: {asked}"
    others = "" if data["key"] != base else f", {data['family']} or all"
    return f"with {asked}{others}"


def _namesake(data: Data, base: str) -> str:
    """The key of the metric on texts that has the same name; empty where there is none."""
    return "" if _is_textual(data) or base not in TEXT_METRICS else f"{TEXT}.{base}"


def _is_unranked(data: Data) -> bool:
    if _is_textual(data):
        return data["better"] != "closest" and is_unranked(data["key"])
    return data["key"].partition(":")[0] in UNRANKED


def _is_shared(data: Data) -> bool:
    """Whether a metric has the name of its family, which then means the family."""
    return bool(data["key"] == data["family"])


def _options(data: Data) -> list[tuple[str, str]]:
    if _is_textual(data):
        heads = ["Options", *[""] * len(data["options"])]
        return [
            (head, _choice(data, name)) for head, name in zip(heads, data["options"], strict=False)
        ]
    options = [(axis.capitalize(), _words(words)) for axis, words in data["options"].items()]
    constants = [f"{c:g} for {name}" for name, c in (data["c"] or {}).items()]
    shown = constants if "estimator" in data["options"] else constants[:1]
    return [*options, *([("Scaling c", f"{', '.join(shown)}; or --c")] if shown else [])]


def _words(words: Sequence[str]) -> str:
    weighted = "; a weight lies in (0, 1)" if any("=" in word for word in words) else ""
    return f"{words[0]} (default), {', '.join(words[1:])}{weighted}"


def _choice(data: Data, name: str) -> str:
    """What an option of a text metric changes, and how it is written."""
    words, tells = data["options"][name], data["chooses"][name]
    if len(words) == 1 and isinstance(words[0], str):
        return f"{words[0]} - {tells}"
    if isinstance(words[0], str):
        return f"{words[0]} (default), {', '.join(words[1:])} - {tells}"
    return f"{name}=NUMBER (default {words[0]:g}) - {tells}"


def _field(name: str, text: str, width: int) -> str:
    lines = textwrap.wrap(text, width - FIELD - 2, break_on_hyphens=False)
    first = f"  {name:<{FIELD}}{lines[0]}"
    return "\n".join([first, *(" " * (FIELD + 2) + line for line in lines[1:])])


def _filled(text: str, width: int) -> str:
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def _bold(text: str) -> str:
    return typer.style(text, bold=True) if sys.stdout.isatty() else text
