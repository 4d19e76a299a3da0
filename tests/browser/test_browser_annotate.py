"""The pages of a study in a real browser: two people, reloads, a killed server, hostile texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from annotation_helpers import Server, ThreadServer, make_items, make_long_checks

from calipers.annotation.study import AnnotationStudy
from calipers.judgements.items import Item
from calipers.judgements.rubric import PAIRS

pytestmark = pytest.mark.slow

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


@dataclass
class Rooms:
    """A served study, and browser windows of its annotators; what they said or asked is kept."""

    browser: Any
    study: AnnotationStudy
    server: Server | ThreadServer
    contexts: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def window(self, name: str, **settings: Any) -> Any:
        """Open the link of an annotator in a browser of its own."""
        context = self.browser.new_context(**{"viewport": DESK, **settings})
        context.set_default_timeout(30_000)
        self.contexts.append(context)
        context.on("request", self._asked)
        context.on("console", self._heard)
        context.on("dialog", lambda opened: (self.said.append(opened.message), opened.dismiss()))
        page = context.new_page()
        page.goto(self.study.links_at(self.address)[name])
        return page

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.address):
            self.said.append(f"asked for {request.url}")

    def _heard(self, message: Any) -> None:
        # A page that says what is missing has the status 422, and a killed server none
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.said.append(message.text)


@pytest.fixture
def rooms(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Rooms]]:
    """Serve studies; at the end nothing may have been said or asked for elsewhere."""
    made: list[Rooms] = []

    def serve(
        items: list[Item] | None = None, *, own_process: bool = False, **settings: Any
    ) -> Rooms:
        path = tmp_path / "study.sqlite"
        given = {"rubric": PAIRS, "annotators": ["ada", "grace"], "least_seconds": 0, **settings}
        AnnotationStudy.make(path, items or make_items(12), **given).close()
        opened = Rooms(
            browser, AnnotationStudy.open(path), (Server if own_process else ThreadServer)(path)
        )
        made.append(opened)
        return opened

    yield serve
    for each in made:
        for context in each.contexts:
            context.close()
        each.study.close()
        each.server.kill()
    assert [each.said for each in made] == [[] for _ in made]


def begin(page: Any) -> None:
    page.get_by_role("main").get_by_role("link", name="Begin").click()
    page.wait_for_url("**/item/*")


def texts(page: Any) -> list[str]:
    page.wait_for_load_state()
    return page.locator("[role=group]").all_inner_texts()


def choose(page: Any, words: str = "Slightly A") -> None:
    """Answer every question with the mouse, and send it."""
    for question in page.get_by_role("radiogroup").all():
        question.get_by_role("radio", name=words).check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()


def answered(page: Any) -> str:
    page.wait_for_load_state()
    return page.locator(".bar .progress span").first.inner_text()


def test_two_people_at_once_never_get_the_same_item(rooms):
    opened = rooms(make_items(6))
    ada, grace = opened.window("ada"), opened.window("grace")
    begin(ada)
    begin(grace)
    seen = []
    for _ in range(3):
        seen += [texts(page)[0] for page in (ada, grace)]
        for page in (ada, grace):
            choose(page, "Definitely B")
    assert len(set(seen)) == 6
    assert "Nothing to do just now" in ada.inner_text("main"), "the last item is with the other"
    assert "Done, thank you" in grace.inner_text("main")
    ada.get_by_role("link", name="Look again").click()
    assert "Done, thank you" in ada.inner_text("main")
    grace.goto(opened.study.overview_at(opened.address))
    assert "6 of 6 items have all their ratings" in grace.inner_text("main")
    assert (
        grace.get_by_label("Link of ada").input_value()
        == opened.study.links_at(opened.address)["ada"]
    )
    with grace.expect_download() as download:
        grace.get_by_role("link", name="Judgements as CSV").click()
    assert Path(download.value.path()).read_text().count("\n") == 7
    rows = opened.study.judgements()
    assert {(each.rater) for each in rows} == {"ada", "grace"}
    assert all(each.answers["sensible"] == (5 if each.first == "a" else 1) for each in rows)


def test_reload_back_button_and_a_second_tab(rooms):
    opened = rooms()
    page = opened.window("ada")
    begin(page)
    shown = texts(page)
    page.reload()
    assert texts(page) == shown
    choose(page)
    assert answered(page).startswith("1 of 6")
    page.reload()
    assert answered(page).startswith("1 of 6")
    second = texts(page)
    assert second != shown
    page.go_back()
    assert texts(page) == shown
    assert page.get_by_role("radio", checked=True).count() == 3
    choose(page, "Definitely B")
    assert texts(page) == second
    tab = page.context.new_page()
    tab.goto(f"{opened.address}/")
    assert texts(tab) == second
    choose(tab, "Tie")
    choose(page, "Tie")
    assert answered(page).startswith("2 of 6")
    page.get_by_role("link", name="Back").click()
    page.wait_for_url("**/item/2")
    assert texts(page) == second
    assert page.get_by_role("radio", name="Tie", checked=True).count() == 3
    page.get_by_role("link", name="go on where you were").click()
    assert len(opened.study.judgements()) == 2


def test_a_double_click_sends_one_answer(rooms):
    opened = rooms()
    page = opened.window("ada")
    begin(page)
    for question in page.get_by_role("radiogroup").all():
        question.get_by_role("radio", name="Tie").check()
    page.get_by_role("button", name="Save").dblclick()
    page.wait_for_url("**/item/2")
    assert len(opened.study.judgements()) == 1


def test_a_killed_server_loses_nothing_and_goes_on(rooms):
    opened = rooms(own_process=True)
    page = opened.window("ada")
    begin(page)
    choose(page)
    page.wait_for_url("**/item/2")
    shown = texts(page)
    for question in page.get_by_role("radiogroup").all():
        question.get_by_role("radio", name="Definitely A").check()
    opened.server.kill()
    assert len(opened.study.judgements()) == 1
    opened.server.start()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/item/3")
    assert answered(page).startswith("2 of 6")
    rows = opened.study.judgements()
    assert len(rows) == 2
    assert shown[0] in {each.item.context for each in opened.study.answered()}
    opened.server.kill()
    with pytest.raises(Exception, match="ERR_"):
        page.goto(f"{opened.address}/next")
    opened.server.start()
    page.goto(f"{opened.address}/next")
    assert page.get_by_role("radio").count() == 15


@pytest.mark.parametrize("keys_off", [False, True])
def test_the_keyboard_alone(rooms, keys_off):
    opened = rooms(checks=make_long_checks(1))
    page = opened.window("ada")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == "Begin":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/1")
    if keys_off:
        page.get_by_role("button", name="Keys on").focus()
        page.keyboard.press("Enter")
        page.reload()
        page.keyboard.press("1")
        assert page.get_by_role("radio", checked=True).count() == 0
        page.locator("input[type=radio]").first.focus()
        for _ in range(3):
            page.keyboard.press("Space")
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Tab")
        page.get_by_role("button", name="Save").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/item/2")
        assert set(opened.study.answered()[0].answers.values()) <= {2, 4}
        return
    for key in "145":
        page.keyboard.press(key)
    assert page.get_by_role("radio", checked=True).count() == 3
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/2")
    (row,) = opened.study.judgements()
    told = opened.study.turns.turned(row.answers, row.first)
    assert tuple(told.values()) == (1, 2, 5) or tuple(told.values()) == (2, 4, 5)
    page.keyboard.press("Enter")
    assert page.url.endswith("/item/2"), "nothing is sent without answers"
    page.keyboard.press("b")
    page.wait_for_url("**/item/1")
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/2")
    assert set(opened.study.judgements()[0].answers.values()) == {3}


def test_without_scripts_everything_works(rooms):
    opened = rooms()
    page = opened.window("ada", java_script_enabled=False)
    begin(page)
    assert not page.get_by_text("Keys on").is_visible()
    choose(page)
    page.wait_for_url("**/item/2")
    assert len(opened.study.judgements()) == 1


HOSTILE = {
    "script": "</div></main><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>",
    "remote": '<link rel=stylesheet href="https://example.org/x.css"><iframe src="//x.org">',
    "handler": '" onmouseover="window.hacked=3" autofocus onfocus="window.hacked=4',
    "template": "{{ 7*7 }}{% include '/etc/passwd' %}${7*7}",
    "nul and controls": "before\0after\x1b[2J\x07\x85",
    "right to left": "\u202egnp.exe\u202d\u2067 \u2066isolated \u202bmore",
    "surrogates": "half \ud800 of \udc00\ud800",
    "one long line": "x" * 100_000,
    "many lines": "\n" * 3_000,
    "combining marks": "a" + "\u0301" * 20_000,
    "arabic": "مرحبا بالعالم",
}


def test_hostile_texts_stay_texts(rooms):
    items = [
        Item("a", "b", words, f"{words} and more", words if len(words) < 10_000 else "x")
        for words in HOSTILE.values()
    ]
    opened = rooms(items, annotators=["<img src=x onerror='window.hacked=9'>"])
    page = opened.window(*opened.study.links)
    begin(page)
    for number in range(1, len(items) + 1):
        page.wait_for_url(f"**/item/{number}")
        assert page.evaluate("window.hacked") is None
        assert page.locator("iframe, img, main script, main link").count() == 0
        assert page.get_by_role("radiogroup").count() == 3
        for size in (PHONE, DESK):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        asked = page.locator(".asks").first
        assert asked.inner_text() == PAIRS.questions[0].text
        for key in "333":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.wait_for_url("**/finished")
    assert len(opened.study.judgements()) == len(items)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_a_name_and_can_be_read(rooms, scheme):
    opened = rooms()
    page = opened.window("ada", color_scheme=scheme)
    begin(page)
    for question in PAIRS.questions:
        group = page.get_by_role("radiogroup", name=question.text)
        assert group.get_by_role("radio").count() == 5
        for words in ("Definitely A", "Slightly A", "Tie", "Slightly B", "Definitely B"):
            assert group.get_by_role("radio", name=words).count() == 1
    assert page.get_by_role("group", name="A the first text").count() == 1
    assert page.get_by_role("progressbar", name="Your progress").count() == 1
    page.keyboard.press("2")
    low = page.evaluate(CONTRAST)
    assert low == []


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  return Array.from(document.querySelectorAll("body *"))
    .filter((each) => each.checkVisibility() && Array.from(each.childNodes)
      .some((node) => node.nodeType === 3 && node.textContent.trim()))
    .map((each) => {
      const [a, b] = [light(parse(getComputedStyle(each).color)), light(behind(each))];
      return [each.className || each.tagName, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)];
    })
    .filter(([, ratio]) => ratio < 4.5);
}"""
