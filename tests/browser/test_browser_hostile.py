"""Samples, names and words that try to run, to break out or to swell the page: shown as written."""

from __future__ import annotations

import re

import pytest

from calipers.report.render.html import html
from calipers.report.render.markdown import markdown
from calipers.report.scored import summary
from extras import need
from hand_made import comparison_of

pytestmark = pytest.mark.slow

HARM = """() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const links = ["href", "xlink:href", "src", "action", "formaction", "data"];
  const outside = all("*")
    .flatMap((each) => Array.from(each.attributes, (a) => [each, a.name, a.value]))
    .filter(([, name, value]) => name.startsWith("on") || name === "srcdoc" ||
      (links.includes(name) && !value.startsWith("#")));
  return {
    hacked: window.hacked ?? null,
    attributes: outside.map(([each, name, value]) => `${each.tagName} ${name}=${value}`),
    elements: all("iframe, object, embed, link, base, form:not(#pick), img, frame, "
      + "meta[http-equiv=refresh]")
      .map((each) => each.outerHTML.slice(0, 80)),
    scripts: document.scripts.length,
    body: getComputedStyle(document.body).display,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
}"""
# Bare places where a name may be broken follow its signs, and are no elements that do anything.
TAGS = """() => {
  const counts = {};
  for (const { tagName, attributes } of document.querySelectorAll("*")) {
    if (tagName === "WBR" && !attributes.length) continue;
    counts[tagName] = (counts[tagName] || 0) + 1;
  }
  return counts;
}"""
PHONE = {"width": 400, "height": 800}
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\ufffd\ufdd0-\ufdef]"
)


def seen(text):
    """The text as a person sees it: line ends alike, what cannot be shown as one mark."""
    return HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


def harmless(page, scripts):
    """Use the whole page, then say what runs, leads elsewhere or sticks out: nothing may."""
    for details in page.locator("details").all():
        details.evaluate("(each) => { each.open = true; }")
    page.locator("table.scores th[data-direction] button").first.click()
    page.locator("a.value").first.click()
    for tab in page.get_by_role("tab").all():
        tab.click()
    page.get_by_role("searchbox", name="Search").fill("a")
    page.wait_for_function("() => document.querySelector('canvas').dataset.matches !== ''")
    page.locator("canvas").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('canvas').dataset.hover !== ''")
    found = page.evaluate(HARM)
    assert found == {
        "hacked": None,
        "attributes": [],
        "elements": [],
        "scripts": scripts,
        "body": "block",
        "wide": 0,
    }


@pytest.fixture(scope="module")
def scripts(light):
    """How many scripts a page without plotly has of its own."""
    return len(re.findall(r"<script[ >]", light.split("<body>")[1]))


def rows_of(cases):
    """Give each row one case, and each set the same."""
    return lambda name, row: cases[row % len(cases)]


@pytest.mark.parametrize("kind", ["INJECTED", "ODD"])
def test_texts_are_shown_as_they_are_written(window, report, trimmed, hostile, scripts, kind):
    cases = list(getattr(hostile, kind).values())
    page = window.open(trimmed(report(text=rows_of(cases))), viewport=PHONE)
    harmless(page, scripts)
    shown = set(map(seen, page.locator("#tabbed .text").all_text_contents()))
    assert shown <= {seen(case) or "empty" for case in cases}
    assert {seen(case) or "empty" for case in cases} <= shown


@pytest.mark.parametrize("kind", ["INJECTED", "ODD"])
def test_hover_shows_them_as_they_are_written(window, report, trimmed, hostile, kind):
    cases = list(getattr(hostile, kind).values())
    page = window.open(trimmed(report(text=rows_of(cases))))
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    for row, case in enumerate(cases):
        spot = page.evaluate("(row) => document.querySelector('canvas').calipersPoint(2, row)", row)
        page.mouse.move(box["x"] + spot["x"], box["y"] + spot["y"])
        page.wait_for_function(
            "(row) => document.querySelector('canvas').dataset.hover === row", arg=str(row)
        )
        told = page.locator(".picture-tip-text").text_content()
        assert seen(told) == (seen(case) or "(an empty text)")
    assert page.evaluate("window.hacked") is None


def test_nothing_runs_even_without_the_policy(window, report, hostile):
    """The policy is the second net: with it taken away, the first one holds."""
    cases = list(hostile.INJECTED.values())
    several = [cases[place::3] for place in range(3)]
    html = report(
        text=rows_of(cases),
        names=[" ".join(each) for each in several],
        groups=cases[:2],
        words=cases[3:5],
        warnings=cases,
        command=" ".join(cases),
    )
    page = window.open(html, bypass_csp=True)
    for name in ("plane", "curves", "frontiers", "topics"):
        page.locator(f"#{name}").scroll_into_view_if_needed()
        page.wait_for_function(
            "(name) => document.querySelector(`[data-picture=${name}]`).dataset.drawn", arg=name
        )
        page.locator(f"[data-picture={name}] .main-svg").first.hover()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(HARM)["attributes"] == []


PLACES = 4


@pytest.mark.parametrize("place", range(PLACES))
def test_names_groups_words_and_warnings_add_no_element(window, report, trimmed, hostile, place):
    cases = [*hostile.INJECTED.values(), *(case for case in hostile.ODD.values() if case.strip())]
    mine = cases[place::PLACES]
    spoken = {"words": mine[3:5], "warnings": mine[5:7]}
    page = window.open(
        trimmed(report(names=mine[:3], groups=mine[:2], command=mine[0], **spoken)), viewport=PHONE
    )
    tags = page.evaluate(TAGS)
    friendly = trimmed(report(words=["one", "two"], warnings=["three", "four"]))
    assert tags == window.open(friendly, viewport=PHONE).evaluate(TAGS)
    assert page.evaluate(HARM)["wide"] == 0
    assert page.evaluate(HARM)["attributes"] == []
    assert seen(mine[0]) == seen(page.locator("#command").text_content())
    told = [seen(each) for each in page.locator(".warnings li").all_text_contents()]
    words = [seen(each) for each in page.locator("#tabbed .word").all_text_contents()]
    one_line = [re.sub(r"\s", " ", seen(each)) for each in mine]
    assert [each for each in one_line[5:7] if each not in map(flat, told)] == []
    assert [each for each in one_line[3:5] if each not in map(flat, words)] == []


def flat(text):
    return re.sub(r"\s", " ", text)


def test_names_reach_charts_as_they_are_written(window, report):
    """Plotly reads some markup in its labels; a name must not be taken for it."""
    names = ["<b>bold</b> & <i>x</i>", "%{x} ${7*7} {{ 7*7 }}", "a &lt;b&gt; \\ $x^2$"]
    page = window.open(report(names=names, words=["<b>w</b>", "%{y}"]))
    page.locator("#topics").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('[data-picture=topics]').dataset.drawn")
    ticks = page.locator("[data-picture=topics] .ytick").all_text_contents()
    assert all(tick.startswith("<b>w</b>, %{y}") for tick in ticks), ticks
    page.locator("#plane").scroll_into_view_if_needed()
    points = page.locator("[data-picture=plane] .scatterlayer .points path")
    for name in names:
        page.wait_for_function("() => document.querySelector('[data-picture=plane]').dataset.drawn")
        assert hovered(page, points, name)


def hovered(page, points, name):
    """Whether the label of one of the points begins with the name."""
    for point in points.all():
        point.hover(force=True)
        page.wait_for_timeout(120)
        labels = page.locator("[data-picture=plane] .hoverlayer .hovertext").all_text_contents()
        if any(label.startswith(name) for label in labels):
            return True
    return False


def test_huge_texts_neither_swell_nor_stretch_the_page(
    window, report, samples, trimmed, hostile, scripts
):
    cases = list(hostile.HUGE.values())

    def text(name, row):
        return cases[row // 4] if row % 4 == 0 and row < 16 else samples.plain_text(name, row)

    html = report(text=text)
    assert len(html.encode()) < 12e6
    page = window.open(trimmed(html), viewport=PHONE)
    worst = page.locator("#system-3-view-1-worst .failure")
    assert [worst.nth(place).bounding_box()["height"] < 1500 for place in range(4)] == [True] * 4
    assert "of 1,000,000 characters" in worst.first.inner_text()
    harmless(page, scripts)


def test_long_names_stretch_nothing(window, report, trimmed, scripts):
    names = ["n" * 10_000, "two words " * 1000, "\u0301" * 10_000]
    page = window.open(
        trimmed(report(names=names, groups=["g" * 5000, "h " * 2000], words=["w" * 5000])),
        viewport=PHONE,
    )
    harmless(page, scripts)
    assert page.locator(".bar").bounding_box()["height"] < 120


RISING = """(selector) => {
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  let last = null;
  while (walker.nextNode()) if (/[a-z]{5}/.test(walker.currentNode.data)) last = walker.currentNode;
  const start = last.data.search(/[a-z]{5}/);
  return [0, 1, 2, 3].map((step) => {
    const range = document.createRange();
    range.setStart(last, start + step);
    range.setEnd(last, start + step + 1);
    return range.getBoundingClientRect().left;
  });
}"""


@pytest.mark.parametrize("selector", ["#system-3-view-1-worst .facts", "h1", ".verdict .says"])
def test_a_direction_does_not_leak_out_of_a_text(window, report, trimmed, selector):
    """Right-to-left override within a text or a name must not turn the words after it."""
    turned = "\u202eabc\u2067"
    page = window.open(trimmed(report(text=lambda name, row: turned, names=[turned, "b", "c"])))
    places = page.evaluate(RISING, selector)
    assert places == sorted(places)
    assert len(set(places)) == 4


PAGE = "<!doctype html><meta charset=utf-8><title>table</title><body>{}</body>"
FOUND = """() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const names = all("*").flatMap((each) => Array.from(each.attributes, (a) => a.name));
  return {
    hacked: window.hacked ?? null,
    handlers: names.filter((name) => name.startsWith("on")),
    elements: all("script, img, iframe, svg, form, a[href^='javascript']").length,
    rows: all("tbody tr").length,
  };
}"""


def named(data, names):
    """The same comparison, its systems called otherwise."""
    systems = [each | {"name": name} for each, name in zip(data["systems"], names, strict=False)]
    told = [f"beware of {name}" for name in names]
    return data | {"systems": systems, "tests": [], "warnings": told}


def as_markdown(data):
    parser = need("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    return parser.render(
        markdown(summary(comparison_of(data)))
    )  # with raw HTML, as a lenient viewer renders it


def as_notebook(data):
    """Show a comparison as a notebook does."""
    return html(summary(comparison_of(data)))


@pytest.mark.parametrize("written", [as_markdown, as_notebook])
@pytest.mark.parametrize("which", ["INJECTED", "ODD"])
def test_names_stay_text(window, report, hostile, written, which):
    names, data = list(getattr(hostile, which).values()), report.made["comparison"]
    size = len(data["systems"])
    for start in range(0, len(names), size):
        several = named(data, (names[start:] + names)[:size])
        html = written(several).encode("utf-8", "strict").decode()
        page = window.open(PAGE.format(html), ready=False)
        found = page.evaluate(FOUND)
        assert found["rows"] >= size
        assert found | {"rows": 0} == {"hacked": None, "handlers": [], "elements": 0, "rows": 0}
