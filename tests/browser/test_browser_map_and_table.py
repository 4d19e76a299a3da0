"""The map and the table in a browser: hover, keys, search, sorting, signatures."""

from __future__ import annotations

import copy

import pytest

pytestmark = pytest.mark.slow

POINT = "([set, row]) => document.querySelector('canvas').calipersPoint(set, row)"


@pytest.fixture
def page(window, light):
    opened = window.open(light)
    opened.locator("#map").scroll_into_view_if_needed()
    return opened


def hover(page, which, row):
    """Move the mouse to a sample of a set, by its place: 0 is the reference."""
    canvas = page.locator("canvas")
    canvas.scroll_into_view_if_needed()
    spot, box = page.evaluate(POINT, [which, row]), canvas.bounding_box()
    page.mouse.move(box["x"] + spot["x"], box["y"] + spot["y"])
    page.wait_for_function(
        "(row) => document.querySelector('canvas').dataset.hover === row", arg=str(row)
    )


@pytest.mark.parametrize(("which", "name"), [(0, "reference"), (1, "model_a"), (3, "model_c")])
def test_hover_shows_the_text_of_that_sample(page, samples, which, name):
    for row in (0, 27, 59):
        hover(page, which, row)
        tip = page.locator(".picture-tip")
        assert samples.plain_text(name, row) in tip.inner_text()
        assert name in tip.inner_text()
        assert f"row {row}" in tip.inner_text()


def test_hover_tells_inside_from_outside(page):
    hover(page, 2, 3)
    assert "outside the reference’s support" in page.locator(".picture-tip").inner_text()
    hover(page, 2, 4)
    assert "inside the reference’s support" in page.locator(".picture-tip").inner_text()


def test_the_box_goes_when_the_mouse_goes(page):
    hover(page, 1, 5)
    page.mouse.move(1, 1)
    page.locator(".picture-tip").wait_for(state="hidden")


def test_the_other_view_shows_the_same_samples(page, samples):
    before = page.evaluate(POINT, [0, 1])
    page.locator("[data-picture=map]").get_by_role("button", name="form").click()
    page.wait_for_function("() => document.querySelector('canvas').dataset.view === 'form'")
    hover(page, 0, 1)
    assert samples.plain_text("reference", 1) in page.locator(".picture-tip").inner_text()
    assert before is not None


def test_sets_can_be_left_out(page):
    canvas, legend = page.locator("canvas"), page.locator("[data-picture=map] .picture-legend")
    assert canvas.get_attribute("data-points") == "240"
    legend.get_by_role("button", name="model_b").click()
    assert canvas.get_attribute("data-points") == "180"
    assert page.evaluate(POINT, [2, 0]) is None
    legend.get_by_role("button", name="outside").click()
    assert canvas.get_attribute("data-points") == "40"
    legend.get_by_role("button", name="outside").click()
    legend.get_by_role("button", name="model_b").click()
    assert canvas.get_attribute("data-points") == "240"


def search(page, words, matches):
    page.get_by_role("searchbox", name="Search").fill(words)
    page.wait_for_function(
        "(matches) => document.querySelector('canvas').dataset.matches === matches", arg=matches
    )


def test_search_counts_and_lists_what_holds_the_words(page, samples):
    wanted = [row for row in range(samples.N) if "telescope" in samples.plain_text("model_c", row)]
    assert 0 < len(wanted) < 50
    search(page, "TELEscope ", str(len(wanted)))
    assert (
        f"{len(wanted)} of 240 samples" in page.locator("#map").get_by_role("status").inner_text()
    )
    hits = page.locator(".picture-found li")
    assert hits.count() == len(wanted)
    assert all("telescope" in text for text in hits.all_inner_texts())


def test_search_finds_one_sample_and_leads_to_it(page, samples):
    search(page, "model_b-row-41", "1")
    page.locator(".picture-found button").click()
    page.wait_for_function("() => document.querySelector('canvas').dataset.hover === '41'")
    assert samples.plain_text("model_b", 41) in page.locator(".picture-tip").inner_text()


def test_search_for_nothing_shows_all_again_and_for_the_absent_none(page):
    search(page, "no sample holds this", "0")
    assert page.locator(".picture-found li").count() == 0
    search(page, "", "")
    assert page.locator("#map").get_by_role("status").inner_text() == ""


def test_a_search_leaves_out_what_is_hidden(page):
    search(page, "row-7", str(4))
    page.locator("[data-picture=map] .picture-legend").get_by_role("button", name="model_b").click()
    page.wait_for_function("() => document.querySelector('canvas').dataset.matches === '3'")


def test_arrow_keys_walk_from_sample_to_sample(page):
    canvas = page.locator("canvas")
    canvas.focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
        page.wait_for_function(
            """(before) => {
              const { hover, hoverSet } = document.querySelector("canvas").dataset;
              return hover !== "" && `${hoverSet} ${hover}` !== before;
            }""",
            arg=seen[-1] if seen else "",
        )
        seen.append(
            f"{canvas.get_attribute('data-hover-set')} {canvas.get_attribute('data-hover')}"
        )
        assert seen[-1].split()[0] in page.locator(".picture-live").inner_text()
    page.keyboard.press("Escape")
    page.locator(".picture-tip").wait_for(state="hidden")


def test_zoom_by_key_button_and_wheel_keeps_hover_right(page, samples):
    canvas = page.locator("canvas")
    zoom = "(least) => Number(document.querySelector('canvas').dataset.zoom) > least"
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function(zoom, arg=1.4)
    canvas.focus()
    page.keyboard.press("+")
    page.wait_for_function(zoom, arg=2.0)
    page.locator(".picture-tip").wait_for(state="hidden")
    shown = page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas");
          for (let row = 0; row < 60; row++) {
            const { x, y } = canvas.calipersPoint(1, row);
            const [right, below] = [canvas.clientWidth - x, canvas.clientHeight - y];
            if (Math.min(x, right) > 90 && Math.min(y, below) > 40) return row;
          }
          return -1;
        }"""
    )
    hover(page, 1, shown)
    assert samples.plain_text("model_a", shown) in page.locator(".picture-tip").inner_text()
    page.get_by_role("button", name="See all").click()
    page.wait_for_function("() => Number(document.querySelector('canvas').dataset.zoom) === 1")


def test_points_are_really_painted(page):
    painted = page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas");
          const { x, y } = canvas.calipersPoint(1, 1);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const opacity = (x, y) => data[4 * (Math.round(y) * canvas.width + Math.round(x)) + 3];
          return [opacity(x, y), opacity(2, 2)];
        }"""
    )
    assert painted[0] > 100
    assert painted[1] == 0


ORDER = """() => Array.from(document.querySelectorAll("tbody[data-sorted] tr th"),
  (head) => head.innerText.trim())"""
COLUMN = """(column) => Array.from(document.querySelectorAll("tbody[data-sorted] tr"),
  (row) => Number(row.cells[column].dataset.value))"""
HEADS = "table.scores th[data-direction]"


def column_of(page, name):
    heads = page.locator(HEADS)
    return next(i for i in range(heads.count()) if heads.nth(i).inner_text().startswith(name))


@pytest.mark.parametrize("press", ["click", "Enter", "Space"])
def test_a_head_sorts_best_first_then_the_other_way(window, light, press):
    page = window.open(light)
    column = column_of(page, "Recall")
    head = page.locator(HEADS).nth(column)

    def act():
        button = head.get_by_role("button")
        if press == "click":
            button.click()
        else:
            button.focus()
            page.keyboard.press(press)

    values = page.evaluate(COLUMN, column)
    assert len(set(values)) > 1
    act()
    assert head.get_attribute("aria-sort") == "descending"
    assert page.evaluate(COLUMN, column) == sorted(values, reverse=True)
    act()
    assert head.get_attribute("aria-sort") == "ascending"
    assert page.evaluate(COLUMN, column) == sorted(values)


def test_one_column_at_a_time_is_marked_as_sorted(window, light):
    page = window.open(light)
    for column in (1, 0):
        page.locator(HEADS).nth(column).get_by_role("button").click()
        assert page.locator("[aria-sort]").count() == 1
    assert page.evaluate(ORDER) == ["model_a", "model_b", "model_c"]
    page.locator(HEADS).first.get_by_role("button").click()
    assert page.evaluate(ORDER) == ["model_c", "model_b", "model_a"]


def test_what_has_no_value_stays_last(window, report, samples):
    made = samples.as_if_read(samples.report_data(report.made))
    score = made["comparison"]["systems"][0]["scores"]["recall"]
    score.update(value=None, interval=None, reason="no samples")
    page = window.open(report.render(made))
    head = page.locator(HEADS).nth(column_of(page, "Recall")).get_by_role("button")
    for _ in range(2):
        head.click()
        assert page.evaluate(ORDER)[-1] == "model_a"


def test_a_value_shows_its_signature(window, light):
    page = window.open(light)
    line = page.locator("#signature")
    assert line.is_hidden()
    page.locator("tr[data-system='2'] a.value").first.click()
    assert "metric:precision|" in line.inner_text()
    assert page.locator("a.value[aria-current]").count() == 1


OTHERS = {0: "été", 1: "می\u200cخواهم"}
"""Names that can be typed in several ways."""


@pytest.fixture
def many(report, samples):
    """The page of thirty systems, made of one."""
    made = samples.as_if_read(samples.report_data(report.made))
    made["explanations"], made["map"] = {}, {}
    compared = made["comparison"]
    first = compared["systems"][0]
    compared["tests"] = []
    compared["systems"] = []
    for place in range(30):
        system = copy.deepcopy(first) | {"name": OTHERS.get(place, f"llama-{place}b")}
        far = place == 29
        system["scores"]["recall"]["value"] = 0.01 if far else 0.5 + place / 100
        system["scores"]["precision"]["value"] = 0.01 if far else 0.6
        for key in ("recall", "precision"):
            system["scores"][key]["interval"] = None
        compared["systems"].append(system)
    return report.render(made)


SHOWN = """() => Array.from(document.querySelectorAll("tbody[data-sorted] tr:not([hidden])"),
                            (row) => row.dataset.name)"""


def test_systems_are_found_by_name_by_value_and_by_what_is_marked(window, many):
    page = window.open(many)
    field, count = (
        page.get_by_role("searchbox", name="Find", exact=True),
        page.locator("#tools output"),
    )
    assert count.inner_text() == "30 systems"
    for words, names in (
        ("LLAMA-7b", ["llama-7b"]),
        ("recall > 0.765", ["llama-27b", "llama-28b"]),
        ("recall>=.77 27", ["llama-27b"]),
        ("recall ≤ 0.01", ["llama-29b"]),
        ("ｌｌａｍａ－７ｂ", ["llama-7b"]),  # in full width
        ("recall ＞ ０.765", ["llama-27b", "llama-28b"]),
        ("e\u0301te\u0301", ["été"]),
        ("ÉTÉ", ["été"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("میخواهم", ["می\u200cخواهم"]),
        ("nothing of that name", []),
    ):
        field.fill(words)
        assert sorted(page.evaluate(SHOWN)) == names
        assert count.inner_text() == f"{len(names)} of 30 systems"
    field.fill("beauty > 1")
    assert count.inner_text() == "30 systems; no column beauty"
    field.press("Escape")
    field.fill("")
    assert len(page.evaluate(SHOWN)) == 30


def test_the_table_is_searched_and_sorted_by_keys_alone(window, many):
    page = window.open(many)
    page.get_by_role("searchbox", name="Find", exact=True).focus()
    page.keyboard.type("recall > 0.7")
    assert len(page.evaluate(SHOWN)) == 8
    page.locator(HEADS).nth(column_of(page, "Recall")).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(SHOWN)[0] == "llama-28b"
    assert len(page.evaluate(SHOWN)) == 8


def test_a_far_system_does_not_set_the_scale_of_the_plane(window, many):
    page = window.open(many)
    chart = page.locator("[data-picture=plane]").first
    chart.scroll_into_view_if_needed()
    page.wait_for_selector("[data-picture=plane][data-drawn]")
    axis = "() => document.querySelector('[data-picture=plane] .js-plotly-plot').layout.xaxis.range"
    assert page.evaluate(axis)[0] > 0.2
    assert chart.get_by_text("llama-29b (0.01, 0.01)").count() == 1
    chart.get_by_role("button", name="From 0 to 1").click()
    assert page.evaluate(axis)[0] < 0.01


def test_a_far_system_that_the_ellipses_of_others_reach_is_an_ordinary_mark(window, many):
    page = window.open(many)
    told = page.evaluate(
        """() => {
          const kit = calipersPictures, data = kit.island("data-charts");
          const plane = structuredClone(data.planes[0]);
          plane.points.forEach((point) => { point.error = [0.5, 0.5]; point.correlation = 0; });
          const state = { view: plane.view, picked: [0, 0], hidden: new Set() };
          const host = document.querySelector("[data-picture=plane]");
          const { draw, note } = kit.charts.plane;
          const texts = draw(plane, data, state, host).traces.flatMap((each) => each.text || []);
          return [...texts, note(plane, data, state)];
        }"""
    )
    assert len(told) == 31
    assert not any("undefined" in each for each in told)
    assert "beyond the scale" not in told[-1]


def test_every_number_of_the_table_can_be_read_by_itself(window, light):
    """Every score has a row head and a column head, so that it can be said where it stands."""
    page = window.open(light)
    assert page.locator("tbody[data-sorted] tr th[scope=row]").count() == 3
    assert page.locator("table.scores thead th:not([scope])").count() == 0


def test_samples_are_found_by_list_words_and_length(window, light):
    page = window.open(light)
    pick, seen = page.locator("#pick"), ".list[id$=-worst]:visible"
    lists = "#" + page.locator(seen).first.get_attribute("id").removesuffix("worst")

    def shown(name):
        return page.locator(f"{lists}{name} .failure:visible").count()

    before, every = shown("worst"), page.locator(".list:visible").count()
    assert before > 1
    assert every > 1
    pick.locator("select").select_option("worst")
    page.wait_for_function("() => document.querySelector('#pick output').value !== ''")
    assert page.locator(".list:visible").count() == 1
    assert shown("worst") >= before
    first = page.locator(f"{lists}worst .self .text").first.inner_text().strip()
    pick.get_by_label("Find").fill(first)
    page.wait_for_function("() => document.querySelector('#pick output').value.startsWith('1 ')")
    pick.get_by_label("Find").fill("")
    pick.get_by_label("Words from").fill("100000")
    page.wait_for_function("() => document.querySelector('#pick output').value === '0 shown'")
    pick.get_by_label("Words from").fill("")
    pick.locator("select").select_option("")
    page.wait_for_function("() => document.querySelector('#pick output').value === ''")
    assert page.locator(".list:visible").count() == every
