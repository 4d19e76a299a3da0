"""The first screen and the page of many systems."""

from __future__ import annotations

import re
from typing import Any

import pytest

from calipers.report import latex, markdown
from calipers.report.html import html_page
from calipers.report.render.text import plain
from calipers.results.comparison import Comparison
from hand_made import comparison_of

COUNT = 40


@pytest.fixture
def many(make: dict[str, Any]) -> Comparison:
    """Forty systems, the closest given last, with names that are long and nearly alike."""
    systems = [
        make["system"](
            f"Family-Instruct-v{place % 4}-{place:02}-and-a-long-tail-0.1",
            {
                "precision": make["score"](0.5),
                "recall": make["score"](0.9 - place / 100),
                "mauve_star": make["score"](0.5 + place / 100),
            },
        )
        for place in range(COUNT)
    ]
    return comparison_of(make["comparison"](systems, views=["meaning"]))


def rows_of(text: str) -> list[str]:
    """The rows of the table of scores, of which each has its score of closeness."""
    block = next(block for block in text.split("\n\n") if block.startswith("meaning"))
    return [line for line in block.split("\n") if re.search(r"[ \d]\.\d\d|⋮", line)]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_screen_shows_both_ends_and_says_what_is_left_out(many: Comparison, width: int) -> None:
    text = plain(many.document(), width=width)
    rows = rows_of(text)
    assert len(rows) == 21
    assert "⋮ 20 more" in rows[10]
    closeness = [float(re.findall(r" (\.\d+)", row)[-1]) for row in rows if "⋮" not in row]
    assert closeness == sorted(closeness, reverse=True)
    assert (closeness[0], closeness[-1]) == (0.89, 0.5)
    assert "20 of 40 systems left out: `.document(all_systems=True)`" in text
    assert max(map(len, text.split("\n"))) <= width


def test_many_systems_have_a_line_each_before_they_have_intervals(make: dict[str, Any]) -> None:
    """A name that is cut for the intervals is given their room back."""
    names = [f"a-model-of-some-name-{place:02}" for place in range(COUNT)]
    for width, shown in ((80, False), (110, True)):
        text = plain(comparison_of(make["sure"](names)).document(), width=width)
        rows = rows_of(text)
        assert len(rows) == 21
        assert ("[." in rows[0]) == shown
        assert names[0] in rows[0] or shown


@pytest.mark.parametrize("count", [9, 24])
def test_several_systems_with_long_names_keep_the_intervals_of_closeness(
    make: dict[str, Any], count: int
) -> None:
    names = [f"a-model-of-some-name-and-size-{place:02}" for place in range(count)]
    result = comparison_of(make["sure"](names))
    text = plain(result.document(), width=80)
    heads = [line for line in text.split("\n") if line.strip().startswith("Precision")]
    assert len(heads) == 2  # a table for each view
    assert all("MAUVE*" in head for head in heads)
    assert "[95 % interval] where space permits" in " ".join(text.split())
    rows = rows_of(text)
    assert len(rows) == count
    assert {row.count("[") for row in rows} == {1}
    wide = rows_of(plain(result.document(), width=140))
    assert min(row.count("[") for row in wide) > 1


@pytest.mark.parametrize("options", [{"all_systems": True}, {"details": True}])
def test_all_of_them_are_shown_where_that_is_asked_for(
    many: Comparison, options: dict[str, bool]
) -> None:
    text = plain(many.document(**options), width=100)
    assert len(rows_of(text)) == COUNT
    assert "left out" not in text


def test_the_rows_are_sorted_by_what_is_asked_for(many: Comparison) -> None:
    first = rows_of(plain(many.document(sort="recall"), width=120))[0]
    assert " .900" in first
    text = markdown(many.summary(sort="name"))
    assert text.index("v0-00-and") < text.index("v0-04-and") < text.index("v1-01-and")
    assert text.count("Family-Inst") >= COUNT


def test_names_that_are_cut_stand_below_in_full(many: Comparison) -> None:
    text = plain(many.document(), width=80)
    shown = [row.split()[0] for row in rows_of(text) if "⋮" not in row]
    assert len(set(shown)) == 20
    names = [system.name for system in many]
    legend = dict(re.findall(r"^(\S*…\S*)  +(\S+)$", text, re.MULTILINE))
    for form in shown:
        assert legend[form] in names
        head, *_, tail = form.split("…")
        assert legend[form].startswith(head)
        assert legend[form].endswith(tail)
    for shorter in (markdown(many.summary()), latex(many.summary())):
        assert sum(name.replace("_", "") in shorter.replace("\\", "") for name in names) == COUNT


def test_a_few_systems_have_nothing_left_out(make: dict[str, Any]) -> None:
    systems = [make["system"](name, {"mauve_star": make["score"](0.5)}) for name in ("b", "a")]
    text = plain(comparison_of(make["comparison"](systems, views=["meaning"])).document(), width=80)
    assert "left out" not in text
    assert "groups" not in text


def test_the_page_has_a_table_to_search_with_a_bar_in_each_cell(many: Comparison) -> None:
    page = html_page(many)
    assert 'id="tools" role="search"' in page
    assert 'class="scroll tall"' in page
    rows = re.findall(
        r'<tr data-system="(\d+)" data-name="([^"]+)" data-flags="([^"]*)">(.*?)</tr>',
        page,
        re.DOTALL,
    )
    assert len(rows) == COUNT
    assert [int(place) for place, *_ in rows] == list(range(COUNT, 0, -1))
    assert {name for _, name, *_ in rows} == {system.name for system in many}
    assert "closest" in rows[0][2]
    widths = re.findall(r'class="level" aria-hidden="true"><span style="width: (\d+)%', rows[0][3])
    assert widths == ["50", "51", "89"]


def test_the_page_colours_what_is_good_and_marks_it_without_colour(four_sure: Any) -> None:
    page = html_page(comparison_of(four_sure))
    cells = re.findall(r'<td class="num[^"]*?(good|open|bad)?"[^>]*>(.*?)</td>', page, re.DOTALL)
    marks = {
        tone: set(re.findall(r'class="mark" aria-hidden="true">(.)<', cell))
        for tone in ("good", "open", "bad")
        for cell in ["".join(text for of, text in cells if of == tone)]
    }
    assert {"✓", "▲"} <= marks["good"] <= {"✓", "▴", "▲", "≈", "≡", "?"}
    assert "▾" in marks["bad"]
    assert "✓" not in marks["bad"]
    assert "worse than the noise floor" in page
    for system in four_sure["systems"]:
        for score in system["scores"].values():
            score["floor"] = None
    page = html_page(comparison_of(four_sure))
    assert "worse than the best" in page
    assert "worse than the noise floor" not in page
    assert 'id="tools"' not in page


def test_the_page_can_be_sorted_otherwise(many: Comparison) -> None:
    rows = re.findall(r'<tr data-system="(\d+)"', html_page(many, sort="recall"))
    assert [int(place) for place in rows] == list(range(1, COUNT + 1))
