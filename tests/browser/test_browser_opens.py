"""The report opens quietly: no error, no request, nothing that runs but its own scripts."""

from __future__ import annotations

PICTURES = ("plane", "curves", "frontiers", "map", "topics")
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
