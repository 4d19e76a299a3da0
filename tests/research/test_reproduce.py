"""Tables and figures of the papers: the list is complete, pages are current, numbers hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]

FIGURES = {
    "precision_recall": (
        [f"Figure {n}" for n in (1, 2, 3, 4, 5, 6, "7a", "7b", 8)],
        [f"Figure A.{n}" for n in range(1, 6)],
        [f"Table B.{n}" for n in range(1, 7)],
        ["Table 1", "Figure B.1", "Figure B.2", "Listing 1", "Tables D.1 and D.2"],
    ),
    "prd": ([f"Figure {n}" for n in range(1, 12)], ["Theorem 1"]),
    "mauve": (
        [f"Figure {n}" for n in (*range(1, 8), 9, 10, 16, 17, 18, 19, 21, 23)],
        ["Figures 8 and 22", "Figures 11 and 12, tables 10 and 17", "Figures 13 and 14"],
        [
            "Figure 15 and table 11",
            "Table 12 and figure 20",
            "Tables 9 and 16",
            "Figures 24 and 25",
        ],
        [f"Table {n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 18)],
        ["Algorithm 1", "Algorithm 2"],
    ),
}
"""Every figure, table and algorithm that the papers number."""


@pytest.fixture(scope="module")
def reproduction(experiments) -> SimpleNamespace:
    """The driver and its modules, which find each other beside it."""
    import reproduce
    from reproduction import catalogue, commands, item, kept, pages

    return SimpleNamespace(
        driver=reproduce,
        catalogue=catalogue,
        commands=commands,
        item=item,
        kept=kept,
        pages=pages,
    )


@pytest.mark.parametrize("page", FIGURES)
def test_every_figure_and_table_has_an_item(reproduction, page):
    (source,) = (each for each in reproduction.catalogue.SOURCES if each.page == page)
    numbers = [item.number for item in source.items]
    for number in (each for group in FIGURES[page] for each in group):
        named = [n for n in numbers if n == number or n.startswith((f"{number},", f"{number} "))]
        assert named, f"{number} of {page} has no item"


def test_items_say_what_their_status_asks_for(reproduction):
    keys = [item.key for source in reproduction.catalogue.SOURCES for item in source.items]
    assert len(keys) == len(set(keys))
    for item in reproduction.catalogue.ITEMS.values():
        assert item.status in reproduction.item.STATUSES
        assert bool(item.run) == (item.status in ("reproduced", "in shape")), item.key
        assert bool(item.needs) == (item.status in ("in shape", "not run")), item.key
        if item.status == "not run":
            assert item.would, item.key
        if item.status == "in shape":
            assert item.differs, item.key


def test_commands_and_links_exist_and_parse(reproduction):
    faults = [
        fault
        for item in reproduction.catalogue.ITEMS.values()
        for fault in reproduction.commands.faults(item)
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("calipers compere -r a b", "calipers has no command compere"),
        ("calipers compare -r a b --metrics precision,recal", "--metrics recal"),
        ("calipers compare -r a b --embeder minilm", "No such option: --embeder"),
        ("python research/experiments/no_such.py", "experiments/no_such.py does not exist"),
        (
            "python research/experiments/bounds.py --no-such",
            "experiments/bounds.py has no --no-such",
        ),
        ("rm -r data", "rm is neither calipers nor python"),
    ],
)
def test_a_command_that_would_fail_is_found(reproduction, command, fault):
    item = reproduction.item.Item("key", "Figure 0", "", "not run", needs=("x",), would=command)
    (found,) = reproduction.commands.faults(item)
    assert fault in found


def test_the_pages_are_current_and_every_item_was_run(reproduction, capsys):
    assert reproduction.driver.main(["--check"]) == 0, capsys.readouterr().out


def test_a_page_that_was_edited_is_named(reproduction, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction.pages, "DOCS", tmp_path)
    for path, text in reproduction.pages.pages().items():
        path.write_text(text, "utf-8")
    assert reproduction.pages.outdated() == []
    edited = tmp_path / "reproduction_prd.md"
    edited.write_text(edited.read_text("utf-8").replace("reproduced", "made up", 1), "utf-8")
    assert reproduction.pages.outdated() == ["reproduction_prd.md"]


def test_what_does_not_hold_is_what_the_item_names(reproduction):
    for source in reproduction.catalogue.SOURCES:
        for key, lines in reproduction.kept.read(source).items():
            item = reproduction.catalogue.ITEMS[key]
            assert reproduction.driver.expected(item, lines), key
            if item.status == "reproduced":
                assert any(line.holds for line in lines), key


def test_lines_tell_whether_they_hold(reproduction):
    item = reproduction.item
    assert item.exact("", "0.86", 0.8649).holds
    assert not item.exact("", "0.86", 0.866).holds
    assert not item.equal("", 0.5, 0.5 + 1e-6).holds
    assert item.close("", 0.5, 0.515, within=0.02).holds
    assert not item.close("", 0.5, 0.53, within=0.02).holds
    assert item.rises([1, 1, 2])
    assert not item.rises([1, 2, 1.9])
    assert item.falls([2, 1.9, 1.95], slack=0.1)
    assert item.number(-0.0001) == "0.000"


def test_an_unknown_item_is_named(reproduction):
    with pytest.raises(
        reproduction.catalogue.InputError, match="prd-figure-99: no table or figure"
    ):
        reproduction.driver.main(["prd-figure-99"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "key",
    [
        "pr-figure-5",
        "prd-figure-2",
        "prd-figure-3",
        "prd-theorem-1",
        "prd-figure-6",
        "post-bleu",
        "post-bertscore-idf",
        "post-kl",
        "mauve-figure-1",
        "mauve-table-1",
        "mauve-table-4",
        "mauve-table-4-stories",
        "mauve-figure-7",
        "mauve-algorithm-1",
        "mauve-algorithm-2",
        "mauve-table-18",
    ],
)
def test_an_item_prints_what_was_kept(reproduction, key):
    item = reproduction.catalogue.ITEMS[key]
    (source,) = (s for s in reproduction.catalogue.SOURCES if item in s.items)
    assert item.measure() == reproduction.kept.read(source)[key]


@pytest.mark.slow
def test_the_driver_lists_and_runs_items_from_the_command_line(experiments):
    run = [sys.executable, str(experiments / "reproduce.py")]
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True, check=True)
    assert "prd-figure-3" in listed.stdout
    shown = subprocess.run([*run, "prd-figure-2"], capture_output=True, text=True, check=True)
    assert "precision 1, recall 0.5" in shown.stdout
    wrong = subprocess.run([*run, "no-such-item"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stderr == "no-such-item: no table or figure of that name; --list names all\n"
