"""The table in a browser: sorting by mouse and keyboard, signatures."""

from __future__ import annotations

import pytest

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


def test_every_number_of_the_table_can_be_read_by_itself(window, light):
    """Every score has a row head and a column head, so that it can be said where it stands."""
    page = window.open(light)
    assert page.locator("tbody[data-sorted] tr th[scope=row]").count() == 3
    assert page.locator("table.scores thead th:not([scope])").count() == 0
