"""The report opens quietly, and is read in the dark, on a phone, by keyboard, by link."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from hand_made import listed_tests

pytestmark = pytest.mark.slow

PICTURES = ("plane", "curves", "frontiers", "map", "topics")
FURTHEST_FIRST = ["model_c", "model_a", "model_b"]
PLACES = (3, 1, 2)
"""Of these systems in the run."""
ELEMENTS = """() => ({
  scripts: document.scripts.length,
  headings: document.querySelectorAll("h1").length,
  remote: ["src", "href", "action", "data", "srcset"].flatMap((name) =>
    Array.from(document.querySelectorAll(`[${name}]`), (each) => each.getAttribute(name)))
    .filter((value) => !value.startsWith("#") && !value.startsWith("data:")),
})"""


def draw_all(page):
    """Scroll to every picture, and wait until it is drawn."""
    for name in PICTURES:
        page.locator(f"#{name}").scroll_into_view_if_needed()
        page.wait_for_function(
            """(name) => {
              const host = document.querySelector(`[data-picture="${name}"]`);
              return host.dataset.drawn || host.querySelector("canvas[data-ready='true']");
            }""",
            arg=name,
        )


def test_every_picture_is_drawn_in_silence(window, plain):
    page = window.open(plain)
    draw_all(page)
    for name in ("plane", "curves", "frontiers", "topics"):
        assert page.locator(f"[data-picture={name}] .main-svg").count() > 0
    assert window.heard.everything() == []


def test_it_holds_no_address_but_its_own_parts(window, light):
    found = window.open(light).evaluate(ELEMENTS)
    assert found["remote"] == []
    assert found["headings"] == 1


def test_every_link_leads_somewhere(window, light):
    page = window.open(light)
    dead = page.evaluate(
        """() => Array.from(document.querySelectorAll("a[href^='#']"))
          .map((link) => link.hash)
          .filter((hash) => !document.getElementById(hash.slice(1)))"""
    )
    assert dead == []


def test_no_two_elements_share_an_id(window, plain):
    page = window.open(plain)
    draw_all(page)
    ids = page.evaluate("() => Array.from(document.querySelectorAll('[id]'), (each) => each.id)")
    assert sorted(ids) == sorted(set(ids))


def test_the_policy_stops_a_script_that_is_not_the_pages_own(window, light):
    hole = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    assert light.count("</main>") == 1
    page = window.open(light.replace("</main>", hole + "</main>"))
    page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    refused = window.heard.console
    assert any("inline script" in line for line in refused), refused
    assert any("event handler" in line for line in refused), refused
    assert any("img-src" in line for line in refused), refused
    window.heard.console.clear()
    window.heard.requests.clear()


def test_the_policy_stops_requests(window, light):
    page = window.open(light)
    stopped = page.evaluate(
        """async () => {
          try { await fetch("https://example.org/"); } catch { return true; }
          return false;
        }"""
    )
    assert stopped is True
    assert all("Content Security Policy" in line for line in window.heard.console)
    window.heard.console.clear()
    assert "unsafe-eval" not in light.partition("</head>")[0]
    assert "http" not in page.locator("meta[http-equiv]").get_attribute("content")


def test_without_the_script_of_the_charts_the_rest_works(window, light):
    page = window.open(light)
    page.locator("#plane").scroll_into_view_if_needed()
    assert "cannot be drawn" in page.locator("[data-picture=plane]").inner_text()
    assert int(page.locator("canvas").get_attribute("data-points")) == 240
    page.locator("th[data-direction] button").first.click()
    assert page.locator("th[aria-sort]").count() == 1


def test_without_any_script_the_numbers_and_texts_stand(window, light):
    page = window.open(light, ready=False, java_script_enabled=False)
    assert page.locator("h1").inner_text() == "model_a, model_b and model_c against reference"
    assert page.locator("table.scores tbody tr").count() == 4
    assert page.locator(".failure .text").first.is_visible()
    assert page.get_by_role("tab").count() == 0


PHONE = {"width": 400, "height": 800}
# Relative luminances by WCAG 2.1, and the least ratio of text to what lies behind it.
CONTRASTS = """() => {
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return Array.from(pixel.getImageData(0, 0, 1, 1).data);
  };
  const light = (colour) => rgba(colour).slice(0, 3)
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (rgba(colour)[3] === 255) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim()) continue;
    if (element.closest("svg, script, style, noscript")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(style.color), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found[`${element.tagName}.${element.className} ${style.color}`] = ratio;
  }
  return found;
}"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"
WIDE = """() => Array.from(document.body.querySelectorAll("*")).filter((each) => {
  const box = each.getBoundingClientRect();
  return box.width && box.right > document.documentElement.clientWidth + 1 &&
    !each.closest(".scroll, nav, svg, .hidden") && getComputedStyle(each).clipPath === "none";
}).map((each) => `${each.tagName}#${each.id}.${each.className}`).slice(0, 5)"""


def overflow(page):
    """How many pixels the document can be scrolled sideways, and what sticks out."""
    return page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    ), page.evaluate(WIDE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_wish_for_dark_is_heeded_and_all_words_stand_out(window, light, scheme):
    page = window.open(light, color_scheme=scheme)
    red = int(page.evaluate(BACKGROUND).partition("(")[2].partition(",")[0])
    assert (red < 60) == (scheme == "dark")
    assert page.evaluate(CONTRASTS) == {}


def test_the_button_changes_the_colours_and_the_pictures_follow(window, plain):
    page = window.open(plain, color_scheme="light")
    page.locator("#plane").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('[data-picture=plane]').dataset.drawn")
    title = "() => getComputedStyle(document.querySelector('[data-picture=plane] .xtitle')).fill"
    before = page.evaluate(BACKGROUND), page.evaluate(title)
    button = page.get_by_role("button", name="Dark")
    button.click()
    after = page.evaluate(BACKGROUND), page.evaluate(title)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert page.evaluate(CONTRASTS) == {}
    page.get_by_role("button", name="Light").click()
    assert (page.evaluate(BACKGROUND), page.evaluate(title)) == before


@pytest.mark.parametrize("width", [320, 400])
def test_a_phone_needs_no_scrolling_sideways(window, plain, width):
    page = window.open(plain, viewport={"width": width, "height": 800}, has_touch=True)
    for details in page.locator("details").all():
        details.evaluate("(each) => { each.open = true; }")
    for name in ("plane", "map", "topics"):
        page.locator(f"#{name}").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('[data-picture=topics]').dataset.drawn")
    assert overflow(page) == (0, [])


LONG_NAMES = (
    "gpt-neox-20b_ancestral",
    "gpt2-xl_nucleus_p0.95_temperature1.0_seed0",
    "Llama-3.1-8B-Instruct/checkpoint-12000",
    "human_held_out",
    "forty_samples_repeated",
    "shuffled_words_of_the_reference",
)
# Edges of the cells, and of all words in them but those for screen readers.
CELLS = """() => Array.from(document.querySelectorAll(".scores tbody tr"), (row) =>
  Array.from(row.children).filter((cell) => cell.checkVisibility()).map((cell) => {
    const box = cell.getBoundingClientRect();
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const seen = [];
    while (walker.nextNode()) {
      const node = walker.currentNode, range = document.createRange();
      if (!node.data.trim() || node.parentElement.closest(".hidden")) continue;
      range.selectNodeContents(node);
      seen.push(range.getBoundingClientRect());
    }
    const [begins, ends] = [seen.map((each) => each.left), seen.map((each) => each.right)];
    return [box.left, box.right, Math.min(box.right, ...begins), Math.max(box.left, ...ends)];
  }))"""
CLIPPED = """() => Array.from(document.body.querySelectorAll("*")).filter((each) => {
  const style = getComputedStyle(each);
  return each.checkVisibility() && !each.closest("svg") && style.overflowX !== "visible" &&
    style.clipPath === "none" && each.scrollWidth > each.clientWidth + 1;
}).map((each) => `${each.className} ${each.ariaLabel}: ${each.scrollWidth} in ${each.clientWidth}`)
"""


@pytest.fixture(scope="session")
def six(report, samples):
    """Six systems with long names, of the three that were compared."""
    return renamed(report, samples, LONG_NAMES)


def renamed(report, samples, names):
    """The page of so many systems, made of the three that were compared."""
    data = samples.report_data(report.made)
    comparison = data["comparison"]
    kept = list(comparison["systems"])
    comparison["systems"] = [{**kept[place % 3], "name": name} for place, name in enumerate(names)]
    first = [
        test for test in listed_tests(comparison) if {test["a"], test["b"]} == {*samples.NAMES[:2]}
    ]
    comparison["tests"] = [
        {**test, "a": a, "b": b} for a, b in combinations(names, 2) for test in first
    ]
    for part in ("curves", "curve_errors", "correlations", "explanations"):
        data[part] = {name: data[part][kept[place % 3]["name"]] for place, name in enumerate(names)}
    data["map"] = {view: samples.map_of(view, names) for view in samples.VIEWS}
    reference, *others = data["excerpts"]
    data["excerpts"] = [reference, *(others[place % 3] for place in range(len(names)))]
    return report.render(data)


def test_six_systems_are_uncut_on_a_laptop(window, six):
    page = window.open(six, viewport={"width": 1280, "height": 900})
    for details in page.locator("details").all():
        details.evaluate("(each) => { each.open = true; }")
    draw_all(page)
    assert page.locator("#pairs tbody tr").count() == 2 * 15  # a table for each view
    assert overflow(page) == (0, [])
    assert page.evaluate(CLIPPED) == []
    rows = page.evaluate(CELLS)
    assert [len(row) for row in rows] == [len(rows[0])] * 7
    for left, right, begins, ends in (cell for row in rows for cell in row):
        assert 0 <= left <= begins
        assert ends <= right <= 1280


def test_on_a_phone_precision_and_recall_of_six_systems_are_in_sight(window, six):
    page = window.open(six, viewport=PHONE, has_touch=True)
    draw_all(page)
    assert overflow(page) == (0, [])
    heads = page.locator(".scores thead tr:last-child th:not(.lead)").all_inner_texts()
    assert [head.strip("↑ ") for head in heads[:3]] == ["system", "Precision", "Recall"]
    for row in page.evaluate(CELLS):
        for _, right, begins, ends in row[:3]:
            assert begins >= 0
            assert ends <= right <= PHONE["width"]


def test_on_a_phone_a_tap_shows_a_sample(window, light, samples):
    page = window.open(light, viewport=PHONE, has_touch=True)
    canvas = page.locator("canvas")
    canvas.scroll_into_view_if_needed()
    spot, box = page.evaluate("() => document.querySelector('canvas').calipersPoint(1, 3)"), canvas
    box = canvas.bounding_box()
    page.touchscreen.tap(box["x"] + spot["x"], box["y"] + spot["y"])
    page.locator(".picture-tip").wait_for()
    tip = page.locator(".picture-tip")
    assert samples.plain_text("model_a", 3) in tip.inner_text()
    edges = tip.bounding_box()
    assert edges["x"] >= 0
    assert edges["x"] + edges["width"] <= PHONE["width"]


def test_tab_reaches_everything_and_shows_where_it_is(window, light):
    page = window.open(light)
    wanted = page.evaluate(
        """() => {
          const all = Array.from(document.querySelectorAll(
            "a[href], button, input, select, summary, [tabindex='0']"));
          const shown = all.filter((each) => each.checkVisibility() && each.tabIndex >= 0);
          shown.forEach((each, place) => { each.dataset.place = place; });
          return shown.length;
        }"""
    )
    seen, unmarked = set(), []
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        place, name, outline = page.evaluate(
            """() => {
              const here = document.activeElement;
              const style = getComputedStyle(here);
              const marked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
              return [here.dataset.place, here.outerHTML.slice(0, 80), marked];
            }"""
        )
        seen.add(place)
        if not outline and place is not None:
            unmarked.append(name)
    assert len(seen - {None}) == wanted
    assert unmarked == []


def test_systems_are_tabs_for_the_arrow_keys(window, light):
    page = window.open(light)
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == FURTHEST_FIRST
    tabs.first.focus()
    for key, chosen in (("ArrowRight", 1), ("End", 2), ("ArrowRight", 0), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        selected = [tab.get_attribute("aria-selected") for tab in tabs.all()]
        assert selected == [str(place == chosen).lower() for place in range(3)]
        shown = [page.locator(f"#system-{place}").is_visible() for place in PLACES]
        assert shown == [place == chosen for place in range(3)]


def test_the_view_of_the_lists_can_be_chosen(window, light):
    page = window.open(light)
    assert page.locator("#system-3-view-1").is_visible()
    page.locator("#tabbed .segments").get_by_role("button", name="form").press("Enter")
    assert page.locator("#system-3-view-1").is_hidden()
    assert page.locator("#system-3-view-2").is_visible()


def test_a_list_shows_samples_beside_their_neighbours(window, light, samples):
    page = window.open(light)
    first = page.locator("#system-1-view-1-worst .failure").first
    assert first.locator(".self .text").inner_text() == samples.plain_text("model_a", 0)
    assert first.locator(".beside .text").all_inner_texts() == [
        samples.plain_text("reference", row) for row in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "target", ["system-2-view-1-over", "system-3-view-2-worst", "signature-2-3", "pairs"]
)
def test_a_link_opens_what_it_points_to(window, light, target):
    page = window.open(light, fragment=f"#{target}")
    page.locator(f"#{target}").wait_for()
    page.wait_for_function(
        """(id) => {
          const top = document.getElementById(id).getBoundingClientRect().top;
          return top > -1 && top < window.innerHeight;
        }""",
        arg=target,
    )


def test_the_button_copies_the_command(window, light, samples):
    page = window.open(light)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == samples.COMMAND


def test_the_command_is_copied_where_a_file_has_no_clipboard(window, light, samples):
    page = window.open(light)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.evaluate(
        "() => document.addEventListener('copy', () => { window.kept = String(getSelection()); })"
    )
    page.get_by_role("button", name="Copy the command").click()
    page.wait_for_function("() => window.kept !== undefined")
    assert page.evaluate("window.kept") == samples.COMMAND


def test_without_a_command_there_is_no_button_to_copy_it(window, report, trimmed):
    page = window.open(trimmed(report(command=None)))
    assert page.get_by_role("button", name="Copy the command").count() == 0
    assert "made from Python" in page.locator("#run").inner_text()


def test_a_redacted_page_holds_no_text(window, report, samples, trimmed):
    """Even data that says it is redacted and still holds texts gives a page without them."""
    careless = {**samples.report_data(report.made), "redacted": True}
    for html in (report(redacted=True), report.render(careless)):
        for name in samples.MIXTURES:
            assert not any(f"{name}-row-{row}" in html for row in range(samples.N))
        page = window.open(trimmed(html))
        assert "Redacted." in page.locator("main").inner_text()
        assert page.get_by_role("searchbox").count() == 0
        island = json.loads(page.locator("#data-map").text_content())
        assert {one["excerpts"] for one in island["sets"]} == {None}
        page.locator("canvas").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".picture-tip").wait_for()
        assert "row" in page.locator(".picture-tip").inner_text()


def test_what_a_screen_reader_needs_is_there(window, light):
    page = window.open(light)
    problems = page.evaluate(
        """() => {
          const all = (selector) => Array.from(document.querySelectorAll(selector));
          const named = (each) => each.ariaLabel || each.innerText?.trim() || each.title ||
            (each.labels && each.labels.length) || each.getAttribute("aria-labelledby");
          const levels = all("h1, h2, h3, h4, h5").map((each) => Number(each.tagName[1]));
          return {
            language: document.documentElement.lang,
            mains: all("main").length,
            first: levels[0],
            skipped: levels.filter((level, i) => i && level > levels[i - 1] + 1).length,
            unnamed: all("button, input, select, a[href], canvas, summary, [role=region]")
              .filter((each) => each.checkVisibility() && !named(each))
              .map((each) => each.outerHTML.slice(0, 90)),
            images: all("img:not([alt]), svg:not([aria-hidden]):not([role])").length,
            canvas: all("canvas").filter((each) => !each.getAttribute("role")).length,
          };
        }"""
    )
    assert problems == {
        "language": "en",
        "mains": 1,
        "first": 1,
        "skipped": 0,
        "unnamed": [],
        "images": 0,
        "canvas": 0,
    }


def test_all_pictures_are_drawn_without_scrolling_once_nothing_else_happens(window, plain):
    """A picture of the whole page shows them."""
    page = window.open(plain)
    page.wait_for_function(
        """() => Array.from(document.querySelectorAll("[data-picture]"))
          .filter((each) => each.offsetWidth > 0)
          .every((each) => each.dataset.drawn || each.querySelector("canvas[data-ready=true]"))"""
    )
    assert page.evaluate("window.scrollY") == 0


def test_all_pictures_are_drawn_and_all_systems_named_for_print(window, report):
    page = window.open(report())
    page.emulate_media(media="print")
    page.pdf()  # which says that it is about to print
    undrawn = page.evaluate(
        """() => Array.from(document.querySelectorAll("[data-picture]"))
          .filter((each) => !each.dataset.drawn && !each.querySelector("canvas[data-ready=true]"))
          .map((each) => each.dataset.picture)"""
    )
    assert undrawn == []
    heads = page.locator(".system > h3").all()
    assert [head.inner_text() for head in heads] == FURTHEST_FIRST
    assert all(head.bounding_box()["width"] > 50 for head in heads)


def test_lists_of_all_systems_are_printed(window, six):
    """Those of the first are on the page, and a script writes the others when they are opened."""
    page = window.open(six)
    assert page.locator(".system:not(:has(.text))").count() > 0
    page.emulate_media(media="print")
    page.pdf()
    assert page.locator(".system").count() == 6
    assert page.locator(".system:has(.text)").count() == 6


def test_a_share_is_never_rounded_to_an_end(window, light):
    page = window.open(light)
    shares = [0, 4e-5, 0.0004, 0.05, 0.123, 0.95, 0.999, 0.99999, 1]
    written = page.evaluate("(shares) => shares.map(calipersPictures.percent)", shares)
    assert written == [
        *("0.0 %", "< 0.01 %", "0.04 %", "5.0 %", "12 %", "95 %"),
        *("99.9 %", "> 99.99 %", "100 %"),
    ]


def test_of_many_systems_a_script_writes_what_is_asked_for(window, report, samples):
    names = [f"model {place}" for place in range(1, 15)]
    page = window.open(renamed(report, samples, names))
    page.locator(".tabs").wait_for()
    page.locator("[role=tab]", has_text=names[4]).first.click()
    panel = page.locator("#system-5")
    assert panel.is_visible()
    assert panel.locator(".text").count() > 0
    assert all(text.strip() for text in panel.locator(".text").all_text_contents())
    assert panel.locator(".unfold").count() == panel.locator(".text.folded").count()
    written = "(all) => all.filter((each) => each.querySelector('.of-view')).length"
    assert page.locator(".system").evaluate_all(written) <= 2  # the first, and the one asked for

    page.evaluate("document.getElementById('pairs').open = true")
    rows = page.locator("[data-pairs] tbody tr")
    rows.first.wait_for()
    assert rows.count() == 13
    page.locator("[data-pairs] select").select_option(label=names[6])
    assert all(names[6] in row for row in rows.locator("th").all_text_contents())
    assert rows.count() == 13

    page.locator("tr[data-system='3'] a.value").first.click()
    line = page.locator("#signature code").text_content()
    assert line.startswith("metric:")
    page.evaluate("window.location.hash = 'system-3-view-1-worst'")
    page.locator("#system-3-view-1-worst").wait_for()
    assert page.locator("#system-3").is_visible()
