"""The page: what stands in it, that nothing in it runs, that it is always the same; its parts."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calipers.assets import PLOTLY
from calipers.errors import MissingExtraError
from calipers.explain.model import Sample
from calipers.report import html as pages
from calipers.report.comparison import document as compare
from calipers.report.html.islands import island, policy, visible
from calipers.report.html.lists import ViewLists, keywords, system_lists
from calipers.report.html.page import Pictures
from calipers.report.html.tables import MARKS, checks, parts, scores_of, written
from calipers.report.html.texts import LONGEST, SHORTEST, TextView, _fair, fitting
from calipers.report.html.wording import count, listing
from calipers.report.redacted import file_names, without_texts
from calipers.report.table import FLOOR
from calipers.wording.numbers import defined, share
from calipers.wording.words import named, said
from hand_made import comparison_of, explanation_of, listed_tests

Data = dict[str, Any]


def html_page(data: Data) -> str:
    """Write the page of report data."""
    return pages.html_page(comparison_of(data), redact=data.get("redacted", False))


def lists_of(data: Data, explanations: Data) -> list[ViewLists]:
    """Give what the page lists of the first system that was explained."""
    found = system_lists(comparison_of({"comparison": data, "explanations": explanations}))
    return list(found[0].views)


def redacted(data: Data) -> Data:
    """Give report data without texts and folders."""
    return without_texts(comparison_of(data)).to_dict()


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}{% raw %}{# no #}",
    "\"'><b onclick='alert(1)'>",
    "<!--<script>",
    "]]></style></textarea></title>",
    "nul \x00 bell \x07 line \x0b",
    "\u202eright to left\u2066",
    "lone \ud800 surrogate \udfff",
    "\u2028\u2029\ufffe",
    "a|b\\c$d_e%f`g`",
    "&lt;b&gt; &amp;amp;",
    "javascript:alert(1)",
]


class Reader(HTMLParser):
    """Reads a page back: its elements with their attributes, its texts, what its scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.closed: list[str] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self.text = ""
        self.raw = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside.append((tag, dict(attrs), ""))
            self.raw = True

    def handle_endtag(self, tag: str) -> None:
        self.closed.append(tag)
        self.raw = False

    def handle_data(self, data: str) -> None:
        if self.raw:
            tag, attrs, before = self.inside.pop()
            self.inside.append((tag, attrs, before + data))
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    def island(self, name: str) -> Any:
        return json.loads(_one([d for t, a, d in self.inside if a.get("id") == name]))


def _one(found: list[Any]) -> Any:
    assert len(found) == 1
    return found[0]


def sample(row: int, text: str | None, **more: Any) -> Data:
    return {"row": row, "text": text, **more}


def region(words: list[str], direction: str, share: float, text: Callable[[str], str]) -> Data:
    return {
        "keywords": words,
        "reference": 40,
        "generated": 4,
        "expected": 0.08,
        "produced": 0.008,
        "contribution": share / 10,
        "share": share,
        "direction": direction,
        "uncovered": 7,
        "outside": 2,
        "cells": [1],
        "reference_medoids": [sample(1, text("reference medoid"))],
        "generated_medoids": [sample(2, text("generated medoid"))],
        "uncovered_samples": [sample(3, text("uncovered sample"))],
        "reference_share": 0.08,
        "generated_share": 0.008,
        "ratio": 0.1,
        "interval": [0.04, 0.27],
        "p_value": 1e-7,
        "adjusted_p_value": 2e-7,
        "significant": True,
    }


def explanation(view: str, text: Callable[[str], str]) -> Data:
    worst = [
        sample(9, text("worst"), realism=0.7, first_k=5)
        | {"nearest": [sample(4, text("nearest"), distance=0.5)]}
    ]
    copied = [sample(5, text("copy"), distance=0.1, source=sample(6, text("source")))]
    topics = [
        region(["goal", "cup"], "under", 0.5, text),
        region(["stocks"], "over", 0.25, text),
    ]
    return {
        "view": view,
        "n": 500,
        "m": 500,
        "k": 4,
        "score": 0.1,
        "topics": topics,
        "cells": topics,
        "outside": worst,
        "outside_count": 31,
        "uncovered_count": 62,
        "copies": copied,
        "copies_count": 1,
        "notes": [],
    }


def report(data: Data, text: Callable[[str], str] = str) -> Data:
    """Report data around a comparison, every text made by `text` from what it is."""
    names = [each["name"] for each in data["systems"]]
    views = data["settings"]["views"]
    sets = [("human", "reference"), *((name, "generated") for name in names)]
    place = {"rows": [0, 1], "x": [0.0, 1.0], "y": [0.5, 0.25]}
    mapped = [
        {"name": name, "role": role, **place, "inside": None if role == "reference" else [1, 0]}
        for name, role in sets
    ]
    return {
        "comparison": data,
        "command": "calipers compare -r human.jsonl a.jsonl --html report.html",
        "curves": {name: {"prd": [[0.0, 1.0], [1.0, 0.0]]} for name in names},
        "curve_errors": {},
        "correlations": {},
        "explanations": {name: {v: explanation(v, text) for v in views} for name in names},
        "map": {
            view: {"method": "pca", "explained": [0.1, 0.05], "sets": mapped} for view in views
        },
        "excerpts": [{"name": n, "excerpts": [text("excerpt"), text("other")]} for n, _ in sets],
        "redacted": False,
    }


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave plotly out where it is not looked at; it is 5 MB."""
    monkeypatch.setattr(Pictures, "plotly", property(lambda self: "var Plotly;"))


@pytest.fixture
def full(four_sure: Data) -> Data:
    """A report with everything: four systems, intervals, floors, tests, advice, explanations."""
    return report(four_sure)


def test_the_page_has_every_part(full: Data) -> None:
    page = Reader(html_page(full))
    ids = {attrs["id"] for _, attrs in page.elements if attrs.get("id")}
    parts = {"scores", "plane", "curves", "map", "topics", "samples", "certainty", "run"}
    assert parts | {"signature", "signatures", "command", "floor", "pairs", "advice"} <= ids
    assert "frontiers" not in ids
    pictures = [attrs["data-picture"] for attrs in page.all("div") if "data-picture" in attrs]
    assert pictures == ["plane", "curves", "map", "topics"]
    assert [tag for tag, _ in page.elements if tag == "h1"] == ["h1"]


def test_ids_are_unique_and_links_lead_to_them(full: Data, light: None) -> None:
    page = Reader(html_page(full))
    ids = [attrs["id"] for _, attrs in page.elements if attrs.get("id")]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] or "" for attrs in page.all("a")]
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    spoken = [attrs.get("aria-labelledby") for _, attrs in page.elements]
    assert {each for each in spoken if each} <= set(ids)


def test_headings_go_down_one_level_at_a_time(full: Data, light: None) -> None:
    levels = [
        int(tag[1]) for tag, _ in Reader(html_page(full)).elements if re.match("h[1-6]$", tag)
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_elements_are_closed_in_order(full: Data, light: None) -> None:
    void = {"meta", "br", "img", "input", "col", "hr", "link", "wbr"}
    page = Reader(html_page(full))
    opened = [tag for tag, _ in page.elements if tag not in void]
    assert sorted(opened) == sorted(page.closed)


def test_scores_sort_by_buttons_in_their_heads(full: Data, light: None) -> None:
    page = html_page(full)
    heads = re.findall(r'<th scope="col"[^>]*data-direction="(\w+)"><button', page)
    assert heads == ["name", "higher", "higher", *["higher"] * 8]
    rows = re.findall(r'<tr data-system="(\d)"[^>]*>(.*?)</tr>', page, re.DOTALL)
    order = [place for place, _ in rows]
    assert sorted(order) == ["1", "2", "3", "4"]
    systems = full["comparison"]["systems"]
    closeness = [systems[int(place) - 1]["scores"]["mauve_star"]["value"] for place in order]
    assert closeness == sorted(closeness, reverse=True)
    value = systems[int(order[0]) - 1]["scores"]["recall"]["value"]
    assert f'data-value="{value}"' in rows[0][1]


def test_every_value_leads_to_its_own_signature(full: Data, light: None) -> None:
    scores = full["comparison"]["systems"]
    for row, each in enumerate(scores):
        for key, one in each["scores"].items():
            one["signature"] = f"signature of {row} {key}"
    page = html_page(full)
    links = re.findall(r'class="value" href="#([\w-]+)"', page)
    lines = dict(re.findall(r'<div id="(signature-[\w-]+)">.*?<dd><code>(.*?)</code>', page))
    asked = [
        f"signature of {row} {key}" for row, each in enumerate(scores) for key in each["scores"]
    ]
    assert [lines[link] for link in links] == asked


def test_the_table_says_what_the_terminal_says(full: Data, light: None) -> None:
    page = Reader(html_page(full)).text
    for words in ("noise floor", "2x950", "best in its column", "not distinguishable"):
        assert words in page
    assert "corrected for" in page


def test_explanations_show_texts_beside_each_other(full: Data, light: None) -> None:
    page = html_page(full)
    for text in ("worst", "nearest", "reference medoid", "uncovered sample", "copy", "source"):
        assert page.count(f'dir="auto">{text}</div>') >= 8, text
    assert "31 of 500 generated samples lie outside" in page
    ratio = "(0.10×, 95 % interval 0.04–0.27)"
    assert f"0.8 % of the generated samples, 8 % of the reference {ratio}" in page
    assert "50 % of the gap" in page


def test_an_empty_text_is_told(full: Data, light: None) -> None:
    full["explanations"]["model_a"]["meaning"]["outside"][0]["text"] = ""
    assert '<em class="empty">empty</em>' in html_page(full)


def test_a_huge_text_is_cut_and_its_length_told(full: Data, light: None) -> None:
    full["explanations"]["model_a"]["meaning"]["outside"][0]["text"] = "x" * 1_000_000
    page = html_page(full)
    assert "first 20,000 of 1,000,000 characters" in page
    assert "x" * 20_000 in page
    assert "x" * 20_001 not in page


def test_scripts_match_the_policy(full: Data) -> None:
    text = html_page(full)
    page = Reader(text)
    rules = page.all("meta")[1]["content"] or ""
    assert text.index("Content-Security-Policy") < text.index("<title>")
    run = [d for t, attrs, d in page.inside if t == "script" and attrs.get("type") is None]
    packed = [d for t, attrs, d in page.inside if attrs.get("id") == "plotly-source"]
    source = [zlib.decompress(base64.b64decode(each)).decode() for each in packed]
    hashes = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in run + source
    ]
    allowed = re.search(r"script-src ([^;]*)", rules)
    assert allowed is not None
    assert sorted(allowed[1].split()) == sorted(f"'sha256-{each}'" for each in hashes)
    assert len(source[0]) > 1_000_000
    assert "default-src 'none'" in rules
    assert "connect-src 'none'" in rules
    assert "unsafe-eval" not in rules
    assert "'unsafe-inline'" not in allowed[1]


def test_nothing_is_asked_of_the_network(full: Data, light: None) -> None:
    page = Reader(html_page(full))
    assert not [a for _, a in page.elements if "src" in a or "action" in a or "srcset" in a]
    assert not page.all("link")
    styles = "".join(data for tag, _, data in page.inside if tag == "style")
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_same_data_give_the_same_bytes(full: Data) -> None:
    before = copy.deepcopy(full)
    assert html_page(full) == html_page(copy.deepcopy(full))
    assert full == before


def test_plotly_comes_only_with_charts(make: dict[str, Callable[..., Data]]) -> None:
    data = make["comparison"]([make["system"]("a", {"mauve_star": make["score"](0.9)})])
    bare = {"comparison": data, "command": None, "redacted": False}
    page = html_page(bare)
    assert len(page) < 200_000
    assert 'id="plotly-source"' not in page
    assert "made from Python" in page


def test_a_missing_script_is_named(full: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    without = replace(PLOTLY, name="no_such_folder", package="no_such_package_as_this")
    monkeypatch.setattr("calipers.report.html.page.PLOTLY", without)
    message = r"the HTML report needs files of .* pip install --no-deps 'plotly==7\.1\.0'"
    with pytest.raises(MissingExtraError, match=message):
        html_page(full)


def _shape(page: str) -> list[tuple[str, list[str]]]:
    """Give every element with its attributes, but for what follows from the script of a text.

    That are bare places where a name may be broken, names set apart by their direction, and the
    language of a text.
    """
    elements = [(tag, sorted({*attrs} - {"lang"})) for tag, attrs in Reader(page).elements]
    return [each for each in elements if each not in (("wbr", []), ("bdi", []))]


def _everywhere(data: Data, text: str) -> Data:
    """Put a text into every place of report data that a person can write to, names included."""
    systems = data["comparison"]["systems"]
    names = {each["name"]: f"{row}{text}" for row, each in enumerate(systems)}
    changed = copy.deepcopy(data)
    comparison = changed["comparison"]
    for each in [comparison["reference"], *comparison["systems"]]:
        each["name"] = names.get(each["name"], text)
        each["source"] = text
        each["warnings"] = [text]
        each["content_hash"] = text
        for one in each["scores"].values():
            one["signature"] = text
    comparison["tests"] = listed_tests(comparison)
    for test in comparison["tests"]:
        test["a"], test["b"] = names.get(test["a"], test["a"]), names.get(test["b"], test["b"])
    for advice in comparison.get("advice", ()):
        advice["system"] = names[advice["system"]]
    comparison["warnings"] = [text]
    comparison["settings"] |= {"embedder": text, f"x{text}": text}
    comparison["calipers"] = text
    changed["command"] = text
    for field in ("curves", "explanations"):
        changed[field] = {names[name]: value for name, value in changed[field].items()}
    for one in changed["map"].values():
        one["sets"] = [{**s, "name": names.get(s["name"], text)} for s in one["sets"]]
    for views in changed["explanations"].values():
        for told in views.values():
            told["notes"] = [text]
            for topic in told["topics"]:
                topic["keywords"] = [text for _ in topic["keywords"]]
    return changed


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_anywhere_leave_the_page_as_it_is(
    four_sure: Data, text: str, light: None
) -> None:
    plain = html_page(_everywhere(report(four_sure, lambda what: "harmless"), "harmless"))
    page = html_page(_everywhere(report(four_sure, lambda what: text), text))
    assert _shape(page) == _shape(plain)
    assert not [a for _, a in Reader(page).elements if any(name.startswith("on") for name in a)]
    page.encode("utf-8")
    assert "\x00" not in page
    excerpts = Reader(page).island("data-map")["sets"][0]["excerpts"]
    seen = re.sub("[\x00\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)
    assert excerpts == [seen, seen]


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec=None), min_size=1, max_size=40))
def test_any_text_stays_a_text(light: None, two_systems: Data, text: str) -> None:
    page = html_page(_everywhere(report(two_systems, lambda what: text), text))
    plain = html_page(_everywhere(report(two_systems, lambda what: "harmless"), "harmless"))
    assert _shape(page) == _shape(plain)
    page.encode("utf-8")


def test_a_system_may_be_called_as_the_reference(make: dict[str, Any], light: None) -> None:
    scores = make["both_views"](*[0.5] * 8)
    data = report(
        make["comparison"]([make["system"](name, scores) for name in ("reference", "human")])
    )
    page = html_page(data)
    assert page.count('role="tab') == 0
    assert len(re.findall(r'<section class="system"', page)) == 2


def _secret(what: str) -> str:
    return f"quixotic zeppelins {what.replace(' ', '')} vanquish marmalade"


@pytest.mark.parametrize("emptied", [True, False])
def test_redacted_pages_hold_no_text_and_no_folder(
    four_sure: Data, emptied: bool, light: None
) -> None:
    text = "the juxtaposed obelisk hums"
    language = {"generated_foreign": 0.1, "expected": 0.0, "example": text}
    four_sure["systems"][0]["confounders"] = {"language": language}
    four_sure["systems"][0]["warnings"] = [f"rare words, such as {text!r}: leave them out"]
    four_sure["systems"][0]["source"] = "/home/jane/secret runs/a.jsonl"
    four_sure["systems"][1]["source"] = "runs/private/b.jsonl"
    four_sure["systems"][1]["warnings"] = ["runs/private/b.jsonl: 3 empty texts"]
    four_sure["warnings"] = ["kept in /home/jane/.cache/x.bin", "groups 'Sci/Tech' are few"]
    data = report(four_sure, _secret) | {"redacted": True}
    data["command"] = "calipers compare -r '/home/jane/secret runs/p.jsonl' A=runs/private/a.jsonl"
    if emptied:
        data["explanations"] = json.loads(
            re.sub(r'"text": "[^"]*"', '"text": null', json.dumps(data["explanations"]))
        )
        data["excerpts"] = [{"name": each["name"], "excerpts": None} for each in data["excerpts"]]
    page = html_page(data)
    for word in ("quixotic", "zeppelins", "vanquish", "marmalade", "juxtaposed", "obelisk"):
        assert word not in page
    for folder in ("jane", "secret", "private", "/home"):
        assert folder not in page
    assert "The texts of the samples were left out" in page
    assert "calipers compare -r p.jsonl A=a.jsonl" in page
    assert "generated row 9" in page
    for kept in ("a.jsonl", "b.jsonl: 3 empty texts", "x.bin", "Sci/Tech", "goal", "stocks"):
        assert kept in page
    assert all(each["excerpts"] is None for each in Reader(page).island("data-map")["sets"])


@pytest.mark.parametrize("name", ["a", "name", "key", "view", "system"])
def test_what_is_called_as_a_field_keeps_no_text(
    make: dict[str, Callable[..., Data]], name: str, light: None
) -> None:
    data = report(make["sure"]([name, "other"], views=[name, "form"]), _secret)
    page = html_page(data | {"redacted": True})
    for word in ("quixotic", "zeppelins", "vanquish", "marmalade"):
        assert word in html_page(data)
        assert word not in page


def _large(data: Data, length: int) -> Data:
    """Four systems of 4,000 texts, lists as long as they get."""
    words = "some words of a story that goes on and on, it's what stories do; ".ljust(70, ".")
    long = (words * (length // 70 + 1))[:length]
    made = report(data, lambda what: f"{what}: {long}")
    rows = list(range(4000))
    places = {"rows": rows, "x": [row / 7 % 1 for row in rows], "y": [row / 11 % 1 for row in rows]}
    for view in made["map"].values():
        view["sets"] = [{**s, **places, "inside": s["inside"] and [1] * 4000} for s in view["sets"]]
    for each in made["excerpts"]:
        each["excerpts"] = [f"{row} {long}"[:200] for row in rows]
    for views in made["explanations"].values():
        for told in views.values():
            told["outside"] = told["outside"] * 50
            for worst in told["outside"]:
                worst["nearest"] = worst["nearest"][:1] * 3
            told["copies"] *= 50
            topic = told["topics"]
            told["topics"] = [
                {**one, **{f: one[f] * 3 for f in ("reference_medoids", "uncovered_samples")}}
                for one in topic * 6
            ]
    return made


@pytest.mark.slow
@pytest.mark.parametrize("length", [200, 6000])
def test_a_large_report_is_small(four_sure: Data, length: int) -> None:
    data = _large(four_sure, length)
    page = html_page(data)
    assert len(page.encode("utf-8")) < 12_000_000
    assert ("of 6,007 characters" in page) == (length == 6000)


ANY = st.text(st.characters(codec=None))
REPLACED = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.slow
@given(st.recursive(ANY | st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.lists))
def test_an_island_reads_back_and_cannot_end(data: Any) -> None:
    text = island(data)
    assert not set("<>&\u2028\u2029\x00") & set(text)
    text.encode("utf-8")
    assert json.loads(text) == _replaced(data)


def _replaced(data: Any) -> Any:
    if isinstance(data, list):
        return [_replaced(each) for each in data]
    if not isinstance(data, str):
        return data
    return "".join(REPLACED if c == "\0" or 0xD800 <= ord(c) < 0xE000 else c for c in data)


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert json.loads(island("\\u0000 and \0")) == f"\\u0000 and {REPLACED}"


def test_an_island_takes_no_infinite_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        island({"x": float("inf")})


@given(ANY)
def test_visible_texts_can_be_written(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert len(shown) == len(text)
    assert all(a == b or b == REPLACED for a, b in zip(text, shown, strict=True))


def test_visible_keeps_line_breaks_and_marks() -> None:
    assert visible("a\n\tb\u202e\u05d0") == "a\n\tb\u202e\u05d0"


def test_a_policy_without_scripts_lets_none_run() -> None:
    assert "script-src 'none'" in policy([])


def test_short_texts_leave_their_room_to_long_ones() -> None:
    assert _fair([10, 700, 5000], 2710) == 2000
    assert _fair([10, 20], 1000) == LONGEST
    assert _fair([5000] * 1000, 1000) == SHORTEST
    assert _fair([], 0) == LONGEST


def test_texts_of_cells_take_no_room() -> None:
    long = {"row": 0, "text": "x" * 20_000}
    cells = explanation_of({"cells": [{"reference_medoids": [long] * 2000}]})
    assert fitting([cells]).longest == LONGEST
    outlier = {**long, "realism": 0.5, "first_k": 1, "nearest": []}
    listed = explanation_of({"outside": [outlier] * 2000})
    assert SHORTEST <= fitting([listed]).longest < 6000
    assert fitting([listed], taken=10_000_000).longest < fitting([listed]).longest


@pytest.mark.parametrize(("text", "folded"), [("x" * 421, True), ("x", False), ("\n" * 7, True)])
def test_long_texts_are_folded(text: str, folded: bool) -> None:
    assert TextView().shown(Sample(0, text), "generated").folded is folded


def test_a_cut_text_tells_its_length() -> None:
    shown = TextView(3).shown(Sample(2, "abcde"), "generated")
    assert (shown.text, shown.cut) == ("abc", "first 3 of 5 characters")
    assert TextView(3).shown(Sample(2, "abc"), "generated").cut == ""
    assert TextView(3).shown(Sample(2, None), "generated").text is None


@pytest.mark.parametrize(
    ("command", "bare"),
    [
        ("calipers compare -r a.jsonl", "calipers compare -r a.jsonl"),
        ("calipers -r '/x y/p.jsonl' --html=~/r.html", "calipers -r p.jsonl --html=r.html"),
        (r"calipers -r 'C:\Users\jane\p.jsonl'", "calipers -r p.jsonl"),
        ("calipers M=runs/*/m.jsonl", "calipers 'M=m.jsonl'"),
        ("calipers 'unfinished /home/p.jsonl", "calipers 'unfinished p.jsonl"),
    ],
)
def test_commands_keep_only_file_names(command: str, bare: str) -> None:
    assert file_names(command).replace("'", "") == bare.replace("'", "")


def test_redacting_keeps_names_and_keys(four_sure: Data) -> None:
    four_sure["systems"][0]["name"] = "a/b"
    four_sure["tests"][0]["a"] = "a/b"
    found = redacted(four_sure)
    assert found["systems"][0]["name"] == "a/b"
    assert listed_tests(found)[0]["a"] == "a/b"
    whole = comparison_of(four_sure).to_dict()
    assert found["systems"][1]["scores"] == whole["systems"][1]["scores"]


def test_folders_with_spaces_are_left_out_everywhere(four_sure: Data) -> None:
    folder = "/home/Jane Doe/models/mine"
    command = f"calipers compare -r a.jsonl --embedder '{folder}' --cache-dir 'Jane Doe/cache'"
    four_sure["settings"] |= {"command": command, "embedder": folder}
    four_sure["systems"][0]["scores"]["precision"]["signature"] = f"metric:x|embedder:{folder}|k:5"
    four_sure["warnings"] = [f"{folder} reads 128 tokens"]
    found = redacted(four_sure)
    assert "Jane" not in json.dumps(found)
    assert "Doe" not in json.dumps(found)
    score = found["systems"][0]["scores"]["precision"]
    assert score["signature"] == "metric:x|embedder:mine|k:5"
    assert found["warnings"] == ["mine reads 128 tokens"]


def test_a_setting_that_is_a_bare_slash_takes_nothing_out(four_sure: Data) -> None:
    four_sure["settings"]["prefix"] = "/"
    four_sure["warnings"] = ["1/2 of all"]
    assert redacted(four_sure)["warnings"] == ["1/2 of all"]


def test_phrases_of_scripts_without_spaces_are_no_keywords(four_sure: Data) -> None:
    words = ["我今天去北京看朋友", "北京", "internationalisation"]
    told = {"model_a": {"meaning": {"topics": [{"keywords": words}]}}}
    found = without_texts(comparison_of({"comparison": four_sure, "explanations": told}))
    assert found["model_a"].explained["meaning"].topics[0].keywords == tuple(words[1:])


def test_the_table_marks_and_sorts(two_systems: Data) -> None:
    result = comparison_of(two_systems)
    found = scores_of(compare.full(result), result)
    assert found.table.groups == [("meaning", 4), ("form", 4)]
    first = found.table.scores[0].cells[1]
    assert (first.value, first.mark, MARKS[first.mark], first.number) == (
        ".910",
        "▲",
        "best in its column",
        0.91,
    )
    assert not found.has_floor
    assert [column.head for column in found.table.lead[1:]] == ["n", "words"]
    assert "↑ higher is better" in found.how


def test_a_statistic_of_one_set_sorts_by_its_gap(make: Any) -> None:
    one = make["score"](3.0, better="closest", range=[1.0, None], reference=9.0, gap=6.0)
    data = make["comparison"]([make["system"]("a", {"vendi": one})], views=["meaning"])
    result = comparison_of(data)
    reference, system = scores_of(compare.full(result), result).table.scores[0].cells
    assert system.number == 6.0
    assert reference.value == "9.000"


def test_undefined_scores_have_no_place_in_the_order(make: Any) -> None:
    none = make["score"](None, reason="fewer than 5 samples")
    data = make["comparison"]([make["system"]("a", {"recall": none})], views=["meaning"])
    result = comparison_of(data)
    found = scores_of(compare.full(result), result)
    cell = found.table.scores[0].cells[1]
    assert (cell.value, cell.number) == ("–", None)
    assert list(map(str, found.reasons)) == ["a, Recall by meaning: fewer than 5 samples"]


def test_the_floor_stands_apart_from_scores_of_another_size(four_sure: Data) -> None:
    result = comparison_of(four_sure)
    found = scores_of(compare.full(result), result)
    assert found.has_floor
    assert FLOOR not in found.table.kinds
    (floor,) = [
        table for table, _ in parts(compare.full(comparison_of(four_sure))) if table.id == "floor"
    ]
    sizes = [written(cell) for cell in floor.lead[1].cells]
    assert sizes == ["2x950", *["950"] * 4]


def test_blocks_are_the_tables_of_the_document(four_sure: Data) -> None:
    found = {part.id: tables for part, tables in parts(compare.full(comparison_of(four_sure)))}
    assert list(found) == ["against-reference", "floor", "pairs", "seeds", "advice"]
    pairs = found["pairs"][0].columns
    assert len(pairs[0].cells) == 6
    assert all(written(cell) for cell in pairs[0].cells)
    for table in (table for tables in found.values() for table in tables):
        assert len({len(column.cells) for column in table.columns}) == 1


@pytest.mark.parametrize("name", ["a", "a system with a very long name indeed, longer than any"])
def test_pairs_are_broken_by_view_whatever_the_names(make: Any, name: str) -> None:
    document = compare.full(comparison_of(make["sure"]([name, "b", "c"])))
    (broken,) = [pieces for part, pieces in parts(document) if part.id == "pairs"]
    assert [{str(column.group) for column in each.scores} for each in broken] == [
        {"meaning"},
        {"form"},
    ]
    assert all(each.columns[0].cells == broken[0].columns[0].cells for each in broken)


LENGTHS = {"reference": 37.5, "generated": 39.0, "distance": 0.071, "chance": 0.1}


def test_checks_hold_the_system_against_the_reference(make: Any) -> None:
    found = {
        "lengths": {"words": LENGTHS},
        "truncation": {"reference": 0.02, "generated": 0.0},
        "duplicates": {"reference": 0.0, "generated": 0.004, "size": 10},
        "copies": {"generated": 1.0, "expected": 0.25},
        "prompts": {"reference": None, "generated": 0.5},
        "beginnings": {"generated": 0.006, "expected": 0.0, "words": 6.5},
        "languages": {"generated": {"Thai": 1.0}, "reference": {"Lao": 0.5, "Thai": 0.5}},
        "scripts": {"generated": {"Latin": 0.9, "Greek": 0.1}, "reference": {"Latin": 1.0}},
        "language": None,
        "same": False,
    }
    systems = [
        make["system"]("a", {}, confounders=found),
        make["system"]("b", {}, confounders={"same": True}),
        make["system"]("c", {}, confounders=None),
    ]
    table = {
        check.name: check.cells for check in checks(comparison_of(make["comparison"](systems)))
    }
    alike = "is the reference"
    assert table == {
        "length in words": ("39 against 37.5; distance 0.07, chance up to 0.10", alike, "–"),
        "truncated by the embedder": ("0 % against 2 %", alike, "–"),
        "repeats": ("0.4 % against 0 %", alike, "–"),
        "word-for-word copies": ("100 % against 25 %", alike, "–"),
        "prompts in the texts": ("50 % against –", alike, "–"),
        "common beginnings": ("0.6 % against 0 %, 6.5 words in common", alike, "–"),
        "languages": ("Thai 100 % against Lao 50 %, Thai 50 %", alike, "–"),
        "script": ("Latin 90 %, Greek 10 % against Latin 100 %", alike, "–"),
    }
    assert checks(comparison_of(make["comparison"](systems[1:]))) == []


def test_lists_follow_the_order_of_views_and_systems(make: Any) -> None:
    told = {"view": "form", "n": 10, "m": 20, "outside_count": 5, "topics": [], "outside": []}
    data = make["comparison"]([make["system"](name, {}) for name in ("a", "b")])
    both = {"form": told, "meaning": {**told, "view": "meaning"}}
    made = system_lists(comparison_of({"comparison": data, "explanations": {"b": both}}))
    assert [each.name for each in made] == ["b"]
    assert [view.view for view in made[0].views] == ["meaning", "form"]
    assert made[0].views[0].summary == [
        "5 of 20 generated samples lie outside the reference's support (25 %)",
    ]
    assert count(made[0].views[0].explanation.copies_count) == "–"


def test_topics_are_split_by_what_is_significant(make: Any) -> None:
    base = {"keywords": ["x"], "reference": 1, "generated": 2, "contribution": 0.1}
    base |= {"reference_share": 0.11, "generated_share": 0.0412, "ratio": 0.374}
    base |= {"interval": [0.281, 0.484], "expected": 0.1, "produced": 0.2}
    topics = [
        {**base, "direction": direction, "share": part, "uncovered": left, "significant": sure}
        for direction, part, left, sure in (
            ("under", 0.5, 1, True),
            ("over", 0.25, 4, True),
            ("under", 0.2, 0, False),
            ("even", None, 0, False),
        )
    ]
    told = {"view": "meaning", "n": 3, "m": 3, "topics": topics, "level": 0.95}
    data = make["comparison"]([make["system"]("a", {})])
    (view,) = lists_of(data, {"a": {"meaning": told}})
    under, over, others = (
        [(share(defined(topic.share)), view.bar(topic)) for topic in chosen]
        for chosen in (
            view.explanation.under_represented,
            view.explanation.over_represented,
            view.explanation.not_significant,
        )
    )
    assert under == [("50 %", 100.0)]
    assert over == [("25 %", 50.0)]
    assert others == [("20 %", 40.0), ("–", 0.0)]
    first = view.explanation.under_represented[0]
    assert (share(first.reference_share), share(first.generated_share)) == ("11 %", "4.1 %")
    assert view.ratio(first) == "0.37×, 95 % interval 0.28–0.48"
    assert view.outcome.startswith("1 of 4 topics is significantly under-represented, 1 over")
    assert [topic.uncovered for topic in view.uncovered] == [4, 1]


@pytest.mark.parametrize(
    ("first", "most", "said"),
    [
        (7, 9, "realism 0.80; first inside at k = 7"),
        (10, 9, "realism 0.80; outside at every k up to 9"),
        (10, None, "realism 0.80; first inside at k = 10"),
        (0, 9, "realism 0.80"),
    ],
)
def test_a_sample_that_no_ball_holds_is_not_said_to_lie_in_the_next(
    make: Any, first: int, most: int | None, said: str
) -> None:
    outlier = {"row": 1, "text": "x", "realism": 0.8, "first_k": first, "nearest": []}
    told = {"view": "meaning", "n": 3, "m": 3, "topics": [], "outside": [outlier]}
    data = make["comparison"]([make["system"]("a", {})])
    data = data | {"settings": data["settings"] | {"k_max": most}}
    (view,) = lists_of(data, {"a": {"meaning": told}})
    assert view.measured(view.explanation.outside[0]) == said


def test_shares_are_never_rounded_to_an_end() -> None:
    assert [share(x) for x in (0.0, 1e-4, 0.012, 0.5, 0.9999, 1.0, None)] == [
        *("0 %", "0.01 %", "1.2 %", "50 %", "99.99 %", "100 %", "–"),
    ]
    assert share(1e-7) == "< 0.01 %"
    assert share(1 - 1e-7) == "> 99.99 %"


def test_lists_of_names() -> None:
    assert said(listing([named("a"), named("b\n")])) == "a and b "
    assert listing([]) == ()


def test_long_names_and_words_are_shortened(make: Any) -> None:
    data = make["comparison"]([make["system"]("x" * 999, {"recall": make["score"](0.5)})])
    result = comparison_of(data)
    assert len(scores_of(compare.full(result), result).names[1]) == 40
    topic = {"keywords": ["y" * 999], "direction": "over", "share": 0.5, "significant": True}
    told = {"x" * 999: {"meaning": {"view": "meaning", "topics": [topic]}}}
    made = system_lists(comparison_of({"comparison": data, "explanations": told}))[0]
    assert len(made.name) == 40
    assert len(keywords(made.views[0].explanation.over_represented[0])[0]) == 200
